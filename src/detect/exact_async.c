/* exact_async.c - asynchronous operations, mbarrier objects and clusters for the detector "exact" (exact_priv.h).
 *
 * An operation is a thread of its own (an agent) that begins at its instruction with what the issuing lane knows (PTX ISA
 * 9.0, Asynchronous Operations). Who learns from an mbarrier object that it is complete also learns what it began with. */
#include "detect/exact_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- operations ---- */
static enum ws_ex_track track_of(const struct ws_access *a)
{
	switch (a->async) {
	case WS_ASYNC_CP: return EX_CP;
	case WS_ASYNC_WGMMA: return EX_WGMMA;
	default: return a->kind == WS_READ ? EX_BULK_READ : EX_BULK;
	}
}

static void begin(struct ws_ex_begin **list, struct ws_ex_now *n)
{
	struct ws_ex_begin *s;

	if (*list && (*list)->op == n->a->op && (*list)->unit == n->u->id && (*list)->time == n->u->time)
		return;
	s = ws_alloc(sizeof *s);
	s->op = n->a->op;
	s->f = ws_ex_copy(&n->u->f);
	s->unit = n->u->id;
	s->time = n->u->time;
	s->next = *list;
	*list = s;
}

/* Joins what the operations up to `op` began with, and forgets them. */
static void take_begins(struct ws_ex_begin **at, uint64_t op, struct ws_ex_facts *to)
{
	for (struct ws_ex_begin *s; (s = *at);) {
		if (s->op > op) {
			at = &s->next;
			continue;
		}
		if (to) {
			ws_ex_learn(to, &s->f);
			ws_ex_raise(&to->k, s->unit, s->time);
		}
		ws_ex_drop(&s->f);
		*at = s->next;
		free(s);
	}
}

static struct ws_ex_mbar *mbar_of(struct ws_ex_block *b, uint32_t offset)
{
	struct ws_ex_mbar *m;

	for (m = b->mbars; m; m = m->next)
		if (m->offset == offset)
			return m;
	m = ws_alloc(sizeof *m);
	m->offset = offset;
	m->next = b->mbars;
	return b->mbars = m;
}

static uint32_t agent(struct ws_exact *x, uint32_t *id)
{
	if (!*id)
		*id = x->next_unit++;
	return *id;
}

/* Under the stack model a warp is one thread: what a lane waits for, all have waited for. */
static struct ws_ex_lane *lane_of(const struct ws_exact *x, struct ws_ex_block *b, uint32_t thread)
{
	return &b->lanes[x->launch->its ? thread : thread / WS_WARP * WS_WARP];
}

/* A product is the warpgroup's: of its first thread. */
static struct ws_ex_lane *products_of(const struct ws_exact *x, struct ws_ex_block *b, uint32_t thread)
{
	return lane_of(x, b, thread & ~(4u * WS_WARP - 1));
}

void ws_ex_async_begin(struct ws_ex_now *n)
{
	const struct ws_access *a = n->a;
	struct ws_ex_lane *lane = lane_of(n->x, n->b, n->thread);
	struct ws_ex_block *at = a->mbar_block ? ws_ex_block(n->x, a->mbar_block) : n->b;

	n->p.async = true;
	n->p.proxy = a->async != WS_ASYNC_CP;
	n->p.first = n->p.last = a->op;
	if (a->async == WS_ASYNC_MBARRIER) {
		struct ws_ex_mbar *m = mbar_of(at ? at : n->b, a->mbar);

		n->p.unit = agent(n->x, &m->agent);
		begin(&m->ops, n);
		return;
	}
	if (a->async == WS_ASYNC_WGMMA)
		lane = products_of(n->x, n->b, n->thread);
	n->p.unit = agent(n->x, &lane->agent[track_of(a)]);
	if (a->async == WS_ASYNC_CP)
		begin(&lane->cp, n);
}

/* Under the stack model a warp is one thread, and its operations so far are the newest of its lanes'. */
static uint64_t of_unit(const struct ws_exact *x, uint32_t mask, const uint64_t *op, uint32_t lane)
{
	uint64_t newest = 0;

	if (x->launch->its)
		return op[lane];
	for (; mask; mask &= mask - 1)
		newest = op[__builtin_ctz(mask)] > newest ? op[__builtin_ctz(mask)] : newest;
	return newest;
}

static void done(struct ws_ex_unit *u, const struct ws_ex_lane *lane, enum ws_ex_track track, uint64_t op)
{
	if (lane->agent[track])
		ws_ex_raise(&u->f.k, lane->agent[track], op);
}

