// cuda::barrier at which all threads arrive and wait: they write again what others still read, or read before others have come; a smaller group has a barrier of its own.
// category: 10
// racy: (RAW|WAR) shared missing-barrier
// vary: AGAIN EARLY GROUP
#include "one.h"
#include <cuda/barrier>

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	__shared__ cuda::barrier<cuda::thread_scope_block> all, warp;
	int t = threadIdx.x, sum = 0;

	if (t == 0) {
		init(&all, 64);
		init(&warp, 32);
	}
	__syncthreads();
	for (int i = 0; i < 3; i++) {
		m[t] = i + t;
#ifdef V_EARLY
		ONLY_FIXED(all.arrive_and_wait();)
#elif defined V_GROUP
		ONLY_FIXED(all.arrive_and_wait();)
		ONLY_RACY(if (t < 32) warp.arrive_and_wait();)
#else
		all.arrive_and_wait();
#endif
		sum += m[63 - t];
#ifdef V_AGAIN
		ONLY_FIXED(all.arrive_and_wait();)
#else
		all.arrive_and_wait();
#endif
	}
	out[t] = sum;
}
