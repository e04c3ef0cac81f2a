// A volatile access is strong, a plain one is not.
// category: 7
// racy: @PAIR @SPACE atomic-plain
// vary: SHARED GLOBAL
// vary: RAW WAR WAW
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	volatile int *v = m;
	int t = threadIdx.x, r = 0;

	if (t == 0)
		m[0] = 0;
	__syncthreads();
#if defined FIXED
	if (t == 0)
		FIRST(v[0]);
	if (t == 32)
		SECOND(v[0]);
#elif defined V_SHARED
	if (t == 0)
		FIRST(m[0]);
	if (t == 32)
		SECOND(v[0]);
#else
	if (t == 0)
		FIRST(v[0]);
	if (t == 32)
		SECOND(m[0]);
#endif
	out[t] = r;
}
