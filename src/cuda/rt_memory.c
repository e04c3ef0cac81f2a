/* rt_memory.c - allocation: linear, pitched, managed, pinned, registered, stream-ordered; and what is known of a
 * pointer. */
#include "cuda/rt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/map.h"

enum { PITCH_ALIGN = 512 };

struct ws_pool {
	uint64_t threshold;
};
static struct ws_pool default_pool;
static struct ws_map pools;
static struct ws_map graph_owned; /* addresses; see ws_mem_keep */

/* ---- shared with the driver API ---- */
int ws_mem_alloc(uint64_t size, enum ws_mem_kind kind, const char *call, const void *caller, void **out)
{
	struct ws_session *s = ws_session();
	struct ws_mem *m;
	char *origin;

	if (!out)
		return WS_CUDA_INVALID_VALUE;
	*out = NULL;
	if (!size)
		return kind == WS_MEM_MANAGED ? WS_CUDA_INVALID_VALUE : 0;
	origin = ws_origin(call, caller);
	m = ws_gpu_mem_new(s->gpu, size, 0, kind, origin);
	free(origin);
	if (!m)
		return WS_CUDA_NO_MEMORY;
	if (kind != WS_MEM_DEVICE)
		ws_sync_host_memory(false);
	*out = (void *)(uintptr_t)m->addr;
	return 0;
}

static bool freeable(const struct ws_mem *m, enum ws_mem_kind kind, bool any)
{
	if (m->kind == WS_MEM_SYMBOL || m->kind == WS_MEM_CONST || m->kind == WS_MEM_HEAP)
		return false;
	return any || m->kind == kind || (kind == WS_MEM_DEVICE && m->kind == WS_MEM_MANAGED);
}

void ws_mem_keep(uint64_t addr)
{
	ws_front_lock();
	ws_map_put(&graph_owned, (void *)(uintptr_t)addr, &graph_owned);
	ws_front_unlock();
}

static bool is_kept(const void *p)
{
	bool kept;

	ws_front_lock();
	kept = ws_map_get(&graph_owned, p);
	ws_front_unlock();
	return kept;
}

int ws_mem_release(void *p, enum ws_mem_kind kind, bool any)
{
	struct ws_gpu *g = ws_session()->gpu;
	struct ws_mem *m;

	if (!p || is_kept(p))
		return 0;
	m = ws_gpu_mem_find(g, (uint64_t)(uintptr_t)p);
	if (!m || !freeable(m, kind, any) || m->addr != (uint64_t)(uintptr_t)p)
		return WS_CUDA_INVALID_VALUE;
	return ws_gpu_mem_free(g, m->addr) ? 0 : WS_CUDA_INVALID_VALUE;
}

/* ---- device memory: "managing memory allocations using cudaMalloc and cudaFree causes the GPU to synchronize across all
 * executing CUDA streams" (CUDA C++ Programming Guide, Stream Ordered Memory Allocator) ---- */
WS_RT(cudaMalloc, void **out, size_t size)
{
	WS_BEGIN();
	ws_sync_host_waits_all();
	return ws_fail(ws_mem_alloc(size, WS_MEM_DEVICE, "cudaMalloc", WS_CALLER, out));
}

WS_RT(cudaMallocManaged, void **out, size_t size, unsigned flags)
{
	WS_BEGIN();
	if (flags != WS_ATTACH_GLOBAL && flags != WS_ATTACH_HOST)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	return ws_fail(ws_mem_alloc(size, WS_MEM_MANAGED, "cudaMallocManaged", WS_CALLER, out));
}

static int pitched(void **out, size_t *pitch, size_t width, size_t rows, const char *call, const void *caller)
{
	size_t p = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN, bytes;

	if (!out || !pitch || p < width || __builtin_mul_overflow(p, rows, &bytes))
		return WS_CUDA_INVALID_VALUE;
	*pitch = p;
	ws_sync_host_waits_all();
	return ws_mem_alloc(bytes, WS_MEM_DEVICE, call, caller, out);
}

WS_RT(cudaMallocPitch, void **out, size_t *pitch, size_t width, size_t height)
{
	WS_BEGIN();
	return ws_fail(pitched(out, pitch, width, height, "cudaMallocPitch", WS_CALLER));
}

WS_RT(cudaMalloc3D, struct ws_pitched_ptr *out, struct ws_extent extent)
{
	size_t rows;

	WS_BEGIN();
	if (!out || __builtin_mul_overflow(extent.height, extent.depth, &rows))
		return ws_fail(WS_CUDA_INVALID_VALUE);
	out->xsize = extent.width;
	out->ysize = extent.height;
	return ws_fail(pitched(&out->ptr, &out->pitch, extent.width, rows, "cudaMalloc3D", WS_CALLER));
}

WS_RT(cudaFree, void *p)
{
	WS_BEGIN();
	ws_sync_host_waits_all();
	return ws_fail(ws_mem_release(p, WS_MEM_DEVICE, false));
}

