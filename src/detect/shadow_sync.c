/* shadow_sync.c - time, barriers, fences, release and acquire for the detector "shadow" (shadow_priv.h).
 *
 * Each block has a clock that ticks whenever threads of it synchronize; an access is stamped with the time of its
 * warp's last synchronization. Order inside a block by full barriers and by full warp synchronizations is a comparison
 * of stamps with a floor. All finer order (barriers of some threads, partial warps, release and acquire) is knowledge:
 * maps of know.h, held a thread, or a warp under the stack model, where the lanes of a warp are one thread.
 *
 * Release and acquire patterns after PTX ISA 9.0, Memory Consistency Model, Release and Acquire Patterns: a fence (or
 * an operation with .release on the same word) followed by a strong write; a strong read that observes it, directly or
 * through atomics, followed by a fence (or an operation with .acquire on the same word). A word carries what its newest
 * release sequence has released, apart for each scope. Fences of a proxy order nothing here.
 *
 * Two fence.sc (membar, __threadfence()) are ordered with each other by Fence-SC order, and the earlier one
 * synchronizes with the later one (ibid., Causality Order). Which one is earlier is certain when a strong write that the
 * one happened before was read by a strong read that happened before the other: else that read would see a write of its
 * own future. So the fence and the flag need not be the same thread's, if a barrier connects them. That is followed for
 * fences of .gpu and .sys scope. */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- time ---- */
void ws_shadow_set_time(struct ws_warp_state *w, struct ws_block_state *b, uint32_t time)
{
	w->me = ws_who(b->slot, (uint32_t)(w - b->warps), time);
}

static uint32_t lanes_of(const struct ws_block_state *b)
{
	return b->l->its ? WS_WARP : 1;
}

static void release_free(struct ws_release *r)
{
	ws_facts_drop(&r->kb);
	ws_facts_drop(&r->f);
	memset(r, 0, sizeof *r);
}

static void lane_free(struct ws_lane_sync *ls)
{
	ws_facts_drop(&ls->f);
	for (int lv = 0; lv < LEVELS; lv++) {
		ws_facts_drop(&ls->pend[lv]);
		release_free(&ls->fence[lv]);
	}
	for (uint32_t i = 0; i < ls->nrel; i++)
		ws_facts_drop(&ls->rel[i].f);
	for (uint32_t i = 0; i < ls->nseen; i++)
		ws_facts_drop(&ls->seen[i].f);
	free(ls->rel);
	free(ls->seen);
}

/* Arrays of lanes are used again, by blocks that come later: all zero. */
static struct ws_lane_sync *take_lanes(struct ws_block_state *b)
{
	if (b->nspare && b->spare_lanes != lanes_of(b))
		ws_sync_free(b);
	b->spare_lanes = lanes_of(b);
	return b->nspare ? b->spare[--b->nspare] : ws_alloc(lanes_of(b) * sizeof **b->spare);
}

static void give_lanes(struct ws_block_state *b, struct ws_warp_state *w)
{
	for (uint32_t m = w->lane_used; m; m &= m - 1) {
		lane_free(&w->lane[__builtin_ctz(m)]);
		memset(&w->lane[__builtin_ctz(m)], 0, sizeof *w->lane);
	}
	b->spare = ws_grow(b->spare, &b->spare_cap, b->nspare + 1, sizeof *b->spare);
	b->spare[b->nspare++] = w->lane;
	w->lane = NULL;
	w->lane_used = 0;
}

void ws_sync_free(struct ws_block_state *b)
{
	while (b->nspare)
		free(b->spare[--b->nspare]);
	free(b->spare);
	b->spare = NULL;
	b->spare_cap = 0;
}

/* These lanes' fences go to where facts are kept, too. */
static void unfold_fence(struct ws_warp_state *w, struct ws_block_state *b, uint32_t mask)
{
	const struct ws_fenced *f = &w->fenced;

	for (uint32_t m = mask & f->mask; m; m &= m - 1) {
		w->fenced.mask &= ~(m & -m);
		ws_sync_of_lane(w, b, __builtin_ctz(m))->fence[LV_GPU] =
			(struct ws_release){.slot = f->slot, .time = f->time, .floor = f->floor, .wfloor = f->wfloor, .sc = f->sc};
	}
}

struct ws_lane_sync *ws_sync_of_lane(struct ws_warp_state *w, struct ws_block_state *b, uint32_t lane)
{
	if (!w->lane)
		w->lane = take_lanes(b);
	w->lane_used |= 1u << lane;
	if (w->fenced.mask >> lane & 1)
		unfold_fence(w, b, 1u << lane);
	return &w->lane[lane];
}

