/* diverge_stack.c - the reconvergence stack of GPUs before Volta, as in (Ramamurthy, "Towards scalar synchronization in
 * SIMT architectures", 2011, section 1.3.2): entries of next place, reconvergence place (the immediate post-dominator)
 * and mask; the top entry runs; it is popped where it reconverges. Calls work on the entry that calls, which keeps
 * its place in the caller's frame (section 2.2's call entries): threads of different depth never meet.
 *
 * A branch whose reconvergence place is the function's end gets NULL, and an entry that stands at NULL returns from its
 * frame when it is on top.
 *
 * Without call entries (ws_gpu_config.plain_calls) an entry keeps its place of reconvergence through a recursive call, as the
 * paper shows in figure 2.2: lanes that come to it deeper in the recursion go on as if they were in the frame of the entry
 * below, with the values they have. */
#include "gpu/gpu_priv.h"

#include <string.h>

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

/* ---- without call entries ---- */
static void copy_lanes(uint8_t *to, const uint8_t *from, unsigned width, uint32_t mask)
{
	if (!width) {
		uint32_t a, b;

		memcpy(&a, to, 4);
		memcpy(&b, from, 4);
		a = (a & ~mask) | (b & mask);
		memcpy(to, &a, 4);
		return;
	}
	for (uint32_t m = mask; m; m &= m - 1) {
		size_t l = (size_t)__builtin_ctz(m), n = width < 16 ? width : 8;

		memcpy(to + l * n, from + l * n, n);
		if (width == 16)         /* two arrays of halves (lanes.h) */
			memcpy(to + (WS_WARP + l) * n, from + (WS_WARP + l) * n, n);
	}
}

/* The top entry meets the one below, which is in another frame of the same function: its lanes bring their values. */
static void meet_across(struct ws_warp *w, const struct ws_frag *f, const struct ws_frag *below)
{
	struct ws_frame *from = f->frame, *to = below->frame;
	const struct ws_ptx_func *fn = to->code->fn->ptx;
	const struct ws_dinst *in = f->pc;
	const uint64_t *live;

	while (in->site == WS_NO_SITE)
		in++;
	live = fn->blocks[fn->insts[in->site].block].live_in;
	for (uint32_t i = 0; i < fn->nregs; i++) {
		uint32_t at = to->code->reg[fn->regs[i]->index];

		if (live[i / 64] >> (i % 64) & 1)
			copy_lanes(to->regs + at, from->regs + at, ws_reg_width(fn->regs[i]), f->mask);
	}
	for (uint32_t m = f->mask; m; m &= m - 1)
		to->base[__builtin_ctz(m)] = from->base[__builtin_ctz(m)];
	ws_fill_locals(to, f->mask);
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
		if (!f->mask && w->nfrags > 1) {
			ws_lock_pop(x);
		} else if (!f->pc) {
			return_from_frame(w);
		} else if (f->pc == f->reconv && w->nfrags > 1) {
			if (is_base(w, w->nfrags - 1))
				meet_across(w, f, f - 1);
			pop(w);
		} else {
			break;
		}
	}
	x->frag = f->wait == WS_READY ? f : NULL;
}
