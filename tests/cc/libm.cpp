/* libm.cpp - measures the errors of warpsafe's device mathematics on the host: the same text that is compiled for the
 * device, against the C library's long double functions (64 significant bits: good to 1/2048 ulp of a double).
 * Arguments are drawn from given intervals; a function whose largest error is above its bound fails. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "warpsafe_libm.h"

typedef long double ld;

static uint64_t state = 88172645463325252ull;
static uint64_t next_random()
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dull;
}

static double uniform(double lo, double hi)
{
	return lo + (hi - lo) * ((double)(next_random() >> 11) * 0x1p-53);
}

/* Numbers of all sizes between lo and hi (same sign), as many in each octave. */
static double any_size(double lo, double hi)
{
	double s = lo < 0 ? -1 : 1, a = std::log2(std::fabs(lo)), b = std::log2(std::fabs(hi));
	return s * std::exp2(uniform(a, b));
}

static double ulp_error(double got, ld want, bool single)
{
	if (std::isnan(got) || std::isnan(want))
		return std::isnan(got) && std::isnan(want) ? 0 : 1e30;
	if (std::isinf(got) && (single ? std::isinf((float)want) : std::isinf((double)want)))
		return 0;
	int e = std::ilogb((double)want ? (double)want : 1e-320);
	if (single)
		e = e < -126 ? -126 : e;
	else
		e = e < -1022 ? -1022 : e;
	return std::fabs((double)(((ld)got - want) / std::ldexp((ld)1, e - (single ? 23 : 52))));
}

static int passed, failed;

static void verdict(const char *name, double worst, double at, double at2, double bound)
{
	bool good = worst <= bound;
	good ? passed++ : failed++;
	if (!good)
		printf("FAIL: %s: %.3f ulp at %a, %a (bound %.2f)\n", name, worst, at, at2, bound);
	else
		printf("  %-12s %.3f ulp\n", name, worst);
}

enum { SAMPLES = 20000 };

template <class F, class R>
static void one(const char *name, F f, R ref, double lo, double hi, bool octaves, double bound, bool single = false)
{
	double worst = -1, at = 0;
	for (int i = 0; i < SAMPLES; i++) {
		double x = octaves ? any_size(lo, hi) : uniform(lo, hi);
		if (single)
			x = (float)x;
		double e = ulp_error(f(x), ref((ld)x), single);
		if (!(e <= worst)) {
			worst = e;
			at = x;
		}
	}
	verdict(name, worst, at, 0, bound);
}

template <class F, class R>
static void two(const char *name, F f, R ref, double alo, double ahi, double blo, double bhi, double bound, bool single = false)
{
	double worst = -1, at = 0, at2 = 0;
	for (int i = 0; i < SAMPLES; i++) {
		double x = any_size(alo, ahi), y = i & 1 ? any_size(blo, bhi) : -any_size(blo, bhi);
		if (single) {
			x = (float)x;
			y = (float)y;
		}
		double e = ulp_error(f(x, y), ref((ld)x, (ld)y), single);
		if (!(e <= worst)) {
			worst = e;
			at = x;
			at2 = y;
		}
	}
	verdict(name, worst, at, at2, bound);
}

static const ld PI = 3.14159265358979323846264338327950288L;
static ld sinpil_(ld x)
{
	ld n = rintl(2 * x), r = x - n / 2;
	int q = (int)((long long)n & 3);
	ld v = q & 1 ? cosl(r * PI) : sinl(r * PI);
	return q & 2 ? -v : v;
}
static ld cospil_(ld x) { return sinpil_(x + 0.5L); }
static ld normcdfl_(ld x) { return erfcl(-x / sqrtl(2)) / 2; }
static ld erfcxl_(ld x) { return expl(x * x) * erfcl(x); }

