/* test_race_clock.c - what objects and barriers of a part of the block order, by clocks (src/device/race_clock.cuh): pipelines of which a step is left
 * out, chains through others, words and fences beside objects, more objects than have room, and copies of which a barrier tells. */
#include "race_rig.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 how)\n{\n .reg .pred %p<10>; .reg .b32 %r<40>; .reg .b64 %rd<16>;\n" \
	" .shared .align 8 .b64 o[64]; .shared .align 16 .b32 s[256];\n" \
	" ld.param.u64 %rd1, [out]; ld.param.u32 %r10, [how]; mov.u32 %r0, %tid.x; mov.u32 %r1, o; and.b32 %r2, %r0, 31; shr.u32 %r3, %r0, 5; mov.u32 %r4, s;\n" \
	" shl.b32 %r5, %r2, 2; add.u32 %r5, %r4, %r5; setp.eq.u32 %p9, %r2, 0;\n"
#define TAIL " ret;\n}\n"
/* Of that object: as many arrivals; by thread 0. And a wait for the phase of parity `reg`. */
#define INIT(object, n) " setp.ne.u32 %p1, %r0, 0; @!%p1 mbarrier.init.shared.b64 [o+" #object "], " #n ";\n"
#define BEGUN " bar.sync 0;\n"
#define WAIT(label, object, reg) label ": mbarrier.try_wait.parity.shared.b64 %p2, [o+" #object "], " reg "; @!%p2 bra " label ";\n"
#define ARRIVE(object) " mbarrier.arrive.shared.b64 %rd2, [o+" #object "];\n"
#define IF(n) " setp.eq.u32 %p3, %r10, " #n "; @%p3 bra "

enum { SEEDS = 6 };

/* cells: those of shared memory lie there. */
static struct race_rig run(const char *text, uint32_t how, uint32_t threads, uint64_t seed, enum ws_divergence model, bool cells)
{
	struct race_rig r = race_new((struct ws_gpu_config){ .divergence = model, .schedule = seed ? WS_SCHED_RANDOM : WS_SCHED_RR, .seed = seed, .host_threads = 1 }, text);
	struct ws_mem *m = rig_mem(&r.rig, 4096);
	uint64_t params[] = { m->addr, how };

	r.rig.shared = cells ? race_shared_size(r.rig.mod, "k", threads) : 0;
	rig_run(&r.rig, "k", 2, threads, params);
	return r;
}

enum says { NOTHING, NOT_KNOWN, RACE };
/* What is said of each `how`; NOT_KNOWN: that there is no race. RACE: in nearly all schedules, and in the others that it is not known. */
static void expect(const char *text, uint32_t threads, const enum says *says, uint32_t n)
{
	static const enum ws_divergence models[] = { WS_DIV_ITS, WS_DIV_STACK };
	bool cells = !strstr(text, "cp.async.bulk");     /* with bulk copies there are none in shared memory */

	for (uint32_t how = 0; how < n; how++) {
		uint64_t told = 0, schedules = 2 * rig_ways(SEEDS, 2);

		for (uint64_t seed = 0; seed < schedules; seed++) {
			struct race_rig r = run(text, how, threads, seed / 2, models[seed % 2], cells && seed / 2 % 2);
			bool race = race_found(&r.tables, 0) != NULL, unknown = r.tables.counts->undecided;

			told += race;
			if ((race && says[how] != RACE) || (unknown && says[how] == NOTHING) || (!race && !unknown && says[how] != NOTHING))
				fail_msg("schedule %u, %u: %s, %u pairs not known", (unsigned)seed, how, race ? "a race" : "no race",
				         (unsigned)r.tables.counts->undecided);
			if (!strstr(text, "fence"))      /* words are released by records alone */
				assert_int_equal(r.tables.counts->records, 0);
			race_free(&r);
		}
		assert_true(says[how] != RACE || told >= schedules - 1);
	}
}

/* Warp 0 fills 32 words and tells warp 1, which reads them and tells warp 0, 40 times. One lane arrives for its warp. Left out: 1, the sync before warp 1
 * arrives; 2, that of warp 0. */
static void pipelines(void **state)
{
	static const enum says says[] = { NOTHING, RACE, RACE };
	static const char text[] = HEAD INIT(0, 1) INIT(8, 1) BEGUN
		" mov.u32 %r20, 0;\nROUND: and.b32 %r21, %r20, 1; xor.b32 %r22, %r21, 1; setp.ne.u32 %p4, %r3, 0; @%p4 bra CONSUMER;\n"
		WAIT("A", 8, "%r22") " st.shared.u32 [%r5], %r0;\n"
		IF(2) "FILLED;\n bar.warp.sync -1;\nFILLED: @%p9 mbarrier.arrive.shared.b64 %rd2, [o];\n bra NEXT;\n"
		"CONSUMER:" WAIT("B", 0, "%r21") " xor.b32 %r6, %r5, 4; ld.shared.u32 %r7, [%r6];\n"
		IF(1) "TOLD;\n bar.warp.sync -1;\nTOLD: @%p9 mbarrier.arrive.shared.b64 %rd2, [o+8];\n"
		"NEXT: add.u32 %r20, %r20, 1; setp.lt.u32 %p4, %r20, 40; @%p4 bra ROUND;\n" TAIL;

	(void)state;
	expect(text, 64, says, WS_COUNT(says));
}

