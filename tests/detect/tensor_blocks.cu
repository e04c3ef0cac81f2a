// The tiles that two blocks write to a tensor have a row in common; as sums they may.
// category: 10
// racy: WAW global async-copy
// compile: -ldl
// vary: PLAIN SWIZZLED
#include <cstdio>
#include <cuda_runtime.h>
#define BLOCKS 2
#define THREADS 32
#ifdef V_SWIZZLED
#define SWIZZLED
#endif
#include "tensor.h"

__global__ void kernel(const tensor_map *map, int *data, int *out)
{
	__shared__ __align__(1024) int tile[128];
	int t = threadIdx.x;

	for (int i = t; i < 128; i += 32)
		tile[i] = i + (int)blockIdx.x;
	fence_proxy_async();
	__syncthreads();
	if (t == 0) {
#ifdef FIXED
		tensor_add(map, 16, 7 * (int)blockIdx.x, tile);
#else
		tensor_store(map, 16, 7 * (int)blockIdx.x, tile);
#endif
		bulk_wait();
	}
}