void ws_ex_async_wait(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, uint32_t mask, enum ws_async kind,
                      const uint64_t *op, bool reads_only)
{
	for (; mask; mask &= mask - 1) {
		uint32_t l = __builtin_ctz(mask), thread = w->index * WS_WARP + l;
		struct ws_ex_unit *u = ws_ex_unit(x, b, w, l);
		struct ws_ex_lane *lane = lane_of(x, b, thread);
		uint64_t last = of_unit(x, mask, op, l);

		if (kind == WS_ASYNC_CP)
			done(u, lane, EX_CP, last);
		if (kind == WS_ASYNC_WGMMA)
			done(u, products_of(x, b, thread), EX_WGMMA, last);
		if (kind == WS_ASYNC_BULK)
			done(u, lane, EX_BULK_READ, last);
		if (kind == WS_ASYNC_BULK && !reads_only)
			done(u, lane, EX_BULK, last);
		if (!x->launch->its)
			return;
	}
}

/* ---- mbarrier objects ---- */
static void mbar_clear(struct ws_ex_mbar *m)
{
	ws_ex_drop(&m->now);
	ws_ex_drop(&m->done);
	take_begins(&m->ops, UINT64_MAX, NULL);
	m->agent = 0;
}

static void arrive_cp(const struct ws_exact *x, struct ws_ex_block *b, const struct ws_obs_warp *w, const struct ws_mbar *e,
                      struct ws_ex_mbar *m)
{
	for (uint32_t mask = e->mask; mask; mask &= mask - 1) {
		uint32_t l = __builtin_ctz(mask);
		struct ws_ex_lane *lane = lane_of(x, b, w->index * WS_WARP + l);
		uint64_t last = of_unit(x, mask, e->op, l);

		take_begins(&lane->cp, last, &m->now);
		if (lane->agent[EX_CP])
			ws_ex_raise(&m->now.k, lane->agent[EX_CP], last);
		if (!x->launch->its)
			return;
	}
}

static void phase(struct ws_ex_mbar *m, uint64_t op)
{
	take_begins(&m->ops, op, &m->now);
	if (m->agent)
		ws_ex_raise(&m->now.k, m->agent, op);
	ws_ex_learn(&m->done, &m->now);
	ws_ex_drop(&m->now);
}

static void lanes_hand_on(struct ws_exact *x, struct ws_ex_block *b, const struct ws_obs_warp *w, uint32_t mask,
                          struct ws_ex_facts *to)
{
	for (; mask; mask &= mask - 1)
		ws_ex_snapshot(ws_ex_unit(x, b, w, __builtin_ctz(mask)), to);
}

/* A relaxed arrival hands on what came before the thread's last fence that releases. */
static void lanes_fenced(struct ws_exact *x, struct ws_ex_block *b, const struct ws_obs_warp *w, uint32_t mask,
                         enum ws_ex_level level, struct ws_ex_facts *to)
{
	for (; mask; mask &= mask - 1) {
		struct ws_ex_unit *u = ws_ex_unit(x, b, w, __builtin_ctz(mask));

		if (u->fenced[level])
			ws_ex_learn(to, &u->fence[level]);
	}
}

/* After a relaxed wait a fence that acquires makes it known. */
static void lanes_pend(struct ws_exact *x, struct ws_ex_block *b, const struct ws_obs_warp *w, uint32_t mask,
                       const struct ws_ex_facts *from)
{
	for (; mask; mask &= mask - 1) {
		struct ws_ex_unit *u = ws_ex_unit(x, b, w, __builtin_ctz(mask));
		struct ws_ex_note *n = ws_alloc(sizeof *n);

		n->level = EX_CTA;
		n->key = (struct ws_ex_key){UINT64_MAX, 0};      /* no word's: for fences only */
		n->f = ws_ex_copy(from);
		n->next = u->pending;
		u->pending = n;
	}
}

static void lanes_learn(struct ws_exact *x, struct ws_ex_block *b, const struct ws_obs_warp *w, uint32_t mask,
                        const struct ws_ex_facts *from)
{
	for (; mask; mask &= mask - 1)
		ws_ex_learn(&ws_ex_unit(x, b, w, __builtin_ctz(mask))->f, from);
}

