// part of rdc.cu
#include "check.h"

__device__ int shared_variable;
__constant__ int shared_constant[2];

__device__ __noinline__ int other(int x)
{
	return x * x;
}

__global__ void second(int *p)
{
	p[0] = shared_variable + 1;
}

void set_constant(int a, int b)
{
	int h[2] = { a, b };
	CHECK(cudaMemcpyToSymbol(shared_constant, h, sizeof h));
}

void launch_other(int *p)
{
	second<<<1, 1>>>(p);
	CHECK(cudaDeviceSynchronize());
}
