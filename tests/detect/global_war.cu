// A value overwritten before another warp is known to have read it.
// category: 2
// racy: WAR global missing-barrier
// repair: add __syncthreads() between line 14 and line 16
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	int t = threadIdx.x;

	m[t] = t;
	__syncthreads();
	out[t] = m[(t + 32) % 64];
	ONLY_FIXED(__syncthreads();)
	m[t] = 2 * t + 1;
}
