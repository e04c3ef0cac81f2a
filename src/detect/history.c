/* history.c - records what transactions read and write; see history.h.
 *
 * For each byte that a transaction has touched it is known whose store is in memory now. A load is recorded as that store. An
 * undo brings back the store that was there before, whatever has come since: if it was another's, that one is lost, as it is in
 * memory.
 *
 * Of accesses outside of sections those are left out that can be in no cycle: of memory that no transaction has touched yet,
 * and reads that meet the whole of one store of a transaction that has ended. */
#include "detect/history_priv.h"

#include <stdlib.h>
#include <string.h>

/* A load of an attempt, by byte the store that it has met, and the one that it has met when it looked again. */
struct load {
	uint32_t unit;
	uint8_t mask;
	bool kept, again;
	uint64_t value;
	const void *site;
	uint32_t store[WS_HISTORY_UNIT], later[WS_HISTORY_UNIT];
};

struct ws_history_attempt {
	struct ws_history_attempt *next, **at;
	uint32_t owner;
	struct load *loads;
	size_t n, cap, kept;             /* loads before `kept` have been given to the section */
	bool looked;                     /* one of them was looked at again */
};

struct ws_history *ws_history_new(bool opacity, size_t most)
{
	struct ws_history *h = ws_alloc(sizeof *h);

	*h = (struct ws_history){ .opacity = opacity, .most = most };
	ws_history_clear(h);
	return h;
}

static void free_attempt(struct ws_history_attempt *a)
{
	*a->at = a->next;
	if (a->next)
		a->next->at = a->at;
	free(a->loads);
	free(a);
}

void ws_history_clear(struct ws_history *h)
{
	while (h->running)
		free_attempt(h->running);
	h->nowners = h->nstores = h->nreads = h->nunits = h->nodd = 0;
	h->full = false;
	if (h->table)
		memset(h->table, 0, h->table_size * sizeof *h->table);
	*WS_PUSH(h->stores, h->nstores, h->stores_cap) = (struct ws_history_store){ 0 };
}

void ws_history_free(struct ws_history *h)
{
	ws_history_clear(h);
	free(h->owners);
	free(h->stores);
	free(h->reads);
	free(h->units);
	free(h->odd);
	free(h->table);
	free(h);
}

