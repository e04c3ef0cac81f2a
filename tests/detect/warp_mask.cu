// __syncwarp() with a mask orders the lanes of the mask only: each half of the warp synchronizes by itself.
// category: 1
// racy: @KIND @SPACE warp
// options: --divergence=its
// vary: SHARED GLOBAL
// vary: RAW WAR WAW
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, r = 0;

	m[t] = t;
	__syncthreads();
	FIRST(m[t]);
	if (t < 16)
		__syncwarp(ONLY_RACY(0x0000ffff) ONLY_FIXED(0x0000ffff));
	else
		__syncwarp(ONLY_RACY(0xffff0000) ONLY_FIXED(0xffff0000));
	SECOND(m[ONLY_RACY(t ^ 16) ONLY_FIXED(t ^ 8)]);
	__syncthreads();
	out[t] = r + m[t];
}
