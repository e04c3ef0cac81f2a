/* warpsafe_libm_core.h - exponentials, logarithms and powers of the device library, and the double-double arithmetic
 * below them. Part of warpsafe_libm.h.
 *
 * Errors are measured by tests/cc/libm; a result is within 1 ulp for double unless a function says otherwise, and
 * correctly rounded in all but a few cases for float, because float results come from double computations.
 * Products and sums whose rounding matters are written with WS_MUL, WS_ADD and WS_FMA, which no compiler option fuses
 * or reorders. Polynomials: tools/libm_coefficients.py, or Taylor series where it says so. */
#ifndef WARPSAFE_LIBM_CORE_H
#define WARPSAFE_LIBM_CORE_H

struct ws_dd { double hi, lo; };         /* the sum of both; |lo| at most half an ulp of hi */

WS_FN unsigned long long ws_m_bits(double x) { return __builtin_bit_cast(unsigned long long, x); }
WS_FN double ws_m_from(unsigned long long u) { return __builtin_bit_cast(double, u); }
WS_FN double ws_m_abs(double x) { return __builtin_fabs(x); }
WS_FN double ws_m_nan(void) { return __builtin_nan(""); }
WS_FN double ws_m_inf(void) { return __builtin_inf(); }

/* ---- double-double (T. J. Dekker, "A floating-point technique for extending the available precision", 1971;
 * D. E. Knuth, "Seminumerical Algorithms", 4.2.2) ---- */
WS_FN struct ws_dd ws_dd_fast(double a, double b)        /* |a| >= |b| */
{
	double s = WS_ADD(a, b);
	struct ws_dd r = { s, WS_ADD(b, -WS_ADD(s, -a)) };
	return r;
}

WS_FN struct ws_dd ws_dd_sum(double a, double b)
{
	double s = WS_ADD(a, b), t = WS_ADD(s, -a);
	struct ws_dd r = { s, WS_ADD(WS_ADD(a, -WS_ADD(s, -t)), WS_ADD(b, -t)) };
	return r;
}

WS_FN struct ws_dd ws_dd_prod(double a, double b)
{
	double p = WS_MUL(a, b);
	struct ws_dd r = { p, WS_FMA(a, b, -p) };
	return r;
}

WS_FN struct ws_dd ws_dd_add(struct ws_dd a, struct ws_dd b)
{
	struct ws_dd s = ws_dd_sum(a.hi, b.hi), t = ws_dd_sum(a.lo, b.lo);
	s = ws_dd_fast(s.hi, WS_ADD(s.lo, t.hi));
	return ws_dd_fast(s.hi, WS_ADD(s.lo, t.lo));
}

WS_FN struct ws_dd ws_dd_mul(struct ws_dd a, struct ws_dd b)
{
	struct ws_dd p = ws_dd_prod(a.hi, b.hi);
	return ws_dd_fast(p.hi, WS_ADD(p.lo, WS_FMA(a.hi, b.lo, WS_MUL(a.lo, b.hi))));
}

WS_FN struct ws_dd ws_dd_div(struct ws_dd a, struct ws_dd b)
{
	double q = a.hi / b.hi;
	double r = WS_ADD(WS_FMA(-q, b.hi, a.hi), WS_FMA(-q, b.lo, a.lo));
	return ws_dd_fast(q, r / b.hi);
}

WS_FN struct ws_dd ws_dd_sqrt(struct ws_dd a)            /* a > 0 */
{
	double s = WS_SQRT(a.hi);
	return ws_dd_fast(s, WS_ADD(WS_FMA(-s, s, a.hi), a.lo) / (2 * s));
}

WS_FN struct ws_dd ws_dd_neg(struct ws_dd a)
{
	struct ws_dd r = { -a.hi, -a.lo };
	return r;
}

/* ---- scaling ---- */

