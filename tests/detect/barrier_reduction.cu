// A barrier that also counts is a barrier; a count by atomics is none.
// category: 2
// racy: (RAW|WAR) @SPACE missing-barrier
// vary: SHARED GLOBAL
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, n = 0;

	m[t] = t + 1;
	ONLY_FIXED(n = __syncthreads_count(t & 1);)
	ONLY_RACY(if (t & 1) n = atomicAdd(&out[100], 1);)
	out[t] = m[t ^ 32] + n;
}
