// Clusters: a cluster of one block; its barrier orders like another one.
// category: 12
// racy: RAW shared missing-barrier
// racy: WAR shared missing-barrier
#define THREADS 64
#include "one.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void kernel(int *data, int *out)
{
	__shared__ int s[64];

	s[threadIdx.x] = (int)threadIdx.x;
	ONLY_FIXED(cg::this_cluster().sync();)
	out[threadIdx.x] = s[63 - threadIdx.x];
}
