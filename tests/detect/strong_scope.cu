// A strong load and a strong store, one of them of block scope.
// category: 6
// racy: (RAW|WAR) global scope
// vary: LOAD STORE
#define BLOCKS 2
#define THREADS 1
#include "one.h"

#if defined V_LOAD && !defined FIXED
#define LOAD "cta"
#else
#define LOAD "gpu"
#endif
#if defined V_STORE && !defined FIXED
#define STORE "cta"
#else
#define STORE "gpu"
#endif

__global__ void kernel(int *data, int *out)
{
	int v;

	if (blockIdx.x == 0) {
		__asm__ volatile("st.relaxed." STORE ".u32 [%0], 1;" : : "l"(data) : "memory");
	} else {
		__asm__ volatile("ld.relaxed." LOAD ".u32 %0, [%1];" : "=r"(v) : "l"(data) : "memory");
		out[0] = v;
	}
}
