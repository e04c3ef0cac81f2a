// What a thread has written in the ordinary way is read or overwritten by its own bulk copy, without a fence of the proxy.
// category: 11
// racy: @KIND @SPACE proxy
// repair: add fence.proxy.async
// vary: SHARED GLOBAL
// vary: RAW WAW
#define THREADS 1
#include "one.h"
#include "bulk.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(16) int tile[64];
	__shared__ mbarrier full;

	mbarrier_init(&full, 1);
#ifdef V_SHARED
	tile[0] = 1;
#else
	data[0] = 1;
#endif
	ONLY_FIXED(fence_proxy_async();)
#if defined V_SHARED == defined V_RAW
	bulk_store(data, tile, 256);
	bulk_wait();
#else
	mbarrier_expect(&full, 256);
	bulk_load(tile, data, 256, &full);
	mbarrier_wait(&full, 0);
#endif
}
