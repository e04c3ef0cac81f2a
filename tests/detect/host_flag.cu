// A kernel tells the host by a flag that data are there; a fence of the system's scope must be between the two.
// category: 13
// racy: RAW global host-access
#include "streams.h"


__global__ void produce_plainly(int *data, volatile int *flag)
{
	data[0] = 5;
	ONLY_FIXED(__threadfence_system();)
	*flag = 1;
}

static void test()
{
	volatile int *m = pinned;

	produce_plainly<<<1, 1, 0, a>>>(pinned, pinned + 1);
	while (m[1] == 0)
		;
	if (m[0] != 5)
		printf("no value\n");
}
