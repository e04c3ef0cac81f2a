/* warp_sync_missing.cu - the last rounds of a reduction inside one warp, in the style of before Volta.
 *
 * Since Volta the lanes of a warp run independently: that they "move in step" is no promise any more. A lane may read
 * its partner's value before that lane has written it, or after it has already written the next one. __syncwarp()
 * between reading and writing is the repair. (With --divergence=stack, the model of older GPUs, nothing is reported;
 * the result is still wrong, for without a barrier the compiler may read all partners ahead.)
 */
#include "check.h"

__device__ void warp_sum(int *v, int lane)
{
	for (int step = 16; step > 0; step /= 2) {
		int partner = v[lane + step];
#ifdef FIXED
		__syncwarp();
#endif
		v[lane] += partner;
#ifdef FIXED
		__syncwarp();
#endif
	}
}

__global__ void sum64(const int *in, int *out)
{
	__shared__ int v[64];
	int lane = threadIdx.x;

	v[lane] = in[lane] + in[lane + 32];
	v[lane + 32] = 0;
	__syncwarp();
	warp_sum(v, lane);
	if (lane == 0)
		*out = v[0];
}

int main()
{
	int in[64], *d_in, *d_out, out;

	for (int i = 0; i < 64; i++)
		in[i] = i * i;
	CHECK(cudaMalloc(&d_in, sizeof in));
	CHECK(cudaMalloc(&d_out, sizeof out));
	CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
	sum64<<<1, 32>>>(d_in, d_out);
	CHECK(cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost));
	CHECK(cudaFree(d_in));
	CHECK(cudaFree(d_out));
	return verdict("sum of squares", out, 63 * 64 * 127 / 6);
}