static uint32_t warp_index(const struct ws_block_state *b, const struct ws_warp_state *w)
{
	return (uint32_t)(w - b->warps);
}

/* Under the stack model any lane stands for all. */
uint32_t ws_sync_units(const struct ws_block_state *b, uint32_t mask)
{
	return b->l->its || !mask ? mask : 1;
}

void ws_sync_gain(struct ws_block_state *b)
{
	if (!b->has_own && !b->shared_written)
		ws_log_flush(b);             /* the notes are to be judged with what was known then */
	b->has_k = b->has_own = true;
}

/* The clock has run out: the block goes on under a new slot, in which everybody knows what he knew. */
static void new_era(struct ws_block_state *b)
{
	uint32_t old = b->slot, n = lanes_of(b);

	ws_sync_gain(b);
	b->slot = ws_shadow_new_slot(b->s, b->b->linear);
	for (uint32_t i = 0; i < b->nwarps; i++) {
		struct ws_warp_state *w = &b->warps[i];

		for (uint32_t l = 0; l < n; l++) {
			struct ws_know_entry e[WS_WARP];

			for (uint32_t j = 0; j < n; j++)
				e[j] = (struct ws_know_entry){i * WS_WARP + j, j == l ? UINT32_MAX : w->wfloor};
			ws_sync_of_lane(w, b, l)->f.k = ws_know_add(ws_sync_of_lane(w, b, l)->f.k, old, b->floor, e, n);
		}
		w->wfloor = 0;
		ws_shadow_set_time(w, b, 1);
	}
	b->now = 1;
	b->floor = 0;
}

/* A new time; accesses before have smaller stamps. */
uint32_t ws_shadow_tick(struct ws_block_state *b)
{
	if (b->now + 1 >= b->s->time_limit)
		new_era(b);
	return ++b->now;
}

bool ws_shadow_known(const struct ws_ctx *c, uint64_t who, uint32_t lane_of_who, uint32_t lane)
{
	uint32_t slot = who >> 32, thread = (who >> WHO_TIME_BITS & 31) * WS_WARP + lane_of_who, time = who & WHO_TIME;
	uint32_t unit = c->its ? lane : 0;
	struct ws_known *known = &c->w->known;

	if (known->slot == slot && known->thread == thread && known->lane == unit && time <= known->time)
		return true;
	if (ws_know_covers(c->b->kb.k, slot, thread, time) ||
	    (c->w->lane && ws_know_covers(c->w->lane[unit].f.k, slot, thread, time))) {
		*known = (struct ws_known){slot, thread, time, unit};
		return true;
	}
	return c->w->async && ws_async_known(c, who, lane_of_who, lane);
}

static enum ws_level level_of(enum ws_scope s)
{
	return s == WS_SCOPE_CTA ? LV_CTA : s == WS_SCOPE_CLUSTER ? LV_CLUSTER : LV_GPU;
}

/* Levels below are not used in the launch. */
static enum ws_level lowest(const struct ws_launch_state *l)
{
	return l->narrow ? LV_CTA : LV_GPU;
}

uint64_t ws_sync_cluster_of(const struct ws_obs_launch *l, uint64_t block)
{
	uint64_t id = 0, scale = 1;

	for (int i = 0; i < 3; i++) {
		uint32_t size = l->cluster[i] ? l->cluster[i] : 1, grid = l->grid[i] ? l->grid[i] : 1;

		id += block % grid / size * scale;
		scale *= (grid + size - 1) / size;
		block /= grid;
	}
	return id;
}

/* Does the scope, taken at this access or at `who`, hold both threads? (Inclusion is symmetric.) */
bool ws_scope_includes(const struct ws_ctx *c, enum ws_scope scope, uint64_t who)
{
	uint64_t mine = c->b->b->linear, other;

	if (scope != WS_SCOPE_CTA && scope != WS_SCOPE_CLUSTER)
		return true;
	if (who >> 32 == c->slot)
		return true;
	other = ws_shadow_slot(c->s, who >> 32)->block;
	if (other == mine)
		return true;
	return scope == WS_SCOPE_CLUSTER && ws_sync_cluster_of(c->l->l, other) == ws_sync_cluster_of(c->l->l, mine);
}

/* ---- releases ---- */
/* What lane (a unit) of w knows, and its own accesses below `time`. */
static struct ws_release release_now(struct ws_block_state *b, struct ws_warp_state *w, uint32_t lane, uint32_t time)
{
	struct ws_release r = {.slot = b->slot, .time = time, .floor = b->floor, .wfloor = w->wfloor};

