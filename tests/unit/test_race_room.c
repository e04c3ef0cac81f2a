/* test_race_room.c - blocks of kernels with locks go on a few at a time (src/device/race_room.cuh), on the simulated GPU. */
#include "race_rig.h"

enum { BLOCKS = 24, THREADS = 64, PROCESSORS = 2 };
enum { COUNTED = 16, INSIDE = 64, PEAK = 128 };                      /* words of the buffer; the lock is the first */
#define LONG 1000000000u

/* The first thread of each block notes how many are between its beginning and its end; take, give: what it does meanwhile. */
#define KERNEL(take, give) PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n" \
	" .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra END;\n" \
	" atom.global.add.u32 %r2, [%rd1+256], 1; add.u32 %r2, %r2, 1; red.global.max.u32 [%rd1+512], %r2;\n" \
	take " ld.global.u32 %r3, [%rd1+64]; add.u32 %r3, %r3, 1; st.global.u32 [%rd1+64], %r3;\n" give \
	" red.global.add.u32 [%rd1+256], -1;\nEND: ret;\n}\n"
static const char locks[] = KERNEL("AGAIN: atom.global.cas.b32 %r4, [%rd1], 0, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra AGAIN; membar.gl;\n",
                                   " membar.gl; atom.global.exch.b32 %r4, [%rd1], 0;\n");
static const char acquires[] = KERNEL("AGAIN: atom.acquire.gpu.global.cas.b32 %r4, [%rd1], 0, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra AGAIN;\n",
                                      " atom.release.gpu.global.exch.b32 %r4, [%rd1], 0;\n");
static const char turns[] = KERNEL(" mov.u32 %r5, %ctaid.x;\nAGAIN: ld.volatile.global.u32 %r4, [%rd1]; setp.ne.u32 %p2, %r4, %r5; @%p2 bra AGAIN;"
                                   " membar.gl;\n", " membar.gl; add.u32 %r5, %r5, 1; st.volatile.global.u32 [%rd1], %r5;\n");

struct seen { uint32_t peak; uint64_t waited; };

static void all_have_left(const struct race_tables *t, const uint32_t *words)
{
	assert_int_equal(words[COUNTED], BLOCKS);
	assert_int_equal(words[INSIDE], 0);
	for (unsigned n = 0; n < WS_RACE_ROOMS; n++)
		assert_int_equal((uint32_t)t->counts->rooms[n], 0);
}

static struct seen run(struct ws_gpu_config c, const char *text, uint32_t resident, uint32_t patience)
{
	struct race_rig r = race_new((c.sms = PROCESSORS, c), text);
	struct ws_mem *m = rig_mem(&r.rig, 4096);
	const uint32_t *words = (const void *)m->host;
	uint64_t params[] = { m->addr };
	struct seen s;

	r.tables.device.resident = resident;
	r.tables.device.patience = patience;
	assert_true(race_set(r.rig.mod, &r.tables));
	rig_run(&r.rig, "k", BLOCKS, THREADS, params);
	assert_null(race_found(&r.tables, 0));
	all_have_left(&r.tables, words);
	s = (struct seen){ words[PEAK], r.tables.counts->waited };
	race_free(&r);
	return s;
}

/* Schedules by which several blocks are under way at a time. */
static const struct ws_gpu_config configs[] = {
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 1, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 3, .host_threads = 2 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_PRIORITY, .seed = 2, .host_threads = 1 },
};

static void a_few_at_a_time(void **state)
{
	static const char *const texts[] = { locks, acquires };

	for (size_t k = 0; k < WS_COUNT(texts) * WS_COUNT(configs); k++) {
		const struct ws_gpu_config *c = &configs[k / WS_COUNT(texts)];
		struct seen one = run(*c, texts[k % WS_COUNT(texts)], THREADS, LONG), two = run(*c, texts[k % WS_COUNT(texts)], 2 * THREADS + 1, LONG);

		assert_in_range(one.peak, 1, PROCESSORS);
		assert_in_range(two.peak, 1, 2 * PROCESSORS);
		assert_true(one.waited > 0 && one.waited <= BLOCKS);
	}
}

/* A block that is larger than that goes on alone. */
static void a_large_block(void **state)
{
	assert_in_range(run(configs[0], locks, THREADS / 2, LONG).peak, 1, PROCESSORS);
}

/* Nobody waits. How many that lets go on at a time is up to the schedule, and that also to where memory lies: of several some have more than one a
 * multiprocessor. */
static void as_many_as_fit(void **state)
{
	static const uint32_t residents[] = { 0, BLOCKS * THREADS };
	struct ws_gpu_config c = configs[2];

	for (size_t k = 0; k < WS_COUNT(residents); k++) {
		unsigned more = 0;

		for (c.seed = 1; c.seed <= 6; c.seed++) {
			struct seen s = run(c, locks, residents[k], LONG);

			assert_false(s.waited);
			more += s.peak > PROCESSORS;
		}
		assert_true(more);
	}
}

/* Who has waited long enough goes on; whether others are under way by then is up to the schedule. */
static void patience_ends(void **state)
{
	unsigned more = 0;

	for (size_t k = 0; k < WS_COUNT(configs); k++) {
		struct seen s = run(configs[k], locks, THREADS, 0);

		assert_true(s.waited > 0);
		more += s.peak > PROCESSORS;
	}
	assert_true(more >= WS_COUNT(configs) - 1);
}

/* No atomic that may take a lock: nobody waits before he begins. Here each block waits for the one before. */
static void no_locks(void **state)
{
	assert_int_equal(run(configs[0], turns, THREADS, LONG).waited, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_at_a_time), cmocka_unit_test(a_large_block), cmocka_unit_test(as_many_as_fit),
		cmocka_unit_test(patience_ends), cmocka_unit_test(no_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
