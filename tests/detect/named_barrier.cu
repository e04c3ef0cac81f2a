// Two warps that meet at different named barriers do not meet.
// category: 2
// racy: RAW shared missing-barrier
#define THREADS 128
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[128];
	int t = threadIdx.x, pair = ONLY_RACY(t / 32 % 2) ONLY_FIXED(t / 64);

	m[t] = t;
	__asm__ volatile("bar.sync %0, 64;" : : "r"(pair + 1) : "memory");
	out[t] = m[t ^ 32];
}
