// A barrier between blocks by an atomic counter: without fences it counts, and orders nothing.
// category: 3
// racy: RAW global missing-fence
// repair: __threadfence()
#define BLOCKS 2
#include "one.h"

__device__ int arrived;

__global__ void kernel(int *data, int *out)
{
	int t = threadIdx.x;

	data[blockIdx.x * 64 + t] = t + 1;
	__syncthreads();
	if (t == 0) {
		ONLY_FIXED(__threadfence();)
		atomicAdd(&arrived, 1);
		while (*(volatile int *)&arrived < 2)
			;
		ONLY_FIXED(__threadfence();)
	}
	__syncthreads();
	out[blockIdx.x * 64 + t] = data[(1 - blockIdx.x) * 64 + t];
}
