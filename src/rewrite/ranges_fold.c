/* ranges_fold.c - parts of a sum that a register with bounds is.
 *
 * A compiler may add what a register is the sum of in another order, `(tid + n) + ctaid * ntid` of i + n: then no register of it was compared, and i was.
 * So what has coordinates alone is looked for in such registers. */
#include "rewrite/ranges_priv.h"

static bool has_coordinate(const struct values *v, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++)
			if (v->leaves[s->t[k].leaf[m]].kind == LEAF_SPECIAL && !v->leaves[s->t[k].leaf[m]].fixed)
				return true;
	return false;
}

static const struct term *term_of(const struct sum *s, const struct term *like)
{
	for (uint32_t k = 0; k < s->n; k++)
		if (ws_term_same_leaves(&s->t[k], like))
			return &s->t[k];
	return NULL;
}

/* How often the terms of `part` that vary, two or more, are in s; 0: they are not all there, or not as often. */
static int64_t times_in(const struct values *v, const struct sum *part, const struct sum *s)
{
	int64_t times = 0;
	unsigned varying = 0;

	for (uint32_t k = 0; k < part->n; k++) {
		const struct sum one = { 1, { part->t[k] } };
		const struct term *t = term_of(s, &part->t[k]);

		if (ws_sum_fixed(v, &one))
			continue;
		if (!t || t->factor % part->t[k].factor || (varying++ && t->factor / part->t[k].factor != times))
			return 0;
		times = t->factor / part->t[k].factor;
	}
	return varying > 1 ? times : 0;
}

void ws_sum_fold_bounded(struct values *v, struct sum *s)
{
	enum { MOST_TRIED = 32 };
	unsigned tried = 0;

	for (uint32_t k = 0; k < v->f->nregs && tried < MOST_TRIED && has_coordinate(v, s); k++) {
		const struct defs *d = &v->defs[k];
		const struct ws_reg *r = v->first_compare[k] != UINT32_MAX && d->n == 1 && d->at[0]->op != WS_OP_mov ? d->at[0]->ops[0].reg : NULL;
		size_t nduties = v->nduties;
		const struct leaf *l;
		struct sum one, rest = *s;
		int64_t times = 0;

		if (!r || d->at[0]->ops[0].kind != WS_O_REG || r->index != k)
			continue;
		tried++;
		l = ws_value_register(v, r, v->access, &one) && one.n == 1 && one.t[0].n == 1 && one.t[0].factor == 1 ? &v->leaves[one.t[0].leaf[0]] : NULL;
		if (l && l->kind == LEAF_ONE_OF && l->reg == r && l->nof == 1 && l->nbounds && !l->in_time)
			times = times_in(v, l->of[0], s);
		if (times && ws_sum_add(&rest, l->of[0], -times) && ws_sum_add(&rest, &one, times))
			*s = rest;
		else
			v->nduties = nduties;
	}
}
