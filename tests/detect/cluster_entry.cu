// Clusters: a block writes into the shared memory of another one that may not have begun.
// category: 12
// racy: (RAW|WAW) shared cluster-lifetime
// repair: add cluster.sync() at the start of the kernel
#define BLOCKS 2
#define THREADS 32
#include "one.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ int s[32];
	cg::cluster_group c = cg::this_cluster();

	ONLY_FIXED(c.sync();)
	c.map_shared_rank(s, 1 - c.block_rank())[threadIdx.x] = (int)blockIdx.x;
	c.sync();
	out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}