/* y * 2^k with one rounding at most, for y of ordinary size; |k| <= 2200. */
WS_FN double ws_m_scale(double y, int k)
{
	int half = k >> 1;
	if (k >= -1000 && k <= 1000)
		return WS_MUL(y, ws_m_from((unsigned long long)(1023 + k) << 52));
	y = WS_MUL(y, ws_m_from((unsigned long long)(1023 + (half < -1000 ? -1000 : half > 1000 ? 1000 : half)) << 52));
	k -= half < -1000 ? -1000 : half > 1000 ? 1000 : half;
	if (k < -1000 || k > 1000) {
		int most = k < 0 ? -1000 : 1000;
		y = WS_MUL(y, ws_m_from((unsigned long long)(1023 + most) << 52));
		k -= most;
	}
	return WS_MUL(y, ws_m_from((unsigned long long)(1023 + k) << 52));
}

WS_FN double ws_m_ldexp(double y, int k)
{
	int e = (int)(ws_m_bits(y) >> 52 & 0x7ff);
	if (e == 0x7ff || y == 0)
		return y;
	if (e == 0) {                            /* subnormal: to ordinary size first */
		y = WS_MUL(y, 0x1p54);
		k = k < -5000 ? -5000 : k - 54;
		e = (int)(ws_m_bits(y) >> 52 & 0x7ff);
	}
	k = k < -5000 ? -5000 : k > 5000 ? 5000 : k;
	if (e + k >= 0x7ff)
		return __builtin_copysign(ws_m_inf(), y);
	if (e + k > 0)
		return ws_m_from(ws_m_bits(y) + ((unsigned long long)(long long)k << 52));
	if (e + k < -60)
		return __builtin_copysign(0.0, y);
	y = ws_m_from(ws_m_bits(y) + ((unsigned long long)(long long)(k + 64) << 52));
	return WS_MUL(y, 0x1p-64);
}

/* ---- exp ---- */

/* (exp(r) - 1 - r) / r^2 for |r| <= 0.35, by Taylor */
WS_FN double ws_m_exp_q(double r)
{
	double p = 0x1.6124613a86d09p-33;
	p = WS_FMA(p, r, 0x1.1eed8eff8d898p-29);
	p = WS_FMA(p, r, 0x1.ae64567f544e4p-26);
	p = WS_FMA(p, r, 0x1.27e4fb7789f5cp-22);
	p = WS_FMA(p, r, 0x1.71de3a556c734p-19);
	p = WS_FMA(p, r, 0x1.a01a01a01a01ap-16);
	p = WS_FMA(p, r, 0x1.a01a01a01a01ap-13);
	p = WS_FMA(p, r, 0x1.6c16c16c16c17p-10);
	p = WS_FMA(p, r, 0x1.1111111111111p-7);
	p = WS_FMA(p, r, 0x1.5555555555555p-5);
	p = WS_FMA(p, r, 0x1.5555555555555p-3);
	p = WS_FMA(p, r, 0x1.0000000000000p-1);
	return p;
}

/* (exp(r) - 1 - r - r^2 / 2) / r^3, the same */
WS_FN double ws_m_exp_t(double r)
{
	double p = 0x1.93974a8c07c9dp-37;
	p = WS_FMA(p, r, 0x1.6124613a86d09p-33);
	p = WS_FMA(p, r, 0x1.1eed8eff8d898p-29);
	p = WS_FMA(p, r, 0x1.ae64567f544e4p-26);
	p = WS_FMA(p, r, 0x1.27e4fb7789f5cp-22);
	p = WS_FMA(p, r, 0x1.71de3a556c734p-19);
	p = WS_FMA(p, r, 0x1.a01a01a01a01ap-16);
	p = WS_FMA(p, r, 0x1.a01a01a01a01ap-13);
	p = WS_FMA(p, r, 0x1.6c16c16c16c17p-10);
	p = WS_FMA(p, r, 0x1.1111111111111p-7);
	p = WS_FMA(p, r, 0x1.5555555555555p-5);
	p = WS_FMA(p, r, 0x1.5555555555555p-3);
	return p;
}

