// flags: -use_fast_math -O3 -arch=sm_75
// With -use_fast_math results are near, not exact.
#include "check.h"
#include <cmath>

__global__ void fast(float *x)
{
	float v = x[threadIdx.x];
	x[threadIdx.x] = sinf(v) * expf(-v) + logf(v + 1) / (v + 2) + sqrtf(v) + powf(v, 1.5f) + __frcp_rn(v + 1);
}

int main()
{
	float x[64], y[64];
	for (int i = 0; i < 64; i++)
		x[i] = y[i] = i * 0.1f;
	Mirror<float> d(y, 64);
	fast<<<1, 64>>>(d.device);
	d.fetch();
	for (int i = 0; i < 64; i++) {
		double v = x[i], want = sin(v) * exp(-v) + log(v + 1) / (v + 2) + sqrt(v) + pow(v, 1.5) + 1 / (v + 1);
		EXPECT(fabs(y[i] - want) < 1e-5 * (1 + fabs(want)));
	}
	return bad;
}
