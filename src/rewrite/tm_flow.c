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
	case WS_TM_MARK_ABORT: return WS_TM_ABORT;
	case WS_TM_MARK_EITHER: return WS_TM_EITHER;
	case WS_TM_MARK_EITHER_END: return WS_TM_EITHER_END;
	default: return WS_TM_NO_MARK;
	}
}

/* ---- sections ---- */
enum { NEVER = 0 };                      /* states are one higher than begins: 0 = control did not come there yet */

/* A section under way is known by the instruction of its begin, + 1; 0: none. */
struct begin { uint32_t same, around, depth; bool either; };

struct walk {
	struct ws_pass *p;
	struct ws_ptx_func *f;
	struct ws_tm_flow *flow;
	struct begin *begins;            /* by instruction; same: union-find over begins of one section */
	uint32_t *state;                 /* at the entry of each block */
	uint32_t *stack;
	size_t n;
	bool good;
};

static uint32_t root(const struct walk *w, uint32_t k)
{
	while (w->begins[k].same != k)
		k = w->begins[k].same;
	return k;
}

static uint32_t depth(const struct walk *w, uint32_t begin) { return begin ? w->begins[begin - 1].depth : 0; }

/* Begins that come to one end are one section, and those of the sections around are, too. */
static bool unite(struct walk *w, uint32_t a, uint32_t b)
{
	while (a && b) {
		uint32_t one = root(w, a - 1), other = root(w, b - 1);

		if (one == other)
			return true;
		if (w->begins[one].either != w->begins[other].either)
			return false;
		w->begins[one].same = other;
		a = w->begins[one].around;
		b = w->begins[other].around;
	}
	return a == b;
}

/* Control comes to a block, in that section. */
static void arrive(struct walk *w, uint32_t block, uint32_t begin, const struct ws_ptx_inst *from)
{
	uint32_t was = w->state[block] - 1;

	if (w->state[block] == NEVER) {
		w->state[block] = begin + 1;
		w->stack[w->n++] = block;
	} else if (w->good && !unite(w, begin, was)) {
		w->good = ws_tm_refuse(w->p, w->f, from, "control comes from here to a place that it also reaches with %s "
				       "open: give each section one beginning and an end on every way out",
				       depth(w, was) == depth(w, begin) ? "another marked section" :
				       depth(w, was) > depth(w, begin) ? "more marked sections" : "fewer marked sections");
	}
}

static bool begin_section(struct walk *w, const struct ws_ptx_inst *i, uint32_t *begin)
{
	struct begin *b = &w->begins[i->index];

	b->around = *begin;
	b->depth = depth(w, *begin) + 1;
	b->either = ws_tm_mark_of(i) == WS_TM_EITHER;
	if (b->either && !*begin)
		return ws_tm_refuse(w->p, w->f, i, "alternatives that are not in a marked section of this function");
	*begin = i->index + 1;
	return true;
}

static bool end_section(struct walk *w, const struct ws_ptx_inst *i, uint32_t *begin)
{
	if (!*begin)
		return ws_tm_refuse(w->p, w->f, i, "the end of a marked section that did not begin in this function");
	if (w->begins[*begin - 1].either != (ws_tm_mark_of(i) == WS_TM_EITHER_END))
		return ws_tm_refuse(w->p, w->f, i, "a marked section and an alternative, of which neither is in the other one");
	*begin = w->begins[*begin - 1].around;
	return true;
}

static bool step(struct walk *w, const struct ws_ptx_inst *i, uint32_t *begin)
{
	enum ws_tm_mark mark = ws_tm_mark_of(i);
	bool good = true;

	w->flow->inside[i->index] = *begin;
	if (mark == WS_TM_BEGIN || mark == WS_TM_EITHER)
		good = begin_section(w, i, begin);
	else if (mark == WS_TM_END || mark == WS_TM_EITHER_END)
		good = end_section(w, i, begin);
	if (good && *begin && (i->op == WS_OP_ret || i->op == WS_OP_exit))
		return ws_tm_refuse(w->p, w->f, i, "the marked section is left by '%s' without its end",
				    ws_op_info(i->op)->name);
	return good;
}

