// Output of the device comes in the right place among the host's.
// expect: before
// expect: thread 0 of block 1: 2.50 text
// expect: after
#include "check.h"

__global__ void hello(const char *unused, double x)
{
	if (threadIdx.x == 0 && blockIdx.x == 1)
		printf("thread %d of block %u: %.2f %s\n", (int)threadIdx.x, blockIdx.x, x, "text");
}

int main()
{
	printf("before\n");
	hello<<<2, 32>>>(0, 2.5);
	CHECK(cudaDeviceSynchronize());
	printf("after\n");
	return 0;
}
