/* heard.c - the proof that a strong access need not be told as a release, or as an acquire: nobody hears it.
 *
 * A release pattern is a fence and a strong write behind it, an acquire pattern a strong read and a fence behind that (PTX ISA 9.0,
 * 8.8), both of one thread. So a strong write before which the thread can have executed no fence releases nothing, and one of which
 * no acquire can read the value is not heard; likewise a strong read behind which there is no fence, and one that comes before all
 * releases. `volatile` makes all accesses to a variable strong, and most kernels that use it so fence once, for something else.
 *
 * Words of shared memory are those of the block. There a read can see a write only in the same interval between barriers or a later
 * one (interval.c). Of global memory nothing is known but that releases and acquires are of one launch.
 *
 * Fences that are .sc are ordered as well by a strong read before the one that has seen a strong write behind the other, and
 * barriers and syncs between the read and its fence, and other threads' strong writes, hand that on (race_order.cuh): so a read is
 * told, too, if anything that orders may come behind it in another thread: in a later interval, or behind a sync of the warp. */
#include "rewrite/heard.h"
#include "rewrite/needless.h"

#include <stdlib.h>

struct ws_heard {
	const struct ws_ptx_func *f;
	const struct ws_rw_access *list;
	uint32_t n;
	struct ws_intervals *v;
	uint8_t *fences, *orders, *syncs;        /* by instruction: it is a fence; it may hand on what was read; a sync of the warp */
	uint8_t *before, *after, *synced;        /* a fence may come before it; what orders, behind it; a sync, before the next barrier */
	uint8_t *release, *acquire;              /* by access */
};

/* ---- the accesses ---- */
static bool is_strong(const struct ws_rw_access *a)
{
	return a->rw_class == WS_RW_CHECK && a->sem != WS_SEM_WEAK;
}

/* It releases or acquires by itself. */
static bool is_ordered(const struct ws_rw_access *a)
{
	return a->sem == WS_SEM_ACQUIRE || a->sem == WS_SEM_RELEASE || a->sem == WS_SEM_ACQ_REL || a->sem == WS_SEM_SC;
}

static bool may_release(const struct ws_rw_access *a)
{
	return is_strong(a) && a->kind != WS_RW_READ;
}

static bool may_acquire(const struct ws_rw_access *a)
{
	return is_strong(a) && (a->kind == WS_RW_READ || a->inst->op == WS_OP_atom);
}

/* What the proof knows: loads, stores, atomics, fences, and barriers of the whole block. */
static bool is_known(const struct ws_ptx_inst *i)
{
	return !i->call && i->op != WS_OP_unknown && (!ws_rw_is_barrier(i) || ws_rw_names_no_count(i));
}

static bool is_warp_sync(const struct ws_ptx_inst *i)
{
	return (i->op == WS_OP_bar || i->op == WS_OP_barrier) && !ws_rw_is_barrier(i);
}

static bool mark(struct ws_heard *h)
{
	for (uint32_t k = 0; k < h->f->ninsts; k++) {
		const struct ws_ptx_inst *i = &h->f->insts[k];

		if (!is_known(i))
			return false;
		h->fences[k] = h->orders[k] = i->op == WS_OP_fence || i->op == WS_OP_membar;
		h->syncs[k] = is_warp_sync(i);
	}
	for (uint32_t k = 0; k < h->n; k++) {
		const struct ws_rw_access *a = &h->list[k];

		if (a->rw_class == WS_RW_UNHANDLED && a->sem != WS_SEM_WEAK)
			return false;
		h->fences[a->inst->index] |= is_strong(a) && is_ordered(a);
		h->orders[a->inst->index] |= is_strong(a) && (is_ordered(a) || (a->kind != WS_RW_READ && a->space != WS_SPACE_SHARED));
	}
	return true;
}

/* ---- what a thread may come to ---- */
/* out: one that is marked may be executed before an instruction. */
static void find_before(const struct ws_ptx_func *f, const uint8_t *marks, uint8_t *out)
{
	uint8_t *in = ws_alloc(f->nblocks + 1), any;

	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t n = 0; n < f->nblocks; n++) {
			const struct ws_ptx_block *b = &f->blocks[n];

			any = in[n];
			for (uint32_t k = b->first; k <= b->last; k++) {
				out[k] = any;
				any |= marks[k];
			}
			for (uint32_t k = 0; k < b->nsucc && any; k++) {
				changed |= !in[b->succ[k]];
				in[b->succ[k]] = 1;
			}
		}
	}
	free(in);
}

