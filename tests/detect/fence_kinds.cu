// A flag between two blocks with fences of one block, whatever the kind of the two accesses.
// category: 5
// racy: @KIND global scope
// repair: use __threadfence() instead of __threadfence_block()
// vary: RAW WAR WAW
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ volatile int flag;

__global__ void kernel(int *data, int *out)
{
	int r = 0;

	if (blockIdx.x == 0) {
		FIRST(data[0]);
		ONLY_RACY(__threadfence_block();)
		ONLY_FIXED(__threadfence();)
		flag = 1;
	} else {
		while (flag == 0)
			;
		ONLY_RACY(__threadfence_block();)
		ONLY_FIXED(__threadfence();)
		SECOND(data[0]);
	}
	out[blockIdx.x] = r;
}
