// Two blocks update a counter; one of them with an atomic of block or cluster scope, which is none to the other.
// category: 6
// racy: WAW global scope
// vary: CTA CLUSTER
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int old;

	if (blockIdx.x == 0) {
		__asm__ volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(data) : "memory");
	} else {
#if defined FIXED
		__asm__ volatile("atom.relaxed.sys.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(data) : "memory");
#elif defined V_CTA
		__asm__ volatile("atom.relaxed.cta.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(data) : "memory");
#else
		__asm__ volatile("atom.relaxed.cluster.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(data) : "memory");
#endif
	}
	out[blockIdx.x] = old;
}
