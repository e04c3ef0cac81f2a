/* warpsafe_libm_trig.h - circular and hyperbolic functions and their inverses, roots and distances of the device
 * library. Part of warpsafe_libm.h; see warpsafe_libm_core.h for the conventions. */
#ifndef WARPSAFE_LIBM_TRIG_H
#define WARPSAFE_LIBM_TRIG_H

/* ---- reduction modulo pi/2 ---- */

/* |x| < 2^20: Cody and Waite's method with three parts of pi/2 ("Software Manual for the Elementary Functions", 1980).
 * The first step is exact: all terms are multiples of 2^-53 and the difference is below 1. */
WS_FN struct ws_dd ws_m_reduce_small(double x, int *quadrant)
{
	double n = __builtin_rint(x * 0x1.45f306dc9c883p-1), r = WS_FMA(-n, 0x1.921fb54442d18p+0, x);
	struct ws_dd p = ws_dd_prod(n, 0x1.1a62633145c07p-54), s = ws_dd_sum(r, -p.hi);
	*quadrant = (int)n & 3;
	return ws_dd_fast(s.hi, WS_ADD(WS_ADD(s.lo, -p.lo), WS_MUL(-n, -0x1.f1976b7ed8fbcp-110)));
}

/* Any finite |x| >= 2^20: x is multiplied by the bits of 2/pi that matter (M. H. Payne and R. N. Hanek, "Radian
 * reduction for trigonometric functions", SIGNUM Newsletter 18, 1983). Bits of 2/pi that make multiples of 4 are left
 * out; of the 192 taken, 2 give the quadrant and at least 137 of the others are right. */
WS_FN struct ws_dd ws_m_reduce_large(double x, int *quadrant)
{
	static const unsigned long long two_over_pi[] = {
		0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
		0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
		0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
		0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
		0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull
	};
	unsigned long long u = ws_m_bits(x), m = (u & 0xfffffffffffffull) | 1ull << 52, w[3], p[3], sign;
	int e = (int)(u >> 52 & 0x7ff) - 1075, skip = e > 2 ? e - 2 : 0, at = skip >> 6, by = skip & 63, i, zeros;
	unsigned __int128 t;
	struct ws_dd r, pio2 = { 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54 };

	for (i = 0; i < 3; i++)
		w[i] = two_over_pi[at + i] << by | (by ? two_over_pi[at + i + 1] >> (64 - by) : 0);
	/* the product's low 192 bits, most significant word first: value / 2^190 modulo 4 (for e < 2: see below) */
	t = (unsigned __int128)m * w[2];
	p[2] = (unsigned long long)t;
	t = (unsigned __int128)m * w[1] + (unsigned long long)(t >> 64);
	p[1] = (unsigned long long)t;
	p[0] = m * w[0] + (unsigned long long)(t >> 64);
	if (e < 2) {                             /* x below 2^55: the product counts in 2^(e - 192) */
		int up = 2 - e;                  /* 0 < up < 64: make it 2^-190 by moving right */
		unsigned long long over = (unsigned long long)(((unsigned __int128)m * w[0] + (unsigned long long)(t >> 64)) >> 64);
		p[2] = p[2] >> up | p[1] << (64 - up);
		p[1] = p[1] >> up | p[0] << (64 - up);
		p[0] = p[0] >> up | over << (64 - up);
	}
	*quadrant = (int)(p[0] >> 62);
	p[0] = p[0] << 2 | p[1] >> 62;
	p[1] = p[1] << 2 | p[2] >> 62;
	p[2] <<= 2;
	sign = p[0] >> 63;                       /* a fraction above 1/2 counts from the next quadrant */
	if (sign) {
		*quadrant = (*quadrant + 1) & 3;
		p[2] = ~p[2] + 1;
		p[1] = ~p[1] + (p[2] == 0);
		p[0] = ~p[0] + (p[2] == 0 && p[1] == 0);
	}
	zeros = p[0] ? __builtin_clzll(p[0]) : 64 + (p[1] ? __builtin_clzll(p[1]) : 63);
	i = zeros & 63;
	if (zeros >= 64) {
		p[0] = p[1];
		p[1] = p[2];
		p[2] = 0;
	}
	if (i) {
		p[0] = p[0] << i | p[1] >> (64 - i);
		p[1] = p[1] << i | p[2] >> (64 - i);
	}
	/* p[0]:p[1] is now 1.xxx * 2^127, worth 2^-(zeros + 1) */
	r = ws_dd_fast((double)(p[0] >> 11) * 0x1p-53, (double)((p[0] & 0x7ff) << 42 | p[1] >> 22) * 0x1p-106);
	r = ws_dd_mul(r, pio2);
	r.hi = ws_m_scale(r.hi, -zeros);
	r.lo = ws_m_scale(r.lo, -zeros);
	if (sign)
		r = ws_dd_neg(r);
	if (u >> 63) {
		*quadrant = -*quadrant & 3;
		r = ws_dd_neg(r);
	}
	return r;
}

