// Some store the same value and some another one: an error, the same value is no excuse.
// category: 14
// racy: WAW @SPACE (missing-barrier|same-instruction)
// vary: SHARED GLOBAL
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x;

	if (t % 32 == 0)
		m[ONLY_FIXED(t / 32) ONLY_RACY(0)] = t < 32 ? 7 : 8;
	__syncthreads();
	out[t] = m[0];
}
