// A flag between two warps of a block: __threadfence_block() on both sides, or acquire and release.
// category: 4
// racy: @KIND @SPACE (missing-barrier|missing-fence)
// vary: SHARED GLOBAL
// vary: RAW WAR WAW
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	__shared__ volatile int flag;
	int t = threadIdx.x, r = 0;

	if (t == 0)
		flag = 0;
	__syncthreads();
	if (t == 0) {
		FIRST(m[0]);
		ONLY_FIXED(__threadfence_block();)
		flag = 1;
	} else if (t == 32) {
		while (flag == 0)
			;
		ONLY_FIXED(__threadfence_block();)
		SECOND(m[0]);
	}
	__syncthreads();
	out[t] = r + m[t];
}