WS_FN struct ws_dd ws_m_reduce(double x, int *quadrant)
{
	return ws_m_abs(x) < 0x1p20 ? ws_m_reduce_small(x, quadrant) : ws_m_reduce_large(x, quadrant);
}

/* ---- sin, cos, tan ---- */

/* (sin(x) / x - 1) / x^2 in z = x^2 for |x| <= pi/4, by Taylor */
WS_FN double ws_m_sin_p(double z)
{
	double p = 0x1.952c77030ad4ap-49;
	p = WS_FMA(p, z, -0x1.ae7f3e733b81fp-41);
	p = WS_FMA(p, z, 0x1.6124613a86d09p-33);
	p = WS_FMA(p, z, -0x1.ae64567f544e4p-26);
	p = WS_FMA(p, z, 0x1.71de3a556c734p-19);
	p = WS_FMA(p, z, -0x1.a01a01a01a01ap-13);
	p = WS_FMA(p, z, 0x1.1111111111111p-7);
	p = WS_FMA(p, z, -0x1.5555555555555p-3);
	return p;
}

/* (cos(x) - 1 + x^2 / 2) / x^4 in z = x^2 for |x| <= pi/4, by Taylor */
WS_FN double ws_m_cos_p(double z)
{
	double p = 0x1.ae7f3e733b81fp-45;
	p = WS_FMA(p, z, -0x1.93974a8c07c9dp-37);
	p = WS_FMA(p, z, 0x1.1eed8eff8d898p-29);
	p = WS_FMA(p, z, -0x1.27e4fb7789f5cp-22);
	p = WS_FMA(p, z, 0x1.a01a01a01a01ap-16);
	p = WS_FMA(p, z, -0x1.6c16c16c16c17p-10);
	p = WS_FMA(p, z, 0x1.5555555555555p-5);
	return p;
}

/* the same, enough for float results */
WS_FN double ws_m_sin_pf(double z)
{
	double p = -0x1.ae64567f544e4p-26;
	p = WS_FMA(p, z, 0x1.71de3a556c734p-19);
	p = WS_FMA(p, z, -0x1.a01a01a01a01ap-13);
	p = WS_FMA(p, z, 0x1.1111111111111p-7);
	p = WS_FMA(p, z, -0x1.5555555555555p-3);
	return p;
}

/* the same, enough for float results */
WS_FN double ws_m_cos_pf(double z)
{
	double p = 0x1.1eed8eff8d898p-29;
	p = WS_FMA(p, z, -0x1.27e4fb7789f5cp-22);
	p = WS_FMA(p, z, 0x1.a01a01a01a01ap-16);
	p = WS_FMA(p, z, -0x1.6c16c16c16c17p-10);
	p = WS_FMA(p, z, 0x1.5555555555555p-5);
	return p;
}

WS_FN double ws_m_sin_kernel(struct ws_dd r)
{
	double z = WS_MUL(r.hi, r.hi);
	return WS_ADD(r.hi, WS_FMA(WS_MUL(r.hi, z), ws_m_sin_p(z), WS_FMA(-0.5 * z, r.lo, r.lo)));
}

