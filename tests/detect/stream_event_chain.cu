// Order through a third stream; its event is waited for in the end only.
// category: 13
// racy: RAW global streams
#include "streams.h"

static void test()
{
	cudaEvent_t f;

	cudaEventCreate(&f);
	put<<<1, N, 0, a>>>(p);
	cudaEventRecord(e, a);
	cudaStreamWaitEvent(free_running, e, 0);
	cudaEventRecord(f, ONLY_FIXED(free_running) ONLY_RACY(b));
	cudaStreamWaitEvent(b, f, 0);
	take<<<1, N, 0, b>>>(p, out);
}
