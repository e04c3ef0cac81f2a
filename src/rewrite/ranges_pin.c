/* ranges_pin.c - what is known to be equal to a number wherever an access is reached: `if (threadIdx.x == 0) out[...] = x`.
 *
 * A comparison has found that a sum is equal to another that is one number of the launch; their difference is 0, a *pin*.
 * Both are examined at the entry to be what the comparison saw. Pins tell that threads which come to the access do not
 * differ in the sum, and so not in what it tells apart; and that addresses are the same that differ by a multiple of it. */
#include "rewrite/ranges_priv.h"

/* Sizes of blocks and of the grid, and constants. */
static bool is_size(const struct values *v, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t n = 0; n < s->t[k].n; n++)
			if (v->leaves[s->t[k].leaf[n]].kind != LEAF_SPECIAL)
				return false;
	return ws_sum_fixed(v, s) && (s->n != 1 || s->t[0].n || s->t[0].factor >= 0);
}

static bool has(const struct pins *p, const struct sum *zero)
{
	for (unsigned k = 0; k < p->n; k++)
		if (ws_sum_equal(&p->zero[k], zero))
			return true;
	return false;
}

/* Also as i - i / 32 * 32, which is what i % 32 is of a number with a sign. */
static bool flattened(struct values *v, const struct sum *s, struct sum *out)
{
	if (!ws_sum_flatten(v, s, out))
		return false;
	ws_split_replace(v, out);
	return true;
}

const struct ws_ptx_inst *ws_pins_coordinate(const struct values *v, const struct ws_reg *r)
{
	const struct defs *d = &v->defs[r->index];
	const struct ws_ptx_inst *first = NULL;

	if (d->n < 2 || d->n > MOST_DEFS)
		return NULL;
	for (uint32_t k = 0; k < d->n; k++)
		if (ws_special_moved(d->at[k]))
			first = first ? NULL : d->at[k];
	for (uint32_t c = v->first_compare[r->index]; first && c != UINT32_MAX; c = v->next_compare[c])
		for (uint32_t k = 0; k < d->n && (v->f->insts[c / 2].cmp == WS_EQ || v->f->insts[c / 2].cmp == WS_NE); k++)
			if (ws_comes_before(v, d->at[k], &v->f->insts[c / 2]) != (d->at[k] == first))
				return NULL;
	return first;
}

bool ws_pins_operand(struct values *v, const struct ws_operand *o, unsigned bytes, const struct ws_ptx_inst *at, struct sum *out)
{
	const struct ws_ptx_inst *first = o->kind == WS_O_REG && !o->negated && !o->component ? ws_pins_coordinate(v, o->reg) : NULL;

	return first ? ws_type_bytes(o->reg->type) == bytes && ws_value_result(v, first, out) : ws_value_operand(v, o, bytes, at, out);
}

/* A number that is equal to one of the launch. */
static void add_pin(struct values *v, const struct ws_operand *o, const struct ws_operand *to, unsigned bytes,
		    const struct ws_ptx_inst *at, struct pins *out)
{
	enum ws_type type = bytes == 4 ? WS_U32 : WS_U64;
	size_t nduties = v->nduties;
	struct sum s, than, zero;

	if (ws_pins_operand(v, o, bytes, at, &s) && !ws_sum_fixed(v, &s) && !ws_sum_in_time(v, &s) &&
	    flattened(v, &s, &zero) && ws_sum_never_negative(v, &zero) &&
	    ws_value_operand(v, to, bytes, at, &than) && is_size(v, &than)) {
		ws_value_must_fit(v, &zero, type);
		ws_value_must_fit(v, &than, type);
		if (ws_sum_add(&zero, &than, -1) && !has(out, &zero) && out->n < MOST_PINS)
			out->zero[out->n++] = zero;
	} else {
		v->nduties = nduties;
	}
}

/* What is known where the comparison has found its operands to be equal. a | b == 0: both are 0. */
static void add_pins(struct values *v, const struct ws_ptx_inst *i, struct pins *out)
{
	const struct defs *d = &v->defs[i->ops[1].reg->index];
	unsigned bytes = ws_type_bytes((enum ws_type)i->type[0]);

	add_pin(v, &i->ops[1], &i->ops[2], bytes, i, out);
	if (d->n == 1 && d->at[0]->op == WS_OP_or && !d->at[0]->guard && i->ops[2].kind == WS_O_INT && !i->ops[2].imm)
		for (unsigned k = 1; k < 3; k++)
			add_pin(v, &d->at[0]->ops[k], &i->ops[2], bytes, d->at[0], out);
}

/* Is it found to be less than 32 by the comparison, wherever the access is reached? */
static bool is_in_first_warp(struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r, const struct ws_rw_access *a)
{
	struct bound b;

	for (unsigned truth = 0; truth < 2; truth++)
		if (ws_bound_by(i, r, truth, &b) && b.upper && !b.equal && b.other->kind == WS_O_INT && (int32_t)b.other->imm + b.slack < WS_WARP &&
		    ws_fact_holds(v, &b, r, true, a->inst))
			return true;
	return false;
}

