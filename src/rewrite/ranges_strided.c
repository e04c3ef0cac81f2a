/* ranges_strided.c - registers that go on by one step of the launch, of which nobody can say at the entry how far each thread is.
 *
 * `for (i = thread; i < n; i += threads)`, unrolled: a first loop has the rounds that are left over by division, at most so many; a
 * second one adds the step several times before it compares. So a value is what the register began with, and a number of steps
 * more: a thread's values are one remainder of the step, and threads that begin less than a step apart from each other share none.
 *
 * Nothing wraps: a way through the kernel from its beginning, or from a comparison that bounds the register, to the next such
 * comparison comes by so many additions at most (`find_ways`). Values of registers with one beginning and one step are one leaf, with
 * any number of steps more: how many is only in its bound. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>

enum { MOST_ADDS = 32, MOST_RESETS = 3, MOST_BLOCKS = 2000, MOST_STEPS = 1 << 12, DEEPEST_CHAIN = 20 };

struct strided {
	const struct ws_reg *r;
	const struct ws_ptx_inst *adds[MOST_ADDS];
	int64_t times[MOST_ADDS];        /* steps that each adds */
	unsigned nadds;
	struct sum begin, step;
	bool begun;
	struct reset { uint32_t block, next; struct bound bound; struct sum than; } resets[MOST_RESETS + 1];
	unsigned nresets;
	int64_t most;
};

/* ---- what is added ---- */
static bool is_whole_move(const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	return i->op == WS_OP_mov && !i->guard && i->nops == 2 && i->ops[1].kind == WS_O_REG && !i->ops[1].component &&
	       ws_type_bytes((enum ws_type)i->type[0]) == ws_type_bytes(r->type);
}

static bool comes_from(struct values *v, struct strided *s, const struct ws_ptx_inst *i, unsigned depth);

/* Is the operand the register itself, or made of it by additions? */
static bool continues(struct values *v, struct strided *s, const struct ws_operand *o, unsigned depth)
{
	const struct defs *d = o->kind == WS_O_REG && !o->component && !o->negated ? &v->defs[o->reg->index] : NULL;

	if (!d || depth == DEEPEST_CHAIN || o->reg->vec != 1 || ws_type_bytes(o->reg->type) != ws_type_bytes(s->r->type))
		return false;
	return o->reg == s->r || (d->n == 1 && comes_from(v, s, d->at[0], depth + 1));
}

/* step = times * factor * of; 0: it is no such multiple. */
static int64_t multiple(const struct sum *step, const struct sum *of, int64_t factor)
{
	int64_t by = of->n ? of->t[0].factor * factor : 0, times = step->n && by && step->t[0].factor % by == 0 ? step->t[0].factor / by : 0;
	struct sum rest = *step;

	return times > 0 && times <= MOST_STEPS && ws_sum_add(&rest, of, -times * factor) && !rest.n ? times : 0;
}

/* Of steps by several numbers, `i += 192` in a loop and `i += 768` where it is unrolled, the least is the step, and each other a multiple of it. */
static bool add_step(struct values *v, struct strided *s, const struct ws_ptx_inst *i, const struct ws_operand *by)
{
	struct sum step;
	int64_t times = 1, more;

	for (unsigned k = 0; k < s->nadds; k++)
		if (s->adds[k] == i)
			return true;
	if (s->nadds == MOST_ADDS || !ws_value_operand(v, by, ws_type_bytes(s->r->type), i, &step) || !ws_sum_fixed(v, &step))
		return false;
	if (s->nadds) {
		times = multiple(&step, &s->step, 1);
		more = times ? 1 : multiple(&s->step, &step, 1);
		if (!more)
			return false;
		for (unsigned k = 0; k < s->nadds && !times; k++)
			s->times[k] *= more;
	}
	if (!s->nadds || !times)
		s->step = step;
	s->times[s->nadds] = times ? times : 1;
	s->adds[s->nadds++] = i;
	return true;
}

static bool comes_from(struct values *v, struct strided *s, const struct ws_ptx_inst *i, unsigned depth)
{
	if (is_whole_move(i, s->r))
		return continues(v, s, &i->ops[1], depth);
	if (i->op != WS_OP_add || i->guard || i->flags & (WS_F_SAT | WS_F_CC) || i->nops != 3 ||
	    ws_type_bytes((enum ws_type)i->type[0]) != ws_type_bytes(s->r->type) || ws_type_is_float((enum ws_type)i->type[0]))
		return false;
	for (unsigned n = 1; n < 3; n++)
		if (continues(v, s, &i->ops[n], depth))
			return add_step(v, s, i, &i->ops[3 - n]);
	return false;
}

