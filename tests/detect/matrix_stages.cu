// Tiles are copied ahead into three stages in turn, as matrix products do it. Not all of a tile is there yet; or it is overwritten while
// another warp still reads it.
// category: 9
// racy(WAIT): RAW shared async-copy
// racy(BARRIER): WAR shared missing-barrier
// racy(BARRIER): RAW shared async-copy
// racy(AHEAD): WAR shared missing-barrier
// vary: WAIT BARRIER AHEAD
#include "one.h"
#include <cuda_pipeline.h>

enum { STAGES = 3, TILES = 8 };

__global__ void kernel(int *data, int *out)
{
	__shared__ __align__(16) int tile[STAGES][256];
	int t = threadIdx.x, sum = 0, stage = 0, next = STAGES - 1;

	for (int k = 0; k < STAGES - 1; k++) {
		__pipeline_memcpy_async(&tile[k][4 * t], &data[256 * k + 4 * t], 16);
		__pipeline_commit();
	}
	for (int k = 0; k < TILES; k++) {
#if defined V_WAIT && !defined FIXED
		__pipeline_wait_prior(STAGES - 1);
#else
		__pipeline_wait_prior(STAGES - 2);
#endif
#if !defined V_BARRIER || defined FIXED
		__syncthreads();
#endif
#if defined V_AHEAD && !defined FIXED
		next = stage;
#endif
		for (int i = 0; i < 4; i++)
			sum += tile[stage][4 * (63 - t) + i];
		if (k + STAGES - 1 < TILES)
			__pipeline_memcpy_async(&tile[next][4 * t], &data[256 * (k + STAGES - 1) + 4 * t], 16);
		__pipeline_commit();
		stage = (stage + 1) % STAGES;
		next = (next + 1) % STAGES;
	}
	out[t] = sum;
}
