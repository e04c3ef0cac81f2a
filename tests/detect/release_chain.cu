// Release and acquire are handed on: block 0 to 1 to 2, through two flags; one link is relaxed.
// category: 4
// racy: RAW global missing-fence
#define BLOCKS 3
#define THREADS 1
#include "one.h"

__device__ int flag[2];

static __device__ void wait(int *f)
{
	int v;

	do
		__asm__ volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(f) : "memory");
	while (v == 0);
}

__global__ void kernel(int *data, int *out)
{
	if (blockIdx.x == 0) {
		data[0] = 42;
		__asm__ volatile("st.release.gpu.u32 [%0], 1;" : : "l"(&flag[0]) : "memory");
	} else if (blockIdx.x == 1) {
		wait(&flag[0]);
		ONLY_RACY(__asm__ volatile("st.relaxed.gpu.u32 [%0], 1;" : : "l"(&flag[1]) : "memory");)
		ONLY_FIXED(__asm__ volatile("st.release.gpu.u32 [%0], 1;" : : "l"(&flag[1]) : "memory");)
	} else {
		wait(&flag[1]);
		out[0] = data[0];
	}
}
