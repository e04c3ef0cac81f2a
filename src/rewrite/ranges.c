/* ranges.c - proofs by the addresses that a launch can touch.
 *
 * Let every write and atomic to global memory that a kernel can execute have an address with bounds that are known at the
 * kernel's entry. Code there computes them for this launch: intervals of bytes. Only threads of one launch are compared
 * with each other, so in this launch
 *   - a read of global memory outside all intervals has no race, as nobody writes there. Each such read compares its
 *     address with the intervals. If its address has bounds too, that is decided at the entry (`quiet`).
 *   - accesses with one address but for a constant are a group. The threads of a group whose threads are apart (by more
 *     than the group's bytes) touch bytes of their own, unless other groups or reads come there. If all accesses of the
 *     kernel have bounds, no group that writes meets another, and the threads of each are apart, then no access has a
 *     race (`own`); in a group of atomics alone, which do not race with each other, threads may meet.
 * Where an address has no bounds, the allocation that its pointer points into stands for them (ranges_area.c). Groups also
 * do not meet if they lie side by side in rows; reads and writes of the same places by two pointers (`twins`) may be one
 * group; and barriers order groups in a block, so they need only be apart in different ones.
 * Nothing is assumed of parameters: they may point to the same memory, then the intervals meet, and all is checked. */
#include "rewrite/class.h"
#include "rewrite/ranges_groups.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- which accesses ---- */
/* Does the address come from one in shared memory, or (local) in the thread's own? Then it is there. */
static bool comes_from(const struct values *v, const struct ws_reg *r, bool local, unsigned depth)
{
	enum { DEEPEST = 6 };
	const struct defs *d = r ? &v->defs[r->index] : NULL;
	const struct ws_ptx_inst *i = d && d->n == 1 ? d->at[0] : NULL;

	if (!i || i->guard || depth == DEEPEST)
		return false;
	if (i->op == WS_OP_cvta && i->mode != WS_MODE_TO)
		return i->space == WS_SPACE_SHARED || (local && i->space == WS_SPACE_LOCAL);
	if (i->op != WS_OP_add && i->op != WS_OP_mov)
		return false;
	for (unsigned k = 1; k < i->nops; k++)
		if (i->ops[k].kind == WS_O_REG && comes_from(v, i->ops[k].reg, local, depth + 1))
			return true;
	return false;
}

bool ws_ranges_not_global(const struct values *v, const struct ws_reg *r)
{
	return comes_from(v, r, true, 0);
}

bool ws_ranges_in_shared(const struct values *v, const struct ws_reg *r)
{
	return comes_from(v, r, false, 0);
}

bool ws_ranges_may_be_global(const struct ws_rw_access *a)
{
	return a->rw_class == WS_RW_CHECK && (a->space == WS_SPACE_GLOBAL || a->space == WS_SPACE_GENERIC);
}

/* What has no check enters nothing for others to find, so no proof needs to know where it writes. wmma.load and wmma.store are one operation. */
static bool writes_unseen(const struct ws_ptx_func *f, const struct ws_rw_access *a)
{
	if (a->inst->op == WS_OP_wmma && ws_ptx_says(f, a->inst, ".load"))
		return false;
	return a->rw_class == WS_RW_UNHANDLED && ws_op_info(a->inst->op)->fx & WS_FX_WRITE &&
	       a->inst->space != WS_SPACE_SHARED;
}

/* What a function reads in variables is known as that of the kernel's own accesses is; else nothing is. */
static void note_read(struct ws_ranges *g, struct values *v, const struct ws_rw_access *a)
{
	struct bases b;

	if (ws_area_is_table(v, a))
		return;
	if (!ws_area_bases(v, a, &b) || b.n != 1 || v->leaves[b.leaf[0]].kind != LEAF_SYMBOL || g->ncalled == MOST_CALLED)
		g->unknown_reads = true;
	else
		g->called[g->ncalled++] = v->leaves[b.leaf[0]].sym;
}

static void note_reads(struct ws_ranges *g, struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n)
{
	struct values v;

	ws_values_init(&v, f);
	for (uint32_t k = 0; k < n; k++)
		if (ws_ranges_may_be_global(&list[k]) && !ws_ranges_not_global(&v, list[k].address->reg))
			note_read(g, &v, &list[k]);
	ws_values_free(&v);
}

/* What the functions do that the kernel calls: false if they write to global memory. */
static bool look_at_callees(struct ws_ranges *g, const struct ws_reach *reach, const struct ws_rw_kernel *k)
{
	for (uint32_t m = 0; m < reach->m->nfuncs; m++) {
		struct ws_ptx_func *f = reach->m->funcs[m];
		const struct ws_rw_access *list;
		uint32_t n;

		if (f == k->func || f->declared_only || !ws_rw_reaches(k, f))
			continue;
		list = ws_rw_accesses(f, &n);
		for (uint32_t i = 0; i < n; i++) {
			g->unseen |= writes_unseen(f, &list[i]);
			if (ws_ranges_may_be_global(&list[i]) && list[i].kind != WS_RW_READ)
				return false;
		}
		note_reads(g, f, list, n);
	}
	return true;
}

/* ---- groups ---- */
/* Strong accesses of one size, of which no thread is out of scope, are morally strong: they touch the same bytes, or none, for addresses are
 * multiples of it (PTX ISA 9.0, 6.4.1 and 8.7.2). */
static bool may_meet(const struct ws_rw_access *a)
{
	return ws_rw_strong(a) && (a->scope == WS_SCOPE_GPU || a->scope == WS_SCOPE_SYS);
}

/* Is it one of those, as all in the group are? */
static bool may_be_of(const struct group *x, const struct ws_rw_access *a)
{
	return x->meets && may_meet(a) && x->bytes == a->bytes && x->vec == a->inst->vec;
}

static bool is_behind(const struct ws_ranges *g, const struct ws_rw_access *a)
{
	return a && g->final.arrives && g->final.behind[a->inst->index];
}

