// cuda::barrier: a wait for the phase before this one, which is over at once; an arrival that nobody waits for.
// category: 10
// racy: @PAIR shared missing-barrier
// vary: PARITY ARRIVE
// vary: RAW WAR WAW
#include "one.h"
#include <cuda/barrier>

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	__shared__ cuda::barrier<cuda::thread_scope_block> bar;
	int t = threadIdx.x, r = 0;

	m[t] = 0;
	if (t == 0)
		init(&bar, ONLY_FIXED(32) ONLY_RACY(33));        /* a phase that ended would let nobody through who waits for the one before */
	__syncthreads();
	if (t < 32) {
		FIRST(m[t]);
		(void)bar.arrive();
	} else {
#ifdef V_PARITY
		bar.wait_parity(ONLY_FIXED(0) ONLY_RACY(1));
#else
		ONLY_FIXED(bar.wait_parity(0);)
#endif
		SECOND(m[t - 32]);
	}
	__syncthreads();
	out[t] = r + m[63 - t];
}
