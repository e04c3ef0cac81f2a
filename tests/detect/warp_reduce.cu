// The last steps of a reduction, written as if the lanes of a warp ran in step.
// category: 1
// racy: RAW @SPACE warp
// racy: WAR @SPACE warp
// repair: __syncwarp()
// options: --divergence=its
// vary: SHARED GLOBAL
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, v;

	m[t] = t;
	__syncwarp();
	for (int o = 16; o > 0; o /= 2) {
		v = m[t ^ o];
		ONLY_FIXED(__syncwarp();)
		m[t] += v;
		ONLY_FIXED(__syncwarp();)
	}
	out[t] = m[t];
}
