// Compiled for a default stream per thread: stream 0 of two host threads are two streams.
// category: 13
// racy: @KIND global streams
// repair: the thread's default stream
// compile: --default-stream per-thread
// vary: RAW WAR WAW
#include "streams.h"
#include <thread>

static void first()
{
	FIRST(0);
	ONLY_FIXED(cudaStreamSynchronize(0);)
}

static void test()
{
	std::thread other(first);

	other.join();
	SECOND(0);
}
