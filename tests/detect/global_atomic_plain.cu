// An atomic update does not protect against a plain read.
// category: 7
// racy: (RAW|WAR) global atomic-plain
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	int t = threadIdx.x;

	if (t == 0)
		m[0] = 0;
	__syncthreads();
	if (t < 32)
		atomicAdd(&m[0], 1);
	else
		out[t] = ONLY_RACY(m[0]) ONLY_FIXED(atomicAdd(&m[0], 0));
}
