// A kernel that counts by atomics in a loop, and does nothing with what they give, waits for nobody: a fill in another stream is compared with it.
// category: 13
// racy: WAW global streams
#include "streams.h"

__global__ void count(int *m)
{
	for (unsigned k = 0; k < 8; k++)
		atomicAdd(m + threadIdx.x, k);
}

static void test()
{
	count<<<1, N, 0, a>>>(p);
	ONLY_FIXED(cudaEventRecord(e, a);)
	ONLY_FIXED(cudaStreamWaitEvent(b, e, 0);)
	cudaMemsetAsync(p, 0, BYTES, b);
}
