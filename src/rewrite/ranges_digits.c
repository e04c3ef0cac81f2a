/* ranges_digits.c - the same places of one thread, counted in other ways.
 *
 * `for (r = 0; r < 64; r++) tile[r] = b[r * pitch + t];` is unrolled by eight with a counter, and what writes the tile back by 64, without one. So of one
 * group the rows are eight rounds and a digit of eight, of the other one a digit of 64. Rounds of which the number is known are a digit of the launch's step;
 * and two digits, of which one's weight is as much as all of the other one, are a single digit. Groups that are the same then become one. */
#include "rewrite/ranges_groups.h"

enum { MOST_DIGIT = 1 << 20 };

/* A number of rounds from 0 on that is known here; 0: it is not. */
static int64_t rounds_of(const struct leaf *l)
{
	int64_t span, rounds;

	if (l->kind != LEAF_COUNTED || l->k || l->offset || l->nof != 1 || l->by < 1 || !ws_sum_is_number(l->of[0], &span) || span < 1)
		return 0;
	rounds = (span + l->by - 1) / l->by;
	return rounds <= MOST_DIGIT ? rounds : 0;
}

static bool rounds_to_digit(struct values *v, struct sum *s, uint32_t leaf)
{
	int64_t rounds = rounds_of(&v->leaves[leaf]);
	struct sum times, rest, step = { 0 };

	if (!ws_sum_take_leaf(s, leaf, &times, &rest) || !ws_sum_add_product(&step, &times, v->leaves[leaf].step))
		return false;
	*s = rest;
	return rounds == 1 || ws_sum_spread(v, s, &step, (uint32_t)rounds);
}

/* A leaf of which rounds are known; UINT32_MAX: there is none. */
static uint32_t find_rounds(const struct values *v, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (unsigned n = 0; n < s->t[k].n; n++)
			if (rounds_of(&v->leaves[s->t[k].leaf[n]]))
				return s->t[k].leaf[n];
	return UINT32_MAX;
}

/* All rounds of s that are known become digits; false: too long. */
static bool all_to_digits(struct values *v, struct sum *s)
{
	uint32_t leaf;

	while ((leaf = find_rounds(v, s)) != UINT32_MAX)
		if (!rounds_to_digit(v, s, leaf))
			return false;
	return true;
}

/* How many numbers a digit has that each thread has all of; 0: it is none. */
static int64_t digit_of(const struct leaf *l)
{
	return l->kind == LEAF_DIGIT && !l->exact ? l->k : 0;
}

/* Is the weight of the first all of the second? Then both become one. */
static bool join_two(struct values *v, struct sum *s, uint32_t first, uint32_t second)
{
	int64_t high = v->leaves[first].k, low = v->leaves[second].k;
	struct sum weight, step, rest, others;

	if (first == second || high > MOST_DIGIT || low > MOST_DIGIT || high * low > MOST_DIGIT || !ws_sum_take_leaf(s, first, &weight, &rest) ||
	    !ws_sum_take_leaf(&rest, second, &step, &others) || !ws_sum_add(&weight, &step, -low) || weight.n ||
	    !ws_sum_spread(v, &others, &step, (uint32_t)(high * low)))
		return false;
	*s = others;
	return true;
}

/* Those of a sum, in the order of its terms; returns how many. */
static unsigned digits_in(const struct values *v, const struct sum *s, uint32_t list[MOST_TERMS * MOST_FACTORS])
{
	unsigned n = 0;

	for (uint32_t k = 0; k < s->n; k++)
		for (unsigned m = 0; m < s->t[k].n; m++)
			if (digit_of(&v->leaves[s->t[k].leaf[m]]))
				list[n++] = s->t[k].leaf[m];
	return n;
}

static bool join_any(struct values *v, struct sum *s)
{
	uint32_t list[MOST_TERMS * MOST_FACTORS];
	unsigned n = digits_in(v, s, list);

	for (unsigned a = 0; a < n; a++)
		for (unsigned b = 0; b < n; b++)
			if (join_two(v, s, list[a], list[b]))
				return true;
	return false;
}

/* The sum with as few digits as there may be, and no rounds that are known; what it was if that is too long. */
static struct sum in_digits(struct values *v, const struct sum *s)
{
	struct sum all = *s;

	if (!all_to_digits(v, &all))
		all = *s;
	while (join_any(v, &all))
		;
	return all;
}

void ws_ranges_join_digits(struct ws_ranges *g)
{
	for (unsigned k = 0; k < g->nwriting; k++) {
		struct sum of_k = in_digits(&g->v, &g->groups[k].sum), other;

		for (unsigned m = k + 1; m < g->ngroups; m++) {
			if (!ws_groups_may_be_one(&g->groups[k], &g->groups[m]))
				continue;
			other = in_digits(&g->v, &g->groups[m].sum);
			if (!ws_sum_equal(&of_k, &other))
				continue;
			g->groups[k].sum = of_k;
			ws_offsets_join(&g->groups[k].offsets, &g->groups[m].offsets);
			ws_group_remove(g, m--, k);
		}
	}
}
