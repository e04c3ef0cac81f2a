// cuda::pipeline of a thread: the copy is read without consumer_wait(), or by another thread without a barrier.
// category: 10
// racy: RAW shared async-copy
// repair(NO_WAIT): consumer_wait()
// repair(OTHER_THREAD): add __syncthreads()
// vary: NO_WAIT OTHER_THREAD
#include "one.h"
#include <cuda/pipeline>

__global__ void kernel(int *data, int *out)
{
	__shared__ int tile[64];
	int t = threadIdx.x;
	cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();

	pipe.producer_acquire();
	cuda::memcpy_async(&tile[t], &data[t], sizeof(int), pipe);
	pipe.producer_commit();
#ifdef V_NO_WAIT
	ONLY_FIXED(pipe.consumer_wait();)
	out[t] = tile[t];
#else
	pipe.consumer_wait();
	ONLY_FIXED(__syncthreads();)
	out[t] = tile[63 - t];
#endif
	pipe.consumer_release();
}
