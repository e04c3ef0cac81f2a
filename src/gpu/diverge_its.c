/* diverge_its.c - independent threads: a warp is a set of fragments, each a group of lanes at one place in one frame.
 *
 * The fragment that runs is, among those that are ready, the one whose turn is lowest, then the one deepest in calls,
 * then the one at the smallest place in the code (order.c); fragments at one place become one. A fragment that seems
 * to wait for others of its warp gives up its turn (sched.c), so that every thread makes progress. One that the schedule
 * holds up (`lock` is set) stays apart until it runs again. */
#include "gpu/gpu_priv.h"

static bool before(const struct ws_frag *a, const struct ws_frag *b)
{
	if (a->turn != b->turn)
		return a->turn < b->turn;
	if (a->frame->depth != b->frame->depth)
		return a->frame->depth > b->frame->depth;
	return a->pc < b->pc;
}

static void absorb(struct ws_warp *w, struct ws_frag **best)
{
	for (uint32_t i = w->nfrags; i-- > 0;) {
		struct ws_frag *f = &w->frag[i];

		if (f == *best || f->wait != WS_READY || f->lock || f->pc != (*best)->pc || f->frame != (*best)->frame)
			continue;
		(*best)->mask |= f->mask;
		f->frame->refs--;        /* never the last: the other one is in it */
		w->nfrags--;
		if (*best == &w->frag[w->nfrags])
			*best = f;
		*f = w->frag[w->nfrags];
	}
}

static struct ws_frag *random_ready(struct ws_exec *x)
{
	struct ws_warp *w = x->warp;
	uint32_t n = 0, pick;

	for (uint32_t i = 0; i < w->nfrags; i++)
		n += w->frag[i].wait == WS_READY;
	if (!n)
		return NULL;
	pick = (uint32_t)(ws_random(&x->rng) % n);
	for (uint32_t i = 0;; i++)
		if (w->frag[i].wait == WS_READY && !pick--)
			return &w->frag[i];
}

void ws_its_pick(struct ws_exec *x)
{
	struct ws_warp *w = x->warp;
	struct ws_frag *best = NULL;

	if (w->nfrags == 1) {
		x->frag = w->frag[0].wait == WS_READY ? &w->frag[0] : NULL;
		return;
	}
	for (uint32_t i = 0; i < w->nfrags; i++)
		if (w->frag[i].wait == WS_READY && (!best || before(&w->frag[i], best)))
			best = &w->frag[i];
	if (best && x->launch->gpu->config.schedule == WS_SCHED_RANDOM && !(ws_random(&x->rng) & 7))
		best = random_ready(x);
	if (best) {
		best->lock = false;
		absorb(w, &best);
	}
	x->frag = best;
}

struct ws_frag *ws_its_split(struct ws_exec *x, struct ws_frag *f, uint32_t mask)
{
	struct ws_warp *w = x->warp;
	struct ws_frag *n = &w->frag[w->nfrags++];

	*n = *f;
	n->mask = mask;
	f->mask &= ~mask;
	f->frame->refs++;
	return n;
}

void ws_its_diverge(struct ws_exec *x, const struct ws_dinst *in, uint32_t taken, const struct ws_dinst *target)
{
	struct ws_frag *f = x->frag;

	ws_its_split(x, f, taken)->pc = target;
	f->pc = in + 1;
}

void ws_its_yield(struct ws_exec *x)
{
	struct ws_warp *w = x->warp;
	uint32_t last = 0;

	for (uint32_t i = 0; i < w->nfrags; i++)
		if (w->frag[i].turn > last)
			last = w->frag[i].turn;
	if (x->frag)
		x->frag->turn = last + 1;
}

void ws_its_hold(struct ws_exec *x)
{
	ws_its_yield(x);
	x->frag->lock = true;
}
