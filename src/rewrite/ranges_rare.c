/* ranges_rare.c - accesses that only some launches can come to.
 *
 * A parameter or a constant is compared with a number, and an access is reached only where both are equal: a mode, a
 * switch for debugging. The comparison gives the same in all threads of a launch and at all times, so the entry knows:
 * where it is false the access does not happen. */
#include "rewrite/ranges_priv.h"

/* Does the instruction compare such a value with a number? */
static bool compares_fixed(struct values *v, const struct ws_ptx_inst *i, bool *truth, struct bound *b, struct rare *r)
{
	const struct ws_reg *reg = i->op == WS_OP_setp && i->ops[1].kind == WS_O_REG ? i->ops[1].reg : NULL;
	struct sum s;

	if (!reg)
		return false;
	*truth = i->cmp == WS_EQ;
	v->access = i;
	if (!ws_equal_by(i, reg, *truth, b) || b->other->kind != WS_O_INT || !ws_value_operand(v, &i->ops[1], ws_type_bytes(b->type), i, &s) ||
	    s.n != 1 || s.t[0].n != 1 || s.t[0].factor != 1)
		return false;
	*r = (struct rare){ s.t[0].leaf[0], ws_type_bytes(b->type) == 4 ? (int32_t)b->other->imm : (int64_t)b->other->imm };
	return v->leaves[r->leaf].kind == LEAF_PARAM || v->leaves[r->leaf].kind == LEAF_CONST;
}

static bool note(struct rare *out, unsigned *n, const struct rare *r)
{
	for (unsigned k = 0; k < *n; k++)
		if (out[k].leaf == r->leaf && out[k].k == r->k)
			return true;
	if (*n == MOST_RARE)
		return false;
	out[(*n)++] = *r;
	return true;
}

unsigned ws_rare_find(struct values *v, const struct ws_rw_access *list, uint32_t n, bool *needs, struct rare *out)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < v->f->ninsts; i++) {
		const struct ws_ptx_inst *compare = &v->f->insts[i];
		struct bound b;
		struct rare r;
		bool truth;

		if (!compares_fixed(v, compare, &truth, &b, &r))
			continue;
		for (uint32_t k = 0; k < n; k++)
			if (list[k].rw_class == WS_RW_CHECK &&
			    ws_fact_holds(v, &b, compare->ops[1].reg, true, list[k].inst))
				needs[k] |= note(out, &found, &r);
	}
	return found;
}

/* The way that a branch takes only if the condition is true. */
static uint8_t rare_way(struct values *v, const struct ws_ptx_inst *i, struct rare *r)
{
	const struct defs *d = i->op == WS_OP_bra && i->guard ? &v->defs[i->guard->index] : NULL;
	struct bound b;
	bool truth;

	if (!d || d->n != 1 || d->at[0]->guard || v->f->blocks[i->block].nsucc != 2 ||
	    !compares_fixed(v, d->at[0], &truth, &b, r))
		return 0;
	return truth != i->guard_neg ? WS_DEAD_TAKEN : WS_DEAD_NEXT;
}

unsigned ws_rare_ways(struct values *v, uint8_t *dead, struct rare *out, unsigned found)
{
	struct rare r;

	for (uint32_t i = 0; i < v->f->ninsts; i++) {
		uint8_t way = rare_way(v, &v->f->insts[i], &r);

		if (way && note(out, &found, &r))
			dead[i] = way;
	}
	return found;
}
