// A flag between two blocks, and two fences: the one of large enough a scope is on the wrong side of the data. Repaired, it is on the right one,
// and the one of small scope comes between it and the flag. Each block is a cluster of its own.
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
#if !defined FIXED && !defined V_READER
		fence();
		data[0] = 42;
#else
		data[0] = 42;
		fence();
#endif
		small_fence();
		flag = 1;
	} else {
		while (flag == 0)
			;
		small_fence();
#if !defined FIXED && !defined V_WRITER
		out[0] = data[0];
		fence();
#else
		fence();
		out[0] = data[0];
#endif
	}
}