/* Is it a read, by all threads, of what lies beside the one place at which all of the group meet? `sum[k + 1]` is counted up, `sum[k]` is read. */
static bool lies_beside(const struct ws_ranges *g, const struct group *x, const struct ws_rw_access *a, int64_t first, int64_t last)
{
	return x->meets && a->kind == WS_RW_READ && !may_be_of(x, a) && (last <= x->first || first >= x->last) && ws_sum_fixed(&g->v, &x->sum);
}

/* May an access of that sum not be of that group? An allocation has one of its own for those that may meet others. */
static bool is_other_group(const struct ws_ranges *g, const struct group *x, const struct sum *s, bool area, const struct ws_rw_access *a, int64_t first,
                           int64_t last)
{
	if (x->area != area || x->behind != is_behind(g, a) || !ws_sum_equal(&x->sum, s))
		return true;
	return area ? x->bytes && x->meets != (a && may_meet(a)) : a && lies_beside(g, x, a, first, last);
}

/* The group of that sum; NULL: there are too many. a: the access; NULL: those of a function that is called. */
static struct group *group_of(struct ws_ranges *g, const struct sum *s, bool area, const struct ws_rw_access *a, int64_t first, int64_t last)
{
	struct group *x = g->groups;
	unsigned k = 0;

	while (k < g->ngroups && is_other_group(g, &x[k], s, area, a, first, last))
		k++;
	if (k == MOST_GROUPS)
		return NULL;
	if (k == g->ngroups)
		x[g->ngroups++] = (struct group){ .sum = *s, .area = area, .behind = is_behind(g, a) };
	return &x[k];
}

/* The group of that sum with one access more, of the bytes from sum + first to before sum + last; NULL: there are too many. */
static struct group *join(struct ws_ranges *g, const struct ws_rw_access *a, const struct sum *s, bool area, int64_t first,
			  int64_t last)
{
	struct group *x = group_of(g, s, area, a, first, last);

	if (!x)
		return NULL;
	if (!x->bytes) {
		x->first = first;
		x->last = last;
		x->meets = true;
		x->bytes = a->bytes;
		x->vec = a->inst->vec;
	}
	x->meets = may_be_of(x, a);
	x->bytes = a->bytes > x->bytes ? a->bytes : x->bytes;
	x->first = first < x->first ? first : x->first;
	x->last = last > x->last ? last : x->last;
	x->writes |= a->kind != WS_RW_READ;
	x->reads |= a->kind == WS_RW_READ;
	g->group[a->inst->index] = (uint8_t)(x - g->groups);
	return x;
}

static bool add_to_group(struct ws_ranges *g, const struct ws_rw_access *a, const struct sum *known)
{
	struct group *x;
	struct sum s;
	int64_t at;

	if (!ws_sum_of_any(&g->v, known, &s))
		return false;
	at = ws_sum_take_constant(&s);
	x = join(g, a, &s, false, at, at + a->bytes);
	if (x)
		ws_offsets_add(&x->offsets, at);
	return x != NULL;
}

/* An access somewhere in one of the allocations that the leaves point into. *first, unless NULL: the first of the groups. */
static bool add_to_areas(struct ws_ranges *g, const struct ws_rw_access *a, const struct bases *b, bool unproved, unsigned *first)
{
	if (first)
		*first = UINT_MAX;
	for (unsigned k = 0; k < b->n; k++) {
		struct sum pointer = ws_sum_of_leaf(b->leaf[k]);
		unsigned before = g->ngroups;
		struct group *x = join(g, a, &pointer, true, 0, 0);

		if (!x)
			return false;
		if (first && x - g->groups < *first)
			*first = (unsigned)(x - g->groups);
		x->several |= b->n > 1;
		x->unproved |= unproved && g->ngroups > before;
	}
	return true;
}

/* Duties of what turns out not to be known are none. */
static bool address_of(struct ws_ranges *g, const struct ws_rw_access *a, struct sum *s)
{
	size_t nduties = g->v.nduties;

	if (ws_values_address(&g->v, a, s))
		return true;
	g->v.nduties = nduties;
	return false;
}

/* ---- several places of one thread ---- */
void ws_group_remove(struct ws_ranges *g, unsigned k, unsigned into)
{
	struct group *x = &g->groups[into], *gone = &g->groups[k];

	x->writes |= gone->writes;
	x->reads |= gone->reads;
	x->meets &= gone->meets && x->bytes == gone->bytes && x->vec == gone->vec;
	for (uint32_t i = 0; i < g->v.f->ninsts; i++) {
		if (g->group[i] == k && into < g->nwriting && g->how[i] == BOUNDED_READ)
			g->how[i] = OWN;
		if (g->group[i] == k)
			g->group[i] = (uint8_t)(into - (into > k));
		else if (g->group[i] > k)
			g->group[i]--;
	}
	memmove(gone, gone + 1, (--g->ngroups - k) * sizeof *gone);
	g->nwriting -= k < g->nwriting;
}

/* Distances between variables are no pitch. */
static bool has_address(const struct values *v, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		if (ws_term_is_pointer(v, &s->t[k]))
			return true;
	return false;
}

static void swap_with_next(struct ws_ranges *g, unsigned k)
{
	struct group x = g->groups[k];

	g->groups[k] = g->groups[k + 1];
	g->groups[k + 1] = x;
	for (uint32_t i = 0; i < g->v.f->ninsts; i++)
		if (g->group[i] == k || g->group[i] == k + 1)
			g->group[i] = (uint8_t)(2 * k + 1 - g->group[i]);
}

/* What is equal to a number wherever an access of the group is reached. */
static void find_pins(struct ws_ranges *g, unsigned k)
{
	struct pins some;
	bool first = true;

	g->groups[k].pins.n = 0;
	for (uint32_t i = 0; i < g->n && (first || g->groups[k].pins.n); i++) {
		uint32_t at = g->list[i].inst->index;

		if (g->group[at] != k || (g->how[at] != OWN && g->how[at] != BOUNDED_READ))
			continue;
		ws_pins_find(&g->v, &g->list[i], &some);
		if (first)
			g->groups[k].pins = some;
		else
			ws_pins_intersect(&g->groups[k].pins, &some);
		first = false;
	}
}

