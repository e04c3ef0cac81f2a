/* test_race_fences.c - src/device/race_order.cuh, fence.sc: all threads of a block write and execute __threadfence(), they meet at a barrier, and one of
 * them sets a flag. What that orders is known without "order not known", and what it does not is a race. */
#include "race_rig.h"

enum { BLOCK = 64, BYTES = 8192, ROUNDS = 7, NOBODY = BLOCK, SEEDS = 12 };

/* One block fills slots of four, the other one empties them; each tells the other how far it is. %rd1: how many are full, +256: empty, +1024: the slots.
 * Thread `who` executes no fence in round `when`, in the block that fills (block 0), or the other one.
 * %r0 thread, %r1 block, %r20 rounds; %p7: this is that thread, and this that round. */
#define FENCE " setp.eq.u32 %p7, %r0, %r6; setp.eq.and.u32 %p7, %r20, %r7, %p7; setp.eq.and.u32 %p7, %r1, %r8, %p7;\n @!%p7 membar.gl;\n"
#define TELL(word) " bar.sync 0;\n setp.ne.u32 %p1, %r0, 0; add.u32 %r10, %r20, 1; @!%p1 atom.global.exch.b32 %r11, [" word "], %r10;\n"
static const char ring[] = PTX_HEAD ".visible .entry k(.param .u64 out, .param .u64 who, .param .u64 when, .param .u64 block)\n{\n"
	" .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
	" ld.param.u64 %rd1, [out]; ld.param.u32 %r6, [who]; ld.param.u32 %r7, [when]; ld.param.u32 %r8, [block];\n"
	" mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r20, 0; mov.u32 %r21, 0;\n"
	"ROUND: and.b32 %r12, %r20, 3; mad.lo.u32 %r12, %r12, 256, 1024; cvt.u64.u32 %rd2, %r12; add.u64 %rd2, %rd1, %rd2;\n"
	" setp.ne.u32 %p1, %r0, 0; setp.ne.u32 %p2, %r1, 0; @%p2 bra EMPTY;\n"
	" @%p1 bra FILL;\nFULL: atom.global.add.u32 %r10, [%rd1+256], 0; sub.u32 %r11, %r20, %r10; setp.ge.s32 %p3, %r11, 4; @%p3 bra FULL;\n membar.gl;\n"
	"FILL: bar.sync 0;\n mul.wide.u32 %rd3, %r0, 4; add.u64 %rd3, %rd2, %rd3; st.global.u32 [%rd3], %r20;\n" FENCE TELL("%rd1") " bra NEXT;\n"
	"EMPTY: @%p1 bra TAKE;\nWAIT: atom.global.add.u32 %r10, [%rd1], 0; setp.le.u32 %p3, %r10, %r20; @%p3 bra WAIT;\n membar.gl;\n"
	"TAKE: bar.sync 0;\n add.u32 %r13, %r0, 33; and.b32 %r13, %r13, 63; mul.wide.u32 %rd3, %r13, 4; add.u64 %rd3, %rd2, %rd3; ld.global.u32 %r14, [%rd3]; add.u32 %r21, %r21, %r14;\n"
	FENCE TELL("%rd1+256")
	"NEXT: add.u32 %r20, %r20, 1; setp.lt.u32 %p4, %r20, 7; @%p4 bra ROUND;\n"
	" mul.wide.u32 %rd3, %r0, 4; add.u64 %rd3, %rd1, %rd3; mad.lo.u32 %r15, %r1, 256, 0; cvt.u64.u32 %rd4, %r15; add.u64 %rd3, %rd3, %rd4; st.global.u32 [%rd3+4096], %r21;\n ret;\n}\n";

static struct race_rig run(struct ws_gpu_config c, uint32_t who, uint32_t when, uint32_t block)
{
	struct race_rig r = race_new(c, ring);
	struct ws_mem *m = rig_mem(&r.rig, BYTES);
	uint64_t params[] = { m->addr, who, when, block };

	rig_run(&r.rig, "k", 2, BLOCK, params);
	return r;
}

static struct ws_gpu_config schedule(uint64_t seed)
{
	return (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .schedule = seed ? WS_SCHED_RANDOM : WS_SCHED_RR, .seed = seed, .host_threads = 1 };
}

static void all_fence(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < rig_ways(SEEDS, 2); seed++) {
		struct race_rig r = run(schedule(seed), NOBODY, 0, 0);

		assert_null(race_found(&r.tables, 0));
		assert_in_range(r.tables.counts->undecided, 0, seed ? 2 * BLOCK : 0);
		race_free(&r);
	}
}

/* In the block's first epoch. */
static void first_of_all(void **state)
{
	static const char once[] = PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
		" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r0, 0; setp.ne.u32 %p2, %r1, 0; @%p2 bra READ;\n"
		" mul.wide.u32 %rd3, %r0, 4; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3+1024], %r0; membar.gl; bar.sync 0;\n"
		" @!%p1 atom.global.exch.b32 %r11, [%rd1], 1; ret;\n"
		"READ: @%p1 bra BEHIND;\nWAIT: atom.global.add.u32 %r10, [%rd1], 0; setp.eq.u32 %p3, %r10, 0; @%p3 bra WAIT;\n membar.gl;\n"
		"BEHIND: bar.sync 0;\n add.u32 %r13, %r0, 33; and.b32 %r13, %r13, 63; mul.wide.u32 %rd3, %r13, 4; add.u64 %rd3, %rd1, %rd3; ld.global.u32 %r14, [%rd3+1024];\n"
		" mul.wide.u32 %rd4, %r0, 4; add.u64 %rd4, %rd1, %rd4; st.global.u32 [%rd4+4096], %r14;\n ret;\n}\n";

	(void)state;
	for (uint32_t seed = 0; seed < rig_ways(SEEDS, 2); seed++) {
		struct race_rig r = race_new(schedule(seed), once);
		struct ws_mem *m = rig_mem(&r.rig, BYTES);
		uint64_t params[] = { m->addr };

		rig_run(&r.rig, "k", 2, BLOCK, params);
		assert_null(race_found(&r.tables, 0));
		assert_int_equal(r.tables.counts->undecided, 0);
		race_free(&r);
	}
}

/* A thread of another warp than that which sets the flag: in the last round, for behind the next one's fences its write is ordered as well. That may be "order
 * not known", for lanes of its warp and itself have fenced before, but not fine. (Whoever empties the slots in the last round reads what nobody fills again.) */
static void one_does_not(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < rig_ways(SEEDS, 2); seed++) {
		struct race_rig r = run(schedule(seed), 32 + seed * 5 % 32, ROUNDS - 1, 0);

		if (!race_found(&r.tables, 0) && !r.tables.counts->undecided)
			fail_msg("schedule %u: the race is not told", seed);
		race_free(&r);
		r = run(schedule(seed), 32 + seed * 5 % 32, ROUNDS - 1, 1);
		if (race_found(&r.tables, 0))
			fail_msg("schedule %u: there is no race", seed);
		race_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_fence), cmocka_unit_test(first_of_all), cmocka_unit_test(one_does_not) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
