/* ops.c - runs what is enqueued to a stream or stands in a graph: copies, fills, kernels, host functions, events.
 *
 * Everything runs to its end at the call, in the order of the calls. That is one of the orders that CUDA allows, and
 * every event and every synchronization is satisfied by it. */
#include "cuda/rt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- addresses ---- */
struct range {
	uint8_t *host;
	struct ws_mem *mem;
};

/* Where `bytes` bytes at a device or host address are in this process. want: 1 device memory, 0 host, -1 either. */
static int locate(uint64_t addr, size_t bytes, int want, struct range *r)
{
	struct ws_mem *m = ws_gpu_mem_find(ws_session()->gpu, addr);

	*r = (struct range){.host = (uint8_t *)(uintptr_t)addr, .mem = m};
	if (!m)
		return want == 1 || !addr ? WS_CUDA_INVALID_VALUE : 0;
	if (bytes > m->size - (addr - m->addr))
		return WS_CUDA_INVALID_VALUE;
	if (want == 0 && m->kind != WS_MEM_MANAGED && m->kind != WS_MEM_HOST)
		return WS_CUDA_INVALID_VALUE;
	r->host = m->host + (addr - m->addr);
	return 0;
}

static size_t box_bytes(size_t pitch, size_t slice, size_t width, size_t height, size_t depth)
{
	unsigned __int128 n;

	if (!width || !height || !depth)
		return 0;
	n = (unsigned __int128)(depth - 1) * slice + (unsigned __int128)(height - 1) * pitch + width;
	return n > SIZE_MAX ? SIZE_MAX : (size_t)n;
}

static int locate_copy(const struct ws_copy *c, struct range *dst, struct range *src)
{
	static const int src_is_device[] = {0, 0, 1, 1, -1}, dst_is_device[] = {0, 1, 0, 1, -1};
	int e;

	if (c->kind < WS_COPY_HH || c->kind > WS_COPY_DEFAULT)
		return WS_CUDA_INVALID_MEMCPY_DIRECTION;
	if (c->height * c->depth > 1 && (c->width > c->dst_pitch || c->width > c->src_pitch))
		return WS_CUDA_INVALID_PITCH;
	e = locate(c->src, box_bytes(c->src_pitch, c->src_slice, c->width, c->height, c->depth), src_is_device[c->kind],
		   src);
	if (e)
		return e;
	return locate(c->dst, box_bytes(c->dst_pitch, c->dst_slice, c->width, c->height, c->depth),
		      dst_is_device[c->kind], dst);
}

int ws_work_check_copy(const struct ws_copy *c)
{
	struct range dst, src;

	if (!c->width || !c->height || !c->depth)
		return 0;
	return locate_copy(c, &dst, &src);
}

static void tell_observer(struct ws_mem *m, bool write, uint64_t addr, uint64_t size, void *stream, const char *call)
{
	struct ws_host_op op = {.kind = write ? WS_HOST_WRITE : WS_HOST_READ,
				.addr = addr,
				.size = size,
				.stream = ws_stream_id(stream),
				.call = call};

	if (m)
		ws_gpu_host_op(ws_session()->gpu, &op);
}

static int run_copy(const struct ws_copy *c, void *stream, const char *call)
{
	struct range dst, src;
	size_t y, z;
	int e;

	if (!c->width || !c->height || !c->depth)
		return 0;
	e = locate_copy(c, &dst, &src);
	if (e)
		return e;
	tell_observer(src.mem, false, c->src, box_bytes(c->src_pitch, c->src_slice, c->width, c->height, c->depth),
		      stream, call);
	tell_observer(dst.mem, true, c->dst, box_bytes(c->dst_pitch, c->dst_slice, c->width, c->height, c->depth),
		      stream, call);
	for (z = 0; z < c->depth; z++)
		for (y = 0; y < c->height; y++)
			memmove(dst.host + z * c->dst_slice + y * c->dst_pitch,
				src.host + z * c->src_slice + y * c->src_pitch, c->width);
	return 0;
}

static void fill_row(uint8_t *row, const struct ws_fill *f)
{
	uint16_t v16 = (uint16_t)f->value;
	size_t i;

	if (f->element == 1)
		memset(row, (int)(f->value & 0xff), f->width);
	else
		for (i = 0; i + f->element <= f->width; i += f->element)
			memcpy(row + i, f->element == 2 ? (const void *)&v16 : (const void *)&f->value, f->element);
}

static int run_fill(const struct ws_fill *f, void *stream, const char *call)
{
	size_t y, z, bytes = box_bytes(f->pitch, f->slice, f->width, f->height, f->depth);
	struct range dst;
	int e;

	if (!bytes)
		return 0;
	if (f->height * f->depth > 1 && f->width > f->pitch)
		return WS_CUDA_INVALID_VALUE;
	e = locate(f->dst, bytes, 1, &dst);
	if (e)
		return e;
	tell_observer(dst.mem, true, f->dst, bytes, stream, call);
	for (z = 0; z < f->depth; z++)
		for (y = 0; y < f->height; y++)
			fill_row(dst.host + z * f->slice + y * f->pitch, f);
	return 0;
}

