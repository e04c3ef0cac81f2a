/* tm_bench.cuh - what the workloads for transactions share. A workload is a struct; the same description is played under one
 * lock (cgl-lock; cgl-warp: a warp takes it for all of its lanes), under its best hand-written locks (fgl, and what else it names), with each engine of tm.cuh, and on the CPU by
 * one thread (cpu) and with the hand-written locks by as many as it runs at once (cpu-all). The result of each is
 * checked as a whole, and a line is printed.
 *
 *     PROGRAM [quick] [workload=NAME] [way=NAME,NAME...] [blocks=N] [threads=N] [sections=N] [size=N] [granularity=N] [repeat=N] [reading=N]
 *
 * A workload derives from `work`, is copied to kernels by value, and has
 *
 *     name                           for the table
 *     WAYS, way_name(way)            its hand-written ways; the first one is fgl
 *     features()                     what engine auto is told
 *     arrays(f)                      calls f(&pointer, elements, kept) for each array; kept: no section changes it
 *     prepare()                      fills the arrays, which are on the host and zero
 *     nth(i)                         of type job: what section i has to do, without shared memory that sections change
 *     OWN_LOCKS                      whether section() says of its words that they have a value to spare: it is then played with pstm where
 *                                    these are their own locks (ws_tx_take_T) as well; 2: and where it takes two at once (ws_tx_take2_T), if A::AT_ONCE, with a.both
 *     section(a, job)                does it, with a.read, a.write (each with the word's spare value, or without), a.change (a write on a condition; without
 *                                    it what is written is what was read), a.ok, a.fill for what nobody else can reach yet, a.glance for what
 *                                    it does not rely on and reads before its first write, a.conflict; returns whether something has changed
 *     try_section<WAY>(job)          does it under hand-written locks: FAILED (nothing done), DONE or CHANGED
 *     right(want)                    on the host: whether the arrays are as they must be; want: those of one CPU thread
 */
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
#define WS_TM_ALWAYS_AMONG 1        /* no section is irrevocable */
#include <warpsafe/tm.h>
#include <warpsafe/tm.cuh>

#include "../common.cuh"

/* Inlined: a transaction variable whose address goes to a function cannot stay in registers. */
#define BOTH __host__ __device__ __forceinline__

/* A loop on the device as it is, or without a loop. The host's compiler may not know these. */
#ifdef __CUDA_ARCH__
#define ROLLED _Pragma("unroll 1")
#define UNROLLED _Pragma("unroll")
#else
#define ROLLED
#define UNROLLED
#endif

/* sections: of each thread; size: what there is contention for; repeat: launches of a way, of which the fastest is told;
 * reading: how many in a hundred sections only read, for workloads that have such. */
struct options {
	unsigned blocks, threads, sections, size, granularity, repeat = 1, reading = 0;
	const char *way = nullptr, *workload = nullptr;
};

/* -DTM_BENCH_ENGINES=2 compiles for pstm alone, in a tenth of the time. */
#ifndef TM_BENCH_ENGINES
#define TM_BENCH_ENGINES ((1u << WS_TM_ENGINES) - 1)
#endif
/* -DTM_BENCH_ONE_KERNEL compiles one kernel for all engines, which asks the handle: for tests, in a fraction of the time. */

struct work {
	enum { OWN_LOCKS = 0 };
	enum : unsigned { ENGINES = TM_BENCH_ENGINES };      /* bits of those it is played with; pstm, hstm and, if features() do not say opaque, istm at least */
	options o;
	unsigned total;                     /* sections */
	unsigned *changed;                  /* an array: the sections are done again until none changes anything. Or NULL */
};

enum outcome { FAILED, DONE, CHANGED };

static inline options read_options(int argc, char **argv, options full, options quick)
{
	static const char *const names[] = { "blocks=", "threads=", "sections=", "size=", "granularity=", "repeat=", "reading=" };
	bool small = std::count_if(argv + 1, argv + argc, [](const char *a) { return !strcmp(a, "quick"); });
	options o = small ? quick : full;
	unsigned *const at[] = { &o.blocks, &o.threads, &o.sections, &o.size, &o.granularity, &o.repeat, &o.reading };

	for (int i = 1; i < argc; i++) {
		bool known = !strcmp(argv[i], "quick");

		if (!strncmp(argv[i], "way=", 4))
			known = o.way = argv[i] + 4;
		else if (!strncmp(argv[i], "workload=", 9))
			known = o.workload = argv[i] + 9;
		for (unsigned k = 0; k < 7 && !known; k++)
			if ((known = !strncmp(argv[i], names[k], strlen(names[k])) && atoi(strchr(argv[i], '=') + 1) > 0))
				*at[k] = (unsigned)atoi(strchr(argv[i], '=') + 1);
		if (!known)
			exit((fprintf(stderr, "usage: %s [quick] [workload=NAME] [way=NAME,NAME...] [blocks=N] [threads=N] [sections=N] [size=N] "
			              "[granularity=N] [repeat=N] [reading=N]\n", argv[0]), 2));
	}
	return o;
}

