// A plain access after the thread's own strong store to the word: it has read nothing, so the other's update is in no order.
// category: 7
// racy: @PAIR @SPACE atomic-plain
// vary: SHARED GLOBAL
// vary: RAW WAW
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, r = 0;

	if (t == 0)
		m[0] = 0;
	__syncthreads();
	if (t == 0)
		atomicAdd(&m[0], 1);
	if (t == 32) {
		__asm__ volatile("st.relaxed.gpu.u32 [%0], 5;" : : "l"(&m[0]) : "memory");
#if defined V_RAW
		ONLY_RACY(r = m[0]) ONLY_FIXED(r = *(volatile int *)&m[0]);
#else
		ONLY_RACY(m[0] = 7) ONLY_FIXED(*(volatile int *)&m[0] = 7);
#endif
	}
	out[t] = r;
}
