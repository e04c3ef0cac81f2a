// An atomic update does not protect against a plain read.
// category: 7
// racy: (RAW|WAR) shared atomic-plain
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	int t = threadIdx.x;

	if (t == 0)
		m[0] = 0;
	__syncthreads();
	if (t < 32)
		atomicAdd(&m[0], 1);
	else
		out[t] = ONLY_RACY(m[0]) ONLY_FIXED(atomicAdd(&m[0], 0));
}