WS_FN double ws_m_cos_kernel(struct ws_dd r)
{
	struct ws_dd z = ws_dd_prod(r.hi, r.hi);
	double h = 0.5 * z.hi, w = WS_ADD(1.0, -h), low = WS_ADD(WS_ADD(1.0, -w), -h);
	low = WS_ADD(low, WS_FMA(-0.5, z.lo, -WS_MUL(r.hi, r.lo)));
	return WS_ADD(w, WS_FMA(WS_MUL(z.hi, z.hi), ws_m_cos_p(z.hi), low));
}

/* sin(r + quadrant * pi/2) */
WS_FN double ws_m_sin_of(struct ws_dd r, int quadrant)
{
	double v = quadrant & 1 ? ws_m_cos_kernel(r) : ws_m_sin_kernel(r);
	return quadrant & 2 ? -v : v;
}

WS_FN double ws_m_sin(double x)
{
	int q;
	struct ws_dd r;
	if (!(ws_m_abs(x) < ws_m_inf()))
		return ws_m_nan();
	if (x == 0)
		return x;
	r = ws_m_reduce(x, &q);
	return ws_m_sin_of(r, q);
}

WS_FN double ws_m_cos(double x)
{
	int q;
	struct ws_dd r;
	if (!(ws_m_abs(x) < ws_m_inf()))
		return ws_m_nan();
	r = ws_m_reduce(x, &q);
	return ws_m_sin_of(r, q + 1);
}

/* within 2 ulp: the quotient of two results within 0.7 */
WS_FN double ws_m_tan(double x)
{
	int q;
	struct ws_dd r;
	double s, c;
	if (!(ws_m_abs(x) < ws_m_inf()))
		return ws_m_nan();
	if (x == 0)
		return x;
	r = ws_m_reduce(x, &q);
	s = ws_m_sin_kernel(r);
	c = ws_m_cos_kernel(r);
	return q & 1 ? -c / s : s / c;
}

WS_FN void ws_m_sincos(double x, double *s, double *c)
{
	int q;
	struct ws_dd r;
	if (!(ws_m_abs(x) < ws_m_inf())) {
		*s = *c = ws_m_nan();
		return;
	}
	r = ws_m_reduce(x, &q);
	*s = x == 0 ? x : ws_m_sin_of(r, q);
	*c = ws_m_sin_of(r, q + 1);
}

/* x = (quadrant + r / (pi/2)) / 2 for sinpi and cospi; |x| < 2^52 */
WS_FN struct ws_dd ws_m_reduce_pi(double x, int *quadrant)
{
	double n = __builtin_rint(2 * x), r = WS_FMA(-0.5, n, x);
	struct ws_dd a = { r, 0.0 }, pi = { 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53 };
	*quadrant = (int)((long long)n & 3);
	return ws_dd_mul(a, pi);
}

WS_FN double ws_m_sinpi(double x)
{
	int q;
	struct ws_dd r;
	double v;
	if (!(ws_m_abs(x) < ws_m_inf()))
		return ws_m_nan();
	if (ws_m_abs(x) >= 0x1p52 || x == 0)
		return __builtin_copysign(0.0, x);
	r = ws_m_reduce_pi(x, &q);
	v = ws_m_sin_of(r, q);
	return v == 0 ? __builtin_copysign(0.0, x) : v;
}

WS_FN double ws_m_cospi(double x)
{
	int q;
	struct ws_dd r;
	if (!(ws_m_abs(x) < ws_m_inf()))
		return ws_m_nan();
	if (ws_m_abs(x) >= 0x1p53)
		return 1.0;
	if (ws_m_abs(x) >= 0x1p52)
		return (long long)x & 1 ? -1.0 : 1.0;
	r = ws_m_reduce_pi(x, &q);
	return ws_m_sin_of(r, q + 1) + 0.0;
}

/* float: the reduced argument fits a double */
WS_FN double ws_m_reducef(float x, int *quadrant)
{
	double n;
	if (ws_m_abs(x) < 0x1p20) {
		n = __builtin_rint(x * 0x1.45f306dc9c883p-1);
		*quadrant = (int)n & 3;
		return WS_FMA(-n, 0x1.1a62633145c07p-54, WS_FMA(-n, 0x1.921fb54442d18p+0, (double)x));
	}
	return ws_m_reduce_large(x, quadrant).hi;
}

