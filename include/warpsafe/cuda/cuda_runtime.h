/* cuda_runtime.h - the CUDA runtime API with its C++ forms. Part of warpsafe's own CUDA headers; written from the
 * "CUDA Runtime API" reference manual (C++ API Routines). */
#ifndef WARPSAFE_CUDA_RUNTIME_H
#define WARPSAFE_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__ /* programs ask for this one */

#if defined(__CUDA__) && defined(__clang__) && !defined(WARPSAFE_PRELUDE_H)
#include "warpsafe_prelude.h"
#endif

#include "cuda_runtime_api.h"
#include "vector_functions.h"
#include "device_launch_parameters.h"

#if defined(__cplusplus)

#define WS_T static __inline__ __host__

template <class T> WS_T cudaError_t cudaMalloc(T **ptr, size_t size)
{
	return ::cudaMalloc((void **)(void *)ptr, size);
}
template <class T> WS_T cudaError_t cudaMallocHost(T **ptr, size_t size, unsigned int flags = 0)
{
	return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
template <class T> WS_T cudaError_t cudaHostAlloc(T **ptr, size_t size, unsigned int flags)
{
	return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
template <class T> WS_T cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags)
{
	return ::cudaHostGetDevicePointer((void **)(void *)device, host, flags);
}
template <class T>
WS_T cudaError_t cudaMallocManaged(T **ptr, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
	return ::cudaMallocManaged((void **)(void *)ptr, size, flags);
}
template <class T> WS_T cudaError_t cudaMallocPitch(T **ptr, size_t *pitch, size_t width, size_t height)
{
	return ::cudaMallocPitch((void **)(void *)ptr, pitch, width, height);
}
template <class T> WS_T cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream)
{
	return ::cudaMallocAsync((void **)(void *)ptr, size, stream);
}
template <class T>
WS_T cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                    enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
	return ::cudaMemcpyToSymbol((const void *)__builtin_addressof(symbol), src, count, offset, kind);
}
template <class T>
WS_T cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                      enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
	return ::cudaMemcpyFromSymbol(dst, (const void *)__builtin_addressof(symbol), count, offset, kind);
}
template <class T>
WS_T cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                         enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
	return ::cudaMemcpyToSymbolAsync((const void *)__builtin_addressof(symbol), src, count, offset, kind, stream);
}
template <class T>
WS_T cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                           enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0)
{
	return ::cudaMemcpyFromSymbolAsync(dst, (const void *)__builtin_addressof(symbol), count, offset, kind, stream);
}
template <class T> WS_T cudaError_t cudaGetSymbolAddress(void **ptr, const T &symbol)
{
	return ::cudaGetSymbolAddress(ptr, (const void *)__builtin_addressof(symbol));
}
template <class T> WS_T cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol)
{
	return ::cudaGetSymbolSize(size, (const void *)__builtin_addressof(symbol));
}
WS_T cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
	return ::cudaEventCreateWithFlags(event, flags);
}
template <class T>
WS_T cudaError_t cudaLaunchKernel(T *func, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                  cudaStream_t stream = 0)
{
	return ::cudaLaunchKernel((const void *)func, grid, block, args, shared, stream);
}
template <class T>
WS_T cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                             cudaStream_t stream = 0)
{
	return ::cudaLaunchCooperativeKernel((const void *)func, grid, block, args, shared, stream);
}
#if __cplusplus >= 201103L
template <class... P, class... A>
WS_T cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...args)
{
	return [&](P... converted) {
		void *list[] = {(void *)&converted..., (void *)0};
		return ::cudaLaunchKernelExC(config, (const void *)kernel, list);
	}(static_cast<A &&>(args)...);
}
#endif
template <class T>
WS_T cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, T *func, const cudaLaunchConfig_t *config)
{
	return ::cudaOccupancyMaxPotentialClusterSize(size, (const void *)func, config);
}
template <class T>
WS_T cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, T *func, const cudaLaunchConfig_t *config)
{
	return ::cudaOccupancyMaxActiveClusters(clusters, (const void *)func, config);
}
template <class T> WS_T cudaError_t cudaFuncSetCacheConfig(T *func, enum cudaFuncCache config)
{
	return ::cudaFuncSetCacheConfig((const void *)func, config);
}
template <class T> WS_T cudaError_t cudaFuncSetSharedMemConfig(T *func, enum cudaSharedMemConfig config)
{
	return ::cudaFuncSetSharedMemConfig((const void *)func, config);
}
template <class T> WS_T cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *func)
{
	return ::cudaFuncGetAttributes(attr, (const void *)func);
}
template <class T> WS_T cudaError_t cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value)
{
	return ::cudaFuncSetAttribute((const void *)func, attr, value);
}
template <class T>
WS_T cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T func, int threads, size_t shared)
{
	return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)func, threads, shared, 0);
}
template <class T>
WS_T cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T func, int threads,
                                                                        size_t shared, unsigned int flags)
{
	return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)func, threads, shared,
	                                                                flags);
}

/* The block size with the most resident threads; the largest one where several are equal. `shared` says how much
 * dynamic shared memory a block of that many threads takes. */
template <class S, class T>
WS_T cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T func, S shared, int limit = 0)
{
	struct cudaFuncAttributes attr;
	int device = 0, sms = 0, best = 0, resident = 0;
	cudaError_t e = ::cudaFuncGetAttributes(&attr, (const void *)func);
	if (e == cudaSuccess)
		e = ::cudaGetDevice(&device);
	if (e == cudaSuccess)
		e = ::cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
	if (e != cudaSuccess)
		return e;
	int top = attr.maxThreadsPerBlock;
	if (limit > 0 && limit < top)
		top = limit;
	for (int t = (top + 31) / 32 * 32; t > 0; t -= 32) {
		int n = 0, threads = t < top ? t : top;
		e = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, (const void *)func, threads,
		                                                             shared(threads), 0);
		if (e != cudaSuccess)
			return e;
		if (n * threads > best) {
			best = n * threads;
			*block = threads;
			resident = n;
		}
	}
	*grid = resident * sms;
	return cudaSuccess;
}
struct warpsafe_fixed_shared {
	size_t bytes;
	__host__ __device__ size_t operator()(int) const { return bytes; }
};
template <class T>
WS_T cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T func, size_t shared = 0, int limit = 0)
{
	warpsafe_fixed_shared fixed = {shared};
	return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, func, fixed, limit);
}

WS_T cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph)
{
	return ::cudaGraphInstantiate(exec, graph, 0ull);
}
WS_T cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, void *, char *, size_t)
{
	return ::cudaGraphInstantiate(exec, graph, 0ull);
}

/* Calls with the parameters they had before CUDA 13. */
WS_T struct cudaMemLocation warpsafe_location(int device)
{
	struct cudaMemLocation l;
	l.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	l.id = device == cudaCpuDeviceId ? 0 : device;
	return l;
}
WS_T cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t count, int device, cudaStream_t stream = 0)
{
	return ::cudaMemPrefetchAsync(ptr, count, warpsafe_location(device), 0, stream);
}
WS_T cudaError_t cudaMemAdvise(const void *ptr, size_t count, enum cudaMemoryAdvise advice, int device)
{
	return ::cudaMemAdvise(ptr, count, advice, warpsafe_location(device));
}

#undef WS_T
#endif

#endif
