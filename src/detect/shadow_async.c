/* shadow_async.c - asynchronous operations, mbarrier objects and the async proxy for the detector "shadow"
 * (shadow_priv.h).
 *
 * An asynchronous operation runs as if by another thread, which begins at its instruction (PTX ISA 9.0, Asynchronous
 * Operations). Its accesses are judged when it begins, with what the issuing lane knows, and kept under the stamp of an
 * agent. Nobody is ordered after an agent's access until he learns that the operation is complete: by waiting for the
 * lane's own groups, from the phase of an mbarrier object, or from another thread that knows.
 *
 * An mbarrier object hands on what its arrivals release and the operations that it tracks, phase by phase. All scopes
 * of its instructions count as wide enough for the threads that use the object: CUDA's own libraries arrive at objects
 * of other blocks with the default scope, .cta.
 *
 * Bulk copies, tensor copies, st.async, red.async and wgmma access memory through the async proxy (ibid., Proxies): a
 * generic write that is ordered before such an access must also come before a fence.proxy.async that does. Facts.px is
 * what came before such fences. The completion of an operation is a proxy fence by itself. */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- agents ---- */
static enum ws_agent_kind kind_of(const struct ws_access *a)
{
	switch (a->async) {
	case WS_ASYNC_CP: return AG_CP;
	case WS_ASYNC_BULK: return a->kind == WS_READ ? AG_BULK_READ : AG_BULK;
	case WS_ASYNC_WGMMA: return AG_WGMMA;
	default: return AG_MBAR;
	}
}

/* The agent of operation `op`; the newest one is last. A number too far from the agent's base needs a new one. */
static struct ws_agent *find_agent(struct ws_agent *g, uint32_t n, enum ws_agent_kind kind, uint64_t block, uint64_t op)
{
	while (n--)
		if (g[n].kind == kind && g[n].block == block && op > g[n].base && op - g[n].base < WHO_TIME)
			return &g[n];
	return NULL;
}

static struct ws_agent *new_agent(struct ws_shadow *s, struct ws_agent *g, enum ws_agent_kind kind, uint64_t block,
                                  uint64_t op)
{
	struct ws_slot_info *info;

	*g = (struct ws_agent){.kind = kind, .block = block, .base = op - 1, .slot = ws_shadow_new_slot(s, block)};
	info = ws_shadow_slot(s, g->slot);
	info->agent = kind;
	info->base = g->base;
	return g;
}

static struct ws_mbar_state *find_mbar(struct ws_block_state *b, uint32_t offset, bool make)
{
	for (uint32_t i = 0; i < b->nmbars; i++)
		if (b->mbars[i].offset == offset)
			return &b->mbars[i];
	if (!make)
		return NULL;
	b->mbars = ws_grow(b->mbars, &b->mbars_cap, b->nmbars + 1, sizeof *b->mbars);
	b->mbars[b->nmbars] = (struct ws_mbar_state){.offset = offset};
	return &b->mbars[b->nmbars++];
}

static uint32_t issuers(const struct ws_ctx *c)
{
	return ws_sync_units(c->b, c->a->issuer < WS_WARP ? 1u << c->a->issuer : c->a->mask);
}

/* The phase that the operation completes in hands on what the issuing lanes know now. */
static void note_begun(struct ws_ctx *c, struct ws_mbar_state *m)
{
	for (uint32_t i = 0; i < m->nbegun; i++)
		if (m->begun[i].op == c->a->op)
			return;              /* another piece of it */
	m->begun = ws_grow(m->begun, &m->begun_cap, m->nbegun + 1, sizeof *m->begun);
	m->begun[m->nbegun++] = (struct ws_begun){c->a->op, ws_sync_snapshot(c->w, c->b, issuers(c))};
	c->me = c->w->me;
}

static struct ws_agent *mbar_agent(struct ws_ctx *c)
{
	struct ws_block_state *owner = c->a->mbar_block && c->a->mbar_block->state ? c->a->mbar_block->state : c->b;
	struct ws_mbar_state *m = find_mbar(owner, c->a->mbar, true);
	struct ws_agent *g = find_agent(m->agents, m->n, AG_MBAR, c->b->b->linear, c->a->op);

	note_begun(c, m);

	if (g)
		return g;
	m->agents = ws_grow(m->agents, &m->cap, m->n + 1, sizeof *m->agents);
	return new_agent(c->s, &m->agents[m->n++], AG_MBAR, c->b->b->linear, c->a->op);
}

