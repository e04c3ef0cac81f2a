/* ranges_shared.c - the proof that threads of a block use words of shared memory of their own, from barrier to barrier.
 *
 * Accesses to one variable with one address but for a constant are a group. Let no access of a group meet, in an
 * interval between barriers (interval.c), another access to shared memory of which one of the two writes, unless it is
 * of the group itself, of another variable, or of a group whose bytes are others. If addresses stay in their variables,
 * and the threads of the block are apart from each other by the group's bytes, then no access of the group has a race; nor
 * have atomics of one size alone. A part of an address of which nothing but the number of bits is known (`data & 63`) stands for all such
 * numbers: if the threads are apart whatever it is, they are. Where not even that is known but the variable is, an access is
 * taken to stay in it (docs/REWRITE.md says so to users).
 * Accesses that a sync of the warp is always between need only be apart in different warps.
 * The code at the entry examines that with the size of the block and the parameters. A variable's own address is not
 * needed for it; all variables of unknown size begin at one place and count as one. */
#include "rewrite/ranges_shared_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- phases ---- */
/* Accesses whose address is made of a register with phases (ranges_phases.c) are in the list once for each. */
static uint32_t first_of(const struct ws_shared_ranges *g, uint32_t k) { return g->phased ? g->phased->first[k] : k; }
static uint32_t all_of(const struct ws_shared_ranges *g) { return g->phased ? g->phased->nall : g->n; }
static bool has_phase(const struct ws_shared_ranges *g, uint32_t a) { return g->phased && g->phased->phase[a]; }

/* May two threads be at a and at b, both in their phases, in one interval? */
static bool in_phase(const struct ws_shared_ranges *g, uint32_t a, uint32_t b)
{
	const struct phased *p = g->phased;
	int64_t by;

	if (!has_phase(g, a) || !has_phase(g, b) || !ws_steps_between(p->steps, p->phases.regs[0], p->of[a], p->of[b], &by) || by % p->phases.step)
		return true;
	return (p->phase[b] - p->phase[a] - by / p->phases.step) % (int)p->phases.n == 0;
}

/* ---- groups ---- */
/* Does the entry's code for a sum need such a leaf? */
static bool mentions(const struct values *v, const struct sum *s, enum leaf_kind kind, unsigned depth)
{
	enum { DEEPEST = 6 };

	if (depth == DEEPEST)
		return true;
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++) {
			const struct leaf *l = &v->leaves[s->t[k].leaf[m]];

			if (l->kind == kind || (l->step && mentions(v, l->step, kind, depth + 1)))
				return true;
			for (unsigned i = 0; i < l->nof; i++)
				if (mentions(v, l->of[i], kind, depth + 1))
					return true;
			for (unsigned i = 0; i < l->nbounds; i++)
				if (l->bounds[i].than && mentions(v, l->bounds[i].than, kind, depth + 1))
					return true;
		}
	return false;
}

/* Is one of its numbers data? */
static bool has_any(const struct values *v, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++)
			if (v->leaves[s->t[k].leaf[m]].kind == LEAF_DIGIT && v->leaves[s->t[k].leaf[m]].exact)
				return true;
	return false;
}

bool ws_sum_of_data(const struct values *v, const struct sum *s)
{
	return has_any(v, s) || mentions(v, s, LEAF_MASKED, 0);
}

/* Takes the variable's address out of a sum; false: there is none. */
static bool take_variable(const struct values *v, struct sum *s, const struct ws_ptx_sym **sym)
{
	for (uint32_t k = 0; k < s->n; k++) {
		const struct term *t = &s->t[k];

		if (t->n != 1 || t->factor != 1 || v->leaves[t->leaf[0]].kind != LEAF_SYMBOL)
			continue;
		*sym = v->leaves[t->leaf[0]].sym;
		*sym = (*sym)->size ? *sym : NULL;
		memmove(&s->t[k], &s->t[k + 1], (--s->n - k) * sizeof *t);
		return !mentions(v, s, LEAF_SYMBOL, 0);
	}
	return false;
}

bool ws_shared_is(const struct ws_rw_access *a)
{
	return a->rw_class == WS_RW_CHECK && a->space != WS_SPACE_GLOBAL;
}

/* Nothing can be examined of a number that may be any: then such an address is not known. */
static bool address_of(struct ws_shared_ranges *g, const struct ws_rw_access *a, struct sum *out)
{
	size_t nduties = g->v.nduties;
	bool known = ws_values_address(&g->v, a, out);

	for (size_t k = nduties; k < g->v.nduties && known; k++)
		known = !mentions(&g->v, g->v.duties[k].sum, LEAF_ENDLESS, 0);
	if (!known)
		g->v.nduties = nduties;
	return known;
}

static int64_t floor_modulo(int64_t a, int64_t by)
{
	return by ? (a % by + by) % by : a;
}

/* The one term of a sum that is so often a quotient of what goes on by steps, by a number. */
static struct term *bent_term(const struct values *v, struct sum *s)
{
	struct term *found = NULL;

	for (uint32_t k = 0; k < s->n; k++) {
		struct term *t = &s->t[k];
		const struct leaf *l = t->n == 1 ? &v->leaves[t->leaf[0]] : NULL;
		int64_t by;

		if (!l || l->kind != LEAF_QUOTIENT || !mentions(v, l->of[0], LEAF_ENDLESS, 0))
			continue;
		if (found || t->factor < 0 || !ws_sum_is_number(l->step, &by) || by < 1)
			return NULL;
		found = t;
	}
	return found;
}

/* How often x is in s, but for constants: s is that and *more. 0: it is not. */
static int64_t times_in(const struct sum *s, const struct sum *x, int64_t *more)
{
	for (uint32_t k = 0; k < s->n; k++) {
		struct sum rest = *s;
		int64_t times = x->n && s->t[k].n ? s->t[k].factor / x->t[x->n - 1].factor : 0;

		if (times > 0 && ws_term_same_leaves(&s->t[k], &x->t[x->n - 1]))
			return ws_sum_add(&rest, x, -times) && ws_sum_is_number(&rest, more) ? times : 0;
	}
	return 0;
}

/* A place c * x + k * (x / d), as in a tile of rows of d elements that are farther apart, by an index x that goes up by steps: it goes up by c or more when
 * x goes up by one, so two threads are apart by it if they are by c * x. That is what is left of the sum then, without steps. */
static bool take_bend(const struct values *v, struct group *x, int64_t *at)
{
	struct term *t = bent_term(v, &x->sum);
	struct sum rest = x->sum, index, steps;
	int64_t times;

	if (!t)
		return false;
	index = *v->leaves[t->leaf[0]].of[0];
	x->bend = (struct bend){ t->factor, 0, 0 };
	ws_sum_is_number(v->leaves[t->leaf[0]].step, &x->bend.by);
	memmove(&rest.t[t - x->sum.t], t + 1, (size_t)(&x->sum.t[x->sum.n] - (t + 1)) * sizeof *t);
	rest.n--;
	times = times_in(&rest, &index, at);
	ws_sum_take_endless(v, &index, &steps);
	x->bend.rest = ws_sum_take_constant(&index);
	x->endless = ws_sum_of_steps(v, &steps);
	rest = steps;
	ws_sum_without_up(v, &rest);
	if (times < 1 || !x->endless || rest.n || mentions(v, &index, LEAF_ENDLESS, 0))
		return false;
	x->bend.rest = floor_modulo(x->bend.rest, x->endless);
	x->endless *= times;
	x->sum.n = x->rounds.n = 0;
	return ws_sum_add(&x->sum, &index, times);
}

