/* ranges_alike.c - places of one thread, of which each has a comparison of its own.
 *
 * A tile of results that a thread has in registers is written element by element, each behind `row + 1 < m` and `column + 2 < n`. So each
 * element's row and column are registers with bounds: leaves of their own, in groups of their own. Leaves with the same bounds of what is one
 * number but for a constant are kin. Groups that are the same but for kin become one, in which each kin's constant is a digit: a number of which
 * the bounds are known, and what it is made of has one digit more. That is more places than there are, at most: each row with each column. */
#include "rewrite/ranges_groups.h"

#include <stdlib.h>

enum { MOST_KINDS = MOST_FACTORS };      /* of leaves in one sum that are replaced */
enum { MOST_FACTOR = 1 << 20 };

struct kin {                             /* of a leaf */
	uint32_t first;                  /* of its kin; itself, also where it has none */
	int64_t far;                     /* how much more it is than that one */
};

struct alike {
	struct ws_ranges *g;
	struct kin *kin;                 /* by leaf */
	struct sum *flat;                /* what leaves are made of, without their constants */
	uint32_t n;
};

static bool may_have_kin(const struct leaf *l)
{
	return l->kind == LEAF_ONE_OF && l->reg && l->nof == 1 && l->nbounds;
}

static bool same_bounds(const struct leaf *a, const struct leaf *b)
{
	bool same = a->nbounds == b->nbounds && a->bytes == b->bytes;

	for (unsigned k = 0; same && k < a->nbounds; k++) {
		const struct bound *x = &a->bounds[k], *y = &b->bounds[k];

		same = x->upper == y->upper && x->equal == y->equal && x->slack == y->slack && x->type == y->type && !x->equal &&
		       ws_sum_equal(x->than, y->than);
	}
	return same;
}

static void find_kin(struct alike *a)
{
	const struct values *v = &a->g->v;

	for (uint32_t k = 0; k < a->n; k++) {
		const struct leaf *l = &v->leaves[k];

		a->kin[k] = (struct kin){ k, 0 };
		if (!may_have_kin(l) || !ws_sum_flatten_ever(v, l->of[0], &a->flat[k]))
			continue;
		a->kin[k].far = ws_sum_take_constant(&a->flat[k]);
		for (uint32_t m = 0; m < k && a->kin[k].first == k; m++)
			if (a->kin[m].first == m && may_have_kin(&v->leaves[m]) && same_bounds(&v->leaves[m], l) &&
			    ws_sum_equal(&a->flat[m], &a->flat[k]))
				a->kin[k].first = m;
	}
}

/* Leaves of kinds that some groups have, of which each is one number in a group: what stands for them, and how much more they are than the
 * first of their kin. */
struct places { uint32_t first[MOST_KINDS], leaf[MOST_KINDS]; struct offsets far[MOST_KINDS]; unsigned n; };

struct replacing { const struct alike *a; const struct places *p; };

static bool in_place_of(void *user, uint32_t leaf, struct sum *out)
{
	const struct replacing *r = user;
	uint32_t first = leaf < r->a->n ? r->a->kin[leaf].first : leaf;

	*out = ws_sum_of_leaf(first);
	for (unsigned k = 0; r->p && k < r->p->n; k++)
		if (r->p->first[k] == first)
			*out = ws_sum_of_leaf(r->p->leaf[k]);
	return true;
}

/* The sum with what stands for its leaves; p NULL: the first of their kin. */
static bool replace(const struct alike *a, const struct sum *s, const struct places *p, struct sum *out)
{
	return ws_sum_substitute(s, in_place_of, &(struct replacing){ a, p }, out);
}

/* The kinds of leaves that a sum has which may have kin; false: too many, or two of one kind, which are not replaced by one. */
static bool kinds_of(const struct alike *a, const struct sum *s, uint32_t *leaf, unsigned *n)
{
	*n = 0;
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++) {
			uint32_t l = s->t[k].leaf[m];
			unsigned i = 0;

			if (l >= a->n || !may_have_kin(&a->g->v.leaves[l]))
				continue;
			while (i < *n && a->kin[leaf[i]].first != a->kin[l].first)
				i++;
			if (i == MOST_KINDS || (i < *n && leaf[i] != l))
				return false;
			if (i == *n)
				leaf[(*n)++] = l;
		}
	return true;
}

