// A flag between two blocks with half a fence on each side: the half that it needs, or the other one (sm_90).
// category: 5
// racy: @KIND global missing-fence
// vary: WRITER READER
// vary: RAW WAR WAW
// vary: GPU CTA
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ volatile int flag;

#ifdef V_GPU
#define OTHERS
#else                           /* the kernel has fences of a block as well, which do for none of the two */
#define OTHERS __asm__ volatile("fence.acquire.cta;\n\tfence.release.cta;" ::: "memory")
#endif

static __device__ void acquire() { __asm__ volatile("fence.acquire.gpu;" ::: "memory"); }
static __device__ void release() { __asm__ volatile("fence.release.gpu;" ::: "memory"); }

__global__ void kernel(int *data, int *out)
{
	int r = 0;

	if (blockIdx.x == 0) {
		FIRST(data[0]);
#if defined FIXED || !defined V_WRITER
		release();
#else
		acquire();
#endif
		OTHERS;
		flag = 1;
	} else {
		while (flag == 0)
			;
		OTHERS;
#if defined FIXED || !defined V_READER
		acquire();
#else
		release();
#endif
		SECOND(data[0]);
	}
	out[blockIdx.x] = r;
}
