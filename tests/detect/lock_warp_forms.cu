// The lanes of one warp spin for a lock, in every form of it, without the fences.
// category: 8
// racy: (RAW|WAR|WAW) @SPACE (missing-fence|warp)
// options: --divergence=its
// only: its
// vary: SHARED GLOBAL
// vary: CAS_EXCH CAS_STORE EXCH_EXCH EXCH_STORE TTAS TICKET
#define THREADS 4
#include "one.h"
#include "lock.h"

__device__ struct lock global_lock;

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ struct lock block_lock;
	__shared__ int m[1];
	struct lock *l = &block_lock;

	if (threadIdx.x == 0)
		block_lock.word = block_lock.next = block_lock.serving = m[0] = 0;
	__syncthreads();
#else
	struct lock *l = &global_lock;
	int *m = data;
#endif
	FORM_TAKE(l)
		;
	ONLY_FIXED(__threadfence();)
	m[0] += threadIdx.x + 1;
	ONLY_FIXED(__threadfence();)
	FORM_GIVE(l);
}
