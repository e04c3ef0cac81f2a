/* ranges_left_first.c - loops in steps of one number that the compiler unrolls, what is left over first.
 *
 * `for (i = b; i < n; i += s)` of a thread, with numbers s and u, a power of 2, becomes
 *
 *      if (b >= n) goto end;                           rounds = (n - 1 - b) / s + 1
 *      for (c = rounds & (u - 1); c; c--, i += s)      what is left over: block `few`, if c is not 0
 *      if (n - 1 - b < (u - 1) * s) goto end;          there are u rounds at least
 *      do ...; while ((i += u * s) < n);               block `many`: u rounds at a time
 *
 * No entry can count the rounds of the first loop, but if all of that is so, `many` has a multiple of u rounds left when it begins: whoever reads i
 * in the loops, and as far as u - 1 steps further on in `many`, has an index below n. ranges_strided.c has the steps. */
#include "rewrite/ranges_priv.h"

struct unrolled {
	struct values *v;
	const struct ws_reg *r;
	const struct ws_ptx_inst *begin, *one, *all;     /* what sets r: before, in `few`, in `many` */
	uint32_t few, many, before_few, before_many, first, second;      /* blocks; first and second branch to those before */
	int64_t step, u;
	struct bound below;              /* r < n, as `many` finds it */
};

/* ---- instructions ---- */
static bool is_reg(const struct ws_operand *o, const struct ws_reg *r)
{
	return o->kind == WS_O_REG && o->reg == r && !o->component && !o->negated;
}

static bool is_int(const struct ws_operand *o, int64_t k)
{
	return o->kind == WS_O_INT && (int32_t)o->imm == k;
}

/* The comparison by which a block ends in a branch, and whether it is true on the way to `next`; NULL: there is none. */
static const struct ws_ptx_inst *decides(const struct values *v, uint32_t block, uint32_t next, bool *truth)
{
	const struct ws_ptx_block *b = &v->f->blocks[block];
	const struct ws_ptx_inst *branch = &v->f->insts[b->last];
	const struct defs *d = branch->op == WS_OP_bra && branch->guard ? &v->defs[branch->guard->index] : NULL;
	const struct ws_ptx_inst *c = d && d->n == 1 ? d->at[0] : NULL;
	bool falls;

	if (!c || c->op != WS_OP_setp || c->nops != 3 || c->boolop || c->guard || b->nsucc != 2 || b->succ[0] == b->succ[1] ||
	    (b->succ[0] != next && b->succ[1] != next))
		return NULL;
	falls = v->f->blocks[next].first == b->last + 1;
	*truth = falls == branch->guard_neg;
	return c;
}

/* ---- the parts ---- */
static bool find_steps(struct unrolled *x)
{
	const struct defs *d = &x->v->defs[x->r->index];
	const struct ws_ptx_inst *adds[2];
	unsigned n = 0;

	for (uint32_t k = 0; k < d->n && d->n == 3; k++) {
		const struct ws_operand *by = ws_value_added(d->at[k], x->r);

		if (d->at[k]->guard || (by && (by->kind != WS_O_INT || (int32_t)by->imm <= 0 || n == 2)))
			return false;
		if (by)
			adds[n++] = d->at[k];
		else
			x->begin = d->at[k];
	}
	if (n != 2 || !x->begin)
		return false;
	n = (int32_t)ws_value_added(adds[0], x->r)->imm > (int32_t)ws_value_added(adds[1], x->r)->imm;
	x->one = adds[n];
	x->all = adds[1 - n];
	x->step = (int32_t)ws_value_added(x->one, x->r)->imm;
	x->u = (int32_t)ws_value_added(x->all, x->r)->imm;
	if (x->u % x->step)
		return false;
	x->u /= x->step;
	x->few = x->one->block;
	x->many = x->all->block;
	return x->u >= 2 && x->u <= 64 && !(x->u & (x->u - 1)) && x->few != x->many;
}

static bool find_blocks(struct unrolled *x)
{
	const struct ws_ptx_block *blocks = x->v->f->blocks, *second;

	if (!ws_value_block_loops(x->v, x->few, &x->before_few) || !ws_value_block_loops(x->v, x->many, &x->before_many) || blocks[x->before_few].npred != 1 ||
	    blocks[x->before_many].npred != 1)
		return false;
	x->first = blocks[x->before_few].pred[0];
	x->second = blocks[x->before_many].pred[0];
	second = &blocks[x->second];
	for (uint32_t k = 0; k < second->npred; k++)
		if (second->pred[k] != x->few && second->pred[k] != x->first)
			return false;
	return !ws_value_block_reaches(x->v, x->first, x->first);
}

static bool ends_below(struct unrolled *x)
{
	bool truth;
	const struct ws_ptx_inst *c = decides(x->v, x->many, x->many, &truth);

	return c && c->block == x->many && c->index > x->all->index && is_reg(&c->ops[1], x->r) && ws_bound_by(c, x->r, truth, &x->below) &&
	       x->below.upper && x->below.slack == -1;
}

