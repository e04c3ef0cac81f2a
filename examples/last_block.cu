/* last_block.cu - a sum in one launch: the block that finishes last adds up what all have left.
 *
 * Each block writes its part and then counts itself with an atomic; the last one reads all parts. The count says who
 * is last, but orders nothing: __threadfence() must stand between a block's part and its count, and between the count
 * and the reading of the parts.
 */
#include "check.h"

enum { THREADS = 64, BLOCKS = 12 };

__device__ unsigned finished;

__global__ void total(const int *in, int *parts, int *out)
{
	__shared__ int sum;
	__shared__ bool last;

	if (threadIdx.x == 0)
		sum = 0;
	__syncthreads();
	atomicAdd(&sum, in[blockIdx.x * THREADS + threadIdx.x]);
	__syncthreads();
	if (threadIdx.x == 0) {
		parts[blockIdx.x] = sum;
#ifdef FIXED
		__threadfence();
#endif
		last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
#ifdef FIXED
		__threadfence();
#endif
	}
	__syncthreads();
	if (last && threadIdx.x == 0) {
		int all = 0;
		for (unsigned b = 0; b < gridDim.x; b++)
			all += parts[b];
		*out = all;
	}
}

int main()
{
	static int in[THREADS * BLOCKS];
	int *d_in, *d_parts, *d_out, out;

	for (int i = 0; i < THREADS * BLOCKS; i++)
		in[i] = i;
	CHECK(cudaMalloc(&d_in, sizeof in));
	CHECK(cudaMalloc(&d_parts, BLOCKS * sizeof(int)));
	CHECK(cudaMalloc(&d_out, sizeof out));
	CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
	total<<<BLOCKS, THREADS>>>(d_in, d_parts, d_out);
	CHECK(cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost));
	CHECK(cudaFree(d_in));
	CHECK(cudaFree(d_parts));
	CHECK(cudaFree(d_out));
	return verdict("total", out, (double)THREADS * BLOCKS * (THREADS * BLOCKS - 1) / 2);
}
