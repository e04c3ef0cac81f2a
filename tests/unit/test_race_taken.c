/* Is there room in the tables for what is launched (real/race_taken.h): programs that launch ahead of a GPU, whose kernels take what they
 * take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include "real/race_taken.h"

enum { KERNELS = 4, AHEAD = 1024 };

struct gpu {
	struct ws_race_taken taken;
	double takes[KERNELS];               /* of table k % 2 */
	double has[2];                       /* in use */
	unsigned queue[AHEAD], launched, ended;
	unsigned waits, renewals;
	bool over;                           /* a table became full in a launch */
};

/* Where events are recorded: how many launches were made until then. */
static struct gpu *now;
static bool has_ended(void *event) { return (uintptr_t)event <= now->ended; }

static void run_one(struct gpu *g)
{
	unsigned kernel = g->queue[g->ended++ % AHEAD];

	g->has[kernel % 2] += g->takes[kernel];
	g->over |= g->has[kernel % 2] > 1;
}

static void read_counts(struct gpu *g)
{
	struct ws_race_used used = { { g->has[0], g->has[1] } };

	ws_race_taken_ended(&g->taken, has_ended);
	ws_race_taken_read(&g->taken, &used);
}

static void renew(struct gpu *g)
{
	while (g->ended < g->launched)
		run_one(g);
	read_counts(g);
	g->renewals++;
	memset(g->has, 0, sizeof g->has);
	ws_race_taken_renewed(&g->taken);
}

static void launch(struct gpu *g, unsigned kernel)
{
	const void *id = &g->takes[kernel];
	struct ws_race_running *to;

	now = g;
	if (!ws_race_taken_leaves_room(&g->taken, id)) {
		for (; ws_race_taken_ended(&g->taken, has_ended); g->waits++)
			run_one(g);
		read_counts(g);
		if (ws_race_taken_is_all(&g->taken, id))
			renew(g);
	}
	while (g->launched - g->ended == AHEAD)
		run_one(g);
	g->queue[g->launched++ % AHEAD] = kernel;
	to = ws_race_taken_launched(&g->taken, id, false);
	if (to)
		to->event = (void *)(uintptr_t)g->launched;
}

/* It has ended, and the counts have been read, before anything else is launched. */
static void launch_alone(struct gpu *g, unsigned kernel)
{
	launch(g, kernel);
	run_one(g);
	read_counts(g);
}

static void never_full(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 50; seed++) {
		struct gpu g = { .takes = { 0 } };

		srand(seed);
		for (unsigned k = 0; k < KERNELS; k++)
			g.takes[k] = rand() % 3 ? rand() % 100 / 1000.0 : 0;
		for (unsigned n = 0; n < 2000; n++) {
			launch(&g, (unsigned)rand() % KERNELS);
			if (rand() % 8 == 0 && g.ended < g.launched)
				run_one(&g);
			if (rand() % 64 == 0)
				read_counts(&g);
		}
		assert_false(g.over);
		ws_race_taken_free(&g.taken);
	}
}

/* More than half by one launch: each has the tables for itself, once that is known. */
static void one_takes_most(void **state)
{
	struct gpu g = { .takes = { 0.6 } };

	(void)state;
	launch_alone(&g, 0);
	for (unsigned n = 0; n < 20; n++)
		launch(&g, 0);
	assert_false(g.over);
	assert_int_equal(g.renewals, 20);
	ws_race_taken_free(&g.taken);
}

/* What takes nothing is soon not waited for, and not even followed. */
static void nothing_is_taken(void **state)
{
	struct gpu g = { .takes = { 0 } };
	unsigned waits;

	(void)state;
	for (unsigned n = 0; n < 1000; n++)
		launch(&g, 0);
	waits = g.waits;
	assert_true(waits && waits < 300);
	for (unsigned n = 0; n < 10000; n++)
		launch(&g, 0);
	assert_int_equal(g.waits, waits);
	assert_int_equal(g.taken.nrunning, 0);
	assert_int_equal(g.renewals, 0);
	ws_race_taken_free(&g.taken);
}

/* The first launch touches all, and those behind it the same: they are not kept apart for ever. */
static void the_first_takes_most(void **state)
{
	struct gpu g = { .takes = { 0.6 } };

	(void)state;
	launch_alone(&g, 0);
	g.takes[0] = 0;
	for (unsigned n = 0; n < 1000; n++)
		launch_alone(&g, 0);
	assert_int_equal(g.renewals, 1);
	assert_int_equal(g.waits, 0);
	ws_race_taken_free(&g.taken);
}

static void what_waits(void **state)
{
	struct ws_race_taken r = { .nrunning = 0 };
	struct gpu g = { .launched = 1 };
	struct ws_race_running *to = ws_race_taken_launched(&r, &g, true);

	(void)state;
	now = &g;
	assert_non_null(to);
	to->event = (void *)(uintptr_t)1;
	assert_int_equal(ws_race_taken_ended(&r, has_ended), 1);
	assert_true(ws_race_taken_waits(&r));
	g.ended = 1;
	assert_int_equal(ws_race_taken_ended(&r, has_ended), 0);
	assert_false(ws_race_taken_waits(&r));
	ws_race_taken_free(&r);
	assert_int_equal(r.nrunning, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(never_full), cmocka_unit_test(one_takes_most), cmocka_unit_test(nothing_is_taken),
		                            cmocka_unit_test(the_first_takes_most), cmocka_unit_test(what_waits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