static struct ws_agent *lane_agent(struct ws_ctx *c, enum ws_agent_kind kind)
{
	struct ws_block_state *b = c->b;
	struct ws_agent *g = find_agent(b->agents, b->nagents, kind, b->b->linear, c->a->op);

	if (g)
		return g;
	b->agents = ws_grow(b->agents, &b->agents_cap, b->nagents + 1, sizeof *b->agents);
	/* numbers are a warp's own: those of the block's other warps may be smaller, by less than an era */
	return new_agent(c->s, &b->agents[b->nagents++], kind, b->b->linear, (c->a->op - 1) / (WHO_TIME / 2) * (WHO_TIME / 2) + 1);
}

static struct ws_warp_async *warp_async(struct ws_warp_state *w)
{
	if (!w->async)
		w->async = ws_alloc(sizeof *w->async);
	return w->async;
}

/* ---- accesses ---- */
/* What the lanes know as a cp.async begins goes with it to the mbarrier object that its completion arrives at. */
static void keep_facts(struct ws_ctx *c, struct ws_warp_async *wa)
{
	if (!wa->cp)
		wa->cp = ws_alloc(WS_WARP * sizeof *wa->cp);
	for (uint32_t m = ws_sync_units(c->b, c->a->mask); m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);

		ws_facts_drop(&wa->cp[l]);
		wa->cp[l] = ws_sync_snapshot(c->w, c->b, 1u << l);
	}
	c->me = c->w->me;
}

static void note_issue(struct ws_ctx *c, enum ws_agent_kind kind)
{
	struct ws_warp_async *wa = warp_async(c->w);

	for (uint32_t m = issuers(c); m; m &= m - 1)
		wa->issued[kind][__builtin_ctz(m)] = c->a->op;
	if (kind == AG_CP && c->l->cp_arrives && c->a->kind == WS_WRITE)
		keep_facts(c, wa);
}

static void note_pending(struct ws_ctx *c)
{
	struct ws_block_state *b = c->b;
	struct ws_pending *p;

	if (b->npending > PENDING_MAX)
		return;
	b->pending = ws_grow(b->pending, &b->pending_cap, b->npending + 1, sizeof *b->pending);
	p = &b->pending[b->npending++];
	*p = (struct ws_pending){.who = c->as, .site = c->site, .mask = c->a->mask, .bytes = c->a->bytes};
	for (uint32_t m = c->a->mask; m; m &= m - 1)
		p->addr[__builtin_ctz(m)] = (uint32_t)c->a->addr[__builtin_ctz(m)];
}

/* The warp that an agent's operations are of: a product is of the first one of the warpgroup, for all four. */
static uint32_t unit_warp(enum ws_agent_kind kind, uint32_t warp)
{
	return kind == AG_WGMMA ? warp & ~3u : warp;
}

void ws_async_access(struct ws_ctx *c)
{
	enum ws_agent_kind kind = kind_of(c->a);
	const struct ws_agent *g = kind == AG_MBAR ? mbar_agent(c) : lane_agent(c, kind);

	if (kind < AG_LANES)
		note_issue(c, kind);
	c->as = ws_who(g->slot, unit_warp(kind, (uint32_t)(c->me >> WHO_TIME_BITS & 31)), (uint32_t)(c->a->op - g->base));
	c->proxy = kind != AG_CP;
	c->cls = ws_class_of(c->a->kind);
	if (!c->global && c->owner != c->b)
		ws_cluster_visit(c);
	if (!c->global && c->cls != CLS_READ && !c->owner->shared_written)
		ws_log_flush(c->owner);
	ws_general_async(c);
	if (kind == AG_CP && !c->global && c->cls == CLS_WRITE)
		note_pending(c);
}

/* ---- what is known to be complete ---- */
bool ws_async_known(const struct ws_ctx *c, uint64_t who, uint32_t lane_of_who, uint32_t lane)
{
	const struct ws_slot_info *i = ws_shadow_slot(c->s, who >> 32);

	if (i->agent == AG_NONE || i->agent >= AG_LANES || i->block != c->b->b->linear || !c->w->async ||
	    (who >> WHO_TIME_BITS & 31) != unit_warp(i->agent, (uint32_t)(c->me >> WHO_TIME_BITS & 31)) ||
	    (c->its && i->agent != AG_WGMMA && lane_of_who != lane))
		return false;
	return i->base + (who & WHO_TIME) <= c->w->async->done[i->agent][c->its ? lane : 0];
}