/* Are the bytes of group b among those of a, where its pins hold? */
static bool is_among(struct ws_ranges *g, const struct group *b, const struct group *a)
{
	int64_t offset;

	return a != b && !a->area && !b->area && a->behind == b->behind && b->pins.n && a->bytes >= b->bytes && a->first <= b->first && a->last >= b->last &&
	       ws_pins_same(&g->v, &b->pins, &a->sum, &b->sum, &offset) && !offset;
}

/* Groups that write and are, where their pins hold, of the addresses of another one: `if (i == 0) a[j] = x` and a[i * n + j]. */
static void join_pinned(struct ws_ranges *g)
{
	unsigned k = 0, m;

	for (unsigned i = 0; i < g->nwriting; i++)
		find_pins(g, i);
	while (k < g->nwriting) {
		for (m = 0; m < g->nwriting && !is_among(g, &g->groups[k], &g->groups[m]); m++)
			;
		if (m == g->nwriting) {
			k++;
			continue;
		}
		ws_offsets_join(&g->groups[m].offsets, &g->groups[k].offsets);
		g->groups[m].pins.n = 0;
		ws_group_remove(g, k, m);
	}
}

/* Is one as far from the other one as a number of the launch says? *far: how far. */
static bool is_of_rows(const struct ws_ranges *g, const struct group *x, const struct group *other, struct sum *far)
{
	*far = x->sum;
	return !x->area && !other->area && ws_sum_add(far, &other->sum, -1) && ws_sum_fixed(&g->v, far) && !has_address(&g->v, far);
}

/* Is it a row above the other one? */
static bool is_above(const struct ws_ranges *g, const struct group *x, const struct group *other)
{
	struct sum far;

	return is_of_rows(g, x, other, &far) && far.n == 1 && far.t[0].factor < 0;
}

static bool comes_first(const struct ws_ranges *g, const struct group *x, const struct group *other)
{
	uint32_t base = ws_group_base(&g->v, x), others = ws_group_base(&g->v, other);

	return base != others ? base < others : is_above(g, x, other);
}

/* Behind each group those of [from, to) that are rows of the same: several arrays are read in turn. */
static void bring_together(struct ws_ranges *g, unsigned from, unsigned to)
{
	struct sum far;

	for (unsigned k = from, next; k < to; k = next) {
		next = k + 1;
		for (unsigned m = next; m < to; m++) {
			if (!is_of_rows(g, &g->groups[m], &g->groups[k], &far))
				continue;
			for (unsigned n = m; n > next; n--)
				swap_with_next(g, n - 1);
			next++;
		}
	}
}

/* Groups [from, to) in the order of what they are counted from, and rows from the first on; else as they were. */
static void sort_by_base(struct ws_ranges *g, unsigned from, unsigned to)
{
	bring_together(g, from, to);
	for (unsigned k = from + 1; k < to; k++)
		for (unsigned m = k; m > from && comes_first(g, &g->groups[m], &g->groups[m - 1]); m--)
			swap_with_next(g, m - 1);
}

/* Groups that begin with this one and go on by one number of the launch, as rows do: how many. */
static unsigned rows_from(const struct ws_ranges *g, unsigned first, struct sum *step)
{
	const struct group *x = &g->groups[first];
	unsigned n = 1;

	for (; first + n < (first < g->nwriting ? g->nwriting : g->ngroups); n++) {
		struct sum far;

		if (x->behind != x[n].behind || !is_of_rows(g, &x[n], x, &far) || x[n].first != x->first || x[n].last != x->last || x[n].bytes != x->bytes)
			break;
		if (n == 1)
			*step = far;
		else if (!ws_sum_add(&far, step, -(int64_t)n) || far.n)
			break;
	}
	return n;
}

/* What a thread does in several places becomes one group, of which the place is one more digit. */
static void spread(struct ws_ranges *g)
{
	sort_by_base(g, 0, g->nwriting);
	sort_by_base(g, g->nwriting, g->ngroups);
	for (unsigned k = 0; k < g->ngroups; k++)
		ws_offsets_spread(&g->v, &g->groups[k].offsets, g->groups[k].bytes, &g->groups[k].sum, &g->groups[k].last);
	for (unsigned k = 0; k < g->ngroups; k++) {
		struct sum step, s = g->groups[k].sum;
		unsigned rows = rows_from(g, k, &step);

		if (rows < 2 || !ws_sum_spread(&g->v, &s, &step, rows))
			continue;
		g->groups[k].sum = s;
		while (--rows)
			ws_group_remove(g, k + 1, k);
	}
}

/* ---- rows of threads ----
 * Addresses are a part that tells threads apart, and one that is the same in all threads but for where in its loops each is. Groups
 * with the same first part are one group whose bytes are all that the second part comes to, if they would meet in any case; or
 * if one thread alone comes to all of them. */
static bool is_place_in_row(const struct values *v, const struct term *t)
{
	for (uint32_t n = 0; n < t->n; n++) {
		const struct leaf *l = &v->leaves[t->leaf[n]];
		bool place = l->kind == LEAF_COUNTED || l->kind == LEAF_DIGIT || (l->kind == LEAF_ONE_OF && !l->reg);

		if (!place && !l->fixed)
			return false;
	}
	return !ws_term_is_pointer(v, t);
}

/* begin: what is fixed of the row. false: it is not so made. */
static bool split_row(const struct values *v, const struct group *x, struct sum *apart, struct sum *row, struct sum *begin)
{
	apart->n = row->n = begin->n = 0;
	for (uint32_t k = 0; k < x->sum.n; k++) {
		const struct sum one = { 1, { x->sum.t[k] } };

		if (is_place_in_row(v, &x->sum.t[k])) {
			row->t[row->n++] = x->sum.t[k];
			if (ws_sum_fixed(v, &one))
				begin->t[begin->n++] = x->sum.t[k];
		} else if (ws_sum_in_time(v, &one)) {
			return false;
		} else {
			apart->t[apart->n++] = x->sum.t[k];
		}
	}
	return !x->area;
}

