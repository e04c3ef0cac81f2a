/* drv_module.c - driver API: modules, libraries, functions and their attributes, variables. */
#include "cuda/drv.h"

static int give(void **out, struct ws_binary *b, int e)
{
	if (b)
		*out = b;
	return ws_drv(e);
}

static int load_data(void **out, const void *image)
{
	struct ws_binary *b;
	int e;

	WS_DRV_BEGIN();
	if (!out)
		return WS_CUDA_INVALID_VALUE;
	b = ws_binary_load(image, 0, &e);
	return give(out, b, e);
}

static int load_file(void **out, const char *path)
{
	struct ws_binary *b;
	int e;

	WS_DRV_BEGIN();
	if (!out)
		return WS_CUDA_INVALID_VALUE;
	b = ws_binary_load_file(path, &e);
	return give(out, b, e);
}

static int unload(void *binary)
{
	WS_DRV_BEGIN();
	if (!ws_binary_valid(binary))
		return WS_CUDA_INVALID_HANDLE;
	ws_binary_unload(binary);
	return 0;
}

static int find(void **out, void *binary, const char *name)
{
	int e;

	WS_DRV_BEGIN();
	if (!out || !name || !ws_binary_valid(binary))
		return out && name ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE;
	*out = ws_binary_find(binary, name, &e);
	return ws_drv(e);
}

static int variable(uint64_t *out, size_t *bytes, void *binary, const char *name)
{
	struct ws_mem *m;
	int e;

	WS_DRV_BEGIN();
	if (!name || !ws_binary_valid(binary))
		return name ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE;
	m = ws_binary_var(binary, name, &e);
	if (m && out)
		*out = m->addr;
	if (m && bytes)
		*bytes = m->size;
	return ws_drv(e);
}

/* ---- modules ---- */
WS_RT(cuModuleLoad, void **out, const char *path)
{
	return load_file(out, path);
}

WS_RT(cuModuleLoadData, void **out, const void *image)
{
	return load_data(out, image);
}

/* The options are those of NVIDIA's compiler; their values that are results keep what the caller put there. */
WS_RT(cuModuleLoadDataEx, void **out, const void *image, unsigned n, const int *options, void **values)
{
	return load_data(out, image);
}

WS_RT(cuModuleLoadFatBinary, void **out, const void *image)
{
	return load_data(out, image);
}

WS_RT(cuModuleUnload, void *module)
{
	return unload(module);
}

WS_RT(cuModuleGetFunction, void **out, void *module, const char *name)
{
	return find(out, module, name);
}

WS_RT(cuModuleGetGlobal_v2, uint64_t *out, size_t *bytes, void *module, const char *name)
{
	return variable(out, bytes, module, name);
}

WS_RT(cuModuleGetLoadingMode, int *mode)
{
	if (!mode)
		return WS_CUDA_INVALID_VALUE;
	*mode = 2; /* lazy */
	return 0;
}

/* ---- libraries: the same thing ---- */
WS_RT(cuLibraryLoadData, void **out, const void *code)
{
	return load_data(out, code);
}

WS_RT(cuLibraryLoadFromFile, void **out, const char *path)
{
	return load_file(out, path);
}

WS_RT(cuLibraryUnload, void *library)
{
	return unload(library);
}

WS_RT(cuLibraryGetKernel, void **out, void *library, const char *name)
{
	return find(out, library, name);
}

WS_RT(cuLibraryGetModule, void **out, void *library)
{
	WS_DRV_BEGIN();
	if (!out || !ws_binary_valid(library))
		return out ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE;
	*out = library;
	return 0;
}

WS_RT(cuLibraryGetGlobal, uint64_t *out, size_t *bytes, void *library, const char *name)
{
	return variable(out, bytes, library, name);
}

WS_RT(cuLibraryGetManaged, uint64_t *out, size_t *bytes, void *library, const char *name)
{
	return variable(out, bytes, library, name);
}

