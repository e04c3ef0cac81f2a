// Nothing in a kernel orders two blocks.
// category: 3
// racy: WAW global inter-block
#define BLOCKS 2
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	if (threadIdx.x == 0)
		data[ONLY_RACY(0) ONLY_FIXED(blockIdx.x)] = blockIdx.x + 1;
}
