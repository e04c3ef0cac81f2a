// A shared library that has the runtime linked in, and a program that knows nothing of CUDA.
// ways: nvcc
// library: yes
// expect: ok 42
#include "check.h"

__device__ int base = 40;

__global__ void compute(int *p)
{
	*p = base + 2;
}

extern "C" int compute_it()
{
	int *p, h = 0;
	CHECK(cudaMalloc(&p, 4));
	compute<<<1, 1>>>(p);
	CHECK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
	return h;
}
