// Async proxy: a thread sees another one's atomic, and copies the word with a bulk operation; a fence of the proxy, by the
// thread that has seen it, is enough.
// category: 11
// racy: RAW shared proxy
// repair: add fence.proxy.async
#include "one.h"
#include "bulk.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(16) int tile[4];

	if (threadIdx.x == 0)
		tile[0] = 0;
	__syncthreads();
	if (threadIdx.x == 32)
		atomicAdd(&tile[0], 1);
	if (threadIdx.x == 0) {
		while (*(volatile int *)&tile[0] == 0)
			;
		ONLY_FIXED(fence_proxy_async();)
		bulk_store(out, tile, 16);
		bulk_wait();
	}
}
