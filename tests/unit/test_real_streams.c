/* The order of launches on a real GPU, as the host knows it (real/streams.h), and calls that are not followed. Each test begins
 * anew in a process of its own, for the order is the process's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/base.h"
#include "real/streams.h"
#include "real/unfollowed.h"

static char handles[16];
#define STREAM(n) ((void *)&handles[n])
#define EVENT(n)  ((void *)&handles[8 + (n)])
static const struct ws_real_lane legacy, per_thread = { NULL, true };
static struct ws_report *report;

static struct ws_real_lane in(unsigned n) { return (struct ws_real_lane){ STREAM(n), false }; }

static const struct ws_real_touched *comes_to;       /* NULL: anything */

static struct ws_race_launch launch_by(struct ws_real_lane lane, enum ws_real_hands hands)
{
	struct ws_race_launch l;
	bool compared = ws_real_stream_launches(lane, hands, comes_to, &l);

	assert_int_equal(compared, l.mark == WS_RACE_COMPARED);
	return l;
}

static struct ws_race_launch launch(struct ws_real_lane lane)
{
	return launch_by(lane, WS_REAL_HANDS_NOTHING);
}

/* Both are compared; and which is before which? */
static bool compared(const struct ws_race_launch *a, const struct ws_race_launch *b)
{
	return a->mark == WS_RACE_COMPARED && b->mark == WS_RACE_COMPARED;
}

static bool before(const struct ws_race_launch *a, const struct ws_race_launch *b)
{
	return a->lane == b->lane ? a->index < b->index : a->index <= b->before[a->lane];
}

/* Two streams that wait for the default stream, and one that does not. */
static void make_streams(void)
{
	ws_real_stream_made(STREAM(0), true);
	ws_real_stream_made(STREAM(1), true);
	ws_real_stream_made(STREAM(2), false);
}

static void expect(struct ws_race_launch a, struct ws_race_launch b, bool ordered)
{
	if (!compared(&a, &b))
		fail_msg("not compared");
	if (before(&a, &b) != ordered)
		fail_msg("%s", ordered ? "not ordered" : "ordered");
}

static void streams(void)
{
	struct ws_race_launch a, b, c;

	make_streams();
	a = launch(in(0));
	b = launch(in(1));
	c = launch(in(0));
	expect(a, b, false);
	expect(a, c, true);
	expect(b, c, false);
	assert_int_equal(a.stream, 1);
	assert_int_equal(b.stream, 2);
	assert_true(a.lane != b.lane && a.lanes > b.lane);
}

static void default_stream(void)
{
	struct ws_race_launch a, free_running, d, b, e;

	make_streams();
	a = launch(in(0));
	free_running = launch(in(2));
	d = launch(legacy);
	b = launch(in(1));
	e = launch(in(2));
	expect(a, d, true);
	expect(d, b, true);
	expect(a, b, true);
	expect(free_running, d, false);
	expect(d, e, false);
	assert_int_equal(d.stream, WS_RACE_STREAM_DEFAULT);
}

/* A copy in the default stream, of which nothing else is known. */
static void work_in_the_default_stream(void)
{
	struct ws_race_launch a, b;

	make_streams();
	a = launch(in(0));
	ws_real_stream_used(in(1));
	b = launch(in(1));
	expect(a, b, false);
	ws_real_stream_used(legacy);
	b = launch(in(1));
	expect(a, b, true);
}

static void events(void)
{
	struct ws_race_launch a, b, c;

	make_streams();
	ws_real_event_recorded(EVENT(0), in(0));
	a = launch(in(0));
	ws_real_stream_waits(in(1), EVENT(0));
	ws_real_stream_waits(in(1), EVENT(1));       /* never recorded */
	b = launch(in(1));
	expect(a, b, false);
	ws_real_event_recorded(EVENT(0), in(0));
	ws_real_stream_waits(in(2), EVENT(0));
	ws_real_event_recorded(EVENT(1), in(2));
	ws_real_stream_waits(in(1), EVENT(1));
	c = launch(in(1));
	expect(a, c, true);
	ws_real_event_ended(EVENT(0));
	ws_real_stream_waits(in(1), EVENT(0));
	a = launch(in(0));
	expect(a, launch(in(1)), false);
}

