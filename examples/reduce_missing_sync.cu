/* reduce_missing_sync.cu - sums numbers with a tree in shared memory, and forgets one barrier.
 *
 * In each round a thread adds the partial sum of a partner that the round before has written. Without a barrier
 * between the rounds nothing orders that write before this read: a data race in shared memory (read after write).
 *
 *     warpsafe cc reduce_missing_sync.cu -o reduce && warpsafe race ./reduce
 *     warpsafe cc -DFIXED reduce_missing_sync.cu -o reduce && warpsafe race ./reduce
 */
#include "check.h"

enum { THREADS = 256, BLOCKS = 16, N = THREADS * BLOCKS };

__global__ void block_sum(const int *in, int *sums)
{
	__shared__ int partial[THREADS];
	int t = threadIdx.x;

	partial[t] = in[blockIdx.x * THREADS + t];
	__syncthreads();
	for (int half = THREADS / 2; half > 0; half /= 2) {
		if (t < half)
			partial[t] += partial[t + half];
#ifdef FIXED
		__syncthreads();
#endif
	}
	if (t == 0)
		sums[blockIdx.x] = partial[0];
}

int main()
{
	static int in[N], sums[BLOCKS];
	int *d_in, *d_sums;
	long long total = 0;

	for (int i = 0; i < N; i++)
		in[i] = i;
	CHECK(cudaMalloc(&d_in, sizeof in));
	CHECK(cudaMalloc(&d_sums, sizeof sums));
	CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
	block_sum<<<BLOCKS, THREADS>>>(d_in, d_sums);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost));
	for (int i = 0; i < BLOCKS; i++)
		total += sums[i];
	CHECK(cudaFree(d_in));
	CHECK(cudaFree(d_sums));
	return verdict("sum", (double)total, (double)N * (N - 1) / 2);
}
