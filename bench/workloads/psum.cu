/* PSUM: partial sums after the __threadfence() example of the CUDA programming guide (Holey 2015, table 6.2): each
 * thread sums a window of the input, one thread a block publishes the block's sum, the last block sums the blocks. */
#include "workload.cuh"

enum { THREADS = 128, WINDOW = 64 };

__device__ unsigned arrived;

__global__ void psum(const int *in, int n, int *part, int *window, int *result)
{
	__shared__ int sum;
	__shared__ bool last;
	int t = threadIdx.x, i = blockIdx.x * THREADS + t, mine = 0;

	if (t == 0)
		sum = 0;
	__syncthreads();
	for (int k = 0; k < WINDOW; k++)
		mine += in[(i + k) % n];
	window[i] = mine;
	atomicAdd(&sum, in[i]);
	BARRIER(20);
	if (t == 0) {
		part[blockIdx.x] = sum;
		FENCE(38);
		last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
		__threadfence();
	}
	if (t == 0)
		TRESPASS(32, window[(i + THREADS) % n], window[i]);
	BARRIER(21);
	if (last && t == 0) {
		int all = 0;

		for (int b = 0; b < (int)gridDim.x; b++)
			all += part[b];
		*result = all;
	}
}

int main(int argc, char **argv)
{
	OPTIONS({20, 21}, {32, 32}, {38, 38});
	int n = (o.quick ? 2048 : o.large ? 1 << 20 : 16384) * o.scale, *in = new int[n], want = 0, got;

	for (int i = 0; i < n; i++)
		want += in[i] = (int)(noise(i) % 1000);
	int *result = device<int>(1);
	psum<<<n / THREADS, THREADS>>>(device(n, in), n, device<int>(n / THREADS), device<int>(n), result);
	back(&got, result, 1);
	return finish("PSUM", got == want, o);
}
