/* test_gpu_seed.c - one seed gives one execution on one host thread, watched or not; seeds differ. */
#include "tests/unit/gpu_test.h"

enum { BLOCKS = 6, THREADS = 96, ENTRIES = BLOCKS * THREADS / 32 * 4 };

/* The first lane of each warp writes its number to a log four times: the log tells the order of the warps. In between
 * every thread changes a word without any protection. */
static const char text[] = PTX_HEAD
	".visible .entry k(.param .u64 log, .param .u64 next, .param .u64 sum)\n{\n"
	"	.reg .pred %p<4>;\n	.reg .b32 %r<20>;\n	.reg .b64 %d<8>;\n"
	"	ld.param.u64 %d1, [log];\n	ld.param.u64 %d2, [next];\n	ld.param.u64 %d3, [sum];\n"
	"	mov.u32 %r1, %tid.x;\n	mov.u32 %r2, %ctaid.x;\n	mad.lo.u32 %r3, %r2, 96, %r1;\n"
	"	mov.u32 %r4, %laneid;\n	setp.ne.u32 %p1, %r4, 0;\n	mov.u32 %r5, 0;\n"
	"loop:\n	ld.global.u32 %r7, [%d3];\n	add.u32 %r7, %r7, %r3;\n	@%p1 bra skip;\n"
	"	atom.global.add.u32 %r6, [%d2], 1;\n	mul.wide.u32 %d4, %r6, 4;\n	add.s64 %d4, %d1, %d4;\n"
	"	st.global.u32 [%d4], %r3;\n"
	"skip:\n	st.global.u32 [%d3], %r7;\n	add.u32 %r5, %r5, 1;\n	setp.lt.u32 %p2, %r5, 4;\n	@%p2 bra loop;\n	ret;\n}\n";

struct result { uint32_t log[ENTRIES], sum; };

static void no_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	(void)self;
	(void)w;
	(void)a;
}

static const struct ws_observer_ops watcher = {
	.abi = WS_OBSERVER_ABI, .name = "watcher", .help = "looks on",
	.needs = WS_NEED_GLOBAL | WS_NEED_SHARED | WS_NEED_SYNC | WS_NEED_VALUES, .access = no_access};

static struct result run(enum ws_divergence model, enum ws_schedule schedule, uint64_t seed, bool watched)
{
	struct rig r = rig_new((struct ws_gpu_config){.divergence = model, .schedule = schedule, .seed = seed,
	                                              .host_threads = 1, .observer = watched ? &watcher : NULL}, text);
	struct ws_mem *log = ws_gpu_mem_new(r.g, 4 * ENTRIES, 0, WS_MEM_DEVICE, NULL);
	struct ws_mem *next = ws_gpu_mem_new(r.g, 4, 0, WS_MEM_DEVICE, NULL), *sum = ws_gpu_mem_new(r.g, 4, 0, WS_MEM_DEVICE, NULL);
	uint64_t params[] = {log->addr, next->addr, sum->addr};
	struct result res;
	if (!rig_launch(&r, "k", BLOCKS, THREADS, params))
		fail_msg("%s", r.err.text.data);
	memcpy(res.log, log->host, sizeof res.log);
	memcpy(&res.sum, sum->host, sizeof res.sum);
	rig_free(&r);
	return res;
}

static bool same(const struct result *a, const struct result *b)
{
	return !memcmp(a, b, sizeof *a);
}

static void one_seed_one_execution(enum ws_schedule schedule)
{
	static const enum ws_divergence models[] = {WS_DIV_STACK, WS_DIV_ITS};
	for (size_t m = 0; m < WS_COUNT(models); m++) {
		struct result first = run(models[m], schedule, 1, false);
		unsigned different = 0;
		for (uint64_t seed = 1; seed <= 12; seed++) {
			struct result a = run(models[m], schedule, seed, false);
			struct result b = run(models[m], schedule, seed, false);
			struct result c = run(models[m], schedule, seed, true);
			assert_true(same(&a, &b));
			assert_true(same(&a, &c));
			different += !same(&a, &first);
		}
		assert_true(different >= 8);
	}
}

static void test_one_seed_one_execution(void **state)
{
	(void)state;
	one_seed_one_execution(WS_SCHED_RANDOM);
	one_seed_one_execution(WS_SCHED_PRIORITY);
}

static void test_round_robin_needs_no_seed(void **state)
{
	(void)state;
	struct result a = run(WS_DIV_ITS, WS_SCHED_RR, 1, false), b = run(WS_DIV_ITS, WS_SCHED_RR, 2, false);
	struct result c = run(WS_DIV_ITS, WS_SCHED_RR, 3, true);
	assert_true(same(&a, &b));
	assert_true(same(&a, &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_seed_one_execution),
	                                   cmocka_unit_test(test_round_robin_needs_no_seed)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
