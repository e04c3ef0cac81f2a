/* ranges_rows.c - groups of accesses that do not meet because they lie side by side in rows, or in tiles on a diagonal (ranges.c). */
#include "rewrite/ranges_priv.h"

enum { MOST_PITCHES = 3 };

/* ---- side by side in rows ----
 * A pitch is a number of the launch that a term multiplies with something that varies. What is left of two groups without
 * all multiples of it lies in two intervals: where these do not meet, and are no more than the pitch in all, the groups do
 * not meet, in whichever rows they are. Where they are no more than the pitch in all, but meet, accesses that meet are of the
 * same row of that pitch (a plane), and it is asked of what is left, by another pitch. All of that is of numbers: whether one of them is an
 * address is of no matter. */
static bool is_pitch(const struct values *v, const struct term *t, struct term *pitch)
{
	unsigned varying = 0;

	*pitch = (struct term){ .factor = t->factor };
	for (uint32_t m = 0; m < t->n; m++) {
		if (!v->leaves[t->leaf[m]].fixed)
			varying++;
		else
			pitch->leaf[pitch->n++] = t->leaf[m];
	}
	return varying == 1 && pitch->n && pitch->factor > 0;
}

static bool find_pitch(const struct values *v, const struct sum *s, struct term *pitch)
{
	for (uint32_t k = 0; k < s->n; k++)
		if (is_pitch(v, &s->t[k], pitch))
			return true;
	return false;
}

static bool is_multiple(const struct term *t, const struct term *of)
{
	uint32_t found = 0;

	for (uint32_t k = 0; k < t->n && found < of->n; k++)
		found += t->leaf[k] == of->leaf[found];
	return found == of->n && t->factor % of->factor == 0;
}

static struct sum without_multiples(const struct sum *s, const struct term *of)
{
	struct sum rest = { 0 };

	for (uint32_t k = 0; k < s->n; k++)
		if (!is_multiple(&s->t[k], of))
			rest.t[rest.n++] = s->t[k];
	return rest;
}

static void bounds_in_row(struct entry *e, const struct stretch *x, const struct term *pitch, struct num *lo, struct num *hi)
{
	struct sum rest = without_multiples(x->sum, pitch);

	ws_entry_bounds(e, &rest, lo, hi);
	*lo = ws_entry_add(e, *lo, ws_entry_number(x->first));
	*hi = ws_entry_add(e, *hi, ws_entry_number(x->last));
}

/* Makes `disjoint` true if they are for this reason. outer: a predicate that must hold as well, or NULL. Returns one that says that
 * accesses that meet are of the same row. */
static const char *or_in_columns(struct entry *e, const struct stretch *a, const struct stretch *b, const struct sum *width, const char *outer,
				 const char *disjoint)
{
	const char *first, *last, *apart = ws_code_temp(e->c, WS_PRED), *within = ws_code_temp(e->c, WS_PRED);
	struct num lo[2], hi[2], pitch, same;

	bounds_in_row(e, a, &width->t[0], &lo[0], &hi[0]);
	bounds_in_row(e, b, &width->t[0], &lo[1], &hi[1]);
	ws_entry_bounds(e, width, &pitch, &same);
	first = ws_entry_register(e, &lo[0]);
	last = ws_entry_register(e, &hi[0]);
	ws_code_add(e->c, "setp.le.s64 %s, %s, %s;", apart, last, ws_entry_text(e, &lo[1]));
	ws_code_add(e->c, "setp.ge.or.s64 %s, %s, %s, %s;", apart, first, ws_entry_text(e, &hi[1]), apart);
	ws_code_add(e->c, "min.s64 %s, %s, %s;", first, first, ws_entry_text(e, &lo[1]));
	ws_code_add(e->c, "max.s64 %s, %s, %s;", last, last, ws_entry_text(e, &hi[1]));
	ws_code_add(e->c, "sub.s64 %s, %s, %s;", last, last, first);
	ws_code_add(e->c, "setp.le.s64 %s, %s, %s;", within, last, ws_entry_text(e, &pitch));
	if (outer)
		ws_code_add(e->c, "and.pred %s, %s, %s;", within, within, outer);
	ws_code_add(e->c, "and.pred %s, %s, %s;", apart, apart, within);
	ws_code_add(e->c, "or.pred %s, %s, %s;", disjoint, disjoint, apart);
	return within;
}

/* A term that both sums have, of a number and something that varies: rows of that many bytes. */
static bool is_constant_pitch(const struct values *v, const struct term *t, const struct sum *other)
{
	if (t->n != 1 || v->leaves[t->leaf[0]].fixed || t->factor < 2)
		return false;
	for (uint32_t k = 0; k < other->n; k++)
		if (other->t[k].n == 1 && other->t[k].leaf[0] == t->leaf[0] && other->t[k].factor == t->factor)
			return true;
	return false;
}

