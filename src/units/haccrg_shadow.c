/* haccrg_shadow.c - shadow entries of haccrg, and what an access does to one: figure 6.3 with sync and fence IDs (6.2.1, 6.2.3)
 * outside of critical sections, sets of locks inside (6.2.2).
 *
 * Where the text is silent: after a race the entry is the new access's, except that a write stays in its entry when it is read;
 * a read that a fence makes safe takes the entry over. */
#include "units/haccrg_priv.h"

#include <stdlib.h>
#include <string.h>

static bool same_block(const struct ws_hac_entry *e, const struct ws_hac_entry *a)
{
	return e->bid == a->bid && e->sid == a->sid;
}

/* Lanes of a warp run in step: they do not race with each other's earlier instructions ("Impact of Warps"). */
static bool same_warp(const struct ws_hac_entry *e, const struct ws_hac_entry *a)
{
	return same_block(e, a) && e->tid / WS_WARP == a->tid / WS_WARP;
}

static enum ws_hac_race take_over(struct ws_hac_entry *e, const struct ws_hac_access *a, enum ws_hac_race race, bool *changed)
{
	*e = a->by;
	e->state = a->write ? HAC_WRITTEN : HAC_READ;
	*changed = true;
	return race;
}

/* Another warp reads what was written (6.2.3, and "Effect of L1 Caches" in 6.3.2). */
static enum ws_hac_race read_of_written(const struct ws_hac_form *f, const struct ws_hac_entry *e,
                                        const struct ws_hac_access *a, uint16_t fence)
{
	if (a->shared)
		return HAC_RAW;
	if (f->stale && a->hit && e->sid != a->by.sid)
		return HAC_STALE_READ;
	return !f->fences || e->fence == fence ? HAC_RAW : HAC_NONE;
}

/* ---- 6.2.2 ---- */
static enum ws_hac_race in_section(const struct ws_hac_form *f, struct ws_hac_entry *e, const struct ws_hac_access *a,
                                   uint16_t fence, bool *changed)
{
	bool other = !same_block(e, &a->by) || e->tid != a->by.tid, written = e->state == HAC_WRITTEN;
	bool meets = e->locks && a->by.locks && ws_signature_meets(f->locks, e->locks, a->by.locks);
	enum ws_hac_race race;

	if (other && (written || a->write) && !meets)
		return take_over(e, a, e->locks && a->by.locks ? HAC_NO_COMMON_LOCK : HAC_NOT_LOCKED, changed);
	if (written && !a->write && !same_warp(e, &a->by)) {
		race = read_of_written(f, e, a, fence);
		return race == HAC_RAW ? HAC_NO_FENCE_IN_SECTION : race;
	}
	if (a->write) {
		uint32_t common = e->locks & a->by.locks;

		take_over(e, a, HAC_NONE, changed);
		if (other)
			e->locks = common;
		return HAC_NONE;
	}
	if (other && a->by.locks) {
		uint32_t common = meets ? e->locks & a->by.locks : 0;

		*changed = common != e->locks || e->state == HAC_READ;
		e->locks = common;
		e->state = e->state == HAC_READ ? HAC_READERS : e->state;
	}
	return HAC_NONE;
}

/* ---- 6.2.1 ---- */
static enum ws_hac_race between_barriers(const struct ws_hac_form *f, struct ws_hac_entry *e,
                                         const struct ws_hac_access *a, uint16_t fence, bool *changed)
{
	bool own = same_warp(e, &a->by);
	enum ws_hac_race race;

	switch ((enum ws_hac_state)e->state) {
	case HAC_FRESH:
		break;
	case HAC_READ:
		if (a->write)
			return take_over(e, a, own ? HAC_NONE : HAC_WAR, changed);
		if (!own)
			e->state = HAC_READERS;
		*changed = !own;
		return HAC_NONE;
	case HAC_WRITTEN:
		if (a->write)
			return take_over(e, a, own ? HAC_NONE : HAC_WAW, changed);
		race = own ? HAC_NONE : read_of_written(f, e, a, fence);
		return own || race ? race : take_over(e, a, HAC_NONE, changed);
	case HAC_READERS:
		return a->write ? take_over(e, a, HAC_WAR, changed) : HAC_NONE;
	}
	return take_over(e, a, HAC_NONE, changed);
}

enum ws_hac_race ws_hac_step(const struct ws_hac_form *f, struct ws_hac_entry *e, const struct ws_hac_access *a,
                             uint16_t fence, bool *changed)
{
	*changed = false;
	if (e->state == HAC_FRESH || (e->atomic && a->by.atomic))
		return take_over(e, a, HAC_NONE, changed);
	if (e->locks || a->by.locks)
		return in_section(f, e, a, fence, changed);
	if (!a->shared && same_block(e, &a->by) && e->sync != a->by.sync)
		return take_over(e, a, HAC_NONE, changed);
	return between_barriers(f, e, a, fence, changed);
}

/* ---- entries ---- */
enum { CHUNK = 4096 };
struct ws_hac_chunk {
	uint64_t epoch;                  /* entries of an earlier launch are fresh */
	struct ws_hac_entry entry[CHUNK];
};

struct ws_hac_entry *ws_hac_entry_at(struct ws_hac_shadow *s, uint64_t number)
{
	size_t i = (size_t)(number / CHUNK);
	struct ws_hac_chunk *c;

	while (s->n <= i)
		*WS_PUSH(s->chunk, s->n, s->cap) = NULL;
	if (!s->chunk[i])
		s->chunk[i] = ws_alloc(sizeof *s->chunk[i]);
	c = s->chunk[i];
	if (c->epoch != s->epoch) {
		memset(c->entry, 0, sizeof c->entry);
		c->epoch = s->epoch;
	}
	return &c->entry[number % CHUNK];
}

void ws_hac_shadow_free(struct ws_hac_shadow *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->chunk[i]);
	free(s->chunk);
}
