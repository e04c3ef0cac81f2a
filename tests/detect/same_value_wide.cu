// Lanes store the same 8 or 16 bytes to one place by one instruction: a warning, though the words of it are not alike.
// category: 14
// racy: warning WAW @SPACE same-value
// vary: SHARED GLOBAL
// vary: LONG TWO FOUR
#include "one.h"

#if defined V_LONG
#define TYPE long long
#define VALUE 0x600000005
#elif defined V_TWO
#define TYPE int2
#define VALUE make_int2(5, 6)
#else
#define TYPE int4
#define VALUE make_int4(5, 6, 7, 8)
#endif

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ TYPE m[64];
#else
	TYPE *m = (TYPE *)data;
#endif
	int t = threadIdx.x, only = ONLY_RACY(0) ONLY_FIXED(1);

	if (t < 32 && (!only || t == 3))
		m[3] = VALUE;
	__syncthreads();
	out[t] = *(int *)&m[3];
}
