// A flag between two blocks, with a fence of too small a scope on one side or both. Each block is a cluster of its own.
// category: 5
// racy: RAW global (scope|missing-fence)
// vary: WRITER READER BOTH
// vary: CTA CLUSTER
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ volatile int flag;

static __device__ void small_fence()
{
#ifdef V_CTA
	__asm__ volatile("fence.acq_rel.cta;" ::: "memory");
#else
	__asm__ volatile("fence.acq_rel.cluster;" ::: "memory");
#endif
}

static __device__ void fence()
{
	__asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
}

__global__ void kernel(int *data, int *out)
{
	if (blockIdx.x == 0) {
		data[0] = 42;
#if !defined FIXED && !defined V_READER
		small_fence();
#else
		fence();
#endif
		flag = 1;
	} else {
		while (flag == 0)
			;
#if !defined FIXED && !defined V_WRITER
		small_fence();
#else
		fence();
#endif
		out[0] = data[0];
	}
}
