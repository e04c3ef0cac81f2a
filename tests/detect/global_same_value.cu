// All threads write the same value to one place: a warning.
// category: 14
// racy: warning WAW global same-value
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	int t = threadIdx.x;

	if (t ONLY_RACY(>= 0) ONLY_FIXED(== 0))
		m[0] = 7;
	__syncthreads();
	out[t] = m[0];
}
