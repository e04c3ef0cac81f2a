/* sync.c - the program's calls as events of an order; see sync.h. */
#include "cuda/sync.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/rt.h"
#include "cuda/watch.h"
#include "report/keep.h"

enum { MANY_OPERATIONS = 1000 };

static struct {
	bool on;
	pthread_mutex_t lock;                /* recursive: an access of the host may be seen inside of a call */
	struct ws_session *session;
	struct ws_order *order;
	struct ws_launches *launches;
	const struct ws_observer_ops *observer;      /* the detector with the recorder before it */
	bool recorded;                       /* it is the simulator's observer now */
	bool concurrent;                     /* operations may run side by side */
	bool host_memory, watches;           /* watches: accesses of the host are noticed */
	struct ws_operation now;
	bool *kernel_last;                   /* by timeline: was its last operation a kernel? */
	size_t ntimelines;
	uint64_t unrecorded;                 /* kernels of the legacy default stream up to this one were not recorded */
	bool told_unrecorded;
	size_t most_kept;                    /* operations, before those that all streams know are forgotten */
	bool forgot;
} state = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .most_kept = MANY_OPERATIONS};

static pthread_key_t thread_key;
static _Thread_local unsigned inside;     /* the thread holds the lock; an access of the host seen then is none of the program's */
static _Thread_local uint32_t thread_timeline;       /* of the thread's own default stream; 0 = none yet */

static void lock(void)
{
	pthread_mutex_lock(&state.lock);
	inside++;
}

static void unlock(void)
{
	inside--;
	pthread_mutex_unlock(&state.lock);
}

/* ---- streams ---- */
bool ws_sync_on(void)
{
	return state.on;
}

bool ws_sync_compares(void)
{
	return state.on && state.concurrent;
}

static uint32_t new_timeline(bool blocking)
{
	uint32_t t;

	lock();
	state.concurrent = true;
	if (state.forgot && ws_launches_kept(state.launches))
		ws_report_limit(state.session->report, "a stream or graph was made while more than 1000 operations were in flight: "
		                "races of its work with the oldest of these are not looked for");
	t = ws_order_timeline(state.order, blocking);
	unlock();
	return t;
}

uint32_t ws_sync_stream_new(bool blocking)
{
	return state.on ? new_timeline(blocking) : 0;
}

uint32_t ws_sync_branch_new(void)
{
	return state.on ? new_timeline(false) : 0;
}