/* The same with two warps that read, the first of them later than the other. 1: what warp 2 has read is waited for when it is overwritten. `fill`
 * overwrites, `tell` arrives for it. */
#define OF_TWO(fill, tell) HEAD INIT(0, 1) INIT(8, 1) INIT(16, 1) BEGUN \
	" mov.u32 %r20, 0;\nROUND: and.b32 %r21, %r20, 1; xor.b32 %r22, %r21, 1; setp.ne.u32 %p4, %r3, 0; @%p4 bra CONSUMER;\n" \
	WAIT("A", 8, "%r22") IF(1) "FILL;\n" WAIT("C", 16, "%r22") \
	"FILL: " fill WAIT("D", 16, "%r22") " bar.warp.sync -1;\n" tell " bra NEXT;\n" \
	"CONSUMER:" WAIT("B", 0, "%r21") " mov.u32 %r23, 0; setp.eq.u32 %p6, %r3, 2; @%p6 bra READ;\n" \
	"LATE: add.u32 %r23, %r23, 1; setp.lt.u32 %p7, %r23, 100; @%p7 bra LATE;\nREAD: ld.shared.u32 %r7, [%r5];\n bar.warp.sync -1;\n" \
	" @!%p9 bra NEXT;\n @!%p6 mbarrier.arrive.shared.b64 %rd2, [o+8];\n @%p6 mbarrier.arrive.shared.b64 %rd2, [o+16];\n" \
	"NEXT: bar.warp.sync -1;\n add.u32 %r20, %r20, 1; setp.lt.u32 %p4, %r20, 40; @%p4 bra ROUND;\n" TAIL
static void pipelines_of_two(void **state)
{
	static const enum says says[] = { NOT_KNOWN, RACE };

	(void)state;
	expect(OF_TWO(" st.shared.u32 [%r5], %r0;\n", " @%p9 mbarrier.arrive.shared.b64 %rd2, [o];\n"), 96, says, WS_COUNT(says));
	expect(OF_TWO(" @%p9 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 128, [o];\n",
	              " @%p9 mbarrier.arrive.expect_tx.shared.b64 %rd2, [o], 128;\n"), 96, says, WS_COUNT(says));
}

/* Of 40 rounds, all overwrite too early; and the first of those that read is looked at anew in each. */
static void each_round_is_looked_at(void **state)
{
	struct race_rig r = run(OF_TWO(" st.shared.u32 [%r5], %r0;\n", " @%p9 mbarrier.arrive.shared.b64 %rd2, [o];\n"), 1, 96, 0, WS_DIV_ITS, true);

	(void)state;
	assert_int_equal(r.tables.counts->undecided, 0);
	race_free(&r);
}

/* Warp 0 writes, and what it has written comes to warp 2 by warp 1: from object to object, or from one barrier of two warps to another (2). 1: warp 1
 * does not wait for warp 0. */
static void chains(void **state)
{
	static const enum says says[] = { NOTHING, RACE, NOTHING };
	static const char text[] = HEAD INIT(0, 32) INIT(8, 32) BEGUN " setp.ge.u32 %p5, %r10, 2; @%p5 bra PARTS;\n mov.u32 %r20, 0;\n"
		" setp.eq.u32 %p4, %r3, 1; @%p4 bra SECOND; setp.eq.u32 %p4, %r3, 2; @%p4 bra THIRD;\n st.shared.u32 [%r5], %r0;\n" ARRIVE(0) " ret;\n"
		"SECOND:" IF(1) "SECOND_GOES;\n" WAIT("A", 0, "%r20") "SECOND_GOES:" ARRIVE(8) " ret;\n"
		"THIRD:" WAIT("B", 8, "%r20") " ld.shared.u32 %r7, [%r5]; ret;\n"
		"PARTS: setp.eq.u32 %p4, %r3, 1; @%p4 bra SECOND_PART; setp.eq.u32 %p4, %r3, 2; @%p4 bra THIRD_PART;\n st.shared.u32 [%r5], %r0; bar.arrive 1, 64; ret;\n"
		"SECOND_PART: bar.sync 1, 64; bar.arrive 2, 64; ret;\n"
		"THIRD_PART: bar.sync 2, 64; ld.shared.u32 %r7, [%r5];\n" TAIL;

	(void)state;
	expect(text, 96, says, WS_COUNT(says));
}

