/* ranges_loop.c - registers that go on by a step in each round of a loop, as pointers do that compilers make of indices.
 *
 * The loop has one last block, which goes back to its first one, and no other way out or in: often that is the same block. In the last
 * one a counter goes on by a constant and is compared with a number that is
 * equally far from its beginning in all threads: until it is reached (!=), or passed (<, <=). So it is known at the
 * kernel's entry how many rounds there are, and what other registers can come to in them that go on in the last block, too. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

struct rounds {
	const struct ws_ptx_block *b;    /* the last block */
	uint32_t first, last;            /* numbers of the first one and of it */
	bool falls;                      /* it goes back where its branch is not taken */
	bool *in;                        /* by block: of the loop */
	const struct ws_reg *counter;
	const struct ws_ptx_inst *add, *compare;
	const struct ws_ptx_inst *sum;           /* what is compared is the counter and `more` made by it; NULL: the counter itself */
	const struct ws_operand *more;
	int64_t step;
	bool equal;                      /* ends when the counter is equal */
	struct bound bound;              /* not equal: goes on while it holds */
};

static bool in_block(const struct ws_ptx_block *b, const struct ws_ptx_inst *i)
{
	return i->index >= b->first && i->index <= b->last;
}

static bool in_loop(const struct rounds *n, const struct ws_ptx_inst *i)
{
	return n->in[i->block];
}

/* Notes the blocks from which control comes to a block of the loop, but over its first one. false: it may begin elsewhere, too. */
static bool add_before(const struct values *v, struct rounds *n, uint32_t block)
{
	const struct ws_ptx_block *b = &v->f->blocks[block];

	n->in[block] = true;
	if (block == n->first)
		return true;
	for (uint32_t k = 0; k < b->npred; k++)
		if (!n->in[b->pred[k]] && !add_before(v, n, b->pred[k]))
			return false;
	return b->npred > 0 && block;
}

/* Nothing goes out of the loop, or back to its first block, but the last one. */
static bool is_closed(const struct values *v, const struct rounds *n)
{
	for (uint32_t k = 0; k < v->f->nblocks; k++)
		for (uint32_t m = 0; m < v->f->blocks[k].nsucc && n->in[k] && k != n->last; m++)
			if (!n->in[v->f->blocks[k].succ[m]] || v->f->blocks[k].succ[m] == n->first)
				return false;
	return true;
}

/* Where control goes from the begin of a block, that may do nothing but go on. */
static uint32_t through(const struct values *v, uint32_t block)
{
	enum { FAR = 4 };

	for (unsigned far = 0; far < FAR; far++) {
		const struct ws_ptx_block *b = &v->f->blocks[block];
		const struct ws_ptx_inst *i = &v->f->insts[b->first];

		if (b->first != b->last || i->op != WS_OP_bra || i->guard || b->nsucc != 1)
			break;
		block = b->succ[0];
	}
	return block;
}

/* The loop that ends with the block: n->in is the caller's, all false. */
static bool find_loop(const struct values *v, uint32_t last, struct rounds *n)
{
	enum { MOST = 2000 };

	n->b = &v->f->blocks[last];
	n->last = last;
	if (n->b->nsucc != 2 || n->b->succ[0] == n->b->succ[1] || v->f->nblocks > MOST)
		return false;
	for (unsigned falls = 0; falls < 2; falls++) {
		bool next = v->f->blocks[n->b->succ[0]].first == n->b->last + 1;

		n->falls = falls;
		n->first = through(v, n->b->succ[next != falls]);
		if (add_before(v, n, last) && n->in[n->first])
			return is_closed(v, n);
		memset(n->in, 0, v->f->nblocks);
	}
	return false;
}

enum { MOST_ADDED = 16 };
struct chain {                           /* what is added to a register in a round: `by`, read by the instruction `at` */
	const struct ws_ptx_inst *at[MOST_ADDED];
	const struct ws_operand *by[MOST_ADDED];
	unsigned n;
};