static void check_double()
{
#define F(name) [](double x) { return ws_m_##name(x); }
#define R(name) [](ld x) -> ld { return name(x); }
	one("exp", F(exp), R(expl), -745, 709.7, false, 1);
	one("exp", F(exp), R(expl), 1e-20, 1, true, 1);
	one("exp2", F(exp2), R(exp2l), -1074, 1023.9, false, 1);
	one("exp10", F(exp10), [](ld x) { return exp10l(x); }, -323, 308.2, false, 1);
	one("expm1", F(expm1), R(expm1l), -40, 709, false, 1);
	one("expm1", F(expm1), R(expm1l), 1e-20, 10, true, 1.2);
	one("expm1-", F(expm1), R(expm1l), -1e-20, -10, true, 1.2);
	one("log", F(log), R(logl), 5e-324, 1.7e308, true, 0.51);
	one("log near 1", F(log), R(logl), 0.5, 2, false, 0.51);
	one("log2", F(log2), R(log2l), 5e-324, 1.7e308, true, 0.51);
	one("log10", F(log10), R(log10l), 1e-3, 1e3, true, 0.51);
	one("log1p", F(log1p), R(log1pl), 1e-20, 1e20, true, 0.52);
	one("log1p-", F(log1p), R(log1pl), -1e-20, -0.999999, true, 0.52);
	one("sin", F(sin), R(sinl), -10, 10, false, 1);
	one("sin", F(sin), R(sinl), 1e-10, 1e6, true, 1);
	one("sin large", F(sin), R(sinl), 1e6, 1e18, true, 1);
	one("cos", F(cos), R(cosl), -10, 10, false, 1);
	one("cos large", F(cos), R(cosl), 1e6, 1e18, true, 1);
	one("tan", F(tan), R(tanl), -10, 10, false, 2);
	one("tan large", F(tan), R(tanl), 1e6, 1e18, true, 2);
	one("sinpi", F(sinpi), sinpil_, -100, 100, false, 1);
	one("cospi", F(cospi), cospil_, -100, 100, false, 1);
	one("asin", F(asin), R(asinl), -1, 1, false, 1);
	one("acos", F(acos), R(acosl), -1, 1, false, 1);
	one("atan", F(atan), R(atanl), 1e-10, 1e10, true, 1);
	one("sinh", F(sinh), R(sinhl), 1e-10, 710, true, 1);
	one("cosh", F(cosh), R(coshl), 1e-5, 710, true, 1);
	one("tanh", F(tanh), R(tanhl), 1e-10, 25, true, 1);
	one("asinh", F(asinh), R(asinhl), 1e-10, 1e20, true, 1);
	one("acosh", F(acosh), R(acoshl), 1, 1e20, true, 1);
	one("acosh near 1", F(acosh), R(acoshl), 1, 1.5, false, 1);
	one("atanh", F(atanh), R(atanhl), 1e-10, 0.9999999, true, 1);
	one("cbrt", F(cbrt), R(cbrtl), 5e-324, 1.7e308, true, 0.75);
	one("rsqrt", F(rsqrt), [](ld x) { return 1 / sqrtl(x); }, 5e-324, 1.7e308, true, 0.51);
	one("erf", F(erf), R(erfl), 1e-10, 7, true, 1);
	one("erfc", F(erfc), R(erfcl), -6, 26, false, 4);
	one("erfcx", F(erfcx), erfcxl_, -5, 30, false, 4);
	one("normcdf", F(normcdf), normcdfl_, -37, 9, false, 5);
	one("tgamma", F(tgamma), R(tgammal), 1e-10, 171.6, true, 4);
	one("tgamma-", F(tgamma), R(tgammal), -170.5, -1e-5, false, 6);
	one("lgamma", F(lgamma), R(lgammal), 1e-10, 1e20, true, 4);
	one("lgamma", F(lgamma), R(lgammal), 0.5, 4, false, 4);
	/* inverses, through the functions above: erf(erfinv(x)) moves by at most the two errors, its slope being <= 1.13 */
	one("erfinv", [](double x) { return ws_m_erf(ws_m_erfinv(x)); }, [](ld x) { return x; }, -0.9, 0.9, false, 6);
	one("erfcinv", [](double x) { return ws_m_erfcinv(x); },
	    [](ld x) {
		    ld y = ws_m_erfcinv((double)x);
		    return y - (erfcl(y) - x) / (-2 / sqrtl(PI) * expl(-y * y));
	    }, 1e-300, 1.9, true, 6);
	one("normcdfinv", F(normcdfinv),
	    [](ld x) {
		    ld y = ws_m_normcdfinv((double)x);
		    return y - (erfcl(-y / sqrtl(2)) / 2 - x) / (expl(-y * y / 2) / sqrtl(2 * PI));
	    }, 1e-300, 0.45, true, 8);
}