	r.kb = ws_facts_ref(&b->kb);
	if (w->lane)
		r.f = ws_facts_ref(&w->lane[lane].f);
	if (w->async)
		ws_async_own(b, w, 1u << lane, &r.f.k);
	return r;
}

static struct ws_facts released(struct ws_block_state *b, struct ws_warp_state *w, uint32_t lane, const struct ws_release *r)
{
	struct ws_know_entry e[WS_WARP];
	uint32_t n = r->wfloor > r->floor ? lanes_of(b) : 0;         /* what is below the floor need not be said */
	struct ws_facts f = ws_facts_ref(&r->kb);

	ws_facts_join(&f, &r->f);
	for (uint32_t j = 0; j < n; j++)
		e[j] = (struct ws_know_entry){warp_index(b, w) * WS_WARP + j, j == lane ? r->time : r->wfloor};
	if (!n)
		e[n++] = (struct ws_know_entry){warp_index(b, w) * WS_WARP + lane, r->time};
	f.k = ws_know_add(f.k, r->slot, r->floor, e, n);
	if (r->sc) {                 /* all that is in sc is in k */
		ws_know_unref(f.sc);
		f.sc = ws_know_ref(f.k);
	}
	return f;
}

/* Puts what the lane's last fence.sc closed among its facts, before another kind of release hides it. */
static void fold_sc(struct ws_block_state *b, struct ws_warp_state *w, uint32_t lane)
{
	struct ws_release *r = &ws_sync_of_lane(w, b, lane)->fence[LV_GPU];
	struct ws_facts f;

	if (!r->sc || r->told)
		return;
	f = released(b, w, lane, r);
	ws_sync_of_lane(w, b, lane)->f.sc = ws_know_join(ws_sync_of_lane(w, b, lane)->f.sc, f.sc);
	r->told = true;
	ws_facts_drop(&f);
}

static bool same_release(const struct ws_release *a, const struct ws_release *b)
{
	return a->slot == b->slot && a->time == b->time && a->floor == b->floor && a->wfloor == b->wfloor &&
	       a->kb.k == b->kb.k && a->f.k == b->f.k;
}

/* The same for lanes of `mask` (units), into *sc; lanes that executed one fence together go together. */
static void gather_sc(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask, bool tell, struct ws_know **sc)
{
	struct ws_know_entry e[WS_WARP];
	uint32_t n = lanes_of(b);

	unfold_fence(w, b, mask);
	while (w->lane && mask) {
		struct ws_release *first = &w->lane[__builtin_ctz(mask)].fence[LV_GPU];
		struct ws_know *k;

		if (!first->sc || first->told) {
			mask &= mask - 1;
			continue;
		}
		for (uint32_t j = 0; j < n; j++)
			e[j] = (struct ws_know_entry){warp_index(b, w) * WS_WARP + j, first->wfloor};
		for (uint32_t m = mask; m; m &= m - 1) {
			struct ws_release *r = &w->lane[__builtin_ctz(m)].fence[LV_GPU];

			if (!r->sc || r->told || !same_release(first, r))
				continue;
			e[__builtin_ctz(m)].time = r->time;
			mask &= ~(m & -m);
			if (r != first)
				r->told = tell;
		}
		k = ws_know_add(ws_know_join(ws_know_ref(first->kb.k), first->f.k), first->slot, first->floor, e, n);
		first->told = tell;
		*sc = ws_know_join(*sc, k);
		ws_know_unref(k);
	}
}

/* ---- words that synchronize ---- */
/* Which memory the word is in: 0 = global, else that block's shared memory. */
static uint64_t space_of(const struct ws_ctx *c)
{
	return c->global ? 0 : c->owner->b->linear + 1;
}

static void relop_put(struct ws_relop **ops, uint32_t *n, size_t *cap, const struct ws_ctx *c, uint64_t addr, uint8_t level,
                      const struct ws_facts *f)
{
	for (uint32_t i = 0; i < *n; i++) {
		struct ws_relop *o = &(*ops)[i];

		if (o->addr == addr && o->space == space_of(c) && o->level == level) {
			ws_facts_join(&o->f, f);
			return;
		}
	}
	*ops = ws_grow(*ops, cap, *n + 1, sizeof **ops);
	(*ops)[(*n)++] = (struct ws_relop){.addr = addr, .space = space_of(c), .level = level, .f = ws_facts_ref(f)};
}

static struct ws_facts *narrow_at(struct ws_loc *loc, uint64_t domain, bool make);