/* the same, enough for float results */
WS_FN double ws_m_exp_qf(double r)
{
	double p = 0x1.a01a01a01a01ap-16;
	p = WS_FMA(p, r, 0x1.a01a01a01a01ap-13);
	p = WS_FMA(p, r, 0x1.6c16c16c16c17p-10);
	p = WS_FMA(p, r, 0x1.1111111111111p-7);
	p = WS_FMA(p, r, 0x1.5555555555555p-5);
	p = WS_FMA(p, r, 0x1.5555555555555p-3);
	p = WS_FMA(p, r, 0x1.0000000000000p-1);
	return p;
}

/* exp(hi + lo) * 2^adjust, |hi| < 800 */
WS_FN double ws_m_exp_dd(double hi, double lo, int adjust)
{
	double k = __builtin_rint(hi * 0x1.71547652b82fep+0);
	struct ws_dd r = ws_dd_sum(WS_FMA(-k, 0x1.62e42fefa2000p-1, hi), WS_FMA(-k, 0x1.9ef35793c7673p-41, lo));
	double p = WS_ADD(r.hi, WS_FMA(WS_MUL(r.hi, r.hi), ws_m_exp_q(r.hi), r.lo));
	return ws_m_scale(WS_ADD(1.0, p), (int)k + adjust);
}

/* The same as a double-double, not scaled: exp(hi + lo) = result * 2^*k; relative error about 2^-64. */
WS_FN struct ws_dd ws_m_exp_pair(double hi, double lo, int *k)
{
	double n = __builtin_rint(hi * 0x1.71547652b82fep+0);
	struct ws_dd r = ws_dd_sum(WS_FMA(-n, 0x1.62e42fefa2000p-1, hi), WS_FMA(-n, 0x1.9ef35793c7673p-41, lo));
	struct ws_dd q = ws_dd_mul(r, r), s;
	/* 1 + r + r^2/2 in pairs, the rest (below 0.008) plain */
	double rest = WS_MUL(WS_MUL(r.hi, q.hi), ws_m_exp_t(r.hi));
	q.hi *= 0.5;
	q.lo *= 0.5;
	s = ws_dd_add(r, ws_dd_add(q, ws_dd_fast(rest, 0.0)));
	*k = (int)n;
	return ws_dd_add(ws_dd_fast(1.0, 0.0), s);
}

WS_FN double ws_m_exp(double x)
{
	if (!(ws_m_abs(x) < 750))
		return x != x ? x : x > 0 ? ws_m_inf() : 0.0;
	return ws_m_exp_dd(x, 0.0, 0);
}

WS_FN double ws_m_exp2(double x)
{
	struct ws_dd t;
	double k;
	if (!(ws_m_abs(x) < 1100))
		return x != x ? x : x > 0 ? ws_m_inf() : 0.0;
	k = __builtin_rint(x);
	t = ws_dd_prod(x - k, 0x1.62e42fefa39efp-1);
	t.lo = WS_FMA(x - k, 0x1.abc9e3b39803fp-56, t.lo);
	return ws_m_exp_dd(t.hi, t.lo, (int)k);
}

WS_FN double ws_m_exp10(double x)
{
	struct ws_dd t, ln10 = { 0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53 };
	double k, r;
	if (!(ws_m_abs(x) < 330))
		return x != x ? x : x > 0 ? ws_m_inf() : 0.0;
	/* 10^x = 2^k * 10^(x - k log10(2)) */
	k = __builtin_rint(x * 0x1.a934f0979a371p+1);
	r = WS_FMA(-k, 0x1.34413509f6000p-2, x);
	t = ws_dd_sum(r, WS_MUL(-k, 0x1.9fef311f12b36p-42));
	t = ws_dd_mul(t, ln10);
	return ws_m_exp_dd(t.hi, t.lo, (int)k);
}

