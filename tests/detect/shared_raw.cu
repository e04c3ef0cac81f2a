// A value that another warp has written, read without a barrier in between.
// category: 2
// racy: RAW shared missing-barrier
// repair: add __syncthreads() between line 14 and line 16
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	int t = threadIdx.x;

	m[t] = 0;
	__syncthreads();
	m[t] = t + 1;
	ONLY_FIXED(__syncthreads();)
	out[t] = m[(t + 32) % 64];
}
