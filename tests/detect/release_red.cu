// A reduction on the flag and a fence behind it: no acquire pattern, for a reduction returns nothing. An atomic does.
// category: 4
// racy: @KIND global missing-fence
// vary: RAW WAR WAW
#define BLOCKS 3
#define THREADS 1
#include "one.h"

__device__ int flag;
__device__ volatile int go, told;

static __device__ void fence()
{
	__asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
}

__global__ void kernel(int *data, int *out)
{
	int r = 0;

	if (blockIdx.x == 0) {
		FIRST(data[0]);
		fence();
		__asm__ volatile("st.relaxed.gpu.u32 [%0], 1;" : : "l"(&flag) : "memory");
		go = 1;
	} else if (blockIdx.x == 1) {
		while (go == 0)         /* without a fence: what block 0 released is not passed on */
			;
		told = 1;
	} else {
		while (told == 0)
			;
		ONLY_RACY(__asm__ volatile("red.relaxed.gpu.add.u32 [%0], 1;" : : "l"(&flag) : "memory");)
		ONLY_FIXED(__asm__ volatile("atom.relaxed.gpu.add.u32 %0, [%1], 1;" : "=r"(r) : "l"(&flag) : "memory");)
		fence();
		SECOND(data[0]);
	}
	out[blockIdx.x] = r;
}