static inline unsigned all_threads(const options &o) { return o.blocks * o.threads; }
/* Whether the way is among those asked for, NAME,NAME... */
static inline bool wanted(const options &o, const char *way)
{
	size_t n = strlen(way);

	for (const char *at = o.way; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : nullptr)
		if (!strncmp(at, way, n) && (!at[n] || at[n] == ','))
			return true;
	return !o.way;
}

/* What the plays of one way have shown. */
struct outcome_of_way { double ms, sections; bool right; };

/* One line of the table; returns 1 if the result is wrong. */
static inline int tell(const char *name, const char *way, outcome_of_way w, const ws_tm_stats *s)
{
	unsigned long long aborts = 0;

	for (int i = 0; s && i < WS_TM_REASONS; i++)
		aborts += s->aborts[i];
	printf("%-8s %-17s %11.0f sections %11.3f ms %10.3f million/s", name, way, w.sections, w.ms, w.sections / w.ms / 1e3);
	if (s)
		printf("  %8.3f aborts a commit, %llu alone", (double)aborts / (double)(s->commits ? s->commits : 1), s->serial);
	printf("  %s\n", w.right ? "right" : "WRONG");
	return !w.right;
}

/* ---- how a section reaches what is shared ---- */

/* What a workload knows and the compiler does not: two words that are never one, say, of which an engine else asks which is meant. */
#ifdef __CUDA_ARCH__
#define KNOWN(CONDITION) do { if (!(CONDITION)) { __trap(); __builtin_unreachable(); } } while (0)
#else
#define KNOWN(CONDITION) ((void)0)
#endif

struct plainly {
	enum { AT_ONCE = 0 };
	template <class T> BOTH T read(const T *p) { return *(const volatile T *)p; }
	template <class T> BOTH void write(T *p, T v) { *(volatile T *)p = v; }
	template <class T> BOTH T read(T *p, T) { return read(p); }
	template <class T> BOTH void both(T *p, T *q, T, T *a, T *b) { *a = read(p), *b = read(q); }
	template <class T> BOTH void write(T *p, T v, T) { write(p, v); }
	template <class T> BOTH void change(bool yes, T *p, T v, T) { if (yes) write(p, v); }
	template <class T> BOTH void fill(T *p, T v) { *(volatile T *)p = v; }
	template <class T> BOTH T glance(const T *p) { return read(p); }
	BOTH void conflict() {}
	BOTH bool ok() { return true; }
};

struct in_transaction {
	enum { AT_ONCE = 0 };
	struct ws_tx *tx;

	__device__ __forceinline__ unsigned read(const unsigned *p) { return ws_tx_read_u32(tx, p); }
	__device__ __forceinline__ float read(const float *p) { return ws_tx_read_f32(tx, p); }
	__device__ __forceinline__ long long read(const long long *p) { return ws_tx_read_i64(tx, p); }
	__device__ __forceinline__ void write(unsigned *p, unsigned v) { ws_tx_write_u32(tx, p, v); }
	__device__ __forceinline__ void write(float *p, float v) { ws_tx_write_f32(tx, p, v); }
	__device__ __forceinline__ void write(long long *p, long long v) { ws_tx_write_i64(tx, p, v); }
	template <class T> __device__ __forceinline__ T read(T *p, T) { return read(p); }
	template <class T> __device__ __forceinline__ void both(T *p, T *q, T, T *a, T *b) { *a = read(p), *b = read(q); }
	template <class T> __device__ __forceinline__ void write(T *p, T v, T) { write(p, v); }
	template <class T> __device__ __forceinline__ void change(bool yes, T *p, T v, T) { if (yes) write(p, v); }
	__device__ __forceinline__ void fill(unsigned *p, unsigned v) { ws_tx_fill_u32(tx, p, v); }
	template <class T> __device__ __forceinline__ T glance(const T *p) { return *(const volatile T *)p; }
	__device__ __forceinline__ void conflict() { ws_tx_conflict(tx); }
	__device__ __forceinline__ bool ok() { return ws_tx_ok(tx); }
};

