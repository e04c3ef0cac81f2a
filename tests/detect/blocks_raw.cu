// One block reads what another has written.
// category: 3
// racy: (RAW|WAR) global inter-block
#define BLOCKS 2
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int t = threadIdx.x;

	if (blockIdx.x == 0)
		data[t] = t + 1;
	else
		out[t] = data[t ONLY_FIXED(+ 64)];
}
