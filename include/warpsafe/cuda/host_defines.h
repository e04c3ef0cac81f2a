/* host_defines.h - the words of CUDA C++ (__global__, __device__, ...) for clang; empty for other compilers.
 * Part of warpsafe's own CUDA headers; written from NVIDIA's "CUDA C++ Programming Guide". */
#ifndef WARPSAFE_HOST_DEFINES_H
#define WARPSAFE_HOST_DEFINES_H
#define __HOST_DEFINES_H__ /* programs ask for this one */

#if defined(__CUDA__) && defined(__clang__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __builtin_align__(n) __attribute__((aligned(n)))
/* clang cannot say the size in PTX: the section of the host's stub says it (src/cuda/cluster_section.c). */
#if defined(__CUDA_ARCH__)
#define __cluster_dims__(...)
#else
#define __cluster_dims__(...) WARPSAFE_CLUSTER_(__VA_ARGS__, 1, 1, 1)
#define WARPSAFE_CLUSTER_(x, y, z, ...) WARPSAFE_CLUSTER(x, y, z)
#define WARPSAFE_CLUSTER(x, y, z) __attribute__((section("warpsafe_cluster_" #x "_" #y "_" #z)))
#endif
#define WARPSAFE_NODEBUG __attribute__((nodebug))
/* clang has managed variables for AMD's GPUs alone. */
#define __managed__ \
	_Pragma("GCC error \"__managed__ variables are not supported; use cudaMallocManaged or a __device__ variable\"")
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define WARPSAFE_NODEBUG
#endif

#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ __inline__ __attribute__((always_inline))
/* clang 15 and later take __noinline__ as a word of the language; before, libstdc++'s attribute of that name has to
 * be kept from this macro: see bits/. */
#if !defined(__clang__) || (defined(__CUDA__) && __clang_major__ < 15)
#if defined(__CUDA__)
#define __noinline__ __attribute__((noinline))
#endif
#endif
#define __thread__ __thread
#define __no_return__ __attribute__((noreturn))
#ifndef CUDARTAPI
#define CUDARTAPI
#define CUDARTAPI_CDECL
#endif
#define CUDA_CB
#define CUDART_CB

#endif
