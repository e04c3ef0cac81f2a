/* warpsafe_libm_special.h - error functions, gamma functions and Bessel functions of the device library. Part of
 * warpsafe_libm.h; see warpsafe_libm_core.h for the conventions. */
#ifndef WARPSAFE_LIBM_SPECIAL_H
#define WARPSAFE_LIBM_SPECIAL_H

/* ---- erf and its relatives ---- */

/* erf(x) / x - 1 in z = x^2 for |x| <= 1 */
WS_FN double ws_m_erf_p(double z)
{
	double p = -0x1.29b9f1b3df556p-38;
	p = WS_FMA(p, z, 0x1.7f072188e194dp-34);
	p = WS_FMA(p, z, -0x1.4e607b41a6416p-30);
	p = WS_FMA(p, z, 0x1.fc4356498c2d9p-27);
	p = WS_FMA(p, z, -0x1.5f6d925a0bc7ap-23);
	p = WS_FMA(p, z, 0x1.b9e6509b9867dp-20);
	p = WS_FMA(p, z, -0x1.f4d2561aeafd4p-17);
	p = WS_FMA(p, z, 0x1.f9a326c233146p-14);
	p = WS_FMA(p, z, -0x1.c02db3feeb579p-11);
	p = WS_FMA(p, z, 0x1.565bcd0e6502dp-8);
	p = WS_FMA(p, z, -0x1.b82ce312889bap-6);
	p = WS_FMA(p, z, 0x1.ce2f21a042bdep-4);
	p = WS_FMA(p, z, -0x1.812746b0379e7p-2);
	p = WS_FMA(p, z, 0x1.06eba8214db69p-3);
	return p;
}

/* M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < inf",
 * Math. Comp. 36, 1981; here with k = 2 and for x >= 1/2. */
/* (1 + 2 x) exp(x^2) erfc(x) for x >= 1/2, in t = (x - 2) / (x + 2) */
WS_FN double ws_m_erfcx_p(double t)
{
	double p = 0x1.246fbcc6a7706p-24;
	p = WS_FMA(p, t, -0x1.7b143036ff076p-22);
	p = WS_FMA(p, t, 0x1.ab173f5ab625ap-22);
	p = WS_FMA(p, t, 0x1.4eec770d43a3dp-21);
	p = WS_FMA(p, t, -0x1.e40a40fbb4071p-21);
	p = WS_FMA(p, t, -0x1.0816807aacbf7p-20);
	p = WS_FMA(p, t, -0x1.267085507201bp-23);
	p = WS_FMA(p, t, 0x1.7a6bbac7f16f2p-20);
	p = WS_FMA(p, t, 0x1.4d6643a23ce52p-18);
	p = WS_FMA(p, t, 0x1.fee748e96b876p-19);
	p = WS_FMA(p, t, -0x1.c26cc5fddfb4dp-17);
	p = WS_FMA(p, t, -0x1.31d9caf8699d3p-15);
	p = WS_FMA(p, t, -0x1.98585fe0462dbp-20);
	p = WS_FMA(p, t, 0x1.3cc4d2412b8f2p-13);
	p = WS_FMA(p, t, 0x1.b0c9256867f91p-13);
	p = WS_FMA(p, t, -0x1.dc69772f6f698p-12);
	p = WS_FMA(p, t, -0x1.7de52208b4285p-10);
	p = WS_FMA(p, t, 0x1.4d461e7c0e66bp-10);
	p = WS_FMA(p, t, 0x1.1dd2ec9168539p-7);
	p = WS_FMA(p, t, -0x1.0742340641efep-7);
	p = WS_FMA(p, t, -0x1.bc2b956198a30p-5);
	p = WS_FMA(p, t, 0x1.4ffa1e14e3047p-3);
	p = WS_FMA(p, t, -0x1.5407bebf3244cp-3);
	p = WS_FMA(p, t, -0x1.7bf5ec170064bp-4);
	p = WS_FMA(p, t, 0x1.46e80e2277953p+0);
	return p;
}

WS_FN double ws_m_erfcx_core(double x)                   /* x >= 1/2 */
{
	double t = (x - 2.0) / (x + 2.0);
	/* one step makes up for the rounding of t: t + e = (x - 2) / (x + 2) */
	double e = WS_FMA(-t, x + 2.0, x - 2.0) / (x + 2.0);
	return ws_m_erfcx_p(t + e) / WS_FMA(2.0, x, 1.0);
}