static void set_phase(struct ws_shared_ranges *g, uint32_t a)
{
	g->v.reads = has_phase(g, a) ? g->phased->reads + (size_t)g->phased->of[a] * g->v.f->ninsts : NULL;
	g->v.phase = has_phase(g, a) ? (g->phased->phase[a] - 1 + g->phased->phases.n - g->phased->turns[g->phased->of[a]]) % g->phased->phases.n : 0;
}

/* Of a term that is an endless leaf. */
static bool is_chosen(const struct values *v, const struct term *t) { return v->leaves[t->leaf[0]].offset == 2; }

/* What data chooses is less than MOST_CHOSEN; with such a factor it may wrap. */
static bool may_wrap(const struct term *t) { return t->factor >= INT32_MAX / MOST_CHOSEN || t->factor <= -INT32_MAX / MOST_CHOSEN; }

/* Steps that data chooses (ranges_chosen.c): none is negative, and how far they go is not known. false: they may wrap. */
static bool take_chosen(const struct values *v, struct group *x)
{
	unsigned chosen = 0;
	bool up = true;

	for (uint32_t k = 0; k < x->rounds.n; k++) {
		const struct term *t = &x->rounds.t[k];

		if (is_chosen(v, t) && may_wrap(t))
			return false;
		chosen += is_chosen(v, t);
		up &= t->factor > 0;
	}
	if (chosen)
		x->far = NULL;
	x->upward = up && chosen && chosen == x->rounds.n;
	return chosen < 2;
}

/* Is such a number in one of the sum's quotients, or remainders? It may have wrapped there. */
static bool is_divided(const struct values *v, const struct sum *s, unsigned depth)
{
	enum { DEEPEST = 6 };

	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++) {
			const struct leaf *l = &v->leaves[s->t[k].leaf[m]];

			if (depth && l->kind == LEAF_ENDLESS && l->offset == 2)
				return true;
			if ((l->kind == LEAF_QUOTIENT || l->kind == LEAF_REMAINDER) && (depth == DEEPEST || is_divided(v, l->of[0], depth + 1)))
				return true;
		}
	return false;
}

/* The sum of a group that an access is of, its offset in that, and `endless` or `rounds` as above. */
static bool split_address(struct ws_shared_ranges *g, const struct ws_rw_access *a, struct group *x, int64_t *at)
{
	struct sum known;

	set_phase(g, (uint32_t)(a - g->list));
	if (a->space != WS_SPACE_SHARED || !address_of(g, a, &known) || !take_variable(&g->v, &known, &x->sym) ||
	    !ws_sum_of_any(&g->v, &known, &x->sum))
		return false;
	if (is_divided(&g->v, &x->sum, 0))
		return false;
	if (bent_term(&g->v, &x->sum))
		return take_bend(&g->v, x, at);
	if (!g->parts && mentions(&g->v, &x->sum, LEAF_ENDLESS, 0))
		x->far = ws_far_find(&g->v, &x->sum, a->bytes);
	ws_sum_take_endless(&g->v, &x->sum, &x->rounds);
	if (!take_chosen(&g->v, x))
		return false;
	if (x->rounds.n && !ws_in_step_address(&g->v, a, &x->rounds)) {
		x->endless = ws_sum_of_steps(&g->v, &x->rounds);
		x->rounds.n = 0;
	}
	x->begins = ws_sum_take_constant(&x->sum);
	*at = floor_modulo(x->begins, x->endless);
	return !mentions(&g->v, &x->sum, LEAF_ENDLESS, 0);
}

/* What lies at a known place of such a variable is in the group of what is known modulo the step. */
static void put_in_columns(struct ws_shared_ranges *g, struct group *x, int64_t *at)
{
	if (!g->v.multiples || x->rounds.n || x->bend.by)
		return;
	if (x->endless && !g->columns.sym)
		g->columns = (struct columns){ x->sym, x->endless };
	if (!x->endless && x->sym == g->columns.sym) {
		x->endless = g->columns.step;
		*at = floor_modulo(*at, x->endless);
	}
	if (x->endless)
		ws_sum_drop_steps(&x->sum, x->endless);
}

bool ws_shared_variable(struct values *v, const struct ws_rw_access *a, const struct ws_ptx_sym **sym)
{
	struct bases b;

	if (a->space != WS_SPACE_SHARED || !ws_area_bases(v, a, &b) || b.n != 1 || v->leaves[b.leaf[0]].kind != LEAF_SYMBOL)
		return false;
	*sym = v->leaves[b.leaf[0]].sym;
	*sym = (*sym)->size ? *sym : NULL;
	return true;
}

/* The variable, if nothing else is known. */
static bool only_variable(struct ws_shared_ranges *g, const struct ws_rw_access *a, struct group *x)
{
	if (!ws_shared_variable(&g->v, a, &x->sym))
		return false;
	x->sum.n = x->rounds.n = 0;
	x->endless = 0;
	x->bend = (struct bend){ 0 };
	x->far = NULL;
	x->upward = false;
	return x->area = true;
}

static bool is_alike(const struct group *x, const struct group *y)
{
	return x->sym == y->sym && x->phase == y->phase && x->area == y->area && ws_parts_same(x, y) && x->endless == y->endless && !memcmp(&x->bend, &y->bend, sizeof x->bend) &&
	       ws_sum_equal(&x->rounds, &y->rounds) && ws_sum_equal(&x->sum, &y->sum);
}

void ws_shared_take(struct group *x, const struct ws_rw_access *a, int64_t at)
{
	x->meets &= a->kind == WS_RW_ATOMIC && (!x->bytes || x->bytes == a->bytes);
	ws_offsets_add(&x->offsets, at);
	x->bytes = a->bytes > x->bytes ? a->bytes : x->bytes;
	x->writes |= a->kind != WS_RW_READ;
	x->first = at < x->first ? at : x->first;
	x->last = at + a->bytes > x->last ? at + a->bytes : x->last;
}

static uint8_t group_of(struct ws_shared_ranges *g, const struct ws_rw_access *a)
{
	struct group x = { .own = true, .reads_own = true, .meets = true, .first = INT64_MAX, .last = INT64_MIN };
	int64_t at = 0;
	unsigned k = 0;

	if (!split_address(g, a, &x, &at) && !only_variable(g, a, &x))
		return NO_GROUP;
	if (!x.area)
		put_in_columns(g, &x, &at);
	x.phase = has_phase(g, (uint32_t)(a - g->list)) ? g->phased->phase[a - g->list] : 0;
	if (g->parts)
		ws_parts_begin(g, a, &x);
	g->v.reads = NULL;
	g->at[a - g->list] = at = x.area ? 0 : at;
	while (k < g->ngroups && !is_alike(&g->groups[k], &x))
		k++;
	if (k == ws_shared_most_groups(g))
		return NO_GROUP;
	if (k == g->ngroups) {
		g->groups[g->ngroups++] = x;
	} else {
		ws_parts_join(&g->groups[k], &x);
		g->groups[k].far = ws_far_join(g->groups[k].far, x.far);
		g->groups[k].upward &= x.upward;
		g->groups[k].begins = x.begins < g->groups[k].begins ? x.begins : g->groups[k].begins;
	}
	ws_shared_take(&g->groups[k], a, at);
	return (uint8_t)k;
}

/* Atomics of one size touch the same bytes, or none (PTX ISA 9.0, 6.4.1), and those of threads of a block are strong to each
 * other. */
bool ws_shared_may_race(const struct ws_rw_access *a, const struct ws_rw_access *b)
{
	if (a->kind == WS_RW_ATOMIC && b->kind == WS_RW_ATOMIC)
		return a->bytes != b->bytes;
	return a->kind != WS_RW_READ || b->kind != WS_RW_READ;
}

