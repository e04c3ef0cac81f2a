/* examples.cu - examples 1 to 20 of (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011) as one program,
 * and what units add to its instructions (sections 3.2, 3.3, 9.2):
 *
 *     examples NUMBER          "right", or what is wrong (status 1); tests/locks/run says what must happen on which machine
 *
 * A free lock is 0 and not -1. The locks are words[0] to words[63], what they guard is behind them. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

typedef unsigned int u32;
extern "C" __device__ void __ws_lock(u32 *lock);
extern "C" __device__ void __ws_unlock(u32 *lock);
extern "C" __device__ u32 __ws_try_lock(u32 *lock, u32 attempts);
extern "C" __device__ u32 __ws_try_lock_for(u32 *lock, u32 cycles);
extern "C" __device__ void __ws_wait(u32 *semaphore);
extern "C" __device__ void __ws_signal(u32 *semaphore);
extern "C" __device__ void __ws_grid_barrier(u32 *word);

enum { BLOCKS = 3, THREADS = 64, ALL = BLOCKS * THREADS, DATA = 64, RESULT = 512, WORDS = 4096 };
#define LANE (threadIdx.x % 32)
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

/* Not atomic: what a critical section does. */
__device__ static void add(u32 *p, u32 by = 1)
{
	volatile u32 *v = p;

	__threadfence();
	*v = *v + by;
	__threadfence();
}

/* ---- 1: the spin lock of a CPU ---- */
__global__ void example_1(u32 *words)
{
	while (atomicExch(&words[0], 1))                         /* A */
		;
	add(&words[DATA]);                                       /* B */
	atomicExch(&words[0], 0);                                /* C */
}

/* ---- 2: recursion ---- */
__device__ __noinline__ static u32 recursive(u32 x)
{
	volatile u32 y = x + 1;                                  /* A */

	if (y == 1 && threadIdx.x % 8 > 4)                       /* B */
		y = recursive(y);                                /* C */
	y = y + 1;                                               /* D */
	return y;                                                /* E */
}

__global__ void example_2(u32 *words)
{
	words[RESULT + THREAD] = recursive(0);
}

/* ---- 3: the same with compare and swap ---- */
__global__ void example_3(u32 *words)
{
	while (atomicCAS(&words[0], 0, THREAD + 1) != 0)
		;
	add(&words[DATA]);
	atomicExch(&words[0], 0);
}

/* ---- 4: in assembly; lanes want one of four locks ---- */
__global__ void example_4(u32 *words)
{
	u32 *lock = &words[threadIdx.x % 4], *data = &words[DATA + threadIdx.x % 4];

	asm volatile("{\n.reg .pred taken;\n.reg .b32 old, sum;\n"
	             "AGAIN:\n"
	             "atom.global.cas.b32 old, [%0], 0, %1;\n"                           /* A */
	             "setp.ne.u32 taken, old, 0;\n"                                      /* B */
	             "@taken bra AGAIN;\n"                                               /* C */
	             "ld.volatile.global.u32 sum, [%2];\n"                               /* D */
	             "add.u32 sum, sum, 1;\nst.volatile.global.u32 [%2], sum;\nmembar.gl;\n"
	             "atom.global.exch.b32 old, [%0], 0;\n}"                             /* E */
	             :: "l"(lock), "r"(THREAD + 1), "l"(data) : "memory");
}

/* Each lane of a warp has a lock of its own, and two warps want the same ones: each has got half of them. */
__global__ void two_warps(u32 *words)
{
	u32 *lock = &words[LANE];
	bool first_half = LANE < 16, mine = false;

	if (first_half == (threadIdx.x < 32))
		mine = atomicCAS(lock, 0, THREAD + 1) == 0;
	__syncthreads();
	while (!mine)
		mine = atomicCAS(lock, 0, THREAD + 1) == 0;
	add(&words[DATA + LANE]);
	atomicExch(lock, 0);
}

/* At the end of such a loop. "Compiler optimization of loops caused the divergence problems" (6.5.3): one that knew the way out
 * would put the critical section behind the loop. */
