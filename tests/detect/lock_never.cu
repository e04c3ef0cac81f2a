// Who tries a lock in vain, until he is told to stop, has only read it: its holder may read it by a plain load, but not write.
// category: 7
// racy: (RAW|WAR) global atomic-plain
#define BLOCKS 2
#define THREADS 32
#include "one.h"

__device__ int lock = 1;
__device__ volatile int stop, tried;

__global__ void kernel(int *data, int *out)
{
	if (threadIdx.x == 0 && blockIdx.x == 0) {
		ONLY_RACY(lock = 2;)
		while (!tried)
			;
		out[0] = lock;
		out[1] = lock;
		__threadfence();
		stop = 1;
	} else if (threadIdx.x == 0) {
		while (atomicCAS(&lock, 0, 1) != 0 && !stop)
			tried = 1;
		__threadfence();
		data[0] = 1;
	}
}
