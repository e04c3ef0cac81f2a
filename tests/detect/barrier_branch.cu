// A barrier that only some warps reach is none between these and the others.
// category: 2
// racy: (RAW|WAR) @SPACE missing-barrier
// vary: SHARED GLOBAL
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x;

	m[t] = t + 1;
	ONLY_FIXED(__syncthreads();)
	if (t < 32) {
		ONLY_RACY(__asm__ volatile("bar.sync 1, 32;" ::: "memory");)
		out[t] = 0;
	} else {
		out[t] = m[t - 32];
	}
}