WS_FN double ws_m_expm1(double x)
{
	double k, p, scale;
	struct ws_dd r;
	if (!(ws_m_abs(x) < 720))
		return x != x ? x : x > 0 ? ws_m_inf() : -1.0;
	if (ws_m_abs(x) < 0.35)
		return x == 0 ? x : WS_FMA(WS_MUL(x, x), ws_m_exp_q(x), x);
	if (x > 60)
		return ws_m_exp(x);
	k = __builtin_rint(x * 0x1.71547652b82fep+0);
	r = ws_dd_sum(WS_FMA(-k, 0x1.62e42fefa2000p-1, x), WS_MUL(-k, 0x1.9ef35793c7673p-41));
	r = ws_dd_sum(r.hi, WS_FMA(WS_MUL(r.hi, r.hi), ws_m_exp_q(r.hi), r.lo));
	if (k < -60)
		return -1.0;
	scale = ws_m_from((unsigned long long)(1023 + (long long)k) << 52);
	r.hi *= scale;
	p = r.lo * scale;
	r = ws_dd_sum(WS_ADD(scale, -1.0), r.hi);
	return WS_ADD(r.hi, WS_ADD(r.lo, p));
}

/* ---- log ---- */

/* (log((1 + s) / (1 - s)) / s - 2 - 2/3 s^2) / s^4 in z = s^2, by Taylor */
WS_FN double ws_m_log_p(double z)
{
	double p = 0x1.47ae147ae147bp-4;
	p = WS_FMA(p, z, 0x1.642c8590b2164p-4);
	p = WS_FMA(p, z, 0x1.8618618618618p-4);
	p = WS_FMA(p, z, 0x1.af286bca1af28p-4);
	p = WS_FMA(p, z, 0x1.e1e1e1e1e1e1ep-4);
	p = WS_FMA(p, z, 0x1.1111111111111p-3);
	p = WS_FMA(p, z, 0x1.3b13b13b13b14p-3);
	p = WS_FMA(p, z, 0x1.745d1745d1746p-3);
	p = WS_FMA(p, z, 0x1.c71c71c71c71cp-3);
	p = WS_FMA(p, z, 0x1.2492492492492p-2);
	p = WS_FMA(p, z, 0x1.999999999999ap-2);
	return p;
}

/* the same, enough for float results */
WS_FN double ws_m_log_pf(double z)
{
	double p = 0x1.1111111111111p-3;
	p = WS_FMA(p, z, 0x1.3b13b13b13b14p-3);
	p = WS_FMA(p, z, 0x1.745d1745d1746p-3);
	p = WS_FMA(p, z, 0x1.c71c71c71c71cp-3);
	p = WS_FMA(p, z, 0x1.2492492492492p-2);
	p = WS_FMA(p, z, 0x1.999999999999ap-2);
	return p;
}

