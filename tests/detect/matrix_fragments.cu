// Warps write the fragments of a product as mma has them: 8 bytes a lane, in eight rows and eight rows more. The rows of two lanes meet,
// or those of two blocks, for the pitch is too short.
// category: 3
// racy(ROWS): WAW global warp
// racy(WARPS): WAW global missing-barrier
// racy(PITCH): WAW global inter-block
// vary: ROWS WARPS PITCH
#define BLOCKS 4
#define THREADS 128
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, pitch = 32, below = 8, rows = 16;

#ifdef V_ROWS
	ONLY_RACY(below = 4;)
#elif defined V_WARPS
	ONLY_RACY(rows = 8;)
#else
	ONLY_RACY(pitch = 16;)
#endif
	int row = blockIdx.x / 2 * 32 + warp / 2 * rows + lane / 4, column = blockIdx.x % 2 * 16 + warp % 2 * 8 + lane % 4 * 2;

	for (int half = 0; half < 2; half++)
		*(int2 *)&data[(row + half * below) * pitch + column] = make_int2(100 * threadIdx.x + blockIdx.x, 7 * threadIdx.x + half);
}
