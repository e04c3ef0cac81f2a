/* Kernels with marked sections for tm_app.c. */
#define WS_ATOMIC_QUIET
#include <warpsafe/atomic.h>

extern "C" __global__ void move(long long *account, unsigned n)
{
	unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) * 7919u + 1;

	for (int i = 0; i < 4; i++) {
		unsigned from = (r = r * 1664525u + 1013904223u) >> 8, to = (r = r * 1664525u + 1013904223u) >> 8;

		WS_ATOMIC {
			if (account[from % n] < 10)
				continue;
			account[from % n] -= 10;
			account[to % n] += 10;
		}
	}
	WS_ATOMIC
		account[n]++;
}

#ifdef REFUSED
extern "C" __global__ void refused(long long *account)
{
	WS_ATOMIC {
		account[0]++;
		__syncthreads();                          /* refused */
	}
}
#endif
