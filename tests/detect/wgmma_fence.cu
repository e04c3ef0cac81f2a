// wgmma: the threads' writes of the operands are not made visible to the async proxy.
// category: 11
// racy: RAW shared proxy
#define THREADS 128
#include "one.h"
#include "wgmma.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(128) unsigned s[768];
	float d[4] = {0, 0, 0, 0};

	for (unsigned i = threadIdx.x; i < 768; i += 128)
		s[i] = 0x3c003c00u;
	ONLY_FIXED(proxy_fence();)
	__syncthreads();
	product(d, s, s + 512);
	wait_for_product();
	out[threadIdx.x] = (int)(d[0] + d[1] + d[2] + d[3]);
}
// target: a
