// Strong accesses of many threads, and then a strong write that is none to them: its scope does not hold them. One of other bytes is strong to
// them, since none is an atomic (docs/DETECTORS.md, "Parts of words"). The thread's own access came first.
// category: 6
// racy(SCOPE): WAR global scope
// racy(SIZE): none
// racy(ATOMIC): WAW global scope
// vary: SCOPE ATOMIC SIZE
#define BLOCKS 5
#define THREADS 1
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	int v, n = 0;

#ifdef V_ATOMIC
	v = atomicAdd(data, 1);
#else
	__asm__ volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(data) : "memory");
#endif
	out[blockIdx.x] = v;
	if (blockIdx.x) {
		atomicAdd(data + 1, 1);
		return;
	}
	while (n < BLOCKS - 1)           /* relaxed, so that nothing is ordered by it */
		n = atomicAdd(data + 1, 0);
#if defined FIXED
	__asm__ volatile("st.relaxed.gpu.u32 [%0], 1;" : : "l"(data) : "memory");
#elif defined V_SIZE
	__asm__ volatile("st.relaxed.gpu.u16 [%0], %1;" : : "l"(data), "h"((short)1) : "memory");
#else
	__asm__ volatile("st.relaxed.cta.u32 [%0], 1;" : : "l"(data) : "memory");
#endif
}
