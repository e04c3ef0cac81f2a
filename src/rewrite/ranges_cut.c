/* ranges_cut.c - groups of accesses to shared memory that are cut into several: where some lie behind all others, and where buffers of one variable do. */
#include "rewrite/ranges_shared_priv.h"

#include <stdlib.h>

/* ---- groups in parts ---- */
/* How far a sum goes from thread to thread, if that is a number: each leaf from 0 to what it was compared with; else -1. What is
 * examined at the entry does not rest on it. */
static int64_t extent_of(const struct values *v, const struct sum *s)
{
	int64_t extent = 0;

	for (uint32_t k = 0; k < s->n; k++) {
		const struct leaf *l = &v->leaves[s->t[k].leaf[0]];
		int64_t most = -1;

		for (unsigned m = 0; s->t[k].n == 1 && m < l->nbounds; m++) {
			struct sum than = *l->bounds[m].than;
			int64_t limit = ws_sum_take_constant(&than) + l->bounds[m].slack;

			if (l->bounds[m].upper && !than.n && limit < MOST_SHARED && (most < 0 || limit < most))
				most = limit;
		}
		if (most < 0 || s->t[k].factor < 0 || s->t[k].factor > MOST_SHARED)
			return -1;
		extent += most * s->t[k].factor;
	}
	return extent;
}

/* Is each access of the group in front of the byte `cut`, or not before it, and are there writes of both kinds, or is it words that have no
 * index? */
static bool is_cut(const struct ws_shared_ranges *g, unsigned group, int64_t extent, int64_t cut)
{
	bool front = false, behind = false;

	for (uint32_t k = 0; k < g->n; k++) {
		bool writes = g->list[k].kind != WS_RW_READ;

		if (g->group[k] != group)
			continue;
		if (g->at[k] < cut && g->at[k] + extent + g->list[k].bytes > cut)
			return false;
		front |= writes && g->at[k] < cut;
		behind |= writes && g->at[k] >= cut;
	}
	return (front && behind) || (!g->groups[group].sum.n && cut > g->groups[group].first);
}

/* Accesses of the group have been given the number of the next one: that is one of its own from now on. */
void ws_shared_part_group(struct ws_shared_ranges *g, unsigned group)
{
	struct group *x = &g->groups[group], *more = &g->groups[g->ngroups];

	x->meets = true;
	x->writes = false;
	x->bytes = x->offsets.n = 0;
	x->first = INT64_MAX;
	x->last = INT64_MIN;
	*more = *x;
	for (uint32_t k = 0; k < g->n; k++)
		if (g->group[k] == group || g->group[k] == g->ngroups)
			ws_shared_take(&g->groups[g->group[k]], &g->list[k], g->at[k]);
	g->ngroups++;
}

static void cut_group(struct ws_shared_ranges *g, unsigned group, int64_t cut)
{
	for (uint32_t k = 0; k < g->n; k++)
		if (g->group[k] == group && g->at[k] >= cut)
			g->group[k] = (uint8_t)g->ngroups;
	ws_shared_part_group(g, group);
}

/* The rims of a tile that its first threads load, `if (t < 3) { s[t] = x; s[t + 67] = y; }`: others have what is between. */
void ws_shared_cut(struct ws_shared_ranges *g)
{
	for (unsigned x = 0; x < g->ngroups; x++) {
		int64_t extent = ws_group_has_sum(&g->groups[x]) ? extent_of(&g->v, &g->groups[x].sum) : -1;

		for (uint32_t k = 0; k < g->n && extent >= 0 && g->ngroups < ws_shared_most_groups(g); k++)
			if (g->group[k] == x && is_cut(g, x, extent, g->at[k]))
				cut_group(g, x, g->at[k]);
	}
}

/* ---- groups of several buffers ---- */
bool ws_group_is_wide(const struct group *x)
{
	int64_t least = x->sum.n ? INT64_MAX : 0;

	for (uint32_t k = 0; k < x->sum.n; k++) {
		int64_t factor = x->sum.t[k].factor < 0 ? -x->sum.t[k].factor : x->sum.t[k].factor;

		least = factor < least ? factor : least;
	}
	return x->last - x->first > least;
}

/* Where the access's bytes end, how far is it to those of the group that begin next? */
static int64_t gap_behind(const struct ws_shared_ranges *g, uint32_t a)
{
	int64_t end = g->at[a] + g->list[a].bytes, gap = INT64_MAX;

	for (uint32_t k = 0; k < g->n; k++)
		if (g->group[k] == g->group[a] && g->at[k] + g->list[k].bytes > end && g->at[k] - end < gap)
			gap = g->at[k] - end;
	return gap == INT64_MAX ? 0 : gap;
}

/* Two buffers of one variable, where compilers have known in which of both an access is. */
static void cut_at_gap(struct ws_shared_ranges *g, unsigned group)
{
	enum { LEAST = 32 };
	const struct group *x = &g->groups[group];
	int64_t most = LEAST, cut = 0, gap;

	for (uint32_t k = 0; k < g->n; k++)
		if (g->group[k] == group && (gap = gap_behind(g, k)) > most) {
			most = gap;
			cut = g->at[k] + g->list[k].bytes + gap;
		}
	if (most > LEAST && most * 3 >= x->last - x->first && g->ngroups < ws_shared_most_groups(g))
		cut_group(g, group, cut);
}

/* Reads that meet no write of their group make one of their own. */
static void part_reads(struct ws_shared_ranges *g, const struct ws_intervals *v, unsigned group)
{
	bool *apart = ws_alloc((g->n + 1) * sizeof *apart), any = false;

	for (uint32_t k = 0; k < g->n; k++)
		any |= apart[k] = g->group[k] == group && g->list[k].kind == WS_RW_READ && !ws_shared_meets_own(g, v, k);
	for (uint32_t k = 0; k < g->n && any; k++)
		g->group[k] = apart[k] ? (uint8_t)g->ngroups : g->group[k];
	if (any)
		ws_shared_part_group(g, group);
	free(apart);
}

void ws_shared_part_buffers(struct ws_shared_ranges *g, const struct ws_intervals *v)
{
	for (unsigned k = 0; k < g->ngroups; k++)
		for (unsigned before = 0; before != g->ngroups && ws_group_has_sum(&g->groups[k]) && ws_group_is_wide(&g->groups[k]);) {
			before = g->ngroups;
			cut_at_gap(g, k);
		}
	for (unsigned k = 0; k < g->ngroups; k++)
		if (ws_group_has_sum(&g->groups[k]) && g->groups[k].writes && ws_group_is_wide(&g->groups[k]) && g->ngroups < ws_shared_most_groups(g))
			part_reads(g, v, k);
}
