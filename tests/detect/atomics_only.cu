// Atomic operations alone never race, nor do strong accesses of one size.
// category: 7
// racy: none
// vary: SHARED GLOBAL
#define BLOCKS 4
#include "one.h"

__device__ int count[16];

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ int m[16];

	if (threadIdx.x < 16)
		m[threadIdx.x] = 0;
	__syncthreads();
#else
	int *m = count;
#endif
	atomicAdd(&m[threadIdx.x % 16], 1);
	atomicMax(&m[threadIdx.x % 4], 3);
	out[blockIdx.x * 64 + threadIdx.x] = *(volatile int *)&m[0];
}
