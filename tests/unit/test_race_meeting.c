/* test_race_meeting.c - arrivals at mbarrier objects by threads that wait at once: which are such (src/rewrite/meeting.c), and that the block meets there
 * (src/device/race_meeting.cuh). */
#include "race_rig.h"
#include "rewrite/meeting.h"

/* ---- which are such ---- */
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 how)\n{\n .reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %rd<16>;\n" \
	" .shared .align 8 .b64 o; .shared .align 8 .b64 o2; .shared .align 16 .b32 s[64];\n" \
	" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, o; mov.u32 %r2, 1; mov.u32 %r3, o2;\n"
#define TAIL " st.shared.u32 [s], %r0;\n ret;\n}\n"
#define ARRIVE " mbarrier.arrive.shared.b64 %rd2, [%r1];\n"
#define LOOP "W: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2; @!%p1 bra W;\n"

static const struct { const char *name, *body; bool meets; } cases[] = {
	{ "a loop", ARRIVE LOOP, true },
	{ "as nvcc makes two of it", ARRIVE " mov.u64 %rd9, %globaltimer; mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2; selp.b32 %r5, 1, 0, %p1; setp.ne.s32 %p2, %r5, 0;\n"
	  " @%p2 bra E; mov.u32 %r6, 0;\nL: setp.lt.s32 %p3, %r6, 16; @%p3 bra M; nanosleep.u32 100;\nM: add.s32 %r6, %r6, 1;\n"
	  " mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2; selp.b32 %r5, 1, 0, %p1; setp.eq.s32 %p2, %r5, 0; @%p2 bra L;\nE:\n", true },
	{ "a count of 1", " mbarrier.arrive.shared.b64 %rd2, [%r1], %r2;\n" LOOP, true },
	{ "the token is copied", ARRIVE " mov.b64 %rd3, %rd2;\nW: mbarrier.test_wait.shared.b64 %p1, [%r1], %rd3; @!%p1 bra W;\n", true },
	{ "by not", ARRIVE "W: mbarrier.test_wait.shared.b64 %p1, [%r1], %rd2; not.pred %p2, %p1; @%p2 bra W;\n", true },
	{ "two arrivals, one wait", " setp.eq.u32 %p4, %r0, 0; @%p4 bra A;\n" ARRIVE " bra W;\nA: mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r1], 16;\n" LOOP, true },
	{ "twice", ARRIVE LOOP " st.shared.u32 [s+4], %r0; mbarrier.arrive.shared.b64 %rd3, [%r3];\nV: mbarrier.try_wait.shared.b64 %p1, [%r3], %rd3; @!%p1 bra V;\n", true },
	{ "copies arrive, too", " cp.async.ca.shared.global [s], [%rd1], 4; cp.async.mbarrier.arrive.shared.b64 [%r1];\n" ARRIVE LOOP, true },
	{ "an access before the wait", ARRIVE " st.shared.u32 [s], %r0;\n" LOOP, false },
	{ "an access in the loop", ARRIVE "W: ld.volatile.shared.u32 %r7, [s]; mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2; @!%p1 bra W;\n", false },
	{ "an access before the outcome is known", ARRIVE "W: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2; ld.shared.u32 %r7, [s]; @!%p1 bra W;\n", false },
	{ "two at once", " mbarrier.arrive.shared.b64 %rd2, [%r1], 2;\n" LOOP, false },
	{ "a count that is not known", " ld.param.u32 %r5, [how]; mbarrier.arrive.shared.b64 %rd2, [%r1], %r5;\n" LOOP, false },
	{ "by parity", ARRIVE "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra W;\n", false },
	{ "and by parity elsewhere", ARRIVE LOOP "V: mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0; @!%p1 bra V;\n", false },
	{ "for the one before", ARRIVE " mov.b64 %rd3, %rd2;\n" LOOP " mbarrier.arrive.shared.b64 %rd2, [%r1];\nV: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd3; @!%p1 bra V;\n", false },
	{ "some threads alone", " setp.eq.u32 %p4, %r0, 0; @%p4 mbarrier.arrive.shared.b64 %rd2, [%r1];\n" LOOP, false },
	{ "a way round the wait", " setp.eq.u32 %p4, %r0, 0;\n" ARRIVE " @%p4 bra E;\n" LOOP "E:\n", false },
	{ "one try", ARRIVE " mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2;\n", false },
	{ "one try, whatever comes", ARRIVE " mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2; @!%p1 bra E; add.u32 %r0, %r0, 1;\nE:\n", false },
	{ "no wait", " mbarrier.arrive.shared.b64 _, [%r1];\n", false },
	{ "a barrier before the wait", ARRIVE " bar.sync 0;\n" LOOP, false },
	{ "the token is lost", ARRIVE " mov.b64 %rd2, %rd1;\n" LOOP, false },
	{ "the outcome is lost", ARRIVE "W: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2; setp.eq.u32 %p1, %r0, 7; @!%p1 bra W;\n", false },
	{ "the other way round", ARRIVE "W: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2; @%p1 bra W;\n", false },
	{ "copies that arrive in its place", " cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];\n" ARRIVE LOOP, false },
	{ "one that gives up", ARRIVE LOOP " mbarrier.arrive_drop.shared.b64 %rd4, [%r1];\n", false },
	{ "relaxed", " mbarrier.arrive.relaxed.cta.shared.b64 %rd2, [%r1];\n" LOOP, false },
	{ "none", "", false },
};

static bool meets(const char *name, const char *text)
{
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", text, strlen(text), NULL, &sink);
	struct ws_meetings *found;
	struct ws_rw_access *list;
	uint32_t n;
	bool is;

	if (!m)
		fail_msg("%s: %s", name, said.data);
	list = ws_rw_accesses(m->funcs[0], &n);
	found = ws_meetings_find(m->funcs[0], list, n);
	is = found != NULL;
	ws_meetings_free(found);
	ws_ptx_free(m);
	return is;
}

static void which(void **state)
{
	(void)state;
	for (size_t k = 0; k < WS_COUNT(cases); k++) {
		struct ws_buf text = { 0 };

		ws_buf_printf(&text, "%s%s%s", HEAD, cases[k].body, TAIL);
		if (meets(cases[k].name, text.data) != cases[k].meets)
			fail_msg("%s: %s", cases[k].name, cases[k].meets ? "they meet" : "they do not");
		ws_buf_free(&text);
	}
}

/* ---- what that orders ---- */
enum { BLOCK = 64, SEEDS = 8 };

/* In each round all threads write a word, meet at `o`, and read that of a thread of the other warp; then warp 0 alone meets at `o2`, and all at `o` again. how: 1, without
 * `o2`; 2, without either; 3, without the last one of all. */
static const char around[] = HEAD
	" setp.ne.u32 %p1, %r0, 0; @%p1 bra BEGUN; mbarrier.init.shared.b64 [%r1], 64; mbarrier.init.shared.b64 [%r3], 32;\nBEGUN: bar.sync 0;\n"
	" ld.param.u32 %r10, [how]; shl.b32 %r11, %r0, 2; mov.u32 %r12, s; add.u32 %r11, %r12, %r11; xor.b32 %r13, %r0, 33; shl.b32 %r13, %r13, 2; add.u32 %r13, %r12, %r13;\n"
	" mov.u32 %r20, 0;\nROUND: st.shared.u32 [%r11], %r20;\n"
	" mbarrier.arrive.shared.b64 %rd2, [%r1];\nW: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2; @!%p1 bra W;\n"
	" ld.shared.u32 %r14, [%r13];\n setp.eq.u32 %p2, %r10, 2; @%p2 bra NEXT;\n"
	" setp.eq.u32 %p2, %r10, 1; setp.ge.or.u32 %p3, %r0, 32, %p2; @%p3 bra ALL;\n"
	" mbarrier.arrive.shared.b64 %rd3, [%r3];\nV: mbarrier.try_wait.shared.b64 %p1, [%r3], %rd3; @!%p1 bra V;\n"
	"ALL: setp.eq.u32 %p2, %r10, 3; @%p2 bra NEXT;\n"
	" mbarrier.arrive.shared.b64 %rd4, [%r1];\nU: mbarrier.try_wait.shared.b64 %p1, [%r1], %rd4; @!%p1 bra U;\n"
	"NEXT: add.u32 %r20, %r20, 1; setp.lt.u32 %p4, %r20, 5; @%p4 bra ROUND;\n" TAIL;

static struct race_rig run(uint32_t how, uint64_t seed)
{
	struct race_rig r = race_new((struct ws_gpu_config){ .divergence = WS_DIV_ITS, .schedule = seed ? WS_SCHED_RANDOM : WS_SCHED_RR, .seed = seed, .host_threads = 1 }, around);
	struct ws_mem *m = rig_mem(&r.rig, 64);
	uint64_t params[] = { m->addr, how };

	rig_run(&r.rig, "k", 1, BLOCK, params);
	return r;
}

/* The last store, of all threads, is one of different values: that race is told in any case. */
static bool others(struct race_rig *r)
{
	for (unsigned k = 0; race_found(&r->tables, k); k++)
		if (race_found(&r->tables, k)->pair != WS_RACE_WRITE_AFTER_WRITE)
			return true;
	return false;
}

static void orders(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < rig_ways(SEEDS, 2); seed++)
		for (uint32_t how = 0; how < 4; how++) {
			struct race_rig r = run(how, seed);

			if (others(&r) != (how >= 2))
				fail_msg("schedule %u, %u: %s", (unsigned)seed, how, how >= 2 ? "the race is not told" : "there is no race");
			if (how < 2 && r.tables.counts->undecided)
				fail_msg("schedule %u, %u: %u are not known", (unsigned)seed, how, (unsigned)r.tables.counts->undecided);
			if (how == 1)            /* all of it by epochs */
				assert_int_equal(r.tables.counts->records, 0);
			race_free(&r);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(which), cmocka_unit_test(orders) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
