// The value is read again after the lock was released.
// category: 8
// racy: (RAW|WAR) @SPACE lock
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

__device__ struct lock global_lock;

__global__ void kernel(int *data, int *out)
{
#ifdef V_SHARED
	__shared__ struct lock l[1];
	__shared__ int m[1];

	if (threadIdx.x == 0)
		l->word = m[0] = 0;
	__syncthreads();
#else
	struct lock *l = &global_lock;
	int *m = data;
#endif
	if (threadIdx.x % 32 == 0) {
		int sum;

		FORM_TAKE(l)
			;
		__threadfence();
		m[0] += threadIdx.x + blockIdx.x + 1;
		sum = m[0];
		__threadfence();
		FORM_GIVE(l);
		ONLY_RACY(sum = m[0];)
		out[blockIdx.x * 128 + threadIdx.x] = sum;
	}
}
