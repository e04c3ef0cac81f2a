// Critical sections: one block does not take the lock.
// category: 8
// racy: (RAW|WAW) global lock
#define BLOCKS 4
#define THREADS 1
#include "one.h"

__device__ int locks[2];

__global__ void kernel(int *data, int *out)
{
	int *lock = &locks[ONLY_FIXED(0) ONLY_RACY(0)];
	bool take = ONLY_FIXED(true) ONLY_RACY(blockIdx.x != 2);

	if (take) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		ONLY_FIXED(__threadfence();) ONLY_RACY(__threadfence();)
	}
	data[0] += blockIdx.x + 1;
	if (take) {
		ONLY_FIXED(__threadfence();) ONLY_RACY(__threadfence();)
		atomicExch(lock, 0);
	}
}
