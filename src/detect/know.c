/* know.c - see know.h. Level 0 nodes are leaves (one block); a node of level n spreads 4 bits of the slot numbers, of which those
 * above are the same in all that it holds. An inner node has two kids or more, so levels that part nothing do not exist.
 *
 * Maps that are joined again and again (what a word has released so far, by each of thousands of blocks) differ in one
 * path and share the rest, or one of two nodes has been found to hold the other before: a table of such pairs, by the
 * nodes' numbers, makes a join cost a path and not the whole map. Numbers are never used twice. */
#include "detect/know.h"
#include "detect/pool.h"

#include <stdlib.h>
#include <string.h>

enum { FAN_BITS = 4, FAN = 1 << FAN_BITS };

struct ws_know {
	uint64_t number;             /* of an inner node; 0 = a leaf */
	uint32_t ref;
	uint16_t level;              /* 0: leaf */
	uint16_t has;                /* inner: which kids there are */
	uint32_t slot;               /* leaf: whose; inner: one of those in it */
	uint32_t room;               /* kids or entries that there is memory for */
	uint32_t floor, n;           /* leaf: all threads below floor; n single ones that are known further; inner: n kids */
	union {
		struct ws_know *kid[FAN];    /* really n, in order */
		struct ws_know_entry e[FAN]; /* really n */
	};
};

static struct ws_know *kid_at(const struct ws_know *k, uint32_t i)
{
	return k->has >> i & 1 ? k->kid[__builtin_popcount(k->has & ((1u << i) - 1))] : NULL;
}

static uint64_t all_bytes;

uint64_t ws_know_bytes(void)
{
	return __atomic_load_n(&all_bytes, __ATOMIC_RELAXED);
}

static size_t size_of(uint32_t level, uint32_t n)
{
	return level ? offsetof(struct ws_know, kid) + n * sizeof(struct ws_know *) :
	               offsetof(struct ws_know, e) + (n ? n : 1) * sizeof(struct ws_know_entry);
}

static struct ws_know *new_node(uint32_t level, uint32_t n)
{
	struct ws_know *k = ws_pool_new(size_of(level, n));

	k->ref = 1;
	k->level = (uint16_t)level;
	k->room = n;
	__atomic_fetch_add(&all_bytes, size_of(level, n), __ATOMIC_RELAXED);
	return k;
}

static uint32_t parallel;

void ws_know_parallel(bool begins)
{
	__atomic_fetch_add(&parallel, begins ? 1 : -1u, __ATOMIC_SEQ_CST);
}

struct ws_know *ws_know_ref(struct ws_know *k)
{
	if (k && __atomic_load_n(&parallel, __ATOMIC_RELAXED))
		__atomic_fetch_add(&k->ref, 1, __ATOMIC_RELAXED);
	else if (k)
		k->ref++;
	return k;
}

static bool last_ref(struct ws_know *k)
{
	if (__atomic_load_n(&parallel, __ATOMIC_RELAXED))
		return __atomic_fetch_sub(&k->ref, 1, __ATOMIC_ACQ_REL) == 1;
	return !--k->ref;
}

void ws_know_unref(struct ws_know *k)
{
	if (!k || !last_ref(k))
		return;
	for (uint32_t i = 0; k->level && i < k->n; i++)
		ws_know_unref(k->kid[i]);
	__atomic_fetch_sub(&all_bytes, size_of(k->level, k->room), __ATOMIC_RELAXED);
	ws_pool_free(k, size_of(k->level, k->room));
}

static struct ws_know *new_leaf(uint32_t slot, uint32_t floor, uint32_t room)
{
	struct ws_know *k = new_node(0, room);

	k->slot = slot;
	k->floor = floor;
	return k;
}

/* From 1 on, for this host thread. */
static uint64_t next_number(void)
{
	enum { MANY = 1 << 16 };
	static uint64_t used;
	static _Thread_local uint64_t next, end;

	if (next == end) {
		next = __atomic_fetch_add(&used, MANY, __ATOMIC_RELAXED) + 1;
		end = next + MANY;
	}
	return next++;
}

/* The n kids that `has` names are consumed. */
static struct ws_know *new_inner(uint32_t level, uint32_t has, struct ws_know *const *kid)
{
	uint32_t n = (uint32_t)__builtin_popcount(has);
	struct ws_know *k = new_node(level, n);

	k->number = next_number();
	k->has = (uint16_t)has;
	k->slot = kid[0]->slot;
	k->n = n;
	memcpy(k->kid, kid, n * sizeof *kid);
	return k;
}

/* Which kid of a node of that level the slot is under. */
static uint32_t digit(uint32_t slot, uint32_t level)
{
	return slot >> (FAN_BITS * (level - 1)) & (FAN - 1);
}

