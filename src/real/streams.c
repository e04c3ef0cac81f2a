/* streams.c - the order of launches; see streams.h.
 *
 * While nothing can run side by side (one stream, or streams that all wait for the default stream) no launch is compared.
 * Programs whose launches are all ordered, or come to memory of their own, though they have several streams, are left alone after a while:
 * what was proved of each launch alone suffices then. When two launches turn out to be unordered after all, and may come to the same
 * memory, the report says so, and from then on all are compared. */
#include "real/streams.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/map.h"
#include "real/unfollowed.h"

/* Launches. Each of them has its checks though a proof says that it needs none for itself. */
enum { ALONE_FOR_LONG = 8 };
#define LEGACY ((void *)1)                   /* CU_STREAM_LEGACY */
#define PER_THREAD ((void *)2)               /* CU_STREAM_PER_THREAD */

struct stream { uint32_t timeline; };
struct event { struct ws_clock done; uint32_t timeline; uint64_t waits; };

/* Of a timeline: its launches that hand on what others have done, and that the host has not waited for, are among these. waits: how
 * many of its kernels may wait for something else; waits_over: so many of them, the first ones, have ended. kernel_last: what came last
 * is a kernel. early_next: ws_real_stream_begins_early. */
struct lane { struct ws_real_spans spans; uint64_t first_hands, last_hands, newest, waits, waits_over; uint32_t number; bool kernel_last, early_next; };

/* Memory that has gone in the order of a stream, and what is complete when it may be used again. */
struct gone { uint64_t from, to; struct ws_clock done; };
enum { MOST_GONE = 1024 };

