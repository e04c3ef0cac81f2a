/* ranges_left_over.c - how far accesses come that a compiler does one by one, ahead of a loop that it has unrolled.
 *
 * `for (c = k + 1; c < 32; c++) use(a[c])`, with 31 - k rounds, four at a time and what is left over first, becomes
 *
 *      if (k + 1 > 31) goto end;
 *      m = (3 - k) & 3;                                 as 31 - k, modulo 4
 *      if (m == 0) goto many; use(a[k + 1]);
 *      if (m == 1) goto many; use(a[k + 2]);
 *      if (m == 2) goto many; use(a[k + 3]);
 *
 * By the bounds of k, which is 31 at most, the last of these comes to a[34]. But where it stands m is none of 0, 1 and 2, so k is 28 at most. Such accesses are
 * one group, a[k] and a number, of which each has its own greatest k: what is looked for here. */
#include "rewrite/ranges_shared_priv.h"

enum { MOST_MASK = 15, MOST_DEEP = 12 };

struct looking {
	struct values *v;
	uint32_t leaf;
	const struct ws_reg *turning;    /* the register that the leaf is, if that differs from time to time; else NULL */
	const struct ws_rw_access *a;
};

/* ---- what is made of the leaf ---- */
/* Is what r is made of the leaf as it is where the access is, if it is made of it? *any: it is. */
static bool keeps_up(const struct looking *l, const struct ws_reg *r, unsigned deep, bool *any)
{
	const struct defs *d = &l->v->defs[r->index];
	bool made = false;

	if (!l->turning || r == l->turning) {
		*any |= l->turning != NULL;
		return true;
	}
	if (d->n != 1 || d->at[0]->guard || deep == MOST_DEEP)
		return false;
	for (unsigned k = 1; k < d->at[0]->nops; k++)
		if (d->at[0]->ops[k].kind == WS_O_REG && !keeps_up(l, d->at[0]->ops[k].reg, deep + 1, &made))
			return false;
	*any |= made;
	return !made || ws_always_between(l->v->f, l->turning, d->at[0], l->a->inst);
}

/* Is the operand, of 4 bytes, as instruction `at` reads it, the leaf and *k, or (sign -1) *k less it? Duties are kept only then. */
static bool is_of_leaf(const struct looking *l, const struct ws_operand *o, const struct ws_ptx_inst *at, int64_t *k, int64_t *sign)
{
	struct values *v = l->v;
	size_t nduties = v->nduties;
	struct sum s;
	bool is;

	v->access = at;
	v->stepper = NULL;
	v->steppers = false;
	is = ws_value_operand(v, o, 4, at, &s);
	*k = is ? ws_sum_take_constant(&s) : 0;
	is = is && s.n == 1 && s.t[0].n == 1 && s.t[0].leaf[0] == l->leaf && (s.t[0].factor == 1 || s.t[0].factor == -1);
	*sign = is ? s.t[0].factor : 0;
	if (!is)
		v->nduties = nduties;
	return is;
}

static const struct ws_ptx_inst *made_by(const struct looking *l, const struct ws_operand *o)
{
	const struct ws_ptx_inst *def = ws_operand_is_word(o) ? ws_value_only_def(l->v, o) : NULL;
	bool any = false;

	return def && keeps_up(l, o->reg, 0, &any) ? def : NULL;
}

/* ---- its greatest value ---- */
static void limit(int64_t *most, int64_t to)
{
	*most = to < *most ? to : *most;
}

/* By the bounds that it has anywhere, or the rounds of its loop. */
static void limit_by_leaf(const struct looking *l, int64_t *most)
{
	const struct leaf *leaf = &l->v->leaves[l->leaf];
	int64_t k, step;

	if (leaf->kind == LEAF_COUNTED && leaf->nof == 1 && leaf->by > 0 && ws_sum_is_number(leaf->of[0], &k) && k > 0 && k < INT32_MAX &&
	    ws_sum_is_number(leaf->step, &step) && step > 0 && step < INT16_MAX)
		limit(most, ((k - 1) / leaf->by + (leaf->k != 0)) * step);
	for (unsigned n = 0; n < leaf->nbounds; n++)
		if (leaf->bounds[n].upper && !leaf->bounds[n].equal && ws_sum_is_number(leaf->bounds[n].than, &k))
			limit(most, k + leaf->bounds[n].slack);
}

/* By a comparison of it and a number with another one, which has decided on the way. */
static void limit_by_compare(const struct looking *l, const struct ws_ptx_inst *i, int64_t *most)
{
	const struct ws_ptx_inst *made = i->op == WS_OP_setp && i->nops == 3 && !i->boolop && i->ops[2].kind == WS_O_INT ? made_by(l, &i->ops[1]) : NULL;
	int64_t k, sign;

	for (int truth = 0; made && truth < 2; truth++) {
		struct bound b;
		int64_t last;

		if (ws_bound_by(i, i->ops[1].reg, truth, &b) && b.upper && ws_bound_last(&b, &last) &&
		    ws_fact_holds(l->v, &b, i->ops[1].reg, ws_is_made_once(l->v, made), l->a->inst) && is_of_leaf(l, &i->ops[1], i, &k, &sign) && sign > 0)
			limit(most, last - k);
	}
}