/* ---- kernels ---- */
static void kernel_failed(struct ws_session *s, const struct ws_kernel_op *k, const struct ws_gpu_error *err)
{
	struct ws_buf b = {0};

	if (err->text.len)
		ws_buf_puts(&b, err->text.data);
	else
		ws_buf_printf(&b, "kernel '%s' failed", k->f->plain);
	ws_tell("%s", b.data);
	ws_report_error(s->report, b.data);
	ws_session_touch();
	ws_buf_free(&b);
}

/* A detector counts launches and accesses itself. */
static void count_launch(struct ws_session *s, const struct ws_kernel_op *k, const struct ws_gpu_stats *stats)
{
	struct ws_kernel_row row = {.name = k->f->plain,
				    .launches = !s->detector,
				    .checked = s->detector != NULL,
				    .thread_instructions = stats->thread_instructions};

	ws_report_kernel(s->report, &row);
	ws_session_touch();
}

static int run_kernel(const struct ws_kernel_op *k, void *stream)
{
	struct ws_session *s = ws_session();
	struct ws_gpu_launch l = {
		.grid = {k->grid.x, k->grid.y, k->grid.z},
		.block = {k->block.x, k->block.y, k->block.z},
		.cluster = {k->cluster.x, k->cluster.y, k->cluster.z},
		.shared_dynamic = (uint32_t)k->shared,
		.params = k->params,
		.cooperative = k->cooperative,
		.stream = ws_stream_id(stream),
	};
	struct ws_gpu_stats stats = {0};
	struct ws_gpu_error err = {0};
	bool is_sticky;
	int code;

	if (ws_gpu_launch(s->gpu, k->f->kernel, &l, &stats, &err)) {
		count_launch(s, k, &stats);
		ws_buf_free(&err.text);
		return 0;
	}
	kernel_failed(s, k, &err);
	code = ws_error_from_gpu(err.code, &is_sticky);
	ws_buf_free(&err.text);
	if (!is_sticky)
		return code;
	ws_session_set_sticky(code);
	return 0; /* as on a real GPU, the next call tells it */
}

/* ---- all of them ---- */
static int run_host(const struct ws_host_fn *h, void *stream)
{
	if (h->callback)
		h->callback(stream, ws_session_sticky(), h->user);
	else if (h->fn)
		h->fn(h->user);
	return 0;
}

int ws_work_run(const struct ws_work *op, void *stream, const char *call)
{
	switch (op->type) {
	case WS_NODE_KERNEL:
		return run_kernel(&op->u.kernel, stream);
	case WS_NODE_MEMCPY:
		return run_copy(&op->u.copy, stream, call);
	case WS_NODE_MEMSET:
		return run_fill(&op->u.fill, stream, call);
	case WS_NODE_HOST:
		return run_host(&op->u.host, stream);
	case WS_NODE_RECORD:
		return ws_event_stamp(op->u.event);
	case WS_NODE_GRAPH:
		return ws_graph_run(op->u.graph, stream, call);
	case WS_NODE_FREE:
		return ws_mem_release((void *)(uintptr_t)op->u.mem.addr, WS_MEM_DEVICE, true);
	case WS_NODE_EMPTY:
	case WS_NODE_WAIT: /* what it waits for has run already */
	case WS_NODE_ALLOC:
		return 0; /* the memory exists from the node's creation on */
	}
	return WS_CUDA_INVALID_VALUE;
}

int ws_work_submit(void *stream, struct ws_work *op, const char *call)
{
	struct ws_stream *s;
	int e;

	if (!ws_stream_of(stream, &s))
		e = WS_CUDA_INVALID_HANDLE;
	else if (s && s->capture)
		return ws_capture_add(s, op);
	else
		e = ws_work_run(op, stream, call);
	ws_work_free(op);
	return e;
}

void ws_work_free(struct ws_work *op)
{
	if (op->type == WS_NODE_KERNEL) {
		free(op->u.kernel.params);
		op->u.kernel.params = NULL;
	} else if (op->type == WS_NODE_GRAPH && op->u.graph) {
		ws_graph_free(op->u.graph);
		op->u.graph = NULL;
	}
}

void ws_work_copy(struct ws_work *to, const struct ws_work *from)
{
	*to = *from;
	if (from->type == WS_NODE_KERNEL) {
		to->u.kernel.params = ws_alloc(from->u.kernel.nbytes);
		if (from->u.kernel.nbytes)
			memcpy(to->u.kernel.params, from->u.kernel.params, from->u.kernel.nbytes);
	} else if (from->type == WS_NODE_GRAPH) {
		to->u.graph = ws_graph_clone(from->u.graph);
	}
}