/* exp(-x^2) */
WS_FN double ws_m_gauss(double x)
{
	struct ws_dd s = ws_dd_prod(x, x);
	return s.hi > 760 ? 0.0 : ws_m_exp_dd(-s.hi, -s.lo, 0);
}

WS_FN double ws_m_erfc_upper(double x)                   /* x >= 1/2 */
{
	struct ws_dd s = ws_dd_prod(x, x);
	if (x > 28)
		return 0.0;
	/* subnormal results get one rounding: scaled last */
	return ws_m_scale(ws_m_exp_dd(-s.hi, -s.lo, 600) * ws_m_erfcx_core(x), -600);
}

WS_FN double ws_m_erf(double x)
{
	double a = ws_m_abs(x), r;
	if (x != x)
		return x;
	if (a < 1.0)
		return WS_FMA(x, ws_m_erf_p(WS_MUL(x, x)), x);
	r = a > 6 ? 1.0 : 1.0 - ws_m_erfc_upper(a);
	return __builtin_copysign(r, x);
}

/* within 5 ulp */
WS_FN double ws_m_erfc(double x)
{
	if (x != x)
		return x;
	if (x < 0.5)
		return x < -6 ? 2.0 : x > -0.5 ? 1.0 - ws_m_erf(x) : 2.0 - ws_m_erfc_upper(-x);
	return ws_m_erfc_upper(x);
}

/* within 6 ulp */
WS_FN double ws_m_erfcx(double x)
{
	struct ws_dd s;
	if (x != x)
		return x;
	if (x >= 0.5)
		return x > 0x1p40 ? 0x1.20dd750429b6dp-1 / x : ws_m_erfcx_core(x);
	if (x < -27)
		return ws_m_inf();
	s = ws_dd_prod(x, x);
	return ws_m_exp_dd(s.hi, s.lo, 0) * ws_m_erfc(x);
}

/* x with erfc(x) = c or erf(x) = 1 - c, for 0 < c < 1: an elementary guess (S. Winitzki, "A handy approximation for
 * the error function and its inverse", 2008), then Halley's steps. direct: erf's value, for small x */
WS_FN double ws_m_erf_solve(double c, double direct)
{
	double l = ws_m_log(c * (2.0 - c)), t = 4.33075 + 0.5 * l, y, u;
	int i;
	y = WS_SQRT(WS_SQRT(t * t - l * 6.80272) - t);
	if (direct < 0.5 && direct >= 0) {
		if (direct < 0x1p-30)
			return direct * 0x1.c5bf891b4ef6ap-1;
		for (i = 0; i < 3; i++) {
			u = (ws_m_erf(y) - direct) / (0x1.20dd750429b6dp+0 * ws_m_gauss(y));
			y -= u / WS_FMA(y, u, 1.0);
		}
		return y;
	}
	/* for small c all is divided by exp(-y^2): erfcx(y) - c exp(y^2) */
	for (i = 0; i < 12; i++) {
		struct ws_dd s = ws_dd_prod(y, y);
		u = (c * ws_m_exp_dd(s.hi * 0.5, s.lo * 0.5, 0) * ws_m_exp_dd(s.hi * 0.5, s.lo * 0.5, 0) -
		     ws_m_erfcx(y)) * 0x1.c5bf891b4ef6ap-1;
		y -= u / WS_FMA(y, u, 1.0);
		if (ws_m_abs(u) < 1e-7)
			break;                   /* the error's third power is below a half ulp */
	}
	return y;
}

WS_FN double ws_m_erfinv(double x)
{
	double a = ws_m_abs(x);
	if (!(a < 1.0))
		return a == 1.0 ? __builtin_copysign(ws_m_inf(), x) : ws_m_nan();
	return a == 0 ? x : __builtin_copysign(ws_m_erf_solve(1.0 - a, a), x);
}

