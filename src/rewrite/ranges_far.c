/* ranges_far.c - how far addresses come by registers that go on by steps, of which ranges_endless.c knows no end.
 *
 * Memory that a kernel gets in one piece and shares out itself is one variable: there, what `for (i = thread; i < n; i += 256) row[i] = 0` writes is apart from
 * the next array only if it is known where it ends. A register is what it begins with, or what one of its additions has made, which is bounded
 *
 *      by the comparison that ends its block, if nobody reads the register where that leads out of the loop:
 *              head: ... row[i] ...; i += 1024; if (i < n) goto head;           n - 1
 *      by that of another register, which begins where it does, and goes on where it does:
 *              p = row + 4 * i; k = i; head: ... *p ...; p += 4096; k += 1024; if (k < n) goto head;
 *      by what counts rounds down to 0, from some last bits of a number:
 *              c = x & 3; if (c == 0) goto end; head: ... row[i] ...; i += 256; if (--c != 0) goto head;        256 * c more
 *
 * Of the first two there are whole steps: 1024 times (n - 1 - i) / 1024, rounded down, with the least i. Where all threads have as many rounds, which is a multiple of
 * four, c is 0, and what is done four rounds at a time, row[i] to row[i + 768], ends with the row. What is left over first, without a loop, is counted as well:
 *
 *              k = i; if (c == 0) goto on; ...; k = i + 256; if (c == 1) goto on; ...; k = i + 512; on:           i + 256 * c at most
 *
 * All these are the most of any thread, so accesses come to the greatest of them, with the bounds of a launch. */
#include "rewrite/needless.h"
#include "rewrite/ranges_shared_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 63, MOST_DEEP = 12 };

struct adding { struct values *v; const struct ws_reg *r; const struct ws_ptx_inst *add; int64_t by; };     /* r += by */

/* ---- registers ---- */
static bool is_add(const struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	return ws_value_added_or_copied(v, i, r) != NULL;
}

/* What a way through a block meets first: an instruction of one kind (then the way ends), or of the other. */
struct walk {
	const struct values *v;
	const struct ws_reg *r;
	const struct ws_ptx_inst *to;    /* to come here, or (NULL) to where r is read */
};

enum met { GOES_ON, ENDS, FOUND };

static enum met meets_in(const struct walk *w, uint32_t first, uint32_t last)
{
	for (uint32_t k = first; k <= last; k++) {
		const struct ws_ptx_inst *i = &w->v->f->insts[k];

		if (w->to ? i == w->to : ws_value_reads(i, w->r))
			return FOUND;
		if (ws_ptx_sets(i, w->r) && !is_add(w->v, i, w->r))
			return ENDS;
	}
	return GOES_ON;
}

/* Does a way lead from the begin of a block to what is looked for, on which r does not begin anew? */
static bool finds(const struct walk *w, uint32_t block)
{
	const struct ws_ptx_func *f = w->v->f;
	uint32_t *list = ws_alloc((f->nblocks + 1) * sizeof *list), n = 1;
	bool *seen = ws_alloc(f->nblocks + 1), found = false;

	list[0] = block;
	seen[block] = true;
	while (n && !found) {
		const struct ws_ptx_block *b = &f->blocks[list[--n]];
		enum met m = meets_in(w, b->first, b->last);

		found = m == FOUND;
		for (uint32_t k = 0; k < b->nsucc && m == GOES_ON; k++)
			if (!seen[b->succ[k]]) {
				seen[b->succ[k]] = true;
				list[n++] = b->succ[k];
			}
	}
	free(seen);
	free(list);
	return found;
}

/* The only instruction of a block that sets r, if it is `add`. */
static bool is_only_in_block(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *add)
{
	const struct ws_ptx_block *b = &v->f->blocks[add->block];

	return !ws_value_set_between(v, b->first, add->index - 1, r) && !ws_value_set_between(v, add->index + 1, b->last, r);
}

