// Two locks, one taken inside the other: what the outer one protects is used after it was released.
// category: 8
// racy: (RAW|WAR|WAW) @SPACE lock
// vary: SHARED GLOBAL
#ifdef V_SHARED
#define THREADS 128
#else
#define BLOCKS 4
#define THREADS 1
#endif
#define V_CAS_EXCH
#include "one.h"
#include "lock.h"

__device__ struct lock global_lock[2];

static __device__ void take(struct lock *l)
{
	FORM_TAKE(l)
		;
	__threadfence();
}

static __device__ void give(struct lock *l)
{
	__threadfence();
	FORM_GIVE(l);
}

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ struct lock l[2];
	__shared__ int m[2];

	if (threadIdx.x == 0)
		l[0].word = l[1].word = m[0] = m[1] = 0;
	__syncthreads();
#else
	struct lock *l = global_lock;
	int *m = data;
#endif
	if (threadIdx.x % 32 == 0) {
		take(&l[0]);
		m[0]++;
		take(&l[1]);
		m[1]++;
		ONLY_RACY(give(&l[0]);)
		m[1] += 2;
		ONLY_FIXED(give(&l[1]);)
		m[0] += 5;
		ONLY_RACY(give(&l[1]);)
		ONLY_FIXED(give(&l[0]);)
	}
}
