/* cuda_runtime_api.h - the CUDA runtime API in C. Written from the "CUDA Runtime API" reference manual, version 13.
 * Part of warpsafe's own CUDA headers. */
#ifndef WARPSAFE_CUDA_RUNTIME_API_H
#define WARPSAFE_CUDA_RUNTIME_API_H
#define __CUDA_RUNTIME_API_H__ /* programs ask for this one */

#include "driver_types.h"

#define CUDART_VERSION 13000
#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif
#define __CUDART_API_VERSION CUDART_VERSION

#if defined(__cplusplus)
extern "C" {
#define WS_DV(v) = v
#else
#define WS_DV(v)
#endif
#if defined(__CUDA__) && defined(__clang__)
#define WS_API extern __host__
#else
#define WS_API extern
#endif

/* Stream 0 is the calling thread's own (--default-stream per-thread): the names of the variants for that. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#ifndef __CUDA_ARCH__ /* clang writes the call of a launch, by this name */
__asm__(".set cudaLaunchKernel, cudaLaunchKernel_ptsz");
#endif
#define cudaLaunchCooperativeKernel cudaLaunchCooperativeKernel_ptsz
#define cudaLaunchKernelExC cudaLaunchKernelExC_ptsz
#define cudaLaunchHostFunc cudaLaunchHostFunc_ptsz
#define cudaStreamAddCallback cudaStreamAddCallback_ptsz
#define cudaStreamSynchronize cudaStreamSynchronize_ptsz
#define cudaStreamQuery cudaStreamQuery_ptsz
#define cudaStreamWaitEvent cudaStreamWaitEvent_ptsz
#define cudaEventRecord cudaEventRecord_ptsz
#define cudaEventRecordWithFlags cudaEventRecordWithFlags_ptsz
#define cudaMallocAsync cudaMallocAsync_ptsz
#define cudaMallocFromPoolAsync cudaMallocFromPoolAsync_ptsz
#define cudaFreeAsync cudaFreeAsync_ptsz
#define cudaMemcpyAsync cudaMemcpyAsync_ptsz
#define cudaMemcpy2DAsync cudaMemcpy2DAsync_ptsz
#define cudaMemcpy3DAsync cudaMemcpy3DAsync_ptsz
#define cudaMemcpyToSymbolAsync cudaMemcpyToSymbolAsync_ptsz
#define cudaMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync_ptsz
#define cudaMemsetAsync cudaMemsetAsync_ptsz
#define cudaMemset2DAsync cudaMemset2DAsync_ptsz
#define cudaGraphLaunch cudaGraphLaunch_ptsz
#define cudaMemcpy cudaMemcpy_ptds
#define cudaMemcpy2D cudaMemcpy2D_ptds
#define cudaMemcpy3D cudaMemcpy3D_ptds
#define cudaMemcpyToSymbol cudaMemcpyToSymbol_ptds
#define cudaMemcpyFromSymbol cudaMemcpyFromSymbol_ptds
#define cudaMemset cudaMemset_ptds
#define cudaMemset2D cudaMemset2D_ptds
#define cudaMemset3D cudaMemset3D_ptds
#endif

/* ---- device ---- */
WS_API cudaError_t cudaDeviceReset(void);
WS_API cudaError_t cudaDeviceSynchronize(void);
WS_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
WS_API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
WS_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
WS_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
WS_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
WS_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
WS_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
WS_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id);
WS_API cudaError_t cudaDeviceGetPCIBusId(char *id, int len, int device);
WS_API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
WS_API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
WS_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
WS_API cudaError_t cudaDeviceDisablePeerAccess(int peer);
WS_API cudaError_t cudaGetDeviceCount(int *count);
WS_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
WS_API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);
WS_API cudaError_t cudaSetDevice(int device);
WS_API cudaError_t cudaGetDevice(int *device);
WS_API cudaError_t cudaSetDeviceFlags(unsigned int flags);
WS_API cudaError_t cudaGetDeviceFlags(unsigned int *flags);
WS_API cudaError_t cudaDriverGetVersion(int *version);
WS_API cudaError_t cudaRuntimeGetVersion(int *version);

/* ---- errors ---- */
WS_API cudaError_t cudaGetLastError(void);
WS_API cudaError_t cudaPeekAtLastError(void);
WS_API const char *cudaGetErrorName(cudaError_t error);
WS_API const char *cudaGetErrorString(cudaError_t error);

/* ---- streams ---- */
WS_API cudaError_t cudaStreamCreate(cudaStream_t *stream);
WS_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
WS_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
WS_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
WS_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
WS_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
WS_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags WS_DV(0));
WS_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *user,
                                         unsigned int flags);
WS_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
WS_API cudaError_t cudaStreamQuery(cudaStream_t stream);
WS_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *ptr, size_t length WS_DV(0),
                                            unsigned int flags WS_DV(cudaMemAttachSingle));
WS_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attr, cudaStreamAttrValue *value);
WS_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attr, const cudaStreamAttrValue *value);
WS_API cudaError_t cudaCtxResetPersistingL2Cache(void);
WS_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *user);

/* ---- events ---- */
WS_API cudaError_t cudaEventCreate(cudaEvent_t *event);
WS_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
WS_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream WS_DV(0),
                                            unsigned int flags WS_DV(0));
WS_API cudaError_t cudaEventQuery(cudaEvent_t event);
WS_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
WS_API cudaError_t cudaEventDestroy(cudaEvent_t event);
WS_API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