/* Words with a spare value are their own locks. */
struct in_own_locks : in_transaction {
	using in_transaction::read;
	using in_transaction::write;
	__device__ __forceinline__ in_own_locks(struct ws_tx *t) : in_transaction{ t } {}
	__device__ __forceinline__ unsigned read(unsigned *p, unsigned spare) { return ws_tx_take_u32(tx, p, spare); }
	__device__ __forceinline__ long long read(long long *p, long long spare) { return ws_tx_take_i64(tx, p, spare); }
	__device__ __forceinline__ void write(unsigned *p, unsigned v, unsigned spare) { ws_tx_put_u32(tx, p, v, spare); }
	__device__ __forceinline__ void write(long long *p, long long v, long long spare) { ws_tx_put_i64(tx, p, v, spare); }
	/* The word is stored anyway when it is given back: no branch while it is held. */
	template <class T> __device__ __forceinline__ void change(bool, T *p, T v, T spare) { write(p, v, spare); }
};
/* Two at once. */
struct in_own_locks_at_once : in_own_locks {
	enum { AT_ONCE = 1 };
	using in_own_locks::in_own_locks;
	__device__ __forceinline__ void both(long long *p, long long *q, long long spare, long long *a, long long *b)
	{
		ws_tx_take2_i64(tx, p, q, spare, a, b);
	}
};

/* ---- locks, on the device and on the host ---- */

