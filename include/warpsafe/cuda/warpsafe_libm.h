/* warpsafe_libm.h - the mathematical functions that clang's CUDA headers expect (names as in NVIDIA's "libdevice User's
 * Guide"), of warpsafe's own making. The computations are in warpsafe_libm_core.h, _trig.h and _special.h and are also
 * compiled for the host by tests/cc/libm, where their errors are measured: no device is needed for that. */
#ifndef WARPSAFE_LIBM_H
#define WARPSAFE_LIBM_H

#if defined(__CUDA__)
#define WS_FN extern "C" inline __attribute__((device, nodebug))
/* No option fuses or reorders these. */
#define WS_ADD(a, b) WS_ASM2(double, "d", "add.rn.f64", a, b)
#define WS_MUL(a, b) WS_ASM2(double, "d", "mul.rn.f64", a, b)
#else
#define WS_FN static inline __attribute__((unused))
#define WS_ADD(a, b) ((a) + (b))
#define WS_MUL(a, b) ((a) * (b))
#endif
#define WS_FMA(a, b, c) __builtin_fma(a, b, c)
#define WS_SQRT(a) __builtin_sqrt(a)

#include "warpsafe_libm_core.h"
#include "warpsafe_libm_trig.h"
#include "warpsafe_libm_special.h"

/* ---- remainders: exact, by long division of the significands, 10 bits a step ---- */

/* |x| = q * |y| + r with 0 <= r < |y|; *quotient holds q's low bits. x finite, y finite and not 0. */
WS_FN double ws_m_divide(double x, double y, unsigned *quotient)
{
	unsigned long long u = ws_m_bits(ws_m_abs(x)), v = ws_m_bits(ws_m_abs(y)), r, d, q = 0;
	int eu = (int)(u >> 52), ev = (int)(v >> 52), n;
	*quotient = 0;
	if (u < v)
		return ws_m_abs(x);
	r = eu ? (u & 0xfffffffffffffull) | 1ull << 52 : u;
	d = ev ? (v & 0xfffffffffffffull) | 1ull << 52 : v;
	eu = eu ? eu : 1;
	ev = ev ? ev : 1;
	q = r / d;
	r %= d;
	for (n = eu - ev; n > 0 && r;) {
		int step = n < 10 ? n : 10;
		r <<= step;
		q = q << step | r / d;
		r %= d;
		n -= step;
	}
	if (n > 0)
		q = n < 64 ? q << n : 0;
	*quotient = (unsigned)q;
	if (r == 0)
		return 0.0;
	if (ev == 1)
		return ws_m_from(r);                     /* as bits: subnormal or just ordinary */
	return ws_m_ldexp((double)r, ev - 1075);
}

WS_FN double ws_m_fmod(double x, double y)
{
	unsigned q;
	if (!(ws_m_abs(x) < ws_m_inf()) || y != y || y == 0)
		return ws_m_nan();
	if (ws_m_abs(y) == ws_m_inf())
		return x;
	return __builtin_copysign(ws_m_divide(x, y, &q), x);
}

WS_FN double ws_m_remquo(double x, double y, int *quo)
{
	unsigned q;
	double r, ay = ws_m_abs(y);
	*quo = 0;
	if (!(ws_m_abs(x) < ws_m_inf()) || y != y || y == 0)
		return ws_m_nan();
	if (ay == ws_m_inf())
		return x;
	r = ws_m_divide(x, y, &q);
	/* r and y - r are exact; the comparison also holds where 2 r would overflow */
	if (r > ay - r || (r == ay - r && (q & 1))) {
		r = r - ay;
		q++;
	}
	*quo = (x < 0) != (y < 0) ? -(int)(q & 0x7fffffff) : (int)(q & 0x7fffffff);
	r = x < 0 ? -r : r;
	return r == 0 ? __builtin_copysign(0.0, x) : r;
}

/* ---- parts of numbers ---- */

