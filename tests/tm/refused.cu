/* refused.cu - marked sections that cannot be: with -DCASE=N, tests/tm/run looks for the line with "refused N" in the message. */
#include <cstdio>
#include <cuda_runtime.h>
#include <warpsafe/atomic.h>

__device__ int (*choice)(int);
__device__ __noinline__ void barrier(int *a)
{
#if CASE == 3
	__syncthreads();                                  /* refused 3 */
#endif
	a[1]++;
}

__global__ void kernel(int *a)
{
#if CASE == 10
	ws_tx_begin();
	if (a[0])
		return;                                   /* refused 10 */
#elif CASE == 11
	if (a[0])
		ws_tx_begin();                            /* refused 11 */
	a[1] = 3;
	ws_tx_end();
#endif
#if CASE == 12
	if (a[0])
		ws_tx_either();
	ws_tx_either_end();                               /* refused 12 */
#elif CASE == 13
	ws_tx_begin();                                    /* refused 13 */
	if (++a[0] > 5)
		ws_tx_abort();
	ws_tx_end();
#endif
#if CASE == 20
	__shared__ int own;
	int *other;

	asm("mapa.u64 %0, %1, 1;" : "=l"(other) : "l"(&own));     /* in the next block of the cluster */
#endif
	WS_ATOMIC {
		a[0]++;
#if CASE == 14
		if (a[1])
			ws_tx_either();
		a[2]++;
		ws_tx_either_end();                       /* refused 14 */
#elif CASE == 15
		ws_tx_either();                           /* refused 15 */
		a[1]++;
		ws_tx_either_end();
#elif CASE == 16
		if (!(ws_tx_either() >> 63))
			ws_tx_end();                      /* refused 16 */
		ws_tx_either_end();
#elif CASE == 17
		WS_EITHER {
			if (a[1])
				ws_tx_retry();
			printf("%d\n", a[0]);             /* refused 17 */
		} WS_OR_ELSE {
			a[3]++;
		}
#elif CASE == 18
		WS_ATOMIC {
			a[1]++;
			if (a[2])
				asm volatile("exit;");    /* refused 18 */
		}
#endif
#if CASE == 1
		printf("%d\n", a[0]);                     /* refused 1 */
#elif CASE == 2
		__syncthreads();                          /* refused 2 */
#elif CASE == 3
		barrier(a);
#elif CASE == 4
		a[2] = __shfl_sync(~0u, a[1], 0);         /* refused 4 */
#elif CASE == 5
		a[2] = atomicCAS((unsigned short *)a, (unsigned short)1, (unsigned short)2); /* refused 5 */
#elif CASE == 6
		a[2] = choice(a[1]);                      /* refused 6 */
#elif CASE == 7
		__shared__ int s[4];
		asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"((unsigned)__cvta_generic_to_shared(s)), "l"(a)); /* refused 7 */
#elif CASE == 8
		asm volatile("exit;");                    /* refused 8 */
#elif CASE == 9
		__syncwarp();                             /* refused 9 */
#elif CASE == 19
		asm volatile("setmaxnreg.inc.sync.aligned.u32 64;");     /* refused 19 */
#elif CASE == 20
		*other += 1;                              /* refused 20 */
#elif CASE == 21
		asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(a[2]) : "r"(0)); /* refused 21 */
#elif CASE == 22
		asm volatile("red.global.add.noftz.f16x2 [%0], %1;" : : "l"(a), "r"(1)); /* refused 22 */
#elif CASE == 23
		asm volatile("sust.b.1d.b32.trap [%0, {%1}], {%2};" : : "l"(0ll), "r"(0), "r"(7)); /* refused 23 */
#elif CASE == 24
		asm volatile("mbarrier.arrive.shared.b64 _, [%0];" : : "r"(0)); /* refused 24 */
#elif CASE == 25
		asm volatile("discard.global.L2 [%0], 128;" : : "l"(a)); /* refused 25 */
#endif
	}
#if CASE == 10
	ws_tx_end();
#endif
}

int main()
{
	int *a;

	cudaMalloc(&a, 64);
	kernel<<<1, 32>>>(a);
	return cudaDeviceSynchronize() != cudaSuccess;
}
