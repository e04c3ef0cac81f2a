/* exact_sync.c - barriers, fences, release and acquire for the detector "exact" (exact_priv.h).
 *
 * After PTX ISA 9.0, Memory Consistency Model: Release and Acquire Patterns, Synchronization, Fence-SC, Causality Order. A
 * word carries what the release sequence that its value belongs to has released: kept once for each set of threads that
 * may see it, one for the GPU, one for each cluster, one for each block. */
#include "detect/exact_priv.h"

#include <stdlib.h>
#include <string.h>

enum ws_ex_level ws_ex_level(uint8_t scope)
{
	return scope == WS_SCOPE_CTA ? EX_CTA : scope == WS_SCOPE_CLUSTER ? EX_CLUSTER : EX_GPU;
}

void ws_ex_snapshot(const struct ws_ex_unit *u, struct ws_ex_facts *to)
{
	ws_ex_learn(to, &u->f);
	ws_ex_raise(&to->k, u->id, u->time);
}

static void each_unit(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, uint32_t mask,
                      void (*fn)(const struct ws_ex_unit *, struct ws_ex_facts *), struct ws_ex_facts *f)
{
	for (; mask; mask &= mask - 1) {
		fn(ws_ex_unit(x, b, w, __builtin_ctz(mask)), f);
		if (!x->launch->its)
			return;
	}
}

static void teach(const struct ws_ex_unit *u, struct ws_ex_facts *f)
{
	ws_ex_learn(&((struct ws_ex_unit *)u)->f, f);
}

/* ---- barriers ---- */
static bool take_arrivals(struct ws_ex_block *b, uint32_t id, struct ws_ex_facts *f)
{
	bool any = false;

	for (struct ws_ex_arrival **at = &b->arrivals, *a; (a = *at);) {
		if (a->id != id) {
			at = &a->next;
			continue;
		}
		ws_ex_learn(f, &a->f);
		ws_ex_drop(&a->f);
		*at = a->next;
		free(a);
		any = true;
	}
	return any;
}

/* What arrived is before what waited; with every thread of the block, also what exited threads did. */
void ws_ex_barrier(struct ws_exact *x, struct ws_ex_block *b, const struct ws_barrier *bar)
{
	struct ws_ex_facts f = {.k = NULL};
	bool noted = take_arrivals(b, bar->id, &f), all = bar->full && !noted;
	uint32_t warps = x->launch->warps;

	for (uint32_t i = 0; all && i < b->nunits; i++)
		ws_ex_snapshot(&b->units[i], &f);
	for (uint32_t i = 0; i < warps && !all; i++)
		each_unit(x, b, &(struct ws_obs_warp){.index = i}, bar->waited[i], ws_ex_snapshot, &f);
	for (uint32_t i = 0; all && i < b->nunits; i++)
		teach(&b->units[i], &f);
	for (uint32_t i = 0; i < warps && !all; i++)
		each_unit(x, b, &(struct ws_obs_warp){.index = i}, bar->waited[i], teach, &f);
	ws_ex_drop(&f);
}

void ws_ex_barrier_arrive(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, uint32_t mask, uint32_t id)
{
	struct ws_ex_arrival *a = ws_alloc(sizeof *a);

	a->id = id;
	each_unit(x, b, w, mask, ws_ex_snapshot, &a->f);
	a->next = b->arrivals;
	b->arrivals = a;
}

void ws_ex_warp_sync(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, uint32_t mask)
{
	struct ws_ex_facts f = {.k = NULL};

	each_unit(x, b, w, mask, ws_ex_snapshot, &f);
	each_unit(x, b, w, mask, teach, &f);
	ws_ex_drop(&f);
}

/* ---- fences ---- */
/* fence.sc: fences that are certainly earlier synchronize with it. One is when a strong write after it was seen by a
 * strong read before this one: else that read would have seen a write of its own future. */
static void fence_sc(struct ws_ex_unit *u)
{
	ws_ex_join(&u->f.k, u->f.seen);
	ws_ex_join(&u->f.sc, u->f.k);
	ws_ex_raise(&u->f.sc, u->id, u->time);
}

static void fence_unit(struct ws_ex_unit *u, const struct ws_fence *f)
{
	enum ws_ex_level level = ws_ex_level(f->scope);

	for (struct ws_ex_note *p = f->sem != WS_SEM_RELEASE ? u->pending : NULL; p; p = p->next)
		if (p->level <= level)
			ws_ex_learn(&u->f, &p->f);
	if (f->sem == WS_SEM_SC && level == EX_GPU)
		fence_sc(u);
	for (int lv = EX_CTA; f->sem != WS_SEM_ACQUIRE && lv <= (int)level; lv++) {
		ws_ex_drop(&u->fence[lv]);
		ws_ex_snapshot(u, &u->fence[lv]);
		u->fenced[lv] = true;
	}
}

