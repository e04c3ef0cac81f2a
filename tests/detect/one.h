/* one.h - the host side of the programs here: one launch of `kernel` with zeroed memory; and what `vary` chooses.
 *
 * PLACE declares int m[] in shared or global memory (V_SHARED, V_GLOBAL). FIRST(place) and SECOND(place) are the two accesses
 * of a race of that kind (V_RAW, V_WAR, V_WAW), by two threads; r is an int of each. */
#include <cstdio>
#include <cuda_runtime.h>
#ifdef COOPERATIVE
#include <cooperative_groups.h>
#endif

#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifndef THREADS
#define THREADS 64
#endif
__global__ void kernel(int *data, int *out);

/* What the racy program leaves out. */
#ifdef FIXED
#define ONLY_FIXED(...) __VA_ARGS__
#define ONLY_RACY(...)
#else
#define ONLY_FIXED(...)
#define ONLY_RACY(...) __VA_ARGS__
#endif

#ifdef V_SHARED
#define PLACE __shared__ int m[128]
#else
#define PLACE int *m = data
#endif

#ifdef V_WAR
#define FIRST(place) r = (place)
#else
#define FIRST(place) (place) = threadIdx.x + 1
#endif
#ifdef V_RAW
#define SECOND(place) r = (place)
#else
#define SECOND(place) (place) = threadIdx.x + 1000
#endif

static cudaError_t launch(int *data, int *out)
{
#ifdef COOPERATIVE
	void *arguments[] = { &data, &out };

	return cudaLaunchCooperativeKernel((const void *)kernel, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0);
#else
	kernel<<<BLOCKS, THREADS>>>(data, out);
	return cudaGetLastError();
#endif
}

int main()
{
	int *data, *out;

	if (cudaMalloc(&data, 1 << 16) || cudaMalloc(&out, 1 << 16) || cudaMemset(data, 0, 1 << 16))
		return 3;
	if (launch(data, out))
		return 3;
	return cudaDeviceSynchronize() ? 3 : 0;
}
