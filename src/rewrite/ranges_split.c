/* ranges_split.c - numbers that are split in two: x = s * quotient + remainder, by division, or masks and shifts.
 *
 * s is one number of the launch, 1 or more, and 0 <= remainder < s. Quotients are rounded down, which is what a shift to
 * the right does with any number, and a division with those that are not negative. Where x itself is in a sum with one
 * of the two, as in x + s * quotient or 2 * x - remainder, it is replaced by both: then they are digits of the sum, and
 * bounds of the sum are as narrow as they are. What may differ from time to time is left alone, for x and its parts may
 * have been computed at different times. */
#include "rewrite/ranges_priv.h"

/* ---- the two parts ---- */
static bool part(struct values *v, enum leaf_kind kind, const struct sum *x, const struct sum *s, bool power,
                 struct sum *out)
{
	struct leaf l = { .kind = kind, .nof = 1, .k = power };
	int64_t a, by;

	if (ws_sum_is_number(x, &a) && ws_sum_is_number(s, &by) && by > 0 && a >= 0)
		return ws_sum_number(out, kind == LEAF_QUOTIENT ? a / by : a % by);
	l.of[0] = ws_value_keep(v, x);
	l.step = ws_value_keep(v, s);
	l.fixed = ws_sum_fixed(v, x);
	l.in_time = ws_sum_in_time(v, x);
	return ws_value_leaf(v, &l, out);
}

/* The largest power of 2 that all of x is a multiple of, and s, which is a power of 2: less than s. */
static int64_t in_common(const struct sum *x, const struct sum *s)
{
	int64_t all = s->n == 1 && !s->t[0].n ? s->t[0].factor / 2 : 1;

	for (uint32_t k = 0; k < x->n; k++)
		while (all > 1 && x->t[k].factor % all)
			all /= 2;
	return all > 1 ? all : 1;
}

static struct sum divide(struct sum s, int64_t by)
{
	for (uint32_t k = 0; k < s.n; k++)
		s.t[k].factor /= by;
	return s;
}

static int64_t number_in(const struct sum *s)
{
	return s->n == 1 && !s->t[0].n ? s->t[0].factor : 0;
}

/* x / 8 / 4 is x / 32, as compilers have it of 4 * (x / 32): x / 8, and then all but two bits of it. */
static bool quotient_of_quotient(struct values *v, const struct sum *x, const struct sum *s, bool power, struct sum *out)
{
	enum { MOST = 1 << 30 };
	const struct leaf *l = x->n == 1 && x->t[0].n == 1 && x->t[0].factor == 1 ? &v->leaves[x->t[0].leaf[0]] : NULL;
	int64_t inner = l && l->kind == LEAF_QUOTIENT && l->k ? number_in(l->step) : 0, outer = power ? number_in(s) : 0;
	struct sum by = { 1, { { .factor = inner * outer } } };

	return inner > 0 && outer > 0 && inner <= MOST / outer && part(v, LEAF_QUOTIENT, l->of[0], &by, true, out);
}

static bool quotient(struct values *v, const struct sum *x, const struct sum *s, bool power, struct sum *out)
{
	int64_t by = power ? in_common(x, s) : 1;
	struct sum y = divide(*x, by), of = divide(*s, by);

	return quotient_of_quotient(v, &y, &of, power, out) || part(v, LEAF_QUOTIENT, &y, &of, power, out);
}

/* *x without the multiples of `by` that its number has, of `(t + 256) / 8`; how many. What is left may be negative only if it is shifted. */
static int64_t take_number(const struct values *v, struct sum *x, int64_t by, bool power)
{
	struct sum rest = *x;
	int64_t number = ws_sum_take_constant(&rest), left = number % by;

	if (number < by || !ws_sum_add(&rest, &(struct sum){ 1, { { .factor = left } } }, 1) || (!power && !ws_sum_never_negative(v, &rest)))
		return 0;
	*x = rest;
	return number / by;
}

