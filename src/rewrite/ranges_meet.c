/* ranges_meet.c - which groups of accesses meet in a launch: the code at the entry that examines that they do not (ranges.c). */
#include "rewrite/ranges_groups.h"

/* ---- groups ---- */
/* A variable's address is one; of several parameters nobody knows which is a pointer, and which a number of bytes. */
uint32_t ws_group_base(const struct values *v, const struct group *x)
{
	uint32_t base = UINT32_MAX;

	for (uint32_t k = 0; k < x->sum.n; k++) {
		const struct term *t = &x->sum.t[k];

		if (t->n != 1 || t->factor != 1 || !ws_leaf_is_pointer(&v->leaves[t->leaf[0]]))
			continue;
		if (v->leaves[t->leaf[0]].kind == LEAF_SYMBOL)
			return t->leaf[0];
		if (base != UINT32_MAX)
			return UINT32_MAX;
		base = t->leaf[0];
	}
	return base;
}

bool ws_ranges_any_unproved(const struct ws_ranges *g)
{
	for (unsigned k = 0; k < g->ngroups; k++)
		if (g->groups[k].unproved)
			return true;
	return false;
}

bool ws_ranges_any(const struct ws_ranges *g, enum how how)
{
	for (uint32_t k = 0; k < g->v.f->ninsts; k++)
		if (g->how[k] == how)
			return true;
	return false;
}

/* ---- bounds ---- */
/* In x->allocated whether the allocation is known that the pointer points into, and in x->start and x->end which it is. */
static void find_allocation(const struct ws_ranges *g, struct entry *e, struct group *x)
{
	uint32_t base = ws_group_base(e->v, x);
	const char *ok = e->ok;

	for (unsigned k = 0; k < g->ngroups && !x->allocated; k++) {
		const struct group *y = &g->groups[k];

		if (!y->allocated || ws_group_base(e->v, y) != base)
			continue;
		x->allocated = y->allocated;
		x->start = y->start;
		x->end = y->end;
	}
	if (x->allocated)
		return;
	e->ok = x->allocated = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", e->ok);
	ws_area_bounds(e, base, &x->start, &x->end);
	e->ok = ok;
}

static bool is_strided(const struct values *v, const struct group *x)
{
	for (uint32_t k = 0; k < x->sum.n; k++)
		if (x->sum.t[k].n == 1 && v->leaves[x->sum.t[k].leaf[0]].kind == LEAF_STRIDED)
			return true;
	return false;
}

/* How many steps the accesses may be behind their bounds is more than they are: they stay in the allocation (ranges_area.c). */
static void end_with_allocation(const struct ws_ranges *g, struct entry *e, struct group *x)
{
	uint32_t base = ws_group_base(e->v, x);
	struct num end;

	if (base == UINT32_MAX || e->v->leaves[base].kind != LEAF_PARAM || !is_strided(e->v, x))
		return;
	find_allocation(g, e, x);
	end = ws_entry_either(e, x->allocated, x->end, x->hi);
	ws_code_add(e->c, "min.s64 %s, %s, %s;", end.reg, end.reg, ws_entry_text(e, &x->hi));
	x->hi.reg = end.reg;
}

void ws_group_bounds(const struct ws_ranges *g, struct entry *e, struct group *x)
{
	if (x->area) {
		ws_area_bounds(e, x->sum.t[0].leaf[0], &x->lo, &x->hi);
		return;
	}
	ws_entry_bounds(e, &x->sum, &x->lo, &x->hi);
	x->lo = ws_entry_add(e, x->lo, ws_entry_number(x->first));
	x->hi = ws_entry_add(e, x->hi, ws_entry_number(x->last));
	end_with_allocation(g, e, x);
}

/* ---- at a time ---- */
/* Is an access one of the group? */
static bool is_of(const struct ws_ranges *g, uint32_t k, const struct group *x)
{
	uint32_t i = g->list[k].inst->index;

	return (g->how[i] == OWN || g->how[i] == BOUNDED_READ) && &g->groups[g->group[i]] == x;
}

bool ws_groups_in_one_interval(const struct ws_ranges *g, const struct group *a, const struct group *b)
{
	if (!g->between || a->area || b->area)
		return true;
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t k = 0; k < g->n; k++)
			if (is_of(g, i, a) && is_of(g, k, b) &&
			    ws_intervals_meet(g->between, g->list[i].inst->index, g->list[k].inst->index))
				return true;
	return false;
}

/* ---- the block that arrives last ---- */
static bool is_of_any(const struct ws_ranges *g, uint32_t k, const struct group *x)
{
	uint32_t i = g->list[k].inst->index;

	return (g->how[i] == OWN || g->how[i] == BOUNDED_READ || g->how[i] == AREA_READ) && &g->groups[g->group[i]] == x;
}

