// Cooperative groups: grid.sync() orders all blocks, block.sync() one.
// category: 3
// racy: @KIND global inter-block
// vary: RAW WAR WAW
#define BLOCKS 4
#define COOPERATIVE
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	int t = threadIdx.x, r = 0;

	FIRST(m[blockIdx.x * 64 + t]);
	ONLY_RACY(cooperative_groups::this_thread_block().sync();)
	ONLY_FIXED(cooperative_groups::this_grid().sync();)
	SECOND(m[(blockIdx.x ^ 1) * 64 + t]);
	out[blockIdx.x * 64 + t] = r;
}
