// wgmma: the operands in shared memory are overwritten before wgmma.wait_group.
// category: 11
// racy: WAR shared async-copy
// repair: add wgmma.wait_group
#define THREADS 128
#include "one.h"
#include "wgmma.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(128) unsigned s[768];
	float d[4] = {0, 0, 0, 0};

	for (unsigned i = threadIdx.x; i < 768; i += 128)
		s[i] = 0x3c003c00u;
	proxy_fence();
	__syncthreads();
	product(d, s, s + 512);
	ONLY_FIXED(wait_for_product();)
	__syncthreads();
	s[threadIdx.x] = 0;
	ONLY_RACY(wait_for_product();)
	out[threadIdx.x] = (int)(d[0] + d[1] + d[2] + d[3]);
}
// target: a