static bool note_places(const struct alike *a, const struct sum *s, struct places *p)
{
	uint32_t leaf[MOST_KINDS];
	unsigned n;

	if (!kinds_of(a, s, leaf, &n))
		return false;
	for (unsigned k = 0; k < n; k++) {
		unsigned i = 0;

		while (i < p->n && p->first[i] != a->kin[leaf[k]].first)
			i++;
		if (i == MOST_KINDS)
			return false;
		if (i == p->n) {
			p->first[p->n] = a->kin[leaf[k]].first;
			p->leaf[p->n++] = leaf[k];
		}
		ws_offsets_add(&p->far[i], a->kin[leaf[k]].far);
	}
	return true;
}

/* Is each constant that s has among those of p? */
static bool has_places(const struct alike *a, const struct sum *s, const struct places *p)
{
	struct places more = *p;

	if (!note_places(a, s, &more) || more.n != p->n)
		return false;
	for (unsigned k = 0; k < p->n; k++)
		if (more.far[k].n != p->far[k].n)
			return false;
	return true;
}

/* Where the numbers are not in equal steps, all between the least and the greatest that are in their greatest common step. */
static void fill_steps(struct offsets *o)
{
	int64_t step = 0, rest, least = o->at[0];
	unsigned n;

	for (unsigned k = 1; k < o->n; k++)
		for (int64_t b = o->at[k] - least; b; b = rest) {
			rest = step % b;
			step = b;
		}
	n = (unsigned)((o->at[o->n - 1] - least) / step) + 1;
	if (n > MOST_OFFSETS)
		return;
	for (unsigned k = 0; k < n; k++)
		o->at[k] = least + k * step;
	o->n = n;
}

/* The sum and one of the numbers; false: there are too many. */
static bool add_one_of(struct values *v, const struct offsets *far, struct sum *s)
{
	struct sum before = *s, least = { 1, { { .factor = far->at[0] } } };
	struct offsets steps = *far;
	int64_t last;

	if (far->n > MOST_OFFSETS)
		return false;
	ws_offsets_spread(v, far, 1, s, &last);
	if (ws_sum_equal(s, &before)) {
		fill_steps(&steps);
		ws_offsets_spread(v, &steps, 1, s, &last);
	}
	return !ws_sum_equal(s, &before) && (!far->at[0] || ws_sum_add(s, &least, 1));
}

/* A number with the bounds of its kin, that is any of them; its digits are none that *taken has. */
static bool one_of_kin(struct alike *a, struct places *p, unsigned k, struct sum *taken)
{
	struct values *v = &a->g->v;
	struct leaf l = v->leaves[p->first[k]];
	struct sum of = a->flat[p->first[k]], digits, itself;

	if (!ws_sum_add(&of, taken, 1) || !add_one_of(v, &p->far[k], &of) || !ws_sum_add(&of, taken, -1))
		return false;
	digits = of;
	if (!ws_sum_add(&digits, &a->flat[p->first[k]], -1) || !ws_sum_add(taken, &digits, 1))
		return false;
	l.of[0] = ws_value_keep(v, &of);
	l.offset = (int64_t)v->nleaves;      /* none is the same */
	if (!ws_value_leaf(v, &l, &itself))
		return false;
	p->leaf[k] = itself.t[0].leaf[0];
	return true;
}

/* The sum of a group in place of several ones. */
static bool sum_of_all(struct alike *a, struct places *p, const struct sum *s, struct sum *out)
{
	struct sum taken = { 0 };

	for (unsigned k = 0; k < p->n; k++)
		if (p->far[k].n > 1 && !one_of_kin(a, p, k, &taken))
			return false;
	return replace(a, s, p, out);
}

static bool same_but_for_kin(const struct alike *a, const struct group *x, const struct group *y)
{
	struct sum one, other;

	return !x->area && !y->area && x->behind == y->behind && replace(a, &x->sum, NULL, &one) && replace(a, &y->sum, NULL, &other) &&
	       ws_sum_equal(&one, &other);
}