static bool may_meet(const struct ws_shared_ranges *g, const struct ws_intervals *v, uint32_t a, uint32_t b)
{
	return ws_shared_is(&g->list[b]) && ws_shared_may_race(&g->list[a], &g->list[b]) &&
	       ws_intervals_meet(v, g->list[a].inst->index, g->list[b].inst->index) && in_phase(g, a, b);
}

bool ws_shared_meets_any(const struct ws_shared_ranges *g, const struct ws_intervals *v, uint32_t a)
{
	for (uint32_t b = 0; b < g->n; b++) {
		bool apart = g->variable && g->variable[b] && g->variable[b] != g->variable[a];

		if ((!apart && may_meet(g, v, a, b)) || (g->list[b].rw_class == WS_RW_UNHANDLED && g->list[b].inst->space != WS_SPACE_GLOBAL))
			return true;
	}
	return false;
}

/* May two threads race by it and another access of its group, itself included? */
bool ws_shared_meets_own(const struct ws_shared_ranges *g, const struct ws_intervals *v, uint32_t a)
{
	for (uint32_t b = 0; b < g->n; b++)
		if (g->group[b] == g->group[a] && may_meet(g, v, a, b))
			return true;
	return false;
}

bool ws_shared_is_plain(const struct ws_rw_access *a)
{
	return a->space == WS_SPACE_SHARED && (a->kind == WS_RW_ATOMIC || a->sem == WS_SEM_WEAK);
}

static bool meet_in_interval(const struct ws_shared_ranges *g, const struct ws_intervals *v, unsigned a, unsigned b)
{
	for (uint32_t k = 0; k < g->n; k++)
		for (uint32_t m = 0; m < g->n && g->group[k] == a; m++)
			if (g->group[m] == b && may_meet(g, v, k, m))
				return true;
	return false;
}

static bool have_sums(const struct group *x, const struct group *y)
{
	return x->sym == y->sym && ws_group_has_sum(x) && ws_group_has_sum(y);
}

static unsigned digits_in(const struct values *v, const struct sum *s)
{
	unsigned n = 0;

	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++)
			n += v->leaves[s->t[k].leaf[m]].kind == LEAF_DIGIT;
	return n;
}

/* Is it the same sum, but for which of several digits of so many numbers is in it? Each thread has all of them. */
static bool same_but_for_digit(const struct values *v, const struct sum *a, const struct sum *b)
{
	if (a->n != b->n || digits_in(v, a) != 1 || digits_in(v, b) != 1)
		return false;
	for (uint32_t k = 0; k < a->n; k++) {
		if (a->t[k].n != b->t[k].n || a->t[k].factor != b->t[k].factor)
			return false;
		for (uint32_t m = 0; m < a->t[k].n; m++) {
			const struct leaf *x = &v->leaves[a->t[k].leaf[m]], *y = &v->leaves[b->t[k].leaf[m]];

			if (x != y && (x->kind != LEAF_DIGIT || y->kind != LEAF_DIGIT || x->k != y->k))
				return false;
		}
	}
	return true;
}

static void join_groups(struct ws_shared_ranges *g, unsigned into, unsigned from)
{
	struct group *x = &g->groups[into], *gone = &g->groups[from];

	x->meets &= gone->meets;
	x->writes |= gone->writes;
	for (uint32_t k = 0; k < g->n; k++)
		if (g->group[k] == from)
			g->group[k] = (uint8_t)(into > from ? into - 1 : into);
		else if (g->group[k] < NAMED && g->group[k] > from)
			g->group[k]--;
	memmove(gone, gone + 1, (--g->ngroups - from) * sizeof *gone);
}

/* What was `count[k][t]` for each k, one after the other, and is `count[data & 15][t]` elsewhere, is one group. */
static void join_digits(struct ws_shared_ranges *g)
{
	for (unsigned a = 0; a < g->ngroups; a++)
		for (unsigned b = a + 1; b < g->ngroups;) {
			const struct group *x = &g->groups[a], *y = &g->groups[b];

			if (have_sums(x, y) && x->first == y->first &&
			    x->last == y->last && x->bytes == y->bytes && same_but_for_digit(&g->v, &x->sum, &y->sum))
				join_groups(g, a, b);
			else
				b++;
		}
}

/* Is the sum of a that of b, but for names of its numbers that have bounds, and are its accesses no farther than those of b go? shift: from a to b. */
static bool is_by_names(const struct ws_shared_ranges *g, unsigned a, unsigned b, int64_t *shift)
{
	const struct group *x = &g->groups[a], *y = &g->groups[b];
	struct sum flat;

	if (!have_sums(x, y) || !ws_sum_flatten(&g->v, &x->sum, &flat))
		return false;
	*shift = ws_sum_take_constant(&flat);
	return ws_sum_equal(&flat, &y->sum) && x->first + *shift >= 0 && x->last + *shift <= y->last;
}

/* `if (i < n) s[i] = x; if (i + 2 < n) s[i + 2] = z;`: of both is known where they are, and of one more than of the other. */
static void join_names(struct ws_shared_ranges *g, const struct ws_intervals *v)
{
	int64_t shift;

	for (unsigned a = 0; a < g->ngroups; a++)
		for (unsigned b = 0; b < g->ngroups; b++) {
			if (a == b || !meet_in_interval(g, v, a, b) || !is_by_names(g, a, b, &shift))
				continue;
			for (uint32_t k = 0; k < g->n; k++)
				if (g->group[k] == a)
					ws_shared_take(&g->groups[b], &g->list[k], g->at[k] += shift);
			join_groups(g, b, a);
			a = b = 0;
		}
}

/* ---- groups that go on in step ---- */
/* What it meets, itself or by way of others of its group. */
static void mark_met(const struct ws_shared_ranges *g, const struct ws_intervals *v, uint32_t a, bool *met)
{
	met[a] = true;
	for (uint32_t b = 0; b < g->n; b++)
		if (g->group[b] == g->group[a] && !met[b] && (may_meet(g, v, a, b) || may_meet(g, v, b, a)))
			mark_met(g, v, b, met);
}

/* What does not meet goes into groups of its own: then the offsets are those of one interval. */
static void split_by_intervals(struct ws_shared_ranges *g, const struct ws_intervals *v, unsigned group)
{
	bool *met = ws_alloc((g->n + 1) * sizeof *met), any = true;

	for (unsigned k = group; any && g->ngroups < ws_shared_most_groups(g); k = g->ngroups - 1) {
		uint32_t first = 0;

		while (g->group[first] != k)
			first++;
		mark_met(g, v, first, met);
		any = false;
		for (uint32_t m = 0; m < g->n; m++)
			if (g->group[m] == k && !met[m]) {
				g->group[m] = (uint8_t)g->ngroups;
				any = true;
			}
		if (any)
			ws_shared_part_group(g, k);
	}
	free(met);
}

static void look_at_pairs(struct ws_shared_ranges *g, const struct ws_intervals *v, unsigned group)
{
	struct group *x = &g->groups[group];

	x->distance = ws_sum_divisor(&x->sum);
	for (uint32_t a = 0; a < g->n; a++)
		for (uint32_t b = 0; b < g->n && g->group[a] == group; b++) {
			if (g->group[b] != group || !may_meet(g, v, a, b))
				continue;
			x->own &= ws_in_step_same(&g->v, &x->rounds, a, b);
			x->reads_own &= x->own;
			if (!ws_in_step_apart(x->distance, g->at[a], g->list[a].bytes, g->at[b], g->list[b].bytes))
				x->distance = 0;
		}
}

