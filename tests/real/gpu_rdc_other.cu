// The other part of gpu_rdc.cu.
__device__ int calls;
__device__ __noinline__ int twice(int x) { return 2 * x; }

__global__ void other(int *p)
{
	if (!threadIdx.x)
		p[0] = calls;
}

void run_other(int *p)
{
	other<<<1, 32>>>(p);
}
