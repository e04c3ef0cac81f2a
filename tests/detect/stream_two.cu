// Kernels in two streams; an event makes one wait for the other.
// category: 13
// racy: @KIND global streams
// repair: record an event in stream 1 after
// vary: RAW WAR WAW
#include "streams.h"

static void test()
{
	FIRST(a);
	ONLY_FIXED(cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0);)
	SECOND(b);
}
