/* barrier_in_branch.cu - a barrier that not all threads of the block reach: a deadlock, not a race.
 *
 * Half of the threads wait at __syncthreads() for the others, which wait for them at a second one. `warpsafe run` ends
 * the kernel and says who waits where. (Since Volta a barrier counts threads, wherever they wait; what hangs here is
 * that the two halves use different barriers.)
 */
#include "check.h"

__global__ void meet(int *data, int *out)
{
	int t = threadIdx.x;

	data[t] = t;
#ifdef FIXED
	__syncthreads();
#else
	if (t < 32)
		__barrier_sync(1);
	else
		__barrier_sync(2);
#endif
	out[t] = data[63 - t];
}

int main()
{
	int out[64], *d_data, *d_out, sum = 0;

	CHECK(cudaMalloc(&d_data, sizeof out));
	CHECK(cudaMalloc(&d_out, sizeof out));
	meet<<<1, 64>>>(d_data, d_out);
	CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
	for (int v : out)
		sum += v;
	CHECK(cudaFree(d_data));
	CHECK(cudaFree(d_out));
	return verdict("sum", sum, 63 * 64 / 2);
}
