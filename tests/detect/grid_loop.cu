// A stencil with two buffers needs the grid's barrier in every round, not in the first one only.
// category: 3
// racy: (RAW|WAR) global (inter-block|missing-fence)
#define BLOCKS 2
#define COOPERATIVE
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	int i = blockIdx.x * 64 + threadIdx.x;
	int *from = data, *to = out;

	from[i] = i;
	grid.sync();
	for (int round = 0; round < 3; round++) {
		int *swap = from;

		to[i] = from[(i + 64) % 128] + 1;
		from = to;
		to = swap;
		ONLY_RACY(__syncthreads();)
		ONLY_FIXED(grid.sync();)
	}
}
