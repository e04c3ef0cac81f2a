// cuda::barrier: a buffer is filled again before its consumers have said that they are done with it.
// category: 10
// racy: (RAW|WAR) shared missing-barrier
#include "one.h"
#include <cuda/barrier>

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[32];
	__shared__ cuda::barrier<cuda::thread_scope_block> filled[2], empty;
	int t = threadIdx.x, sum = 0;

	if (t == 0) {
		init(&filled[0], 64);
		init(&filled[1], 64);
		init(&empty, 64);
	}
	__syncthreads();
	for (int i = 0; i < 2; i++) {
		if (t < 32) {
			ONLY_FIXED(if (i == 1) empty.arrive_and_wait();)
			m[t] = i;
			(void)filled[i].arrive();
		} else {
			filled[i].arrive_and_wait();
			sum += m[63 - t];
			if (i == 0)
				(void)empty.arrive();
		}
	}
	ONLY_RACY(if (t < 32) empty.arrive_and_wait();)
	out[t] = sum;
}