__device__ static void keep(u32 *again)
{
	asm volatile("" : "+r"(*again));
}

/* ---- 5: a loop round the critical section ---- */
__global__ void example_5(u32 *words)
{
	u32 again = 1;

	while (again) {
		if (atomicCAS(&words[0], 0, THREAD + 1) == 0) {
			add(&words[DATA]);
			atomicExch(&words[0], 0);
			again = 0;
		}
		keep(&again);
	}
}

/* ---- 6: that in assembly ---- */
__global__ void example_6(u32 *words)
{
	asm volatile("{\n.reg .pred taken, more;\n.reg .b32 old, sum, again;\n"
	             "mov.u32 again, 1;\n"                                               /* A */
	             "OUTER:\n"
	             "atom.global.cas.b32 old, [%0], 0, %1;\n"                           /* B */
	             "setp.ne.u32 taken, old, 0;\n"                                      /* C */
	             "@taken bra CHECK;\n"                                               /* D */
	             "ld.volatile.global.u32 sum, [%2];\n"                               /* E */
	             "add.u32 sum, sum, 1;\nst.volatile.global.u32 [%2], sum;\nmembar.gl;\n"
	             "atom.global.exch.b32 old, [%0], 0;\n"                              /* F */
	             "mov.u32 again, 0;\n"                                               /* G */
	             "CHECK:\n"
	             "setp.eq.u32 more, again, 1;\n"                                     /* H */
	             "@more bra OUTER;\n}"                                               /* I */
	             :: "l"(&words[0]), "r"(THREAD + 1), "l"(&words[DATA]) : "memory");
}

/* ---- 7: an early unlock, with the spin lock of a CPU, and adapted to warps ---- */
__device__ static u32 rounds_of(u32 thread)
{
	return 1 + thread % 3;
}

__global__ void example_7(u32 *words)
{
	u32 n = 0;

	while (true) {
		while (atomicCAS(&words[0], 0, THREAD + 1) != 0)         /* A */
			;
		if (++n >= rounds_of(THREAD)) {                          /* B */
			add(&words[DATA + 1]);                           /* C */
			atomicExch(&words[0], 0);                        /* D */
			break;                                           /* E */
		}
		add(&words[DATA]);
		atomicExch(&words[0], 0);                                /* F */
	}
	words[RESULT + THREAD] = n;                                      /* G */
}

/* "Adding another loop would require the break to be moved below F, and code that makes it depend on C." */
__global__ void example_7_adapted(u32 *words)
{
	u32 n = 0;
	bool leave = false;

	while (!leave) {
		u32 again = 1;

		while (again) {
			if (atomicCAS(&words[0], 0, THREAD + 1) == 0) {
				leave = ++n >= rounds_of(THREAD);
				add(&words[leave ? DATA + 1 : DATA]);
				atomicExch(&words[0], 0);
				again = 0;
			}
			keep(&again);
		}
	}
	words[RESULT + THREAD] = n;
}

/* ---- 8: a semaphore; words[1] resources, words[2] in use, words[3] the most that were ---- */
__device__ static void guarded(u32 *lock, volatile u32 *s, int by, u32 *again)
{
	if (atomicCAS(lock, 0, THREAD + 1) == 0) {
		__threadfence();
		if (by > 0 || *s > 0) {
			*s = *s + (u32)by;
			*again = 0;
		}
		__threadfence();
		atomicExch(lock, 0);
	}
	keep(again);
}

__global__ void example_8(u32 *words)
{
	u32 wait = 1, signal = 1;

	while (wait)
		guarded(&words[0], &words[1], -1, &wait);                /* wait */
	atomicMax(&words[3], atomicAdd(&words[2], 1) + 1);
	words[RESULT + THREAD] = __activemask();
	atomicAdd(&words[DATA], 1);
	atomicSub(&words[2], 1);
	while (signal)
		guarded(&words[0], &words[1], 1, &signal);               /* signal */
}