/* Are the slots the same above the digits of that level? */
static bool same_above(uint32_t a, uint32_t b, uint32_t level)
{
	return !((uint64_t)(a ^ b) >> (FAN_BITS * level));
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

/* Pairs of inner nodes of which the first is known to hold the second. */
enum { HELD_BITS = 13 };
struct held { uint64_t holder, held; };
static _Thread_local struct held held_pairs[1 << HELD_BITS];

static struct held *held_at(const struct ws_know *a, const struct ws_know *b)
{
	return &held_pairs[(a->number * 0x9E3779B97F4A7C15u + b->number * 0xC2B2AE3D27D4EB4Fu) >> (64 - HELD_BITS)];
}

static bool known_to_hold(const struct ws_know *a, const struct ws_know *b)
{
	const struct held *h = held_at(a, b);

	return h->holder == a->number && h->held == b->number;
}

static struct ws_know *holder(struct ws_know *a, const struct ws_know *b)
{
	*held_at(a, b) = (struct held){a->number, b->number};
	return ws_know_ref(a);
}

static struct ws_know *inner_join(struct ws_know *a, struct ws_know *b)
{
	struct ws_know *kid[FAN], *const *at_a = a->kid, *const *at_b = b->kid;
	uint32_t has = a->has | b->has, n = 0, made = 0;     /* made: kids that are owned here; the others are not counted yet */
	bool is_a = has == a->has, is_b = has == b->has;

	if (known_to_hold(a, b))
		return ws_know_ref(a);
	if (known_to_hold(b, a))
		return ws_know_ref(b);
	for (uint32_t m = has; m; m &= m - 1) {
		uint32_t bit = m & -m;
		struct ws_know *x = a->has & bit ? *at_a++ : NULL, *y = b->has & bit ? *at_b++ : NULL;

		kid[n] = x && y && x != y ? join(x, y) : x ? x : y;
		made |= x && y && x != y ? 1u << n : 0;
		is_a &= kid[n] == x;
		is_b &= kid[n++] == y;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (made >> i & 1 && (is_a || is_b))
			ws_know_unref(kid[i]);
		else if (!(made >> i & 1) && !is_a && !is_b)
			ws_know_ref(kid[i]);
	}
	return is_a ? holder(a, b) : is_b ? holder(b, a) : new_inner(a->level, has, kid);
}

/* What is in neither's range of slots is in the other's: a node above both. */
static struct ws_know *fork_of(struct ws_know *a, struct ws_know *b)
{
	struct ws_know *low = a->slot < b->slot ? a : b, *high = low == a ? b : a;
	uint32_t level = 1;

	while (!same_above(a->slot, b->slot, level))
		level++;
	return new_inner(level, 1u << digit(low->slot, level) | 1u << digit(high->slot, level),
	                 (struct ws_know *[]){ws_know_ref(low), ws_know_ref(high)});
}

/* All of b is under one kid of a. */
static struct ws_know *inner_put(struct ws_know *a, struct ws_know *b)
{
	uint32_t bit = 1u << digit(b->slot, a->level), at = (uint32_t)__builtin_popcount(a->has & (bit - 1));
	struct ws_know *old = a->has & bit ? a->kid[at] : NULL, *new = join(old, b), *kid[FAN];

	if (new == old) {
		ws_know_unref(new);
		return ws_know_ref(a);
	}
	for (uint32_t i = 0; i < a->n + !old; i++)
		kid[i] = i == at ? new : ws_know_ref(a->kid[i - (!old && i > at)]);
	return new_inner(a->level, a->has | bit, kid);
}

/* Owned result; a and b are borrowed. */
static struct ws_know *join(struct ws_know *a, struct ws_know *b)
{
	if (!a || a == b)
		return ws_know_ref(b);
	if (!b)
		return ws_know_ref(a);
	if (!same_above(a->slot, b->slot, a->level > b->level ? a->level : b->level))
		return fork_of(a, b);
	if (a->level != b->level)
		return a->level > b->level ? inner_put(a, b) : inner_put(b, a);
	return a->level ? inner_join(a, b) : leaf_join(a, b);
}

struct ws_know *ws_know_join(struct ws_know *a, struct ws_know *b)
{
	struct ws_know *k;

	if (!b || a == b)
		return a;
	k = join(a, b);
	ws_know_unref(a);
	return k;
}

struct ws_know *ws_know_add(struct ws_know *k, uint32_t slot, uint32_t floor, const struct ws_know_entry *e, uint32_t n)
{
	struct ws_know *leaf;
	uint32_t room = 0;

	for (uint32_t i = 0; i < n; i++)
		room += e[i].time > floor;
	leaf = new_leaf(slot, floor, room);
	for (uint32_t i = 0; i < n; i++)
		leaf_put(leaf, e[i]);
	if (!k)
		return leaf;
	k = ws_know_join(k, leaf);
	ws_know_unref(leaf);
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
	while (k && k->level)
		k = kid_at(k, digit(slot, k->level));
	return k && k->slot == slot ? k : NULL;
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

void ws_facts_join_some(struct ws_facts *a, const struct ws_facts *b)
{
	bool alike = a->k == a->sc && b->k == b->sc;         /* often, with fence.sc */

	if (ws_facts_none(a)) {
		*a = ws_facts_ref(b);
		return;
	}
	if (a->k == b->k && a->sc == b->sc && !b->seen && !b->dep && !b->px)
		return;
	a->k = ws_know_join(a->k, b->k);
	if (alike) {
		ws_know_unref(a->sc);
		a->sc = ws_know_ref(a->k);
	} else {
		a->sc = ws_know_join(a->sc, b->sc);
	}
	a->seen = ws_know_join(a->seen, b->seen);
	a->dep = ws_know_join(a->dep, b->dep);
	a->px = ws_know_join(a->px, b->px);
}

struct ws_facts ws_facts_ref(const struct ws_facts *f)
{
	return (struct ws_facts){.k = ws_know_ref(f->k), .sc = ws_know_ref(f->sc), .seen = ws_know_ref(f->seen),
	                         .dep = ws_know_ref(f->dep), .px = ws_know_ref(f->px)};
}

void ws_facts_drop_some(struct ws_facts *f)
{
	ws_know_unref(f->k);
	ws_know_unref(f->sc);
	ws_know_unref(f->seen);
	ws_know_unref(f->dep);
	ws_know_unref(f->px);
	*f = (struct ws_facts){.k = NULL};
}
