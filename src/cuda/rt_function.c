/* rt_function.c - attributes of kernels and how many of their blocks fit. */
#include "cuda/rt.h"

enum { SHARED_OPTIN = 232448, SHARED_SM = 233472, SHARED_RESERVED = 1024 };

WS_RT(cudaFuncGetAttributes, struct ws_func_attributes *out, const void *func)
{
	struct ws_kernel_info info;
	struct ws_function *f;
	int e, cluster[6];

	WS_BEGIN();
	f = ws_function_of(func, &e);
	if (f && !out)
		e = WS_CUDA_INVALID_VALUE;
	if (e)
		return ws_fail(e);
	ws_gpu_kernel_info(f->kernel, &info);
	*out = (struct ws_func_attributes){
		.shared_bytes = info.shared_static,
		.const_bytes = info.const_bytes,
		.local_bytes = info.local_bytes,
		.max_threads = (int)info.max_threads,
		.regs = (int)info.regs,
		.ptx_version = (int)info.sm,
		.binary_version = (int)ws_gpu_config(ws_session()->gpu)->cc,
		.max_dynamic_shared = f->max_dynamic_shared ? f->max_dynamic_shared : 49152 - (int)info.shared_static,
		.carveout = f->carveout};
	ws_cluster_attributes(f, cluster);
	out->cluster_must_be_set = cluster[0];
	out->cluster_width = cluster[1];
	out->cluster_height = cluster[2];
	out->cluster_depth = cluster[3];
	out->cluster_policy = cluster[4];
	out->non_portable_cluster = cluster[5];
	return 0;
}

int ws_function_set(struct ws_function *f, int attribute, int value)
{
	struct ws_kernel_info info;

	ws_gpu_kernel_info(f->kernel, &info);
	switch (attribute) {
	case WS_FUNC_MAX_DYNAMIC_SHARED:
		if (value < 0 || (uint64_t)value + info.shared_static > SHARED_OPTIN)
			return WS_CUDA_INVALID_VALUE;
		f->max_dynamic_shared = value;
		return 0;
	case WS_FUNC_CARVEOUT:
		if (value < -1 || value > 100)
			return WS_CUDA_INVALID_VALUE;
		f->carveout = value;
		return 0;
	case WS_FUNC_CLUSTER_WIDTH: case WS_FUNC_CLUSTER_HEIGHT: case WS_FUNC_CLUSTER_DEPTH:
	case WS_FUNC_NON_PORTABLE_CLUSTER:
		return ws_cluster_attribute(f, attribute, value);
	default:
		return attribute > WS_FUNC_CARVEOUT && attribute < WS_FUNC_ATTRIBUTE_END ? 0 : WS_CUDA_INVALID_VALUE;
	}
}

WS_RT(cudaFuncSetAttribute, const void *func, int attribute, int value)
{
	struct ws_function *f;
	int e;

	WS_BEGIN();
	f = ws_function_of(func, &e);
	return ws_fail(e ? e : ws_function_set(f, attribute, value));
}

WS_RT(cudaKernelSetAttributeForDevice, void *kernel, int attribute, int value, int device)
{
	struct ws_function *f;
	int e;

	WS_BEGIN();
	f = ws_function_of(kernel, &e);
	return ws_fail(device ? WS_CUDA_INVALID_DEVICE : e ? e : ws_function_set(f, attribute, value));
}

WS_RT(cudaFuncSetCacheConfig, const void *func, int config)
{
	int e;

	WS_BEGIN();
	ws_function_of(func, &e);
	return ws_fail(e ? e : config < 0 || config > 3 ? WS_CUDA_INVALID_VALUE : 0);
}

WS_RT(cudaFuncSetSharedMemConfig, const void *func, int config)
{
	int e;

	WS_BEGIN();
	ws_function_of(func, &e);
	return ws_fail(e);
}

/* ---- occupancy ---- */
static int max_blocks(int *out, const void *func, int threads, size_t shared)
{
	struct ws_function *f;
	int e;

	WS_BEGIN();
	f = ws_function_of(func, &e);
	if (!e && (!out || threads <= 0))
		e = WS_CUDA_INVALID_VALUE;
	if (!e)
		*out = (int)ws_gpu_occupancy(ws_session()->gpu, f->kernel, (uint32_t)threads, shared);
	return ws_fail(e);
}

WS_RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int *out, const void *func, int threads, size_t shared)
{
	return max_blocks(out, func, threads, shared);
}

WS_RT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *out, const void *func, int threads, size_t shared,
      unsigned flags)
{
	return flags > 1 ? ws_fail(WS_CUDA_INVALID_VALUE) : max_blocks(out, func, threads, shared);
}

WS_RT(cudaOccupancyAvailableDynamicSMemPerBlock, size_t *out, const void *func, int blocks, int threads)
{
	struct ws_kernel_info info;
	struct ws_function *f;
	size_t each;
	int e;

	WS_BEGIN();
	f = ws_function_of(func, &e);
	if (!e && (!out || blocks <= 0 || threads <= 0))
		e = WS_CUDA_INVALID_VALUE;
	if (e)
		return ws_fail(e);
	ws_gpu_kernel_info(f->kernel, &info);
	each = SHARED_SM / (size_t)blocks;
	each = each > SHARED_OPTIN + SHARED_RESERVED ? SHARED_OPTIN + SHARED_RESERVED : each;
	*out = each > SHARED_RESERVED + info.shared_static ? each - SHARED_RESERVED - info.shared_static : 0;
	return 0;
}
