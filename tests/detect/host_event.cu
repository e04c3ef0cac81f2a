// The host waits for an event that stands before the kernel, or asks for another one.
// category: 13
// racy: RAW global host-access
// vary: SYNCHRONIZE QUERY
#include "streams.h"

static void test()
{
	volatile int *m = managed;

	ONLY_RACY(cudaEventRecord(e, a);)
	put<<<1, N, 0, a>>>(managed);
	ONLY_FIXED(cudaEventRecord(e, a);)
#ifdef V_QUERY
	while (cudaEventQuery(e) == cudaErrorNotReady)
		;
#else
	cudaEventSynchronize(e);
#endif
	if (m[3] != 4)
		printf("no value\n");
}