/* Do the accesses not race, by whichever threads, since one is behind what all others have released? In the last block itself barriers
 * order them, or they are one thread's. */
static bool ordered_by_arrival(const struct ws_ranges *g, uint32_t i, uint32_t k)
{
	const struct ws_final *l = &g->final;
	bool blocks = l->behind[i] ? l->behind[k] || l->before[k] : l->before[i] && l->behind[k];

	return blocks && ((l->one[i] && l->one[k]) || (g->between && !ws_intervals_meet(g->between, i, k)));
}

static bool all_ordered(const struct ws_ranges *g, const struct group *a, const struct group *b)
{
	bool any = false;

	if (!g->final.arrives || a->several || b->several || (!a->behind && !b->behind))
		return false;
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t k = 0; k < g->n; k++)
			if (is_of_any(g, i, a) && is_of_any(g, k, b)) {
				if (!ordered_by_arrival(g, g->list[i].inst->index, g->list[k].inst->index))
					return false;
				any = true;
			}
	return any;
}

/* Nobody else changes the counter before the last one has arrived. */
void ws_ranges_demand_arrivals(struct ws_ranges *g, struct entry *e)
{
	const struct group *own = &g->groups[g->group[g->final.arrives->index]];
	const char *apart = ws_code_temp(e->c, WS_PRED);

	ws_final_demand(e, &g->final);
	for (unsigned k = 0; k < g->nwriting; k++) {
		if (&g->groups[k] == own || g->groups[k].behind)
			continue;
		ws_code_add(e->c, "setp.le.s64 %s, %s, %s;", apart, ws_entry_register(e, &g->groups[k].hi), ws_entry_text(e, &own->lo));
		ws_code_add(e->c, "setp.ge.or.s64 %s, %s, %s, %s;", apart, ws_entry_register(e, &g->groups[k].lo), ws_entry_text(e, &own->hi), apart);
		ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, apart);
	}
}

/* Does anything else in the counter's group change it? */
bool ws_ranges_counts_alone(const struct ws_ranges *g)
{
	uint32_t at = g->final.arrives->index;

	for (uint32_t k = 0; k < g->n; k++) {
		uint32_t i = g->list[k].inst->index;

		if (i != at && g->how[i] == OWN && g->group[i] == g->group[at] && g->list[k].kind != WS_RW_READ)
			return false;
	}
	return g->how[at] == OWN && !g->groups[g->group[at]].area;
}

static bool is_from_parameter(const struct ws_ranges *g, const struct group *x)
{
	uint32_t base = ws_group_base(&g->v, x);

	return !x->area && base != UINT32_MAX && g->v.leaves[base].kind == LEAF_PARAM;
}

static void or_before(struct entry *e, const struct num *end, const struct num *start, const char *p)
{
	ws_code_add(e->c, "setp.le.or.s64 %s, %s, %s, %s;", p, ws_entry_register(e, end), ws_entry_text(e, start), p);
}

/* Accesses are also in the allocations of their pointers (ranges_area.c), which may say more than their bounds: of
 * `if (row > 0) read(row - 1)` they begin a row early, and those of the last tile end with it. */
static void or_by_allocation(const struct ws_ranges *g, struct entry *e, struct group *a, struct group *b, const char *disjoint)
{
	const char *p, *both;

	if (!is_from_parameter(g, a) || (!b->area && !is_from_parameter(g, b)) || ws_group_base(&g->v, a) == ws_group_base(&g->v, b))
		return;
	find_allocation(g, e, a);
	p = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "setp.ne.u32 %s, 0, 0;", p);
	or_before(e, &a->end, &b->lo, p);
	or_before(e, &b->hi, &a->start, p);
	if (!b->area) {
		find_allocation(g, e, b);
		both = ws_code_temp(e->c, WS_PRED);
		ws_code_add(e->c, "setp.ne.u32 %s, 0, 0;", both);
		or_before(e, &a->end, &b->start, both);
		or_before(e, &b->end, &a->start, both);
		ws_code_add(e->c, "and.pred %s, %s, %s;", both, both, b->allocated);
		ws_code_add(e->c, "or.pred %s, %s, %s;", p, p, both);
	}
	ws_code_add(e->c, "and.pred %s, %s, %s;", p, p, a->allocated);
	ws_code_add(e->c, "or.pred %s, %s, %s;", disjoint, disjoint, p);
}

/* What may meet those of its group may meet all others that are so made. */
static bool may_touch(const struct group *a, const struct group *b)
{
	return a->meets && b->meets && a->bytes == b->bytes && a->vec == b->vec;
}

