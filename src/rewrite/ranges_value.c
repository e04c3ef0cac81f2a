/* ranges_value.c - what the registers of a kernel hold, as sums over what is known when it is entered.
 *
 * No order of instructions is looked at: a register holds what one of its definitions gave it. One definition: its sum.
 * A definition that adds to the register itself makes it a loop's counter, if a comparison bounds it wherever it is
 * added to. Several others: one of their sums. Comparisons that have decided on which way the access is reached
 * (ranges_facts.c) narrow what a register may hold. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 1 << 18, DEEPEST = 96, MOST_LEAVES = 1024 };
static const int64_t factor_limit = SUM_FACTOR_LIMIT;

/* ---- sums ---- */
static int compare_terms(const struct term *a, const struct term *b)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (uint32_t k = 0; k < a->n; k++)
		if (a->leaf[k] != b->leaf[k])
			return a->leaf[k] < b->leaf[k] ? -1 : 1;
	return 0;
}

static bool add_term(struct sum *s, struct term t)
{
	uint32_t k = 0;

	while (k < s->n && compare_terms(&s->t[k], &t) < 0)
		k++;
	if (k < s->n && compare_terms(&s->t[k], &t) == 0) {
		s->t[k].factor += t.factor;
		t.factor = s->t[k].factor;
		if (!t.factor)
			memmove(&s->t[k], &s->t[k + 1], (--s->n - k) * sizeof t);
	} else if (t.factor) {
		if (s->n == MOST_TERMS)
			return false;
		memmove(&s->t[k + 1], &s->t[k], (s->n++ - k) * sizeof t);
		s->t[k] = t;
	}
	return t.factor < factor_limit && t.factor > -factor_limit;
}

bool ws_sum_number(struct sum *s, int64_t k)
{
	s->n = 0;
	return add_term(s, (struct term){ .factor = k });
}

static bool times(struct term *t, const struct term *by)
{
	uint32_t k;

	if (t->n + by->n > MOST_FACTORS || __builtin_mul_overflow(t->factor, by->factor, &t->factor) ||
	    t->factor >= factor_limit || t->factor <= -factor_limit)
		return false;
	for (uint32_t n = 0; n < by->n; n++) {
		for (k = t->n++; k && t->leaf[k - 1] > by->leaf[n]; k--)
			t->leaf[k] = t->leaf[k - 1];
		t->leaf[k] = by->leaf[n];
	}
	return true;
}

bool ws_sum_add_product(struct sum *s, const struct sum *a, const struct sum *b)
{
	for (uint32_t k = 0; k < a->n; k++)
		for (uint32_t n = 0; n < b->n; n++) {
			struct term t = a->t[k];

			if (!times(&t, &b->t[n]) || !add_term(s, t))
				return false;
		}
	return true;
}

bool ws_sum_add(struct sum *a, const struct sum *b, int64_t factor)
{
	const struct sum by = { 1, { { .factor = factor } } };

	return ws_sum_add_product(a, b, &by);
}

bool ws_sum_equal(const struct sum *a, const struct sum *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t k = 0; k < a->n; k++)
		if (compare_terms(&a->t[k], &b->t[k]) || a->t[k].factor != b->t[k].factor)
			return false;
	return true;
}

int64_t ws_sum_take_constant(struct sum *s)
{
	int64_t k = s->n && !s->t[0].n ? s->t[0].factor : 0;

	add_term(s, (struct term){ .factor = -k });
	return k;
}

bool ws_sum_is_number(const struct sum *s, int64_t *k)
{
	struct sum rest = *s;

	*k = ws_sum_take_constant(&rest);
	return !rest.n;
}

bool ws_term_same_leaves(const struct term *a, const struct term *b)
{
	return compare_terms(a, b) == 0;
}

bool ws_sum_fixed(const struct values *v, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t n = 0; n < s->t[k].n; n++)
			if (!v->leaves[s->t[k].leaf[n]].fixed)
				return false;
	return true;
}

bool ws_sum_in_time(const struct values *v, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t n = 0; n < s->t[k].n; n++)
			if (v->leaves[s->t[k].leaf[n]].in_time)
				return true;
	return false;
}

static bool never_negative(const struct values *v, const struct sum *s, unsigned depth);

static bool leaf_never_negative(const struct values *v, const struct leaf *l, unsigned depth)
{
	enum { NESTED = 6 };

	switch (l->kind) {
	case LEAF_SPECIAL: case LEAF_REMAINDER: case LEAF_DIGIT:
		return true;
	case LEAF_QUOTIENT:
		return never_negative(v, l->of[0], depth);
	case LEAF_ENDLESS:
		return l->k;
	case LEAF_COUNTED:
		return depth < NESTED && never_negative(v, l->step, depth + 1);
	case LEAF_ONE_OF:
		for (unsigned k = 0; k < l->nof; k++)
			if (depth == NESTED || !never_negative(v, l->of[k], depth + 1))
				return false;
		return l->nof > 0;
	default:
		return false;
	}
}

static bool never_negative(const struct values *v, const struct sum *s, unsigned depth)
{
	for (uint32_t k = 0; k < s->n; k++) {
		if (s->t[k].factor < 0)
			return false;
		for (uint32_t n = 0; n < s->t[k].n; n++)
			if (!leaf_never_negative(v, &v->leaves[s->t[k].leaf[n]], depth))
				return false;
	}
	return true;
}

bool ws_sum_never_negative(const struct values *v, const struct sum *s)
{
	return never_negative(v, s, 0);
}

struct sum ws_sum_of_leaf(uint32_t leaf)
{
	return (struct sum){ 1, { { .factor = 1, .n = 1, .leaf = { leaf } } } };
}

bool ws_sum_substitute(const struct sum *s, bool (*by)(void *user, uint32_t leaf, struct sum *out), void *user, struct sum *out)
{
	out->n = 0;
	for (uint32_t k = 0; k < s->n; k++) {
		struct sum product = { 1, { { .factor = s->t[k].factor } } }, one;

		for (uint32_t n = 0; n < s->t[k].n; n++) {
			const struct sum before = product;

			product.n = 0;
			if (!by(user, s->t[k].leaf[n], &one) || !ws_sum_add_product(&product, &before, &one))
				return false;
		}
		if (!ws_sum_add(out, &product, 1))
			return false;
	}
	return true;
}

struct flattening {
	const struct values *v;
	bool ever, again;                /* ever: also of what differs from time to time */
};

static bool what_made_of(void *user, uint32_t leaf, struct sum *out)
{
	struct flattening *f = user;
	const struct leaf *l = &f->v->leaves[leaf];
	bool another_name = l->kind == LEAF_ONE_OF && l->nof == 1 && (f->ever || !l->in_time);

	f->again |= another_name;
	*out = another_name ? *l->of[0] : ws_sum_of_leaf(leaf);
	return true;
}

static bool flatten(const struct values *v, const struct sum *s, bool ever, struct sum *out)
{
	enum { MOST = 16 };
	struct flattening f = { v, ever, true };
	struct sum from = *s;

	for (unsigned round = 0; f.again; round++, from = *out) {
		f.again = false;
		if (round > MOST || !ws_sum_substitute(&from, what_made_of, &f, out))
			return false;
	}
	return true;
}

bool ws_sum_flatten(const struct values *v, const struct sum *s, struct sum *out) { return flatten(v, s, false, out); }
bool ws_sum_flatten_ever(const struct values *v, const struct sum *s, struct sum *out) { return flatten(v, s, true, out); }

/* ---- leaves and duties ---- */
/* What a register may be is what is known where an access stands: for another one it may be more. */
static bool same_sums(const struct leaf *a, const struct leaf *b)
{
	bool same = a->nof == b->nof && !a->step == !b->step && (!a->step || ws_sum_equal(a->step, b->step));

	for (unsigned k = 0; k < a->nof && same; k++)
		same = ws_sum_equal(a->of[k], b->of[k]);
	return same;
}

