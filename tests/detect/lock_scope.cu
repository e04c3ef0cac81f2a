// A lock between blocks whose atomics or fences are for one block.
// category: 8
// racy: (RAW|WAR|WAW) global (scope|missing-fence)
// vary: ATOMIC FENCE
#define BLOCKS 4
#define THREADS 1
#include "one.h"

__device__ int lock;

__global__ void kernel(int *data, int *out)
{
#if defined V_ATOMIC && !defined FIXED
	while (atomicCAS_block(&lock, 0, 1) != 0)
#else
	while (atomicCAS(&lock, 0, 1) != 0)
#endif
		;
#if defined V_FENCE && !defined FIXED
	__threadfence_block();
	data[0] += blockIdx.x;
	__threadfence_block();
#else
	__threadfence();
	data[0] += blockIdx.x;
	__threadfence();
#endif
#if defined V_ATOMIC && !defined FIXED
	atomicExch_block(&lock, 0);
#else
	atomicExch(&lock, 0);
#endif
}