/* Is all that tells their threads apart what one thread alone comes to? */
static bool of_one_thread(struct ws_ranges *g, unsigned k, unsigned m, const struct sum *apart)
{
	struct pins pins;

	if (!ws_sum_fixed(&g->v, apart))
		return false;
	find_pins(g, k);
	find_pins(g, m);
	pins = g->groups[k].pins;
	ws_pins_intersect(&pins, &g->groups[m].pins);
	return pins.n > 0;
}

static bool shares_rows(struct ws_ranges *g, unsigned k, unsigned m)
{
	const struct group *a = &g->groups[k], *b = &g->groups[m];
	struct sum apart[2], row[2], begin[2];

	if ((a->meets && b->meets) || a->behind || b->behind || !split_row(&g->v, a, &apart[0], &row[0], &begin[0]) ||
	    !split_row(&g->v, b, &apart[1], &row[1], &begin[1]) || !ws_sum_equal(&apart[0], &apart[1]))
		return false;
	return a->row.n || (ws_sum_equal(&begin[0], &begin[1]) && a->first < b->last && b->first < a->last) ||
	       of_one_thread(g, k, m, &apart[0]);
}

/* Group m becomes a part of k, that writes. */
static bool join_rows_of(struct ws_ranges *g, unsigned k, unsigned m)
{
	struct group *const both[] = { &g->groups[k], &g->groups[m] };
	struct leaf l = { .kind = LEAF_ONE_OF, .nof = 2, .in_time = true, .offset = (int64_t)g->v.nleaves };
	struct sum apart, row, begin;
	int64_t bytes = 0;

	for (unsigned n = 0; n < 2; n++) {
		if (!split_row(&g->v, both[n], &apart, &row, &begin) ||
		    !ws_sum_add(&row, &(struct sum){ 1, { { .factor = 1 } } }, both[n]->first))
			return false;
		l.of[n] = ws_value_keep(&g->v, &row);
		bytes = both[n]->last - both[n]->first > bytes ? both[n]->last - both[n]->first : bytes;
	}
	if (!ws_value_leaf(&g->v, &l, &row) || !ws_sum_add(&apart, &row, 1))
		return false;
	both[0]->sum = apart;
	both[0]->row = row;
	both[0]->first = 0;
	both[0]->last = bytes;
	ws_group_remove(g, m, k);
	return true;
}

static void join_rows(struct ws_ranges *g)
{
	for (unsigned k = 0; k < g->nwriting; k++)
		for (unsigned m = k + 1; m < g->ngroups;)
			m = shares_rows(g, k, m) && join_rows_of(g, k, m) ? k + 1 : m + 1;
}

/* Reads in groups beyond those that are compared are as if nothing was known of them; those of allocations may be in
 * several. */
static bool leave_out_many(struct ws_ranges *g)
{
	if (g->nwriting > MOST_COMPARED)
		ws_ranges_join_areas(g);
	ws_ranges_join_reads(g);
	for (uint32_t k = 0; k < g->v.f->ninsts && g->ngroups > MOST_COMPARED; k++)
		if (g->how[k] == AREA_READ || (g->how[k] == BOUNDED_READ && g->group[k] >= MOST_COMPARED)) {
			g->how[k] = g->v.f->insts[k].space == WS_SPACE_GLOBAL ? OUTSIDE : CHECKED;
			g->unknown_reads = true;
		}
	if (g->nwriting > MOST_COMPARED)
		return false;
	g->unknown_reads |= g->ngroups > MOST_COMPARED && ws_ranges_any_unproved(g);
	g->ngroups = g->ngroups < MOST_COMPARED ? g->ngroups : MOST_COMPARED;
	return true;
}

static bool to_be_proved(const struct ws_ranges *g, const struct ws_rw_access *a)
{
	return ws_ranges_may_be_global(a) && g->how[a->inst->index] != NOT_REACHED;
}

static bool add_writes(struct ws_ranges *g, const struct ws_rw_access *list, uint32_t n)
{
	struct bases b;
	struct sum s;

	for (uint32_t k = 0; k < n; k++) {
		g->unseen |= writes_unseen(g->v.f, &list[k]);
		if (!to_be_proved(g, &list[k]) || list[k].kind == WS_RW_READ ||
		    ws_ranges_not_global(&g->v, list[k].address->reg))
			continue;
		if (address_of(g, &list[k], &s) ? !add_to_group(g, &list[k], &s) :
		    !ws_area_bases(&g->v, &list[k], &b) || !add_to_areas(g, &list[k], &b, false, NULL))
			return false;
		g->how[list[k].inst->index] = OWN;
	}
	g->nwriting = g->ngroups;
	g->duties_of_writes = g->v.nduties;
	return true;
}

/* Does the kernel write to what it reads here, as far as can be said before, so that it may race? */
static bool writes_area(const struct ws_ranges *g, const struct ws_rw_access *a, const struct bases *b)
{
	for (unsigned k = 0; k < g->nwriting; k++)
		for (unsigned m = 0; m < b->n; m++)
			if (ws_group_base(&g->v, &g->groups[k]) == b->leaf[m] && !may_be_of(&g->groups[k], a))
				return true;
	return false;
}

/* A read of which only the allocation is known. OWN: it is of a group that writes. */
static bool read_in_area(struct ws_ranges *g, const struct ws_rw_access *a, uint8_t *how)
{
	struct bases b;
	unsigned first;

	if (!ws_area_bases(&g->v, a, &b) || (!is_behind(g, a) && writes_area(g, a, &b)) || !add_to_areas(g, a, &b, false, &first))
		return false;
	*how = first < g->nwriting ? OWN : AREA_READ;
	return true;
}

/* One that is not proved: of what else the kernel does, that may be which is not in its allocation. */
static bool read_where_written(struct ws_ranges *g, const struct ws_rw_access *a)
{
	struct bases b;

	return ws_area_bases(&g->v, a, &b) && add_to_areas(g, a, &b, true, NULL);
}

/* A read outside the intervals has no race; that of a generic address must not be in shared memory for this. What a copy by a thread
 * reads is not before what the thread does next: of that it is not enough to be of a group whose threads are apart. */