static void the_host_waits(void)
{
	struct ws_race_launch a, b;

	make_streams();
	a = launch(in(0));
	ws_real_event_recorded(EVENT(0), in(0));
	b = launch(in(2));
	ws_real_host_waits_event(EVENT(0));
	expect(a, launch(in(1)), true);
	expect(b, launch(in(1)), false);
	ws_real_host_waits_stream(in(2));
	expect(b, launch(in(1)), true);
	a = launch(in(0));
	ws_real_host_waits_all();
	expect(a, launch(in(2)), true);
}

/* A stream that was made by a call which is not seen: what waits for it waits for all. */
static void unknown_streams(void)
{
	struct ws_race_launch a;

	make_streams();
	a = launch(in(0));
	assert_int_equal(launch(in(5)).mark, 0);
	ws_real_event_recorded(EVENT(0), in(5));
	ws_real_stream_waits(in(1), EVENT(0));
	expect(a, launch(in(1)), true);
}

static void one_stream_is_not_compared(void)
{
	assert_int_equal(launch(legacy).mark, 0);
	ws_real_stream_made(STREAM(0), true);
	assert_int_equal(launch(in(0)).mark, 0);
	assert_int_equal(launch(legacy).mark, 0);
	ws_real_stream_made(STREAM(1), true);
	assert_int_equal(launch(in(0)).mark, WS_RACE_COMPARED);
}

/* What is in order for long is left alone, until it is not. */
static void launches_in_order(void)
{
	unsigned n = 0;

	make_streams();
	for (unsigned k = 0; k < 1000; k++) {
		n += launch(in(k % 2)).mark != 0;
		ws_real_event_recorded(EVENT(0), in(k % 2));
		ws_real_stream_waits(in(!(k % 2)), EVENT(0));
	}
	assert_in_range(n, 1, 100);
	assert_int_equal(launch(in(0)).mark, 0);
	ws_real_event_ended(EVENT(0));
	assert_int_equal(launch(in(2)).mark, WS_RACE_COMPARED);
	assert_int_equal(launch(in(0)).mark, WS_RACE_COMPARED);
	ws_real_host_waits_all();
	for (unsigned k = 0; k < 1000; k++)
		assert_int_equal(launch(in(0)).mark, WS_RACE_COMPARED);
}

/* A kernel with a fence may have been told something by another one, and what is behind it knows that, too. */
static void kernels_that_hand_on(void)
{
	struct ws_race_launch a;

	make_streams();
	a = launch(in(0));
	assert_int_equal(launch_by(in(1), WS_REAL_HANDS_LAUNCHES).mark, 0);
	assert_int_equal(launch(in(1)).mark, 0);
	expect(a, launch(in(2)), false);
	ws_real_event_recorded(EVENT(0), in(1));
	ws_real_stream_waits(in(2), EVENT(0));
	assert_int_equal(launch(in(2)).mark, 0);
	ws_real_host_waits_event(EVENT(0));
	expect(a, launch(in(2)), false);
	expect(a, launch(in(1)), false);
	/* What it tells the host is known to whatever the host does then. */
	a = launch(in(0));
	launch_by(in(0), WS_REAL_HANDS_HOST);
	ws_real_host_waits_all();
	expect(a, launch(in(1)), true);
}

