// Locks in all forms, taken by warps of a block (in shared memory) or by blocks: without fences they order nothing.
// category: 8
// racy: (RAW|WAR|WAW) @SPACE (missing-fence|missing-barrier)
// repair(CAS_EXCH): __threadfence
// vary: SHARED GLOBAL
// vary: CAS_EXCH CAS_STORE EXCH_EXCH EXCH_STORE TTAS TICKET
#ifdef V_SHARED
#define THREADS 128
#define FENCE() __threadfence_block()
#else
#define BLOCKS 4
#define THREADS 1
#define FENCE() __threadfence()
#endif
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
	if (threadIdx.x % 32 == 0) {
		FORM_TAKE(l)
			;
		ONLY_FIXED(FENCE();)
		m[0] += threadIdx.x + 1;
		ONLY_FIXED(FENCE();)
		FORM_GIVE(l);
	}
}