/* ---- how many rounds ---- */
/* m * x >> k is x / by for each x of 32 bits: m is what 2^k is divided by it, rounded up, and the error comes to less than 1. */
static bool divides_by(uint64_t m, unsigned k, int64_t by)
{
	unsigned __int128 product = (unsigned __int128)(m & UINT32_MAX) * (unsigned __int128)by, whole = (unsigned __int128)1 << k;

	return k >= 32 && k < 96 && product > whole && ((product - whole) << 32) <= whole;
}

static bool is_shift(const struct ws_ptx_inst *i)
{
	return i && i->op == WS_OP_shr && i->nops == 3 && i->ops[2].kind == WS_O_INT && i->ops[2].imm < 64 && !ws_type_is_signed((enum ws_type)i->type[0]);
}

/* Is it what the first is divided by `by`, without a sign? */
static bool is_quotient(const struct values *v, const struct ws_operand *q, const struct ws_operand *of, int64_t by)
{
	const struct ws_ptx_inst *i = ws_value_only_def(v, q), *shift;
	unsigned k = 0;

	if (is_shift(i) && ws_value_same_operand(&i->ops[1], of))
		return i->ops[2].imm < 31 && by == (int64_t)1 << i->ops[2].imm;
	if (i && i->op == WS_OP_cvt && i->nops == 2 && ws_type_bytes((enum ws_type)i->type[0]) == 4 && ws_type_bytes((enum ws_type)i->type[1]) == 8)
		i = ws_value_only_def(v, &i->ops[1]);
	if (is_shift(i)) {
		k = (unsigned)i->ops[2].imm;
		i = ws_value_only_def(v, &i->ops[1]);
	}
	if (!i || i->op != WS_OP_mul || i->nops != 3 || i->ops[2].kind != WS_O_INT || (enum ws_type)i->type[0] != WS_U32 ||
	    (i->part != WS_WIDE && i->part != WS_HI_HALF))
		return false;
	k += i->part == WS_HI_HALF ? 32 : 0;
	shift = ws_value_only_def(v, &i->ops[1]);
	if (!ws_value_same_operand(&i->ops[1], of) && is_shift(shift) && ws_value_same_operand(&shift->ops[1], of) && shift->ops[2].imm < 31 &&
	    by % ((int64_t)1 << shift->ops[2].imm) == 0)
		return divides_by(i->ops[2].imm, k, by >> shift->ops[2].imm);
	return ws_value_same_operand(&i->ops[1], of) && divides_by(i->ops[2].imm, k, by);
}

/* r, or what it begins with. */
static bool is_begin(const struct unrolled *x, const struct ws_operand *o)
{
	return is_reg(o, x->r) || (x->begin->op == WS_OP_mov && x->begin->nops == 2 && ws_value_same_operand(&x->begin->ops[1], o));
}

static const struct ws_ptx_inst *sum_with(const struct values *v, const struct ws_operand *o, enum ws_op op)
{
	const struct ws_ptx_inst *i = ws_value_only_def(v, o);

	return i && i->op == op && i->nops == 3 && !(i->flags & (WS_F_SAT | WS_F_CC)) && ws_type_bytes((enum ws_type)i->type[0]) == 4 ? i : NULL;
}

/* n - 1 - begin, as ~begin + n, (n - begin) - 1 or (n - 1) - begin; *from: what of it stands for the beginning. */
static bool is_span(const struct unrolled *x, const struct ws_operand *o, const struct ws_operand **from)
{
	const struct ws_operand *n = x->below.other;
	const struct ws_ptx_inst *i = sum_with(x->v, o, WS_OP_add), *other;

	for (unsigned k = 1; i && k < 3; k++) {
		other = ws_value_only_def(x->v, &i->ops[k]);
		if (other && other->op == WS_OP_not && other->nops == 2 && is_begin(x, &other->ops[1]) && ws_value_same_operand(&i->ops[3 - k], n))
			return *from = &other->ops[1], true;
		other = sum_with(x->v, &i->ops[k], WS_OP_sub);
		if (other && ws_value_same_operand(&other->ops[1], n) && is_begin(x, &other->ops[2]) && is_int(&i->ops[3 - k], -1))
			return *from = &other->ops[2], true;
	}
	i = sum_with(x->v, o, WS_OP_sub);
	other = i ? sum_with(x->v, &i->ops[1], WS_OP_add) : NULL;
	if (!other || !is_begin(x, &i->ops[2]) || !ws_value_same_operand(&other->ops[1], n) || !is_int(&other->ops[2], -1))
		return false;
	return *from = &i->ops[2], true;
}

/* The beginning is below n where the span is made. */
static bool begins_below(const struct unrolled *x, const struct ws_operand *span, const struct ws_operand *from)
{
	const struct ws_ptx_inst *at = ws_value_only_def(x->v, span);

	return from->kind == WS_O_REG && (ws_fact_holds(x->v, &x->below, x->r, false, at) ||
	                                  (from->reg != x->r && ws_fact_holds(x->v, &x->below, from->reg, true, at)));
}