static void look_at_steps(struct ws_shared_ranges *g, const struct ws_intervals *v)
{
	for (unsigned k = 0, all = g->ngroups; k < all; k++)
		if (g->groups[k].rounds.n)
			split_by_intervals(g, v, k);
	for (unsigned k = 0; k < g->ngroups; k++)
		if (g->groups[k].rounds.n)
			look_at_pairs(g, v, k);
}

/* ---- the first word of a thread's own ---- */
/* Do its bounds, and those of what it is another name of, leave 0 in? */
static bool may_be_zero(const struct values *v, struct sum s)
{
	while (s.n == 1 && s.t[0].n == 1 && s.t[0].factor == 1 && v->leaves[s.t[0].leaf[0]].kind == LEAF_ONE_OF) {
		const struct leaf *l = &v->leaves[s.t[0].leaf[0]];

		for (unsigned k = 0; k < l->nbounds; k++) {
			struct sum than = *l->bounds[k].than;

			if (!l->bounds[k].upper || ws_sum_take_constant(&than) + l->bounds[k].slack < 0 || than.n)
				return false;
		}
		if (l->nof != 1 || l->in_time)
			return false;
		s = *l->of[0];
	}
	return true;
}

/* Is the leaf 0 where the pins hold, if it counts the rounds of a loop in the first one? */
static bool begins_at_zero(const struct values *v, uint32_t leaf, const struct pins *pins)
{
	const struct leaf *l = &v->leaves[leaf];
	struct sum begin = ws_sum_of_leaf(leaf), flat;

	if (l->kind == LEAF_DIGIT)
		return true;
	if (l->kind == LEAF_LOOP && l->nof == 1)
		begin = *l->of[0];
	if (!ws_sum_flatten(v, &begin, &flat) || !may_be_zero(v, begin))
		return false;
	for (unsigned k = 0; k < pins->n; k++)
		if (ws_sum_equal(&pins->zero[k], &flat))
			return true;
	return false;
}

/* What is equal to a number wherever any access of the group is reached. */
static struct pins pins_of_all(struct ws_shared_ranges *g, unsigned group)
{
	struct pins all = { .n = 0 }, some;
	bool first = true;

	for (uint32_t k = 0; k < g->n; k++) {
		if (g->group[k] != group)
			continue;
		ws_pins_find(&g->v, &g->list[k], &some);
		if (first)
			all = some;
		else
			ws_pins_intersect(&all, &some);
		first = false;
	}
	return all;
}

/* Is a word that has no index, of group b, the one of group a that the thread itself has by index 0? `if (t == 0) sum = s[0]`. */
static bool is_first_word(struct ws_shared_ranges *g, unsigned a, unsigned b)
{
	const struct group *x = &g->groups[a], *y = &g->groups[b];
	struct pins pins;

	if (!have_sums(x, y) || y->sum.n || !x->sum.n || !x->writes || x->meets ||
	    y->first < x->first || y->last > x->last)
		return false;
	pins = pins_of_all(g, b);
	for (uint32_t k = 0; k < x->sum.n && pins.n; k++)
		if (x->sum.t[k].n != 1 || !begins_at_zero(&g->v, x->sum.t[k].leaf[0], &pins))
			return false;
	return pins.n > 0;
}

static void join_first_words(struct ws_shared_ranges *g, const struct ws_intervals *v)
{
	for (unsigned b = 0; b < g->ngroups; b++)
		for (unsigned a = 0; a < g->ngroups; a++)
			if (a != b && meet_in_interval(g, v, a, b) && is_first_word(g, a, b)) {
				join_groups(g, a, b);
				b = 0;
				break;
			}
}

/* What is equal to a number wherever an access of the group is reached by which its threads may meet: `if (lane == 31) sums[warp] = x`, or
 * `if (t == 0) n = x`, that all read behind a barrier. */
static void find_pins(struct ws_shared_ranges *g, const struct ws_intervals *v, unsigned group)
{
	struct pins some;
	bool first = true;

	for (uint32_t k = 0; k < g->n && (first || g->groups[group].pins.n); k++) {
		if (g->group[k] != group || !ws_shared_meets_own(g, v, k))
			continue;
		ws_pins_find(&g->v, &g->list[k], &some);
		if (first)
			g->groups[group].pins = some;
		else
			ws_pins_intersect(&g->groups[group].pins, &some);
		first = false;
	}
}

static bool find_groups(struct ws_shared_ranges *g, const struct ws_intervals *v)
{
	unsigned shared = 0;
	bool quiet = false;

	for (uint32_t k = 0; k < g->n; k++)
		g->group[k] = ws_shared_is(&g->list[k]) && ws_shared_is_plain(&g->list[k]) && !ws_shared_meets_any(g, v, k) ? QUIET : NO_GROUP;
	ws_shared_find_named(g, v);
	for (uint32_t k = 0; k < g->n; k++)
		if (ws_is_quiet(g->group[k]))
			quiet = true;
		else if (ws_shared_is(&g->list[k]) && ++shared <= MOST_ACCESSES)
			g->group[k] = group_of(g, &g->list[k]);
	for (size_t k = 0; k < g->v.nduties; k++)
		if (mentions(&g->v, g->v.duties[k].sum, LEAF_SYMBOL, 0))
			return false;
	look_at_steps(g, v);
	if (g->phased)
		ws_shared_part_buffers(g, v);
	else
		join_names(g, v);
	ws_shared_cut(g);
	for (unsigned k = 0; k < g->ngroups; k++)
		g->groups[k].before = g->groups[k].sum;
	for (unsigned k = 0; k < g->ngroups; k++)
		if (ws_group_has_sum(&g->groups[k]))
			ws_offsets_spread(&g->v, &g->groups[k].offsets, g->groups[k].bytes, &g->groups[k].sum,
			                  &g->groups[k].last);
	if (!g->phased)
		join_digits(g);
	join_first_words(g, v);
	for (unsigned k = 0; k < g->ngroups; k++)
		if (g->groups[k].writes && !g->groups[k].meets && !g->groups[k].area)
			find_pins(g, v, k);
	return (g->ngroups || quiet) && shared <= MOST_ACCESSES;
}

/* ---- who meets whom ---- */
static bool is_word(const struct group *x) { return !x->sum.n && ws_group_has_sum(x); }

/* Words that have no index, and are others? */
static bool are_other_words(const struct group *x, const struct group *y)
{
	return is_word(x) && is_word(y) && (x->last <= y->first || y->last <= x->first);
}

/* Of two accesses that may race: in one warp, too; and one warp alone comes to them, where a block has one row of threads. */
enum { IN_ONE_WARP = 1, ONE_WARP_COMES = 2 };

static void note_other(struct ws_shared_ranges *g, uint32_t a, unsigned other, unsigned where)
{
	struct group *x = &g->groups[g->group[a]];
	bool any = ws_group_meets(x, other);
	int64_t first = g->at[a], last = first + g->list[a].bytes;

	x->met[other].first = any && x->met[other].first < first ? x->met[other].first : first;
	x->met[other].last = any && x->met[other].last > last ? x->met[other].last : last;
	(where & IN_ONE_WARP ? x->others : x->in_others)[other] = true;
	x->warps_come[other] |= !(where & ONE_WARP_COMES);
	g->met[a] = true;
}

/* Two accesses that may race by what is known before the launch. */
static void meet(struct ws_shared_ranges *g, uint32_t a, uint32_t b, unsigned where)
{
	struct group *x = &g->groups[g->group[a]];
	bool meets = true;

	if (g->group[b] == NO_GROUP)
		x->own = false;
	else if (g->group[a] != g->group[b] && g->groups[g->group[b]].sym == x->sym && !are_other_words(x, &g->groups[g->group[b]]))
		note_other(g, a, g->group[b], where);
	else
		meets = false;
	x->reads_own &= !meets || g->list[a].kind != WS_RW_READ;
}

