// Before Volta the lanes of a warp ran in step: under the stack model execution orders them.
// category: 1
// racy: none
// options: --divergence=stack
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	int t = threadIdx.x;

	m[t] = t + 1;
	out[t] = m[t ^ 1];
}
