/* test_gpu_priority.c - the schedule of priorities: it holds a warp up for long between two instructions while the others go on, which
 * the random one does not; one seed is one execution; and whoever waits for others does not stop them. */
#include "tests/unit/gpu_test.h"

enum { BLOCKS = 16, TIMES = 100, SEEDS = 60 };

static struct rig start(enum ws_schedule schedule, uint64_t seed, enum ws_divergence model, const char *text)
{
	return rig_new((struct ws_gpu_config){.divergence = model, .schedule = schedule, .seed = seed, .host_threads = 1,
	                                      .max_instructions = 20000000}, text);
}

/* Each thread adds 1 a hundred times, and looks twice in between: how far has the sum come from one look to the next? */
static const char looks[] = PTX_HEAD
	".visible .entry k(.param .u64 sum)\n{\n"
	"	.reg .pred %p<4>;\n	.reg .b32 %r<12>;\n	.reg .b64 %d<4>;\n"
	"	ld.param.u64 %d1, [sum];\n	mov.u32 %r1, 0;\n	mov.u32 %r2, 0;\n"
	"loop:\n	ld.global.u32 %r3, [%d1];\n	ld.global.u32 %r4, [%d1];\n	sub.u32 %r5, %r4, %r3;\n	max.u32 %r2, %r2, %r5;\n"
	"	red.global.add.u32 [%d1], 1;\n	add.u32 %r1, %r1, 1;\n	setp.lt.u32 %p1, %r1, 100;\n	@%p1 bra loop;\n"
	"	mov.u32 %r6, %ctaid.x;\n	mul.wide.u32 %d2, %r6, 4;\n	add.s64 %d2, %d1, %d2;\n	st.global.u32 [%d2+4], %r2;\n	ret;\n}\n";

struct jumps { uint32_t sum, far[BLOCKS]; };

static struct jumps jumps_of(enum ws_schedule schedule, uint64_t seed)
{
	struct rig r = start(schedule, seed, WS_DIV_ITS, looks);
	struct ws_mem *m = rig_mem(&r, sizeof(struct jumps));
	uint64_t params[] = {m->addr};
	struct jumps j;

	rig_run(&r, "k", BLOCKS, 1, params);
	memcpy(&j, m->host, sizeof j);
	rig_free(&r);
	assert_int_equal(j.sum, BLOCKS * TIMES);
	return j;
}

/* Of so many seeds, in how many are `warps` of them held up while the others do most of all there is? */
static unsigned held_up(enum ws_schedule schedule, unsigned warps, uint32_t far)
{
	unsigned seeds = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct jumps j = jumps_of(schedule, seed);
		unsigned n = 0;

		for (unsigned i = 0; i < BLOCKS; i++)
			n += j.far[i] >= far;
		seeds += n >= warps;
	}
	return seeds;
}

static void test_who_is_held_up_while_all_others_go_on(void **state)
{
	(void)state;
	assert_int_equal(held_up(WS_SCHED_RANDOM, 1, 1200), 0);
	assert_true(held_up(WS_SCHED_PRIORITY, 1, 1200) >= 2);
}

static void test_two_that_are_held_up_at_the_same_time(void **state)
{
	(void)state;
	assert_int_equal(held_up(WS_SCHED_RANDOM, 2, 700), 0);
	assert_true(held_up(WS_SCHED_PRIORITY, 2, 700) >= 4);
}

static void test_one_seed_one_execution(void **state)
{
	unsigned others = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct jumps a = jumps_of(WS_SCHED_PRIORITY, seed), b = jumps_of(WS_SCHED_PRIORITY, seed);
		struct jumps c = jumps_of(WS_SCHED_PRIORITY, seed + 1);

		assert_memory_equal(&a, &b, sizeof a);
		others += memcmp(&a, &c, sizeof a) != 0;
	}
	assert_true(others >= 10);
}