/* Those that write, with group k; what only reads, where that is done as well. */
static unsigned find_alike(const struct alike *a, unsigned k, struct places *p, bool *is)
{
	struct ws_ranges *g = a->g;
	unsigned n = 0;

	for (unsigned m = k + 1; m < (k < g->nwriting ? g->nwriting : g->ngroups); m++)
		if (same_but_for_kin(a, &g->groups[k], &g->groups[m]) && ws_groups_in_one_interval(g, &g->groups[k], &g->groups[m])) {
			struct places more = *p;

			is[m] = note_places(a, &g->groups[m].sum, &more);
			if (is[m]) {
				*p = more;
				n++;
			}
		}
	for (unsigned m = g->nwriting; m < g->ngroups && k < g->nwriting; m++)
		if (same_but_for_kin(a, &g->groups[k], &g->groups[m]) && has_places(a, &g->groups[m].sum, p)) {
			is[m] = true;
			n++;
		}
	return n;
}

static void join_with(struct ws_ranges *g, unsigned k, unsigned m)
{
	struct group *x = &g->groups[k], *y = &g->groups[m];
	uint32_t bytes = y->bytes > x->bytes ? y->bytes : x->bytes;

	x->first = y->first < x->first ? y->first : x->first;
	x->last = y->last > x->last ? y->last : x->last;
	ws_offsets_join(&x->offsets, &y->offsets);
	ws_group_remove(g, m, k);
	x->bytes = bytes;
}

/* ---- one element, by several accesses ---- */
/* The term of s in which the leaf of that kind stands alone; NULL: there is none, or more than one. */
static const struct term *term_of_kind(const struct alike *a, const struct sum *s, uint32_t first)
{
	const struct term *found = NULL;

	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++) {
			if (s->t[k].leaf[m] >= a->n || a->kin[s->t[k].leaf[m]].first != first)
				continue;
			if (found || s->t[k].n != 1)
				return NULL;
			found = &s->t[k];
		}
	return found;
}

static bool has_lower_bound(const struct leaf *l)
{
	for (unsigned k = 0; k < l->nbounds; k++)
		if (!l->bounds[k].upper)
			return true;
	return false;
}

/* Do accesses of the groups overlap, if the places of that kind are apart by what their constants are? Then they are no elements of a tile, but
 * `if (i + 1 < n)` two at once, `else if (i < n)` one. */
static bool overlap(const struct alike *a, const bool *is, unsigned k, const struct offsets *far, int64_t factor)
{
	int64_t step = INT64_MAX;

	for (unsigned n = 1; n < far->n; n++)
		step = far->at[n] - far->at[n - 1] < step ? far->at[n] - far->at[n - 1] : step;
	for (unsigned m = k; m < a->g->ngroups; m++)
		if (is[m] && a->g->groups[m].last - a->g->groups[m].first > step * factor)
			return true;
	return false;
}

/* What is more in one place than in the least of its kind is then so many bytes more: what is below a bound with it is so without it, too. */
static void shift(struct alike *a, const bool *is, unsigned k, struct places *p, unsigned kind)
{
	const struct offsets *far = &p->far[kind];
	uint32_t first = p->first[kind], least = UINT32_MAX;
	struct ws_ranges *g = a->g;

	for (unsigned m = k; m < g->ngroups; m++) {
		const struct term *t = is[m] ? term_of_kind(a, &g->groups[m].sum, first) : NULL;

		if (is[m] && (!t || t->factor <= 0 || t->factor > MOST_FACTOR))
			return;
		if (t && a->kin[t->leaf[0]].far == far->at[0])
			least = t->leaf[0];
	}
	if (far->n > MOST_OFFSETS || least == UINT32_MAX || has_lower_bound(&g->v.leaves[least]) ||
	    !overlap(a, is, k, far, term_of_kind(a, &g->groups[k].sum, first)->factor))
		return;
	for (unsigned m = k; m < g->ngroups; m++) {
		struct group *x = &g->groups[m];
		const struct term *t = is[m] ? term_of_kind(a, &x->sum, first) : NULL;
		int64_t more = t ? (a->kin[t->leaf[0]].far - far->at[0]) * t->factor : 0;

		x->first += more;
		x->last += more;
		for (unsigned n = 0; n < x->offsets.n && n < MOST_OFFSETS; n++)
			x->offsets.at[n] += more;
	}
	p->far[kind].n = 1;
	p->leaf[kind] = least;
}

