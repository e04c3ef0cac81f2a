// Two blocks add to global memory by bulk copies, which do not race; one of them writes there when its own may still go on.
// category: 10
// racy: WAW global async-copy
#define BLOCKS 2
#define THREADS 32
#include "one.h"
#include "remote.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(16) int tile[32];
	int t = threadIdx.x;

	tile[t] = t;
	fence_proxy_async();
	__syncthreads();
	if (t == 0) {
		bulk_add(data, tile, 128);
		bulk_add(data + 32 + 32 * blockIdx.x, tile, 128);
		ONLY_FIXED(bulk_wait();)
		data[32 + 32 * blockIdx.x] = 1;
		bulk_wait();
	}
}
