/* test_race_bits.c - the pass race-bits (src/device/race_taken.cuh): first writes of words by a bit and a store. On the simulated GPU; what
 * the pass race finds is to be the same. */
#include "race_rig.h"

static const struct ws_gpu_config configs[] = {
	{ .divergence = WS_DIV_ITS, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 1, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 2, .host_threads = 2 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 3, .host_threads = 2 },
};

/* Each thread writes word (thread * m1 + a1 ^ x) % 256, and behind `order` word (thread * m2 + a2 ^ x) % 256; no word where m is NOTHING.
 * (The x is there so that no proof finds threads apart.) */
enum { WORDS = 256, BLOCKS = 3, THREADS = 80, ALL = BLOCKS * THREADS, NOTHING = 77 };
enum order { NO_ORDER, BARRIER, SYNC, ORDERS };
#define WRITE(m, a, r, label) " setp.eq.u32 %p" r "1, " m ", 77; @%p" r "1 bra " label ";\n mul.lo.u32 %r" r "1, %r9, " m ";" \
	" add.u32 %r" r "2, %r" r "1, " a "; xor.b32 %r" r "3, %r" r "2, %r8; and.b32 %r" r "4, %r" r "3, 255; mul.wide.u32 %rd" r "1, %r" r "4, 4;" \
	" add.s64 %rd" r "2, %rd1, %rd" r "1; st.global.u32 [%rd" r "2], %r9;\n" label ":\n"
static const char text[] = PTX_HEAD
	".visible .entry k(.param .u64 out, .param .u32 m1, .param .u32 a1, .param .u32 m2, .param .u32 a2, .param .u32 order, .param .u32 x)\n{\n"
	" .reg .pred %p<30>; .reg .b32 %r<30>; .reg .b64 %rd<30>;\n"
	" ld.param.u64 %rd1, [out]; ld.param.u32 %r3, [m1]; ld.param.u32 %r4, [a1]; ld.param.u32 %r5, [m2]; ld.param.u32 %r6, [a2];\n"
	" ld.param.u32 %r7, [order]; ld.param.u32 %r8, [x]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n"
	" mad.lo.u32 %r9, %r1, %r2, %r0;\n" WRITE("%r3", "%r4", "1", "A")
	" setp.ne.u32 %p2, %r7, 1; @%p2 bra B; bar.sync 0;\nB: setp.ne.u32 %p3, %r7, 2; @%p3 bra C; bar.warp.sync -1;\nC:\n"
	WRITE("%r5", "%r6", "2", "D") " ret;\n}\n"
	/* The same words, read: of one thread each. */
	".visible .entry reads(.param .u64 out, .param .u64 to)\n{\n .reg .b32 %r<4>; .reg .b64 %rd<6>;\n"
	" ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [to]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd3, %r0, 4; add.u64 %rd4, %rd1, %rd3;\n"
	" add.u64 %rd5, %rd2, %rd3; ld.global.u32 %r1, [%rd4]; st.global.u32 [%rd5], %r1; ret;\n}\n";

struct writes { uint32_t m[2], a[2], order, x; };
struct params { uint64_t out; struct { uint32_t m1, a1, m2, a2, order, x; } writes; };

static bool several;             /* threads of the host */
static struct race_rig begin(size_t config)
{
	several = configs[config].host_threads > 1;
	return race_new_by("race-bits", configs[config], text);
}

static uint64_t random_state;
static uint32_t below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static uint32_t word_of(const struct writes *w, uint32_t thread, uint32_t nth) { return (uint32_t)((thread * w->m[nth] + w->a[nth]) ^ w->x) % WORDS; }

static bool ordered(const struct writes *w, uint32_t t, uint32_t u, uint32_t nth_t, uint32_t nth_u)
{
	bool block = t / THREADS == u / THREADS, warp = block && t % THREADS / 32 == u % THREADS / 32;

	return t == u || (nth_t != nth_u && ((w->order == BARRIER && block) || (w->order == SYNC && warp)));
}

