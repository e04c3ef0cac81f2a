// Shared memory by generic addresses, as libraries of atomics have them: labels by relaxed reads and atomics, and then by plain reads.
// category: 7
// racy: (RAW|WAR) shared atomic-plain
#include "one.h"

__device__ int relaxed(const int *p)
{
	int v;

	asm volatile("ld.relaxed.cta.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

__global__ void kernel(int *data, int *out)
{
	__shared__ int label[64];
	int t = threadIdx.x;

	label[t] = t;
	__syncthreads();
	if (t < 32)
		atomicMin(&label[t], relaxed(&label[t + 32]) - 40);
	ONLY_FIXED(__syncthreads();)
	out[t] = label[t ^ 32];
}
