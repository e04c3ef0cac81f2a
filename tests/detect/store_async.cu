// What st.async or red.async brings from another block is read behind a barrier of the cluster, which does not wait for it.
// category: 10
// racy: RAW shared async-copy
// vary: ST RED
#define BLOCKS 2
#define THREADS 32
#include "one.h"
#include "remote.h"

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ int s[32];
	__shared__ mbarrier full;
	int t = threadIdx.x;
	unsigned other = cluster_rank() ^ 1;

	s[t] = 0;
	fence_proxy_async();
	if (t == 0) {
		mbarrier_init(&full, 1);
		mbarrier_expect(&full, 128);
	}
	cluster_sync();
#ifdef V_ST
	store_async(at_rank(&s[t], other), t, at_rank(&full, other));
#else
	add_async(at_rank(&s[0], other), t, at_rank(&full, other));   /* all threads to one word */
#endif
	cluster_sync();
#ifdef FIXED
	if (t == 0)
		mbarrier_wait(&full, 0);
	__syncthreads();
#endif
	out[blockIdx.x * 32 + t] = s[t];
	ONLY_RACY(mbarrier_wait(&full, 0);)
}
