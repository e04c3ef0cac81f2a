// Two warps write a word, one of them the value that it has before: two values, so an error, whichever comes first.
// category: 2
// racy: WAW @SPACE missing-barrier
// vary: SHARED GLOBAL
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x;

	if (t == 1)
		m[0] = 0;
	__syncthreads();
	if (t == 32 ONLY_RACY(|| t == 0))
		m[0] = t;
	__syncthreads();
	out[t] = m[0];
}
