// Cooperative groups: the target of memcpy_async is read before wait().
// category: 9
// racy: RAW shared async-copy
#include "one.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

__global__ void kernel(int *data, int *out)
{
	__shared__ int tile[64];
	cg::thread_block block = cg::this_thread_block();

	cg::memcpy_async(block, tile, data, sizeof tile);
	ONLY_FIXED(cg::wait(block);)
	out[threadIdx.x] = tile[63 - threadIdx.x];
	ONLY_RACY(cg::wait(block);)
}