/* ---- 9: lock and unlock instructions ---- */
__global__ void example_9(u32 *words)
{
	__ws_lock(&words[0]);                                            /* A */
	add(&words[DATA]);                                               /* B */
	__ws_unlock(&words[0]);                                          /* C */
	words[RESULT + THREAD] = __activemask();                         /* D */
}

/* ---- 10: example 7 with them ---- */
__global__ void example_10(u32 *words)
{
	u32 n = 0;

	while (true) {
		__ws_lock(&words[0]);                                    /* A */
		if (++n >= rounds_of(THREAD)) {                          /* B */
			add(&words[DATA + 1]);                           /* C */
			__ws_unlock(&words[0]);                          /* D */
			break;                                           /* E */
		}
		add(&words[DATA]);
		__ws_unlock(&words[0]);                                  /* F */
	}
	words[RESULT + THREAD] = n;                                      /* G */
}

/* ---- 11: nested locks; a thread's second is another's first ---- */
__global__ void example_11(u32 *words)
{
	u32 k = threadIdx.x % 4;

	__ws_lock(&words[k]);                                            /* A */
	__ws_lock(&words[k + 1]);                                        /* B */
	add(&words[DATA + k]);                                           /* C */
	add(&words[DATA + k + 1]);
	if (threadIdx.x & 4) {                                           /* D */
		add(&words[DATA + 16 + k]);                              /* E */
		__ws_unlock(&words[k + 1]);                              /* F */
	} else {
		add(&words[DATA + 24 + k]);                              /* G */
		__ws_unlock(&words[k + 1]);                              /* H */
	}
	add(&words[DATA + 32 + k]);                                      /* I */
	__ws_unlock(&words[k]);                                          /* J */
}

/* ---- 12: a branch outside of the critical section, whose paths meet inside. Threads wait for their warp behind it ---- */
__global__ void example_12(u32 *words)
{
	volatile u32 *arrived = &words[DATA + 32 + THREAD / 32];

	if (threadIdx.x & 1) {                                           /* A */
		asm volatile("// so that the compiler does not lock before the branch");
		__ws_lock(&words[0]);                                    /* B */
		add(&words[DATA + 1]);                                   /* C */
	} else {
		__ws_lock(&words[0]);                                    /* D */
		asm volatile("// nor unlocks behind it alone");
	}
	add(&words[DATA]);                                               /* E */
	__ws_unlock(&words[0]);                                          /* F */
	atomicAdd((u32 *)arrived, 1);                                    /* G */
	while (*arrived < 32)
		;
}

/* ---- 13: a nested lock under divergence; one lane holds the other's ---- */
__global__ void example_13(u32 *words)
{
	u32 k = LANE;

	if (THREAD < 32) {
		__ws_lock(&words[k]);                                    /* A */
		if (k == 1) {                                            /* B */
			__ws_lock(&words[0]);                            /* C */
			add(&words[DATA]);                               /* D */
			__ws_unlock(&words[0]);                          /* E */
		}
		add(&words[DATA + 1 + k]);                               /* F */
		__ws_unlock(&words[k]);                                  /* G */
	}
}

/* ---- 14: queue on sync bit: who asks is put into a queue, once; test-and-set succeeds for its head. In software: the queue
 * is an array, words[1] its head and words[2] its tail ---- */
__device__ static void qosb(u32 *words, u32 *place)
{
	if (!*place)
		*place = atomicAdd(&words[2], 1) + 1;
}

__device__ static bool test_and_set(u32 *words, u32 place)
{
	return *(volatile u32 *)&words[1] + 1 != place;                  /* false: the lock is ours */
}

__global__ void example_14(u32 *words, bool one_lane)
{
	u32 place = 0;

	if (one_lane && LANE != 0)
		return;
	qosb(words, &place);
	while (test_and_set(words, place))
		qosb(words, &place);
	add(&words[DATA]);
	words[RESULT + place] = THREAD + 1;
	__threadfence();
	atomicAdd(&words[1], 1);
}

