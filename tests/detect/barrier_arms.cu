// Both arms of a branch between warps have a barrier of their own: the same one, or two different ones.
// category: 2
// racy: (RAW|WAR) @SPACE missing-barrier
// vary: SHARED GLOBAL
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x;

	m[t] = t + 1;
	if (t < 32)
		ONLY_RACY(__asm__ volatile("bar.sync 1, 32;" ::: "memory");) ONLY_FIXED(__asm__ volatile("bar.sync 1;" ::: "memory");)
	else
		ONLY_RACY(__asm__ volatile("bar.sync 2, 32;" ::: "memory");) ONLY_FIXED(__asm__ volatile("bar.sync 1;" ::: "memory");)
	out[t] = m[t ^ 32];
}
