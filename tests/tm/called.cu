/* called.cu - marked sections whose parts, retries and aborts are all in functions that they call, so that what the runtime has for these is first
 * wanted there. */
#include <cstdio>
#include <cuda_runtime.h>
#include <warpsafe/atomic.h>

enum { BLOCKS = 2, THREADS = 32, N = BLOCKS * THREADS, DEPTH = 3 };

#ifndef RETRY
/* A function that calls itself in its section. */
__device__ __noinline__ void down(int *a, int n)
{
	WS_ATOMIC {
		a[n]++;
		if (n)
			down(a, n - 1);
#ifdef ABORT
		if (n == 1)
			ws_tx_abort();                    /* with what is in it */
#endif
	}
}
#else
__device__ __noinline__ void wait_for(const int *flag)
{
	if (!*(volatile const int *)flag)
		ws_tx_retry();
}
#endif

__global__ void kernel(int *a)
{
#ifdef RETRY
	WS_ATOMIC {
		if (threadIdx.x || blockIdx.x)
			wait_for(&a[DEPTH + 1]);
		else
			a[DEPTH + 1] = 1;
		a[0]++;
	}
#else
	down(a, DEPTH);
#endif
}

int main()
{
	int *a, h[DEPTH + 1];
	bool good;

	cudaMalloc(&a, 64);
	cudaMemset(a, 0, 64);
	kernel<<<BLOCKS, THREADS>>>(a);
	good = cudaDeviceSynchronize() == cudaSuccess;
	cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
#ifdef RETRY
	good &= h[0] == N;
#else
	for (int n = 0; n <= DEPTH; n++)
#ifdef ABORT
		good &= h[n] == (n > 1 ? N : 0);
#else
		good &= h[n] == N;
#endif
#endif
	printf(good ? "right\n" : "wrong: %d %d %d %d\n", h[0], h[1], h[2], h[3]);
	return !good;
}
