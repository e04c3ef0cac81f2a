// The phase expects the bytes of one copy, and two are under way: it is complete when the first one is.
// category: 10
// racy: RAW shared async-copy
#include "one.h"
#include "bulk.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(16) int tile[2][64];
	__shared__ mbarrier full, other;
	int t = threadIdx.x;

	if (t == 0) {
		mbarrier_init(&full, 1);
		mbarrier_init(&other, 1);
	}
	__syncthreads();
	if (t == 0) {
		mbarrier_expect(&full, ONLY_FIXED(512) ONLY_RACY(256));
		bulk_load(tile[0], data, 256, &full);
		ONLY_FIXED(bulk_load(tile[1], data + 64, 256, &full);)
		ONLY_RACY(mbarrier_expect(&other, 256);)
		ONLY_RACY(bulk_load(tile[1], data + 64, 256, &other);)
	}
	mbarrier_wait(&full, 0);
	out[t] = tile[0][t] + tile[1][t];
	ONLY_RACY(mbarrier_wait(&other, 0);)
}
