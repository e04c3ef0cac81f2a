/* test_detect_limits.c - nothing in the detector "shadow" wraps or grows with the square: many barriers, fences, blocks;
 * and the detector of docs/DETECTORS.md works. */
#include "tests/unit/detect_ref.h"
#include "examples/detectors/count.c"

#include <time.h>

static bool raced(struct sim *m, bool global, uint32_t at)
{
	return m->raced[global ? 0 : 1][at] & 1u << SHADOW;
}

/* One lane of a warp accesses 4 bytes, told to the detector only: the reference would keep everything. */
static void touch(struct sim *m, uint32_t block, uint32_t warp, uint32_t lane, enum ws_access_kind kind, bool global,
                  uint32_t at)
{
	uint64_t addr[WS_WARP] = {0};
	uint8_t value[WS_WARP * 4];
	struct ws_access a = {.site = &m->site[kind], .mask = 1u << lane, .wrote = 1u << lane, .kind = kind,
	                      .space = global ? WS_SPACE_GLOBAL : WS_SPACE_SHARED, .sem = WS_SEM_WEAK, .bytes = 4,
	                      .linear = true, .addr = addr, .mem = global ? &m->mem : NULL, .value = value};

	memset(value, 0x55, sizeof value);
	m->site[kind].id = kind;
	addr[lane] = (global ? m->mem.addr : 0) + at;
	a.base = addr[lane] - 4 * lane;
	if (kind == WS_ATOMIC) {
		a.sem = WS_SEM_RELAXED;
		a.scope = WS_SCOPE_GPU;
		a.atom = WS_ATOM_INC;
	}
	m->d->ops->access(m->self, &m->warp[block][warp], &a);
}

static void full_barrier(struct sim *m, uint32_t block)
{
	uint32_t masks[MAX_WARPS] = {~0u, ~0u, ~0u};
	struct ws_barrier bar = {.full = true, .arrived = masks, .waited = masks};

	m->d->ops->barrier(m->self, &m->block[block], &bar);
}

/* The barrier's number must not come back as the one of the write. */
static void many_barriers(void **state)
{
	static const uint32_t counts[] = {1, 255, 256, 65535, 65536, 65537, 200000};

	for (size_t i = 0; i < WS_COUNT(counts); i++) {
		struct sim *m = sim_new(true, 1, 2, 32, true, 1);

		m->self->time_limit = i % 2 ? WHO_TIME : 1000;
		touch(m, 0, 0, 3, WS_WRITE, true, 16);
		touch(m, 0, 0, 3, WS_WRITE, false, 16);
		for (uint32_t n = 0; n < counts[i]; n++)
			full_barrier(m, 0);
		touch(m, 0, 1, 5, WS_READ, true, 16);
		touch(m, 0, 1, 5, WS_READ, false, 16);
		assert_false(raced(m, true, 16) || raced(m, false, 16));
		touch(m, 0, 0, 5, WS_WRITE, true, 16);
		touch(m, 0, 0, 5, WS_WRITE, false, 16);
		assert_true(raced(m, true, 16) && raced(m, false, 16));
		sim_free(m);
	}
}

static void fence(struct sim *m, uint32_t block, uint32_t warp)
{
	struct ws_fence f = {.sem = WS_SEM_ACQ_REL, .scope = WS_SCOPE_GPU};

	m->d->ops->fence(m->self, &m->warp[block][warp], 1, &f);
}

static void many_fences(void **state)
{
	struct sim *m = sim_new(true, 2, 1, 32, false, 1);

	touch(m, 0, 0, 0, WS_WRITE, true, 16);
	for (int n = 0; n < 65536; n++)
		fence(m, 0, 0);
	touch(m, 0, 0, 0, WS_WRITE, true, 20);       /* after the last one */
	touch(m, 0, 0, 0, WS_ATOMIC, true, 64);
	touch(m, 1, 0, 0, WS_ATOMIC, true, 64);
	fence(m, 1, 0);
	touch(m, 1, 0, 0, WS_READ, true, 16);
	assert_false(raced(m, true, 16));
	touch(m, 1, 0, 0, WS_READ, true, 20);
	assert_true(raced(m, true, 20));
	sim_free(m);
}

