/* rt_launch.c - launches: parameters are packed as the kernel's PTX lays them out, limits checked as CUDA does. */
#include "cuda/rt.h"

#include <stdlib.h>
#include <string.h>

enum { SHARED_DEFAULT = 49152, EXTRA_END = 0, EXTRA_BUFFER = 1, EXTRA_SIZE = 2 };

/* CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE, in any order. */
static int pack_extra(struct ws_kernel_op *k, const struct ws_kernel_info *info, void **extra)
{
	const void *buffer = NULL;
	size_t size = 0;

	for (; *extra != (void *)EXTRA_END; extra += 2) {
		if (*extra == (void *)EXTRA_BUFFER)
			buffer = extra[1];
		else if (*extra == (void *)EXTRA_SIZE)
			size = *(size_t *)extra[1];
		else
			return WS_CUDA_INVALID_VALUE;
	}
	if (info->param_bytes && (!buffer || size < info->param_bytes))
		return WS_CUDA_INVALID_VALUE;
	if (info->param_bytes)
		memcpy(k->params, buffer, info->param_bytes);
	return 0;
}

int ws_pack_params(struct ws_kernel_op *k, void **args, void **extra)
{
	struct ws_kernel_info info;
	uint32_t i;
	int e = 0;

	ws_gpu_kernel_info(k->f->kernel, &info);
	k->nbytes = info.param_bytes;
	k->params = ws_alloc(info.param_bytes);
	if (args) {
		for (i = 0; i < info.nparams && args[i]; i++)
			memcpy(k->params + info.param_offset[i], args[i], info.param_size[i]);
		e = i < info.nparams ? WS_CUDA_INVALID_VALUE : 0;
	} else if (extra) {
		e = pack_extra(k, &info, extra);
	} else if (info.nparams) {
		e = WS_CUDA_INVALID_VALUE;
	}
	if (e) {
		free(k->params);
		k->params = NULL;
	}
	return e;
}

static int check_shape(const struct ws_kernel_op *k, const struct ws_kernel_info *info)
{
	uint64_t threads = (uint64_t)k->block.x * k->block.y * k->block.z;
	size_t usual = info->shared_static < SHARED_DEFAULT ? SHARED_DEFAULT - info->shared_static : 0;
	size_t most = (size_t)k->f->max_dynamic_shared > usual ? (size_t)k->f->max_dynamic_shared : usual;

	if (!k->grid.x || !k->grid.y || !k->grid.z || !threads)
		return WS_CUDA_INVALID_CONFIGURATION;
	if (k->grid.x > INT32_MAX || k->grid.y > 65535 || k->grid.z > 65535)
		return WS_CUDA_INVALID_CONFIGURATION;
	if (k->block.x > 1024 || k->block.y > 1024 || k->block.z > 64 || threads > 1024)
		return WS_CUDA_INVALID_CONFIGURATION;
	if (threads > info->max_threads)
		return WS_CUDA_OUT_OF_RESOURCES;
	if (k->shared > most)
		return WS_CUDA_INVALID_VALUE;
	return 0;
}

/* All blocks of a cooperative launch must fit on the device at once. */
static int check_cooperative(const struct ws_kernel_op *k)
{
	uint64_t blocks = (uint64_t)k->grid.x * k->grid.y * k->grid.z;
	struct ws_gpu *g = ws_session()->gpu;
	uint32_t per_sm;

	if (!k->cooperative)
		return 0;
	per_sm = ws_gpu_occupancy(g, k->f->kernel, k->block.x * k->block.y * k->block.z, k->shared);
	return blocks > (uint64_t)per_sm * ws_gpu_config(g)->sms ? WS_CUDA_COOPERATIVE_TOO_LARGE : 0;
}

int ws_launch(struct ws_kernel_op *k, void *stream, const char *call)
{
	struct ws_work op = {.type = WS_NODE_KERNEL};
	struct ws_kernel_info info;
	int e;

	ws_gpu_kernel_info(k->f->kernel, &info);
	e = check_shape(k, &info);
	if (!e)
		e = check_cooperative(k);
	if (!e)
		e = ws_cluster_check(k);
	if (e) {
		free(k->params);
		return e;
	}
	op.u.kernel = *k;
	return ws_work_submit(stream, &op, call);
}

