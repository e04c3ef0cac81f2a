// More of everything than 16 or 20 bits can count: what is ordered before the limit stays ordered, and a race after it is
// found.    limits barriers|fences|threads|blocks racy|correct
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

// A number that wrapped would take the last interval for the first one.
__global__ void barriers(int *data, bool racy)
{
	__shared__ int m[2];
	int t = threadIdx.x, n = 0;

	if (t == 0)
		m[0] = data[0] = 1;
	for (int i = 0; i < 1 << 16; i++) {
		__syncthreads();
		n += i & 1;
	}
	if (t == 32)
		data[1] = m[0] + data[0] + n;
	if (!racy)
		__syncthreads();
	if (t == 0)
		m[0] = data[0] = 2;
	__syncthreads();
	if (t == 33)
		data[2] = m[0];
}

__device__ volatile int flag;

__global__ void fences(int *data, bool racy)
{
	if (blockIdx.x == 0) {
		data[0] = 1;
		for (int i = 0; i < 1 << 16; i++)
			__threadfence();
		data[1] = 1;
		if (!racy)
			__threadfence();
		flag = 1;
	} else {
		while (!flag)
			;
		for (int i = 0; i < 1 << 16; i++)
			__threadfence();
		data[2] = data[0] + data[1];
	}
}

// Every thread has a place of its own; in the racy form the last one reads the first one's.
__global__ void places(int *data, bool racy)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	int r = 0;

	data[i] = i;
	if (racy && i == gridDim.x * blockDim.x - 1)
		r = data[0];
	data[i] += r;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	bool racy = argc > 2 && !strcmp(argv[2], "racy");
	int *data;

	if (cudaMalloc(&data, 16 << 20) || cudaMemset(data, 0, 16 << 20))
		return 4;
	if (!strcmp(what, "barriers"))
		barriers<<<1, 64>>>(data, racy);
	else if (!strcmp(what, "fences"))
		fences<<<2, 1>>>(data, racy);
	else if (!strcmp(what, "threads"))
		places<<<1025, 1024>>>(data, racy);
	else if (!strcmp(what, "blocks"))
		places<<<65537, 32>>>(data, racy);
	else
		return 5;
	return cudaDeviceSynchronize() ? 6 : 0;
}
