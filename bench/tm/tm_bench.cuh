/* tm_bench.cuh - what the workloads for transactions share. Each does the same work under one lock (cgl-lock), under its best
 * hand-written locks (fgl), with each engine of tm.cuh, and on one CPU core, checks the result of each, and prints a line.
 *
 *     PROGRAM [quick] [way=NAME] [blocks=N] [threads=N] [sections=N] [size=N] [granularity=N] */
#ifndef TM_BENCH_CUH
#define TM_BENCH_CUH

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <warpsafe/tm.h>
#include <warpsafe/tm.cuh>

#include "../common.cuh"

/* sections: of each thread; size: what there is contention for. */
struct options { unsigned blocks, threads, sections, size, granularity; const char *way; };

static inline options read_options(int argc, char **argv, options full, options quick)
{
	static const char *const names[] = { "blocks=", "threads=", "sections=", "size=", "granularity=" };
	options o = full;
	unsigned *const at[] = { &o.blocks, &o.threads, &o.sections, &o.size, &o.granularity };

	for (int i = 1; i < argc; i++) {
		bool known = !strcmp(argv[i], "quick") || !strncmp(argv[i], "way=", 4);
		if (!strcmp(argv[i], "quick"))
			o = quick;
		else if (known)
			o.way = argv[i] + 4;
		for (unsigned k = 0; k < 5 && !known; k++)
			if ((known = !strncmp(argv[i], names[k], strlen(names[k])) && atoi(strchr(argv[i], '=') + 1) > 0))
				*at[k] = (unsigned)atoi(strchr(argv[i], '=') + 1);
		if (!known)
			exit((fprintf(stderr, "usage: %s [quick] [way=NAME] [blocks=N] [threads=N] [sections=N] [size=N] [granularity=N]\n",
			              argv[0]), 2));
	}
	return o;
}

static inline bool wanted(const options &o, const char *way) { return !o.way || !strcmp(o.way, way); }

/* Milliseconds of what `work` does, to its end on the device. */
template <typename F> static double milliseconds(F work)
{
	CHECK(cudaDeviceSynchronize());
	auto from = std::chrono::steady_clock::now();
	work();
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

/* One line of the table; returns 1 if the result is wrong. */
static inline int tell(const options &o, const char *name, const char *way, double ms, bool right, const ws_tm_stats *s)
{
	double n = (double)o.blocks * o.threads * o.sections;
	unsigned long long aborts = 0;

	for (int i = 0; s && i < WS_TM_REASONS; i++)
		aborts += s->aborts[i];
	printf("%-8s %-10s %10.3f ms %10.3f million/s", name, way, ms, n / ms / 1e3);
	if (s)
		printf("  %8.3f aborts a commit, %llu alone", (double)aborts / (double)(s->commits ? s->commits : 1), s->serial);
	printf("  %s\n", !strcmp(way, "cpu") ? "(what the others must have)" : right ? "right" : "WRONG");
	return !right;
}

/* A lock that a thread tries to take once; the loop around it must go on after a failure (see `hidden`). */
__device__ static inline bool try_lock(unsigned *lock)
{
	if (*(volatile unsigned *)lock || atomicCAS(lock, 0u, 1u))
		return false;
	__threadfence();
	return true;
}
__device__ static inline void unlock(unsigned *lock)
{
	__threadfence();
	*(volatile unsigned *)lock = 0;
}

/* The value, which the compiler then knows nothing of: else it moves a critical section behind the loop that waits for its
 * lock, where lanes in step wait for those that still go round. */
__device__ static inline bool hidden(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

#endif
