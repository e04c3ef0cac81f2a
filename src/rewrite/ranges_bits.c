/* ranges_bits.c - masks, shifts and bit fields of registers, as sums (ranges_value.c) of quotients and remainders by powers of 2. */
#include "rewrite/ranges_priv.h"

static bool is_power(uint64_t k)
{
	return k && !(k & (k - 1));
}

/* x & (s - 1), for a power of 2 that is one number of the launch. */
static bool masked_by_register(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	const struct sum one = { 1, { { .factor = 1 } } };
	struct sum x, s;

	for (unsigned at = 1; at <= 2; at++) {
		if (!ws_value_operand(v, &i->ops[at], bytes, i, &s) || !ws_sum_fixed(v, &s) || !ws_sum_add(&s, &one, 1) ||
		    !ws_value_operand(v, &i->ops[3 - at], bytes, i, &x))
			continue;
		ws_value_duty_power(v, &s);
		return ws_split_remainder(v, &x, &s, true, out);
	}
	return false;
}

/* Has it no bits above these? What only goes up stays below as long as accesses stay in their variable (ws_value_endless). */
static void has_no_more(struct values *v, const struct sum *x, int64_t most)
{
	struct sum rest = *x;

	ws_sum_without_up(v, &rest);
	ws_value_duty(v, &rest, 0, most);
}

/* Low bits, all but low bits, or nearly all bits of a number that is then taken to have no others. */
static bool masked_by_number(struct values *v, const struct sum *x, uint64_t k, unsigned bytes, struct sum *out)
{
	enum { MANY = 0xffff };
	int64_t high = bytes == 4 ? -(int64_t)(int32_t)k : -(int64_t)k;
	struct sum s = { 1, { { .factor = is_power(k + 1) ? (int64_t)k + 1 : high } } }, low;

	if (is_power(k + 1) && k >= MANY && k < UINT32_MAX && !ws_sum_fixed(v, x)) {
		has_no_more(v, x, (int64_t)k);
		*out = *x;
		return true;
	}
	if (is_power(k + 1) && k < MANY)
		return ws_split_remainder(v, x, &s, true, out);
	*out = *x;
	if (high <= 0 || high >= MANY || !is_power((uint64_t)high) || !ws_split_remainder(v, x, &s, true, &low) ||
	    !ws_sum_add(out, &low, -1))
		return false;
	ws_split_replace(v, out);
	return true;
}

static int64_t low_bit(int64_t k)
{
	return k & -k;
}

/* The largest power of 2 that divides a sum, but none above 2^30. */
static int64_t power_in(const struct sum *s)
{
	int64_t all = 1 << 30;

	for (uint32_t k = 0; k < s->n; k++)
		if (low_bit(s->t[k].factor) < all)
			all = low_bit(s->t[k].factor);
	return all;
}

/* Bits in the middle of a multiple of the lowest of them. */
static bool masked_in_middle(struct values *v, const struct sum *x, uint64_t k, struct sum *out)
{
	enum { MANY = 0xffff };
	int64_t low = low_bit((int64_t)k);
	struct sum y = *x, s = { 1, { { .factor = (int64_t)k / low + 1 } } }, below = { 1, { { .factor = low } } }, part;

	if (low < 2 || low >= MANY || k > UINT32_MAX / 2 || !is_power(k / (uint64_t)low + 1))
		return false;
	if (k >= MANY || (v->shared && power_in(x) % low)) {         /* taken to have none above */
		has_no_more(v, x, (int64_t)k + low - 1);
		*out = *x;
		if (power_in(x) % low == 0)
			return true;
		if (!ws_split_remainder(v, x, &below, true, &part) || !ws_sum_add(out, &part, -1))
			return false;
		ws_split_replace(v, out);
		return true;
	}
	if (power_in(x) % low) {                     /* those of a quotient, as of a part of the thread's index */
		below.t[0].factor = low;
		if (!ws_split_quotient(v, x, &below, true, &y))
			return false;
	} else {
		for (uint32_t n = 0; n < y.n; n++)
			y.t[n].factor /= low;
	}
	out->n = 0;
	return ws_split_remainder(v, &y, &s, true, &part) && ws_sum_add(out, &part, low);
}

static bool has_any(const struct values *v, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t n = 0; n < s->t[k].n; n++) {
			const struct leaf *l = &v->leaves[s->t[k].leaf[n]];

			if (l->kind == LEAF_MASKED && !l->fixed)
				return true;
		}
	return false;
}

