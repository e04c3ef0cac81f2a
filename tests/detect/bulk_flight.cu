// A bulk copy is under way: its target is read or overwritten, or its source is overwritten.
// category: 10
// racy: @KIND @SPACE async-copy
// vary: SHARED GLOBAL
// vary: RAW WAR WAW
#define THREADS 1
#include "one.h"
#include "bulk.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(16) int tile[64];
	__shared__ mbarrier full;
	int r = 0;

	mbarrier_init(&full, 1);
#if defined V_SHARED == defined V_WAR
	tile[0] = 1;
	fence_proxy_async();
	bulk_store(data, tile, 256);                /* from shared to global memory */
	ONLY_FIXED(bulk_wait();)
#else
	mbarrier_expect(&full, 256);
	bulk_load(tile, data, 256, &full);
	ONLY_FIXED(mbarrier_wait(&full, 0);)
#endif
#ifdef V_SHARED
	SECOND(tile[0]);
#else
	SECOND(data[0]);
#endif
	out[0] = r;
}
