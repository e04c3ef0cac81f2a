// A named barrier with too small a count lets the warps through that come first, two by two.
// category: 2
// racy: @KIND @SPACE missing-barrier
// vary: SHARED GLOBAL
// vary: RAW WAR WAW
#define THREADS 128
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, r = 0;

	FIRST(m[t]);
	__asm__ volatile("bar.sync 1, %0;" : : "n"(ONLY_RACY(64) ONLY_FIXED(128)) : "memory");
	SECOND(m[t ^ 64]);
	__syncthreads();
	out[t] = r + m[t];
}