/* ---- functions and kernels: one kind of handle ---- */
static int function(struct ws_function **f, void *handle)
{
	int e;

	WS_DRV_BEGIN();
	*f = ws_function_of(handle, &e);
	return e ? WS_CUDA_INVALID_HANDLE : 0;
}

WS_RT(cuKernelGetFunction, void **out, void *kernel)
{
	struct ws_function *f;
	int e = function(&f, kernel);

	if (!e)
		*out = f;
	return e;
}

WS_RT(cuKernelGetLibrary, void **out, void *kernel)
{
	struct ws_function *f;
	int e = function(&f, kernel);

	if (!e)
		*out = f->binary;
	return e;
}

WS_RT(cuFuncGetModule, void **out, void *func)
{
	struct ws_function *f;
	int e = function(&f, func);

	if (!e)
		*out = f->binary;
	return e;
}

WS_RT(cuFuncGetName, const char **out, void *func)
{
	struct ws_function *f;
	int e = function(&f, func);

	if (!e)
		*out = f->name;
	return e;
}

WS_RT(cuKernelGetName, const char **out, void *kernel)
{
	struct ws_function *f;
	int e = function(&f, kernel);

	if (!e)
		*out = f->name;
	return e;
}

static int parameter(void *func, size_t i, size_t *offset, size_t *size)
{
	struct ws_kernel_info info;
	struct ws_function *f;
	int e = function(&f, func);

	if (e)
		return e;
	ws_gpu_kernel_info(f->kernel, &info);
	if (i >= info.nparams || !offset)
		return WS_CUDA_INVALID_VALUE;
	*offset = info.param_offset[i];
	if (size)
		*size = info.param_size[i];
	return 0;
}

WS_RT(cuFuncGetParamInfo, void *func, size_t i, size_t *offset, size_t *size)
{
	return parameter(func, i, offset, size);
}

WS_RT(cuKernelGetParamInfo, void *kernel, size_t i, size_t *offset, size_t *size)
{
	return parameter(kernel, i, offset, size);
}

/* CU_FUNC_ATTRIBUTE_*: 0 threads, 1 shared, 2 const, 3 local, 4 registers, 5 PTX, 6 binary version, 8 dynamic shared,
 * 9 carveout. */
static int get_attribute(int *value, int attribute, void *func)
{
	struct ws_kernel_info i;
	struct ws_function *f;
	int e = function(&f, func), cluster[6];

	if (e)
		return e;
	if (!value)
		return WS_CUDA_INVALID_VALUE;
	ws_gpu_kernel_info(f->kernel, &i);
	switch (attribute) {
	case 0:
		*value = (int)i.max_threads;
		return 0;
	case 1:
		*value = (int)i.shared_static;
		return 0;
	case 2:
		*value = (int)i.const_bytes;
		return 0;
	case 3:
		*value = (int)i.local_bytes;
		return 0;
	case 4:
		*value = (int)i.regs;
		return 0;
	case 5:
		*value = (int)i.sm;
		return 0;
	case 6:
		*value = (int)ws_gpu_config(ws_session()->gpu)->cc;
		return 0;
	case 7:
		*value = 0;
		return 0;
	case 8:
		*value = f->max_dynamic_shared ? f->max_dynamic_shared : 49152 - (int)i.shared_static;
		return 0;
	case 9:
		*value = f->carveout;
		return 0;
	case WS_FUNC_CLUSTER_MUST_BE_SET: case WS_FUNC_CLUSTER_WIDTH: case WS_FUNC_CLUSTER_HEIGHT:
	case WS_FUNC_CLUSTER_DEPTH: case WS_FUNC_CLUSTER_DEPTH + 2: case WS_FUNC_NON_PORTABLE_CLUSTER:
		ws_cluster_attributes(f, cluster);
		*value = cluster[attribute == WS_FUNC_NON_PORTABLE_CLUSTER ? 5 :
		                 attribute > WS_FUNC_NON_PORTABLE_CLUSTER ? 4 : attribute - WS_FUNC_CLUSTER_MUST_BE_SET];
		return 0;
	default:
		*value = 0;
		return attribute < WS_FUNC_ATTRIBUTE_END ? 0 : WS_CUDA_INVALID_VALUE;
	}
}

