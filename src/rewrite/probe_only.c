/* probe_only.c - conditions of data that hold only where known ones do: `bool rim = inside && threadIdx.x == 0; ... if (rim) s[...] = x`.
 *
 * A probe takes what is behind a condition of data as done by all threads. Where that condition is a conjunction with a known one, or is false
 * only if a known one is, threads for which the known one fails never come there, and the probe leaves it out for them. The known one has to be the
 * same at all times: it is made once, of the thread's index, the size of the block, parameters and constants, so it does not matter when the other one was made of it. */
#include "rewrite/probe.h"

#include <stdlib.h>

enum { DEEPEST = 12 };

struct counting { struct ws_probe *p; const struct ws_ptx_inst *at; bool *set; };

static void note_def(void *user, struct ws_reg *r, bool is_def)
{
	struct counting *c = user;

	if (!is_def)
		return;
	c->p->def[r->index] = c->set[r->index] ? NULL : c->at;
	c->set[r->index] = true;
}

void ws_probe_find_defs(struct ws_probe *p)
{
	struct counting c = { .p = p, .set = ws_alloc(p->f->nregs + 1) };

	for (uint32_t k = 0; k < p->f->ninsts; k++) {
		c.at = &p->f->insts[k];
		ws_ptx_inst_regs(c.at, note_def, &c);
	}
	free(c.set);
}

static const struct ws_ptx_inst *def_of(const struct ws_probe *p, const struct ws_reg *r)
{
	const struct ws_ptx_inst *i = p->def[r->index];

	return i && !i->guard ? i : NULL;
}

struct using { const struct ws_probe *p; unsigned depth; bool constant; };

static bool is_constant(const struct ws_probe *p, const struct ws_reg *r, unsigned depth);

static void use_constant(void *user, struct ws_reg *r, bool is_def)
{
	struct using *u = user;

	if (!is_def && u->constant)
		u->constant = is_constant(u->p, r, u->depth + 1);
}

/* Is it known, and the same at all times? */
static bool is_constant(const struct ws_probe *p, const struct ws_reg *r, unsigned depth)
{
	const struct ws_ptx_inst *i = !p->data[r->index] && depth < DEEPEST ? def_of(p, r) : NULL;
	struct using u = { p, depth, i != NULL };

	if (i)
		ws_ptx_inst_regs(i, use_constant, &u);
	return u.constant;
}

static bool is_plain(const struct ws_operand *o)
{
	return o->kind == WS_O_REG && !o->component && o->reg->vec == 1 && o->reg->type == WS_PRED;
}

static void add(struct ws_probe_only *only, const struct ws_reg *r, bool is)
{
	for (unsigned k = 0; k < only->n; k++)
		if (only->of[k].r == r && only->of[k].is == is)
			return;
	if (only->n < WS_COUNT(only->of)) {
		only->of[only->n].r = r;
		only->of[only->n++].is = is;
	}
}

static void imply(const struct ws_probe *p, const struct ws_reg *r, bool is, unsigned depth, struct ws_probe_only *only);

static void imply_operand(const struct ws_probe *p, const struct ws_operand *o, bool is, unsigned depth, struct ws_probe_only *only)
{
	if (is_plain(o))
		imply(p, o->reg, is != o->negated, depth + 1, only);
}

/* What is known where r is that. */
static void imply(const struct ws_probe *p, const struct ws_reg *r, bool is, unsigned depth, struct ws_probe_only *only)
{
	const struct ws_ptx_inst *i = depth < DEEPEST ? def_of(p, r) : NULL;

	if (is_constant(p, r, 0)) {
		add(only, r, is);
		return;
	}
	if (!i)
		return;
	switch (i->op) {
	case WS_OP_mov:
		imply_operand(p, &i->ops[1], is, depth, only);
		break;
	case WS_OP_not:
		imply_operand(p, &i->ops[1], !is, depth, only);
		break;
	case WS_OP_and: case WS_OP_or:
		for (unsigned k = 1; k < 3 && is == (i->op == WS_OP_and); k++)
			imply_operand(p, &i->ops[k], is, depth, only);
		break;
	default:
		break;
	}
}

/* Is it set on every way to the block? */
static bool is_set_before(const struct ws_probe *p, const struct ws_reg *r, uint32_t block)
{
	return ws_rw_dominates(p->f, p->def[r->index]->block, block);
}

struct ws_probe_only ws_probe_only_if(const struct ws_probe *p, const struct ws_reg *r, bool is, uint32_t block)
{
	struct ws_probe_only all = { .n = 0 }, only = { .n = 0 };

	if (!p->whole && p->data[r->index])
		imply(p, r, is, 0, &all);
	for (unsigned k = 0; k < all.n; k++)
		if (is_set_before(p, all.of[k].r, block))
			only.of[only.n++] = all.of[k];
	return only;
}
