// A cluster barrier with a relaxed arrival orders what a fence before it has released, and nothing without one.
// category: 12
// racy: @KIND global cluster
// repair: use barrier.cluster.arrive without .relaxed, or __threadfence() before it
// vary: RAW WAR WAW
#define BLOCKS 2
#define THREADS 32
#include "one.h"

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	int r = 0;

	if (blockIdx.x == 0)
		FIRST(data[threadIdx.x]);
	ONLY_FIXED(__threadfence();)
	__asm__ volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" : : : "memory");
	if (blockIdx.x == 1)
		SECOND(data[threadIdx.x]);
	out[blockIdx.x * 32 + threadIdx.x] = r;
}
