// Threads take numbers by an atomic, and two of them write, not one: an atomic before
// the write tells nobody of it, so no fence would help.
// category: 3
// racy: WAW global inter-block
// repair: let one block alone write it
#define BLOCKS 4
#define THREADS 64
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int i = blockIdx.x * THREADS + threadIdx.x;

	if (threadIdx.x == 0) {
		int before = atomicAdd(&data[0], 1);
		if (before == 0 ONLY_RACY(|| before == 1))
			out[0] = i;
	}
}
