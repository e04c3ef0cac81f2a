// Who holds a lock may read it by a plain load: others' attempts to take it have failed, and only read; the one that takes it next acquires.
// category: 7
// racy: (RAW|WAR) global atomic-plain
#define BLOCKS 2
#define THREADS 32
#include "one.h"

__device__ int lock, count;

__global__ void kernel(int *data, int *out)
{
	if (threadIdx.x == 0) {
		bool done = false;
		int was;

		while (!done) {
			__asm__ volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(was) : "l"(&lock) : "memory");
			if (was == 0) {
				for (int k = 0; k < 50; k++)
					data[0] += *(volatile int *)&count;
				ONLY_FIXED(out[blockIdx.x] = lock;)
				__asm__ volatile("atom.release.gpu.global.exch.b32 %0, [%1], 0;" : "=r"(was) : "l"(&lock) : "memory");
				done = true;
			}
		}
		ONLY_RACY(out[blockIdx.x] = lock;)
	}
}
