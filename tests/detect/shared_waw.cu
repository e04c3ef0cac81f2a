// Two warps write different values to the same place.
// category: 2
// racy: WAW shared missing-barrier
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	int t = threadIdx.x;

	m[t] = t + 1;
	ONLY_FIXED(__syncthreads();)
	m[(t + 32) % 64] = 3 * t + 100;
	__syncthreads();
	out[t] = m[t];
}
