// What a block has written in the ordinary way is overwritten by another one's st.async, without a fence of the proxy.
// category: 11
// racy: WAW shared proxy
// repair: add fence.proxy.async
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
	ONLY_FIXED(fence_proxy_async();)
	if (t == 0) {
		mbarrier_init(&full, 1);
		mbarrier_expect(&full, 128);
	}
	cluster_sync();
	store_async(at_rank(&s[t], other), t, at_rank(&full, other));
	mbarrier_wait(&full, 0);
	out[blockIdx.x * 32 + t] = s[t];
}
