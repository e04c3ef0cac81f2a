// Clusters: a block may end before another one has read its shared memory.
// category: 12
// racy: (RAW|WAR) shared cluster-lifetime
// repair: add cluster.sync() before the kernel ends
#define BLOCKS 2
#define THREADS 32
#include "one.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ int s[32];
	cg::cluster_group c = cg::this_cluster();

	s[threadIdx.x] = (int)blockIdx.x;
	c.sync();
	out[blockIdx.x * 32 + threadIdx.x] = c.map_shared_rank(s, 1 - c.block_rank())[threadIdx.x];
	ONLY_FIXED(c.sync();)
}