/* A lock that a thread tries to take once; the loop around it must go on after a failure (see `hidden`). */
BOTH static bool try_lock(unsigned *lock)
{
#ifdef __CUDA_ARCH__
	return !*(volatile unsigned *)lock && !ws_tx__take32(lock, 0u, 1u);
#else
	return !__atomic_exchange_n(lock, 1u, __ATOMIC_ACQUIRE);
#endif
}
/* Before locks are given back. */
BOTH static void before_unlock(void)
{
#ifdef __CUDA_ARCH__
	ws_tx__fence();
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}
BOTH static void give_back(unsigned *lock) { *(volatile unsigned *)lock = 0; }
BOTH static void unlock(unsigned *lock)
{
	before_unlock();
	give_back(lock);
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

/* ---- the kernels: neighbours do neighbouring sections, and a lane whose section is done goes on to its next one ---- */

__device__ static inline unsigned this_thread(void) { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ static inline unsigned threads_in_all(void) { return gridDim.x * blockDim.x; }

/* ENGINE: the handle's, which the compiler then knows, so that the code of the others is left out. WS_TM_ENGINES: it asks. */
template <unsigned ENGINE, class W, class A = in_transaction> __global__ void with_transactions(struct ws_tm tm, W w)
{
	if (ENGINE < WS_TM_ENGINES)
		tm.engine = ENGINE;
	WS_TX_VAR(tx, tm);

	unsigned done = 1;
	typename W::job job;

	for (unsigned i = this_thread(); i < w.total; i += done * threads_in_all()) {
		bool changed = false;

		if (done)
			job = w.nth(i);
		WS_TX_TRY(&tx)
			changed = w.section(A{ &tx }, job);
		done = ws_tx_done(&tx);
		if (changed && done && w.changed)
			*w.changed = 1;
	}
}

template <class W> __global__ void with_one_lock(unsigned *lock, W w)
{
	for (unsigned i = this_thread(); i < w.total; i += threads_in_all()) {
		typename W::job job = w.nth(i);
		bool changed = false;

		for (int done = 0; !hidden(done);)
			if (try_lock(lock)) {
				changed = w.section(plainly(), job);
				unlock(lock);
				done = 1;
			}
		if (changed && w.changed)
			*w.changed = 1;
	}
}

/* The first lane takes the lock, and the lanes do their sections one after the other. */
template <class W> __global__ void with_one_lock_a_warp(unsigned *lock, W w)
{
	unsigned lane = threadIdx.x % 32;

	for (unsigned first = this_thread() - lane; first < w.total; first += threads_in_all()) {
		unsigned i = first + lane;
		bool changed = false;

		for (int done = lane != 0; !hidden(done);)
			done = try_lock(lock);
		__syncwarp();
		for (unsigned turn = 0; turn < 32; turn++) {
			if (turn == lane && i < w.total) {
				typename W::job job = w.nth(i);

				changed = w.section(plainly(), job);
			}
			__syncwarp();
		}
		if (lane == 0)
			unlock(lock);
		if (changed && w.changed)
			*w.changed = 1;
	}
}

template <int WAY, class W> __global__ void with_locks(W w)
{
	unsigned random = this_thread() + 1, skip = 0, failures = 0, done = 1;
	typename W::job job;

	for (unsigned i = this_thread(); i < w.total; i += done * threads_in_all()) {
		outcome out = FAILED;

		if (done) {
			job = w.nth(i);
			skip = failures = 0;
		}
		if (skip) {
			skip--;
		} else {
			out = w.template try_section<WAY>(job);
			skip = back_off(&random, &failures, out);
		}
		done = hidden(out != FAILED);
		if (out == CHANGED && w.changed)
			*w.changed = 1;
	}
}

/* ---- the same on the CPU ---- */

static inline unsigned cpu_threads(void) { return std::max(2u, std::min(32u, std::thread::hardware_concurrency())); }

template <class W> static void cpu_section(const W &w, unsigned i, bool locks)
{
	typename W::job job = w.nth(i);
	int done = FAILED;

	if (!locks)
		done = w.section(plainly(), job) ? CHANGED : DONE;
	while (!done)
		if (!(done = w.template try_section<0>(job)))
			std::this_thread::yield();
	if (done == CHANGED && w.changed)
		*(volatile unsigned *)w.changed = 1;
}

/* All sections, dealt to so many threads. */
template <class W> static void on_cpu(const W &w, unsigned threads)
{
	std::vector<std::thread> others;
	auto part = [&](unsigned t) {
		unsigned long long i = (unsigned long long)w.total * t / threads, end = (unsigned long long)w.total * (t + 1) / threads;

		for (; i < end; i++)
			cpu_section(w, (unsigned)i, threads > 1);
	};

	for (unsigned t = 1; t < threads; t++)
		others.emplace_back(part, t);
	part(0);
	for (auto &t : others)
		t.join();
}

/* ---- arrays of a workload ---- */

struct piece { void *at; size_t bytes; bool kept; };

template <class W> static std::vector<piece> pieces(W &w)
{
	std::vector<piece> all;

	w.arrays([&](auto **p, size_t n, bool kept) { all.push_back({ *p, n * sizeof **p, kept }); });
	return all;
}

/* A copy of the workload with arrays of its own; those that no section changes are shared if both are on the host. */
template <class W> static W another(W &from, bool device)
{
	W w = from;

	w.arrays([&](auto **p, size_t n, bool kept) {
		if (device)
			CHECK(cudaMalloc((void **)p, n * sizeof **p));
		else if (!kept || !*p)
			*(void **)p = calloc(n, sizeof **p);
	});
	return w;
}

/* The contents; of those that no section changes only if `all`. */
template <class W> static void copy(W &to, W &from, cudaMemcpyKind kind, bool all)
{
	std::vector<piece> a = pieces(to), b = pieces(from);

	for (size_t i = 0; i < a.size(); i++)
		if (a[i].at != b[i].at && (all || !a[i].kept))
			CHECK(cudaMemcpy(a[i].at, b[i].at, a[i].bytes, kind));
}

/* ---- playing ---- */

template <class W> struct game {
	W initial, want, result, device;    /* the first three on the host */
	unsigned *lock;                     /* on the device */
};

template <class F> static double milliseconds(F f)
{
	auto from = std::chrono::steady_clock::now();

	f();
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

/* Whether something has changed since it was asked the last time. */
static inline unsigned ask_changed(unsigned *changed, bool device)
{
	unsigned answer, no = 0;

	CHECK(cudaMemcpy(&answer, changed, sizeof answer, device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost));
	CHECK(cudaMemcpy(changed, &no, sizeof no, device ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost));
	return answer;
}

/* Plays once: `pass` does all sections, on the workload w; its arrays are as at the start. */
template <class W, class F> static outcome_of_way once(W &w, bool device, F pass)
{
	outcome_of_way out = { 0, 0, false };
	unsigned again = 0;

	CHECK(cudaDeviceSynchronize());
	out.ms = milliseconds([&] {
		do {
			again = 0;
			pass();
			out.sections += w.total;
			if (device)
				CHECK(cudaGetLastError());
			if (device)
				CHECK(cudaDeviceSynchronize());
			if (w.changed)
				again = ask_changed(w.changed, device);
		} while (again);
	});
	return out;
}

/* Plays a way as often as asked for: the fastest one; all must be right. */
template <class W, class B, class F> static outcome_of_way best(game<W> &g, B before, F pass)
{
	outcome_of_way fastest = { 0, 0, true };

	for (unsigned k = 0; k < g.initial.o.repeat; k++) {
		copy(g.device, g.initial, cudaMemcpyHostToDevice, false);
		before();
		outcome_of_way out = once(g.device, true, pass);

		copy(g.result, g.device, cudaMemcpyDeviceToHost, false);
		fastest.right = fastest.right && g.result.right(g.want);
		if (k == 0 || out.ms < fastest.ms) {
			fastest.ms = out.ms;
			fastest.sections = out.sections;
		}
	}
	return fastest;
}

/* One thread's result is what all others are compared with, so that it is always played. */
template <class W> static int play_cpu(game<W> &g, unsigned threads)
{
	W &w = threads > 1 ? g.result : g.want;
	const char *way = threads > 1 ? "cpu-all" : "cpu";

	if (threads > 1 && !wanted(w.o, way))
		return 0;
	copy(w, g.initial, cudaMemcpyHostToHost, false);
	outcome_of_way out = once(w, false, [&] { on_cpu(w, threads); });
	out.right = w.right(g.want);
	return wanted(w.o, way) ? tell(w.name, way, out, nullptr) : !out.right;
}

template <class W> static int play_one_lock(game<W> &g)
{
	const W &w = g.device;
	int bad = 0;

	if (wanted(w.o, "cgl-lock"))
		bad += tell(w.name, "cgl-lock", best(g, [] {}, [&] { with_one_lock<<<w.o.blocks, w.o.threads>>>(g.lock, w); }), nullptr);
	if (wanted(w.o, "cgl-warp") && w.o.threads % 32 == 0)
		bad += tell(w.name, "cgl-warp", best(g, [] {}, [&] { with_one_lock_a_warp<<<w.o.blocks, w.o.threads>>>(g.lock, w); }), nullptr);
	return bad;
}

template <int WAY, class W> struct play_locks {
	static int all(game<W> &g)
	{
		const W &w = g.device;
		int bad = play_locks<WAY - 1, W>::all(g);

		if (!wanted(w.o, W::way_name(WAY)))
			return bad;
		outcome_of_way out = best(g, [] {}, [&] { with_locks<WAY><<<w.o.blocks, w.o.threads>>>(w); });
		return bad + tell(w.name, W::way_name(WAY), out, nullptr);
	}
};
template <class W> struct play_locks<-1, W> {
	static int all(game<W> &) { return 0; }
};

/* Launches the kernel of the handle's engine, which is FROM or a later one. PLAYED: the workload is played with that one. */
template <unsigned FROM, class W, bool PLAYED = (W::ENGINES >> FROM & 1) != 0> struct transactions {
	static void launch(const ws_tm &tm, const W &w)
	{
		if (tm.engine == FROM)
			with_transactions<FROM><<<w.o.blocks, w.o.threads>>>(tm, w);
		else
			transactions<FROM + 1, W>::launch(tm, w);
	}
};
template <unsigned FROM, class W> struct transactions<FROM, W, false> {
	static void launch(const ws_tm &tm, const W &w) { transactions<FROM + 1, W>::launch(tm, w); }
};
template <class W> struct transactions<WS_TM_ENGINES, W, false> {
	static void launch(const ws_tm &, const W &) {}
};

template <class W> static void launch_transactions(const ws_tm &tm, const W &w)
{
#ifdef TM_BENCH_ONE_KERNEL
	with_transactions<WS_TM_ENGINES><<<w.o.blocks, w.o.threads>>>(tm, w);
#else
	transactions<0, W>::launch(tm, w);
#endif
}

/* Four chunks of the log's heap a thread: sections that read a long way do not run out of it. */
static inline ws_tm_config config_for(const options &o)
{
	ws_tm_config c = ws_tm_defaults();

	c.granularity = o.granularity;
	c.heap = std::max((size_t)4 << 20, (size_t)all_threads(o) * 4 * WS_TM_CHUNK * sizeof(struct ws_tm_entry));
	return c;
}

/* Every section must have been committed once. */
template <class W, class F> static int play_handle(game<W> &g, unsigned engine, const char *way, F launch)
{
	const W &w = g.device;
	ws_tm_config config = config_for(w.o);
	ws_tm_stats stats;
	ws_tm tm;

	config.engine = (enum ws_tm_engine)engine;
	CHECK(ws_tm_create(&tm, &config));
	outcome_of_way out = best(g, [&] { CHECK(ws_tm_reset_stats(&tm)); }, [&] { launch(tm, w); });
	CHECK(ws_tm_read_stats(&tm, &stats));
	CHECK(ws_tm_destroy(&tm));
	out.right = out.right && stats.commits > 0 && stats.commits % w.total == 0 && (w.changed || stats.commits == w.total);
	return tell(w.name, way, out, &stats);
}

template <class W> static int play_engine(game<W> &g, unsigned engine)
{
	const char *way = ws_tm_engine_name(engine);

	if (!wanted(g.device.o, way) || !(W::ENGINES >> engine & 1))
		return 0;
	return play_handle(g, engine, way, launch_transactions<W>);
}

template <class W, class A> static int play_own_locks(game<W> &g, const char *way)
{
	return wanted(g.device.o, way) ? play_handle(g, WS_TM_PSTM, way, [](const ws_tm &tm, const W &w) {
		with_transactions<WS_TM_PSTM, W, A><<<w.o.blocks, w.o.threads>>>(tm, w);
	}) : 0;
}
template <class W, int OWN_LOCKS = W::OWN_LOCKS> struct own_locks {
	static int play(game<W> &) { return 0; }
};
template <class W> struct own_locks<W, 1> {
	static int play(game<W> &g) { return play_own_locks<W, in_own_locks>(g, "pstm-word"); }
};
template <class W> struct own_locks<W, 2> {
	static int play(game<W> &g) { return own_locks<W, 1>::play(g) + play_own_locks<W, in_own_locks_at_once>(g, "pstm-both"); }
};

/* Whether it is played with those engines that auto tries. */
template <class W> static bool has_auto(const ws_tm_features &features)
{
	ws_tm_auto a;
	bool all = true;

	ws_tm_auto_init(&a, &features);
	for (unsigned i = 0; i < a.candidates; i++)
		all = all && (W::ENGINES >> a.order[i] & 1);
	return all;
}

/* The same with engine auto: launches until it has settled, and one more, which is the one that is told of. */
template <class W> static int play_auto(game<W> &g)
{
	const W &w = g.device;
	ws_tm_config config = config_for(w.o);
	ws_tm_features features = w.features();
	bool last = false;
	outcome_of_way out = { 0, 0, true };
	char why[200];
	ws_tm_auto a;
	ws_tm tm;

	if (!wanted(w.o, "auto") || !has_auto<W>(features))
		return 0;
	ws_tm_auto_init(&a, &features);
	CHECK(ws_tm_create(&tm, &config));
	while (!last) {
		last = ws_tm_auto_settled(&a);
		bool right = out.right;

		out = best(g, [] {}, [&] {
			CHECK(ws_tm_auto_before(&a, &tm));
			launch_transactions(tm, w);
			CHECK(ws_tm_auto_after(&a, &tm));
		});
		out.right = out.right && right;
	}
	CHECK(ws_tm_destroy(&tm));
	int bad = tell(w.name, "auto", out, nullptr);
	printf("         auto is %s\n", ws_tm_auto_why(&a, why, sizeof why));
	return bad;
}

/* Plays the workload, whose arrays are not there yet, in each way that is wanted. Returns how many were wrong. */
template <class W> static int play(W w)
{
	int bad = 0;

	if (w.o.workload && strcmp(w.o.workload, w.name))
		return 0;
	w.arrays([](auto **p, size_t, bool) { *p = nullptr; });
	W initial = another(w, false);
	initial.prepare();
	game<W> g = { initial, another(initial, false), another(initial, false), another(initial, true), nullptr };
	copy(g.device, g.initial, cudaMemcpyHostToDevice, true);
	CHECK(cudaMalloc((void **)&g.lock, sizeof *g.lock));
	CHECK(cudaMemset(g.lock, 0, sizeof *g.lock));
	bad += play_cpu(g, 1);
	bad += play_cpu(g, cpu_threads());
	bad += play_one_lock(g);
	bad += play_locks<W::WAYS - 1, W>::all(g);
	for (unsigned e = 0; e < WS_TM_ENGINES; e++)
		bad += play_engine(g, e);
	bad += own_locks<W>::play(g);
	bad += play_auto(g);
	return bad;
}

/* Plays a workload with so many sections a thread. */
template <class W> static int play(const char *name, const options &o)
{
	W w = {};

	w.o = o;
	w.total = all_threads(o) * o.sections;
	w.name = name;
	return play(w);
}

#endif