bool ws_value_is_never(struct values *v, const struct ws_ptx_inst *made, int64_t n, const struct ws_ptx_inst *at)
{
	const struct ws_reg *m = made->ops[0].reg;
	bool once = v->defs[m->index].n == 1 && ws_is_made_once(v, made);

	for (uint32_t c = v->first_compare[m->index]; c != UINT32_MAX; c = v->next_compare[c])
		for (int truth = 0; truth < 2; truth++) {
			struct bound b;

			if (!ws_equal_by(&v->f->insts[c / 2], m, truth, &b) || b.other->kind != WS_O_INT || (int32_t)b.other->imm != n)
				continue;
			b.differs = true;
			if (ws_fact_holds(v, &b, m, once, at))
				return true;
		}
	return false;
}

bool ws_bits_last(const struct ws_ptx_inst *i, int64_t most)
{
	bool is_mask = i->op == WS_OP_and && i->nops == 3 && i->ops[2].kind == WS_O_INT && ws_operand_is_word(&i->ops[0]) && ws_operand_is_word(&i->ops[1]);
	int64_t mask = is_mask ? (int64_t)i->ops[2].imm : 0;

	return mask > 0 && mask <= most && !(mask & (mask + 1));
}

/* m, which `i` makes, is the last bits of it: what m is not it is not either. */
static bool limit_by_mask(const struct looking *l, const struct ws_ptx_inst *i, int64_t *most)
{
	bool is_mask = ws_bits_last(i, MOST_MASK);
	int64_t mask = is_mask ? (int64_t)i->ops[2].imm : 0, k, sign, n;

	if (!is_mask || made_by(l, &i->ops[0]) != i || !ws_value_is_never(l->v, i, 0, l->a->inst) || !is_of_leaf(l, &i->ops[1], i, &k, &sign))
		return false;
	for (n = 0; n <= mask && ws_value_is_never(l->v, i, (k + sign * *most) & mask, l->a->inst); n++)
		--*most;
	return n > 0;
}

/* The greatest value of the leaf where the access is; false: it is not known. *less: by its last bits. */
static bool find_most(struct looking *l, int64_t *most, bool *less)
{
	const struct ws_ptx_func *f = l->v->f;
	const struct leaf *leaf = &l->v->leaves[l->leaf];
	bool any = false;

	l->turning = leaf->in_time ? leaf->reg : NULL;
	if ((leaf->in_time && !leaf->reg) || (l->turning && !keeps_up(l, l->a->address->reg, 0, &any)))
		return false;
	*most = INT64_MAX;
	limit_by_leaf(l, most);
	for (uint32_t k = 0; k < f->ninsts; k++)
		limit_by_compare(l, &f->insts[k], most);
	for (uint32_t k = 0; k < f->ninsts && *most < INT32_MAX; k++)
		*less |= limit_by_mask(l, &f->insts[k], most);
	return *most < INT32_MAX;
}

/* ---- groups ---- */
/* How far the accesses of a group come by the factor of one of its leaves; false: no access comes less far than by the leaf's bounds. */
static bool find_reach(struct ws_shared_ranges *g, unsigned group, const struct term *t, struct most *out)
{
	bool less = false;

	*out = (struct most){ .leaf = t->leaf[0], .reach = INT64_MIN, .rest = INT64_MIN };
	for (uint32_t k = 0; k < g->n; k++) {
		struct looking l = { .v = &g->v, .leaf = t->leaf[0], .a = &g->list[k] };
		int64_t most, end = g->at[k] + g->list[k].bytes;

		if (g->group[k] != group)
			continue;
		if (g->list[k].address->reg && find_most(&l, &most, &less))
			out->reach = end + t->factor * most > out->reach ? end + t->factor * most : out->reach;
		else
			out->rest = end > out->rest ? end : out->rest;
	}
	return less && out->reach > INT64_MIN;
}

static bool has_masks(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (f->insts[k].op == WS_OP_and && f->insts[k].nops == 3 && f->insts[k].ops[2].kind == WS_O_INT && f->insts[k].ops[2].imm - 1 < MOST_MASK)
			return true;
	return false;
}

void ws_shared_find_most(struct ws_shared_ranges *g)
{
	bool may = has_masks(g->v.f);

	g->v.reads = NULL;                   /* in whatever phase */
	for (unsigned k = 0; k < g->ngroups && may; k++) {
		struct group *x = &g->groups[k];
		size_t nduties = g->v.nduties;

		for (uint32_t n = 0; n < x->before.n && x->sym && ws_group_has_sum(x) && !x->most.has; n++) {
			const struct term *t = &x->before.t[n];

			x->most.has = t->n == 1 && t->factor > 0 && find_reach(g, k, t, &x->most);
			g->v.nduties = x->most.has ? g->v.nduties : nduties;
		}
	}
}

struct num ws_shared_most(struct entry *e, const struct group *x, struct num hi)
{
	struct sum rest = x->before;
	struct num lo, reach, more;

	for (uint32_t k = 0; k < rest.n; k++)
		if (rest.t[k].n == 1 && rest.t[k].leaf[0] == x->most.leaf)
			rest.t[k--] = rest.t[--rest.n];
	ws_entry_bounds(e, &rest, &lo, &reach);
	reach = ws_entry_add(e, reach, ws_entry_number(x->most.reach));
	if (x->most.rest > INT64_MIN) {
		ws_entry_bounds(e, &x->before, &lo, &more);
		reach = ws_entry_choose(e, "max.s64", reach, ws_entry_add(e, more, ws_entry_number(x->most.rest)));
	}
	return ws_entry_choose(e, "min.s64", hi, reach);
}
