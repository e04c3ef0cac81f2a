// Warps that read one place of shared memory after the other, so often that their notes become runs; then one of these is written.
// category: 2
// racy: (RAW|WAR) shared missing-barrier
// vary: ONE ROW
#include "one.h"

enum { MANY = 512 };

__global__ void kernel(int *data, int *out)
{
	__shared__ int table[MANY + 64];
	int t = threadIdx.x, sum = 0;

	for (int i = t; i < MANY + 64; i += 64)
		table[i] = i;
	__syncthreads();
#pragma unroll 1
	for (int i = 0; i < MANY; i++)
#ifdef V_ONE
		sum += table[i];
#else
		sum += table[i / 32 * 32 + t % 32];
#endif
	ONLY_FIXED(__syncthreads();)
	if (t == 40)
		table[77] = sum;
	out[t] = sum;
}
