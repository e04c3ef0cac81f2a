// Two fields of a structure, written one after the other: a race with either names its own instruction.
// category: 3
// racy: RAW global inter-block
// vary: FIRST SECOND
// options: --threads=1
#define BLOCKS 2
#include "one.h"

struct pair { int a, b; };

__global__ void kernel(int *data, int *out)
{
	volatile int one = 1;                        /* so that the two stores stay two */
	pair *p = (pair *)data + threadIdx.x ONLY_FIXED(+ 64 * blockIdx.x);

	if (blockIdx.x == 0) {
		p->b = one;
		p->a = one;
	} else {
#ifdef V_FIRST
		out[threadIdx.x] = p->a;
#else
		out[threadIdx.x] = p->b;
#endif
	}
}