/* It begins once in a thread, and with one sum. */
static bool add_begin(struct values *v, struct strided *s, const struct ws_ptx_inst *i)
{
	struct sum begin;

	if (i->guard || !ws_is_made_once(v, i) || !ws_value_result(v, i, &begin) ||
	    (s->begun && !ws_sum_equal(&begin, &s->begin)))
		return false;
	s->begin = begin;
	s->begun = true;
	return true;
}

/* An address is no step: p = i; p += pointer. */
static bool is_number(const struct values *v, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		if (ws_term_is_pointer(v, &s->t[k]))
			return false;
	return s->n > 0;
}

static bool find_steps(struct values *v, struct strided *s)
{
	const struct defs *d = &v->defs[s->r->index];

	for (uint32_t k = 0; k < d->n; k++)
		if (!comes_from(v, s, d->at[k], 0) && !add_begin(v, s, d->at[k]))
			return false;
	return s->begun && s->nadds && is_number(v, &s->step) && (s->step.t[0].n || s->step.t[0].factor > 0);
}

/* ---- where it is bounded ---- */
/* The steps by which an instruction makes r of what r was; 0: it does not. */
static int64_t steps_by(const struct values *v, const struct strided *s, const struct ws_ptx_inst *i, unsigned depth)
{
	int64_t own = i->op == WS_OP_mov ? 0 : -1;

	for (unsigned k = 0; k < s->nadds; k++)
		own = s->adds[k] == i ? s->times[k] : own;
	for (unsigned k = 1; k < i->nops && own >= 0 && depth < DEEPEST_CHAIN; k++) {
		const struct ws_ptx_inst *def = ws_value_only_def(v, &i->ops[k]);
		int64_t more = i->ops[k].kind == WS_O_REG && i->ops[k].reg != s->r && def ? steps_by(v, s, def, depth + 1) : 0;

		if (i->ops[k].kind == WS_O_REG && (i->ops[k].reg == s->r || more))
			return own + more;
	}
	return 0;
}

/* By how many steps r is further on at the end of its block than where an instruction compares it: `next = r + step; if (r < n) ...; r = next`. -1: it is not
 * known. */
static int64_t goes_on_behind(const struct values *v, const struct strided *s, const struct ws_ptx_inst *compare)
{
	const struct ws_ptx_block *b = &v->f->blocks[compare->block];
	const struct defs *d = &v->defs[s->r->index];
	int64_t steps = 0;

	for (uint32_t k = 0; k < d->n; k++) {
		if (d->at[k]->block != compare->block || d->at[k]->index < compare->index)
			continue;
		steps = steps || ws_value_set_between(v, b->first, d->at[k]->index - 1, s->r) ? 0 : steps_by(v, s, d->at[k], 0);
		if (!steps)
			return -1;
	}
	return steps;
}

/* The sides of comparisons of the register itself, with a number of the launch. */
static bool find_resets(struct values *v, struct strided *s)
{
	for (uint32_t k = 0; k < v->f->nblocks; k++) {
		const struct ws_ptx_block *b = &v->f->blocks[k];
		const struct ws_ptx_inst *branch = &v->f->insts[b->last], *c;
		const struct defs *d = branch->op == WS_OP_bra && branch->guard ? &v->defs[branch->guard->index] : NULL;
		int64_t behind;

		c = d && d->n == 1 ? d->at[0] : NULL;
		if (!c || c->block != k || c->index > branch->index || b->nsucc != 2 || b->succ[0] == b->succ[1] || c->op != WS_OP_setp ||
		    c->nops != 3 || c->boolop || c->guard || c->ops[1].kind != WS_O_REG || c->ops[1].reg != s->r)
			continue;
		behind = goes_on_behind(v, s, c);
		for (unsigned truth = 0; truth < 2 && s->nresets < MOST_RESETS && behind >= 0; truth++) {
			struct reset *x = &s->resets[s->nresets];
			bool taken = truth != branch->guard_neg;

			if (!ws_bound_by(c, s->r, truth, &x->bound) || !x->bound.upper ||
			    !ws_value_operand(v, x->bound.other, ws_type_bytes(s->r->type), c, &x->than) || !ws_sum_fixed(v, &x->than) ||
			    !ws_sum_add(&x->than, &s->step, behind) ||
			    (s->nresets && x->bound.type != s->resets[0].bound.type))
				continue;
			x->block = k;
			x->next = b->succ[(v->f->blocks[b->succ[0]].first == b->last + 1) == taken];
			s->nresets++;
		}
	}
	return true;
}

