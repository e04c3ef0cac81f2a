/* scan_missing_sync.cu - prefix sums in shared memory, in place, with one barrier where two are needed.
 *
 * The barrier orders a round's writes before the next round's reads. Inside a round, a thread may overwrite its
 * element before a neighbour has read the old value: a write after read (WAR) race. The repair is a barrier between
 * reading and writing.
 */
#include "check.h"

enum { THREADS = 128 };

__global__ void prefix_sums(int *data)
{
	__shared__ int v[THREADS];
	int t = threadIdx.x;

	v[t] = data[t];
	__syncthreads();
	for (int step = 1; step < THREADS; step *= 2) {
		int add = t >= step ? v[t - step] : 0;
#ifdef FIXED
		__syncthreads();
#endif
		v[t] += add;
		__syncthreads();
	}
	data[t] = v[t];
}

int main()
{
	int data[THREADS], *d_data, right = 0;

	for (int &v : data)
		v = 1;
	CHECK(cudaMalloc(&d_data, sizeof data));
	CHECK(cudaMemcpy(d_data, data, sizeof data, cudaMemcpyHostToDevice));
	prefix_sums<<<1, THREADS>>>(d_data);
	CHECK(cudaMemcpy(data, d_data, sizeof data, cudaMemcpyDeviceToHost));
	for (int i = 0; i < THREADS; i++)
		right += data[i] == i + 1;
	CHECK(cudaFree(d_data));
	return verdict("prefix sums that are right", right, THREADS);
}
