// Three warps or blocks take the lock, the fourth does not; or it takes another one.
// category: 8
// racy: (RAW|WAR|WAW) @SPACE lock
// repair(NONE): in every thread around line 51
// repair(OTHER): the same lock
// vary: SHARED GLOBAL
// vary: NONE OTHER
// vary: CAS_EXCH EXCH_STORE
#ifdef V_SHARED
#define THREADS 128
#define FENCE() __threadfence_block()
#define WHO (threadIdx.x / 32)
#else
#define BLOCKS 4
#define THREADS 1
#define FENCE() __threadfence()
#define WHO blockIdx.x
#endif
#include "one.h"
#include "lock.h"

__device__ struct lock global_lock[2];

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ struct lock block_lock[2];
	__shared__ int m[1];
	struct lock *l = block_lock;

	if (threadIdx.x == 0)
		block_lock[0].word = block_lock[1].word = m[0] = 0;
	__syncthreads();
#else
	struct lock *l = global_lock;
	int *m = data;
#endif
	bool take = true;

#if defined V_NONE && !defined FIXED
	take = WHO != 2;
#elif !defined FIXED
	l += WHO == 2;
#endif
	if (threadIdx.x % 32 == 0) {
		if (take) {
			FORM_TAKE(l)
				;
			FENCE();
		}
		m[0] += WHO + 1;
		if (take) {
			FENCE();
			FORM_GIVE(l);
		}
	}
}
