/* test_race_rounds.c - src/device/race_all.cuh: barriers of the whole grid, as programs make them. What they order is known without "order not
 * known", and what they do not is a race. */
#include "race_rig.h"

static const struct ws_gpu_config configs[] = {
	{ .divergence = WS_DIV_ITS, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 1, .host_threads = 2 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 2, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_PRIORITY, .seed = 3, .host_threads = 1 },
};

static uint32_t nconfigs(void) { return rig_ways(WS_COUNT(configs), 1); }

enum { GRID = 4, BLOCK = 64, BYTES = 8192 };

/* %r0 thread, %r1 block, %r2 lane; %r3 thread of the grid; %rd1 the buffer: a counter at its beginning, words from 1024 and from 4096 on. %r20 counts rounds. */
#define KERNEL(body) PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n" \
	" .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n" \
	" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %lanemask_eq; bfind.u32 %r2, %r2; and.b32 %r3, %r0, -32;\n" \
	" add.u32 %r3, %r3, %r2; mad.lo.u32 %r3, %r1, 64, %r3; mov.u32 %r20, 0; mov.u32 %r21, 0;\n" body " ret;\n}\n"
#define GRID_TEXT "4"
/* A round of the grid. n: of labels; counts by what comes before it in %r21. */
#define BARRIER(n, word) " bar.sync 0;\n add.u32 %r21, %r21, " GRID_TEXT "; setp.ne.u32 %p1, %r0, 0; @%p1 bra BEHIND" #n ";\n" \
	" membar.gl; atom.global.add.u32 %r10, [" word "], 1;\n" \
	"WAIT" #n ": atom.global.add.u32 %r10, [" word "], 0; setp.lt.u32 %p2, %r10, %r21; @%p2 bra WAIT" #n ";\n membar.gl;\nBEHIND" #n ": bar.sync 0;\n"
/* As cooperative groups do: the load acquires. */
#define ACQUIRES(n, word) ACQUIRES_AND(n, word, "")
#define ACQUIRES_AND(n, word, behind) " bar.sync 0;\n add.u32 %r21, %r21, " GRID_TEXT "; setp.ne.u32 %p1, %r0, 0; @%p1 bra BEHIND" #n ";\n" \
	" atom.add.release.gpu.global.u32 %r10, [" word "], 1;\n" \
	"WAIT" #n ": ld.acquire.gpu.global.u32 %r10, [" word "]; setp.lt.u32 %p2, %r10, %r21; @%p2 bra WAIT" #n ";\nBEHIND" #n ":" behind " bar.sync 0;\n"

/* Each thread reads words of all around, in one half, and writes its own in the other one; the halves change places each round. */
#define STEP " and.b32 %r11, %r20, 1; mad.lo.u32 %r11, %r11, 3072, 1024; cvt.u64.u32 %rd2, %r11; add.u64 %rd2, %rd1, %rd2; sub.u32 %r12, 5120, %r11; cvt.u64.u32 %rd3, %r12; add.u64 %rd3, %rd1, %rd3;\n" \
	AROUND("1") AROUND("67") AROUND("200") " mul.wide.u32 %rd5, %r3, 4; add.u64 %rd5, %rd3, %rd5; st.global.u32 [%rd5], %r20;\n"
#define AROUND(far) " add.u32 %r13, %r3, " far "; and.b32 %r13, %r13, 255; mul.wide.u32 %rd4, %r13, 4; add.u64 %rd4, %rd2, %rd4; ld.global.u32 %r14, [%rd4];\n"
#define ROUNDS(n, barrier) "ROUND: " STEP barrier " add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, " #n "; @%p3 bra ROUND;\n"

static void ran(const char *text, bool races, bool decided)
{
	for (uint32_t k = 0; k < nconfigs(); k++) {
		struct race_rig r = race_new(configs[k], text);
		struct ws_mem *m = rig_mem(&r.rig, BYTES);
		uint64_t params[] = { m->addr };

		rig_run(&r.rig, "k", GRID, BLOCK, params);
		if (races != !!race_found(&r.tables, 0))
			fail_msg("schedule %u: %s", k, races ? "the race is not told" : "there is no race");
		if (decided)
			assert_int_equal(r.tables.counts->undecided, 0);
		race_free(&r);
	}
}

static void rounds(void **state)
{
	ran(KERNEL(ROUNDS(6, BARRIER(1, "%rd1"))), false, true);
	ran(KERNEL(ROUNDS(6, ACQUIRES(1, "%rd1"))), false, true);
}

/* More barriers of the block than a segment has epochs. */
static void many_rounds(void **state)
{
	ran(KERNEL(ROUNDS(80, BARRIER(1, "%rd1"))), false, true);
}

/* Two barriers in a round of the program; and other barriers of the block between them. */
static void several_in_a_loop(void **state)
{
	ran(KERNEL(ROUNDS(6, BARRIER(1, "%rd1") " bar.sync 0;\n" BARRIER(2, "%rd1"))), false, true);
}

/* Words of which the counters change are not known by rounds alone: nothing is invented. */
static void other_barriers(void **state)
{
	ran(KERNEL(ROUNDS(5, BARRIER(1, "%rd1") " sub.u32 %r21, %r21, " GRID_TEXT ";\n" BARRIER(2, "%rd1+256"))), false, false);
	/* a block that has passed one barrier of its own more */
	ran(KERNEL(" setp.ne.u32 %p4, %r1, 2; @%p4 bra START;\n bar.sync 0;\nSTART:\n" ROUNDS(5, BARRIER(1, "%rd1"))), false, false);
	/* one of which another thread arrives, now and then */
	ran(KERNEL(ROUNDS(5, BARRIER(1, "%rd1") " xor.b32 %r0, %r0, 1;\n")), false, false);
}

/* One barrier fewer: who reads may read before others write. (Behind fence.sc, of which two may order anything, that is "order not known"; and in many
 * rounds, where it takes too long to find out that nothing else orders them.) */
static void without_one(void **state)
{
	ran(KERNEL(ROUNDS(2, " setp.eq.u32 %p5, %r20, 0; @%p5 bra NONE;\n" ACQUIRES(1, "%rd1") "NONE:\n")), true, false);
	/* all arrive, and nobody waits */
	ran(KERNEL(ROUNDS(2, " bar.sync 0;\n setp.ne.u32 %p1, %r0, 0; @%p1 bra BEHIND;\n atom.add.release.gpu.global.u32 %r10, [%rd1], 1; ld.acquire.gpu.global.u32 %r10, [%rd1];\nBEHIND: bar.sync 0;\n")), true, false);
	/* a thread writes behind its block's arrival */
	ran(KERNEL(ROUNDS(2, ACQUIRES_AND(1, "%rd1", " setp.eq.u32 %p5, %r0, 40; @%p5 st.global.u32 [%rd5], %r21;\n"))), true, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds), cmocka_unit_test(many_rounds), cmocka_unit_test(several_in_a_loop), cmocka_unit_test(other_barriers), cmocka_unit_test(without_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
