/* test_spans.c - which launch came to memory last (real/spans.h), against a plain model: a number for each byte. */
#include "real/spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "noise.h"
#include "base/base.h"

enum { BYTES = 200, START = 1 << 20, ROUNDS = 400, LAUNCHES = 60 };

struct model { uint64_t last[WS_REAL_DOES][BYTES], anything; };

static struct ws_real_touched random_touched(void)
{
	struct ws_real_touched t = { .known = below(30) > 0, .n = below(4) };

	for (unsigned k = 0; k < t.n; k++) {
		uint64_t from = below(BYTES), bytes = below(4) ? below(12) : below(BYTES);

		t.list[k] = (struct ws_real_extent){ START + from, START + (from + bytes < BYTES ? from + bytes : BYTES), (enum ws_real_does)below(WS_REAL_DOES) };
	}
	return t;
}

static void model_add(struct model *m, const struct ws_real_touched *t, uint64_t launch)
{
	if (!t->known)
		m->anything = launch;
	for (unsigned k = 0; k < t->n && t->known; k++)
		for (uint64_t at = t->list[k].from; at < t->list[k].to; at++)
			m->last[t->list[k].does][at - START] = launch;
}

static bool races(enum ws_real_does a, enum ws_real_does b)
{
	return a == WS_REAL_WRITES || b == WS_REAL_WRITES || a != b;
}

static bool model_meet(const struct model *m, const struct ws_real_touched *t, uint64_t over)
{
	bool meet = m->anything > over || !t->known;

	for (unsigned k = 0; k < t->n && t->known; k++)
		for (uint64_t at = t->list[k].from; at < t->list[k].to; at++)
			for (unsigned does = 0; does < WS_REAL_DOES; does++)
				meet |= m->last[does][at - START] > over && races(t->list[k].does, (enum ws_real_does)does);
	return meet;
}

static void as_the_model_says(void **state)
{
	unsigned met = 0, asked = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct ws_real_spans s = { .n = 0 };
		struct model m = { .anything = 0 };
		uint64_t over = 0;

		noise = round;
		for (uint64_t launch = 1; launch <= LAUNCHES; launch++) {
			struct ws_real_touched t = random_touched(), other = random_touched();
			bool meet;

			over = below(5) ? over : launch - 1 - below((unsigned)(launch - over));
			ws_real_spans_add(&s, &t, launch, over);
			model_add(&m, &t, launch);
			meet = model_meet(&m, &other, over);
			assert_int_equal(ws_real_spans_meet(&s, &other, over), meet);
			for (size_t k = 1; k < s.n; k++)
				assert_true(s.at[k - 1].to <= s.at[k].from && s.at[k].from < s.at[k].to);
			met += meet;
			asked++;
		}
		ws_real_spans_free(&s);
	}
	assert_true(met > asked / 10 && met < asked - asked / 10);
}

static bool meets(const struct ws_real_spans *s, uint64_t from, uint64_t to, enum ws_real_does does)
{
	const struct ws_real_touched t = { .known = true, .n = 1, .list = { { from, to, does } } };

	return ws_real_spans_meet(s, &t, 0);
}

/* Of very many stretches all that lies between them is one. */
static void very_many(void **state)
{
	struct ws_real_spans s = { .n = 0 };

	for (uint64_t k = 1; k <= 6000; k++) {
		const struct ws_real_touched t = { .known = true, .n = 1, .list = { { 64 * k, 64 * k + 4, WS_REAL_WRITES } } };

		ws_real_spans_add(&s, &t, k, 0);
		assert_true(s.n <= 4096);
	}
	assert_true(meets(&s, 64, 68, WS_REAL_READS) && meets(&s, 6000 * 64, 6000 * 64 + 4, WS_REAL_READS));
	assert_true(meets(&s, 70, 72, WS_REAL_READS));
	assert_false(meets(&s, 6000 * 64 + 4, UINT64_MAX, WS_REAL_WRITES) || meets(&s, 0, 64, WS_REAL_WRITES));
	ws_real_spans_free(&s);
}

static void nothing_and_anything(void **state)
{
	struct ws_real_spans s = { .n = 0 };

	assert_false(meets(&s, 0, UINT64_MAX, WS_REAL_WRITES));
	assert_true(ws_real_spans_meet(&s, NULL, 0));
	ws_real_spans_add(&s, &(struct ws_real_touched){ .known = true }, 1, 0);
	assert_false(meets(&s, 0, UINT64_MAX, WS_REAL_WRITES));
	ws_real_spans_add(&s, NULL, 2, 0);
	assert_true(meets(&s, 8, 9, WS_REAL_READS));
	assert_false(ws_real_spans_meet(&s, &(struct ws_real_touched){ .known = true, .n = 1, .list = { { 8, 9, WS_REAL_WRITES } } }, 2));
	ws_real_spans_free(&s);
}

/* No byte is read and written, and nothing is added up. */
static bool model_again(const struct ws_real_touched *t)
{
	bool does[WS_REAL_DOES][BYTES] = { { false } }, again = t->known;

	for (unsigned k = 0; k < t->n; k++)
		for (uint64_t at = t->list[k].from; at < t->list[k].to; at++)
			does[t->list[k].does][at - START] = true;
	for (unsigned k = 0; k < t->n; k++)
		again &= t->list[k].does == WS_REAL_READS || t->list[k].does == WS_REAL_WRITES;
	for (unsigned at = 0; at < BYTES; at++)
		again &= !(does[WS_REAL_READS][at] && does[WS_REAL_WRITES][at]);
	return again;
}

static void launches_that_do_the_same_again(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned k = 0; k < ROUNDS * LAUNCHES; k++) {
		struct ws_real_touched t;

		noise = k + 1;
		t = random_touched();
		for (unsigned m = 0; m < t.n; m++)
			t.list[m].to += t.list[m].from == t.list[m].to;  /* the host has none without a byte */
		assert_int_equal(ws_real_touched_again(&t), model_again(&t));
		n += model_again(&t);
	}
	assert_true(n > ROUNDS && n < ROUNDS * LAUNCHES - ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(as_the_model_says), cmocka_unit_test(very_many), cmocka_unit_test(nothing_and_anything), cmocka_unit_test(launches_that_do_the_same_again) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