/* The only instruction that gives a register a value, if it stands before i in its block and makes as many bytes of it. */
static const struct ws_ptx_inst *made_before(const struct values *v, const struct ws_ptx_inst *i, const struct ws_operand *o, unsigned bytes)
{
	const struct defs *d = o->kind == WS_O_REG && !o->component && !o->negated ? &v->defs[o->reg->index] : NULL;

	return d && d->n == 1 && d->at[0]->block == i->block && d->at[0]->index < i->index && !d->at[0]->guard &&
	       ws_type_bytes((enum ws_type)d->at[0]->type[0]) == bytes ? d->at[0] : NULL;
}

static bool is_sum(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_add && i->nops == 3 && !(i->flags & (WS_F_SAT | WS_F_CC));
}

/* Does the instruction make the next value of r of the last one: by an addition, by several of which each takes what the one before has
 * made (a loop that is unrolled), or as a copy of that (next = r + step; r = next)? */
static bool find_chain(const struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r, struct chain *c)
{
	unsigned bytes = ws_type_bytes(r->type), sources = i->op == WS_OP_mov && i->nops == 2 ? 1 : 2;
	const struct ws_operand *by = ws_value_added(i, r);

	if (c->n == MOST_ADDED)
		return false;
	if (by) {
		c->at[c->n] = i;
		c->by[c->n++] = by;
		return true;
	}
	if ((sources == 2 && !is_sum(i)) || ws_type_bytes((enum ws_type)i->type[0]) != bytes)
		return false;
	for (unsigned k = 1, n = c->n; k <= sources; k++, c->n = n) {
		const struct ws_ptx_inst *one = made_before(v, i, &i->ops[k], bytes);

		if (sources == 2) {
			c->at[c->n] = i;
			c->by[c->n++] = &i->ops[3 - k];
		}
		if (one && find_chain(v, one, r, c))
			return true;
	}
	return false;
}

static bool goes_by(const struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	struct chain c = { .n = 0 };

	return find_chain(v, i, r, &c);
}

/* How much that is in all; false: not known, or not one number of the launch. */
static bool find_step(struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r, struct sum *step)
{
	struct chain c = { .n = 0 };
	struct sum one;

	if (!find_chain(v, i, r, &c))
		return false;
	step->n = 0;
	for (unsigned k = 0; k < c.n; k++)
		if (!ws_value_operand(v, c.by[k], ws_type_bytes(r->type), c.at[k], &one) || !ws_sum_add(step, &one, 1))
			return false;
	return ws_sum_fixed(v, step);
}

/* The same, where it is a number; 0: it is none. */
static int64_t constant_step(const struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	enum { FAR = 1 << 20 };
	struct chain c = { .n = 0 };
	int64_t step = 0;

	if (!find_chain(v, i, r, &c))
		return 0;
	for (unsigned k = 0; k < c.n; k++) {
		int64_t by = ws_type_bytes(r->type) == 4 ? (int32_t)c.by[k]->imm : (int64_t)c.by[k]->imm;

		if (c.by[k]->kind != WS_O_INT || by > FAR || by < -FAR)
			return 0;
		step += by;
	}
	return step;
}

/* The only definition of r in the loop adds to it, in the last block; all others are outside, and say the same. */
static const struct ws_ptx_inst *steps(struct values *v, const struct rounds *n, const struct ws_reg *r, struct sum *begin)
{
	const struct defs *d = &v->defs[r->index];
	const struct ws_ptx_inst *add = NULL;
	struct sum s;
	bool first = true;

	for (uint32_t k = 0; k < d->n && k < MOST_DEFS; k++) {
		const struct ws_ptx_inst *i = d->at[k];

		if (in_loop(n, i)) {
			if (add || i->guard || !in_block(n->b, i) || !goes_by(v, i, r))
				return NULL;
			add = i;
			continue;
		}
		if (i->guard || !ws_value_result(v, i, &s) || (!first && !ws_sum_equal(&s, begin)))
			return NULL;
		*begin = s;
		first = false;
	}
	return d->n <= MOST_DEFS && !first ? add : NULL;
}

/* The block in which r goes on by a step; UINT32_MAX: it does not, or in several. */
static uint32_t goes_on_in(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst **add)
{
	const struct defs *d = &v->defs[r->index];

	*add = NULL;
	for (uint32_t k = 0; k < d->n && k < MOST_DEFS; k++)
		if (goes_by(v, d->at[k], r))
			*add = d->at[k];
	return *add ? (*add)->block : UINT32_MAX;
}