/* ---- 15: a lock with an array of flags; the first flag is set when the program begins ---- */
__global__ void example_15(u32 *words, bool one_lane)
{
	volatile u32 *flag = &words[1024];
	u32 place;

	if (one_lane && LANE != 0)
		return;
	place = atomicAdd(&words[0], 1);
	while (!flag[place % 1024])
		;
	flag[place % 1024] = 0;
	add(&words[DATA]);
	flag[(place + 1) % 1024] = 1;
}

/* ---- 16: MCS: a list of records, the lock is its tail. Record of thread t: words[1024 + 2 * t], next and locked ---- */
__global__ void example_16(u32 *words, bool one_lane)
{
	u32 me = THREAD + 1, before;
	volatile u32 *mine = &words[1024 + 2 * me];

	if (one_lane && LANE != 0)
		return;
	mine[0] = 0;
	mine[1] = 1;
	__threadfence();
	before = atomicExch(&words[0], me);
	if (before) {
		*(volatile u32 *)&words[1024 + 2 * before] = me;
		while (mine[1])
			;
	}
	add(&words[DATA]);
	if (!mine[0]) {
		if (atomicCAS(&words[0], me, 0) == me)
			return;
		while (!mine[0])
			;
	}
	words[1024 + 2 * mine[0] + 1] = 0;
}

/* ---- 17 and 18: BarnesHut's insertion: leaves of a tree, here a row of slots, are filled; words[DATA + i]: -1 free, -2
 * locked, else the body. A body that finds its leaf taken goes on to the next one ---- */
enum { FREE = 0xffffffffu, LOCKED = 0xfffffffeu, LEAVES = 256 };

__global__ void example_17(u32 *words)
{
	u32 *leaf = &words[DATA], at = THREAD / 4;
	bool inserted = false;

	while (!inserted) {
		u32 child = *(volatile u32 *)&leaf[at % LEAVES];

		if (child != LOCKED) {
			if (child != FREE) {
				at++;
			} else if (atomicCAS(&leaf[at % LEAVES], child, LOCKED) == child) {
				__threadfence();
				*(volatile u32 *)&leaf[at % LEAVES] = THREAD;
				inserted = true;
			}
		}
	}
}

/* Locks are words of their own: words[2048 + i]. A lock that is got in vain is counted in words[0]. */
__global__ void example_18(u32 *words)
{
	u32 *leaf = &words[DATA], at = THREAD / 4;
	bool inserted = false;

	while (!inserted) {
		volatile u32 *child = &leaf[at % LEAVES];

		if (*child != FREE) {
			at++;
			continue;
		}
		__ws_lock(&words[2048 + at % LEAVES]);
		if (*child == FREE) {
			*child = THREAD;
			inserted = true;
		} else {
			atomicAdd(&words[0], 1);
		}
		__threadfence();
		__ws_unlock(&words[2048 + at % LEAVES]);
	}
}

/* ---- 19 and 20: Interac: transfers between accounts ---- */
enum { ACCOUNTS = 16 };

__device__ static void accounts_of(u32 thread, u32 *from, u32 *to)
{
	*from = thread * 7 % ACCOUNTS;
	*to = (*from + 1 + thread % (ACCOUNTS - 1)) % ACCOUNTS;
}

__device__ static u32 transfer(u32 *words, u32 from, u32 to)
{
	add(&words[DATA + from], (u32)-(int)(THREAD % 5));
	add(&words[DATA + to], THREAD % 5);
	return 1;
}

__global__ void example_19(u32 *words)
{
	u32 from, to, first, second;
	u32 again = 1;
	bool has_first = false;

	accounts_of(THREAD, &from, &to);
	first = from < to ? from : to;
	second = from < to ? to : from;
	while (again) {
		if (has_first || atomicCAS(&words[first], 0, 1) == 0) {
			has_first = true;
			if (atomicCAS(&words[second], 0, 1) == 0) {
				transfer(words, from, to);
				atomicExch(&words[second], 0);
				atomicExch(&words[first], 0);
				again = 0;
			}
		}
		keep(&again);
	}
}

