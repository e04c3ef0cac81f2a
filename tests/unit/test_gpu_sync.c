/* test_gpu_sync.c - barriers in all forms, warp-wide instructions, atomics between blocks, deadlocks and limits. */
#include "gpu_test.h"

#define KERNEL(name) ".visible .entry " name "(.param .u64 out, .param .u64 in)\n{\n" \
	" .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<8>;\n" \
	" ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];\n" \
	" mov.u32 %r30, %ctaid.x; mov.u32 %r31, %ntid.x; mov.u32 %r29, %tid.x; mov.u32 %r28, %laneid;\n" \
	" mad.lo.u32 %r0, %r30, %r31, %r29; mov.u64 %rd9, %rd1;\n" \
	" mul.wide.u32 %rd3, %r0, 4; add.u64 %rd1, %rd1, %rd3;\n"
#define STORE(reg) " st.global.u32 [%rd1], " reg ";\n"
#define END " ret;\n}\n"

static const struct ws_gpu_config its = {.divergence = WS_DIV_ITS, .host_threads = 1};
static const struct ws_gpu_config stack = {.divergence = WS_DIV_STACK, .host_threads = 1};

enum { MAX = 1024 };

/* Runs the kernel under a configuration; the results stay in out. */
static uint32_t out[MAX];

static void run_as(const struct ws_gpu_config *c, const char *text, const char *kernel, uint32_t grid, uint32_t block)
{
	struct rig r = rig_new(*c, text);
	struct ws_mem *m = rig_mem(&r, sizeof out), *in = rig_mem(&r, sizeof out);
	uint64_t params[2] = {m->addr, in->addr};

	rig_run(&r, kernel, grid, block, params);
	memcpy(out, m->host, sizeof out);
	rig_free(&r);
}

static void fails_as(const struct ws_gpu_config *c, const char *text, const char *kernel, uint32_t grid, uint32_t block,
                     enum ws_gpu_errcode code, const char *const *words)
{
	struct rig r = rig_new(*c, text);
	struct ws_mem *m = rig_mem(&r, sizeof out), *in = rig_mem(&r, sizeof out);
	uint64_t params[2] = {m->addr, in->addr};

	if (rig_launch(&r, kernel, grid, block, params))
		fail_msg("%s: ran to its end", kernel);
	if (r.err.code != code)
		fail_msg("error %d, expected %d: %s", r.err.code, code, r.err.text.data);
	for (; *words; words++)
		assert_says(&r, *words);
	rig_free(&r);
}

#define EXPECT(n, i, value) \
	for (uint32_t i = 0; i < (n); i++) \
		if (out[i] != (uint32_t)(value)) \
			fail_msg("line %d, thread %u: %u, expected %u", __LINE__, i, out[i], (uint32_t)(value))

/* ---- block barriers ---- */
static void reverses_through_shared(void **state)
{
	static const char text[] = PTX_HEAD ".shared .align 4 .b8 buf[1024];\n" KERNEL("k")
		" mov.u32 %r1, buf; shl.b32 %r2, %r29, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0;\n"
		" bar.sync 0;\n sub.u32 %r4, 255, %r29; shl.b32 %r4, %r4, 2; add.u32 %r4, %r1, %r4;\n"
		" ld.shared.u32 %r5, [%r4];\n" STORE("%r5") END;
	const struct ws_gpu_config *c[] = {&its, &stack};

	for (int i = 0; i < 2; i++) {
		run_as(c[i], text, "k", 2, 256);
		EXPECT(512, t, t / 256 * 256 + 255 - t % 256);
	}
}

