/* library.cu - the locks of warpsafe/lock.cuh: library NAME. Each thread enters ROUNDS times; a plain counter must count all, and
 * nobody may find anybody else inside. The order of entry is that of arrival for the fair ones. */
#include <cstdio>
#include <cstring>
#include <warpsafe/lock.cuh>

enum { BLOCKS = 3, THREADS = 48, ROUNDS = 3, ALL = BLOCKS * THREADS * ROUNDS, LOCKS = 5 };

struct state {
	unsigned sum[LOCKS], inside[LOCKS], wrong, order[ALL], entered;
};

template <class Lock> __global__ void one_lock(Lock *lock, state *s)
{
	for (int i = 0; i < ROUNDS; i++)
		ws_with_lock(lock, [&] {
			if (s->inside[0]++ != 0)
				s->wrong = 1;
			s->order[s->entered++] = blockIdx.x * THREADS + threadIdx.x;
			s->sum[0]++;
			s->inside[0]--;
		});
}

/* Lanes of a warp want different locks. */
template <class Lock> __global__ void many_locks(Lock *lock, state *s)
{
	unsigned k = threadIdx.x % LOCKS;

	for (int i = 0; i < ROUNDS; i++)
		ws_with_lock(&lock[k], [&] { s->sum[k]++; });
}

__global__ void two_locks(ws_spin_lock *lock, state *s)
{
	unsigned from = threadIdx.x % LOCKS, to = (threadIdx.x / LOCKS + blockIdx.x) % LOCKS;

	for (int i = 0; i < ROUNDS; i++)
		ws_with_locks(&lock[from], &lock[to], [&] {
			s->sum[from]--;
			s->sum[to]++;
			if (from == to)
				s->inside[from]++;
		});
}

__global__ void try_lock(ws_spin_lock *lock, state *s)
{
	unsigned again = 1;

	while (again) {
		if (ws_try_lock(lock)) {
			s->sum[0]++;
			ws_unlock(lock);
			again = 0;
		}
		ws_lock_meet(again);
	}
}

/* Enough attempts for all, in each lane; and none for a lock that somebody keeps. */
__global__ void try_with_lock(ws_spin_lock *lock, state *s)
{
	if (!ws_try_with_lock(lock, 1000000, [&] { s->sum[0]++; }))
		s->wrong = 1;
	if (threadIdx.x == 0 && blockIdx.x == 0)
		while (!ws_try_lock(lock + 1))
			;
	__syncthreads();
	if (blockIdx.x == 0 && ws_try_with_lock(lock + 1, 1 + threadIdx.x % 4, [&] { s->sum[1]++; }))
		s->wrong = 1;
}

__global__ void in_shared(state *s)
{
	__shared__ ws_ticket_lock lock;
	__shared__ unsigned sum;

	if (threadIdx.x == 0) {
		lock.next = lock.serving = 0;
		sum = 0;
	}
	__syncthreads();
	ws_with_lock(&lock, [&] { sum++; });
	__syncthreads();
	if (threadIdx.x == 0)
		s->sum[blockIdx.x] = sum;
}

/* Not under a reconvergence stack. */
__global__ void instructions(unsigned *word, state *s)
{
	__ws_lock(word);
	s->sum[0]++;
	__ws_unlock(word);
}

static state host;

static bool counted(unsigned all)
{
	unsigned sum = 0;

	for (int i = 0; i < LOCKS; i++)
		sum += host.sum[i];
	return sum == all && !host.wrong;
}

/* A thread that comes round again goes to the end: with everybody waiting, nobody enters three times before all have once.
 * Those that have not come yet are not waiting: so only this much is sure. */
static bool fair()
{
	unsigned last[BLOCKS * THREADS], most = 0;

	memset(last, 0, sizeof last);
	for (unsigned i = 0; i < ALL; i++)
		if (++last[host.order[i]] == ROUNDS && !most)
			most = i;
	return most >= BLOCKS * THREADS / 8;
}

template <class T> static T *zeros(size_t n)
{
	T *p;

	cudaMalloc((void **)&p, n * sizeof(T));
	cudaMemset(p, 0, n * sizeof(T));
	return p;
}

static int ended(state *s, bool (*check)())
{
	cudaError_t e = cudaDeviceSynchronize();

	if (e != cudaSuccess) {
		printf("%s\n", cudaGetErrorName(e));
		return 3;
	}
	cudaMemcpy(&host, s, sizeof host, cudaMemcpyDeviceToHost);
	printf("%s\n", check() ? "right" : "wrong");
	return !check();
}

static bool all_rounds() { return counted(ALL); }
static bool all_fair() { return counted(ALL) && fair(); }
static bool all_once() { return counted(BLOCKS * THREADS); }
static bool nothing_lost() { return counted(0); }

template <class Lock> static int one(bool (*check)())
{
	state *s = zeros<state>(1);

	one_lock<<<BLOCKS, THREADS>>>(zeros<Lock>(1), s);
	return ended(s, check);
}

template <class Lock> static int many()
{
	state *s = zeros<state>(1);

	many_locks<<<BLOCKS, THREADS>>>(zeros<Lock>(LOCKS), s);
	return ended(s, all_rounds);
}

static int spin() { return one<ws_spin_lock>(all_rounds); }
static int ticket() { return one<ws_ticket_lock>(all_fair); }
static int queue() { return one<ws_queue_lock<> >(all_fair); }
static int short_queue() { return one<ws_queue_lock<4> >(all_fair); }

static int two()
{
	state *s = zeros<state>(1);

	two_locks<<<BLOCKS, THREADS>>>(zeros<ws_spin_lock>(LOCKS), s);
	return ended(s, nothing_lost);
}

static int tries()
{
	state *s = zeros<state>(1);

	try_lock<<<BLOCKS, THREADS>>>(zeros<ws_spin_lock>(1), s);
	return ended(s, all_once);
}

static int tries_with()
{
	state *s = zeros<state>(1);

	try_with_lock<<<BLOCKS, THREADS>>>(zeros<ws_spin_lock>(2), s);
	return ended(s, all_once);
}

static int shared()
{
	state *s = zeros<state>(1);

	in_shared<<<BLOCKS, THREADS>>>(s);
	return ended(s, all_once);
}

static int names()
{
	state *s = zeros<state>(1);

	instructions<<<BLOCKS, THREADS>>>(zeros<unsigned>(1), s);
	return ended(s, all_once);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int (*run)(); } all[] = {
		{"spin", spin}, {"ticket", ticket}, {"queue", queue}, {"short-queue", short_queue},
		{"spin-many", many<ws_spin_lock>}, {"ticket-many", many<ws_ticket_lock>}, {"queue-many", many<ws_queue_lock<> >},
		{"two", two}, {"try", tries}, {"try-with", tries_with}, {"shared", shared}, {"names", names},
	};

	for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
		if (!strcmp(all[i].name, argv[1]))
			return all[i].run();
	return 2;
}
