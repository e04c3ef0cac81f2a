// Variables that host and device share.
// ways: nvcc shared clang
// expect: ok
#include "check.h"

__managed__ int counter = 7;
__managed__ float values[32];

__global__ void work()
{
	values[threadIdx.x] = threadIdx.x / 2.0f;
	atomicAdd(&counter, 1);
}

int main()
{
	counter++;
	work<<<1, 32>>>();
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++)
		TRUE(values[i] == i / 2.0f);
	IS(counter, 40);
	printf("ok\n");
	return 0;
}
