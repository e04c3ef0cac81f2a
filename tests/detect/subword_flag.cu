// Atomics of 8 and 16 bits as libcu++ makes them (cuda::atomic_ref): a compare-and-swap of the word they lie in, loads of 16 bits, stores of 16.
// They are atomic to each other, and order what others write and read.
// category: 4
// racy: @PAIR global missing-fence
// vary: BYTE HALF
// vary: RAW WAR WAW
#define BLOCKS 3
#define THREADS 1
#include "one.h"

__device__ unsigned flag;
#ifdef FIXED
#define ACQUIRE "acquire"
#else
#define ACQUIRE "relaxed"
#endif

/* Sets the bits of mask, which lie in one byte or half word. */
__device__ void put(unsigned mask)
{
	unsigned old, seen;

	__asm__ volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
	do {
		old = seen;
		__asm__ volatile("atom.cas.release.gpu.b32 %0, [%1], %2, %3;" : "=r"(seen) : "l"(&flag), "r"(old), "r"(old | mask) : "memory");
	} while (seen != old);
}

__global__ void kernel(int *data, int *out)
{
	int r = 0;
	unsigned short v;

	if (blockIdx.x == 0) {
		FIRST(data[0]);
#ifdef V_BYTE
		put(1u << 24);
#else
		__asm__ volatile("st.release.gpu.b16 [%0], %1;" : : "l"((short *)&flag + 1), "h"((short)1) : "memory");
#endif
	} else if (blockIdx.x == 1) {
		put(1u << 8);                  /* of another one in the word */
	} else {
		do
			__asm__ volatile("ld." ACQUIRE ".gpu.b16 %0, [%1];" : "=h"(v) : "l"((short *)&flag + 1) : "memory");
		while (v == 0);
		SECOND(data[0]);
	}
	out[blockIdx.x] = r;
}
