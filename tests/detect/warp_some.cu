// Only some lanes synchronize: the others do not wait for them, nor they for the others.
// category: 1
// racy: (RAW|WAR) @SPACE warp
// options: --divergence=its
// vary: SHARED GLOBAL
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x;

	m[t] = t + 1;
	ONLY_RACY(if (t < 16) __syncwarp(0xffff);)
	ONLY_FIXED(__syncwarp();)
	out[t] = m[31 - t];
}
