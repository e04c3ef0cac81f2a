/* ops.c - runs what is enqueued to a stream or stands in a graph: copies, fills, kernels, host functions, events.
 *
 * Everything runs to its end at the call, in the order of the calls. That is one of the orders that CUDA allows, and
 * every event and every synchronization is satisfied by it. */
#include "cuda/clocked.h"
#include "cuda/rt.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/keep.h"

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

/* ---- what is told of a copy or fill, and whether the host waits for it ---- */
static bool is_async(const char *call)
{
	return strstr(call, "Async") != NULL;
}

static bool is_pinned_or_managed(const struct ws_mem *m)
{
	return m && (m->kind == WS_MEM_HOST || m->kind == WS_MEM_MANAGED);
}

static bool is_device(const struct ws_mem *m)
{
	return m && !is_pinned_or_managed(m);
}

/* CUDA Runtime API, API synchronization behavior: Memcpy. Pageable memory is the program's own (no struct ws_mem). */
static enum ws_sync_wait copy_waits(const struct ws_mem *dst, const struct ws_mem *src, const char *call)
{
	if (is_async(call))
		return !dst ? WS_SYNC_DONE : WS_SYNC_NOT;
	if (is_device(dst) && is_device(src))
		return WS_SYNC_NOT;
	return is_device(dst) && !src ? WS_SYNC_PRECEDING : WS_SYNC_DONE;
}

static void touch_rows(const struct range *r, uint64_t addr, size_t pitch, size_t slice, const struct ws_copy *c, bool write,
		       bool changes)
{
	size_t y, z;

	if (!r->mem)
		return;
	if (c->height * c->depth == 1)
		ws_sync_touch(addr, c->width, write, changes);
	for (z = 0; c->height * c->depth > 1 && z < c->depth; z++)
		for (y = 0; y < c->height; y++)
			ws_sync_touch(addr + z * slice + y * pitch, c->width, write, changes);
}

static bool copy_changes(const struct ws_copy *c, const struct range *dst, const struct range *src)
{
	size_t y, z;

	if (!ws_sync_compares())
		return true;
	for (z = 0; z < c->depth; z++)
		for (y = 0; y < c->height; y++)
			if (memcmp(dst->host + z * c->dst_slice + y * c->dst_pitch,
				   src->host + z * c->src_slice + y * c->src_pitch, c->width) != 0)
				return true;
	return false;
}

static int run_copy(const struct ws_copy *c, const struct ws_lane *lane, const char *call)
{
	struct range dst, src;
	enum ws_sync_wait wait;
	size_t y, z;
	int e;

	if (!c->width || !c->height || !c->depth)
		return 0;
	e = locate_copy(c, &dst, &src);
	if (e)
		return e;
	wait = copy_waits(dst.mem, src.mem, call);
	ws_sync_begin(lane, WS_OP_COPY, call, false, wait == WS_SYNC_PRECEDING);
	touch_rows(&src, c->src, c->src_pitch, c->src_slice, c, false, false);
	touch_rows(&dst, c->dst, c->dst_pitch, c->dst_slice, c, true, copy_changes(c, &dst, &src));
	for (z = 0; z < c->depth; z++)
		for (y = 0; y < c->height; y++)
			memmove(dst.host + z * c->dst_slice + y * c->dst_pitch,
				src.host + z * c->src_slice + y * c->src_pitch, c->width);
	ws_sync_end(lane->graph ? WS_SYNC_NOT : wait);
	return 0;
}

static void fill_row(const struct ws_mem *mem, uint8_t *row, const struct ws_fill *f)
{
	uint16_t v16 = (uint16_t)f->value;
	size_t i;

	if (!f->value)
		ws_gpu_mem_zero(mem, row, f->width / f->element * f->element);
	else if (f->element == 1)
		memset(row, (int)(f->value & 0xff), f->width);
	else
		for (i = 0; i + f->element <= f->width; i += f->element)
			memcpy(row + i, f->element == 2 ? (const void *)&v16 : (const void *)&f->value, f->element);
}

