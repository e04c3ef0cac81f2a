/* ranges_digits.c - the same places of one thread, counted in other ways.
 *
 * `for (r = 0; r < 64; r++) tile[r] = b[r * pitch + t];` is unrolled by eight with a counter, and what writes the tile back by 64, without one. So of one
 * group the rows are eight rounds and a digit of eight, of the other one a digit of 64. Rounds of which the number is known are a digit of the launch's step;
 * and two digits, of which one's weight is as much as all of the other one, are a single digit. Groups that are the same then become one. */
#include "rewrite/ranges_groups.h"

enum { MOST_DIGIT = 1 << 20 };

/* The term without a leaf that it has once. */
static struct sum without(const struct term *t, unsigned nth)
{
	struct sum s = { 1, { { .factor = t->factor } } };

	for (unsigned k = 0; k < t->n; k++)
		if (k != nth)
			s.t[0].leaf[s.t[0].n++] = t->leaf[k];
	return s;
}

static void take_term(struct sum *s, uint32_t k)
{
	s->n--;
	for (; k < s->n; k++)
		s->t[k] = s->t[k + 1];
}

/* A number of rounds from 0 on that is known here; 0: it is not. */
static int64_t rounds_of(const struct leaf *l)
{
	int64_t span, rounds;

	if (l->kind != LEAF_COUNTED || l->k || l->offset || l->nof != 1 || l->by < 1 || !ws_sum_is_number(l->of[0], &span) || span < 1)
		return 0;
	rounds = (span + l->by - 1) / l->by;
	return rounds <= MOST_DIGIT ? rounds : 0;
}

static bool rounds_to_digit(struct values *v, struct sum *s, uint32_t k, unsigned nth)
{
	const struct term t = s->t[k];
	const struct leaf *l = &v->leaves[t.leaf[nth]];
	int64_t rounds = rounds_of(l);
	struct sum times = without(&t, nth), step = { 0 };

	if (!rounds || !ws_sum_add_product(&step, &times, l->step))
		return false;
	take_term(s, k);
	return rounds == 1 || ws_sum_spread(v, s, &step, (uint32_t)rounds);
}

/* All rounds of s that are known become digits; false: too long, or there are none. */
static bool all_to_digits(struct values *v, struct sum *s)
{
	bool any = false;

	for (uint32_t k = 0; k < s->n; k++)
		for (unsigned n = 0; n < s->t[k].n; n++)
			if (rounds_of(&v->leaves[s->t[k].leaf[n]])) {
				if (!rounds_to_digit(v, s, k, n))
					return false;
				any = true;
				k = UINT32_MAX;          /* the terms are others now */
				break;
			}
	return any;
}

/* How many numbers a term's only digit has, and which of its leaves it is; 0: it has none, or several, or one that data gives. */
static int64_t digit_of(const struct values *v, const struct term *t, unsigned *nth)
{
	int64_t count = 0;

	for (unsigned k = 0; k < t->n; k++) {
		const struct leaf *l = &v->leaves[t->leaf[k]];

		if (l->kind != LEAF_DIGIT)
			continue;
		if (count || l->exact)
			return 0;
		count = l->k;
		*nth = k;
	}
	return count;
}

static bool is_once(const struct sum *s, uint32_t leaf)
{
	unsigned n = 0;

	for (uint32_t k = 0; k < s->n; k++)
		for (unsigned m = 0; m < s->t[k].n; m++)
			n += s->t[k].leaf[m] == leaf;
	return n == 1;
}

/* Is the weight of term a all of the digit of term b? Then both are one: *step and *count are its. */
static bool goes_on_with(const struct values *v, const struct sum *s, uint32_t a, uint32_t b, struct sum *step, int64_t *count)
{
	unsigned of_a = 0, of_b = 0;
	int64_t high = digit_of(v, &s->t[a], &of_a), low = digit_of(v, &s->t[b], &of_b);
	struct sum weight;

	if (a == b || !high || !low || high * low > MOST_DIGIT || !is_once(s, s->t[a].leaf[of_a]) || !is_once(s, s->t[b].leaf[of_b]))
		return false;
	weight = without(&s->t[a], of_a);
	*step = without(&s->t[b], of_b);
	*count = high * low;
	return ws_sum_add(&weight, step, -low) && !weight.n;
}

static bool join_two(struct values *v, struct sum *s)
{
	struct sum step, rest = *s;
	int64_t count;

	for (uint32_t a = 0; a < s->n; a++)
		for (uint32_t b = 0; b < s->n; b++) {
			if (!goes_on_with(v, s, a, b, &step, &count))
				continue;
			take_term(&rest, a > b ? a : b);
			take_term(&rest, a > b ? b : a);
			if (!ws_sum_spread(v, &rest, &step, (uint32_t)count))
				return false;
			*s = rest;
			return true;
		}
	return false;
}

/* The sum with as few digits as there may be, and no rounds that are known; what it was if that is too long. */
static struct sum in_digits(struct values *v, const struct sum *s)
{
	struct sum all = *s;

	if (!all_to_digits(v, &all))
		all = *s;
	while (join_two(v, &all))
		;
	return all;
}

static bool may_be_one(const struct group *a, const struct group *b)
{
	return !a->area && !b->area && a->behind == b->behind && a->first == b->first && a->last == b->last && a->bytes == b->bytes && a->vec == b->vec;
}

void ws_ranges_join_digits(struct ws_ranges *g)
{
	for (unsigned k = 0; k < g->nwriting; k++) {
		struct sum of_k = in_digits(&g->v, &g->groups[k].sum), other;

		for (unsigned m = k + 1; m < g->ngroups; m++) {
			if (!may_be_one(&g->groups[k], &g->groups[m]))
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
