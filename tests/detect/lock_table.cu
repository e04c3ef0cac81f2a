// A table with a lock in each entry. Most entries are one thread's alone; some are another one's as well, who comes without
// the lock, or without a fence.
// category: 8
// racy(LOCK): (RAW|WAW) global lock
// racy(LOCK): WAW global lock
// racy(FENCE): RAW global missing-fence
// racy(FENCE): WAW global missing-fence
// vary: LOCK FENCE
// options: --threads=1
#define BLOCKS 2
#include "one.h"

struct entry { int lock, count, sum; };

__global__ void kernel(int *data, int *out)
{
	bool other = blockIdx.x == 1 && threadIdx.x % 8 == 3;        /* to an entry of block 0 */
	entry *e = (entry *)data + threadIdx.x + (other ? 0 : 64 * blockIdx.x);
#ifdef V_LOCK
	bool take = ONLY_FIXED(true) ONLY_RACY(!other), fence = true;
#else
	bool take = true, fence = ONLY_FIXED(true) ONLY_RACY(false);
#endif

	for (int i = 0; i < 3; i++) {
		for (int done = 0; !done;) {
			if (!take || atomicCAS(&e->lock, 0, 1) == 0) {
				if (fence)
					__threadfence();
				e->count++;
				e->sum += threadIdx.x;
				if (fence)
					__threadfence();
				if (take)
					atomicExch(&e->lock, 0);
				done = 1;
			}
			asm volatile("" : "+r"(done));
		}
	}
}
