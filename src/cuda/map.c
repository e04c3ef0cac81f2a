/* map.c - an open hash table from pointers to pointers; a removed place keeps its key with value NULL. */
#include "cuda/map.h"

#include <stdlib.h>

static size_t place(const struct ws_map *m, const void *key)
{
	uint64_t h = (uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u;
	size_t i = (size_t)(h >> 32) & (m->cap - 1);

	while (m->keys[i] && m->keys[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

void *ws_map_get(const struct ws_map *m, const void *key)
{
	return m->cap && key ? m->values[place(m, key)] : NULL;
}

static void grow(struct ws_map *m)
{
	struct ws_map bigger = {.cap = m->n * 4 < 32 ? 32 : m->cap};
	size_t i;

	while (bigger.cap < m->n * 4)
		bigger.cap *= 2;
	bigger.keys = ws_alloc(bigger.cap * sizeof *bigger.keys);
	bigger.values = ws_alloc(bigger.cap * sizeof *bigger.values);
	for (i = 0; i < m->cap; i++)
		if (m->keys[i] && m->values[i])
			ws_map_put(&bigger, m->keys[i], m->values[i]);
	ws_map_free(m);
	*m = bigger;
}

void ws_map_put(struct ws_map *m, const void *key, void *value)
{
	size_t i;

	if ((m->used + 1) * 2 > m->cap)
		grow(m);
	i = place(m, key);
	m->used += !m->keys[i];
	m->n += !m->values[i];
	m->keys[i] = key;
	m->values[i] = value;
}

void ws_map_remove(struct ws_map *m, const void *key)
{
	size_t i;

	if (!m->cap || !key)
		return;
	i = place(m, key);
	m->n -= m->values[i] != NULL;
	m->values[i] = NULL;
}

void ws_map_free(struct ws_map *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct ws_map){0};
}
