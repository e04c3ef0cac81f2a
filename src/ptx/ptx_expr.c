/* ptx_expr.c - constant expressions (PTX ISA 9.0, 4.5.4 to 4.5.6): 64-bit integers, C's operators. */
#include "ptx/ptx_priv.h"

#include <string.h>

enum { MAX_EXPR_DEPTH = 64 };

struct expr {
	struct parser *p;
	unsigned depth;
};

static bool ternary(struct expr *e, struct value *v);
static bool binary(struct expr *e, struct value *v, int min);

static bool enter(struct expr *e)
{
	if (++e->depth > MAX_EXPR_DEPTH)
		return ws_p_error_here(e->p, "this expression is nested deeper than %d", MAX_EXPR_DEPTH);
	return true;
}

static bool unary(struct expr *e, struct value *v);

/* (expr), or a cast: (.s64) x */
static bool parenthesis(struct expr *e, struct value *v)
{
	struct parser *p = e->p;
	bool is_unsigned;

	ws_p_next(p);
	if (p->t.kind == TK_DOT) {
		is_unsigned = strcmp(p->t.name->str, ".u64") == 0;
		if (!is_unsigned && strcmp(p->t.name->str, ".s64"))
			return ws_p_error_here(p, "a constant can be cast to .s64 or .u64 only");
		ws_p_next(p);
		if (!ws_p_expect(p, ')', "the type of a cast") || !unary(e, v))
			return false;
		v->is_unsigned = is_unsigned;
		return true;
	}
	return ternary(e, v) && ws_p_expect(p, ')', "the expression");
}

static bool primary(struct expr *e, struct value *v)
{
	struct parser *p = e->p;

	*v = (struct value){ .kind = V_INT };
	if (p->t.kind == TK_INT || p->t.kind == TK_FLOAT || p->t.kind == TK_FLOAT32) {
		v->kind = p->t.kind == TK_INT ? V_INT : p->t.kind == TK_FLOAT ? V_FLOAT : V_FLOAT32;
		v->bits = p->t.value;
		v->is_unsigned = p->t.is_unsigned || p->t.value > INT64_MAX;
		ws_p_next(p);
		return true;
	}
	if (p->t.kind == TK_IDENT && strcmp(p->t.name->str, "WARP_SZ") == 0) {
		v->bits = WS_WARP;
		ws_p_next(p);
		return true;
	}
	if (ws_p_is(p, '('))
		return parenthesis(e, v);
	return ws_p_error_here(p, "expected a constant");
}

static bool apply_unary(struct expr *e, struct value *v, char op, uint32_t off)
{
	if (v->kind == V_INT) {
		if (op == '-')
			v->bits = 0 - v->bits;
		else if (op != '+')
			v->bits = op == '~' ? ~v->bits : !v->bits;
		if (op == '!')
			v->is_unsigned = false;
		return true;
	}
	if (op == '-')
		v->bits ^= v->kind == V_FLOAT ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
	else if (op != '+')
		return ws_p_error(e->p, off, 1, "'%c' needs an integer", op);
	return true;
}

static bool unary(struct expr *e, struct value *v)
{
	struct parser *p = e->p;
	char op = p->t.kind == TK_PUNCT ? p->t.ch : 0;
	uint32_t off = p->t.off;
	bool ok;

	if (!enter(e))
		return false;
	if (op == '+' || op == '-' || op == '!' || op == '~') {
		ws_p_next(p);
		ok = unary(e, v) && apply_unary(e, v, op, off);
	} else {
		ok = primary(e, v);
	}
	e->depth--;
	return ok;
}

enum { B_OROR = 256, B_ANDAND, B_EQ, B_NE, B_LE, B_GE, B_SHL, B_SHR };