WS_FN double ws_m_erfcinv(double c)
{
	if (!(c > 0 && c < 2.0))
		return c == 0 ? ws_m_inf() : c == 2.0 ? -ws_m_inf() : ws_m_nan();
	if (c >= 0.5 && c <= 1.5)
		return c == 1.0 ? 0.0 : __builtin_copysign(ws_m_erf_solve(1.0 - ws_m_abs(1.0 - c), ws_m_abs(1.0 - c)), 1.0 - c);
	return c < 1.0 ? ws_m_erf_solve(c, -1.0) : -ws_m_erf_solve(2.0 - c, -1.0);
}

/* erfc(-x / sqrt(2)) / 2; what the argument's rounding changes is made up for by the derivative */
WS_FN double ws_m_normcdf(double x)
{
	struct ws_dd root = { 0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55 }, t;
	double r;
	if (!(ws_m_abs(x) < 45))
		return x != x ? x : x > 0 ? 1.0 : 0.0;
	t = ws_dd_mul(ws_dd_fast(-x, 0.0), root);
	if (t.hi > 1)
		r = ws_m_erfc_upper(t.hi) * WS_FMA(-2.0 * t.lo, t.hi, 1.0);
	else
		r = WS_FMA(-0x1.20dd750429b6dp+0 * ws_m_gauss(t.hi), t.lo, ws_m_erfc(t.hi));
	return 0.5 * r;
}

WS_FN double ws_m_normcdfinv(double p)
{
	return -0x1.6a09e667f3bcdp+0 * ws_m_erfcinv(2.0 * p);
}

/* ---- gamma ---- */

/* x times Stirling's series, in z = 1 / x^2 for x >= 10 */
WS_FN double ws_m_stirling_p(double z)
{
	double p = 0x1.6fe96381e0680p-3;
	p = WS_FMA(p, z, -0x1.e4286cb0f5398p-6);
	p = WS_FMA(p, z, 0x1.a41a41a41a41ap-8);
	p = WS_FMA(p, z, -0x1.f6ab0d9993c7dp-10);
	p = WS_FMA(p, z, 0x1.b951e2b18ff23p-11);
	p = WS_FMA(p, z, -0x1.3813813813814p-11);
	p = WS_FMA(p, z, 0x1.a01a01a01a01ap-11);
	p = WS_FMA(p, z, -0x1.6c16c16c16c17p-9);
	p = WS_FMA(p, z, 0x1.5555555555555p-4);
	return p;
}

/* lgamma(x) / ((x - 1) (x - 2)) for 1 <= x <= 2, in u = x - 1.5 */
WS_FN double ws_m_lgamma12_p(double u)
{
	double p = -0x1.0467902760469p-17;
	p = WS_FMA(p, u, 0x1.9759e019683d0p-17);
	p = WS_FMA(p, u, -0x1.18598e23bb974p-17);
	p = WS_FMA(p, u, 0x1.ba730a9784e07p-17);
	p = WS_FMA(p, u, -0x1.c85e4bc95846cp-16);
	p = WS_FMA(p, u, 0x1.68f13e0fbb796p-15);
	p = WS_FMA(p, u, -0x1.156abea920aefp-14);
	p = WS_FMA(p, u, 0x1.b9e43433855c2p-14);
	p = WS_FMA(p, u, -0x1.623f109df00eep-13);
	p = WS_FMA(p, u, 0x1.1c7e3a261c9ebp-12);
	p = WS_FMA(p, u, -0x1.cb44dee9fac00p-12);
	p = WS_FMA(p, u, 0x1.750a7900f071ep-11);
	p = WS_FMA(p, u, -0x1.313e8a3ddad6fp-10);
	p = WS_FMA(p, u, 0x1.f814bab49d011p-10);
	p = WS_FMA(p, u, -0x1.a5035232a7d25p-9);
	p = WS_FMA(p, u, 0x1.64f0664c4f943p-8);
	p = WS_FMA(p, u, -0x1.34dbda14971e2p-7);
	p = WS_FMA(p, u, 0x1.133423527f1f2p-6);
	p = WS_FMA(p, u, -0x1.007aa83cee1acp-5);
	p = WS_FMA(p, u, 0x1.01af62a2929c0p-4);
	p = WS_FMA(p, u, -0x1.2aed059bd608ap-3);
	p = WS_FMA(p, u, 0x1.eeb95b094c191p-2);
	return p;
}

