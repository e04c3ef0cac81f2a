// Two warps write different values to the same place.
// category: 2
// racy: WAW global missing-barrier
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	int t = threadIdx.x;

	m[t] = t + 1;
	ONLY_FIXED(__syncthreads();)
	m[(t + 32) % 64] = 3 * t + 100;
	__syncthreads();
	out[t] = m[t];
}
