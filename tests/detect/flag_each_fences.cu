// Every thread fences its own data, a barrier collects them, one thread sets the flag: ordered, for __threadfence() is
// a fence.sc, and the reader's comes after all of them.
// category: 4
// racy: none
#define BLOCKS 2
#include "one.h"

__device__ volatile int flag;

__global__ void kernel(int *data, int *out)
{
	int t = threadIdx.x;

	if (blockIdx.x == 0) {
		data[t] = t + 1;
		__threadfence();
		__syncthreads();
		if (t == 0)
			flag = 1;
	} else {
		if (t == 0)
			while (flag == 0)
				;
		__syncthreads();
		__threadfence();
		out[t] = data[t];
	}
}