/* At a word; WORDS: at any. */
static bool races_at(const struct writes *w, uint32_t word)
{
	for (uint32_t i = 0; i < 2 * ALL; i++)
		for (uint32_t j = 0; j < i; j++) {
			uint32_t at = word_of(w, i / 2, i % 2);

			if (w->m[i % 2] == NOTHING || w->m[j % 2] == NOTHING || (word != WORDS && at != word))
				continue;
			if (at == word_of(w, j / 2, j % 2) && !ordered(w, i / 2, j / 2, i % 2, j % 2))
				return true;
		}
	return false;
}

/* Where blocks run in several threads of the host, one may have no processor for as long as others wait for its stores. */
static bool gave_up(const struct race_rig *r)
{
	struct ws_race_counts *c = (struct ws_race_counts *)ws_gpu_mem_find(r->rig.g, r->tables.device.counts)->host;
	bool late = several && c->undecided;

	if (late)
		c->undecided = 0;
	return late;
}

static void run(struct race_rig *r, const struct ws_mem *m, const struct writes *w)
{
	struct params params = { m->addr, { w->m[0], w->a[0], w->m[1], w->a[1], w->order, w->x } };

	memset(r->tables.found, 0, r->tables.nfound * sizeof *r->tables.found);
	memset(r->tables.seen, 0, r->tables.nfound * sizeof *r->tables.seen);
	rig_run(&r->rig, "k", BLOCKS, THREADS, &params);
}

static void compare(struct race_rig *r, const struct ws_mem *m, const struct writes *w, bool all)
{
	bool races = races_at(w, WORDS);
	const struct ws_race_found *f;

	run(r, m, w);
	if (gave_up(r))
		return;
	if (races != !!race_found(&r->tables, 0) || r->tables.counts->undecided)
		fail_msg("m %u %u a %u %u order %d: %s, %llu undecided", (unsigned)w->m[0], (unsigned)w->m[1], (unsigned)w->a[0],
		         (unsigned)w->a[1], (int)w->order, races ? "not told" : "no race", r->tables.counts->undecided);
	for (uint32_t k = 0; all && (f = race_found(&r->tables, k)); k++)
		assert_true(races_at(w, (uint32_t)(f->address - m->addr) / 4));
}

/* Strides with which threads are apart, or not, words of lines that a warp covers, and parts of lines. */
static struct writes some_writes(void)
{
	static const uint32_t strides[] = { 1, 1, 1, 2, 3, 5, 0, 32, NOTHING };
	struct writes w = { .order = below(ORDERS), .x = below(2) * 21 };

	for (int k = 0; k < 2; k++) {
		w.m[k] = strides[below(WS_COUNT(strides))];
		w.a[k] = below(2) ? 32 * below(8) : below(WORDS);
	}
	return w;
}

/* Launch after launch on the same words: what older ones have entered is of no matter. */
static void finds_what_races(void **state)
{
	uint32_t rounds = rig_rounds(150), racy = 0;

	for (size_t k = 0; k < WS_COUNT(configs); k++) {
		struct race_rig r = begin(k);
		struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS);

		random_state = 1 + k;
		assert_true(strstr(strstr(r.text.data, ".entry k"), "atom.global.or.b64") < strstr(r.text.data, ".entry reads"));
		for (uint32_t n = 0; n < rounds; n++) {
			struct writes w = some_writes();

			compare(&r, m, &w, true);
			racy += races_at(&w, WORDS);
		}
		race_free(&r);
	}
	assert_true(racy > rounds / 2 && racy < WS_COUNT(configs) * rounds - rounds / 2);
}