/* The only addition of q in the block of another one, by a number. */
static bool goes_on_in(struct values *v, const struct ws_reg *q, uint32_t block, struct adding *out)
{
	const struct defs *d = &v->defs[q->index];
	unsigned n = 0;

	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++) {
		const struct ws_operand *by = d->at[k]->block == block ? ws_value_added_or_copied(v, d->at[k], q) : NULL;

		if (d->at[k]->guard)
			return false;
		if (by && by->kind == WS_O_INT) {
			*out = (struct adding){ v, q, d->at[k], (int32_t)by->imm };
			n++;
		}
	}
	return n == 1 && is_only_in_block(v, q, out->add);
}

/* ---- the comparison at the end of a block ---- */
struct guard {
	const struct ws_ptx_inst *compare;
	const struct ws_reg *r;          /* compared */
	struct bound bound;              /* of it, where control goes on */
	uint32_t out;                    /* the other block */
};

static bool find_guard(const struct values *v, uint32_t block, struct guard *g)
{
	const struct ws_ptx_block *b = &v->f->blocks[block];

	for (uint32_t k = 0; k < b->nsucc && b->nsucc == 2; k++) {
		bool truth;
		const struct ws_ptx_inst *c = ws_value_decides(v, block, b->succ[k], &truth);

		if (!c || c->block != block || c->ops[1].kind != WS_O_REG || c->ops[1].component || c->ops[1].negated)
			continue;
		*g = (struct guard){ c, c->ops[1].reg, .out = b->succ[1 - k] };
		if (ws_bound_by(c, g->r, truth, &g->bound) && g->bound.upper && g->bound.type == WS_S32)
			return true;
	}
	return false;
}

/* Does the comparison see what the addition has made (*more 0), or what was before (by)? false: something else. */
static bool sees(const struct guard *g, const struct adding *a, int64_t *more)
{
	const struct ws_ptx_inst *sum = a->add->op == WS_OP_mov ? ws_value_only_def(a->v, &a->add->ops[1]) : NULL;

	*more = g->compare->index < a->add->index ? a->by : 0;
	if (g->r == a->r)
		return true;
	*more = 0;
	return sum && sum->block == a->add->block && sum->index < g->compare->index && g->r == sum->ops[0].reg;
}

/* What the register comes to by an addition of its block where control goes on. */
static bool bounded_by(const struct guard *g, const struct adding *a, struct sum *out)
{
	int64_t more;
	struct sum top;

	if (!sees(g, a, &more) || !ws_value_operand(a->v, g->bound.other, 4, g->compare, out) || !ws_sum_fixed(a->v, out) ||
	    !ws_sum_add(out, &(struct sum){ g->bound.slack + more != 0, { { .factor = g->bound.slack + more } } }, 1))
		return false;
	top = *out;
	if (!ws_sum_add(&top, &(struct sum){ 1, { { .factor = a->by } } }, 1))
		return false;
	ws_value_must_fit(a->v, &top, WS_S32);
	return true;
}

/* ---- what begins together ---- */
/* Is what an instruction of the block reads, up to `last`, the same wherever it is read there: no register that is set there later? */
static bool is_steady(struct values *v, const struct ws_ptx_inst *i, uint32_t last, unsigned deep)
{
	const struct ws_ptx_block *b = &v->f->blocks[i->block];

	for (unsigned k = 1; k < i->nops; k++) {
		const struct ws_operand *o = &i->ops[k];
		const struct ws_ptx_inst *def = ws_value_only_def(v, o);
		struct sum s;

		if (o->kind != WS_O_REG)
			continue;
		if (!def ? ws_value_set_between(v, b->first, last, o->reg) : def->block == i->block ? deep == MOST_DEEP || !is_steady(v, def, last, deep + 1) :
		                                                             !ws_value_operand(v, o, ws_type_bytes(o->reg->type), i, &s) || ws_sum_in_time(v, &s))
			return false;
	}
	return true;
}