/* What these lanes have waited for, of all lanes of the agent's warp (the stack model has one). */
static uint32_t own_products(const struct ws_block_state *b, const struct ws_warp_state *w, uint32_t mask, const struct ws_agent *ag,
                             struct ws_know_entry *e)
{
	uint32_t first = unit_warp(AG_WGMMA, (uint32_t)(w - b->warps)) * WS_WARP, n = 0;
	uint64_t time = 0;

	for (uint32_t m = mask; m; m &= m - 1) {
		uint64_t done = w->async->done[AG_WGMMA][__builtin_ctz(m)];

		time = done > ag->base && done - ag->base > time ? done - ag->base : time;
	}
	for (uint32_t l = 0; time && l < (b->l->its ? WS_WARP : 1u); l++)
		e[n++] = (struct ws_know_entry){first + l, time < WHO_TIME ? (uint32_t)time + 1 : UINT32_MAX};
	return n;
}

void ws_async_own(struct ws_block_state *b, const struct ws_warp_state *w, uint32_t mask, struct ws_know **k)
{
	uint32_t warp = (uint32_t)(w - b->warps);

	for (uint32_t g = 0; g < b->nagents; g++) {
		const struct ws_agent *ag = &b->agents[g];
		struct ws_know_entry e[WS_WARP];
		uint32_t n = ag->kind == AG_WGMMA ? own_products(b, w, mask, ag, e) : 0;

		for (uint32_t m = ag->kind == AG_WGMMA ? 0 : mask; m; m &= m - 1) {
			uint32_t l = __builtin_ctz(m);
			uint64_t done = w->async->done[ag->kind][l], time = done > ag->base ? done - ag->base : 0;

			if (time)
				e[n++] = (struct ws_know_entry){warp * WS_WARP + l, time < WHO_TIME ? (uint32_t)time + 1 : UINT32_MAX};
		}
		if (n)
			*k = ws_know_add(*k, ag->slot, 0, e, n);
	}
}

/* ---- copies in flight at a full barrier ---- */
/* Do all threads of the block know it complete? */
static bool all_know(const struct ws_block_state *b, const struct ws_pending *p)
{
	for (uint32_t m = ws_sync_units(b, p->mask); m; m &= m - 1) {
		uint32_t thread = (uint32_t)(p->who >> WHO_TIME_BITS & 31) * WS_WARP + (uint32_t)__builtin_ctz(m);

		if (!ws_know_covers(b->kb.k, p->who >> 32, thread, p->who & WHO_TIME))
			return false;
	}
	return true;
}

static void mark_lines(struct ws_block_state *b, const struct ws_pending *p)
{
	for (uint32_t m = p->mask; m; m &= m - 1)
		for (uint32_t at = p->addr[__builtin_ctz(m)] >> LINE_BITS,
		              last = (p->addr[__builtin_ctz(m)] + p->bytes - 1) >> LINE_BITS; at <= last && at < b->nlines; at++)
			b->pending_lines[at / 64] |= 1ull << at % 64;
}

bool ws_async_set_aside(struct ws_block_state *b)
{
	size_t words = b->nlines / 64 + 1;
	uint32_t n = 0;

	if (b->npending > PENDING_MAX)
		return false;
	for (uint32_t i = 0; i < b->npending; i++)
		if (!all_know(b, &b->pending[i]))
			b->pending[n++] = b->pending[i];
	b->npending = n;
	if (!n)
		return true;
	b->pending_lines = ws_realloc(b->pending_lines, words * sizeof *b->pending_lines);
	memset(b->pending_lines, 0, words * sizeof *b->pending_lines);
	for (uint32_t i = 0; i < n; i++)
		mark_lines(b, &b->pending[i]);
	return true;
}

bool ws_async_touches(const struct ws_block_state *b, const struct ws_access *a)
{
	for (uint32_t m = a->mask; m; m &= m - 1) {
		uint64_t from = a->addr[__builtin_ctz(m)] >> LINE_BITS, to = (a->addr[__builtin_ctz(m)] + a->bytes - 1) >> LINE_BITS;

		if (to < b->nlines && (b->pending_lines[from / 64] >> from % 64 | b->pending_lines[to / 64] >> to % 64) & 1)
			return true;
	}
	return false;
}

