/* ranges_unrolled.c - the two loops that compilers make of one, told as one again.
 *
 * `for (k = 0; k < n; k++)` becomes a loop of (n - n % u) / u rounds, each of which does u of the old ones, and one of the n % u that are left,
 * u being a power of 2; the second one goes on where the first has ended. An address that goes on by s in each old round is so
 * `p + u * s * round + m * s` in the first, of which m is from 0 to u - 1, and `p + u * s * rounds + s * round` in the second. Both are
 * `p + s * k`, and k is from 0 to n - 1: then they are in one group, and threads are apart in it as they were before. */
#include "rewrite/ranges_priv.h"

bool ws_sum_take_leaf(const struct sum *s, uint32_t leaf, struct sum *by, struct sum *rest)
{
	by->n = rest->n = 0;
	for (uint32_t k = 0; k < s->n; k++) {
		struct sum one = { 1, { s->t[k] } };
		struct term *t = &one.t[0];
		unsigned found = 0;

		for (uint32_t m = 0; m < t->n; m++)
			found += t->leaf[m] == leaf;
		if (found > 1)
			return false;
		for (uint32_t m = 0, n = 0; found && m < s->t[k].n; m++)
			if (s->t[k].leaf[m] != leaf)
				t->leaf[n++] = s->t[k].leaf[m];
		t->n -= found;
		if (!ws_sum_add(found ? by : rest, &one, 1))
			return false;
	}
	return by->n > 0;
}

/* of[0] & k, which is one number of the launch. */
static bool is_masked(const struct leaf *l, int64_t k)
{
	return l->kind == LEAF_MASKED && l->fixed && l->nof == 1 && l->k == k;
}

/* Is the sum what is left over, of whatever register? */
static bool is_left_over(const struct values *v, const struct sum *s, const struct leaf *left)
{
	const struct leaf *l = s->n == 1 && s->t[0].n == 1 && s->t[0].factor == 1 ? &v->leaves[s->t[0].leaf[0]] : NULL;

	return l && is_masked(l, left->k) && ws_sum_equal(l->of[0], left->of[0]);
}

const struct leaf *ws_value_left_over(const struct values *v, const struct sum *span, int64_t u)
{
	for (uint32_t k = 0; k < span->n; k++) {
		const struct term *t = &span->t[k];
		const struct leaf *left = t->factor == -1 && t->n == 1 ? &v->leaves[t->leaf[0]] : NULL;
		struct sum n = *span;

		if (left && is_masked(left, u - 1) &&
		    ws_sum_add(&n, &(struct sum){ 1, { { 1, 1, { t->leaf[0] } } } }, 1) && ws_sum_equal(&n, left->of[0]))
			return left;
	}
	return NULL;
}

/* What the address goes on by in a round of the source, if it does by u times that in one of the loop: *by * step / u. */
static bool step_of_source(const struct sum *by, const struct leaf *l, int64_t u, struct sum *step)
{
	step->n = 0;
	if (!ws_sum_add_product(step, by, l->step))
		return false;
	for (uint32_t k = 0; k < step->n; k++) {
		if (step->t[k].factor % u)
			return false;
		step->t[k].factor /= u;
	}
	return step->n > 0;
}

/* Which of the u rounds is it, by what else is in the sum? -1: of none. Any number is right, for what is left stays in the sum; those
 * above u - 1 are of rounds that there are more then, as of the row behind: for rows of what the launch says. */
static int64_t which_round(const struct sum *rest, const struct sum *step, int64_t u)
{
	const struct term *one = &step->t[0];

	for (uint32_t k = 0; k < rest->n; k++) {
		const struct term *t = &rest->t[k];

		if (ws_term_same_leaves(t, one))
			return (t->factor < 0) == (one->factor < 0) && t->factor / one->factor < (one->n ? 2 * u : u) ? t->factor / one->factor : -1;
	}
	return 0;
}

/* *rest + step * k, where k is any number from 0 to n + more - 1. */
static bool join(struct values *v, const struct sum *n, int64_t more, const struct sum *step, struct sum *rest)
{
	struct leaf l = { .kind = LEAF_COUNTED, .in_time = true, .exact = true, .nof = 1, .by = 1 };
	struct sum k, all = *n;

	if (!ws_sum_add(&all, &(struct sum){ 1, { { .factor = 1 } } }, more))
		return false;
	l.of[0] = ws_value_keep(v, &all);
	l.step = ws_value_keep(v, step);
	ws_value_duty(v, n, 0, INT32_MAX - 1 - more);
	return ws_value_leaf(v, &l, &k) && ws_sum_add(rest, &k, 1);
}

/* In the second loop: *rest is without where the first one has ended. */
static bool join_second(struct values *v, const struct leaf *left, const struct sum *step, struct sum *rest)
{
	for (uint32_t k = 0; k < v->nleaves; k++) {
		const struct leaf *l = &v->leaves[k];
		struct sum by, more, one;

		if (l->kind == LEAF_COUNTED && l->exact && !l->k && l->by == 1 && l->nof == 1 && is_left_over(v, l->of[0], left) &&
		    ws_sum_take_leaf(rest, k, &by, &more) && step_of_source(&by, l, 1, &one) && ws_sum_equal(&one, step)) {
			*rest = more;
			return join(v, left->of[0], 0, step, rest);
		}
	}
	return false;
}

static bool join_loops(struct values *v, uint32_t leaf, struct sum *s)
{
	const struct leaf *l = &v->leaves[leaf],
	                  *left = l->exact && l->nof == 1 ? ws_value_left_over(v, l->of[0], l->by) : NULL;
	bool second = l->k && l->offset;
	struct sum by, rest, step;
	int64_t round;

	if (!left || (l->k && !second) || !ws_sum_take_leaf(s, leaf, &by, &rest) || !step_of_source(&by, l, l->by, &step))
		return false;                        /* l->k in the loop: behind the step */
	round = second ? 0 : which_round(&rest, &step, l->by);
	if (round < 0 || !ws_sum_add(&rest, &step, -round) ||
	    !(second ? join_second(v, left, &step, &rest) : join(v, left->of[0], round < l->by ? 0 : round - l->by + 1, &step, &rest)))
		return false;
	*s = rest;
	return true;
}

void ws_sum_rejoin(struct values *v, struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++)
			if (v->leaves[s->t[k].leaf[m]].kind == LEAF_COUNTED && join_loops(v, s->t[k].leaf[m], s))
				return;
}
