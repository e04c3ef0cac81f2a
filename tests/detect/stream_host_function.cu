// A host function in a stream comes after what is before it there, and the host may hand that on.
// category: 13
// racy: RAW global streams
#include "streams.h"

static void nothing(void *)
{
}

static void test()
{
	ONLY_RACY(cudaLaunchHostFunc(a, nothing, 0);)
	put<<<1, N, 0, a>>>(p);
	ONLY_FIXED(cudaLaunchHostFunc(a, nothing, 0);)
	take<<<1, N, 0, b>>>(p, out);
}