static bool same_leaf(const struct leaf *a, const struct leaf *b)
{
	if (a->kind != b->kind || a->sym != b->sym || a->offset != b->offset || a->bytes != b->bytes || a->k != b->k ||
	    a->special != b->special || a->reg != b->reg || a->nbounds != b->nbounds)
		return false;
	for (unsigned k = 0; k < a->nbounds; k++)
		if (!ws_bound_same(&a->bounds[k], &b->bounds[k]) || !ws_sum_equal(a->bounds[k].than, b->bounds[k].than))
			return false;
	if (a->kind == LEAF_ONE_OF || a->kind == LEAF_LOOP)
		return same_sums(a, b);
	if (a->kind == LEAF_DIGIT)
		return a->exact == b->exact;
	if (a->kind == LEAF_POWER)
		return ws_sum_equal(a->of[0], b->of[0]);
	if (a->kind == LEAF_LEAST || a->kind == LEAF_GREATEST)
		return ws_sum_equal(a->of[0], b->of[0]) && ws_sum_equal(a->of[1], b->of[1]);
	if (a->kind == LEAF_QUOTIENT || a->kind == LEAF_REMAINDER || (a->kind == LEAF_COUNTED && !a->reg))
		return ws_sum_equal(a->of[0], b->of[0]) && ws_sum_equal(a->step, b->step);
	return true;
}

bool ws_value_leaf(struct values *v, const struct leaf *l, struct sum *out)
{
	uint32_t k = 0;

	while (k < v->nleaves && !(same_leaf(&v->leaves[k], l) && (!v->phases || same_sums(&v->leaves[k], l))))     /* a phase is in no other's leaf */
		k++;
	if (k == MOST_LEAVES)
		return false;
	if (k == v->nleaves)
		*WS_PUSH(v->leaves, v->nleaves, v->leaves_cap) = *l;
	*out = ws_sum_of_leaf(k);
	return true;
}

void ws_value_duty(struct values *v, const struct sum *s, int64_t least, int64_t most)
{
	for (size_t k = 0; k < v->nduties; k++)
		if (v->duties[k].least == least && v->duties[k].most == most && !v->duties[k].by && !v->duties[k].power &&
		    ws_sum_equal(v->duties[k].sum, s))
			return;
	*WS_PUSH(v->duties, v->nduties, v->duties_cap) =
		(struct duty){ .sum = ws_value_keep(v, s), .least = least, .most = most };
}

void ws_value_duty_power(struct values *v, const struct sum *s)
{
	ws_value_duty(v, s, 1, INT32_MAX);
	for (size_t k = 0; k < v->nduties; k++)
		if (v->duties[k].power && ws_sum_equal(v->duties[k].sum, s))
			return;
	*WS_PUSH(v->duties, v->nduties, v->duties_cap) =
		(struct duty){ .sum = ws_value_keep(v, s), .least = INT64_MIN, .most = INT64_MAX, .power = true };
}

bool ws_value_duty_divides(struct values *v, const struct sum *s, int64_t by)
{
	if (by & (by - 1))
		return false;
	*WS_PUSH(v->duties, v->nduties, v->duties_cap) = (struct duty){ ws_value_keep(v, s), INT64_MIN, INT64_MAX, by, false, NULL };
	return true;
}

/* The number that the register holds must be the sum itself. Sums are below 2^62 (ranges_entry.c). */
void ws_value_must_fit(struct values *v, const struct sum *s, enum ws_type t)
{
	int64_t least = ws_type_is_signed(t) ? INT64_MIN : 0, most = INT64_MAX;
	struct sum rest = *s;

	if (ws_type_bytes(t) == 4) {
		least = ws_type_is_signed(t) ? INT32_MIN : 0;
		most = ws_type_is_signed(t) ? INT32_MAX : UINT32_MAX;
	}
	ws_sum_without_up(v, &rest);
	if (least != INT64_MIN || most != INT64_MAX)
		ws_value_duty(v, &rest, least, most);
}

static bool whole_number(enum ws_type t)
{
	return (ws_type_bytes(t) == 4 || ws_type_bytes(t) == 8) && !ws_type_is_float(t) && t < WS_U16X2;
}

/* ---- one instruction ---- */
static bool coordinate_or_size(struct values *v, enum ws_sreg s, struct sum *out)
{
	struct leaf l = { .kind = LEAF_SPECIAL, .special = s,
	                  .fixed = (s >= WS_SR_NTID_X && s <= WS_SR_NTID_Z) ||
	                           (s >= WS_SR_NCTAID_X && s <= WS_SR_NCTAID_Z) };

	return s >= WS_SR_TID_X && s <= WS_SR_NCTAID_Z && ws_value_leaf(v, &l, out);
}

/* tid.x % 32, if rows of a block are as many warps, or there is one row. */
static bool lane(struct values *v, struct sum *out)
{
	const struct sum warp = { 1, { { .factor = WS_WARP } } };
	struct sum x, y, z, rows = { 1, { { .factor = -1 } } };

	if (!coordinate_or_size(v, WS_SR_TID_X, &x) || !ws_split_remainder(v, &x, &warp, true, out) || !coordinate_or_size(v, WS_SR_NTID_X, &x) ||
	    !coordinate_or_size(v, WS_SR_NTID_Y, &y) || !coordinate_or_size(v, WS_SR_NTID_Z, &z) || !ws_sum_add_product(&rows, &y, &z) ||
	    !ws_value_duty_divides(v, &x, WS_WARP))
		return false;
	v->duties[v->nduties - 1].unless = ws_value_keep(v, &rows);
	return true;
}

static bool special(struct values *v, enum ws_sreg s, struct sum *out)
{
	return s == WS_SR_LANEID ? lane(v, out) : coordinate_or_size(v, s, out);
}

static bool variable(struct values *v, const struct ws_ptx_sym *s, int64_t offset, struct sum *out)
{
	struct leaf l = { .kind = LEAF_SYMBOL, .sym = s, .fixed = true };

	return s->kind == WS_SYM_VAR && s->space == (v->shared ? WS_SPACE_SHARED : WS_SPACE_GLOBAL) && ws_value_leaf(v, &l, out) &&
	       add_term(out, (struct term){ .factor = offset });
}

/* What is loaded, into a register as wide or (a word) into one of 64 bits: `ld.param.s32 %rd1, [n]`. */
static bool loaded(struct values *v, const struct ws_ptx_inst *i, const struct leaf *l, struct sum *out)
{
	unsigned bytes = ws_type_bytes(i->ops[0].reg->type);

	if ((bytes != l->bytes && (bytes != 8 || l->bytes != 4)) || !ws_value_leaf(v, l, out))
		return false;
	if (bytes > l->bytes)
		ws_value_must_fit(v, out, ws_type_is_signed((enum ws_type)i->type[0]) ? WS_S32 : WS_U32);
	return true;
}

static bool parameter(struct values *v, const struct ws_ptx_inst *i, struct sum *out)
{
	const struct ws_operand *o = &i->ops[1];
	struct leaf l = { .kind = LEAF_PARAM, .sym = o->sym, .offset = o->offset, .fixed = true };

	l.bytes = ws_type_bytes((enum ws_type)i->type[0]);
	return i->space == WS_SPACE_PARAM && i->vec <= 1 && i->nops == 2 && o->kind == WS_O_ADDR && !o->reg && o->sym &&
	       v->f->nparams > o->sym->index && v->f->params[o->sym->index] == o->sym && loaded(v, i, &l, out);
}

/* Constant memory does not change while a kernel runs. */
static bool constant(struct values *v, const struct ws_ptx_inst *i, struct sum *out)
{
	const struct ws_operand *o = &i->ops[1];
	struct leaf l = { .kind = LEAF_CONST, .sym = o->sym, .offset = o->offset, .fixed = true };

	l.bytes = ws_type_bytes((enum ws_type)i->type[0]);
	return i->vec <= 1 && i->nops == 2 && o->kind == WS_O_ADDR && !o->reg && o->sym && o->sym->kind == WS_SYM_VAR &&
	       o->sym->space == WS_SPACE_CONST && loaded(v, i, &l, out);
}

