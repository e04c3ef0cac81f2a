// Relocatable device code: two files, linked by us from their PTX.
// also: rdc_other.cu
// flags: -rdc=true -gencode arch=compute_75,code=compute_75
// ways: nvcc shared
// expect: ok
#include "check.h"

extern __device__ int other(int);
extern __device__ int shared_variable;
extern __constant__ int shared_constant[2];
void set_constant(int a, int b);
void launch_other(int *p);

__global__ void work(int *p)
{
	p[threadIdx.x] = other((int)threadIdx.x) + shared_variable + shared_constant[threadIdx.x % 2];
}

int main()
{
	int *p, h[32], v = 1000;
	CHECK(cudaMalloc(&p, sizeof h));
	CHECK(cudaMemcpyToSymbol(shared_variable, &v, sizeof v));
	set_constant(10, 20);
	work<<<1, 32>>>(p);
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		IS(h[i], i * i + 1000 + (i % 2 ? 20 : 10));
	launch_other(p);
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	IS(h[0], 1001);
	printf("ok\n");
	return 0;
}
