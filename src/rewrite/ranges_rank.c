/* ranges_rank.c - of which groups of accesses to shared memory more launches are proved than of others. */
#include "rewrite/ranges_shared_priv.h"

/* Does no part of its address tell threads apart, as one word for all, or a place that data gives? Then they are where a block is one thread. */
bool ws_group_is_of_one(const struct values *v, const struct group *x)
{
	bool of_one = x->writes && !x->meets && !x->pins.n;

	for (uint32_t k = 0; k < x->sum.n; k++)
		for (uint32_t n = 0; n < x->sum.t[k].n; n++) {
			const struct leaf *l = &v->leaves[x->sum.t[k].leaf[n]];

			of_one &= ws_group_has_sum(x) && (l->fixed || ws_leaf_each_has_all(l) || l->kind == LEAF_MASKED);
		}
	return of_one;
}

/* Do threads next to each other come to the same bytes? Of an index by 4 bytes, and numbers by 4 bytes that each thread has all of. */
bool ws_group_is_crowded(const struct values *v, const struct group *x)
{
	int64_t bytes = x->distance ? 0 : x->last - x->first;

	for (uint32_t k = 0; k < x->sum.n && x->writes && !x->meets; k++) {
		const struct term *t = &x->sum.t[k];

		if (t->n != 1 || t->factor <= 0 || v->leaves[t->leaf[0]].kind != LEAF_SPECIAL || v->leaves[t->leaf[0]].fixed)
			continue;
		for (uint32_t m = 0; m < x->sum.n; m++) {
			const struct term *d = &x->sum.t[m];
			const struct leaf *l = d->n == 1 ? &v->leaves[d->leaf[0]] : NULL;

			if (l && l->kind == LEAF_DIGIT && d->factor > 0 && d->factor <= t->factor && t->factor < d->factor * (l->k - 1) + bytes)
				return true;
		}
	}
	return false;
}

bool ws_group_meets_any(const struct group *x)
{
	for (unsigned m = 0; m < MOST_GROUPS; m++)
		if (ws_group_meets(x, m))
			return true;
	return false;
}

enum ws_rank ws_group_rank(const struct values *v, const struct group *x)
{
	bool far = false;

	for (uint32_t k = 0; k < x->sum.n && x->endless && x->writes && !x->meets; k++)
		far |= x->sum.t[k].factor >= x->endless;
	if (ws_group_is_of_one(v, x))
		return WS_RANK_OF_ONE;
	if (far || ws_group_is_crowded(v, x))
		return WS_RANK_HARDLY_EVER;
	if (ws_group_meets_any(x))
		return WS_RANK_ASKS_OTHERS;
	return x->writes && !x->meets ? WS_RANK_ASKS_OWN : WS_RANK_ASKS_NOTHING;
}

/* Is it proved in blocks of one thread alone, or in hardly more launches? */
bool ws_group_is_rare(const struct values *v, const struct group *x)
{
	enum ws_rank rank = ws_group_rank(v, x);

	return rank == WS_RANK_OF_ONE || rank == WS_RANK_HARDLY_EVER;
}