static const struct ws_ptx_inst *only_begin(const struct values *v, const struct ws_reg *r)
{
	const struct defs *d = &v->defs[r->index];
	const struct ws_ptx_inst *begin = NULL;

	for (uint32_t k = 0; k < d->n; k++)
		if (!is_add(v, d->at[k], r)) {
			if (begin)
				return NULL;
			begin = d->at[k];
		}
	return begin;
}

static bool has_one_add(const struct values *v, const struct ws_reg *r)
{
	return v->defs[r->index].n == 2 && only_begin(v, r);
}

/* r is begin + n * by when q is *from + n of its steps: both begin in one block, and go on in one. */
static bool begin_together(const struct adding *r, const struct adding *q, struct sum *from)
{
	const struct ws_ptx_inst *a = only_begin(r->v, r->r), *b = only_begin(r->v, q->r);
	uint32_t last;

	if (!has_one_add(r->v, r->r) || !has_one_add(r->v, q->r) || a->block != b->block || a->block == r->add->block)
		return false;
	last = a->index > b->index ? a->index : b->index;
	return is_steady(r->v, a, last, 0) && is_steady(r->v, b, last, 0) && ws_value_result(r->v, b, from);
}

/* ---- one addition ---- */
/* How much more than what it begins with r comes to: `more`; and that is by * (span / unit), rounded down; unit 0: it is not. */
struct gain { struct sum more, span; int64_t by, unit; };

/* By its own comparison, */
static bool by_guard(const struct adding *a, const struct guard *g, const struct sum *begin, struct gain *out)
{
	if (!bounded_by(g, a, &out->more) || !ws_sum_add(&out->more, begin, -1))
		return false;
	out->span = out->more;
	out->by = out->unit = ws_endless_step(a->v, a->r);       /* of all additions: others may have been made before */
	return out->unit > 0;
}

/* Both are made of what is there where they begin: what of that may be another number elsewhere must go, or something of it that the address has would go with it. */
static bool is_less_begin(const struct adding *a, const struct gain *g, const struct sum *begin)
{
	struct sum rest = *begin;

	return ws_sum_add(&rest, &g->more, 1) && !ws_sum_in_time(a->v, &rest);
}

/* or by that of another register. */
static bool by_companion(const struct adding *a, const struct guard *g, const struct sum *begin, struct gain *out)
{
	const struct values *v = a->v;
	struct adding q;
	struct sum from;

	for (uint32_t k = v->f->blocks[a->add->block].first; k <= v->f->blocks[a->add->block].last; k++) {
		const struct ws_ptx_inst *i = &v->f->insts[k];
		const struct ws_reg *r = i->nops && i->ops[0].kind == WS_O_REG ? i->ops[0].reg : NULL;
		int64_t same;

		if (!r || r == a->r || !is_add(v, i, r) || !goes_on_in(a->v, r, a->add->block, &q) || q.by <= 0 || a->by % q.by || !sees(g, &q, &same))
			continue;
		*out = (struct gain){ .by = a->by, .unit = q.by };
		return begin_together(a, &q, &from) && bounded_by(g, &q, &out->span) && ws_sum_add(&out->span, &from, -1) &&
		       ws_sum_add(&out->more, &out->span, a->by / q.by) && is_less_begin(a, out, begin);
	}
	return false;
}

/* Does c never count down below 0: is it known before each step not to be 0? */
static bool counts_to_zero(const struct adding *c, const struct ws_ptx_inst *compare, bool truth)
{
	struct bound b;

	if (c->by != -1 || compare->index < c->add->index || !ws_equal_by(compare, c->r, !truth, &b) || b.other->kind != WS_O_INT || b.other->imm)
		return false;
	b.differs = true;
	return ws_fact_holds(c->v, &b, c->r, false, c->add);
}