bool ws_leaf_is_pointer(const struct leaf *l)
{
	return l->kind == LEAF_SYMBOL || ((l->kind == LEAF_PARAM || l->kind == LEAF_CONST) && l->bytes == 8);
}

bool ws_term_is_pointer(const struct values *v, const struct term *t)
{
	const struct leaf *l = &v->leaves[t->leaf[0]];

	return t->n == 1 && ws_leaf_is_pointer(l) && (t->factor == 1 || t->factor == -1 || l->kind == LEAF_SYMBOL);
}

static bool product(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	enum ws_type t = (enum ws_type)i->type[0];
	struct sum a, b;

	out->n = 0;
	if (i->part != WS_LO_HALF && i->part != WS_WIDE)
		return false;
	if (!ws_value_operand(v, &i->ops[1], bytes, i, &a))
		return i->part == WS_LO_HALF && i->ops[2].kind == WS_O_INT && ws_value_multiple(v, i, (int32_t)i->ops[2].imm, out);
	if (!ws_value_operand(v, &i->ops[2], bytes, i, &b))
		return false;
	if (i->part == WS_WIDE) {
		ws_value_must_fit(v, &a, t);
		ws_value_must_fit(v, &b, t);
	}
	return ws_sum_add_product(out, &a, &b);
}

/* By a number of the launch, of what is not negative. */
static bool divided(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, bool remainder, struct sum *out)
{
	enum ws_type t = (enum ws_type)i->type[0];
	struct sum x, s;

	if (!ws_value_operand(v, &i->ops[2], bytes, i, &s) || !ws_sum_fixed(v, &s) ||
	    !ws_value_operand(v, &i->ops[1], bytes, i, &x))
		return false;
	ws_value_must_fit(v, &x, t);
	ws_value_duty(v, &x, 0, INT64_MAX);
	ws_value_duty(v, &s, 1, INT32_MAX);
	return remainder ? ws_split_remainder(v, &x, &s, false, out) : ws_split_quotient(v, &x, &s, false, out);
}

/* The last of the register's definitions, MOST_DEFS at most, in front of the instruction, in its basic block; NULL: none. */
static const struct ws_ptx_inst *defined_before(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *i)
{
	const struct ws_ptx_inst *last = NULL;

	for (uint32_t k = 0; k < v->defs[r->index].n; k++) {
		const struct ws_ptx_inst *at = v->defs[r->index].at[k];

		if (at->block == i->block && at->index < i->index && (!last || at->index > last->index))
			last = at;
	}
	return last;
}

static const struct ws_ptx_inst *operand_before(const struct values *v, const struct ws_operand *o, const struct ws_ptx_inst *i, enum ws_op op)
{
	const struct ws_ptx_inst *d = o->kind == WS_O_REG && v->defs[o->reg->index].n <= MOST_DEFS ? defined_before(v, o->reg, i) : NULL;

	return d && d->op == op && !d->guard && d->nops == 3 ? d : NULL;
}

/* Is the operand the same at both? */
static bool is_unchanged(const struct values *v, const struct ws_operand *a, const struct ws_ptx_inst *from, const struct ws_operand *b,
			 const struct ws_ptx_inst *to)
{
	const struct ws_ptx_inst *d;

	if (a->kind != b->kind || a->negated || b->negated || a->component || b->component)
		return false;
	if (a->kind == WS_O_INT)
		return a->imm == b->imm;
	if (a->kind != WS_O_REG || a->reg != b->reg || v->defs[a->reg->index].n > MOST_DEFS)
		return false;
	d = defined_before(v, a->reg, to);
	return !d || d->index < from->index;
}

/* The division of `x - x / y * y`, as compilers write a remainder of 64 bits; in one basic block, so that all is of one time. */
static const struct ws_ptx_inst *division_of_remainder(const struct values *v, const struct ws_ptx_inst *i)
{
	const struct ws_ptx_inst *mul = i->op == WS_OP_sub && !i->guard ? operand_before(v, &i->ops[2], i, WS_OP_mul) : NULL, *div;

	for (unsigned k = 1; mul && mul->part == WS_LO_HALF && k < 3; k++) {
		div = operand_before(v, &mul->ops[k], mul, WS_OP_div);
		if (div && ws_type_bytes((enum ws_type)div->type[0]) == ws_type_bytes((enum ws_type)mul->type[0]) && is_unchanged(v, &div->ops[2], div, &mul->ops[3 - k], mul) &&
		    is_unchanged(v, &div->ops[1], div, &i->ops[1], i))
			return div;
	}
	return NULL;
}

/* To fewer or as many bits: the same modulo them. To more: the number itself. */
static bool converted(struct values *v, const struct ws_ptx_inst *i, struct sum *out)
{
	enum ws_type to = (enum ws_type)i->type[0], from = (enum ws_type)i->type[1];

	if (i->flags & WS_F_SAT || i->rnd || i->ntypes != 2 || !whole_number(from) ||
	    !ws_value_operand(v, &i->ops[1], ws_type_bytes(from), i, out))
		return false;
	if (ws_type_bytes(to) > ws_type_bytes(from))
		ws_value_must_fit(v, out, from);
	return true;
}

/* May a register so wide be an address? */
static bool is_of_address(const struct values *v, unsigned bytes)
{
	return bytes == 8 || (v->shared && bytes == 4);
}

static bool moved(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	const struct ws_operand *o = &i->ops[1];

	if (o->kind == WS_O_SREG)
		return bytes == 4 && special(v, (enum ws_sreg)o->sreg_or_count, out);
	if (o->kind == WS_O_SYM)
		return is_of_address(v, bytes) && variable(v, o->sym, o->offset, out);
	return ws_value_operand(v, o, bytes, i, out);
}

static bool linear(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	unsigned last = i->op == WS_OP_mad ? 3 : 2;
	const struct ws_ptx_inst *division;
	struct sum s;

	if (i->flags & (WS_F_SAT | WS_F_CC) || i->nops != last + 1)
		return false;
	division = division_of_remainder(v, i);
	if ((division && divided(v, division, bytes, true, out)) || ws_value_together(v, i, bytes, out))
		return true;
	if (last == 3 ? !product(v, i, bytes, out) : !ws_value_operand(v, &i->ops[1], bytes, i, out))
		return false;
	if (!ws_value_operand(v, &i->ops[last], last == 3 && i->part == WS_WIDE ? 8 : bytes, i, &s) ||
	    !ws_sum_add(out, &s, i->op == WS_OP_sub ? -1 : 1))
		return false;
	ws_split_replace(v, out);
	return true;
}

/* min and max */
static bool chosen(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	struct leaf l = { .kind = i->op == WS_OP_min ? LEAF_LEAST : LEAF_GREATEST, .nof = 2 };
	struct sum of[2];

	if (i->nops != 3 || i->flags)
		return false;
	for (unsigned k = 0; k < 2; k++) {
		if (!ws_value_operand(v, &i->ops[1 + k], bytes, i, &of[k]))
			return ws_value_limited(v, i, bytes, out);
		ws_value_must_fit(v, &of[k], (enum ws_type)i->type[0]);
		l.of[k] = ws_value_keep(v, &of[k]);
	}
	l.fixed = ws_sum_fixed(v, &of[0]) && ws_sum_fixed(v, &of[1]);
	l.in_time = ws_sum_in_time(v, &of[0]) || ws_sum_in_time(v, &of[1]);
	return ws_value_leaf(v, &l, out);
}

/* ~x is -1 - x. */
static bool inverted(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	struct sum x;

	return ws_sum_number(out, -1) && ws_value_operand(v, &i->ops[1], bytes, i, &x) && ws_sum_add(out, &x, -1);
}