static void add_reads(struct ws_ranges *g, const struct ws_rw_access *list, uint32_t n)
{
	struct sum s;

	for (uint32_t k = 0; k < n; k++) {
		const struct ws_rw_access *a = &list[k];
		uint8_t *how = &g->how[a->inst->index];

		if (!to_be_proved(g, a) || a->kind != WS_RW_READ || ws_ranges_not_global(&g->v, a->address->reg) || ws_area_is_table(&g->v, a))
			continue;
		g->widest = a->bytes > g->widest ? a->bytes : g->widest;
		*how = a->space == WS_SPACE_GLOBAL ? OUTSIDE : CHECKED;
		if (a->inst->op != WS_OP_cp && address_of(g, a, &s) && add_to_group(g, a, &s))
			*how = g->group[a->inst->index] < g->nwriting ? OWN : BOUNDED_READ;
		else if (!read_in_area(g, a, how) && !read_where_written(g, a))
			g->unknown_reads = true;
	}
}

/* Those of functions that are called. */
static void add_called(struct ws_ranges *g)
{
	for (unsigned k = 0; k < g->ncalled; k++) {
		const struct leaf l = { .kind = LEAF_SYMBOL, .sym = g->called[k], .fixed = true };
		struct sum s;
		struct group *x = ws_value_leaf(&g->v, &l, &s) ? group_of(g, &s, true, NULL, 0, 0) : NULL;

		g->unknown_reads |= !x;
		if (!x)
			continue;
		x->reads = true;
		x->meets = false;
		x->bytes = x->bytes ? x->bytes : 1;
	}
}

/* Without the row, if there is one. */
static struct sum what_tells_apart(const struct group *x)
{
	struct sum s = x->sum;

	ws_sum_add(&s, &x->row, -1);
	return s;
}

static bool may_be_apart(const struct ws_ranges *g, const struct group *x)
{
	const struct sum s = what_tells_apart(x);

	return x->meets || (!x->area && ws_can_be_apart(&g->v, &s));
}

/* May it be that no access of a launch has a race, as far as can be said before? */
static bool may_own(const struct ws_ranges *g)
{
	if (g->unknown_reads || ws_ranges_any_unproved(g) || g->nwriting > MOST_OWN)
		return false;
	for (unsigned k = 0; k < g->nwriting; k++)
		if (!may_be_apart(g, &g->groups[k]))
			return false;
	return true;
}

/* May it be that those of a group have none, though others may? */
static bool may_partly(const struct ws_ranges *g, bool own)
{
	if (own && g->nwriting * g->ngroups > MOST_BOTH)
		return false;
	for (unsigned k = 0; k < g->nwriting; k++)
		if (may_be_apart(g, &g->groups[k]) && !g->groups[k].several)
			return g->nwriting > 1 && g->nwriting <= MOST_OWN && !g->unknown_reads;
	return false;
}

/* probed: what is not proved of shared memory is by its probe. */
static bool all_own(const struct ws_ranges *g, const struct ws_rw_access *list, uint32_t n,
		    const struct ws_needless *needless, const struct ws_shared_ranges *shared, bool probed)
{
	for (uint32_t k = 0; k < n; k++) {
		uint8_t how = g->how[list[k].inst->index];
		bool proved = how == OWN || how == BOUNDED_READ || how == AREA_READ || how == NOT_REACHED ||
			      (!g->nwriting && how != CHECKED) || (shared && ws_shared_ranges_may(shared, &list[k])) ||
			      (probed && list[k].space == WS_SPACE_SHARED);

		if (list[k].rw_class == WS_RW_CHECK && !needless[k].skip && !proved)
			return false;
	}
	return true;
}

/* Reads that need no check if nobody writes there. */
static bool reads_unproved(const struct ws_ranges *g)
{
	return ws_ranges_any(g, OUTSIDE) || ws_ranges_any(g, BOUNDED_READ) || ws_ranges_any(g, AREA_READ);
}

/* ---- the entry ---- */
/* An interval around the groups list[0..n) of a launch of which the assumptions hold; else all addresses. It begins
 * earlier by what an access may reach beyond its address. */
static void make_interval(struct ws_ranges *g, struct entry *e, struct group *const *list, unsigned n)
{
	struct interval *i = &g->intervals[g->nintervals++];
	const char *lo = ws_entry_register(e, &list[0]->lo), *hi = ws_entry_register(e, &list[0]->hi);

	for (unsigned k = 1; k < n; k++) {
		ws_code_add(e->c, "min.s64 %s, %s, %s;", lo, lo, ws_entry_text(e, &list[k]->lo));
		ws_code_add(e->c, "max.s64 %s, %s, %s;", hi, hi, ws_entry_text(e, &list[k]->hi));
	}
	i->start = ws_rw_of_launch(g->p, g->v.f, WS_B64);
	i->length = ws_rw_of_launch(g->p, g->v.f, WS_B64);
	ws_code_add(e->c, "sub.s64 %s, %s, %u;", lo, lo, g->widest - 1);
	ws_code_add(e->c, "sub.s64 %s, %s, %s;", hi, hi, lo);
	ws_code_add(e->c, "selp.b64 %s, %s, 0, %s;", i->start, lo, e->ok);
	ws_code_add(e->c, "selp.b64 %s, %s, -1, %s;", i->length, hi, e->ok);
}

/* One interval for what is counted from one address, and the last for all others. */
static void make_intervals(struct ws_ranges *g, struct entry *e)
{
	struct group *list[MOST_GROUPS];
	bool done[MOST_GROUPS] = { false };

	for (unsigned k = 0; k < g->nwriting; k++) {
		bool rest = g->nintervals == MOST_INTERVALS - 1;
		unsigned n = 0;

		for (unsigned m = k; m < g->nwriting && !done[k]; m++)
			if (!done[m] && (rest || m == k ||
			                 ws_group_base(&g->v, &g->groups[m]) == ws_group_base(&g->v, &g->groups[k])))
				list[n++] = &g->groups[m];
		if (!n)
			continue;
		for (unsigned m = 0; m < n; m++)
			done[list[m] - g->groups] = true;
		make_interval(g, e, list, n);
	}
}

