// Volatile reads of shared memory are strong: they do not race with atomics, though nothing orders them.
// racy: none
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	int t = threadIdx.x;

	out[t] = *(volatile int *)&m[t % 32];
	atomicExch(&m[t % 32 ^ 1], t);
}
