// A warp loads operands into two buffers, a warpgroup multiplies them; one thread of the warpgroup tells when a product is
// complete, which is so for all of it (a group is the warpgroup's). Without the wait a buffer may be overwritten too early.
// category: 11
// racy: WAR shared missing-barrier
#define THREADS 160
#include "one.h"
#include "bulk.h"
#include "wgmma.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(128) unsigned s[2][768];
	__shared__ mbarrier full[2], empty[2];
	float d[4] = {0, 0, 0, 0};
	unsigned t = threadIdx.x;

	if (t == 0) {
		for (int k = 0; k < 2; k++) {
			mbarrier_init(&full[k], 1);
			mbarrier_init(&empty[k], 1);
		}
		fence_proxy_async();
	}
	__syncthreads();
	if (t == 128) {
		for (int k = 0; k < 6; k++) {
			if (k >= 2)
				mbarrier_wait(&empty[k % 2], (k / 2 + 1) % 2);
			mbarrier_expect(&full[k % 2], 3072);
			bulk_load(s[k % 2], data, 3072, &full[k % 2]);
		}
	} else if (t < 128) {
		for (int k = 0; k < 6; k++) {
			mbarrier_wait(&full[k % 2], k / 2 % 2);
			product(d, s[k % 2], s[k % 2] + 512);
			ONLY_FIXED(wait_for_product();)
			if (t == 33)
				mbarrier_arrive(&empty[k % 2]);
		}
		ONLY_RACY(wait_for_product();)
		out[t] = (int)(d[0] + d[1] + d[2] + d[3]);
	}
}
// target: a
