/* SORTNW: bitonic sorting network (Holey 2015, table 6.2). Arrays of 2,048 values, one a block, in shared memory. */
#include "workload.cuh"

enum { N = 2048, THREADS = N / 2 };

__device__ void exchange(unsigned *key, int at, int stride, bool up)
{
	unsigned a = key[at], b = key[at + stride];

	if ((a > b) == up) {
		key[at] = b;
		key[at + stride] = a;
	}
}

__global__ void sortnw(unsigned *data)
{
	__shared__ unsigned key[N];
	unsigned *mine = data + blockIdx.x * N;
	int t = threadIdx.x;

	key[t] = mine[t];
	key[t + THREADS] = mine[t + THREADS];
	for (int size = 2; size < N; size *= 2) {
		bool up = !(t & size / 2);

		for (int stride = size / 2; stride > 0; stride /= 2) {
			BARRIER(12);
			exchange(key, 2 * t - (t & (stride - 1)), stride, up);
		}
	}
	for (int stride = N / 2; stride > 0; stride /= 2) {
		BARRIER(13);
		exchange(key, 2 * t - (t & (stride - 1)), stride, true);
	}
	BARRIER(14);
	mine[t] = key[t];
	mine[t + THREADS] = key[t + THREADS];
	if (t == 0)
		TRESPASS(30, (int)data[(blockIdx.x + 1) % gridDim.x * N], mine[0]);
}

/* Every array is checked to be in order, in shared memory too. */
__global__ void in_order(const unsigned *data, int *wrong)
{
	__shared__ unsigned key[N];
	int t = threadIdx.x;

	key[t] = data[blockIdx.x * N + t];
	key[t + THREADS] = data[blockIdx.x * N + t + THREADS];
	BARRIER(15);
	if (key[2 * t] > key[2 * t + 1] || (t && key[2 * t - 1] > key[2 * t]))
		atomicAdd(wrong, 1);
}

int main(int argc, char **argv)
{
	OPTIONS({12, 15}, {30, 30});
	int n = (o.quick ? 2 * N : o.large ? 128 * N : 16 * N) * o.scale, wrong;
	unsigned *data = new unsigned[n], *result = new unsigned[n];
	unsigned long long before = 0, after = 0;

	for (int i = 0; i < n; i++)
		before += data[i] = noise(i);
	unsigned *d_data = device(n, data);
	int *d_wrong = device<int>(1);
	sortnw<<<n / N, THREADS>>>(d_data);
	in_order<<<n / N, THREADS>>>(d_data, d_wrong);
	back(&wrong, d_wrong, 1);
	back(result, d_data, n);
	for (int i = 0; i < n; i++)
		after += result[i];
	return finish("SORTNW", !wrong && before == after, o);
}
