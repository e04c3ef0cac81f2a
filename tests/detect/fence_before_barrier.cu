// All threads of a block write, execute fence.sc and meet at a barrier, behind which one of them sets a flag; of the other block one thread waits for
// it, executes fence.sc, and the others read behind a barrier, without a fence of their own: the fences order.
// category: 4
// racy: @PAIR global (missing-fence|inter-block)
// vary: NO_WRITER NO_READER ONE_WRITER EARLY
// vary: RAW WAR WAW
#define BLOCKS 2
#include "one.h"

__device__ int flag;

#define EARLIER
#define WRITER __threadfence()
#define READER __threadfence()
#if !defined FIXED && defined V_NO_WRITER
#undef WRITER
#define WRITER
#elif !defined FIXED && defined V_NO_READER
#undef READER
#define READER
#elif !defined FIXED && defined V_ONE_WRITER        /* one thread of another warp does not */
#undef WRITER
#define WRITER if (t != 40) __threadfence()
#elif !defined FIXED && defined V_EARLY             /* all do, before they write */
#undef EARLIER
#undef WRITER
#define EARLIER __threadfence()
#define WRITER
#endif

__global__ void kernel(int *data, int *out)
{
	int t = threadIdx.x, r = 0;

	if (blockIdx.x == 0) {
		EARLIER;
		FIRST(data[t]);
		WRITER;
		__syncthreads();
		if (t == 0)
			atomicExch(&flag, 1);
	} else {
		if (t == 0) {
			while (atomicAdd(&flag, 0) == 0)
				;
			READER;
		}
		__syncthreads();
		SECOND(data[(t + 33) % THREADS]);
	}
	out[blockIdx.x * THREADS + t] = r;
}
