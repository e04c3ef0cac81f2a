// Each host thread has a default stream of its own (cudaStreamPerThread).
// category: 13
// racy: @KIND global streams
// repair: the thread's default stream
// vary: RAW WAR WAW
#include "streams.h"
#include <thread>

static void first()
{
	FIRST(cudaStreamPerThread);
	ONLY_FIXED(cudaStreamSynchronize(cudaStreamPerThread);)
}

static void test()
{
	std::thread other(first);

	other.join();
	SECOND(cudaStreamPerThread);
}