static int run_fill(const struct ws_fill *f, const struct ws_lane *lane, const char *call)
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
	ws_sync_begin(lane, WS_OP_FILL, call, false, false);
	for (z = 0; z < f->depth; z++)
		for (y = 0; y < f->height; y++) {
			ws_sync_touch(f->dst + z * f->slice + y * f->pitch, f->width, true, true);
			fill_row(dst.mem, dst.host + z * f->slice + y * f->pitch, f);
		}
	ws_sync_end(!lane->graph && !is_async(call) && is_pinned_or_managed(dst.mem) ? WS_SYNC_DONE : WS_SYNC_NOT);
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
	ws_keep_touch();
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
	s->launches++;
	s->launch_seconds += stats->seconds;
	ws_keep_touch();
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_kernel(const struct ws_kernel_op *k, const struct ws_lane *lane)
{
	struct ws_session *s = ws_session();
	struct ws_gpu_launch l = {
		.grid = {k->grid.x, k->grid.y, k->grid.z},
		.block = {k->block.x, k->block.y, k->block.z},
		.cluster = {k->cluster.x, k->cluster.y, k->cluster.z},
		.shared_dynamic = (uint32_t)k->shared,
		.params = k->params,
		.cooperative = k->cooperative,
		.stream = ws_stream_id(lane->stream),
		.gridid = lane->gridid,
	};
	struct ws_gpu_stats stats = {0};
	struct ws_gpu_error err = {0};
	bool is_sticky, done;
	double before;
	int code;

	ws_sync_begin(lane, WS_OP_KERNEL, k->f->plain, k->early && !lane->graph, false);
	before = s->options.stats ? cpu_seconds() : 0;
	done = ws_gpu_launch(s->gpu, k->f->kernel, &l, &stats, &err);
	if (s->timing)
		ws_clocked_touch(s);
	s->launch_cpu_seconds += s->options.stats ? cpu_seconds() - before : 0;
	if (s->options.stats && s->detector && s->detector->measure)
		s->detector->measure(s->detector_self);
	ws_sync_end(WS_SYNC_NOT);
	if (done) {
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
/* What the function does on the host's side comes after what is before it in the stream; and because it tells other
 * threads by means that are not seen, so does all that the host does from then on. */
static int run_host(const struct ws_host_fn *h, const struct ws_lane *lane)
{
	struct ws_clock before = {NULL, 0};

	ws_sync_record(lane, &before);
	ws_sync_host_waits(&before);
	ws_clock_free(&before);
	if (h->callback)
		h->callback(lane->stream, ws_session_sticky(), h->user);
	else if (h->fn)
		h->fn(h->user);
	return 0;
}

static int run_event(struct ws_event *e, const struct ws_lane *lane, bool record)
{
	if (record)
		return ws_event_stamp(e, lane);
	if (ws_event_of(e))
		ws_sync_wait(lane, &e->known);
	return 0;
}

/* Memory comes and goes in the order of the stream; the whole of it counts as written. */
static int run_memory(const struct ws_work *op, const struct ws_lane *lane, const char *call)
{
	struct ws_mem *m = ws_gpu_mem_find(ws_session()->gpu, op->u.mem.addr);
	bool is_free = op->type == WS_NODE_FREE;

	ws_sync_begin(lane, is_free ? WS_OP_FREE : WS_OP_ALLOC, call, false, false);
	if (m && m->addr == op->u.mem.addr)
		ws_sync_touch(m->addr, m->size, true, true);
	ws_sync_end(WS_SYNC_NOT);
	return is_free ? ws_mem_release((void *)(uintptr_t)op->u.mem.addr, WS_MEM_DEVICE, true) : 0;
}

int ws_work_run(const struct ws_work *op, const struct ws_lane *lane, const char *call)
{
	switch (op->type) {
	case WS_NODE_KERNEL:
		return run_kernel(&op->u.kernel, lane);
	case WS_NODE_MEMCPY:
		return run_copy(&op->u.copy, lane, call);
	case WS_NODE_MEMSET:
		return run_fill(&op->u.fill, lane, call);
	case WS_NODE_HOST:
		return run_host(&op->u.host, lane);
	case WS_NODE_RECORD:
	case WS_NODE_WAIT:
		return run_event(op->u.event, lane, op->type == WS_NODE_RECORD);
	case WS_NODE_GRAPH:
		return ws_graph_run(op->u.graph, lane, call);
	case WS_NODE_ALLOC: /* the memory exists from the node's creation on */
	case WS_NODE_FREE:
		return run_memory(op, lane, call);
	case WS_NODE_EMPTY:
		return 0;
	}
	return WS_CUDA_INVALID_VALUE;
}

int ws_work_submit(void *stream, struct ws_work *op, const char *call)
{
	struct ws_lane lane;
	struct ws_stream *s;
	int e;

	if (!ws_stream_of(stream, &s)) {
		e = WS_CUDA_INVALID_HANDLE;
	} else if (s && s->capture) {
		return ws_capture_add(s, op);
	} else {
		lane = ws_sync_lane(stream);
		e = ws_work_run(op, &lane, call);
	}
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