static void many_streams(void)
{
	static char many[64];
	struct ws_race_launch last = { 0 };
	unsigned n = 0;

	for (unsigned k = 0; k < WS_COUNT(many); k++)
		ws_real_stream_made(&many[k], false);
	for (unsigned k = 0; k < WS_COUNT(many); k++) {
		last = launch((struct ws_real_lane){ &many[k], false });
		n += last.mark != 0;
		assert_true(!last.mark || last.lane < WS_RACE_LANES);
	}
	assert_int_equal(n, WS_RACE_LANES - 1);
	/* Their lanes are others' when they have ended, and the host has waited. */
	for (unsigned k = 0; k < WS_COUNT(many); k++)
		ws_real_stream_ended(&many[k]);
	ws_real_host_waits_all();
	ws_real_stream_made(STREAM(0), false);
	assert_int_equal(launch(in(0)).mark, WS_RACE_COMPARED);
}

static struct ws_race_launch copy_in(struct ws_real_lane lane)
{
	static const struct ws_real_extent ranges[] = { { 0, 4096, WS_REAL_READS }, { 4096, 8192, WS_REAL_WRITES } };
	struct ws_race_launch l[2];
	bool compared = ws_real_stream_copies(lane, ranges, l, 2);

	if (compared)
		assert_true(before(&l[0], &l[1]) && l[0].mark == WS_RACE_COMPARED);
	l[1].mark = compared ? l[1].mark : 0;
	return l[1];
}

static void copies(void)
{
	struct ws_race_launch a, c, none;

	assert_false(ws_real_streams_several());
	assert_int_equal(copy_in(legacy).mark, 0);
	make_streams();
	assert_true(ws_real_streams_several());
	a = launch(in(0));
	c = copy_in(in(1));
	expect(a, c, false);
	expect(c, launch(in(0)), false);
	expect(c, launch(in(1)), true);
	ws_real_event_recorded(EVENT(0), in(1));
	ws_real_stream_waits(in(0), EVENT(0));
	expect(c, launch(in(0)), true);
	expect(a, copy_in(legacy), true);
	expect(c, copy_in(in(2)), false);
	assert_int_equal(copy_in(in(5)).mark, 0);            /* in a stream that is not known */
	assert_false(ws_real_stream_copies(in(0), NULL, &none, 0));
	launch_by(in(0), WS_REAL_HANDS_LAUNCHES);
	assert_int_equal(copy_in(in(0)).mark, 0);
}

/* While a kernel runs that may wait for a copy, nothing is put before that. What is only taken to have ended may still run. */
static void kernels_that_wait(void)
{
	make_streams();
	ws_real_event_recorded(EVENT(1), in(0));
	launch(in(0));
	ws_real_stream_may_wait(in(0));
	assert_int_equal(copy_in(in(1)).mark, 0);
	ws_real_host_waits_all();
	ws_real_host_waits_stream(in(0));
	ws_real_stream_has_ended(in(1));
	ws_real_host_waits_event(EVENT(1));
	assert_int_equal(copy_in(in(1)).mark, 0);
	ws_real_stream_has_ended(in(0));
	assert_int_equal(copy_in(in(1)).mark, WS_RACE_COMPARED);
	ws_real_stream_may_wait(in(0));
	ws_real_event_recorded(EVENT(0), in(0));
	assert_int_equal(copy_in(in(1)).mark, 0);
	ws_real_host_waits_event(EVENT(0));
	assert_int_equal(copy_in(in(1)).mark, WS_RACE_COMPARED);
	ws_real_stream_may_wait(in(0));
	ws_real_stream_ended(STREAM(0));
	ws_real_host_waits_all();
	ws_real_stream_made(STREAM(0), true);
	ws_real_stream_has_ended(in(0));
	assert_int_equal(copy_in(in(1)).mark, 0);
	ws_real_all_has_ended();
	assert_int_equal(copy_in(in(1)).mark, WS_RACE_COMPARED);
	ws_real_stream_may_wait(in(5));
	assert_int_equal(copy_in(in(1)).mark, 0);
}

/* A kernel that may begin before the one just before it has ended. */
static struct ws_race_launch launch_early(void)
{
	ws_real_stream_begins_early(in(0));
	return launch(in(0));
}

