// A program with the CUDA runtime: plain, cooperative and attribute launches, a captured graph, a device variable.
#include <cooperative_groups.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { \
	printf("line %d: %s\n", __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)

enum { N = 1 << 20 };
__device__ float offset = 1;

__global__ void saxpy(float *y, const float *x, float a)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	y[i] = a * x[i] + y[i] + offset;
}

__global__ void block_sum(float *out, const float *in)
{
	__shared__ float part[256];

	part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
	__syncthreads();
	for (int half = 128; half; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (!threadIdx.x)
		out[blockIdx.x] = part[0];
}

__global__ void cooperative(int *x)
{
	if (!threadIdx.x)
		atomicAdd(x, 1);
	cooperative_groups::this_grid().sync();
	if (!blockIdx.x && !threadIdx.x)
		x[1] = x[0];
}

template <typename T> __global__ void fill(T *p, T v)
{
	p[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

int main()
{
	static float h[N];
	float *x, *y, two = 2;
	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	int *counter, got[2];
	double sum = 0;

	OK(cudaMalloc(&x, N * sizeof *x));
	OK(cudaMalloc(&y, N * sizeof *y));
	OK(cudaMalloc(&counter, 8));
	OK(cudaMemset(counter, 0, 8));
	OK(cudaStreamCreate(&s));
	OK(cudaMemcpyToSymbol(offset, &two, sizeof two));
	fill<<<N / 256, 256>>>(x, 3.0f);
	fill<<<N / 256, 256>>>(y, 0.0f);
	for (int i = 0; i < 3; i++)
		saxpy<<<N / 256, 256>>>(y, x, 1);                    /* y = 15 */
	OK(cudaDeviceSynchronize());

	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	saxpy<<<N / 256, 256, 0, s>>>(y, x, 2);
	saxpy<<<N / 256, 256, 0, s>>>(y, x, 0);
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 5; i++)
		OK(cudaGraphLaunch(exec, s));                        /* 10 more for each: 65 */
	OK(cudaStreamSynchronize(s));

	void *args[] = { &counter };
	OK(cudaLaunchCooperativeKernel((void *)cooperative, 16, 64, args));
	OK(cudaMemcpy(got, counter, 8, cudaMemcpyDeviceToHost));

	cudaLaunchConfig_t c = {};
	c.gridDim = N / 256;
	c.blockDim = 256;
	OK(cudaLaunchKernelEx(&c, block_sum, x, (const float *)y));
	OK(cudaMemcpy(h, x, N / 256 * sizeof *h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N / 256; i++)
		sum += h[i];
	printf("%.0f %d %d\n", sum, got[0], got[1]);
	return 0;
}
