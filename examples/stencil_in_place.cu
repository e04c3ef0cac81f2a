/* stencil_in_place.cu - smooths an array and writes the result over the input.
 *
 * A thread reads its neighbours' elements while they are being replaced. Inside a block a barrier could help; at the
 * edges of blocks none can, for blocks are not ordered. The repair is a second array.
 */
#include "check.h"

enum { THREADS = 64, BLOCKS = 8, N = THREADS * BLOCKS };

__global__ void smooth(const float *from, float *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i > 0 && i < N - 1)
		to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
}

int main()
{
	static float in[N], out[N];
	float *d_from, *d_to;
	int right = 0;

	for (int i = 0; i < N; i++)
		in[i] = (float)(i % 3 * 3);
	CHECK(cudaMalloc(&d_from, sizeof in));
	CHECK(cudaMemcpy(d_from, in, sizeof in, cudaMemcpyHostToDevice));
#ifdef FIXED
	CHECK(cudaMalloc(&d_to, sizeof in));
	CHECK(cudaMemcpy(d_to, in, sizeof in, cudaMemcpyHostToDevice));
#else
	d_to = d_from;
#endif
	smooth<<<BLOCKS, THREADS>>>(d_from, d_to);
	CHECK(cudaMemcpy(out, d_to, sizeof out, cudaMemcpyDeviceToHost));
	for (int i = 1; i < N - 1; i++)
		right += out[i] == 3;
	CHECK(cudaFree(d_from));
	if (d_to != d_from)
		CHECK(cudaFree(d_to));
	return verdict("smoothed elements", right, N - 2);
}
