/* parts.cu - parts of marked sections that are undone alone: sections in sections, and alternatives (include/warpsafe/atomic.h). Each case
 * checks its result on the host. Without `warpsafe tm` nothing is undone, and they must fail.
 *
 *     parts [CASE...] [blocks=N] [threads=N] */
#include "marked.cuh"

/* ---- what the program undoes: words of each kind, registers and variables of its own, from several depths ---- */
struct seen { int sum, mine, deep, outer, called; long long wide; };

__device__ __noinline__ int add(int *at, int by, int most)
{
	int got = 0;

	WS_ATOMIC {
		*at += by;
		if (*at > most)
			ws_tx_abort();
		got = *at;
	}
	return got;
}

/* The caller's section is undone. */
__device__ __noinline__ void check(const int *at, int most)
{
	if (*at > most)
		ws_tx_abort();
}

__global__ void undo(int *a, long long *wide, seen *out)
{
	__shared__ int shared;
	int mine[4] = { 1, 2, 3, 4 }, before = 5, turn = (int)self() & 3;
	seen s = { 0, 0, 0, 0, 0, 0 };

	if (threadIdx.x == 0)
		shared = 0;
	__syncthreads();
	WS_ATOMIC {
		a[0]++;
		before++;
		mine[turn] += 10;
		WS_ATOMIC {                              /* two depths: the inner one stays undone, the outer one's other changes stay */
			a[1]++;
			shared++;
			mine[turn] += 100;
			WS_ATOMIC {
				a[2]++;
				*wide += 1ll << 40;
				mine[(turn + 1) & 3] += 1000;
				before = 99;
				ws_tx_abort();
			}
			s.deep += a[2] == 0 && before == 6 && mine[turn] == turn + 111;
		}
		WS_ATOMIC {                              /* and one that is undone with all that is in it */
			WS_ATOMIC
				a[3]++;
			before = 77;
			check(&a[3], 0);
			s.deep = -1000;
		}
		s.called = add(&a[4], 1, 1 << 30);
		if (add(&a[5], 1, 0))
			s.called = -1;
		s.outer = 1;
	}
	WS_ATOMIC {                                      /* the whole */
		a[6]++;
		before = 55;
		mine[0] = 0;
		WS_ATOMIC
			a[7]++;
		ws_tx_abort();
	}
	s.mine = mine[0] + mine[1] + mine[2] + mine[3];
	s.sum = before;
	WS_ATOMIC {
		s.wide = *wide;
		s.sum += a[6] + a[7];
	}
	__syncthreads();
	if (threadIdx.x == 0 && shared != (int)blockDim.x)
		s.mine = -1;
	out[self()] = s;
}

static bool undone(void)
{
	int all = (int)(blocks * threads);
	memory<int> a(8);
	memory<long long> wide(1);
	memory<seen> out(blocks * threads);
	std::vector<bool> had(blocks * threads + 1);
	bool good = true;

	undo<<<blocks, threads>>>(a.gpu, wide.gpu, out.gpu);
	for (const seen &s : out.back()) {
		good = good && s.sum == 6 && s.mine == 120 && s.deep == 1 && s.outer == 1 && s.wide == 0 && s.called > 0 && s.called <= all &&
		       !had[(size_t)s.called];
		if (good)
			had[(size_t)s.called] = true;
	}
	a.back();
	return good && a.host[0] == all && a.host[1] == all && a.host[2] == 0 && a.host[3] == 0 && a.host[4] == all && a.host[5] == 0 &&
	       a.host[6] == 0 && a.host[7] == 0 && wide.back()[0] == 0;
}

/* ---- every way out of an inner section and of an alternative: end, break, continue, goto, return ---- */
__device__ __noinline__ int leave(int *a, int way)
{
	for (int i = 0; i < 2; i++) {
		WS_ATOMIC {
			a[0]++;
			if (way == 0)
				continue;
			if (way == 1)
				break;
			if (way == 2)
				goto out;
			if (way == 3)
				return i;
			if (way == 4)
				ws_tx_abort();
			a[1]++;
		}
		a[2]++;
	}
out:
	a[3]++;
	WS_EITHER {
		a[4]++;
		if (way == 2)
			ws_tx_retry();
		if (way == 1)
			return 10;
	} WS_OR_ELSE {
		if (way == 2)
			return 20;
		a[5]++;
	}
	return 30;
}

__global__ void ways(int *a, int *sum)
{
	int way = (int)(self() % 6), got;

	WS_ATOMIC {
		a[6]++;
		got = leave(a, way);
	}
	WS_ATOMIC
		sum[way] += got;
}

static bool exits(void)
{
	/* by way: what a thread adds to a[0] and so on, and returns */
	static const int each[6][8] = { { 2, 0, 0, 1, 1, 0, 1, 30 }, { 1, 0, 0, 1, 1, 0, 1, 10 }, { 1, 0, 0, 1, 0, 0, 1, 20 }, { 1, 0, 0, 0, 0, 0, 1, 0 },
		                        { 0, 0, 2, 1, 1, 0, 1, 30 }, { 2, 2, 2, 1, 1, 0, 1, 30 } };
	int expected[7] = { 0 }, returned[6] = { 0 };
	memory<int> a(7), sum(6);
	bool good = true;

	for (unsigned t = 0; t < blocks * threads; t++) {
		for (int k = 0; k < 7; k++)
			expected[k] += each[t % 6][k];
		returned[t % 6] += each[t % 6][7];
	}
	ways<<<blocks, threads>>>(a.gpu, sum.gpu);
	a.back();
	sum.back();
	for (int k = 0; k < 7; k++)
		good &= a.host[k] == expected[k];
	for (int k = 0; k < 6; k++)
		good &= sum.host[k] == returned[k];
	return good;
}

