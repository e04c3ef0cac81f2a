// A bulk copy to another block of the cluster, or to all of them, is still under way when the tile is read.
// category: 10
// racy: RAW shared async-copy
// vary: SEND MULTICAST
#define BLOCKS 2
#define THREADS 32
#include "one.h"
#include "remote.h"

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ __align__(16) int mine[32], tile[32];
	__shared__ mbarrier full;
	int t = threadIdx.x;
	unsigned rank = cluster_rank();

	mine[t] = t;
	if (t == 0) {
		mbarrier_init(&full, 1);
		fence_init();
		mbarrier_expect(&full, 128);
	}
	fence_proxy_async();
	cluster_sync();
#ifdef V_SEND
	if (t == 0)
		bulk_send(at_rank(tile, rank ^ 1), mine, 128, at_rank(&full, rank ^ 1));
#else
	if (t == 0 && rank == 0)
		bulk_multicast(tile, data, 128, &full, 3);
#endif
	cluster_sync();
	ONLY_FIXED(mbarrier_wait(&full, 0);)
	out[blockIdx.x * 32 + t] = tile[t];
	ONLY_RACY(mbarrier_wait(&full, 0);)
}
