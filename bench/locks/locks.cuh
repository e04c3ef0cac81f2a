/* locks.cuh - what the workloads of this folder share: those of Ramamurthy, "Towards scalar synchronization in SIMT
 * architectures", 2011, section 6.5, with atomics and with lock instructions. A program is
 *
 *     PROGRAM [quick|full] [way=atomics|locks|tries] [NAME=N]...
 *
 * and prints "NAME WAY N sections N in vain right" (WRONG: status 1) when its result has been compared with the CPU's.
 * A critical section that finds nothing to do any more is in vain (figure 7.2). The ways locks and tries want a unit:
 * warpsafe sim --unit=simt-lock ./PROGRAM way=locks. Compiled with LOCKS_IN_SOFTWARE they run wherever threads are
 * independent. */
#ifndef LOCKS_CUH
#define LOCKS_CUH

#include <algorithm>
#include <cstring>
#include <vector>

#ifndef LOCKS_IN_SOFTWARE
#define WS_LOCK_UNIT
#endif
#include <warpsafe/lock.cuh>

#include "../common.cuh"

enum way { ATOMICS, LOCKS, TRIES, WAYS };
static const char *const way_names[WAYS] = { "atomics", "locks", "tries" };
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

/* ---- on the device ---- */

/* What is written before an unlock is seen by who has the lock next; and before a store that others wait for. */
__device__ static inline void leave(unsigned *lock)
{
	__threadfence();
	__ws_unlock(lock);
}

__device__ static inline bool taken(const unsigned *lock) { return ws_lock_load(lock) != 0; }

/* One attempt, by atomics or by the instruction. */
template <way WAY> __device__ static inline bool try_lock(unsigned *lock)
{
	return WAY == TRIES ? __ws_try_lock(lock, 1) != 0 : ws_lock_cas(lock, 0, 1) == 0;
}

template <way WAY> __device__ static inline void unlock(unsigned *lock)
{
	if (WAY == ATOMICS)
		ws_lock_store(lock, 0);
	else
		leave(lock);
}

/* Counted in registers, added up when a thread ends. */
struct tally { unsigned sections, vain; };

__device__ static inline void add_up(tally *all, const tally &own)
{
	atomicAdd(&all->sections, own.sections);
	atomicAdd(&all->vain, own.vain);
}

/* ---- on the host ---- */

struct number { const char *name; unsigned quick, usual, full, value; };

/* Sets the numbers from the arguments; the way. */
static inline way read_arguments(int argc, char **argv, number *numbers, unsigned n)
{
	way chosen = ATOMICS;
	bool quick = false, full = false;

	for (int i = 1; i < argc; i++) {
		quick = quick || !strcmp(argv[i], "quick");
		full = full || !strcmp(argv[i], "full");
	}
	for (unsigned k = 0; k < n; k++)
		numbers[k].value = quick ? numbers[k].quick : full ? numbers[k].full : numbers[k].usual;
	for (int i = 1; i < argc; i++) {
		bool known = !strcmp(argv[i], "quick") || !strcmp(argv[i], "full");

		for (unsigned w = 0; w < WAYS; w++)
			if (!strncmp(argv[i], "way=", 4) && !strcmp(argv[i] + 4, way_names[w])) {
				chosen = (way)w;
				known = true;
			}
		for (unsigned k = 0; k < n && !known; k++) {
			size_t len = strlen(numbers[k].name);

			known = !strncmp(argv[i], numbers[k].name, len) && argv[i][len] == '=' && atoi(argv[i] + len + 1) > 0;
			if (known)
				numbers[k].value = (unsigned)atoi(argv[i] + len + 1);
		}
		if (!known)
			exit((fprintf(stderr, "%s: no argument '%s'\n", argv[0], argv[i]), 2));
	}
	return chosen;
}

template <class T> static T *on_device(const T *from, size_t n)
{
	T *p;

	CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
	if (from)
		CHECK(cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyHostToDevice));
	else
		CHECK(cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

template <class T> static void from_device(T *to, const T *p, size_t n)
{
	CHECK(cudaMemcpy(to, p, n * sizeof(T), cudaMemcpyDeviceToHost));
}

static inline void ended(void)
{
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
}

/* The line; the exit status. */
static inline int tell(const char *name, way w, const tally *device, bool right)
{
	tally t;

	from_device(&t, device, 1);
	printf("%s %s %u sections %u in vain %s\n", name, way_names[w], t.sections, t.vain, right ? "right" : "WRONG");
	return !right;
}

#endif
