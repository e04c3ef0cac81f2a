/* sync.c - the program's calls as events of an order; see sync.h. */
#include "cuda/sync.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/rt.h"

static struct {
	bool on;
	pthread_mutex_t lock;                /* recursive: an access of the host may be seen inside of a call */
	struct ws_session *session;
	struct ws_order *order;
	struct ws_launches *launches;
	const struct ws_observer_ops *observer;      /* the detector with the recorder before it */
	bool recorded;                       /* it is the simulator's observer now */
	bool concurrent;                     /* operations may run side by side */
	bool host_memory;
	struct ws_operation now;
	bool *kernel_last;                   /* by timeline: was its last operation a kernel? */
	size_t ntimelines;
	uint64_t unrecorded;                 /* kernels of the legacy default stream up to this one were not recorded */
	bool told_unrecorded;
} sync = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static pthread_key_t thread_key;
static _Thread_local uint32_t thread_timeline;       /* of the thread's own default stream; 0 = none yet */

/* ---- streams ---- */
bool ws_sync_on(void)
{
	return sync.on;
}

bool ws_sync_compares(void)
{
	return sync.on && sync.concurrent;
}

static uint32_t new_timeline(bool blocking)
{
	uint32_t t;

	pthread_mutex_lock(&sync.lock);
	sync.concurrent = true;
	t = ws_order_timeline(sync.order, blocking);
	pthread_mutex_unlock(&sync.lock);
	return t;
}

uint32_t ws_sync_stream_new(bool blocking)
{
	return sync.on ? new_timeline(blocking) : 0;
}

uint32_t ws_sync_branch_new(void)
{
	return sync.on ? new_timeline(false) : 0;
}

void ws_sync_stream_end(uint32_t timeline)
{
	if (!sync.on || !timeline)
		return;
	pthread_mutex_lock(&sync.lock);
	ws_order_end(sync.order, timeline);
	pthread_mutex_unlock(&sync.lock);
}

static void thread_ends(void *timeline)
{
	ws_sync_stream_end((uint32_t)(uintptr_t)timeline);
}

static uint32_t timeline_of_thread(void)
{
	if (!thread_timeline) {
		thread_timeline = new_timeline(true);
		pthread_setspecific(thread_key, (void *)(uintptr_t)thread_timeline);
	}
	return thread_timeline;
}

struct ws_lane ws_sync_lane(void *stream)
{
	struct ws_lane lane = {.stream = stream};
	struct ws_stream *s;

	if (!sync.on)
		return lane;
	lane.stream = stream = ws_stream_resolve(stream);
	if (stream == (void *)WS_STREAM_PER_THREAD) {
		lane.timeline = timeline_of_thread();
	} else if (ws_stream_of(stream, &s) && s) {
		lane.timeline = s->timeline;
		lane.free_running = s->flags & WS_STREAM_NON_BLOCKING;
	}
	return lane;
}

void ws_sync_host_memory(void)
{
	sync.host_memory = true;
}

/* ---- waiting ---- */
static void host_knows(void)
{
	ws_launches_known(sync.launches, ws_order_host(sync.order));
}

void ws_sync_record(const struct ws_lane *lane, struct ws_clock *c)
{
	if (!sync.on)
		return;
	pthread_mutex_lock(&sync.lock);
	ws_clock_free(c);
	ws_order_record(sync.order, lane->timeline, c);
	pthread_mutex_unlock(&sync.lock);
}

void ws_sync_wait(const struct ws_lane *lane, const struct ws_clock *c)
{
	if (!sync.on)
		return;
	pthread_mutex_lock(&sync.lock);
	ws_order_wait(sync.order, lane->timeline, c);
	pthread_mutex_unlock(&sync.lock);
}

void ws_sync_host_waits(const struct ws_clock *c)
{
	if (!sync.on)
		return;
	pthread_mutex_lock(&sync.lock);
	ws_order_host_waits(sync.order, c);
	host_knows();
	pthread_mutex_unlock(&sync.lock);
}

void ws_sync_host_waits_stream(void *stream)
{
	struct ws_clock c = {NULL, 0};
	struct ws_lane lane;

	if (!sync.on)
		return;
	lane = ws_sync_lane(stream);
	ws_sync_record(&lane, &c);
	ws_sync_host_waits(&c);
	ws_clock_free(&c);
}

void ws_sync_host_waits_all(void)
{
	if (!sync.on)
		return;
	pthread_mutex_lock(&sync.lock);
	ws_order_host_waits_all(sync.order);
	host_knows();
	pthread_mutex_unlock(&sync.lock);
}

