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
 * in the loops, and as far as u - 1 steps further on in `many`, has an index below n. ranges_strided.c has the steps.
 *
 * Where n is a number, compilers have max(b, n - s) + s - 1 - b, which is n - 1 - b or s - 1, whichever is more, and comes to as many rounds; and `many`
 * may have a register of its own, that begins with i and a number more, or compare what i was before it went on. */
#include "rewrite/needless.h"
#include "rewrite/ranges_priv.h"

struct unrolled {
	struct values *v;
	const struct ws_reg *r, *m;      /* i, and as `many` has it: r itself, or what begins with i + more */
	int64_t more;
	const struct ws_ptx_inst *begin, *one, *all, *begins_more;       /* what sets them: before, in `few`, in `many`; m with more */
	uint32_t few, many, before_few, before_many, first, second;      /* blocks; first and second branch to those before */
	int64_t step, u;
	struct bound below;              /* i < n */
	const struct ws_ptx_inst *compare;       /* which says so */
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

const struct ws_ptx_inst *ws_value_decides(const struct values *v, uint32_t block, uint32_t next, bool *truth)
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
/* The special register that an instruction copies, itself or from a register that is one there; NULL: it does not. */
static const struct ws_operand *special_begin(const struct values *v, const struct ws_ptx_inst *i)
{
	const struct ws_operand *from = i->op == WS_OP_mov && i->nops == 2 && !i->guard ? &i->ops[1] : NULL;

	return !from || from->kind == WS_O_SREG ? ws_special_moved(i) : from->kind == WS_O_REG && !from->component && !from->negated ? ws_special_at(v, from->reg, i) : NULL;
}

/* Do both give a register the same, whenever they are executed? */
static bool same_begin(const struct values *v, const struct ws_ptx_inst *a, const struct ws_ptx_inst *b)
{
	const struct ws_operand *special[] = { special_begin(v, a), special_begin(v, b) };

	return special[0] && special[1] && special[0]->sreg_or_count == special[1]->sreg_or_count;
}

/* What adds a number to r, itself or as a copy of the sum, at most two of them, with the lesser number first; and what r begins with. Returns how many. */
static unsigned steps_of(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst **adds, int64_t *by, const struct ws_ptx_inst **begin)
{
	const struct defs *d = &v->defs[r->index];
	unsigned n = 0;

	*begin = NULL;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct ws_operand *number = d->n <= MOST_DEFS && !d->at[k]->guard ? ws_value_added_or_copied(v, d->at[k], r) : NULL;

		if (d->n > MOST_DEFS || d->at[k]->guard || (number && (number->kind != WS_O_INT || (int32_t)number->imm <= 0 || n == 2)) ||
		    (!number && *begin && !same_begin(v, *begin, d->at[k])))
			return 0;
		if (number) {
			by[n] = (int32_t)number->imm;
			adds[n++] = d->at[k];
		} else {
			*begin = d->at[k];
		}
	}
	if (n == 2 && by[0] > by[1]) {
		const struct ws_ptx_inst *first = adds[0];
		int64_t least = by[1];

		adds[0] = adds[1];
		adds[1] = first;
		by[1] = by[0];
		by[0] = least;
	}
	return *begin ? n : 0;
}

/* begin = add r, more */
static bool begins_with_more(const struct ws_ptx_inst *begin, struct unrolled *x)
{
	if (begin->op != WS_OP_add || begin->nops != 3 || begin->flags & (WS_F_SAT | WS_F_CC) || !ws_operand_is_word(&begin->ops[1]) || begin->ops[2].kind != WS_O_INT)
		return false;
	x->r = begin->ops[1].reg;
	x->more = (int32_t)begin->ops[2].imm;
	return true;
}

/* The register that begins with r and a number more, and goes on by a number. */
static const struct ws_reg *made_of(struct values *v, const struct ws_reg *r, struct unrolled *x)
{
	const struct ws_ptx_inst *adds[2], *begin;
	int64_t by[2];

	for (uint32_t k = 0; k < v->f->ninsts; k++) {
		const struct ws_ptx_inst *i = &v->f->insts[k];

		if (i->op == WS_OP_add && i->nops == 3 && is_reg(&i->ops[1], r) && i->ops[0].kind == WS_O_REG && i->ops[0].reg != r &&
		    begins_with_more(i, x) && steps_of(v, i->ops[0].reg, adds, by, &begin) == 1 && begin == i)
			return i->ops[0].reg;
	}
	return NULL;
}