static void demand_apart(struct entry *e, const struct group *x)
{
	const struct sum s = what_tells_apart(x);

	if (x->behind)                       /* there is one block */
		ws_entry_apart_in_block(e, &x->sum, x->last - x->first, &x->pins);
	else
		ws_entry_rows_apart(e, &s, &x->row, x->last - x->first, &x->pins);
}

/* Does no part of its address tell threads apart? Then it is proved in launches of one thread. */
static bool is_of_all(const struct ws_ranges *g, const struct group *x)
{
	const struct sum s = what_tells_apart(x);

	for (uint32_t k = 0; k < s.n; k++)
		for (uint32_t n = 0; n < s.t[k].n; n++) {
			const struct leaf *l = &g->v.leaves[s.t[k].leaf[n]];

			if (!l->fixed && !ws_leaf_each_has_all(l))
				return false;
		}
	return !x->meets && !x->pins.n;
}

static void decide_own(struct ws_ranges *g, struct entry *e)
{
	g->own = ws_ranges_predicate(g, e);
	for (unsigned k = 0; k < g->nwriting; k++) {
		struct group *x = &g->groups[k];

		for (unsigned m = 0; m < k; m++)
			ws_ranges_demand_disjoint(g, e, x, &g->groups[m]);
		if (!x->meets)
			demand_apart(e, x);
	}
	for (unsigned k = 0; k < g->nwriting; k++)
		if (is_of_all(g, &g->groups[k]))
			ws_rw_holds_rarely(g->p, g->own);
}

/* What no other group comes to, and its own threads do not share, has no race. bounded: all bounds are known. */
static void decide_partly(struct ws_ranges *g, struct entry *e, const char *bounded)
{
	for (unsigned k = 0; k < g->nwriting; k++) {
		struct group *x = &g->groups[k];

		if (!may_be_apart(g, x) || x->several)
			continue;
		e->ok = bounded;
		g->partly[k] = ws_ranges_predicate(g, e);
		for (unsigned m = 0; m < g->ngroups; m++)
			if (m != k)
				ws_ranges_demand_disjoint(g, e, m < g->nwriting ? x : &g->groups[m], m < g->nwriting ? &g->groups[m] : x);
		if (!x->meets)
			demand_apart(e, x);
		if (g->own)
			ws_code_add(e->c, "or.pred %s, %s, %s;", g->partly[k], g->partly[k], g->own);
		if (is_of_all(g, x))
			ws_rw_holds_rarely(g->p, g->partly[k]);
	}
}

/* What a copy by a thread reads, it may read at any time until it is waited for. */
static bool has_copies(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (f->insts[k].op == WS_OP_cp)
			return true;
	return false;
}

/* What makes launches silent, as far as can be said before: proofs of everything; or of global memory, and the probe's. */
struct silence {
	bool by_ranges;
	const struct ws_shared_ranges *shared;
	const char *proved;              /* NULL: not so */
};

static bool may_be_silent(const struct ws_ranges *g, const struct ws_rw_access *list, uint32_t n,
			  const struct ws_needless *needless, const struct ws_shared_ranges *shared, const char *proved,
			  struct silence *how)
{
	how->by_ranges = !has_copies(g->v.f) && all_own(g, list, n, needless, shared, false);    /* nothing here knows what they write */
	how->shared = shared;
	how->proved = proved && all_own(g, list, n, needless, NULL, true) ? proved : NULL;
	return how->by_ranges || how->proved;
}

static void decide_silent(struct ws_ranges *g, struct entry *e, const struct silence *how)
{
	const char *so_far = g->own ? g->own : e->ok, *also;

	e->ok = so_far;
	g->silent = ws_ranges_predicate(g, e);
	g->by_proofs = how->by_ranges;
	if (how->by_ranges && how->shared)
		ws_shared_ranges_demand(how->shared, e->c, g->silent);
	if (!how->proved)
		return;
	e->ok = so_far;
	also = how->by_ranges ? ws_ranges_predicate(g, e) : g->silent;
	ws_code_add(e->c, "and.pred %s, %s, %s;", also, also, how->proved);
	if (how->by_ranges)
		ws_code_add(e->c, "or.pred %s, %s, %s;", g->silent, g->silent, also);
}

static const char *is_one_block(struct ws_ranges *g, struct entry *e)
{
	static const char axes[] = "xyz";
	const char *one = ws_rw_of_launch(g->p, g->v.f, WS_PRED), *n = ws_code_temp(e->c, WS_B32);

	ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", one);
	for (unsigned k = 0; axes[k]; k++) {
		ws_code_add(e->c, "mov.u32 %s, %%nctaid.%c;", n, axes[k]);
		ws_code_add(e->c, "setp.eq.and.u32 %s, %s, 1, %s;", one, n, one);
	}
	return one;
}

/* silence: NULL if no launch is silent. */
static void write_entry(struct ws_ranges *g, bool own, const struct silence *silence)
{
	struct entry e = { .v = &g->v, .c = ws_code_entry(g->p, g->v.f) };
	const char *bounded;

	ws_ranges_predicate(g, &e);
	if (g->p->alone) {                   /* the host knows whether it is before it decides */
		ws_code_device_only(e.c, true);
		ws_code_add(e.c, "mov.pred %s, %s;", e.ok, g->p->alone);
		ws_code_device_only(e.c, false);
	}
	g->one_block = g->between ? is_one_block(g, &e) : NULL;
	for (unsigned k = 0; k < g->nrare; k++)
		ws_entry_unless(&e, &g->rare[k]);
	ws_entry_duties(&e, 0, g->duties_of_writes);
	for (unsigned k = 0; k < g->nwriting; k++)
		ws_group_bounds(g, &e, &g->groups[k]);
	if (g->final.arrives)
		ws_ranges_demand_arrivals(g, &e);
	if (reads_unproved(g) && !g->nrare && !g->final.arrives)
		make_intervals(g, &e);
	if (own || g->ngroups > g->nwriting || may_partly(g, own)) {
		bounded = ws_ranges_decide_quiet(g, &e, own);
		if (own)
			decide_own(g, &e);
		if (may_partly(g, own) && !g->nrare && !g->final.arrives)
			decide_partly(g, &e, bounded);
	}
	if (silence)
		decide_silent(g, &e, silence);
	ws_code_tell(e.c);
	free(e.known);
}

