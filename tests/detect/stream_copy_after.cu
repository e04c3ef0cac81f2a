// A copy reads or writes what a kernel in another stream may still write or read.
// category: 13
// racy: @KIND global streams
// vary: RAW WAR WAW
#include "streams.h"

static void test()
{
	FIRST(a);
	ONLY_FIXED(cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0);)
	pinned[0] = 7;
#ifdef V_RAW
	cudaMemcpyAsync(pinned, p, BYTES, cudaMemcpyDeviceToHost, b);
#else
	cudaMemcpyAsync(p, pinned, BYTES, cudaMemcpyHostToDevice, b);
#endif
}
