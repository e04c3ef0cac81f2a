// The last block to finish adds up what all have left behind.
// category: 4
// racy: RAW global missing-fence
#define BLOCKS 8
#include "one.h"

__device__ unsigned finished;

__global__ void kernel(int *data, int *out)
{
	__shared__ bool last;
	int t = threadIdx.x;

	if (t == 0) {
		data[blockIdx.x] = blockIdx.x + 1;
		ONLY_FIXED(__threadfence();)
		last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
		ONLY_FIXED(__threadfence();)
	}
	__syncthreads();
	if (last && t < 8)
		out[t] = data[t];
}
