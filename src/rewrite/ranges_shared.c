/* ranges_shared.c - the proof that threads of a block use words of shared memory of their own, from barrier to barrier.
 *
 * Accesses to one variable with one address but for a constant are a group. Let no access of a group meet, in an
 * interval between barriers (interval.c), another access to shared memory of which one of the two writes, unless it is
 * of the group itself, of another variable, or of a group whose bytes are others. If addresses stay in their variables,
 * and the threads of the block are apart from each other by the group's bytes, then no access of the group has a race.
 * The code at the entry examines that with the size of the block and the parameters. A variable's own address is not
 * needed for it; all variables of unknown size begin at one place and count as one. */
#include "rewrite/needless.h"
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 8, MOST_ACCESSES = 160, NO_GROUP = 255, MOST_SHARED = 256 << 10 };

struct group {
	const struct ws_ptx_sym *sym;    /* NULL: the memory behind all variables */
	struct sum sum;                  /* without the variable's address, and without a constant */
	int64_t first, last;             /* the bytes from sum + first to before sum + last */
	int64_t bytes;                   /* of the widest access */
	struct offsets offsets;
	bool writes;
	bool own;                        /* may be proved */
	bool others[MOST_GROUPS];        /* groups of the same variable that it meets */
	struct num lo, hi;
	const char *proved;              /* a predicate */
};

struct ws_shared_ranges {
	struct ws_pass *p;
	struct values v;
	struct group groups[MOST_GROUPS];
	unsigned ngroups;
	uint8_t *group;                  /* by access */
	const struct ws_rw_access *list;
	uint32_t n;
};

/* ---- groups ---- */
/* Does the entry's code for a sum need the address of a variable? */
static bool names_variable(const struct values *v, const struct sum *s, unsigned depth)
{
	enum { DEEPEST = 6 };

	if (depth == DEEPEST)
		return true;
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++) {
			const struct leaf *l = &v->leaves[s->t[k].leaf[m]];

			if (l->kind == LEAF_SYMBOL || (l->step && names_variable(v, l->step, depth + 1)))
				return true;
			for (unsigned i = 0; i < l->nof; i++)
				if (names_variable(v, l->of[i], depth + 1))
					return true;
			for (unsigned i = 0; i < l->nbounds; i++)
				if (l->bounds[i].than && names_variable(v, l->bounds[i].than, depth + 1))
					return true;
		}
	return false;
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
		return !names_variable(v, s, 0);
	}
	return false;
}

static bool is_shared(const struct ws_rw_access *a)
{
	return a->rw_class == WS_RW_CHECK && a->space != WS_SPACE_GLOBAL;
}

static uint8_t group_of(struct ws_shared_ranges *g, const struct ws_rw_access *a)
{
	const struct ws_ptx_sym *sym;
	struct sum s;
	int64_t at;
	unsigned k = 0;

	if (a->space != WS_SPACE_SHARED || !ws_values_address(&g->v, a, &s) || !take_variable(&g->v, &s, &sym))
		return NO_GROUP;
	at = ws_sum_take_constant(&s);
	while (k < g->ngroups && (g->groups[k].sym != sym || !ws_sum_equal(&g->groups[k].sum, &s)))
		k++;
	if (k == MOST_GROUPS)
		return NO_GROUP;
	if (k == g->ngroups)
		g->groups[g->ngroups++] = (struct group){ .sym = sym, .sum = s, .first = at, .last = at + a->bytes, .own = true };
	ws_offsets_add(&g->groups[k].offsets, at);
	g->groups[k].bytes = a->bytes > g->groups[k].bytes ? a->bytes : g->groups[k].bytes;
	g->groups[k].writes |= a->kind != WS_RW_READ;
	if (at < g->groups[k].first)
		g->groups[k].first = at;
	if (at + a->bytes > g->groups[k].last)
		g->groups[k].last = at + a->bytes;
	return (uint8_t)k;
}

static bool find_groups(struct ws_shared_ranges *g)
{
	unsigned shared = 0;

	for (uint32_t k = 0; k < g->n; k++) {
		g->group[k] = NO_GROUP;
		if (is_shared(&g->list[k]) && ++shared <= MOST_ACCESSES)
			g->group[k] = group_of(g, &g->list[k]);
	}
	for (size_t k = 0; k < g->v.nduties; k++)
		if (names_variable(&g->v, g->v.duties[k].sum, 0))
			return false;
	for (unsigned k = 0; k < g->ngroups; k++)
		ws_offsets_spread(&g->v, &g->groups[k].offsets, g->groups[k].bytes, &g->groups[k].sum, &g->groups[k].last);
	return g->ngroups && shared <= MOST_ACCESSES;
}

/* ---- who meets whom ---- */
/* Two accesses that may race by what is known before the launch. */
static void meet(struct ws_shared_ranges *g, uint32_t a, uint32_t b)
{
	struct group *x = &g->groups[g->group[a]];

	if (g->group[b] == NO_GROUP)
		x->own = false;
	else if (g->group[a] != g->group[b] && g->groups[g->group[b]].sym == x->sym)
		x->others[g->group[b]] = true;
}

