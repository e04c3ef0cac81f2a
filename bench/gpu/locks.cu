/* locks.cu - what the locks of warpsafe/lock.cuh cost: nanoseconds a critical section (a plain addition) over the whole GPU.
 *
 *     locks [SECTIONS]         by each thread (4); all lanes, or one of each warp, want one of 1, 64, 4096 or 65536 locks
 *
 * "atomic" is atomicAdd in its place. Each line ends in "right" if nothing was lost. */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <warpsafe/lock.cuh>

#include "../common.cuh"

typedef unsigned int u32;
enum { BLOCKS = 132, THREADS = 256, MOST = 65536 };

struct no_lock { u32 unused; };

template <class Lock> struct one {
	__device__ static void add(Lock *lock, u32 *sum) { ws_with_lock(lock, [=] { *sum = *sum + 1; }); }
};

template <> struct one<no_lock> {
	__device__ static void add(no_lock *, u32 *sum) { atomicAdd(sum, 1); }
};

template <class Lock> __global__ void work(Lock *locks, u32 *sums, u32 n, u32 sections, bool one_lane)
{
	u32 thread = blockIdx.x * THREADS + threadIdx.x;

	if (one_lane && threadIdx.x % 32)
		return;
	for (u32 i = 0; i < sections; i++) {
		u32 k = noise(thread * 64 + i) % n;

		one<Lock>::add(&locks[k], &sums[k * 8]);
	}
}

template <class Lock> static void measure(const char *name, u32 n, u32 sections, bool one_lane)
{
	u32 all = BLOCKS * THREADS * sections / (one_lane ? 32 : 1), found = 0;
	u32 *host = (u32 *)malloc(n * 32ull), *sums;
	cudaEvent_t begin, end;
	Lock *locks;
	float ms;

	CHECK(cudaMalloc((void **)&locks, n * sizeof(Lock)));
	CHECK(cudaMemset(locks, 0, n * sizeof(Lock)));
	CHECK(cudaMalloc((void **)&sums, n * 32ull));
	CHECK(cudaMemset(sums, 0, n * 32ull));
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	work<Lock><<<BLOCKS, THREADS>>>(locks, sums, n, 0, one_lane);    /* to load it */
	CHECK(cudaEventRecord(begin));
	work<Lock><<<BLOCKS, THREADS>>>(locks, sums, n, sections, one_lane);
	CHECK(cudaEventRecord(end));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaEventElapsedTime(&ms, begin, end));
	CHECK(cudaMemcpy(host, sums, n * 32ull, cudaMemcpyDeviceToHost));
	for (u32 k = 0; k < n; k++)
		found += host[k * 8];
	printf("%-8s %6u locks, %-8s %10.2f ns %s\n", name, n, one_lane ? "one lane" : "lanes", 1e6 * ms / all,
	       found == all ? "right" : "wrong");
	fflush(stdout);
	CHECK(cudaFree(locks));
	CHECK(cudaFree(sums));
	free(host);
}

int main(int argc, char **argv)
{
	static const u32 counts[] = {1, 64, 4096, MOST};
	u32 sections = argc > 1 ? (u32)atoi(argv[1]) : 4;

	for (int lane = 0; lane < 2; lane++)
		for (u32 n : counts) {
			u32 each = n == 1 ? 1 : sections;

			measure<no_lock>("atomic", n, each, lane);
			measure<ws_spin_lock>("spin", n, each, lane);
			measure<ws_ticket_lock>("ticket", n, each, lane);
			measure<ws_queue_lock<> >("queue", n, each, lane);
		}
	return 0;
}
