// Half precision on the device and on the host.
#include "check.h"
#include <cmath>
#include <cuda_fp16.h>

__global__ void all(const float *a, const float *b, float *out, half2 *sum, int n)
{
	int i = threadIdx.x;
	if (i >= n)
		return;
	half x = __float2half(a[i]), y = __float2half(b[i]);
	float *o = out + i * 8;
	o[0] = __half2float(x + y);
	o[1] = __half2float(x * y);
	o[2] = __half2float(__hfma(x, y, half(1.0f)));
	o[3] = (float)(x / y);
	o[4] = x < y;
	o[5] = __half2float(hsqrt(__habs(x)));
	half2 p = __halves2half2(x, y), q = __hadd2(p, __float2half2_rn(1.0f));
	o[6] = __low2float(q) - __high2float(q);
	o[7] = (float)__half2int_rn(x) + __half2float(__shfl_sync(0xffffffffu, y, 0));
	atomicAdd(sum, __floats2half2_rn(1.0f, 0.5f));
}

int main()
{
	enum { N = 32 };
	float a[N], b[N], out[N * 8];
	half2 sum = __floats2half2_rn(0, 0);
	for (int i = 0; i < N; i++) {
		a[i] = __half2float(__float2half(0.37f * i - 3));
		b[i] = __half2float(__float2half(1.7f - 0.11f * i));
	}
	Mirror<float> da(a, N), db(b, N), dout(out, N * 8);
	Mirror<half2> ds(&sum, 1);
	all<<<1, N>>>(da.device, db.device, dout.device, ds.device, N);
	dout.fetch();
	ds.fetch();
	for (int i = 0; i < N; i++) {
		float *o = out + i * 8;
		auto r = [](float f) { return __half2float(__float2half(f)); };
		EXPECT(o[0] == r(a[i] + b[i]));
		EXPECT(o[1] == r(a[i] * b[i]));
		EXPECT(o[2] == r((float)fma((double)a[i], b[i], 1.0)));
		EXPECT(o[3] == r(a[i] / b[i]));
		EXPECT(o[4] == (a[i] < b[i]));
		EXPECT(o[5] == r(sqrtf(fabsf(a[i]))));
		EXPECT(o[6] == r(a[i] + 1) - r(b[i] + 1));
		EXPECT(o[7] == rintf(a[i]) + b[0]);
	}
	EXPECT(__low2float(sum) == 32 && __high2float(sum) == 16);
	/* the host's conversions against all 65536 values and the ways of rounding between them */
	for (unsigned h = 0; h < 65536; h++) {
		float f = __half2float(__ushort_as_half((unsigned short)h));
		if (std::isnan(f))
			continue;
		EXPECT(__half_as_ushort(__float2half(f)) == h);
		if ((h & 0x7fff) < 0x7bff) {
			float up = __half2float(__ushort_as_half((unsigned short)(h + 1))), mid = (f + up) / 2;
			EXPECT(__half_as_ushort(__float2half(mid)) == (h & 1 ? h + 1 : h));
			EXPECT(__half_as_ushort(__float2half(nextafterf(mid, f))) == h);
			EXPECT(__half_as_ushort(__float2half(nextafterf(mid, up))) == h + 1);
		}
	}
	return bad;
}
