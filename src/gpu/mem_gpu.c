/* mem_gpu.c - the memory functions of gpu.h, on the simulated GPU's address space (mem.h). */
#include "gpu/gpu_priv.h"

#define MAX_STACK (512u << 10)               /* no GPU gives a thread more (CUDA C++ Programming Guide, local memory) */

struct ws_mem *ws_gpu_mem_new(struct ws_gpu *g, uint64_t size, uint64_t align, enum ws_mem_kind kind, const char *origin)
{
	return ws_memmap_new(&g->map, size, align, kind, NULL, origin);
}

struct ws_mem *ws_gpu_mem_register(struct ws_gpu *g, void *host, uint64_t size, const char *origin)
{
	return ws_memmap_register(&g->map, host, size, origin);
}

/* Waits for a launch that another host thread may have under way, as cudaFree does. Variables of modules are not the
 * program's to free. */
bool ws_gpu_mem_free(struct ws_gpu *g, uint64_t addr)
{
	pthread_mutex_lock(&g->lock);
	const struct ws_mem *m = ws_memmap_find(&g->map, addr);
	bool variable = m && (m->kind == WS_MEM_SYMBOL || m->kind == WS_MEM_CONST);
	bool done = !variable && ws_memmap_free(&g->map, addr);
	pthread_mutex_unlock(&g->lock);
	return done;
}

bool ws_gpu_host_views(const struct ws_gpu *g, uint64_t *base, uint64_t *end)
{
	return ws_memmap_host_views(&g->map, base, end);
}

struct ws_mem *ws_gpu_mem_find(struct ws_gpu *g, uint64_t addr)
{
	return ws_memmap_find(&g->map, addr);
}

void ws_gpu_mem_info(struct ws_gpu *g, uint64_t *free_bytes, uint64_t *total_bytes)
{
	ws_memmap_info(&g->map, free_bytes, total_bytes);
}

void ws_gpu_set_heap(struct ws_gpu *g, uint64_t bytes)
{
	ws_memmap_set_heap_limit(&g->map, bytes);
}

/* Raised only: what a thread needs here is not what it needs on a GPU. */
void ws_gpu_set_stack(struct ws_gpu *g, uint64_t bytes)
{
	pthread_mutex_lock(&g->lock);
	if (bytes > g->config.stack_bytes && bytes <= MAX_STACK)
		g->config.stack_bytes = bytes;
	pthread_mutex_unlock(&g->lock);
}

void ws_gpu_mem_describe(struct ws_gpu *g, uint64_t addr, struct ws_buf *out)
{
	ws_memmap_describe(&g->map, addr, out);
}