void ws_async_bring_back(struct ws_block_state *b)
{
	for (uint32_t i = 0; i < b->npending; i++) {
		const struct ws_pending *p = &b->pending[i];
		uint64_t addr[WS_WARP];
		struct ws_access a = {.mask = p->mask, .kind = WS_WRITE, .space = WS_SPACE_SHARED, .bytes = p->bytes, .addr = addr,
		                      .async = WS_ASYNC_CP, .issuer = WS_WARP};
		struct ws_ctx c = {.s = b->s, .l = b->l, .b = b, .w = &b->warps[p->who >> WHO_TIME_BITS & 31], .a = &a, .owner = b,
		                   .me = p->who, .as = p->who, .site = p->site, .slot = b->slot, .cls = CLS_WRITE, .its = b->l->its};

		for (int l = 0; l < WS_WARP; l++)
			addr[l] = p->addr[l];
		ws_general_install(&c);
	}
}

/* ---- waiting ---- */
static void mark_done(struct ws_warp_async *wa, enum ws_agent_kind kind, uint32_t units, const uint64_t *done)
{
	for (uint32_t m = units; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);

		if (done[l] > wa->done[kind][l])
			wa->done[kind][l] = done[l];
	}
}

/* Under the stack model a warp is one thread, and its operations so far are the newest of its lanes'. */
static uint64_t of_unit(const struct ws_block_state *b, uint32_t mask, const uint64_t *op, uint32_t lane)
{
	uint64_t newest = 0;

	if (b->l->its)
		return op[lane];
	for (uint32_t m = mask; m; m &= m - 1)
		newest = op[__builtin_ctz(m)] > newest ? op[__builtin_ctz(m)] : newest;
	return newest;
}

void ws_async_wait(void *self, struct ws_obs_warp *ow, uint32_t mask, enum ws_async kind, const uint64_t done[WS_WARP],
                   bool reads_only)
{
	struct ws_warp_state *w = ow->state;
	struct ws_block_state *b = ow->block->state;
	struct ws_warp_async *wa;
	uint64_t by_unit[WS_WARP];

	if (!w || !mask)
		return;
	for (int l = 0; l < WS_WARP; l++)
		by_unit[l] = of_unit(b, mask, done, l);
	wa = warp_async(w);
	mask = ws_sync_units(b, mask);
	if (kind == WS_ASYNC_BULK)
		mark_done(wa, AG_BULK_READ, mask, by_unit);
	if (kind == WS_ASYNC_CP || kind == WS_ASYNC_WGMMA)
		mark_done(wa, kind == WS_ASYNC_CP ? AG_CP : AG_WGMMA, mask, by_unit);
	else if (!reads_only)
		mark_done(wa, AG_BULK, mask, by_unit);
	wa->fresh = true;
	ws_sync_gain(b);
}

/* ---- mbarrier objects ---- */
static void mbar_clear(struct ws_mbar_state *m)
{
	ws_facts_drop(&m->now);
	ws_facts_drop(&m->done);
	for (uint32_t i = 0; i < m->nbegun; i++)
		ws_facts_drop(&m->begun[i].f);
	m->n = m->nbegun = 0;
}

static void arrive(struct ws_block_state *b, struct ws_warp_state *w, const struct ws_mbar *e, struct ws_mbar_state *m)
{
	uint32_t units = ws_sync_units(b, e->mask);
	enum ws_level level = e->block == b->b ? LV_CTA : LV_CLUSTER;
	struct ws_facts f;

	f = e->sem == WS_SEM_RELAXED ? ws_sync_fenced(w, b, units, level) : ws_sync_snapshot(w, b, units);
	ws_facts_join(&m->now, &f);
	ws_facts_drop(&f);
}

/* The lanes' cp.async operations arrive, not the lanes. */
static void arrive_cp(struct ws_block_state *b, struct ws_warp_state *w, const struct ws_mbar *e, struct ws_mbar_state *m)
{
	struct ws_warp_async *wa = warp_async(w);
	uint64_t saved[WS_WARP];
	uint32_t units = ws_sync_units(b, e->mask);

	memcpy(saved, wa->done[AG_CP], sizeof saved);
	for (uint32_t u = units; u; u &= u - 1) {
		uint32_t l = __builtin_ctz(u);

		wa->done[AG_CP][l] = of_unit(b, e->mask, e->op, l);
		if (wa->cp)
			ws_facts_join(&m->now, &wa->cp[l]);
	}
	ws_async_own(b, w, units, &m->now.k);
	memcpy(wa->done[AG_CP], saved, sizeof saved);
}

