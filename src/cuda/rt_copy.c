/* rt_copy.c - copies and fills of the runtime API; all become a box of bytes (ops.c). */
#include "cuda/rt.h"

static int copy1(void *dst, const void *src, size_t n, int kind, void *stream, const char *call)
{
	struct ws_work op = {.type = WS_NODE_MEMCPY,
			     .u.copy = {.dst = (uint64_t)(uintptr_t)dst,
					.src = (uint64_t)(uintptr_t)src,
					.width = n,
					.height = 1,
					.depth = 1,
					.kind = kind}};

	WS_BEGIN();
	return ws_fail(ws_work_submit(stream, &op, call));
}

static int copy2(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind,
		 void *stream, const char *call)
{
	struct ws_work op = {.type = WS_NODE_MEMCPY,
			     .u.copy = {.dst = (uint64_t)(uintptr_t)dst,
					.src = (uint64_t)(uintptr_t)src,
					.dst_pitch = dpitch,
					.src_pitch = spitch,
					.width = width,
					.height = height,
					.depth = 1,
					.kind = kind}};

	WS_BEGIN();
	if (width > dpitch || width > spitch)
		return ws_fail(WS_CUDA_INVALID_PITCH);
	return ws_fail(ws_work_submit(stream, &op, call));
}

WS_RT(cudaMemcpy, void *dst, const void *src, size_t n, int kind)
{
	return copy1(dst, src, n, kind, NULL, "cudaMemcpy");
}

WS_RT(cudaMemcpyAsync, void *dst, const void *src, size_t n, int kind, void *stream)
{
	return copy1(dst, src, n, kind, stream, "cudaMemcpyAsync");
}

WS_RT(cudaMemcpyPeer, void *dst, int dst_device, const void *src, int src_device, size_t n)
{
	if (dst_device || src_device)
		return ws_fail(WS_CUDA_INVALID_DEVICE);
	return copy1(dst, src, n, WS_COPY_DD, NULL, "cudaMemcpyPeer");
}

WS_RT(cudaMemcpyPeerAsync, void *dst, int dst_device, const void *src, int src_device, size_t n, void *stream)
{
	if (dst_device || src_device)
		return ws_fail(WS_CUDA_INVALID_DEVICE);
	return copy1(dst, src, n, WS_COPY_DD, stream, "cudaMemcpyPeerAsync");
}

WS_RT(cudaMemcpy2D, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind)
{
	return copy2(dst, dpitch, src, spitch, width, height, kind, NULL, "cudaMemcpy2D");
}

WS_RT(cudaMemcpy2DAsync, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
      int kind, void *stream)
{
	return copy2(dst, dpitch, src, spitch, width, height, kind, stream, "cudaMemcpy2DAsync");
}

/* ---- 3D: linear memory only; arrays belong to textures, which are refused ---- */
static uint64_t box_start(const struct ws_pitched_ptr *p, const struct ws_pos *at)
{
	return (uint64_t)(uintptr_t)p->ptr + at->z * p->pitch * p->ysize + at->y * p->pitch + at->x;
}

static int copy3(const struct ws_memcpy3d *p, void *stream, const char *call)
{
	struct ws_work op = {.type = WS_NODE_MEMCPY};

	WS_BEGIN();
	if (!p)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	if (p->src_array || p->dst_array)
		return ws_unsupported("a 3D copy from or to a CUDA array");
	op.u.copy = (struct ws_copy){.dst = box_start(&p->dst, &p->dst_pos),
				     .src = box_start(&p->src, &p->src_pos),
				     .dst_pitch = p->dst.pitch,
				     .src_pitch = p->src.pitch,
				     .dst_slice = p->dst.pitch * p->dst.ysize,
				     .src_slice = p->src.pitch * p->src.ysize,
				     .width = p->extent.width,
				     .height = p->extent.height,
				     .depth = p->extent.depth,
				     .kind = p->kind};
	return ws_fail(ws_work_submit(stream, &op, call));
}

WS_RT(cudaMemcpy3D, const struct ws_memcpy3d *p)
{
	return copy3(p, NULL, "cudaMemcpy3D");
}

WS_RT(cudaMemcpy3DAsync, const struct ws_memcpy3d *p, void *stream)
{
	return copy3(p, stream, "cudaMemcpy3DAsync");
}

static int copy3_peer(const struct ws_memcpy3d_peer *p, void *stream, const char *call)
{
	struct ws_memcpy3d one;

	if (!p)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	if (p->src_device || p->dst_device)
		return ws_fail(WS_CUDA_INVALID_DEVICE);
	one = (struct ws_memcpy3d){p->src_array, p->src_pos, p->src,    p->dst_array,
				   p->dst_pos,   p->dst,     p->extent, WS_COPY_DD};
	return copy3(&one, stream, call);
}

WS_RT(cudaMemcpy3DPeer, const struct ws_memcpy3d_peer *p)
{
	return copy3_peer(p, NULL, "cudaMemcpy3DPeer");
}

WS_RT(cudaMemcpy3DPeerAsync, const struct ws_memcpy3d_peer *p, void *stream)
{
	return copy3_peer(p, stream, "cudaMemcpy3DPeerAsync");
}