__global__ void example_20(u32 *words)
{
	u32 from, to, first, second;

	accounts_of(THREAD, &from, &to);
	first = from < to ? from : to;
	second = from < to ? to : from;
	__ws_lock(&words[first]);
	__ws_lock(&words[second]);
	transfer(words, from, to);
	__ws_unlock(&words[second]);
	__ws_unlock(&words[first]);
}

/* ---- beyond: tries, as in example 17; words[1] counts those in vain ---- */
__device__ static void try_until(u32 *words, u32 attempts, u32 cycles)
{
	u32 again = 1;

	while (again) {
		if (cycles ? __ws_try_lock_for(&words[0], cycles) : __ws_try_lock(&words[0], attempts)) {
			add(&words[DATA]);
			__ws_unlock(&words[0]);
			again = 0;
		} else {
			atomicAdd(&words[1], 1);
		}
		keep(&again);
	}
}

__global__ void tries(u32 *words) { try_until(words, 1, 0); }
__global__ void tries_many(u32 *words) { try_until(words, 1 + THREAD % 4, 0); }
__global__ void tries_for(u32 *words) { try_until(words, 0, 3000); }

/* Enough attempts for all, each thread once: a thread runs its section while others of its warp try on. */
__global__ void tries_by_lane(u32 *words)
{
	u32 got = THREAD % 2 ? __ws_try_lock(&words[0], 1000000) : __ws_try_lock_for(&words[0], 100000000);

	if (got) {
		add(&words[DATA]);
		__ws_unlock(&words[0]);
	} else {
		atomicAdd(&words[1], 1);
	}
	words[RESULT + THREAD] = 1;
}

/* Some lanes have many attempts, some few, inside of a section of their own: who gives up goes on in its branch. */
__global__ void tries_nested(u32 *words)
{
	__ws_lock(&words[8 + LANE]);
	if (__ws_try_lock(&words[0], LANE % 4 ? 1000000 : 2)) {
		add(&words[DATA]);
		__ws_unlock(&words[0]);
	} else {
		add(&words[DATA + 8 + LANE]);
	}
	add(&words[DATA + 40 + LANE]);
	__ws_unlock(&words[8 + LANE]);
}

/* All of it in turn: one of four locks, few attempts or many, by number or by time (all alike: lanes that parted before the
 * call and met behind it would be example 12), some inside of another lock. */
__device__ static void random_try(u32 *words, u32 random, bool by_time)
{
	u32 *lock = &words[random % 4], attempts = random / 4 % 8 ? random / 4 % 8 : 1000;
	u32 got = by_time ? __ws_try_lock_for(lock, attempts * 300) : __ws_try_lock(lock, attempts);

	if (got) {
		add(&words[DATA + random % 4]);
		__ws_unlock(lock);
	} else {
		atomicAdd(&words[DATA + 4], 1);
	}
}

__global__ void tries_random(u32 *words)
{
	u32 random = THREAD * 2654435761u;

	for (u32 i = 0; i < 8; i++) {
		random = random * 1664525u + 1013904223u;
		if (random >> 31) {
			__ws_lock(&words[8 + (random >> 28) % 4]);
			random_try(words, random >> 8, i % 2);
			add(&words[DATA + 8 + (random >> 28) % 4]);
			__ws_unlock(&words[8 + (random >> 28) % 4]);
		} else {
			random_try(words, random >> 8, i % 2);
		}
		atomicAdd(&words[DATA + 5], 1);
	}
}

/* A try inside of a critical section: the unlock of the one is not that of the other. Nobody else holds words[2]. */
__global__ void try_inside(u32 *words)
{
	__ws_lock(&words[0]);
	if (__ws_try_lock(&words[2], 1)) {
		add(&words[DATA]);
		__ws_unlock(&words[2]);
	}
	add(&words[DATA + 1]);
	__ws_unlock(&words[0]);
}