/* ---- alternatives: two buffers, which threads fill and empty, whichever can be; nested ones; registers of the first one ---- */
struct buffer { unsigned n, items[4]; };

__device__ __noinline__ void put(buffer *b, unsigned item)
{
	b->items[b->n++ & 3] = item;
	if (b->n > 4)
		ws_tx_retry();
}

__device__ unsigned take(buffer *b)
{
	unsigned n = b->n--;

	if (n == 0)
		ws_tx_retry();
	return b->items[(n - 1) & 3];
}

__global__ void either(buffer *b, unsigned *got, int *odd)
{
	unsigned t = self(), item = 0, first = 0;

	for (unsigned i = 0; i < 2; i++) {
		if (t % 2) {
			WS_EITHER {
				first++;
				put(&b[0], t * 2 + i);
			} WS_OR_ELSE {
				put(&b[1], t * 2 + i);
			}
		} else {
			WS_ATOMIC {
				WS_EITHER {
					item = 1000000;
					item = take(&b[1]);
				} WS_OR_ELSE {
					if (item == 1000000)
						atomicAdd(odd, 1);
					WS_EITHER {
						item = take(&b[2]);
					} WS_OR_ELSE {
						item = take(&b[0]);
					}
				}
			}
			WS_ATOMIC
				got[item]++;
		}
	}
	if (first > 2)
		atomicAdd(odd, 1);
}

static bool alternatives(void)
{
	unsigned all = blocks * threads;
	memory<buffer> b(3);
	memory<unsigned> got(2 * blocks * threads);
	memory<int> odd(1);
	bool good = true;

	if (all % 2)
		return true;
	either<<<blocks, threads>>>(b.gpu, got.gpu, odd.gpu);
	got.back();
	for (unsigned i = 0; i < 2 * all; i++)
		good &= got.host[i] == i / 2 % 2;
	b.back();
	return good && b.host[0].n == 0 && b.host[1].n == 0 && b.host[2].n == 0 && odd.back()[0] == 0;
}

/* ---- a bank whose transfers are made of inner sections: one that would overdraw is undone, and another account pays; lanes go
 * different ways, and round loops of different lengths ---- */
__device__ bool pay(int *from, int *to, int sum)
{
	bool done = false;

	WS_ATOMIC {
		*to += sum;
		*from -= sum;
		if (*from < 0)
			ws_tx_abort();
		done = true;
	}
	return done;
}

__global__ void transfers(int *account, unsigned n, int *failed, unsigned seed)
{
	unsigned r = seed + self() * 7919u;
	int lost = 0;

	for (unsigned i = 0; i < 1 + self() % 3; i++) {
		int to = (int)(step(&r) % n), sum = (int)(step(&r) % 60), paid = 0;
		unsigned first = step(&r) % n, tries = 1 + step(&r) % 3;

		WS_ATOMIC {
			for (unsigned k = 0; k < tries && !paid; k++)
				paid += pay(&account[(first + k) % n], &account[to], sum);
			if (!paid)
				(*failed)++;
		}
		lost += !paid;
	}
	atomicAdd(failed + 1, lost);
}

static bool bank(void)
{
	memory<int> account(8, 50), failed(2);
	int sum = 0;

	transfers<<<blocks, threads>>>(account.gpu, 8, failed.gpu, 3);
	for (int a : account.back()) {
		if (a < 0)
			return false;
		sum += a;
	}
	return sum == 400 && failed.back()[0] == failed.host[1];
}

/* ---- what an inner section has allocated is gone when it is undone, what it has freed is there. The pool (tests/tm/run) holds a
 * quarter of all ---- */
struct cell { int value[15]; };

__global__ void cells(cell **kept, int *wrong)
{
	for (int i = 0; i < 16; i++) {
		WS_ATOMIC {
			cell *mine = new cell;

			WS_ATOMIC {
				cell *gone = new cell;

				if (!gone)
					(*wrong)++;
				else
					gone->value[0] = 1;
				delete mine;
				ws_tx_abort();
			}
			if (mine) {
				mine->value[14] = i;
				if (*kept)
					delete *kept;
				*kept = mine;
			} else {
				(*wrong)++;
			}
		}
	}
}

static bool pool(void)
{
	memory<cell *> kept(1, nullptr);
	memory<int> wrong(1);

	cells<<<1, 8>>>(kept.gpu, wrong.gpu);
	return wrong.back()[0] == 0 && kept.back()[0];
}

/* ---- sections whose inner one is where they meet: it is run again by itself, as much has been done before it ---- */
enum { OWN = 24 };

__global__ void meet(int *own, int *all, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		WS_ATOMIC {
			int *mine = &own[self() * 32];

			for (int k = 0; k < OWN; k++)
				mine[k]++;
			WS_ATOMIC {
				all[0]++;
				all[32]++;
			}
		}
	}
}

static bool meeting(void)
{
	const int rounds = 4;
	int n = (int)(blocks * threads);
	memory<int> own(32 * (size_t)n), all(33);
	bool good = true;

	meet<<<blocks, threads>>>(own.gpu, all.gpu, rounds);
	own.back();
	for (int t = 0; t < n; t++)
		for (int k = 0; k < OWN; k++)
			good &= own.host[(size_t)(32 * t + k)] == rounds;
	return good && all.back()[0] == rounds * n && all.host[32] == rounds * n;
}

static const marked_case cases[] = {
	{ "undone", undone }, { "exits", exits }, { "alternatives", alternatives }, { "bank", bank }, { "pool", pool }, { "meeting", meeting },
};

int main(int argc, char **argv)
{
	return run_cases("parts", cases, argc, argv);
}
