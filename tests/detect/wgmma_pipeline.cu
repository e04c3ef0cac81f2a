// A thread loads an operand into two buffers in turn, a warpgroup multiplies; one thread of the warpgroup tells when a product is
// complete, which is so for all of it (a group is the warpgroup's). Without the wait a buffer may be overwritten too early.
// category: 11
// racy: WAR shared async-copy
#define THREADS 160
#include "one.h"
#include "bulk.h"
#include "wgmma.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(128) unsigned a[512], b[2][64];
	__shared__ mbarrier full[2], empty[2];
	float d[4] = {0, 0, 0, 0};
	unsigned t = threadIdx.x;

	if (t < 128)
		for (int i = 0; i < 4; i++)
			a[128 * i + t] = 0x3c003c00u;
	if (t == 0)
		for (int k = 0; k < 2; k++) {
			mbarrier_init(&full[k], 1);
			mbarrier_init(&empty[k], 1);
		}
	proxy_fence();
	__syncthreads();
	if (t == 128) {
		for (int k = 0; k < 3; k++) {
			if (k >= 2)
				mbarrier_wait(&empty[k % 2], 0);
			mbarrier_expect(&full[k % 2], 256);
			bulk_load(b[k % 2], data, 256, &full[k % 2]);
		}
	} else if (t < 128) {
		for (int k = 0; k < 3; k++) {
			mbarrier_wait(&full[k % 2], k / 2);
			product(d, a, b[k % 2]);
			ONLY_FIXED(wait_for_product();)
			if (t == 33)
				mbarrier_arrive(&empty[k % 2]);
		}
		ONLY_RACY(wait_for_product();)
		out[t] = (int)(d[0] + d[1] + d[2] + d[3]);
	}
}
// target: a
