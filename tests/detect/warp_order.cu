// Two lanes of a warp touch one place: __syncwarp() orders them.
// category: 1
// racy: @KIND @SPACE warp
// repair(RAW): add __syncwarp() between line 18 and line 20
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
	ONLY_FIXED(__syncwarp();)
	SECOND(m[t ^ 1]);
	__syncthreads();
	out[t] = r + m[t];
}
