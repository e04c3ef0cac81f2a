// A shuffle brings lanes together, but does not order their memory accesses.
// category: 1
// racy: RAW global warp
// options: --divergence=its
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	int t = threadIdx.x, got;

	m[t] = t + 1;
	got = __shfl_xor_sync(0xffffffffu, t, 1);
	ONLY_FIXED(__syncwarp();)
	out[t] = m[got];
}
