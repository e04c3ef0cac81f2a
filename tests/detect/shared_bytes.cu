// Neighbouring bytes are different places.
// category: 7
// racy: none
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	char *c = (char *)m;
	int t = threadIdx.x;

	c[(t % 2) * 32 + t / 2] = t;
	c[64 + t] = t;
	c[128 + t] = c[(t % 2) * 32 + t / 2];
}