static void barrier_reductions(void **state)
{
	static const char text[] = PTX_HEAD KERNEL("k")
		" and.b32 %r1, %r29, 3; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r29, 1000;\n"
		" bar.red.popc.u32 %r2, 0, %p1; bar.red.and.pred %p3, 0, %p2; bar.red.or.pred %p4, 1, !%p2;\n"
		" barrier.red.popc.u32 %r5, 2, 96, %p2;\n"
		" selp.u32 %r3, 1000, 0, %p3; selp.u32 %r4, 5000, 0, %p4; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;\n"
		" mad.lo.u32 %r2, %r5, 10000, %r2;\n" STORE("%r2") END;
	const struct ws_gpu_config *c[] = {&its, &stack};

	for (int i = 0; i < 2; i++) {
		run_as(c[i], text, "k", 1, 96);
		EXPECT(96, t, 24 + 1000 + 96 * 10000);
	}
}

/* Warps 0 and 1 produce, warp 2 consumes; each waits with bar.sync for what the others announce with bar.arrive. */
static void producers_and_consumers(void **state)
{
	static const char text[] = PTX_HEAD ".shared .align 4 .b8 buf[1024];\n" KERNEL("k")
		" shr.u32 %r1, %r29, 5; mov.u32 %r2, buf; mov.u32 %r7, 0; mov.u32 %r8, 0;\n"
		" setp.eq.u32 %p1, %r1, 2; @%p1 bra CONSUME;\n"
		"PRODUCE: shl.b32 %r3, %r29, 2; add.u32 %r3, %r2, %r3; add.u32 %r4, %r29, %r7;\n"
		" st.shared.u32 [%r3], %r4; bar.arrive 1, 96; bar.sync 2, 96;\n"
		" add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 5; @%p2 bra PRODUCE; bra OUT;\n"
		"CONSUME: bar.sync 1, 96; shl.b32 %r3, %r28, 2; add.u32 %r3, %r2, %r3;\n"
		" ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r5, [%r3+128]; add.u32 %r8, %r8, %r4; add.u32 %r8, %r8, %r5;\n"
		" bar.arrive 2, 96; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 5; @%p2 bra CONSUME;\n"
		"OUT:\n" STORE("%r8") END;

	run_as(&its, text, "k", 1, 96);
	EXPECT(96, t, t < 64 ? 0 : 5 * (2 * (t - 64) + 32) + 20);
	run_as(&stack, text, "k", 1, 96);
	EXPECT(96, t, t < 64 ? 0 : 5 * (2 * (t - 64) + 32) + 20);
}

/* Threads that have ended do not count for a barrier of the whole block. */
static void ended_threads(void **state)
{
	static const char text[] = PTX_HEAD KERNEL("k")
		" setp.lt.u32 %p1, %r29, 40; @%p1 exit; bar.sync 0; mov.u32 %r1, 9;\n" STORE("%r1") END;

	run_as(&its, text, "k", 1, 100);
	EXPECT(100, t, t < 40 ? 0 : 9);
}

/* ---- warp-wide instructions ---- */
static uint32_t shfl_up(uint32_t t)
{
	return t % 32 % 16 >= 3 ? t - 3 + 1000 : t;
}

static uint32_t shfl_idx(uint32_t t)
{
	return t / 8 * 8 + 5;
}

static void shuffles(void **state)
{
	static const char text[] = PTX_HEAD
		KERNEL("up") " shfl.sync.up.b32 %r1|%p1, %r0, 3, 4096, -1; @%p1 add.u32 %r1, %r1, 1000;\n" STORE("%r1") END
		KERNEL("idx") " shfl.sync.idx.b32 %r1, %r0, 5, 6175, -1;\n" STORE("%r1") END
		KERNEL("bfly") " shfl.sync.bfly.b32 %r1, %r0, 9, 31, -1;\n" STORE("%r1") END
		KERNEL("down") " shfl.down.b32 %r1|%p1, %r0, 8, 31; @!%p1 mov.u32 %r1, 7;\n" STORE("%r1") END;

	run_as(&its, text, "up", 1, 64);
	EXPECT(64, t, shfl_up(t));
	run_as(&its, text, "idx", 1, 64);
	EXPECT(64, t, shfl_idx(t));
	run_as(&stack, text, "bfly", 1, 64);
	EXPECT(64, t, t ^ 9);
	run_as(&stack, text, "down", 1, 64);
	EXPECT(64, t, t % 32 < 24 ? t + 8 : 7);
}

