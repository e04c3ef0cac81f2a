// Warps that meet at different named barriers do not meet.
// category: 2
// racy: @KIND @SPACE missing-barrier
// vary: SHARED GLOBAL
// vary: RAW WAR WAW
#define THREADS 128
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, r = 0, pair = ONLY_RACY(t / 32 % 2) ONLY_FIXED(t / 64);

	FIRST(m[t]);
	__asm__ volatile("bar.sync %0, 64;" : : "r"(pair + 1) : "memory");
	SECOND(m[t ^ 32]);
	__syncthreads();
	out[t] = r + m[t];
}
