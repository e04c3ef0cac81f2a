// Release and acquire of too small a scope. Each block is a cluster of its own.
// category: 5
// racy: (RAW|WAR) global (scope|inter-block|missing-fence)
// vary: RELEASE ACQUIRE
// vary: CTA CLUSTER
#define BLOCKS 2
#define THREADS 1
#include "one.h"

__device__ int flag;

#ifdef V_CTA
#define SMALL "cta"
#else
#define SMALL "cluster"
#endif
#if defined V_RELEASE && !defined FIXED
#define RELEASE SMALL
#else
#define RELEASE "gpu"
#endif
#if defined V_ACQUIRE && !defined FIXED
#define ACQUIRE SMALL
#else
#define ACQUIRE "gpu"
#endif

__global__ void kernel(int *data, int *out)
{
	int v;

	if (blockIdx.x == 0) {
		data[0] = 42;
		__asm__ volatile("st.release." RELEASE ".u32 [%0], 1;" : : "l"(&flag) : "memory");
	} else {
		do
			__asm__ volatile("ld.acquire." ACQUIRE ".u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
		while (v == 0);
		out[0] = data[0];
	}
}