static bool was_before(const struct values *v, const struct sum *s, uint32_t k, const struct term *pitch)
{
	struct term other;

	for (uint32_t m = 0; m < k; m++)
		if (is_pitch(v, &s->t[m], &other) && is_multiple(&other, pitch) && is_multiple(pitch, &other))
			return true;
	return false;
}

/* By each pitch of a; deeper: and in what that leaves. Returns how many there are. */
static unsigned or_by_pitches(struct entry *e, const struct stretch *a, const struct stretch *b, const char *outer, bool deeper, const char *disjoint)
{
	struct sum width = { .n = 1 }, rest[2];
	unsigned n = 0;

	for (uint32_t k = 0; k < a->sum->n && n < MOST_PITCHES; k++) {
		struct stretch left[2] = { *a, *b };
		const char *within;

		if (!is_pitch(e->v, &a->sum->t[k], &width.t[0]) || was_before(e->v, a->sum, k, &width.t[0]))
			continue;
		n++;
		within = or_in_columns(e, a, b, &width, outer, disjoint);
		rest[0] = without_multiples(a->sum, &width.t[0]);
		rest[1] = without_multiples(b->sum, &width.t[0]);
		left[0].sum = &rest[0];
		left[1].sum = &rest[1];
		if (deeper)
			or_by_pitches(e, &left[0], &left[1], within, false, disjoint);
	}
	return n;
}

void ws_rows_or_side_by_side(struct entry *e, const struct stretch *a, const struct stretch *b, const char *disjoint)
{
	struct sum width = { .n = 1 };

	if (or_by_pitches(e, a, b, NULL, true, disjoint))
		return;
	for (uint32_t k = 0; k < a->sum->n; k++) {
		width.t[0] = (struct term){ .factor = a->sum->t[k].factor };
		if (is_constant_pitch(e->v, &a->sum->t[k], b->sum) && width.t[0].factor >= a->last - a->first + b->last - b->first)
			or_in_columns(e, a, b, &width, NULL, disjoint);
	}
}

/* ---- tiles on a diagonal ----
 * Both groups have the block's index with one weight. A block of one group and one of the other, d blocks on, do not meet if
 * they are apart as numbers, or as columns of a pitch, as above: that is examined for d = -1, 0 and 1. Blocks farther from
 * each other are apart if two weights are no less than all that is left of both groups comes to. */
struct diagonal {
	struct num lo[2], hi[2];         /* of both groups without the block's index */
	struct num first[2], last[2];    /* likewise, of their columns */
	struct num weight, columns, pitch;       /* columns: of the weight */
};

/* What the index is multiplied with, if it is of one axis: the size of the grid along the others must be 1. */
static bool weight_of_block(struct values *v, const struct sum *block, struct sum *weight, enum ws_sreg *axis)
{
	struct sum index, rest = *block, minus = { 0 };

	for (uint32_t n = 0; n < block->t[0].n; n++) {
		const struct leaf *l = &v->leaves[block->t[0].leaf[n]];

		if (l->kind != LEAF_SPECIAL || l->special < WS_SR_CTAID_X || l->special > WS_SR_CTAID_Z)
			continue;
		index = ws_sum_of_leaf(block->t[0].leaf[n]);
		*axis = l->special;
		return ws_split_multiple(v, block, &index, weight) && ws_sum_add(&minus, weight, -1) &&
		       ws_sum_add_product(&rest, &minus, &index) && !rest.n;
	}
	return false;
}

static void two_bounds(struct entry *e, const struct sum *s, const struct stretch *x, struct num *lo, struct num *hi)
{
	ws_entry_bounds(e, s, lo, hi);
	*lo = ws_entry_add(e, *lo, ws_entry_number(x->first));
	*hi = ws_entry_add(e, *hi, ws_entry_number(x->last));
}