/* (x + s * y) / s is x / s + y, rounded down as it is, and (x + s * y) % s is x % s: of `i += 256`, i / 64 and i % 64. */
bool ws_split_quotient(struct values *v, const struct sum *x, const struct sum *s, bool power, struct sum *out)
{
	struct sum rest = *x, times;
	int64_t by = number_in(s), number;

	if (by > 0 && ws_sum_take_up(v, &rest, by, &times))
		return ws_split_quotient(v, &rest, s, power, out) && ws_sum_add(out, &times, 1);
	number = by > 0 ? take_number(v, &rest, by, power) : 0;
	return quotient(v, &rest, s, power, out) && ws_sum_add(out, &(struct sum){ number != 0, { { .factor = number } } }, 1);
}

/* 4 * x % 16 is 4 * (x % 4). */
bool ws_split_remainder(struct values *v, const struct sum *x, const struct sum *s, bool power, struct sum *out)
{
	struct sum y = *x, of, rest;
	int64_t by;

	if (number_in(s) > 0) {
		ws_sum_take_up(v, &y, number_in(s), &rest);
		take_number(v, &y, number_in(s), power);
	}
	by = power ? in_common(&y, s) : 1;
	y = divide(y, by);
	of = divide(*s, by);
	out->n = 0;
	return part(v, LEAF_REMAINDER, &y, &of, power, &rest) && ws_sum_add(out, &rest, by);
}

static bool differ_by_number(const struct sum *a, const struct sum *b)
{
	struct sum rest = *a;

	return ws_sum_add(&rest, b, -1) && (!rest.n || (rest.n == 1 && !rest.t[0].n));
}

/* x / s and (x + k) % s tell what x is as well as x / s and x % s do. */
bool ws_split_pair(const struct leaf *a, const struct leaf *b)
{
	return a->kind + b->kind == LEAF_QUOTIENT + LEAF_REMAINDER && a->kind != b->kind &&
	       (a->kind == LEAF_QUOTIENT || a->kind == LEAF_REMAINDER) && a->k == b->k &&
	       differ_by_number(a->of[0], b->of[0]) && ws_sum_equal(a->step, b->step);
}

/* ---- x in sums with its parts ---- */
/* A leaf that tells where x is in a sum: it stands alone in a term of x, and in no other. */
static bool find_mark(const struct values *v, const struct sum *x, uint32_t *leaf, int64_t *factor)
{
	for (uint32_t k = 0; k < x->n; k++) {
		unsigned in = 0;

		if (x->t[k].n != 1 || v->leaves[x->t[k].leaf[0]].fixed)
			continue;
		for (uint32_t m = 0; m < x->n; m++)
			for (uint32_t n = 0; n < x->t[m].n; n++)
				in += x->t[m].leaf[n] == x->t[k].leaf[0];
		*leaf = x->t[k].leaf[0];
		*factor = x->t[k].factor;
		if (in == 1)
			return true;
	}
	return false;
}

/* What the leaf is multiplied with in the sum, divided by a number; false: that is not one number of the launch, or 0. */
static bool multiple(struct values *v, const struct sum *s, uint32_t leaf, int64_t by, struct sum *out)
{
	out->n = 0;
	for (uint32_t k = 0; k < s->n; k++) {
		struct sum rest = { 1, { { .factor = s->t[k].factor } } };
		unsigned in = 0;

		for (uint32_t n = 0; n < s->t[k].n; n++)
			if (s->t[k].leaf[n] == leaf)
				in++;
			else
				rest.t[0].leaf[rest.t[0].n++] = s->t[k].leaf[n];
		if (!in)
			continue;
		if (in > 1 || rest.t[0].factor % by)
			return false;
		rest.t[0].factor /= by;
		if (!ws_sum_add(out, &rest, 1))
			return false;
	}
	return out->n && ws_sum_fixed(v, out);
}

bool ws_split_multiple(struct values *v, const struct sum *s, const struct sum *x, struct sum *out)
{
	uint32_t mark;
	int64_t factor;

	return find_mark(v, x, &mark, &factor) && multiple(v, s, mark, factor, out);
}

