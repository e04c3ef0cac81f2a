/* test_footprint.c - footprints of operations (detect/footprint.h), against a plain model: sets of bytes in an array. */
#include "detect/footprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { BYTES = 5 * 4096, START = 0x10000000 };

/* By byte: a mask of WS_FP_*; and the same for what was found: bit 0 first reads, second writes; 1: ... */
struct model { uint8_t sets[2][BYTES]; uint8_t found[BYTES]; struct ws_footprint *f[2]; };

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void add(struct model *m, int side, uint32_t at, uint32_t bytes, unsigned sets, bool whole)
{
	static const struct ws_site site;
	struct ws_fp_who who = {.op = m, .site = whole ? NULL : &site, .base = START + at, .bytes = 4};

	ws_footprint_add(m->f[side], START + at, bytes, sets, &who);
	for (uint32_t i = 0; i < bytes; i++)
		m->sets[side][at + i] |= sets;
}

static void found(void *user, const struct ws_fp_conflict *c)
{
	struct model *m = user;

	assert_true(c->first->op == m && c->second->op == m);
	for (uint64_t i = 0; i < c->bytes; i++)
		m->found[c->addr - START + i] |= 1 << (c->first_writes + 2 * c->second_writes);
}

static bool weak(uint8_t sets, bool write)
{
	return sets >> (write ? WS_FP_WRITE : WS_FP_READ) & 1;
}

static bool strong(uint8_t sets, bool write)
{
	return sets >> (write ? WS_FP_STRONG_WRITE : WS_FP_STRONG_READ) & 1;
}

static uint8_t expected(uint8_t a, uint8_t b)
{
	uint8_t result = 0;

	for (int wa = 0; wa < 2; wa++)
		for (int wb = 0; wb < 2; wb++)
			if ((wa || wb) && ((weak(a, wa) && (weak(b, wb) || strong(b, wb))) || (strong(a, wa) && weak(b, wb))))
				result |= 1 << (wa + 2 * wb);
	return result;
}

static struct model *new_model(void)
{
	struct model *m = calloc(1, sizeof *m);

	m->f[0] = ws_footprint_new();
	m->f[1] = ws_footprint_new();
	return m;
}

static void free_model(struct model *m)
{
	ws_footprint_free(m->f[0]);
	ws_footprint_free(m->f[1]);
	free(m);
}

static void random_accesses(struct model *m, uint32_t *seed)
{
	for (int i = 0; i < 40; i++) {
		uint32_t at = next(seed) % BYTES, bytes = next(seed) % 3 ? next(seed) % 16 + 1 : next(seed) % (BYTES - at) + 1;

		if (at + bytes <= BYTES)
			add(m, next(seed) & 1, at, bytes, 1u << next(seed) % 4, next(seed) % 4 == 0);
	}
}

static void agrees_with_the_model(void **state)
{
	uint32_t seed = 1;

	for (int round = 0; round < 300; round++) {
		struct model *m = new_model();

		random_accesses(m, &seed);
		ws_footprint_compare(m->f[0], m->f[1], found, m);
		for (uint32_t i = 0; i < BYTES; i++)
			if (m->found[i] != expected(m->sets[0][i], m->sets[1][i]))
				fail_msg("round %d, byte %u: %x, not %x", round, i, m->found[i], expected(m->sets[0][i], m->sets[1][i]));
		free_model(m);
	}
}

static void merging_keeps_everything(void **state)
{
	uint32_t seed = 7;

	for (int round = 0; round < 100; round++) {
		struct model *m = new_model();
		struct ws_footprint *older;

		random_accesses(m, &seed);
		older = m->f[0];
		m->f[0] = ws_footprint_new();
		random_accesses(m, &seed);
		ws_footprint_merge(older, m->f[0]);
		m->f[0] = older;
		ws_footprint_compare(m->f[0], m->f[1], found, m);
		for (uint32_t i = 0; i < BYTES; i++)
			assert_int_equal(m->found[i], expected(m->sets[0][i], m->sets[1][i]));
		free_model(m);
	}
}

struct host { bool found; struct ws_fp_conflict c; };

static void host_found(void *user, const struct ws_fp_conflict *c)
{
	struct host *h = user;

	h->found = true;
	h->c = *c;
}

static bool host_races(struct model *m, uint32_t at, uint32_t bytes, bool write)
{
	struct host h = {.found = false};

	ws_footprint_host(m->f[0], START + at, bytes, write, host_found, &h);
	return h.found;
}

static void the_host(void **state)
{
	struct model *m = new_model();

	add(m, 0, 100, 4, 1u << WS_FP_READ, false);
	add(m, 0, 200, 4, 1u << WS_FP_WRITE, false);
	add(m, 0, 300, 4, 1u << WS_FP_STRONG_WRITE, false);
	add(m, 0, 400, 4, 1u << WS_FP_STRONG_WRITE | 1u << WS_FP_GPU, false);
	assert_false(host_races(m, 100, 4, false));
	assert_true(host_races(m, 100, 1, true));
	assert_false(host_races(m, 104, 8, true));
	assert_true(host_races(m, 203, 1, false));
	assert_false(host_races(m, 300, 4, false));  /* scope sys */
	assert_true(host_races(m, 400, 4, false));   /* scope gpu */
	assert_true(host_races(m, 0, BYTES, false));
	assert_true(ws_footprint_tells_host(m->f[0], START + 300));
	assert_false(ws_footprint_tells_host(m->f[0], START + 400));
	assert_false(ws_footprint_tells_host(m->f[0], START + 200));
	free_model(m);
}

static void strong_pairs_talk(void **state)
{
	struct model *m = new_model();

	add(m, 0, 8, 4, 1u << WS_FP_STRONG_WRITE, false);
	add(m, 1, 12, 4, 1u << WS_FP_STRONG_READ, false);
	assert_false(ws_footprint_talk(m->f[0], m->f[1]));
	add(m, 1, 8, 4, 1u << WS_FP_STRONG_READ, false);
	assert_true(ws_footprint_talk(m->f[0], m->f[1]));
	assert_false(ws_footprint_talk(m->f[1], m->f[0]));
	free_model(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_model),
		cmocka_unit_test(merging_keeps_everything),
		cmocka_unit_test(the_host),
		cmocka_unit_test(strong_pairs_talk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
