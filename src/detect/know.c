/* know.c - see know.h. Level 0 nodes are leaves (one block), a node of level n spreads 4 bits of the slot number. */
#include "detect/know.h"

#include <stdlib.h>
#include <string.h>

enum { FAN_BITS = 4, FAN = 1 << FAN_BITS };

struct ws_know {
	uint32_t ref;
	uint32_t level;              /* 0: leaf */
	uint32_t slot;               /* leaf: whose */
	uint32_t floor, n;           /* leaf: all threads below floor; n single ones that are known further */
	union {
		struct ws_know *kid[FAN];
		struct ws_know_entry e[FAN]; /* really n */
	};
};

struct ws_know *ws_know_ref(struct ws_know *k)
{
	if (k)
		__atomic_fetch_add(&k->ref, 1, __ATOMIC_RELAXED);
	return k;
}

void ws_know_unref(struct ws_know *k)
{
	if (!k || __atomic_fetch_sub(&k->ref, 1, __ATOMIC_ACQ_REL) != 1)
		return;
	for (int i = 0; k->level && i < FAN; i++)
		ws_know_unref(k->kid[i]);
	free(k);
}

static struct ws_know *new_leaf(uint32_t slot, uint32_t floor, uint32_t room)
{
	struct ws_know *k = ws_alloc(offsetof(struct ws_know, e) + (room ? room : 1) * sizeof k->e[0]);

	k->ref = 1;
	k->slot = slot;
	k->floor = floor;
	return k;
}

static struct ws_know *new_inner(uint32_t level)
{
	struct ws_know *k = ws_alloc(sizeof *k);

	k->ref = 1;
	k->level = level;
	return k;
}

/* Wraps k (consumed), whose slots begin with `slot`'s digits, until it has that level. */
static struct ws_know *lift(struct ws_know *k, uint32_t slot, uint32_t level)
{
	while (k->level < level) {
		struct ws_know *up = new_inner(k->level + 1);

		up->kid[slot >> (FAN_BITS * k->level) & (FAN - 1)] = k;
		k = up;
	}
	return k;
}

static uint32_t levels_for(uint32_t slot)
{
	uint32_t level = 1;

	while (level < 8 && slot >> (FAN_BITS * level))
		level++;
	return level;
}

static bool leaf_holds(const struct ws_know *a, const struct ws_know *b)
{
	uint32_t i = 0;

	if (a->floor < b->floor)
		return false;
	for (uint32_t j = 0; j < b->n; j++) {
		if (b->e[j].time <= a->floor)
			continue;
		while (i < a->n && a->e[i].thread < b->e[j].thread)
			i++;
		if (i == a->n || a->e[i].thread != b->e[j].thread || a->e[i].time < b->e[j].time)
			return false;
	}
	return true;
}

static void leaf_put(struct ws_know *k, struct ws_know_entry e)
{
	if (e.time > k->floor)
		k->e[k->n++] = e;
}

static struct ws_know *leaf_join(struct ws_know *a, struct ws_know *b)
{
	struct ws_know *k;
	uint32_t i = 0, j = 0;

	if (leaf_holds(a, b))
		return ws_know_ref(a);
	if (leaf_holds(b, a))
		return ws_know_ref(b);
	k = new_leaf(a->slot, a->floor > b->floor ? a->floor : b->floor, a->n + b->n);
	while (i < a->n || j < b->n) {
		struct ws_know_entry e;

		if (j == b->n || (i < a->n && a->e[i].thread < b->e[j].thread)) {
			e = a->e[i++];
		} else if (i == a->n || b->e[j].thread < a->e[i].thread) {
			e = b->e[j++];
		} else {
			e = a->e[i].time > b->e[j].time ? a->e[i] : b->e[j];
			i++, j++;
		}
		leaf_put(k, e);
	}
	return k;
}

static struct ws_know *join(struct ws_know *a, struct ws_know *b);