static void dependent_launches(void)
{
	struct ws_race_launch a, b, c;

	ws_real_stream_made(STREAM(0), true);
	assert_int_equal(launch_early().mark, 0);             /* the first one depends on nothing */
	b = launch_early();
	c = launch(in(0));
	assert_int_equal(b.index, 2);
	assert_int_equal(b.before[b.lane], 0);
	assert_true(b.stream & WS_RACE_EARLY && !(c.stream & WS_RACE_EARLY));
	assert_int_equal(c.before[c.lane], 2);
	ws_real_event_recorded(EVENT(0), in(0));
	a = launch_early();                                   /* something is between */
	assert_int_equal(a.before[a.lane], 3);
	copy_in(in(0));
	b = launch_early();
	assert_int_equal(b.before[b.lane], b.index - 1);
	ws_real_host_waits_stream(in(0));
	b = launch_early();
	assert_false(b.stream & WS_RACE_EARLY);
	b = launch_early();
	assert_true(b.stream & WS_RACE_EARLY);
}

static struct ws_race_launch memory_in(struct ws_real_lane lane, uint64_t at, uint64_t bytes, bool goes)
{
	struct ws_race_launch l = { 0 };

	if (!ws_real_stream_memory(lane, at, bytes, goes, &l))
		l.mark = 0;
	return l;
}

/* Memory comes and goes in the order of a stream. What comes in another one may have gone in this one: the driver has waited for that. */
static void memory(void)
{
	struct ws_race_launch a, b, c;

	make_streams();
	a = memory_in(in(0), 4096, 4096, false);
	expect(a, launch(in(0)), true);
	expect(a, launch(in(1)), false);
	a = launch(in(0));
	b = memory_in(in(1), 4096, 4096, true);
	expect(a, b, false);
	c = memory_in(in(2), 16384, 4096, false);
	expect(b, c, false);
	c = memory_in(in(2), 6000, 10, false);
	expect(b, c, true);
	expect(a, c, false);
	/* A part has come again, and now the whole, by a call that is no stream's. */
	a = launch(in(1));
	ws_real_memory_comes(0, 4096);
	expect(b, launch(in(0)), false);
	ws_real_memory_comes(0, 8192);
	expect(b, launch(in(0)), true);
	expect(a, launch(in(0)), false);
	/* Much of it. */
	for (uint64_t k = 0; k < 3000; k++) {
		a = launch(in(1));
		memory_in(in(1), 1 << 20 | k << 12, 4096, true);
	}
	c = memory_in(in(2), 1 << 20 | 2999 << 12, 1, false);
	expect(a, c, true);
	memory_in(in(5), 1 << 20, 4096, true);               /* in a stream that is not known: all is */
	expect(c, launch(in(0)), true);
}

/* ---- graphs ---- */
/* Steps that launch, each with the one that it depends on, -1 = none. */
static struct ws_real_run run_of(const int *before, size_t n)
{
	struct ws_real_run r = { .steps = ws_alloc(n * sizeof *r.steps), .n = n };

	for (size_t k = 0; k < n; k++) {
		r.steps[k].does = WS_REAL_STEP_LAUNCHES;
		r.steps[k].before = ws_alloc(sizeof *r.steps[k].before);
		r.steps[k].nbefore = before[k] >= 0;
		*r.steps[k].before = before[k] >= 0 ? (uint32_t)before[k] : 0;
	}
	return r;
}

static struct ws_race_launch of(const struct ws_real_run *r, size_t step)
{
	struct ws_race_launch none = { 0 };

	return r->steps[step].compared ? r->steps[step].said[0] : none;
}