static void find_meetings(struct ws_shared_ranges *g, const struct ws_intervals *v)
{
	for (uint32_t a = 0; a < g->n; a++)
		for (uint32_t b = 0; b < g->n && g->group[a] != NO_GROUP; b++)
			if (is_shared(&g->list[b]) && (g->list[a].kind != WS_RW_READ || g->list[b].kind != WS_RW_READ) &&
			    ws_intervals_meet(v, g->list[a].inst->index, g->list[b].inst->index))
				meet(g, a, b);
}

static bool any_own(struct ws_shared_ranges *g)
{
	bool any = false;

	for (unsigned k = 0; k < g->ngroups; k++) {
		g->groups[k].own &= g->groups[k].writes && ws_can_be_apart(&g->v, &g->groups[k].sum);
		any |= g->groups[k].own;
	}
	return any;
}

/* ---- the entry ---- */
static const char *in_register(struct entry *e, const struct num *n)
{
	const char *r = ws_code_temp(e->c, WS_B64);

	ws_code_add(e->c, "mov.b64 %s, %s;", r, ws_entry_text(e, n));
	return r;
}

static void demand(struct entry *e, const struct num *a, const char *op, int64_t k)
{
	ws_code_add(e->c, "setp.%s.and.s64 %s, %s, %lld, %s;", op, e->ok, in_register(e, a), (long long)k, e->ok);
}

static void stays_inside(struct entry *e, const struct group *x)
{
	demand(e, &x->lo, "ge", 0);
	demand(e, &x->hi, "le", x->sym ? (int64_t)x->sym->size : MOST_SHARED);
}

static void demand_disjoint(struct entry *e, const struct group *a, const struct group *b)
{
	const char *before = ws_code_temp(e->c, WS_PRED);

	ws_code_add(e->c, "setp.le.s64 %s, %s, %s;", before, in_register(e, &a->hi), ws_entry_text(e, &b->lo));
	ws_code_add(e->c, "setp.le.or.s64 %s, %s, %s, %s;", before, in_register(e, &b->hi), ws_entry_text(e, &a->lo), before);
	ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, before);
}

/* All groups stay inside: else one could come into the variable of another. Each predicate holds what those before it
 * do, for what was examined for one group is relied on in the code of the next. */
static void write_entry(struct ws_shared_ranges *g)
{
	struct entry e = { .v = &g->v, .c = ws_code_entry(g->p, g->v.f), .ok = ws_rw_register(g->p, g->v.f, WS_PRED) };
	const char *before;

	ws_code_add(e.c, "setp.eq.u32 %s, 0, 0;", e.ok);
	ws_entry_duties(&e, 0, g->v.nduties);
	for (unsigned k = 0; k < g->ngroups; k++) {
		struct group *x = &g->groups[k];

		ws_entry_bounds(&e, &x->sum, &x->lo, &x->hi);
		x->lo = ws_entry_add(&e, x->lo, ws_entry_number(x->first));
		x->hi = ws_entry_add(&e, x->hi, ws_entry_number(x->last));
		stays_inside(&e, x);
	}
	for (unsigned k = 0; k < g->ngroups; k++) {
		struct group *x = &g->groups[k];

		if (!x->own)
			continue;
		before = e.ok;
		e.ok = x->proved = ws_rw_register(g->p, g->v.f, WS_PRED);
		ws_code_add(e.c, "mov.pred %s, %s;", e.ok, before);
		for (unsigned m = 0; m < g->ngroups; m++)
			if (x->others[m])
				demand_disjoint(&e, x, &g->groups[m]);
		ws_entry_apart_in_block(&e, &x->sum, x->last - x->first);
	}
	ws_code_end(e.c);
	free(e.known);
}

/* ---- for the pass ---- */
struct ws_shared_ranges *ws_shared_ranges_find(struct ws_pass *p, struct ws_ptx_func *kernel,
					       const struct ws_rw_access *list, uint32_t n,
					       const struct ws_intervals *v)
{
	struct ws_shared_ranges *g = ws_alloc(sizeof *g);

	*g = (struct ws_shared_ranges){ .p = p, .list = list, .n = n, .group = ws_alloc(n + 1) };
	ws_values_init(&g->v, kernel);
	g->v.shared = true;
	if (find_groups(g)) {
		find_meetings(g, v);
		if (any_own(g)) {
			write_entry(g);
			return g;
		}
	}
	ws_shared_ranges_free(g);
	return NULL;
}

static const char *proof(const struct ws_shared_ranges *g, const struct ws_rw_access *a)
{
	uint8_t group = g->group[a - g->list];

	return group != NO_GROUP ? g->groups[group].proved : NULL;
}

bool ws_shared_ranges_may(const struct ws_shared_ranges *g, const struct ws_rw_access *a)
{
	return proof(g, a) != NULL;
}

void ws_shared_ranges_demand(const struct ws_shared_ranges *g, struct ws_code *c, const char *predicate)
{
	for (unsigned k = 0; k < g->ngroups; k++)
		if (g->groups[k].proved)
			ws_code_add(c, "and.pred %s, %s, %s;", predicate, predicate, g->groups[k].proved);
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
	free(g->group);
	free(g);
}
