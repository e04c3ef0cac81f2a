// Compilers make a load by all threads and a selection of `if (c) v = m[0]`. Only the threads of which c is true count as
// readers: the pair is told for them, and a program in which the writer alone reads has no race.
// category: 2
// racy: @PAIR shared missing-barrier
// vary: RAW WAR
// vary: BYTE PLAIN ELSE
#include "one.h"

#ifdef V_BYTE
typedef unsigned char element;
#else
typedef int element;
#endif

__global__ void kernel(int *data, int *out)
{
	__shared__ element m[4];
	int t = threadIdx.x, v = 5, reader = ONLY_RACY(40) ONLY_FIXED(3);

	if (t == 0)
		m[0] = m[1] = 0;
	__syncthreads();
#ifdef V_RAW
	if (t == 3)
		m[0] = data[0];
	__asm__ volatile("" ::: "memory");
#endif
#ifdef V_ELSE
	if (t != reader)
		v = t;
	else
		v = m[0];
#else
	if (t == reader)
		v = m[0];
#endif
#ifdef V_WAR
	__asm__ volatile("" ::: "memory");
	if (t == 3)
		m[0] = data[0];
#endif
	__syncthreads();
	out[t] = v + m[1];
}
