// The fence is there, at the wrong place: before the data is written, or before the flag is read.
// category: 4
// racy: RAW global missing-fence
// vary: WRITER READER
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ volatile int flag;

__global__ void kernel(int *data, int *out)
{
	if (blockIdx.x == 0) {
#if defined V_WRITER && !defined FIXED
		__threadfence();
		data[0] = 42;
#else
		data[0] = 42;
		__threadfence();
#endif
		flag = 1;
	} else {
#if defined V_READER && !defined FIXED
		__threadfence();
		while (flag == 0)
			;
#else
		while (flag == 0)
			;
		__threadfence();
#endif
		out[0] = data[0];
	}
}