WS_FN double ws_m_sinf_kernel(double r)
{
	double z = r * r;
	return WS_FMA(r * z, ws_m_sin_pf(z), r);
}

WS_FN double ws_m_cosf_kernel(double r)
{
	double z = r * r;
	return WS_FMA(z * z, ws_m_cos_pf(z), WS_FMA(-0.5, z, 1.0));
}

WS_FN float ws_m_sinf_of(double r, int quadrant)
{
	double v = quadrant & 1 ? ws_m_cosf_kernel(r) : ws_m_sinf_kernel(r);
	return (float)(quadrant & 2 ? -v : v);
}

WS_FN float ws_m_sinf(float x)
{
	int q;
	double r;
	if (!(ws_m_abs(x) < ws_m_inf()))
		return (float)ws_m_nan();
	r = ws_m_reducef(x, &q);
	return x == 0 ? x : ws_m_sinf_of(r, q);
}

WS_FN float ws_m_cosf(float x)
{
	int q;
	double r;
	if (!(ws_m_abs(x) < ws_m_inf()))
		return (float)ws_m_nan();
	r = ws_m_reducef(x, &q);
	return ws_m_sinf_of(r, q + 1);
}

WS_FN float ws_m_tanf(float x)
{
	int q;
	double r;
	if (!(ws_m_abs(x) < ws_m_inf()))
		return (float)ws_m_nan();
	if (x == 0)
		return x;
	r = ws_m_reducef(x, &q);
	return (float)(q & 1 ? -ws_m_cosf_kernel(r) / ws_m_sinf_kernel(r) : ws_m_sinf_kernel(r) / ws_m_cosf_kernel(r));
}

/* ---- asin, acos ---- */

/* (asin(x) / x - 1) / x^2 in z = x^2 for |x| <= 1/2 */
WS_FN double ws_m_asin_p(double z)
{
	double p = 0x1.f74bdb0d4b5bep-6;
	p = WS_FMA(p, z, -0x1.898d77b6dddb2p-6);
	p = WS_FMA(p, z, 0x1.7184808eff5eep-6);
	p = WS_FMA(p, z, 0x1.8f5a75293b096p-12);
	p = WS_FMA(p, z, 0x1.2031dbbbbad45p-7);
	p = WS_FMA(p, z, 0x1.0a9849ba5937fp-7);
	p = WS_FMA(p, z, 0x1.40e38d543d8d2p-7);
	p = WS_FMA(p, z, 0x1.7a70c2a695fe0p-7);
	p = WS_FMA(p, z, 0x1.c99afe79266f3p-7);
	p = WS_FMA(p, z, 0x1.1c4ebd7735bf2p-6);
	p = WS_FMA(p, z, 0x1.6e8ba31c9dc09p-6);
	p = WS_FMA(p, z, 0x1.f1c71c70ee54ap-6);
	p = WS_FMA(p, z, 0x1.6db6db6db7c7fp-5);
	p = WS_FMA(p, z, 0x1.333333333332dp-4);
	p = WS_FMA(p, z, 0x1.5555555555555p-3);
	return p;
}

/* sqrt((1 - a) / 2) + its arc's excess: asin(sqrt(z)) as s.hi + rest, for 1/2 <= a <= 1 */
WS_FN struct ws_dd ws_m_half_arc(double a)
{
	double z = 0.5 * (1.0 - a), s = WS_SQRT(z);
	double low = s == 0 ? 0.0 : WS_FMA(-s, s, z) / (2 * s);
	struct ws_dd r = { s, WS_FMA(WS_MUL(s, z), ws_m_asin_p(z), low) };
	return r;
}

WS_FN double ws_m_asin(double x)
{
	double a = ws_m_abs(x), r;
	struct ws_dd h, t;
	if (!(a <= 1.0))
		return ws_m_nan();
	if (a <= 0.5)
		return WS_FMA(WS_MUL(x, WS_MUL(x, x)), ws_m_asin_p(WS_MUL(x, x)), x);
	h = ws_m_half_arc(a);
	t = ws_dd_fast(0x1.921fb54442d18p+0, -2 * h.hi);
	r = WS_ADD(t.hi, WS_ADD(t.lo, WS_FMA(-2.0, h.lo, 0x1.1a62633145c07p-54)));
	return __builtin_copysign(r, x);
}