static bool is_reset(const struct strided *s, uint32_t block, uint32_t next)
{
	for (unsigned k = 0; k < s->nresets; k++)
		if (s->resets[k].block == block && s->resets[k].next == next)
			return true;
	return false;
}

/* Steps that the block adds when control comes to it; of one that is a loop of its own in all rounds, -1: there is no most. */
static int64_t steps_in(struct values *v, const struct strided *s, uint32_t block)
{
	const struct ws_ptx_block *b = &v->f->blocks[block];
	int64_t here = 0, rounds = 1;

	for (unsigned k = 0; k < s->nadds; k++)
		here += s->adds[k]->block == block ? s->times[k] : 0;
	for (uint32_t k = 0; k < b->nsucc && here; k++)
		if (b->succ[k] == block && !is_reset(s, block, block))
			rounds = ws_value_most_rounds(v, block);
	return rounds ? here * rounds : -1;
}

/* Does a way lead from the block back to it, over another one, that nothing bounds? */
static bool comes_back(const struct values *v, const struct strided *s, uint32_t block)
{
	uint32_t *list = ws_alloc((v->f->nblocks + 1) * sizeof *list), n = 1;
	bool *seen = ws_alloc(v->f->nblocks + 1), back = false;

	list[0] = block;
	while (n && !back) {
		uint32_t from = list[--n];
		const struct ws_ptx_block *b = &v->f->blocks[from];

		for (uint32_t k = 0; k < b->nsucc; k++) {
			uint32_t to = b->succ[k];

			if (is_reset(s, from, to) || seen[to])
				continue;
			back |= to == block && from != block;
			seen[to] = to != block;
			if (to != block)
				list[n++] = to;
		}
	}
	free(seen);
	free(list);
	return back;
}

/* Notes of each block the steps that it adds. false: there is no most of them, on some way that nothing bounds. */
static bool find_added(struct values *v, const struct strided *s, int64_t *added)
{
	for (uint32_t b = 0; b < v->f->nblocks; b++) {
		added[b] = steps_in(v, s, b);
		if (added[b] < 0 || added[b] > MOST_STEPS || (added[b] && comes_back(v, s, b)))
			return false;
	}
	return true;
}

/* Notes of each block the most steps on a way from its beginning to an end, or to a side that bounds. Loops that add nothing are on ways, too. false: they
 * are too many. */
static bool find_ways(const struct values *v, const struct strided *s, const int64_t *added, int64_t *ways)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t n = v->f->nblocks; n-- > 0;) {
			const struct ws_ptx_block *b = &v->f->blocks[n];
			int64_t most = 0;

			for (uint32_t k = 0; k < b->nsucc; k++)
				if (b->succ[k] != n && !is_reset(s, n, b->succ[k]) && ways[b->succ[k]] > most)
					most = ways[b->succ[k]];
			most += added[n];
			changed |= most > ways[n];
			ways[n] = most;
			if (most > MOST_STEPS)
				return false;
		}
	}
	return true;
}

/* From the kernel's beginning, and from each bound. Where one is, registers on the way to the next value may be as far behind as all
 * additions. */
static bool count_steps(struct values *v, struct strided *s)
{
	int64_t *added = ws_alloc((v->f->nblocks + 1) * sizeof *added), *ways = ws_alloc((v->f->nblocks + 1) * sizeof *ways);
	bool fine = v->f->nblocks <= MOST_BLOCKS && find_added(v, s, added) && find_ways(v, s, added, ways);

	s->most = fine ? ways[0] : 0;
	for (unsigned k = 0; k < s->nresets && fine; k++)
		s->most = ways[s->resets[k].next] > s->most ? ways[s->resets[k].next] : s->most;
	free(ways);
	free(added);
	for (unsigned k = 0; k < s->nadds; k++)
		s->most += s->times[k];
	return fine && s->most <= MOST_STEPS;
}

/* ---- the leaf ---- */
static bool is_varying(const struct values *v, const struct term *t)
{
	const struct sum one = { 1, { *t } };

	return !ws_sum_fixed(v, &one);
}

