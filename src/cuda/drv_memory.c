/* drv_memory.c - driver API: allocation, copies, fills, questions about pointers. */
#include "cuda/drv.h"

#include <stdlib.h>
#include <string.h>

static int alloc(uint64_t *out, size_t size, enum ws_mem_kind kind, const char *call, const void *caller)
{
	void *p = NULL;
	int e;

	WS_DRV_BEGIN();
	if (!out || !size)
		return WS_CUDA_INVALID_VALUE;
	if (kind != WS_MEM_MANAGED && !strstr(call, "Async"))
		ws_sync_host_waits_all();
	e = ws_mem_alloc(size, kind, call, caller, &p);
	*out = (uint64_t)(uintptr_t)p;
	return ws_drv(e);
}

static int release(uint64_t p, enum ws_mem_kind kind)
{
	WS_DRV_BEGIN();
	ws_sync_host_waits_all();
	return ws_drv(ws_mem_release((void *)(uintptr_t)p, kind, false));
}

WS_RT(cuMemAlloc_v2, uint64_t *out, size_t size)
{
	return alloc(out, size, WS_MEM_DEVICE, "cuMemAlloc", WS_CALLER);
}

WS_RT(cuMemAllocManaged, uint64_t *out, size_t size, unsigned flags)
{
	return alloc(out, size, WS_MEM_MANAGED, "cuMemAllocManaged", WS_CALLER);
}

WS_RT(cuMemAllocPitch_v2, uint64_t *out, size_t *pitch, size_t width, size_t height, unsigned element)
{
	size_t p = (width + 511) / 512 * 512, bytes;

	if (!pitch || p < width || __builtin_mul_overflow(p, height, &bytes))
		return WS_CUDA_INVALID_VALUE;
	*pitch = p;
	return alloc(out, bytes, WS_MEM_DEVICE, "cuMemAllocPitch", WS_CALLER);
}

WS_RT(cuMemFree_v2, uint64_t p)
{
	return release(p, WS_MEM_DEVICE);
}

WS_RT(cuMemAllocHost_v2, void **out, size_t size)
{
	return alloc((uint64_t *)(void *)out, size, WS_MEM_HOST, "cuMemAllocHost", WS_CALLER);
}

WS_RT(cuMemHostAlloc, void **out, size_t size, unsigned flags)
{
	return alloc((uint64_t *)(void *)out, size, WS_MEM_HOST, "cuMemHostAlloc", WS_CALLER);
}

WS_RT(cuMemFreeHost, void *p)
{
	return release((uint64_t)(uintptr_t)p, WS_MEM_HOST);
}

WS_RT(cuMemHostRegister_v2, void *p, size_t size, unsigned flags)
{
	char *origin;
	bool ok;

	WS_DRV_BEGIN();
	if (!p || !size)
		return WS_CUDA_INVALID_VALUE;
	origin = ws_origin("cuMemHostRegister", WS_CALLER);
	ok = ws_gpu_mem_register(ws_session()->gpu, p, size, origin);
	free(origin);
	ws_sync_host_memory(true);
	return ok ? 0 : WS_CUDA_ALREADY_REGISTERED;
}

WS_RT(cuMemHostUnregister, void *p)
{
	WS_DRV_BEGIN();
	ws_sync_host_waits_all();
	return ws_mem_release(p, WS_MEM_HOST, false) || !p ? WS_CUDA_NOT_REGISTERED : 0;
}

WS_RT(cuMemHostGetDevicePointer_v2, uint64_t *out, void *p, unsigned flags)
{
	struct ws_mem *m;

	WS_DRV_BEGIN();
	m = ws_gpu_mem_find(ws_session()->gpu, (uint64_t)(uintptr_t)p);
	if (!out || !m || m->kind != WS_MEM_HOST)
		return WS_CUDA_INVALID_VALUE;
	*out = (uint64_t)(uintptr_t)p;
	return 0;
}