/* Of the register q, which is either of both. */
static bool find_registers(struct unrolled *x, const struct ws_reg *q)
{
	const struct ws_ptx_inst *adds[2], *begin;
	int64_t by[2];

	if (steps_of(x->v, q, adds, by, &begin) != 1) {
		x->r = x->m = q;
	} else if (begins_with_more(begin, x)) {
		x->m = q;
	} else {
		x->m = made_of(x->v, q, x);
		x->r = q;
	}
	return x->m != NULL;
}

static bool find_steps(struct unrolled *x, const struct ws_reg *q)
{
	const struct ws_ptx_inst *adds[2], *begin;
	int64_t by[2];

	if (!find_registers(x, q) || steps_of(x->v, x->r, adds, by, &x->begin) != (x->m == x->r ? 2 : 1))
		return false;
	if (x->m != x->r && steps_of(x->v, x->m, adds + 1, by + 1, &begin) != 1)
		return false;
	x->one = adds[0];
	x->all = adds[1];
	x->step = by[0];
	x->u = by[1];
	if (x->u % x->step)
		return false;
	x->u /= x->step;
	x->few = x->one->block;
	x->many = x->all->block;
	x->begins_more = x->m != x->r ? begin : NULL;
	return x->u >= 2 && x->u <= 64 && !(x->u & (x->u - 1)) && x->few != x->many;
}

/* i begins before the first loop, and goes on in the second one as it is behind that. */
static bool goes_on_alone(const struct unrolled *x)
{
	const struct ws_ptx_block *blocks = x->v->f->blocks;
	const uint32_t between[] = { x->second, x->before_many };

	for (unsigned k = 0; k < WS_COUNT(between); k++)
		if (ws_value_set_between(x->v, blocks[between[k]].first, blocks[between[k]].last, x->r))
			return false;
	for (unsigned k = 0; k < 2; k++) {
		const uint32_t loop = k ? x->many : x->few;
		const struct defs *d = &x->v->defs[x->r->index];

		for (uint32_t n = 0; n < d->n; n++)
			if (d->at[n]->block == loop && d->at[n] != x->one && d->at[n] != x->all)
				return false;
	}
	return !x->begins_more || x->begins_more->block == x->before_many;
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
	return !ws_value_block_reaches(x->v, x->first, x->first) && goes_on_alone(x);
}

/* n is a number: what the comparison is with, and so much more. */
static void add_to_bound(struct unrolled *x, int64_t more)
{
	struct ws_operand *n = ws_arena_alloc(x->v->arena, sizeof *n);

	*n = *x->below.other;
	n->imm = (uint64_t)(int64_t)(int32_t)((uint32_t)n->imm + (uint32_t)more);
	x->below.other = n;
}