/* begin = fixed + factor * own, step = factor * step */
static bool divide(const struct values *v, struct strided *s, struct sum *fixed, struct sum *own, int64_t *factor)
{
	*factor = 0;
	fixed->n = own->n = 0;
	for (uint32_t k = 0; k < s->begin.n; k++) {
		struct sum *to = is_varying(v, &s->begin.t[k]) ? own : fixed;

		to->t[to->n++] = s->begin.t[k];
		*factor = to == own ? ws_greatest_divisor(*factor, s->begin.t[k].factor) : *factor;
	}
	for (uint32_t k = 0; k < s->step.n; k++)
		*factor = ws_greatest_divisor(*factor, s->step.t[k].factor);
	if (!own->n || !*factor || ws_sum_in_time(v, own))
		return false;
	for (uint32_t k = 0; k < own->n; k++)
		own->t[k].factor /= *factor;
	for (uint32_t k = 0; k < s->step.n; k++)
		s->step.t[k].factor /= *factor;
	return true;
}

/* The leaf's number; UINT32_MAX: there is none in the sum. */
static uint32_t leaf_in(const struct values *v, const struct sum *s, int64_t *factor)
{
	for (uint32_t k = 0; k < s->n; k++)
		if (s->t[k].n == 1 && v->leaves[s->t[k].leaf[0]].kind == LEAF_STRIDED) {
			*factor = s->t[k].factor;
			return s->t[k].leaf[0];
		}
	return UINT32_MAX;
}

static uint32_t leaf_of(struct values *v, const struct sum *own, const struct sum *step)
{
	struct leaf l = { .kind = LEAF_STRIDED, .nof = 1, .in_time = true };
	struct sum out;
	uint32_t k = 0;

	while (k < v->nleaves && (v->leaves[k].kind != LEAF_STRIDED || !ws_sum_equal(v->leaves[k].of[0], own) ||
	                          !ws_sum_equal(v->leaves[k].step, step)))
		k++;
	if (k < v->nleaves)
		return k;
	l.of[0] = ws_value_keep(v, own);
	l.step = ws_value_keep(v, step);
	l.offset = (int64_t)v->nleaves;      /* unlike any other */
	return ws_value_leaf(v, &l, &out) ? out.t[0].leaf[0] : UINT32_MAX;
}

/* What the register is bounded by, but for steps. It is known once. */
static bool add_bounds(struct values *v, struct leaf *l, const struct strided *s, const struct sum *fixed)
{
	for (unsigned k = 0; k < s->nresets; k++) {
		struct bound b = s->resets[k].bound;
		struct sum than = s->resets[k].than;
		bool known = false;

		if (!ws_sum_add(&than, fixed, -1))
			return false;
		for (unsigned m = 0; m < l->nbounds; m++)
			known |= ws_sum_equal(l->bounds[m].than, &than) && l->bounds[m].slack >= b.slack;
		if (known)
			continue;
		if (l->nbounds == MOST_BOUNDS)
			return false;
		b.than = ws_value_keep(v, &than);
		l->bounds[l->nbounds++] = b;
	}
	return true;
}

static void may_go_on(struct values *v, uint32_t leaf, const struct ws_reg *r, int64_t steps)
{
	if (!v->strided[r->index])
		v->leaves[leaf].k += steps;
	v->strided[r->index] = true;
}

/* Neither what it begins with nor what it is bounded by wraps with all steps. */
static bool must_fit(struct values *v, const struct strided *s)
{
	enum ws_type type = s->nresets ? s->resets[0].bound.type : ws_type_bytes(s->r->type) == 4 ? WS_S32 : WS_S64;
	struct sum top = s->begin;

	if (!ws_sum_add(&top, &s->step, s->most))
		return false;
	ws_value_must_fit(v, &s->begin, type);
	ws_value_must_fit(v, &top, type);
	for (unsigned k = 0; k < s->nresets; k++) {
		top = s->resets[k].than;
		if (!ws_sum_add(&top, &s->step, s->most) ||
		    !ws_sum_add(&top, &(struct sum){ 1, { { .factor = 1 } } }, s->resets[k].bound.slack))
			return false;
		ws_value_must_fit(v, &top, type);
	}
	ws_value_duty(v, &s->step, 0, INT64_MAX);
	return true;
}

bool ws_value_keeps_within(struct values *v, const struct ws_reg *r)
{
	struct within *w = &v->within[r->index];

	if (!w->known)
		w->steps = ws_value_left_first(v, r, w);
	w->known = true;
	return w->steps > 0;
}

bool ws_value_is_within(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at)
{
	const struct within *w = &v->within[r->index];

	return ws_value_keeps_within(v, r) && (at->block == w->first || at->block == w->before || ws_value_has_gone_on(v, r, at));
}

