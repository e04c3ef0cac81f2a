// Clusters: a thread releases a word of its own block's shared memory, and tells another block through the word at that
// place of the other one's.
// category: 4
// racy: RAW global (inter-block|missing-fence)
#define BLOCKS 2
#define THREADS 1
#include "one.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

static __device__ void add(unsigned *word, unsigned n)
{
	asm volatile("atom.add.relaxed.gpu.u32 _, [%0], %1;" : : "l"(word), "r"(n) : "memory");
}

static __device__ void add_release(unsigned *word, unsigned n)
{
	asm volatile("atom.add.release.gpu.u32 _, [%0], %1;" : : "l"(word), "r"(n) : "memory");
}

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ unsigned flag;
	cg::cluster_group c = cg::this_cluster();
	unsigned seen;

	flag = 0;
	c.sync();
	if (c.block_rank() == 1) {
		data[0] = 42;
		ONLY_RACY(add_release(&flag, 1);)
		ONLY_RACY(add(c.map_shared_rank(&flag, 0), 1);)
		ONLY_FIXED(add_release(c.map_shared_rank(&flag, 0), 1);)
	} else {
		do
			asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
		while (!seen);
		out[0] = data[0];
	}
	c.sync();
}
