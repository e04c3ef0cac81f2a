/* ranges_chosen.c - registers that hold one of several numbers, as data says, of which none is negative: what is nearest, or best.
 *
 *      nearest = 0; for (k = 0; k < n; k++) if (distance(k) < least) { least = ...; nearest = k; }  atomicAdd(&sum[nearest * 12 + d], x[d]);
 *
 * A compiler makes of that copies and choices (selp) of registers, one for each round of a loop that it unrolls. If each of them is a number that the entry can
 * examine to be from 0 to MOST_CHOSEN - 1, or is made by more of them, the register is 0 or more: so what it leads to begins where `sum` does, and not before, in the
 * centres that lie in front of it in one variable. Where it ends is not known: it stays in the variable. */
#include "rewrite/ranges_priv.h"

enum { MOST_IN_CHAIN = 24 };

struct choosing { struct values *v; const struct ws_reg *seen[MOST_IN_CHAIN]; unsigned n; };

static bool is_seen(const struct choosing *c, const struct ws_reg *r)
{
	for (unsigned k = 0; k < c->n; k++)
		if (c->seen[k] == r)
			return true;
	return false;
}

static bool chooses(struct choosing *c, const struct ws_reg *r);

/* Is it a number that is not negative? */
static bool is_number(struct choosing *c, const struct ws_operand *o, const struct ws_ptx_inst *at)
{
	struct sum s;

	if (!ws_value_operand(c->v, o, 4, at, &s) || !ws_sum_never_negative(c->v, &s))
		return false;
	ws_value_duty(c->v, &s, 0, MOST_CHOSEN - 1);
	return true;
}

static bool may_be(struct choosing *c, const struct ws_operand *o, const struct ws_ptx_inst *at)
{
	size_t nduties = c->v->nduties;

	if (o->kind == WS_O_REG && is_seen(c, o->reg))
		return true;
	if (is_number(c, o, at))
		return true;
	c->v->nduties = nduties;
	return ws_operand_is_word(o) && chooses(c, o->reg);
}

/* What each instruction that sets r copies, or chooses of. */
static bool chooses(struct choosing *c, const struct ws_reg *r)
{
	const struct values *v = c->v;

	if (c->n == MOST_IN_CHAIN)
		return false;
	c->seen[c->n++] = r;
	for (uint32_t k = v->first_set[r->index]; k < v->first_set[r->index + 1]; k++) {
		const struct ws_ptx_inst *i = &v->f->insts[v->sets[k]];
		unsigned last = i->op == WS_OP_mov && i->nops == 2 ? 1 : i->op == WS_OP_selp && i->nops == 4 ? 2 : 0;

		if (!last || i->guard || ws_type_bytes((enum ws_type)i->type[0]) != 4 || ws_type_is_float((enum ws_type)i->type[0]))
			return false;
		for (unsigned n = 1; n <= last; n++)
			if (!may_be(c, &i->ops[n], i))
				return false;
	}
	return v->first_set[r->index] != v->first_set[r->index + 1];
}

bool ws_value_chosen(struct values *v, const struct ws_reg *r, struct sum *out)
{
	struct leaf l = { .kind = LEAF_ENDLESS, .reg = r, .k = 1, .offset = 2, .in_time = true };
	struct choosing c = { .v = v };

	return v->shared && v->asking && ws_type_bytes(r->type) == 4 && chooses(&c, r) && ws_value_leaf(v, &l, out);
}