/* A lock that somebody keeps: tries give up. */
__global__ void try_in_vain(u32 *words)
{
	if (THREAD == 0)
		words[RESULT] = __ws_try_lock(&words[0], 1);
	__ws_grid_barrier(&words[3]);
	if (THREAD)
		words[RESULT + THREAD] = __ws_try_lock(&words[0], 3) + __ws_try_lock_for(&words[0], 500);
}

/* ---- a semaphore of ten: example 8 with instructions; each thread enters by itself ---- */
__global__ void semaphore(u32 *words)
{
	__ws_wait(&words[1]);
	atomicMax(&words[3], atomicAdd(&words[2], 1) + 1);
	atomicAdd(&words[DATA], 1);
	atomicSub(&words[2], 1);
	__ws_signal(&words[1]);
}

/* The second block gives, one by one, what the first one waits for. */
__global__ void producer(u32 *words)
{
	if (blockIdx.x == 0)
		__ws_wait(&words[1]);
	else if (blockIdx.x == 1)
		__ws_signal(&words[1]);
	atomicAdd(&words[DATA], 1);
}

/* ---- a barrier of all threads, again and again ---- */
__global__ void grid_barrier(u32 *words)
{
	for (u32 i = 1; i <= 5; i++) {
		atomicAdd(&words[DATA + 1], 1);
		__ws_grid_barrier(&words[0]);
		if (*(volatile u32 *)&words[DATA + 1] == i * ALL)
			atomicAdd(&words[DATA], 1);
		__ws_grid_barrier(&words[0]);
	}
}

/* One thread does not come. */
__global__ void broken_barrier(u32 *words)
{
	if (THREAD != 5)
		__ws_grid_barrier(&words[0]);
}

/* ---- what must have come out ---- */
static u32 host[WORDS];

static bool equal(u32 at, u32 want)
{
	if (host[at] == want)
		return true;
	printf("word %u is %u, not %u\n", at, host[at], want);
	return false;
}

static bool sum_is(u32 want) { return equal(DATA, want); }
static bool all_added() { return sum_is(ALL); }
static bool warps_added() { return sum_is(ALL / 32); }

static bool recursion()
{
	for (u32 i = 0; i < ALL; i++)
		if (!equal(RESULT + i, i % THREADS % 8 > 4 ? 4 : 2))
			return false;
	return true;
}

static bool four_locks()
{
	return equal(DATA, ALL / 4) && equal(DATA + 1, ALL / 4) && equal(DATA + 2, ALL / 4) && equal(DATA + 3, ALL / 4);
}

static bool two_warps_added() { return equal(DATA, 2) && equal(DATA + 31, 2); }

static bool rounds()
{
	for (u32 i = 0; i < ALL; i++)
		if (!equal(RESULT + i, 1 + i % 3))
			return false;
	return equal(DATA + 1, ALL) && sum_is(ALL / 3 * (1 + 2));
}

static bool semaphore_kept()
{
	if (!all_added() || !equal(2, 0))
		return false;
	printf("at most %u threads had a resource%s\n", host[3], host[RESULT] == 0xffffffffu ? ", the first warp all together" : "");
	return true;
}

/* With enough for all, a warp comes to its critical section as a whole. */
static bool warps_were_together()
{
	for (u32 i = 0; i < ALL; i++)
		if (!equal(RESULT + i, 0xffffffffu))
			return false;
	return semaphore_kept();
}

static bool together()
{
	for (u32 i = 0; i < ALL; i++)
		if (!equal(RESULT + i, 0xffffffffu))
			return false;
	return all_added();
}

static bool nested()
{
	for (u32 i = 0; i < 4; i++)
		if (!equal(DATA + i, i ? ALL / 2 : ALL / 4) || !equal(DATA + 16 + i, ALL / 8) ||
		    !equal(DATA + 24 + i, ALL / 8) || !equal(DATA + 32 + i, ALL / 4))
			return false;
	return equal(DATA + 4, ALL / 4);
}

static bool both_branches() { return all_added() && equal(DATA + 1, ALL / 2); }
static bool thirteen() { return sum_is(1) && equal(DATA + 1, 1) && equal(DATA + 32, 1); }