/* Are both reached by the same lane of a warp alone, and so by one thread of it? Where rows of threads are whole warps, as is examined where groups
 * are to be apart in different warps. */
static bool are_of_one_lane(struct ws_shared_ranges *g, uint32_t a, uint32_t b)
{
	struct pins of_a, of_b;

	ws_pins_find(&g->v, &g->list[a], &of_a);
	if (!ws_pins_have_lane(&g->v, &of_a))
		return false;
	ws_pins_find(&g->v, &g->list[b], &of_b);
	ws_pins_intersect(&of_a, &of_b);
	return ws_pins_have_lane(&g->v, &of_a);
}

static bool meet_in_warp(struct ws_shared_ranges *g, const struct ws_intervals *warp, uint32_t a, uint32_t b)
{
	if (warp && !ws_intervals_meet_in_warp(warp, g->list[a].inst->index, g->list[b].inst->index))
		return false;
	return g->group[b] >= NAMED || g->group[a] == g->group[b] || !are_of_one_lane(g, a, b);
}

/* By access: which warp comes to it, where it is one alone; what ws_pins_warp says. Of kernels with syncs of warps. */
static const struct sum **find_warps(struct ws_shared_ranges *g)
{
	const struct sum **only = ws_alloc((g->n + 1) * sizeof *only);

	for (uint32_t k = 0; k < g->n; k++) {
		struct pins pins;

		if (g->group[k] >= NAMED)
			continue;
		ws_pins_find(&g->v, &g->list[k], &pins);
		only[k] = ws_pins_warp(&g->v, &pins);
	}
	return only;
}

static bool is_one_warp(const struct sum *const *only, uint32_t a, uint32_t b)
{
	return only && only[a] && only[b] && ws_sum_equal(only[a], only[b]);
}

static void find_meetings(struct ws_shared_ranges *g, const struct ws_intervals *v)
{
	struct ws_intervals *warp = ws_intervals_of_warp(g->v.f, g->list, g->n, g->dead, v);
	const struct sum **only = warp && !g->parts ? find_warps(g) : NULL;

	for (uint32_t a = 0; a < g->n; a++)
		for (uint32_t b = 0; b < g->n && g->group[a] < NAMED; b++)
			if (g->group[b] != NAMED && may_meet(g, v, a, b))
				meet(g, a, b, (meet_in_warp(g, warp, a, b) ? IN_ONE_WARP : 0) | (is_one_warp(only, a, b) ? ONE_WARP_COMES : 0));
	free(only);
	ws_intervals_free(warp);
}

/* Does it meet the other one in other warps alone, of which but one comes there, if there is one row of threads? */
static bool meets_in_no_warp(const struct group *x, unsigned other)
{
	return x->in_others[other] && !x->others[other] && !x->warps_come[other];
}

/* Does a group meet another one, of which of one of both no more than the variable is known? */
static bool meets_in_variable(const struct ws_shared_ranges *g, unsigned k)
{
	for (unsigned m = 0; m < g->ngroups; m++)
		if (ws_group_meets(&g->groups[k], m) && !meets_in_no_warp(&g->groups[k], m) && !(ws_parts_known(&g->groups[k]) && ws_parts_known(&g->groups[m])))
			return true;
	return false;
}

/* Does it meet places that data gives? It is hardly apart from all of these. */
static bool meets_data(const struct ws_shared_ranges *g, const struct group *x)
{
	for (unsigned m = 0; m < g->ngroups; m++)
		for (uint32_t k = 0; k < g->groups[m].sum.n && x->others[m]; k++) {
			const struct leaf *l = &g->v.leaves[g->groups[m].sum.t[k].leaf[0]];

			if (g->groups[m].sum.t[k].n == 1 && l->kind == LEAF_DIGIT && l->exact)
				return true;
		}
	return false;
}

/* `if (v < s[t]) s[t] = v`, of words that others read meanwhile: what a thread reads of its own is not what these may meet. */
static void find_reads_own(struct ws_shared_ranges *g, unsigned group)
{
	struct group *x = &g->groups[group];
	bool reads = false;

	for (uint32_t k = 0; k < g->n; k++)
		reads |= g->group[k] == group && g->list[k].kind == WS_RW_READ && ws_shared_is_plain(&g->list[k]);
	x->reads_own &= reads && x->writes && !x->meets && !x->area && !g->phased && ws_can_be_apart(&g->v, &x->sum) && (!x->own || meets_data(g, x));
}

static bool any_own(struct ws_shared_ranges *g)
{
	bool any = false;

	for (unsigned k = 0; k < g->ngroups; k++) {
		bool alone = true;               /* reads that meet writes to their variable are left to the probe, but for atomics, where there is none */

		for (unsigned m = 0; m < g->ngroups && !g->phased && !g->parts; m++)
			alone &= !g->groups[k].others[m] || g->groups[m].meets;
		g->groups[k].own &= !meets_in_variable(g, k) && (!g->groups[k].area || !g->groups[k].writes || g->groups[k].meets);
		g->groups[k].own &= g->groups[k].meets || (g->groups[k].writes ? ws_can_be_apart(&g->v, &g->groups[k].sum) : alone);
		find_reads_own(g, k);
		any |= g->groups[k].own || g->groups[k].reads_own;
	}
	for (uint32_t k = 0; k < g->n; k++)
		any |= ws_is_quiet(g->group[k]);
	return any;
}

/* ---- the entry ---- */
static void demand(struct entry *e, const struct num *a, const char *op, int64_t k)
{
	ws_code_add(e->c, "setp.%s.and.s64 %s, %s, %lld, %s;", op, e->ok, ws_entry_register(e, a), (long long)k, e->ok);
}

/* A group of which it is not known how far it goes may be anywhere in its variable; so may its threads, if what is left
 * of their addresses comes to no more than what it goes on by (write_proof). Of `table[byte]` no more is asked than of `table[data]`. */
static void stays_inside(struct entry *e, struct group *x)
{
	int64_t size = x->sym ? (int64_t)x->sym->size : MOST_SHARED;

	if (x->sym && ws_group_has_sum(x) && has_any(e->v, &x->sum)) {
		x->lo = ws_entry_clamp(e, x->lo, 0, size);
		x->hi = ws_entry_clamp(e, x->hi, 0, size);
		return;
	}
	if (ws_group_has_sum(x)) {
		demand(e, &x->lo, "ge", 0);
		demand(e, &x->hi, "le", size);
		return;
	}
	if (!x->area) {
		x->extent = ws_entry_register(e, &x->hi);
		ws_code_add(e->c, "sub.s64 %s, %s, %s;", x->extent, x->extent, ws_entry_text(e, &x->lo));
	}
	x->lo = x->upward ? ws_entry_clamp(e, ws_entry_add(e, x->lo, ws_entry_number(x->begins - x->first)), 0, size) : ws_entry_number(0);
	x->hi = ws_entry_number(size);
	if (x->far) {
		ws_far_bounds(e, x->far, &x->lo, &x->hi);
		x->lo = ws_entry_clamp(e, x->lo, 0, size);
		x->hi = ws_entry_clamp(e, x->hi, 0, size);
	}
}

