// Release and acquire between two warps, with a flag in shared memory.
// category: 4
// racy: @KIND @SPACE (missing-barrier|missing-fence)
// vary: SHARED GLOBAL
// vary: RAW WAR WAW
#include "one.h"

#if defined V_SHARED && !defined FIXED
#define RELEASE "relaxed"
#else
#define RELEASE "release"
#endif
#if defined V_GLOBAL && !defined FIXED
#define ACQUIRE "relaxed"
#else
#define ACQUIRE "acquire"
#endif

__global__ void kernel(int *data, int *out)
{
	PLACE;
	__shared__ int flag;
	int t = threadIdx.x, r = 0, v;

	if (t == 0)
		flag = 0;
	__syncthreads();
	if (t == 0) {
		FIRST(m[0]);
		__asm__ volatile("st." RELEASE ".cta.u32 [%0], 1;" : : "l"(&flag) : "memory");
	} else if (t == 32) {
		do
			__asm__ volatile("ld." ACQUIRE ".cta.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
		while (v == 0);
		SECOND(m[0]);
	}
	__syncthreads();
	out[t] = r + m[t];
}
