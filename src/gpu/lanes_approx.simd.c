/* lanes_approx.simd.c - the approximate floating-point instructions on 32 lanes (PTX ISA 9.0, 9.7.3: .approx and
 * .full forms, sin, cos, lg2, ex2, tanh).
 *
 * They are computed in double and rounded to nearest, which is within the error that PTX ISA documents for each; the
 * special values are the hardware's (tests/arith compares both with an H200). imm: WS_IMM_FTZ. */
#include "gpu/lanes_simd.h"

/* Sources flushed or not, results canonical and flushed or not. */
#define APPROX1(name, EXPR) \
	WS_LANE_FN(name) \
	{ \
		const float *A = WS_P(float, op->a); \
		WS_OUT(float); \
		if (op->imm & WS_IMM_FTZ) \
			WS_EACH(l, 32) \
			{ \
				float x = ws_ftz(A[l]); \
				out[l] = ws_ftz(ws_canon(EXPR)); \
			} \
		else \
			WS_EACH(l, 32) \
			{ \
				float x = A[l]; \
				out[l] = ws_canon(EXPR); \
			} \
		WS_DONE(); \
	}
#define APPROX2(name, EXPR) \
	WS_LANE_FN(name) \
	{ \
		const float *A = WS_P(float, op->a), *B = WS_P(float, op->b); \
		const bool ftz = op->imm & WS_IMM_FTZ; \
		WS_OUT(float); \
		WS_EACH(l, 32) \
		{ \
			float x = ftz ? ws_ftz(A[l]) : A[l], y = ftz ? ws_ftz(B[l]) : B[l]; \
			float r = ws_canon(EXPR); \
			x *= WS_UP; \
			out[l] = ftz ? ws_flush_tiny(r, EXPR) : r; \
		} \
		WS_DONE(); \
	}

APPROX1(rcp_approx_f32, 1.0f / x)
APPROX1(sqrt_approx_f32, __builtin_sqrtf(x))
APPROX1(rsqrt_approx_f32, (float)(1.0 / __builtin_sqrt((double)x)))
APPROX2(div_full_f32, x / y)
/* A divisor from 2^126 on gives a zero: its reciprocal is flushed (PTX ISA 9.0, div). */
static inline float div_approx(float x, float y)
{
	return __builtin_fabsf(y) > 0x1p126f ? x * __builtin_copysignf(0.0f, y) : x / y;
}
APPROX2(div_approx_f32, div_approx(x, y))

/* ---- 2^x: x = n + f, |f| <= 1/2; series of 2^f = e^(f ln 2) ---- */
static inline double exp2_double(double x)
{
	x = x < -1000.0 ? -1000.0 : x;
	x = x > 1000.0 ? 1000.0 : x;
	double n = (x + 0x1.8p52) - 0x1.8p52, f = (x - n) * 0x1.62e42fefa39efp-1;
	double p = 1.0 + f * (1.0 + f * (1.0 / 2 + f * (1.0 / 6 + f * (1.0 / 24 + f * (1.0 / 120 +
	           f * (1.0 / 720 + f * (1.0 / 5040 + f * (1.0 / 40320 + f * (1.0 / 362880)))))))));
	return p * ws_u2d((ws_d2u(n + 0x1.8p52) + 1023) << 52);
}
static inline float ex2(float x) { return x == x ? (float)exp2_double((double)x) : x; }
APPROX1(ex2_f32, ex2(x))

/* ---- log2: x = 2^n m, sqrt(1/2) <= m < sqrt(2); ln m = 2 atanh((m - 1) / (m + 1)) ---- */
static inline double log2_double(double x)
{
	uint64_t u = ws_d2u(x), base = 0x3fe6a09e667f3bcdull;
	uint64_t n = (u - base) >> 52;
	double m = ws_u2d(u - (n << 52));
	double s = (m - 1.0) / (m + 1.0), t = s * s;
	double p = 1.0 + t * (1.0 / 3 + t * (1.0 / 5 + t * (1.0 / 7 + t * (1.0 / 9 + t * (1.0 / 11 + t * (1.0 / 13))))));
	/* n is small and may be negative: sign-extended from 12 bits by way of a double */
	double e = ws_u2d(0x4330000000000000ull | ((n + 2048) & 0xfff)) - (0x1p52 + 2048.0);
	return e + 2.0 * s * p * 0x1.71547652b82fep0;
}
static inline float lg2(float x)
{
	float r = (float)log2_double((double)x);
	r = x == 0.0f ? ws_u2f(0xff800000) : r;
	r = x < 0.0f || x != x ? ws_u2f(WS_NAN32) : r;
	return x > 0x1.fffffep127f ? x : r;
}
APPROX1(lg2_f32, lg2(x))