static void narrow_grow(struct ws_loc *loc)
{
	struct ws_narrow *old = loc->narrow;
	size_t n = loc->cap;

	loc->cap = n ? 2 * n : 4;
	loc->narrow = ws_alloc(loc->cap * sizeof *old);
	loc->n = 0;
	for (size_t i = 0; i < n; i++)
		if (old[i].domain)
			*narrow_at(loc, old[i].domain, true) = old[i].f;
	free(old);
}

/* A hash table: domain (never 0) -> what was released inside it. */
static struct ws_facts *narrow_at(struct ws_loc *loc, uint64_t domain, bool make)
{
	size_t i;

	if (make && 2 * (loc->n + 1) > loc->cap)
		narrow_grow(loc);
	if (!loc->cap)
		return NULL;
	for (i = domain * 0x9E3779B97F4A7C15u >> 32 & (loc->cap - 1); loc->narrow[i].domain; i = (i + 1) & (loc->cap - 1))
		if (loc->narrow[i].domain == domain)
			return &loc->narrow[i].f;
	if (!make)
		return NULL;
	loc->narrow[i].domain = domain;
	loc->n++;
	return &loc->narrow[i].f;
}

static uint64_t domain_of(const struct ws_ctx *c, enum ws_level level)
{
	uint64_t block = c->b->b->linear;

	return level == LV_CTA ? 2 * block + 2 : 2 * ws_sync_cluster_of(c->l->l, block) + 3;
}

void ws_loc_clear(struct ws_loc *loc)
{
	ws_facts_drop(&loc->gpu);
	ws_know_unref(loc->sc);
	ws_know_unref(loc->dep);
	loc->sc = loc->dep = NULL;
	for (size_t i = 0; i < loc->cap; i++)
		ws_facts_drop(&loc->narrow[i].f);
	free(loc->narrow);
	loc->narrow = NULL;
	loc->cap = loc->n = 0;
}

/* What a part of the word has released, too. */
void ws_loc_join(struct ws_loc *loc, struct ws_loc *part)
{
	ws_facts_join(&loc->gpu, &part->gpu);
	loc->sc = ws_know_join(loc->sc, part->sc);
	loc->dep = ws_know_join(loc->dep, part->dep);
	for (size_t i = 0; i < part->cap; i++)
		if (part->narrow[i].domain)
			ws_facts_join(narrow_at(loc, part->narrow[i].domain, true), &part->narrow[i].f);
}

void ws_loc_free(struct ws_loc *loc)
{
	if (loc)
		ws_loc_clear(loc);
	ws_pool_free(loc, sizeof *loc);
}

/* What an acquire of that level can take from the word, read with scope `read`; owned. */
static struct ws_facts offered(struct ws_ctx *c, struct ws_loc *loc, enum ws_level read, enum ws_level level)
{
	struct ws_facts f = {.k = NULL}, *n;

	for (enum ws_level lv = LV_CTA; lv < LV_GPU && c->l->narrow && lv <= read && lv <= level; lv++) {
		n = narrow_at(loc, domain_of(c, lv), false);
		if (n)
			ws_facts_join(&f, n);
	}
	if (read == LV_GPU && level == LV_GPU)
		ws_facts_join(&f, &loc->gpu);
	return f;
}

static void learn(struct ws_block_state *b, struct ws_lane_sync *ls, const struct ws_facts *f)
{
	if (f->k)
		ws_sync_gain(b);
	ws_facts_join(&ls->f, f);
}

/* A strong read of addr by lane: loc (NULL = nothing was released there) is as before the access. */
/* The read of a reduction is no part of an acquire pattern (PTX ISA 9.0, Memory Consistency Model, Release and Acquire
 * Patterns), and nobody has the value. That it came after the word's writes is known all the same. */
static bool reduces(const struct ws_access *a)
{
	return a->site->inst && a->site->inst->op == WS_OP_red;
}

void ws_sync_read(struct ws_ctx *c, uint32_t lane, struct ws_loc *loc, uint64_t addr)
{
	enum ws_level read = level_of(c->a->scope);
	struct ws_lane_sync *ls = ws_sync_of_lane(c->w, c->b, c->its ? lane : 0);
	bool value = !reduces(c->a);

	for (enum ws_level lv = lowest(c->l); loc && value && lv < LEVELS; lv++) {
		struct ws_facts f = offered(c, loc, read, lv);

		ws_facts_join(&ls->pend[lv], &f);
		if (ws_access_acquires(c->a) && lv == read)
			learn(c->b, ls, &f);
		else if (c->l->acquires && f.k)
			relop_put(&ls->seen, &ls->nseen, &ls->seencap, c, addr, lv, &f);
		ws_facts_drop(&f);
	}
	for (uint32_t i = 0; ws_access_acquires(c->a) && i < ls->nseen; i++)
		if (ls->seen[i].addr == addr && ls->seen[i].space == space_of(c) && ls->seen[i].level <= read)
			learn(c->b, ls, &ls->seen[i].f);
	if (loc && read == LV_GPU) {
		ls->f.seen = ws_know_join(ls->f.seen, loc->sc);
		if (value)
			ls->f.dep = ws_know_join(ls->f.dep, loc->dep);
	}
}