/* warps: or apart in different warps. one_row: or there is one row of threads. */
static void demand_disjoint(struct entry *e, const struct group *a, const struct group *b, bool warps, bool one_row)
{
	const struct stretch ab[] = { { &a->sum, a->first, a->last }, { &b->sum, b->first, b->last } };
	const char *before = ws_code_temp(e->c, WS_PRED);
	bool sums = have_sums(a, b);

	ws_code_add(e->c, "setp.le.s64 %s, %s, %s;", before, ws_entry_register(e, &a->hi), ws_entry_text(e, &b->lo));
	ws_code_add(e->c, "setp.le.or.s64 %s, %s, %s, %s;", before, ws_entry_register(e, &b->hi), ws_entry_text(e, &a->lo), before);
	if (sums)
		ws_entry_or_threads_apart(e, &ab[0], &ab[1], before);
	if (sums && warps)
		ws_entry_or_warps_apart(e, &ab[0], &ab[1], before);
	if (one_row)
		ws_entry_or_one_row(e, before);
	ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, before);
}

/* Threads have words of their own in the group. */
static void demand_own(struct entry *e, const struct group *x)
{
	if (x->extent)
		ws_code_add(e->c, "setp.le.and.s64 %s, %s, %lld, %s;", e->ok, x->extent, (long long)(x->endless ? x->endless : INT32_MAX), e->ok);
	ws_entry_apart_in_block(e, &x->sum, x->distance ? x->distance : x->last - x->first, &x->pins);
}

/* What parts are is for the host alone. */
static const char *predicate(const struct ws_shared_ranges *g, struct ws_code *c)
{
	return g->parts ? ws_code_temp(c, WS_PRED) : ws_rw_truth_of_shared(g->p, g->v.f);
}

/* The next predicate, which holds what the one before does. */
static const char *go_on_with(const struct ws_shared_ranges *g, struct entry *e)
{
	const char *before = e->ok;

	e->ok = predicate(g, e->c);
	ws_code_add(e->c, "mov.pred %s, %s;", e->ok, before);
	return e->ok;
}

static void demand_apart(const struct ws_shared_ranges *g, struct entry *e, const struct group *x, unsigned other)
{
	const struct group *b = &g->groups[other];

	if (g->parts && (!ws_group_has_sum(x) || !ws_group_has_sum(b)))
		ws_parts_demand(g, e, x, b);
	else
		demand_disjoint(e, x, b, !x->others[other], meets_in_no_warp(x, other));
}

static void write_proof(const struct ws_shared_ranges *g, struct entry *e, struct group *x)
{
	x->proved = go_on_with(g, e);
	for (unsigned m = 0; m < g->ngroups; m++)
		if (ws_group_meets(x, m))
			demand_apart(g, e, x, m);
	if (x->writes && !x->meets)
		demand_own(e, x);
	if (ws_group_is_of_one(&g->v, x))
		ws_rw_holds_rarely(g->p, x->proved);
}

static void write_proof_of_reads(const struct ws_shared_ranges *g, struct entry *e, struct group *x)
{
	x->reads_proved = go_on_with(g, e);
	demand_own(e, x);
}

/* Accesses with phases have no race if none has in any phase. */
static bool phases_are_own(const struct ws_shared_ranges *g)
{
	bool own = true;

	for (uint32_t k = 0; k < g->n; k++)
		own &= !has_phase(g, k) || ws_is_quiet(g->group[k]) || (g->group[k] != NO_GROUP && g->groups[g->group[k]].own && !ws_group_is_rare(&g->v, &g->groups[g->group[k]]));
	return own;
}

static bool any_phase(const struct ws_shared_ranges *g, unsigned group)
{
	bool any = false;

	for (uint32_t k = 0; k < g->n; k++)
		any |= g->group[k] == group && has_phase(g, k);
	return any;
}

static void prove_phases(struct ws_shared_ranges *g, struct entry *e)
{
	const char *proved = ws_rw_truth_of_shared(g->p, g->v.f);

	ws_code_add(e->c, "mov.pred %s, %s;", proved, g->named);
	for (unsigned k = 0; k < g->ngroups; k++)
		if (any_phase(g, k))
			ws_code_add(e->c, "and.pred %s, %s, %s;", proved, proved, g->groups[k].proved);
	g->phased->proved = proved;
}

/* Those of a group that there are. Each begins with what all groups rely on, and what is examined for one is not relied on in the code of the next: what does
 * not hold of one is not held against others. With parts all have to hold. */
static void write_proofs_of(struct ws_shared_ranges *g, struct entry *e, struct group *x, enum ws_rank rank)
{
	struct ws_entry_mark *mark = g->parts ? NULL : ws_entry_mark(e);
	const char *all = e->ok;

	if (x->own && ws_group_rank(&g->v, x) == rank)
		write_proof(g, e, x);
	else if (x->reads_own && rank == (ws_group_is_crowded(&g->v, x) ? WS_RANK_HARDLY_EVER : WS_RANK_ASKS_OWN))
		write_proof_of_reads(g, e, x);
	if (!mark)
		return;
	ws_entry_forget(e, mark);
	e->ok = all;
}

/* All groups stay inside: else one could come into the variable of another. */
static void write_proofs(struct ws_shared_ranges *g, struct entry *e)
{
	e->ok = predicate(g, e->c);
	ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", e->ok);
	for (unsigned k = 0; k < g->nrare; k++)
		ws_entry_unless(e, &g->rare[k]);
	g->quiet = e->ok;
	go_on_with(g, e);
	ws_shared_find_most(g);
	ws_entry_duties(e, 0, g->v.nduties);
	for (unsigned k = 0; k < g->ngroups; k++) {
		struct group *x = &g->groups[k];

		ws_entry_bounds(e, &x->sum, &x->lo, &x->hi);
		x->lo = ws_entry_add(e, x->lo, ws_entry_number(x->first));
		x->hi = ws_entry_add(e, x->hi, ws_entry_number(x->last));
		if (x->most.has)
			x->hi = ws_shared_most(e, x, x->hi);
		stays_inside(e, x);
		if (g->parts)
			ws_parts_open(g, e, x);
	}
	g->named = ws_shared_any_named(g) ? go_on_with(g, e) : g->quiet;
	for (unsigned rank = 0; rank < WS_RANKS; rank++)
		for (unsigned k = 0; k < g->ngroups; k++)
			write_proofs_of(g, e, &g->groups[k], rank);
}

static void write_entry(struct ws_shared_ranges *g)
{
	struct entry e = { .v = &g->v, .c = ws_code_entry(g->p, g->v.f) };

	write_proofs(g, &e);
	if (g->phased && phases_are_own(g))
		prove_phases(g, &e);
	ws_code_tell(e.c);
	free(e.known);
}

/* The same for the host alone, with parts; false: there are none. */
static bool write_parts(struct ws_shared_ranges *g, struct ws_shared_parts *out)
{
	struct entry e = { .v = &g->v, .c = ws_code_for_host(g->p, g->v.f) };
	struct ws_buf text = { 0 };
	bool fine;

	write_proofs(g, &e);
	fine = ws_parts_close(g, &e, out);
	ws_code_host_text(e.c, &text);
	out->text = ws_arena_strndup(ws_rw_module(g->p)->arena, text.data, text.len);
	ws_buf_free(&text);
	free(e.known);
	return fine;
}

/* ---- for the pass ---- */
static struct ws_shared_ranges *begin(struct ws_pass *p, struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n)
{
	struct ws_shared_ranges *g = ws_alloc(sizeof *g);

	*g = (struct ws_shared_ranges){ .p = p, .list = list, .n = n, .group = ws_alloc(n + 1), .at = ws_alloc((n + 1) * sizeof(int64_t)), .met = ws_alloc(n + 1) };
	ws_values_init(&g->v, kernel);
	g->v.shared = true;
	return g;
}

