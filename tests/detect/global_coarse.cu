// With a granularity of four bytes neighbouring bytes are one place: labelled in the report.
// category: 7
// racy: WAW global missing-barrier
// options: --granularity=4
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int *m = data;
	char *c = (char *)m;
	int t = threadIdx.x;

	if (t % 32 == 0) {
		ONLY_RACY(c[t / 32] = t + 1);
		ONLY_FIXED(m[t / 32] = t + 1);
	}
	__syncthreads();
	out[t] = m[0];
}
