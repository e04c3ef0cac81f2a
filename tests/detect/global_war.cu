// A value overwritten before another warp is known to have read it.
// racy: WAR global missing-barrier
// repair: add __syncthreads() between line 13 and line 15
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
