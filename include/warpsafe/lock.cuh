/* lock.cuh - locks in software for threads of a GPU: by lane, so that threads of one warp may want the same lock or different
 * ones, on machines with independent threads and on those with a reconvergence stack. For nvcc and `warpsafe cc`, from
 * compute capability 7.0 on.
 *
 *     __device__ ws_ticket_lock lock;                  // zeros are a free lock; global or shared memory
 *     ws_with_lock(&lock, [&] { balance -= amount; }); // each thread once, one after the other
 *
 *     ws_spin_lock          a word; who comes first gets it, with back-off; not fair
 *     ws_ticket_lock        two words; in the order of arrival; all poll one word
 *     ws_queue_lock<N>      in the order of arrival; waiting threads poll N words in sectors of their own
 *
 * A thread sees what the holders before it have written (acquire and release at the scope of the GPU). The critical section is a
 * function because of warps: a thread that has the lock must come to its unlock before its warp waits for the others, which
 * under a reconvergence stack only a loop round the whole section does (Ramamurthy, "Towards scalar synchronization in SIMT
 * architectures", 2011, example 5). A section must not end its thread, nor wait for others of its warp; a section inside of another
 * one may deadlock under a stack: for two spin locks at once there is ws_with_locks, which takes neither before it has both.
 *
 * __ws_lock(p), __ws_unlock(p) and __ws_try_lock(p, attempts), instructions of `warpsafe sim --unit=simt-lock`, are defined here
 * as a spin lock for GPUs with independent threads: there, a program that was written for them runs too. With WS_LOCK_UNIT
 * defined before this file is included they are only declared: for the unit. */
#ifndef WARPSAFE_LOCK_CUH
#define WARPSAFE_LOCK_CUH

#define WS_LOCK_FN static __device__ __forceinline__