static void publish(struct ws_ctx *c, struct ws_loc *loc, enum ws_level lv, const struct ws_facts *f)
{
	if (f->k)
		ws_facts_join(lv == LV_GPU ? &loc->gpu : narrow_at(loc, domain_of(c, lv), true), f);
}

/* What a strong write of lane to addr releases at that level; owned. */
static struct ws_facts releases(struct ws_ctx *c, uint32_t unit, uint64_t addr, enum ws_level lv)
{
	struct ws_lane_sync *ls = ws_sync_of_lane(c->w, c->b, unit);
	struct ws_facts f = {.k = NULL};

	if (ls->fence[lv].slot)
		f = released(c->b, c->w, unit, &ls->fence[lv]);
	for (uint32_t i = 0; i < ls->nrel; i++)
		if (ls->rel[i].addr == addr && ls->rel[i].space == space_of(c) && ls->rel[i].level >= lv)
			ws_facts_join(&f, &ls->rel[i].f);
	return f;
}

static void release_operation(struct ws_ctx *c, uint32_t unit, uint64_t addr, enum ws_level level)
{
	struct ws_lane_sync *ls = ws_sync_of_lane(c->w, c->b, unit);
	uint32_t time = ws_shadow_tick(c->b);
	struct ws_release r;
	struct ws_facts f;

	fold_sc(c->b, c->w, unit);
	r = release_now(c->b, c->w, unit, time);
	f = released(c->b, c->w, unit, &r);
	release_free(&r);
	relop_put(&ls->rel, &ls->nrel, &ls->relcap, c, addr, level, &f);
	ws_facts_drop(&f);
	ws_shadow_set_time(c->w, c->b, time);
}

/* What the unit did and knows goes with the value that it stores, for ws_shadow_depends. */
static void carry(struct ws_ctx *c, uint32_t unit, struct ws_loc *loc)
{
	struct ws_facts f = ws_sync_snapshot(c->w, c->b, 1u << unit);

	loc->dep = ws_know_join(ws_know_join(loc->dep, f.k), f.dep);
	ws_facts_drop(&f);
}

bool ws_shadow_depends(const struct ws_ctx *c, uint64_t who, uint32_t lane_of_who, uint32_t lane)
{
	uint32_t slot = who >> 32, thread = (who >> WHO_TIME_BITS & 31) * WS_WARP + lane_of_who, time = who & WHO_TIME;

	return ws_know_covers(c->b->kb.dep, slot, thread, time) ||
	       (c->w->lane && ws_know_covers(c->w->lane[c->its ? lane : 0].f.dep, slot, thread, time));
}

bool ws_sync_plain(const struct ws_ctx *c, uint32_t unit, struct ws_fenced *f)
{
	const struct ws_lane_sync *ls = &c->w->lane[unit];
	const struct ws_release *r = &ls->fence[LV_GPU];

	if (!ws_facts_none(&ls->f) || ls->nrel || (r->slot && (r->slot != c->b->slot || !ws_facts_none(&r->kb) || !ws_facts_none(&r->f))))
		return false;
	*f = (struct ws_fenced){.mask = r->slot ? 1u << unit : 0, .slot = r->slot, .time = r->time, .floor = r->floor,
	                        .wfloor = r->wfloor, .sc = r->sc};
	return true;
}

void ws_sync_released(struct ws_ctx *c, uint32_t lane, const struct ws_fenced *f, struct ws_loc *loc)
{
	uint32_t first = (uint32_t)(c->me >> WHO_TIME_BITS & 31) * WS_WARP, unit = c->its ? lane : 0;
	bool all = c->its && f->wfloor > f->floor;   /* what is below the floor need not be said */
	struct ws_know_entry e[WS_WARP];
	struct ws_know *k;

	for (uint32_t j = 0; all && j < WS_WARP; j++)
		e[j] = (struct ws_know_entry){first + j, f->wfloor};
	e[all ? unit : 0] = (struct ws_know_entry){first + unit, f->time};
	k = ws_know_add(NULL, f->slot, f->floor, e, all ? WS_WARP : 1);
	loc->gpu.k = ws_know_join(loc->gpu.k, k);
	if (f->sc) {
		loc->gpu.sc = ws_know_join(loc->gpu.sc, k);
		loc->sc = ws_know_join(loc->sc, k);
	}
	ws_know_unref(k);
}