static void check_two()
{
	two("pow", [](double x, double y) { return ws_m_pow(x, y); }, [](ld x, ld y) { return powl(x, y); }, 1e-5, 1e5, 1e-3, 50, 1);
	two("pow far", [](double x, double y) { return ws_m_pow(x, y); }, [](ld x, ld y) { return powl(x, y); }, 0.9, 1.1, 1, 7000, 1);
	two("atan2", [](double y, double x) { return ws_m_atan2(y, x); }, [](ld y, ld x) { return atan2l(y, x); }, 1e-10, 1e10, 1e-10, 1e10, 1);
	two("hypot", [](double x, double y) { return ws_m_norm4(x, y, 0, 0); }, [](ld x, ld y) { return hypotl(x, y); }, 1e-300, 1e300, 1e-300, 1e300, 0.51);
	two("fmod", [](double x, double y) { return ws_m_fmod(x, y); }, [](ld x, ld y) -> ld { return fmod((double)x, (double)y); }, 1e-300, 1e300, 1e-300, 1e300, 0);
	two("remainder", [](double x, double y) { int q; return ws_m_remquo(x, y, &q); }, [](ld x, ld y) -> ld { return remainder((double)x, (double)y); }, 1e-20, 1e20, 1e-20, 1e20, 0);
	two("fmod tiny", [](double x, double y) { return ws_m_fmod(x, y); }, [](ld x, ld y) -> ld { return fmod((double)x, (double)y); }, 5e-324, 1e-300, 5e-324, 1e-306, 0);
}

static void check_float()
{
#define FF(name) [](double x) -> double { return ws_m_##name((float)x); }
	one("expf", FF(expf), R(expl), -103, 88.7, false, 0.51, true);
	one("exp2f", FF(exp2f), R(exp2l), -149, 127.9, false, 0.51, true);
	one("exp10f", FF(exp10f), [](ld x) { return exp10l(x); }, -45, 38.5, false, 0.51, true);
	one("logf", [](double x) -> double { return ws_m_logf_times((float)x, 0x1.62e42fefa39efp-1); }, R(logl), 1e-45, 3e38, true, 0.51, true);
	one("log2f", [](double x) -> double { return ws_m_logf_times((float)x, 1.0); }, R(log2l), 0.5, 2, false, 0.51, true);
	one("sinf", FF(sinf), R(sinl), -10, 10, false, 0.51, true);
	one("sinf large", FF(sinf), R(sinl), 1e3, 3e18, true, 0.51, true);
	one("cosf", FF(cosf), R(cosl), -10, 10, false, 0.51, true);
	one("cosf large", FF(cosf), R(cosl), 1e3, 3e18, true, 0.51, true);
	one("tanf", FF(tanf), R(tanl), -10, 10, false, 0.52, true);
	two("powf", [](double x, double y) -> double { return ws_m_powf((float)x, (float)y); }, [](ld x, ld y) { return powl(x, y); }, 1e-4, 1e4, 1e-3, 9, 0.52, true);
}

