// Integer and floating point intrinsics against plain C on the host.
#include "check.h"
#include <cmath>
#include <cstdint>

__global__ void ints(const unsigned *in, unsigned *out, int n)
{
	int i = threadIdx.x;
	if (i >= n)
		return;
	unsigned a = in[i], b = in[(i + 1) % n], *o = out + i * 16;
	o[0] = __popc(a);
	o[1] = __clz((int)a);
	o[2] = __ffs((int)a);
	o[3] = __brev(a);
	o[4] = __byte_perm(a, b, 0x5140);
	o[5] = __umulhi(a, b);
	o[6] = (unsigned)__mulhi((int)a, (int)b);
	o[7] = __umul24(a, b);
	o[8] = __funnelshift_l(a, b, 7);
	o[9] = __funnelshift_r(a, b, 40);
	o[10] = __usad(a, b, 3u);
	o[11] = (unsigned)__dp4a((int)a, (int)b, 5);
	o[12] = (unsigned)(__popcll((long long)((unsigned long long)a << 32 | b)) + __clzll((long long)a) + __ffsll((long long)a << 20));
	o[13] = (unsigned)min((int)a, (int)b) ^ max(a, b);
	o[14] = (unsigned)__rhadd((int)a, (int)b) + __uhadd(a, b);
	o[15] = (unsigned)(__umul64hi((unsigned long long)a << 32, (unsigned long long)b << 32) >> 3);
}

__global__ void floats(float *f, int *k, double *d)
{
	f[0] = __fadd_rz(1.0f, 0x1p-24f * 1.5f);
	f[1] = __fadd_ru(1.0f, 0x1p-40f);
	f[2] = __fmul_rd(1.0f / 3, 3.0f);
	f[3] = __fmaf_rn(3.0f, 4.0f, 5.0f);
	f[4] = __fdiv_rn(1.0f, 3.0f);
	f[5] = __fsqrt_ru(2.0f);
	f[6] = __saturatef(-3.0f) + __saturatef(0.25f) + __saturatef(7.0f);
	f[7] = __int_as_float(0x3f800001);
	f[8] = __double2float_rd(1.0 / 3);
	f[9] = __ull2float_rz(0xffffffffffffffffull);
	f[10] = fminf(NAN, 2.0f) + fmaxf(3.0f, NAN);
	f[11] = __fdividef(6.0f, 3.0f);
	k[0] = __float2int_rn(2.5f);
	k[1] = __float2int_ru(2.1f);
	k[2] = __float2int_rd(-2.1f);
	k[3] = __double2int_rz(-2.9);
	k[4] = __float_as_int(1.0f);
	k[5] = __double2hiint(1.0);
	k[6] = (int)__double2ll_rn(3.5);
	k[7] = (int)__float2uint_rz(-5.0f);
	k[8] = isnan(NAN) + 2 * isinf(-INFINITY) + 4 * signbit(-0.0f) + 8 * isfinite(1.0);
	d[0] = __dadd_ru(1.0, 0x1p-80);
	d[1] = __hiloint2double(0x3ff00000, 1);
	d[2] = __dmul_rz(1.0 / 3, 3.0);
	d[3] = __ddiv_rd(1.0, 3.0);
	d[4] = __dsqrt_rn(2.0);
	d[5] = __longlong_as_double(0x4000000000000000ll);
	d[6] = fma(1.0 / 3, 3.0, -1.0);
}

static unsigned perm(unsigned a, unsigned b, unsigned s)
{
	uint64_t v = (uint64_t)b << 32 | a;
	unsigned r = 0;
	for (int i = 0; i < 4; i++)
		r |= (unsigned)(v >> (s >> 4 * i & 7) * 8 & 255) << 8 * i;
	return r;
}

static unsigned reverse(unsigned a)
{
	unsigned r = 0;
	for (int i = 0; i < 32; i++)
		r |= (a >> i & 1) << (31 - i);
	return r;
}

static int dot(unsigned a, unsigned b, int c)
{
	for (int i = 0; i < 4; i++)
		c += (int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i);
	return c;
}

