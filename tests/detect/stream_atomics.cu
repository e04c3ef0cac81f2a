// Atomics of the GPU's scope are one after the other, whatever the stream; those of a block's scope are not.
// category: 6
// racy: WAW global streams
#include "streams.h"

__global__ void count(int *m)
{
	ONLY_RACY(atomicAdd_block(m, 1);)
	ONLY_FIXED(atomicAdd(m, 1);)
}

static void test()
{
	count<<<1, N, 0, a>>>(p);
	count<<<1, N, 0, b>>>(p);
}