/* Of the same kernel, with parts if that has some. */
static struct ws_shared_ranges *begin_as(const struct ws_shared_ranges *g, const struct ws_rw_access *list, uint32_t n)
{
	struct ws_shared_ranges *other = begin(g->p, g->v.f, list, n);

	other->parts = g->parts;
	other->v.multiples = g->v.multiples;
	other->columns = g->columns;
	return other;
}

static bool find(struct ws_shared_ranges *g, const struct ws_intervals *v)
{
	if (!find_groups(g, v))
		return false;
	find_meetings(g, v);
	return any_own(g);
}

static bool meets_others(const struct group *x)
{
	for (unsigned m = 0; m < MOST_GROUPS; m++)
		if (x->others[m])
			return true;
	return false;
}

static bool is_own_read(const struct ws_shared_ranges *g, uint32_t a)
{
	return g->groups[g->group[a]].reads_own && g->list[a].kind == WS_RW_READ && ws_shared_is_plain(&g->list[a]);
}

/* How many accesses may be proved, where that is not rare; alone: of groups that meet no other one, of which it depends on
 * where they are. */
static uint32_t proves(const struct ws_shared_ranges *g, bool alone)
{
	bool phases = g->phased && phases_are_own(g);
	uint32_t n = 0;

	for (uint32_t m = 0; m < all_of(g); m++) {
		uint32_t k = first_of(g, m);
		const struct group *x = g->group[k] < NAMED ? &g->groups[g->group[k]] : NULL;

		n += has_phase(g, k) ? phases : ws_is_quiet(g->group[k]) || (x && (x->own || is_own_read(g, k)) && !ws_group_is_rare(&g->v, x) && !(alone && meets_others(x)));
	}
	return n;
}

/* In launches in which rare conditions are false. */
static bool proves_more(const struct ws_shared_ranges *other, const struct ws_shared_ranges *g, bool found)
{
	uint32_t all = found ? proves(g, false) : 0;

	return proves(other, false) > all || (proves(other, false) == all && proves(other, true) > proves(g, true));
}

static uint32_t shared_accesses(const struct ws_shared_ranges *g)
{
	uint32_t n = 0;

	for (uint32_t m = 0; m < all_of(g); m++)
		n += ws_shared_is(&g->list[first_of(g, m)]);
	return n;
}

/* Where conditions that hold in few launches jump over barriers: what can be proved of the others, if it is more. */
static struct ws_shared_ranges *find_without_rare(struct ws_shared_ranges *g, bool found)
{
	struct ws_shared_ranges *other = begin_as(g, g->list, g->n);
	struct ws_intervals *v = NULL;
	bool better;

	other->dead = ws_alloc(g->v.f->ninsts + 1);
	other->nrare = ws_rare_ways(&other->v, other->dead, other->rare, 0);
	if (other->nrare)
		v = ws_intervals_find(g->v.f, g->list, g->n, false, other->dead);
	better = v && find(other, v) && proves_more(other, g, found);
	ws_intervals_free(v);
	ws_shared_ranges_free(better ? g : other);
	return better ? other : g;
}

/* With places of which nothing is known but what they are a multiple of, if that proves more. */
static struct ws_shared_ranges *find_with_multiples(struct ws_shared_ranges *g, const struct ws_rw_access *list, uint32_t n, const struct ws_intervals *v, bool *found)
{
	struct ws_shared_ranges *first = begin(g->p, g->v.f, list, n), *other;
	bool better;

	first->v.multiples = true;
	find(first, v);                      /* says of which variable there are some */
	other = begin_as(first, list, n);
	better = find(other, v) && proves_more(other, g, *found);
	ws_shared_ranges_free(first);
	ws_shared_ranges_free(better ? g : other);
	*found |= better;
	return better ? other : g;
}

/* Do places where something is written go on in time? Then threads that race may be in step. */
static bool goes_on(const struct ws_shared_ranges *g)
{
	for (unsigned k = 0; k < g->ngroups; k++)
		if (g->groups[k].writes && !g->groups[k].meets && !g->groups[k].area && (g->groups[k].endless || ws_sum_in_time(&g->v, &g->groups[k].sum)))
			return true;
	return false;
}

static bool any_in_step(const struct ws_shared_ranges *g)
{
	for (unsigned k = 0; k < g->ngroups; k++)
		if (g->groups[k].rounds.n && g->groups[k].own && g->groups[k].writes)
			return true;
	return false;
}

/* Where registers are seen as going on in step: less is asked of a launch then, and no less is to be proved. */
static struct ws_shared_ranges *find_in_step(struct ws_shared_ranges *g, const struct ws_intervals *v, struct ws_steps *steps, bool found)
{
	struct ws_shared_ranges *other = begin_as(g, g->list, g->n);
	bool better;

	other->v.in_step = steps;
	better = steps && find(other, v) && any_in_step(other) && !(found && proves_more(g, other, true));
	other->v.in_step = NULL;
	ws_shared_ranges_free(better ? g : other);
	return better ? other : g;
}

/* ---- in phases ---- */
static void free_phased(struct phased *p)
{
	if (!p)
		return;
	free(p->list);
	free(p->of);
	free(p->first);
	free(p->phase);
	free(p->reads);
	free(p->turns);
	free(p);
}

/* The list with each access that reads the register once for each phase; NULL: none does. */
static struct phased *begin_phased(struct values *v, const struct phases *phases, struct ws_steps *steps, const struct ws_rw_access *list, uint32_t n)
{
	struct phased *p = ws_alloc(sizeof *p);
	uint32_t most = n * phases->n + 1, at = 0;
	bool any = false;

	*p = (struct phased){ .phases = *phases, .steps = steps, .all = list, .nall = n, .list = ws_alloc(most * sizeof *p->list), .of = ws_alloc(most * sizeof *p->of),
	                      .first = ws_alloc((n + 1) * sizeof *p->first), .phase = ws_alloc(most), .reads = ws_alloc((size_t)(n + 1) * v->f->ninsts), .turns = ws_alloc(n + 1) };
	for (uint32_t k = 0; k < n; k++) {
		bool has = ws_shared_is(&list[k]) && ws_shared_is_plain(&list[k]) && ws_phases_read(v, steps, phases, &list[k], p->reads + (size_t)k * v->f->ninsts, &p->turns[k]);

		p->first[k] = at;
		for (unsigned phase = 0; phase < (has ? phases->n : 1); phase++, at++) {
			p->list[at] = list[k];
			p->of[at] = k;
			p->phase[at] = has ? (uint8_t)(phase + 1) : 0;
		}
		any |= has;
	}
	p->n = at;
	if (any)
		return p;
	free_phased(p);
	return NULL;
}

static struct ws_shared_ranges *begin_in_phases(const struct ws_shared_ranges *plain, const struct ws_rw_access *list, uint32_t n, struct ws_steps *steps,
                                                const struct ws_reg *r, unsigned way)
{
	struct ws_shared_ranges *g = begin_as(plain, list, n);
	struct phases phases;

	g->v.only = ws_steps_only(steps);
	if (ws_phases_find(&g->v, steps, r, way, &phases))
		g->phased = begin_phased(&g->v, &phases, steps, list, n);
	if (!g->phased) {
		ws_shared_ranges_free(g);
		return NULL;
	}
	g->list = g->phased->list;
	g->n = g->phased->n;
	free(g->group);
	free(g->at);
	free(g->met);
	g->met = ws_alloc(g->n + 1);
	g->group = ws_alloc(g->n + 1);
	g->at = ws_alloc((g->n + 1) * sizeof *g->at);
	g->v.phases = &g->phased->phases;
	g->v.nduties = 0;
	return g;
}

