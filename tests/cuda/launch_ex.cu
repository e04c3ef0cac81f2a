// Launches with attributes; kernels by handle.
// ways: nvcc shared
// expect: ok
#include "check.h"
#include <cooperative_groups.h>

__global__ void sum(int *p, int n)
{
	cooperative_groups::grid_group g = cooperative_groups::this_grid();
	atomicAdd(p, (int)threadIdx.x);
	g.sync();
	if (g.thread_rank() == 0)
		p[1] = p[0] * n;
}

int main()
{
	int *p, h[2];
	cudaLaunchConfig_t c = {};
	cudaLaunchAttribute a[1];
	cudaKernel_t k;
	CHECK(cudaMalloc(&p, sizeof h));
	CHECK(cudaMemset(p, 0, sizeof h));
	a[0].id = cudaLaunchAttributeCooperative;
	a[0].val.cooperative = 1;
	c.gridDim = dim3(4);
	c.blockDim = dim3(32);
	c.attrs = a;
	c.numAttrs = 1;
	CHECK(cudaLaunchKernelEx(&c, sum, p, 3));
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	IS(h[0], 4 * 496);
	IS(h[1], 3 * 4 * 496);
	CHECK(cudaGetKernel(&k, (const void *)sum));
	int n = 0;
	void *args[] = { &p, &n };
	CHECK(cudaLaunchCooperativeKernel((const void *)k, dim3(1), dim3(32), args, 0, 0));
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	IS(h[1], 0);
	printf("ok\n");
	return 0;
}