static bool bodies_inserted()
{
	u32 found = 0;

	for (u32 i = 0; i < LEAVES; i++)
		found += host[DATA + i] < ALL;
	printf("%u of %u bodies\n", found, (u32)ALL);
	return found == ALL;
}

static bool bodies_and_waste()
{
	printf("critical sections in vain: %s\n", host[0] ? "some" : "none");
	return bodies_inserted();
}

static bool money_kept()
{
	int sum = 0, want[ACCOUNTS] = {0};

	for (u32 i = 0; i < ALL; i++) {
		u32 from = i * 7 % ACCOUNTS, to = (from + 1 + i % (ACCOUNTS - 1)) % ACCOUNTS;

		want[from] -= (int)(i % 5);
		want[to] += (int)(i % 5);
	}
	for (u32 i = 0; i < ACCOUNTS; i++) {
		if (!equal(DATA + i, (u32)want[i]))
			return false;
		sum += want[i];
	}
	return sum == 0;
}

static bool by_lane()
{
	for (u32 i = 0; i < ALL; i++)
		if (!equal(RESULT + i, 1))
			return false;
	return all_added() && equal(0, 0) && equal(1, 0);
}

/* Each try was got or in vain, each section and each round was run once, and all locks are free. */
static bool tried_all()
{
	u32 sections = 0, nested = 0;

	for (u32 i = 0; i < ALL; i++)
		for (u32 k = 0, random = i * 2654435761u; k < 8; k++) {
			random = random * 1664525u + 1013904223u;
			nested += random >> 31;
		}
	for (u32 i = 0; i < 4; i++) {
		sections += host[DATA + i];
		nested -= host[DATA + 8 + i];
		if (!equal(i, 0) || !equal(8 + i, 0))
			return false;
	}
	return equal(DATA + 5, 8 * ALL) && sections + host[DATA + 4] == 8 * ALL && nested == 0 && sections > 4 * ALL;
}

static bool tried_nested()
{
	u32 in_vain = 0;

	for (u32 i = 0; i < 32; i++) {
		if (!equal(DATA + 40 + i, ALL / 32) || !equal(8 + i, 0) || (i % 4 && !equal(DATA + 8 + i, 0)))
			return false;
		in_vain += host[DATA + 8 + i];
	}
	return equal(0, 0) && sum_is(ALL - in_vain);
}

static bool five_times() { return sum_is(5 * ALL) && equal(DATA + 1, 5 * ALL) && equal(0, 0); }
static bool inside() { return all_added() && equal(DATA + 1, ALL) && equal(0, 0) && equal(2, 0); }

static bool gave_up()
{
	for (u32 i = 0; i < ALL; i++)
		if (!equal(RESULT + i, i == 0))
			return false;
	return true;
}

static bool ten_kept() { return equal(1, 10) && host[3] <= 10 && semaphore_kept(); }
static bool handed() { return all_added() && equal(1, 0); }

/* ---- all of them ---- */
enum prepared { ZEROS, TEN, MANY, FLAG, LEAVES_FREE };
struct example {
	const char *number;
	void (*kernel)(u32 *words);
	void (*lanes)(u32 *words, bool one_lane);
	bool one_lane;
	u32 blocks;
	enum prepared prepared;
	bool (*check)();
};