/* ---- fills ---- */
static int fill(struct ws_fill f, void *stream, const char *call)
{
	struct ws_work op = {.type = WS_NODE_MEMSET, .u.fill = f};

	WS_BEGIN();
	op.u.fill.element = 1;
	return ws_fail(ws_work_submit(stream, &op, call));
}

static struct ws_fill box(void *p, size_t pitch, size_t slice, int value, size_t width, size_t height, size_t depth)
{
	return (struct ws_fill){.dst = (uint64_t)(uintptr_t)p,
				.pitch = pitch,
				.slice = slice,
				.value = (unsigned)value,
				.width = width,
				.height = height,
				.depth = depth};
}

WS_RT(cudaMemset, void *p, int value, size_t n)
{
	return fill(box(p, n, n, value, n, 1, 1), NULL, "cudaMemset");
}

WS_RT(cudaMemsetAsync, void *p, int value, size_t n, void *stream)
{
	return fill(box(p, n, n, value, n, 1, 1), stream, "cudaMemsetAsync");
}

WS_RT(cudaMemset2D, void *p, size_t pitch, int value, size_t width, size_t height)
{
	return fill(box(p, pitch, 0, value, width, height, 1), NULL, "cudaMemset2D");
}

WS_RT(cudaMemset2DAsync, void *p, size_t pitch, int value, size_t width, size_t height, void *stream)
{
	return fill(box(p, pitch, 0, value, width, height, 1), stream, "cudaMemset2DAsync");
}

WS_RT(cudaMemset3D, struct ws_pitched_ptr p, int value, struct ws_extent e)
{
	return fill(box(p.ptr, p.pitch, p.pitch * p.ysize, value, e.width, e.height, e.depth), NULL, "cudaMemset3D");
}

WS_RT(cudaMemset3DAsync, struct ws_pitched_ptr p, int value, struct ws_extent e, void *stream)
{
	return fill(box(p.ptr, p.pitch, p.pitch * p.ysize, value, e.width, e.height, e.depth), stream,
		    "cudaMemset3DAsync");
}

/* ---- variables of the program ---- */
/* The device address of `n` bytes at `offset` of a variable; 0 with *error. */
static uint64_t symbol_address(const void *symbol, size_t n, size_t offset, int *error)
{
	struct ws_mem *m = ws_variable_of(symbol, error);

	if (m && (offset > m->size || n > m->size - offset))
		*error = WS_CUDA_INVALID_VALUE;
	return *error ? 0 : m->addr + offset;
}

static int to_symbol(const void *symbol, const void *src, size_t n, size_t offset, int kind, void *stream,
		     const char *call)
{
	uint64_t to;
	int e;

	WS_BEGIN();
	if (kind != WS_COPY_HD && kind != WS_COPY_DD && kind != WS_COPY_DEFAULT)
		return ws_fail(WS_CUDA_INVALID_MEMCPY_DIRECTION);
	to = symbol_address(symbol, n, offset, &e);
	return e ? ws_fail(e) : copy1((void *)(uintptr_t)to, src, n, kind, stream, call);
}

static int from_symbol(void *dst, const void *symbol, size_t n, size_t offset, int kind, void *stream, const char *call)
{
	uint64_t from;
	int e;

	WS_BEGIN();
	if (kind != WS_COPY_DH && kind != WS_COPY_DD && kind != WS_COPY_DEFAULT)
		return ws_fail(WS_CUDA_INVALID_MEMCPY_DIRECTION);
	from = symbol_address(symbol, n, offset, &e);
	return e ? ws_fail(e) : copy1(dst, (void *)(uintptr_t)from, n, kind, stream, call);
}

WS_RT(cudaMemcpyToSymbol, const void *symbol, const void *src, size_t n, size_t offset, int kind)
{
	return to_symbol(symbol, src, n, offset, kind, NULL, "cudaMemcpyToSymbol");
}

WS_RT(cudaMemcpyToSymbolAsync, const void *symbol, const void *src, size_t n, size_t offset, int kind, void *stream)
{
	return to_symbol(symbol, src, n, offset, kind, stream, "cudaMemcpyToSymbolAsync");
}

WS_RT(cudaMemcpyFromSymbol, void *dst, const void *symbol, size_t n, size_t offset, int kind)
{
	return from_symbol(dst, symbol, n, offset, kind, NULL, "cudaMemcpyFromSymbol");
}

WS_RT(cudaMemcpyFromSymbolAsync, void *dst, const void *symbol, size_t n, size_t offset, int kind, void *stream)
{
	return from_symbol(dst, symbol, n, offset, kind, stream, "cudaMemcpyFromSymbolAsync");
}

WS_RT(cudaGetSymbolAddress, void **out, const void *symbol)
{
	struct ws_mem *m;
	int e;

	WS_BEGIN();
	if (!out)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	m = ws_variable_of(symbol, &e);
	if (m)
		*out = (void *)(uintptr_t)m->addr;
	return ws_fail(e);
}

WS_RT(cudaGetSymbolSize, size_t *size, const void *symbol)
{
	struct ws_mem *m;
	int e;

	WS_BEGIN();
	if (!size)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	m = ws_variable_of(symbol, &e);
	if (m)
		*size = m->size;
	return ws_fail(e);
}
