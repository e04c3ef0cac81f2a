/* shadow_locks.c - which lock words a thread holds, found from its own atomics (shadow_priv.h).
 *
 * Order comes from release and acquire alone (shadow_sync.c); lock sets only choose the words of a report. A lock is
 * taken by a compare-and-swap or an exchange that finds 0, and let go by the same thread's next exchange,
 * compare-and-swap or store to the word (Holey et al. 2015, 6.2.2, without its annotations). */
#include "detect/shadow_priv.h"

#include <string.h>

static bool same_set(const struct ws_held *a, const struct ws_held *b)
{
	uint64_t differ = a->n ^ b->n;

	for (uint32_t i = 0; i < a->n; i++)
		differ |= a->addr[i] ^ b->addr[i];
	return !differ;
}

/* Lock sets are numbered from 1 to 126: a set has one of a few numbers that its hash says, if that is free or its own. What
 * finds none is "some lock". A set's fields do not change once its n is there. */
static uint8_t number_of(struct ws_shadow *s, const struct ws_held *h)
{
	enum { TRIES = 3 };
	uint64_t hash = h->n;

	if (!h->n)
		return 0;
	for (uint32_t i = 0; i < h->n; i++)
		hash = (hash ^ h->addr[i]) * 0x9E3779B97F4A7C15u;
	for (uint32_t i = 0; i < TRIES; i++) {
		uint32_t id = 1 + ((hash >> 40) + i) % (LOCKSET_MANY - 1);
		struct ws_held *at = &s->locksets[id];

		if (!__atomic_load_n(&at->n, __ATOMIC_ACQUIRE)) {
			ws_spin_lock(&s->lock);
			if (!at->n) {
				memcpy(at->addr, h->addr, sizeof at->addr);
				__atomic_store_n(&at->n, h->n, __ATOMIC_RELEASE);
			}
			ws_spin_unlock(&s->lock);
		}
		if (same_set(at, h))
			return (uint8_t)id;
	}
	return LOCKSET_MANY;
}

/* Most sets are never asked for, so they are numbered late. */
uint32_t ws_locks_of(const struct ws_ctx *c, uint32_t lane)
{
	struct ws_locks *held = c->w->held;

	if (!(c->w->holding >> lane & 1))
		return 0;
	if (!held->set[lane] && c->w->one >> lane & 1)
		held->set[lane] = (uint8_t)ws_locks_only(c->s, held->first[lane]);
	else if (!held->set[lane])
		held->set[lane] = number_of(c->s, &held->lane[lane]);
	return held->set[lane];
}

uint32_t ws_locks_only(struct ws_shadow *s, uint64_t addr)
{
	return number_of(s, &(struct ws_held){.n = 1, .addr = {addr}});
}

/* Words of shared memory are told apart from global ones by the highest bit. */
#define OF_SHARED (1ull << 63)
static uint64_t word(const struct ws_ctx *c, uint32_t lane)
{
	return c->a->addr[lane] | (c->global ? 0 : OF_SHARED);
}

static inline int held_at(const struct ws_held *h, uint64_t addr)
{
	for (int i = 0; i < h->n; i++)
		if (h->addr[i] == addr)
			return i;
	return -1;
}

static void let_go(struct ws_ctx *c, uint32_t lane, int i)
{
	struct ws_held *h = &c->w->held->lane[lane];

	for (int j = i + 1; j < h->n; j++)
		h->addr[j - 1] = h->addr[j];
	h->n--;
	c->w->held->set[lane] = 0;
	if (h->n > 1)
		return;
	c->w->held->first[lane] = h->addr[0];
	c->w->one |= 1u << lane;
}

/* By a lane that holds one already. */
static void take(struct ws_ctx *c, uint32_t lane)
{
	struct ws_held *h = &c->w->held->lane[lane];

	if (c->w->one >> lane & 1)
		*h = (struct ws_held){.n = 1, .addr = {c->w->held->first[lane]}};
	if (h->n == HELD_MAX)
		return;
	h->addr[h->n++] = word(c, lane);
	c->w->held->set[lane] = 0;
	c->w->one &= ~(1u << lane);
}

