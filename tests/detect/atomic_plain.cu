// A plain access beside atomic ones: atomicity needs both sides.
// category: 7
// racy: @PAIR @SPACE atomic-plain
// vary: SHARED GLOBAL
// vary: RAW WAR WAW
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, r = 0;

	if (t == 0)
		m[0] = 0;
	__syncthreads();
#if defined V_WAR
	if (t == 0)
		ONLY_RACY(r = m[0]) ONLY_FIXED(r = atomicAdd(&m[0], 0));
	if (t == 32)
		atomicAdd(&m[0], 1);
#else
	if (t == 0)
		atomicAdd(&m[0], 1);
	if (t == 32)
#if defined V_RAW
		ONLY_RACY(r = m[0]) ONLY_FIXED(r = atomicAdd(&m[0], 0));
#else
		ONLY_RACY(m[0] = 7) ONLY_FIXED(atomicExch(&m[0], 7));
#endif
#endif
	out[t] = r;
}