static void proxy_fence(struct ws_ex_unit *u)
{
	ws_ex_join(&u->f.px, u->f.k);
	ws_ex_raise(&u->f.px, u->id, u->time);
}

void ws_ex_fence(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f)
{
	for (; mask; mask &= mask - 1) {
		struct ws_ex_unit *u = ws_ex_unit(x, b, w, __builtin_ctz(mask));

		if (!f->proxy)
			fence_unit(u, f);
		else if (!strncmp(f->proxy, "async", 5))
			proxy_fence(u);
		else if (!strcmp(f->proxy, "mbarrier_init"))     /* a release, for what init wrote */
			fence_unit(u, &(struct ws_fence){WS_SEM_RELEASE, WS_SCOPE_CLUSTER, NULL});
		if (!x->launch->its)
			return;
	}
}

/* ---- words ---- */
enum { WIDEST = 32 };                        /* bytes of a word */

static struct ws_ex_word *new_word(struct ws_ex_byte *b, uint32_t size)
{
	struct ws_ex_word *w = ws_alloc(sizeof *w);

	w->size = size;
	w->next = b->words;
	return b->words = w;
}

static void word_clear(struct ws_ex_word *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		ws_ex_drop(&w->store[i].f);
	w->n = 0;
	ws_ex_unref(w->sc);
	ws_ex_unref(w->dep);
	w->sc = w->dep = NULL;
}

void ws_ex_word_free(struct ws_ex_word *w)
{
	for (struct ws_ex_word *next; w; w = next) {
		next = w->next;
		word_clear(w);
		free(w->store);
		free(w);
	}
}

static bool is_released(const struct ws_ex_word *w)
{
	return w->n || w->sc || w->dep;
}

/* A word that overlaps these bytes and has been released, from *at on; *at is where it begins, to go on behind `last`. NULL: no more. */
static struct ws_ex_word *released_word(struct ws_exact *x, struct ws_ex_block *owner, uint64_t addr, uint32_t bytes, uint64_t *at,
                                        const struct ws_ex_word *last)
{
	if (!last)
		*at = addr < WIDEST ? 0 : addr - WIDEST + 1;
	for (; x->words && *at < addr + bytes; ++*at, last = NULL) {
		struct ws_ex_byte *b = last ? NULL : ws_ex_byte(x, owner, *at);

		for (struct ws_ex_word *w = last ? last->next : b ? b->words : NULL; w; w = w->next)
			if (*at + w->size > addr && is_released(w))
				return w;
	}
	return NULL;
}

/* The release sequences of these bytes end. */
void ws_ex_weak_write(struct ws_exact *x, struct ws_ex_block *owner, uint64_t addr, uint32_t bytes)
{
	struct ws_ex_word *w = NULL;
	uint64_t at;

	while ((w = released_word(x, owner, addr, bytes, &at, w)))
		word_clear(w);
}

static uint64_t domain_of(const struct ws_ex_block *b, enum ws_ex_level level)
{
	return level == EX_CTA ? b->linear : level == EX_CLUSTER ? b->cluster : 0;
}

static struct ws_ex_store *store_of(struct ws_ex_word *w, enum ws_ex_level level, uint64_t domain, bool make)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->store[i].level == level && w->store[i].domain == domain)
			return &w->store[i];
	if (!make)
		return NULL;
	w->store = ws_grow(w->store, &w->cap, w->n + 1, sizeof *w->store);
	w->store[w->n] = (struct ws_ex_store){.level = level, .domain = domain};
	return &w->store[w->n++];
}

static void note(struct ws_ex_note **list, struct ws_ex_key key, enum ws_ex_level level, const struct ws_ex_facts *f)
{
	struct ws_ex_note *n;

	for (n = *list; n; n = n->next)
		if (n->key.space == key.space && n->key.addr == key.addr && n->level == level)
			break;
	if (!n) {
		n = ws_alloc(sizeof *n);
		n->key = key;
		n->level = level;
		n->next = *list;
		*list = n;
	}
	ws_ex_learn(&n->f, f);
}

/* The read of a reduction is no part of an acquire pattern (PTX ISA 9.0, Memory Consistency Model, Release and Acquire
 * Patterns), and nobody has the value. */
static bool reduces(const struct ws_access *a)
{
	return a->site->inst && a->site->inst->op == WS_OP_red;
}

