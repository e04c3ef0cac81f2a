// An error names the allocation by the line that made it, also through a template of the program's own.
// flags: -g
// ccflags: -g
// status: 3
// stderr: right past the end of allocation #2 (400 bytes, cudaMalloc at origin.cu:12)
// expect: cudaErrorIllegalAddress
#include "check.h"

template <typename T> T *array(size_t n)
{
	T *p;
	CHECK(cudaMalloc(&p, n * sizeof(T)));
	return p;
}

__global__ void write(float *p, int at)
{
	p[at + threadIdx.x] = 1;
}

int main()
{
	float *a;
	CHECK(cudaMalloc(&a, 400));
	write<<<1, 32>>>(array<float>(100), 100);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