/* ---- host memory ---- */
WS_RT(cudaMallocHost, void **out, size_t size)
{
	WS_BEGIN();
	ws_sync_host_waits_all();
	return ws_fail(ws_mem_alloc(size, WS_MEM_HOST, "cudaMallocHost", WS_CALLER, out));
}

WS_RT(cudaHostAlloc, void **out, size_t size, unsigned flags)
{
	WS_BEGIN();
	ws_sync_host_waits_all();
	if (flags & ~(unsigned)WS_HOST_ALLOC_ALL)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	return ws_fail(ws_mem_alloc(size, WS_MEM_HOST, "cudaHostAlloc", WS_CALLER, out));
}

WS_RT(cudaFreeHost, void *p)
{
	WS_BEGIN();
	ws_sync_host_waits_all();
	return ws_fail(ws_mem_release(p, WS_MEM_HOST, false));
}

WS_RT(cudaHostRegister, void *p, size_t size, unsigned flags)
{
	struct ws_session *s;
	char *origin;
	bool ok;

	WS_BEGIN();
	s = ws_session();
	if (!p || !size)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	origin = ws_origin("cudaHostRegister", WS_CALLER);
	ok = ws_gpu_mem_register(s->gpu, p, size, origin);
	free(origin);
	ws_sync_host_memory(true);
	return ws_fail(ok ? 0 : WS_CUDA_ALREADY_REGISTERED);
}

WS_RT(cudaHostUnregister, void *p)
{
	struct ws_mem *m;

	WS_BEGIN();
	ws_sync_host_waits_all();
	m = ws_gpu_mem_find(ws_session()->gpu, (uint64_t)(uintptr_t)p);
	if (!m || m->addr != (uint64_t)(uintptr_t)p || m->kind != WS_MEM_HOST)
		return ws_fail(WS_CUDA_NOT_REGISTERED);
	return ws_fail(ws_gpu_mem_free(ws_session()->gpu, m->addr) ? 0 : WS_CUDA_NOT_REGISTERED);
}

static struct ws_mem *host_memory(const void *p)
{
	struct ws_mem *m = ws_gpu_mem_find(ws_session()->gpu, (uint64_t)(uintptr_t)p);

	return m && m->kind == WS_MEM_HOST ? m : NULL;
}

WS_RT(cudaHostGetDevicePointer, void **out, void *host, unsigned flags)
{
	WS_BEGIN();
	if (!out || !host_memory(host))
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*out = host; /* one address space */
	return 0;
}

WS_RT(cudaHostGetFlags, unsigned *flags, void *host)
{
	WS_BEGIN();
	if (!flags || !host_memory(host))
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*flags = 2; /* mapped */
	return 0;
}

/* ---- stream-ordered memory and pools: every pool takes from the one memory ---- */
static struct ws_pool *pool_of(void *handle)
{
	struct ws_pool *p;

	if (handle == &default_pool)
		return &default_pool;
	ws_front_lock();
	p = ws_map_get(&pools, handle);
	ws_front_unlock();
	return p;
}

static int alloc_async(void **out, size_t size, void *stream, const char *call, const void *caller)
{
	struct ws_work op = {.type = WS_NODE_ALLOC};
	int e = ws_mem_alloc(size, WS_MEM_DEVICE, call, caller, out);

	if (e)
		return e;
	op.u.mem.addr = (uint64_t)(uintptr_t)*out;
	op.u.mem.size = size;
	e = ws_work_submit(stream, &op, call);
	if (e)
		ws_mem_release(*out, WS_MEM_DEVICE, false);
	return e;
}

WS_RT(cudaMallocAsync, void **out, size_t size, void *stream)
{
	WS_BEGIN();
	return ws_fail(alloc_async(out, size, stream, "cudaMallocAsync", WS_CALLER));
}

WS_RT(cudaMallocFromPoolAsync, void **out, size_t size, void *pool, void *stream)
{
	WS_BEGIN();
	if (!pool_of(pool))
		return ws_fail(WS_CUDA_INVALID_VALUE);
	return ws_fail(alloc_async(out, size, stream, "cudaMallocFromPoolAsync", WS_CALLER));
}

WS_RT(cudaFreeAsync, void *p, void *stream)
{
	struct ws_work op = {.type = WS_NODE_FREE, .u.mem.addr = (uint64_t)(uintptr_t)p};

	WS_BEGIN();
	return ws_fail(p ? ws_work_submit(stream, &op, "cudaFreeAsync") : 0);
}

static int give_pool(void **out, int device)
{
	if (!out)
		return WS_CUDA_INVALID_VALUE;
	if (device)
		return WS_CUDA_INVALID_DEVICE;
	*out = &default_pool;
	return 0;
}

WS_RT(cudaDeviceGetDefaultMemPool, void **out, int device)
{
	WS_BEGIN();
	return ws_fail(give_pool(out, device));
}

WS_RT(cudaDeviceGetMemPool, void **out, int device)
{
	WS_BEGIN();
	return ws_fail(give_pool(out, device));
}

