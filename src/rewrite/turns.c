/* turns.c - what instructions make of registers that have a number. */
#include "rewrite/needless.h"

#include <stdlib.h>

enum { DEEPEST = 10 };

struct finding { const struct ws_ptx_inst **only, *at; bool *several; };

static void look_at_set(void *user, struct ws_reg *r, bool is_def)
{
	struct finding *x = user;

	if (!is_def || x->only[r->index] == x->at)
		return;
	x->several[r->index] |= x->only[r->index] || x->at->guard;
	x->only[r->index] = x->at;
}

const struct ws_ptx_inst **ws_only_sets(const struct ws_ptx_func *f)
{
	struct finding x = { .only = ws_alloc((f->nregs + 1) * sizeof *x.only), .several = ws_alloc((f->nregs + 1) * sizeof *x.several) };

	for (uint32_t k = 0; k < f->ninsts; k++) {
		x.at = &f->insts[k];
		ws_ptx_inst_regs(x.at, look_at_set, &x);
	}
	for (uint32_t k = 0; k < f->nregs; k++)
		if (x.several[k])
			x.only[k] = NULL;
	free(x.several);
	return x.only;
}

static bool number_of(struct ws_turn *t, const struct ws_ptx_inst *i, const struct ws_operand *o, unsigned depth, uint32_t *out)
{
	if (o->component || (o->negated && (o->kind != WS_O_REG || o->reg->type != WS_PRED)))
		return false;
	*out = (uint32_t)o->imm;
	if (o->kind != WS_O_REG)
		return o->kind == WS_O_INT;
	for (unsigned k = 0; k < t->n; k++)
		if (t->has[k].r == o->reg) {
			*out = t->has[k].number;
			if (t->nreads < WS_TURN_READS)
				t->reads[t->nreads] = i;
			return t->nreads++ < WS_TURN_READS;
		}
	if (depth == DEEPEST || !t->only[o->reg->index])
		return false;
	t->apart |= t->only[o->reg->index]->block != i->block || t->only[o->reg->index]->index > i->index;
	if (!ws_turn_number(t, t->only[o->reg->index], depth + 1, out))
		return false;
	*out ^= o->negated;
	return true;
}

static bool compares(enum ws_cmp cmp, bool is_signed, uint32_t a, uint32_t b, uint32_t *out)
{
	bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;

	switch (cmp) {
	case WS_EQ: *out = a == b; return true;
	case WS_NE: *out = a != b; return true;
	case WS_LT: *out = less; return true;
	case WS_GE: *out = !less; return true;
	case WS_LE: *out = less || a == b; return true;
	case WS_GT: *out = !less && a != b; return true;
	default: return false;
	}
}

static bool multiplies(const struct ws_ptx_inst *i, bool is_signed, uint32_t a, uint32_t b, uint32_t *out)
{
	uint64_t product = is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;

	*out = (uint32_t)(i->part == WS_HI_HALF ? product >> 32 : product);
	return i->part == WS_LO_HALF || i->part == WS_HI_HALF;
}

static uint32_t shifted(uint32_t a, uint32_t by, bool is_signed)
{
	if (is_signed)
		return (uint32_t)((int32_t)a >> (by < 31 ? by : 31));
	return by < 32 ? a >> by : 0;
}

/* Of two numbers of 32 bits. */
static bool computes(const struct ws_ptx_inst *i, bool is_signed, uint32_t a, uint32_t b, uint32_t *out)
{
	bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;

	switch (i->op) {
	case WS_OP_add: *out = a + b; return true;
	case WS_OP_sub: *out = a - b; return true;
	case WS_OP_and: *out = a & b; return true;
	case WS_OP_or: *out = a | b; return true;
	case WS_OP_xor: *out = a ^ b; return true;
	case WS_OP_shl: *out = b < 32 ? a << b : 0; return true;
	case WS_OP_shr: *out = shifted(a, b, is_signed); return true;
	case WS_OP_min: *out = less ? a : b; return true;
	case WS_OP_max: *out = less ? b : a; return true;
	case WS_OP_mul: return multiplies(i, is_signed, a, b, out);
	case WS_OP_rem: *out = b ? a % b : 0; return b && (int32_t)a >= 0 && (int32_t)b > 0;
	case WS_OP_div: *out = b ? a / b : 0; return b && (int32_t)a >= 0 && (int32_t)b > 0;
	default: return false;
	}
}

bool ws_turn_number(struct ws_turn *t, const struct ws_ptx_inst *i, unsigned depth, uint32_t *out)
{
	enum ws_type type = (enum ws_type)i->type[0];
	bool is_signed = type == WS_S32, words = type == WS_S32 || type == WS_U32 || type == WS_B32;
	uint32_t a, b, c;

	t->nseen++;
	t->first = t->first && t->first->index < i->index ? t->first : i;
	if (i->guard || i->flags || !words || i->nops < 2 || i->ops[0].kind != WS_O_REG || i->ops[0].component || !number_of(t, i, &i->ops[1], depth, &a))
		return false;
	if (i->op == WS_OP_mov && i->nops == 2) {
		*out = a;
		return true;
	}
	if (i->nops < 3 || !number_of(t, i, &i->ops[2], depth, &b))
		return false;
	if (i->op == WS_OP_setp)
		return i->nops == 3 && i->boolop == WS_BOOL_NONE && compares((enum ws_cmp)i->cmp, is_signed, a, b, out);
	if (i->op == WS_OP_selp && i->nops == 4 && number_of(t, i, &i->ops[3], depth, &c)) {
		*out = c ? a : b;
		return true;
	}
	if (i->op == WS_OP_mad && i->nops == 4 && number_of(t, i, &i->ops[3], depth, &c)) {
		bool known = multiplies(i, is_signed, a, b, out);

		*out += c;
		return known;
	}
	return i->nops == 3 && computes(i, is_signed, a, b, out);
}
