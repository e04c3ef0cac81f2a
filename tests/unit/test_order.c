/* test_order.c - vector clocks of streams, graphs and the host (detect/order.h). */
#include "detect/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* One operation begins; the caller frees it. */
static struct ws_operation begin(struct ws_order *o, uint32_t timeline)
{
	struct ws_operation op;

	ws_order_begin(o, timeline, false, &op);
	return op;
}

static bool before(const struct ws_operation *a, const struct ws_operation *b)
{
	return ws_clock_of(&b->before, a->timeline) >= a->index;
}

static void one_timeline_is_in_order(void **state)
{
	struct ws_order *o = ws_order_new();
	uint32_t t = ws_order_timeline(o, true);
	struct ws_operation a = begin(o, t), b = begin(o, t);

	assert_true(before(&a, &b));
	assert_false(before(&b, &a));
	assert_int_equal(a.index, 1);
	assert_int_equal(b.index, 2);
	ws_operation_free(&a);
	ws_operation_free(&b);
	ws_order_free(o);
}

static void two_streams_need_an_event(void **state)
{
	struct ws_order *o = ws_order_new();
	uint32_t s = ws_order_timeline(o, true), t = ws_order_timeline(o, true);
	struct ws_operation a = begin(o, s), b = begin(o, t), c, later, d;
	struct ws_clock event = {NULL, 0};

	assert_false(before(&a, &b));
	ws_order_record(o, s, &event);
	later = begin(o, s);
	ws_order_wait(o, t, &event);
	c = begin(o, t);
	assert_true(before(&a, &c));
	assert_false(before(&later, &c));    /* the event stands for what came before it */
	d = begin(o, t);
	assert_true(before(&a, &d));
	ws_clock_free(&event);
	struct ws_operation *all[] = {&a, &b, &c, &d, &later};
	for (size_t i = 0; i < WS_COUNT(all); i++)
		ws_operation_free(all[i]);
	ws_order_free(o);
}

static void legacy_stream_and_blocking_ones_wait(void **state)
{
	struct ws_order *o = ws_order_new();
	uint32_t blocking = ws_order_timeline(o, true), other = ws_order_timeline(o, true), runs = ws_order_timeline(o, false);
	struct ws_operation a = begin(o, blocking), b = begin(o, WS_TIMELINE_LEGACY), c = begin(o, blocking);
	struct ws_operation d = begin(o, runs), e = begin(o, WS_TIMELINE_LEGACY), f = begin(o, other);

	assert_true(before(&a, &b));
	assert_true(before(&b, &c));
	assert_false(before(&b, &d));
	assert_false(before(&d, &e));
	assert_true(before(&a, &f));         /* through the legacy stream */
	struct ws_operation *all[] = {&a, &b, &c, &d, &e, &f};
	for (size_t i = 0; i < WS_COUNT(all); i++)
		ws_operation_free(all[i]);
	ws_order_free(o);
}

static void the_host_hands_on_what_it_knows(void **state)
{
	struct ws_order *o = ws_order_new();
	uint32_t s = ws_order_timeline(o, true), t = ws_order_timeline(o, false);
	struct ws_operation a = begin(o, s), b, c;
	struct ws_clock event = {NULL, 0};

	ws_order_record(o, s, &event);
	b = begin(o, t);
	assert_false(before(&a, &b));
	ws_order_host_waits(o, &event);
	c = begin(o, t);
	assert_true(before(&a, &c));
	ws_clock_free(&event);
	ws_operation_free(&a);
	ws_operation_free(&b);
	ws_operation_free(&c);
	ws_order_free(o);
}

static void dependent_launch_overlaps_with_its_predecessor_only(void **state)
{
	struct ws_order *o = ws_order_new();
	uint32_t s = ws_order_timeline(o, true);
	struct ws_operation a = begin(o, s), b = begin(o, s), c, d;

	ws_order_begin(o, s, true, &c);
	assert_int_equal(c.overlaps, b.index);
	ws_order_host_waits_all(o);
	ws_order_begin(o, s, true, &d);
	assert_int_equal(d.overlaps, 0);     /* the host saw the predecessor end */
	struct ws_operation *all[] = {&a, &b, &c, &d};
	for (size_t i = 0; i < WS_COUNT(all); i++)
		ws_operation_free(all[i]);
	ws_order_free(o);
}

static void cuts_tell_who_can_tell_operations_apart(void **state)
{
	struct ws_order *o = ws_order_new();
	uint32_t s = ws_order_timeline(o, false);
	struct ws_operation a = begin(o, s), b = begin(o, s), c;
	struct ws_clock event = {NULL, 0};

	assert_int_equal(a.cut, b.cut);
	ws_order_record(o, s, &event);
	c = begin(o, s);
	assert_int_not_equal(b.cut, c.cut);
	ws_clock_free(&event);
	ws_operation_free(&a);
	ws_operation_free(&b);
	ws_operation_free(&c);
	ws_order_free(o);
}

