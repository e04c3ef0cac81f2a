// What threads wrote goes out by a bulk copy, that is through the async proxy: the barrier alone is not enough.
// category: 11
// racy: RAW shared proxy
// repair: add fence.proxy.async after line
// vary: NONE AFTER
#include "one.h"
#include "bulk.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(16) int tile[64];
	int t = threadIdx.x;

	tile[t] = t;
	ONLY_FIXED(fence_proxy_async();)
	__syncthreads();
	if (t == 0) {
		bulk_store(out, tile, 256);
#ifdef V_AFTER
		fence_proxy_async();
#endif
		bulk_wait();
	}
}