static void join_alike_with(struct alike *a, unsigned k)
{
	struct ws_ranges *g = a->g;
	struct places p = { .n = 0 };
	bool is[MOST_GROUPS] = { false };
	struct sum all;

	if (g->groups[k].area || !note_places(a, &g->groups[k].sum, &p) || !p.n || !find_alike(a, k, &p, is))
		return;
	is[k] = true;
	for (unsigned n = 0; n < p.n; n++)
		if (p.far[n].n > 1)
			shift(a, is, k, &p, n);
	if (!sum_of_all(a, &p, &g->groups[k].sum, &all))
		return;
	g->groups[k].sum = all;
	for (unsigned m = g->ngroups - 1; m > k; m--)
		if (is[m])
			join_with(g, k, m);
}

void ws_ranges_join_alike(struct ws_ranges *g)
{
	struct alike a = { .g = g, .n = (uint32_t)g->v.nleaves };

	a.kin = ws_alloc((a.n + 1) * sizeof *a.kin);
	a.flat = ws_alloc((a.n + 1) * sizeof *a.flat);
	find_kin(&a);
	for (unsigned k = 0; k < g->nwriting || (k < g->ngroups && g->ngroups > MOST_COMPARED); k++)
		join_alike_with(&a, k);
	free(a.kin);
	free(a.flat);
}

/* Of a group no more is known than its allocation. */
static void make_area(struct group *x, uint32_t base)
{
	x->sum = ws_sum_of_leaf(base);
	x->area = true;
	x->first = x->last = 0;
}

/* Groups that write, of one allocation each: where there are too many to be compared, nothing is known of writes but that. */
void ws_ranges_join_areas(struct ws_ranges *g)
{
	for (unsigned k = 0; k < g->nwriting; k++) {
		struct group *x = &g->groups[k];
		uint32_t base = x->area ? UINT32_MAX : ws_group_base(&g->v, x);

		if (base != UINT32_MAX)
			make_area(x, base);
	}
	for (unsigned k = 0; k < g->nwriting; k++)
		for (unsigned m = g->nwriting - 1; m > k; m--)
			if (g->groups[m].area && g->groups[m].behind == g->groups[k].behind && g->groups[k].area &&
			    ws_sum_equal(&g->groups[k].sum, &g->groups[m].sum))
				join_with(g, k, m);
}

/* ---- too many that read ---- */
static bool reads_by(const struct ws_ranges *g, unsigned k, uint32_t base)
{
	const struct group *x = &g->groups[k];

	return !x->several && !x->unproved && ws_group_base(&g->v, x) == base;
}

static bool is_written_by(const struct ws_ranges *g, uint32_t base)
{
	for (unsigned k = 0; k < g->nwriting; k++)
		if (ws_group_base(&g->v, &g->groups[k]) == base)
			return true;
	return false;
}

static void read_in_area(struct ws_ranges *g, unsigned k, uint32_t base)
{
	make_area(&g->groups[k], base);
	for (uint32_t i = 0; i < g->v.f->ninsts; i++)
		if (g->group[i] == k && g->how[i] == BOUNDED_READ)
			g->how[i] = AREA_READ;
}

/* Stencils by a table of directions read one array at dozens of places. Where nothing is written by its pointer, all of them together are its
 * allocation's, until there are few enough. */
void ws_ranges_join_reads(struct ws_ranges *g)
{
	for (unsigned k = g->nwriting; k < g->ngroups && g->ngroups > MOST_COMPARED; k++) {
		uint32_t base = ws_group_base(&g->v, &g->groups[k]);
		unsigned before = g->ngroups;

		if (base == UINT32_MAX || !reads_by(g, k, base) || is_written_by(g, base))
			continue;
		for (unsigned m = g->ngroups - 1; m > k; m--)
			if (reads_by(g, m, base) && g->groups[m].behind == g->groups[k].behind)
				join_with(g, k, m);
		if (g->ngroups < before)
			read_in_area(g, k, base);
	}
}