/* *out = s - c * x + c * y */
static bool exchange(const struct sum *s, const struct sum *c, const struct sum *x, const struct sum *y, struct sum *out)
{
	struct sum minus = { 0 };

	*out = *s;
	return ws_sum_add(&minus, c, -1) && ws_sum_add_product(out, &minus, x) && ws_sum_add_product(out, c, y);
}

/* s - c * x + c * (step * quotient + remainder) */
static bool replace(struct values *v, struct sum *s, const struct sum *c, const struct leaf *l)
{
	struct sum parts, remainder, result;

	if (!ws_split_quotient(v, l->of[0], l->step, l->k, &remainder))
		return false;
	parts.n = 0;
	if (!ws_sum_add_product(&parts, &remainder, l->step) ||
	    !ws_split_remainder(v, l->of[0], l->step, l->k, &remainder) || !ws_sum_add(&parts, &remainder, 1))
		return false;
	if (!exchange(s, c, l->of[0], &parts, &result))
		return false;
	*s = result;
	return true;
}

/* s - c * x + c * (ratio * quotient + remainder), where x is itself a quotient, x / 32, and there is one by a multiple of that, x / 2 / 32. */
static bool replace_inner(struct values *v, struct sum *s, uint32_t inner, uint32_t outer)
{
	const struct leaf *x = &v->leaves[inner], *l = &v->leaves[outer];
	int64_t by = x->kind == LEAF_QUOTIENT && x->k && !x->in_time ? number_in(x->step) : 0, most = l->k ? number_in(l->step) : 0;
	const struct sum part = ws_sum_of_leaf(inner), whole = ws_sum_of_leaf(outer);
	struct sum ratio = { 1, { { .factor = by ? most / by : 0 } } }, c, remainder, result;

	if (by < 1 || most <= by || most % by || !ws_sum_equal(x->of[0], l->of[0]) || !multiple(v, s, inner, 1, &c) ||
	    !ws_split_remainder(v, &part, &ratio, true, &remainder) || !ws_sum_add(&remainder, &whole, ratio.t[0].factor))
		return false;
	if (!exchange(s, &c, &part, &remainder, &result))
		return false;
	*s = result;
	return true;
}

static bool replace_quotient(struct values *v, struct sum *s, uint32_t outer)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t n = 0; n < s->t[k].n; n++)
			if (s->t[k].leaf[n] != outer && replace_inner(v, s, s->t[k].leaf[n], outer))
				return true;
	return false;
}

/* s - c * x + c * (remainder + by * rest), where x is t % 32 and there is t % 2 as well, which is taken away: of `2 * lane - (lane & 1)`. */
static bool replace_last_bits(struct values *v, struct sum *s, uint32_t inner, uint32_t outer)
{
	const struct leaf *x = &v->leaves[inner], *l = &v->leaves[outer];
	int64_t all = x->kind == LEAF_REMAINDER && x->k && !x->in_time && !x->fixed ? number_in(x->step) : 0, by = l->k ? number_in(l->step) : 0;
	const struct sum part = ws_sum_of_leaf(inner), last = ws_sum_of_leaf(outer), of = *l->of[0];
	struct sum step = { 1, { { .factor = by } } }, ratio = { 1, { { .factor = by ? all / by : 0 } } }, c, rest, whole, result;

	if (by < 2 || all <= by || all % by || !ws_sum_equal(x->of[0], &of) || !multiple(v, s, inner, 1, &c) || !ws_split_quotient(v, &of, &step, true, &whole) ||
	    !ws_split_remainder(v, &whole, &ratio, true, &rest))
		return false;
	for (uint32_t k = 0; k < rest.n; k++)
		rest.t[k].factor *= by;
	if (!ws_sum_add(&rest, &last, 1) || !exchange(s, &c, &part, &rest, &result))
		return false;
	*s = result;
	return true;
}

