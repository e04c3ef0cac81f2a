// A block hands data to another through a flag: the writer does not fence.
// category: 4
// racy: RAW global missing-fence
// repair: before the flag is set
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