/* lgamma(x) / (x - 2) for 2 <= x <= 3, in u = x - 2.5 */
WS_FN double ws_m_lgamma23_p(double u)
{
	double p = 0x1.7e6e7b6ff8f9ap-28;
	p = WS_FMA(p, u, -0x1.f9bef90de4a63p-27);
	p = WS_FMA(p, u, 0x1.19d84064adbe7p-25);
	p = WS_FMA(p, u, -0x1.7832cb52c4760p-24);
	p = WS_FMA(p, u, 0x1.ff01dd13d7af4p-23);
	p = WS_FMA(p, u, -0x1.58c6b6d154ad0p-21);
	p = WS_FMA(p, u, 0x1.d46e5d248efdbp-20);
	p = WS_FMA(p, u, -0x1.41352f959e849p-18);
	p = WS_FMA(p, u, 0x1.bd762ba2a03bbp-17);
	p = WS_FMA(p, u, -0x1.3957c0bb2843dp-15);
	p = WS_FMA(p, u, 0x1.c135f7f492cdbp-14);
	p = WS_FMA(p, u, -0x1.4a5d12d1b7f34p-12);
	p = WS_FMA(p, u, 0x1.f7e46161117e7p-11);
	p = WS_FMA(p, u, -0x1.95b11573d7e22p-9);
	p = WS_FMA(p, u, 0x1.646ae6e418adap-7);
	p = WS_FMA(p, u, -0x1.6f0ca9a1c2746p-5);
	p = WS_FMA(p, u, 0x1.1200f695b0dd9p-2);
	p = WS_FMA(p, u, 0x1.2383e809a67e8p-1);
	return p;
}

/* log(gamma(x)) for x >= 10 by Stirling's series */
WS_FN struct ws_dd ws_m_stirling(double x)
{
	struct ws_dd l = ws_m_log_dd(x), r, half_log_2pi = { 0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55 };
	double i = 1.0 / x;
	r = ws_dd_mul(l, ws_dd_sum(x, -0.5));
	r = ws_dd_add(r, ws_dd_fast(-x, 0.0));
	r = ws_dd_add(r, half_log_2pi);
	return ws_dd_add(r, ws_dd_fast(i * ws_m_stirling_p(i * i), 0.0));
}

/* gamma(x) * 2^-200 for 0 < x < 190: moved above 10, where Stirling's series serves */
WS_FN double ws_m_tgamma_scaled(double x)
{
	struct ws_dd product = { 1.0, 0.0 }, at = { x, 0.0 }, l;
	while (at.hi < 10) {
		product = ws_dd_mul(product, at);
		at = ws_dd_add(at, ws_dd_fast(1.0, 0.0));
	}
	l = ws_m_stirling(at.hi);
	/* what at.lo adds: digamma(at) = about log(at) - 1 / (2 at) */
	l.lo = WS_FMA(at.lo, ws_m_log(at.hi) - 0.5 / at.hi, l.lo);
	return ws_dd_div(ws_dd_fast(ws_m_exp_dd(l.hi, l.lo, -200), 0.0), product).hi;
}

/* within 4 ulp */
WS_FN double ws_m_tgamma(double x)
{
	double s;
	if (x != x || x == ws_m_inf())
		return x;
	if (x == 0)
		return __builtin_copysign(ws_m_inf(), x);
	if (x < 0 && __builtin_trunc(x) == x)
		return ws_m_nan();
	if (x > 172)
		return ws_m_inf();
	if (ws_m_abs(x) < 0x1p-60)
		return 1.0 / x;
	if (x > 0)
		return ws_m_tgamma_scaled(x) * 0x1p200;
	if (x < -185)
		return ws_m_parity(__builtin_floor(x)) == 2 ? 0.0 : -0.0;
	/* gamma(x) = -pi / (x sin(pi x) gamma(-x)) */
	s = WS_MUL(x, ws_m_sinpi(x));
	return -0x1.921fb54442d18p+1 / s / ws_m_tgamma_scaled(-x) * 0x1p-200;
}