static struct {
	pthread_mutex_t lock;
	struct ws_report *report;
	struct ws_order *order;              /* NULL = off */
	struct ws_map streams, events;
	struct lane *lanes;                  /* by timeline */
	size_t nlanes;
	uint32_t made;                       /* streams so far */
	unsigned blocking, running_free;     /* streams that were made; running_free: they do not wait for the default stream */
	struct gone *gone;
	size_t ngone, cap_gone;
	bool gave_up;
	bool waits_somewhere;                /* a kernel that may wait runs in a stream that is not known, or is no more */
	bool early;                          /* a kernel has begun before its predecessor has ended, maybe */
	bool unordered;                      /* launches have been */
	unsigned alone;                      /* launches in a row that were not */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static _Thread_local uint32_t thread_timeline;       /* of the thread's own default stream; 0 = none yet */

/* May work be side by side? */
static bool several(void)
{
	return state.early || state.running_free || state.blocking > 1;
}

static void limit(const char *text)
{
	if (state.report && several())
		ws_report_limit(state.report, text);
}

static void look_at_marks(void)
{
	if (ws_real_marked_call())
		ws_order_host_waits_all(state.order);
	if (!state.gave_up && ws_real_marked_call_later()) {
		limit("streams wait for values in memory, or for what is not of this program: from then on launches of different streams "
		      "were not compared");
		state.gave_up = true;
	}
}

static bool begin(void)
{
	if (!state.order)
		return false;
	pthread_mutex_lock(&state.lock);
	look_at_marks();
	return true;
}

static void end(void)
{
	pthread_mutex_unlock(&state.lock);
}

/* ---- timelines ---- */
static struct lane *lane_at(uint32_t timeline)
{
	state.lanes = ws_grow_zeroed(state.lanes, &state.nlanes, (size_t)timeline + 1, sizeof *state.lanes);
	return &state.lanes[timeline];
}

static uint32_t new_timeline(bool blocking, uint32_t number)
{
	uint32_t t = ws_order_timeline(state.order, blocking);

	lane_at(t)->number = number;
	*(blocking ? &state.blocking : &state.running_free) += 1;
	return t;
}

/* ---- kernels that may wait ---- */
static bool anything_waits(void)
{
	bool waits = state.waits_somewhere;

	for (uint32_t t = 0; t < state.nlanes; t++)
		waits |= state.lanes[t].waits > state.lanes[t].waits_over;
	return waits;
}

static void end_timeline(uint32_t t)
{
	struct lane *l = lane_at(t);

	state.waits_somewhere |= l->waits > l->waits_over;
	l->waits_over = l->waits;
	ws_order_end(state.order, t);
}

static void thread_ends(void *timeline)
{
	if (!begin())
		return;
	end_timeline((uint32_t)(uintptr_t)timeline);
	end();
}

static void make_key(void)
{
	pthread_key_create(&thread_key, thread_ends);
}

static uint32_t timeline_of_thread(void)
{
	if (!thread_timeline) {
		thread_timeline = new_timeline(true, WS_RACE_STREAM_PER_THREAD);
		pthread_setspecific(thread_key, (void *)(uintptr_t)thread_timeline);
	}
	return thread_timeline;
}

/* false: a stream that was made by a call which is not seen. */
static bool timeline_of(struct ws_real_lane lane, uint32_t *timeline)
{
	void *stream = lane.stream ? lane.stream : lane.per_thread ? PER_THREAD : LEGACY;
	const struct stream *s;

	*timeline = WS_TIMELINE_LEGACY;
	if (stream == LEGACY)
		return true;
	if (stream == PER_THREAD) {
		*timeline = timeline_of_thread();
		return true;
	}
	s = ws_map_get(&state.streams, stream);
	if (s)
		*timeline = s->timeline;
	return s;
}

/* ---- the host ---- */
static void all_is_known(void)
{
	ws_order_host_waits_all(state.order);
}

/* All that the stream has so far is complete for whatever the host submits from now on. */
static void stream_is_known(uint32_t timeline)
{
	struct ws_clock c = { NULL, 0 };

	ws_order_record(state.order, timeline, &c);
	ws_order_host_waits(state.order, &c);
	ws_clock_free(&c);
}

void ws_real_streams_start(struct ws_report *r)
{
	pthread_once(&once, make_key);
	state.report = r;
	state.order = ws_order_new();
}

void ws_real_host_waits_all(void)
{
	if (!begin())
		return;
	all_is_known();
	end();
}

void ws_real_host_waits_stream(struct ws_real_lane lane)
{
	uint32_t t;

	if (!begin())
		return;
	if (timeline_of(lane, &t))
		stream_is_known(t);
	else
		all_is_known();
	end();
}

/* ---- streams and events ---- */
static void forget_stream(void *handle)
{
	struct stream *s = ws_map_get(&state.streams, handle);

	if (!s)
		return;
	end_timeline(s->timeline);
	ws_map_remove(&state.streams, handle);
	free(s);
}

void ws_real_stream_made(void *stream, bool blocking)
{
	struct stream *s;

	if (!begin())
		return;
	forget_stream(stream);               /* its context has ended, and the handle is another's now */
	s = ws_alloc(sizeof *s);
	s->timeline = new_timeline(blocking, ++state.made);
	ws_map_put(&state.streams, stream, s);
	end();
}

bool ws_real_streams_made(void)
{
	bool made;

	if (!begin())
		return false;
	made = state.made;
	end();
	return made;
}

void ws_real_stream_ended(void *stream)
{
	if (!begin())
		return;
	forget_stream(stream);
	end();
}

static void pass_by(uint32_t timeline)
{
	struct ws_operation op;

	lane_at(timeline)->kernel_last = false;

	ws_order_begin(state.order, timeline, false, &op);
	ws_operation_free(&op);
}

void ws_real_stream_used(struct ws_real_lane lane)
{
	uint32_t t;

	if (!begin())
		return;
	if (timeline_of(lane, &t)) {
		lane_at(t)->kernel_last = false;
		if (t == WS_TIMELINE_LEGACY)
			pass_by(t);
	}
	end();
}

static void forget_event(void *handle)
{
	struct event *e = ws_map_get(&state.events, handle);

	if (!e)
		return;
	ws_map_remove(&state.events, handle);
	ws_clock_free(&e->done);
	free(e);
}

void ws_real_event_ended(void *event)
{
	if (!begin())
		return;
	forget_event(event);
	end();
}

void ws_real_event_recorded(void *event, struct ws_real_lane lane)
{
	struct event *e;
	uint32_t t;

	if (!event || !begin())
		return;
	forget_event(event);
	e = ws_alloc(sizeof *e);
	if (!timeline_of(lane, &t)) {
		all_is_known();              /* what came before it in that stream is not known */
		t = WS_TIMELINE_LEGACY;
	}
	ws_order_record(state.order, t, &e->done);
	e->timeline = t;
	e->waits = lane_at(t)->waits;
	lane_at(t)->kernel_last = false;
	ws_map_put(&state.events, event, e);
	end();
}

void ws_real_stream_waits(struct ws_real_lane lane, void *event)
{
	const struct event *e;
	uint32_t t;

	if (!event || !begin())
		return;
	e = ws_map_get(&state.events, event);
	if (timeline_of(lane, &t)) {
		lane_at(t)->kernel_last = false;
		if (e)
			ws_order_wait(state.order, t, &e->done);
	}
	end();
}

void ws_real_host_waits_event(void *event)
{
	const struct event *e;

	if (!event || !begin())
		return;
	e = ws_map_get(&state.events, event);
	if (e) {
		ws_order_host_waits(state.order, &e->done);
		if (e->waits > lane_at(e->timeline)->waits_over)
			lane_at(e->timeline)->waits_over = e->waits;
	}
	end();
}

void ws_real_stream_may_wait(struct ws_real_lane lane)
{
	uint32_t t;

	if (!begin())
		return;
	if (timeline_of(lane, &t))
		lane_at(t)->waits++;
	else
		state.waits_somewhere = true;
	end();
}

void ws_real_stream_has_ended(struct ws_real_lane lane)
{
	uint32_t t;

	if (!begin())
		return;
	if (timeline_of(lane, &t))
		lane_at(t)->waits_over = lane_at(t)->waits;
	end();
}

void ws_real_all_has_ended(void)
{
	if (!begin())
		return;
	state.waits_somewhere = false;
	for (uint32_t t = 0; t < state.nlanes; t++)
		state.lanes[t].waits_over = state.lanes[t].waits;
	end();
}

/* ---- launches ---- */
static const char copies_beside_waiting[] =
	"copies and fills were not compared with launches while kernels ran that may wait for them: kernels that look for a "
	"value in a loop, and those that are not checked";

/* Has one that is before it handed on what others have done, who are not before it as far as is known? */
static bool comes_behind_hands(const struct ws_operation *op)
{
	const struct ws_clock *host = ws_order_host(state.order);

	for (uint32_t t = 0; t < op->before.n && t < state.nlanes; t++) {
		const struct lane *l = &state.lanes[t];

		if (l->last_hands > ws_clock_of(host, t) && op->before.at[t] >= l->first_hands)
			return true;
	}
	return false;
}

static void note_hands(const struct ws_operation *op)
{
	struct lane *l = lane_at(op->timeline);

	if (l->last_hands <= ws_clock_of(ws_order_host(state.order), op->timeline))
		l->first_hands = op->index;
	l->last_hands = op->index;
	limit("kernels with fences, releases or acquires of more than a block, and kernels that are not checked, may order launches of "
	      "several streams: these, and what comes behind them until the host waits, are not compared with other launches");
}

/* Is every launch so far before it, or comes to other memory? Where launches are compared in any case, nobody asks. */
static bool is_alone(const struct ws_operation *op, const struct ws_real_touched *touched)
{
	for (uint32_t t = 0; t < state.nlanes; t++) {
		uint64_t done = ws_clock_of(&op->before, t);

		if (t != op->timeline && state.lanes[t].newest > done && ws_real_spans_meet(&state.lanes[t].spans, touched, done))
			return false;
	}
	return !op->overlaps;
}

/* What all that comes is behind need only be known where something is to be forgotten. */
static void note_touched(const struct ws_operation *op, const struct ws_real_touched *touched)
{
	struct ws_clock common = { NULL, 0 };

	if (touched && touched->known)
		ws_order_common(state.order, &common);
	ws_real_spans_add(&lane_at(op->timeline)->spans, touched, op->index, ws_clock_of(&common, op->timeline));
	ws_clock_free(&common);
}

/* Were launches alone for long, and now this one is not? moves: it is none, but a copy or fill. */
static void look_at_order(const struct ws_operation *op, const struct ws_real_touched *touched, bool moves)
{
	bool alone = !state.unordered && is_alone(op, touched);

	if (!alone && !state.unordered && state.alone >= ALONE_FOR_LONG)
		limit("launches of several streams were in order for long, or came to memory of their own, then two did not: races with launches "
		      "before are not looked for");
	state.unordered |= !alone;
	state.alone += alone && several() && !moves && state.alone < ALONE_FOR_LONG;
	lane_at(op->timeline)->newest = op->index;
	if (!state.unordered)
		note_touched(op, touched);
}

static void fill(const struct ws_operation *op, struct ws_race_launch *out)
{
	*out = (struct ws_race_launch){ .mark = WS_RACE_COMPARED, .lane = op->timeline, .index = (uint32_t)op->index,
	                                .lanes = WS_RACE_LANES, .stream = lane_at(op->timeline)->number };
	for (uint32_t t = 0; t < WS_RACE_LANES; t++)
		out->before[t] = (uint32_t)ws_clock_of(&op->before, t);
	if (state.nlanes < WS_RACE_LANES)
		out->lanes = (uint32_t)state.nlanes;
	if (op->overlaps && op->timeline < WS_RACE_LANES) {
		out->before[op->timeline] = (uint32_t)op->overlaps - 1;
		out->stream |= WS_RACE_EARLY;
	}
}

static bool compare(const struct ws_operation *op, enum ws_real_hands hands, const struct ws_real_touched *touched, bool moves)
{
	bool behind = comes_behind_hands(op);

	if (hands != WS_REAL_HANDS_NOTHING)
		note_hands(op);
	look_at_order(op, touched, moves);
	if (state.gave_up || !several() || behind || hands != WS_REAL_HANDS_NOTHING)
		return false;
	if (op->timeline >= WS_RACE_LANES) {
		limit("more than 23 streams and branches of graphs: launches of the others are not compared with those of other streams");
		return false;
	}
	return state.unordered || state.alone < ALONE_FOR_LONG;
}

/* May it begin while the kernel before it there still runs? That is the case from the first time on that it is asked for. */
static bool begins_early(uint32_t timeline)
{
	struct lane *l = lane_at(timeline);
	bool early = l->early_next && l->kernel_last, first = early && !several();

	l->kernel_last = true;
	l->early_next = false;
	state.early |= early;
	if (first)
		limit("kernels began while the one before them may still run (programmatic dependent launch): what had been launched before the "
		      "first of these was not compared with it");
	return early;
}

void ws_real_stream_begins_early(struct ws_real_lane lane)
{
	uint32_t t;

	if (!begin())
		return;
	if (timeline_of(lane, &t))
		lane_at(t)->early_next = true;
	end();
}

bool ws_real_stream_launches(struct ws_real_lane lane, enum ws_real_hands hands, const struct ws_real_touched *touched, struct ws_race_launch *out)
{
	struct ws_operation op;
	bool compared = false;
	uint32_t t;

	memset(out, 0, sizeof *out);
	if (!begin())
		return false;
	if (timeline_of(lane, &t)) {
		ws_order_begin(state.order, t, begins_early(t), &op);
		compared = compare(&op, hands, touched, false);
		if (compared)
			fill(&op, out);
		ws_operation_free(&op);
		if (hands == WS_REAL_HANDS_HOST)
			stream_is_known(t);
	} else if (hands != WS_REAL_HANDS_NOTHING) {
		state.gave_up = true;
	}
	end();
	return compared;
}

bool ws_real_streams_several(void)
{
	bool yes;

	if (!begin())
		return false;
	yes = several() && !state.gave_up;
	end();
	return yes;
}

bool ws_real_streams_ask(void)
{
	bool yes;

	if (!begin())
		return false;
	yes = several() && !state.gave_up && !state.unordered;
	end();
	return yes;
}

static void only(struct ws_real_touched *t, struct ws_real_extent e)
{
	t->known = true;
	t->n = 1;
	t->list[0] = e;
}

/* n operations, one after the other. */
static bool moves(uint32_t timeline, const struct ws_real_extent *ranges, struct ws_race_launch *out, unsigned n)
{
	struct ws_operation op;
	struct ws_real_touched touched;
	bool compared = false;

	lane_at(timeline)->kernel_last = false;
	for (unsigned k = 0; k < n; k++) {
		ws_order_begin(state.order, timeline, false, &op);
		only(&touched, ranges[k]);
		compared = compare(&op, WS_REAL_HANDS_NOTHING, &touched, true);      /* if the last is, so are those before */
		fill(&op, &out[k]);
		ws_operation_free(&op);
	}
	if (compared && anything_waits()) {
		compared = false;
		limit(copies_beside_waiting);
	}
	return compared;
}

bool ws_real_stream_copies(struct ws_real_lane lane, const struct ws_real_extent *ranges, struct ws_race_launch *out, unsigned n)
{
	bool compared;
	uint32_t t;

	if (!begin())
		return false;
	compared = timeline_of(lane, &t) && moves(t, ranges, out, n);
	end();
	return compared;
}

/* ---- memory that comes and goes in the order of a stream ---- */
/* What has gone is forgotten where it comes again as a whole. */
static void take_gone(uint64_t at, uint64_t bytes, struct ws_clock *done)
{
	size_t kept = 0;

	for (size_t k = 0; k < state.ngone; k++) {
		struct gone *g = &state.gone[k];
		bool meets = g->from < at + bytes && at < g->to;

		if (meets)
			ws_clock_join(done, &g->done);
		if (meets && g->from >= at && g->to <= at + bytes)
			ws_clock_free(&g->done);
		else
			state.gone[kept++] = *g;
	}
	state.ngone = kept;
}

/* The oldest one becomes part of the next one: what comes there waits for more than it must. */
static void merge_gone(void)
{
	struct gone *a = &state.gone[0], *b = &state.gone[1];

	ws_clock_join(&b->done, &a->done);
	b->from = a->from < b->from ? a->from : b->from;
	b->to = a->to > b->to ? a->to : b->to;
	ws_clock_free(&a->done);
	memmove(a, b, --state.ngone * sizeof *a);
}

static void note_gone(uint64_t at, uint64_t bytes, uint32_t timeline)
{
	struct gone *g = WS_PUSH(state.gone, state.ngone, state.cap_gone);

	*g = (struct gone){ at, at + bytes, { NULL, 0 } };
	ws_order_record(state.order, timeline, &g->done);
	if (state.ngone > MOST_GONE)
		merge_gone();
}

bool ws_real_stream_memory(struct ws_real_lane lane, uint64_t at, uint64_t bytes, bool goes, struct ws_race_launch *out)
{
	struct ws_clock done = { NULL, 0 };
	bool compared = false, known;
	uint32_t t;

	if (!begin())
		return false;
	known = timeline_of(lane, &t);
	if (!goes)
		take_gone(at, bytes, &done);
	if (known) {
		ws_order_wait(state.order, t, &done);
		compared = moves(t, &(struct ws_real_extent){ at, at + bytes, WS_REAL_WRITES }, out, 1);
	} else {
		all_is_known();
	}
	if (goes)
		note_gone(at, bytes, t);
	ws_clock_free(&done);
	end();
	return compared;
}

void ws_real_memory_comes(uint64_t at, uint64_t bytes)
{
	struct ws_clock done = { NULL, 0 };

	if (!begin())
		return;
	take_gone(at, bytes, &done);
	ws_order_host_waits(state.order, &done);
	ws_clock_free(&done);
	end();
}

/* ---- graphs ---- */
/* Each step goes on in a branch of which all that is there so far is before it. reach: by branch, how many of its steps are. */
static void choose_branch(struct ws_real_run *r, struct ws_real_step *s, struct ws_clock *count, struct ws_clock *reach)
{
	s->branch = 0;
	while (s->branch <= r->nbranches && ws_clock_of(reach, s->branch) != ws_clock_of(count, s->branch))
		s->branch++;
	if (s->branch > r->nbranches)
		*WS_PUSH(r->branches, r->nbranches, r->cap) = new_timeline(false, 0);
	ws_clock_at_least(count, s->branch, ws_clock_of(count, s->branch) + 1);
	ws_clock_at_least(reach, s->branch, ws_clock_of(count, s->branch));
}

static void find_branches(struct ws_real_run *r)
{
	struct ws_clock *reach = ws_alloc((r->n + 1) * sizeof *reach), count = { NULL, 0 };

	for (size_t k = 0; k < r->n; k++) {
		struct ws_real_step *s = &r->steps[k];

		for (uint32_t b = 0; b < s->nbefore; b++)
			ws_clock_join(&reach[k], &reach[s->before[b]]);
		choose_branch(r, s, &count, &reach[k]);
	}
	for (size_t k = 0; k < r->n; k++)
		ws_clock_free(&reach[k]);
	ws_clock_free(&count);
	free(reach);
	r->branched = true;
}

/* What a launch by a graph is known by: another one each time. */
static uint32_t new_grid(void)
{
	static atomic_uint grids;

	return WS_RACE_OWN_GRID | (atomic_fetch_add(&grids, 1) + 1);
}

/* One launch of ours or of the program's. */
static bool step_launches(struct ws_real_step *s, const struct ws_real_touched *touched, uint32_t timeline, uint32_t stream, struct ws_race_launch *out)
{
	struct ws_operation op;
	bool compared;

	ws_order_begin(state.order, timeline, false, &op);
	compared = compare(&op, s->hands, touched, s->does == WS_REAL_STEP_MOVES);
	fill(&op, out);
	out->stream = WS_RACE_OF_GRAPH | stream;
	out->grid = new_grid();
	ws_operation_free(&op);
	return compared;
}

/* The event as the program's calls know it from now on. */
static void step_records(void *event, uint32_t timeline)
{
	struct event *e;

	forget_event(event);
	e = ws_alloc(sizeof *e);
	ws_order_record(state.order, timeline, &e->done);
	e->timeline = timeline;
	e->waits = 0;                        /* of kernels that may wait it tells nothing */
	ws_map_put(&state.events, event, e);
}

static void step_does(struct ws_real_step *s, uint32_t timeline, uint32_t stream)
{
	struct ws_real_touched touched;
	const struct event *e;

	switch (s->does) {
	case WS_REAL_STEP_LAUNCHES:
		s->compared = step_launches(s, s->touched, timeline, stream, &s->said[0]);
		if (s->hands == WS_REAL_HANDS_HOST)
			stream_is_known(timeline);
		break;
	case WS_REAL_STEP_MOVES:
		s->compared = false;
		for (unsigned k = 0; k < s->ranges; k++) {
			only(&touched, s->moves[k]);
			s->compared = step_launches(s, &touched, timeline, stream, &s->said[k]);
		}
		break;
	case WS_REAL_STEP_CALLS_HOST:
		stream_is_known(timeline);
		break;
	case WS_REAL_STEP_RECORDS:
		step_records(s->event, timeline);
		break;
	case WS_REAL_STEP_WAITS:
		e = ws_map_get(&state.events, s->event);
		if (e)
			ws_order_wait(state.order, timeline, &e->done);
		break;
	case WS_REAL_STEP_NOTHING:
		break;
	}
}

static void run_step(struct ws_real_run *r, struct ws_real_step *s, uint32_t stream, const struct ws_clock *entry)
{
	uint32_t t = s->branch ? r->branches[s->branch - 1] : stream;

	if (s->branch)
		ws_order_wait(state.order, t, entry);
	for (uint32_t b = 0; b < s->nbefore; b++)
		ws_order_wait(state.order, t, &r->steps[s->before[b]].known);
	if (!s->off)
		step_does(s, t, lane_at(stream)->number);
	ws_clock_free(&s->known);
	ws_order_record(state.order, t, &s->known);
}

/* What a kernel may wait for must not stand behind what we put there. */
static void leave_copies_out(struct ws_real_run *r)
{
	bool waits = r->may_wait || anything_waits();

	for (size_t k = 0; k < r->n; k++)
		if (waits && r->steps[k].does == WS_REAL_STEP_MOVES && r->steps[k].compared) {
			r->steps[k].compared = false;
			limit(copies_beside_waiting);
		}
}

static void run_in(struct ws_real_run *r, uint32_t stream)
{
	struct ws_clock entry = { NULL, 0 };

	lane_at(stream)->kernel_last = false;

	ws_order_wait(state.order, stream, &r->done);
	ws_order_record(state.order, stream, &entry);
	for (size_t k = 0; k < r->n; k++)
		run_step(r, &r->steps[k], stream, &entry);
	for (size_t k = 0; k < r->n; k++)
		ws_order_wait(state.order, stream, &r->steps[k].known);
	ws_clock_free(&r->done);
	ws_order_record(state.order, stream, &r->done);
	ws_clock_free(&entry);
	leave_copies_out(r);
}

void ws_real_stream_runs(struct ws_real_lane lane, struct ws_real_run *r)
{
	uint32_t t;

	for (size_t k = 0; k < r->n; k++)
		r->steps[k].compared = false;
	if (!begin())
		return;
	if (!r->branched)
		find_branches(r);
	if (!timeline_of(lane, &t))
		all_is_known();
	else if (several())
		run_in(r, t);
	else
		pass_by(t);
	end();
}

void ws_real_run_free(struct ws_real_run *r)
{
	bool on = begin();

	for (size_t k = 0; k < r->nbranches && on; k++)
		end_timeline(r->branches[k]);
	for (size_t k = 0; k < r->n; k++) {
		free(r->steps[k].before);
		ws_clock_free(&r->steps[k].known);
	}
	if (on)
		end();
	ws_clock_free(&r->done);
	free(r->branches);
	free(r->steps);
	*r = (struct ws_real_run){ .steps = NULL };
}
