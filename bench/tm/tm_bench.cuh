/* tm_bench.cuh - what the workloads for transactions share. Each does the same work under one lock (cgl-lock), under its best
 * hand-written locks (fgl), with each engine of tm.cuh, and on the CPU by one thread (cpu) and by as many as it runs at once
 * (cpu-all), checks the result of each, and prints a line.
 *
 *     PROGRAM [quick] [way=NAME] [blocks=N] [threads=N] [sections=N] [size=N] [granularity=N] */
#ifndef TM_BENCH_CUH
#define TM_BENCH_CUH

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
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
	printf("  %s\n", right ? "right" : "WRONG");
	return !right;
}

/* `launch` with an engine of tm.cuh; `right` tells whether its result is. Every section must have been committed once. */
template <typename R, typename F> static int with_engine(const options &o, const char *name, unsigned engine, R right, F launch)
{
	ws_tm_config config = ws_tm_defaults();
	ws_tm_stats stats;
	ws_tm tm;

	config.engine = (enum ws_tm_engine)engine;
	config.granularity = o.granularity;
	CHECK(ws_tm_create(&tm, &config));
	double ms = milliseconds([&] { launch(tm); });
	CHECK(ws_tm_read_stats(&tm, &stats));
	CHECK(ws_tm_destroy(&tm));
	bool commits = stats.commits == (unsigned long long)o.blocks * o.threads * o.sections;
	return tell(o, name, ws_tm_engine_name(engine), ms, right() && commits, &stats);
}

/* The same with engine auto: launches until it has settled, and one more, which is the one that is told of. `clear` comes
 * before each. */
template <typename C, typename R, typename F>
static int with_auto(const options &o, const char *name, ws_tm_features features, C clear, R right, F launch)
{
	ws_tm_config config = ws_tm_defaults();
	bool good = true, last = false;
	char why[200];
	double ms = 0;
	ws_tm_auto a;
	ws_tm tm;

	ws_tm_auto_init(&a, &features);
	config.granularity = o.granularity;
	CHECK(ws_tm_create(&tm, &config));
	while (!last) {
		last = ws_tm_auto_settled(&a);
		clear();
		CHECK(ws_tm_auto_before(&a, &tm));
		ms = milliseconds([&] { launch(tm); });
		CHECK(ws_tm_auto_after(&a, &tm));
		good = good && right();
	}
	CHECK(ws_tm_destroy(&tm));
	int bad = tell(o, name, "auto", ms, good, nullptr);
	printf("         auto is %s\n", ws_tm_auto_why(&a, why, sizeof why));
	return bad;
}

/* ---- on the CPU ---- */

struct cpu_lock { std::atomic<bool> taken{false}; };

static inline unsigned cpu_threads(void) { return std::max(2u, std::min(32u, std::thread::hardware_concurrency())); }

/* Holds the locks of what a section uses, taken in rising order; without locks (one thread), nothing. Sorts `which`. */
struct cpu_guard {
	std::vector<cpu_lock> &locks;
	unsigned *which, n;

	cpu_guard(std::vector<cpu_lock> &all, unsigned *items, unsigned count) : locks(all), which(items), n(count)
	{
		if (locks.empty())
			return;
		std::sort(which, which + n);
		n = (unsigned)(std::unique(which, which + n) - which);
		for (unsigned i = 0; i < n; i++)
			while (locks[which[i]].taken.exchange(true, std::memory_order_acquire))
				std::this_thread::yield();
	}
	~cpu_guard()
	{
		for (unsigned i = 0; i < n && !locks.empty(); i++)
			locks[which[i]].taken.store(false, std::memory_order_release);
	}
};

/* Milliseconds of sections 0 to n - 1, dealt to so many threads. */
template <typename F> static double on_cpu(unsigned threads, unsigned n, F section)
{
	auto from = std::chrono::steady_clock::now();
	std::vector<std::thread> others;
	auto part = [&](unsigned t) {
		unsigned long long i = (unsigned long long)n * t / threads, end = (unsigned long long)n * (t + 1) / threads;

		for (; i < end; i++)
			section((unsigned)i);
	};

	for (unsigned t = 1; t < threads; t++)
		others.emplace_back(part, t);
	part(0);
	for (auto &t : others)
		t.join();
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

/* ---- locks on the device ---- */

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

/* Rounds to let pass after a round of a loop of `done` or not; as in tm.cuh, a random number that grows with the failures. */
__device__ static inline unsigned back_off(unsigned *random, unsigned *failures, bool done)
{
	*random = *random * 1664525u + 1013904223u;
	*failures += !done && *failures < 8;
	return done ? 0 : (*random >> 8) & ((1u << *failures) - 1);
}

/* The value, which the compiler then knows nothing of: else it moves a critical section behind the loop that waits for its
 * lock, where lanes in step wait for those that still go round. */
__device__ static inline bool hidden(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

#endif
