/* HASH-S and HASH-M: each transaction puts one element, or four, in front of the lists of a hash table (Holey 2015, 4.2.1 and
 * table 4.1: 120 blocks of 160 threads, 32K commits in all; 1 read and 2 writes, or 4 and 8; tables of 256 to 128K entries
 * in 4.3.2). size is the number of lists. Result: every element once, in its list. */
#define WS_TM_LATER 3       /* for HASH-M */
#define WS_TM_SPARES 4
#include "tm_bench.cuh"

/* N: elements a transaction. */
template <unsigned N> struct hash : work {
	typedef unsigned job;                   /* the first one */
	enum { WAYS = N == 1 ? 2 : 1, OWN_LOCKS = 1 };
	enum : unsigned { LOCKED = ~0u };

	const char *name;
	unsigned *head, *next;                  /* element i: its successor + 1, 0 at the end */
	unsigned *locks;

	static const char *way_name(int way) { return way ? "fgl-head" : "fgl"; }
	ws_tm_features features() const { return { N, 2 * N, N, 0, 0 }; }
	template <class F> void arrays(F f)
	{
		f(&head, o.size, false);
		f(&next, total * N, false);
		f(&locks, o.size, false);
	}
	void prepare() {}

	/* The list of an element follows from its number. */
	BOTH unsigned list_of(unsigned element) const { return noise(element) % o.size; }
	BOTH job nth(unsigned i) const { return i * N; }

	template <class A> BOTH bool section(A a, job first) const
	{
UNROLLED      /* then the compiler sees how many words there are at most */
		for (unsigned k = 0; k < N && a.ok(); k++) {
			unsigned e = first + k, *list = &head[list_of(e)];

			a.fill(&next[e], a.read(list, (unsigned)LOCKED));
			a.write(list, e + 1, (unsigned)LOCKED);
		}
		return true;
	}

	/* All lists' locks or none, so no order of locks is needed. A list that comes twice is taken once. */
	BOTH outcome try_locks(job first) const
	{
		unsigned taken = 0;                 /* bit k: lock of element k */
		bool all = true;

		for (unsigned k = 0; k < N && all; k++) {
			unsigned list = list_of(first + k);
			bool mine = false;

			for (unsigned j = 0; j < k; j++)
				mine = mine || list_of(first + j) == list;
			if (!mine && try_lock(&locks[list]))
				taken |= 1u << k;
			else
				all = mine;
		}
		if (all)
			section(plainly(), first);
		before_unlock();
		for (unsigned k = 0; k < N; k++)
			if (taken >> k & 1)
				give_back(&locks[list_of(first + k)]);
		return all ? DONE : FAILED;
	}

	/* The list's first word is its own lock while it has this value. No fence to take it: what is read is what the exchange
	 * gives. */
	BOTH outcome try_head(job e) const
	{
		unsigned *list = &head[list_of(e)], old;
#ifdef __CUDA_ARCH__
		old = atomicExch(list, (unsigned)LOCKED);
#else
		old = __atomic_exchange_n(list, (unsigned)LOCKED, __ATOMIC_RELAXED);
#endif
		if (old == LOCKED)
			return FAILED;
		plainly().write(&next[e], old);
		before_unlock();
		plainly().write(list, e + 1);
		return DONE;
	}
	template <int WAY> BOTH outcome try_section(job j) const { return WAY ? try_head(j) : try_locks(j); }

	bool right(const hash &) const
	{
		std::vector<bool> seen(total * N);
		unsigned n = 0;

		for (unsigned list = 0; list < o.size; list++)
			for (unsigned e = head[list]; e; e = next[e - 1], n++) {
				if (e > total * N || seen[e - 1] || list_of(e - 1) != list)
					return false;
				seen[e - 1] = true;
			}
		return n == total * N;
	}
};

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 120, 160, 2, 1u << 15, 4 }, { 4, 64, 2, 128, 4 });
	int bad = play<hash<1>>("HASH-S", o);

	bad += play<hash<4>>("HASH-M", o);
	return bad ? 1 : 0;
}