WS_RT(cuMemAllocAsync, uint64_t *out, size_t size, void *stream)
{
	struct ws_work op = {.type = WS_NODE_ALLOC};
	int e = alloc(out, size, WS_MEM_DEVICE, "cuMemAllocAsync", WS_CALLER);

	if (e)
		return e;
	op.u.mem.addr = *out;
	op.u.mem.size = size;
	return ws_drv(ws_work_submit(stream, &op, "cuMemAllocAsync"));
}

WS_RT(cuMemFreeAsync, uint64_t p, void *stream)
{
	struct ws_work op = {.type = WS_NODE_FREE, .u.mem.addr = p};

	WS_DRV_BEGIN();
	return p ? ws_drv(ws_work_submit(stream, &op, "cuMemFreeAsync")) : 0;
}

/* ---- questions ---- */
WS_RT(cuMemGetInfo_v2, size_t *free_bytes, size_t *total)
{
	uint64_t f, t;

	WS_DRV_BEGIN();
	if (!free_bytes || !total)
		return WS_CUDA_INVALID_VALUE;
	ws_gpu_mem_info(ws_session()->gpu, &f, &t);
	*free_bytes = f;
	*total = t;
	return 0;
}

WS_RT(cuMemGetAddressRange_v2, uint64_t *base, size_t *size, uint64_t p)
{
	struct ws_mem *m;

	WS_DRV_BEGIN();
	m = ws_gpu_mem_find(ws_session()->gpu, p);
	if (!m)
		return WS_CUDA_NOT_FOUND;
	if (base)
		*base = m->addr;
	if (size)
		*size = m->size;
	return 0;
}

/* CU_POINTER_ATTRIBUTE_*: 2 memory type, 3 device pointer, 4 host pointer, 7 buffer id, 8 managed, 9 device ordinal. */
WS_RT(cuPointerGetAttribute, void *out, int attribute, uint64_t p)
{
	struct ws_mem *m;

	WS_DRV_BEGIN();
	m = ws_gpu_mem_find(ws_session()->gpu, p);
	if (!out || !m)
		return WS_CUDA_INVALID_VALUE;
	switch (attribute) {
	case 2:
		*(unsigned *)out = m->kind == WS_MEM_HOST ? 1 : 2;
		return 0;
	case 3:
		*(uint64_t *)out = p;
		return 0;
	case 4:
		if (m->kind != WS_MEM_HOST && m->kind != WS_MEM_MANAGED)
			return WS_CUDA_INVALID_VALUE;
		*(uint64_t *)out = p;
		return 0;
	case 7:
		*(uint64_t *)out = m->serial;
		return 0;
	case 8:
		*(unsigned *)out = m->kind == WS_MEM_MANAGED;
		return 0;
	case 9:
		*(int *)out = 0;
		return 0;
	default:
		return WS_CUDA_NOT_SUPPORTED;
	}
}

/* ---- copies ---- */
static int copy(uint64_t dst, uint64_t src, size_t n, int kind, void *stream, const char *call)
{
	struct ws_work op = {.type = WS_NODE_MEMCPY,
			     .u.copy = {.dst = dst, .src = src, .width = n, .height = 1, .depth = 1, .kind = kind}};

	WS_DRV_BEGIN();
	return ws_drv(ws_work_submit(stream, &op, call));
}

WS_RT(cuMemcpy, uint64_t dst, uint64_t src, size_t n)
{
	return copy(dst, src, n, WS_COPY_DEFAULT, NULL, "cuMemcpy");
}

WS_RT(cuMemcpyAsync, uint64_t dst, uint64_t src, size_t n, void *stream)
{
	return copy(dst, src, n, WS_COPY_DEFAULT, stream, "cuMemcpyAsync");
}

WS_RT(cuMemcpyHtoD_v2, uint64_t dst, const void *src, size_t n)
{
	return copy(dst, (uint64_t)(uintptr_t)src, n, WS_COPY_HD, NULL, "cuMemcpyHtoD");
}