/* 0, or any number of the bits of k that the register may hold. */
bool ws_bits_any(struct values *v, const struct ws_reg *r, int64_t k, struct sum *out)
{
	struct leaf l = { .kind = LEAF_MASKED, .reg = r, .in_time = true };
	struct sum number;

	l.k = k / low_bit(k);
	out->n = 0;
	return ws_value_leaf(v, &l, &number) && ws_sum_add(out, &number, low_bit(k));
}

/* Of what is known it is a number itself; of what is not, any number of so many bits, times the lowest of them. */
bool ws_bits_masked(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	unsigned at = i->ops[2].kind == WS_O_INT ? 2 : 1;
	const struct ws_operand *mask = &i->ops[at];
	uint64_t k = bytes == 4 ? (uint32_t)mask->imm : mask->imm;
	struct leaf l = { .kind = LEAF_MASKED, .reg = i->ops[0].reg, .k = (int64_t)k, .in_time = true };
	bool known;
	struct sum of;

	if (mask->kind != WS_O_INT)
		return masked_by_register(v, i, bytes, out);
	if (!k)
		return ws_sum_number(out, 0);
	known = ws_value_operand(v, &i->ops[3 - at], bytes, i, &of) && !has_any(v, &of);
	if (known && !ws_sum_fixed(v, &of) && (masked_in_middle(v, &of, k, out) || masked_by_number(v, &of, k, bytes, out)))
		return true;
	if (k >= (uint64_t)SUM_FACTOR_LIMIT)
		return false;
	if (!known)
		return ws_bits_any(v, i->ops[0].reg, (int64_t)k, out);
	if (known && ws_sum_fixed(v, &of)) {
		l.of[l.nof++] = ws_value_keep(v, &of);
		l.fixed = true;
		l.in_time = false;
	}
	return ws_value_leaf(v, &l, out);
}

/* x | y where y is less than what x is a multiple of: an addition. */
static bool joined_sums(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	struct sum x, y, low;

	if (!ws_value_operand(v, &i->ops[1], bytes, i, &x) || !ws_value_operand(v, &i->ops[2], bytes, i, &y))
		return false;
	ws_split_replace(v, &x);
	ws_split_replace(v, &y);
	*out = power_in(&x) < power_in(&y) ? y : x;
	low = power_in(&x) < power_in(&y) ? x : y;
	if (power_in(out) < 2)
		return false;
	ws_value_duty(v, &low, 0, power_in(out) - 1);
	return ws_sum_add(out, &low, 1);
}

/* Is the sum from 0 to less than limit, whatever its leaves are? */
static bool is_below(const struct values *v, const struct sum *s, int64_t limit)
{
	int64_t most = 0;

	for (uint32_t k = 0; k < s->n; k++) {
		const struct term *t = &s->t[k];
		const struct leaf *l = t->n == 1 ? &v->leaves[t->leaf[0]] : NULL;
		bool part = l && l->kind == LEAF_REMAINDER && l->step->n == 1 && !l->step->t[0].n;

		if (t->factor < 0 || (t->n && !part) || __builtin_mul_overflow(t->factor, part ? l->step->t[0].factor - 1 : 1, &most) ||
		    (limit -= most) <= 0)
			return false;
	}
	return true;
}

/* x | k where the bits of k are 0 in x, as its terms are multiples of more, or together less than its lowest bit: an addition. */
bool ws_bits_joined(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	uint64_t k = i->ops[2].imm;
	struct sum low = { 0 }, made;        /* what a register of which there are bounds is made of */

	if (i->ops[2].kind != WS_O_INT && i->ops[1].kind != WS_O_INT)
		return joined_sums(v, i, bytes, out);
	if (i->ops[2].kind != WS_O_INT || k >= (uint64_t)SUM_FACTOR_LIMIT || !ws_value_operand(v, &i->ops[1], bytes, i, out) ||
	    !ws_sum_flatten(v, out, &made))
		return false;
	for (uint32_t n = 0; n < made.n; n++)
		if (low_bit(made.t[n].factor) <= (int64_t)k)
			low.t[low.n++] = made.t[n];
	return is_below(v, &low, low_bit((int64_t)k)) && ws_sum_add(out, &(struct sum){ 1, { { .factor = (int64_t)k } } }, 1);
}