/* Are they apart by what their sums say, where these say where they are? blocks: those of two blocks suffice. */
static void or_by_sums(struct entry *e, const struct group *a, const struct group *b, bool blocks, const char *disjoint)
{
	const struct stretch ab[] = { { &a->sum, a->first, a->last }, { &b->sum, b->first, b->last } };
	uint32_t base = ws_group_base(e->v, a);
	bool rows = !a->area && !b->area && base != UINT32_MAX && base == ws_group_base(e->v, b);
	const char *exact = a->exact ? a->exact : b->exact, *apart = disjoint, *ok = e->ok;
	struct ws_entry_mark *mark = NULL;

	if (!rows && !blocks)
		return;
	if (exact) {                         /* what these rely on is not for others */
		mark = ws_entry_mark(e);
		e->ok = ws_code_temp(e->c, WS_PRED);
		apart = ws_code_temp(e->c, WS_PRED);
		ws_code_add(e->c, "mov.pred %s, %s;", e->ok, exact);
		ws_code_add(e->c, "setp.ne.u32 %s, 0, 0;", apart);
	}
	if (rows) {
		ws_rows_or_side_by_side(e, &ab[0], &ab[1], apart);
		ws_rows_or_on_diagonal(e, &ab[0], &ab[1], apart);
	}
	if (blocks)
		ws_entry_or_blocks_apart(e, &ab[0], &ab[1], apart);
	if (!exact)
		return;
	ws_code_add(e->c, "and.pred %s, %s, %s;", apart, apart, e->ok);
	ws_code_add(e->c, "or.pred %s, %s, %s;", disjoint, disjoint, apart);
	e->ok = ok;
	ws_entry_forget(e, mark);
}

void ws_ranges_demand_disjoint(const struct ws_ranges *g, struct entry *e, struct group *a, struct group *b)
{
	const char *before;
	bool blocks;

	if (may_touch(a, b) || all_ordered(g, a, b))
		return;
	before = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "setp.le.s64 %s, %s, %s;", before, ws_entry_register(e, &a->hi), ws_entry_text(e, &b->lo));
	ws_code_add(e->c, "setp.le.or.s64 %s, %s, %s, %s;", before, ws_entry_register(e, &b->hi), ws_entry_text(e, &a->lo),
	            before);
	or_by_allocation(g, e, a->area ? b : a, a->area ? a : b, before);
	blocks = !ws_groups_in_one_interval(g, a, b);  /* barriers order all that one block does */
	if (blocks)
		ws_code_add(e->c, "or.pred %s, %s, %s;", before, before, g->one_block);
	or_by_sums(e, a, b, blocks, before);
	ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, before);
}

const char *ws_ranges_predicate(struct ws_ranges *g, struct entry *e)
{
	const char *made = ws_rw_of_launch(g->p, g->v.f, WS_PRED);

	if (e->ok)
		ws_code_add(e->c, "mov.pred %s, %s;", made, e->ok);
	else
		ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", made);
	return e->ok = made;
}

/* Reads and writes of one address but for the pointer: where both pointers are the same, what a thread reads is among
 * what it writes. (Threads may meet in a group of atomics alone, and others' reads must not be there.) */
static bool twins(const struct ws_ranges *g, const struct group *read, const struct group *write)
{
	uint32_t from = ws_group_base(&g->v, read), to = ws_group_base(&g->v, write);
	const struct sum pointers[] = { ws_sum_of_leaf(from), ws_sum_of_leaf(to) };
	struct sum s = read->sum;

	return !read->area && !write->area && !write->meets && from != UINT32_MAX && to != UINT32_MAX && read->first >= write->first &&
	       read->last <= write->last && ws_sum_add(&s, &pointers[0], -1) && ws_sum_add(&s, &pointers[1], 1) &&
	       ws_sum_equal(&s, &write->sum);
}

static bool any_twins(const struct ws_ranges *g)
{
	for (unsigned k = g->nwriting; k < g->ngroups; k++)
		for (unsigned m = 0; m < g->nwriting; m++)
			if (twins(g, &g->groups[k], &g->groups[m]))
				return true;
	return false;
}

