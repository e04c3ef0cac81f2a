// Either operand of a wgmma in shared memory is overwritten while the product may still read it: by a thread, or after a
// wait for an older group only.
// category: 11
// racy: WAR shared async-copy
// repair: wgmma.wait_group
// vary: A B
// vary: NO_WAIT OLDER
#define THREADS 128
#include "one.h"
#include "wgmma.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(128) unsigned s[768];
	float d[4] = {0, 0, 0, 0};
#ifdef V_A
	unsigned *operand = s;
#else
	unsigned *operand = s + 512;
#endif

	for (unsigned i = threadIdx.x; i < 768; i += 128)
		s[i] = 0x3c003c00u;
	proxy_fence();
	__syncthreads();
#ifdef V_OLDER
	product(d, s, s + 512);
	product(d, s, s + 512);
	ONLY_RACY(asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");)
#else
	product(d, s, s + 512);
#endif
	ONLY_FIXED(wait_for_product();)
	__syncthreads();
	operand[threadIdx.x] = 0;
	ONLY_RACY(wait_for_product();)
	out[threadIdx.x] = (int)(d[0] + d[1] + d[2] + d[3]);
}
// target: a