/* x ^ y, of two numbers. */
static bool numbers_parted(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	struct sum x, y;
	int64_t a, b;

	return ws_value_operand(v, &i->ops[1], bytes, i, &x) && ws_value_operand(v, &i->ops[2], bytes, i, &y) && ws_sum_is_number(&x, &a) &&
	       ws_sum_is_number(&y, &b) && ws_sum_number(out, bytes == 4 ? (int32_t)(a ^ b) : a ^ b);
}

bool ws_value_result(struct values *v, const struct ws_ptx_inst *i, struct sum *out)
{
	enum ws_type t = (enum ws_type)i->type[0];
	unsigned bytes = ws_type_bytes(t);
	struct sum x;

	if (i->nops < 2 || i->ops[0].kind != WS_O_REG || i->ops[0].component)
		return false;
	if (v->shared && i->op == WS_OP_ld && i->vec <= 1 && bytes < 4 && !ws_type_is_float(t) && !ws_type_is_signed(t) &&
	    whole_number(i->ops[0].reg->type))
		return ws_bits_any(v, i->ops[0].reg, bytes == 1 ? UINT8_MAX : UINT16_MAX, out);
	if (!whole_number(t))
		return false;
	if ((i->op == WS_OP_add || i->op == WS_OP_shr || i->op == WS_OP_cvt) && ws_value_divided_by_product(v, i, out))
		return true;
	switch (i->op) {
	case WS_OP_ld:
		return i->space == WS_SPACE_CONST ? constant(v, i, out) : parameter(v, i, out);
	case WS_OP_mov:
		return moved(v, i, bytes, out);
	case WS_OP_cvta:
		return i->space == (v->shared ? WS_SPACE_SHARED : WS_SPACE_GLOBAL) && ws_value_operand(v, &i->ops[1], bytes, i, out);
	case WS_OP_cvt:
		return converted(v, i, out);
	case WS_OP_add: case WS_OP_sub: case WS_OP_mad:
		return linear(v, i, bytes, out);
	case WS_OP_mul:
		return product(v, i, bytes, out);
	case WS_OP_shl: case WS_OP_shr:
		return ws_bits_shifted(v, i, bytes, out);
	case WS_OP_div: case WS_OP_rem:
		return divided(v, i, bytes, i->op == WS_OP_rem, out);
	case WS_OP_and:
		return ws_bits_masked(v, i, bytes, out);
	case WS_OP_or:
		return ws_bits_joined(v, i, bytes, out);
	case WS_OP_xor:
		return numbers_parted(v, i, bytes, out);
	case WS_OP_bfi:
		return ws_bits_inserted(v, i, bytes, out);
	case WS_OP_not:
		return inverted(v, i, bytes, out);
	case WS_OP_min: case WS_OP_max:
		return chosen(v, i, bytes, out);
	case WS_OP_selp:
		return ws_value_selected(v, i, bytes, out);
	case WS_OP_neg:
		out->n = 0;
		return ws_value_operand(v, &i->ops[1], bytes, i, &x) && ws_sum_add(out, &x, -1);
	default:
		return false;
	}
}

/* ---- several places of one thread ---- */
/* How many numbers a leaf may be of which nothing else is known; 0: more is known. */
static int64_t any_of(const struct leaf *l)
{
	if (l->kind == LEAF_MASKED && !l->fixed)
		return l->k + 1;
	return l->kind == LEAF_REMAINDER && l->in_time && l->step->n == 1 && !l->step->t[0].n ? l->step->t[0].factor : 0;
}

struct of_any {
	struct values *v;
	uint32_t seen[MOST_TERMS * MOST_FACTORS], n;
};

static bool any_number(void *user, uint32_t leaf, struct sum *out)
{
	struct of_any *a = user;
	int64_t k = any_of(&a->v->leaves[leaf]);
	uint32_t at = 0;

	*out = ws_sum_of_leaf(leaf);
	if (!k)
		return true;
	while (at < a->n && a->seen[at] != leaf)
		at++;
	a->seen[at] = leaf;
	a->n += at == a->n;
	return ws_value_leaf(a->v, &(struct leaf){ .kind = LEAF_DIGIT, .k = k, .offset = at + 1, .exact = true }, out);
}

bool ws_sum_of_any(struct values *v, const struct sum *s, struct sum *out)
{
	struct of_any a = { .v = v };

	return ws_sum_substitute(s, any_number, &a, out);
}

/* Also in what registers with bounds are made of. */
static bool has_leaf(const struct values *v, const struct sum *s, uint32_t leaf, unsigned depth)
{
	enum { NESTED = 4 };

	for (uint32_t k = 0; k < s->n && depth < NESTED; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++) {
			const struct leaf *l = &v->leaves[s->t[k].leaf[m]];

			if (s->t[k].leaf[m] == leaf || (l->kind == LEAF_ONE_OF && l->nof == 1 && has_leaf(v, l->of[0], leaf, depth + 1)))
				return true;
		}
	return false;
}

bool ws_sum_spread(struct values *v, struct sum *s, const struct sum *step, uint32_t count)
{
	struct leaf l = { .kind = LEAF_DIGIT, .k = count };
	struct sum digit;

	do                                   /* one that the sum does not have: columns and rows may be as many */
		if (!ws_value_leaf(v, &l, &digit))
			return false;
	while (l.offset++, has_leaf(v, s, digit.t[0].leaf[0], 0));
	return ws_sum_add_product(s, &digit, step);
}

void ws_offsets_add(struct offsets *o, int64_t at)
{
	unsigned k = 0;

	if (o->n > MOST_OFFSETS)
		return;
	while (k < o->n && o->at[k] < at)
		k++;
	if (k < o->n && o->at[k] == at)
		return;
	if (o->n++ == MOST_OFFSETS)
		return;
	memmove(&o->at[k + 1], &o->at[k], (o->n - 1 - k) * sizeof *o->at);
	o->at[k] = at;
}

void ws_offsets_join(struct offsets *o, const struct offsets *more)
{
	for (unsigned k = 0; k < more->n && k < MOST_OFFSETS; k++)
		ws_offsets_add(o, more->at[k]);
	o->n = more->n > MOST_OFFSETS ? more->n : o->n;
}

/* How many offsets go on in equal steps from the first one, if all others are as many, and again. 0: they are not. */
static unsigned run_of(const int64_t *at, unsigned n)
{
	unsigned run = 1;

	while (run < n && at[run] - at[run - 1] == at[1] - at[0])
		run++;
	for (unsigned k = 0; k < n; k++)
		if (n % run || at[k] - at[k / run * run] != (k % run) * (at[1] - at[0]))
			return 0;
	return run;
}

void ws_offsets_spread(struct values *v, const struct offsets *o, int64_t bytes, struct sum *s, int64_t *last)
{
	struct offsets rest = *o;
	struct sum spread = *s;
	unsigned run;

	if (o->n < 2 || o->n > MOST_OFFSETS || o->at[1] - o->at[0] < bytes)
		return;
	for (; rest.n > 1; rest.n /= run) {          /* 0, 16, 1024, 1040: in steps of 16, and those in steps of 1,024 */
		struct sum step = { 1, { { .factor = rest.at[1] - rest.at[0] } } };

		run = run_of(rest.at, rest.n);
		if (!run || !ws_sum_spread(v, &spread, &step, run))
			return;
		for (unsigned k = 0; k < rest.n / run; k++)
			rest.at[k] = rest.at[k * run];
	}
	*s = spread;
	*last = o->at[0] + bytes;
}

/* ---- bounds ---- */
static bool holds(struct values *v, const struct bound *b, const struct ws_reg *r, bool constant,
                  const struct ws_ptx_inst *at)
{
	return ws_fact_holds(v, b, r, constant, at) ||
	       (constant && at != v->access && ws_fact_holds(v, b, r, constant, v->access));
}

