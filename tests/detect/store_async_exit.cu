// A block ends while another one's st.async may still come to its shared memory.
// category: 12
// racy: WAR shared cluster-lifetime
#define BLOCKS 2
#define THREADS 32
#include "one.h"
#include "remote.h"

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ int s[32];
	__shared__ mbarrier full;
	unsigned other = cluster_rank() ^ 1;

	if (threadIdx.x == 0) {
		mbarrier_init(&full, 1);
		mbarrier_expect(&full, 128);
	}
	cluster_sync();
	store_async(at_rank(&s[threadIdx.x], other), threadIdx.x, at_rank(&full, other));
	cluster_sync();
	ONLY_FIXED(mbarrier_wait(&full, 0);)
}
