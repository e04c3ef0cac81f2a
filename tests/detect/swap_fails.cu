// A compare-and-swap that finds something else than it compares with has only read, and does not race with plain reads.
// category: 7
// racy: (RAW|WAR) @SPACE atomic-plain
// vary: SHARED GLOBAL
// vary: WORD WIDE
#include "one.h"

#if defined V_WIDE
typedef unsigned long long word;
#else
typedef unsigned word;
#endif

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x;
	word *w = (word *)m, was;

	if (t == 0)
		w[0] = 0;
	__syncthreads();
	if (t >= 32)
		was = w[0];
	else
		was = atomicCAS(&w[0], (word)(ONLY_RACY(0) ONLY_FIXED(5)), (word)7);
	out[t] = (int)was;
}
