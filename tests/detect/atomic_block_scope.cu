// atomicAdd_block() is enough among the threads of a block, in either memory; between blocks it is not.
// category: 6
// racy: WAW global scope
// repair: use the atomic without _block
#define BLOCKS 2
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int count;

	if (threadIdx.x == 0)
		count = 0;
	__syncthreads();
	atomicAdd_block(&count, 1);
	ONLY_RACY(atomicAdd_block(&data[0], 1);)
	ONLY_FIXED(atomicAdd_block(&data[blockIdx.x], 1);)
}
