// Lanes that end are waited for by no __syncwarp() of the others: they must have synchronized before.
// category: 1
// racy: RAW @SPACE warp
// options: --divergence=its
// vary: SHARED GLOBAL
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x;

	m[t] = t + 1;
	ONLY_FIXED(__syncwarp();)
	if (t >= 16)
		return;
	ONLY_RACY(__syncwarp(0xffff);)
	out[t] = m[t + 16];
}
