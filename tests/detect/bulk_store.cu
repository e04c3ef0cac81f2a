// The source of a bulk copy to global memory is overwritten while the copy may still read it.
// category: 10
// racy: WAR shared async-copy
#include "one.h"
#include "bulk.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(16) int tile[64];
	int t = threadIdx.x;

	tile[t] = t;
	fence_proxy_async();
	__syncthreads();
	if (t == 0) {
		bulk_store(out, tile, 256);
		ONLY_FIXED(bulk_wait_read();)
	}
	__syncthreads();
	tile[t] = 2 * t;
	__syncthreads();
	data[t] = tile[63 - t];
	if (t == 0)
		bulk_wait();
}