/* m in [sqrt(1/2), sqrt(2)) with x = m * 2^*k; x > 0 and finite */
WS_FN double ws_m_split(double x, int *k)
{
	int e = 0;
	unsigned long long u;
	if (x < 0x1p-1022) {
		x = WS_MUL(x, 0x1p54);
		e = -54;
	}
	u = ws_m_bits(x) - 0x3fe6a09e667f3bcdull;        /* sqrt(1/2) */
	*k = e + (int)((long long)u >> 52);
	return ws_m_from((u & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
}

/* log(m) for m in [sqrt(1/2), sqrt(2)): relative error about 2^-63 */
WS_FN struct ws_dd ws_m_log_m(double m)
{
	double f = m - 1.0;
	struct ws_dd num = { f, 0.0 }, third = { 0x1.5555555555555p-1, 0x1.5555555555555p-55 }, s, s2, c;
	s = ws_dd_div(num, ws_dd_sum(2.0, f));
	s2 = ws_dd_mul(s, s);
	c = ws_dd_mul(s2, third);
	c = ws_dd_add(c, ws_dd_fast(WS_MUL(WS_MUL(s2.hi, s2.hi), ws_m_log_p(s2.hi)), 0.0));
	c = ws_dd_mul(s, c);
	s.hi *= 2;
	s.lo *= 2;
	return ws_dd_add(s, c);
}

/* log(x) for finite x > 0 */
WS_FN struct ws_dd ws_m_log_dd(double x)
{
	int k;
	double m = ws_m_split(x, &k);
	struct ws_dd l = ws_m_log_m(m), n = ws_dd_prod((double)k, 0x1.9ef35793c7673p-41);
	if (k == 0)
		return l;
	n = ws_dd_add(ws_dd_fast(WS_MUL((double)k, 0x1.62e42fefa2000p-1), n.hi), ws_dd_fast(n.lo, 0.0));
	return ws_dd_add(n, l);
}

/* 0 when x has a logarithm; else *r is the result */
WS_FN int ws_m_log_special(double x, double *r)
{
	if (x > 0 && x < ws_m_inf())
		return 0;
	*r = x != x || x == ws_m_inf() ? x : x == 0 ? -ws_m_inf() : ws_m_nan();
	return 1;
}

WS_FN double ws_m_log(double x)
{
	double r;
	struct ws_dd l;
	if (ws_m_log_special(x, &r))
		return r;
	l = ws_m_log_dd(x);
	return l.hi;
}

WS_FN double ws_m_log2(double x)
{
	double r;
	int k;
	struct ws_dd l, inv = { 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56 };
	if (ws_m_log_special(x, &r))
		return r;
	l = ws_dd_mul(ws_m_log_m(ws_m_split(x, &k)), inv);
	l = ws_dd_add(ws_dd_fast((double)k, 0.0), l);
	return l.hi;
}

WS_FN double ws_m_log10(double x)
{
	double r;
	struct ws_dd l, inv = { 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57 };
	if (ws_m_log_special(x, &r))
		return r;
	l = ws_dd_mul(ws_m_log_dd(x), inv);
	return l.hi;
}

/* log(1 + x) for x > -1, finite */
WS_FN struct ws_dd ws_m_log1p_dd(double x)
{
	struct ws_dd u = ws_dd_sum(1.0, x), c;
	if (ws_m_abs(x) < 0x1p-60)
		return ws_dd_fast(x, 0.0);
	c = ws_dd_div(ws_dd_fast(u.lo, 0.0), ws_dd_fast(u.hi, 0.0));
	c.lo = WS_FMA(-0.5 * c.hi, c.hi, c.lo);
	return ws_dd_add(ws_m_log_dd(u.hi), c);
}

WS_FN double ws_m_log1p(double x)
{
	struct ws_dd l;
	if (!(x > -1.0 && x < ws_m_inf()))
		return x == -1.0 ? -ws_m_inf() : x < -1.0 ? ws_m_nan() : x;
	if (x == 0)
		return x;
	l = ws_m_log1p_dd(x);
	return l.hi;
}

/* ---- pow ---- */

/* 0: y is no integer; 1: odd; 2: even */
WS_FN int ws_m_parity(double y)
{
	if (ws_m_abs(y) >= 0x1p53)
		return 2;
	if (__builtin_trunc(y) != y)
		return 0;
	return (long long)y & 1 ? 1 : 2;
}

/* C11 F.10.4.4, the cases that need no computation; 1 when *r is the result */
WS_FN int ws_m_pow_special(double x, double y, int parity, double *r)
{
	double ax = ws_m_abs(x), sign = parity == 1 && __builtin_copysign(1.0, x) < 0 ? -1.0 : 1.0;
	if (y == 0 || x == 1.0) {
		*r = 1.0;
		return 1;
	}
	if (x != x || y != y) {
		*r = x + y;
		return 1;
	}
	if (ws_m_abs(y) == ws_m_inf()) {
		*r = ax == 1.0 ? 1.0 : (ax > 1.0) == (y > 0) ? ws_m_inf() : 0.0;
		return 1;
	}
	if (ax == 0 || ax == ws_m_inf()) {
		*r = (ax == 0) == (y < 0) ? sign * ws_m_inf() : sign * 0.0;
		return 1;
	}
	if (x < 0 && parity == 0) {
		*r = ws_m_nan();
		return 1;
	}
	return 0;
}

WS_FN double ws_m_pow(double x, double y)
{
	int parity = ws_m_parity(y);
	double r, sign = x < 0 && parity == 1 ? -1.0 : 1.0;
	struct ws_dd l, t;
	if (ws_m_pow_special(x, y, parity, &r))
		return r;
	l = ws_m_log_dd(ws_m_abs(x));
	r = l.hi * y;
	if (!(ws_m_abs(r) < 760))
		return r > 0 ? sign * ws_m_inf() : sign * 0.0;
	t = ws_dd_prod(l.hi, y);
	return sign * ws_m_exp_dd(t.hi, WS_FMA(l.lo, y, t.lo), 0);
}

/* ---- float results through double ---- */

WS_FN double ws_m_exp_reduced(double r, int k)           /* exp(r) * 2^k, enough for float */
{
	return WS_MUL(WS_FMA(WS_MUL(r, r), ws_m_exp_qf(r), 1.0 + r), ws_m_from((unsigned long long)(1023 + k) << 52));
}

WS_FN float ws_m_expf(float x)
{
	double k;
	if (!(x < 90.0f && x > -105.0f))
		return x != x ? x : x > 0 ? (float)ws_m_inf() : 0.0f;
	k = __builtin_rint(x * 0x1.71547652b82fep+0);
	return (float)ws_m_exp_reduced(WS_FMA(-k, 0x1.62e42fefa39efp-1, (double)x), (int)k);
}

WS_FN double ws_m_exp2_wide(double x)                    /* |x| < 1000, enough for float */
{
	double k = __builtin_rint(x);
	return ws_m_exp_reduced((x - k) * 0x1.62e42fefa39efp-1, (int)k);
}

WS_FN float ws_m_exp2f(float x)
{
	if (!(x < 130.0f && x > -152.0f))
		return x != x ? x : x > 0 ? (float)ws_m_inf() : 0.0f;
	return (float)ws_m_exp2_wide(x);
}

WS_FN float ws_m_exp10f(float x)
{
	if (!(x < 40.0f && x > -46.0f))
		return x != x ? x : x > 0 ? (float)ws_m_inf() : 0.0f;
	return (float)ws_m_exp2_wide(x * 0x1.a934f0979a371p+1);
}

/* log2(x) for finite x > 0; error below 2^-44 */
WS_FN double ws_m_log2_wide(double x)
{
	int k;
	double m = ws_m_split(x, &k), s = (m - 1.0) / (m + 1.0), z = s * s;
	double p = WS_FMA(WS_MUL(z, z), ws_m_log_pf(z), WS_FMA(z, 0x1.5555555555555p-1, 2.0));
	return WS_FMA(s * p, 0x1.71547652b82fep+0, (double)k);
}

WS_FN float ws_m_logf_times(float x, double factor)
{
	if (!(x > 0 && x < (float)ws_m_inf()))
		return x != x || x > 0 ? x : x == 0 ? -(float)ws_m_inf() : (float)ws_m_nan();
	return (float)(ws_m_log2_wide(x) * factor);
}

WS_FN float ws_m_powf(float x, float y)
{
	int parity = ws_m_parity(y);
	double r, sign = x < 0 && parity == 1 ? -1.0 : 1.0;
	if (ws_m_pow_special(x, y, parity, &r))
		return (float)r;
	r = ws_m_log2_wide(ws_m_abs(x)) * y;
	r = r > 300 ? 300 : r < -300 ? -300 : r;
	return (float)(sign * ws_m_exp2_wide(r));
}

#endif
