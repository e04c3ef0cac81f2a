/* warpsafe_prelude.h - what `warpsafe cc` includes before every CUDA file, in the device and in the host pass: the
 * place that __clang_cuda_runtime_wrapper.h has where NVIDIA's toolkit is installed. It joins three parts: clang's own
 * CUDA headers (math overloads, intrinsics), warpsafe's runtime API, and warpsafe's device library below them. */
#ifndef WARPSAFE_PRELUDE_H
#define WARPSAFE_PRELUDE_H

#if !defined(__CUDA__) || !defined(__clang__)
#error "warpsafe_prelude.h is for clang's CUDA mode; compile with warpsafe cc"
#endif

#define __WARPSAFE__ 1

/* CUDA before libstdc++: device overloads must exist before <cmath> makes its functions constexpr. */
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
#include <__clang_cuda_math_forward_declares.h>
#pragma clang attribute pop

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDA_VERSION 13000

#include <cmath>
#include <cstdlib>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host_defines.h"
#include "cuda_runtime_api.h"
#include "vector_functions.h"

typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;

/* What a launch with <<<>>> calls ahead of the kernel's stub (clang looks it up by name). */
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                struct CUstream_st *stream = 0);

/* clang's intrinsics headers look at __CUDA_ARCH__ and must offer everything to the host pass, which compiles no body
 * but parses all of them. */
#pragma push_macro("__CUDA_ARCH__")
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 9999
#endif
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>
#include "warpsafe_libdevice.h"
#include "warpsafe_sync.h"
#define WS_CLANG_NAMES 1
#include "warpsafe_clang_names.h"
#include <__clang_cuda_device_functions.h>
#undef WS_CLANG_NAMES
#include "warpsafe_clang_names.h"
#include <__clang_cuda_math.h>
#include "warpsafe_device.h"
#pragma pop_macro("__CUDA_ARCH__")

#define WS_COORDS(T) \
	__device__ inline T::operator dim3() const { return dim3(x, y, z); } \
	__device__ inline T::operator uint3() const { uint3 v; v.x = x; v.y = y; v.z = z; return v; }
WS_COORDS(__cuda_builtin_threadIdx_t)
WS_COORDS(__cuda_builtin_blockIdx_t)
WS_COORDS(__cuda_builtin_blockDim_t)
WS_COORDS(__cuda_builtin_gridDim_t)
#undef WS_COORDS

#include <__clang_cuda_cmath.h>
#define WS_CLANG_NAMES 1
#include "warpsafe_clang_names.h"
#include <__clang_cuda_intrinsics.h>
#undef WS_CLANG_NAMES
#include "warpsafe_clang_names.h"
#if __has_include(<__clang_cuda_complex_builtins.h>)
#include <__clang_cuda_complex_builtins.h>
#endif
#include "warpsafe_intrinsics.h"
#pragma clang attribute pop

#include <new>
#include "cuda_runtime.h"

#endif