/* Each of many blocks leaves a result, fences and counts itself; the last one reads all results. */
static void many_blocks(void **state)
{
	enum { N = 70000 };
	struct sim *m = sim_new(false, 1, 1, 32, false, 1);
	uint8_t *results = ws_alloc(N * 4 + 4);
	clock_t start = clock();

	m->mem.size = N * 4 + 4;
	m->mem.host = results;
	m->stop = true;                      /* too many blocks for the slow one */
	m->self->launch.narrow = false;      /* as in a kernel whose code has no scope below .gpu */
	for (uint32_t b = 0; b < N; b++) {
		m->d->ops->warp_end(m->self, &m->warp[0][0]);
		m->d->ops->block_end(m->self, &m->block[0]);
		m->block[0].linear = b;
		m->d->ops->block_begin(m->self, &m->block[0]);
		m->d->ops->warp_begin(m->self, &m->warp[0][0]);
		touch(m, 0, 0, 0, WS_WRITE, true, 4 + 4 * b);
		if (b != 1000)
			fence(m, 0, 0);
		touch(m, 0, 0, 0, WS_ATOMIC, true, 0);
	}
	fence(m, 0, 0);
	for (uint32_t b = 0; b < N; b++) {
		size_t before = ws_report_count(m->side[SHADOW].report, WS_ERROR);

		touch(m, 0, 0, 0, WS_READ, true, 4 + 4 * b);
		assert_int_equal(ws_report_count(m->side[SHADOW].report, WS_ERROR) - before, b == 1000);
	}
	assert_true((clock() - start) / CLOCKS_PER_SEC < 20);
	sim_free(m);
	free(results);
}

static bool report_says(struct sim *m, const char *text)
{
	struct ws_buf json = {0};
	bool found;

	ws_report_write_json(m->side[SHADOW].report, &json);
	found = strstr(json.data, text);
	ws_buf_free(&json);
	return found;
}

static void another_launch(struct sim *m)
{
	for (uint32_t b = 0; b < m->blocks; b++) {
		m->d->ops->warp_end(m->self, &m->warp[b][0]);
		m->d->ops->block_end(m->self, &m->block[b]);
	}
	m->d->ops->launch_end(m->self, &m->launch, true);
	m->d->ops->launch_begin(m->self, &m->launch);
	for (uint32_t b = 0; b < m->blocks; b++) {
		m->d->ops->block_begin(m->self, &m->block[b]);
		m->d->ops->warp_begin(m->self, &m->warp[b][0]);
	}
}

enum { LIMIT_PAGES = 200, LIMIT_PAGE = 4 << 10, LIMIT = 200 << 10 };

/* Block 0 writes a word in each of 8 lines of each page, so that rows of cells are needed. */
static void fill_pages(struct sim *m)
{
	for (uint32_t p = 0; p < LIMIT_PAGES; p++)
		for (uint32_t i = 0; i < 16; i++)
			touch(m, 0, 0, i, WS_WRITE, true, p * LIMIT_PAGE + 512 * (i / 2) + 4 * (7 * i & 31));
}

static struct sim *limited(uint8_t **host, uint64_t seed)
{
	struct sim *m = sim_new(false, 2, 1, 32, false, 1);

	*host = ws_alloc(LIMIT_PAGES * LIMIT_PAGE);
	m->mem.size = LIMIT_PAGES * LIMIT_PAGE;
	m->mem.host = *host;
	m->stop = true;
	m->self->config.shadow_limit = LIMIT + ws_know_bytes();
	m->self->config.seed = seed;
	return m;
}

/* Beyond --shadow-limit a part of the pages is checked, each of them in full or not at all, and which ones is up to the seed
 * and not to what came first. Words that synchronize are kept always, so nothing false is told; the report says how much
 * was left out. A next launch begins anew. */
