// Atomic operations of different sizes that overlap are not atomic to each other.
// category: 7
// racy: WAW @SPACE mixed-size
// repair: one size
// vary: SHARED GLOBAL
#include "one.h"

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ unsigned long long wide[2];
#else
	unsigned long long *wide = (unsigned long long *)data;
#endif
	int t = threadIdx.x;

	if (t == 0)
		wide[0] = wide[1] = 0;
	__syncthreads();
	if (t == 0)
		atomicAdd(&wide[0], 1ull);
	if (t == 32)
		atomicAdd((unsigned *)&wide[ONLY_FIXED(1) ONLY_RACY(0)] + 1, 1u);
	__syncthreads();
	out[t] = (int)wide[0];
}
