/* wrap_copy.c - copies and fills: what they read and write, in which stream, and whether the host waits for them (CUDA Driver API,
 * API synchronization behavior). They are told to the checks (range.h) behind the driver's call, so that one which failed is not;
 * before it where the host knows of it from then on, for what the program does next must find it told.
 *
 * Memory that CUDA does not know (pageable) is the program's alone: no kernel comes to it, and the copy has read it, or the host waits
 * until it is written, when the call returns. */
#include "real/range.h"
#include "real/real_priv.h"
#include "real/streams.h"

enum ws_real_memory ws_real_memory_at(uint64_t *at)
{
	enum { MEMORY_TYPE = 2, DEVICE_POINTER = 3, IS_MANAGED = 8, HOST = 1 };      /* CUpointer_attribute, CUmemorytype */
	unsigned type = 0, managed = 0;
	uint64_t there = 0;

	if (!ws_real.cuPointerGetAttribute || ws_real.cuPointerGetAttribute(&type, MEMORY_TYPE, *at) || !type ||
	    ws_real.cuPointerGetAttribute(&there, DEVICE_POINTER, *at) || !there)
		return WS_REAL_PAGEABLE;
	*at = there;
	if (ws_real.cuPointerGetAttribute(&managed, IS_MANAGED, there))
		managed = 0;
	return type == HOST || managed ? WS_REAL_OF_HOST : WS_REAL_OF_DEVICE;
}

/* A call, from before the driver's function to behind it. */
struct moving {
	struct ws_real_lane lane;
	struct ws_real_range ranges[2];
	struct ws_race_launch said[2];
	unsigned n;                          /* ranges */
	bool compared;
	bool known;                          /* the host has waited for it when the call returns */
	bool known_before;                   /* ... for what came before it in the stream */
	struct ws_real_gpu *gpu;
};

static void tell(struct moving *m)
{
	for (unsigned k = 0; k < m->n && m->compared; k++)
		ws_real_range_tell(&m->ranges[k], &m->said[k], m->lane);
	m->compared = false;
}

static enum ws_real_memory add(struct moving *m, struct ws_real_range r)
{
	enum ws_real_memory is = WS_REAL_PAGEABLE;

	if (r.at && r.width && r.rows)
		is = ws_real_memory_at(&r.at);
	if (is != WS_REAL_PAGEABLE && (r.rows == 1 || r.pitch >= r.width))
		m->ranges[m->n++] = r;
	return is;
}

static void limit(const char *text)
{
	if (ws_real_session() && ws_real_session()->checks && ws_real_streams_several())
		ws_report_limit(ws_real_session()->report, text);
}

/* In the order, and told if that comes first. */
static void place(struct moving *m)
{
	struct ws_real_extent extents[2];

	if (!m->n) {
		ws_real_stream_used(m->lane);
		return;
	}
	if (m->known_before)
		ws_real_host_waits_stream(m->lane);
	m->gpu = ws_real_race_begin(NULL);
	for (unsigned k = 0; k < m->n; k++)
		extents[k] = ws_real_range_extent(&m->ranges[k]);
	m->compared = ws_real_stream_copies(m->lane, extents, m->said, m->n);
	if (!m->known)
		return;
	tell(m);
	ws_real_race_end(m->gpu, NULL);
	m->gpu = NULL;
}

/* What is put into a graph is done when that is launched. */
static bool is_of_interest(struct ws_real_lane lane)
{
	return ws_real_streams_several() && !ws_real_is_captured(lane.stream, lane.per_thread);
}

static struct moving copies(struct ws_real_lane lane, struct ws_real_range to, struct ws_real_range from, bool async)
{
	struct moving m = { .lane = lane, .known = !async };
	enum ws_real_memory source, target;

	if (!is_of_interest(lane)) {
		ws_real_stream_used(lane);
		return m;
	}
	from.of = to.of = WS_RACE_IS_COPY;
	to.write = true;
	source = add(&m, from);
	target = add(&m, to);
	m.known_before = !async && target == WS_REAL_OF_DEVICE && source == WS_REAL_PAGEABLE;
	if (m.known_before)
		m.ranges[0].of = WS_RACE_IS_COPY_PERHAPS;
	m.known = async ? target == WS_REAL_PAGEABLE : !m.known_before && (target != WS_REAL_OF_DEVICE || source != WS_REAL_OF_DEVICE);
	place(&m);
	return m;
}

static struct moving fills(struct ws_real_lane lane, struct ws_real_range to, bool async)
{
	struct moving m = { .lane = lane };

	if (!is_of_interest(lane)) {
		ws_real_stream_used(lane);
		return m;
	}
	to.of = WS_RACE_IS_FILL;
	to.write = true;
	m.known = add(&m, to) != WS_REAL_OF_DEVICE && !async;
	place(&m);
	return m;
}

static int moved(struct moving *m, int e)
{
	if (!e)
		tell(m);
	ws_real_race_end(m->gpu, NULL);
	if (!e && m->known)
		ws_real_host_waits_stream(m->lane);
	return e;
}

/* For which the host has waited, and what was found is read. */
static int copied(struct moving *m, int e)
{
	moved(m, e);
	ws_real_waited(e);
	return e;
}

/* ---- the calls ---- */
static struct ws_real_range row(uint64_t at, uint64_t bytes)
{
	return (struct ws_real_range){ .at = at, .width = bytes, .pitch = bytes, .rows = 1 };
}

static uint64_t number(const void *p) { return (uint64_t)(uintptr_t)p; }

#define IN(stream, per_thread) ((struct ws_real_lane){ stream, per_thread })

/* Both forms of a call: in the process's default stream, or each thread's; `begun` makes its struct moving. */
#define FORM(name, parameters, arguments, ended, begun)                 \
	int ws_real_##name parameters                                   \
	{                                                               \
		struct moving m = begun;                                \
                                                                        \
		return ended(&m, ws_real.name arguments);               \
	}
