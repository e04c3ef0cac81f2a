/* detect_ref.h - for tests of the detector "shadow": a slow exact reference, and events told to both.
 *
 * The reference keeps a vector clock a thread (a warp under the stack model), every access to every byte for ever, and
 * every release as a full copy. It shares no idea with src/detect but the memory model itself. */
#ifndef DETECT_REF_H
#define DETECT_REF_H

#include "detect/shadow_priv.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCKS = 4, MAX_WARPS = 3, THREADS = MAX_BLOCKS * MAX_WARPS * WS_WARP, MEM = 512, HIST = 4096 };

typedef uint32_t clocks[THREADS];

struct past { uint32_t unit, clock; uint8_t cls; enum ws_scope scope; uint32_t elem, block, n; };
struct byte_past { struct past *p; uint32_t n; size_t cap; bool raced, fast_raced; };

struct ref_contrib { uint32_t block; enum ws_level level, read; uint64_t key; clocks vc; struct ref_contrib *next; };
struct ref_relop { uint64_t key; enum ws_level level; clocks vc; struct ref_relop *next; };
struct ref_write { clocks vc; struct ref_write *next; };       /* what happened before a strong write */
struct ref_sight { uint32_t unit, clock; clocks wrote; struct ref_sight *next; };      /* a strong read of it */
struct ref_fence { uint32_t unit, clock; clocks vc; struct ref_fence *next; };         /* fence.sc of the GPU */
struct ref_loc { uint64_t key; uint32_t size; struct ref_contrib *c; struct ref_write *w; struct ref_loc *next; };
struct ref_thread {
	clocks vc;
	bool fenced[LEVELS];
	clocks fence[LEVELS];
	struct ref_contrib *seen;
	struct ref_relop *rel;
};
struct ref_arrival { uint32_t block, id; clocks vc; struct ref_arrival *next; };

struct sim {
	const struct ws_detector *d;
	struct ws_shadow *self;
	struct ws_report *report;
	struct ws_obs_launch launch;
	struct ws_obs_block block[MAX_BLOCKS];
	struct ws_obs_warp warp[MAX_BLOCKS][MAX_WARPS];
	uint8_t shared[MAX_BLOCKS][MEM], global[MEM];
	struct ws_mem mem;
	struct ws_site site[256];
	uint32_t nsites;
	bool its;
	uint32_t lanes, blocks, warps;
	/* reference */
	struct ref_thread *t;
	struct byte_past g[MEM], s[MAX_BLOCKS][MEM];
	struct ref_loc *locs;
	struct ref_arrival *arrivals;
	struct ref_sight *sights;
	struct ref_fence *fences;
	uint32_t seq;
	bool trace;
};

static struct byte_past *byte_at(struct sim *m, bool global, uint32_t block, uint64_t addr)
{
	return global ? &m->g[addr - m->mem.addr] : &m->s[block][addr];
}

static inline void sim_hook(void *user, bool global, uint64_t block, uint64_t addr, uint32_t bytes, bool warning)
{
	struct sim *m = user;

	if (m->trace)
		printf("  -> conflict at %s+%llu, %u bytes\n", global ? "global" : "shared",
		       (unsigned long long)(addr - (global ? m->mem.addr : 0)), bytes);
	for (uint32_t i = 0; i < bytes; i++)
		byte_at(m, global, (uint32_t)block, addr + i)->fast_raced = true;
}

static uint32_t unit_of(const struct sim *m, uint32_t block, uint32_t warp, uint32_t lane)
{
	return (block * MAX_WARPS + warp) * WS_WARP + (m->its ? lane : 0);
}

static void join_vc(uint32_t *a, const uint32_t *b)
{
	for (int i = 0; i < THREADS; i++)
		a[i] = a[i] > b[i] ? a[i] : b[i];
}

/* ---- life ---- */
static struct sim *sim_new(bool its, uint32_t blocks, uint32_t warps, uint32_t lanes, bool simple, uint32_t granularity)
{
	struct sim *m = ws_alloc(sizeof *m);
	struct ws_detect_config config = {.granularity = granularity, .shared = true, .global = true};

