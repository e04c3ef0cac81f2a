// A flag between two blocks needs a fence on both sides, whatever the kind of the two accesses.
// category: 4
// racy: @KIND global missing-fence
// repair(WRITER): before the flag is set
// repair(READER): after the flag is read
// vary: WRITER READER BOTH
// vary: RAW WAR WAW
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ volatile int flag;

__global__ void kernel(int *data, int *out)
{
	int r = 0;

	if (blockIdx.x == 0) {
		FIRST(data[0]);
#if defined FIXED || defined V_READER
		__threadfence();
#endif
		flag = 1;
	} else {
		while (flag == 0)
			;
#if defined FIXED || defined V_WRITER
		__threadfence();
#endif
		SECOND(data[0]);
	}
	out[blockIdx.x] = r;
}