/* p: [lo, hi) of the first, moved, and [lo, hi) of the second are apart; also no farther than `most`, if there is one. */
static const char *apart_when_moved(struct entry *e, const struct num *lo, const struct num *hi, const struct num *by, int times,
				    const struct num *most)
{
	const char *p = ws_code_temp(e->c, WS_PRED), *from = ws_entry_register(e, &lo[0]), *to = ws_entry_register(e, &hi[0]);

	for (int k = 0; k < (times < 0 ? -times : times); k++) {
		ws_code_add(e->c, "%s.s64 %s, %s, %s;", times < 0 ? "sub" : "add", from, from, ws_entry_text(e, by));
		ws_code_add(e->c, "%s.s64 %s, %s, %s;", times < 0 ? "sub" : "add", to, to, ws_entry_text(e, by));
	}
	ws_code_add(e->c, "setp.ge.s64 %s, %s, %s;", p, from, ws_entry_text(e, &hi[1]));
	ws_code_add(e->c, "setp.le.or.s64 %s, %s, %s, %s;", p, to, ws_entry_text(e, &lo[1]), p);
	if (most) {
		ws_code_add(e->c, "min.s64 %s, %s, %s;", from, from, ws_entry_text(e, &lo[1]));
		ws_code_add(e->c, "max.s64 %s, %s, %s;", to, to, ws_entry_text(e, &hi[1]));
		ws_code_add(e->c, "sub.s64 %s, %s, %s;", to, to, from);
		ws_code_add(e->c, "setp.le.and.s64 %s, %s, %s, %s;", p, to, ws_entry_text(e, most), p);
	}
	return p;
}

static void demand_far(struct entry *e, const struct diagonal *d, const char *ok)
{
	const char *from = ws_entry_register(e, &d->lo[0]), *to = ws_entry_register(e, &d->hi[0]), *far = ws_entry_register(e, &d->weight);

	ws_code_add(e->c, "min.s64 %s, %s, %s;", from, from, ws_entry_text(e, &d->lo[1]));
	ws_code_add(e->c, "max.s64 %s, %s, %s;", to, to, ws_entry_text(e, &d->hi[1]));
	ws_code_add(e->c, "sub.s64 %s, %s, %s;", to, to, from);
	ws_code_add(e->c, "abs.s64 %s, %s;", far, far);
	ws_code_add(e->c, "add.s64 %s, %s, %s;", far, far, far);
	ws_code_add(e->c, "setp.ge.and.s64 %s, %s, %s, %s;", ok, far, to, ok);
}

static void demand_one_axis(struct entry *e, enum ws_sreg axis, const char *ok)
{
	const char *n = ws_code_temp(e->c, WS_B32);

	for (unsigned k = 0; k < 3; k++) {
		if (axis == WS_SR_CTAID_X + k)
			continue;
		ws_code_add(e->c, "mov.u32 %s, %s;", n, ws_sreg_name((enum ws_sreg)(WS_SR_NCTAID_X + k)));
		ws_code_add(e->c, "setp.eq.and.u32 %s, %s, 1, %s;", ok, n, ok);
	}
}

void ws_rows_or_on_diagonal(struct entry *e, const struct stretch *a, const struct stretch *b, const char *disjoint)
{
	const struct stretch *both[] = { a, b };
	struct sum block[2], rest[2], weight, columns, width = { .n = 1 };
	struct diagonal d;
	struct num same;
	enum ws_sreg axis;
	const char *ok;

	if (!ws_split_by_block(e->v, a->sum, &block[0], &rest[0]) ||
	    !ws_split_by_block(e->v, b->sum, &block[1], &rest[1]) || !block[0].n || !ws_sum_equal(&block[0], &block[1]) ||
	    !weight_of_block(e->v, &block[0], &weight, &axis) || weight.n < 2 ||
	    (!find_pitch(e->v, &rest[0], &width.t[0]) && !find_pitch(e->v, &rest[1], &width.t[0])))
		return;
	for (unsigned k = 0; k < 2; k++) {
		two_bounds(e, &rest[k], both[k], &d.lo[k], &d.hi[k]);
		columns = without_multiples(&rest[k], &width.t[0]);
		two_bounds(e, &columns, both[k], &d.first[k], &d.last[k]);
	}
	columns = without_multiples(&weight, &width.t[0]);
	ws_entry_bounds(e, &weight, &d.weight, &same);
	ws_entry_bounds(e, &columns, &d.columns, &same);
	ws_entry_bounds(e, &width, &d.pitch, &same);
	ok = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", ok);
	for (int by = -1; by <= 1; by++) {
		const char *p = apart_when_moved(e, d.lo, d.hi, &d.weight, by, NULL);
		const char *q = apart_when_moved(e, d.first, d.last, &d.columns, by, &d.pitch);

		ws_code_add(e->c, "or.pred %s, %s, %s;", p, p, q);
		ws_code_add(e->c, "and.pred %s, %s, %s;", ok, ok, p);
	}
	demand_far(e, &d, ok);
	demand_one_axis(e, axis, ok);
	ws_code_add(e->c, "or.pred %s, %s, %s;", disjoint, disjoint, ok);
}
