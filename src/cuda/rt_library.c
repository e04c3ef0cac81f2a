/* rt_library.c - libraries: modules that the program loads at run time (cudaLibrary*). */
#include "cuda/rt.h"

static int give(void **out, struct ws_binary *b, int e)
{
	if (b)
		*out = b;
	return ws_fail(e);
}

WS_RT(cudaLibraryLoadData, void **out, const void *code)
{
	struct ws_binary *b;
	int e;

	WS_BEGIN();
	if (!out)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	b = ws_binary_load(code, 0, &e);
	return give(out, b, e);
}

WS_RT(cudaLibraryLoadFromFile, void **out, const char *path)
{
	struct ws_binary *b;
	int e;

	WS_BEGIN();
	if (!out)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	b = ws_binary_load_file(path, &e);
	return give(out, b, e);
}

WS_RT(cudaLibraryUnload, void *library)
{
	WS_BEGIN();
	if (!ws_binary_valid(library))
		return ws_fail(WS_CUDA_INVALID_HANDLE);
	ws_binary_unload(library);
	return 0;
}

WS_RT(cudaLibraryGetKernel, void **out, void *library, const char *name)
{
	int e;

	WS_BEGIN();
	if (!ws_binary_valid(library) || !out || !name)
		return ws_fail(out && name ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE);
	*out = ws_binary_find(library, name, &e);
	return ws_fail(e);
}

static int variable(void **out, size_t *bytes, void *library, const char *name)
{
	struct ws_mem *m;
	int e;

	if (!ws_binary_valid(library) || !name)
		return name ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE;
	m = ws_binary_var(library, name, &e);
	if (m && out)
		*out = (void *)(uintptr_t)m->addr;
	if (m && bytes)
		*bytes = m->size;
	return e;
}

WS_RT(cudaLibraryGetGlobal, void **out, size_t *bytes, void *library, const char *name)
{
	WS_BEGIN();
	return ws_fail(variable(out, bytes, library, name));
}

WS_RT(cudaLibraryGetManaged, void **out, size_t *bytes, void *library, const char *name)
{
	WS_BEGIN();
	return ws_fail(variable(out, bytes, library, name));
}

static unsigned count_kernels(const struct ws_binary *b)
{
	unsigned n = 0;

	while (ws_gpu_module_kernel_at(b->module, n))
		n++;
	return n;
}

WS_RT(cudaLibraryGetKernelCount, unsigned *count, void *library)
{
	WS_BEGIN();
	if (!ws_binary_valid(library) || !count)
		return ws_fail(count ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE);
	*count = count_kernels(library);
	return 0;
}

WS_RT(cudaLibraryEnumerateKernels, void **out, unsigned n, void *library)
{
	struct ws_kernel_info info;
	struct ws_binary *b;
	unsigned i;
	int e = 0;

	WS_BEGIN();
	if (!ws_binary_valid(library) || !out)
		return ws_fail(out ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE);
	b = library;
	for (i = 0; i < n && !e && ws_gpu_module_kernel_at(b->module, i); i++) {
		ws_gpu_kernel_info(ws_gpu_module_kernel_at(b->module, i), &info);
		out[i] = ws_binary_find(b, info.name, &e);
	}
	return ws_fail(e);
}