WS_FN double ws_m_acos(double x)
{
	double a = ws_m_abs(x);
	struct ws_dd h, t;
	if (!(a <= 1.0))
		return ws_m_nan();
	if (a <= 0.5) {
		t = ws_dd_fast(0x1.921fb54442d18p+0, -x);
		return WS_ADD(t.hi, WS_ADD(t.lo, WS_FMA(-WS_MUL(x, WS_MUL(x, x)), ws_m_asin_p(WS_MUL(x, x)),
		                                        0x1.1a62633145c07p-54)));
	}
	h = ws_m_half_arc(a);
	if (x > 0)
		return 2 * WS_ADD(h.hi, h.lo);
	t = ws_dd_fast(0x1.921fb54442d18p+1, -2 * h.hi);
	return WS_ADD(t.hi, WS_ADD(t.lo, WS_FMA(-2.0, h.lo, 0x1.1a62633145c07p-53)));
}

/* ---- atan ---- */

/* (atan(x) / x - 1) / x^2 in z = x^2 for |x| <= 1/4 */
WS_FN double ws_m_atan_p(double z)
{
	double p = -0x1.50271856f7796p-5;
	p = WS_FMA(p, z, 0x1.d7490973936c1p-5);
	p = WS_FMA(p, z, -0x1.10bd65ecddbdbp-4);
	p = WS_FMA(p, z, 0x1.3b10a743ad56dp-4);
	p = WS_FMA(p, z, -0x1.745d069641c85p-4);
	p = WS_FMA(p, z, 0x1.c71c71937c71bp-4);
	p = WS_FMA(p, z, -0x1.249249246a320p-3);
	p = WS_FMA(p, z, 0x1.9999999999819p-3);
	p = WS_FMA(p, z, -0x1.5555555555555p-2);
	return p;
}

/* atan(n / d) for 0 <= n <= d, d ordinary */
WS_FN struct ws_dd ws_m_atan_core(double n, double d)
{
	struct ws_dd base = { 0.0, 0.0 }, num = { n, 0.0 }, den = { d, 0.0 }, u;
	double z;
	if (n >= 0.75 * d) {                     /* atan(t) = atan(1) + atan((t - 1) / (1 + t)) */
		base.hi = 0x1.921fb54442d18p-1;
		base.lo = 0x1.1a62633145c07p-55;
		num = ws_dd_sum(n, -d);
		den = ws_dd_sum(d, n);
	} else if (n >= 0.25 * d) {              /* atan(1/2) + atan((t - 1/2) / (1 + t/2)) */
		base.hi = 0x1.dac670561bb4fp-2;
		base.lo = 0x1.a2b7f222f65e2p-56;
		num = ws_dd_sum(n, -0.5 * d);
		den = ws_dd_sum(d, 0.5 * n);
	}
	u = ws_dd_div(num, den);
	z = WS_MUL(u.hi, u.hi);
	u.lo = WS_FMA(WS_MUL(u.hi, z), ws_m_atan_p(z), u.lo);
	return ws_dd_add(base, ws_dd_fast(u.hi, u.lo));
}

WS_FN double ws_m_atan(double x)
{
	double a = ws_m_abs(x);
	struct ws_dd r, right = { 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54 };
	if (x != x || a < 0x1p-27)
		return x;
	if (a > 0x1p60)
		return __builtin_copysign(0x1.921fb54442d18p+0, x);
	r = a <= 1.0 ? ws_m_atan_core(a, 1.0) : ws_dd_add(right, ws_dd_neg(ws_m_atan_core(1.0, a)));
	return __builtin_copysign(r.hi, x);
}

