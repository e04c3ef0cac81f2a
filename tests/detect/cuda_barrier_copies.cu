// cuda::barrier that copies arrive at: what they bring is read behind the meeting at another barrier, or is brought again without one.
// category: 10
// racy: (RAW|WAR) shared (async-copy|missing-barrier)
// vary: OTHER AGAIN
#include "one.h"
#include <cooperative_groups.h>
#include <cuda/barrier>

__global__ void kernel(int *data, int *out)
{
	__shared__ int tile[64];
	__shared__ cuda::barrier<cuda::thread_scope_block> copies, others;
	auto block = cooperative_groups::this_thread_block();
	int t = threadIdx.x, sum = 0;

	if (t == 0) {
		init(&copies, 64);
		init(&others, 64);
	}
	block.sync();
	for (int i = 0; i < 3; i++) {
		cuda::memcpy_async(block, tile, data + 64 * i, sizeof tile, copies);
#ifdef V_OTHER
		ONLY_RACY(others.arrive_and_wait();)
		ONLY_FIXED(copies.arrive_and_wait();)
		sum += tile[63 - t];
		ONLY_RACY(copies.arrive_and_wait();)
		ONLY_FIXED(others.arrive_and_wait();)
#else
		copies.arrive_and_wait();
		sum += tile[63 - t];
		ONLY_FIXED(others.arrive_and_wait();)
#endif
	}
	out[t] = sum;
}
