// A release needs an acquire, and an acquire a release.
// category: 4
// racy: @KIND global missing-fence
// vary: NO_ACQUIRE NO_RELEASE
// vary: RAW WAR WAW
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ int flag;

#if defined V_NO_RELEASE && !defined FIXED
#define RELEASE "relaxed"
#else
#define RELEASE "release"
#endif
#if defined V_NO_ACQUIRE && !defined FIXED
#define ACQUIRE "relaxed"
#else
#define ACQUIRE "acquire"
#endif

__global__ void kernel(int *data, int *out)
{
	int r = 0, v;

	if (blockIdx.x == 0) {
		FIRST(data[0]);
		__asm__ volatile("st." RELEASE ".gpu.u32 [%0], 1;" : : "l"(&flag) : "memory");
	} else {
		do
			__asm__ volatile("ld." ACQUIRE ".gpu.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
		while (v == 0);
		SECOND(data[0]);
	}
	out[blockIdx.x] = r;
}