	m->d = ws_detector_find("shadow");
	m->report = ws_report_new();
	m->self = m->d->create(&config, m->report);
	m->self->hook = sim_hook;
	m->self->hook_user = m;
	m->its = its;
	m->lanes = lanes, m->blocks = blocks, m->warps = warps;
	m->launch = (struct ws_obs_launch){.name = "k", .serial = 1, .grid = {blocks, 1, 1}, .block = {warps * WS_WARP, 1, 1},
	                                   .blocks = blocks, .threads = warps * WS_WARP, .warps = warps, .host_threads = 1,
	                                   .shared_bytes = MEM, .its = its};
	m->mem = (struct ws_mem){.addr = 0x7f0000000000 + 64, .size = MEM, .host = m->global, .serial = 1};
	m->d->ops->launch_begin(m->self, &m->launch);
	m->self->launch.simple = simple;
	m->t = ws_alloc(THREADS * sizeof *m->t);
	for (int i = 0; i < THREADS; i++)
		m->t[i].vc[i] = 1;
	for (uint32_t b = 0; b < blocks; b++) {
		m->block[b] = (struct ws_obs_block){.launch = &m->launch, .linear = b, .ctaid = {b, 0, 0}, .shared = m->shared[b]};
		m->d->ops->block_begin(m->self, &m->block[b]);
		for (uint32_t w = 0; w < warps; w++) {
			m->warp[b][w] = (struct ws_obs_warp){.block = &m->block[b], .index = w, .lanes = lanes};
			m->d->ops->warp_begin(m->self, &m->warp[b][w]);
		}
	}
	return m;
}

static void free_past(struct byte_past *p)
{
	free(p->p);
}

static void free_contribs(struct ref_contrib *c)
{
	for (struct ref_contrib *n; c; c = n) {
		n = c->next;
		free(c);
	}
}

#define FREE_LIST(T, list) \
	for (struct T *x = (list), *n; x; x = n) { \
		n = x->next; \
		free(x); \
	}

static void ref_loc_clear(struct ref_loc *l)
{
	free_contribs(l->c);
	FREE_LIST(ref_write, l->w)
	l->c = NULL;
	l->w = NULL;
}

static inline void sim_free(struct sim *m)
{
	for (uint32_t b = 0; b < m->blocks; b++) {
		for (uint32_t w = 0; w < m->warps; w++)
			m->d->ops->warp_end(m->self, &m->warp[b][w]);
		m->d->ops->block_end(m->self, &m->block[b]);
	}
	m->d->ops->launch_end(m->self, &m->launch, true);
	m->d->ops->mem_free(m->self, &m->mem);
	m->d->destroy(m->self);
	ws_report_free(m->report);
	for (int i = 0; i < MEM; i++) {
		free_past(&m->g[i]);
		for (int b = 0; b < MAX_BLOCKS; b++)
			free_past(&m->s[b][i]);
	}
	for (int i = 0; i < THREADS; i++) {
		free_contribs(m->t[i].seen);
		for (struct ref_relop *r = m->t[i].rel, *n; r; r = n) {
			n = r->next;
			free(r);
		}
	}
	for (struct ref_loc *l = m->locs, *n; l; l = n) {
		n = l->next;
		ref_loc_clear(l);
		free(l);
	}
	FREE_LIST(ref_sight, m->sights)
	FREE_LIST(ref_fence, m->fences)
	for (struct ref_arrival *a = m->arrivals, *n; a; a = n) {
		n = a->next;
		free(a);
	}
	free(m->t);
	free(m);
}

/* ---- the reference ---- */
static bool ref_strong(uint8_t cls)
{
	return cls >= CLS_SREAD;
}

static bool ref_writes(uint8_t cls)
{
	return cls != CLS_READ && cls != CLS_SREAD;
}

static bool reaches(enum ws_level level, uint32_t block1, uint32_t block2)
{
	return level == LV_GPU || block1 == block2;      /* every block is a cluster of its own */
}

static enum ws_level ref_level(enum ws_scope s)
{
	return s == WS_SCOPE_CTA ? LV_CTA : s == WS_SCOPE_CLUSTER ? LV_CLUSTER : LV_GPU;
}

