/* ranges_rounds.c - places of one thread in rows that a loop goes through, some rows apart.
 *
 * `for (i = 1; i < n; i++) x[i * row + t] -= c * x[(i - 1) * row + t]` has groups of the rows from 0 to n - 2 and from 1 to n - 1 (and where the compiler
 * makes two loops of it, some of a row more): each is what all threads have in common, what tells them apart, and a row for each round. Groups that differ in
 * how many rounds there are, and by some rows, each by a number, become one group of all these rows: t tells threads apart in all of them at once. */
#include "rewrite/ranges_groups.h"

enum { MOST_ROWS = 64 };

/* The only leaf that counts rounds from 0 on, of which any number is one, by rows of so many bytes as the launch says; UINT32_MAX: there is none. *rest: without it. */
static uint32_t counted_in(const struct values *v, const struct sum *s, struct sum *rest)
{
	uint32_t found = UINT32_MAX;

	rest->n = 0;
	for (uint32_t k = 0; k < s->n; k++) {
		const struct leaf *l = s->t[k].n == 1 && s->t[k].factor == 1 ? &v->leaves[s->t[k].leaf[0]] : NULL;

		if (!l || l->kind != LEAF_COUNTED) {
			rest->t[rest->n++] = s->t[k];
			continue;
		}
		if (found != UINT32_MAX || !l->exact || l->k || l->by != 1 || l->nof != 1 || !l->step->n || !l->step->t[0].n)
			return UINT32_MAX;
		found = s->t[k].leaf[0];
	}
	return found;
}

/* more = *times * step; false: it is no such multiple. */
static bool is_rows(const struct sum *more, const struct sum *step, int64_t *times)
{
	struct sum left = *more;

	*times = more->n ? more->t[0].factor / step->t[0].factor : 0;
	return *times <= MOST_ROWS && *times >= -MOST_ROWS && ws_sum_add(&left, step, -*times) && !left.n;
}

/* The sum of both: what is left of the first in memory, and all rounds from there to the last one of both. */
static bool of_both(struct values *v, const struct group *a, const struct group *b, struct sum *both)
{
	struct sum rest[2], far, fewer;
	const uint32_t leaf[] = { counted_in(v, &a->sum, &rest[0]), counted_in(v, &b->sum, &rest[1]) };
	const struct leaf *l[2];
	struct leaf all;
	int64_t rows, less, more;

	if (leaf[0] == UINT32_MAX || leaf[1] == UINT32_MAX)
		return false;
	for (unsigned k = 0; k < 2; k++)
		l[k] = &v->leaves[leaf[k]];
	far = rest[1];
	fewer = *l[0]->of[0];
	if (!ws_sum_equal(l[0]->step, l[1]->step) || !ws_sum_add(&far, &rest[0], -1) || !is_rows(&far, l[0]->step, &rows) || rows < 0 ||
	    !ws_sum_add(&fewer, l[1]->of[0], -1) || !ws_sum_is_number(&fewer, &less))
		return false;
	all = *l[0];
	far = *all.of[0];
	more = rows - less > 0 ? rows - less : 0;
	if (!ws_sum_add(&far, &(struct sum){ 1, { { .factor = 1 } } }, more))
		return false;
	all.of[0] = ws_value_keep(v, &far);
	ws_value_duty(v, &far, 0, INT32_MAX);
	*both = rest[0];
	return ws_value_leaf(v, &all, &far) && ws_sum_add(both, &far, 1);
}

bool ws_groups_may_be_one(const struct group *a, const struct group *b)
{
	return !a->area && !b->area && a->behind == b->behind && a->first == b->first && a->last == b->last && a->bytes == b->bytes && a->vec == b->vec;
}

void ws_ranges_join_rounds(struct ws_ranges *g)
{
	for (unsigned k = 0; k < g->nwriting; k++)
		for (unsigned m = 0; m < g->ngroups; m++) {
			struct group *a = &g->groups[k], *b = &g->groups[m];
			struct sum both;

			if (k == m || !ws_groups_may_be_one(a, b) || (!of_both(&g->v, a, b, &both) && !of_both(&g->v, b, a, &both)))
				continue;
			a->sum = both;
			ws_offsets_join(&a->offsets, &b->offsets);
			ws_group_remove(g, m, k);
			k -= m < k;
			m = UINT32_MAX;          /* from the first on: there may be more that it can be joined with */
		}
}