WS_RT(cuMemcpyHtoDAsync_v2, uint64_t dst, const void *src, size_t n, void *stream)
{
	return copy(dst, (uint64_t)(uintptr_t)src, n, WS_COPY_HD, stream, "cuMemcpyHtoDAsync");
}

WS_RT(cuMemcpyDtoH_v2, void *dst, uint64_t src, size_t n)
{
	return copy((uint64_t)(uintptr_t)dst, src, n, WS_COPY_DH, NULL, "cuMemcpyDtoH");
}

WS_RT(cuMemcpyDtoHAsync_v2, void *dst, uint64_t src, size_t n, void *stream)
{
	return copy((uint64_t)(uintptr_t)dst, src, n, WS_COPY_DH, stream, "cuMemcpyDtoHAsync");
}

WS_RT(cuMemcpyDtoD_v2, uint64_t dst, uint64_t src, size_t n)
{
	return copy(dst, src, n, WS_COPY_DD, NULL, "cuMemcpyDtoD");
}

WS_RT(cuMemcpyDtoDAsync_v2, uint64_t dst, uint64_t src, size_t n, void *stream)
{
	return copy(dst, src, n, WS_COPY_DD, stream, "cuMemcpyDtoDAsync");
}

/* CUDA_MEMCPY2D; a type is 1 host, 2 device, 3 array, 4 unified. */
struct memcpy2d {
	size_t src_x, src_y;
	int src_type;
	const void *src_host;
	uint64_t src_device;
	void *src_array;
	size_t src_pitch, dst_x, dst_y;
	int dst_type;
	void *dst_host;
	uint64_t dst_device;
	void *dst_array;
	size_t dst_pitch, width, height;
};

static int copy2d(const struct memcpy2d *p, void *stream, const char *call)
{
	struct ws_work op = {.type = WS_NODE_MEMCPY};
	struct ws_copy *c = &op.u.copy;

	WS_DRV_BEGIN();
	if (!p)
		return WS_CUDA_INVALID_VALUE;
	if (p->src_type == 3 || p->dst_type == 3)
		return ws_unsupported("cuMemcpy2D from or to a CUDA array");
	*c = (struct ws_copy){.width = p->width, .height = p->height, .depth = 1, .kind = WS_COPY_DEFAULT};
	c->src_pitch = p->src_pitch ? p->src_pitch : p->width;
	c->dst_pitch = p->dst_pitch ? p->dst_pitch : p->width;
	c->src = (p->src_type == 1 ? (uint64_t)(uintptr_t)p->src_host : p->src_device) + p->src_y * c->src_pitch +
		 p->src_x;
	c->dst = (p->dst_type == 1 ? (uint64_t)(uintptr_t)p->dst_host : p->dst_device) + p->dst_y * c->dst_pitch +
		 p->dst_x;
	return ws_drv(ws_work_submit(stream, &op, call));
}

WS_RT(cuMemcpy2D_v2, const struct memcpy2d *p)
{
	return copy2d(p, NULL, "cuMemcpy2D");
}

WS_RT(cuMemcpy2DUnaligned_v2, const struct memcpy2d *p)
{
	return copy2d(p, NULL, "cuMemcpy2DUnaligned");
}

WS_RT(cuMemcpy2DAsync_v2, const struct memcpy2d *p, void *stream)
{
	return copy2d(p, stream, "cuMemcpy2DAsync");
}

static uint64_t box_start(const struct ws_drv_place *p, size_t pitch, size_t slice)
{
	return (p->type == 1 ? (uint64_t)(uintptr_t)p->host : p->device) + p->z * slice + p->y * pitch + p->x;
}