/* k: of a term that takes a remainder away. */
static bool replace_remainder(struct values *v, struct sum *s, uint32_t k)
{
	const struct term t = s->t[k];

	for (uint32_t m = 0; m < s->n && t.n == 1 && t.factor < 0; m++)
		if (s->t[m].n == 1 && m != k && replace_last_bits(v, s, s->t[m].leaf[0], t.leaf[0]))
			return true;
	return false;
}

/* s - c * x + c * name, where the leaf is a part of another name of x, with bounds: of `16 * t - 8 * (t & 127)` under `if (t < 128)`. */
static bool replace_name(struct values *v, struct sum *s, const struct leaf *l)
{
	struct sum x, c, result;

	if (!ws_sum_flatten(v, l->of[0], &x) || ws_sum_equal(&x, l->of[0]) || !ws_split_multiple(v, s, &x, &c) ||
	    !exchange(s, &c, &x, l->of[0], &result) || result.n > s->n)
		return false;
	*s = result;
	return true;
}

static bool replace_one(struct values *v, struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t n = 0; n < s->t[k].n; n++) {
			const struct leaf l = v->leaves[s->t[k].leaf[n]];
			struct sum c;

			if ((l.kind == LEAF_QUOTIENT || l.kind == LEAF_REMAINDER) && !l.fixed && !l.in_time &&
			    ((ws_split_multiple(v, s, l.of[0], &c) && replace(v, s, &c, &l)) || replace_name(v, s, &l)))
				return true;
			if (l.kind == LEAF_QUOTIENT && !l.fixed && !l.in_time && replace_quotient(v, s, s->t[k].leaf[n]))
				return true;
			if (l.kind == LEAF_REMAINDER && !l.fixed && !l.in_time && replace_remainder(v, s, k))
				return true;
		}
	return false;
}

void ws_split_replace(struct values *v, struct sum *s)
{
	enum { MOST = 4 };

	for (unsigned k = 0; k < MOST && replace_one(v, s); k++)
		;
}

/* ---- the entry ---- */
static struct num divided(struct entry *e, const struct leaf *l, struct num a, struct num by)
{
	struct num n = a, shift = { .bits = 6 };

	if (!a.reg && !a.k)
		return a;
	if (!by.reg && !(by.k & (by.k - 1)))
		return ws_entry_made(e, "shr.s64", a, ws_entry_number(__builtin_ctzll((uint64_t)by.k)));
	if (!l->k || !by.reg)
		return ws_entry_made(e, "div.s64", n, by);
	shift.reg = ws_code_temp(e->c, WS_B32);
	ws_code_add(e->c, "bfind.u64 %s, %s;", shift.reg, by.reg);
	return ws_entry_made(e, "shr.s64", n, shift);
}

struct num ws_split_most(struct entry *e, const struct leaf *l, int64_t by)
{
	struct num lo, hi, shift = ws_entry_number(__builtin_ctzll((uint64_t)by)), mask = ws_entry_number(by - 1), most;
	const char *same = ws_code_temp(e->c, WS_PRED);

	ws_entry_bounds(e, l->of[0], &lo, &hi);
	most = ws_entry_made(e, "and.b64", hi, mask);
	most.negative = false;
	lo = ws_entry_made(e, "shr.s64", lo, shift);
	hi = ws_entry_made(e, "shr.s64", hi, shift);
	ws_code_add(e->c, "setp.eq.s64 %s, %s, %s;", same, lo.reg, hi.reg);
	return ws_entry_either(e, same, most, mask);
}

void ws_split_bounds(struct entry *e, struct leaf *l)
{
	struct num lo, hi, by, same;

	ws_entry_bounds(e, l->step, &by, &same);
	if (l->kind == LEAF_REMAINDER) {
		l->lo = ws_entry_number(0);
		l->hi = ws_entry_add(e, by, ws_entry_number(-1));
		l->hi.negative = false;      /* that it is 1 or more is a duty */
		return;
	}
	ws_entry_bounds(e, l->of[0], &lo, &hi);
	l->lo = divided(e, l, lo, by);
	l->hi = divided(e, l, hi, by);
}
