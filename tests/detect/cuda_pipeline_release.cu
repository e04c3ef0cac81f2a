// cuda::pipeline of a block, one warp produces and one consumes: a stage is read without consumer_wait(), or given back
// before it has been read.
// category: 10
// racy(WAIT): (RAW|WAR) shared (async-copy|missing-barrier)
// racy(RELEASE): (RAW|WAR) shared missing-barrier
// vary: WAIT RELEASE
#include "one.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

__global__ void kernel(int *data, int *out)
{
	__shared__ int tile[32];
	__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
	auto block = cooperative_groups::this_thread_block();
	int t = threadIdx.x, sum = 0;
	bool produces = t < 32;
	auto pipe = cuda::make_pipeline(block, &state,
	                                produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);

	for (int i = 0; i < 3; i++) {
		if (produces) {
			pipe.producer_acquire();
			cuda::memcpy_async(&tile[t], &data[32 * i + t], sizeof(int), pipe);
			pipe.producer_commit();
			continue;
		}
#ifdef V_RELEASE
		pipe.consumer_wait();
		ONLY_RACY(pipe.consumer_release();)
		sum += tile[63 - t];
		ONLY_FIXED(pipe.consumer_release();)
#else
		ONLY_FIXED(pipe.consumer_wait();)
		sum += tile[63 - t];
		ONLY_RACY(pipe.consumer_wait();)
		pipe.consumer_release();
#endif
	}
	out[t] = sum;
}
