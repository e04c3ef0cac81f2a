// Votes, matches and shuffles exchange values between lanes; memory they do not order.
// category: 1
// racy: RAW @SPACE warp
// repair: add __syncwarp()
// options: --divergence=its
// vary: SHARED GLOBAL
// vary: BALLOT ANY ALL MATCH SHFL REDUCE
#define THREADS 32
#include "one.h"

static __device__ int meet(int t)
{
#if defined V_BALLOT
	return __ballot_sync(0xffffffffu, t & 1) & 1;
#elif defined V_ANY
	return __any_sync(0xffffffffu, t == 40);
#elif defined V_ALL
	return __all_sync(0xffffffffu, t < 20);
#elif defined V_MATCH
	return __match_any_sync(0xffffffffu, t) == 0;
#elif defined V_SHFL
	return __shfl_down_sync(0xffffffffu, t, 1) < 0;
#else
	unsigned n;

	__asm__ volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(n) : "r"(0));
	return n;
#endif
}

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, zero;

	m[t] = t + 1;
	zero = meet(t);
	ONLY_FIXED(__syncwarp();)
	out[t] = m[(t ^ 1) + 0 * zero] + zero;
}
