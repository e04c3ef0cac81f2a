// Lanes of one warp are threads of their own: __syncwarp() orders them, running together does not.
// category: 1
// racy: RAW shared warp
// repair: __syncwarp()
// options: --divergence=its
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	int t = threadIdx.x;

	m[t] = t + 1;
	ONLY_FIXED(__syncwarp();)
	out[t] = m[t ^ 1];
}
