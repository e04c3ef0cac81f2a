// All threads write the same value to one place: a warning.
// category: 14
// racy: warning WAW shared same-value
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	__shared__ int m[64];
	int t = threadIdx.x;

	if (t ONLY_RACY(>= 0) ONLY_FIXED(== 0))
		m[0] = 7 + data[1];      /* else nvcc keeps it in a register */
	__syncthreads();
	out[t] = m[0];
}