WS_RT(cuFuncGetAttribute, int *value, int attribute, void *func)
{
	return get_attribute(value, attribute, func);
}

WS_RT(cuKernelGetAttribute, int *value, int attribute, void *kernel, int device)
{
	return device ? WS_CUDA_INVALID_DEVICE : get_attribute(value, attribute, kernel);
}

WS_RT(cuFuncSetAttribute, void *func, int attribute, int value)
{
	struct ws_function *f;
	int e = function(&f, func);

	return e ? e : ws_function_set(f, attribute, value);
}

WS_RT(cuKernelSetAttribute, int attribute, int value, void *kernel, int device)
{
	struct ws_function *f;
	int e = function(&f, kernel);

	return device ? WS_CUDA_INVALID_DEVICE : e ? e : ws_function_set(f, attribute, value);
}

WS_RT(cuFuncSetCacheConfig, void *func, int config)
{
	struct ws_function *f;

	return function(&f, func);
}

WS_RT(cuFuncSetSharedMemConfig, void *func, int config)
{
	struct ws_function *f;

	return function(&f, func);
}

/* Nothing is loaded late here. */
WS_RT(cuFuncLoad, void *func)
{
	struct ws_function *f;

	return function(&f, func);
}

WS_RT(cuFuncIsLoaded, int *state, void *func)
{
	enum { LOADED = 1 };                 /* CUfunctionLoadingState */
	struct ws_function *f;
	int e = state ? function(&f, func) : WS_CUDA_INVALID_VALUE;

	if (!e)
		*state = LOADED;
	return e;
}

/* ---- occupancy ---- */
WS_RT(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *out, void *func, int threads, size_t shared,
      unsigned flags)
{
	struct ws_function *f;
	int e = function(&f, func);

	if (e)
		return e;
	if (!out || threads <= 0 || flags > 1)
		return WS_CUDA_INVALID_VALUE;
	*out = (int)ws_gpu_occupancy(ws_session()->gpu, f->kernel, (uint32_t)threads, shared);
	return 0;
}

WS_RT(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *out, void *func, int threads, size_t shared)
{
	return ws_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, func, threads, shared, 0);
}

/* The block size that fills an SM best: the largest of the best, in steps of a warp. */
WS_RT(cuOccupancyMaxPotentialBlockSize, int *grid, int *block, void *func, size_t (*shared_of)(int), size_t shared,
      int limit)
{
	struct ws_kernel_info info;
	struct ws_function *f;
	uint32_t threads, best = 0;
	int e = function(&f, func);

	if (e)
		return e;
	if (!grid || !block)
		return WS_CUDA_INVALID_VALUE;
	ws_gpu_kernel_info(f->kernel, &info);
	*grid = *block = 0;
	for (threads = limit > 0 && (uint32_t)limit < info.max_threads ? (uint32_t)limit : info.max_threads;
	     threads >= WS_WARP; threads = (threads - 1) / WS_WARP * WS_WARP) {
		size_t s = shared_of ? shared_of((int)threads) : shared;
		uint32_t blocks = ws_gpu_occupancy(ws_session()->gpu, f->kernel, threads, s);

		if (blocks * threads > best) {
			best = blocks * threads;
			*block = (int)threads;
			*grid = (int)(blocks * ws_gpu_config(ws_session()->gpu)->sms);
		}
	}
	return 0;
}

WS_RT(cuOccupancyMaxPotentialBlockSizeWithFlags, int *grid, int *block, void *func, size_t (*shared_of)(int), size_t shared,
      int limit, unsigned flags)
{
	return flags > 1 ? WS_CUDA_INVALID_VALUE : ws_cuOccupancyMaxPotentialBlockSize(grid, block, func, shared_of, shared, limit);
}
