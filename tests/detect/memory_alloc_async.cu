// Memory is used in a stream that does not wait for its allocation.
// category: 13
// racy: @KIND global stream-memory
// repair: let stream 2 wait for an event recorded in stream 1 after cudaMallocAsync
// vary: RAW WAW
#include "streams.h"

static void test()
{
	cudaMallocAsync(&p, BYTES, a);
	ONLY_FIXED(cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0);)
	SECOND(b);
}