static bool ref_observed(const struct byte_past *p, uint32_t write, const uint32_t *vc)
{
	for (uint32_t i = write + 1; i < p->n; i++)
		if ((p->p[i].cls == CLS_RMW || p->p[i].cls == CLS_SREAD) && p->p[i].clock <= vc[p->p[i].unit])
			return true;
	return false;
}

static bool ref_races(const struct sim *m, const struct byte_past *p, uint32_t i, const struct past *now, const uint32_t *vc)
{
	const struct past *old = &p->p[i];

	if (!ref_writes(old->cls) && !ref_writes(now->cls))
		return false;
	if (old->n == now->n && (old->unit == now->unit || ref_strong(old->cls)))      /* lanes of one instruction */
		return !ref_strong(old->cls) && ref_writes(old->cls) && !m->its;
	if (old->clock <= vc[old->unit])
		return false;
	if (ref_strong(old->cls) && ref_strong(now->cls) && old->elem == now->elem &&
	    reaches(ref_level(old->scope), old->block, now->block) && reaches(ref_level(now->scope), old->block, now->block))
		return false;
	return !(ref_strong(old->cls) && ref_writes(old->cls) && ref_observed(p, i, vc));
}

static void ref_byte(struct sim *m, struct byte_past *p, const struct past *now, const uint32_t *vc)
{
	for (uint32_t i = 0; i < p->n && !p->raced; i++)
		p->raced = ref_races(m, p, i, now, vc);
	p->p = ws_grow(p->p, &p->cap, p->n + 1, sizeof *p->p);
	p->p[p->n++] = *now;
}

static struct ref_loc *ref_loc(struct sim *m, uint64_t key, uint32_t size, bool make)
{
	struct ref_loc *l;

	for (l = m->locs; l; l = l->next)
		if (l->key == key && l->size == size)
			return l;
	if (!make)
		return NULL;
	l = ws_alloc(sizeof *l);
	*l = (struct ref_loc){.key = key, .size = size, .next = m->locs};
	return m->locs = l;
}

static void ref_clear_locs(struct sim *m, uint64_t key, uint32_t size, const struct ref_loc *but)
{
	for (struct ref_loc *l = m->locs; l; l = l->next) {
		if (l == but || l->key >= key + size || key >= l->key + l->size)
			continue;
		ref_loc_clear(l);
	}
}

static bool ref_is_acquire(enum ws_sem s)
{
	return s == WS_SEM_ACQUIRE || s == WS_SEM_ACQ_REL || s == WS_SEM_SC;
}

static bool ref_is_release(enum ws_sem s)
{
	return s == WS_SEM_RELEASE || s == WS_SEM_ACQ_REL || s == WS_SEM_SC;
}

static void ref_read(struct sim *m, const struct ws_access *a, uint32_t block, uint32_t unit, struct ref_loc *l)
{
	struct ref_thread *t = &m->t[unit];
	enum ws_level read = ref_level(a->scope);

	for (struct ref_contrib *c = l ? l->c : NULL; c; c = c->next) {
		struct ref_contrib *s;

		if (!reaches(read, c->block, block) || !reaches(c->level, c->block, block))
			continue;
		s = ws_alloc(sizeof *s);
		*s = *c;
		s->next = t->seen;
		s->read = read;
		s->key = l->key;
		t->seen = s;
	}
	for (struct ref_write *w = l && read == LV_GPU ? l->w : NULL; w; w = w->next) {
		struct ref_sight *s = ws_alloc(sizeof *s);

		s->unit = unit;
		s->clock = t->vc[unit];
		memcpy(s->wrote, w->vc, sizeof s->wrote);
		s->next = m->sights;
		m->sights = s;
	}
}

/* Everything read so far, from `key` or (0) from anywhere, that an acquire of that level reaches. */
static void ref_acquire(struct sim *m, uint32_t block, uint32_t unit, enum ws_level level, uint64_t key)
{
	struct ref_thread *t = &m->t[unit];

	for (struct ref_contrib *c = t->seen; c; c = c->next)
		if (reaches(level, c->block, block) && (!key || c->key == key))
			join_vc(t->vc, c->vc);
}

