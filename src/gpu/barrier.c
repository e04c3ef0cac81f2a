/* barrier.c - bar and barrier (PTX ISA 9.0, Parallel Synchronization and Communication Instructions: bar, barrier).
 *
 * A barrier counts threads in whole warps. With independent threads a warp has arrived when all of its threads that
 * have not ended did (CUDA C++ Programming Guide, Volta: "bar.sync is enforced per thread"); with the
 * reconvergence stack the whole warp arrives when any of its threads does. A barrier without a count waits for every
 * thread of the block that has not ended. */
#include "gpu/gpu_priv.h"

#include <string.h>

/* Lanes of the current fragment become a fragment of their own, and the current one; the others go on at `rest`. */
bool ws_isolate(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask, const struct ws_dinst *rest)
{
	struct ws_frag *f = x->frag;
	uint32_t others = f->mask & ~mask;

	if (!others)
		return false;
	if (x->its) {
		ws_its_split(x, f, others)->pc = rest;
		return true;
	}
	f->pc = in + 1;
	if (rest != in + 1) {
		ws_stack_push(x, rest, in + 1, others);
		x->frag = f;
	}
	ws_stack_push(x, in, in + 1, mask);
	return true;
}

/* The lanes of mask that hold the same value in a register as the first one. */
uint32_t ws_same_value(const uint8_t *regs, uint32_t reg, unsigned width, uint32_t mask)
{
	unsigned first = (unsigned)__builtin_ctz(mask);
	uint32_t same = 0;

	for (unsigned l = first; l < WS_WARP; l++) {
		bool eq = width == 8 ? ((const uint64_t *)(const void *)(regs + reg))[l] ==
		                               ((const uint64_t *)(const void *)(regs + reg))[first]
		                     : ((const uint32_t *)(const void *)(regs + reg))[l] ==
		                               ((const uint32_t *)(const void *)(regs + reg))[first];

		same |= (uint32_t)eq << l;
	}
	return same & mask;
}

/* ---- completion ---- */
static bool everybody_waited(const struct ws_block *b, const struct ws_bar *bar)
{
	for (uint32_t i = 0; i < b->nwarps; i++)
		if (b->warps[i].live & ~bar->waited[i])
			return false;
	return true;
}

/* Did all threads of the block wait, so that everything so far is before everything after? A thread that has ended did
 * all it ever will when the others wait for each thread that has not ended; a barrier with a count does not. */
static bool holds_all(const struct ws_block *b, const struct ws_bar *bar)
{
	return everybody_waited(b, bar) && (bar->expected == UINT32_MAX || bar->count >= b->nwarps * WS_WARP);
}

static bool everybody_arrived(const struct ws_block *b, const struct ws_bar *bar)
{
	if (bar->count < b->live_warps * WS_WARP)
		return false;
	for (uint32_t i = 0; i < b->nwarps; i++)
		if (b->warps[i].live & ~bar->arrived[i])
			return false;
	return true;
}

static uint32_t reduced(const struct ws_bar *bar, enum ws_atom op)
{
	return op == WS_ATOM_POPC ? bar->red_popc : op == WS_ATOM_AND ? bar->red_and : bar->red_or;
}

static void give_result(struct ws_frag *f, const struct ws_dop *op, uint32_t value)
{
	uint8_t *regs = f->frame->regs;

	if (op->mode != WS_MODE_RED || op->d == WS_LANE_NONE)
		return;
	if (op->width == 0) {
		uint32_t *p = ws_r32(regs, op->d);

		*p = value ? *p | f->mask : *p & ~f->mask;
		return;
	}
	for (uint32_t l = 0; l < WS_WARP; l++)
		if (f->mask >> l & 1)
			ws_r32(regs, op->d)[l] = value;
}

static void release(struct ws_block *b, struct ws_bar *bar, uint32_t id)
{
	for (uint32_t i = 0; i < b->nwarps; i++) {
		struct ws_warp *w = &b->warps[i];

		if (!bar->waited[i])
			continue;
		for (uint32_t k = 0; k < w->nfrags; k++) {
			struct ws_frag *f = &w->frag[k];

			if (f->wait != WS_WAIT_BARRIER || f->barrier != id)
				continue;
			f->wait = WS_READY;
			give_result(f, &f->pc[-1].u.op, reduced(bar, f->pc[-1].u.op.atom));
			w->runnable = true;
		}
		w->progress++;
	}
}

static void complete(struct ws_exec *x, struct ws_block *b, uint32_t id)
{
	struct ws_bar *bar = &b->bar[id];

	x->barriers++;
	if (x->ops && x->ops->barrier && x->ops->needs & WS_NEED_SYNC) {
		struct ws_barrier event = {id, holds_all(b, bar), bar->arrived, bar->waited};

		x->ops->barrier(x->self, &b->obs, &event);
	}
	release(b, bar, id);
	memset(bar, 0, sizeof *bar);
}

