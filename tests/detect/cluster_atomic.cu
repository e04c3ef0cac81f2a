// Clusters: two blocks update one word of shared memory with atomics whose scope is a block.
// category: 6
// racy: WAW shared scope
// repair: use the atomic without _block
#define BLOCKS 4
#define THREADS 32
#include "one.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ int s[1];
	cg::cluster_group c = cg::this_cluster();

	if (threadIdx.x == 0)
		s[0] = 0;
	c.sync();
	ONLY_RACY(atomicAdd_block(c.map_shared_rank(s, 0), 1);)
	ONLY_FIXED(atomicAdd(c.map_shared_rank(s, 0), 1);)
	c.sync();
	if (threadIdx.x == 0)
		out[blockIdx.x] = s[0];
}