/* ---- launches and kernels ---- */
WS_API cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                                    cudaStream_t stream);
WS_API cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                                               cudaStream_t stream);
WS_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args);
WS_API cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config);
WS_API cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config);
WS_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func);
WS_API cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value);
WS_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *func, const cudaLaunchConfig_t *config);
WS_API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *func, const cudaLaunchConfig_t *config);
WS_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func, int threads,
                                                                 size_t shared);
WS_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func, int threads,
                                                                          size_t shared, unsigned int flags);
WS_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *func, int blocks, int threads);

/* ---- memory ---- */
WS_API cudaError_t cudaMalloc(void **ptr, size_t size);
WS_API cudaError_t cudaMallocHost(void **ptr, size_t size);
WS_API cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height);
WS_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *ptr, struct cudaExtent extent);
WS_API cudaError_t cudaMallocManaged(void **ptr, size_t size, unsigned int flags WS_DV(cudaMemAttachGlobal));
WS_API cudaError_t cudaMallocAsync(void **ptr, size_t size, cudaStream_t stream);
WS_API cudaError_t cudaFree(void *ptr);
WS_API cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream);
WS_API cudaError_t cudaFreeHost(void *ptr);
WS_API cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned int flags);
WS_API cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags);
WS_API cudaError_t cudaHostUnregister(void *ptr);
WS_API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags);
WS_API cudaError_t cudaHostGetFlags(unsigned int *flags, void *ptr);
WS_API cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
WS_API cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
WS_API cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t count);
WS_API cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind);
WS_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
WS_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset WS_DV(0),
                                      enum cudaMemcpyKind kind WS_DV(cudaMemcpyHostToDevice));
WS_API cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset WS_DV(0),
                                        enum cudaMemcpyKind kind WS_DV(cudaMemcpyDeviceToHost));
WS_API cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                                   cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t count,
                                       cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                           enum cudaMemcpyKind kind, cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                             enum cudaMemcpyKind kind, cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaMemset(void *ptr, int value, size_t count);
WS_API cudaError_t cudaMemset2D(void *ptr, size_t pitch, int value, size_t width, size_t height);
WS_API cudaError_t cudaMemset3D(struct cudaPitchedPtr ptr, int value, struct cudaExtent extent);
WS_API cudaError_t cudaMemsetAsync(void *ptr, int value, size_t count, cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaMemset2DAsync(void *ptr, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaGetSymbolAddress(void **ptr, const void *symbol);
WS_API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);
WS_API cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t count, struct cudaMemLocation location,
                                        unsigned int flags, cudaStream_t stream WS_DV(0));
WS_API cudaError_t cudaMemAdvise(const void *ptr, size_t count, enum cudaMemoryAdvise advice,
                                 struct cudaMemLocation location);
WS_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr);

/* ---- graphs, made by capturing a stream or node by node ---- */
WS_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
WS_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
WS_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
WS_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
WS_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
WS_API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags);
WS_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t n,
                                          const struct cudaKernelNodeParams *params);
WS_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t n,
                                            void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
WS_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t n,
                                          const struct cudaMemsetParams *params);
WS_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t n,
                                        const struct cudaHostNodeParams *params);
WS_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t n);
WS_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t n,
                                              cudaGraph_t child);
WS_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            const void *edges, size_t n);
WS_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
WS_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
WS_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);
WS_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

/* ---- profiler ---- */
WS_API cudaError_t cudaProfilerStart(void);
WS_API cudaError_t cudaProfilerStop(void);

#if defined(__cplusplus)
}
#endif

static __inline__ __host__ struct cudaPitchedPtr make_cudaPitchedPtr(void *ptr, size_t pitch, size_t xsize,
                                                                     size_t ysize)
{
	struct cudaPitchedPtr p;
	p.ptr = ptr; p.pitch = pitch; p.xsize = xsize; p.ysize = ysize;
	return p;
}
static __inline__ __host__ struct cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
	struct cudaPos p;
	p.x = x; p.y = y; p.z = z;
	return p;
}
static __inline__ __host__ struct cudaExtent make_cudaExtent(size_t w, size_t h, size_t d)
{
	struct cudaExtent e;
	e.width = w; e.height = h; e.depth = d;
	return e;
}

/* Fields of older versions' cudaDeviceProp are asked for one by one: CUDA 13's call does not know them. */
static __inline__ __host__ cudaError_t warpsafe_device_properties(struct cudaDeviceProp *p, int device)
{
	cudaError_t e = cudaGetDeviceProperties(p, device);
	if (e != cudaSuccess)
		return e;
	cudaDeviceGetAttribute(&p->clockRate, cudaDevAttrClockRate, device);
	cudaDeviceGetAttribute(&p->memoryClockRate, cudaDevAttrMemoryClockRate, device);
	cudaDeviceGetAttribute(&p->deviceOverlap, cudaDevAttrGpuOverlap, device);
	cudaDeviceGetAttribute(&p->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout, device);
	cudaDeviceGetAttribute(&p->computeMode, cudaDevAttrComputeMode, device);
	cudaDeviceGetAttribute(&p->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
	p->cooperativeMultiDeviceLaunch = 0;
	return e;
}
#define cudaGetDeviceProperties warpsafe_device_properties

/* Names of older versions. */
#define cudaThreadSynchronize cudaDeviceSynchronize
#define cudaThreadExit cudaDeviceReset

#undef WS_API

#endif
