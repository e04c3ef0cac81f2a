/* flag_without_fence.cu - one block hands a message to another through global memory.
 *
 * The producer writes data and raises a flag; the consumer waits for the flag and reads the data. The flag is
 * volatile, which keeps the compiler from caching it, but orders nothing else: without __threadfence() on both sides
 * the data may arrive after the flag, or be read before it. The data is raced for, not the flag.
 */
#include "check.h"

enum { N = 64 };

__device__ int message[N];
__device__ volatile int ready;

__global__ void hand_over(int *out)
{
	int t = threadIdx.x;

	if (blockIdx.x == 0) {
		message[t] = 100 + t;
		__syncthreads();
		if (t == 0) {
#ifdef FIXED
			__threadfence();     /* covers what the barrier has collected: all threads' data */
#endif
			ready = 1;
		}
	} else {
		if (t == 0) {
			while (ready == 0)
				;
#ifdef FIXED
			__threadfence();
#endif
		}
		__syncthreads();
		out[t] = message[t];
	}
}

int main()
{
	int out[N], *d_out, sum = 0;

	CHECK(cudaMalloc(&d_out, sizeof out));
	hand_over<<<2, N>>>(d_out);
	CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
	for (int v : out)
		sum += v;
	CHECK(cudaFree(d_out));
	return verdict("sum of the message", sum, 100 * N + N * (N - 1) / 2);
}