static void ref_publish(struct ref_loc *l, uint32_t block, enum ws_level level, const uint32_t *vc)
{
	struct ref_contrib *c = ws_alloc(sizeof *c);

	c->block = block;
	c->level = level;
	memcpy(c->vc, vc, sizeof c->vc);
	c->next = l->c;
	l->c = c;
}

static void ref_write(struct sim *m, const struct ws_access *a, uint32_t block, uint32_t unit, struct ref_loc *l, bool rmw)
{
	struct ref_thread *t = &m->t[unit];
	enum ws_level level = ref_level(a->scope);

	if (!rmw)
		ref_loc_clear(l);
	if (level == LV_GPU) {
		struct ref_write *w = ws_alloc(sizeof *w);

		memcpy(w->vc, t->vc, sizeof w->vc);
		w->next = l->w;
		l->w = w;
	}
	if (ref_is_release(a->sem)) {
		struct ref_relop *r = ws_alloc(sizeof *r);

		r->key = l->key;
		r->level = level;
		memcpy(r->vc, t->vc, sizeof r->vc);
		r->next = t->rel;
		t->rel = r;
	}
	for (enum ws_level lv = LV_CTA; lv <= level; lv++)
		if (t->fenced[lv])
			ref_publish(l, block, lv, t->fence[lv]);
	for (struct ref_relop *r = t->rel; r; r = r->next)
		if (r->key == l->key)
			ref_publish(l, block, r->level < level ? r->level : level, r->vc);
}

/* Each element of a lane's access. */
static void ref_element(struct sim *m, const struct ws_access *a, uint32_t block, uint32_t unit, uint64_t addr, uint32_t size,
                        uint8_t cls)
{
	bool global = a->space != WS_SPACE_SHARED;
	uint64_t key = global ? addr : ((uint64_t)block + 1) << 48 | (addr + 1);
	struct ref_loc *l = ref_strong(cls) ? ref_loc(m, key, size, ref_writes(cls)) : NULL;
	struct past now = {.unit = unit, .cls = cls, .scope = a->scope, .elem = size, .block = block, .n = m->seq};

	if (ref_strong(cls) && ref_writes(cls))
		ref_clear_locs(m, key, size, l);
	if (ref_writes(cls) && !ref_strong(cls))
		ref_clear_locs(m, key, size, NULL);
	/* the access itself is checked with what was known before it */
	now.clock = m->t[unit].vc[unit];
	for (uint32_t i = 0; i < size; i++)
		ref_byte(m, byte_at(m, global, block, addr + i), &now, m->t[unit].vc);
	if (cls == CLS_SREAD || cls == CLS_RMW) {
		ref_read(m, a, block, unit, l);
		if (ref_is_acquire(a->sem))
			ref_acquire(m, block, unit, ref_level(a->scope), key);
	}
	if (cls == CLS_SWRITE || cls == CLS_RMW)
		ref_write(m, a, block, unit, l, cls == CLS_RMW);
}

static void ref_access(struct sim *m, const struct ws_access *a, uint32_t block, uint32_t warp)
{
	bool weak = a->kind != WS_ATOMIC && a->sem == WS_SEM_WEAK;
	bool stepped[WS_WARP] = {0};

	m->seq++;
	for (uint32_t l = 0; l < WS_WARP; l++) {
		uint32_t unit = unit_of(m, block, warp, l);
		uint8_t cls;

		if (!(a->mask >> l & 1))
			continue;
		if (!stepped[m->its ? l : 0])
			m->t[unit].vc[unit]++;
		stepped[m->its ? l : 0] = true;
		if (weak)
			cls = a->kind == WS_READ ? CLS_READ : CLS_WRITE;
		else
			cls = a->kind == WS_READ ? CLS_SREAD : a->kind == WS_WRITE ? CLS_SWRITE : a->wrote >> l & 1 ? CLS_RMW : CLS_SREAD;
		ref_element(m, a, block, unit, a->addr[l], a->bytes, cls);
	}
}