/* Low bits of what is known. */
static bool low_bits(struct values *v, const struct sum *x, uint64_t bits, struct sum *out)
{
	const struct sum step = { 1, { { .factor = (int64_t)1 << bits } } };

	*out = *x;
	return is_below(v, x, step.t[0].factor) || ws_split_remainder(v, x, &step, true, out);
}

/* The low bits of x at a place in y that has none above them, or to its end: both are apart. */
bool ws_bits_inserted(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	enum { MOST = 16 };
	uint64_t at = i->ops[3].imm, n = i->ops[4].imm;
	struct sum x, y;

	if (i->ops[3].kind != WS_O_INT || i->ops[4].kind != WS_O_INT || !at || !n || at > MOST || n > 64 ||
	    !ws_value_operand(v, &i->ops[1], bytes, i, &x) || !ws_value_operand(v, &i->ops[2], bytes, i, out))
		return false;
	if (has_any(v, &x) || has_any(v, out))
		return false;
	if (at + n < 8 * bytes && (n > MOST || !is_below(v, out, (int64_t)1 << at) || !low_bits(v, &x, n, &y)))
		return false;
	if (at + n < 8 * bytes)
		x = y;
	if (!low_bits(v, out, at, &y) || !ws_sum_add(&y, &x, (int64_t)1 << at))
		return false;
	*out = y;
	ws_split_replace(v, out);
	return true;
}

/* By a number of the launch: a product with a power of 2. */
static bool shifted_by_register(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	enum { MOST = 30 };
	struct leaf l = { .kind = LEAF_POWER, .nof = 1, .fixed = true };
	struct sum by, x, power;

	if (i->op != WS_OP_shl || !ws_value_operand(v, &i->ops[2], 4, i, &by) || !ws_sum_fixed(v, &by) ||
	    !ws_value_operand(v, &i->ops[1], bytes, i, &x))
		return false;
	ws_value_duty(v, &by, 0, MOST);
	l.of[0] = ws_value_keep(v, &by);
	out->n = 0;
	return ws_value_leaf(v, &l, &power) && ws_sum_add_product(out, &x, &power);
}

/* Also of x, if x + 1 is compared: it is that register less 1. */
static bool has_no_sign(const struct values *v, const struct sum *s)
{
	struct sum flat;

	return ws_sum_never_negative(v, s) || (ws_sum_flatten(v, s, &flat) && ws_sum_never_negative(v, &flat));
}

bool ws_bits_shifted(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	uint64_t by = i->ops[2].imm;
	bool is_signed = ws_type_is_signed((enum ws_type)i->type[0]);
	struct leaf l = { .kind = LEAF_SHIFTED, .reg = i->ops[0].reg, .k = (int64_t)by, .nof = 1, .fixed = true };
	struct sum s, power = { 1, { { .factor = (int64_t)1 << (by & 63) } } };
	int64_t k;

	if (i->ops[2].kind != WS_O_INT)
		return shifted_by_register(v, i, bytes, out);
	if (by >= 8 * bytes)
		return false;
	if (!ws_value_operand(v, &i->ops[1], bytes, i, &s))
		return i->op == WS_OP_shl ? ws_value_multiple(v, i, (int64_t)1 << by, out) : v->shared && !is_signed && 8 * bytes - by < 32 &&
		       ws_bits_any(v, i->ops[0].reg, ((int64_t)1 << (8 * bytes - by)) - 1, out);
	if (i->op == WS_OP_shl) {
		out->n = 0;
		return by < 40 && ws_sum_add(out, &s, (int64_t)1 << by);
	}
	ws_value_must_fit(v, &s, is_signed ? (enum ws_type)i->type[0] : bytes == 4 ? WS_U32 : WS_U64);
	if (by == 8 * bytes - 1 && has_no_sign(v, &s)) {
		if (!is_signed)
			ws_value_must_fit(v, &s, bytes == 4 ? WS_S32 : WS_S64);
		return ws_sum_number(out, 0);
	}
	if (by >= 40)
		return false;
	if (ws_sum_is_number(&s, &k) && k >= 0)
		return ws_sum_number(out, k >> by);
	if (v->shared && !ws_sum_fixed(v, &s) && power_in(&s) % power.t[0].factor == 0) {
		*out = s;
		for (uint32_t k = 0; k < out->n; k++)
			out->t[k].factor /= power.t[0].factor;
		return true;
	}
	if (!ws_sum_fixed(v, &s))
		return ws_split_quotient(v, &s, &power, true, out);
	l.of[0] = ws_value_keep(v, &s);
	return ws_value_leaf(v, &l, out);
}
