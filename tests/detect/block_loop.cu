// A tile that is filled again in the next round: the barrier at the end of the loop is missing.
// category: 2
// racy: WAR @SPACE missing-barrier
// repair: add __syncthreads() after line 16, at the end of the loop: its next round comes to line 14
// vary: SHARED GLOBAL
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, sum = 0;

	for (int i = 0; i < 4; i++) {
		m[t] = t + i;
		__syncthreads();
		sum += m[63 - t];
		ONLY_FIXED(__syncthreads();)
	}
	out[t] = sum;
}