/* atan2 of ordinary numbers that are neither zero nor infinite */
WS_FN double ws_m_atan2_finite(double y, double x)
{
	double ay = ws_m_abs(y), ax = ws_m_abs(x), big = ay > ax ? ay : ax;
	struct ws_dd r, right = { 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54 };
	struct ws_dd pi = { 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53 };
	if (x > 0 && ay < ax * 0x1p-27 && (ay < 0x1p-900 || ax > 0x1p900))
		return y / x;                    /* atan(t) = t to the last bit; no scaling can lose it */
	if (big > 0x1p900 || big < 0x1p-900) {
		double s = big > 1 ? 0x1p-600 : 0x1p600;
		ay *= s;
		ax *= s;
	}
	r = ay <= ax ? ws_m_atan_core(ay, ax) : ws_dd_add(right, ws_dd_neg(ws_m_atan_core(ax, ay)));
	if (x < 0)
		r = ws_dd_add(pi, ws_dd_neg(r));
	return __builtin_copysign(r.hi, y);
}

WS_FN double ws_m_atan2(double y, double x)
{
	double ay = ws_m_abs(y), ax = ws_m_abs(x), r;
	if (x != x || y != y)
		return x + y;
	if (ay > 0 && ax > 0 && ay < ws_m_inf() && ax < ws_m_inf())
		return ws_m_atan2_finite(y, x);
	if (ay == ws_m_inf() && ax == ws_m_inf())
		r = x > 0 ? 0x1.921fb54442d18p-1 : 0x1.2d97c7f3321d2p+1;
	else if (ay == 0 || ax == ws_m_inf())
		r = __builtin_copysign(1.0, x) > 0 ? 0.0 : 0x1.921fb54442d18p+1;
	else
		r = 0x1.921fb54442d18p+0;
	return __builtin_copysign(r, y);
}

/* ---- hyperbolic functions ---- */

/* (sinh(x) / x - 1) / x^2 in z = x^2 for |x| <= 1, by Taylor */
WS_FN double ws_m_sinh_p(double z)
{
	double p = 0x1.2f49b46814157p-57;
	p = WS_FMA(p, z, 0x1.952c77030ad4ap-49);
	p = WS_FMA(p, z, 0x1.ae7f3e733b81fp-41);
	p = WS_FMA(p, z, 0x1.6124613a86d09p-33);
	p = WS_FMA(p, z, 0x1.ae64567f544e4p-26);
	p = WS_FMA(p, z, 0x1.71de3a556c734p-19);
	p = WS_FMA(p, z, 0x1.a01a01a01a01ap-13);
	p = WS_FMA(p, z, 0x1.1111111111111p-7);
	p = WS_FMA(p, z, 0x1.5555555555555p-3);
	return p;
}

WS_FN double ws_m_sinh(double x)
{
	double a = ws_m_abs(x), z = WS_MUL(x, x), r;
	struct ws_dd e, i;
	int k;
	if (a < 1.0)
		return WS_FMA(WS_MUL(x, z), ws_m_sinh_p(z), x);
	if (!(a < 720))
		return x + x;
	if (a > 30)
		return __builtin_copysign(ws_m_exp_dd(a, 0.0, -1), x);
	e = ws_m_exp_pair(a, 0.0, &k);
	i = ws_dd_div(ws_dd_fast(1.0, 0.0), e);
	e.hi = ws_m_scale(e.hi, k - 1);
	e.lo = ws_m_scale(e.lo, k - 1);
	i.hi = ws_m_scale(i.hi, -k - 1);
	i.lo = ws_m_scale(i.lo, -k - 1);
	r = ws_dd_add(e, ws_dd_neg(i)).hi;
	return __builtin_copysign(r, x);
}

WS_FN double ws_m_cosh(double x)
{
	double a = ws_m_abs(x);
	struct ws_dd e, i;
	int k;
	if (!(a < 720))
		return a;
	if (a > 30)
		return ws_m_exp_dd(a, 0.0, -1);
	e = ws_m_exp_pair(a, 0.0, &k);
	i = ws_dd_div(ws_dd_fast(1.0, 0.0), e);
	e.hi = ws_m_scale(e.hi, k - 1);
	e.lo = ws_m_scale(e.lo, k - 1);
	i.hi = ws_m_scale(i.hi, -k - 1);
	i.lo = ws_m_scale(i.lo, -k - 1);
	return ws_dd_add(e, i).hi;
}

