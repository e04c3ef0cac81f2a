/* REDUCE: sum of 1M elements in one launch (Holey 2015, table 6.2). A tree in shared memory adds up a block; the
 * block that counts itself last, behind a fence, adds up the blocks. */
#include "workload.cuh"

enum { THREADS = 256 };

__device__ unsigned finished;

__device__ float tree(float *sum, int t, float mine, int first, int inner)
{
	sum[t] = mine;
	BARRIER(first);
	for (int half = THREADS / 2; half > 0; half /= 2) {
		if (t < half)
			sum[t] += sum[t + half];
		BARRIER(inner);
	}
	return sum[0];
}

__global__ void reduce(const float *in, int n, float *part, float *result)
{
	__shared__ float sum[THREADS];
	__shared__ bool last;
	int t = threadIdx.x;
	float mine = 0, all;

	for (int i = blockIdx.x * THREADS + t; i < n; i += THREADS * gridDim.x)
		mine += in[i];
	all = tree(sum, t, mine, 16, 17);
	if (t == 0) {
		part[blockIdx.x] = all;
		FENCE(37);
		last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
		__threadfence();
	}
	if (t == 1)
		TRESPASS(31, part[(blockIdx.x + 1) % gridDim.x], part[0]);
	BARRIER(18);
	if (last) {
		mine = 0;
		for (int i = t; i < (int)gridDim.x; i += THREADS)
			mine += part[i];
		all = tree(sum, t, mine, 19, 19);
		if (t == 0)
			*result = all;
	}
}

int main(int argc, char **argv)
{
	OPTIONS({16, 19}, {31, 31}, {37, 37});
	int n = (o.quick ? 32768 : o.large ? 1 << 24 : 1 << 20) * o.scale, blocks = (o.quick ? 16 : 128) * o.scale;
	float *in = new float[n], got;
	double want = 0;

	for (int i = 0; i < n; i++)
		want += in[i] = (float)(noise(i) % 16);
	float *result = device<float>(1);
	reduce<<<blocks, THREADS>>>(device(n, in), n, device<float>(blocks), result);
	back(&got, result, 1);
	return finish("REDUCE", got > want * 0.9999 && got < want * 1.0001, o);
}
