// The lanes of one warp take a lock in turn; each needs the fences, as any other thread does.
// category: 8
// racy: (RAW|WAR|WAW) @SPACE (missing-fence|warp)
// options: --divergence=its
// only: its
// vary: SHARED GLOBAL
#define THREADS 8
#include "one.h"

__device__ int global_lock;

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ int block_lock, m[1];
	int *lock = &block_lock;

	if (threadIdx.x == 0)
		block_lock = m[0] = 0;
	__syncthreads();
#else
	int *lock = &global_lock, *m = data;
#endif
	for (bool done = false; !done;) {
		if (atomicCAS(lock, 0, 1) == 0) {
			ONLY_FIXED(__threadfence();)
			m[0] += threadIdx.x + 1;
			ONLY_FIXED(__threadfence();)
			atomicExch(lock, 0);
			done = true;
		}
	}
}
