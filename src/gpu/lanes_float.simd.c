/* lanes_float.simd.c - floating-point instructions with exact rounding on 32 lanes (PTX ISA 9.0, 9.7.3 Floating
 * Point Instructions, 9.7.5 Mixed Precision Floating Point Instructions).
 *
 * Three forms of each: f32, f32z (.ftz) and f64 round to nearest and are single loops; f32x and f64x take rounding
 * and the other modifiers from imm. The compiler is told not to contract a * b + c (-ffp-contract=off). */
#include "gpu/lanes_simd.h"

/* ---- fused multiply-add ---- */
#if defined __FMA__ || defined __FP_FAST_FMAF
static inline float fma32(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
#else
/* Rounds to nearest. The product is exact in double; the sum is made odd where it is not exact, so that the second
 * rounding, to float, rounds the exact value (Boldo and Melquiond, 2008, Emulation of FMA and correctly rounded
 * sums: proved algorithms using rounding to odd). */
static inline float fma32(float x, float y, float z)
{
	double p = (double)x * y, c = z, s = p + c;
	double t = s - p;
	double err = (p - (s - t)) + (c - t);
	uint64_t u = ws_d2u(s);
	bool away = (err > 0) == (s > 0);
	bool inexact = err > 0 || err < 0;
	uint64_t odd = away ? u + 1 : u - 1;
	return (float)ws_u2d(inexact && !(u & 1) ? odd : u);
}
#endif

#define KEEP(x) (x)

#define ADD(F, x, y) (F(x) + F(y))
#define SUB(F, x, y) (F(x) - F(y))
#define MUL(F, x, y) (F(x) * F(y))
#define DIV(F, x, y) (F(x) / F(y))
#define FMAP2(name, OP) \
	WS_MAP2(name##_f32, float, float, float, ws_canon(OP(KEEP, x, y))) \
	FTZ2(name##_f32z, OP) \
	WS_MAP2(name##_f64, double, double, double, NAN64(OP(KEEP, x, y)))
#define NAN64(r) ws_nan64(r, x, y)
#define FTZ2(name, OP) WS_MAP2(name, float, float, float, ws_ftz(ws_canon(OP(ws_ftz, x, y))))
FMAP2(add, ADD)
FMAP2(sub, SUB)
#undef FTZ2
/* Whether a result is the one that may have to be flushed is rare, and looked for in all lanes at once. */
#define SUSPECT(r) ((ws_f2u(r) & 0x7fffffff) == 0x00800000)
#define FTZ2(name, OP) \
	WS_LANE_FN(name) \
	{ \
		const float *A = WS_P(float, op->a), *B = WS_P(float, op->b); \
		WS_VEC float r[32]; \
		uint32_t rare = 0; \
		WS_EACH(l, 32) \
		{ \
			float x = ws_ftz(A[l]), y = ws_ftz(B[l]), v = OP(KEEP, x, y); \
			rare |= SUSPECT(v); \
			r[l] = ws_ftz(ws_canon(v)); \
		} \
		if (rare) \
			WS_EACH(l, 32) \
			{ \
				float x = ws_ftz(A[l]) * WS_UP, y = ws_ftz(B[l]); \
				r[l] = ws_flush_tiny(r[l], OP(KEEP, x, y)); \
			} \
		ws_blend4(WS_P(float, op->d), r, mask); \
	}
FMAP2(mul, MUL)
#undef NAN64
#define NAN64(r) ws_nan64(r, y, x)
FMAP2(div, DIV)
#undef NAN64

/* Of fma's NaNs b's counts first, then c's, then a's. */
static inline double nan3(double r, double x, double y, double z)
{
	return ws_nan64(r, ws_nan64(r, x, z), y);
}
WS_MAP3(fma_f32, float, float, float, float, ws_canon(fma32(x, y, z)))
WS_LANE_FN(fma_f32z)
{
	const float *A = WS_P(float, op->a), *B = WS_P(float, op->b), *C = WS_P(float, op->c);
	WS_VEC float r[32];
	uint32_t rare = 0;
	WS_EACH(l, 32)
	{
		float v = fma32(ws_ftz(A[l]), ws_ftz(B[l]), ws_ftz(C[l]));
		rare |= SUSPECT(v);
		r[l] = ws_ftz(ws_canon(v));
	}
	if (rare)
		WS_EACH(l, 32)
			r[l] = ws_flush_tiny(r[l], fma32(ws_ftz(A[l]) * WS_UP, ws_ftz(B[l]), ws_ftz(C[l]) * WS_UP));
	ws_blend4(WS_P(float, op->d), r, mask);
}
#if defined __FMA__
WS_MAP3(fma_f64, double, double, double, double, nan3(__builtin_fma(x, y, z), x, y, z))
#else
WS_SLOW3(fma_f64, double, double, double, double, nan3(fma(x, y, z), x, y, z))
#endif
WS_MAP1(sqrt_f32, float, float, ws_canon(__builtin_sqrtf(x)))
WS_MAP1(sqrt_f32z, float, float, ws_ftz(ws_canon(__builtin_sqrtf(ws_ftz(x)))))
WS_MAP1(sqrt_f64, double, double, ws_nan64(__builtin_sqrt(x), x, x))
WS_MAP1(rcp_f32, float, float, ws_canon(1.0f / x))
WS_MAP1(rcp_f32z, float, float, ws_ftz(ws_canon(1.0f / ws_ftz(x))))
WS_MAP1(rcp_f64, double, double, ws_nan64(1.0 / x, x, x))

/* ---- the general forms ---- */
struct f32x {
	WS_VEC float a[64], b[64], c[64], r[64], s[64];
};
struct f64x {
	WS_VEC double a[32], b[32], c[32], r[32];
};

/* n = 32, or 64 for pairs in a 64-bit register */
static void load32(const struct ws_lane_op *op, uint8_t *regs, float *to, uint32_t off, int n)
{
	const float *from = WS_P(float, off);
	if (op->imm & WS_IMM_FTZ)
		WS_EACH(l, n)
			to[l] = ws_ftz(from[l]);
	else
		WS_EACH(l, n)
			to[l] = from[l];
}

static void store32(const struct ws_lane_op *op, uint8_t *regs, uint32_t mask, float *r, int n)
{
	if (op->imm & WS_IMM_SAT)
		WS_EACH(l, n)
			r[l] = ws_sat(r[l]);
	WS_EACH(l, n)
		r[l] = ws_canon(r[l]);
	if (op->imm & WS_IMM_RELU)
		WS_EACH(l, n)
			r[l] = r[l] > 0.0f || r[l] != r[l] ? r[l] : 0.0f;
	if (op->imm & WS_IMM_FTZ)
		WS_EACH(l, n)
			r[l] = ws_ftz(r[l]);
	if (n == 32)
		ws_blend4(WS_P(float, op->d), r, mask);
	else
		ws_blend8(WS_P(float, op->d), r, mask);
}

#if defined __FMA__ || defined __FP_FAST_FMAF
#define FMA_ANY32(t, l) __builtin_fmaf((t).a[l], (t).b[l], (t).c[l])
#define FMA_ANY64(t, l) __builtin_fma((t).a[l], (t).b[l], (t).c[l])
#else
#define FMA_ANY32(t, l) fmaf((t).a[l], (t).b[l], (t).c[l])
#define FMA_ANY64(t, l) fma((t).a[l], (t).b[l], (t).c[l])
#endif

/* Makes the sources such that the result is 2^24 times as large: for ws_flush_tiny (sums need it not: tiny ones are
 * exact). Clobber: see ws_round_begin. */
static inline void scale(struct f32x *t, float a, float b, float c, int n)
{
	__asm__ volatile("" : : "r"(t) : "memory");
	WS_EACH(l, n)
	{
		t->a[l] *= a;
		t->b[l] *= b;
		t->c[l] *= c;
	}
	__asm__ volatile("" : : "r"(t) : "memory");
}

#define GENERAL32(name, N, SRCS, EXPR, A, B, C) \
	WS_LANE_FN(name) \
	{ \
		struct f32x t; \
		if (SRCS < 3) \
			memset(t.b, 0, sizeof t.b + sizeof t.c); \
		load32(op, regs, t.a, op->a, N); \
		if (SRCS > 1) \
			load32(op, regs, t.b, op->b, N); \
		if (SRCS > 2) \
			load32(op, regs, t.c, op->c, N); \
		unsigned old = ws_round_begin(op->imm & WS_IMM_RND, &t); \
		WS_EACH(l, N) \
			t.r[l] = EXPR; \
		if ((op->imm & WS_IMM_FTZ) && (A) != 1) { \
			scale(&t, A, B, C, N); \
			WS_EACH(l, N) \
				t.s[l] = EXPR; \
		} \
		ws_round_end(old, &t); \
		if ((op->imm & WS_IMM_FTZ) && (A) != 1) \
			WS_EACH(l, N) \
				t.r[l] = ws_flush_tiny(t.r[l], t.s[l]); \
		store32(op, regs, mask, t.r, N); \
	}
GENERAL32(add_f32x, 32, 2, t.a[l] + t.b[l], 1, 1, 1)
GENERAL32(sub_f32x, 32, 2, t.a[l] - t.b[l], 1, 1, 1)
GENERAL32(mul_f32x, 32, 2, t.a[l] * t.b[l], WS_UP, 1, 1)
GENERAL32(div_f32x, 32, 2, t.a[l] / t.b[l], WS_UP, 1, 1)
GENERAL32(fma_f32x, 32, 3, FMA_ANY32(t, l), WS_UP, 1, WS_UP)
GENERAL32(sqrt_f32x, 32, 1, __builtin_sqrtf(t.a[l]), 1, 1, 1)
GENERAL32(rcp_f32x, 32, 1, 1.0f / t.a[l], 0x1p-24f, 1, 1)
GENERAL32(add_f32x2, 64, 2, t.a[l] + t.b[l], 1, 1, 1)
GENERAL32(sub_f32x2, 64, 2, t.a[l] - t.b[l], 1, 1, 1)
GENERAL32(mul_f32x2, 64, 2, t.a[l] * t.b[l], WS_UP, 1, 1)
GENERAL32(fma_f32x2, 64, 3, FMA_ANY32(t, l), WS_UP, 1, WS_UP)

#define GENERAL64(name, SRCS, EXPR, NANS) \
	WS_LANE_FN(name) \
	{ \
		struct f64x t; \
		memcpy(t.a, WS_P(double, op->a), sizeof t.a); \
		if (SRCS > 1) \
			memcpy(t.b, WS_P(double, op->b), sizeof t.b); \
		if (SRCS > 2) \
			memcpy(t.c, WS_P(double, op->c), sizeof t.c); \
		unsigned old = ws_round_begin(op->imm & WS_IMM_RND, &t); \
		WS_EACH(l, 32) \
			t.r[l] = EXPR; \
		ws_round_end(old, &t); \
		WS_EACH(l, 32) \
			t.r[l] = NANS; \
		ws_blend8(WS_P(double, op->d), t.r, mask); \
	}
#define NAN_BA ws_nan64(t.r[l], t.a[l], t.b[l])
#define NAN_A ws_nan64(t.r[l], t.a[l], t.a[l])
GENERAL64(add_f64x, 2, t.a[l] + t.b[l], NAN_BA)
GENERAL64(sub_f64x, 2, t.a[l] - t.b[l], NAN_BA)
GENERAL64(mul_f64x, 2, t.a[l] * t.b[l], NAN_BA)
GENERAL64(div_f64x, 2, t.a[l] / t.b[l], ws_nan64(t.r[l], t.b[l], t.a[l]))
GENERAL64(fma_f64x, 3, FMA_ANY64(t, l), nan3(t.r[l], t.a[l], t.b[l], t.c[l]))
GENERAL64(sqrt_f64x, 1, __builtin_sqrt(t.a[l]), NAN_A)
GENERAL64(rcp_f64x, 1, 1.0 / t.a[l], NAN_A)

/* ---- mixed precision: sources a (and b of fma) are halves, the last source and the result f32 ---- */
static void load_halves(const struct ws_lane_op *op, uint8_t *regs, float *to, uint32_t off)
{
	const uint16_t *from = WS_P(uint16_t, off);
	for (int l = 0; l < 32; l++)
		to[l] = op->imm & WS_IMM_BF16 ? ws_u2f((uint32_t)from[l] << 16) : ws_half_value(from[l]);
}
#define MIXED(name, SRCS, EXPR) \
	WS_LANE_FN(name) \
	{ \
		struct f32x t; \
		load_halves(op, regs, t.a, op->a); \
		if (SRCS > 2) \
			load_halves(op, regs, t.b, op->b); \
		memcpy(t.c, WS_P(float, SRCS > 2 ? op->c : op->b), 32 * sizeof *t.c); \
		unsigned old = ws_round_begin(op->imm & WS_IMM_RND, &t); \
		WS_EACH(l, 32) \
			t.r[l] = EXPR; \
		ws_round_end(old, &t); \
		store32(op, regs, mask, t.r, 32); \
	}
MIXED(add_mixed, 2, t.a[l] + t.c[l])
MIXED(sub_mixed, 2, t.a[l] - t.c[l])
MIXED(fma_mixed, 3, FMA_ANY32(t, l))

/* ---- min, max: a NaN loses against a number; -0 < +0 ---- */
static inline float min32(float x, float y)
{
	float r = x < y ? x : y;
	r = y != y ? x : r;
	return x == y ? ws_u2f(ws_f2u(x) | ws_f2u(y)) : ws_canon(r);
}
static inline float max32(float x, float y)
{
	float r = x > y ? x : y;
	r = y != y ? x : r;
	return x == y ? ws_u2f(ws_f2u(x) & ws_f2u(y)) : ws_canon(r);
}
static inline double min64(double x, double y)
{
	double r = x < y ? x : y;
	r = y != y ? x : r;
	return x == y ? ws_u2d(ws_d2u(x) | ws_d2u(y)) : ws_nan64(r, x, y);
}
static inline double max64(double x, double y)
{
	double r = x > y ? x : y;
	r = y != y ? x : r;
	return x == y ? ws_u2d(ws_d2u(x) & ws_d2u(y)) : ws_nan64(r, x, y);
}
WS_MAP2(min_f32, float, float, float, min32(x, y))
WS_MAP2(max_f32, float, float, float, max32(x, y))
WS_MAP2(min_f32z, float, float, float, min32(ws_ftz(x), ws_ftz(y)))
WS_MAP2(max_f32z, float, float, float, max32(ws_ftz(x), ws_ftz(y)))
WS_MAP2(min_f64, double, double, double, min64(x, y))
WS_MAP2(max_f64, double, double, double, max64(x, y))

/* .NaN, .xorsign.abs, three sources; imm says min or max. The sign of the result of .xorsign.abs is the xor of the
 * sources' signs, NaNs' too. */
WS_LANE_FN(minmax_f32x)
{
	const bool three = op->imm & WS_IMM_THREE, is_max = op->imm & WS_IMM_MAX;
	WS_ACTIVE(l, mask)
	{
		float v[3] = {WS_P(float, op->a)[l], WS_P(float, op->b)[l], three ? WS_P(float, op->c)[l] : 0};
		uint32_t sign = 0;
		bool nan = false;
		for (int i = 0; i < 2 + three; i++) {
			if (op->imm & WS_IMM_FTZ)
				v[i] = ws_ftz(v[i]);
			nan |= v[i] != v[i];
			sign ^= ws_f2u(v[i]) & 0x80000000;
			if (op->imm & WS_IMM_ABS)
				v[i] = fabsf(v[i]);
		}
		float r = is_max ? max32(v[0], v[1]) : min32(v[0], v[1]);
		if (three)
			r = is_max ? max32(r, v[2]) : min32(r, v[2]);
		if (nan && (op->imm & WS_IMM_NAN))
			r = ws_u2f(WS_NAN32);
		else if ((op->imm & WS_IMM_XORSIGN) && r == r)
			r = ws_u2f(ws_f2u(r) | sign);
		WS_P(float, op->d)[l] = r;
	}
}

/* ---- signs ---- */
WS_MAP1(neg_f32, float, float, ws_canon(-x))
WS_MAP1(neg_f32z, float, float, ws_canon(-ws_ftz(x)))
WS_MAP1(neg_f64, double, double, ws_nan64(-x, x, x))
WS_MAP1(abs_f32, float, float, ws_canon(__builtin_fabsf(x)))
WS_MAP1(abs_f32z, float, float, ws_canon(__builtin_fabsf(ws_ftz(x))))
WS_MAP1(abs_f64, double, double, ws_nan64(__builtin_fabs(x), x, x))
WS_MAP2(copysign_f32, uint32_t, uint32_t, uint32_t, (x & 0x80000000) | (y & 0x7fffffff))
WS_MAP2(copysign_f64, uint64_t, uint64_t, uint64_t, (x & 0x8000000000000000ull) | (y & 0x7fffffffffffffffull))

#define FN(n) n,
ws_lane_fn *const WS_PASTE(ws_lanes_float, WS_ISA)[] = {
#include "gpu/lanes_float.def"
};
