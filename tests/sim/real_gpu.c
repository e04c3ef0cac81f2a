/* real_gpu.c - the part of gpu.h that simtest.c uses, on a real GPU through its driver (libcuda.so.1, found at run time).
 *
 * Linked instead of the simulator (build/tests/simtest-real) it runs the tests of this folder on hardware, so that their
 * expectations are NVIDIA's and not ours. It knows nothing of divergence models, schedules or observers; a test that
 * expects an error is not for it (a deadlock would hang, an error would end the context). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detect/detect.h"
#include "gpu/gpu.h"

typedef int cu_fn();                 /* each entry point is called with the arguments that the driver documents */

struct ws_gpu { struct ws_gpu_config config; struct ws_mem *mems[64]; size_t nmems; };
struct ws_gpu_kernel { struct ws_gpu_module *module; void *function; struct ws_ptx_func *ptx; uint32_t offset[32], size[32], bytes; };
struct ws_gpu_module { struct ws_gpu *gpu; void *handle; struct ws_gpu_kernel kernel; struct ws_ptx_module *ptx; };

static void *library;

static cu_fn *cu(const char *name)
{
	cu_fn *fn;
	void *p = dlsym(library, name);
	if (!p) {
		fprintf(stderr, "simtest-real: no %s\n", name);
		exit(2);
	}
	memcpy(&fn, &p, sizeof fn);
	return fn;
}

struct ws_gpu *ws_gpu_create(const struct ws_gpu_config *config)
{
	static void *context;
	int device;
	if (!library)
		library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library || (!context && (cu("cuInit")(0) || cu("cuDeviceGet")(&device, 0) ||
	                              cu("cuDevicePrimaryCtxRetain")(&context, device) || cu("cuCtxSetCurrent")(context))))
		return NULL;
	struct ws_gpu *g = ws_alloc(sizeof *g);
	g->config = *config;
	if (config->heap_bytes)
		cu("cuCtxSetLimit")(2, (size_t)config->heap_bytes);
	return g;
}

void ws_gpu_destroy(struct ws_gpu *g)
{
	for (size_t i = 0; i < g->nmems; i++) {
		if (!g->mems[i]->name)
			cu("cuMemFree_v2")(g->mems[i]->addr);
		free(g->mems[i]->host);
		free(g->mems[i]);
	}
	free(g);
}

/* Device memory with a mirror in .host, copied to the GPU before a launch and back after it. */
static struct ws_mem *mirror(struct ws_gpu *g, uint64_t addr, uint64_t size, const char *name)
{
	struct ws_mem *m = ws_alloc(sizeof *m);
	m->addr = addr;
	m->size = size;
	m->name = name;
	m->host = ws_alloc(size);
	cu("cuMemcpyDtoH_v2")(m->host, addr, size);
	g->mems[g->nmems++] = m;
	return m;
}

struct ws_mem *ws_gpu_mem_new(struct ws_gpu *g, uint64_t size, uint64_t align, enum ws_mem_kind kind, const char *origin)
{
	uint64_t addr = 0;
	if (cu("cuMemAlloc_v2")(&addr, size) || cu("cuMemsetD8_v2")(addr, 0, size))
		return NULL;
	return mirror(g, addr, size, NULL);
}

struct ws_mem *ws_gpu_mem_register(struct ws_gpu *g, void *host, uint64_t size, const char *origin)
{
	return ws_gpu_mem_new(g, size, 0, WS_MEM_DEVICE, origin);
}

bool ws_gpu_mem_free(struct ws_gpu *g, uint64_t addr)
{
	return false;
}

struct ws_gpu_module *ws_gpu_module_load(struct ws_gpu *g, struct ws_ptx_module *const *m, size_t n,
                                         struct ws_gpu_error *err)
{
	static char log[8192];
	int options[] = {5, 6};              /* error log buffer and its size */
	void *values[] = {log, (void *)(uintptr_t)sizeof log};
	struct ws_gpu_module *mod = ws_alloc(sizeof *mod);
	mod->gpu = g;
	mod->ptx = m[0];
	if (cu("cuModuleLoadDataEx")(&mod->handle, m[0]->text, 2, options, values)) {
		err->code = WS_GPU_BAD_MODULE;
		ws_buf_puts(&err->text, log);
		free(mod);
		return NULL;
	}
	return mod;
}

void ws_gpu_module_unload(struct ws_gpu *g, struct ws_gpu_module *mod)
{
	cu("cuModuleUnload")(mod->handle);
	free(mod);
}

