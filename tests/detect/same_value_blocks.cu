// Two blocks store the same value.
// category: 14
// racy: warning WAW global same-value
// repair: let one thread write it
#define BLOCKS 2
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	if (threadIdx.x == 0 ONLY_FIXED(&& blockIdx.x == 0))
		data[0] = 1;
}