int ws_drv_box_work(const struct ws_drv_box *p, struct ws_work *op)
{
	struct ws_copy *c = &op->u.copy;

	if (!p)
		return WS_CUDA_INVALID_VALUE;
	if (p->src.type == 3 || p->dst.type == 3)
		return ws_unsupported("a 3D copy from or to a CUDA array");
	*op = (struct ws_work){.type = WS_NODE_MEMCPY};
	*c = (struct ws_copy){.width = p->width, .height = p->height, .depth = p->depth, .kind = WS_COPY_DEFAULT};
	c->src_pitch = p->src.pitch ? p->src.pitch : p->width;
	c->dst_pitch = p->dst.pitch ? p->dst.pitch : p->width;
	c->src_slice = c->src_pitch * (p->src.height ? p->src.height : p->height);
	c->dst_slice = c->dst_pitch * (p->dst.height ? p->dst.height : p->height);
	c->src = box_start(&p->src, c->src_pitch, c->src_slice);
	c->dst = box_start(&p->dst, c->dst_pitch, c->dst_slice);
	return ws_work_check_copy(c);
}

static int copy3d(const struct ws_drv_box *p, void *stream, const char *call)
{
	struct ws_work op;
	int e;

	WS_DRV_BEGIN();
	e = ws_drv_box_work(p, &op);
	return ws_drv(e ? e : ws_work_submit(stream, &op, call));
}

WS_RT(cuMemcpy3D_v2, const struct ws_drv_box *p)
{
	return copy3d(p, NULL, "cuMemcpy3D");
}

WS_RT(cuMemcpy3DAsync_v2, const struct ws_drv_box *p, void *stream)
{
	return copy3d(p, stream, "cuMemcpy3DAsync");
}

/* ---- fills ---- */
static int fill(uint64_t dst, size_t pitch, unsigned value, unsigned element, size_t n, size_t rows, void *stream,
		const char *call)
{
	struct ws_work op = {.type = WS_NODE_MEMSET,
			     .u.fill = {.dst = dst,
					.pitch = pitch,
					.value = value,
					.element = element,
					.width = n * element,
					.height = rows,
					.depth = 1}};

	WS_DRV_BEGIN();
	if (dst % element)
		return WS_CUDA_INVALID_VALUE;
	return ws_drv(ws_work_submit(stream, &op, call));
}

#define FILL(bits, type)                                                                                               \
	WS_RT(cuMemsetD##bits##_v2, uint64_t p, type v, size_t n)                                                      \
	{                                                                                                              \
		return fill(p, 0, v, bits / 8, n, 1, NULL, "cuMemsetD" #bits);                                         \
	}                                                                                                              \
	WS_RT(cuMemsetD##bits##Async, uint64_t p, type v, size_t n, void *stream)                                      \
	{                                                                                                              \
		return fill(p, 0, v, bits / 8, n, 1, stream, "cuMemsetD" #bits "Async");                               \
	}                                                                                                              \
	WS_RT(cuMemsetD2D##bits##_v2, uint64_t p, size_t pitch, type v, size_t n, size_t rows)                         \
	{                                                                                                              \
		return fill(p, pitch, v, bits / 8, n, rows, NULL, "cuMemsetD2D" #bits);                                \
	}                                                                                                              \
	WS_RT(cuMemsetD2D##bits##Async, uint64_t p, size_t pitch, type v, size_t n, size_t rows, void *stream)         \
	{                                                                                                              \
		return fill(p, pitch, v, bits / 8, n, rows, stream, "cuMemsetD2D" #bits "Async");                      \
	}
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)

WS_RT(cuMemPrefetchAsync_v2, uint64_t p, size_t n)
{
	WS_DRV_BEGIN();
	return ws_gpu_mem_find(ws_session()->gpu, p) ? 0 : WS_CUDA_INVALID_VALUE;
}

WS_RT(cuMemAdvise_v2, uint64_t p, size_t n, int advice)
{
	WS_DRV_BEGIN();
	return ws_gpu_mem_find(ws_session()->gpu, p) ? 0 : WS_CUDA_INVALID_VALUE;
}