/* counter + more is compared in place of the counter? */
static void look_through_sum(const struct values *v, struct rounds *n)
{
	const struct ws_ptx_inst *add = made_before(v, n->compare, &n->compare->ops[1], ws_type_bytes(n->counter->type)), *step;

	if (!add || !is_sum(add))
		return;
	for (unsigned k = 1; k < 3; k++)
		if (add->ops[k].kind == WS_O_REG && goes_on_in(v, add->ops[k].reg, &step) == n->last && step->index < add->index) {
			n->sum = add;
			n->counter = add->ops[k].reg;
			n->more = &add->ops[3 - k];
			return;
		}
}

/* The comparison of a register that decides which way control goes at the end of a block; NULL: there is none. */
static const struct ws_ptx_inst *compare_at_end(const struct values *v, const struct ws_ptx_block *b)
{
	const struct ws_ptx_inst *last = &v->f->insts[b->last], *c;
	const struct defs *d = last->guard ? &v->defs[last->guard->index] : NULL;

	if (last->op != WS_OP_bra || !d || d->n != 1 || b->nsucc != 2 || b->succ[0] == b->succ[1] || !in_block(b, d->at[0]))
		return NULL;
	c = d->at[0];
	return c->op == WS_OP_setp && c->nops == 3 && !c->boolop && !c->guard && c->ops[1].kind == WS_O_REG ? c : NULL;
}

/* What it has given, if the branch was taken or not. */
static bool given_at_end(const struct values *v, const struct ws_ptx_block *b, bool taken)
{
	return taken != v->f->insts[b->last].guard_neg;
}

/* What decides whether there is another round. */
static bool find_compare(const struct values *v, struct rounds *n)
{
	const struct ws_ptx_inst *c = n->compare = compare_at_end(v, n->b);
	bool truth = given_at_end(v, n->b, !n->falls);

	if (!c)
		return false;
	n->counter = c->ops[1].reg;
	n->equal = c->cmp == (truth ? WS_NE : WS_EQ);
	if (n->equal)
		look_through_sum(v, n);
	return n->equal || (ws_bound_by(c, n->counter, truth, &n->bound) && n->bound.upper);
}

/* Can control come from one block's end to the start of another one, through blocks that do not write r? */
static bool comes_to(const struct values *v, uint32_t from, uint32_t to, const struct ws_reg *r, bool *seen)
{
	const struct ws_ptx_block *b = &v->f->blocks[from];

	for (uint32_t k = 0; k < b->nsucc; k++) {
		uint32_t next = b->succ[k];

		if (next == to)
			return true;
		if (seen[next])
			continue;
		seen[next] = true;
		if (!ws_value_set_between(v, v->f->blocks[next].first, v->f->blocks[next].last, r) && comes_to(v, next, to, r, seen))
			return true;
	}
	return false;
}

/* From behind the loop to a block, without beginning anew with r. */
static bool goes_on(const struct values *v, const struct rounds *n, uint32_t to, const struct ws_reg *r)
{
	bool *seen = ws_alloc(v->f->nblocks + 1), found = false;

	for (uint32_t k = 0; k < n->b->nsucc; k++) {
		uint32_t next = n->b->succ[k];

		if (through(v, next) == n->first)
			continue;
		found |= next == to || (!ws_value_set_between(v, v->f->blocks[next].first, v->f->blocks[next].last, r) &&
		                        comes_to(v, next, to, r, seen));
	}
	free(seen);
	return found;
}

/* Does a block do nothing but bring control from the end of the loop to its first one? */
static bool comes_from_last(const struct values *v, const struct rounds *n, uint32_t block)
{
	return through(v, block) == n->first && block != n->first && v->f->blocks[block].npred == 1 && v->f->blocks[block].pred[0] == n->last;
}