void ws_ex_mbarrier(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, const struct ws_mbar *e)
{
	struct ws_ex_block *owner = e->block ? ws_ex_block(x, e->block) : NULL;
	struct ws_ex_mbar *m = owner ? mbar_of(owner, e->offset) : NULL;

	if (!m || (!b && e->kind != WS_MBAR_PHASE))
		return;
	switch (e->kind) {
	case WS_MBAR_INIT:
	case WS_MBAR_INVAL: mbar_clear(m); break;
	case WS_MBAR_ARRIVE_CP: arrive_cp(x, b, w, e, m); break;
	case WS_MBAR_PHASE: phase(m, e->op ? e->op[0] : 0); break;
	case WS_MBAR_ARRIVE:
		if (e->sem != WS_SEM_RELAXED)
			lanes_hand_on(x, b, w, e->mask, &m->now);
		else
			lanes_fenced(x, b, w, e->mask, owner == b ? EX_CTA : EX_CLUSTER, &m->now);
		break;
	case WS_MBAR_WAIT:
		if (e->sem != WS_SEM_RELAXED)
			lanes_learn(x, b, w, e->mask, &m->done);
		else
			lanes_pend(x, b, w, e->mask, &m->done);
		break;
	}
}

/* ---- clusters ---- */
static struct ws_ex_cluster *cluster_of(struct ws_exact *x, uint64_t id)
{
	struct ws_ex_cluster *c;

	for (c = x->clusters; c; c = c->next)
		if (c->id == id)
			return c;
	c = ws_alloc(sizeof *c);
	c->id = id;
	c->next = x->clusters;
	return x->clusters = c;
}

void ws_ex_cluster_barrier(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w,
                           const struct ws_cluster_barrier *e)
{
	struct ws_ex_cluster *c = cluster_of(x, b->cluster);

	if (e->kind == WS_CLUSTER_COMPLETE) {
		ws_ex_drop(&c->done);
		c->done = c->now;
		memset(&c->now, 0, sizeof c->now);
	} else if (e->kind == WS_CLUSTER_ARRIVE && e->sem == WS_SEM_RELAXED) {
		lanes_fenced(x, b, w, e->mask, EX_CLUSTER, &c->now);
	} else if (e->kind == WS_CLUSTER_ARRIVE) {
		lanes_hand_on(x, b, w, e->mask, &c->now);
	} else if (e->sem == WS_SEM_RELAXED) {
		lanes_pend(x, b, w, e->mask, &c->done);
	} else {
		lanes_learn(x, b, w, e->mask, &c->done);
	}
}

/* An access to another block's shared memory: that block must have begun, so something that it did happened before. */
void ws_ex_visit(struct ws_ex_now *n)
{
	struct ws_ex_block *o = n->owner;
	struct ws_ex_visit *v;

	if (!ws_ex_any(n->u->f.k, o->first_unit, o->first_unit + o->nunits))
		ws_ex_report_lifetime(n->x, o, n->a->site, false);
	for (v = o->visits; v; v = v->next)
		if (v->unit == n->p.unit && v->site == n->a->site)
			break;
	if (!v) {
		v = ws_alloc(sizeof *v);
		v->next = o->visits;
		o->visits = v;
	}
	v->unit = n->p.unit;
	v->time = n->p.last;
	v->site = n->a->site;
}

/* All of its memory's visitors must have been before something that one of its threads did. */
void ws_ex_block_ends(struct ws_exact *x, struct ws_ex_block *b)
{
	for (struct ws_ex_visit *v = b->visits; v; v = v->next) {
		bool known = false;

		for (uint32_t i = 0; i < b->nunits && !known; i++)
			known = ws_ex_time(b->units[i].f.k, v->unit) >= v->time;
		if (!known)
			ws_ex_report_lifetime(x, b, v->site, true);
	}
}

/* ---- the end ---- */
void ws_ex_async_clear(struct ws_ex_block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++)
		take_begins(&b->lanes[i].cp, UINT64_MAX, NULL);
	for (struct ws_ex_mbar *m = b->mbars, *next; m; m = next) {
		next = m->next;
		mbar_clear(m);
		free(m);
	}
	for (struct ws_ex_visit *v = b->visits, *next; v; v = next) {
		next = v->next;
		free(v);
	}
	b->mbars = NULL;
	b->visits = NULL;
}

void ws_ex_clusters_clear(struct ws_exact *x)
{
	for (struct ws_ex_cluster *c = x->clusters, *next; c; c = next) {
		next = c->next;
		ws_ex_drop(&c->now);
		ws_ex_drop(&c->done);
		free(c);
	}
	x->clusters = NULL;
}
