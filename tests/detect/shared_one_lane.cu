// A wide store by a high lane at the start of shared memory, where lane 0 would be below it.
// category: 2
// racy: RAW shared warp
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int4 m[64];
	int t = threadIdx.x;

	if (t == 1)
		m[0] = make_int4(data[0], 1, 2, 3);
	ONLY_FIXED(__syncwarp();)
	if (t == 0)
		out[0] = m[0].x;
}
