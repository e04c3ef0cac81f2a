// A value overwritten before another warp is known to have read it.
// category: 2
// racy: WAR shared missing-barrier
// repair: add __syncthreads() between line 14 and line 16
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	int t = threadIdx.x;

	m[t] = t;
	__syncthreads();
	out[t] = m[(t + 32) % 64];
	ONLY_FIXED(__syncthreads();)
	m[t] = 2 * t + 1;
}
