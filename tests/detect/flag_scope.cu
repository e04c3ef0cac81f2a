// A block hands data to another through a flag: the fence is for one block only.
// category: 5
// racy: RAW global scope
// repair: __threadfence() instead of
#define BLOCKS 2
#include "one.h"

__device__ volatile int flag;

__global__ void kernel(int *data, int *out)
{
	int t = threadIdx.x;

	if (blockIdx.x == 0) {
		data[t] = t + 1;
		__syncthreads();
		if (t == 0) {
			ONLY_FIXED(__threadfence();) ONLY_RACY(__threadfence_block();)
			flag = 1;
		}
	} else {
		if (t == 0) {
			while (flag == 0)
				;
			ONLY_FIXED(__threadfence();) ONLY_RACY(__threadfence_block();)
		}
		__syncthreads();
		out[t] = data[t];
	}
}
