// Accesses of different sizes that have some bytes in common.
// category: 7
// racy: @PAIR @SPACE missing-barrier
// vary: SHARED GLOBAL
// vary: RAW WAR WAW
#include "one.h"

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ int4 all[2];
#else
	int4 *all = (int4 *)data;
#endif
	char *byte = (char *)all;
	short *half = (short *)all;
	long long *wide = (long long *)all;
	int t = threadIdx.x, r = 0, other = ONLY_FIXED(16) ONLY_RACY(0);

	if (t < 32)
		byte[t] = t;
	__syncthreads();
#if defined V_RAW
	if (t == 0)
		FIRST(byte[2]);
	if (t == 32)
		SECOND(wide[other / 8]);
#elif defined V_WAR
	if (t == 0)
		FIRST(wide[1]);
	if (t == 32)
		SECOND(half[5 + other / 2]);
#else
	if (t == 0)
		all[0] = make_int4(1, 2, 3, 4);
	if (t == 32)
		SECOND(half[7 + other / 2]);
#endif
	__syncthreads();
	out[t] = r + byte[t % 32];
}
