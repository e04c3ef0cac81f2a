// cudaMemcpy from pageable memory may return before the data have arrived in device memory: a warning.
// category: 13
// racy: warning RAW global streams
// repair: cudaMemcpy from pageable memory may return before the data have arrived
#include "streams.h"

static void test()
{
	static int source[BYTES / sizeof(int)];

	cudaMemcpy(p, source, BYTES, cudaMemcpyHostToDevice);
	ONLY_FIXED(cudaStreamSynchronize(0);)
	take<<<1, N, 0, free_running>>>(p, out);
}