/* What `few` counts down to 0 is (span / step + 1) & (u - 1), and it is not entered with 0. *span: of which that is. */
static bool counts_left_over(const struct unrolled *x, const struct ws_operand **span)
{
	const struct values *v = x->v;
	const struct ws_ptx_inst *c, *enters, *masked = NULL, *plus;
	const struct ws_operand *from;
	const struct defs *d;
	bool again, in, down = false;

	c = decides(v, x->few, x->few, &again);
	enters = decides(v, x->first, x->before_few, &in);
	if (!c || !enters || c->block != x->few || c->ops[1].kind != WS_O_REG || !is_int(&c->ops[2], 0) || c->cmp != (again ? WS_NE : WS_EQ) ||
	    !ws_value_same_operand(&enters->ops[1], &c->ops[1]) || !is_int(&enters->ops[2], 0) || enters->cmp != (in ? WS_NE : WS_EQ))
		return false;
	d = &v->defs[c->ops[1].reg->index];
	for (uint32_t k = 0; k < d->n && d->n == 2; k++) {
		const struct ws_operand *by = ws_value_added(d->at[k], c->ops[1].reg);

		if (d->at[k]->guard)
			return false;
		if (by)
			down = is_int(by, -1) && d->at[k]->block == x->few && d->at[k]->index < c->index;
		else
			masked = d->at[k];
	}
	if (!down || !masked || masked->op != WS_OP_and || masked->nops != 3 || !is_int(&masked->ops[2], x->u - 1) || enters->index < masked->index ||
	    enters->block != masked->block)
		return false;
	plus = sum_with(v, &masked->ops[1], WS_OP_add);
	if (!plus || !is_int(&plus->ops[2], 1))
		return false;
	for (uint32_t k = 0; k < v->f->ninsts; k++) {            /* which register is the span? */
		const struct ws_ptx_inst *i = &v->f->insts[k];

		if (i->nops != 3 || (i->op != WS_OP_add && i->op != WS_OP_sub) || i->ops[0].kind != WS_O_REG || !is_span(x, &i->ops[0], &from))
			continue;
		*span = &i->ops[0];
		if (is_quotient(v, &plus->ops[1], *span, x->step))
			return begins_below(x, *span, from) && ws_comes_before(v, i, enters);
	}
	return false;
}

/* `many` is entered with u rounds at least: the span is (u - 1) * step, or more. */
static bool has_all(const struct unrolled *x, const struct ws_operand *span)
{
	bool truth;
	const struct ws_ptx_inst *c = decides(x->v, x->second, x->before_many, &truth);
	struct bound b;

	if (!c || c->ops[1].kind != WS_O_REG || c->ops[2].kind != WS_O_INT || !ws_bound_by(c, c->ops[1].reg, truth, &b) || b.upper || b.type != WS_U32)
		return false;
	if (ws_value_same_operand(&c->ops[1], span))
		return (int64_t)(uint32_t)c->ops[2].imm + b.slack >= (x->u - 1) * x->step;
	return is_quotient(x->v, &c->ops[1], span, x->step) && (int64_t)(uint32_t)c->ops[2].imm + b.slack >= x->u - 1;
}

/* ---- who reads it ---- */
struct reading { const struct unrolled *x; const struct ws_ptx_inst *i; bool found; };

static void note_read(void *user, struct ws_reg *r, bool is_def)
{
	struct reading *n = user;

	n->found |= !is_def && r == n->x->r;
}

/* Nobody reads it but in the loops, before it goes on, in the blocks before them, to compare it, and where it has been found to be below n. */
static bool is_read_below(const struct unrolled *x)
{
	for (uint32_t k = 0; k < x->v->f->ninsts; k++) {
		struct reading n = { x, &x->v->f->insts[k], false };
		uint32_t block = n.i->block;

		ws_ptx_inst_regs(n.i, note_read, &n);
		if (!n.found || n.i->op == WS_OP_setp || n.i == x->one || n.i == x->all || block == x->before_few || block == x->before_many || block == x->first ||
		    (block == x->few && k < x->one->index) || (block == x->many && k < x->all->index) || ws_fact_holds(x->v, &x->below, x->r, false, n.i))
			continue;
		return false;
	}
	return true;
}

int64_t ws_value_left_first(struct values *v, const struct ws_reg *r, uint32_t *loop)
{
	struct unrolled x = { .v = v, .r = r };
	const struct ws_operand *span;

	if (ws_type_bytes(r->type) != 4 || !find_steps(&x) || !find_blocks(&x) || !ends_below(&x) || !counts_left_over(&x, &span) || !has_all(&x, span) ||
	    !is_read_below(&x))
		return 0;
	*loop = x.many;
	return x.u;
}