#define ASYNC(name, parameters, arguments, f, ...)                      \
	FORM(name, parameters, arguments, moved, f(IN(stream, false), __VA_ARGS__, true)) \
	FORM(name##_ptsz, parameters, arguments, moved, f(IN(stream, true), __VA_ARGS__, true))
#define SYNC(name, parameters, arguments, ended, f, ...)                \
	FORM(name, parameters, arguments, ended, f(IN(NULL, false), __VA_ARGS__, false)) \
	FORM(name##_ptds, parameters, arguments, ended, f(IN(NULL, true), __VA_ARGS__, false))

ASYNC(cuMemcpyAsync, (uint64_t to, uint64_t from, size_t n, void *stream), (to, from, n, stream), copies, row(to, n), row(from, n))
ASYNC(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t n, void *stream), (to, from, n, stream), copies, row(to, n), row(number(from), n))
ASYNC(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t n, void *stream), (to, from, n, stream), copies, row(number(to), n), row(from, n))
ASYNC(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t n, void *stream), (to, from, n, stream), copies, row(to, n), row(from, n))
SYNC(cuMemcpy, (uint64_t to, uint64_t from, size_t n), (to, from, n), copied, copies, row(to, n), row(from, n))
SYNC(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t n), (to, from, n), copied, copies, row(number(to), n), row(from, n))
SYNC(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t n), (to, from, n), moved, copies, row(to, n), row(number(from), n))
SYNC(cuMemcpyDtoD_v2, (uint64_t to, uint64_t from, size_t n), (to, from, n), moved, copies, row(to, n), row(from, n))

#define FILLS(bits, type)                                               \
	ASYNC(cuMemsetD##bits##Async, (uint64_t to, type value, size_t n, void *stream), (to, value, n, stream), fills, row(to, n * (bits / 8))) \
	SYNC(cuMemsetD##bits##_v2, (uint64_t to, type value, size_t n), (to, value, n), moved, fills, row(to, n * (bits / 8)))              \
	ASYNC(cuMemsetD2D##bits##Async, (uint64_t to, size_t pitch, type value, size_t n, size_t rows, void *stream),                       \
	      (to, pitch, value, n, rows, stream), fills, ((struct ws_real_range){ .at = to, .width = n * (bits / 8), .pitch = pitch, .rows = rows }))
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

/* ---- boxes ---- */
struct side {                                /* of CUDA_MEMCPY2D */
	size_t x, y;
	int type;
	const void *host;
	uint64_t device;
	void *array;
	size_t pitch;
};
struct box { struct side from, to; size_t width, height; };

/* Memory of arrays is not that of kernels' loads and stores. */
static void say_arrays(int type)
{
	enum { ARRAY = 3 };                  /* CUmemorytype */

	if (type == ARRAY)
		limit("copies of arrays: what is read or written of the array was not compared with launches");
}

static struct ws_real_range rows(const struct side *s, const struct box *b)
{
	enum { HOST = 1, ARRAY = 3 };
	size_t pitch = s->pitch ? s->pitch : b->width;
	uint64_t base = s->type == HOST ? number(s->host) : s->type == ARRAY ? 0 : s->device;

	say_arrays(s->type);
	return (struct ws_real_range){ .at = base ? base + s->y * pitch + s->x : 0, .width = b->width, .pitch = pitch, .rows = b->height };
}

static struct moving copies_box(struct ws_real_lane lane, const void *copy, bool async)
{
	static const struct box nothing;
	const struct box *b = copy ? copy : &nothing;

	return copies(lane, rows(&b->to, b), rows(&b->from, b), async);
}

ASYNC(cuMemcpy2DAsync_v2, (const void *copy, void *stream), (copy, stream), copies_box, copy)

/* ---- boxes of three dimensions ---- */
struct ws_real_range ws_real_box_rows(const struct ws_real_box *b, bool to)
{
	enum { HOST = 1, ARRAY = 3 };
	const struct ws_real_box_side *s = to ? &b->to : &b->from;
	size_t pitch = s->pitch ? s->pitch : b->width, slice = pitch * (s->height ? s->height : b->height);
	uint64_t base = s->type == HOST ? number(s->host) : s->type == ARRAY ? 0 : s->device;

	say_arrays(s->type);
	return (struct ws_real_range){ .at = base ? base + s->z * slice + s->y * pitch + s->x : 0, .width = b->width, .pitch = pitch,
		                       .rows = b->height * b->depth, .slice = slice, .of_slice = b->height, .write = to,
		                       .of = WS_RACE_IS_COPY };
}

static struct moving copies_box3(struct ws_real_lane lane, const void *copy, bool async)
{
	static const struct ws_real_box nothing;
	const struct ws_real_box *b = copy ? copy : &nothing;

	return copies(lane, ws_real_box_rows(b, true), ws_real_box_rows(b, false), async);
}

ASYNC(cuMemcpy3DAsync_v2, (const void *copy, void *stream), (copy, stream), copies_box3, copy)

/* ---- between contexts, which have tables of their own: in one they are copies as others ---- */
static struct moving copies_peer(struct ws_real_lane lane, uint64_t to, void *there, uint64_t from, void *here, size_t n, bool async)
{
	if (there == here)
		return copies(lane, row(to, n), row(from, n), async);
	limit("copies between devices or contexts were not compared with launches");
	ws_real_host_waits_all();
	return (struct moving){ .lane = lane };
}

ASYNC(cuMemcpyPeerAsync, (uint64_t to, void *there, uint64_t from, void *here, size_t n, void *stream), (to, there, from, here, n, stream),
      copies_peer, to, there, from, here, n)