/* ---- launches that do not come to everything ---- */
static struct ws_ranges *begin(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n)
{
	struct ws_ranges *g = ws_alloc(sizeof *g);

	g->p = p;
	g->list = list;
	g->n = n;
	ws_values_init(&g->v, f);
	g->how = ws_alloc(f->ninsts + 1);
	g->group = ws_alloc(f->ninsts + 1);
	return g;
}

static bool has_barriers(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (ws_op_info(f->insts[k].op)->fx & WS_FX_BARRIER)
			return true;
	return false;
}

static bool leave_out_rare(struct ws_ranges *g, const struct ws_rw_access *list, uint32_t n)
{
	bool *needs = ws_alloc(n + 1);

	g->nrare = ws_rare_find(&g->v, list, n, needs, g->rare);
	for (uint32_t k = 0; k < n; k++)
		if (needs[k])
			g->how[list[k].inst->index] = NOT_REACHED;
	free(needs);
	g->dead = ws_alloc(g->v.f->ninsts + 1);
	if (has_barriers(g->v.f))
		g->nrare = ws_rare_ways(&g->v, g->dead, g->rare, g->nrare);
	return g->nrare > 0;
}

/* Where nothing is called, and there are not too many accesses to compare them in pairs. */
static void find_intervals(struct ws_ranges *g, const struct ws_reach *reach, const struct ws_rw_kernel *k)
{
	enum { MOST = 160 };

	if (g->n <= MOST && !has_copies(g->v.f) && has_barriers(g->v.f) && ws_area_calls_nothing(reach, k))
		g->between = ws_intervals_find(g->v.f, g->list, g->n, false, g->dead);
}

/* final: look for the block that arrives last. */
static bool add_all(struct ws_ranges *g, const struct ws_reach *reach, const struct ws_rw_kernel *k, bool final)
{
	find_intervals(g, reach, k);
	if (final && !ws_final_find(&g->v, g->list, g->n, g->between, g->dead, &g->final))
		return false;
	if (!add_writes(g, g->list, g->n))
		return false;
	add_reads(g, g->list, g->n);
	ws_ranges_join_alike(g);
	ws_ranges_join_rounds(g);
	join_pinned(g);
	add_called(g);
	spread(g);
	ws_ranges_join_digits(g);
	join_rows(g);
	for (unsigned m = 0; m < g->nwriting; m++)
		find_pins(g, m);
	return !final || ws_ranges_counts_alone(g);
}

/* What the first block of a launch finds in a counter is for those launches alone that the host has told so: on the GPU the
 * predicate is false. */
static void keep_for_host(struct ws_ranges *g)
{
	struct ws_code *c = ws_code_entry(g->p, g->v.f);

	ws_code_device_only(c, true);
	ws_code_add(c, "setp.ne.u32 %s, 0, 0;", g->silent);
	ws_code_device_only(c, false);
	ws_code_tell(c);
	g->counter = ws_arena_alloc(g->p->m->arena, sizeof *g->counter);
	memcpy((void *)g->counter, &g->v.leaves[g->final.base], sizeof *g->counter);
	g->counter_offset = g->final.offset;
}

/* A predicate of launches in which the conditions are false that some accesses need, and all the others need no check; also (final)
 * because one block arrives last. NULL: there are none. */
static struct ws_ranges *silent_without_rare(struct ws_pass *p, const struct ws_reach *reach, const struct ws_rw_kernel *k,
					     const struct ws_rw_access *list, uint32_t n, const struct ws_needless *needless,
					     const struct ws_shared_ranges *shared, const char *proved, bool final)
{
	struct silence silence;
	struct ws_ranges *g = begin(p, (struct ws_ptx_func *)k->func, list, n);

	if (ws_area_calls_nothing(reach, k) && (leave_out_rare(g, list, n) || final) && add_all(g, reach, k, final) && leave_out_many(g) &&
	    (!g->nwriting || may_own(g)) && may_be_silent(g, list, n, needless, shared, proved, &silence)) {
		write_entry(g, g->nwriting, &silence);
		if (final)
			keep_for_host(g);
		return g;
	}
	ws_ranges_free(g);
	return NULL;
}

/* Every read is proved by what holds of the launch as a whole, or none is there; and all else is plain writes of words. */
static const char *without_reads(const struct ws_ranges *g, const struct ws_needless *needless)
{
	const char *decided = g->far ? g->far : g->quiet ? g->quiet : g->p->alone;

	for (uint32_t k = 0; k < g->n; k++) {
		const struct ws_rw_access *a = &g->list[k];
		uint8_t how = g->how[a->inst->index];
		bool fine = a->kind == WS_RW_READ ? (how == BOUNDED_READ && g->quiet) || (how == AREA_READ && g->far) : ws_ranges_plain_word(a);

		if (a->rw_class == WS_RW_CHECK && a->space != WS_SPACE_SHARED && !needless[k].skip && !fine)
			return NULL;
	}
	return g->unknown_reads ? NULL : decided;
}

bool ws_ranges_plain_word(const struct ws_rw_access *a)
{
	return a->kind == WS_RW_WRITE && a->inst->op == WS_OP_st && a->space == WS_SPACE_GLOBAL && a->bytes == 4 && a->sem == WS_SEM_WEAK;
}