static void votes_and_matches(void **state)
{
	static const char text[] = PTX_HEAD
		KERNEL("ballot") " setp.gt.u32 %p1, %r28, 20; vote.sync.ballot.b32 %r1, !%p1, -1;\n" STORE("%r1") END
		KERNEL("vote") " setp.lt.u32 %p1, %r28, 20; vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, %p1, -1;\n"
		" vote.sync.uni.pred %p4, %p1, -1; selp.u32 %r1, 1, 0, %p2; selp.u32 %r2, 2, 0, %p3; selp.u32 %r3, 4, 0, %p4;\n"
		" add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;\n" STORE("%r1") END
		KERNEL("match") " shr.u32 %r2, %r28, 2; match.any.sync.b32 %r1, %r2, -1;\n" STORE("%r1") END
		KERNEL("matchall") " mov.u64 %rd5, 5; match.all.sync.b64 %r1|%p1, %rd5, -1; @!%p1 mov.u32 %r1, 1;\n"
		STORE("%r1") END
		KERNEL("redux") " sub.u32 %r2, %r28, 10; redux.sync.min.s32 %r1, %r2, -1; redux.sync.add.s32 %r3, %r2, -1;\n"
		" mad.lo.u32 %r1, %r3, 1000, %r1;\n" STORE("%r1") END
		KERNEL("active") " setp.gt.u32 %p1, %r28, 3; @%p1 bra S; activemask.b32 %r1;\n" STORE("%r1") "S:" END
		KERNEL("elect") " elect.sync %r1|%p1, 0xffffffff; selp.u32 %r2, 50, 60, %p1; add.u32 %r1, %r1, %r2;\n"
		STORE("%r1") END;

	run_as(&its, text, "ballot", 1, 32);
	EXPECT(32, t, 0x1fffff);
	run_as(&its, text, "vote", 1, 32);
	EXPECT(32, t, 1);
	run_as(&its, text, "match", 1, 32);
	EXPECT(32, t, 15u << t / 4 * 4);
	run_as(&its, text, "matchall", 1, 32);
	EXPECT(32, t, UINT32_MAX);
	run_as(&its, text, "redux", 1, 32);
	EXPECT(32, t, (496 - 320) * 1000 - 10);
	run_as(&its, text, "active", 1, 32);
	EXPECT(32, t, t < 4 ? 15 : 0);
	run_as(&its, text, "elect", 1, 32);
	EXPECT(32, t, t ? 60 : 50);
}

/* Both sides of a branch execute a shuffle of the whole warp: each side's own, so they never meet; with one after the
 * branch they do. Masks that differ from lane to lane make groups. */
static void meeting_from_two_sides(void **state)
{
	static const char text[] = PTX_HEAD
		KERNEL("sides") " setp.lt.u32 %p1, %r28, 12; mov.u32 %r4, 1;\n @%p1 bra A;\n"
		" mov.u32 %r4, 2; bar.warp.sync -1; add.u32 %r4, %r4, 10; bra J;\n"
		"A: bar.warp.sync -1; add.u32 %r4, %r4, 20;\n"
		"J: shfl.sync.bfly.b32 %r1, %r4, 31, 31, -1;\n" STORE("%r1") END
		KERNEL("groups") " and.b32 %r1, %r28, 3; mov.u32 %r2, 0x11111111; shl.b32 %r2, %r2, %r1;\n"
		" redux.sync.add.u32 %r3, %r28, %r2;\n" STORE("%r3") END;

	run_as(&its, text, "sides", 1, 32);
	EXPECT(32, t, 31 - t < 12 ? 21 : 12);
	run_as(&its, text, "groups", 1, 32);
	EXPECT(32, t, 112 + t % 4 * 8);
	run_as(&stack, text, "groups", 1, 32);
	EXPECT(32, t, 112 + t % 4 * 8);
}

