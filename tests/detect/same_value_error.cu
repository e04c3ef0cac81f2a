// With --same-value=error the writes of one value are races as any other.
// category: 14
// racy: WAW @SPACE same-value
// options: --same-value=error
// vary: SHARED GLOBAL
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;

	if (threadIdx.x ONLY_RACY(>= 0) ONLY_FIXED(== 0))
		m[0] = 7 + data[1];      /* else nvcc keeps it in a register */
	__syncthreads();
	out[threadIdx.x] = m[0];
}