/* ---- units ---- */
static uint32_t *slot_of(const struct ws_history *h, uint64_t at)
{
	size_t k = (size_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (h->table_size - 1);

	while (h->table[k] && h->units[h->table[k] - 1].at != at)
		k = (k + 1) & (h->table_size - 1);
	return &h->table[k];
}

static void grow_table(struct ws_history *h)
{
	h->table_size = h->table_size ? 2 * h->table_size : 1024;
	free(h->table);
	h->table = ws_alloc(h->table_size * sizeof *h->table);
	for (size_t k = 0; k < h->nunits; k++)
		*slot_of(h, h->units[k].at) = (uint32_t)k + 1;
}

static uint64_t unit_base(uint64_t at) { return at & ~(uint64_t)(WS_HISTORY_UNIT - 1); }

static bool known(const struct ws_history *h, uint64_t at) { return h->table_size && *slot_of(h, unit_base(at)); }

static uint32_t unit_of(struct ws_history *h, uint64_t at)
{
	uint32_t *slot;

	if (2 * (h->nunits + 1) > h->table_size)
		grow_table(h);
	slot = slot_of(h, unit_base(at));
	if (!*slot) {
		*WS_PUSH(h->units, h->nunits, h->units_cap) = (struct ws_history_unit){ .at = unit_base(at) };
		*slot = (uint32_t)h->nunits;
	}
	return *slot - 1;
}

static uint8_t mask_of(uint64_t at, uint32_t bytes) { return (uint8_t)(((1u << bytes) - 1) << at % WS_HISTORY_UNIT); }

/* ---- records ---- */
static uint32_t new_owner(struct ws_history *h, struct ws_history_who who, const void *begin)
{
	*WS_PUSH(h->owners, h->nowners, h->owners_cap) = (struct ws_history_own){ .node = { .who = who, .begin = begin } };
	return (uint32_t)h->nowners - 1;
}

static bool has_room(struct ws_history *h)
{
	if (h->nstores + h->nreads >= h->most)
		h->full = true;
	return !h->full;
}

/* What the owner wrote there before is not its last word any more. */
static void supersede(struct ws_history *h, uint32_t owner, uint32_t unit, uint8_t mask)
{
	for (uint32_t s = h->owners[owner].last; s; s = h->stores[s].earlier)
		if (h->stores[s].unit == unit)
			h->stores[s].final &= (uint8_t)~mask;
}

static void add_store(struct ws_history *h, uint32_t owner, uint32_t unit, uint8_t mask, const void *site)
{
	struct ws_history_unit *u = &h->units[unit];
	struct ws_history_store *s;

	supersede(h, owner, unit, mask);
	s = WS_PUSH(h->stores, h->nstores, h->stores_cap);
	*s = (struct ws_history_store){ .owner = owner, .unit = unit, .earlier = h->owners[owner].last, .mask = mask, .final = mask,
	                                .site = site };
	h->owners[owner].last = (uint32_t)h->nstores - 1;
	for (unsigned b = 0; b < WS_HISTORY_UNIT; b++)
		if (mask >> b & 1) {
			s->other[b] = u->now[b];
			u->now[b] = (uint32_t)h->nstores - 1;
		}
}

/* One record for each store that was met. */
static void add_reads(struct ws_history *h, uint32_t owner, uint32_t unit, uint8_t mask, const uint32_t *store,
                      const void *site)
{
	while (mask) {
		unsigned first = (unsigned)__builtin_ctz(mask);
		uint8_t same = 0;

		for (unsigned b = first; b < WS_HISTORY_UNIT; b++)
			same |= (uint8_t)((mask >> b & 1 && store[b] == store[first]) << b);
		*WS_PUSH(h->reads, h->nreads, h->reads_cap) = (struct ws_history_read){ owner, unit, store[first], same, site };
		mask &= (uint8_t)~same;
	}
}

/* ---- attempts ---- */
struct ws_history_attempt *ws_history_start(struct ws_history *h, struct ws_history_who who, const void *begin)
{
	struct ws_history_attempt *a;

	if (!has_room(h))
		return NULL;
	a = ws_alloc(sizeof *a);
	*a = (struct ws_history_attempt){ .next = h->running, .at = &h->running, .owner = new_owner(h, who, begin) };
	if (a->next)
		a->next->at = &a->next;
	h->running = a;
	return a;
}

/* Those of a mask that are not the attempt's own. */
static uint8_t not_own(const struct ws_history *h, const struct ws_history_attempt *a, uint32_t unit, uint8_t mask)
{
	for (unsigned b = 0; b < WS_HISTORY_UNIT; b++) {
		uint32_t s = h->units[unit].now[b];

		if (s && h->stores[s].owner == a->owner)
			mask &= (uint8_t)~(1u << b);
	}
	return mask;
}

static uint64_t bits_of(uint8_t mask)
{
	uint64_t bits = 0;

	for (unsigned b = 0; b < WS_HISTORY_UNIT; b++)
		bits |= (uint64_t)(mask >> b & 1 ? 0xff : 0) << 8 * b;
	return bits;
}

/* What was loaded before, and has the same value now. */
static void look_again(const struct ws_history *h, struct ws_history_attempt *a, uint32_t unit, uint8_t mask, uint64_t value)
{
	for (size_t k = 0; k < a->kept; k++) {
		struct load *l = &a->loads[k];

		if (l->unit != unit || (l->mask & mask) != l->mask || (l->value ^ value) & bits_of(l->mask))
			continue;
		memcpy(l->later, h->units[unit].now, sizeof l->later);
		l->again = a->looked = true;
	}
}

void ws_history_load(struct ws_history *h, struct ws_history_attempt *a, const struct ws_history_word *w, const void *site,
                     bool wanted)
{
	uint64_t value;
	uint32_t unit;
	uint8_t mask;
	struct load *l;

	if (!a || h->full)
		return;
	unit = unit_of(h, w->at);
	mask = not_own(h, a, unit, mask_of(w->at, w->bytes));
	value = w->value << 8 * (w->at % WS_HISTORY_UNIT);
	look_again(h, a, unit, mask, value);
	if (!wanted || !mask)
		return;
	for (size_t k = a->kept; k < a->n; k++)      /* loaded twice: the second one counts */
		a->loads[k].mask &= a->loads[k].unit == unit ? (uint8_t)~mask : 0xff;
	l = WS_PUSH(a->loads, a->n, a->cap);
	*l = (struct load){ .unit = unit, .mask = mask, .value = value, .site = site };
	memcpy(l->store, h->units[unit].now, sizeof l->store);
}

void ws_history_doubt(struct ws_history *h, struct ws_history_attempt *a, const struct ws_history_word *w)
{
	uint8_t mask = mask_of(w->at, w->bytes);
	uint32_t unit;

	if (!a || h->full)
		return;
	unit = unit_of(h, w->at);
	for (size_t k = 0; k < a->n; k++)
		if (a->loads[k].unit == unit)
			a->loads[k].mask &= (uint8_t)~mask;
}

void ws_history_cut(struct ws_history *h) { h->full = true; }

/* What was looked at again counts as read then, or not. */
static void settle(struct ws_history_attempt *a, bool again)
{
	for (size_t k = 0; k < a->kept && a->looked; k++) {
		if (a->loads[k].again && again)
			memcpy(a->loads[k].store, a->loads[k].later, sizeof a->loads[k].store);
		a->loads[k].again = false;
	}
	a->looked = false;
}

void ws_history_keep(struct ws_history_attempt *a)
{
	if (!a)
		return;
	settle(a, true);
	a->kept = a->n;
}

void ws_history_drop(struct ws_history_attempt *a)
{
	if (!a)
		return;
	settle(a, false);
	a->n = a->kept;
}

void ws_history_store(struct ws_history *h, struct ws_history_attempt *a, const struct ws_history_word *w, const void *site)
{
	if (a && has_room(h))
		add_store(h, a->owner, unit_of(h, w->at), mask_of(w->at, w->bytes), site);
}

struct ws_history_mark ws_history_mark(const struct ws_history *h, const struct ws_history_attempt *a)
{
	return a ? (struct ws_history_mark){ a->kept, h->owners[a->owner].last } : (struct ws_history_mark){ 0 };
}

void ws_history_undo(struct ws_history *h, struct ws_history_attempt *a, struct ws_history_mark since, const struct ws_history_word *w)
{
	uint8_t mask = mask_of(w->at, w->bytes);
	uint32_t unit;

	if (!a || h->full)
		return;
	unit = unit_of(h, w->at);
	for (uint32_t s = h->owners[a->owner].last; s > since.store; s = h->stores[s].earlier)       /* at last that of the first one */
		for (unsigned b = 0; h->stores[s].unit == unit && b < WS_HISTORY_UNIT; b++)
			if (mask & h->stores[s].mask & 1u << b)
				h->units[unit].now[b] = h->stores[s].other[b];
}

/* Those of the owner's last stores that one of another owner has hidden are its last again. */
static void uncover(struct ws_history *h, uint32_t owner, const struct ws_history_store *hidden)
{
	uint8_t left = hidden->mask;

	for (uint32_t s = h->owners[owner].last; s && left; s = h->stores[s].earlier) {
		uint8_t both = h->stores[s].unit == hidden->unit ? h->stores[s].mask & left : 0;

		h->stores[s].final |= both;
		left &= (uint8_t)~both;
	}
}

/* The owner's stores behind `since` become those of another one. */
static void hand_over(struct ws_history *h, uint32_t owner, uint32_t since, uint32_t other)
{
	uint32_t last = h->owners[owner].last, s = last;

	for (; s > since; s = h->stores[s].earlier)
		h->stores[s].owner = other;
	h->owners[owner].last = s;
	for (uint32_t k = last; k > since; k = h->stores[k].earlier)
		uncover(h, owner, &h->stores[k]);
}

void ws_history_part_undone(struct ws_history *h, struct ws_history_attempt *a, struct ws_history_mark since, bool forget, const void *begin)
{
	uint32_t part;

	if (!a || h->full)
		return;
	part = new_owner(h, h->owners[a->owner].node.who, begin);
	h->owners[part].node.undone = true;
	hand_over(h, a->owner, since.store, part);
	for (size_t k = 0; k < a->kept && forget && h->opacity; k++)
		add_reads(h, part, a->loads[k].unit, a->loads[k].mask, a->loads[k].store, a->loads[k].site);
	if (forget)
		a->n = a->kept = since.loads;
	settle(a, true);
}

void ws_history_not_own(struct ws_history *h, struct ws_history_attempt *a, uint64_t at, const void *wrote, const void *read)
{
	if (a && !h->full)
		*WS_PUSH(h->odd, h->nodd, h->odd_cap) = (struct ws_history_odd){ a->owner, at, wrote, read };
}

void ws_history_end(struct ws_history *h, struct ws_history_attempt *a, bool committed)
{
	if (!a)
		return;
	settle(a, committed);
	if (!h->full) {
		h->owners[a->owner].node.committed = committed;
		h->owners[a->owner].node.undone = !committed;
	}
	for (size_t k = 0; k < a->kept && (committed || h->opacity) && !h->full; k++)
		add_reads(h, a->owner, a->loads[k].unit, a->loads[k].mask, a->loads[k].store, a->loads[k].site);
	free_attempt(a);
}

/* ---- outside of sections ---- */
/* Whether a read there can be in a cycle: it meets more than one store, or one that is not all there is to come. */
static bool matters(struct ws_history *h, uint64_t at, uint32_t bytes)
{
	uint32_t met = h->units[unit_of(h, at)].now[at % WS_HISTORY_UNIT];
	const struct ws_history_store *s = &h->stores[met];

	for (uint32_t k = 0; k < bytes; k++) {
		unsigned b = (unsigned)((at + k) % WS_HISTORY_UNIT);

		if (h->units[unit_of(h, at + k)].now[b] != met || (met && !(s->final >> b & 1)))
			return true;
	}
	return met && !h->owners[s->owner].node.committed;
}

void ws_history_plain(struct ws_history *h, struct ws_history_who who, uint64_t at, uint32_t bytes, bool reads, bool writes,
                      const void *site)
{
	uint64_t last = unit_base(at + bytes - 1);
	bool touched = false;
	uint32_t owner;

	for (uint64_t u = unit_base(at); u <= last; u += WS_HISTORY_UNIT)
		touched |= known(h, u);
	if (!touched || (!writes && !matters(h, at, bytes)) || !has_room(h))
		return;
	owner = new_owner(h, who, NULL);
	h->owners[owner].node.committed = true;
	for (uint64_t u = unit_base(at); u <= last; u += WS_HISTORY_UNIT) {
		uint64_t from = u > at ? u : at, end = u + WS_HISTORY_UNIT < at + bytes ? u + WS_HISTORY_UNIT : at + bytes;
		uint8_t mask = mask_of(from, (uint32_t)(end - from));
		uint32_t unit = unit_of(h, u);

		if (reads)
			add_reads(h, owner, unit, mask, h->units[unit].now, site);
		if (writes)
			add_store(h, owner, unit, mask, site);
	}
}
