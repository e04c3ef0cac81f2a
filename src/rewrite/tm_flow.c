/* tm_flow.c - which instructions are in a marked section, and what a new attempt needs of the registers. */
#include "rewrite/tm.h"

#include <stdlib.h>
#include <string.h>

enum ws_tm_mark ws_tm_mark_of(const struct ws_ptx_inst *i)
{
	if (i->op != WS_OP_mov || i->nops != 2 || i->ops[1].kind != WS_O_INT)
		return WS_TM_NO_MARK;
	switch (i->ops[1].imm) {
	case WS_TM_MARK_BEGIN: return WS_TM_BEGIN;
	case WS_TM_MARK_END: return WS_TM_END;
	case WS_TM_MARK_AGAIN: return WS_TM_AGAIN;
	default: return WS_TM_NO_MARK;
	}
}

/* ---- sections ---- */
enum { NEVER = 0 };                      /* states are one higher than depths: 0 = control did not come there yet */

struct walk {
	struct ws_pass *p;
	struct ws_ptx_func *f;
	struct ws_tm_flow *flow;
	uint32_t *same;                  /* union-find over instructions: begins of one section */
	uint32_t *state, *begin;         /* at the entry of each block */
	uint32_t *stack;
	size_t n;
	bool good;
};

static uint32_t root(const struct walk *w, uint32_t k)
{
	while (w->same[k] != k)
		k = w->same[k];
	return k;
}

/* Control comes to a block, with so many sections open. */
static void arrive(struct walk *w, uint32_t block, uint32_t depth, uint32_t begin, const struct ws_ptx_inst *from)
{
	if (w->state[block] == NEVER) {
		w->state[block] = depth + 1;
		w->begin[block] = begin;
		w->stack[w->n++] = block;
	} else if (w->state[block] != depth + 1 && w->good) {
		w->good = ws_tm_refuse(w->p, w->f, from, "control comes from here to a place that it also reaches with %s "
				       "marked section open: give each section one beginning and an end on every way out",
				       w->state[block] > depth + 1 ? "a" : "no");
	} else if (depth) {
		w->same[root(w, begin)] = root(w, w->begin[block]);
	}
}

static bool step(struct walk *w, const struct ws_ptx_inst *i, uint32_t *depth, uint32_t *begin)
{
	enum ws_tm_mark mark = ws_tm_mark_of(i);

	w->flow->depth[i->index] = *depth;
	if (mark == WS_TM_BEGIN && (*depth)++ == 0)
		*begin = i->index;
	w->flow->section[i->index] = *begin;
	if (mark == WS_TM_END && (*depth)-- == 0)
		return ws_tm_refuse(w->p, w->f, i, "the end of a marked section that did not begin in this function");
	if (*depth && (i->op == WS_OP_ret || i->op == WS_OP_exit))
		return ws_tm_refuse(w->p, w->f, i, "the marked section is left by '%s' without its end",
				    ws_op_info(i->op)->name);
	return true;
}

static void walk_block(struct walk *w, uint32_t block)
{
	const struct ws_ptx_block *b = &w->f->blocks[block];
	uint32_t depth = w->state[block] - 1, begin = w->begin[block];

	for (uint32_t k = b->first; k <= b->last && w->good; k++)
		w->good = step(w, &w->f->insts[k], &depth, &begin);
	for (uint32_t k = 0; k < b->nsucc && w->good; k++)
		if (b->succ[k] != WS_EXIT_BLOCK)
			arrive(w, b->succ[k], depth, begin, &w->f->insts[b->last]);
}

/* Numbers the sections, and gives each instruction the number of its own. */
static void number(struct walk *w)
{
	uint32_t *numbers = ws_alloc((w->f->ninsts + 1) * sizeof *numbers);

	for (uint32_t k = 0; k < w->f->ninsts; k++) {
		uint32_t r = root(w, w->flow->section[k]);
		bool inside = w->flow->depth[k] || ws_tm_mark_of(&w->f->insts[k]) == WS_TM_BEGIN;

		if (inside && !numbers[r])
			numbers[r] = ++w->flow->nsections;
		w->flow->section[k] = inside ? numbers[r] - 1 : 0;
	}
	free(numbers);
}

bool ws_tm_flow_find(struct ws_pass *p, struct ws_ptx_func *f, struct ws_tm_flow *flow)
{
	struct walk w = { .p = p, .f = f, .flow = flow, .good = true };

	ws_ptx_cfg(f);
	*flow = (struct ws_tm_flow){ .depth = ws_alloc((f->ninsts + 1) * sizeof *flow->depth),
	                             .section = ws_alloc((f->ninsts + 1) * sizeof *flow->section) };
	w.same = ws_alloc((f->ninsts + 1) * sizeof *w.same);
	w.state = ws_alloc((f->nblocks + 1) * sizeof *w.state);
	w.begin = ws_alloc((f->nblocks + 1) * sizeof *w.begin);
	w.stack = ws_alloc((f->nblocks + 1) * sizeof *w.stack);
	for (uint32_t k = 0; k < f->ninsts; k++)
		w.same[k] = k;
	if (f->nblocks)
		arrive(&w, 0, 0, 0, NULL);
	while (w.n && w.good)
		walk_block(&w, w.stack[--w.n]);
	if (w.good)
		number(&w);
	free(w.same);
	free(w.state);
	free(w.begin);
	free(w.stack);
	return w.good;
}

void ws_tm_flow_free(struct ws_tm_flow *flow)
{
	free(flow->depth);
	free(flow->section);
}

/* ---- registers ---- */
struct regs {
	uint64_t *set;
	bool defs;                       /* which of an instruction's are meant */
	bool add;
};

static void change(void *user, struct ws_reg *r, bool is_def)
{
	struct regs *s = user;
	uint64_t bit = 1ull << r->index % 64;

	if (is_def == s->defs)
		s->set[r->index / 64] = s->add ? s->set[r->index / 64] | bit : s->set[r->index / 64] & ~bit;
}

/* Those live behind an instruction: from the end of its block backwards. All, if liveness is not known. */
static uint64_t *live_behind(struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	size_t words = f->nregs / 64 + 1;
	uint64_t *set = ws_alloc(words * sizeof *set);
	const struct ws_ptx_block *b;

	ws_ptx_liveness(f);
	b = &f->blocks[i->block];
	if (!b->live_out) {
		memset(set, 0xff, words * sizeof *set);
		return set;
	}
	memcpy(set, b->live_out, (f->nregs + 63) / 64 * sizeof *set);
	for (uint32_t k = b->last; k > i->index; k--) {
		if (!f->insts[k].guard)
			ws_ptx_inst_regs(&f->insts[k], change, &(struct regs){ set, true, false });
		ws_ptx_inst_regs(&f->insts[k], change, &(struct regs){ set, false, true });
	}
	return set;
}

void ws_tm_saved_find(struct ws_ptx_func *f, const struct ws_tm_flow *flow, const struct ws_ptx_inst *begin,
		      struct ws_tm_saved *saved)
{
	uint64_t *live = live_behind(f, begin), *written = ws_alloc((f->nregs / 64 + 1) * sizeof *written);
	uint32_t section = flow->section[begin->index];

	for (uint32_t k = 0; k < f->ninsts; k++)
		if (flow->depth[k] && flow->section[k] == section)
			ws_ptx_inst_regs(&f->insts[k], change, &(struct regs){ written, true, true });
	for (uint32_t k = 0; k < f->nregs; k++)
		if (live[k / 64] & written[k / 64] & 1ull << k % 64)
			*WS_PUSH(saved->regs, saved->n, saved->cap) = f->regs[k];
	free(live);
	free(written);
}