/* The binary operator at the current token and how tight it binds; 0 = none. */
static int operator_at(const struct parser *p, int *prec)
{
	static const struct { int op, prec; } ops[] = {
		{ B_OROR, 1 }, { B_ANDAND, 2 }, { '|', 3 }, { '^', 4 }, { '&', 5 }, { B_EQ, 6 }, { B_NE, 6 },
		{ '<', 7 }, { '>', 7 }, { B_LE, 7 }, { B_GE, 7 }, { B_SHL, 8 }, { B_SHR, 8 }, { '+', 9 },
		{ '-', 9 }, { '*', 10 }, { '/', 10 }, { '%', 10 }
	};
	static const uint16_t of_token[] = {
		[TK_OROR] = B_OROR, [TK_ANDAND] = B_ANDAND, [TK_EQ] = B_EQ, [TK_NE] = B_NE, [TK_LE] = B_LE,
		[TK_GE] = B_GE, [TK_SHL] = B_SHL, [TK_SHR] = B_SHR, [TK_BAD] = 0
	};
	int op = p->t.kind == TK_PUNCT ? p->t.ch : of_token[p->t.kind];

	for (unsigned i = 0; op && i < WS_COUNT(ops); i++) {
		if (ops[i].op == op) {
			*prec = ops[i].prec;
			return op;
		}
	}
	return 0;
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned, bool rest)
{
	if (is_unsigned)
		return rest ? a % b : a / b;
	if ((int64_t)b == -1)            /* INT64_MIN / -1 wraps */
		return rest ? 0 : 0 - a;
	return (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static uint64_t compute(int op, uint64_t a, uint64_t b, bool uns, bool left_uns)
{
	switch (op) {
	case B_OROR: return a || b;
	case B_ANDAND: return a && b;
	case '|': return a | b;
	case '^': return a ^ b;
	case '&': return a & b;
	case B_EQ: return a == b;
	case B_NE: return a != b;
	case '<': return uns ? a < b : (int64_t)a < (int64_t)b;
	case '>': return uns ? a > b : (int64_t)a > (int64_t)b;
	case B_LE: return uns ? a <= b : (int64_t)a <= (int64_t)b;
	case B_GE: return uns ? a >= b : (int64_t)a >= (int64_t)b;
	case B_SHL: return b > 63 ? 0 : a << b;
	case B_SHR:
		if (left_uns)
			return b > 63 ? 0 : a >> b;
		return (uint64_t)((int64_t)a >> (b > 63 ? 63 : b));
	case '+': return a + b;
	case '-': return a - b;
	case '*': return a * b;
	default: return divide(a, b, uns, op == '%');
	}
}

static bool apply_binary(struct expr *e, struct value *v, const struct value *r, int op, uint32_t off)
{
	bool uns = v->is_unsigned || r->is_unsigned;

	if (v->kind != V_INT || r->kind != V_INT)
		return ws_p_error(e->p, off, 1, "floating-point constants cannot be combined");
	if ((op == '/' || op == '%') && r->bits == 0)
		return ws_p_error(e->p, off, 1, "division by zero");
	v->bits = compute(op, v->bits, r->bits, uns, v->is_unsigned);
	if (op != B_SHL && op != B_SHR)
		v->is_unsigned = (op >= B_OROR && op <= B_GE) || op == '<' || op == '>' ? false : uns;
	return true;
}

static bool binary(struct expr *e, struct value *v, int min)
{
	int prec, op;

	if (!unary(e, v))
		return false;
	while ((op = operator_at(e->p, &prec)) && prec >= min) {
		uint32_t off = e->p->t.off;
		struct value r;

		ws_p_next(e->p);
		if (!binary(e, &r, prec + 1) || !apply_binary(e, v, &r, op, off))
			return false;
	}
	return true;
}

static bool ternary(struct expr *e, struct value *v)
{
	struct value yes, no;

	if (!enter(e) || !binary(e, v, 1))
		return false;
	if (ws_p_is(e->p, '?')) {
		if (v->kind != V_INT)
			return ws_p_error_here(e->p, "a condition must be an integer");
		ws_p_next(e->p);
		if (!ternary(e, &yes) || !ws_p_expect(e->p, ':', "the first choice") || !ternary(e, &no))
			return false;
		*v = v->bits ? yes : no;
	}
	e->depth--;
	return true;
}

bool ws_p_constant(struct parser *p, struct value *v)
{
	struct expr e = { .p = p };

	return ternary(&e, v);
}

/* { (+|-) product }: what may follow a base in an address */
bool ws_p_offset(struct parser *p, int64_t *out)
{
	uint64_t sum = (uint64_t)*out;

	while (ws_p_is(p, '+') || ws_p_is(p, '-')) {
		struct expr e = { .p = p };
		bool minus = p->t.ch == '-';
		uint32_t off = p->t.off;
		struct value v;

		ws_p_next(p);
		if (!binary(&e, &v, 10))
			return false;
		if (v.kind != V_INT)
			return ws_p_error(p, off, 1, "an offset must be an integer");
		sum = minus ? sum - v.bits : sum + v.bits;
	}
	*out = (int64_t)sum;
	return true;
}

bool ws_p_uint(struct parser *p, uint64_t *out, const char *what)
{
	uint32_t off = p->t.off, len = p->t.len;
	struct value v;

	if (!ws_p_constant(p, &v))
		return false;
	if (v.kind != V_INT || (!v.is_unsigned && (int64_t)v.bits < 0))
		return ws_p_error(p, off, len, "%s must be a non-negative integer", what);
	*out = v.bits;
	return true;
}

static uint64_t double_bits(double d)
{
	uint64_t b;

	memcpy(&b, &d, sizeof b);
	return b;
}

uint64_t ws_ptx_float_bits(const struct value *v, enum ws_type type)
{
	uint32_t low = (uint32_t)v->bits;
	float f;
	double d;

	if (v->kind == V_INT)
		return v->bits;
	if (v->kind == V_FLOAT32) {
		memcpy(&f, &low, sizeof f);
		return type == WS_F64 ? double_bits((double)f) : low;
	}
	if (type != WS_F32)
		return v->bits;
	memcpy(&d, &v->bits, sizeof d);
	f = (float)d;
	memcpy(&low, &f, sizeof low);
	return low;
}