WS_RT(cudaDeviceSetMemPool, int device, void *pool)
{
	WS_BEGIN();
	return ws_fail(device ? WS_CUDA_INVALID_DEVICE : pool_of(pool) ? 0 : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaMemPoolCreate, void **out, const struct ws_pool_props *props)
{
	struct ws_pool *p;

	WS_BEGIN();
	if (!out || !props)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	p = ws_alloc(sizeof *p);
	ws_front_lock();
	ws_map_put(&pools, p, p);
	ws_front_unlock();
	*out = p;
	return 0;
}

WS_RT(cudaMemPoolDestroy, void *pool)
{
	struct ws_pool *p;

	WS_BEGIN();
	p = pool_of(pool);
	if (!p || p == &default_pool)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	ws_front_lock();
	ws_map_remove(&pools, p);
	ws_front_unlock();
	free(p);
	return 0;
}

WS_RT(cudaMemPoolTrimTo, void *pool, size_t keep)
{
	WS_BEGIN();
	return ws_fail(pool_of(pool) ? 0 : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaMemPoolSetAccess, void *pool, const void *list, size_t count)
{
	WS_BEGIN();
	return ws_fail(pool_of(pool) ? 0 : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaMemPoolSetAttribute, void *pool, int attribute, const void *value)
{
	struct ws_pool *p;

	WS_BEGIN();
	p = pool_of(pool);
	if (!p || !value || attribute < WS_POOL_FIRST || attribute > WS_POOL_LAST)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	if (attribute == WS_POOL_RELEASE_THRESHOLD)
		memcpy(&p->threshold, value, sizeof p->threshold);
	return 0;
}

WS_RT(cudaMemPoolGetAttribute, void *pool, int attribute, void *value)
{
	struct ws_pool *p;
	uint64_t free_bytes, total, used;

	WS_BEGIN();
	p = pool_of(pool);
	if (!p || !value || attribute < WS_POOL_FIRST || attribute > WS_POOL_LAST)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	ws_gpu_mem_info(ws_session()->gpu, &free_bytes, &total);
	used = total - free_bytes;
	if (attribute < WS_POOL_RELEASE_THRESHOLD)
		*(int *)value = 1;
	else
		memcpy(value, attribute == WS_POOL_RELEASE_THRESHOLD ? &p->threshold : &used, sizeof used);
	return 0;
}

/* ---- questions and advice ---- */
WS_RT(cudaMemGetInfo, size_t *free_bytes, size_t *total)
{
	uint64_t f, t;

	WS_BEGIN();
	if (!free_bytes || !total)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	ws_gpu_mem_info(ws_session()->gpu, &f, &t);
	*free_bytes = f;
	*total = t;
	return 0;
}

WS_RT(cudaPointerGetAttributes, struct ws_pointer_attributes *out, const void *p)
{
	struct ws_mem *m;

	WS_BEGIN();
	if (!out)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	m = ws_gpu_mem_find(ws_session()->gpu, (uint64_t)(uintptr_t)p);
	out->type = !m                          ? WS_MT_UNREGISTERED
		    : m->kind == WS_MEM_MANAGED ? WS_MT_MANAGED
		    : m->kind == WS_MEM_HOST    ? WS_MT_HOST
						: WS_MT_DEVICE;
	out->device = m ? 0 : -2;
	out->device_pointer = m ? (void *)(uintptr_t)p : NULL;
	out->host_pointer = !m || out->type != WS_MT_DEVICE ? (void *)(uintptr_t)p : NULL;
	return 0;
}

static int check_managed(const void *p)
{
	struct ws_mem *m = ws_gpu_mem_find(ws_session()->gpu, (uint64_t)(uintptr_t)p);

	return m && (m->kind == WS_MEM_MANAGED || m->kind == WS_MEM_HOST) ? 0 : WS_CUDA_INVALID_VALUE;
}

/* The last arguments differ between CUDA 12 (device, stream) and 13 (location, flags, stream). They change the speed
 * only, so they are not looked at. */
WS_RT(cudaMemPrefetchAsync, const void *p, size_t count)
{
	WS_BEGIN();
	return ws_fail(check_managed(p));
}

WS_RT(cudaMemAdvise, const void *p, size_t count, int advice)
{
	WS_BEGIN();
	return ws_fail(advice < 1 || advice > 6 ? WS_CUDA_INVALID_VALUE : check_managed(p));
}

WS_RT(cudaMemRangeGetAttribute, void *data, size_t size, int attribute, const void *p, size_t count)
{
	int e, value = attribute == WS_MEMORY_RANGE_READ_MOSTLY ? 0 : -2;
	size_t i;

	WS_BEGIN();
	e = data && size >= 4 && size % 4 == 0 ? check_managed(p) : WS_CUDA_INVALID_VALUE;
	for (i = 0; !e && i < size; i += 4)
		memcpy((char *)data + i, &value, 4);
	return ws_fail(e);
}
