// A lock for many readers or one writer: a reader that does not register itself.
// category: 8
// racy: (RAW|WAR) @SPACE (lock|missing-fence|missing-barrier|inter-block)
// vary: SHARED GLOBAL
#ifdef V_SHARED
#define THREADS 128
#define WHO (threadIdx.x / 32)
#else
#define BLOCKS 4
#define THREADS 1
#define WHO blockIdx.x
#endif
#include "one.h"

__device__ int global_state;

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ int state[1], m[1];

	if (threadIdx.x == 0)
		state[0] = m[0] = 0;
	__syncthreads();
#else
	int *state = &global_state, *m = data;
#endif
	if (threadIdx.x % 32)
		return;
	if (WHO % 2 == 0) {                          /* writers: 0 -> -1 */
		while (atomicCAS(state, 0, -1) != 0)
			;
		__threadfence();
		m[0] += WHO + 1;
		__threadfence();
		atomicExch(state, 0);
		return;
	}
	for (;;) {                                   /* readers: n -> n + 1 */
		int n = *(volatile int *)state;

		ONLY_RACY(if (WHO == 3) break;)
		if (n >= 0 && atomicCAS(state, n, n + 1) == n)
			break;
	}
	ONLY_FIXED(__threadfence();) ONLY_RACY(if (WHO != 3) __threadfence();)
	out[WHO] = m[0];
	ONLY_RACY(if (WHO == 3) return;)
	__threadfence();
	atomicSub(state, 1);
}
