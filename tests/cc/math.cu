// Mathematical functions on the device against the host's C library in long double: errors in units in the last place.
#include "check.h"
#include <cmath>

enum { N = 1024 };

#define FUNCTIONS(X) \
	X(sin, -100, 100, 1) X(cos, -100, 100, 1) X(tan, -100, 100, 2) X(exp, -700, 700, 1) X(exp2, -1000, 1000, 1) \
	X(expm1, -3, 3, 1.1) X(log, 1e-3, 1e3, 1) X(log2, 1e-3, 1e3, 1) X(log10, 1e-3, 1e3, 1) X(log1p, -0.9, 3, 1) \
	X(sqrt, 0, 1e9, 0.501) X(cbrt, -1e9, 1e9, 1) X(asin, -1, 1, 1) X(acos, -1, 1, 1) X(atan, -9, 9, 1) \
	X(sinh, -20, 20, 1) X(cosh, -20, 20, 1) X(tanh, -5, 5, 1) X(asinh, -50, 50, 1) X(acosh, 1, 50, 1) \
	X(atanh, -0.99, 0.99, 1) X(erf, -4, 4, 1) X(erfc, -4, 20, 4) X(tgamma, 0.1, 100, 4) X(lgamma, 3, 1000, 4) \
	X(floor, -9, 9, 0) X(ceil, -9, 9, 0) X(trunc, -9, 9, 0) X(round, -9, 9, 0) X(rint, -9, 9, 0)

#define KERNEL(F, LO, HI, BOUND) \
	__global__ void k_##F(const double *x, double *y, float *z) \
	{ \
		int i = blockIdx.x * blockDim.x + threadIdx.x; \
		y[i] = F(x[i]); \
		z[i] = F##f((float)x[i]); \
	}
FUNCTIONS(KERNEL)

__global__ void two(const double *x, double *y, float *z)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	double a = x[i], b = x[(i + 7) % N];
	y[i] = pow(fabs(a), b / 40);
	y[N + i] = atan2(a, b);
	y[2 * N + i] = hypot(a, b);
	y[3 * N + i] = fmod(a, b);
	z[i] = powf(fabsf((float)a), (float)b / 40);
	z[N + i] = fmodf((float)a, (float)b);
}

static double x[N], y[4 * N];
static float z[2 * N];

static double error(double got, long double want, int bits)
{
	int e = want == 0 ? -1022 : (int)ilogbl(want);
	return fabs((double)((got - want) / ldexpl(1, e - bits)));
}

template <class K> static void check(const char *name, K kernel, long double (*ref)(long double), double lo, double hi, double bound)
{
	double worst = 0, worstf = 0;
	for (int i = 0; i < N; i++)
		x[i] = lo + (hi - lo) * ((i * 0x9e3779b9u + 1) * 0x1p-32);
	Mirror<double> dx(x, N), dy(y, N);
	Mirror<float> dz(z, N);
	kernel<<<N / 128, 128>>>(dx.device, dy.device, dz.device);
	dy.fetch();
	dz.fetch();
	for (int i = 0; i < N; i++) {
		worst = std::max(worst, error(y[i], ref(x[i]), 52));
		long double want = ref((float)x[i]);
		if (fabsl(want) < 3e38L && fabsl(want) > 2e-38L)
			worstf = std::max(worstf, error(z[i], want, 23));
	}
	if (!(worst <= bound && worstf <= (bound < 1 ? bound : 1))) {
		printf("%s: double %.3f ulp, float %.3f ulp\n", name, worst, worstf);
		bad = 1;
	}
}

#define LONG(F, LO, HI, BOUND) static long double l_##F(long double v) { return F##l(v); }
FUNCTIONS(LONG)

int main()
{
#define CHECK(F, LO, HI, BOUND) check(#F, k_##F, l_##F, LO, HI, BOUND);
	FUNCTIONS(CHECK)
	for (int i = 0; i < N; i++)
		x[i] = -100 + 200 * ((i * 0x9e3779b9u + 1) * 0x1p-32);
	Mirror<double> dx(x, N), dy(y, 4 * N);
	Mirror<float> dz(z, 2 * N);
	two<<<N / 128, 128>>>(dx.device, dy.device, dz.device);
	dy.fetch();
	dz.fetch();
	for (int i = 0; i < N; i++) {
		double a = x[i], b = x[(i + 7) % N];
		EXPECT(error(y[i], powl(fabsl(a), b / 40), 52) <= 1);
		EXPECT(error(y[N + i], atan2l(a, b), 52) <= 1);
		EXPECT(error(y[2 * N + i], hypotl(a, b), 52) <= 1);
		EXPECT(y[3 * N + i] == fmod(a, b));
		EXPECT(error(z[i], powl(fabsf((float)a), (float)b / 40), 23) <= 1);
		EXPECT(z[N + i] == fmodf((float)a, (float)b));
	}
	return bad;
}