static int launch(const void *func, struct ws_dim3 grid, struct ws_dim3 block, void **args, size_t shared, void *stream,
		  bool cooperative, const char *call)
{
	struct ws_kernel_op k = {.grid = grid, .block = block, .shared = shared, .cooperative = cooperative};
	int e;

	WS_BEGIN();
	k.f = ws_function_of(func, &e);
	if (!e)
		e = ws_pack_params(&k, args, NULL);
	return ws_fail(e ? e : ws_launch(&k, stream, call));
}

int ws_launch_config(const struct ws_launch_config *c, struct ws_function *f, void **args, void **extra,
		     const char *call)
{
	struct ws_kernel_op k = {.f = f, .grid = c->grid, .block = c->block, .shared = c->shared};
	unsigned i;
	int e;

	for (i = 0; i < c->nattrs; i++) {
		if (c->attrs[i].id == WS_LAUNCH_COOPERATIVE)
			k.cooperative = c->attrs[i].value.cooperative;
		else if (c->attrs[i].id == WS_LAUNCH_CLUSTER)
			k.cluster = c->attrs[i].value.cluster;
		else if (c->attrs[i].id == WS_LAUNCH_EARLY)
			k.early = c->attrs[i].value.early;
	}
	e = ws_pack_params(&k, args, extra);
	return e ? e : ws_launch(&k, c->stream, call);
}

WS_RT(cudaLaunchKernel, const void *func, struct ws_dim3 grid, struct ws_dim3 block, void **args, size_t shared,
      void *stream)
{
	return launch(func, grid, block, args, shared, stream, false, "cudaLaunchKernel");
}

WS_RT(__cudaLaunchKernel, void *kernel, struct ws_dim3 grid, struct ws_dim3 block, void **args, size_t shared,
      void *stream)
{
	return launch(kernel, grid, block, args, shared, stream, false, "cudaLaunchKernel");
}

WS_RT(cudaLaunchCooperativeKernel, const void *func, struct ws_dim3 grid, struct ws_dim3 block, void **args,
      size_t shared, void *stream)
{
	return launch(func, grid, block, args, shared, stream, true, "cudaLaunchCooperativeKernel");
}

WS_RT(cudaLaunchKernelExC, const struct ws_launch_config *config, const void *func, void **args)
{
	struct ws_function *f;
	int e;

	WS_BEGIN();
	if (!config)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	f = ws_function_of(func, &e);
	return ws_fail(e ? e : ws_launch_config(config, f, args, NULL, "cudaLaunchKernelExC"));
}

/* ---- handles of kernels ---- */
WS_RT(cudaGetKernel, void **out, const void *func)
{
	int e;

	WS_BEGIN();
	if (!out)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*out = ws_function_of(func, &e);
	return ws_fail(e);
}

WS_RT(cudaGetFuncBySymbol, void **out, const void *func)
{
	int e;

	WS_BEGIN();
	if (!out)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*out = ws_function_of(func, &e);
	return ws_fail(e);
}

WS_RT(cudaFuncGetName, const char **name, const void *func)
{
	struct ws_function *f;
	int e;

	WS_BEGIN();
	f = ws_function_of(func, &e);
	if (f && !name)
		e = WS_CUDA_INVALID_VALUE;
	else if (f)
		*name = f->name;
	return ws_fail(e);
}

WS_RT(cudaFuncGetParamInfo, const void *func, size_t i, size_t *offset, size_t *size)
{
	struct ws_kernel_info info;
	struct ws_function *f;
	int e;

	WS_BEGIN();
	f = ws_function_of(func, &e);
	if (e)
		return ws_fail(e);
	ws_gpu_kernel_info(f->kernel, &info);
	if (i >= info.nparams || !offset)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*offset = info.param_offset[i];
	if (size)
		*size = info.param_size[i];
	return 0;
}