void ws_sync_stream_end(uint32_t timeline)
{
	if (!state.on || !timeline)
		return;
	lock();
	ws_order_end(state.order, timeline);
	unlock();
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

	if (!state.on)
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

void ws_sync_host_memory(bool registered)
{
	if (!state.on)
		return;
	state.host_memory = true;
	if (registered)
		ws_report_limit(state.session->report, "accesses of the host to memory given to cudaHostRegister are not checked "
		                "(to memory of cudaMallocHost and cudaMallocManaged they are)");
	else if (!state.watches)
		ws_report_limit(state.session->report, "accesses of the host to managed and pinned memory are not checked: "
		                "libwarpsafe-preload.so is not loaded, or the system gives no second view of memory (memfd)");
}

/* ---- waiting ---- */
static void host_knows(void)
{
	ws_launches_known(state.launches, ws_order_host(state.order));
}

void ws_sync_record(const struct ws_lane *lane, struct ws_clock *c)
{
	if (!state.on)
		return;
	lock();
	ws_clock_free(c);
	ws_order_record(state.order, lane->timeline, c);
	unlock();
}

void ws_sync_wait(const struct ws_lane *lane, const struct ws_clock *c)
{
	if (!state.on)
		return;
	lock();
	ws_order_wait(state.order, lane->timeline, c);
	unlock();
}

void ws_sync_host_waits(const struct ws_clock *c)
{
	if (!state.on)
		return;
	lock();
	ws_order_host_waits(state.order, c);
	host_knows();
	unlock();
}

void ws_sync_host_waits_stream(void *stream)
{
	struct ws_clock c = {NULL, 0};
	struct ws_lane lane;

	if (!state.on)
		return;
	lane = ws_sync_lane(stream);
	ws_sync_record(&lane, &c);
	ws_sync_host_waits(&c);
	ws_clock_free(&c);
}

void ws_sync_host_waits_all(void)
{
	if (!state.on)
		return;
	lock();
	ws_order_host_waits_all(state.order);
	host_knows();
	unlock();
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
	state.kernel_last = ws_grow_zeroed(state.kernel_last, &state.ntimelines, (size_t)timeline + 1, sizeof *state.kernel_last);
	return &state.kernel_last[timeline];
}

/* The recorder stands before the detector only when it has something to record, for it takes time. */
static void choose_observer(bool recorded)
{
	struct ws_session *s = state.session;

	if (recorded != state.recorded)
		ws_gpu_observe(s->gpu, recorded ? state.observer : s->detector->ops, recorded ? (void *)state.launches : s->detector_self);
	state.recorded = recorded;
}

static void note_unrecorded(const struct ws_lane *lane, enum ws_launch_kind kind, const struct ws_operation *o)
{
	if (kind == WS_OP_KERNEL && !state.concurrent && o->timeline == WS_TIMELINE_LEGACY)
		state.unrecorded = o->index;
	if (!state.told_unrecorded && state.unrecorded && o->timeline != WS_TIMELINE_LEGACY &&
	    ws_clock_of(&o->before, WS_TIMELINE_LEGACY) < state.unrecorded) {
		state.told_unrecorded = true;
		ws_report_limit(state.session->report, "kernels that were launched in the default stream before the first stream was "
		                "made may still run beside later ones: races between these are not looked for");
	}
}

void ws_sync_begin(const struct ws_lane *lane, enum ws_launch_kind kind, const char *name, bool early, bool perhaps)
{
	struct ws_launch_op op = {.kind = kind, .name = name, .graph = lane->graph, .legacy = lane->timeline == WS_TIMELINE_LEGACY,
	                          .free_running = lane->free_running, .perhaps = perhaps};
	struct ws_buf stream = {NULL, 0, 0};
	bool *last;

	if (!state.on)
		return;
	lock();
	state.concurrent = state.concurrent || early;
	last = last_was_kernel(lane->timeline);
	ws_order_begin(state.order, lane->timeline, early && *last, &state.now);
	*last = kind == WS_OP_KERNEL;
	note_unrecorded(lane, kind, &state.now);
	name_stream(lane, &stream);
	op.stream = stream.data;
	op.order = state.now;
	if (state.concurrent || state.host_memory)
		op.frames[backtrace(op.frames, WS_OP_FRAMES - 1)] = NULL;
	ws_launches_begin(state.launches, &op, state.concurrent || kind != WS_OP_KERNEL);
	if (kind == WS_OP_KERNEL)
		choose_observer(state.concurrent || state.host_memory);
	ws_buf_free(&stream);
}

void ws_sync_touch(uint64_t addr, uint64_t bytes, bool write, bool changes)
{
	if (state.on)
		ws_launches_touch(state.launches, addr, bytes, write, changes);
}

/* A program that hands work from stream to stream by events, and never waits itself, would keep every operation. */
static void forget_common(void)
{
	struct ws_clock common = {NULL, 0};

	if (ws_launches_kept(state.launches) < state.most_kept)
		return;
	ws_order_common(state.order, &common);
	ws_launches_known(state.launches, &common);
	state.forgot = true;
	state.most_kept = 2 * ws_launches_kept(state.launches) + MANY_OPERATIONS;
	ws_clock_free(&common);
}

void ws_sync_end(enum ws_sync_wait wait)
{
	struct ws_clock done = {NULL, 0};
	size_t found;

	if (!state.on)
		return;
	if (wait != WS_SYNC_NOT)
		ws_clock_join(&done, &state.now.before);
	if (wait == WS_SYNC_DONE)
		ws_clock_at_least(&done, state.now.timeline, state.now.index);
	found = ws_report_findings(state.session->report);
	ws_launches_end(state.launches);      /* the clock of state.now went there */
	found = ws_report_findings(state.session->report) - found;
	ws_order_host_waits(state.order, &done);
	host_knows();
	forget_common();
	ws_clock_free(&done);
	unlock();
	if (found)
		ws_keep_touch();
}

/* ---- accesses of the host ---- */
static int by_page(const void *a, const void *b)
{
	const struct ws_watch_page *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Several operations may have touched a page. */
static void watch_pages(const uint64_t *pages, const bool *no_reads, size_t n)
{
	struct ws_watch_page *w = ws_alloc((n + 1) * sizeof *w);
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (ws_watch_holds(pages[i]))
			w[kept++] = (struct ws_watch_page){pages[i], no_reads[i]};
	n = kept;
	qsort(w, n, sizeof *w, by_page);
	kept = 0;
	for (size_t i = 0; i < n; i++)
		if (kept && w[kept - 1].addr == w[i].addr)
			w[kept - 1].no_reads = w[kept - 1].no_reads || w[i].no_reads;
		else
			w[kept++] = w[i];
	ws_watch_set(w, kept);
	free(w);
}

/* The host may learn here that a kernel is done; what that changes is done in the next call, see watch.h. */
static bool on_touched(void *user, uint64_t addr, uint64_t bytes, bool write)
{
	void *frames[WS_OP_FRAMES];
	struct ws_clock learned = {NULL, 0};
	bool done;

	if (inside)
		return true;
	lock();
	frames[backtrace(frames, WS_OP_FRAMES - 1)] = NULL;
	done = ws_launches_host(state.launches, addr, bytes, write, ws_order_host(state.order), frames, &learned);
	ws_order_host_waits(state.order, &learned);
	ws_clock_free(&learned);
	unlock();
	if (done)
		ws_keep_touch();
	return done;
}

/* ---- start ---- */
void ws_sync_start(struct ws_session *s)
{
	static const struct ws_launches_front front = {.place = ws_where, .watch = watch_pages};
	struct ws_detect_config config;

	if (!s->detector)
		return;
	ws_session_detect_config(&s->options, &config);
	state.session = s;
	state.order = ws_order_new();
	state.launches = ws_launches_new(&config, s->report, s->gpu, &front);
	state.observer = ws_launches_observer(state.launches, s->detector->ops, s->detector_self);
	pthread_key_create(&thread_key, thread_ends);
	state.on = true;
	if (config.global)
		state.watches = ws_watch_start(s->gpu, on_touched, NULL);
	else
		state.watches = true;        /* global memory is not asked for */
}
