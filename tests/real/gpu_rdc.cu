// Relocatable device code: a kernel calls a function of gpu_rdc_other.cu.
#include <stdio.h>

extern __device__ int twice(int x);
extern __device__ int calls;

__global__ void across(int *p)
{
	p[threadIdx.x] = twice(threadIdx.x);
	atomicAdd(&calls, 1);
}

extern void run_other(int *p);

int main()
{
	int *p, h[32];

	cudaMalloc(&p, sizeof h);
	across<<<1, 32>>>(p);
	run_other(p);
	if (cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess)
		printf("failed: %s\n", cudaGetErrorString(cudaGetLastError()));
	printf("%d %d\n", h[0], h[31]);
	return 0;
}
