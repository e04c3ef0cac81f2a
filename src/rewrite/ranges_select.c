/* ranges_select.c - one of two values, as a condition says (selp).
 *
 * `v < 0 ? 0 : v > last ? last : v`, by which an index is kept in a row, becomes min and a choice: 0 where v < 0, else min(v, last). That is the
 * greater one of both if last >= 0, which is a duty. Of other choices all that is known is that they are one of the two. Where v is not known, what is
 * kept between two limits lies between them. */
#include "rewrite/ranges_priv.h"

/* Is the operand v itself, or (`op`: min or max) the one or the other of v and *limit? */
static bool is_limited(const struct values *v, const struct ws_operand *o, enum ws_op op, const struct ws_operand *of, enum ws_type t,
		       const struct ws_operand **limit)
{
	const struct ws_ptx_inst *i;

	*limit = NULL;
	if (ws_value_same_operand(o, of))
		return true;
	i = ws_value_only_def(v, o);
	if (!i || i->op != op || i->nops != 3 || i->flags || (enum ws_type)i->type[0] != t)
		return false;
	for (unsigned k = 1; k < 3; k++)
		if (ws_value_same_operand(&i->ops[k], of))
			*limit = &i->ops[3 - k];
	return *limit;
}

/* The comparison that decides, and whether the first operand is chosen where v is less (else where it is greater) than what it is compared with. */
struct choice { const struct ws_ptx_inst *compare; bool less; };

static bool find_choice(const struct values *v, const struct ws_ptx_inst *i, struct choice *c)
{
	const struct ws_operand *p = &i->ops[3];

	c->compare = p->kind == WS_O_REG && !p->component && !p->negated ? ws_value_only_def(v, p) : NULL;
	if (!c->compare || c->compare->op != WS_OP_setp || c->compare->nops != 3 || c->compare->boolop ||
	    (enum ws_type)c->compare->type[0] != (ws_type_bytes((enum ws_type)i->type[0]) == 4 ? WS_S32 : WS_S64))
		return false;
	c->less = c->compare->cmp == WS_LT || c->compare->cmp == WS_LE;
	return c->less || c->compare->cmp == WS_GT || c->compare->cmp == WS_GE;
}

/* The limit must not lie beyond what v is compared with: one number of the launch each. */
static bool limit_is_beyond(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, const struct choice *c, const struct ws_operand *limit)
{
	struct sum far, near;

	if (!ws_value_operand(v, limit, bytes, i, &far) || !ws_value_operand(v, &c->compare->ops[2], bytes, i, &near) || !ws_sum_fixed(v, &far) ||
	    !ws_sum_fixed(v, &near) || !ws_sum_add(&far, &near, -1))
		return false;
	if (!c->less)
		for (uint32_t k = 0; k < far.n; k++)
			far.t[k].factor = -far.t[k].factor;
	ws_value_duty(v, &far, 0, INT64_MAX);
	return true;
}

/* "v < a ? a : v" and such: the greatest, or the least, of both. */
static bool is_extreme(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, bool *greatest)
{
	const struct ws_operand *limit;
	struct choice c;

	if (!find_choice(v, i, &c))
		return false;
	*greatest = c.less;
	if (ws_value_same_operand(&i->ops[1], &c.compare->ops[2]) &&
	    is_limited(v, &i->ops[2], c.less ? WS_OP_min : WS_OP_max, &c.compare->ops[1], (enum ws_type)c.compare->type[0], &limit))
		return !limit || limit_is_beyond(v, i, bytes, &c, limit);
	*greatest = !c.less;                 /* "v < a ? v : a" */
	return ws_value_same_operand(&i->ops[1], &c.compare->ops[1]) && ws_value_same_operand(&i->ops[2], &c.compare->ops[2]);
}

/* Any number between what the operands are, in the instruction's result. */
static bool between(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, const struct ws_operand *a, const struct ws_operand *b, struct sum *out)
{
	struct leaf l = { .kind = LEAF_ONE_OF, .reg = i->ops[0].reg, .nof = 2, .in_time = true, .offset = 2 };
	const struct ws_operand *const both[] = { a, b };
	struct sum of;

	for (unsigned k = 0; k < 2; k++) {
		if (!ws_value_operand(v, both[k], bytes, i, &of))
			return false;
		ws_value_must_fit(v, &of, bytes == 4 ? WS_S32 : WS_S64);
		l.of[k] = ws_value_keep(v, &of);
	}
	return ws_value_leaf(v, &l, out);
}

bool ws_value_limited(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	enum ws_op other = i->op == WS_OP_min ? WS_OP_max : WS_OP_min;

	if (i->nops != 3 || i->flags || !ws_type_is_signed((enum ws_type)i->type[0]))
		return false;
	for (unsigned k = 1; k < 3; k++) {
		const struct ws_ptx_inst *inner = ws_value_only_def(v, &i->ops[k]);

		if (!inner || inner->op != other || inner->nops != 3 || inner->flags || inner->type[0] != i->type[0])
			continue;
		for (unsigned n = 1; n < 3; n++)
			if (between(v, i, bytes, &i->ops[3 - k], &inner->ops[n], out))
				return true;
	}
	return false;
}

/* The same by a choice. */
static bool kept_between(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	const struct ws_operand *limit;
	struct choice c;

	return find_choice(v, i, &c) && ws_value_same_operand(&i->ops[1], &c.compare->ops[2]) &&
	       is_limited(v, &i->ops[2], c.less ? WS_OP_min : WS_OP_max, &c.compare->ops[1], (enum ws_type)c.compare->type[0], &limit) && limit &&
	       limit_is_beyond(v, i, bytes, &c, limit) && between(v, i, bytes, &i->ops[1], limit, out);
}

bool ws_value_selected(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	struct leaf l = { .kind = LEAF_ONE_OF, .reg = i->ops[0].reg, .nof = 2, .in_time = true, .offset = 1 };
	struct sum of[2];
	bool greatest;

	if (i->nops != 4 || i->guard)
		return false;
	for (unsigned k = 0; k < 2; k++) {
		if (!ws_value_operand(v, &i->ops[1 + k], bytes, i, &of[k]))
			return kept_between(v, i, bytes, out);
		l.of[k] = ws_value_keep(v, &of[k]);
	}
	if (is_extreme(v, i, bytes, &greatest)) {
		l = (struct leaf){ .kind = greatest ? LEAF_GREATEST : LEAF_LEAST, .nof = 2, .of = { l.of[0], l.of[1] } };
		l.fixed = ws_sum_fixed(v, &of[0]) && ws_sum_fixed(v, &of[1]);
		l.in_time = ws_sum_in_time(v, &of[0]) || ws_sum_in_time(v, &of[1]);
		for (unsigned k = 0; k < 2; k++)
			ws_value_must_fit(v, &of[k], bytes == 4 ? WS_S32 : WS_S64);
	}
	return ws_value_leaf(v, &l, out);
}