/* ---- sin, cos: the argument becomes turns by a float multiplication cut off toward zero, as on the hardware, and
 * loses its whole part; the rest is reduced to an eighth of a turn. ---- */
static inline double turns(float x)
{
	double exact = (double)x * (double)0.15915494f;  /* 24 by 24 bits: exact */
	float t = (float)exact;
	uint32_t u = ws_f2u(t);
	t = __builtin_fabs((double)t) > __builtin_fabs(exact) ? ws_u2f(u - 1) : t;
	return (double)t;
}
static inline double sin_of_turns(double t)
{
	t -= (t + 0x1.8p52) - 0x1.8p52;                  /* [-1/2, 1/2]; huge: see wave */
	double y = t > 0.25 ? 0.5 - t : t;
	y = t < -0.25 ? -0.5 - t : y;
	double a = y * 0x1.921fb54442d18p2, b = a * a;
	return a * (1.0 + b * (-1.0 / 6 + b * (1.0 / 120 + b * (-1.0 / 5040 + b * (1.0 / 362880 +
	       b * (-1.0 / 39916800 + b * (1.0 / 6227020800.0 + b * (-1.0 / 1307674368000.0))))))));
}
static inline float wave(float x, double quarter)
{
	double t = turns(x);
	t = __builtin_fabs(t) < 0x1p23 ? t : 0.0;        /* whole turns only */
	float r = (float)sin_of_turns(t - ((t + 0x1.8p52) - 0x1.8p52) + quarter);
	return __builtin_fabsf(x) < ws_u2f(0x7f800000) ? r : ws_u2f(WS_NAN32);
}
static inline float sine(float x) { return x == 0.0f ? x : wave(x, 0.0); }
APPROX1(sin_f32, sine(x))
APPROX1(cos_f32, wave(x, 0.25))

/* ---- tanh x = 1 - 2 / (e^2x + 1); near 0 the quotient of (e^2x - 1) by its series ---- */
static inline float hyperbolic_tangent(float x)
{
	double d = x, a = __builtin_fabs(d), q = d * d;
	double big = 1.0 - 2.0 / (exp2_double(a * 0x1.71547652b82fep1) + 1.0);
	double small = a * (1.0 + q * (-1.0 / 3 + q * (2.0 / 15 + q * (-17.0 / 315 + q * (62.0 / 2835 +
	               q * (-1382.0 / 155925 + q * (21844.0 / 6081075)))))));
	double r = a < 0.15 ? small : big;
	return x == x ? (float)__builtin_copysign(r, d) : x;
}
APPROX1(tanh_f32, hyperbolic_tangent(x))

/* ---- f64: .ftz computes the upper 32 bits of the result from the upper 32 bits of the source ---- */
static double coarse(double r)
{
	uint64_t u = ws_d2u(r);
	if (!(u & 0x7ff0000000000000ull))
		return ws_u2d(u & 0x8000000000000000ull);
	return ws_u2d(u & 0xffffffff00000000ull);
}
static double upper(double x)
{
	uint64_t u = ws_d2u(x);
	return ws_u2d(u & 0x7ff0000000000000ull ? u & 0xffffffff00000000ull : u & 0x8000000000000000ull);
}
#define COARSE_NAN 0x7fffffff00000000ull
static double rcp_approx64(double x)
{
	double v = upper(x);
	return v == v ? coarse(1.0 / v) : ws_u2d(COARSE_NAN);
}
WS_SLOW1(rcp_approx_f64, double, double, rcp_approx64(x))
static double rsqrt_approx64(double x, uint32_t imm)
{
	double v = imm & WS_IMM_FTZ ? upper(x) : x;
	double r = 1.0 / __builtin_sqrt(v);
	if (imm & WS_IMM_FTZ)
		return r == r ? coarse(r) : ws_u2d(COARSE_NAN);
	return ws_nan64(r, x, x);
}
WS_SLOW1(rsqrt_approx_f64, double, double, rsqrt_approx64(x, op->imm))

#define FN(n) n,
ws_lane_fn *const WS_PASTE(ws_lanes_approx, WS_ISA)[] = {
#include "gpu/lanes_approx.def"
};
