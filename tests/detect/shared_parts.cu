// Elements of less than a word, of all lanes or of some, without the barrier between one warp's and the other's.
// category: 7
// racy: (RAW|WAR) shared missing-barrier
// vary: BYTES HALVES
// vary: ALL SOME
// vary: RAW WAR
#include "one.h"

#ifdef V_BYTES
typedef unsigned char element;
#else
typedef short element;
#endif

__global__ void kernel(int *data, int *out)
{
	__shared__ element s[64];
	int t = threadIdx.x, r = t;
#ifdef V_SOME
	bool has = !(t & 2);
#else
	bool has = true;
#endif

	s[t] = data[t];
	__syncthreads();
#ifdef V_WAR
	if (has)
		r = s[t ^ 32] + s[t];
#else
	if (has)
		s[t] = t + 1;
#endif
	ONLY_FIXED(__syncthreads();)
#ifdef V_WAR
	if (has)
		s[t] = r + 1;
#else
	if (has)
		r = s[t ^ 32];
#endif
	out[t] = r;
}