/* Values that the standard names (C11, annex F), bit by bit. */
static void check_special()
{
	static const double v[] = { 0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1e308, -1e308, 5e-324, -5e-324, INFINITY,
		-INFINITY, NAN, 0x1p53, -0x1p53, 0x1p53 + 2, 1.5, -1.5, 1e22 };
	struct row { const char *name; double (*f)(double); double (*g)(double); } rows[] = {
		{ "exp", [](double x) { return ws_m_exp(x); }, exp }, { "log", [](double x) { return ws_m_log(x); }, log },
		{ "sin", [](double x) { return ws_m_sin(x); }, sin }, { "cos", [](double x) { return ws_m_cos(x); }, cos },
		{ "tan", [](double x) { return ws_m_tan(x); }, tan }, { "atan", [](double x) { return ws_m_atan(x); }, atan },
		{ "asin", [](double x) { return ws_m_asin(x); }, asin }, { "acos", [](double x) { return ws_m_acos(x); }, acos },
		{ "cbrt", [](double x) { return ws_m_cbrt(x); }, cbrt }, { "sinh", [](double x) { return ws_m_sinh(x); }, sinh },
		{ "cosh", [](double x) { return ws_m_cosh(x); }, cosh }, { "tanh", [](double x) { return ws_m_tanh(x); }, tanh },
		{ "round", [](double x) { return ws_m_round(x); }, round }, { "logb", [](double x) { return ws_m_logb(x); }, logb },
		{ "expm1", [](double x) { return ws_m_expm1(x); }, expm1 }, { "log1p", [](double x) { return ws_m_log1p(x); }, log1p },
		{ "erf", [](double x) { return ws_m_erf(x); }, erf }, { "erfc", [](double x) { return ws_m_erfc(x); }, erfc },
		{ "tgamma", [](double x) { return ws_m_tgamma(x); }, tgamma }, { "lgamma", [](double x) { return ws_m_lgamma(x); }, lgamma },
		{ "j0", [](double x) { return ws_m_j(0, x); }, j0 }, { "log2", [](double x) { return ws_m_log2(x); }, log2 },
	};
	for (auto &r : rows)
		for (double x : v) {
			double a = r.f(x), b = r.g(x);
			bool same = std::isnan(a) ? std::isnan(b) : a == b ? std::signbit(a) == std::signbit(b) :
			            std::fabs(a - b) <= 1e-15 * std::fabs(b);
			same ? passed++ : failed++;
			if (!same)
				printf("FAIL: %s(%a) = %a, not %a\n", r.name, x, a, b);
		}
	for (double x : v)
		for (double y : v) {
			double a[] = { ws_m_pow(x, y), ws_m_atan2(x, y), ws_m_fmod(x, y), ws_m_nextafter(x, y) };
			double b[] = { pow(x, y), atan2(x, y), fmod(x, y), nextafter(x, y) };
			for (int i = 0; i < 4; i++) {
				bool same = std::isnan(a[i]) ? std::isnan(b[i]) :
				            a[i] == b[i] ? std::signbit(a[i]) == std::signbit(b[i]) :
				            std::fabs(a[i] - b[i]) <= 1e-15 * std::fabs(b[i]);
				same ? passed++ : failed++;
				if (!same)
					printf("FAIL: two-argument function %d of (%a, %a) = %a, not %a\n", i, x, y, a[i], b[i]);
			}
		}
}

static void check_bessel()
{
	double worst = 0, at = 0;
	const char *which = "";
	for (int i = 0; i < SAMPLES; i++) {
		double x = uniform(0.001, 60);
		struct { const char *name; double got; ld want; } v[] = {
			{ "j0", ws_m_j(0, x), j0l(x) }, { "j1", ws_m_j(1, x), j1l(x) }, { "jn 5", ws_m_j(5, x), jnl(5, x) },
			{ "jn 40", ws_m_j(40, x), jnl(40, x) }, { "y0", ws_m_y(0, x), y0l(x) }, { "y1", ws_m_y(1, x), y1l(x) },
			{ "yn 3", ws_m_y(3, x), ynl(3, x) }
		};
		for (auto &t : v) {
			double e = std::fabs((double)((ld)t.got - t.want)) / (std::fabs((double)t.want) > 1 ? std::fabs((double)t.want) : 1);
			if (!(e <= worst)) {
				worst = e;
				at = x;
				which = t.name;
			}
		}
	}
	bool good = worst < 4e-15;
	good ? passed++ : failed++;
	printf("%s bessel: largest error %.2g (%s at %a)\n", good ? " " : "FAIL:", worst, which, at);
}

int main()
{
	check_double();
	check_two();
	check_float();
	check_special();
	check_bessel();
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
