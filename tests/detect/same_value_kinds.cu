// Two threads store the same value to one place: a warning, in whatever form.
// category: 14
// racy: warning WAW @SPACE same-value
// vary: SHARED GLOBAL
// vary: LANES WARPS PLACES
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, only = ONLY_RACY(0) ONLY_FIXED(1);

	if (t == 0)
		m[0] = 0;
	__syncthreads();
#if defined V_LANES
	if (t < 32 && (!only || t == 3))
		m[0] = 5;
#elif defined V_WARPS
	if (t % 32 == 0 && (!only || t == 32))
		m[0] = 5;
#else
	if (t == 0)
		m[0] = 5;
	if (t == 32 && !only)
		m[0] = out[t] + 5;
#endif
	__syncthreads();
	out[t] = m[0];
}
