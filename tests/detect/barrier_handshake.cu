// A producer and a consumer warp with two named barriers, "full" and "empty": empty is told before the buffer was read.
// category: 2
// racy: WAR @SPACE missing-barrier
// vary: SHARED GLOBAL
#include "one.h"

#define SYNC(id) __asm__ volatile("bar.sync " #id ", 64;" ::: "memory")
#define ARRIVE(id) __asm__ volatile("bar.arrive " #id ", 64;" ::: "memory")

__global__ void kernel(int *data, int *out)
{
	PLACE;
	int t = threadIdx.x, sum = 0;

	for (int i = 0; i < 4; i++) {
		if (t < 32) {
			if (i)
				SYNC(2);
			m[t] = t + i;
			ARRIVE(1);
		} else {
			SYNC(1);
			ONLY_RACY(if (i < 3) ARRIVE(2);)
			sum += m[t - 32];
			ONLY_FIXED(if (i < 3) ARRIVE(2);)
		}
	}
	out[t] = sum;
}