static void shadow_limit(void **state)
{
	uint8_t *host;
	struct sim *m = limited(&host, 0);
	size_t races;

	fill_pages(m);
	assert_true(m->self->used <= LIMIT);
	assert_true(m->self->skipped > 0 && m->self->thinned > 0);
	races = ws_report_count(m->side[SHADOW].report, WS_ERROR);
	assert_int_equal(races, 0);
	touch(m, 0, 0, 0, WS_WRITE, true, (LIMIT_PAGES - 1) * LIMIT_PAGE + 8);
	fence(m, 0, 0);
	touch(m, 0, 0, 0, WS_ATOMIC, true, (LIMIT_PAGES - 1) * LIMIT_PAGE + 2048 + 64);
	touch(m, 1, 0, 0, WS_ATOMIC, true, (LIMIT_PAGES - 1) * LIMIT_PAGE + 2048 + 64);
	fence(m, 1, 0);
	for (uint32_t p = 0; p < LIMIT_PAGES; p++)           /* all released by block 0 */
		touch(m, 1, 0, 0, WS_WRITE, true, p * LIMIT_PAGE);
	assert_int_equal(ws_report_count(m->side[SHADOW].report, WS_ERROR), races);
	another_launch(m);
	assert_true(report_says(m, "shadow memory reached --shadow-limit="));
	assert_true(report_says(m, "pages of 4 KiB was checked to the end of its launch"));
	assert_true(m->self->used < LIMIT / 2);
	assert_int_equal(m->self->thinned, 0);
	sim_free(m);
	free(host);
}

static void count_raced(void *user, const struct ws_raced_bytes *r)
{
	*(uint32_t *)user += r->bytes;
}

/* A bit a page: is each of its lines checked? All lines of one page must agree. */
static uint32_t sampled_pages(uint64_t seed, bool *page)
{
	uint8_t *host;
	struct sim *m = limited(&host, seed);
	uint32_t n = 0, raced = 0;

	fill_pages(m);
	m->self->config.raced = count_raced;
	m->self->config.raced_user = &raced;
	m->self->config.shadow_limit = 0;            /* the share stays as it is */
	for (uint32_t p = 0; p < LIMIT_PAGES; p++) {
		for (uint32_t i = 0; i < 16; i++) {
			uint32_t before = raced;
			bool found;

			touch(m, 1, 0, 0, WS_WRITE, true, p * LIMIT_PAGE + 512 * (i / 2) + 4 * (7 * i & 31));
			found = raced > before;
			assert_true(i == 0 || found == page[p]);
			page[p] = found;
		}
		n += page[p];
	}
	sim_free(m);
	free(host);
	return n;
}

static void shadow_sample(void **state)
{
	static bool a[LIMIT_PAGES], b[LIMIT_PAGES], other[LIMIT_PAGES];
	uint32_t n = sampled_pages(1, a);

	assert_true(n > LIMIT_PAGES / 64 && n < LIMIT_PAGES);
	assert_int_equal(sampled_pages(1, b), n);
	assert_memory_equal(a, b, sizeof a);
	sampled_pages(2, other);
	assert_memory_not_equal(a, other, sizeof a);
	assert_false(a[0] && a[1] && a[2] && a[3] && a[4] && a[5]);          /* not those that came first */
}

/* More than 2^32 accesses. */
static void many_accesses(void **state)
{
	struct sim *m = sim_new(false, 1, 1, 32, true, 1);

	m->stop = true;
	m->self->launch.accesses = (1ull << 32) - 3;
	for (int i = 0; i < 8; i++)
		touch(m, 0, 0, 0, i % 2 ? WS_READ : WS_WRITE, i < 4, 16);
	another_launch(m);
	assert_true(report_says(m, "4294967301"));
	sim_free(m);
}

static void example_counts(void **state)
{
	struct ws_detect_config config = {.shared = true, .global = true};
	struct ws_report *report = ws_report_new();
	void *self = detector_count.create(&config, report);
	struct ws_obs_launch l = {.name = "k"};
	struct ws_access a = {.kind = WS_WRITE, .mask = 0xff, .bytes = 4, .linear = true};
	struct ws_buf text = {0};

	detector_count.ops->access(self, NULL, &a);
	a.kind = WS_READ;
	a.linear = false;
	detector_count.ops->access(self, NULL, &a);
	detector_count.ops->launch_end(self, &l, true);
	ws_report_write_json(report, &text);
	assert_non_null(strstr(text.data, "32 bytes read, 32 written, 0 updated; 1 of 2"));
	ws_buf_free(&text);
	detector_count.destroy(self);
	ws_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(many_barriers), cmocka_unit_test(many_fences),
	                                   cmocka_unit_test(many_blocks), cmocka_unit_test(shadow_limit),
	                                   cmocka_unit_test(shadow_sample),
	                                   cmocka_unit_test(many_accesses), cmocka_unit_test(example_counts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
