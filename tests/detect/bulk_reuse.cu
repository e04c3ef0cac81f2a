// A buffer of a bulk copy is filled again before all have read it.
// category: 10
// racy: WAR shared (missing-barrier|warp)
// repair: add __sync
#include "one.h"
#include "bulk.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(16) int tile[64];
	__shared__ mbarrier full[3];
	int t = threadIdx.x, sum = 0;

	if (t == 0)
		for (int i = 0; i < 3; i++)
			mbarrier_init(&full[i], 1);
	__syncthreads();
	for (int i = 0; i < 3; i++) {
		if (t == 0) {
			mbarrier_expect(&full[i], 256);
			bulk_load(tile, data + 64 * i, 256, &full[i]);
		}
		mbarrier_wait(&full[i], 0);
		sum += tile[63 - t];
		ONLY_FIXED(__syncthreads();)
	}
	out[t] = sum;
}