/* ---- for the pass ---- */
/* What holds in every launch. */
enum { OF_FOUR = 16 };                   /* bytes that one check of four reads is of */
static struct ws_ranges *find(struct ws_pass *p, const struct ws_reach *reach, const struct ws_rw_kernel *k,
			      const struct ws_rw_access *list, uint32_t n, struct ws_needless *needless,
			      const struct ws_shared_ranges *shared, const char *proved)
{
	struct silence silence;
	struct ws_ranges *g = begin(p, (struct ws_ptx_func *)k->func, list, n);
	bool own, all;

	if (!look_at_callees(g, reach, k) || !add_all(g, reach, k, false)) {
		ws_ranges_free(g);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		needless[i].skip |= !g->nwriting && !g->unseen && g->how[list[i].inst->index] != CHECKED;
		g->widest = needless[i].four && g->widest < OF_FOUR ? OF_FOUR : g->widest;
	}
	if (!leave_out_many(g)) {
		ws_ranges_free(g);
		return NULL;
	}
	own = may_own(g);
	all = (g->nwriting ? own : shared || proved || g->unseen) && ws_area_calls_nothing(reach, k) &&
	      may_be_silent(g, list, n, needless, shared, proved, &silence);
	if (all || (g->nwriting && (own || reads_unproved(g) || may_partly(g, own))))
		write_entry(g, own && g->nwriting, all ? &silence : NULL);
	g->unread = g->nwriting && ws_area_calls_nothing(reach, k) ? without_reads(g, needless) : NULL;
	return g;
}

/* Launches in which one of the two needs no check. */
static struct ws_ranges *also_silent(struct ws_ranges *g, struct ws_ranges *other)
{
	struct ws_code *c;

	if (!other)
		return g;
	g = g ? g : begin(other->p, other->v.f, other->list, other->n);
	if (g->silent) {
		c = ws_code_entry(g->p, g->v.f);
		ws_code_add(c, "or.pred %s, %s, %s;", g->silent, g->silent, other->silent);
		ws_code_tell(c);
	} else {
		g->silent = other->silent;
	}
	g->by_proofs |= other->by_proofs;
	g->counter = other->counter;
	g->counter_offset = other->counter_offset;
	ws_ranges_free(other);
	return g;
}

struct ws_ranges *ws_ranges_find(struct ws_pass *p, const struct ws_reach *reach, const struct ws_rw_kernel *k,
				 const struct ws_rw_access *list, uint32_t n, struct ws_needless *needless,
				 const struct ws_shared_ranges *shared, const char *proved)
{
	struct ws_ptx_func *f = (struct ws_ptx_func *)k->func;
	struct ws_ranges *g;

	ws_ptx_cfg(f);
	g = find(p, reach, k, list, n, needless, shared, proved);
	g = also_silent(g, silent_without_rare(p, reach, k, list, n, needless, shared, proved, false));
	return also_silent(g, silent_without_rare(p, reach, k, list, n, needless, shared, proved, true));
}

static void outside(const struct ws_ranges *g, struct ws_code *c, const char *address, const char *label)
{
	const char *at = ws_code_temp(c, WS_B64), *inside = ws_code_temp(c, WS_PRED);

	for (unsigned k = 0; k < g->nintervals; k++) {
		ws_code_add(c, "sub.s64 %s, %s, %s;", at, address, g->intervals[k].start);
		if (k)
			ws_code_add(c, "setp.lt.or.u64 %s, %s, %s, %s;", inside, at, g->intervals[k].length, inside);
		else
			ws_code_add(c, "setp.lt.u64 %s, %s, %s;", inside, at, g->intervals[k].length);
	}
	ws_code_add(c, "@!%s bra %s;", inside, label);
}

const char *ws_ranges_silent(const struct ws_ranges *g)
{
	return g->silent;
}

const char *ws_ranges_unread(const struct ws_ranges *g)
{
	return g->unread;
}

bool ws_ranges_silent_by_proofs(const struct ws_ranges *g)
{
	return g->by_proofs;
}

bool ws_ranges_has_counter(const struct ws_ranges *g)
{
	return g->counter != NULL;
}

const char *ws_ranges_starts_at_zero(const struct ws_ranges *g, struct ws_code *c)
{
	return ws_final_starts_at_zero(c, g->counter, g->counter_offset);
}

bool ws_ranges_alike(const struct ws_ranges *g, const struct ws_rw_access *a, const struct ws_rw_access *b)
{
	return g->how[a->inst->index] == g->how[b->inst->index];
}

static const char *of_group(const struct ws_ranges *g, const struct ws_rw_access *a)
{
	unsigned k = g->group[a->inst->index];

	return k < MOST_OWN && g->partly[k] ? g->partly[k] : g->own;
}

/* What holds of a launch that spares the access; NULL: there is nothing. */
static const char *decided_for(const struct ws_ranges *g, const struct ws_rw_access *a)
{
	enum how how = (enum how)g->how[a->inst->index];

	return how == BOUNDED_READ ? g->quiet : how == AREA_READ ? g->far : how == OWN ? of_group(g, a) : NULL;
}

/* Is it a read, and of one that is not where the kernel writes? */
static bool is_outside(const struct ws_ranges *g, const struct ws_rw_access *a)
{
	enum how how = (enum how)g->how[a->inst->index];

	return how == OUTSIDE || how == BOUNDED_READ || how == AREA_READ;
}

bool ws_ranges_may(const struct ws_ranges *g, const struct ws_rw_access *a)
{
	return decided_for(g, a) || is_outside(g, a);
}

const char *ws_ranges_skip(const struct ws_ranges *g, struct ws_code *c, const struct ws_rw_access *a,
                           const char *address)
{
	const char *decided = decided_for(g, a), *label;
	bool read = is_outside(g, a);

	if (!decided && !read)
		return NULL;
	label = ws_code_label(c);
	if (read && !g->nwriting && g->unseen && g->p->alone)      /* other launches may write there */
		ws_code_add(c, "@%s bra %s;", g->p->alone, label);
	else if (read && !g->nwriting)
		ws_code_add(c, "bra %s;", label);
	else if (decided)
		ws_code_add(c, "@%s bra %s;", decided, label);
	if (read && g->nintervals && a->space == WS_SPACE_GLOBAL)
		outside(g, c, address, label);
	return label;
}

void ws_ranges_free(struct ws_ranges *g)
{
	if (!g)
		return;
	ws_values_free(&g->v);
	ws_intervals_free(g->between);
	ws_final_free(&g->final);
	free(g->dead);
	free(g->how);
	free(g->group);
	free(g);
}
