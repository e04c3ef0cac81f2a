/* Our declarations of CUDA's binary interface against a toolkit's headers: compiled, never run. */
// ways: toolkit
#include <stddef.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "cuda/cuda_abi.h"

#define SIZE(theirs, ours) _Static_assert(sizeof(theirs) == sizeof(ours), #ours)
#define AT(theirs, field, ours, our_field) \
	_Static_assert(offsetof(theirs, field) == offsetof(ours, our_field), #ours "." #our_field)
#define VALUE(theirs, ours) _Static_assert((int)(theirs) == (int)(ours), #theirs)

VALUE(cudaErrorInvalidValue, WS_CUDA_INVALID_VALUE);
VALUE(cudaErrorMemoryAllocation, WS_CUDA_NO_MEMORY);
VALUE(cudaErrorInitializationError, WS_CUDA_NOT_INITIALIZED);
VALUE(cudaErrorInvalidConfiguration, WS_CUDA_INVALID_CONFIGURATION);
VALUE(cudaErrorInvalidPitchValue, WS_CUDA_INVALID_PITCH);
VALUE(cudaErrorInvalidSymbol, WS_CUDA_INVALID_SYMBOL);
VALUE(cudaErrorInvalidMemcpyDirection, WS_CUDA_INVALID_MEMCPY_DIRECTION);
VALUE(cudaErrorMissingConfiguration, WS_CUDA_MISSING_CONFIGURATION);
VALUE(cudaErrorInvalidDeviceFunction, WS_CUDA_INVALID_DEVICE_FUNCTION);
VALUE(cudaErrorInvalidDevice, WS_CUDA_INVALID_DEVICE);
VALUE(cudaErrorInvalidKernelImage, WS_CUDA_INVALID_IMAGE);
VALUE(cudaErrorNoKernelImageForDevice, WS_CUDA_NO_KERNEL_IMAGE);
VALUE(cudaErrorUnsupportedLimit, WS_CUDA_UNSUPPORTED_LIMIT);
VALUE(cudaErrorInvalidPtx, WS_CUDA_INVALID_PTX);
VALUE(cudaErrorFileNotFound, WS_CUDA_FILE_NOT_FOUND);
VALUE(cudaErrorInvalidResourceHandle, WS_CUDA_INVALID_HANDLE);
VALUE(cudaErrorIllegalState, WS_CUDA_ILLEGAL_STATE);
VALUE(cudaErrorSymbolNotFound, WS_CUDA_NOT_FOUND);
VALUE(cudaErrorIllegalAddress, WS_CUDA_ILLEGAL_ADDRESS);
VALUE(cudaErrorLaunchOutOfResources, WS_CUDA_OUT_OF_RESOURCES);
VALUE(cudaErrorLaunchTimeout, WS_CUDA_LAUNCH_TIMEOUT);
VALUE(cudaErrorAssert, WS_CUDA_ASSERT);
VALUE(cudaErrorHostMemoryAlreadyRegistered, WS_CUDA_ALREADY_REGISTERED);
VALUE(cudaErrorHostMemoryNotRegistered, WS_CUDA_NOT_REGISTERED);
VALUE(cudaErrorHardwareStackError, WS_CUDA_STACK_ERROR);
VALUE(cudaErrorIllegalInstruction, WS_CUDA_ILLEGAL_INSTRUCTION);
VALUE(cudaErrorMisalignedAddress, WS_CUDA_MISALIGNED);
VALUE(cudaErrorInvalidPc, WS_CUDA_INVALID_PC);
VALUE(cudaErrorLaunchFailure, WS_CUDA_LAUNCH_FAILURE);
VALUE(cudaErrorCooperativeLaunchTooLarge, WS_CUDA_COOPERATIVE_TOO_LARGE);
VALUE(cudaErrorNotSupported, WS_CUDA_NOT_SUPPORTED);
VALUE(cudaErrorStreamCaptureUnsupported, WS_CUDA_CAPTURE_UNSUPPORTED);
VALUE(cudaErrorStreamCaptureUnmatched, WS_CUDA_CAPTURE_UNMATCHED);
VALUE(cudaErrorCapturedEvent, WS_CUDA_CAPTURED_EVENT);
VALUE(cudaErrorGraphExecUpdateFailure, WS_CUDA_UPDATE_FAILURE);
VALUE(CUDA_ERROR_NOT_FOUND, WS_CUDA_NOT_FOUND);
VALUE(CUDA_ERROR_INVALID_HANDLE, WS_CUDA_INVALID_HANDLE);

VALUE(cudaMemcpyHostToDevice, WS_COPY_HD);
VALUE(cudaMemcpyDeviceToHost, WS_COPY_DH);
VALUE(cudaMemcpyDeviceToDevice, WS_COPY_DD);
VALUE(cudaMemcpyDefault, WS_COPY_DEFAULT);
VALUE(cudaMemoryTypeHost, WS_MT_HOST);
VALUE(cudaMemoryTypeDevice, WS_MT_DEVICE);
VALUE(cudaMemoryTypeManaged, WS_MT_MANAGED);
VALUE(cudaFuncAttributeMaxDynamicSharedMemorySize, WS_FUNC_MAX_DYNAMIC_SHARED);
VALUE(cudaFuncAttributePreferredSharedMemoryCarveout, WS_FUNC_CARVEOUT);
VALUE(cudaFuncAttributeMax, WS_FUNC_ATTRIBUTE_END);
VALUE(cudaLimitStackSize, WS_LIMIT_STACK);
VALUE(cudaLimitMallocHeapSize, WS_LIMIT_HEAP);
VALUE(cudaLimitPersistingL2CacheSize, WS_LIMIT_PERSISTING_L2);
VALUE(cudaLaunchAttributeCooperative, WS_LAUNCH_COOPERATIVE);
VALUE(cudaLaunchAttributeClusterDimension, WS_LAUNCH_CLUSTER);
VALUE(cudaStreamCaptureStatusActive, WS_CAPTURE_ACTIVE);
VALUE(cudaGraphNodeTypeEventRecord, WS_NODE_RECORD);
VALUE(cudaGraphNodeTypeWaitEvent, WS_NODE_WAIT);
VALUE(cudaGraphNodeTypeMemAlloc, WS_NODE_ALLOC);
VALUE(cudaGraphNodeTypeMemFree, WS_NODE_FREE);
VALUE(cudaMemPoolAttrReleaseThreshold, WS_POOL_RELEASE_THRESHOLD);
VALUE(cudaMemPoolAttrUsedMemHigh, WS_POOL_LAST);
VALUE(cudaStreamNonBlocking, WS_STREAM_NON_BLOCKING);
VALUE(cudaEventDisableTiming, WS_EVENT_DISABLE_TIMING);
VALUE(cudaEventInterprocess, WS_EVENT_INTERPROCESS);
VALUE(cudaMemAttachGlobal, WS_ATTACH_GLOBAL);

#define A(number, name, value) VALUE(cudaDevAttr##name, number);
#define cudaDevAttrCanTex2DGather 44
#include "cuda/attributes.def"

SIZE(dim3, struct ws_dim3);
SIZE(struct cudaPitchedPtr, struct ws_pitched_ptr);
SIZE(struct cudaExtent, struct ws_extent);
SIZE(struct cudaMemcpy3DParms, struct ws_memcpy3d);
AT(struct cudaMemcpy3DParms, dstPtr, struct ws_memcpy3d, dst);
AT(struct cudaMemcpy3DParms, kind, struct ws_memcpy3d, kind);
SIZE(struct cudaMemcpy3DPeerParms, struct ws_memcpy3d_peer);
SIZE(struct cudaPointerAttributes, struct ws_pointer_attributes);
AT(struct cudaPointerAttributes, hostPointer, struct ws_pointer_attributes, host_pointer);
SIZE(struct cudaFuncAttributes, struct ws_func_attributes);
AT(struct cudaFuncAttributes, maxDynamicSharedSizeBytes, struct ws_func_attributes, max_dynamic_shared);
SIZE(cudaLaunchConfig_t, struct ws_launch_config);
AT(cudaLaunchConfig_t, numAttrs, struct ws_launch_config, nattrs);
SIZE(cudaLaunchAttribute, struct ws_launch_attribute);
AT(cudaLaunchAttribute, val, struct ws_launch_attribute, value);
SIZE(struct cudaKernelNodeParams, struct ws_kernel_node_params);
SIZE(struct cudaMemsetParams, struct ws_memset_params);
SIZE(struct cudaHostNodeParams, struct ws_host_node_params);
SIZE(struct cudaMemPoolProps, struct ws_pool_props);
SIZE(struct cudaMemAllocNodeParams, struct ws_alloc_node_params);
SIZE(struct cudaGraphNodeParams, struct ws_graph_node_params);
AT(struct cudaGraphNodeParams, kernel, struct ws_graph_node_params, u);
SIZE(cudaGraphExecUpdateResultInfo, struct ws_graph_update_info);
SIZE(cudaGraphInstantiateParams, struct ws_graph_instantiate_params);
SIZE(cudaUUID_t, struct ws_uuid);

#if CUDART_VERSION >= 13000
SIZE(struct cudaDeviceProp, struct ws_prop13);
#define P(theirs, ours) AT(struct cudaDeviceProp, theirs, struct ws_prop13, ours)
#else
SIZE(struct cudaDeviceProp, struct ws_prop12);
#define P(theirs, ours) AT(struct cudaDeviceProp, theirs, struct ws_prop12, ours)
P(clockRate, clock);
P(memoryClockRate, memory_clock);
P(singleToDoublePrecisionPerfRatio, single_to_double);
#endif
P(totalGlobalMem, global_bytes);
P(maxGridSize, grid);
P(major, major);
P(multiProcessorCount, sms);
P(canMapHostMemory, map_host);
P(maxTexture1D, textures);
P(maxSurface1D, surfaces);
P(surfaceAlignment, surface_align);
P(memoryBusWidth, bus_width);
P(sharedMemPerMultiprocessor, shared_sm);
P(managedMemory, managed);
P(cooperativeLaunch, cooperative);
P(sharedMemPerBlockOptin, shared_optin);
P(maxBlocksPerMultiProcessor, blocks_sm);
P(reservedSharedMemPerBlock, shared_reserved);
P(memoryPoolsSupported, pools);
P(clusterLaunch, cluster);
