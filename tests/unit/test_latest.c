/* test_latest.c - two writes of one value are a warning, also where the host thread of the first one has not written it yet
 * (src/detect/latest.c): memory changes after a write was told. */
#include "tests/unit/detect_ref.h"

enum { A_SITE = 7, B_SITE = 8 };

static void end_launch(struct sim *m)
{
	for (uint32_t b = 0; b < 2; b++) {
		TELL(m, warp_end, &m->warp[b][0]);
		TELL(m, block_end, &m->block[b]);
	}
	TELL(m, launch_end, &m->launch, true);
}

static void begin_launch(struct sim *m)
{
	TELL(m, launch_begin, &m->launch);
	for (uint32_t b = 0; b < 2; b++) {
		TELL(m, block_begin, &m->block[b]);
		TELL(m, warp_begin, &m->warp[b][0]);
	}
}

/* Blocks on host threads of their own. */
static struct sim *two_threads(void)
{
	struct sim *m = sim_new(true, 2, 1, 32, false, 1);

	end_launch(m);
	m->launch.host_threads = 2;
	m->launch.serial++;
	m->block[1].host_thread = 1;
	begin_launch(m);
	return m;
}

/* One lane writes `bytes` of `value`: it is told, and memory is as it was. */
static void tell(struct sim *m, uint32_t block, uint32_t site, uint32_t lane, bool linear, uint32_t at, uint32_t bytes, uint64_t value)
{
	uint64_t addr[WS_WARP] = {0};
	uint8_t values[WS_WARP * 8] = {0};
	struct ws_access a = {.site = &m->site[site], .mask = 1u << lane, .wrote = 1u << lane, .kind = WS_WRITE, .space = WS_SPACE_GLOBAL,
	                      .sem = WS_SEM_WEAK, .bytes = (uint16_t)bytes, .linear = linear, .addr = addr, .mem = &m->mem,
	                      .value = values};

	m->site[site].id = site;
	addr[lane] = m->mem.addr + at;
	a.base = addr[lane] - (uint64_t)bytes * lane;
	memcpy(values + (size_t)lane * bytes, &value, bytes);
	TELL(m, access, &m->warp[block][0], &a);
}

static void store(struct sim *m, uint32_t at, uint32_t bytes, uint64_t value)
{
	memcpy(m->global + at, &value, bytes);
}

static void expect(struct sim *m, size_t errors, size_t warnings)
{
	end_launch(m);
	for (int i = 0; i < SIDES; i++) {
		assert_int_equal(ws_report_count(m->side[i].report, WS_ERROR), errors);
		assert_int_equal(ws_report_count(m->side[i].report, WS_WARNING), warnings);
	}
	begin_launch(m);             /* sim_free ends it */
	sim_free(m);
}

static void not_yet_stored(void **state)
{
	for (uint32_t lane = 0; lane < 32; lane += 7)
		for (int linear = 0; linear < 2; linear++) {
			struct sim *m = two_threads();

			tell(m, 0, A_SITE, lane, linear, 64, 4, 5);
			tell(m, 1, B_SITE, 3, true, 64, 4, 5);
			expect(m, 0, 1);
			m = two_threads();
			tell(m, 0, A_SITE, lane, linear, 64, 4, 5);
			tell(m, 1, B_SITE, 3, true, 64, 4, 0);       /* what memory has */
			expect(m, 1, 0);
		}
}

/* The first one has told of another write: it has stored that one. */
static void stored_since(void **state)
{
	struct sim *m = two_threads();

	tell(m, 0, A_SITE, 0, true, 64, 4, 5);
	store(m, 64, 4, 5);
	tell(m, 0, A_SITE, 0, true, 128, 4, 9);
	tell(m, 1, B_SITE, 0, true, 64, 4, 5);
	expect(m, 0, 1);

	m = two_threads();
	tell(m, 0, A_SITE, 0, true, 64, 4, 5);
	store(m, 64, 4, 5);
	tell(m, 0, B_SITE, 0, true, 68, 4, 9);
	tell(m, 1, B_SITE, 0, true, 64, 4, 9);
	expect(m, 1, 0);
}

/* Of a word that is written a byte counts that the other one has. */
static void parts(void **state)
{
	struct sim *m = two_threads();

	tell(m, 0, A_SITE, 4, true, 64, 4, 0x01020304);
	tell(m, 1, B_SITE, 0, true, 66, 1, 2);
	expect(m, 0, 1);
	m = two_threads();
	tell(m, 0, A_SITE, 4, true, 66, 1, 2);
	tell(m, 1, B_SITE, 0, false, 64, 4, 0x01020304);
	expect(m, 0, 1);
	m = two_threads();
	tell(m, 0, A_SITE, 4, true, 66, 1, 3);
	tell(m, 1, B_SITE, 0, false, 64, 4, 0x01020304);
	expect(m, 1, 0);
}

/* Threads of one host thread come one after the other. */
static void one_thread(void **state)
{
	struct sim *m = sim_new(true, 2, 1, 32, false, 1);

	tell(m, 0, A_SITE, 0, true, 64, 4, 5);
	store(m, 64, 4, 5);
	tell(m, 1, B_SITE, 0, true, 64, 4, 5);
	expect(m, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(not_yet_stored), cmocka_unit_test(stored_since), cmocka_unit_test(parts),
	                                   cmocka_unit_test(one_thread)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