static inline bool was_zero(const struct ws_access *a, uint32_t lane)
{
	static const uint8_t zero[32];
	const uint8_t *value = a->value;

	return value && a->bytes <= sizeof zero && !memcmp(value + (size_t)lane * a->bytes, zero, a->bytes);
}

/* Lanes whose address is that of the one lock that they hold. */
static uint32_t at_their_lock(const struct ws_ctx *c)
{
	const uint64_t *first = c->w->held->first;
	uint32_t same = c->global ? ws_gpu_lanes_same(c->a->addr, first) : 0;

	for (int l = 0; !c->global && l < WS_WARP; l++)
		same |= (uint32_t)((c->a->addr[l] | OF_SHARED) == first[l]) << l;
	return same & c->w->one;
}

/* The lanes that found 0. */
static uint32_t found_zero(const struct ws_access *a, uint32_t mask)
{
	const uint32_t *value = a->value;
	uint32_t zero = 0, any = 0;

	if (!mask)
		return 0;

	if (!value || a->bytes != 4) {
		for (uint32_t m = mask; m; m &= m - 1)
			zero |= was_zero(a, __builtin_ctz(m)) ? m & -m : 0;
		return zero;
	}
	for (int l = 0; l < WS_WARP; l++)
		any |= value[l];
	for (uint32_t m = any ? mask : 0; m; m &= m - 1)
		zero |= value[__builtin_ctz(m)] ? 0 : m & -m;
	return any ? zero : mask;
}

static void let_go_only(struct ws_ctx *c, uint32_t lanes)
{
	c->w->holding &= ~lanes;
	c->w->one &= ~lanes;
}

static void take_only(struct ws_ctx *c, uint32_t lanes)
{
	struct ws_locks *held = c->w->held;

	if (lanes && !held)
		held = c->w->held = ws_pool_new(sizeof *held);
	if (lanes && c->global && !c->w->holding) {
		memcpy(held->first, c->a->addr, sizeof held->first);
		memset(held->set, 0, sizeof held->set);
	} else {
		for (uint32_t m = lanes; m; m &= m - 1) {
			held->first[__builtin_ctz(m)] = word(c, __builtin_ctz(m));
			held->set[__builtin_ctz(m)] = 0;
		}
	}
	c->w->holding |= lanes;
	c->w->one |= lanes;
}

/* Most often all lanes take a lock, or let go of the only one. Returns the lanes left over. */
static uint32_t only_lock(struct ws_ctx *c, uint32_t mask)
{
	uint32_t done = c->w->one & mask ? at_their_lock(c) & mask : 0, fresh = mask & ~c->w->holding;

	take_only(c, found_zero(c->a, fresh));
	let_go_only(c, done);
	return mask & ~done & ~fresh;
}

void ws_locks_atomic(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;

	if (a->atom != WS_ATOM_CAS && a->atom != WS_ATOM_EXCH)
		return;
	for (uint32_t m = only_lock(c, a->mask & a->wrote); m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);
		int i = c->w->one >> l & 1 ? -1 : held_at(&c->w->held->lane[l], word(c, l));

		if (i >= 0)
			let_go(c, l, i);
		else if (was_zero(a, l))
			take(c, l);
	}
	if (c->w->holding) {
		c->b->locks = true;
		c->b->log.accept = c->b->log.tagged = c->b->log_kinds = 0;
	}
}

void ws_locks_store(struct ws_ctx *c)
{
	uint32_t mask = c->a->mask & c->w->holding, one = mask & c->w->one;

	for (uint32_t m = mask & ~one; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);
		int i = held_at(&c->w->held->lane[l], word(c, l));

		if (i >= 0)
			let_go(c, l, i);
	}
	if (one)
		let_go_only(c, one & at_their_lock(c));
}
