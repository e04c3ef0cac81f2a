/* diverge_stack.c - the reconvergence stack of GPUs before Volta, as in (Ramamurthy, "Towards scalar synchronization in
 * SIMT architectures", 2011, section 1.3.2): entries of next place, reconvergence place (the immediate post-dominator)
 * and mask; the top entry runs; it is popped where it reconverges. Calls work on the entry that calls, which keeps
 * its place in the caller's frame (section 2.2's call entries): threads of different depth never meet.
 *
 * A branch whose reconvergence place is the function's end gets NULL, and an entry that stands at NULL returns from its
 * frame when it is on top. */
#include "gpu/gpu_priv.h"

static bool is_base(const struct ws_warp *w, uint32_t i)
{
	return i == 0 || w->frag[i - 1].frame != w->frag[i].frame;
}

static void push(struct ws_warp *w, const struct ws_frag *from, const struct ws_dinst *pc,
                 const struct ws_dinst *reconv,
                 uint32_t mask)
{
	struct ws_frag *f = &w->frag[w->nfrags++];

	*f = *from;
	f->pc = pc;
	f->reconv = reconv;
	f->mask = mask;
	f->lock = WS_ENTRY_PLAIN;
	f->frame->refs++;
}

static void pop(struct ws_warp *w)
{
	ws_frame_release(w, w->frag[w->nfrags - 1].frame);
	w->nfrags--;
}

void ws_stack_push(struct ws_exec *x, const struct ws_dinst *pc, const struct ws_dinst *reconv, uint32_t mask)
{
	push(x->warp, x->frag, pc, reconv, mask);
	x->frag = &x->warp->frag[x->warp->nfrags - 1];
}

void ws_stack_diverge(struct ws_exec *x, const struct ws_dinst *in, uint32_t taken, const struct ws_dinst *target,
                      const struct ws_dinst *reconv)
{
	struct ws_warp *w = x->warp;
	struct ws_frag *f = x->frag;
	uint32_t other = f->mask & ~taken;
	bool reuse = f->reconv == reconv && !is_base(w, w->nfrags - 1);

	/* With the same reconvergence place as the entry below, this entry would only wait there to be popped. */
	f->pc = reconv;
	if (reuse)
		w->nfrags--;
	if (target != reconv)
		push(w, f, target, reconv, taken);
	if (in + 1 != reconv) {
		struct ws_frag below = *f;

		push(w, &below, in + 1, reconv, other);
	}
	if (reuse)
		f->frame->refs--;
	x->frag = &w->frag[w->nfrags - 1];
}

void ws_stack_split(struct ws_exec *x, const struct ws_dinst *in, uint32_t same, uint32_t guarded,
                    const struct ws_dinst *target, const struct ws_dinst *reconv)
{
	struct ws_warp *w = x->warp;
	struct ws_frag f = *x->frag;
	uint32_t rest = f.mask & ~guarded, others = guarded & ~same;

	x->frag->pc = reconv;
	if (rest && in + 1 != reconv)
		push(w, &f, in + 1, reconv, rest);
	if (others)
		push(w, &f, in, reconv, others);
	if (target != reconv)
		push(w, &f, target, reconv, same);
	x->frag = &w->frag[w->nfrags - 1];
}

/* The top entry stands at the end of its frame. */
static void return_from_frame(struct ws_warp *w)
{
	struct ws_frag *f = &w->frag[w->nfrags - 1];
	struct ws_frame *fr = f->frame;

	if (!is_base(w, w->nfrags - 1) || !fr->parent) {
		pop(w);
		return;
	}
	ws_stack_leave(w, f);
}

void ws_stack_leave(struct ws_warp *w, struct ws_frag *f)
{
	struct ws_frame *fr = f->frame;

	for (uint32_t l = 0; l < WS_WARP; l++)
		if (f->mask >> l & 1)
			w->sp[l] = fr->base[l];
	f->frame = fr->parent;
	f->frame->refs++;
	f->pc = fr->call + 1;
	f->reconv = fr->saved_reconv;
	ws_frame_release(w, fr);
}

bool ws_stack_is_base(const struct ws_exec *x)
{
	return is_base(x->warp, x->warp->nfrags - 1);
}

void ws_stack_pick(struct ws_exec *x)
{
	struct ws_warp *w = x->warp;
	struct ws_frag *f;

	for (;;) {
		if (!w->nfrags) {
			x->frag = NULL;
			return;
		}
		f = &w->frag[w->nfrags - 1];
		if (!f->mask && w->nfrags > 1)
			ws_lock_pop(x);
		else if (!f->pc)
			return_from_frame(w);
		else if (f->pc == f->reconv && w->nfrags > 1)
			pop(w);
		else
			break;
	}
	x->frag = f->wait == WS_READY ? f : NULL;
}