WS_FN double ws_m_tanh(double x)
{
	double a = ws_m_abs(x), e;
	struct ws_dd n, d;
	int k;
	if (!(a < 20))
		return x != x ? x : __builtin_copysign(1.0, x);
	if (a < 0x1p-28)
		return x;
	if (a < 0.17) {                          /* E / (E + 2) with E = exp(2 a) - 1 in two parts */
		double t = 2 * a, q = WS_MUL(WS_MUL(t, t), ws_m_exp_q(t));
		n = ws_dd_fast(t, q);
		n.lo = WS_ADD(n.lo, WS_FMA(WS_MUL(t, t), ws_m_exp_q(t), -q));
		d = ws_dd_add(n, ws_dd_fast(2.0, 0.0));
		return __builtin_copysign(ws_dd_div(n, d).hi, x);
	}
	n = ws_m_exp_pair(2 * a, 0.0, &k);
	n.hi = ws_m_scale(n.hi, k);
	n.lo = ws_m_scale(n.lo, k);
	d = ws_dd_add(n, ws_dd_fast(1.0, 0.0));
	n = ws_dd_add(n, ws_dd_fast(-1.0, 0.0));
	e = ws_dd_div(n, d).hi;
	return __builtin_copysign(e, x);
}

/* log(v) for a pair v > 0 */
WS_FN struct ws_dd ws_m_log_pair(struct ws_dd v)
{
	double c = v.lo / v.hi;
	return ws_dd_add(ws_m_log_dd(v.hi), ws_dd_fast(c, -0.5 * c * c));
}

WS_FN double ws_m_asinh(double x)
{
	double a = ws_m_abs(x);
	struct ws_dd s, t, l, one = { 1.0, 0.0 }, ln2 = { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 };
	if (!(a < ws_m_inf()) || a < 0x1p-28)
		return x;
	if (a > 0x1p28)
		l = ws_dd_add(ws_m_log_dd(a), ln2);
	else {
		/* log1p(a + a^2 / (1 + sqrt(1 + a^2))) */
		t = ws_dd_prod(a, a);
		s = ws_dd_sqrt(ws_dd_add(one, t));
		t = ws_dd_add(ws_dd_div(t, ws_dd_add(one, s)), ws_dd_fast(a, 0.0));
		if (a < 0.3) {
			l = ws_m_log1p_dd(t.hi);
			l.lo = WS_ADD(l.lo, t.lo / (1.0 + t.hi));
			l = ws_dd_fast(l.hi, l.lo);
		} else
			l = ws_m_log_pair(ws_dd_add(one, t));
	}
	return __builtin_copysign(l.hi, x);
}

WS_FN double ws_m_acosh(double x)
{
	struct ws_dd t, l, ln2 = { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 };
	if (!(x >= 1.0))
		return ws_m_nan();
	if (x == ws_m_inf() || x == 1.0)
		return x == 1.0 ? 0.0 : x;
	if (x > 0x1p28)
		return ws_dd_add(ws_m_log_dd(x), ln2).hi;
	/* log1p(y + sqrt(2 y + y^2)) with y = x - 1, exact below 2 */
	t = ws_dd_sum(x, -1.0);
	t = ws_dd_add(t, ws_dd_sqrt(ws_dd_mul(t, ws_dd_sum(x, 1.0))));
	if (t.hi < 0.3) {
		l = ws_m_log1p_dd(t.hi);
		return WS_ADD(l.hi, WS_ADD(l.lo, t.lo / (1.0 + t.hi)));
	}
	return ws_m_log_pair(ws_dd_add(ws_dd_fast(1.0, 0.0), t)).hi;
}