static const struct example examples[] = {
	{"1", example_1, NULL, false, BLOCKS, ZEROS, all_added},
	{"2", example_2, NULL, false, BLOCKS, ZEROS, recursion},
	{"3", example_3, NULL, false, BLOCKS, ZEROS, all_added},
	{"4", example_4, NULL, false, BLOCKS, ZEROS, four_locks},
	{"4-two-warps", two_warps, NULL, false, 1, ZEROS, two_warps_added},
	{"5", example_5, NULL, false, BLOCKS, ZEROS, all_added},
	{"6", example_6, NULL, false, BLOCKS, ZEROS, all_added},
	{"7", example_7, NULL, false, BLOCKS, ZEROS, rounds},
	{"7-adapted", example_7_adapted, NULL, false, BLOCKS, ZEROS, rounds},
	{"8", example_8, NULL, false, BLOCKS, TEN, semaphore_kept},
	{"8-enough", example_8, NULL, false, BLOCKS, MANY, warps_were_together},
	{"9", example_9, NULL, false, BLOCKS, ZEROS, together},
	{"9-sum", example_9, NULL, false, BLOCKS, ZEROS, all_added},
	{"10", example_10, NULL, false, BLOCKS, ZEROS, rounds},
	{"11", example_11, NULL, false, BLOCKS, ZEROS, nested},
	{"12", example_12, NULL, false, BLOCKS, ZEROS, both_branches},
	{"13", example_13, NULL, false, 1, ZEROS, thirteen},
	{"14", NULL, example_14, false, BLOCKS, ZEROS, all_added},
	{"14-one-lane", NULL, example_14, true, BLOCKS, ZEROS, warps_added},
	{"15", NULL, example_15, false, BLOCKS, FLAG, all_added},
	{"15-one-lane", NULL, example_15, true, BLOCKS, FLAG, warps_added},
	{"16", NULL, example_16, false, BLOCKS, ZEROS, all_added},
	{"16-one-lane", NULL, example_16, true, BLOCKS, ZEROS, warps_added},
	{"17", example_17, NULL, false, BLOCKS, LEAVES_FREE, bodies_inserted},
	{"18", example_18, NULL, false, BLOCKS, LEAVES_FREE, bodies_and_waste},
	{"19", example_19, NULL, false, BLOCKS, ZEROS, money_kept},
	{"20", example_20, NULL, false, BLOCKS, ZEROS, money_kept},
	{"try", tries, NULL, false, BLOCKS, ZEROS, all_added},
	{"try-many", tries_many, NULL, false, BLOCKS, ZEROS, all_added},
	{"try-for", tries_for, NULL, false, BLOCKS, ZEROS, all_added},
	{"try-by-lane", tries_by_lane, NULL, false, BLOCKS, ZEROS, by_lane},
	{"try-nested", tries_nested, NULL, false, BLOCKS, ZEROS, tried_nested},
	{"try-random", tries_random, NULL, false, BLOCKS, ZEROS, tried_all},
	{"try-inside", try_inside, NULL, false, BLOCKS, ZEROS, inside},
	{"try-in-vain", try_in_vain, NULL, false, BLOCKS, ZEROS, gave_up},
	{"semaphore", semaphore, NULL, false, BLOCKS, TEN, ten_kept},
	{"producer", producer, NULL, false, BLOCKS, ZEROS, handed},
	{"grid-barrier", grid_barrier, NULL, false, BLOCKS, ZEROS, five_times},
	{"broken-barrier", broken_barrier, NULL, false, BLOCKS, ZEROS, all_added},
};

static void prepare(const struct example *e)
{
	if (e->prepared == TEN)
		host[1] = 10;
	if (e->prepared == MANY)
		host[1] = ALL;
	if (e->prepared == FLAG)
		host[1024] = 1;
	if (e->prepared == LEAVES_FREE)
		memset(&host[DATA], 0xff, LEAVES * sizeof *host);
}

int main(int argc, char **argv)
{
	const struct example *e = NULL;
	u32 *words;
	cudaError_t err;

	for (size_t i = 0; argc > 1 && i < sizeof examples / sizeof *examples; i++)
		if (!strcmp(examples[i].number, argv[1]))
			e = &examples[i];
	if (!e)
		return 2;
	prepare(e);
	cudaMalloc((void **)&words, sizeof host);
	cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice);
	if (e->kernel)
		e->kernel<<<e->blocks, THREADS>>>(words);
	else
		e->lanes<<<e->blocks, THREADS>>>(words, e->one_lane);
	err = cudaDeviceSynchronize();
	if (err != cudaSuccess) {
		printf("%s\n", cudaGetErrorName(err));
		return 1;
	}
	cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost);
	if (!e->check())
		return 1;
	printf("right\n");
	return 0;
}