/* The only block from which control comes to this one, but from the end of the loop to its first; UINT32_MAX: there are several. */
static uint32_t before(const struct values *v, const struct rounds *n, uint32_t block)
{
	const struct ws_ptx_block *b = &v->f->blocks[block];
	uint32_t found = UINT32_MAX;

	for (uint32_t k = 0; k < b->npred; k++) {
		if (block == n->first && (b->pred[k] == n->last || comes_from_last(v, n, b->pred[k])))
			continue;
		if (found != UINT32_MAX)
			return UINT32_MAX;
		found = b->pred[k];
	}
	return found;
}

/* Does control go this way only if the counter is not equal to the end? */
static bool finds_unequal(const struct values *v, const struct rounds *n, const struct ws_ptx_block *from, bool taken)
{
	const struct ws_ptx_inst *c = compare_at_end(v, from);
	const struct ws_operand *end = &n->compare->ops[2];

	return c && !n->sum && c->ops[1].reg == n->counter && c->ops[2].kind == WS_O_INT && end->kind == WS_O_INT && c->ops[2].imm == end->imm &&
	       c->type[0] == n->compare->type[0] && c->cmp == (given_at_end(v, from, taken) ? WS_NE : WS_EQ) &&
	       !ws_value_set_between(v, c->index, from->last, n->counter);
}

/* Does it only if n >= u, as the comparison has it of n - 1? Of a loop of n - (n & (u - 1)), which is 0 else. */
static bool finds_enough(struct values *v, const struct ws_ptx_block *from, bool taken, const struct sum *span)
{
	const struct ws_ptx_inst *c = compare_at_end(v, from);
	bool truth = given_at_end(v, from, taken);
	size_t nduties = v->nduties;
	const struct leaf *left;
	struct sum n;

	if (!c || c->type[0] != WS_U32 || c->ops[2].kind != WS_O_INT || (c->cmp != (truth ? WS_GE : WS_LT) && c->cmp != (truth ? WS_GT : WS_LE)))
		return false;
	if (ws_value_operand(v, &c->ops[1], 4, c, &n) && ws_sum_add(&n, &(struct sum){ 1, { { .factor = 1 } } }, 1)) {
		left = ws_value_left_over(v, span, (int64_t)(uint32_t)c->ops[2].imm + 1 + (c->cmp == WS_GT || c->cmp == WS_LE));
		if (left && ws_sum_equal(left->of[0], &n)) {
			ws_value_duty(v, &n, 1, INT32_MAX);
			return true;
		}
	}
	v->nduties = nduties;
	return false;
}

/* Is the loop entered only if it has a round? span: of the counter, or NULL. */
static bool entered_with_rounds(struct values *v, const struct rounds *n, const struct sum *span)
{
	enum { FAR = 4 };
	uint32_t to = n->first, from;
	bool set = false;                    /* the counter is, behind what is looked at */

	for (unsigned far = 0; far < FAR; far++, to = from) {
		const struct ws_ptx_block *b;
		bool taken;

		from = before(v, n, to);
		if (from == UINT32_MAX || n->in[from])
			return false;
		b = &v->f->blocks[from];
		taken = v->f->blocks[to].first != b->last + 1;
		if ((!set && finds_unequal(v, n, b, taken)) || (span && finds_enough(v, b, taken, span)))
			return true;
		set |= ws_value_set_between(v, b->first, b->last, n->counter);
	}
	return false;
}