WS_FN double ws_m_atanh(double x)
{
	double a = ws_m_abs(x);
	struct ws_dd q, n, d, l;
	if (!(a < 1.0))
		return a == 1.0 ? __builtin_copysign(ws_m_inf(), x) : ws_m_nan();
	if (a < 0x1p-28)
		return x;
	/* log1p(2 a / (1 - a)) / 2 */
	n = ws_dd_fast(2 * a, 0.0);
	d = ws_dd_sum(1.0, -a);
	q = ws_dd_div(n, d);
	if (q.hi < 0.3) {
		l = ws_m_log1p_dd(q.hi);
		l.lo = WS_ADD(l.lo, q.lo / (1.0 + q.hi));
	} else
		l = ws_m_log_pair(ws_dd_add(ws_dd_fast(1.0, 0.0), q));
	return __builtin_copysign(0.5 * WS_ADD(l.hi, l.lo), x);
}

/* ---- roots and distances ---- */

WS_FN double ws_m_cbrt(double x)
{
	double a = ws_m_abs(x), m, y, e;
	int k, third;
	struct ws_dd y2, y3;
	if (!(a < ws_m_inf()) || a == 0)
		return x;
	m = ws_m_split(a, &k);                   /* a = m 2^k; third = floor(k / 3), so that m 2^(k - 3 third) is below 6 */
	third = (k + 3000) / 3 - 1000;
	m = ws_m_scale(m, k - 3 * third);
	/* a cubic within 2 % on [0.7, 5.7], three of Halley's steps, a last correction with an exact residual */
	y = WS_FMA(WS_FMA(WS_FMA(0.0105, m, -0.1235), m, 0.6), m, 0.513);
	for (k = 0; k < 3; k++) {
		e = y * y * y;
		y = y * (e + 2 * m) / (2 * e + m);
	}
	y2 = ws_dd_prod(y, y);
	y3 = ws_dd_mul(y2, ws_dd_fast(y, 0.0));
	e = WS_ADD(WS_ADD(m, -y3.hi), -y3.lo);
	y = WS_ADD(y, e / (3 * y2.hi));
	return __builtin_copysign(ws_m_scale(y, third), x);
}

/* sqrt(a^2 + b^2 + c^2 + d^2) as an ordinary pair times 2^*k; 0: *special is the result */
WS_FN int ws_m_norm_pair(double a, double b, double c, double d, struct ws_dd *r, int *k, double *special)
{
	double v[4] = { ws_m_abs(a), ws_m_abs(b), ws_m_abs(c), ws_m_abs(d) }, big = 0;
	struct ws_dd s = { 0.0, 0.0 };
	int i;
	for (i = 0; i < 4; i++) {
		if (v[i] == ws_m_inf()) {
			*special = v[i];
			return 0;
		}
		big = v[i] > big ? v[i] : big;
	}
	*special = a + b + c + d;
	if (*special != *special)
		return 0;
	*special = 0;
	if (big == 0)
		return 0;
	ws_m_split(big, k);
	for (i = 0; i < 4; i++) {
		double t = ws_m_ldexp(v[i], -*k);
		s = ws_dd_add(s, ws_dd_prod(t, t));
	}
	*r = ws_dd_sqrt(s);
	return 1;
}

WS_FN double ws_m_norm4(double a, double b, double c, double d)
{
	struct ws_dd r;
	double special;
	int k;
	return ws_m_norm_pair(a, b, c, d, &r, &k, &special) ? ws_m_ldexp(r.hi, k) : special;
}

WS_FN double ws_m_rnorm4(double a, double b, double c, double d)
{
	struct ws_dd r;
	double special;
	int k;
	if (!ws_m_norm_pair(a, b, c, d, &r, &k, &special))
		return 1.0 / special;
	return ws_m_ldexp(ws_dd_div(ws_dd_fast(1.0, 0.0), r).hi, -k);
}

WS_FN double ws_m_rsqrt(double x)
{
	if (!(x > 0 && x < ws_m_inf()))
		return x == 0 ? __builtin_copysign(ws_m_inf(), x) : x > 0 ? 0.0 : ws_m_nan();
	/* small arguments are scaled, so that the square root's residual does not vanish */
	return ws_dd_div(ws_dd_fast(1.0, 0.0), ws_dd_sqrt(ws_dd_fast(x < 0x1p-900 ? x * 0x1p200 : x, 0.0))).hi *
	       (x < 0x1p-900 ? 0x1p100 : 1.0);
}

#endif