/* ---- operations ---- */
static void name_stream(const struct ws_lane *lane, struct ws_buf *b)
{
	uint64_t id = ws_stream_id(lane->stream);

	if (lane->graph)
		ws_buf_puts(b, "a graph in ");
	if (id >= WS_STREAM_FIRST_ID)
		ws_buf_printf(b, "stream %llu", (unsigned long long)(id - WS_STREAM_FIRST_ID + 1));
	else
		ws_buf_puts(b, lane->stream == (void *)WS_STREAM_PER_THREAD ? "the thread's default stream" : "the default stream");
}

static bool *last_was_kernel(uint32_t timeline)
{
	if (timeline >= sync.ntimelines) {
		size_t n = 2 * (size_t)timeline + 8;

		sync.kernel_last = ws_realloc(sync.kernel_last, n * sizeof *sync.kernel_last);
		memset(sync.kernel_last + sync.ntimelines, 0, (n - sync.ntimelines) * sizeof *sync.kernel_last);
		sync.ntimelines = n;
	}
	return &sync.kernel_last[timeline];
}

/* The recorder stands before the detector only when it has something to record, for it takes time. */
static void choose_observer(bool recorded)
{
	struct ws_session *s = sync.session;

	if (recorded != sync.recorded)
		ws_gpu_observe(s->gpu, recorded ? sync.observer : s->detector->ops, recorded ? (void *)sync.launches : s->detector_self);
	sync.recorded = recorded;
}

static void note_unrecorded(const struct ws_lane *lane, enum ws_launch_kind kind, const struct ws_operation *o)
{
	if (kind == WS_OP_KERNEL && !sync.concurrent && o->timeline == WS_TIMELINE_LEGACY)
		sync.unrecorded = o->index;
	if (!sync.told_unrecorded && sync.unrecorded && o->timeline != WS_TIMELINE_LEGACY &&
	    ws_clock_of(&o->before, WS_TIMELINE_LEGACY) < sync.unrecorded) {
		sync.told_unrecorded = true;
		ws_report_limit(sync.session->report, "kernels that were launched in the default stream before the first stream was "
		                "made may still run beside later ones: races between these are not looked for");
	}
}

void ws_sync_begin(const struct ws_lane *lane, enum ws_launch_kind kind, const char *name, bool early, bool perhaps)
{
	struct ws_launch_op op = {.kind = kind, .name = name, .graph = lane->graph, .legacy = lane->timeline == WS_TIMELINE_LEGACY,
	                          .free_running = lane->free_running, .perhaps = perhaps};
	struct ws_buf stream = {NULL, 0, 0};
	bool *last;

	if (!sync.on)
		return;
	pthread_mutex_lock(&sync.lock);
	sync.concurrent = sync.concurrent || early;
	last = last_was_kernel(lane->timeline);
	ws_order_begin(sync.order, lane->timeline, early && *last, &sync.now);
	*last = kind == WS_OP_KERNEL;
	note_unrecorded(lane, kind, &sync.now);
	name_stream(lane, &stream);
	op.stream = stream.data;
	op.order = sync.now;
	if (sync.concurrent || sync.host_memory)
		op.frames[backtrace(op.frames, WS_OP_FRAMES - 1)] = NULL;
	ws_launches_begin(sync.launches, &op, sync.concurrent || kind != WS_OP_KERNEL);
	if (kind == WS_OP_KERNEL)
		choose_observer(sync.concurrent || sync.host_memory);
	ws_buf_free(&stream);
}

void ws_sync_touch(uint64_t addr, uint64_t bytes, bool write, bool changes)
{
	if (sync.on)
		ws_launches_touch(sync.launches, addr, bytes, write, changes);
}

static size_t findings(void)
{
	return ws_report_count(sync.session->report, WS_ERROR) + ws_report_count(sync.session->report, WS_WARNING);
}

void ws_sync_end(enum ws_sync_wait wait)
{
	struct ws_clock done = {NULL, 0};
	size_t found;

	if (!sync.on)
		return;
	if (wait != WS_SYNC_NOT)
		ws_clock_join(&done, &sync.now.before);
	if (wait == WS_SYNC_DONE)
		ws_clock_at_least(&done, sync.now.timeline, sync.now.index);
	found = findings();
	ws_launches_end(sync.launches);      /* the clock of sync.now went there */
	found = findings() - found;
	ws_order_host_waits(sync.order, &done);
	host_knows();
	ws_clock_free(&done);
	pthread_mutex_unlock(&sync.lock);
	if (found)
		ws_session_touch();
}

/* ---- start ---- */
void ws_sync_start(struct ws_session *s)
{
	static const struct ws_launches_front front = {.place = ws_where};
	struct ws_detect_config config;

	if (!s->detector)
		return;
	ws_session_detect_config(&s->options, &config);
	sync.session = s;
	sync.order = ws_order_new();
	sync.launches = ws_launches_new(&config, s->report, s->gpu, &front);
	sync.observer = ws_launches_observer(sync.launches, s->detector->ops, s->detector_self);
	pthread_key_create(&thread_key, thread_ends);
	sync.on = true;
}
