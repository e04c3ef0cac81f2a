// All lanes set one flag; those that have done so before others write something else meanwhile, by another instruction or by the same one
// in a later round. What they write there is not what they wrote to the flag.
// category: 14
// racy: warning WAW @SPACE same-value
// vary: SHARED GLOBAL
// vary: OTHER ROUNDS
// vary: LOW HIGH
#include "one.h"

static __device__ __noinline__ void store(int *to, int value)
{
	*to = value;
}

static __device__ __noinline__ void also_store(int *to, int value)
{
	*to = value;
}

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, lane = t % 32;
#ifdef V_LOW
	int early = lane < 8;
#else
	int early = lane >= 24;
#endif
	int sets = ONLY_RACY(t < 32) ONLY_FIXED(t == 3);

	if (sets) {
#ifdef V_ROUNDS
		#pragma unroll 1
		for (int k = early ? 0 : 1; k < 3; k++) {
			bool flag = k == (early ? 0 : 2);

			store(flag ? m : m + 32 * k + lane, flag ? 1 : lane + 100);
		}
#else
		if (early) {
			store(m, 1);
			also_store(m + 32 + lane, lane + 100);
		}
		if (!early)
			also_store(m, 1);
#endif
	}
	__syncthreads();
	out[t] = m[0];
}