/* ---- events, told to both ---- */
struct ev {
	bool global;
	uint8_t kind, sem, scope;
	uint32_t mask, wrote, bytes, site;
	bool linear;
	uint64_t base;               /* linear; offset in the memory */
	uint64_t addr[WS_WARP];
	uint8_t value[WS_WARP * 32];
};

static inline void sim_access(struct sim *m, uint32_t block, uint32_t warp, struct ev *e)
{
	uint64_t origin = e->global ? m->mem.addr : 0, addr[WS_WARP] = {0};
	uint8_t *bytes = e->global ? m->global : m->shared[block], old[WS_WARP * 32];
	struct ws_access a = {.site = &m->site[e->site], .mask = e->mask, .wrote = e->wrote, .kind = e->kind,
	                      .space = e->global ? WS_SPACE_GLOBAL : WS_SPACE_SHARED, .sem = e->sem, .scope = e->scope,
	                      .bytes = e->bytes, .linear = e->linear, .base = origin + e->base, .addr = addr,
	                      .mem = e->global ? &m->mem : NULL, .value = e->value, .atom = WS_ATOM_ADD};

	m->site[e->site].id = e->site;
	for (int l = 0; l < WS_WARP; l++)
		addr[l] = origin + (e->linear ? e->base + (uint64_t)l * e->bytes : e->addr[l]);
	if (a.kind == WS_READ) {
		a.value = NULL;
	} else if (a.kind == WS_ATOMIC) {
		a.value = old;
		memset(old, 1, sizeof old);
	}
	if (m->trace)
		printf("  b%u w%u mask %x wrote %x kind %d sem %d scope %d %s +%llu x%u %s\n", block, warp, e->mask, e->wrote, e->kind, e->sem,
		       e->scope, e->global ? "global" : "shared", (unsigned long long)(e->linear ? e->base : e->addr[__builtin_ctz(e->mask)]),
		       e->bytes, e->linear ? "linear" : "scattered");
	m->d->ops->access(m->self, &m->warp[block][warp], &a);
	ref_access(m, &a, block, warp);
	for (int l = 0; a.kind == WS_WRITE && l < WS_WARP; l++)
		if (a.mask >> l & 1)
			memcpy(bytes + (addr[l] - origin), e->value + (size_t)l * e->bytes, e->bytes);
}

static inline void sim_full_barrier(struct sim *m, uint32_t block)
{
	uint32_t masks[MAX_WARPS];
	struct ws_barrier bar = {.full = true, .arrived = masks, .waited = masks};
	clocks all = {0};

	for (uint32_t w = 0; w < m->warps; w++)
		masks[w] = m->lanes == 32 ? ~0u : (1u << m->lanes) - 1;
	if (m->trace)
		printf("  b%u barrier\n", block);
	m->d->ops->barrier(m->self, &m->block[block], &bar);
	for (uint32_t i = 0; i < MAX_WARPS * WS_WARP; i++)
		join_vc(all, m->t[block * MAX_WARPS * WS_WARP + i].vc);
	for (uint32_t i = 0; i < MAX_WARPS * WS_WARP; i++)
		join_vc(m->t[block * MAX_WARPS * WS_WARP + i].vc, all);
}

static inline void sim_arrive(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask, uint32_t id)
{
	struct ref_arrival *r = ws_alloc(sizeof *r);

	if (m->trace)
		printf("  b%u w%u arrive %x at %u\n", block, warp, mask, id);
	m->d->ops->barrier_arrive(m->self, &m->warp[block][warp], mask, id);
	r->block = block, r->id = id;
	for (uint32_t l = 0; l < WS_WARP; l++)
		if (mask >> l & 1)
			join_vc(r->vc, m->t[unit_of(m, block, warp, l)].vc);
	r->next = m->arrivals;
	m->arrivals = r;
}