static void graphs(void)
{
	static const int diamond[] = { -1, 0, 0, 2 };
	struct ws_real_run r = run_of(diamond, 4);
	struct ws_race_launch a, b, first, last;

	make_streams();
	a = launch(in(0));
	b = launch(in(1));
	ws_real_stream_runs(in(0), &r);
	first = of(&r, 0);
	last = of(&r, 3);
	expect(a, first, true);
	expect(b, first, false);
	expect(first, of(&r, 1), true);
	expect(first, last, true);
	expect(of(&r, 1), of(&r, 2), false);
	expect(of(&r, 1), last, false);
	assert_int_equal(first.stream, WS_RACE_OF_GRAPH | 1);
	a = launch(in(0));
	expect(last, a, true);
	expect(of(&r, 1), a, true);
	expect(last, launch(in(1)), false);
	/* Once more, elsewhere: never beside itself. */
	b = of(&r, 1);
	ws_real_stream_runs(in(2), &r);
	expect(b, of(&r, 0), true);
	expect(last, of(&r, 0), true);
	expect(a, of(&r, 0), false);
	assert_int_equal(of(&r, 0).stream, WS_RACE_OF_GRAPH | 3);
	b = of(&r, 1);
	r.steps[1].off = true;
	ws_real_stream_runs(in(5), &r);              /* a stream that is not known */
	assert_int_equal(of(&r, 0).mark, 0);
	ws_real_stream_runs(in(1), &r);
	assert_int_equal(of(&r, 1).mark, 0);
	expect(b, of(&r, 3), true);
	ws_real_run_free(&r);
}

/* Its branches are few, however often it forks and joins; what it does besides launches. */
static void graphs_with_events(void)
{
	int forks[201];
	struct ws_real_run r;
	struct ws_race_launch a, b;

	make_streams();
	for (int k = 0; k < 201; k++)
		forks[k] = k - 1 - (k % 3 == 2);
	r = run_of(forks, 201);
	for (uint32_t k = 3; k < 201; k += 3) {              /* a step behind two, and two behind that one */
		r.steps[k].before = ws_realloc(r.steps[k].before, 2 * sizeof *r.steps[k].before);
		r.steps[k].before[r.steps[k].nbefore++] = k - 2;
	}
	ws_real_stream_runs(in(0), &r);
	assert_int_equal(r.nbranches, 1);
	expect(of(&r, 7), of(&r, 8), false);
	expect(of(&r, 7), of(&r, 9), true);
	expect(of(&r, 8), of(&r, 9), true);
	ws_real_run_free(&r);
	r = run_of((const int[]){ -1, 0, 0, -1 }, 4);
	r.steps[1].does = WS_REAL_STEP_RECORDS;
	r.steps[1].event = EVENT(0);
	r.steps[3].does = WS_REAL_STEP_CALLS_HOST;
	ws_real_stream_runs(in(0), &r);
	a = of(&r, 0);
	b = of(&r, 2);
	ws_real_stream_waits(in(1), EVENT(0));
	expect(a, launch(in(1)), true);
	expect(b, launch(in(1)), false);
	r.steps[1].does = WS_REAL_STEP_WAITS;
	ws_real_event_recorded(EVENT(0), in(2));
	r.steps[0].does = WS_REAL_STEP_MOVES;
	r.steps[0].ranges = 2;
	a = launch(in(2));
	ws_real_stream_runs(in(0), &r);
	expect(a, of(&r, 2), false);
	expect(r.steps[0].said[0], r.steps[0].said[1], true);
	r.may_wait = true;
	ws_real_stream_runs(in(0), &r);
	assert_false(r.steps[0].compared);
	assert_true(r.steps[2].compared);
	ws_real_run_free(&r);
}

/* ---- memory of their own ---- */
static struct ws_race_launch launch_at(struct ws_real_lane lane, uint64_t from, enum ws_real_does does)
{
	const struct ws_real_touched t = { .known = true, .n = 2, .list = { { from, from + 100, does }, { 0, 1 << 20, WS_REAL_READS } } };
	struct ws_race_launch l;

