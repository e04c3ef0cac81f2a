/* ranges_cycle.c - counters that go on through copies: next = at + step; ...; at = next, also in another width.
 *
 * The registers of a cycle get their values from each other, by copies and by additions of the same number, or from
 * outside. So all hold what one of them began with, and some steps more. Wherever something is added (but once in a thread) a comparison must
 * have bounded the register, or the one that it is a copy of, so that nothing wraps. The first register of a cycle stands
 * for all. */
#include "rewrite/ranges_priv.h"

enum { MOST_REGS = 8, DEEPEST = 6 };

struct cycle {
	const struct ws_reg *regs[MOST_REGS];
	unsigned n;
	const struct ws_reg *first;
	unsigned bytes;
	enum ws_type type;               /* of the comparisons */
	struct sum tops[MOST_DEFS];      /* what a step leads to at most where something bounds it */
	unsigned ntops, once;            /* steps that are made once in a thread, from where nothing bounds it */
	struct leaf leaf;
};

/* The register that the instruction copies, or to which it adds something; NULL: it does something else. */
static const struct ws_reg *source_of(const struct ws_ptx_inst *i, unsigned n)
{
	const struct ws_operand *o = n < i->nops ? &i->ops[n] : NULL;
	unsigned to = ws_type_bytes((enum ws_type)i->type[0]), from = ws_type_bytes((enum ws_type)i->type[1]);

	if (i->guard || i->flags & (WS_F_SAT | WS_F_CC) || !o || o->kind != WS_O_REG || o->component || o->negated ||
	    o->reg->vec != 1 || i->ops[0].component || ws_type_is_float((enum ws_type)i->type[0]))
		return NULL;
	if (i->op == WS_OP_mov)
		return n == 1 && i->nops == 2 ? o->reg : NULL;
	if (i->op == WS_OP_add)
		return i->nops == 3 && (to == 4 || to == 8) ? o->reg : NULL;
	return i->op == WS_OP_cvt && n == 1 && i->ntypes == 2 && !i->rnd && !ws_type_is_float((enum ws_type)i->type[1]) &&
			       (to == 4 || to == 8) && (from == 4 || from == 8) ? o->reg : NULL;
}

static bool leads_to(const struct values *v, const struct ws_reg *r, const struct ws_reg *to, unsigned depth)
{
	const struct defs *d = &v->defs[r->index];

	if (r == to)
		return true;
	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS && depth < DEEPEST; k++)
		for (unsigned n = 1; n < 3; n++) {
			const struct ws_reg *from = source_of(d->at[k], n);

			if (from && leads_to(v, from, to, depth + 1))
				return true;
		}
	return false;
}

/* Which operand of the instruction is of the cycle of r; 0: none. */
static unsigned operand_in_cycle(const struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	for (unsigned n = 1; n < 3; n++) {
		const struct ws_reg *from = source_of(i, n);

		if (from && leads_to(v, from, r, 0))
			return n;
	}
	return 0;
}

/* An upper bound of the register when the instruction reads it, or of what it is a copy of, when that was copied. */
static const struct bound *bound_of(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct leaf *l)
{
	for (unsigned depth = 0; r && depth < DEEPEST; depth++) {
		const struct defs *d = &v->defs[r->index];
		const struct bound *b = NULL;

		l->nbounds = 0;
		if (ws_type_bytes(r->type) == 4 || ws_type_bytes(r->type) == 8)
			b = ws_value_upper_bound(v, r, at, l);
		if (b)
			return b;
		at = d->n == 1 && d->at[0]->op != WS_OP_add ? d->at[0] : NULL;
		r = at ? source_of(at, 1) : NULL;
	}
	return NULL;
}

/* What is added must be the same everywhere; what it leads to is noted. */
static bool add_step(struct values *v, struct cycle *c, const struct ws_ptx_inst *i, unsigned n)
{
	struct leaf here = c->leaf;
	const struct bound *b;
	struct sum step, top;

	if (!ws_value_operand(v, &i->ops[3 - n], ws_type_bytes((enum ws_type)i->type[0]), i, &step) ||
	    !ws_sum_fixed(v, &step) || (c->leaf.step && !ws_sum_equal(c->leaf.step, &step)))
		return false;
	ws_value_duty(v, &step, 0, INT64_MAX);
	c->leaf.step = ws_value_keep(v, &step);
	b = bound_of(v, i->ops[n].reg, i, &here);
	if (!b && ws_is_made_once(v, i))
		return c->once++ < MOST_DEFS;
	if (!b || c->ntops == MOST_DEFS || ws_type_bytes(b->type) != c->bytes || (c->ntops && c->type != b->type))
		return false;
	c->type = b->type;
	top = *b->than;
	if (!ws_sum_add(&top, &step, 1) || !ws_sum_add(&top, &(struct sum){ 1, { { .factor = 1 } } }, b->slack))
		return false;
	c->tops[c->ntops++] = top;
	return true;
}

/* No register wraps. */
static bool must_fit(struct values *v, struct cycle *c)
{
	struct sum begin = *c->leaf.of[0];

	if (!ws_sum_add(&begin, c->leaf.step, c->once))
		return false;
	ws_value_must_fit(v, &begin, c->type);
	for (unsigned k = 0; k < c->ntops; k++) {
		if (!ws_sum_add(&c->tops[k], c->leaf.step, c->once))
			return false;
		ws_value_must_fit(v, &c->tops[k], c->type);
	}
	return true;
}

static bool add_begin(struct values *v, struct cycle *c, const struct ws_ptx_inst *i)
{
	struct sum s;

	if (i->guard || !ws_value_result(v, i, &s) || ws_sum_in_time(v, &s))
		return false;
	for (unsigned k = 0; k < c->leaf.nof; k++)
		if (ws_sum_equal(c->leaf.of[k], &s))
			return true;
	if (c->leaf.nof == MOST_DEFS)
		return false;
	c->leaf.of[c->leaf.nof++] = ws_value_keep(v, &s);
	return true;
}

static bool follow(struct values *v, struct cycle *c, const struct ws_reg *r)
{
	const struct defs *d = &v->defs[r->index];

	for (unsigned k = 0; k < c->n; k++)
		if (c->regs[k] == r)
			return true;
	if (c->n == MOST_REGS || !d->n || d->n > MOST_DEFS || ws_type_bytes(r->type) < c->bytes)
		return false;
	c->regs[c->n++] = r;
	if (ws_type_bytes(r->type) == c->bytes && (!c->first || r->index < c->first->index))
		c->first = r;
	for (uint32_t k = 0; k < d->n; k++) {
		unsigned n = operand_in_cycle(v, d->at[k], c->regs[0]);

		if (n ? (d->at[k]->op == WS_OP_add && !add_step(v, c, d->at[k], n)) || !follow(v, c, d->at[k]->ops[n].reg) :
			!add_begin(v, c, d->at[k]))
			return false;
	}
	return true;
}

bool ws_value_in_cycle(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	struct cycle c = { .bytes = ws_type_bytes(r->type), .leaf = { .kind = LEAF_LOOP, .in_time = true } };
	const struct bound *b;

	c.leaf.reg = r;
	if (!follow(v, &c, r) || !c.ntops || c.leaf.nof != 1 || !must_fit(v, &c))
		return false;
	c.leaf.reg = c.first;
	b = ws_value_upper_bound(v, r, at, &c.leaf);
	return b && b->type == c.type && ws_value_leaf(v, &c.leaf, out);
}
