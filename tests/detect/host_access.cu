// The host reads or writes managed or pinned memory while a kernel may still run that writes or reads it.
// category: 13
// racy: @KIND global host-access
// repair: before the host's access (cudaStreamSynchronize
// vary: RAW WAR WAW
// vary: MANAGED PINNED
#include "streams.h"

static void test()
{
	volatile int *m;

#ifdef V_MANAGED
	p = managed;
#else
	p = pinned;
#endif
	m = p;
	m[3] = 1;
	FIRST(a);
	m[N] = 1;                /* a neighbour of what the kernel uses */
	ONLY_FIXED(cudaStreamSynchronize(a);)
#ifdef V_RAW
	if (m[3] == 0)
		printf("no value\n");
#else
	m[3] = 2;
#endif
}