/* ---- locks ---- */
/* Every thread takes a lock by compare-and-swap in a loop and releases it behind the loop. */
#define LOCK KERNEL("lock") \
	"L: atom.global.cas.b32 %r1, [%rd2], 0, 1;\n setp.ne.u32 %p1, %r1, 0; @%p1 bra L;\n" \
	" ld.volatile.global.u32 %r2, [%rd2+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd2+4], %r2;\n" \
	" membar.gl; st.volatile.global.u32 [%rd2], 0;\n" STORE("%r2") END

static void locks(void **state)
{
	static const char *const words[] = {"deadlock", "it polls", "test.ptx:", "reconverge", "lanes 1-31",
	                                    "changed last by thread (0,0,0) of block (0,0,0) at test.ptx:", NULL};
	struct ws_gpu_config seeded = its, two = its;
	uint32_t sum = 0;

	run_as(&its, PTX_HEAD LOCK, "lock", 4, 64);
	for (int i = 0; i < 256; i++)
		sum += out[i];
	assert_int_equal(sum, 256 * 257 / 2);
	seeded.schedule = WS_SCHED_RANDOM;
	seeded.seed = 7;
	run_as(&seeded, PTX_HEAD LOCK, "lock", 4, 64);
	two.host_threads = 2;
	run_as(&two, PTX_HEAD LOCK, "lock", 4, 64);
	fails_as(&stack, PTX_HEAD LOCK, "lock", 1, 32, WS_GPU_DEADLOCK, words);
}

/* Block 0 waits for a flag that the last block sets: more blocks than host threads. */
static void blocks_wait_for_blocks(void **state)
{
	static const char text[] = PTX_HEAD KERNEL("k")
		" setp.eq.u32 %p1, %r30, 3; @%p1 bra SET;\n"
		"W: ld.acquire.gpu.global.u32 %r1, [%rd2]; setp.eq.u32 %p2, %r1, 0; @%p2 bra W; bra OUT;\n"
		"SET: mov.u32 %r1, 5; st.release.gpu.global.u32 [%rd2], %r1;\n"
		"OUT:\n" STORE("%r1") END;
	struct ws_gpu_config two = its, seeded = its;

	two.host_threads = 2;
	seeded.schedule = WS_SCHED_RANDOM;
	run_as(&its, text, "k", 4, 64);
	EXPECT(256, t, 5);
	run_as(&two, text, "k", 4, 64);
	EXPECT(256, t, 5);
	run_as(&seeded, text, "k", 4, 64);
	EXPECT(256, t, 5);
}

/* ---- deadlocks ---- */
static void barrier_deadlock(void **state)
{
	static const char text[] = PTX_HEAD KERNEL("k")
		" setp.lt.u32 %p1, %r29, 33; @%p1 bra S; bar.sync 0; bra OUT;\nS: bar.sync 1;\nOUT:" END
		KERNEL("count") " setp.lt.u32 %p1, %r29, 32; @%p1 bra S; bar.sync 1, 64;\nS:" END
		KERNEL("mask") " setp.lt.u32 %p1, %r28, 5; @%p1 bra S; bar.warp.sync 15;\nS:" END
		KERNEL("never") " setp.lt.u32 %p1, %r28, 5; @%p1 bra S; bar.warp.sync -1; bra OUT;\n"
		"S: shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;\nOUT:" END;
	static const char *const mixed[] = {"deadlock",
	                                    "barrier 0 cannot complete: 31 threads have arrived, 33 have not",
	                                    "barrier 1 cannot complete", "warp 1, lanes 1-31 wait at barrier 0", NULL};
	static const char *const count[] = {"deadlock", "it waits for 64 threads", NULL};
	static const char *const mask[] = {"0x0000000f", "does not name", NULL};
	static const char *const never[] = {"deadlock", "wait with mask 0xffffffff for lanes 0-4", NULL};

	fails_as(&its, text, "k", 1, 64, WS_GPU_DEADLOCK, mixed);
	fails_as(&its, text, "count", 1, 64, WS_GPU_DEADLOCK, count);
	fails_as(&its, text, "mask", 1, 32, WS_GPU_BAD_INSTRUCTION, mask);
	fails_as(&its, text, "never", 1, 32, WS_GPU_DEADLOCK, never);
}