static bool ends_below(struct unrolled *x)
{
	bool truth, before;
	const struct ws_ptx_inst *c = ws_value_decides(x->v, x->many, x->many, &truth), *sum = x->all->op == WS_OP_mov ? ws_value_only_def(x->v, &x->all->ops[1]) : NULL;
	const struct ws_reg *compared = c && c->ops[1].kind == WS_O_REG ? c->ops[1].reg : NULL;
	int64_t more;

	if (!c || c->block != x->many || (compared != x->m && (!sum || compared != sum->ops[0].reg)) || !ws_bound_by(c, compared, truth, &x->below) ||
	    !x->below.upper || x->below.slack != -1)
		return false;
	x->compare = c;
	before = compared == x->m && c->index < x->all->index;
	more = (before ? x->u * x->step : 0) - x->more;
	if (more && x->below.other->kind != WS_O_INT)
		return false;
	if (more)
		add_to_bound(x, more);
	return true;
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

/* max(begin, n - step) + step - 1 - begin, of a number n. */
static bool is_most_of_span(const struct unrolled *x, const struct ws_ptx_inst *i, const struct ws_operand **from)
{
	const struct ws_operand *n = x->below.other;
	const struct ws_ptx_inst *plus = sum_with(x->v, &i->ops[1], WS_OP_add), *most = plus ? ws_value_only_def(x->v, &plus->ops[1]) : NULL;

	if (n->kind != WS_O_INT || !most || most->op != WS_OP_max || most->nops != 3 || most->flags || (enum ws_type)most->type[0] != WS_S32 ||
	    x->below.type != WS_S32 || !is_begin(x, &i->ops[2]) || !is_int(&plus->ops[2], x->step - 1) || !is_begin(x, &most->ops[1]) ||
	    !is_int(&most->ops[2], (int64_t)(int32_t)n->imm - x->step) || !ws_value_same_operand(&most->ops[1], &i->ops[2]))
		return false;
	return *from = &i->ops[2], true;
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
	if (i && is_most_of_span(x, i, from))
		return true;
	other = i ? sum_with(x->v, &i->ops[1], WS_OP_add) : NULL;
	if (!other || !is_begin(x, &i->ops[2]) || !ws_value_same_operand(&other->ops[1], n) || !is_int(&other->ops[2], -1))
		return false;
	return *from = &i->ops[2], true;
}

/* The beginning is below n where the span is made. What r begins with may be a register that goes on later, in a loop of its own. */
static bool begins_below(const struct unrolled *x, const struct ws_operand *span, const struct ws_operand *from)
{
	const struct ws_ptx_inst *at = ws_value_only_def(x->v, span);
	bool once;

	if (from->kind != WS_O_REG || ws_fact_holds(x->v, &x->below, x->r, false, at))
		return from->kind == WS_O_REG;
	once = x->v->defs[from->reg->index].n == 1;
	return from->reg != x->r && (once || ws_special_at(x->v, from->reg, x->one)) && ws_fact_holds(x->v, &x->below, from->reg, once, at);
}

/* What `few` counts down to 0 is (span / step + 1) & (u - 1), and it is not entered with 0. *span: of which that is. */
static bool counts_left_over(const struct unrolled *x, const struct ws_operand **span)
{
	const struct values *v = x->v;
	const struct ws_ptx_inst *c, *enters, *masked = NULL, *plus;
	const struct ws_operand *from;
	const struct defs *d;
	bool again, in, down = false;

	c = ws_value_decides(v, x->few, x->few, &again);
	enters = ws_value_decides(v, x->first, x->before_few, &in);
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
	const struct ws_ptx_inst *c = ws_value_decides(x->v, x->second, x->before_many, &truth);
	struct bound b;

	if (!c || c->ops[1].kind != WS_O_REG || c->ops[2].kind != WS_O_INT || !ws_bound_by(c, c->ops[1].reg, truth, &b) || b.upper || b.type != WS_U32)
		return false;
	if (ws_value_same_operand(&c->ops[1], span))
		return (int64_t)(uint32_t)c->ops[2].imm + b.slack >= (x->u - 1) * x->step;
	return is_quotient(x->v, &c->ops[1], span, x->step) && (int64_t)(uint32_t)c->ops[2].imm + b.slack >= x->u - 1;
}

/* ---- who reads it ---- */
struct reading { const struct ws_reg *r; bool found; };

static void note_read(void *user, struct ws_reg *r, bool is_def)
{
	struct reading *n = user;

	n->found |= !is_def && r == n->r;
}

bool ws_value_reads(const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	struct reading n = { r, false };

	ws_ptx_inst_regs(i, note_read, &n);
	return n.found;
}

/* Nobody reads i, or what `many` has for it, once it has gone on, but in the loops, before it goes on, in the blocks before them, to compare it, and where it has
 * been found to be below n. */
static bool is_read_below(const struct unrolled *x, const struct ws_reg *r)
{
	for (uint32_t k = 0; k < x->v->f->ninsts; k++) {
		const struct ws_ptx_inst *i = &x->v->f->insts[k];
		uint32_t block = i->block;

		if (!ws_value_reads(i, r) || !ws_value_has_gone_on(x->v, r, i) || i->op == WS_OP_setp || i == x->one || i == x->all || block == x->before_few || block == x->before_many || block == x->first ||
		    (block == x->few && k < x->one->index) || (block == x->many && k < x->all->index) ||
		    (r == x->r && ws_fact_holds(x->v, &x->below, r, false, i)))
			continue;
		return false;
	}
	return true;
}

int64_t ws_value_left_first(struct values *v, const struct ws_reg *r, struct within *out)
{
	struct unrolled x = { .v = v };
	const struct ws_operand *span;

	if (ws_type_bytes(r->type) != 4 || !find_steps(&x, r) || !find_blocks(&x) || !ends_below(&x) || !counts_left_over(&x, &span) || !has_all(&x, span) ||
	    !is_read_below(&x, x.r) || (x.m != x.r && !is_read_below(&x, x.m)))
		return 0;
	out->first = x.first;
	out->before = x.before_few;
	out->loop = x.many;
	out->below = x.below;
	out->compare = r == x.r ? x.compare : NULL;
	return x.u;
}
