// Two kernels that may run side by side store the same value.
// category: 14
// racy: warning WAW global same-value
#include "streams.h"

__global__ void mark(int *m)
{
	m[0] = 1;
}

static void test()
{
	mark<<<1, 1, 0, a>>>(p);
	ONLY_FIXED(cudaStreamSynchronize(a);)
	mark<<<1, 1, 0, b>>>(p);
}