static void spinning_for_ever(void **state)
{
	static const char text[] = PTX_HEAD KERNEL("poll")
		"W: ld.volatile.global.u32 %r1, [%rd2]; setp.eq.u32 %p2, %r1, 0; @%p2 bra W;" END
		KERNEL("held") "W: atom.global.exch.b32 %r1, [%rd2], 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra W;" END
		KERNEL("self") "W: bra W;" END
		KERNEL("writes") "W: add.u32 %r1, %r1, 1; " STORE("%r1") " bra W;" END;
	static const char *const poll[] = {"deadlock", "it polls", "test buffer", NULL};
	static const char *const held[] = {"deadlock", "block (1,0,0)", "changed last by thread (0,0,0) of block (0,0,0)", NULL};
	static const char *const self[] = {"deadlock", "lanes 0-31 run at test.ptx:", NULL};
	static const char *const limit[] = {"limit of 100000 warp instructions", "--max-instructions", "lanes 0-31",
	                                    NULL};
	static const char *const late[] = {"time limit of 0.2 seconds", NULL};
	struct ws_gpu_config bounded = its, timed = its, two = its, seeded = its;

	bounded.max_instructions = 100000;
	timed.timeout_s = 0.2;
	two.host_threads = 2;
	seeded.schedule = WS_SCHED_RANDOM;
	fails_as(&its, text, "poll", 2, 64, WS_GPU_DEADLOCK, poll);
	fails_as(&two, text, "poll", 2, 64, WS_GPU_DEADLOCK, poll);
	fails_as(&seeded, text, "poll", 2, 64, WS_GPU_DEADLOCK, poll);
	fails_as(&its, text, "held", 2, 1, WS_GPU_DEADLOCK, held);
	fails_as(&its, text, "self", 1, 32, WS_GPU_DEADLOCK, self);
	fails_as(&bounded, text, "writes", 1, 32, WS_GPU_LIMIT, limit);
	fails_as(&timed, text, "writes", 1, 32, WS_GPU_LIMIT, late);
}

/* Nor is one that reads what others might write, or sleeps now and then. */
static void long_waits_are_fine(void **state)
{
	static const char text[] = PTX_HEAD KERNEL("reads")
		" mov.u32 %r1, 0;\n"
		"L: ld.volatile.global.u32 %r2, [%rd2]; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 300000; @%p1 bra L;\n"
		STORE("%r1") END
		KERNEL("sleeps") " mov.u32 %r1, 0; add.u32 %r3, %r28, 20000;\n"
		"L: nanosleep.u32 40; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r3; @%p1 bra L;\n"
		STORE("%r1") END;
	struct ws_gpu_config two = its, seeded = its;

	two.host_threads = 2;
	seeded.schedule = WS_SCHED_RANDOM;
	run_as(&its, text, "reads", 1, 1);
	EXPECT(1, t, 300000);
	run_as(&two, text, "reads", 2, 1);
	run_as(&its, text, "sleeps", 1, 32);
	EXPECT(32, t, 20000 + t);
	run_as(&two, text, "sleeps", 2, 32);
	run_as(&seeded, text, "sleeps", 1, 32);
	EXPECT(32, t, 20000 + t);
}