static struct ws_know *inner_join(struct ws_know *a, struct ws_know *b)
{
	struct ws_know *k = new_inner(a->level);
	bool is_a = true, is_b = true;

	for (int i = 0; i < FAN; i++) {
		k->kid[i] = join(a->kid[i], b->kid[i]);
		is_a &= k->kid[i] == a->kid[i];
		is_b &= k->kid[i] == b->kid[i];
	}
	if (!is_a && !is_b)
		return k;
	ws_know_unref(k);
	return ws_know_ref(is_a ? a : b);
}

/* Owned result; a and b, of one level, are borrowed. */
static struct ws_know *join(struct ws_know *a, struct ws_know *b)
{
	if (!a || a == b)
		return ws_know_ref(b);
	if (!b)
		return ws_know_ref(a);
	return a->level ? inner_join(a, b) : leaf_join(a, b);
}

/* The root of a larger map has more levels; slots of the smaller one have zeros there. */
static struct ws_know *join_roots(struct ws_know *a, struct ws_know *b)
{
	struct ws_know *low = a && b && a->level < b->level ? a : b, *high = low == a ? b : a, *lifted, *k;

	if (!a || !b || a->level == b->level)
		return join(a, b);
	lifted = lift(ws_know_ref(low), 0, high->level);
	k = join(lifted, high);
	ws_know_unref(lifted);
	return k;
}

struct ws_know *ws_know_join(struct ws_know *a, struct ws_know *b)
{
	struct ws_know *k;

	if (!b || a == b)
		return a;
	k = join_roots(a, b);
	ws_know_unref(a);
	return k;
}

struct ws_know *ws_know_add(struct ws_know *k, uint32_t slot, uint32_t floor, const struct ws_know_entry *e, uint32_t n)
{
	struct ws_know *leaf = new_leaf(slot, floor, n), *root;

	for (uint32_t i = 0; i < n; i++)
		leaf_put(leaf, e[i]);
	root = lift(leaf, slot, levels_for(slot));
	if (!k)
		return root;
	k = ws_know_join(k, root);
	ws_know_unref(root);
	return k;
}

static bool leaf_covers(const struct ws_know *k, uint32_t thread, uint32_t time)
{
	uint32_t lo = 0, hi = k->n;

	if (time < k->floor)
		return true;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (k->e[mid].thread < thread)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < k->n && k->e[lo].thread == thread && time < k->e[lo].time;
}

static const struct ws_know *leaf_of(const struct ws_know *k, uint32_t slot)
{
	if (k && k->level < 8 && slot >> (FAN_BITS * k->level))
		return NULL;
	while (k && k->level)
		k = k->kid[slot >> (FAN_BITS * (k->level - 1)) & (FAN - 1)];
	return k;
}

bool ws_know_covers(const struct ws_know *k, uint32_t slot, uint32_t thread, uint32_t time)
{
	k = leaf_of(k, slot);
	return k && leaf_covers(k, thread, time);
}

bool ws_know_has(const struct ws_know *k, uint32_t slot)
{
	return leaf_of(k, slot) != NULL;
}

void ws_facts_join(struct ws_facts *a, const struct ws_facts *b)
{
	a->k = ws_know_join(a->k, b->k);
	a->sc = ws_know_join(a->sc, b->sc);
	a->seen = ws_know_join(a->seen, b->seen);
	a->px = ws_know_join(a->px, b->px);
}

struct ws_facts ws_facts_ref(const struct ws_facts *f)
{
	return (struct ws_facts){ws_know_ref(f->k), ws_know_ref(f->sc), ws_know_ref(f->seen), ws_know_ref(f->px)};
}

void ws_facts_drop(struct ws_facts *f)
{
	ws_know_unref(f->k);
	ws_know_unref(f->sc);
	ws_know_unref(f->seen);
	ws_know_unref(f->px);
	*f = (struct ws_facts){NULL, NULL, NULL, NULL};
}
