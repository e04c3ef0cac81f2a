// Clusters: data and a flag in the shared memory of another block, with a fence for one block in between.
// category: 5
// racy: @KIND shared scope
// repair: __threadfence()
// vary: RAW WAR WAW
#define BLOCKS 2
#define THREADS 1
#include "one.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ int s[1], flag;
	cg::cluster_group c = cg::this_cluster();
	int r = 0;

	flag = s[0] = 0;
	c.sync();
	if (c.block_rank() == 1) {
		FIRST(*c.map_shared_rank(s, 0));
		ONLY_RACY(__threadfence_block();)
		ONLY_FIXED(__threadfence();)
		atomicExch(c.map_shared_rank(&flag, 0), 1);
	} else {
		while (atomicAdd(&flag, 0) == 0)
			;
		__threadfence();
		SECOND(s[0]);
	}
	c.sync();
	out[blockIdx.x] = r + s[0];
}
