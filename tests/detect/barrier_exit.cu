// A warp that has ended takes no part in a barrier of a fixed number of threads: it must arrive before.
// category: 2
// racy: (RAW|WAR) @SPACE missing-barrier
// vary: SHARED GLOBAL
#define THREADS 96
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x;

	m[t] = t + 1;
	if (t < 32) {
		ONLY_FIXED(__asm__ volatile("bar.arrive 1, 96;" ::: "memory");)
		return;
	}
	__asm__ volatile("bar.sync 1, %0;" : : "n"(ONLY_RACY(64) ONLY_FIXED(96)) : "memory");
	out[t] = m[t - 32];
}
