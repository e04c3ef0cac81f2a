// flags: -arch=sm_80
// Warp intrinsics: shuffles of all types, votes, matches, reductions.
#include "check.h"

enum { R = 24 };

__global__ void all(unsigned *out, double *dout)
{
	int t = threadIdx.x;
	const unsigned m = 0xffffffffu;
	unsigned *o = out + t * R;
	o[0] = __shfl_sync(m, t * 3, 5);
	o[1] = __shfl_up_sync(m, t, 2u);
	o[2] = __shfl_down_sync(m, t, 4u);
	o[3] = __shfl_xor_sync(m, t, 1);
	o[4] = __shfl_sync(m, t, 1, 8);
	o[5] = __ballot_sync(m, t & 1);
	o[6] = __any_sync(m, t == 9);
	o[7] = __all_sync(m, t < 31);
	o[8] = __match_any_sync(m, t / 4);
	int pred;
	o[9] = __match_all_sync(m, 7ll, &pred);
	o[10] = pred;
	o[11] = __reduce_add_sync(m, (unsigned)t);
	o[12] = __reduce_max_sync(m, t - 40);
	o[13] = __reduce_xor_sync(m, (unsigned)t * 5);
	o[14] = __activemask();
	if (t < 16)
		o[15] = __ballot_sync(0xffffu, t > 3);
	else
		o[15] = __ballot_sync(0xffff0000u, t > 20);
	o[16] = (unsigned)__shfl_sync(m, (long long)t << 35, 6) + (unsigned)(__shfl_sync(m, (unsigned long long)t << 35, 6) >> 32);
	o[17] = __float_as_uint(__shfl_xor_sync(m, (float)t, 16));
	__syncwarp();
	dout[t] = __shfl_down_sync(m, t * 0.5, 1u);
	o[18] = __syncthreads_count(t % 3 == 0);
	o[19] = __syncthreads_and(t < 40);
	o[20] = __syncthreads_or(t == 99);
	o[21] = __uni_sync(m, 1);
	unsigned lane;
	asm("mov.u32 %0, %%laneid;" : "=r"(lane));
	o[22] = lane;
	o[23] = __match_any_sync(m, (double)(t & 1));
}

int main()
{
	static unsigned v[32 * R];
	static double f[32];
	Mirror<unsigned> d(v, 32 * R);
	Mirror<double> e(f, 32);
	all<<<1, 32>>>(d.device, e.device);
	d.fetch();
	e.fetch();
	unsigned x = 0;
	for (unsigned t = 0; t < 32; t++)
		x ^= t * 5;
	for (unsigned t = 0; t < 32; t++) {
		const unsigned *o = v + t * R;
		EXPECT(o[0] == 15);
		EXPECT(o[1] == (t >= 2 ? t - 2 : t));
		EXPECT(o[2] == (t < 28 ? t + 4 : t));
		EXPECT(o[3] == (t ^ 1));
		EXPECT(o[4] == t / 8 * 8 + 1);
		EXPECT(o[5] == 0xaaaaaaaau);
		EXPECT(o[6] == 1);
		EXPECT(o[7] == 0);
		EXPECT(o[8] == 15u << t / 4 * 4);
		EXPECT(o[9] == 0xffffffffu && o[10] == 1);
		EXPECT(o[11] == 496);
		EXPECT((int)o[12] == -9);
		EXPECT(o[13] == x);
		EXPECT(o[14] == 0xffffffffu);
		EXPECT(o[15] == (t < 16 ? 0xfff0u : 0xffe00000u));
		EXPECT(o[16] == 6 << 3);
		float g = (float)(t ^ 16);
		EXPECT(memcmp(&o[17], &g, 4) == 0);
		EXPECT(f[t] == (t < 31 ? t + 1 : t) * 0.5);
		EXPECT(o[18] == 11 && o[19] == 1 && o[20] == 0 && o[21] == 1 && o[22] == t);
		EXPECT(o[23] == (t & 1 ? 0xaaaaaaaau : 0x55555555u));
	}
	return bad;
}
