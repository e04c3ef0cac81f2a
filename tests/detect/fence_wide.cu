// Fences of all scopes that hold both threads order them: gpu and sys between blocks, also mixed.
// category: 5
// racy: none
// vary: GPU_GPU GPU_SYS SYS_GPU SC_SC
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ volatile int flag;

#if defined V_GPU_GPU
#define ONE "fence.acq_rel.gpu;"
#define TWO "fence.acq_rel.gpu;"
#elif defined V_GPU_SYS
#define ONE "fence.acq_rel.gpu;"
#define TWO "fence.acq_rel.sys;"
#elif defined V_SYS_GPU
#define ONE "fence.sc.sys;"
#define TWO "fence.acq_rel.gpu;"
#else
#define ONE "membar.gl;"
#define TWO "membar.sys;"
#endif

__global__ void kernel(int *data, int *out)
{
	if (blockIdx.x == 0) {
		data[0] = 42;
		__asm__ volatile(ONE ::: "memory");
		flag = 1;
	} else {
		while (flag == 0)
			;
		__asm__ volatile(TWO ::: "memory");
		out[0] = data[0];
	}
}