/* ---- words, with the order that locks need ---- */
WS_LOCK_FN unsigned ws_lock_load(const unsigned *p)
{
	unsigned v;

	asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

WS_LOCK_FN void ws_lock_store(unsigned *p, unsigned v)
{
	asm volatile("st.release.gpu.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}

WS_LOCK_FN unsigned ws_lock_cas(unsigned *p, unsigned from, unsigned to)
{
	unsigned v;

	asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], %2, %3;" : "=r"(v) : "l"(p), "r"(from), "r"(to) : "memory");
	return v;
}

WS_LOCK_FN unsigned ws_lock_count(unsigned *p)
{
	unsigned v;

	asm volatile("atom.relaxed.gpu.inc.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(0xffffffffu) : "memory");
	return v;
}

WS_LOCK_FN void ws_lock_sleep(unsigned nanoseconds)
{
	asm volatile("nanosleep.u32 %0;" :: "r"(nanoseconds));
}

/* ---- the locks ----
 * A thread that waits has a ticket: enter() gives one, may() says whether the lock is the thread's now, and leave() is for
 * the one that has it. wait() is between two questions. */
struct ws_spin_lock {
	unsigned word;

	__device__ __forceinline__ unsigned enter() { return 8; }        /* nanoseconds of the next wait */
	__device__ __forceinline__ bool may(unsigned) { return ws_lock_load(&word) == 0 && ws_lock_cas(&word, 0, 1) == 0; }
	__device__ __forceinline__ void wait(unsigned &ticket)
	{
		ws_lock_sleep(ticket);
		ticket = ticket < 1024 ? 2 * ticket : ticket;
	}
	__device__ __forceinline__ void leave(unsigned) { ws_lock_store(&word, 0); }
};

struct ws_ticket_lock {
	unsigned next, serving;

	__device__ __forceinline__ unsigned enter() { return ws_lock_count(&next); }
	__device__ __forceinline__ bool may(unsigned ticket) { return ws_lock_load(&serving) == ticket; }
	__device__ __forceinline__ void wait(unsigned &) { ws_lock_sleep(20); }
	__device__ __forceinline__ void leave(unsigned ticket) { ws_lock_store(&serving, ticket + 1); }
};

/* turn[t % N] is t when it is ticket t's turn. Who waits for an earlier turn of the same word has had it before the word
 * changes, so more threads than N may wait. N: a power of two. */
template <unsigned N = 64> struct ws_queue_lock {
	static_assert(N && !(N & (N - 1)), "a power of two");
	enum { APART = 8 };              /* words from one to the next: a sector */
	unsigned next, turn[N * APART];

	__device__ __forceinline__ unsigned enter() { return ws_lock_count(&next); }
	__device__ __forceinline__ bool may(unsigned ticket) { return ws_lock_load(&turn[ticket % N * APART]) == ticket; }
	__device__ __forceinline__ void wait(unsigned &) { ws_lock_sleep(20); }
	__device__ __forceinline__ void leave(unsigned ticket) { ws_lock_store(&turn[(ticket + 1) % N * APART], ticket + 1); }
};

/* To stand at the end of a loop round a critical section, with what decides whether the thread goes round again: a
 * compiler that knew the way out would move the section behind the loop, where a warp waits for all that are in the loop. */
WS_LOCK_FN void ws_lock_meet(unsigned &again)
{
	asm volatile("" : "+r"(again) :: "memory");
}

/* Runs the section once for the calling thread while it has the lock. */
template <class Lock, class Section> WS_LOCK_FN void ws_with_lock(Lock *lock, Section section)
{
	unsigned ticket = lock->enter(), again = 1;

	while (again) {
		if (lock->may(ticket)) {
			section();
			lock->leave(ticket);
			again = 0;
		} else {
			lock->wait(ticket);
		}
		ws_lock_meet(again);
	}
}

/* One attempt. The thread that gets true must call ws_unlock before its warp waits for others: in a loop, before its end, where
 * ws_lock_meet belongs. */
WS_LOCK_FN bool ws_try_lock(ws_spin_lock *lock)
{
	return lock->may(0);
}

WS_LOCK_FN void ws_unlock(ws_spin_lock *lock)
{
	lock->leave(0);
}

/* The same with so many attempts at most; whether the section has run. */
template <class Section> WS_LOCK_FN bool ws_try_with_lock(ws_spin_lock *lock, unsigned attempts, Section section)
{
	unsigned ticket = lock->enter(), again = attempts, done = 0;

	while (again) {
		if (lock->may(ticket)) {
			section();
			lock->leave(ticket);
			done = 1;
			again = 0;
		} else if (--again) {
			lock->wait(ticket);
		}
		ws_lock_meet(again);
	}
	return done != 0;
}

/* Runs the section while the thread has both locks, which may be the same one. */
template <class Section> WS_LOCK_FN void ws_with_locks(ws_spin_lock *a, ws_spin_lock *b, Section section)
{
	ws_spin_lock *first = a < b ? a : b, *second = a < b ? b : a;
	unsigned ticket = first->enter(), again = 1;

	while (again) {
		if (first->may(ticket)) {
			if (first == second || second->may(ticket)) {
				section();
				if (first != second)
					second->leave(ticket);
				again = 0;
			}
			first->leave(ticket);
		}
		if (again)
			first->wait(ticket);
		ws_lock_meet(again);
	}
}

/* ---- the names of the proposed instructions ---- */
#ifdef WS_LOCK_UNIT
extern "C" __device__ void __ws_lock(unsigned *word);
extern "C" __device__ void __ws_unlock(unsigned *word);
extern "C" __device__ unsigned __ws_try_lock(unsigned *word, unsigned attempts);
#else
extern "C" __device__ inline void __ws_lock(unsigned *word)
{
	ws_spin_lock *lock = (ws_spin_lock *)word;
	unsigned ticket = lock->enter();

	while (!lock->may(ticket))
		lock->wait(ticket);
}

extern "C" __device__ inline void __ws_unlock(unsigned *word)
{
	ws_unlock((ws_spin_lock *)word);
}

extern "C" __device__ inline unsigned __ws_try_lock(unsigned *word, unsigned attempts)
{
	ws_spin_lock *lock = (ws_spin_lock *)word;
	unsigned ticket = lock->enter();

	for (unsigned i = 0; i < attempts; i++) {
		if (i)
			lock->wait(ticket);
		if (lock->may(ticket))
			return 1;
	}
	return 0;
}
#endif

#endif