static void phase(struct ws_mbar_state *m, uint64_t op)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < m->nbegun; i++) {
		if (m->begun[i].op > op) {
			m->begun[left++] = m->begun[i];
			continue;
		}
		ws_facts_join(&m->now, &m->begun[i].f);
		ws_facts_drop(&m->begun[i].f);
	}
	m->nbegun = left;
	ws_facts_join(&m->done, &m->now);
	ws_facts_drop(&m->now);
	for (uint32_t i = 0; i < m->n; i++) {
		const struct ws_agent *g = &m->agents[i];
		uint64_t time = op > g->base ? op - g->base : 0;

		if (time)
			m->done.k = ws_know_add(m->done.k, g->slot, time < WHO_TIME ? (uint32_t)time + 1 : UINT32_MAX, NULL, 0);
	}
}

void ws_async_mbarrier(void *self, struct ws_obs_warp *ow, const struct ws_mbar *e)
{
	struct ws_block_state *owner = e->block ? e->block->state : NULL, *b = ow ? ow->block->state : NULL;
	struct ws_warp_state *w = ow ? ow->state : NULL;
	struct ws_mbar_state *m;

	if (!owner || (ow && !w))
		return;
	m = find_mbar(owner, e->offset, true);
	switch (e->kind) {
	case WS_MBAR_INIT:
	case WS_MBAR_INVAL: mbar_clear(m); break;
	case WS_MBAR_ARRIVE: arrive(b, w, e, m); break;
	case WS_MBAR_ARRIVE_CP: arrive_cp(b, w, e, m); break;
	case WS_MBAR_PHASE: phase(m, e->op ? e->op[0] : 0); break;
	case WS_MBAR_WAIT:
		if (e->sem != WS_SEM_RELAXED)
			ws_sync_tell(b, w, ws_sync_units(b, e->mask), &m->done);
		else
			ws_sync_pend(b, w, ws_sync_units(b, e->mask), &m->done);
		break;
	}
}

/* ---- the async proxy ---- */
int ws_proxy_bad(const struct ws_ctx *c, uint64_t who, uint32_t mask, uint32_t lane)
{
	const struct ws_slot_info *i = ws_shadow_slot(c->s, who >> 32);
	const struct ws_know *own = c->w->lane ? c->w->lane[c->its ? lane : 0].f.px : NULL;
	uint32_t warp = (uint32_t)(who >> WHO_TIME_BITS & 31) * WS_WARP;

	if (i->agent > AG_CP)
		return -1;
	for (; mask; mask &= mask - 1) {
		uint32_t l = __builtin_ctz(mask), thread = warp + (c->its ? l : 0);

		if (!ws_know_covers(c->b->kb.px, who >> 32, thread, who & WHO_TIME) &&
		    !ws_know_covers(own, who >> 32, thread, who & WHO_TIME))
			return (int)l;
	}
	return -1;
}

void ws_async_proxy_fence(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask)
{
	for (uint32_t m = ws_sync_units(b, mask); m; m &= m - 1) {
		struct ws_lane_sync *ls = ws_sync_of_lane(w, b, __builtin_ctz(m));
		struct ws_facts f = ws_sync_snapshot(w, b, m & -m);

		ls->f.px = ws_know_join(ls->f.px, f.k);
		ws_facts_drop(&f);
	}
}

/* ---- blocks ---- */
static void warp_end(struct ws_warp_state *w)
{
	for (int l = 0; w->async && w->async->cp && l < WS_WARP; l++)
		ws_facts_drop(&w->async->cp[l]);
	if (w->async)
		free(w->async->cp);
	free(w->async);
	w->async = NULL;
}

void ws_async_block_end(struct ws_block_state *b)
{
	for (uint32_t i = 0; i < b->nwarps; i++)
		warp_end(&b->warps[i]);
	for (uint32_t i = 0; i < b->nmbars; i++) {
		mbar_clear(&b->mbars[i]);
		free(b->mbars[i].agents);
		free(b->mbars[i].begun);
	}
	b->nmbars = b->nagents = b->npending = 0;
}

void ws_async_free(struct ws_block_state *b)
{
	free(b->mbars);
	free(b->pending);
	free(b->pending_lines);
	free(b->agents);
}