/* Does r begin anew before the addition, whenever the instruction, with which c begins, is executed? */
static bool begins_behind(const struct adding *a, const struct ws_ptx_inst *i)
{
	const struct walk w = { a->v, a->r, a->add };
	const struct ws_ptx_block *b = &a->v->f->blocks[i->block];
	enum met m = meets_in(&w, i->index + 1, b->last);

	for (uint32_t n = 0; n < b->nsucc && m == GOES_ON; n++)
		m = finds(&w, b->succ[n]) ? FOUND : m;
	return m != FOUND;
}

/* What c begins with: some last bits, by one instruction. It is executed once, or r begins whenever it is. NULL: it is not so. */
static const struct ws_ptx_inst *counts_from(const struct adding *c, const struct adding *a)
{
	const struct ws_ptx_inst *i = has_one_add(c->v, c->r) ? only_begin(c->v, c->r) : NULL;
	bool is = i && ws_bits_last(i, MOST_ROUNDS);

	return is && (ws_is_made_once(c->v, i) || begins_behind(a, i)) ? i : NULL;
}

/* r goes on in a loop of so many rounds at most, into which it comes as it begins. */
static bool by_rounds(const struct adding *a, struct gain *out)
{
	const struct values *v = a->v;
	const struct ws_ptx_block *b = &v->f->blocks[a->add->block];

	for (uint32_t k = 0; k < b->nsucc && b->nsucc == 2; k++) {
		bool truth;
		const struct ws_ptx_inst *c = ws_value_decides(v, a->add->block, b->succ[k], &truth);
		const struct ws_ptx_inst *from;
		struct adding down;
		struct sum rounds;

		if (!c || c->block != a->add->block || c->ops[1].kind != WS_O_REG || !goes_on_in(a->v, c->ops[1].reg, a->add->block, &down) ||
		    !counts_to_zero(&down, c, truth))
			continue;
		from = counts_from(&down, a);
		*out = (struct gain){ .unit = 0 };
		return from && ws_value_result(a->v, from, &rounds) && ws_sum_add(&out->more, &rounds, a->by);
	}
	return false;
}

/* Is each other addition to r followed by a new beginning before this one? */
static bool is_first(const struct adding *a)
{
	const struct defs *d = &a->v->defs[a->r->index];
	const struct walk w = { a->v, a->r, a->add };

	for (uint32_t k = 0; k < d->n; k++) {
		const struct ws_ptx_block *b = &a->v->f->blocks[d->at[k]->block];

		if (d->at[k] == a->add || !is_add(a->v, d->at[k], a->r))
			continue;
		if (d->at[k]->block == a->add->block)
			return false;
		for (uint32_t n = 0; n < b->nsucc; n++)
			if (finds(&w, b->succ[n]))
				return false;
	}
	return true;
}

/* Is r read in its block once it has gone on, but to compare it? Then it is not bounded yet. */
static bool is_read_at_once(const struct adding *a, const struct guard *g)
{
	const struct ws_ptx_block *b = &a->v->f->blocks[a->add->block];
	bool read = false;

	for (uint32_t k = a->add->index + 1; k <= b->last; k++)
		read |= &a->v->f->insts[k] != g->compare && ws_value_reads(&a->v->f->insts[k], a->r);
	return read;
}

static bool find_more(const struct adding *a, const struct sum *begin, struct gain *out)
{
	struct guard g;
	const struct walk w = { a->v, a->r, NULL };
	size_t nduties = a->v->nduties;

	if (a->by <= 0 || !is_only_in_block(a->v, a->r, a->add))
		return false;
	if (find_guard(a->v, a->add->block, &g) && !is_read_at_once(a, &g) && !finds(&w, g.out)) {
		if (by_guard(a, &g, begin, out) || by_companion(a, &g, begin, out))
			return true;
		a->v->nduties = nduties;
	}
	return is_first(a) && by_rounds(a, out);
}