/* Loops that count and poll do not come back to a state. One that reads through data again and again, more than is looked at at a time, will
 * end; one that looks at few places is taken for a deadlock when nothing has changed for long. */
static void long_reads_are_fine(void **state)
{
	static const char text[] = PTX_HEAD KERNEL("sweeps")
		" mov.u32 %r1, 0;\n"
		"L: and.b32 %r2, %r1, 255; mul.wide.u32 %rd4, %r2, 4; add.u64 %rd4, %rd2, %rd4;\n"
		" ld.volatile.global.u32 %r3, [%rd4]; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3000000; @%p1 bra L;\n"
		STORE("%r1") END
		KERNEL("counts")
		" mov.u32 %r1, 0; mul.wide.u32 %rd5, %r28, 4; add.u64 %rd2, %rd2, %rd5;\n"
		"L: ld.volatile.global.u32 %r3, [%rd2]; add.u32 %r1, %r1, 1;\n"
		" ld.volatile.global.u32 %r4, [%rd2+512]; or.b32 %r3, %r3, %r4; setp.eq.u32 %p1, %r3, 0; @%p1 bra L;\n"
		STORE("%r1") END;
	static const char *const counts[] = {"deadlock", "nothing has changed for 0.01 s of CPU time", "it polls", NULL};
	struct ws_gpu_config impatient[] = {its, its, its};

	impatient[1].schedule = WS_SCHED_RANDOM;
	impatient[2].host_threads = 2;
	for (uint32_t i = 0; i < 3; i++) {
		impatient[i].silence_s = 0.01;
		run_as(&impatient[i], text, "sweeps", 2, 32);
		EXPECT(64, t, 3000000);
		fails_as(&impatient[i], text, "counts", 2, 64, WS_GPU_DEADLOCK, counts);
	}
}

/* A long computation without a store is no deadlock. */
static void long_loops_are_fine(void **state)
{
	static const char text[] = PTX_HEAD KERNEL("k")
		" mov.u32 %r1, 0; mov.u32 %r2, 1;\n"
		"L: mad.lo.u32 %r2, %r2, 5, %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3000000; @%p1 bra L;\n"
		STORE("%r1") END;

	run_as(&its, text, "k", 1, 32);
	EXPECT(32, t, 3000000);
}

static void one_seed_one_execution(void **state)
{
	/* the order in which threads of different warps and blocks draw tickets */
	static const char text[] = PTX_HEAD KERNEL("k")
		" mov.u32 %r1, 0;\nL: atom.global.add.u32 %r2, [%rd2], 1; ld.volatile.global.u32 %r3, [%rd2+64];\n"
		" add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 10; @%p1 bra L;\n" STORE("%r2") END;
	struct ws_gpu_config c = its;
	uint32_t first[MAX], second[MAX];

	c.schedule = WS_SCHED_RANDOM;
	c.seed = 11;
	run_as(&c, text, "k", 4, 128);
	memcpy(first, out, sizeof first);
	run_as(&c, text, "k", 4, 128);
	assert_memory_equal(first, out, sizeof first);
	c.seed = 12;
	run_as(&c, text, "k", 4, 128);
	memcpy(second, out, sizeof second);
	assert_true(memcmp(first, second, sizeof first) != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reverses_through_shared), cmocka_unit_test(barrier_reductions),
		cmocka_unit_test(producers_and_consumers), cmocka_unit_test(ended_threads), cmocka_unit_test(shuffles),
		cmocka_unit_test(votes_and_matches), cmocka_unit_test(meeting_from_two_sides), cmocka_unit_test(locks),
		cmocka_unit_test(blocks_wait_for_blocks), cmocka_unit_test(barrier_deadlock),
		cmocka_unit_test(long_reads_are_fine),
		cmocka_unit_test(spinning_for_ever), cmocka_unit_test(long_loops_are_fine), cmocka_unit_test(long_waits_are_fine),
		cmocka_unit_test(one_seed_one_execution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
