/* SCAN: parallel prefix sum of 512 elements, in place, by one block (Holey 2015, table 6.2). racy: several blocks are
 * launched to scale the work up, as the original does; they all work on the same data. */
#include "workload.cuh"

enum { N = 512 };

__global__ void scan(int *data, int *total)
{
	__shared__ int buf[2][N];
	int t = threadIdx.x, in = 0;

	buf[0][t] = data[t];
	BARRIER(3);
	for (int d = 1; d < N; d *= 2) {
		buf[1 - in][t] = buf[in][t] + (t >= d ? buf[in][t - d] : 0);
		in = 1 - in;
		BARRIER(4);
	}
	data[t] = buf[in][t];
	if (t == N - 1)
		total[blockIdx.x] = buf[in][t];
}

/* The same by blocks with data of their own: where races between blocks are put in. */
__global__ void scan_rows(int *data, int *total)
{
	__shared__ int row[N];
	int t = threadIdx.x, *mine = data + blockIdx.x * N;

	row[t] = mine[t];
	__syncthreads();
	for (int d = 1; d < N; d *= 2) {
		int left = t >= d ? row[t - d] : 0;

		__syncthreads();
		row[t] += left;
		__syncthreads();
	}
	mine[t] = row[t];
	if (t == N - 1)
		total[blockIdx.x] = row[t];
	if (t == 0)
		TRESPASS(25, total[(blockIdx.x + 1) % gridDim.x], total[blockIdx.x]);
}

int main(int argc, char **argv)
{
	OPTIONS({3, 4}, {25, 25});
	int rows = (o.large ? 2048 : 4) * o.scale, *data = new int[rows * N], *result = new int[rows * N], sum = 0;
	bool right = true;

	for (int i = 0; i < rows * N; i++)
		data[i] = (int)(noise(i) % 100);
	int *d_data = device(N, data), *d_total = device<int>(32 + rows), *d_rows = device(rows * N, data);
	scan<<<o.racy ? 8 : 1, N>>>(d_data, d_total);
	scan_rows<<<rows, N>>>(d_rows, d_total + 32);
	back(result, d_data, N);
	for (int i = 0; i < N; i++)
		right = right && result[i] == (sum += data[i]);
	back(result, d_rows, rows * N);
	for (int i = 0; i < rows * N; i++)
		right = right && result[i] == (sum = (i % N ? sum : 0) + data[i]);
	return finish("SCAN", right, o);
}