static void demand_twins(struct ws_ranges *g, struct entry *e, struct group *read, struct group *write)
{
	const struct sum pointers[] = { ws_sum_of_leaf(ws_group_base(&g->v, read)), ws_sum_of_leaf(ws_group_base(&g->v, write)) };
	const char *ok = e->ok, *apart = ws_code_temp(e->c, WS_PRED), *same = ws_code_temp(e->c, WS_PRED);
	struct num a, b, high;

	ws_entry_bounds(e, &pointers[0], &a, &high);
	ws_entry_bounds(e, &pointers[1], &b, &high);
	ws_code_add(e->c, "setp.eq.s64 %s, %s, %s;", same, ws_entry_register(e, &a), ws_entry_text(e, &b));
	if (read->exact)
		ws_code_add(e->c, "and.pred %s, %s, %s;", same, same, read->exact);
	ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", apart);
	e->ok = apart;
	ws_ranges_demand_disjoint(g, e, read, write);
	e->ok = ok;
	ws_code_add(e->c, "or.pred %s, %s, %s;", same, same, apart);
	ws_code_add(e->c, "and.pred %s, %s, %s;", ok, ok, same);
}

/* No group that only reads, of allocations or others, meets one that writes; or (twins) only itself. */
static void demand_quiet(struct ws_ranges *g, struct entry *e, bool area, bool may_be_twins)
{
	for (unsigned k = g->nwriting; k < g->ngroups; k++)
		for (unsigned m = 0; m < g->nwriting && g->groups[k].area == area && !g->groups[k].unproved; m++)
			if (may_be_twins && twins(g, &g->groups[k], &g->groups[m]))
				demand_twins(g, e, &g->groups[k], &g->groups[m]);
			else
				ws_ranges_demand_disjoint(g, e, &g->groups[k], &g->groups[m]);
}

/* Does the group only read, and is it examined? */
static bool is_bounded_read(const struct ws_ranges *g, unsigned k)
{
	return k >= g->nwriting && !g->groups[k].area && !g->groups[k].unproved;
}

/* Of a group whose bounds are not known in a launch the allocation stands for them, as it does where no launch has bounds. */
static void or_in_allocation(struct ws_ranges *g, struct entry *e, struct group *x, const char *exact)
{
	const char *known;

	if (!is_from_parameter(g, x)) {
		ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, exact);
		return;
	}
	find_allocation(g, e, x);
	x->lo = ws_entry_either(e, exact, x->lo, x->start);
	x->hi = ws_entry_either(e, exact, x->hi, x->end);
	x->exact = exact;
	known = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "or.pred %s, %s, %s;", known, exact, x->allocated);
	ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, known);
}

/* Of `x[i / w % h]` it may not be provable that a number is not negative. */
static void bounds_of_bounded_reads(struct ws_ranges *g, struct entry *e)
{
	const char *ok = e->ok, *exact = ws_code_temp(e->c, WS_PRED);
	struct ws_entry_mark *mark = ws_entry_mark(e);

	ws_code_add(e->c, "mov.pred %s, %s;", exact, ok);
	e->ok = exact;
	ws_entry_duties(e, g->duties_of_writes, g->v.nduties);
	for (unsigned k = 0; k < g->ngroups; k++)
		if (is_bounded_read(g, k))
			ws_group_bounds(g, e, &g->groups[k]);
	ws_entry_forget(e, mark);
	e->ok = ok;
	for (unsigned k = 0; k < g->ngroups; k++)
		if (is_bounded_read(g, k))
			or_in_allocation(g, e, &g->groups[k], exact);
}

static void bounds_of_areas(struct ws_ranges *g, struct entry *e, bool unproved)
{
	for (unsigned k = g->nwriting; k < g->ngroups; k++)
		if (g->groups[k].area && g->groups[k].unproved == unproved)
			ws_group_bounds(g, e, &g->groups[k]);
}

/* Leaves in ok what reads and writes must fulfil for `own`. Each predicate holds what the bounds rely on that it uses. Returns
 * the one that all bounds rely on. */
const char *ws_ranges_decide_quiet(struct ws_ranges *g, struct entry *e, bool own)
{
	bool alike = own && any_twins(g);
	const char *bounded = ws_ranges_predicate(g, e), *known;

	bounds_of_bounded_reads(g, e);
	g->quiet = ws_ranges_predicate(g, e);
	demand_quiet(g, e, false, false);
	if (ws_ranges_any(g, AREA_READ)) {
		e->ok = bounded;
		known = ws_ranges_predicate(g, e);
		bounds_of_areas(g, e, false);
		demand_quiet(g, e, true, false);
		bounded = known;
		g->far = ws_ranges_predicate(g, e);
		ws_code_add(e->c, "and.pred %s, %s, %s;", g->far, g->far, g->quiet);
	}
	if (alike) {
		e->ok = bounded;
		ws_ranges_predicate(g, e);
		demand_quiet(g, e, false, true);
	}
	if (ws_ranges_any_unproved(g)) {
		e->ok = bounded;
		bounded = ws_ranges_predicate(g, e);
		bounds_of_areas(g, e, true);
	}
	return bounded;
}
