// What an asynchronous copy reads or overwrites comes from another thread, without a barrier before the copy.
// category: 9
// racy(SOURCE): (RAW|WAR) global missing-barrier
// racy(TARGET): WAW shared (missing-barrier|async-copy)
// repair: add __syncthreads() between
// vary: SOURCE TARGET
#include "one.h"
#include <cuda_pipeline.h>

__global__ void kernel(int *data, int *out)
{
	__shared__ int tile[64];
	int t = threadIdx.x;

#ifdef V_SOURCE
	data[t ^ 32] = t + 1;
#else
	tile[t ^ 32] = t + 1;
#endif
	ONLY_FIXED(__syncthreads();)
	__pipeline_memcpy_async(&tile[t], &data[t], 4);
	__pipeline_commit();
	__pipeline_wait_prior(0);
	out[t] = tile[t];
}
