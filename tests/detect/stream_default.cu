// The legacy default stream waits for streams and they for it, but not for those made with cudaStreamNonBlocking.
// category: 13
// racy: @KIND global streams
// repair: a stream made with cudaStreamNonBlocking and the default stream do not wait for each other
// vary: RAW WAR WAW
#include "streams.h"

static void test()
{
	FIRST(0);
	SECOND(ONLY_RACY(free_running) ONLY_FIXED(a));
	FIRST(ONLY_RACY(free_running) ONLY_FIXED(0));
}