/* A lock that each lane takes by itself; who fails writes down that it did, so that all that wait change something all the time. */
static const char lock[] = PTX_HEAD
	".visible .entry k(.param .u64 at)\n{\n"
	"	.reg .pred %p<4>;\n	.reg .b32 %r<12>;\n	.reg .b64 %d<4>;\n"
	"	ld.param.u64 %d1, [at];\n	mov.u32 %r1, 0;\n"
	"loop:\n	atom.global.cas.b32 %r2, [%d1], 0, 1;\n	setp.eq.u32 %p1, %r2, 0;\n	@%p1 bra mine;\n"
	"	red.global.add.u32 [%d1+8], 1;\n	bra loop;\n"
	"mine:\n	membar.gl;\n	ld.global.u32 %r3, [%d1+4];\n	add.u32 %r3, %r3, 1;\n	st.global.u32 [%d1+4], %r3;\n"
	"	membar.gl;\n	atom.global.exch.b32 %r4, [%d1], 0;\n	add.u32 %r1, %r1, 1;\n	setp.lt.u32 %p2, %r1, 3;\n"
	"	@%p2 bra loop;\n	ret;\n}\n";

/* Block n waits, without writing, until block n + 1 has come: those that are let in last must go first. Then a barrier. */
static const char chain[] = PTX_HEAD
	".visible .entry k(.param .u64 at)\n{\n"
	"	.reg .pred %p<4>;\n	.reg .b32 %r<12>;\n	.reg .b64 %d<4>;\n"
	"	ld.param.u64 %d1, [at];\n	mov.u32 %r1, %ctaid.x;\n	mov.u32 %r2, %nctaid.x;\n	add.u32 %r3, %r1, 1;\n"
	"	mul.wide.u32 %d2, %r1, 4;\n	add.s64 %d2, %d1, %d2;\n	mov.u32 %r8, %tid.x;\n"
	"	setp.eq.u32 %p1, %r3, %r2;\n	@%p1 bra go;\n	setp.ge.u32 %p1, %r8, 32;\n	@%p1 bra go;\n"
	"wait:\n	ld.volatile.global.u32 %r4, [%d2+8];\n	setp.eq.u32 %p2, %r4, 0;\n	@%p2 bra wait;\n"
	"go:\n	bar.sync 0;\n	st.volatile.global.u32 [%d2+4], 1;\n	setp.ne.u32 %p3, %r8, 0;\n	@%p3 bra done;\n"
	"	red.global.add.u32 [%d1], 1;\ndone:\n	ret;\n}\n";

static void test_who_waits_stops_nobody(void **state)
{
	static const struct { const char *text; uint32_t blocks, threads, word, expected; bool its_only; } cases[] = {
		{lock, 8, 40, 1, 8 * 40 * 3, true}, {chain, 200, 64, 0, 200, false}};

	(void)state;
	for (size_t c = 0; c < WS_COUNT(cases); c++)
		for (uint64_t seed = 1; seed <= 12; seed++) {
			struct rig r = start(WS_SCHED_PRIORITY, seed, cases[c].its_only || seed % 2 ? WS_DIV_ITS : WS_DIV_STACK,
			                     cases[c].text);
			struct ws_mem *m = rig_mem(&r, 4096);
			uint64_t params[] = {m->addr};

			rig_run(&r, "k", cases[c].blocks, cases[c].threads, params);
			assert_int_equal(((const uint32_t *)(const void *)m->host)[cases[c].word], cases[c].expected);
			rig_free(&r);
		}
}

/* Nobody raises the flag: the launch ends, and says who waits. */
static void test_a_deadlock_is_one(void **state)
{
	static const char text[] = PTX_HEAD
		".visible .entry k(.param .u64 at)\n{\n	.reg .pred %p<2>;\n	.reg .b32 %r<4>;\n	.reg .b64 %d<2>;\n"
		"	ld.param.u64 %d1, [at];\nwait:\n	ld.volatile.global.u32 %r1, [%d1];\n	setp.eq.u32 %p1, %r1, 0;\n"
		"	@%p1 bra wait;\n	ret;\n}\n";
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct rig r = start(WS_SCHED_PRIORITY, seed, WS_DIV_ITS, text);
		struct ws_mem *m = rig_mem(&r, 64);
		uint64_t params[] = {m->addr};

		assert_false(rig_launch(&r, "k", 3, 64, params));
		assert_int_equal(r.err.code, WS_GPU_DEADLOCK);
		rig_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_is_held_up_while_all_others_go_on), cmocka_unit_test(test_two_that_are_held_up_at_the_same_time),
		cmocka_unit_test(test_one_seed_one_execution), cmocka_unit_test(test_who_waits_stops_nobody),
		cmocka_unit_test(test_a_deadlock_is_one)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
