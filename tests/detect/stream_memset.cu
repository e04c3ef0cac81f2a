// cudaMemset of device memory returns before it is done; only streams that wait for the default stream come after it.
// category: 13
// racy: @KIND global streams
// vary: RAW WAW
#include "streams.h"

static void test()
{
	ONLY_RACY(cudaMemset(p, 1, BYTES);)
	ONLY_FIXED(cudaMemsetAsync(p, 1, BYTES, free_running);)
	SECOND(free_running);
}
