// The lanes of a warp take a lock in turn, and those that wait for it count: they change memory, and still must let the
// holder go on.
// category: 8
// racy: (RAW|WAR|WAW) global (missing-fence|warp)
// options: --divergence=its
// only: its
#define THREADS 8
#include "one.h"

__device__ int lock, tries;

__global__ void kernel(int *data, int *out)
{
	for (bool done = false; !done;) {
		if (atomicCAS(&lock, 0, 1) == 0) {
			ONLY_FIXED(__threadfence();)
			data[0] += threadIdx.x + 1;
			ONLY_FIXED(__threadfence();)
			atomicExch(&lock, 0);
			done = true;
		} else {
			atomicAdd(&tries, 1);
		}
	}
}