	comes_to = &t;
	l = launch(lane);
	comes_to = NULL;
	return l;
}

/* Launches that nothing orders, and that only read what others read, are left alone after a while, until two come to the same memory. */
static void memory_of_their_own(void)
{
	unsigned n = 0;

	make_streams();
	for (unsigned k = 0; k < 1000; k++)
		n += launch_at(in(k % 2), (1 << 20) + 100 * (k % 2), k % 3 ? WS_REAL_WRITES : WS_REAL_UPDATES).mark != 0;
	assert_in_range(n, 1, 100);
	assert_int_equal(copy_in(in(2)).mark, WS_RACE_COMPARED);     /* it writes what they read */
	assert_int_equal(launch_at(in(0), 1 << 20, WS_REAL_WRITES).mark, WS_RACE_COMPARED);
	ws_real_host_waits_all();
	assert_int_equal(launch_at(in(0), 1 << 20, WS_REAL_WRITES).mark, WS_RACE_COMPARED);
}

static void memory_that_meets(void)
{
	make_streams();
	for (unsigned k = 0; k < 100; k++)
		launch_at(in(k % 2), (1 << 20) + 100 * (k % 2), WS_REAL_WRITES);
	assert_int_equal(launch_at(in(0), 1 << 20, WS_REAL_WRITES).mark, 0);
	ws_real_host_waits_stream(in(0));
	assert_int_equal(launch_at(in(2), (1 << 20) + 99, WS_REAL_READS).mark, WS_RACE_COMPARED);     /* the last byte, and one of stream 1 */
	ws_real_host_waits_all();
}

/* What the host has waited for may be come to by others; nothing is known of the last one. */
static void memory_that_is_handed_on(void)
{
	make_streams();
	for (unsigned k = 0; k < 100; k++) {
		launch_at(in(k % 2), 1 << 20, WS_REAL_WRITES);
		ws_real_host_waits_stream(in(k % 2));
	}
	assert_int_equal(launch_at(in(0), 1 << 20, WS_REAL_WRITES).mark, 0);
	assert_int_equal(launch_at(in(2), 2 << 20, WS_REAL_WRITES).mark, 0);
	assert_int_equal(launch(in(1)).mark, WS_RACE_COMPARED);
}

static void graphs_with_memory_of_their_own(void)
{
	const struct ws_real_touched left = { .known = true, .n = 1, .list = { { 0, 100, WS_REAL_WRITES } } };
	const struct ws_real_touched right = { .known = true, .n = 1, .list = { { 100, 200, WS_REAL_WRITES } } };
	struct ws_real_run r = run_of((const int[]){ -1, 0, 0 }, 3);
	unsigned n = 0;

	make_streams();
	r.steps[0].touched = r.steps[1].touched = &left;
	r.steps[2].does = WS_REAL_STEP_MOVES;
	r.steps[2].ranges = 1;
	r.steps[2].moves[0] = right.list[0];
	for (unsigned k = 0; k < 100; k++) {
		ws_real_stream_runs(in(0), &r);
		n += r.steps[0].compared + r.steps[1].compared + r.steps[2].compared;
	}
	assert_in_range(n, 1, 20);
	r.steps[1].touched = &right;
	ws_real_stream_runs(in(0), &r);
	assert_true(!r.steps[0].compared && !r.steps[1].compared && r.steps[2].compared);      /* of the first two it was not known before */
	ws_real_stream_runs(in(0), &r);
	assert_true(r.steps[0].compared && r.steps[1].compared && r.steps[2].compared);
	ws_real_run_free(&r);
}

static void *launch_there(void *out)
{
	*(struct ws_race_launch *)out = launch(per_thread);
	return NULL;
}

