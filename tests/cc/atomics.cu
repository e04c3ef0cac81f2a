// Atomic functions of all types and scopes: results that do not depend on the order.
#include "check.h"

struct Cells {
	int i_add, i_sub, i_min, i_max, i_and, i_or, i_xor, i_exch, i_cas;
	unsigned u_add, u_inc, u_dec, u_min, u_max, u_block, u_system;
	unsigned long long l_add, l_min, l_max, l_cas, l_or;
	long long s_min, s_max;
	float f_add, f_exch;
	double d_add;
	unsigned short h_cas;
};

__global__ void all(Cells *c)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x;
	atomicAdd(&c->i_add, t);
	atomicSub(&c->i_sub, t);
	atomicMin(&c->i_min, t - 100);
	atomicMax(&c->i_max, t);
	atomicAnd(&c->i_and, ~(1 << (t & 7)));
	atomicOr(&c->i_or, 1 << (t & 15));
	atomicXor(&c->i_xor, t);
	atomicExch(&c->i_exch, 77);
	int old = c->i_cas, seen;
	do {
		seen = old;
		old = atomicCAS(&c->i_cas, seen, seen + 3);
	} while (old != seen);
	atomicAdd(&c->u_add, (unsigned)t);
	atomicInc(&c->u_inc, 9);
	atomicDec(&c->u_dec, 6);
	atomicMin(&c->u_min, (unsigned)t + 5);
	atomicMax(&c->u_max, (unsigned)t);
	atomicAdd_block(&c->u_block, 1u);
	atomicAdd_system(&c->u_system, 2u);
	atomicAdd(&c->l_add, (unsigned long long)t << 33);
	atomicMin(&c->l_min, (unsigned long long)t + (1ull << 40));
	atomicMax(&c->l_max, (unsigned long long)t << 40);
	atomicCAS(&c->l_cas, 0ull, 1ull << 50);
	atomicOr(&c->l_or, 1ull << (t & 63));
	atomicMin(&c->s_min, -(long long)t);
	atomicMax(&c->s_max, -(long long)t - 5);
	atomicAdd(&c->f_add, 0.5f);
	atomicExch(&c->f_exch, 2.5f);
	atomicAdd(&c->d_add, 0.25);
	if (t == 3)
		atomicCAS(&c->h_cas, (unsigned short)0, (unsigned short)9);
}

int main()
{
	enum { N = 512 };
	static Cells c;
	c.i_and = -1;
	c.u_min = ~0u;
	c.l_min = ~0ull;
	c.s_max = -1000;
	Mirror<Cells> d(&c, 1);
	all<<<4, 128>>>(d.device);
	d.fetch();
	EXPECT(c.i_add == N * (N - 1) / 2);
	EXPECT(c.i_sub == -N * (N - 1) / 2);
	EXPECT(c.i_min == -100);
	EXPECT(c.i_max == N - 1);
	EXPECT(c.i_and == ~255);
	EXPECT(c.i_or == 65535);
	EXPECT(c.i_xor == 0);
	EXPECT(c.i_exch == 77);
	EXPECT(c.i_cas == 3 * N);
	EXPECT(c.u_add == N * (N - 1) / 2);
	EXPECT(c.u_inc == N % 10);
	EXPECT(c.u_dec == (7 - N % 7) % 7);
	EXPECT(c.u_min == 5);
	EXPECT(c.u_max == N - 1);
	EXPECT(c.u_block == N);
	EXPECT(c.u_system == 2 * N);
	EXPECT(c.l_add == (unsigned long long)(N * (N - 1) / 2) << 33);
	EXPECT(c.l_min == 1ull << 40);
	EXPECT(c.l_max == (unsigned long long)(N - 1) << 40);
	EXPECT(c.l_cas == 1ull << 50);
	EXPECT(c.l_or == ~0ull);
	EXPECT(c.s_min == -(N - 1));
	EXPECT(c.s_max == -5);
	EXPECT(c.f_add == 0.5f * N);
	EXPECT(c.f_exch == 2.5f);
	EXPECT(c.d_add == 0.25 * N);
	EXPECT(c.h_cas == 9);
	return bad;
}
