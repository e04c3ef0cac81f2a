/* ranges_endless.c - registers of which is known how they go on, and not how far.
 *
 * A compiler that unrolls `for (i = thread; i < n; i += threads)` makes two loops of it, of which the first has as many rounds
 * as are left over, by division: no entry can count them in all threads at once. But all values are what the register
 * begins with, and a number of steps more. Where the accesses of a thread stay in one variable of shared memory, and threads
 * begin less than a step apart from each other in all, no two of them come to the same bytes. */
#include "rewrite/needless.h"
#include "rewrite/ranges_priv.h"

static int64_t low_bit(int64_t k)
{
	return k & -k;
}

int64_t ws_greatest_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

const struct ws_operand *ws_value_added_or_copied(const struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	const struct ws_ptx_inst *sum = i->op == WS_OP_mov && i->nops == 2 ? ws_value_only_def(v, &i->ops[1]) : NULL;
	const struct ws_operand *by = sum ? ws_value_added(sum, r) : NULL;

	if (by && !ws_always_between(v->f, r, sum, i))
		return NULL;
	return by ? by : ws_value_added(i, r);
}

int64_t ws_endless_step(const struct values *v, const struct ws_reg *r)
{
	const struct defs *d = &v->defs[r->index];
	int64_t step = 0;

	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++) {
		const struct ws_operand *by = ws_value_added_or_copied(v, d->at[k], r);

		if (by && (by->kind != WS_O_INT || (int32_t)by->imm <= 0))
			return 0;
		step = by ? ws_greatest_divisor(step, (int32_t)by->imm) : step;
	}
	return step;
}

bool ws_value_has_gone_on(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at)
{
	const struct defs *d = &v->defs[r->index];

	for (uint32_t k = 0; k < d->n; k++)
		if (ws_value_added_or_copied(v, d->at[k], r) && ws_comes_before(v, d->at[k], at))
			return true;
	return false;
}

/* What r begins with by an instruction: a register that goes on behind it alone is what it begins with itself. */
static bool begins(struct values *v, const struct ws_ptx_inst *i, struct sum *out)
{
	struct sum all;

	if (!ws_value_result(v, i, &all))
		return false;
	out->n = 0;
	for (uint32_t k = 0; k < all.n; k++) {
		const struct leaf *l = &v->leaves[all.t[k].leaf[0]];

		if (all.t[k].n != 1 || l->kind != LEAF_ENDLESS || l->offset || ws_value_has_gone_on(v, l->reg, i))
			out->t[out->n++] = all.t[k];
	}
	return true;
}

/* The one step of r, if it is taken ahead of the read in each round: compilers that go by the number of the last round begin a step before the first
 * (`i = thread - 256; do { i += 256; ... }`). 0: it is not so. */
static int64_t taken_ahead(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at)
{
	const struct defs *d = &v->defs[r->index];
	const struct ws_ptx_inst *step = NULL;

	for (uint32_t k = 0; k < d->n; k++)
		if (ws_value_added(d->at[k], r)) {
			if (step)
				return 0;
			step = d->at[k];
		}
	if (!at || !step || step->block != at->block || step->index >= at->index || ws_value_set_between(v, step->index + 1, at->index - 1, r))
		return 0;
	return ws_value_added(step, r)->kind == WS_O_INT ? (int32_t)ws_value_added(step, r)->imm : 0;
}

/* Steps as they are modulo a power of 2: whatever wraps, that is right. Of what goes up from a number that is not negative they are multiples of all
 * of the step: to wrap it would have to go through all numbers, and the accesses of those rounds stay in the variable as well. */
