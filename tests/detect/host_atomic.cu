// An atomic of the GPU's scope is none for the host; one of the system's scope is.
// category: 6
// racy: RAW global host-access
// repair: give the atomic the scope of the system
#include "streams.h"

__global__ void count(int *m)
{
	ONLY_RACY(atomicAdd(m, 1);)
	ONLY_FIXED(atomicAdd_system(m, 1);)
}

static void test()
{
	volatile int *m = managed;

	count<<<1, N, 0, a>>>(managed);
	printf("%d so far\n", m[0]);
}
