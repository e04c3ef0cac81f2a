// An asynchronous copy and a kernel in another stream.
// category: 13
// racy: @KIND global streams
// vary: RAW WAR WAW
#include "streams.h"

static void test()
{
#if defined(V_WAR)
	cudaMemcpyAsync(pinned, p, BYTES, cudaMemcpyDeviceToHost, a);
#else
	cudaMemcpyAsync(p, pinned, BYTES, cudaMemcpyHostToDevice, a);
#endif
	ONLY_FIXED(cudaStreamSynchronize(a);)
	SECOND(b);
}
