// The target of an asynchronous copy is still read by another warp when the copy begins.
// category: 9
// racy: WAR shared missing-barrier
#include "one.h"
#include <cuda_pipeline.h>

__global__ void kernel(int *data, int *out)
{
	__shared__ int tile[64];
	int t = threadIdx.x, sum = 0;

	for (int i = 0; i < 2; i++) {
		__pipeline_memcpy_async(&tile[t], &data[64 * i + t], 4);
		__pipeline_commit();
		__pipeline_wait_prior(0);
		__syncthreads();
		sum += tile[63 - t];
		ONLY_FIXED(__syncthreads();)
	}
	out[t] = sum;
}