static void check(struct ws_exec *x, struct ws_block *b, uint32_t id)
{
	struct ws_bar *bar = &b->bar[id];

	if (!bar->expected)
		return;
	if (bar->expected == UINT32_MAX ? everybody_arrived(b, bar) : bar->count >= bar->expected)
		complete(x, b, id);
}

/* ---- arrival ---- */
static void arrive(struct ws_exec *x, struct ws_bar *bar, uint32_t mask, bool wait)
{
	struct ws_warp *w = x->warp;
	uint32_t i = w->obs.index, who = x->its ? mask : w->live;

	bar->arrived[i] |= who;
	if (wait)
		bar->waited[i] |= who;
	bar->pending[i] |= who;
	if (!(w->live & ~bar->pending[i])) {
		bar->pending[i] = 0;
		bar->count += WS_WARP;
	}
}

static void reduce(struct ws_exec *x, struct ws_bar *bar, const struct ws_dop *op, uint32_t mask)
{
	uint32_t p = *ws_r32(x->frag->frame->regs, op->c);

	p = (op->flag ? ~p : p) & mask;
	bar->red_popc += (uint32_t)__builtin_popcount(p);
	bar->red_or |= p != 0;
	bar->red_and &= p == mask;
}

/* threads: 0 = no count given, which means all that have not ended. */
static bool expect(struct ws_exec *x, const struct ws_dinst *in, struct ws_bar *bar, uint32_t id, uint32_t threads,
                   uint32_t mask)
{
	uint32_t all = x->block->nwarps * WS_WARP, rounded = (threads + WS_WARP - 1) / WS_WARP * WS_WARP;
	uint32_t want = threads ? rounded : UINT32_MAX;
	bool both_all = (want == all || want == UINT32_MAX) && (bar->expected == all || bar->expected == UINT32_MAX);

	if (threads && rounded > all)
		return ws_exec_fail(x, in, mask, WS_GPU_DEADLOCK,
		                    "barrier %u waits for %u threads, but the block has only %u", id,
		               threads, x->launch->obs.threads);
	if (!bar->expected) {
		bar->expected = want;
		bar->red_and = 1;
		return true;
	}
	if (bar->expected != want && !both_all)
		return ws_exec_fail(x, in, mask, WS_GPU_BAD_INSTRUCTION,
		               "threads have arrived at barrier %u with different thread counts: %u and now %u", id,
		               bar->expected == UINT32_MAX ? all : bar->expected, threads ? threads : all);
	return true;
}

enum ws_next ws_op_barrier(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	const uint8_t *regs = x->frag->frame->regs;
	unsigned first = (unsigned)__builtin_ctz(mask);
	uint32_t id = ((const uint32_t *)(const void *)(regs + op->a))[first];
	uint32_t threads = op->b == WS_LANE_NONE ? 0 : ((const uint32_t *)(const void *)(regs + op->b))[first];
	bool wait = op->mode != WS_MODE_ARRIVE;
	uint32_t same = op->imm ? mask : ws_same_value(regs, op->a, 4, mask), active = x->frag->mask;

	if (op->b != WS_LANE_NONE && !op->imm)
		same = ws_same_value(regs, op->b, 4, same);
	if (x->its && same != mask)
		ws_isolate(x, in, same | (active & ~mask), in);  /* other barriers: another time round */
	mask = same;
	if (x->its)
		ws_isolate(x, in, mask, in + 1);
	if (id >= WS_BARRIERS) {
		ws_exec_fail(x, in, mask, WS_GPU_BAD_INSTRUCTION, "there is no barrier %u: a block has 16, from 0 on",
		             id);
		return WS_STOP;
	}
	if (!expect(x, in, &x->block->bar[id], id, threads, mask))
		return WS_STOP;
	if (op->mode == WS_MODE_RED)
		reduce(x, &x->block->bar[id], op, mask);
	x->frag->pc = in + 1;
	if (wait) {
		x->frag->wait = WS_WAIT_BARRIER;
		x->frag->barrier = (uint16_t)id;
	}
	if (!wait && x->ops && x->ops->barrier_arrive && x->ops->needs & WS_NEED_SYNC)
		x->ops->barrier_arrive(x->self, &x->warp->obs, x->its ? mask : x->warp->live, id);
	arrive(x, &x->block->bar[id], mask, wait);
	check(x, x->block, id);
	return WS_PICK;
}

/* The rest of a warp whose other threads have ended may now be complete. */
void ws_barrier_exit(struct ws_exec *x, struct ws_warp *w)
{
	struct ws_block *b = x->block;
	uint32_t i = w->obs.index;

	for (uint32_t id = 0; id < WS_BARRIERS; id++) {
		struct ws_bar *bar = &b->bar[id];

		if (!bar->expected)
			continue;
		if (w->live && bar->pending[i] && !(w->live & ~bar->pending[i])) {
			bar->pending[i] = 0;
			bar->count += WS_WARP;
		}
		check(x, b, id);
	}
}