/* x > 0 */
WS_FN double ws_m_lgamma_positive(double x)
{
	double product = 1.0;
	if (x < 0x1p-60)
		return -ws_m_log(x);
	if (x >= 0x1p60)
		return x > 0x1p1014 ? ws_m_inf() : WS_MUL(x, ws_m_log(x) - 1.0);
	if (x >= 10)
		return ws_m_stirling(x).hi;
	if (x < 1) {
		double u = x - 0.5;              /* lgamma(x + 1) - log(x) */
		struct ws_dd l = ws_m_log_dd(x);
		double p = WS_MUL(WS_MUL(x, x - 1.0), ws_m_lgamma12_p(u));
		return WS_ADD(-l.hi, WS_ADD(-l.lo, p));
	}
	if (x <= 2)
		return WS_MUL(WS_MUL(x - 1.0, x - 2.0), ws_m_lgamma12_p(x - 1.5)) + 0.0;
	while (x > 3) {
		x -= 1.0;
		product *= x;
	}
	return WS_FMA(x - 2.0, ws_m_lgamma23_p(x - 2.5), ws_m_log(product));
}

/* within 4 ulp, except around the zeros of the negative side */
WS_FN double ws_m_lgamma(double x)
{
	double s;
	if (x != x)
		return x;
	if (ws_m_abs(x) == ws_m_inf())
		return ws_m_inf();
	if (x <= 0 && __builtin_trunc(x) == x)
		return ws_m_inf();
	if (x > 0)
		return ws_m_lgamma_positive(x);
	if (x > -0x1p-60)
		return -ws_m_log(-x);
	s = ws_m_abs(WS_MUL(x, ws_m_sinpi(x)));
	return ws_m_log(0x1.921fb54442d18p+1 / s) - ws_m_lgamma_positive(-x);
}

/* ---- Bessel functions, as accurate as CUDA documents them: absolute error about 1e-15 ---- */

/* Hankel's asymptotic expansion for x >= 25 (Abramowitz and Stegun, 9.2.5-9.2.10): J and Y of order n, n = 0 or 1 */
WS_FN void ws_m_bessel_far(int n, double x, double *j, double *y)
{
	double mu = 4.0 * n, p = 1.0, q = 0.0, term = 1.0, s, c, amplitude;
	int k;
	for (k = 1; k < 40; k++) {
		double odd = 2 * k - 1, next = term * (mu - odd * odd) / (k * 8.0 * x);
		if (ws_m_abs(next) >= ws_m_abs(term))
			break;
		term = next;
		/* the signs of P: + - for k = 0, 2, 4 ...; of Q for k = 1, 3 ... */
		if (k & 1)
			q += k & 2 ? -term : term;
		else
			p += k & 2 ? -term : term;
		if (ws_m_abs(term) < 1e-18)
			break;
	}
	/* cos and sin of x - (2n + 1) pi/4 from those of x */
	ws_m_sincos(x, &s, &c);
	amplitude = 0x1.6a09e667f3bcdp-1 * WS_SQRT(0x1.45f306dc9c883p-1 / x);
	if (n == 0) {
		double t = c + s;
		s = s - c;
		c = t;
	} else {
		double t = s - c;
		s = -s - c;
		c = t;
	}
	*j = amplitude * (p * c - q * s);
	*y = amplitude * (p * s + q * c);
}

/* J0, J1, Y0, Y1 for 0 < x < 25: Miller's backward recurrence (A&S 9.12) and Neumann's series of Y0 (A&S 9.1.88); Y1
 * from the Wronskian or, where J0 is small, from the series (A&S 9.1.89) */
WS_FN void ws_m_bessel_near(double x, double j[2], double y[2])
{
	double up = 0.0, now = 1e-300, sum = 0.0, y0 = 0.0, y1 = 0.0, down, scale, lg;
	int k = 2 * (int)(x * 0.7 + 22);
	for (; k > 0; k--) {
		down = 2.0 * k / x * now - up;           /* order k - 1 */
		up = now;
		now = down;
		if (((k - 1) & 1) == 0 && k - 1 > 0) {
			int i = (k - 1) / 2;
			sum += 2.0 * now;
			y0 += (i & 1 ? -1.0 : 1.0) * now / i;
		} else if (k - 1 > 1) {
			int i = (k - 2) / 2;             /* order 2 i + 1 */
			y1 += (i & 1 ? -1.0 : 1.0) * now * (2 * i + 1) / ((double)i * (i + 1));
		}
		if (ws_m_abs(now) > 1e250) {
			up *= 1e-250;
			now *= 1e-250;
			sum *= 1e-250;
			y0 *= 1e-250;
			y1 *= 1e-250;
		}
	}
	scale = 1.0 / (sum + now);
	j[0] = now * scale;
	j[1] = up * scale;
	lg = ws_m_log(0.5 * x) + 0x1.2788cfc6fb619p-1;
	y[0] = 0x1.45f306dc9c883p-1 * (lg * j[0] - 2.0 * y0 * scale);
	y[1] = 0x1.45f306dc9c883p-1 * ((lg - 1.0) * j[1] - j[0] / x - y1 * scale);
}

