// Clusters: a block reads the shared memory of another block without a cluster barrier after the write.
// category: 12
// racy: RAW shared cluster
#define BLOCKS 4
#define THREADS 32
#include "one.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ int s[32];
	cg::cluster_group c = cg::this_cluster();

	c.sync();
	s[threadIdx.x] = (int)blockIdx.x;
	ONLY_FIXED(c.sync();)
	out[blockIdx.x * 32 + threadIdx.x] = c.map_shared_rank(s, 1 - c.block_rank())[threadIdx.x];
	c.sync();
}
