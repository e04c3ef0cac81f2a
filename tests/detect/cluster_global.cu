// Clusters: the cluster's barrier orders global memory too, a barrier of the block does not reach the other block.
// category: 12
// racy: @KIND global (cluster|inter-block)
// vary: RAW WAR WAW
#define BLOCKS 4
#define THREADS 32
#include "one.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	cg::cluster_group c = cg::this_cluster();
	int *m = data + blockIdx.x / 2 * 32;
	int t = threadIdx.x, r = 0;

	if (c.block_rank() == 0)
		FIRST(m[t]);
	ONLY_RACY(__syncthreads();)
	ONLY_FIXED(c.sync();)
	if (c.block_rank() == 1)
		SECOND(m[t]);
	out[blockIdx.x * 32 + t] = r;
}