/* A strong write of addr by lane; an atomic that reads and writes (rmw) continues the release sequence. */
void ws_sync_write(struct ws_ctx *c, uint32_t lane, struct ws_loc *loc, uint64_t addr, bool rmw)
{
	enum ws_level level = level_of(c->a->scope);
	uint32_t unit = c->its ? lane : 0;
	struct ws_lane_sync *ls = ws_sync_of_lane(c->w, c->b, unit);
	bool told = false;

	if (!rmw)
		ws_loc_clear(loc);
	if (ws_access_releases(c->a))
		release_operation(c, unit, addr, level);
	for (enum ws_level lv = lowest(c->l); lv <= level; lv++) {
		struct ws_facts f = releases(c, unit, addr, lv);
		bool alike = loc->sc == loc->gpu.k;

		publish(c, loc, lv, &f);
		told = lv == LV_GPU && ls->fence[lv].sc && !ls->nrel;        /* then gather_sc would find the same */
		if (told && alike) {
			ws_know_unref(loc->sc);
			loc->sc = ws_know_ref(loc->gpu.k);
		} else if (told) {
			loc->sc = ws_know_join(loc->sc, f.k);
		}
		ws_facts_drop(&f);
	}
	if (level != LV_GPU)
		return;
	if (!told)
		gather_sc(c->b, c->w, 1u << unit, false, &loc->sc);
	loc->sc = ws_know_join(ws_know_join(loc->sc, c->b->kb.sc), ls->f.sc);
	if (c->l->depends && !rmw)
		carry(c, unit, loc);
}

/* ---- callbacks ---- */
/* The other fences that this one is certainly later than synchronize with it. */
static void after_fences(struct ws_block_state *b, struct ws_lane_sync *ls)
{
	struct ws_know *k = ws_know_join(ws_know_ref(b->kb.seen), ls->f.seen);

	if (!k)
		return;
	ws_sync_gain(b);
	ws_facts_join(&ls->f, &(struct ws_facts){.k = k, .sc = k});
	ws_know_unref(k);
}

static void fence_lane(struct ws_block_state *b, struct ws_warp_state *w, uint32_t l, const struct ws_fence *f, uint32_t time)
{
	struct ws_lane_sync *ls = ws_sync_of_lane(w, b, l);
	enum ws_level level = level_of(f->scope);
	bool sc = f->sem == WS_SEM_SC && level == LV_GPU;

	if (!sc)
		fold_sc(b, w, l);
	if (f->sem != WS_SEM_RELEASE)
		learn(b, ls, &ls->pend[level]);
	if (sc)
		after_fences(b, ls);
	for (enum ws_level lv = lowest(b->l); f->sem != WS_SEM_ACQUIRE && lv <= level; lv++) {
		release_free(&ls->fence[lv]);
		ls->fence[lv] = release_now(b, w, l, time);
		ls->fence[lv].sc = sc;
	}
}

/* Lanes that know nothing have nothing to learn at a fence, and it closes the same for all of them. Returns the others. */
static uint32_t fence_plain(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask, const struct ws_fence *f, uint32_t time)
{
	bool sc = f->sem == WS_SEM_SC;
	uint32_t plain = mask & ~w->lane_used;

	if (!plain || b->l->narrow || f->sem == WS_SEM_ACQUIRE || level_of(f->scope) != LV_GPU || w->async || !ws_facts_none(&b->kb))
		return mask;
	unfold_fence(w, b, sc || !w->fenced.sc ? ~plain : ~0u);
	plain &= ~w->lane_used;
	w->fenced = (struct ws_fenced){.mask = plain, .slot = b->slot, .time = time, .floor = b->floor, .wfloor = w->wfloor, .sc = sc};
	return mask & ~plain;
}

void ws_sync_fence(void *self, struct ws_obs_warp *ow, uint32_t mask, const struct ws_fence *f)
{
	struct ws_warp_state *w = ow->state;
	struct ws_block_state *b = ow->block->state;
	uint32_t time;

	if (!w)
		return;
	if (f->proxy && !strcmp(f->proxy, "mbarrier_init")) {        /* a release, for what init wrote */
		ws_sync_fence(self, ow, mask, &(struct ws_fence){WS_SEM_RELEASE, WS_SCOPE_CLUSTER, NULL});
		return;
	}
	if (f->proxy) {
		if (!strncmp(f->proxy, "async", 5))
			ws_async_proxy_fence(b, w, mask);
		return;
	}
	ws_shadow_slot(b->s, b->slot)->flags |= level_of(f->scope) > LV_CTA ? SLOT_FENCED : SLOT_FENCED_CTA;
	time = ws_shadow_tick(b);
	ws_shadow_set_time(w, b, time);
	for (uint32_t m = fence_plain(b, w, ws_sync_units(b, mask), f, time); m; m &= m - 1)
		fence_lane(b, w, __builtin_ctz(m), f, time);
}

