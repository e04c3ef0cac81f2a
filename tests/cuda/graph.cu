// Graphs built from nodes, and changed.
// ways: nvcc shared clang
// expect: ok
#include "check.h"

__global__ void step(int *x, int a, int b)
{
	*x = *x * a + b;
}

static void built(int *x)
{
	cudaGraph_t g;
	cudaGraphExec_t e;
	cudaGraphNode_t fill, kernel, copy;
	cudaMemsetParams f = {};
	cudaKernelNodeParams k = {};
	int a = 5, b = 6, h = 0;
	void *args[] = { &x, &a, &b };
	CHECK(cudaGraphCreate(&g, 0));
	f.dst = x;
	f.value = 2;
	f.elementSize = 4;
	f.width = 1;
	f.height = 1;
	CHECK(cudaGraphAddMemsetNode(&fill, g, 0, 0, &f));
	k.func = (void *)step;
	k.gridDim = dim3(1);
	k.blockDim = dim3(1);
	k.kernelParams = args;
	CHECK(cudaGraphAddKernelNode(&kernel, g, &fill, 1, &k));
	CHECK(cudaGraphAddMemcpyNode1D(&copy, g, &kernel, 1, &h, x, 4, cudaMemcpyDeviceToHost));
	a = b = 0;                                      // the values were taken when the node was made
	size_t n;
	CHECK(cudaGraphGetNodes(g, 0, &n));
	IS(n, 3);
	CHECK(cudaGraphGetRootNodes(g, 0, &n));
	IS(n, 1);
	CHECK(cudaGraphInstantiate(&e, g, 0));
	CHECK(cudaGraphLaunch(e, 0));
	IS(h, 16);
	a = 100;
	b = 1;
	CHECK(cudaGraphExecKernelNodeSetParams(e, kernel, &k));
	CHECK(cudaGraphLaunch(e, 0));
	IS(h, 201);
	CHECK(cudaGraphExecDestroy(e));
	CHECK(cudaGraphDestroy(g));
}

int main()
{
	int *x;
	CHECK(cudaMalloc(&x, 4));
	built(x);
	printf("ok\n");
	return 0;
}