static bool has_bound(const struct leaf *l, const struct bound *b)
{
	for (unsigned k = 0; k < l->nbounds; k++)
		if (ws_bound_same(&l->bounds[k], b))
			return true;
	return false;
}

/* The lesser of two and something more is less than either of the two and that: i < min(n, first + 2048) - first. *out: which of them is fixed. */
static bool by_least(struct values *v, const struct sum *than, bool upper, struct sum *out)
{
	for (uint32_t k = 0; k < than->n; k++) {
		const struct leaf *l = than->t[k].n == 1 ? &v->leaves[than->t[k].leaf[0]] : NULL;

		for (unsigned m = 0; l && m < 2 && than->t[k].factor == 1 && l->kind == (upper ? LEAF_LEAST : LEAF_GREATEST); m++) {
			const struct sum itself = ws_sum_of_leaf(than->t[k].leaf[0]);

			*out = *than;
			if (ws_sum_add(out, &itself, -1) && ws_sum_add(out, l->of[m], 1) && ws_sum_fixed(v, out))
				return true;
		}
	}
	return false;
}

/* What is compared with something that has a bound on the same side has that bound: j <= i, and i < n. */
static bool by_bound_of(struct values *v, const struct sum *than, struct bound *b, struct sum *out)
{
	struct sum rest = *than;
	int64_t more = ws_sum_take_constant(&rest);
	const struct leaf *l = rest.n == 1 && rest.t[0].n == 1 && rest.t[0].factor == 1 ? &v->leaves[rest.t[0].leaf[0]] : NULL;

	if (ws_sum_in_time(v, than))
		return false;
	if (by_least(v, than, b->upper, out))
		return true;
	if (!l || l->kind != LEAF_ONE_OF)
		return false;
	for (unsigned k = 0; k < l->nbounds; k++)
		if (l->bounds[k].upper == b->upper && !l->bounds[k].equal && l->bounds[k].type == b->type) {
			b->slack += more + l->bounds[k].slack;
			*out = *l->bounds[k].than;
			return true;
		}
	return false;
}

/* Where a comparison's other side is what it was compared with: what goes on is so there alone. (Of what has one value in a thread a comparison counts
 * wherever it was.) */
static const struct ws_ptx_inst *seen_at(const struct values *v, const struct bound *b, bool constant, const struct ws_ptx_inst *compare, const struct ws_ptx_inst *at)
{
	return constant && b->other->kind == WS_O_REG && v->defs[b->other->reg->index].n > 1 ? compare : at;
}

/* What something is compared with; of the lesser of two, of which one is not known, that is less than the other: j < min(data, 64). */
static bool compared_with(struct values *v, const struct bound *b, const struct ws_ptx_inst *at, struct sum *out)
{
	const struct ws_ptx_inst *i = ws_value_only_def(v, b->other);
	unsigned bytes = ws_type_bytes(b->type);

	if (ws_value_operand(v, b->other, bytes, at, out))
		return true;
	if (!i || b->equal || i->flags || i->op != (b->upper ? WS_OP_min : WS_OP_max) || i->nops != 3 || i->type[0] != b->type)
		return false;
	return (ws_value_operand(v, &i->ops[1], bytes, i, out) && ws_sum_fixed(v, out)) || (ws_value_operand(v, &i->ops[2], bytes, i, out) && ws_sum_fixed(v, out));
}

static void try_bound(struct values *v, const struct ws_reg *r, bool constant, const struct ws_ptx_inst *compare, const struct ws_ptx_inst *at,
                      struct bound *b, struct leaf *l)
{
	struct sum other, than;

	if (l->nbounds == MOST_BOUNDS || (l->nbounds && l->bounds[0].type != b->type) || has_bound(l, b) ||
	    !holds(v, b, r, constant, at) || !compared_with(v, b, seen_at(v, b, constant, compare, at), &other))
		return;
	than = other;
	if (!ws_sum_fixed(v, &other) && !by_bound_of(v, &other, b, &than))
		return;
	ws_value_must_fit(v, &other, b->type);
	for (unsigned k = 0; k < l->nof; k++)
		ws_value_must_fit(v, l->of[k], b->type);
	b->than = ws_value_keep(v, &than);
	l->bounds[l->nbounds++] = *b;
}

/* The bounds that r has when `at` reads it. The sums of `of` are what it may hold by its definitions; they must be what
 * the comparison sees. special: those that are of this special register, which r is there; NULL: of r. */
static void find_bounds_by(struct values *v, const struct ws_reg *r, const struct ws_operand *special, bool constant, bool equal, const struct ws_ptx_inst *at,
                           struct leaf *l)
{
	struct bound b;

	for (uint32_t c = v->first_compare[r->index]; c != UINT32_MAX; c = v->next_compare[c])
		for (int truth = 0; truth < 2; truth++) {
			const struct ws_ptx_inst *i = &v->f->insts[c / 2];

			if ((i->cmp == WS_EQ || i->cmp == WS_NE) == equal && ws_bound_by(i, r, truth, &b) && (!special || ws_bound_of_special(v, r, special, &b)))
				try_bound(v, r, constant, i, at, &b, l);
		}
}

/* Of a register with one value in a thread also by comparisons of another one that is made of it and the same, cvt.u32.u64 of cvt.s64.s32, and of those that
 * are congruent to it. */
static void find_bounds(struct values *v, const struct ws_reg *r, bool constant, const struct ws_ptx_inst *at,
                        struct leaf *l)
{
	for (int equal = 0; equal < 2; equal++) {        /* what says less comes last: bounds are of one type */
		find_bounds_by(v, r, NULL, constant, equal, at, l);
		for (uint32_t k = v->first_same[r->index]; k != UINT32_MAX && constant; k = v->next_same[k])
			find_bounds_by(v, v->f->insts[k].ops[0].reg, NULL, true, equal, at, l);
		for (uint32_t k = v->first_congruent[v->congruent[r->index]]; k != UINT32_MAX && constant; k = v->next_congruent[k])
			if (k != r->index)
				find_bounds_by(v, v->f->regs[k], NULL, true, equal, at, l);
	}
}

static const struct bound *upper_bound(const struct leaf *l)
{
	for (unsigned k = 0; k < l->nbounds; k++)
		if (l->bounds[k].upper)
			return &l->bounds[k];
	return NULL;
}

const struct bound *ws_value_upper_bound(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at,
					 struct leaf *l)
{
	find_bounds(v, r, false, at, l);
	return upper_bound(l);
}

/* ---- registers ---- */
/* The special register that a register always holds, or NULL. */
static const struct ws_operand *special_of(const struct values *v, uint32_t reg)
{
	const struct defs *d = &v->defs[reg];

	return d->n == 1 ? ws_special_moved(d->at[0]) : NULL;
}

/* What comparisons say of any register that holds the same special register. The first of them stands for all. */
static void find_bounds_of_special(struct values *v, const struct ws_operand *what, const struct ws_ptx_inst *at,
                                   struct leaf *l)
{
	bool first = true;

	for (uint32_t k = 0; k < v->f->nregs; k++) {
		const struct ws_operand *other = special_of(v, k);

		if (!other || other->sreg_or_count != what->sreg_or_count)
			continue;
		if (first)
			l->reg = v->defs[k].at[0]->ops[0].reg;
		first = false;
		find_bounds(v, v->defs[k].at[0]->ops[0].reg, true, at, l);
		ws_bounds_of_last_round(v, v->defs[k].at[0]->ops[0].reg, v->access, l);
	}
	for (uint32_t k = 0; k < v->f->nregs; k++)
		for (int equal = 0; equal < 2 && v->defs[k].n > 1 && v->first_compare[k] != UINT32_MAX; equal++)
			find_bounds_by(v, v->f->regs[k], what, true, equal, at, l);
}

