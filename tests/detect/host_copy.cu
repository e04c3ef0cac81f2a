// Pinned memory is used while a copy from or to it may still be under way.
// category: 13
// racy: @KIND global host-access
// vary: RAW WAR WAW
#include "streams.h"

static void test()
{
	volatile int *m = pinned;

#ifdef V_WAR
	cudaMemcpyAsync(p, pinned, BYTES, cudaMemcpyHostToDevice, a);
#else
	cudaMemcpyAsync(pinned, p, BYTES, cudaMemcpyDeviceToHost, a);
#endif
	ONLY_RACY(cudaStreamSynchronize(b);)
	ONLY_FIXED(cudaStreamSynchronize(a);)
#ifdef V_RAW
	if (m[0] != 0)
		printf("a value\n");
#else
	m[0] = 1;
#endif
}
