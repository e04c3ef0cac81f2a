// st.release and ld.acquire order what they carry; relaxed ones do not.
// category: 4
// racy: RAW global missing-fence
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ int flag;

__global__ void kernel(int *data, int *out)
{
	int v;

	if (blockIdx.x == 0) {
		data[0] = 42;
		ONLY_RACY(__asm__ volatile("st.relaxed.gpu.u32 [%0], 1;" : : "l"(&flag) : "memory"));
		ONLY_FIXED(__asm__ volatile("st.release.gpu.u32 [%0], 1;" : : "l"(&flag) : "memory"));
	} else {
		do
			__asm__ volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
		while (v == 0);
		out[0] = data[0];
	}
}