/* Warp 0 writes and arrives; warp 1 waits and sets a flag behind a fence of the block; warp 2 reads the flag, fences, and reads what warp 0 has written. That
 * is ordered, by an object and a word: it is no race, and not known. 1: warp 1 does not wait; 2: warp 2 does not read the flag. */
static void words_beside(void **state)
{
	static const enum says says[] = { NOT_KNOWN, RACE, RACE };
	static const char text[] = HEAD INIT(0, 32) BEGUN " mov.u32 %r20, 0; setp.eq.u32 %p4, %r3, 1; @%p4 bra SECOND; setp.eq.u32 %p4, %r3, 2; @%p4 bra THIRD;\n"
		" st.shared.u32 [%r5], %r0;\n" ARRIVE(0) " ret;\n"
		"SECOND:" IF(1) "SECOND_GOES;\n" WAIT("A", 0, "%r20") "SECOND_GOES: fence.acq_rel.cta; @!%p9 ret; st.relaxed.cta.shared.u32 [s+512], 1; ret;\n"
		"THIRD:" IF(2) "READ;\nB: ld.relaxed.cta.shared.u32 %r8, [s+512]; setp.eq.u32 %p6, %r8, 0; @%p6 bra B; fence.acq_rel.cta;\n"
		"READ: ld.shared.u32 %r7, [%r5];\n" TAIL;

	(void)state;
	expect(text, 96, says, WS_COUNT(says));
}

/* 32 warps, and more objects than have room: what is ordered is not known, and nothing is told. */
static void more_objects_than_room(void **state)
{
	static const enum says says[] = { NOT_KNOWN };
	static const char text[] = HEAD " shl.b32 %r30, %r3, 3; add.u32 %r30, %r1, %r30; @%p9 mbarrier.init.shared.b64 [%r30], 32;\n" BEGUN
		" mov.u32 %r20, 0; shl.b32 %r31, %r3, 2; add.u32 %r31, %r4, %r31; @%p9 st.shared.u32 [%r31], %r0; bar.warp.sync -1;\n"
		" add.u32 %r32, %r3, 1; and.b32 %r32, %r32, 31; shl.b32 %r33, %r32, 3; add.u32 %r33, %r1, %r33; shl.b32 %r34, %r32, 2; add.u32 %r34, %r4, %r34;\n"
		" mbarrier.arrive.shared.b64 %rd2, [%r30];\nA: mbarrier.try_wait.parity.shared.b64 %p2, [%r33], %r20; @!%p2 bra A;\n"
		" ld.shared.u32 %r7, [%r34];\n" TAIL;

	(void)state;
	expect(text, 1024, says, 1);
}

/* A thread copies, and its copy arrives at an object; warp 1 waits there, the block meets, and warp 2 reads what was copied. 1: warp 1 does not wait. */
static void copies(void **state)
{
	static const enum says says[] = { NOTHING, RACE };
	static const char text[] = HEAD INIT(0, 1) BEGUN " mov.u32 %r20, 0; setp.ne.u32 %p4, %r0, 0; @%p4 bra OTHERS;\n"
		" cp.async.ca.shared.global [s], [%rd1], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [o];\n"
		"OTHERS: setp.ne.u32 %p4, %r3, 1; @%p4 bra MEET;\n" IF(1) "MEET;\n" WAIT("A", 0, "%r20")
		"MEET: bar.sync 0;\n setp.ne.u32 %p4, %r3, 2; @%p4 ret; ld.shared.u32 %r7, [s];\n" TAIL;

	(void)state;
	expect(text, 96, says, WS_COUNT(says));
}

/* A block that finds no slot has no clocks: what they would say is not known, and that is counted. */
static void no_slot(void **state)
{
	static const char text[] = HEAD INIT(0, 1) BEGUN
		" setp.ge.u32 %p4, %r2, 8; @%p4 bra WRITE;\n bar.warp.sync 0xff;\nWRITE: st.global.u32 [%rd1], %r0;\n"
		" setp.ne.u32 %p4, %r3, 0; @%p4 bra CONSUMER;\n @%p9 mbarrier.arrive.shared.b64 %rd2, [o];\n bra DONE;\nCONSUMER:" WAIT("B", 0, "0") "DONE:\n" TAIL;
	struct race_rig r = race_new((struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);

	(void)state;
	r.tables.device.slots[0].count = 0;
	assert_true(race_set(r.rig.mod, &r.tables));
	rig_run(&r.rig, "k", 1, 64, (uint64_t[]){ rig_mem(&r.rig, 4096)->addr, 0 });
	assert_true(r.tables.counts->not_checked[WS_RACE_NO_SLOT] && (race_found(&r.tables, 0) || r.tables.counts->undecided));
	race_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(pipelines), cmocka_unit_test(pipelines_of_two), cmocka_unit_test(each_round_is_looked_at),
		                            cmocka_unit_test(chains), cmocka_unit_test(words_beside), cmocka_unit_test(more_objects_than_room), cmocka_unit_test(copies), cmocka_unit_test(no_slot) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