static void walk_block(struct walk *w, uint32_t block)
{
	const struct ws_ptx_block *b = &w->f->blocks[block];
	uint32_t begin = w->state[block] - 1;

	for (uint32_t k = b->first; k <= b->last && w->good; k++)
		w->good = step(w, &w->f->insts[k], &begin);
	for (uint32_t k = 0; k < b->nsucc && w->good; k++)
		if (b->succ[k] != WS_EXIT_BLOCK)
			arrive(w, b->succ[k], begin, &w->f->insts[b->last]);
}

/* Numbers the sections, and tells each instruction by numbers. */
static void number(struct walk *w)
{
	struct ws_tm_flow *flow = w->flow;

	for (uint32_t k = 0; k < w->f->ninsts; k++)
		if (w->begins[k].depth && root(w, k) == k)
			flow->begins[k] = ++flow->nsections;
	flow->sections = ws_alloc((flow->nsections + 1) * sizeof *flow->sections);
	for (uint32_t k = 0; k < w->f->ninsts; k++) {
		const struct begin *b = &w->begins[k];

		if (flow->inside[k])
			flow->inside[k] = flow->begins[root(w, flow->inside[k] - 1)];
		if (!b->depth)
			continue;
		flow->begins[k] = flow->begins[root(w, k)];
		flow->sections[flow->begins[k] - 1] = (struct ws_tm_section){ flow->inside[k], b->either };
	}
}

bool ws_tm_flow_find(struct ws_pass *p, struct ws_ptx_func *f, struct ws_tm_flow *flow)
{
	struct walk w = { .p = p, .f = f, .flow = flow, .good = true };

	ws_ptx_cfg(f);
	*flow = (struct ws_tm_flow){ .inside = ws_alloc((f->ninsts + 1) * sizeof *flow->inside),
	                             .begins = ws_alloc((f->ninsts + 1) * sizeof *flow->begins) };
	w.begins = ws_alloc((f->ninsts + 1) * sizeof *w.begins);
	w.state = ws_alloc((f->nblocks + 1) * sizeof *w.state);
	w.stack = ws_alloc((f->nblocks + 1) * sizeof *w.stack);
	for (uint32_t k = 0; k < f->ninsts; k++)
		w.begins[k].same = k;
	if (f->nblocks)
		arrive(&w, 0, 0, NULL);
	while (w.n && w.good)
		walk_block(&w, w.stack[--w.n]);
	if (w.good)
		number(&w);
	free(w.begins);
	free(w.state);
	free(w.stack);
	return w.good;
}

void ws_tm_flow_free(struct ws_tm_flow *flow)
{
	free(flow->inside);
	free(flow->begins);
	free(flow->sections);
}

bool ws_tm_flow_in(const struct ws_tm_flow *flow, uint32_t inst, uint32_t section)
{
	uint32_t s = flow->inside[inst];

	while (s && s - 1 != section)
		s = flow->sections[s - 1].around;
	return s;
}

/* A section that can be undone alone: alternatives are undone with the one around them. */
uint32_t ws_tm_flow_undone(const struct ws_tm_flow *flow, uint32_t inst)
{
	uint32_t s = flow->inside[inst];

	while (s && flow->sections[s - 1].either)
		s = flow->sections[s - 1].around;
	return s;
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

bool ws_tm_result_is_used(struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	uint64_t *live;
	uint32_t r;
	bool used;

	if (i->ops[0].kind != WS_O_REG)
		return false;
	live = live_behind(f, i);
	r = i->ops[0].reg->index;
	used = live[r / 64] >> r % 64 & 1;
	free(live);
	return used;
}

void ws_tm_saved_find(struct ws_ptx_func *f, const struct ws_tm_flow *flow, const struct ws_ptx_inst *begin,
		      struct ws_tm_saved *saved)
{
	uint64_t *live = live_behind(f, begin), *written = ws_alloc((f->nregs / 64 + 1) * sizeof *written);
	uint32_t section = flow->begins[begin->index] - 1;

	for (uint32_t k = 0; k < f->ninsts; k++)
		if (ws_tm_flow_in(flow, k, section))
			ws_ptx_inst_regs(&f->insts[k], change, &(struct regs){ written, true, true });
	for (uint32_t k = 0; k < f->nregs; k++)
		if (live[k / 64] & written[k / 64] & 1ull << k % 64)
			*WS_PUSH(saved->regs, saved->n, saved->cap) = f->regs[k];
	free(live);
	free(written);
}
