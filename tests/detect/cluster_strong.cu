// Clusters: a strong load and a strong store of two blocks, one of them of block scope.
// category: 6
// racy: (RAW|WAR) shared scope
// vary: LOAD STORE
#define BLOCKS 2
#define THREADS 1
#include "one.h"
#include <cooperative_groups.h>

#if defined V_LOAD && !defined FIXED
#define LOAD "cta"
#else
#define LOAD "cluster"
#endif
#if defined V_STORE && !defined FIXED
#define STORE "cta"
#else
#define STORE "cluster"
#endif

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ int s[1];
	cg::cluster_group c = cg::this_cluster();
	int v;

	s[0] = 0;
	c.sync();
	if (c.block_rank() == 0) {
		__asm__ volatile("st.relaxed." STORE ".u32 [%0], 1;" : : "l"(s) : "memory");
	} else {
		__asm__ volatile("ld.relaxed." LOAD ".u32 %0, [%1];" : "=r"(v) : "l"(c.map_shared_rank(s, 0)) : "memory");
		out[0] = v;
	}
	c.sync();
}
