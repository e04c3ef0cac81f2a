/* test_know.c - maps of what is known (src/detect/know.h) against plain tables, with slots near to each other and far apart. */
#include "detect/know.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAPS = 24, SLOTS = 40, THREADS = 3, ROUNDS = 4000, TIMES = 9 };

struct table { bool has[SLOTS]; uint32_t time[SLOTS][THREADS]; };

static uint32_t slots[SLOTS];

static uint32_t draw(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % n;
}

static void draw_slots(uint64_t *state)
{
	static const uint32_t bits[] = {4, 8, 12, 20, 32};

	for (int i = 0; i < SLOTS; i++)
		slots[i] = (draw(state, UINT32_MAX >> 1) * 2 + 1) >> (32 - bits[draw(state, 5)]) & ~63u;
	for (int i = 0; i < SLOTS; i++)
		slots[i] |= (uint32_t)i;         /* no two alike */
}

static void raise(uint32_t *time, uint32_t to)
{
	if (*time < to)
		*time = to;
}

static struct ws_know *add(struct ws_know *k, struct table *t, uint64_t *state)
{
	uint32_t s = draw(state, SLOTS), floor = draw(state, TIMES), n = 0;
	struct ws_know_entry e[THREADS];

	for (uint32_t i = 0; i < THREADS; i++)
		if (draw(state, 2))
			e[n++] = (struct ws_know_entry){i, draw(state, TIMES)};
	t->has[s] = true;
	for (uint32_t i = 0; i < THREADS; i++)
		raise(&t->time[s][i], floor);
	for (uint32_t i = 0; i < n; i++)
		raise(&t->time[s][e[i].thread], e[i].time);
	return ws_know_add(k, slots[s], floor, e, n);
}

static void join_tables(struct table *to, const struct table *from)
{
	for (int s = 0; s < SLOTS; s++) {
		to->has[s] |= from->has[s];
		for (int i = 0; i < THREADS; i++)
			raise(&to->time[s][i], from->time[s][i]);
	}
}

static void same(const struct ws_know *k, const struct table *t)
{
	for (int s = 0; s < SLOTS; s++) {
		assert_int_equal(ws_know_has(k, slots[s]), t->has[s]);
		for (uint32_t i = 0; i < THREADS; i++)
			for (uint32_t time = 0; time < TIMES; time++)
				assert_int_equal(ws_know_covers(k, slots[s], i, time), time < t->time[s][i]);
	}
}

static void maps_are_tables(void **unused)
{
	uint64_t state = 11, before = ws_know_bytes();
	struct ws_know *map[MAPS] = {NULL};
	struct table *table = calloc(MAPS, sizeof *table);

	(void)unused;
	draw_slots(&state);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t a = draw(&state, MAPS), b = draw(&state, MAPS);

		switch (draw(&state, 8)) {
		case 0:
			ws_know_unref(map[a]);
			map[a] = NULL;
			memset(&table[a], 0, sizeof table[a]);
			break;
		case 1:
		case 2:
		case 3:
			map[a] = ws_know_join(map[a], map[b]);
			join_tables(&table[a], &table[b]);
			break;
		case 4:
			ws_know_ref(map[b]);
			ws_know_unref(map[a]);
			map[a] = map[b];
			table[a] = table[b];
			break;
		default:
			map[a] = add(map[a], &table[a], &state);
		}
		same(map[a], &table[a]);
		same(map[b], &table[b]);         /* nothing that others refer to has changed */
	}
	for (int i = 0; i < MAPS; i++)
		ws_know_unref(map[i]);
	assert_int_equal(ws_know_bytes(), before);
	free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(maps_are_tables) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