/* The better one of both. */
static struct ws_shared_ranges *try_phases(struct ws_shared_ranges *g, bool *found, struct ws_shared_ranges *other, const struct ws_intervals *v)
{
	bool better = other && find(other, v) && proves(other, false) > (*found ? proves(g, false) : 0);

	*found |= better;
	if (better) {
		other->phased->steps = NULL;
		other->v.only = NULL;
	}
	ws_shared_ranges_free(better ? g : other);
	return better ? other : g;
}

/* Where one of the registers that go on in step has phases: what can be proved of each, if it is more. */
static struct ws_shared_ranges *find_in_phases(struct ws_shared_ranges *g, bool *found, const struct ws_rw_access *list, uint32_t n, const struct ws_intervals *v, struct ws_steps *steps)
{
	enum { MOST_TRIES = 12 };
	struct ws_ptx_func *f = g->v.f;
	unsigned tries = 0, all = shared_accesses(g);

	for (uint32_t k = 0; k < f->nregs && steps; k++) {
		const struct ws_reg *r = f->regs[k];

		if (ws_type_bytes(r->type) != 4 || g->v.defs[r->index].n < 2 || g->v.defs[r->index].n > MOST_DEFS || !ws_steps_may(steps, r))
			continue;
		for (unsigned way = 0; way <= MOST_PHASES && tries < MOST_TRIES && !(*found && proves(g, false) == all); way += way ? 1 : 2) {
			struct ws_shared_ranges *other = begin_in_phases(g, list, n, steps, r, way);

			tries += other != NULL;
			g = try_phases(g, found, other, v);
		}
	}
	return g;
}

/* alone: as in `proves`. */
static bool leaves_some(const struct ws_shared_ranges *g, bool found, bool alone)
{
	uint32_t all = shared_accesses(g);

	return all && (!found || proves(g, alone) < all);
}

/* The best that there is of this kind. *found: something is proved. */
static struct ws_shared_ranges *search(struct ws_shared_ranges *g, const struct ws_intervals *v, bool *found)
{
	const struct ws_shared_ranges *plain = g;
	const struct ws_rw_access *list = g->list;
	struct ws_steps *steps = NULL;
	uint32_t n = g->n;
	bool multiples;

	*found = find(g, v);
	multiples = g->v.has_multiples && !g->parts;
	if (leaves_some(g, *found, true))
		g = find_without_rare(g, *found);
	*found |= g != plain;
	if (goes_on(g) || leaves_some(g, *found, false))
		steps = ws_steps_begin(v, g->v.f, list, n);
	if (goes_on(g))
		g = find_in_step(g, v, steps, *found);
	*found |= g != plain;
	if (leaves_some(g, *found, false))
		g = find_in_phases(g, found, list, n, v, steps);
	ws_steps_free(steps);
	if (multiples && leaves_some(g, *found, false))
		g = find_with_multiples(g, list, n, v, found);
	return g;
}

struct ws_shared_ranges *ws_shared_ranges_find(struct ws_pass *p, struct ws_ptx_func *kernel,
					       const struct ws_rw_access *list, uint32_t n,
					       const struct ws_intervals *v)
{
	bool found;
	struct ws_shared_ranges *g = search(begin(p, kernel, list, n), v, &found);

	if (found) {
		write_entry(g);
		return g;
	}
	ws_shared_ranges_free(g);
	return NULL;
}

static bool find_parts(struct ws_shared_ranges *g, const struct ws_intervals *v, struct ws_shared_parts *out)
{
	bool found, all;

	memset(out->list, 0, g->n * sizeof *out->list);
	g = search(g, v, &found);
	all = !leaves_some(g, found, false) && write_parts(g, out);
	ws_shared_ranges_free(g);
	return all;
}

struct ws_shared_parts *ws_shared_parts_find(struct ws_pass *p, struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n,
                                             const struct ws_intervals *v)
{
	struct ws_shared_parts *out = ws_arena_alloc(ws_rw_module(p)->arena, sizeof *out);

	out->list = ws_arena_alloc(ws_rw_module(p)->arena, (n + 1) * sizeof *out->list);
	for (unsigned parts = WS_PARTS_OF_DATA; parts != WS_PARTS_NONE; parts--) {
		struct ws_shared_ranges *g = begin(p, kernel, list, n);

		g->parts = parts;
		if (find_parts(g, v, out))
			return out;
	}
	return NULL;
}

static const char *proof(const struct ws_shared_ranges *g, const struct ws_rw_access *a)
{
	uint32_t k = first_of(g, (uint32_t)(a - (g->phased ? g->phased->all : g->list)));
	uint8_t group = g->group[k];

	if (has_phase(g, k))
		return g->phased->proved;
	if (group >= NAMED)
		return group == QUIET ? g->quiet : group == NAMED ? g->named : NULL;
	return is_own_read(g, k) && g->groups[group].reads_proved ? g->groups[group].reads_proved : g->groups[group].proved;
}

bool ws_shared_ranges_may(const struct ws_shared_ranges *g, const struct ws_rw_access *a)
{
	return proof(g, a) != NULL;
}

bool ws_shared_ranges_rare(const struct ws_shared_ranges *g)
{
	return g->nrare > 0;
}

/* Is it to be apart from others, at places that data gives? By no more than the number of bits of that it hardly is. */
static bool meets_by_data(const struct ws_shared_ranges *g, const struct group *x)
{
	return ws_group_meets_any(x) && ws_sum_of_data(&g->v, &x->sum);
}

bool ws_shared_ranges_leave(const struct ws_shared_ranges *g, const struct ws_rw_access *list, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (ws_shared_is(&list[k]) && !(g && ws_shared_ranges_may(g, &list[k])))
			return true;
	for (unsigned k = 0; g && k < g->ngroups; k++)
		if (meets_by_data(g, &g->groups[k]))
			return true;
	return false;
}

/* Those of reads alone, then those of all. */
static const char *nth_proof(const struct ws_shared_ranges *g, unsigned k)
{
	return k < g->ngroups ? g->groups[k].reads_proved : g->groups[k - g->ngroups].proved;
}

void ws_shared_ranges_demand(const struct ws_shared_ranges *g, struct ws_code *c, const char *predicate)
{
	ws_code_add(c, "and.pred %s, %s, %s;", predicate, predicate, g->named);
	for (unsigned k = 0; k < 2 * g->ngroups; k++)
		if (nth_proof(g, k))
			ws_code_add(c, "and.pred %s, %s, %s;", predicate, predicate, nth_proof(g, k));
}

void ws_shared_ranges_tell(const struct ws_shared_ranges *g, struct ws_buf *out, const char *predicate)
{
	ws_buf_printf(out, "mov.pred %s, %s;\n", predicate, g->named);
	for (unsigned k = 0; k < 2 * g->ngroups; k++)
		if (nth_proof(g, k))
			ws_buf_printf(out, "and.pred %s, %s, %s;\n", predicate, predicate, nth_proof(g, k));
}

const char *ws_shared_ranges_skip(const struct ws_shared_ranges *g, struct ws_code *c, const struct ws_rw_access *a)
{
	const char *proved = proof(g, a), *label;

	if (!proved)
		return NULL;
	label = ws_code_label(c);
	ws_code_add(c, "@%s bra %s;", proved, label);
	return label;
}

void ws_shared_ranges_free(struct ws_shared_ranges *g)
{
	if (!g)
		return;
	ws_values_free(&g->v);
	free_phased(g->phased);
	free(g->dead);
	free(g->group);
	free(g->at);
	free(g->met);
	free(g);
}