struct ws_mem *ws_gpu_module_var(struct ws_gpu_module *mod, const char *name)
{
	uint64_t addr;
	size_t size;
	if (cu("cuModuleGetGlobal_v2")(&addr, &size, mod->handle, name))
		return NULL;
	return mirror(mod->gpu, addr, size, name);
}

static struct ws_gpu_kernel *kernel_of(struct ws_gpu_module *mod, struct ws_ptx_func *f)
{
	struct ws_gpu_kernel *k = &mod->kernel;
	*k = (struct ws_gpu_kernel){.module = mod, .ptx = f};
	for (uint32_t i = 0; i < f->nparams && i < WS_COUNT(k->offset); i++) {
		k->bytes = (k->bytes + f->params[i]->align - 1) / f->params[i]->align * f->params[i]->align;
		k->offset[i] = k->bytes;
		k->size[i] = (uint32_t)f->params[i]->size;
		k->bytes += k->size[i];
	}
	return cu("cuModuleGetFunction")(&k->function, mod->handle, f->name) ? NULL : k;
}

struct ws_gpu_kernel *ws_gpu_module_kernel_at(struct ws_gpu_module *mod, size_t n)
{
	for (uint32_t i = 0; i < mod->ptx->nfuncs; i++)
		if (mod->ptx->funcs[i]->entry && !n--)
			return kernel_of(mod, mod->ptx->funcs[i]);
	return NULL;
}

struct ws_gpu_kernel *ws_gpu_module_kernel(struct ws_gpu_module *mod, const char *name)
{
	struct ws_ptx_sym *s = ws_ptx_find(mod->ptx, name);
	return s && s->func ? kernel_of(mod, s->func) : NULL;
}

void ws_gpu_kernel_info(const struct ws_gpu_kernel *k, struct ws_kernel_info *info)
{
	*info = (struct ws_kernel_info){.nparams = k->ptx->nparams, .param_offset = k->offset, .param_size = k->size,
	                                .param_bytes = k->bytes};
}

struct launch_attribute { int id, pad; union { uint32_t dim[3]; int on; char room[64]; } value; };
struct launch_config { uint32_t grid[3], block[3], shared; void *stream; struct launch_attribute *attrs; uint32_t nattrs; };

static int launch(struct ws_gpu_kernel *k, const struct ws_gpu_launch *l)
{
	struct launch_attribute a[2];
	struct launch_config c = {.shared = l->shared_dynamic, .attrs = a};
	size_t bytes = k->bytes;
	void *extra[] = {(void *)1, (void *)(uintptr_t)l->params, (void *)2, &bytes, NULL};
	memset(a, 0, sizeof a);
	memcpy(c.grid, l->grid, sizeof c.grid);
	memcpy(c.block, l->block, sizeof c.block);
	if (l->cooperative)
		a[c.nattrs++] = (struct launch_attribute){.id = 2, .value.on = 1};
	if (l->cluster[0]) {
		a[c.nattrs].id = 4;
		memcpy(a[c.nattrs++].value.dim, l->cluster, sizeof l->cluster);
	}
	if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 8)
		cu("cuFuncSetAttribute")(k->function, 14, 1);   /* non-portable cluster sizes */
	return cu("cuLaunchKernelEx")(&c, k->function, NULL, extra);
}

/* The driver prints to standard output: it leads to the test's file meanwhile. */
static int launch_and_wait(struct ws_gpu *g, struct ws_gpu_kernel *k, const struct ws_gpu_launch *l)
{
	fflush(stdout);
	int saved = dup(1);
	dup2(g->config.printf_fd, 1);
	int r = launch(k, l);
	if (!r)
		r = cu("cuCtxSynchronize")();
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	return r;
}

bool ws_gpu_launch(struct ws_gpu *g, struct ws_gpu_kernel *k, const struct ws_gpu_launch *l, struct ws_gpu_stats *stats,
                   struct ws_gpu_error *err)
{
	for (size_t i = 0; i < g->nmems; i++)
		cu("cuMemcpyHtoD_v2")(g->mems[i]->addr, g->mems[i]->host, g->mems[i]->size);
	int r = launch_and_wait(g, k, l);
	for (size_t i = 0; i < g->nmems && !r; i++)
		cu("cuMemcpyDtoH_v2")(g->mems[i]->host, g->mems[i]->addr, g->mems[i]->size);
	if (r) {
		err->code = WS_GPU_TRAP;
		ws_buf_printf(&err->text, "the driver answers %d", r);
	}
	return !r;
}

/* Hardware has no race detectors. */
const struct ws_detector *ws_detector_find(const char *name)
{
	return NULL;
}