static void threads(void)
{
	struct ws_race_launch a, b;
	pthread_t thread;

	make_streams();
	a = launch(per_thread);
	pthread_create(&thread, NULL, launch_there, &b);
	pthread_join(thread, NULL);
	expect(a, b, false);
	expect(a, launch(per_thread), true);
	assert_int_equal(a.stream, WS_RACE_STREAM_PER_THREAD);
	expect(a, launch((struct ws_real_lane){ (void *)2, false }), true);
	expect(a, launch((struct ws_real_lane){ (void *)1, true }), true);
}

/* ---- calls that are not followed ---- */
static int called_with[3];
static int some_call(int a, int b, int c)
{
	called_with[0] = a;
	called_with[1] = b;
	called_with[2] = c;
	return 7;
}
static int other_call(int a) { return a + 1; }

typedef int three(int, int, int);
typedef int one(int);

static void unfollowed_calls(void)
{
	struct ws_race_launch a;
	three *f;
	one *g;
	void *real, *made;
	int (*some)(int, int, int) = some_call, (*other)(int) = other_call;

	make_streams();
	memcpy(&real, &some, sizeof real);
	assert_ptr_equal(ws_real_marking("cuFuncGetAttribute", real), real);
	assert_ptr_equal(ws_real_marking("cuGraphAddHostNode", real), real);
	made = ws_real_marking("cuMemcpyHtoD_v2", real);
	assert_ptr_not_equal(made, real);
	assert_ptr_equal(ws_real_marking("cuMemcpyHtoD_v2", real), made);
	memcpy(&f, &made, sizeof f);
	a = launch(in(0));
	expect(a, launch(in(1)), false);
	assert_int_equal(f(1, 2, 3), 7);
	assert_true(called_with[0] == 1 && called_with[1] == 2 && called_with[2] == 3);
	expect(a, launch(in(1)), true);
	memcpy(&real, &other, sizeof real);
	made = ws_real_marking("cuStreamWaitValue32_v2", real);
	memcpy(&g, &made, sizeof g);
	assert_int_equal(launch(in(0)).mark, WS_RACE_COMPARED);
	assert_int_equal(g(4), 5);
	assert_int_equal(launch(in(0)).mark, 0);
}

/* ---- each in a process ---- */
static void (*const tests_of[])(void) = { streams, default_stream, work_in_the_default_stream, events, the_host_waits, unknown_streams,
	one_stream_is_not_compared, launches_in_order, memory_of_their_own, memory_that_meets, memory_that_is_handed_on,
	graphs_with_memory_of_their_own, kernels_that_hand_on, many_streams, copies,
	kernels_that_wait, dependent_launches, memory, graphs, graphs_with_events, threads, unfollowed_calls };
static const char *const names[] = { "streams", "default_stream", "work_in_the_default_stream", "events", "the_host_waits", "unknown_streams",
	"one_stream_is_not_compared", "launches_in_order", "memory_of_their_own", "memory_that_meets", "memory_that_is_handed_on",
	"graphs_with_memory_of_their_own", "kernels_that_hand_on", "many_streams", "copies",
	"kernels_that_wait", "dependent_launches", "memory", "graphs", "graphs_with_events", "threads", "unfollowed_calls" };

static int run_one(unsigned long n)
{
	report = ws_report_new();
	ws_real_streams_start(report);
	tests_of[n]();
	ws_report_free(report);
	return 0;
}

static void each_in_a_process(void **state)
{
	for (unsigned n = 0; n < WS_COUNT(tests_of); n++) {
		char command[4200], self[4096] = { 0 };

		assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
		snprintf(command, sizeof command, "'%s' %u", self, n);
		if (system(command) != 0)
			fail_msg("%s", names[n]);
	}
}

static void one_alone(void **state)
{
	run_one((unsigned long)(uintptr_t)*state);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(each_in_a_process) };
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	const struct CMUnitTest alone[] = { cmocka_unit_test_prestate(one_alone, (void *)(uintptr_t)n) };

	return argc > 1 && n < WS_COUNT(tests_of) ? cmocka_run_group_tests(alone, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
