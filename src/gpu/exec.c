/* exec.c - the loop that runs a warp. One step is one decoded instruction for all active lanes of a fragment; what is
 * not arithmetic, a plain access or a branch goes through handlers (barrier.c, warp_ops.c, call.c, exec_ops.c).
 *
 * While all lanes of a warp are together, nothing is checked at branches. With several fragments (or stack entries),
 * each branch and each join asks the divergence model who runs next. Instructions are counted at the ends of basic
 * blocks. Backward branches use up a budget, after which the warp pauses so that no loop can keep others waiting. */
#include "gpu/gpu_priv.h"

static void pick(struct ws_exec *x)
{
	if (x->its)
		ws_its_pick(x);
	else
		ws_stack_pick(x);
}

static void diverge(struct ws_exec *x, const struct ws_dinst *in, uint32_t taken)
{
	x->divergent++;
	if (x->its)
		ws_its_diverge(x, in, taken, in->u.bra.target);
	else
		ws_stack_diverge(x, in, taken, in->u.bra.target, in->u.bra.reconv);
}

static inline void count(struct ws_exec *x, const struct ws_dinst *in, uint64_t lanes)
{
	x->winsts += in->count;
	x->tinsts += in->count * lanes;
}

/* Puts the fragment's place back, for pauses. */
static inline void save(struct ws_exec *x, const struct ws_dinst *in)
{
	x->frag->pc = in;
}

/* The dispatch loop: longer than other functions may be, so that the state stays in registers. */
void ws_exec_warp(struct ws_exec *x, struct ws_warp *w)
{
	const struct ws_dinst *in;
	uint8_t *regs;
	uint32_t active, m;
	uint64_t lanes;
	bool multi;

	x->warp = w;
pick:
	pick(x);
	if (!x->frag) {
		w->runnable = false;
		return;
	}
reload:
	in = x->frag->pc;
	regs = x->frag->frame->regs;
	active = x->frag->mask;
	lanes = active == UINT32_MAX ? WS_WARP : (uint32_t)__builtin_popcount(active);
	multi = w->nfrags > 1;
	for (;;) {
		switch ((enum ws_kind)in->kind) {
		case WS_K_LANE:
			in->u.lane.fn(&in->u.lane, regs, active);
			in++;
			continue;
		case WS_K_LANE_GUARD:
			m = ws_guard(in, regs, active);
			if (m)
				in->u.lane.fn(&in->u.lane, regs, m);
			in++;
			continue;
		case WS_K_MEM:
			if (!in->u.mem.fn(x, in, regs, active))
				goto stop;
			in++;
			continue;
		case WS_K_MEM_GUARD:
		case WS_K_MEM_PACED:
			m = ws_guard(in, regs, active);
			if (m && !in->u.mem.fn(x, in, regs, m))
				goto stop;
			if (in->kind == WS_K_MEM_PACED && --x->pace <= 0)
				goto pause_after;
			in++;
			continue;
		case WS_K_OP:
		case WS_K_OP_PACED:
			count(x, in, lanes);
			m = ws_guard(in, regs, active);
			if (!m) {
				in++;
				continue;
			}
			save(x, in);
			switch (in->u.op.fn(x, in, m)) {
			case WS_NEXT:
				if (in->kind == WS_K_OP_PACED && --x->pace <= 0)
					goto pause_after;
				in++;
				continue;
			case WS_RELOAD:
				goto reload;
			case WS_PICK:
				goto pick;
			case WS_SLICE:
				return;
			case WS_STOP:
				goto stop;
			}
			goto stop;
		case WS_K_BRA_IF:
		case WS_K_BRA_IFNOT:
			count(x, in, lanes);
			m = *(const uint32_t *)(const void *)(regs + in->guard);
			m = active & (in->kind == WS_K_BRA_IF ? m : ~m);
			if (m == active)
				goto taken;
			if (!m) {
				in++;
				continue;
			}
			save(x, in);
			diverge(x, in, m);
			if (in->backward && --x->budget < 0)
				return;
			goto pick;
		case WS_K_BRA:
			count(x, in, lanes);
		taken:
			if (in->backward && --x->budget < 0) {
				save(x, in->u.bra.target);
				return;
			}
			in = in->u.bra.target;
			if (!multi)
				continue;
			save(x, in);
			goto pick;
		case WS_K_JOIN:
			count(x, in, lanes);
			in++;
			if (!multi)
				continue;
			save(x, in);
			goto pick;
		case WS_K_EXIT:
			count(x, in, lanes);
			m = ws_guard(in, regs, active);
			if (!m) {
				in++;
				continue;
			}
			save(x, in + 1);
			if (ws_exec_exit(x, m) == WS_STOP)
				goto stop;
			if (!w->live)
				return;
			goto pick;
		case WS_K_END:
			ws_exec_fail(x, in, active, WS_GPU_BAD_PC, "the kernel ran past its last instruction");
			goto stop;
		}
	}
pause_after:
	save(x, in + 1);
	return;
stop:
	save(x, in);
	x->failed = true;
}

/* ---- the end of threads ---- */
void ws_drop_lanes(struct ws_exec *x, uint32_t mask)
{
	struct ws_warp *w = x->warp;

	for (uint32_t i = w->nfrags; i-- > 0;) {
		struct ws_frag *f = &w->frag[i];

		f->mask &= ~mask;
		if (f->mask)
			continue;
		ws_frame_release(w, f->frame);
		w->nfrags--;
		if (x->its)
			*f = w->frag[w->nfrags];
		else
			for (uint32_t k = i; k < w->nfrags; k++)
				w->frag[k] = w->frag[k + 1];
	}
}

enum ws_next ws_exec_exit(struct ws_exec *x, uint32_t mask)
{
	struct ws_warp *w = x->warp;

	if (x->ops && x->ops->thread_exit && x->ops->needs & WS_NEED_SYNC)
		x->ops->thread_exit(x->self, &w->obs, mask);
	w->live &= ~mask;
	w->obs.exited |= mask;
	w->progress++;
	ws_drop_lanes(x, mask);
	if (!w->live) {
		w->runnable = false;
		x->block->live_warps--;
	} else if (x->its) {
		ws_sync_exit(x, w);
		ws_whole_warp_check(w);
	}
	ws_barrier_exit(x, w);
	ws_cluster_exit(x, w);
	return x->failed ? WS_STOP : WS_PICK;
}

void ws_frame_release(struct ws_warp *w, struct ws_frame *fr)
{
	while (fr && !--fr->refs) {
		struct ws_frame *parent = fr->parent;

		if (!parent)
			return;          /* the kernel's own frame belongs to the slot */
		fr->next_free = w->free_frames[fr->code->index];
		w->free_frames[fr->code->index] = fr;
		fr = parent;
	}
}