/* Every thread its own word, and one thread one word more: of another warp, of another block, of its own warp, of its own. */
static void one_word_more(void **state)
{
	static const struct writes writes[] = {
		{ { 1, NOTHING }, { 0, 0 }, NO_ORDER, 0 },
		{ { 1, 1 }, { 0, 0 }, NO_ORDER, 0 },            /* each its own once more */
		{ { 1, 1 }, { 0, 1 }, NO_ORDER, 0 },            /* that of its neighbour */
		{ { 1, 1 }, { 0, 1 }, SYNC, 0 },                /* ... but for warps' last threads */
		{ { 1, 1 }, { 0, 1 }, BARRIER, 0 },             /* ... but for blocks' last ones */
		{ { 1, 1 }, { 5, 37 }, BARRIER, 0 },
		{ { 2, 2 }, { 0, 1 }, NO_ORDER, 0 },            /* even words, then odd ones: 480 of 256 */
		{ { 0, NOTHING }, { 7, 0 }, NO_ORDER, 0 },      /* all write one word */
		{ { NOTHING, NOTHING }, { 0, 0 }, NO_ORDER, 0 },
	};

	for (size_t k = 0; k < WS_COUNT(configs); k++) {
		struct race_rig r = begin(k);
		struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS);

		for (size_t n = 0; n < 2 * WS_COUNT(writes); n++)
			compare(&r, m, &writes[n % WS_COUNT(writes)], true);
		race_free(&r);
	}
}

/* A line's number in the table. */
static uint64_t *taken_at(struct race_rig *r, uint64_t address)
{
	const struct ws_race_device *d = &r->tables.device;
	const uint64_t *pages = (const uint64_t *)ws_gpu_mem_find(r->rig.g, d->pages)->host;
	uint64_t *taken = (uint64_t *)ws_gpu_mem_find(r->rig.g, d->taken)->host;

	for (uint32_t row = 0; row < 1u << d->pages_log2; row++)
		if (pages[row] == (address >> 21 << 21 | 1))
			return taken + (size_t)row * (WS_RACE_TAKEN_BYTES / sizeof *taken) + (address >> 7 & 0x3fff);
	return NULL;
}

/* All even words, so that lines have cells. */
static const struct writes even = { { 2, NOTHING }, { 0, 0 }, NO_ORDER, 0 };
static const struct writes half = { { NOTHING, 2 }, { 0, 0 }, NO_ORDER, 0 };

/* Somebody has a word's bit, and enters nothing: who waits for that says in the end that he does not know. */
static void who_waits_in_vain_says_so(void **state)
{
	struct race_rig r = begin(0);
	struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS);
	struct params params = { m->addr, { 2, 0, NOTHING, 0, NO_ORDER, 0 } };
	uint64_t *taken;

	rig_run(&r.rig, "k", 1, 64, &params);
	taken = taken_at(&r, m->addr);
	assert_non_null(taken);
	assert_int_equal((uint32_t)*taken, 0x55555555);
	*taken = ((*taken >> 32) + 1) << 32 | 1 << 4;
	rig_run(&r.rig, "k", 1, 64, &params);
	assert_int_equal(r.tables.counts->undecided, 1);
	assert_int_equal((uint32_t)*taken, 0x55555555);
	assert_null(race_found(&r.tables, 0));
	race_free(&r);
}

/* The number of a later launch, as those of graphs are: all words count as written, and nobody waits. */
static void a_number_above_its_own(void **state)
{
	for (size_t k = 0; k < WS_COUNT(configs); k++) {
		struct race_rig r = begin(k);
		struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS);

		random_state = 7 + k;
		run(&r, m, &even);
		for (uint32_t line = 0; line < WORDS / 32; line++)
			*taken_at(&r, m->addr + 128 * line) = ~0ull << 32;
		for (uint32_t n = 0; n < 20; n++) {
			struct writes w = some_writes();

			compare(&r, m, &w, true);
		}
		race_free(&r);
	}
}

/* What one launch writes and the next one reads, and writes again. */
static void launches_that_read(void **state)
{
	static const struct writes own = { { 1, NOTHING }, { 0, 0 }, NO_ORDER, 0 }, racy = { { 1, 1 }, { 0, 1 }, NO_ORDER, 0 };
	struct race_rig r = begin(0);
	struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS), *to = rig_mem(&r.rig, 4 * WORDS);
	uint64_t params[] = { m->addr, to->addr };

	for (uint32_t n = 0; n < 3; n++) {
		compare(&r, m, &own, true);
		rig_run(&r.rig, "reads", 1, 128, params);
		assert_null(race_found(&r.tables, 0));
		compare(&r, m, &racy, true);
	}
	race_free(&r);
}

