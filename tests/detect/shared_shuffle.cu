// A shuffle brings lanes together, but does not order their memory accesses.
// category: 1
// racy: RAW shared warp
// options: --divergence=its
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	int t = threadIdx.x, got;

	m[t] = t + 1;
	got = __shfl_xor_sync(0xffffffffu, t, 1);
	ONLY_FIXED(__syncwarp();)
	out[t] = m[got];
}