/* `if (threadIdx.x < 32)`, which is what compilers make of threadIdx.x / 32 == 0. */
static void add_first_warp(struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r, const struct ws_rw_access *a, struct pins *out)
{
	const struct sum warp = { 1, { { .factor = WS_WARP } } };
	const struct defs *d = &v->defs[r->index];
	const struct ws_operand *special = d->n == 1 ? ws_special_moved(d->at[0]) : NULL;
	struct sum x, zero;

	if (!v->shared || out->n == MOST_PINS || !special || special->sreg_or_count != WS_SR_TID_X || !is_in_first_warp(v, i, r, a))
		return;
	if (ws_value_result(v, d->at[0], &x) && ws_split_quotient(v, &x, &warp, true, &zero) && !has(out, &zero))
		out->zero[out->n++] = zero;
}

void ws_pins_find(struct values *v, const struct ws_rw_access *a, struct pins *out)
{
	struct bound b;

	out->n = 0;
	v->access = a->inst;
	for (uint32_t k = 0; k < v->f->ninsts; k++) {
		const struct ws_ptx_inst *i = &v->f->insts[k];
		const struct ws_reg *r = i->op == WS_OP_setp && i->ops[1].kind == WS_O_REG ? i->ops[1].reg : NULL;

		if (r && !i->guard && ws_equal_by(i, r, i->cmp == WS_EQ, &b) && (v->defs[r->index].n == 1 || ws_pins_coordinate(v, r)) &&
		    ws_fact_holds(v, &b, r, true, a->inst))
			add_pins(v, i, out);
		if (r && !i->guard && i->nops == 3)
			add_first_warp(v, i, r, a, out);
	}
}

void ws_pins_intersect(struct pins *p, const struct pins *other)
{
	unsigned n = 0;

	for (unsigned k = 0; k < p->n; k++)
		if (has(other, &p->zero[k]))
			p->zero[n++] = p->zero[k];
	p->n = n;
}

bool ws_pins_same(struct values *v, const struct pins *p, const struct sum *one, const struct sum *other, int64_t *offset)
{
	struct sum a, b, c, rest, minus;

	if (!ws_sum_flatten(v, one, &a) || !ws_sum_flatten(v, other, &b) || !ws_sum_add(&b, &a, -1))
		return false;
	for (unsigned k = 0; k < p->n; k++) {
		minus.n = 0;
		rest = b;
		if (!ws_split_multiple(v, &b, &p->zero[k], &c) || !ws_sum_add(&minus, &c, -1) ||
		    !ws_sum_add_product(&rest, &minus, &p->zero[k]))
			continue;
		*offset = ws_sum_take_constant(&rest);
		if (!rest.n)
			return true;
	}
	return false;
}

static bool is_lane(const struct values *v, const struct leaf *l)
{
	return (l->kind == LEAF_SPECIAL && l->special == WS_SR_LANEID) || ws_leaf_is_of_warp(v, l, LEAF_REMAINDER);
}

bool ws_pins_have_lane(const struct values *v, const struct pins *p)
{
	for (unsigned k = 0; k < p->n; k++) {
		struct sum s = p->zero[k];

		ws_sum_take_constant(&s);
		if (s.n == 1 && s.t[0].n == 1 && is_lane(v, &v->leaves[s.t[0].leaf[0]]))
			return true;
	}
	return false;
}

const struct sum *ws_pins_warp(struct values *v, const struct pins *p)
{
	for (unsigned k = 0; k < p->n; k++) {
		struct sum s = p->zero[k];
		const struct leaf *l;

		ws_sum_take_constant(&s);
		if (s.n != 1 || s.t[0].n != 1 || s.t[0].factor != 1)
			continue;
		l = &v->leaves[s.t[0].leaf[0]];
		if ((l->kind == LEAF_SPECIAL && l->special == WS_SR_TID_X) || ws_leaf_is_of_warp(v, l, LEAF_QUOTIENT))
			return ws_value_keep(v, &p->zero[k]);
	}
	return NULL;
}

bool ws_pins_have_pair(const struct values *v, const struct pins *p, const struct leaf *l)
{
	for (unsigned k = 0; p && k < p->n; k++)
		for (uint32_t n = 0; n < p->zero[k].n; n++) {
			const struct term *t = &p->zero[k].t[n];

			if (t->n == 1 && ws_split_pair(l, &v->leaves[t->leaf[0]])) {
				struct sum rest = p->zero[k];
				const struct sum part = { 1, { *t } };

				return ws_sum_add(&rest, &part, -1) && ws_sum_fixed(v, &rest);
			}
		}
	return false;
}