/* Is it a comparison with the same number that lets more through than another one? */
static bool says_less(const struct leaf *l, const struct bound *b)
{
	for (unsigned k = 0; k < l->nbounds; k++)
		if (l->bounds[k].upper == b->upper && ws_sum_equal(l->bounds[k].than, b->than) &&
		    (b->upper ? l->bounds[k].slack <= b->slack : l->bounds[k].slack >= b->slack))
			return true;
	return false;
}

/* The bounds of r are bounds of r + more. */
static bool take_over_bounds(struct leaf *l, const struct leaf *of, int64_t more)
{
	for (unsigned k = 0; k < of->nbounds; k++) {
		struct bound b = of->bounds[k];

		if (b.equal || b.type != l->bounds[0].type)
			return false;
		b.slack += more;
		if (says_less(l, &b))
			continue;
		if (l->nbounds == MOST_BOUNDS)
			return false;
		l->bounds[l->nbounds++] = b;
	}
	return true;
}

/* The greatest sum r + k that a comparison has bounded above, as in `if (column + 3 < n) row[column + 3] = ...`, of which the address is that
 * of the row's `column`, plus 12 bytes: r is that, less k. of: r as it is known otherwise. */
static bool less_than_bounded(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, const struct leaf *of, struct sum *out)
{
	struct leaf best = { .nof = 0 };
	int64_t most = 0;

	for (uint32_t k = v->first_add[r->index]; k != UINT32_MAX; k = v->next_add[k]) {
		const struct ws_ptx_inst *i = &v->f->insts[k];
		int64_t more = (int32_t)i->ops[2].imm;
		struct leaf l = { .kind = LEAF_ONE_OF, .reg = i->ops[0].reg, .nof = 1 };
		struct sum s = *of->of[0];

		if (more <= most || v->defs[l.reg->index].n != 1 || !add_term(&s, (struct term){ .factor = more }))
			continue;
		l.of[0] = ws_value_keep(v, &s);
		find_bounds(v, l.reg, true, at, &l);
		if (!upper_bound(&l) || l.bounds[0].equal || !take_over_bounds(&l, of, more))
			continue;
		best = l;
		most = more;
	}
	return best.nof && ws_value_leaf(v, &best, out) && add_term(out, (struct term){ .factor = -most });
}

static bool is_one_number(const struct values *v, const struct ws_operand *o)
{
	const struct ws_ptx_inst *def = ws_value_only_def(v, o);

	return o->kind == WS_O_INT || (def && ws_is_made_once(v, def));
}

/* Is r, or r and so much more, known to be less than the operand, which is one number in a thread? */
static bool is_less_than(struct values *v, const struct ws_ptx_inst *def, int64_t more, const struct ws_operand *o, enum ws_type type, const struct ws_ptx_inst *at)
{
	const struct ws_reg *r = def->ops[0].reg;
	struct bound b;

	if (v->defs[r->index].n != 1 || !is_one_number(v, o))
		return false;
	for (uint32_t c = v->first_compare[r->index]; c != UINT32_MAX; c = v->next_compare[c])
		for (int truth = 0; truth < 2; truth++)
			if (ws_bound_by(&v->f->insts[c / 2], r, truth, &b) && b.upper && !b.equal && b.slack < more && b.type == type &&
			    ws_value_same_operand(b.other, o) && holds(v, &b, r, ws_is_made_once(v, def), at))
				return true;
	return false;
}

/* Is min(a, b), of which b is the operand `side`, or a, known to be less than b? Or it and *more, as a register of its own that is compared. */
static bool is_lesser(struct values *v, const struct ws_ptx_inst *i, unsigned side, const struct ws_ptx_inst *at, int64_t *more)
{
	const struct ws_ptx_inst *other = is_one_number(v, &i->ops[3 - side]) ? ws_value_only_def(v, &i->ops[3 - side]) : NULL;
	const struct ws_operand *o = &i->ops[side];
	enum ws_type type = (enum ws_type)i->type[0];

	*more = 0;
	if (is_less_than(v, i, 0, o, type, at) || (other && is_less_than(v, other, 1, o, type, at)))
		return true;
	for (uint32_t k = v->first_add[i->ops[0].reg->index]; k != UINT32_MAX; k = v->next_add[k]) {
		*more = (int32_t)v->f->insts[k].ops[2].imm;
		if (is_less_than(v, &v->f->insts[k], *more, o, type, at))
			return true;
	}
	return false;
}

/* Then it is a: `first = min(tid * 8, n); if (first + 3 < n) s[first + 3] = x`. */
static bool lesser_of_two(struct values *v, const struct ws_ptx_inst *i, const struct ws_ptx_inst *at, struct sum *out)
{
	enum ws_type type = (enum ws_type)i->type[0];
	struct sum top;
	int64_t more;

	if (i->op != WS_OP_min || i->nops != 3 || i->flags || i->guard || !ws_is_made_once(v, i))
		return false;
	for (unsigned side = 1; side < 3; side++) {
		if (!is_lesser(v, i, side, at, &more) || !ws_value_operand(v, &i->ops[3 - side], ws_type_bytes(type), i, out))
			continue;
		top = *out;
		if (!add_term(&top, (struct term){ .factor = more }))
			continue;
		if (more)
			ws_value_must_fit(v, &top, type);
		return true;
	}
	return false;
}

static bool one_definition(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	const struct ws_ptx_inst *def = v->defs[r->index].at[0];
	struct leaf l = { .kind = LEAF_ONE_OF, .reg = r, .nof = 1 };

	if (def->guard || (!lesser_of_two(v, def, at, out) && !ws_value_result(v, def, out)))
		return false;
	if (ws_sum_fixed(v, out))
		return true;
	l.of[0] = ws_value_keep(v, out);
	l.in_time = ws_sum_in_time(v, out);
	if (special_of(v, r->index))
		find_bounds_of_special(v, special_of(v, r->index), at, &l);
	else
		find_bounds(v, r, !l.in_time, at, &l);
	if (!v->shared && !l.in_time && less_than_bounded(v, r, at, &l, out))
		return true;
	return !l.nbounds || ws_value_leaf(v, &l, out);
}

/* What r begins with, ahead of what else is done to it: with the bounds that it has there. */
bool ws_value_with_bounds(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	struct leaf l = { .kind = LEAF_ONE_OF, .reg = r, .nof = 1 };

	if (ws_sum_fixed(v, out))
		return true;
	l.of[0] = ws_value_keep(v, out);
	l.in_time = ws_sum_in_time(v, out);
	find_bounds(v, r, false, at, &l);
	return !l.nbounds || ws_value_leaf(v, &l, out);
}

/* What the instruction adds to r itself; NULL: it does something else. */
const struct ws_operand *ws_value_added(const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	if (i->op != WS_OP_add || i->flags & (WS_F_SAT | WS_F_CC) || i->nops != 3 ||
	    !whole_number((enum ws_type)i->type[0]))
		return NULL;
	for (unsigned k = 1; k < 3; k++)
		if (i->ops[k].kind == WS_O_REG && i->ops[k].reg == r)
			return &i->ops[3 - k];
	return NULL;
}

/* The counter must not wrap: where it is added to, a comparison has bounded it, and with the step it still fits. */
static bool grows(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *i, struct leaf *l)
{
	struct leaf here = *l;
	const struct bound *b;
	struct sum step, top;

	if (l->step || i->guard || !ws_value_operand(v, ws_value_added(i, r), ws_type_bytes(r->type), i, &step))
		return false;
	l->step = ws_value_keep(v, &step);
	ws_value_duty(v, &step, 0, INT64_MAX);
	find_bounds(v, r, false, i, &here);
	b = upper_bound(&here);
	if (!b)
		return false;
	top = *b->than;
	if (!ws_sum_add(&top, &step, 1) || !add_term(&top, (struct term){ .factor = b->slack }))
		return false;
	ws_value_must_fit(v, &top, b->type);
	l->bounds[0].type = b->type;         /* comparisons where it is used must be of this type, too */
	return true;
}

