/* one.h - the host side of the programs here: one launch of `kernel` with zeroed memory. */
#include <cstdio>
#include <cuda_runtime.h>

#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifndef THREADS
#define THREADS 64
#endif
__global__ void kernel(int *data, int *out);

/* What the racy program leaves out. */
#ifdef FIXED
#define ONLY_FIXED(x) x
#define ONLY_RACY(x)
#else
#define ONLY_FIXED(x)
#define ONLY_RACY(x) x
#endif

int main()
{
	int *data, *out;

	if (cudaMalloc(&data, 1 << 16) || cudaMalloc(&out, 1 << 16) || cudaMemset(data, 0, 1 << 16))
		return 3;
	kernel<<<BLOCKS, THREADS>>>(data, out);
	return cudaDeviceSynchronize() ? 3 : 0;
}