int main()
{
	static unsigned in[] = { 0, 1, 0x80000000u, 0xffffffffu, 0x12345678u, 0xdeadbeefu, 77, 0x00ff00ffu }, out[8 * 16];
	Mirror<unsigned> a(in, 8), b(out, 8 * 16);
	ints<<<1, 32>>>(a.device, b.device, 8);
	b.fetch();
	for (int i = 0; i < 8; i++) {
		unsigned x = in[i], y = in[(i + 1) % 8], *o = out + i * 16;
		EXPECT((int)o[0] == __builtin_popcount(x));
		EXPECT((int)o[1] == (x ? __builtin_clz(x) : 32));
		EXPECT((int)o[2] == __builtin_ffs((int)x));
		EXPECT(o[3] == reverse(x));
		EXPECT(o[4] == perm(x, y, 0x5140));
		EXPECT(o[5] == (unsigned)((uint64_t)x * y >> 32));
		EXPECT((int)o[6] == (int)((int64_t)(int)x * (int)y >> 32));
		EXPECT(o[7] == (x & 0xffffff) * (y & 0xffffff));
		EXPECT(o[8] == (y << 7 | x >> 25));
		EXPECT(o[9] == (unsigned)(((uint64_t)y << 32 | x) >> 8));
		EXPECT(o[10] == (x > y ? x - y : y - x) + 3);
		EXPECT((int)o[11] == dot(x, y, 5));
		EXPECT((int)o[12] == __builtin_popcount(x) + __builtin_popcount(y) + (x ? __builtin_clzll(x) : 64) +
		       __builtin_ffsll((long long)x << 20));
		EXPECT(o[13] == ((unsigned)((int)x < (int)y ? x : y) ^ (x > y ? x : y)));
		EXPECT(o[14] == (unsigned)(((int64_t)(int)x + (int)y + 1) >> 1) + (unsigned)(((uint64_t)x + y) >> 1));
		EXPECT(o[15] == (unsigned)((uint64_t)x * y >> 3));
	}
	static float f[12];
	static int k[9];
	static double d[7];
	Mirror<float> df(f, 12);
	Mirror<int> dk(k, 9);
	Mirror<double> dd(d, 7);
	floats<<<1, 1>>>(df.device, dk.device, dd.device);
	df.fetch();
	dk.fetch();
	dd.fetch();
	EXPECT(f[0] == 1.0f);
	EXPECT(f[1] == 1.0f + 0x1p-23f);
	EXPECT(f[2] == (float)(1.0f / 3) * 3.0f || f[2] == 1.0f);
	EXPECT(f[3] == 17.0f);
	EXPECT(f[4] == 1.0f / 3.0f);
	EXPECT(f[5] == nextafterf(sqrtf(2.0f), 0) || f[5] == nextafterf(sqrtf(2.0f), 2) || f[5] == sqrtf(2.0f));
	EXPECT((double)f[5] * f[5] >= 2.0);
	EXPECT(f[6] == 1.25f);
	EXPECT(f[7] == 1.0f + 0x1p-23f);
	EXPECT((double)f[8] <= 1.0 / 3 && (double)nextafterf(f[8], 1) > 1.0 / 3);
	EXPECT(f[9] == 0x1.fffffep63f);
	EXPECT(f[10] == 5.0f);
	EXPECT(f[11] == 2.0f);
	EXPECT(k[0] == 2 && k[1] == 3 && k[2] == -3 && k[3] == -2 && k[4] == 0x3f800000 && k[5] == 0x3ff00000);
	EXPECT(k[6] == 4 && k[7] == 0 && k[8] == 15);
	EXPECT(d[0] == 1.0 + 0x1p-52);
	EXPECT(d[1] == 1.0 + 0x1p-52);
	EXPECT(d[2] < 1.0 && d[2] > 0.9999999999999997);
	EXPECT(d[3] <= 1.0 / 3 && d[3] > 0.3333333333333332);
	EXPECT(d[4] == sqrt(2.0) && d[5] == 2.0);
	EXPECT(d[6] == fma(1.0 / 3, 3.0, -1.0));
	return bad;
}
