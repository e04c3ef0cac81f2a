// A flag that is neither volatile nor atomic is itself a race, and orders nothing.
// category: 4
// racy: (RAW|WAR) global (inter-block|atomic-plain)
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ int flag;

__global__ void kernel(int *data, int *out)
{
	if (blockIdx.x == 0) {
		data[0] = 42;
		__threadfence();
		ONLY_RACY(flag = 1;)
		ONLY_FIXED(atomicExch(&flag, 1);)
	} else {
		while (atomicAdd(&flag, 0) == 0)
			;
		__threadfence();
		out[0] = data[0];
	}
}