/* A long division comes with a short one, which is done where it suffices: both give the same. */
static bool all_alike(const struct leaf *l)
{
	for (unsigned k = 1; k < l->nof; k++)
		if (!ws_sum_equal(l->of[0], l->of[k]))
			return false;
	return l->nof > 1 && !l->step;
}

/* A counter as another one has it that goes on behind `at` alone, `for (k = i; ...) ...; for (; i < n; ...)`: what that one begins with. */
static void as_it_begins(struct values *v, struct sum *s, const struct ws_ptx_inst *at)
{
	const struct leaf *of = s->n == 1 && s->t[0].n == 1 && s->t[0].factor == 1 ? &v->leaves[s->t[0].leaf[0]] : NULL;
	const struct defs *d = of && of->kind == LEAF_LOOP && of->nof == 1 ? &v->defs[of->reg->index] : NULL;

	for (uint32_t k = 0; d && k < d->n; k++)
		if (ws_value_added(d->at[k], of->reg) && ws_comes_before(v, d->at[k], at))
			return;
	if (!d)
		return;
	*s = *of->of[0];
	ws_value_with_bounds(v, of->reg, at, s);
}

static bool several_definitions(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	const struct defs *d = &v->defs[r->index];
	struct leaf l = { .kind = LEAF_ONE_OF, .reg = r, .in_time = true };
	enum ws_type type = WS_T_NONE;

	for (uint32_t k = 0; k < d->n; k++)
		if (!ws_value_added(d->at[k], r)) {
			if (!ws_value_result(v, d->at[k], out))
				return false;
			as_it_begins(v, out, d->at[k]);
			l.of[l.nof++] = ws_value_keep(v, out);
		}
	for (uint32_t k = 0; k < d->n; k++)
		if (ws_value_added(d->at[k], r)) {
			if (!grows(v, r, d->at[k], &l))
				return false;
			type = l.bounds[0].type;
		}
	l.kind = l.step ? LEAF_LOOP : LEAF_ONE_OF;
	if (all_alike(&l)) {
		l.nof = 1;
		l.in_time = ws_sum_in_time(v, l.of[0]);
	}
	find_bounds(v, r, false, at, &l);
	if (l.nof == 1 && !l.step && !l.nbounds && d->n > 1) {
		*out = *l.of[0];
		return true;
	}
	if (l.step && (!upper_bound(&l) || l.bounds[0].type != type))
		return false;
	return l.nof && ws_value_leaf(v, &l, out);
}

/* That a register is not known, whatever is being looked at, is noted as long as one address is: what mixes bits, x ^ x >> 16 and again, asks for each
 * twice as often as for the one behind it. It may be known in another block, by bounds. */
static uint64_t unknown_in(const struct values *v, const struct ws_ptx_inst *at) { return (uint64_t)v->asked << 32 | (at->block + 1); }

bool ws_value_is_busy(struct values *v, const struct ws_reg *r)
{
	uint32_t busy = v->busy[r->index];

	v->cut = busy && busy < v->cut ? busy : v->cut;
	return busy;
}

/* Or may no further one be looked at? */
static bool is_in_the_way(struct values *v, const struct ws_reg *r)
{
	bool is = !v->steps || v->depth == DEEPEST;

	v->cut = is ? 0 : v->cut;
	return is || ws_value_is_busy(v, r);
}

/* A register that is not anything else yet than a special one. */
static bool is_special_yet(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	const struct defs *d = &v->defs[r->index];
	uint32_t k = 0;

	if (!at || !ws_special_at(v, r, at))
		return false;
	while (!ws_special_moved(d->at[k]) || !ws_comes_before(v, d->at[k], at))
		k++;
	return ws_value_result(v, d->at[k], out);
}

bool ws_value_register(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	const struct defs *d = &v->defs[r->index];
	size_t nduties = v->nduties;
	uint32_t cut = v->cut;
	bool known;

	if (r->vec != 1 || !whole_number(r->type) || !d->n || (d->n > MOST_DEFS && !v->shared) || (v->asking && v->unknown[r->index] == unknown_in(v, at)) || is_in_the_way(v, r))
		return false;
	v->steps--;
	v->depth++;
	v->cut = UINT32_MAX;
	v->busy[r->index] = v->depth + 1;
	if (d->n == 1) {
		known = (v->reads && ws_value_made_in_phase(v, d->at[0], out)) || one_definition(v, r, at, out);
	} else if (d->n > MOST_DEFS) {
		known = ws_value_chosen(v, r, out);
	} else {
		static bool (*const ways[])(struct values *, const struct ws_reg *, const struct ws_ptx_inst *, struct sum *) = {
			ws_value_in_cycle, several_definitions, ws_value_in_loop, ws_value_goes_with
		};

		known = (v->in_step && ws_steps_may(v->in_step, r) && ws_value_endless(v, r, NULL, out)) ||
		        (v->reads && v->reads[at->index] && ws_value_in_phase(v, r, out));
		for (unsigned k = 0; k < WS_COUNT(ways) && !known; k++) {
			v->nduties = nduties;
			known = ways[k](v, r, at, out);
		}
		if (!known) {
			v->nduties = nduties;
			known = ws_value_counted(v, r, out);
		}
		if (!known) {
			v->nduties = nduties;
			if (ws_value_keeps_within(v, r))
				known = ws_value_is_within(v, r, at) ? ws_value_strided(v, r, out) : is_special_yet(v, r, at, out);
			else
				known = !v->shared && ws_value_strided(v, r, out);
		}
		if (!known && v->shared) {
			v->nduties = nduties;
			known = ws_value_endless(v, r, at, out);
		}
		if (!known) {
			v->nduties = nduties;
			known = ws_value_chosen(v, r, out);
		}
	}
	v->busy[r->index] = 0;
	if (!known)                          /* nothing relies on what was looked at on the way */
		v->nduties = nduties;
	if (!known && d->n == 1 && v->cut > v->depth)
		v->unknown[r->index] = unknown_in(v, at);
	v->cut = v->cut < cut ? v->cut : cut;
	v->depth--;
	return known;
}

/* bytes: how wide the instruction reads it. */
bool ws_value_operand(struct values *v, const struct ws_operand *o, unsigned bytes, const struct ws_ptx_inst *at,
                    struct sum *out)
{
	if (o->negated || o->component)
		return false;
	if (o->kind == WS_O_INT)
		return ws_sum_number(out, bytes == 4 ? (int32_t)o->imm : (int64_t)o->imm);
	return o->kind == WS_O_REG && ws_type_bytes(o->reg->type) == bytes && ws_value_register(v, o->reg, at, out);
}

bool ws_value_same_operand(const struct ws_operand *a, const struct ws_operand *b)
{
	if (a->kind != b->kind || a->component || b->component || a->negated || b->negated)
		return false;
	return a->kind == WS_O_INT ? a->imm == b->imm : a->kind == WS_O_REG && a->reg == b->reg;
}

const struct ws_ptx_inst *ws_value_only_def(const struct values *v, const struct ws_operand *o)
{
	const struct defs *d = o->kind == WS_O_REG && !o->component && !o->negated ? &v->defs[o->reg->index] : NULL;

	return d && d->n == 1 && !d->at[0]->guard ? d->at[0] : NULL;
}

bool ws_value_block_loops(const struct values *v, uint32_t block, uint32_t *before)
{
	const struct ws_ptx_block *b = &v->f->blocks[block];

	if (b->npred != 2 || (b->pred[0] == block) == (b->pred[1] == block))
		return false;
	*before = b->pred[b->pred[0] == block];
	return true;
}

/* ---- addresses ---- */
static bool address(struct values *v, const struct ws_rw_access *a, struct sum *out)
{
	const struct ws_operand *o = a->address;

	v->access = a->inst;
	v->stepper = NULL;
	v->steppers = false;
	if (o->component || (!o->reg && !o->sym))
		return false;
	if (!o->reg)
		return variable(v, o->sym, o->offset, out);
	if (!is_of_address(v, ws_type_bytes(o->reg->type)) || !ws_value_register(v, o->reg, a->inst, out) ||
	    !add_term(out, (struct term){ .factor = o->offset }))
		return false;
	ws_sum_without_steps(v, out);
	ws_sum_rejoin(v, out);
	if (!v->shared)
		ws_sum_fold_bounded(v, out);
	return true;
}

