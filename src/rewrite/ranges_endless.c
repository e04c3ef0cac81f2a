/* ranges_endless.c - registers of which is known how they go on, and not how far.
 *
 * A compiler that unrolls `for (i = thread; i < n; i += threads)` makes two loops of it, of which the first has as many rounds
 * as are left over, by division: no entry can count them in all threads at once. But all values are what the register
 * begins with, and a number of steps more. Where the accesses of a thread stay in one variable of shared memory, and threads
 * begin less than a step apart from each other in all, no two of them come to the same bytes. */
#include "rewrite/ranges_priv.h"

static int64_t low_bit(int64_t k)
{
	return k & -k;
}

/* Steps as they are modulo a power of 2: whatever wraps, that is right. */
bool ws_value_endless(struct values *v, const struct ws_reg *r, struct sum *out)
{
	const struct defs *d = &v->defs[r->index];
	const struct leaf l = { .kind = LEAF_ENDLESS, .reg = r, .in_time = true };
	struct sum s, steps;
	int64_t step = 0;
	bool begun = false;

	for (uint32_t k = 0; k < d->n; k++) {
		const struct ws_operand *by = ws_value_added(d->at[k], r);

		if (d->at[k]->guard || (by && by->kind != WS_O_INT) || (!by && !ws_value_result(v, d->at[k], &s)))
			return false;
		if (by) {
			step |= (int64_t)(int32_t)by->imm;
			continue;
		}
		if (begun && !ws_sum_equal(&s, out))
			return false;
		*out = s;
		begun = true;
	}
	return begun && step && ws_type_bytes(r->type) == 4 && ws_value_leaf(v, &l, &steps) && ws_sum_add(out, &steps, low_bit(step));
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

int64_t ws_sum_of_steps(const struct sum *steps)
{
	int64_t all = 0;

	for (uint32_t k = 0; k < steps->n; k++)
		all |= steps->t[k].factor;
	return low_bit(all);
}
