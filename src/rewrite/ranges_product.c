/* ranges_product.c - divisions by a number, of which compilers make products: of what is not negative, x / d is the upper half of x * m, shifted by k, where
 * m * d is 2^(32 + k) and something more (Granlund and Montgomery, Division by Invariant Integers using Multiplication, PLDI 1994, section 4). Of what
 * has a sign, the product's sign is added, which is 0 then. Newer compilers have a product of 64 bits, and shift it by 32 more. */
#include "rewrite/ranges_priv.h"

static bool is_number(const struct ws_operand *o) { return o->kind == WS_O_INT && !o->negated; }

static const struct ws_ptx_inst *def_by(const struct values *v, const struct ws_operand *o, enum ws_op op, unsigned nops)
{
	const struct ws_ptx_inst *i = ws_value_only_def(v, o);

	return i && i->op == op && i->nops == nops ? i : NULL;
}

/* `shr.type of, by`: what it shifts; NULL: it is another instruction. */
static const struct ws_operand *shifted(const struct ws_ptx_inst *i, enum ws_type type, int64_t *by)
{
	if (!i || i->op != WS_OP_shr || i->type[0] != type || !is_number(&i->ops[2]))
		return NULL;
	*by = (int64_t)i->ops[2].imm;
	return &i->ops[1];
}

/* The divisor of a product's upper half, or all of it (part), that is shifted by k beside the lower one, for all x from 0 to before 2^bits; 0: it is no
 * such product. */
static int64_t divisor(const struct ws_ptx_inst *mul, enum ws_part part, int64_t k, unsigned bits)
{
	enum { MOST_SHIFT = 24 };
	int64_t m = (int64_t)(uint32_t)mul->ops[2].imm, all, d, more;

	if (mul->part != part || !is_number(&mul->ops[2]) || m <= 0 || (bits == 31 && m > INT32_MAX) || k < 0 || k > MOST_SHIFT)
		return 0;
	all = (int64_t)1 << (32 + k);
	d = (all + m - 1) / m;
	more = m * d - all;
	return d > 1 && more <= (int64_t)1 << (32 + k - bits) ? d : 0;
}

/* The product whose upper half is shifted by *k and had its sign added. */
static const struct ws_ptx_inst *with_sign(const struct values *v, const struct ws_ptx_inst *i, int64_t *k)
{
	for (unsigned n = 1; n < 3; n++) {
		const struct ws_operand *sign, *high;
		int64_t by;

		sign = shifted(ws_value_only_def(v, &i->ops[n]), WS_U32, &by);
		if (!sign || by != 31)
			continue;
		high = shifted(ws_value_only_def(v, &i->ops[3 - n]), WS_S32, k);
		if (!high) {
			high = &i->ops[3 - n];
			*k = 0;
		}
		if (ws_value_same_operand(sign, high))
			return def_by(v, high, WS_OP_mul, 3);
	}
	return NULL;
}

/* The product of 64 bits, without a sign, of which i gives the lower half when it has been shifted by 32 and *k. */
static const struct ws_ptx_inst *of_all(const struct values *v, const struct ws_ptx_inst *i, int64_t *k)
{
	const struct ws_operand *of = shifted(ws_value_only_def(v, &i->ops[1]), WS_U64, k);

	*k -= 32;
	return of && i->type[0] == WS_U32 && ws_type_bytes((enum ws_type)i->type[1]) == 8 ? def_by(v, of, WS_OP_mul, 3) : NULL;
}

bool ws_value_divided_by_product(struct values *v, const struct ws_ptx_inst *i, struct sum *out)
{
	const struct ws_ptx_inst *mul = NULL;
	const struct ws_operand *of;
	bool is_signed = i->op == WS_OP_add, all = i->op == WS_OP_cvt;
	struct sum x, rest, s = { 1, { { .factor = 0 } } };
	int64_t k;

	if (!v->shared || i->guard || i->nops != (all ? 2 : 3))
		return false;
	if (all) {
		mul = of_all(v, i, &k);
	} else if (is_signed) {
		mul = with_sign(v, i, &k);
	} else {
		of = shifted(i, WS_U32, &k);
		mul = of ? def_by(v, of, WS_OP_mul, 3) : NULL;
	}
	if (!mul || mul->type[0] != (is_signed ? WS_S32 : WS_U32))
		return false;
	s.t[0].factor = divisor(mul, all ? WS_WIDE : WS_HI_HALF, k, is_signed ? 31 : 32);
	if (!s.t[0].factor || !ws_value_operand(v, &mul->ops[1], 4, mul, &x))
		return false;
	ws_value_must_fit(v, &x, (enum ws_type)mul->type[0]);
	rest = x;
	ws_sum_without_up(v, &rest);
	ws_value_duty(v, &rest, 0, INT64_MAX);
	return ws_split_quotient(v, &x, &s, false, out);
}
