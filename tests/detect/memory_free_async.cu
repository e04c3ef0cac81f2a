// Memory is freed in one stream while another may still use it.
// category: 13
// racy: @KIND global stream-memory
// repair: free the memory in stream 1
// vary: WAR WAW
#include "streams.h"

static void test()
{
	cudaMallocAsync(&p, BYTES, a);
	cudaEventRecord(e, a);
	cudaStreamWaitEvent(b, e, 0);
	FIRST(a);
	cudaFreeAsync(p, ONLY_RACY(b) ONLY_FIXED(a));
}
