// Two blocks touch one place; __syncthreads() is for one block.
// category: 3
// racy: @KIND global inter-block
// vary: RAW WAR WAW
#define BLOCKS 2
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	int t = threadIdx.x, r = 0;

	if (blockIdx.x == 0)
		FIRST(m[t]);
	__syncthreads();
	if (blockIdx.x == 1)
		SECOND(m[t ONLY_FIXED(+ 32)]);
	out[blockIdx.x * 32 + t] = r;
}