/* One that is compared is within the bounds of what it is made of, or nothing is known of it. */
static bool made_of_leaf(struct values *v, struct strided *s, uint32_t leaf, int64_t factor, struct sum *out)
{
	int64_t times = multiple(&s->step, v->leaves[leaf].step, factor);

	if (!times || (s->nresets && (factor != 1 || !ws_value_keeps_within(v, s->r))))
		return false;
	*out = s->begin;
	may_go_on(v, leaf, s->r, s->nresets ? 0 : times * s->most);
	v->steppers |= !s->nresets;
	return true;
}

static void note_stepper(struct values *v, const struct ws_reg *r)
{
	v->steppers |= v->stepper && v->stepper != r;
	v->stepper = r;
}

/* Does all that reads the register keep to its bounds, of which what its loops end by is one? There another register may be compared, which goes on with it. */
static bool is_bounded(struct values *v, struct strided *s)
{
	const struct within *w = &v->within[s->r->index];
	struct reset *x = &s->resets[s->nresets];

	if (!ws_value_keeps_within(v, s->r) || !w->compare || (s->nresets && w->below.type != s->resets[0].bound.type))
		return false;
	*x = (struct reset){ .bound = w->below };
	s->nresets++;
	return ws_value_operand(v, w->below.other, ws_type_bytes(s->r->type), w->compare, &x->than) && ws_sum_fixed(v, &x->than);
}

static bool make(struct values *v, struct strided *s, struct sum *out)
{
	struct sum own, fixed, itself;
	int64_t factor;
	uint32_t leaf = leaf_in(v, &s->begin, &factor);
	bool bounded = leaf == UINT32_MAX && is_bounded(v, s);

	if (leaf == UINT32_MAX && ws_value_keeps_within(v, s->r) && !bounded)
		return false;
	if (ws_type_bytes(s->r->type) == 4 && !must_fit(v, s))
		return false;
	if (leaf != UINT32_MAX)
		return made_of_leaf(v, s, leaf, factor, out);
	if (!divide(v, s, &fixed, &own, &factor) || (factor != 1 && s->nresets))
		return false;
	leaf = leaf_of(v, &own, &s->step);
	if (leaf == UINT32_MAX || !add_bounds(v, &v->leaves[leaf], s, &fixed))
		return false;
	if (!bounded)
		v->leaves[leaf].loose = true;
	may_go_on(v, leaf, s->r, bounded ? 0 : s->most);
	note_stepper(v, s->r);
	*out = fixed;
	itself = ws_sum_of_leaf(leaf);
	return ws_sum_add(out, &itself, factor);
}

bool ws_value_strided(struct values *v, const struct ws_reg *r, struct sum *out)
{
	struct strided s = { .r = r };
	unsigned bytes = ws_type_bytes(r->type);

	return (bytes == 4 || bytes == 8) && !ws_type_is_float(r->type) && find_steps(v, &s) && find_resets(v, &s) &&
	       count_steps(v, &s) && make(v, &s, out);
}

/* Is it in a loop of rounds that are done several at a time, where so many steps more are below the loop's end as well? */
static bool goes_within(const struct values *v, int64_t times)
{
	const struct within *w = v->stepper && !v->steppers ? &v->within[v->stepper->index] : NULL;

	return w && w->steps > times && v->access->block == w->loop;
}

/* The steps in a number: of the second half of a word, too. */
static int64_t steps_in_number(const struct sum *s, const struct leaf *l, int64_t factor)
{
	int64_t step, number;

	ws_sum_is_number(s, &number);
	return l && ws_sum_is_number(l->step, &step) && factor > 0 && step > 0 && number > 0 ? number / (step * factor) : 0;
}

/* Steps more are other values of the leaf. */
void ws_sum_without_steps(struct values *v, struct sum *s)
{
	int64_t factor = 0;
	uint32_t leaf = leaf_in(v, s, &factor);
	struct leaf *l = leaf != UINT32_MAX ? &v->leaves[leaf] : NULL;
	struct sum rest = { 0 };
	int64_t times;

	for (uint32_t k = 0; l && k < s->n; k++)
		for (uint32_t m = 0; m < l->step->n; m++) {
			struct sum one = { 1, { s->t[k] } }, of = { 1, { l->step->t[m] } };

			of.t[0].factor = one.t[0].factor;
			if (ws_sum_equal(&one, &of))
				rest.t[rest.n++] = s->t[k];
		}
	times = l ? multiple(&rest, l->step, factor) : 0;
	if (!times) {
		times = steps_in_number(s, l, factor);
		if (times && goes_within(v, times))
			ws_sum_add(s, l->step, -times * factor);
		return;
	}
	ws_sum_add(s, l->step, -times * factor);
	if (!goes_within(v, times))
		l->by = times > l->by ? times : l->by;
}