/* Joins what the lanes (units) of w know into *f. */
static void gather(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask, struct ws_facts *f)
{
	for (uint32_t m = w->lane ? mask : 0; m; m &= m - 1)
		ws_facts_join(f, &w->lane[__builtin_ctz(m)].f);
	gather_sc(b, w, mask, false, &f->sc);
	if (w->async)
		ws_async_own(b, w, mask, &f->k);
}

static uint32_t entries(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask, uint32_t time,
                        struct ws_know_entry *e)
{
	uint32_t n = lanes_of(b);

	for (uint32_t j = 0; j < n; j++)
		e[j] = (struct ws_know_entry){warp_index(b, w) * WS_WARP + j, mask >> j & 1 ? time : w->wfloor};
	return n;
}

static bool same_facts(const struct ws_facts *x, const struct ws_facts *y)
{
	return x->k == y->k && x->sc == y->sc && x->seen == y->seen && x->dep == y->dep && x->px == y->px;
}

/* Lanes that knew the same know the same afterwards: their maps are joined once. */
void ws_sync_tell(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask, const struct ws_facts *f)
{
	struct ws_facts old = {.k = NULL}, new = old;
	bool any = false;

	for (uint32_t m = mask; m; m &= m - 1) {
		struct ws_lane_sync *ls = ws_sync_of_lane(w, b, __builtin_ctz(m));

		if (any && same_facts(&ls->f, &old)) {
			ws_facts_drop(&ls->f);
			ls->f = ws_facts_ref(&new);
			continue;
		}
		ws_facts_drop(&old);
		ws_facts_drop(&new);
		old = ws_facts_ref(&ls->f);
		learn(b, ls, f);
		new = ws_facts_ref(&ls->f);
		any = true;
	}
	ws_facts_drop(&old);
	ws_facts_drop(&new);
}

struct ws_facts ws_sync_fenced(struct ws_warp_state *w, struct ws_block_state *b, uint32_t mask, enum ws_level level)
{
	struct ws_facts f = {.k = NULL};

	unfold_fence(w, b, mask);
	for (uint32_t m = w->lane ? mask : 0; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);
		struct ws_facts one;

		if (!w->lane[l].fence[level].slot)
			continue;
		one = released(b, w, l, &w->lane[l].fence[level]);
		ws_facts_join(&f, &one);
		ws_facts_drop(&one);
	}
	return f;
}

void ws_sync_pend(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask, const struct ws_facts *f)
{
	for (uint32_t m = mask; m; m &= m - 1)
		for (enum ws_level lv = LV_CTA; lv < LEVELS; lv++)
			ws_facts_join(&ws_sync_of_lane(w, b, __builtin_ctz(m))->pend[lv], f);
}

void ws_sync_warp(void *self, struct ws_obs_warp *ow, uint32_t mask)
{
	struct ws_warp_state *w = ow->state;
	struct ws_block_state *b = ow->block->state;
	uint32_t all = ow->lanes >= WS_WARP ? ~0u : (1u << ow->lanes) - 1, time;
	struct ws_know_entry e[WS_WARP];
	struct ws_facts f = {.k = NULL};

	if (!w || !b->l->its)
		return;
	time = ws_shadow_tick(b);
	ws_shadow_set_time(w, b, time);
	gather(b, w, mask, &f);
	if ((mask & all) == all) {
		w->wfloor = time;
		if (f.k || f.sc || f.seen || f.dep || f.px)
			ws_sync_tell(b, w, all, &f);
	} else if (mask & (mask - 1)) {
		f.k = ws_know_add(f.k, b->slot, b->floor, e, entries(b, w, mask, time, e));
		ws_sync_tell(b, w, mask, &f);
	}
	ws_facts_drop(&f);
}

