// A producer warp arrives at a named barrier and goes on; what it writes afterwards is not covered.
// category: 2
// racy: (RAW|WAR) shared missing-barrier
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	int t = threadIdx.x;

	if (t < 32) {
		ONLY_FIXED(m[t] = t;)
		__asm__ volatile("bar.arrive 1, 64;" ::: "memory");
		ONLY_RACY(m[t] = t;)
	} else {
		__asm__ volatile("bar.sync 1, 64;" ::: "memory");
		out[t] = m[t - 32];
	}
}
