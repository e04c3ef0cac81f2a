// The target of an asynchronous copy is read too early: without a wait, after a wait for older groups only, or by another
// thread without a barrier.
// category: 9
// racy: RAW shared async-copy
// repair(NO_WAIT): cp.async.wait_group
// repair(OTHER_THREAD): add __syncthreads()
// vary: NO_WAIT NEWEST OTHER_THREAD
#include "one.h"
#include <cuda_pipeline.h>

__global__ void kernel(int *data, int *out)
{
	__shared__ int tile[2][64];
	int t = threadIdx.x;

	for (int i = 0; i < 2; i++) {
		__pipeline_memcpy_async(&tile[i][t], &data[64 * i + t], 4);
		__pipeline_commit();
	}
#if defined FIXED || defined V_OTHER_THREAD
	__pipeline_wait_prior(0);
#elif defined V_NEWEST
	__pipeline_wait_prior(1);
#endif
#ifdef V_OTHER_THREAD
	ONLY_FIXED(__syncthreads();)
	out[t] = tile[1][63 - t];
#else
	out[t] = tile[1][t];
#endif
}