/* ---- what is left over without a loop ---- */
/* How many of the least numbers, 0 and up, what m makes is known not to be where the other instruction is. */
static int64_t never_below(struct values *v, const struct ws_ptx_inst *m, const struct ws_ptx_inst *at)
{
	const struct defs *d = &v->defs[m->ops[0].reg->index];
	int64_t n = 0;

	for (uint32_t k = 0; k < d->n; k++)
		if (d->at[k] != m && ws_comes_before(v, d->at[k], at))
			return 0;
	while (n <= MOST_ROUNDS && ws_value_is_never(v, m, n, at))
		n++;
	return n;
}

/* Does the register begin with *base, and with so many steps more only where m is as many at least? */
static bool is_base_and_steps(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *m, struct sum *base, int64_t *step)
{
	const struct defs *d = &v->defs[r->index];
	int64_t more[MOST_DEFS], least = INT64_MAX;

	*step = 0;
	for (uint32_t k = 0; k < d->n; k++) {
		struct sum s;

		if (d->at[k]->guard || !ws_value_result(v, d->at[k], &s) || (k && !ws_sum_add(&s, base, -1)) || (k && !ws_sum_is_number(&s, &more[k])))
			return false;
		more[k] = k ? more[k] : 0;
		*base = k ? *base : s;
		least = more[k] < least ? more[k] : least;
	}
	for (uint32_t k = 0; k < d->n; k++) {
		int64_t n = never_below(v, m, d->at[k]), by = more[k] - least;

		if (by && !n)
			return false;
		*step = by && (by + n - 1) / n > *step ? (by + n - 1) / n : *step;
	}
	return *step > 0 && !ws_sum_in_time(v, base) && ws_sum_add(base, &(struct sum){ least != 0, { { .factor = least } } }, 1);
}

/* In place of a leaf that is such a register: the most that it is. */
static void take_left_over(struct values *v, struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++) {
		const struct leaf *l = s->t[k].n == 1 && s->t[k].factor > 0 ? &v->leaves[s->t[k].leaf[0]] : NULL;
		const struct ws_reg *r = l && l->kind == LEAF_ONE_OF && l->nof > 1 ? l->reg : NULL;
		const struct sum itself = ws_sum_of_leaf(s->t[k].leaf[0]);

		for (uint32_t n = 0; r && n < v->f->ninsts && v->defs[r->index].n <= MOST_DEFS; n++) {
			const struct ws_ptx_inst *m = &v->f->insts[n];
			int64_t factor = s->t[k].factor, step;
			struct sum base, rounds, to = *s;

			if (!ws_bits_last(m, MOST_ROUNDS) || !is_base_and_steps(v, r, m, &base, &step) || !ws_value_result(v, m, &rounds) || !ws_sum_add(&to, &itself, -factor) ||
			    !ws_sum_add(&to, &base, factor) || !ws_sum_add(&to, &rounds, factor * step))
				continue;
			*s = to;
			k = UINT32_MAX;
			break;
		}
	}
}

/* ---- addresses ---- */
/* The nth such register in a sum; UINT32_MAX: there are no more. */
static uint32_t endless_in(const struct values *v, const struct sum *s, unsigned nth)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++)
			if (v->leaves[s->t[k].leaf[m]].kind == LEAF_ENDLESS && !nth--)
				return s->t[k].leaf[m];
	return UINT32_MAX;
}

/* The factor of a leaf that is in one term, alone; *fine: or in none. It is out of the sum then. */
static int64_t take(struct sum *s, uint32_t leaf, bool *fine)
{
	int64_t factor = 0;

	for (uint32_t k = 0; k < s->n; k++) {
		bool in = false;

		for (uint32_t m = 0; m < s->t[k].n; m++)
			in |= s->t[k].leaf[m] == leaf;
		if (!in)
			continue;
		*fine &= s->t[k].n == 1;
		factor = s->t[k].factor;
		memmove(&s->t[k], &s->t[k + 1], (--s->n - k) * sizeof s->t[k]);
		k--;
	}
	return factor;
}

