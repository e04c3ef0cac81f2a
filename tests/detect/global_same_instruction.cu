// One instruction, two lanes, one place, different values.
// category: 1
// racy: WAW global same-instruction
#define THREADS 32
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	int t = threadIdx.x;

	m[t] = 0;
	__syncthreads();
	m[t / 2 ONLY_FIXED(+ t % 2 * 16)] = t + 1;
	__syncthreads();
	out[t] = m[t];
}