/* A warp may be synced behind an instruction, before the next barrier. */
static void find_synced(struct ws_heard *h)
{
	uint8_t *barriers = ws_alloc(h->f->ninsts + 1);

	for (uint32_t k = 0; k < h->f->ninsts; k++)
		barriers[k] = ws_rw_is_barrier(&h->f->insts[k]);
	ws_find_after(h->f, h->syncs, barriers, NULL, h->synced);
	free(barriers);
}

/* May another thread of the block do something that orders, behind this access and what hands it on? */
static bool is_handed_on(const struct ws_heard *h, uint32_t i)
{
	for (uint32_t k = 0; k < h->f->ninsts; k++)
		if (h->orders[k] && (ws_intervals_later(h->v, i, k) || (h->synced[i] && ws_intervals_meet(h->v, i, k))))
			return true;
	return false;
}

static void find_candidates(struct ws_heard *h)
{
	for (uint32_t k = 0; k < h->n; k++) {
		const struct ws_rw_access *a = &h->list[k];
		uint32_t i = a->inst->index;

		h->release[k] = may_release(a) && (is_ordered(a) || h->before[i]);
		h->acquire[k] = may_acquire(a) && (is_ordered(a) || h->after[i] || is_handed_on(h, i));
	}
}

/* ---- pairs ---- */
static bool hears(const struct ws_heard *h, const struct ws_rw_access *w, const struct ws_rw_access *r)
{
	uint32_t i = w->inst->index, j = r->inst->index;
	bool shared = w->space == WS_SPACE_SHARED || r->space == WS_SPACE_SHARED;

	if (shared && (w->space == WS_SPACE_GLOBAL || r->space == WS_SPACE_GLOBAL))
		return false;
	return !shared || ws_intervals_meet(h->v, i, j) || ws_intervals_later(h->v, i, j);
}

/* Those that no other one can meet are none. */
static void find_heard(struct ws_heard *h)
{
	uint8_t *release = ws_alloc(h->n + 1), *acquire = ws_alloc(h->n + 1);

	for (uint32_t w = 0; w < h->n; w++)
		for (uint32_t r = 0; r < h->n && h->release[w]; r++)
			if (h->acquire[r] && !(release[w] && acquire[r]) && hears(h, &h->list[w], &h->list[r]))
				release[w] = acquire[r] = 1;
	free(h->release);
	free(h->acquire);
	h->release = release;
	h->acquire = acquire;
}

/* ---- for others ---- */
void ws_heard_free(struct ws_heard *h)
{
	if (!h)
		return;
	uint8_t *const all[] = { h->fences, h->orders, h->syncs, h->before, h->after, h->synced, h->release, h->acquire };

	for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
		free(all[k]);
	ws_intervals_free(h->v);
	free(h);
}

static uint32_t count_strong(const struct ws_rw_access *list, uint32_t n)
{
	uint32_t strong = 0;

	for (uint32_t k = 0; k < n; k++)
		strong += is_strong(&list[k]);
	return strong;
}

struct ws_heard *ws_heard_find(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n)
{
	enum { MOST = 256 };             /* strong accesses: more are not looked at */
	struct ws_heard *h = ws_alloc(sizeof *h);
	uint8_t **const by_inst[] = { &h->fences, &h->orders, &h->syncs, &h->before, &h->after, &h->synced };

	ws_ptx_cfg(kernel);
	h->f = kernel;
	h->list = list;
	h->n = n;
	for (unsigned k = 0; k < sizeof by_inst / sizeof *by_inst; k++)
		*by_inst[k] = ws_alloc(kernel->ninsts + 1);
	h->release = ws_alloc(n + 1);
	h->acquire = ws_alloc(n + 1);
	if (count_strong(list, n) <= MOST && mark(h))
		h->v = ws_intervals_find(kernel, list, n, false, NULL);
	if (!h->v) {
		ws_heard_free(h);
		return NULL;
	}
	find_before(kernel, h->fences, h->before);
	ws_find_after(kernel, h->orders, NULL, NULL, h->after);
	find_synced(h);
	find_candidates(h);
	find_heard(h);
	return h;
}

bool ws_heard_release(const struct ws_heard *h, const struct ws_rw_access *a)
{
	return !h || h->release[a - h->list];
}

bool ws_heard_acquire(const struct ws_heard *h, const struct ws_rw_access *a)
{
	return !h || h->acquire[a - h->list];
}

bool ws_heard_nothing(const struct ws_heard *h)
{
	for (uint32_t k = 0; h && k < h->n; k++)
		if (h->release[k] || h->acquire[k])
			return false;
	return h != NULL;
}