/* waited: a mask a warp. Earlier sim_arrive of that id count as arrived. */
static inline void sim_part_barrier(struct sim *m, uint32_t block, uint32_t id, const uint32_t *waited)
{
	struct ws_barrier bar = {.id = id, .arrived = waited, .waited = waited};
	clocks all = {0};

	if (m->trace)
		printf("  b%u barrier %u waited %x %x\n", block, id, waited[0], waited[1]);
	m->d->ops->barrier(m->self, &m->block[block], &bar);
	for (struct ref_arrival **p = &m->arrivals, *r; (r = *p);) {
		if (r->block != block || r->id != id) {
			p = &r->next;
			continue;
		}
		join_vc(all, r->vc);
		*p = r->next;
		free(r);
	}
	for (uint32_t w = 0; w < m->warps; w++)
		for (uint32_t l = 0; l < WS_WARP; l++)
			if (waited[w] >> l & 1)
				join_vc(all, m->t[unit_of(m, block, w, l)].vc);
	for (uint32_t w = 0; w < m->warps; w++)
		for (uint32_t l = 0; l < WS_WARP; l++)
			if (waited[w] >> l & 1)
				join_vc(m->t[unit_of(m, block, w, l)].vc, all);
}

static inline void sim_warp_sync(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask)
{
	clocks all = {0};

	if (m->trace)
		printf("  b%u w%u warp sync %x\n", block, warp, mask);
	m->d->ops->warp_sync(m->self, &m->warp[block][warp], mask);
	for (uint32_t l = 0; l < WS_WARP; l++)
		if (mask >> l & 1)
			join_vc(all, m->t[unit_of(m, block, warp, l)].vc);
	for (uint32_t l = 0; l < WS_WARP; l++)
		if (mask >> l & 1)
			join_vc(m->t[unit_of(m, block, warp, l)].vc, all);
}

/* A fence.sc of `unit`: earlier ones whose order with it is certain synchronize with it. */
static void ref_fence_sc(struct sim *m, uint32_t unit)
{
	struct ref_thread *t = &m->t[unit];
	struct ref_fence *mine = ws_alloc(sizeof *mine);
	clocks before;

	memcpy(before, t->vc, sizeof before);
	for (struct ref_sight *s = m->sights; s; s = s->next)
		for (struct ref_fence *f = s->clock <= before[s->unit] ? m->fences : NULL; f; f = f->next)
			if (f->clock <= s->wrote[f->unit])
				join_vc(t->vc, f->vc);
	mine->unit = unit;
	mine->clock = t->vc[unit];
	memcpy(mine->vc, t->vc, sizeof mine->vc);
	mine->next = m->fences;
	m->fences = mine;
}

static inline void sim_fence(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask, enum ws_sem sem, enum ws_scope scope)
{
	struct ws_fence f = {.sem = sem, .scope = scope};
	enum ws_level level = ref_level(scope);

	if (m->trace)
		printf("  b%u w%u fence %x sem %d scope %d\n", block, warp, mask, sem, scope);
	m->d->ops->fence(m->self, &m->warp[block][warp], mask, &f);
	for (uint32_t l = 0; l < WS_WARP; l++) {
		uint32_t unit = unit_of(m, block, warp, l);
		struct ref_thread *t = &m->t[unit];

		if (!(mask >> l & 1) || (!m->its && l > (uint32_t)__builtin_ctz(mask)))
			continue;
		t->vc[unit]++;
		if (sem != WS_SEM_RELEASE)
			ref_acquire(m, block, unit, level, 0);
		if (sem == WS_SEM_SC && level == LV_GPU)
			ref_fence_sc(m, unit);
		for (enum ws_level lv = LV_CTA; sem != WS_SEM_ACQUIRE && lv <= level; lv++) {
			t->fenced[lv] = true;
			memcpy(t->fence[lv], t->vc, sizeof t->vc);
		}
	}
}

/* 0: both agree on every byte; else a count, with a line each when tracing. */
static inline uint32_t sim_differences(struct sim *m, uint32_t *raced)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b <= m->blocks; b++)
		for (uint32_t i = 0; i < MEM; i++) {
			const struct byte_past *p = b ? &m->s[b - 1][i] : &m->g[i];

			*raced += p->raced;
			n += p->raced != p->fast_raced;
			if (m->trace && p->raced != p->fast_raced)
				printf("  %s %u byte %u: %s\n", b ? "shared of" : "global", b ? b - 1 : 0, i,
				       p->raced ? "missed" : "false report");
		}
	return n;
}

#endif
