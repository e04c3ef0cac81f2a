/* ranges_congruent.c - registers that are made of the same in the same way: congruent ones (Alpern, Wegman and Zadeck, Detecting Equality of Variables in
 * Programs, POPL 1988, section 2; found in one walk, so that of loops nothing is found). Compilers make `threadIdx.y * 32 + threadIdx.x` anew behind the
 * branch that has compared it, to keep no register for it. What the comparison says of the one is so of the other. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

enum { CHAINS = 1024, MOST_OPERANDS = 4 };

struct congruent {
	struct values *v;
	uint32_t first[CHAINS], *next;   /* by instruction; UINT32_MAX ends */
};

/* What it holds depends on its operands alone. */
static bool is_pure(const struct ws_ptx_inst *i)
{
	switch (i->op) {
	case WS_OP_add: case WS_OP_sub: case WS_OP_mul: case WS_OP_mad: case WS_OP_shl: case WS_OP_shr: case WS_OP_and: case WS_OP_or: case WS_OP_cvt: case WS_OP_mov:
		return !i->guard && i->nops >= 2 && i->nops <= MOST_OPERANDS && i->ops[0].kind == WS_O_REG && !i->ops[0].component;
	default:
		return false;
	}
}

static bool is_coordinate(const struct ws_operand *o)
{
	return o->kind == WS_O_SREG && o->sreg_or_count >= WS_SR_TID_X && o->sreg_or_count <= WS_SR_NCTAID_Z;
}

/* Does it have one value in all of the thread's life, as far as its own register tells? */
static bool is_one(const struct values *v, const struct ws_operand *o)
{
	if (o->component || o->negated)
		return false;
	return o->kind == WS_O_INT || is_coordinate(o) || (o->kind == WS_O_REG && v->defs[o->reg->index].n == 1);
}

static uint32_t number_of(const struct values *v, const struct ws_operand *o)
{
	return o->kind == WS_O_REG ? v->congruent[o->reg->index] : o->kind == WS_O_INT ? (uint32_t)o->imm : o->sreg_or_count;
}

static bool is_same(const struct values *v, const struct ws_operand *a, const struct ws_operand *b)
{
	return a->kind == b->kind && number_of(v, a) == number_of(v, b) && (a->kind != WS_O_INT || a->imm == b->imm);
}

static bool is_congruent(const struct values *v, const struct ws_ptx_inst *a, const struct ws_ptx_inst *b)
{
	if (a->op != b->op || a->mode != b->mode || a->part != b->part || a->flags != b->flags || a->nops != b->nops || a->ntypes != b->ntypes ||
	    memcmp(a->type, b->type, sizeof a->type) != 0 || a->rnd != b->rnd || a->ops[0].reg->type != b->ops[0].reg->type)
		return false;
	for (unsigned k = 1; k < a->nops; k++)
		if (!is_same(v, &a->ops[k], &b->ops[k]))
			return false;
	return true;
}

static uint32_t chain_of(const struct values *v, const struct ws_ptx_inst *i)
{
	uint32_t h = i->op;

	for (unsigned k = 1; k < i->nops; k++)
		h = h * 31 + number_of(v, &i->ops[k]);
	return h % CHAINS;
}

static void note(struct congruent *c, const struct ws_ptx_inst *i)
{
	struct values *v = c->v;
	uint32_t *first, k;

	if (!is_pure(i) || v->defs[i->ops[0].reg->index].n != 1)
		return;
	for (unsigned m = 1; m < i->nops; m++)
		if (!is_one(v, &i->ops[m]))
			return;
	first = &c->first[chain_of(v, i)];
	for (k = *first; k != UINT32_MAX && !is_congruent(v, &v->f->insts[k], i); k = c->next[k])
		;
	if (k != UINT32_MAX) {
		v->congruent[i->ops[0].reg->index] = v->congruent[v->f->insts[k].ops[0].reg->index];
		return;
	}
	c->next[i->index] = *first;
	*first = i->index;
}

/* Those that are compared, by the first one that they are congruent to. */
static void link_compared(struct values *v)
{
	for (uint32_t k = v->f->nregs; k-- > 0;) {
		uint32_t *first = &v->first_congruent[v->congruent[k]];

		if (v->first_compare[k] == UINT32_MAX)
			continue;
		v->next_congruent[k] = *first;
		*first = k;
	}
}

void ws_values_find_congruent(struct values *v)
{
	struct congruent c = { .v = v, .next = ws_alloc((v->f->ninsts + 1) * sizeof *c.next) };
	size_t bytes = (v->f->nregs + 1) * sizeof *v->congruent;

	v->congruent = ws_alloc(bytes);
	v->first_congruent = ws_alloc(bytes);
	v->next_congruent = ws_alloc(bytes);
	memset(v->first_congruent, 0xff, bytes);
	memset(c.first, 0xff, sizeof c.first);
	for (uint32_t k = 0; k < v->f->nregs; k++)
		v->congruent[k] = k;
	for (uint32_t k = 0; k < v->f->ninsts; k++)
		note(&c, &v->f->insts[k]);
	link_compared(v);
	free(c.next);
}