/* How far it is from the counter's beginning to its end, as a number of steps of n->step; false: not known. */
static bool find_span(struct values *v, struct rounds *n, struct sum *span)
{
	const struct ws_operand *end = n->equal ? &n->compare->ops[2] : n->bound.other;
	unsigned bytes = ws_type_bytes(n->counter->type);
	const struct sum one = { 1, { { .factor = 1 } } };
	struct sum begin, to, more = { .n = 0 };

	n->add = steps(v, n, n->counter, &begin);
	if (!n->add || n->add->index > n->compare->index || ws_sum_in_time(v, &begin) ||
	    ws_type_bytes((enum ws_type)n->compare->type[0]) != bytes ||
	    !ws_value_operand(v, end, bytes, n->compare, &to) ||
	    (n->sum && !ws_value_operand(v, n->more, bytes, n->sum, &more)) || !ws_sum_add(&to, &more, -1) || ws_sum_in_time(v, &to))
		return false;
	n->step = constant_step(v, n->add, n->counter);
	if (!n->step || n->step > INT16_MAX || n->step < (n->equal ? INT16_MIN : 1))
		return false;
	span->n = 0;
	if (!ws_sum_add(span, &to, n->step > 0 ? 1 : -1) || !ws_sum_add(span, &begin, n->step > 0 ? -1 : 1))
		return false;
	if (!ws_sum_fixed(v, span))
		return false;
	if (n->equal) {
		ws_value_duty(v, span, entered_with_rounds(v, n, span) ? 0 : 1, INT32_MAX);
		return ws_value_duty_divides(v, span, n->step > 0 ? n->step : -n->step);
	}
	ws_value_must_fit(v, &begin, n->bound.type);
	ws_value_must_fit(v, &to, n->bound.type);
	if (!ws_sum_add(&to, &one, n->step) || !ws_sum_add(span, &one, n->bound.slack + 1))
		return false;
	ws_value_must_fit(v, &to, n->bound.type);
	return true;
}

/* n->in is the caller's. */
static bool in_rounds(struct values *v, struct rounds *n, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	struct leaf l = { .kind = LEAF_COUNTED, .reg = r, .in_time = true };
	const struct ws_ptx_inst *add;
	struct sum step, span, rounds;
	uint32_t last = goes_on_in(v, r, &add);

	if (last == UINT32_MAX || !find_loop(v, last, n) || steps(v, n, r, out) != add)
		return false;
	if (!in_loop(n, at) && !goes_on(v, n, at->block, r))
		return ws_value_with_bounds(v, r, at, out);
	if (!find_compare(v, n) || goes_on(v, n, n->first, r) || goes_on(v, n, n->first, n->counter) || !find_span(v, n, &span) ||
	    !find_step(v, add, r, &step))
		return false;
	l.offset = !in_loop(n, at);
	l.k = l.offset || (in_block(n->b, at) && at->index > add->index);
	l.of[l.nof++] = ws_value_keep(v, &span);
	l.by = n->step > 0 ? n->step : -n->step;
	l.exact = n->equal;
	l.step = ws_value_keep(v, &step);
	return ws_value_leaf(v, &l, &rounds) && ws_sum_add(out, &rounds, 1);
}

/* The most that the instruction gives, by itself; 0: not known, or too much. */
static int64_t most_of(const struct ws_ptx_inst *i)
{
	enum { MOST = 1 << 10 };
	unsigned n = i->op == WS_OP_and && i->nops == 3 ? 2 : i->op == WS_OP_mov && i->nops == 2 ? 1 : 0;

	return n && !i->guard && i->ops[n].kind == WS_O_INT && i->ops[n].imm <= MOST ? (int64_t)i->ops[n].imm : 0;
}

int64_t ws_value_most_rounds(struct values *v, uint32_t block)
{
	struct rounds n = { .in = ws_alloc(v->f->nblocks + 1) };
	const struct defs *d;
	int64_t most = 0, one;
	bool known = find_loop(v, block, &n) && n.first == block && find_compare(v, &n) && n.equal && !n.sum && n.compare->ops[2].kind == WS_O_INT &&
	             !n.compare->ops[2].imm && entered_with_rounds(v, &n, NULL);

	d = known ? &v->defs[n.counter->index] : NULL;
	known &= d && d->n <= MOST_DEFS;
	for (uint32_t k = 0; known && k < d->n; k++) {
		bool down = in_loop(&n, d->at[k]) && !n.add && constant_step(v, d->at[k], n.counter) == -1;

		if (in_loop(&n, d->at[k])) {
			n.add = d->at[k];
			known = down && !n.add->guard && n.add->index < n.compare->index;
			continue;
		}
		one = most_of(d->at[k]);
		known = one > 0;
		most = one > most ? one : most;
	}
	free(n.in);
	return known && n.add ? most : 0;
}

bool ws_value_in_loop(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	struct rounds n = { .in = ws_alloc(v->f->nblocks + 1) };
	bool known = in_rounds(v, &n, r, at, out);

	free(n.in);
	return known;
}