WS_FN double ws_m_frexp(double x, int *e)
{
	double m = x;
	int k = 0;
	*e = 0;
	if (x == 0 || !(ws_m_abs(x) < ws_m_inf()))
		return x;
	if (ws_m_abs(x) < 0x1p-1022) {
		m = WS_MUL(x, 0x1p54);
		k = -54;
	}
	*e = k + (int)(ws_m_bits(m) >> 52 & 0x7ff) - 1022;
	return ws_m_from((ws_m_bits(m) & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}

WS_FN int ws_m_ilogb(double x)
{
	int e;
	if (x == 0 || x != x)
		return -2147483647 - 1;
	if (ws_m_abs(x) == ws_m_inf())
		return 2147483647;
	ws_m_frexp(x, &e);
	return e - 1;
}

WS_FN double ws_m_logb(double x)
{
	if (x == 0)
		return -ws_m_inf();
	return ws_m_abs(x) < ws_m_inf() ? (double)ws_m_ilogb(x) : ws_m_abs(x);
}

WS_FN double ws_m_round(double x)
{
	double t = __builtin_trunc(x), d = ws_m_abs(x - t);
	return __builtin_copysign(d >= 0.5 ? ws_m_abs(t) + 1.0 : t, x);
}

WS_FN float ws_m_roundf(float x)
{
	float t = __builtin_truncf(x), d = __builtin_fabsf(x - t);
	return __builtin_copysignf(d >= 0.5f ? __builtin_fabsf(t) + 1.0f : t, x);
}

WS_FN double ws_m_nextafter(double x, double y)
{
	unsigned long long u = ws_m_bits(x);
	if (x != x || y != y)
		return x + y;
	if (x == y)
		return y;
	if (x == 0)
		return __builtin_copysign(0x1p-1074, y);
	return ws_m_from((x < y) == (x > 0) ? u + 1 : u - 1);
}

WS_FN float ws_m_nextafterf(float x, float y)
{
	unsigned u = __builtin_bit_cast(unsigned, x);
	if (x != x || y != y)
		return x + y;
	if (x == y)
		return y;
	if (x == 0)
		return __builtin_copysignf(0x1p-149f, y);
	return __builtin_bit_cast(float, (x < y) == (x > 0) ? u + 1 : u - 1);
}

#if defined(__CUDA__)
/* ---- the names of the device library ---- */
#define WS_D1(NAME) WS_DEV double __nv_##NAME(double a) { return ws_m_##NAME(a); }
#define WS_F1(NAME) WS_DEV float __nv_##NAME##f(float a) { return (float)ws_m_##NAME((double)a); }
#define WS_F1_OWN(NAME) WS_DEV float __nv_##NAME##f(float a) { return ws_m_##NAME##f(a); }
WS_D1(acos)
WS_D1(acosh)
WS_D1(asin)
WS_D1(asinh)
WS_D1(atan)
WS_D1(atanh)
WS_D1(cbrt)
WS_D1(cos)
WS_D1(cosh)
WS_D1(cospi)
WS_D1(erf)
WS_D1(erfc)
WS_D1(erfcinv)
WS_D1(erfcx)
WS_D1(erfinv)
WS_D1(exp)
WS_D1(exp10)
WS_D1(exp2)
WS_D1(expm1)
WS_D1(lgamma)
WS_D1(log)
WS_D1(log10)
WS_D1(log1p)
WS_D1(log2)
WS_D1(normcdf)
WS_D1(normcdfinv)
WS_D1(rsqrt)
WS_D1(sin)
WS_D1(sinh)
WS_D1(sinpi)
WS_D1(tan)
WS_D1(tanh)
WS_D1(tgamma)
WS_F1(acos)
WS_F1(acosh)
WS_F1(asin)
WS_F1(asinh)
WS_F1(atan)
WS_F1(atanh)
WS_F1(cbrt)
WS_F1_OWN(cos)
WS_F1(cosh)
WS_F1(cospi)
WS_F1(erf)
WS_F1(erfc)
WS_F1(erfcinv)
WS_F1(erfcx)
WS_F1(erfinv)
WS_F1_OWN(exp)
WS_F1_OWN(exp10)
WS_F1_OWN(exp2)
WS_F1(expm1)
WS_F1(lgamma)
WS_F1(log1p)
WS_F1(normcdf)
WS_F1(normcdfinv)
WS_F1(rsqrt)
WS_F1_OWN(sin)
WS_F1(sinh)
WS_F1(sinpi)
WS_F1_OWN(tan)
WS_F1(tanh)
WS_F1(tgamma)
WS_D1(logb)
WS_F1(logb)
WS_D1(round)
WS_F1_OWN(round)
#undef WS_D1
#undef WS_F1
#undef WS_F1_OWN
WS_DEV float __nv_logf(float a) { return ws_m_logf_times(a, 0x1.62e42fefa39efp-1); }
WS_DEV float __nv_log2f(float a) { return ws_m_logf_times(a, 1.0); }
WS_DEV float __nv_log10f(float a) { return ws_m_logf_times(a, 0x1.34413509f79ffp-2); }
WS_DEV double __nv_rcbrt(double a) { return 1.0 / ws_m_cbrt(a); }
WS_DEV float __nv_rcbrtf(float a) { return (float)(1.0 / ws_m_cbrt((double)a)); }

#define WS_D2(NAME) \
	WS_DEV double __nv_##NAME(double a, double b) { return ws_m_##NAME(a, b); } \
	WS_DEV float __nv_##NAME##f(float a, float b) { return (float)ws_m_##NAME((double)a, (double)b); }
WS_D2(atan2)
WS_D2(fmod)
#undef WS_D2
WS_DEV double __nv_pow(double a, double b) { return ws_m_pow(a, b); }
WS_DEV float __nv_powf(float a, float b) { return ws_m_powf(a, b); }
WS_DEV double __nv_powi(double a, int b) { return ws_m_pow(a, (double)b); }
WS_DEV float __nv_powif(float a, int b) { return (float)ws_m_pow((double)a, (double)b); }
WS_DEV double __nv_nextafter(double a, double b) { return ws_m_nextafter(a, b); }
WS_DEV float __nv_nextafterf(float a, float b) { return ws_m_nextafterf(a, b); }
WS_DEV double __nv_fdim(double a, double b) { return a != a || b != b ? a + b : a > b ? a - b : 0.0; }
WS_DEV float __nv_fdimf(float a, float b) { return a != a || b != b ? a + b : a > b ? a - b : 0.0f; }
WS_DEV double __nv_remquo(double a, double b, int *q) { return ws_m_remquo(a, b, q); }
WS_DEV float __nv_remquof(float a, float b, int *q) { return (float)ws_m_remquo((double)a, (double)b, q); }
WS_DEV double __nv_remainder(double a, double b) { int q; return ws_m_remquo(a, b, &q); }
WS_DEV float __nv_remainderf(float a, float b) { int q; return (float)ws_m_remquo((double)a, (double)b, &q); }

WS_DEV double __nv_ldexp(double a, int k) { return ws_m_ldexp(a, k); }
WS_DEV float __nv_ldexpf(float a, int k) { return (float)ws_m_ldexp((double)a, k); }
WS_DEV double __nv_scalbn(double a, int k) { return ws_m_ldexp(a, k); }
WS_DEV float __nv_scalbnf(float a, int k) { return (float)ws_m_ldexp((double)a, k); }
WS_DEV double __nv_frexp(double a, int *e) { return ws_m_frexp(a, e); }
WS_DEV float __nv_frexpf(float a, int *e) { return (float)ws_m_frexp((double)a, e); }
WS_DEV int __nv_ilogb(double a) { return ws_m_ilogb(a); }
WS_DEV int __nv_ilogbf(float a) { return ws_m_ilogb((double)a); }
WS_DEV double __nv_modf(double a, double *whole)
{
	*whole = __builtin_trunc(a);
	return __builtin_copysign(ws_m_abs(a) == ws_m_inf() ? 0.0 : a - *whole, a);
}
WS_DEV float __nv_modff(float a, float *whole)
{
	*whole = __builtin_truncf(a);
	return __builtin_copysignf(__builtin_fabsf(a) == __builtin_inff() ? 0.0f : a - *whole, a);
}
WS_DEV long long __nv_llround(double a) { return __nvvm_d2ll_rz(ws_m_round(a)); }
WS_DEV long long __nv_llroundf(float a) { return __nvvm_f2ll_rz(ws_m_roundf(a)); }

WS_DEV void __nv_sincos(double a, double *s, double *c) { ws_m_sincos(a, s, c); }
WS_DEV void __nv_sincosf(float a, float *s, float *c)
{
	*s = ws_m_sinf(a);
	*c = ws_m_cosf(a);
}
WS_DEV void __nv_sincospi(double a, double *s, double *c)
{
	*s = ws_m_sinpi(a);
	*c = ws_m_cospi(a);
}
WS_DEV void __nv_sincospif(float a, float *s, float *c)
{
	*s = (float)ws_m_sinpi((double)a);
	*c = (float)ws_m_cospi((double)a);
}

WS_DEV double __nv_hypot(double a, double b) { return ws_m_norm4(a, b, 0, 0); }
WS_DEV float __nv_hypotf(float a, float b) { return (float)ws_m_norm4(a, b, 0, 0); }
WS_DEV double __nv_rhypot(double a, double b) { return ws_m_rnorm4(a, b, 0, 0); }
WS_DEV float __nv_rhypotf(float a, float b) { return (float)ws_m_rnorm4(a, b, 0, 0); }
WS_DEV double __nv_norm3d(double a, double b, double c) { return ws_m_norm4(a, b, c, 0); }
WS_DEV float __nv_norm3df(float a, float b, float c) { return (float)ws_m_norm4(a, b, c, 0); }
WS_DEV double __nv_norm4d(double a, double b, double c, double d) { return ws_m_norm4(a, b, c, d); }
WS_DEV float __nv_norm4df(float a, float b, float c, float d) { return (float)ws_m_norm4(a, b, c, d); }
WS_DEV double __nv_rnorm3d(double a, double b, double c) { return ws_m_rnorm4(a, b, c, 0); }
WS_DEV float __nv_rnorm3df(float a, float b, float c) { return (float)ws_m_rnorm4(a, b, c, 0); }
WS_DEV double __nv_rnorm4d(double a, double b, double c, double d) { return ws_m_rnorm4(a, b, c, d); }
WS_DEV float __nv_rnorm4df(float a, float b, float c, float d) { return (float)ws_m_rnorm4(a, b, c, d); }
WS_DEV double __nv_norm(int n, const double *v)
{
	double r = 0;
	for (int i = 0; i < n; i++)
		r = ws_m_norm4(r, v[i], 0, 0);
	return r;
}
WS_DEV float __nv_normf(int n, const float *v)
{
	double r = 0;
	for (int i = 0; i < n; i++)
		r = ws_m_norm4(r, v[i], 0, 0);
	return (float)r;
}
WS_DEV double __nv_rnorm(int n, const double *v) { return 1.0 / __nv_norm(n, v); }
WS_DEV float __nv_rnormf(int n, const float *v)
{
	double r = 0;
	for (int i = 0; i < n; i++)
		r = ws_m_norm4(r, v[i], 0, 0);
	return (float)(1.0 / r);
}

#define WS_BESSEL(NAME, CALL) \
	WS_DEV double __nv_##NAME(double a) { return CALL; } \
	WS_DEV float __nv_##NAME##f(float a) { return (float)CALL; }
WS_BESSEL(j0, ws_m_j(0, a))
WS_BESSEL(j1, ws_m_j(1, a))
WS_BESSEL(y0, ws_m_y(0, a))
WS_BESSEL(y1, ws_m_y(1, a))
WS_BESSEL(cyl_bessel_i0, ws_m_i(0, a))
WS_BESSEL(cyl_bessel_i1, ws_m_i(1, a))
#undef WS_BESSEL
WS_DEV double __nv_jn(int n, double a) { return ws_m_j(n, a); }
WS_DEV float __nv_jnf(int n, float a) { return (float)ws_m_j(n, a); }
WS_DEV double __nv_yn(int n, double a) { return ws_m_y(n, a); }
WS_DEV float __nv_ynf(int n, float a) { return (float)ws_m_y(n, a); }
#endif

#undef WS_ADD
#undef WS_MUL
#undef WS_FMA
#undef WS_SQRT
#undef WS_FN

#endif