static void full_barrier(struct ws_block_state *b)
{
	uint32_t time = ws_shadow_tick(b);

	for (uint32_t i = 0; i < b->nwarps; i++) {
		struct ws_warp_state *w = &b->warps[i];

		ws_shadow_set_time(w, b, time);
		if (w->async && w->async->fresh) {
			ws_async_own(b, w, ~0u >> (WS_WARP - lanes_of(b)), &b->kb.k);
			w->async->fresh = false;
		}
		if (!ws_sync_any(w))
			continue;
		gather_sc(b, w, ~0u >> (WS_WARP - lanes_of(b)), true, &b->kb.sc);
		for (uint32_t m = w->lane_used; m; m &= m - 1) {
			struct ws_facts *f = &w->lane[__builtin_ctz(m)].f;

			ws_facts_join(&b->kb, f);
			ws_facts_drop(f);
		}
	}
	b->floor = time;
	b->has_k = b->kb.k;
	b->has_own = false;
	if (!b->l->cluster && !b->l->proxies && (!b->l->agents || ws_async_set_aside(b)))
		ws_shadow_new_interval(b);
}

/* Takes the snapshots of bar.arrive at barrier `id` and joins them into *f; false when there was none. */
static bool take_arrivals(struct ws_block_state *b, uint32_t id, struct ws_facts *f)
{
	uint32_t n = 0;
	bool any = false;

	for (uint32_t i = 0; i < b->narrivals; i++) {
		if (b->arrivals[i].id != id) {
			b->arrivals[n++] = b->arrivals[i];
			continue;
		}
		ws_facts_join(f, &b->arrivals[i].f);
		ws_facts_drop(&b->arrivals[i].f);
		any = true;
	}
	b->narrivals = n;
	return any;
}

static bool has_arrivals(const struct ws_block_state *b, uint32_t id)
{
	for (uint32_t i = 0; i < b->narrivals; i++)
		if (b->arrivals[i].id == id)
			return true;
	return false;
}

/* Only some threads took part, or some only arrived: what arrived is before what waited. */
static void part_barrier(struct ws_block_state *b, const struct ws_barrier *bar)
{
	struct ws_know_entry *e = ws_alloc((size_t)b->nwarps * WS_WARP * sizeof *e);
	uint32_t time = ws_shadow_tick(b), n = 0;
	struct ws_facts f = {.k = NULL};
	bool noted = take_arrivals(b, bar->id, &f);

	for (uint32_t i = 0; i < b->nwarps; i++) {
		uint32_t came = ws_sync_units(b, noted ? bar->waited[i] : bar->arrived[i]);

		if (!came)
			continue;
		gather(b, &b->warps[i], came, &f);
		n += entries(b, &b->warps[i], came, time, e + n);
		ws_shadow_set_time(&b->warps[i], b, time);
	}
	f.k = ws_know_add(f.k, b->slot, b->floor, e, n);
	for (uint32_t i = 0; i < b->nwarps; i++)
		ws_sync_tell(b, &b->warps[i], ws_sync_units(b, bar->waited[i]), &f);
	ws_facts_drop(&f);
	free(e);
}

void ws_sync_barrier(void *self, struct ws_obs_block *ob, const struct ws_barrier *bar)
{
	struct ws_block_state *b = ob->state;

	if (!b)
		return;
	/* a thread that only arrived may have ended since: what it did after arriving is not covered */
	if (bar->full && !has_arrivals(b, bar->id))
		full_barrier(b);
	else
		part_barrier(b, bar);
}

struct ws_facts ws_sync_snapshot(struct ws_warp_state *w, struct ws_block_state *b, uint32_t mask)
{
	struct ws_facts f = ws_facts_ref(&b->kb);
	struct ws_know_entry e[WS_WARP];
	uint32_t time = ws_shadow_tick(b);

	ws_shadow_set_time(w, b, time);
	gather(b, w, mask, &f);
	f.k = ws_know_add(f.k, b->slot, b->floor, e, entries(b, w, mask, time, e));
	return f;
}

void ws_sync_arrive(void *self, struct ws_obs_warp *ow, uint32_t mask, uint32_t id)
{
	struct ws_warp_state *w = ow->state;
	struct ws_block_state *b = ow->block->state;
	struct ws_facts f;

	if (!w)
		return;
	f = ws_sync_snapshot(w, b, ws_sync_units(b, mask));
	b->arrivals = ws_grow(b->arrivals, &b->arrivals_cap, b->narrivals + 1, sizeof *b->arrivals);
	b->arrivals[b->narrivals++] = (struct ws_arrival){id, f};
}

void ws_sync_block_end(struct ws_block_state *b)
{
	for (uint32_t i = 0; i < b->nwarps; i++) {
		struct ws_warp_state *w = &b->warps[i];

		w->fenced.mask = 0;
		if (w->lane)
			give_lanes(b, w);
		ws_pool_free(w->held, sizeof *w->held);
		w->held = NULL;
	}
	for (uint32_t i = 0; i < b->narrivals; i++)
		ws_facts_drop(&b->arrivals[i].f);
	b->narrivals = 0;
	ws_facts_drop(&b->kb);
}
