// The event is recorded before the kernel that it should stand for, or in the wrong stream.
// category: 13
// racy: @KIND global streams
// vary: RAW WAR WAW
// vary: EARLY WRONG
#include "streams.h"

static void test()
{
#if defined(V_EARLY) && !defined(FIXED)
	cudaEventRecord(e, a);
#endif
	FIRST(a);
#if defined(V_WRONG) && !defined(FIXED)
	cudaEventRecord(e, b);
#endif
	ONLY_FIXED(cudaEventRecord(e, a);)
	cudaStreamWaitEvent(b, e, 0);
	SECOND(b);
}
