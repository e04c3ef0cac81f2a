// A tile that threads have written is copied to a tensor without a fence of the proxy.
// category: 11
// racy: RAW shared proxy
// repair: add fence.proxy.async
// compile: -ldl
// vary: STORE ADD
#include <cstdio>
#include <cuda_runtime.h>
#define BLOCKS 1
#define THREADS 128
#ifdef FIXED
#define ONLY_FIXED(...) __VA_ARGS__
#else
#define ONLY_FIXED(...)
#endif
#include "tensor.h"
#ifdef V_ADD
#define COPY tensor_add
#else
#define COPY tensor_store
#endif

__global__ void kernel(const tensor_map *map, int *data, int *out)
{
	__shared__ __align__(1024) int tile[128];
	int t = threadIdx.x;

	tile[t] = t;
	ONLY_FIXED(fence_proxy_async();)
	__syncthreads();
	if (t == 0) {
		COPY(map, 48, 60, tile);         /* four of its rows are outside of the tensor */
		bulk_wait();
	}
	__syncthreads();
	out[t] = data[60 * 64 + 48 + t % 16];
}