/* Two blocks at once, and each word is one's and the other's: told of each word, whoever's store comes late. */
static void each_word_is_told(void **state)
{
	enum { EACH = 128, ROUNDS = 200 };

	for (size_t k = 0; k < WS_COUNT(configs); k++) {
		struct race_rig r = begin(k);
		struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS);
		struct params params = { m->addr, { 2, 0, NOTHING, 0, NO_ORDER, 0 } };

		run(&r, m, &even);
		for (uint32_t n = 0; n < rig_rounds(ROUNDS); n++) {
			uint64_t told = 0;

			memset(r.tables.seen, 0, r.tables.nfound * sizeof *r.tables.seen);
			rig_run(&r.rig, "k", 2, EACH, &params);
			for (uint32_t row = 0; row < r.tables.nfound; row++)
				told += r.tables.seen[row].count;
			assert_true(gave_up(&r) || told >= EACH);
			assert_int_equal(r.tables.counts->undecided, 0);
		}
		race_free(&r);
	}
}

static void run_in_stream(struct race_rig *r, const struct ws_mem *m, const struct writes *w, uint32_t lane)
{
	struct { struct params params; struct ws_race_launch launch; } given = {
		{ m->addr, { w->m[0], w->a[0], w->m[1], w->a[1], w->order, w->x } },
		{ .mark = WS_RACE_COMPARED, .lane = lane, .index = 1, .lanes = 2, .stream = lane },
	};
	struct ws_gpu_launch l = { .grid = { BLOCKS, 1, 1 }, .block = { THREADS, 1, 1 }, .params = &given };
	struct ws_kernel_info info;

	ws_gpu_kernel_info(ws_gpu_module_kernel(r->rig.mod, "k"), &info);
	assert_int_equal(info.param_bytes, sizeof given);
	if (!ws_gpu_launch(r->rig.g, ws_gpu_module_kernel(r->rig.mod, "k"), &l, &r->rig.stats, &r->rig.err))
		fail_msg("%s", r->rig.err.text.data);
}

/* Launches that are compared with others look at what they find: no bits. */
static void launches_in_streams(void **state)
{
	static const struct writes own = { { 1, NOTHING }, { 0, 0 }, NO_ORDER, 21 };
	struct race_rig r = begin(0);
	struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS);
	uint64_t was;

	run(&r, m, &own);
	was = *taken_at(&r, m->addr);
	assert_true(was);
	run_in_stream(&r, m, &own, 0);
	assert_null(race_found(&r.tables, 0));
	run_in_stream(&r, m, &own, 1);
	assert_non_null(race_found(&r.tables, 0));
	assert_true(race_found(&r.tables, 0)->flags & WS_RACE_OTHER_LAUNCH);
	assert_int_equal(*taken_at(&r, m->addr), was);
	race_free(&r);
}

/* A word with so many races that it is passed over. */
static void a_word_that_races_often(void **state)
{
	for (size_t k = 0; k < 2; k++) {
		struct race_rig r = begin(k);
		struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS);
		struct params params = { m->addr, { 0, 7, 0, 7, NO_ORDER, 0 } };

		run(&r, m, &even);
		rig_run(&r.rig, "k", 24, 256, &params);
		assert_non_null(race_found(&r.tables, 0));
		assert_true(r.tables.counts->sampled);
		assert_int_equal(r.tables.counts->undecided, 0);
		compare(&r, m, &half, false);
		race_free(&r);
	}
}

/* Without a table all is as by the pass race. */
static void without_a_table(void **state)
{
	struct race_rig r = begin(0);
	struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS);

	r.tables.device.taken = 0;
	race_set(r.rig.mod, &r.tables);
	random_state = 3;
	for (uint32_t n = 0; n < 20; n++) {
		struct writes w = some_writes();

		compare(&r, m, &w, true);
	}
	race_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_races), cmocka_unit_test(one_word_more), cmocka_unit_test(each_word_is_told), cmocka_unit_test(who_waits_in_vain_says_so),
		cmocka_unit_test(a_number_above_its_own), cmocka_unit_test(launches_that_read), cmocka_unit_test(launches_in_streams),
		cmocka_unit_test(a_word_that_races_often), cmocka_unit_test(without_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