bool ws_values_address(struct values *v, const struct ws_rw_access *a, struct sum *out)
{
	bool known;

	v->asked++;
	v->asking = true;
	known = address(v, a, out);
	v->asking = false;
	return known;
}

/* ---- begin and end ---- */
struct noting { struct values *v; const struct ws_ptx_inst *i; };

/* What gives r alone: of `ld.param.v2.u32 {a, b}, [s]`, as compilers have it for members of a struct, a load of one. */
static const struct ws_ptx_inst *gives(struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	struct ws_ptx_inst *one;
	unsigned k = 0;

	if (i->op != WS_OP_ld || i->vec <= 1 || (i->space != WS_SPACE_PARAM && i->space != WS_SPACE_CONST) || i->ops[0].kind != WS_O_VEC)
		return i;
	while (k < i->vec && (i->ops[0].elems[k].kind != WS_O_REG || i->ops[0].elems[k].reg != r))
		k++;
	if (k == i->vec)
		return i;
	one = ws_arena_alloc(v->arena, sizeof *one);
	*one = *i;
	one->vec = 1;
	one->ops = ws_arena_alloc(v->arena, i->nops * sizeof *one->ops);
	memcpy(one->ops, i->ops, i->nops * sizeof *one->ops);
	one->ops[0] = i->ops[0].elems[k];
	one->ops[1].offset += k * ws_type_bytes((enum ws_type)i->type[0]);
	return one;
}

static void note_def(void *user, struct ws_reg *r, bool is_def)
{
	struct noting *n = user;
	struct defs *d = &n->v->defs[r->index];

	if (!is_def)
		return;
	if (d->n < MOST_DEFS)
		d->at[d->n] = gives(n->v, n->i, r);
	d->n++;
}

static void note_set(void *user, struct ws_reg *r, bool is_def)
{
	struct noting *n = user;

	if (is_def)
		n->v->sets[n->v->first_set[r->index + 1]++] = n->i->index;
}

/* When all have been counted in defs: first_set[r + 1] goes from where r's begin to where they end. */
static void find_sets(struct values *v)
{
	struct ws_ptx_func *f = v->f;
	uint32_t n = 0;

	v->first_set = ws_alloc((f->nregs + 2) * sizeof *v->first_set);
	for (uint32_t r = 0; r < f->nregs; r++) {
		v->first_set[r + 1] = n;
		n += v->defs[r].n;
	}
	v->sets = ws_alloc((n + 1) * sizeof *v->sets);
	for (uint32_t k = 0; k < f->ninsts; k++)
		ws_ptx_inst_regs(&f->insts[k], note_set, &(struct noting){ v, &f->insts[k] });
}

static void note_compare(struct values *v, const struct ws_ptx_inst *i)
{
	if (i->op != WS_OP_setp || i->nops != 3 || i->guard || i->boolop || !whole_number((enum ws_type)i->type[0]))
		return;
	for (unsigned side = 0; side < 2; side++)
		if (i->ops[1 + side].kind == WS_O_REG) {
			uint32_t *first = &v->first_compare[i->ops[1 + side].reg->index];

			v->next_compare[2 * i->index + side] = *first;
			*first = 2 * i->index + side;
		}
}

/* One of a register and a number above 0. */
static void note_add(struct values *v, const struct ws_ptx_inst *i)
{
	uint32_t *first;

	if (i->op != WS_OP_add || i->nops != 3 || i->guard || !whole_number((enum ws_type)i->type[0]) || i->ops[0].kind != WS_O_REG ||
	    i->ops[1].kind != WS_O_REG || i->ops[2].kind != WS_O_INT || (int32_t)i->ops[2].imm <= 0 || v->first_compare[i->ops[0].reg->index] == UINT32_MAX)
		return;
	first = &v->first_add[i->ops[1].reg->index];
	v->next_add[i->index] = *first;
	*first = i->index;
}

/* From a whole number of so many bytes to one of as many others. */
static bool converts(const struct ws_ptx_inst *i, unsigned from, unsigned to)
{
	return i && i->op == WS_OP_cvt && i->nops == 2 && !(i->flags & WS_F_SAT) && whole_number((enum ws_type)i->type[0]) &&
	       whole_number((enum ws_type)i->type[1]) && ws_type_bytes((enum ws_type)i->type[1]) == from && ws_type_bytes((enum ws_type)i->type[0]) == to;
}

/* A register that is widened, and the lower half of that in another one, which is compared in its place. */
static void note_same(struct values *v, const struct ws_ptx_inst *i)
{
	const struct ws_ptx_inst *wide = converts(i, 8, 4) ? ws_value_only_def(v, &i->ops[1]) : NULL;
	uint32_t *first;

	if (!converts(wide, 4, 8) || !ws_value_only_def(v, &wide->ops[1]) || ws_value_only_def(v, &i->ops[0]) != i)
		return;
	first = &v->first_same[wide->ops[1].reg->index];
	v->next_same[i->index] = *first;
	*first = i->index;
}

void ws_values_init(struct values *v, struct ws_ptx_func *f)
{
	*v = (struct values){ .f = f, .arena = f->module->arena, .steps = STEPS };
	v->defs = ws_alloc((f->nregs + 1) * sizeof *v->defs);
	v->busy = ws_alloc((f->nregs + 1) * sizeof *v->busy);
	v->strided = ws_alloc(f->nregs + 1);
	v->unknown = ws_alloc((f->nregs + 1) * sizeof *v->unknown);
	v->first_compare = ws_alloc((f->nregs + 1) * sizeof *v->first_compare);
	v->next_compare = ws_alloc((2 * f->ninsts + 2) * sizeof *v->next_compare);
	v->first_add = ws_alloc((f->nregs + 1) * sizeof *v->first_add);
	v->next_add = ws_alloc((f->ninsts + 1) * sizeof *v->next_add);
	v->within = ws_alloc((f->nregs + 1) * sizeof *v->within);
	v->first_same = ws_alloc((f->nregs + 1) * sizeof *v->first_same);
	v->next_same = ws_alloc((f->ninsts + 1) * sizeof *v->next_same);
	memset(v->first_same, 0xff, (f->nregs + 1) * sizeof *v->first_same);
	memset(v->first_compare, 0xff, (f->nregs + 1) * sizeof *v->first_compare);
	memset(v->first_add, 0xff, (f->nregs + 1) * sizeof *v->first_add);
	for (uint32_t k = 0; k < f->ninsts; k++) {
		struct noting n = { v, &f->insts[k] };

		ws_ptx_inst_regs(n.i, note_def, &n);
		note_compare(v, n.i);
	}
	find_sets(v);
	v->reached = ws_alloc((f->nblocks + 1) * sizeof *v->reached);
	for (uint32_t k = 0; k < f->ninsts; k++) {
		note_add(v, &f->insts[k]);
		note_same(v, &f->insts[k]);
	}
	ws_values_find_congruent(v);
}

void ws_values_free(struct values *v)
{
	free(v->defs);
	free(v->first_set);
	free(v->sets);
	for (uint32_t b = 0; b < v->f->nblocks; b++)
		free(v->reached[b]);
	free(v->reached);
	free(v->busy);
	free(v->strided);
	free(v->unknown);
	free(v->first_compare);
	free(v->next_compare);
	free(v->first_add);
	free(v->next_add);
	free(v->within);
	free(v->first_same);
	free(v->next_same);
	free(v->congruent);
	free(v->first_congruent);
	free(v->next_congruent);
	free(v->leaves);
	free(v->duties);
	free(v->facts);
	free(v->kept);
}
