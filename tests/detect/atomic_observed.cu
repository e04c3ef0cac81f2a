// A plain access after the thread's own strong access of the word: only if that one read what the others wrote.
// category: 7
// racy: @PAIR @SPACE atomic-plain
// vary: SHARED GLOBAL
// vary: RAW WAW
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, r = 0, before;

	if (t == 0)
		m[0] = 0;
	__syncthreads();
	if (t % 32 == 0) {
		before = atomicAdd(&m[0], 1);
		if (ONLY_RACY(before >= 0) ONLY_FIXED(before == 1)) {  /* the last one of two has seen the other */
#if defined V_RAW
			r = m[0];
#else
			m[0] = 0;
#endif
		}
	}
	out[t] = r;
}
