/* ranges_fields.c - bits of a number that tell threads apart together: `warp / 2`, `warp % 2`, `lane / 4` and `lane % 4` of one index.
 *
 * A quotient by a power of 2, rounded down, is all bits of a number but the low ones, a remainder the low ones; and so of parts of
 * parts, as tiles of warps have them. What is the same in all bits of a number from the lowest to above those that it has in this launch
 * is the same number. Pins (ranges_pin.c) count as what is the same in both threads. Low bits are also those of a number that is
 * a multiple of a power of 2 away: the lane of `blockIdx.x * blockDim.x + threadIdx.x` is `threadIdx.x % 32`, where a block has whole warps. */
#include "rewrite/ranges_priv.h"

enum { ALL = 64 };

struct field { struct sum of; unsigned from, to; };      /* bits [from, to) of a sum; to == ALL: and all above, and its sign */

static int power_of(const struct sum *step)
{
	int64_t k = step->n == 1 && !step->t[0].n ? step->t[0].factor : 0;

	return k > 0 && !(k & (k - 1)) ? __builtin_ctzll((uint64_t)k) : -1;
}

/* The leaf that the sum is, whatever its name; NULL: it is none. */
static const struct leaf *leaf_of(const struct values *v, const struct sum *s, struct sum *flat)
{
	return ws_sum_flatten(v, s, flat) && flat->n == 1 && flat->t[0].n == 1 && flat->t[0].factor == 1 ? &v->leaves[flat->t[0].leaf[0]] : NULL;
}

/* of: of what the number is a part; false: it is none. */
static bool part_of(const struct values *v, const struct sum *s, struct sum *of, int *by, bool *low)
{
	const struct leaf *l = leaf_of(v, s, of);

	if (!l || (l->kind != LEAF_QUOTIENT && l->kind != LEAF_REMAINDER) || power_of(l->step) < 0)
		return false;
	*by = power_of(l->step);
	*low = l->kind == LEAF_REMAINDER;
	*of = *l->of[0];
	return true;
}

static bool find_field(const struct values *v, const struct sum *s, struct field *out)
{
	enum { DEEPEST = 4 };
	struct { int by; bool low; } parts[DEEPEST];
	unsigned n = 0;

	out->of = *s;
	while (n < DEEPEST && part_of(v, &out->of, &out->of, &parts[n].by, &parts[n].low))
		n++;
	out->from = 0;
	out->to = ALL;
	for (unsigned k = n; k--;)
		if (parts[k].low)
			out->to = out->from + (unsigned)parts[k].by < out->to ? out->from + (unsigned)parts[k].by : out->to;
		else
			out->from += (unsigned)parts[k].by;
	return n && out->from < out->to && ws_sum_flatten(v, &out->of, &out->of);
}

/* Of a sum that is a multiple of a part, and a number. */
static bool field_of_pin(const struct values *v, const struct sum *zero, struct field *out)
{
	struct sum s = *zero;

	ws_sum_take_constant(&s);
	if (s.n != 1)
		return false;
	s.t[0].factor = 1;
	return find_field(v, &s, out);
}

/* May the sum be a multiple in a launch? */
static bool may_be_multiple(const struct values *v, const struct sum *s, int64_t by)
{
	for (uint32_t k = 0; k < s->n; k++) {
		bool may = s->t[k].factor % by == 0;

		for (uint32_t n = 0; n < s->t[k].n; n++)
			may |= v->leaves[s->t[k].leaf[n]].fixed;
		if (!may)
			return false;
	}
	return true;
}

static unsigned further(const struct values *v, const struct field *f, const struct sum *of, unsigned at, struct multiples *m)
{
	struct sum far = *of;

	if (f->from > at || f->to <= at)
		return at;
	if (ws_sum_equal(&f->of, of))
		return f->to;
	if (!m || m->n == MOST_PARTS || f->to > 31 || !ws_sum_add(&far, &f->of, -1) || !may_be_multiple(v, &far, (int64_t)1 << f->to))
		return at;
	m->of[m->n].sum = far;
	m->of[m->n++].by = (int64_t)1 << f->to;
	return f->to;
}

static unsigned cover(const struct entry *e, const struct sum *of, struct multiples *m)
{
	struct field f;
	unsigned at = 0, before = 1;

	while (at != before) {
		before = at;
		for (unsigned k = 0; k < e->nparts; k++) {
			const struct sum other = ws_sum_of_leaf(e->parts[k]);

			if (find_field(e->v, &other, &f))
				at = further(e->v, &f, of, at, m);
		}
		for (unsigned k = 0; e->pins && k < e->pins->n; k++)
			if (field_of_pin(e->v, &e->pins->zero[k], &f))
				at = further(e->v, &f, of, at, m);
	}
	return at;
}

unsigned ws_fields_cover(const struct entry *e, const struct leaf *part, struct sum *of, struct multiples *m)
{
	const struct sum itself = ws_sum_of_leaf((uint32_t)(part - e->v->leaves));
	struct field mine;
	unsigned bits;

	m->n = 0;
	if (!find_field(e->v, &itself, &mine))
		return 0;
	*of = mine.of;
	bits = cover(e, of, NULL);
	return bits == ALL ? bits : cover(e, of, m);
}