/* A program that makes and destroys streams without end needs no more of them than live at once. */
static void ended_timelines_are_used_again(void **state)
{
	struct ws_order *o = ws_order_new();
	uint32_t most = 0;

	for (int i = 0; i < 1000; i++) {
		uint32_t t = ws_order_timeline(o, true);
		struct ws_operation a = begin(o, t);

		most = t > most ? t : most;
		ws_order_end(o, t);
		if (i % 10 == 9)
			ws_order_host_waits_all(o);
		ws_operation_free(&a);
	}
	assert_true(most <= 10);
	ws_order_free(o);
}

static void a_timeline_that_still_runs_is_not_used_again(void **state)
{
	struct ws_order *o = ws_order_new();
	uint32_t t = ws_order_timeline(o, true);
	struct ws_operation a = begin(o, t);

	ws_order_end(o, t);
	assert_int_not_equal(ws_order_timeline(o, true), t);
	ws_operation_free(&a);
	ws_order_free(o);
}

static void what_all_streams_know(void **state)
{
	struct ws_order *o = ws_order_new();
	uint32_t s = ws_order_timeline(o, true), t = ws_order_timeline(o, true);
	struct ws_operation a = begin(o, s);
	struct ws_clock event = {NULL, 0}, common = {NULL, 0};

	ws_order_common(o, &common);
	assert_int_equal(ws_clock_of(&common, s), 0);
	ws_order_record(o, s, &event);
	ws_order_wait(o, t, &event);
	ws_order_common(o, &common);
	assert_int_equal(ws_clock_of(&common, s), a.index);
	ws_clock_free(&event);
	ws_clock_free(&common);
	ws_operation_free(&a);
	ws_order_free(o);
}

/* ---- random programs, against sets of operations instead of clocks ---- */
enum { STREAMS = 5, EVENTS = 4, OPS = 60 };

struct program {
	struct ws_order *o;
	uint32_t timeline[STREAMS];          /* 0: legacy; the odd ones are blocking */
	struct ws_operation op[OPS];
	int n;
	struct ws_clock event[EVENTS];
	uint64_t known[STREAMS], host, event_set[EVENTS];    /* sets: bit i is operation i */
};

static bool blocks(int stream)
{
	return stream % 2;
}

/* What the default stream and those that wait for it know of each other. */
static uint64_t implied(const struct program *p, int stream)
{
	uint64_t set = p->known[stream];

	for (int i = 0; i < STREAMS; i++)
		if ((stream == 0 && blocks(i)) || (i == 0 && blocks(stream)))
			set |= p->known[i];
	return set;
}

static void launch(struct program *p, int stream)
{
	uint64_t before_it = implied(p, stream) | p->host;
	struct ws_operation *op = &p->op[p->n];

	ws_order_begin(p->o, p->timeline[stream], false, op);
	for (int i = 0; i < p->n; i++)
		if (before(&p->op[i], op) != (before_it >> i & 1))
			fail_msg("operations %d and %d", i, p->n);
	p->known[stream] = before_it | 1ull << p->n++;
}

static void step(struct program *p, uint32_t r)
{
	int stream = (int)(r % STREAMS), event = (int)(r / STREAMS % EVENTS);

	switch (r / (STREAMS * EVENTS) % 8) {
	case 0:
		ws_clock_free(&p->event[event]);
		ws_order_record(p->o, p->timeline[stream], &p->event[event]);
		p->event_set[event] = implied(p, stream);
		break;
	case 1:
		ws_order_wait(p->o, p->timeline[stream], &p->event[event]);
		p->known[stream] |= p->event_set[event];
		break;
	case 2:
		if (event)
			break;
		ws_order_host_waits(p->o, &p->event[stream % EVENTS]);
		p->host |= p->event_set[stream % EVENTS];
		break;
	default:
		launch(p, stream);
	}
}

static void random_programs_agree_with_sets(void **state)
{
	uint32_t seed = 1;

	for (int round = 0; round < 2000; round++) {
		struct program p = {.o = ws_order_new()};

		for (int i = 1; i < STREAMS; i++)
			p.timeline[i] = ws_order_timeline(p.o, blocks(i));
		while (p.n < OPS) {
			seed = seed * 1664525 + 1013904223;
			step(&p, seed >> 8);
		}
		for (int i = 0; i < OPS; i++)
			ws_operation_free(&p.op[i]);
		for (int i = 0; i < EVENTS; i++)
			ws_clock_free(&p.event[i]);
		ws_order_free(p.o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_timeline_is_in_order),
		cmocka_unit_test(two_streams_need_an_event),
		cmocka_unit_test(legacy_stream_and_blocking_ones_wait),
		cmocka_unit_test(the_host_hands_on_what_it_knows),
		cmocka_unit_test(dependent_launch_overlaps_with_its_predecessor_only),
		cmocka_unit_test(cuts_tell_who_can_tell_operations_apart),
		cmocka_unit_test(ended_timelines_are_used_again),
		cmocka_unit_test(a_timeline_that_still_runs_is_not_used_again),
		cmocka_unit_test(what_all_streams_know),
		cmocka_unit_test(random_programs_agree_with_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
