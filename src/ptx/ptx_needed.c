/* ptx_needed.c - loads that a compiler has moved ahead of a condition.
 *
 * `if (c) v = m[0];` becomes a load by all threads, and a selection or a branch behind it, when the compiler knows that the
 * address is good: that of a variable. In the program only the threads of which c is true read m[0]; what the others
 * load is thrown away, so that no order can matter for it. So a load runs for those threads only that need its value,
 * when its block tells which they are: the value goes through a few instructions into one selp, or to one side of the
 * branch at the end, and nowhere else. */
#include "ptx/ptx.h"

enum { STEPS = 4, WINDOW = 64 };         /* instructions that a value goes through; between the load and the condition */

struct use {
	const struct ws_reg *reg;
	unsigned uses, defs;
};

static void count_use(void *user, struct ws_reg *r, bool is_def)
{
	struct use *u = user;

	u->uses += r == u->reg && !is_def;
	u->defs += r == u->reg && is_def;
}

static struct use count(const struct ws_ptx_func *f, uint32_t from, uint32_t to, const struct ws_reg *r)
{
	struct use u = {.reg = r};

	for (uint32_t i = from; i < to; i++)
		ws_ptx_inst_regs(&f->insts[i], count_use, &u);
	return u;
}

static bool in_set(const uint64_t *set, const struct ws_reg *r)
{
	return set[r->index / 64] >> r->index % 64 & 1;
}

/* The next instruction of the block that uses or sets r, if it is near. */
static const struct ws_ptx_inst *next_use(const struct ws_ptx_func *f, const struct ws_ptx_inst *from,
                                          const struct ws_reg *r)
{
	const struct ws_ptx_block *b = &f->blocks[from->block];

	for (uint32_t i = from->index + 1; i <= b->last && i <= from->index + WINDOW; i++) {
		struct use u = count(f, i, i + 1, r);

		if (u.uses || u.defs)
			return &f->insts[i];
	}
	return NULL;
}

/* Is `i` the only instruction that uses r, and uses it once? */
static bool used_once(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	const struct ws_ptx_block *b = &f->blocks[i->block];
	struct use here = count(f, i->index, i->index + 1, r);

	return here.uses == 1 && !here.defs && !in_set(b->live_out, r) && !count(f, i->index + 1, b->last + 1, r).uses;
}

/* The register that the instruction fills, if that is all it does. */
static const struct ws_reg *only_result(const struct ws_ptx_inst *i)
{
	const struct ws_operand *d = &i->ops[0];

	return !i->guard && i->nops && d->kind == WS_O_REG && !d->component && d->reg->vec == 1 && i->vec <= 1 ? d->reg : NULL;
}

static bool selected(const struct ws_ptx_inst *i, const struct ws_reg *r, struct ws_needed *n)
{
	const struct ws_operand *p = &i->ops[3];

	if (i->guard || i->nops != 4 || p->kind != WS_O_REG || p->negated)
		return false;
	*n = (struct ws_needed){p->reg, i->ops[1].kind != WS_O_REG || i->ops[1].reg != r, i->index};
	return true;
}

/* Is r, which the block does not use behind `from`, used on one side only of the branch at its end? */
static bool on_one_side(const struct ws_ptx_func *f, const struct ws_ptx_inst *from, const struct ws_reg *r,
                        struct ws_needed *n)
{
	const struct ws_ptx_block *b = &f->blocks[from->block];
	const struct ws_ptx_inst *last = &f->insts[b->last];
	bool side[2] = {false};              /* goes on, branches */

	if (last->op != WS_OP_bra || !last->guard || b->nsucc != 2 || b->last - from->index > WINDOW)
		return false;
	for (unsigned k = 0; k < 2; k++) {
		const struct ws_ptx_block *next = &f->blocks[b->succ[k]];

		if (next->first <= b->last)          /* a loop that keeps the last of its values does read them all */
			return false;
		side[next->first != b->last + 1] |= in_set(next->live_in, r);
	}
	*n = (struct ws_needed){last->guard, side[1] ? last->guard_neg : !last->guard_neg, b->last};
	return side[0] != side[1];
}

/* n->at: where the condition is. first: where the value is used first. */
static bool find_condition(const struct ws_ptx_func *f, const struct ws_ptx_inst *load, struct ws_needed *n, uint32_t *first)
{
	const struct ws_ptx_inst *i = load, *use;
	const struct ws_reg *r = only_result(load);

	for (unsigned k = 0; r && k < STEPS; k++, i = use) {
		use = next_use(f, i, r);
		if (!k)
			*first = use ? use->index : f->blocks[load->block].last;
		if (!use)
			return on_one_side(f, i, r, n);
		if (use->op == WS_OP_selp)
			return selected(use, r, n) && used_once(f, use, r);
		if (ws_op_info(use->op)->fx || !used_once(f, use, r))
			return false;
		r = only_result(use);
	}
	return false;
}

static bool weak(const struct ws_ptx_inst *i)
{
	return ws_ptx_order(i).sem == WS_SEM_WEAK;
}

/* Have these instructions no effects but computing and weak loads (and stores)? */
static bool quiet(const struct ws_ptx_func *f, uint32_t from, uint32_t to, bool stores)
{
	for (uint32_t i = from; i < to; i++) {
		const struct ws_ptx_inst *x = &f->insts[i];

		if (ws_op_info(x->op)->fx & ~WS_FX_CARRY && !((x->op == WS_OP_ld || (x->op == WS_OP_st && stores)) && weak(x)))
			return false;
	}
	return true;
}

bool ws_load_needed(const struct ws_ptx_func *f, const struct ws_ptx_inst *load, struct ws_needed *n)
{
	const struct ws_operand *addr = load->nops == 2 ? &load->ops[1] : NULL;
	uint32_t first = 0, condition;

	if (load->op != WS_OP_ld || load->guard || !addr || addr->kind != WS_O_ADDR || addr->reg || !addr->sym ||
	    (load->space != WS_SPACE_SHARED && load->space != WS_SPACE_GLOBAL) || !weak(load) || !f->blocks->live_out ||
	    !find_condition(f, load, n, &first) || !quiet(f, load->index + 1, n->at, true))
		return false;
	condition = n->at;
	n->at = load->index;
	if (count(f, load->index + 1, first, n->p).defs) {           /* known later only */
		if (!quiet(f, load->index + 1, first, false))
			return false;
		n->at = first;
	}
	return !count(f, first, condition, n->p).defs;
}
