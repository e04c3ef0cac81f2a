/* test_race_words.c - accesses of 8 and 16 bytes of global memory by some lanes of a warp, in lines that have cells (read_all_side_by_side and write_side_by_side
 * of src/device/race_global.cuh): each word has an entry of its own, and what is done to one is compared. */
#include "race_rig.h"

enum { BLOCK = 64, SEEDS = 6, AT = 1024, BYTES = 4096 };

/* One lane in eight has an element of 16 bytes (%rd2), all of a warp have one together (%rd3). Block 0 does ONE in each of three rounds, block 1 OTHER; nothing orders the two. */
#define KERNEL(ONE, OTHER) PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n" \
	" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; and.b32 %r2, %r0, 7; setp.ne.u32 %p1, %r2, 0; setp.ne.u32 %p2, %r1, 0;\n" \
	" mov.u64 %rd4, 5; mov.u64 %rd5, 6; cvt.u64.u32 %rd6, %r0; shr.u32 %r3, %r0, 3; mul.wide.u32 %rd2, %r3, 16; add.u64 %rd2, %rd1, %rd2; shr.u32 %r3, %r0, 5; mul.wide.u32 %rd3, %r3, 16;\n" \
	" add.u64 %rd3, %rd1, %rd3; mov.u32 %r20, 0;\n" \
	"ROUND: @%p2 bra SECOND;\n" ONE " bra NEXT;\nSECOND:\n" OTHER "NEXT: bar.sync 0;\n add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 3; @%p3 bra ROUND;\n ret;\n}\n"
#define PART " @%p1 bra NEXT;\n"

static const struct { const char *name, *text; int word; } cases[] = {       /* word: that races, of four; -1: none does */
	{ "own words", KERNEL(PART " st.global.u64 [%rd2+1024], %rd4; ld.global.u64 %rd7, [%rd2+1024];\n", PART " st.global.u64 [%rd2+1032], %rd4; ld.global.u64 %rd7, [%rd2+1032];\n"), -1 },
	{ "the second word is read", KERNEL(PART " st.global.u64 [%rd2+1024], %rd4;\n", PART " ld.global.u32 %r9, [%rd2+1028];\n"), 1 },
	{ "the second word is written", KERNEL(PART " ld.global.u64 %rd7, [%rd2+1024];\n", PART " st.global.u32 [%rd2+1028], %r0;\n"), 1 },
	{ "the first word is written", KERNEL(PART " ld.global.u64 %rd7, [%rd2+1024];\n", PART " st.global.u32 [%rd2+1024], %r0;\n"), 0 },
	{ "the last of four is written", KERNEL(PART " ld.global.v2.u64 {%rd7, %rd8}, [%rd2+1024];\n", PART " st.global.u32 [%rd2+1036], %r0;\n"), 3 },
	{ "the last of four is read", KERNEL(PART " st.global.v2.u64 [%rd2+1024], {%rd4, %rd5};\n", PART " ld.global.u32 %r9, [%rd2+1036];\n"), 3 },
	{ "a warp reads one element", KERNEL(" ld.global.u64 %rd7, [%rd3+1024];\n", " ld.global.u64 %rd7, [%rd3+1024];\n"), -1 },
	{ "a warp reads what is written", KERNEL(" ld.global.u64 %rd7, [%rd3+1024];\n", " setp.ne.u32 %p4, %r0, 0; @%p4 bra NEXT; st.global.u32 [%rd3+1028], %r0;\n"), 1 },
	{ "atomics", KERNEL(PART " atom.global.add.u64 %rd7, [%rd2+1024], %rd4;\n", PART " atom.global.add.u64 %rd7, [%rd2+1024], %rd4;\n"), -1 },
	{ "an atomic's second word is read", KERNEL(PART " atom.global.add.u64 %rd7, [%rd2+1024], %rd4;\n", PART " ld.global.u32 %r9, [%rd2+1028];\n"), 1 },
};

static void run(unsigned k, uint64_t seed)
{
	struct race_rig r = race_new_by("race-all", (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .schedule = seed ? WS_SCHED_RANDOM : WS_SCHED_RR, .seed = seed, .host_threads = 1 },
	                                cases[k].text);
	struct ws_mem *m = rig_mem(&r.rig, BYTES);
	uint64_t params[] = { m->addr };
	const struct ws_race_found *f;

	rig_run(&r.rig, "k", 2, BLOCK, params);
	f = race_found(&r.tables, 0);
	if (!f != (cases[k].word < 0))
		fail_msg("%s, schedule %u: %s", cases[k].name, (unsigned)seed, f ? "there is no race" : "the race is not told");
	for (unsigned n = 0; (f = race_found(&r.tables, n)) != NULL; n++)
		assert_int_equal((f->address - m->addr - AT) % 16 / 4, cases[k].word);
	assert_int_equal(r.tables.counts->undecided, 0);
	race_free(&r);
}

static void each_word(void **state)
{
	(void)state;
	for (unsigned k = 0; k < WS_COUNT(cases); k++)
		for (uint64_t seed = 0; seed < rig_ways(SEEDS, 2); seed++)
			run(k, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_word) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