WS_FN void ws_m_bessel(double x, double j[2], double y[2])      /* x > 0, finite */
{
	if (x < 25) {
		ws_m_bessel_near(x, j, y);
	} else {
		ws_m_bessel_far(0, x, &j[0], &y[0]);
		ws_m_bessel_far(1, x, &j[1], &y[1]);
	}
}

WS_FN double ws_m_j(int n, double x)
{
	double a = ws_m_abs(x), j[2], y[2], r, up, now, down, sum;
	int k, m, negative = (n < 0) != (x < 0) && (n & 1);
	n = n < 0 ? -n : n;
	if (x != x)
		return x;
	if (a == ws_m_inf())
		return 0.0;
	if (a < 1e-300)
		return n == 0 ? 1.0 : 0.0;
	ws_m_bessel(a, j, y);
	if (n < 2)
		r = j[n];
	else if (n <= a) {                               /* upward, stable below x */
		for (k = 1; k < n; k++) {
			r = 2.0 * k / a * j[1] - j[0];
			j[0] = j[1];
			j[1] = r;
		}
		r = j[1];
	} else {                                         /* Miller's, from far above n */
		m = 2 * ((n + (int)WS_SQRT(60.0 * n)) / 2 + 10);
		up = sum = r = 0;
		now = 1e-300;
		for (k = m; k > 0; k--) {
			down = 2.0 * k / a * now - up;
			up = now;
			now = down;
			if (ws_m_abs(now) > 1e250) {
				up *= 1e-250;
				now *= 1e-250;
				r *= 1e-250;
				sum *= 1e-250;
			}
			if (k - 1 == n)
				r = now;
			if (((k - 1) & 1) == 0)
				sum += k - 1 ? 2 * now : now;
		}
		r /= sum;
	}
	return negative ? -r : r;
}

WS_FN double ws_m_y(int n, double x)
{
	double j[2], y[2], r;
	int k, negative = n < 0 && (n & 1);
	n = n < 0 ? -n : n;
	if (!(x > 0))
		return x == 0 ? -ws_m_inf() : ws_m_nan();
	if (x == ws_m_inf())
		return 0.0;
	ws_m_bessel(x, j, y);
	if (n == 0)
		return y[0];
	for (k = 1; k < n; k++) {
		r = 2.0 * k / x * y[1] - y[0];
		y[0] = y[1];
		y[1] = r;
		if (r == -ws_m_inf())
			break;
	}
	return negative ? -y[1] : y[1];
}

/* I0 and I1: the power series (A&S 9.6.10) below 40, the asymptotic one (9.7.1) above; within 6 ulp */
WS_FN double ws_m_i(int n, double x)
{
	double a = ws_m_abs(x), term, sum, q, mu = 4.0 * n;
	int k;
	if (x != x)
		return x;
	if (a < 40) {
		q = 0.25 * a * a;
		sum = term = n ? 0.5 * a : 1.0;
		for (k = 1; k < 200 && term > sum * 1e-18; k++) {
			term *= q / ((double)k * (k + n));
			sum += term;
		}
	} else {
		sum = term = 1.0;
		for (k = 1; k < 40 && ws_m_abs(term) > 1e-18; k++) {
			double odd = 2 * k - 1;
			term *= -(mu - odd * odd) / (k * 8.0 * a);
			sum += term;
		}
		sum *= 0x1.9884533d43651p-2 / WS_SQRT(a);
		sum = a > 720 ? ws_m_inf() : sum * ws_m_exp_dd(a, 0.0, -20) * 0x1p20;
	}
	return n && x < 0 ? -sum : sum;
}

#endif
