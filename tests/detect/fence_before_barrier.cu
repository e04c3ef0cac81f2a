// All threads of a block write, execute fence.sc and meet at a barrier, behind which one of them sets a flag; of the other block one thread waits for
// it, executes fence.sc, and the others read behind a barrier, without a fence of their own: the fences order.
// category: 4
// racy: @PAIR global (missing-fence|inter-block)
// vary: NO_WRITER NO_READER
// vary: RAW WAR WAW
#define BLOCKS 2
#include "one.h"

__device__ int flag;

#if defined V_NO_WRITER
#define WRITER ONLY_FIXED(__threadfence())
#define READER __threadfence()
#else
#define WRITER __threadfence()
#define READER ONLY_FIXED(__threadfence())
#endif

__global__ void kernel(int *data, int *out)
{
	int t = threadIdx.x, r = 0;

	if (blockIdx.x == 0) {
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
