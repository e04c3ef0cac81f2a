// One thread reads the flag, another one fences: the reads of the others are not ordered.
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
		__syncthreads();
		if (t == 0) {
			__threadfence();
			flag = 1;
		}
	} else {
		if (t == 0) {
			while (flag == 0)
				;
			ONLY_FIXED(__threadfence();)
		}
		__syncthreads();
		ONLY_RACY(if (t == 5) __threadfence();)
		out[t] = data[t];
	}
}