static void read_word(struct ws_ex_now *n, struct ws_ex_key key, struct ws_ex_word *w)
{
	enum ws_ex_level read = ws_ex_level(n->a->scope);
	bool value = !reduces(n->a);

	for (int lv = EX_CTA; value && lv <= (int)read; lv++) {
		struct ws_ex_store *s = store_of(w, lv, domain_of(n->b, lv), false);

		if (s)
			note(&n->u->pending, key, lv, &s->f);
	}
	if (read != EX_GPU)
		return;
	ws_ex_join(&n->u->f.seen, w->sc);
	if (value)
		ws_ex_join(&n->u->f.dep, w->dep);
}

/* Parts of it may have been released by themselves, or it may be a part of what was (docs/DETECTORS.md, "Parts of words"). */
void ws_ex_sync_read(struct ws_ex_now *n, struct ws_ex_key key, uint32_t size)
{
	enum ws_ex_level read = ws_ex_level(n->a->scope);
	struct ws_ex_word *w = NULL;
	uint64_t at;

	while ((w = released_word(n->x, n->owner, key.addr, size, &at, w)))
		read_word(n, key, w);
	for (struct ws_ex_note *p = ws_access_acquires(n->a) ? n->u->pending : NULL; p; p = p->next)
		if (p->key.space == key.space && p->key.addr == key.addr && p->level <= read)
			ws_ex_learn(&n->u->f, &p->f);
}

static void publish(struct ws_ex_now *n, struct ws_ex_word *w, enum ws_ex_level lv, const struct ws_ex_facts *f)
{
	ws_ex_learn(&store_of(w, lv, domain_of(n->b, lv), true)->f, f);
}

/* What the parts of a word have released is in it from now on. */
static void absorb(struct ws_ex_word *w, struct ws_ex_word *part)
{
	for (uint32_t i = 0; i < part->n; i++)
		ws_ex_learn(&store_of(w, part->store[i].level, part->store[i].domain, true)->f, &part->store[i].f);
	ws_ex_join(&w->sc, part->sc);
	ws_ex_join(&w->dep, part->dep);
	word_clear(part);
}

/* The word that a strong write of these bytes releases. One that they are a part of goes on, as the others of its parts do; its own parts go
 * on in it by an atomic, and end by a store. */
static struct ws_ex_word *written_word(struct ws_ex_now *n, struct ws_ex_key key, uint32_t size, bool rmw)
{
	struct ws_ex_byte *byte = ws_ex_byte(n->x, n->owner, key.addr);
	struct ws_ex_word *own, *w = NULL;
	uint64_t at;

	if (!byte)
		return NULL;
	while ((w = released_word(n->x, n->owner, key.addr, size, &at, w)))
		if (at <= key.addr && at + w->size >= key.addr + size && w->size > size)
			return w;
	for (own = byte->words; own && own->size != size; own = own->next)
		;
	own = own ? own : new_word(byte, size);
	while ((w = released_word(n->x, n->owner, key.addr, size, &at, w)))
		if (!rmw)
			word_clear(w);
		else if (w != own)
			absorb(own, w);
	return own;
}

void ws_ex_sync_write(struct ws_ex_now *n, struct ws_ex_key key, uint32_t size, bool rmw)
{
	struct ws_ex_word *w = written_word(n, key, size, rmw);
	enum ws_ex_level level = ws_ex_level(n->a->scope);
	struct ws_ex_unit *u = n->u;

	if (!w)
		return;
	n->x->words = true;
	if (ws_access_releases(n->a)) {
		struct ws_ex_facts f = {.k = NULL};

		ws_ex_snapshot(u, &f);
		note(&u->released, key, level, &f);
		ws_ex_drop(&f);
	}
	for (int lv = EX_CTA; lv <= (int)level; lv++) {
		if (u->fenced[lv])
			publish(n, w, lv, &u->fence[lv]);
		for (struct ws_ex_note *r = u->released; r; r = r->next)
			if (r->key.space == key.space && r->key.addr == key.addr && (int)r->level >= lv)
				publish(n, w, lv, &r->f);
	}
	if (level == EX_GPU)
		ws_ex_join(&w->sc, u->f.sc);
	if (level == EX_GPU && n->x->depends && !rmw) {
		ws_ex_join(&w->dep, u->f.dep);
		ws_ex_join(&w->dep, u->f.k);
		ws_ex_raise(&w->dep, u->id, u->time);
	}
}

/* ---- the end ---- */
static void notes_free(struct ws_ex_note *n)
{
	for (struct ws_ex_note *next; n; n = next) {
		next = n->next;
		ws_ex_drop(&n->f);
		free(n);
	}
}

void ws_ex_unit_clear(struct ws_ex_unit *u)
{
	ws_ex_drop(&u->f);
	for (int lv = 0; lv < EX_LEVELS; lv++)
		ws_ex_drop(&u->fence[lv]);
	notes_free(u->released);
	notes_free(u->pending);
}
