// A block hands data to another through a flag: another thread fences, before the barrier only.
// category: 4
// racy: RAW global missing-fence
// repair: __threadfence()
#define BLOCKS 2
#include "one.h"

__device__ volatile int flag;

__global__ void kernel(int *data, int *out)
{
	int t = threadIdx.x;

	if (blockIdx.x == 0) {
		data[t] = t + 1;
		ONLY_RACY(if (t == 5) __threadfence();)
		__syncthreads();
		if (t == 0) {
			ONLY_FIXED(__threadfence();) ONLY_RACY()
			flag = 1;
		}
	} else {
		if (t == 0) {
			while (flag == 0)
				;
			ONLY_FIXED(__threadfence();) ONLY_RACY(__threadfence();)
		}
		__syncthreads();
		out[t] = data[t];
	}
}
