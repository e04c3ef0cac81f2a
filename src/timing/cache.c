/* cache.c - tags of a cache, least recently used first out, and the table of misses. Lines have sectors of 32 bytes that
 * come and go by themselves. Values are not here: they are src/gpu's. */
#include "timing/timing_priv.h"

#include <stdlib.h>
#include <string.h>

void ws_cache_init(struct ws_cache *c, const struct ws_cache_size *size)
{
	memset(c, 0, sizeof *c);
	c->size = *size;
	if (!size->bytes)
		return;
	c->sets = size->bytes / size->line / size->ways;
	c->ways = ws_alloc((size_t)c->sets * size->ways * sizeof *c->ways);
	ws_cache_flush(c);
}

void ws_cache_fini(struct ws_cache *c)
{
	free(c->ways);
}

void ws_cache_flush(struct ws_cache *c)
{
	for (uint32_t i = 0; i < c->sets * c->size.ways; i++)
		c->ways[i] = (struct ws_way){.tag = WS_NEVER};
}

static struct ws_way *find(struct ws_cache *c, uint64_t addr)
{
	uint64_t line = addr / c->size.line;
	struct ws_way *w = c->ways + line % c->sets * c->size.ways;

	for (uint32_t i = 0; i < c->size.ways; i++)
		if (w[i].tag == line)
			return &w[i];
	return NULL;
}

static uint32_t shift_of(const struct ws_cache *c, uint64_t addr)
{
	return (uint32_t)(addr % c->size.line / WS_SECTOR);
}

uint32_t ws_cache_look(struct ws_cache *c, uint64_t addr, uint32_t sectors)
{
	struct ws_way *w = find(c, addr);

	if (!w)
		return 0;
	w->used = ++c->clock;
	return w->valid >> shift_of(c, addr) & sectors;
}

static struct ws_way *make_room(struct ws_cache *c, uint64_t addr, struct ws_victim *v)
{
	uint64_t line = addr / c->size.line;
	struct ws_way *w = c->ways + line % c->sets * c->size.ways, *old = w;

	for (uint32_t i = 1; i < c->size.ways && old->tag != WS_NEVER; i++)
		if (w[i].tag == WS_NEVER || w[i].used < old->used)
			old = &w[i];
	if (old->tag != WS_NEVER)
		*v = (struct ws_victim){.addr = old->tag * c->size.line, .dirty = old->dirty};
	*old = (struct ws_way){.tag = line};
	return old;
}

void ws_cache_fill(struct ws_cache *c, uint64_t addr, uint32_t sectors, bool dirty, struct ws_victim *v)
{
	struct ws_way *w = find(c, addr);
	uint32_t bits = sectors << shift_of(c, addr);

	*v = (struct ws_victim){0};
	if (!w)
		w = make_room(c, addr, v);
	w->valid |= bits;
	if (dirty)
		w->dirty |= bits;
	w->used = ++c->clock;
}

void ws_cache_drop(struct ws_cache *c, uint64_t addr, uint32_t sectors)
{
	struct ws_way *w = c->sets ? find(c, addr) : NULL;

	if (w)
		w->valid &= ~(sectors << shift_of(c, addr));
}

uint32_t ws_cache_fetched(const struct ws_cache *c, uint32_t segment, uint32_t sectors)
{
	uint32_t n = c->size.fetch / WS_SECTOR, all = segment / WS_SECTOR, unit, out = 0;

	if (n >= all)
		return all < 32 ? (1u << all) - 1 : UINT32_MAX;
	unit = (1u << n) - 1;
	for (uint32_t i = 0; i < all; i += n)
		if (sectors >> i & unit)
			out |= unit << i;
	return out;
}

/* ---- misses ---- */
void ws_mshrs_init(struct ws_mshrs *m, uint32_t n)
{
	memset(m, 0, sizeof *m);
	m->n = n;
	m->miss = ws_alloc(n * sizeof *m->miss);
	for (uint32_t i = 0; i < n; i++)
		m->miss[i].addr = WS_NEVER;
	m->arena = ws_arena_new();
}

void ws_mshrs_fini(struct ws_mshrs *m)
{
	free(m->miss);
	if (m->arena)
		ws_arena_free(m->arena);
}

static struct ws_miss *look_up(struct ws_mshrs *m, uint64_t addr)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->miss[i].addr == addr)
			return &m->miss[i];
	return NULL;
}

struct ws_miss *ws_mshrs_get(struct ws_mshrs *m, uint64_t addr)
{
	struct ws_miss *e = look_up(m, addr);

	if (e)
		return e;
	if (m->used == m->n)
		return NULL;
	e = look_up(m, WS_NEVER);
	*e = (struct ws_miss){.addr = addr};
	m->used++;
	return e;
}

void ws_mshrs_wait(struct ws_mshrs *m, struct ws_miss *e, void *who, uint32_t need)
{
	struct ws_waiter *w = m->free;

	if (w)
		m->free = w->next;
	else
		w = ws_arena_alloc(m->arena, sizeof *w);
	*w = (struct ws_waiter){.who = who, .need = need};
	if (e->last)
		e->last->next = w;
	else
		e->first = w;
	e->last = w;
}

void ws_mshrs_arrived(struct ws_mshrs *m, uint64_t addr, uint32_t sectors, void (*done)(void *user, void *who),
                      void *user)
{
	struct ws_miss *e = look_up(m, addr);
	struct ws_waiter **p, *w, *ready = NULL, **end = &ready;

	if (!e)
		return;
	e->coming &= ~sectors;
	e->last = NULL;
	for (p = &e->first; (w = *p);) {
		w->need &= ~sectors;
		if (w->need) {
			e->last = w;
			p = &w->next;
			continue;
		}
		*p = w->next;
		*end = w;
		end = &w->next;
	}
	*end = NULL;
	if (!e->first && !e->coming) {
		e->addr = WS_NEVER;
		m->used--;
	}
	while ((w = ready)) {
		ready = w->next;
		w->next = m->free;
		m->free = w;
		done(user, w->who);
	}
}