/* What the leaf's register begins with, and by what it goes on at once. */
static bool begin_of(struct values *v, uint32_t leaf, struct sum *begin, int64_t *step)
{
	bool fine = true;

	if (v->leaves[leaf].offset || !ws_value_endless(v, v->leaves[leaf].reg, NULL, begin))
		return false;
	*step = take(begin, leaf, &fine);
	return fine && *step > 0;
}

static bool add_end(struct far *f, struct end x, int64_t bytes)
{
	unsigned k = 0;

	x.last = ws_sum_take_constant(&x.most) + bytes;
	x.rest_last = x.unit ? ws_sum_take_constant(&x.rest) + bytes : 0;
	while (k < f->n && !(ws_sum_equal(&f->ends[k].most, &x.most) && f->ends[k].unit == x.unit && f->ends[k].by == x.by &&
	                     (!x.unit || (ws_sum_equal(&f->ends[k].rest, &x.rest) && ws_sum_equal(&f->ends[k].span, &x.span)))))
		k++;
	if (k == WS_COUNT(f->ends))
		return false;
	if (k == f->n)
		f->ends[f->n++] = x;
	f->ends[k].last = x.last > f->ends[k].last ? x.last : f->ends[k].last;
	f->ends[k].rest_last = x.rest_last > f->ends[k].rest_last ? x.rest_last : f->ends[k].rest_last;
	return true;
}

static bool add_all(struct values *v, const struct end *x, int64_t bytes, unsigned deep, struct far *out);

/* By the register of a leaf: as it begins, and by each addition. x is in terms of it: nothing else may become less when it becomes more. */
static bool add_by(struct values *v, const struct end *x, uint32_t leaf, int64_t bytes, unsigned deep, struct far *out)
{
	const struct ws_reg *r = v->leaves[leaf].reg;
	const struct defs *d = &v->defs[r->index];
	struct end begins = *x;
	bool fine = true;
	int64_t step, most = take(&begins.most, leaf, &fine), rest = take(&begins.rest, leaf, &fine), span = take(&begins.span, leaf, &fine);
	struct sum begin;

	if (!fine || most < 0 || rest < 0 || span > 0 || deep == MOST_DEEP || !begin_of(v, leaf, &begin, &step) || most % step || rest % step ||
	    !add_all(v, &begins, bytes, deep + 1, out))
		return false;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct ws_operand *by = ws_value_added_or_copied(v, d->at[k], r);
		struct adding a = { v, r, d->at[k], by ? (int32_t)by->imm : 0 };
		struct end goes = begins;
		struct gain g;

		if (!by)
			continue;
		if (!find_more(&a, &begin, &g) || !ws_sum_add(&goes.most, &g.more, most / step) || !ws_sum_add(&goes.rest, &g.more, rest / step))
			return false;
		if (!goes.unit && g.unit) {
			goes.rest = begins.most;
			goes.span = g.span;
			goes.by = most / step * g.by;
			goes.unit = g.unit;
		}
		if (!add_all(v, &goes, bytes, deep + 1, out))
			return false;
	}
	return true;
}

/* All that the address may come to at most. A register may begin with another one: that is in what the comparison of its companion says, too, and goes. */
static bool add_all(struct values *v, const struct end *x, int64_t bytes, unsigned deep, struct far *out)
{
	const struct sum *in = endless_in(v, &x->most, 0) != UINT32_MAX ? &x->most : &x->rest;
	uint32_t leaf = endless_in(v, in, 0);
	struct end last = *x;
	struct far *before;
	bool found = false;

	if (leaf == UINT32_MAX) {
		take_left_over(v, &last.most);
		take_left_over(v, &last.rest);
		return endless_in(v, &x->span, 0) == UINT32_MAX && add_end(out, last, bytes);
	}
	before = ws_alloc(sizeof *before);
	*before = *out;
	for (unsigned k = 0; leaf != UINT32_MAX && !found; leaf = endless_in(v, in, ++k)) {
		found = add_by(v, x, leaf, bytes, deep, out);
		if (!found)
			*out = *before;
	}
	free(before);
	return found;
}

