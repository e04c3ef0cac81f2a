// Coming together again after a branch orders nothing.
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

	m[t] = 0;
	__syncwarp();
	if (t < 16)
		m[t] = t + 1;
	else
		out[t] = t;
	ONLY_FIXED(__syncwarp();)
	if (t >= 16)
		out[t] += m[t - 16];
}
