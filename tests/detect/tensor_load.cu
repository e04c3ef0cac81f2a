// A tile of a tensor is read before the copy is complete.
// category: 10
// racy: RAW shared async-copy
// repair: mbarrier
// compile: -ldl
// vary: PLAIN SWIZZLED
#include <cstdio>
#include <cuda_runtime.h>
#define BLOCKS 1
#define THREADS 128
#define ONLY_ONE(...) if (threadIdx.x == 0) { __VA_ARGS__ }
#ifdef V_SWIZZLED
#define SWIZZLED
#endif
#ifdef FIXED
#define ONLY_FIXED(...) __VA_ARGS__
#else
#define ONLY_FIXED(...)
#endif
#include "tensor.h"

__global__ void kernel(const tensor_map *map, int *data, int *out)
{
	__shared__ __align__(1024) int tile[128];
	__shared__ mbarrier full;
	int t = threadIdx.x;

	ONLY_ONE(mbarrier_init(&full, 1); fence_proxy_async();)
	__syncthreads();
	ONLY_ONE(mbarrier_expect(&full, 512); tensor_load(tile, map, 16, 8, &full);)
	ONLY_FIXED(mbarrier_wait(&full, 0);)
	__syncthreads();
	out[t] = tile[t];
#ifndef FIXED
	mbarrier_wait(&full, 0);
#endif
}