struct far *ws_far_find(struct values *v, const struct sum *address, unsigned bytes)
{
	struct far *f = ws_arena_alloc(v->arena, sizeof *f);
	struct end x = { .most = *address };
	size_t nduties = v->nduties;
	bool fine = true;

	*f = (struct far){ .least = *address };
	if (!add_all(v, &x, bytes, 0, f)) {
		v->nduties = nduties;
		return NULL;
	}
	for (uint32_t leaf; (leaf = endless_in(v, &f->least, 0)) != UINT32_MAX;)
		take(&f->least, leaf, &fine);
	f->first = ws_sum_take_constant(&f->least);
	return f;
}

struct far *ws_far_join(struct far *a, struct far *b)
{
	bool fits = a && b && ws_sum_equal(&a->least, &b->least);

	for (unsigned k = 0; fits && k < b->n; k++) {
		struct end x = b->ends[k];

		ws_sum_add(&x.rest, &(struct sum){ x.rest_last != x.last, { { .factor = x.rest_last - x.last } } }, x.unit != 0);
		fits = add_end(a, x, x.last);
	}
	if (fits)
		a->first = b->first < a->first ? b->first : a->first;
	return fits ? a : NULL;
}

/* ---- the entry ---- */
/* The greatest of a sum, of which remainders are what they are in all threads, if that is one number. */
static struct num most_of(struct entry *e, struct sum s)
{
	struct num lo, hi, all = ws_entry_number(0), more;

	for (uint32_t k = 0; k < s.n;) {
		struct leaf *l = s.t[k].n == 1 && s.t[k].factor > 0 ? &e->v->leaves[s.t[k].leaf[0]] : NULL;
		int64_t by = l && l->kind == LEAF_REMAINDER && l->step->n == 1 && !l->step->t[0].n ? l->step->t[0].factor : 0;

		if (by < 2 || by & (by - 1)) {
			k++;
			continue;
		}
		more = ws_split_most(e, l, by);
		all = ws_entry_add(e, all, ws_entry_times(e, more, s.t[k].factor));
		memmove(&s.t[k], &s.t[k + 1], (--s.n - k) * sizeof s.t[k]);
	}
	ws_entry_bounds(e, &s, &lo, &hi);
	return ws_entry_add(e, hi, all);
}

/* Where an end is: by what it comes to at most, or by whole steps, whichever is less. */
static struct num end_at(struct entry *e, const struct end *x)
{
	struct num end = ws_entry_add(e, most_of(e, x->most), ws_entry_number(x->last)), steps;

	if (!x->unit)
		return end;
	steps = ws_entry_choose(e, "max.s64", most_of(e, x->span), ws_entry_number(0));
	steps = ws_entry_times(e, ws_entry_made(e, "div.s64", steps, ws_entry_number(x->unit)), x->by);
	steps = ws_entry_add(e, ws_entry_add(e, most_of(e, x->rest), ws_entry_number(x->rest_last)), steps);
	return ws_entry_choose(e, "min.s64", end, steps);
}

void ws_far_bounds(struct entry *e, const struct far *f, struct num *lo, struct num *hi)
{
	struct num same;

	ws_entry_bounds(e, &f->least, lo, &same);
	*lo = ws_entry_add(e, *lo, ws_entry_number(f->first));
	for (unsigned k = 0; k < f->n; k++)
		*hi = k ? ws_entry_choose(e, "max.s64", *hi, end_at(e, &f->ends[k])) : end_at(e, &f->ends[k]);
}