bool ws_value_endless(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	const struct defs *d = &v->defs[r->index];
	struct leaf l = { .kind = LEAF_ENDLESS, .reg = r, .in_time = true };
	struct sum s, steps;
	int64_t bits = 0, up = ws_endless_step(v, r);
	bool begun = false;

	for (uint32_t k = 0; k < d->n; k++) {
		const struct ws_operand *by = ws_value_added_or_copied(v, d->at[k], r);

		if (d->at[k]->guard || (by && by->kind != WS_O_INT) || (!by && !begins(v, d->at[k], &s)))
			return false;
		if (by) {
			bits |= (int64_t)(int32_t)by->imm;
			continue;
		}
		if (begun && !ws_sum_equal(&s, out))
			return false;
		*out = s;
		begun = true;
	}
	if (!begun || !bits || ws_type_bytes(r->type) != 4)
		return false;
	if (!ws_sum_add(out, &(struct sum){ 1, { { .factor = taken_ahead(v, r, at) } } }, 1))
		return false;
	l.k = up && ws_sum_never_negative(v, out);
	return ws_value_leaf(v, &l, &steps) && ws_sum_add(out, &steps, l.k ? up : low_bit(bits));
}

bool ws_value_multiple(struct values *v, const struct ws_ptx_inst *i, int64_t times, struct sum *out)
{
	enum { NARROWEST = 64 };         /* what threads have less than that apart is not told apart by it */
	struct leaf l = { .kind = LEAF_ENDLESS, .reg = i->ops[0].reg, .offset = 1, .in_time = true };
	struct sum steps;

	if (!v->shared || !v->asking || i->ops[1].kind != WS_O_REG || ws_type_bytes((enum ws_type)i->type[0]) != 4 || low_bit(times) < NARROWEST)
		return false;
	v->has_multiples = true;
	out->n = 0;
	return v->multiples && ws_value_leaf(v, &l, &steps) && ws_sum_add(out, &steps, low_bit(times));
}

/* Steps that only go up, so many times. */
static bool goes_up(const struct values *v, const struct term *t)
{
	return t->n == 1 && t->factor > 0 && v->leaves[t->leaf[0]].kind == LEAF_ENDLESS && v->leaves[t->leaf[0]].k;
}

void ws_sum_without_up(const struct values *v, struct sum *s)
{
	const struct sum all = *s;

	s->n = 0;
	for (uint32_t k = 0; k < all.n; k++)
		if (!v->shared || !goes_up(v, &all.t[k]))
			s->t[s->n++] = all.t[k];
}

bool ws_sum_take_up(const struct values *v, struct sum *s, int64_t by, struct sum *times)
{
	struct sum rest = { 0 };
	int64_t number;

	times->n = 0;
	for (uint32_t k = 0; k < s->n; k++) {
		bool up = v->shared && goes_up(v, &s->t[k]) && s->t[k].factor % by == 0;
		struct sum *to = up ? times : &rest;

		to->t[to->n] = s->t[k];
		to->t[to->n++].factor /= up ? by : 1;
	}
	if (!times->n)
		return false;
	number = ws_sum_take_constant(&rest);
	*s = rest;
	return ws_sum_add(s, &(struct sum){ 1, { { .factor = number % by } } }, 1) && ws_sum_add(times, &(struct sum){ 1, { { .factor = number / by } } }, 1);
}

void ws_sum_take_endless(const struct values *v, struct sum *s, struct sum *steps)
{
	struct sum rest = { 0 };

	steps->n = 0;
	for (uint32_t k = 0; k < s->n; k++) {
		const struct term *t = &s->t[k];
		struct sum *to = t->n == 1 && v->leaves[t->leaf[0]].kind == LEAF_ENDLESS ? steps : &rest;

		to->t[to->n++] = *t;
	}
	*s = rest;
}

void ws_sum_drop_steps(struct sum *s, int64_t step)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < s->n; k++)
		if (s->t[k].factor % step)
			s->t[n++] = s->t[k];
	s->n = n;
}

int64_t ws_sum_divisor(const struct sum *s)
{
	int64_t all = 0;

	for (uint32_t k = 0; k < s->n; k++)
		all = ws_greatest_divisor(all, s->t[k].factor);
	return all;
}

int64_t ws_sum_of_steps(const struct values *v, const struct sum *steps)
{
	int64_t bits = 0;
	bool up = true;

	for (uint32_t k = 0; k < steps->n; k++) {
		bits |= steps->t[k].factor;
		up &= goes_up(v, &steps->t[k]);
	}
	return up ? ws_sum_divisor(steps) : low_bit(bits);
}
