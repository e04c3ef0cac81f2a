// The source of an asynchronous copy is overwritten, or its target used again, while it may be under way.
// category: 9
// racy(SOURCE): WAR global async-copy
// racy(TARGET): WAW shared async-copy
// vary: SOURCE TARGET
#include "one.h"
#include <cuda_pipeline.h>

__global__ void kernel(int *data, int *out)
{
	__shared__ int tile[64];
	int t = threadIdx.x;

	__pipeline_memcpy_async(&tile[t], &data[t], 4);
	__pipeline_commit();
	ONLY_FIXED(__pipeline_wait_prior(0);)
#ifdef V_SOURCE
	data[t] = t + 1;
#else
	tile[t] = t + 1;
#endif
	__pipeline_wait_prior(0);
	out[t] = tile[t];
}
