/* lock_meets.c - the compiler fix-up of (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011, section 4.5,
 * example 12): a branch outside of a critical section must not have its place of reconvergence inside of one, for threads that
 * unlock past it never come to it. It is moved to the first place behind where no more locks are held than at the
 * branch. How many are held is counted along the paths, the most where they meet. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>

enum { MOST = 100 };                     /* locks; a loop that only locks ends there */

struct fixup {
	const struct ws_clock_ops *clock;
	void *self;
	const struct ws_ptx_func *f;
	const struct ws_code *code;
	const uint32_t *start, *meets;
	int *held;                       /* at the beginning of a block */
};

static int after(const struct fixup *u, const struct ws_ptx_inst *in, int held)
{
	const struct ws_ptx_sym *s = in->op == WS_OP_call ? in->call->target->sym : NULL;

	if (s)
		held += u->clock->locks(u->self, s->name);
	return held < 0 ? 0 : held > MOST ? MOST : held;
}

static int at_the_end(const struct fixup *u, uint32_t block)
{
	int held = u->held[block];

	for (uint32_t i = u->f->blocks[block].first; i <= u->f->blocks[block].last; i++)
		held = after(u, &u->f->insts[i], held);
	return held;
}

static void count_locks(struct fixup *u)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t b = 0; b < u->f->nblocks; b++) {
			int held = at_the_end(u, b);

			for (uint32_t i = 0; i < u->f->blocks[b].nsucc; i++)
				if (u->held[u->f->blocks[b].succ[i]] < held) {
					u->held[u->f->blocks[b].succ[i]] = held;
					changed = true;
				}
		}
	}
}

/* The first place in the block, or behind it, where no more than that are held; NULL: at the function's end. */
static const struct ws_dinst *outside(const struct fixup *u, uint32_t block, int most)
{
	for (; block != WS_EXIT_BLOCK; block = u->meets[block]) {
		const struct ws_dinst *in = u->code->insts + u->start[block];
		int held = u->held[block];

		while (held > most) {
			if (in->kind == WS_K_END || (in->site != WS_NO_SITE && u->f->insts[in->site].block != block))
				break;
			if (in->kind == WS_K_OP && in->u.op.fn == ws_op_call)
				held = after(u, &u->f->insts[in->site], held);
			in++;
		}
		if (held <= most)
			return in;
	}
	return NULL;
}

void ws_lock_meets(struct ws_decoder *dc, struct ws_code *code, const uint32_t *start)
{
	const struct ws_gpu_config *g = &dc->gpu->config;
	struct fixup u = {.clock = g->clock, .self = g->clock_self, .f = dc->ptx, .code = code, .start = start, .meets = dc->meets};

	if (!u.clock || !u.clock->locks)
		return;
	u.held = ws_alloc((dc->ptx->nblocks + 1) * sizeof *u.held);
	count_locks(&u);
	for (uint32_t i = 0; i < code->ninsts; i++) {
		struct ws_dinst *in = &code->insts[i];
		uint32_t block, to;

		if ((in->kind != WS_K_BRA_IF && in->kind != WS_K_BRA_IFNOT) || in->site == WS_NO_SITE || !in->u.bra.reconv)
			continue;
		block = u.f->insts[in->site].block;
		to = u.meets[block];
		if (to != WS_EXIT_BLOCK)
			in->u.bra.reconv = outside(&u, to, at_the_end(&u, block));
	}
	free(u.held);
}
