/* COUNTER: each section counts one of some counters up by one (the first page of docs/TRANSACTIONS.md). size is the number of counters; 1: all
 * want the same word. Or a counter is its own lock while it has a value that it never reaches. Result: every counter, as on the CPU. */
#include "tm_bench.cuh"

struct counter : work {
	typedef unsigned job;                   /* which one */
	enum { WAYS = 3, OWN_LOCKS = 1 };
	enum : unsigned { LOCKED = ~0u };

	const char *name;
	unsigned *count, *locks;

	static const char *way_name(int way) { return way == 0 ? "fgl" : way == 1 ? "fgl-word" : "atomic"; }
	ws_tm_features features() const { return { 1, 1, 1, 0, 0 }; }
	template <class F> void arrays(F f)
	{
		f(&count, o.size, false);
		f(&locks, o.size, false);
	}
	void prepare() {}

	BOTH job nth(unsigned i) const { return noise(i) % o.size; }

	template <class A> BOTH bool section(A a, job c) const
	{
		a.write(&count[c], a.read(&count[c], (unsigned)LOCKED) + 1, (unsigned)LOCKED);
		return true;
	}

	BOTH outcome try_locks(job c) const
	{
		if (!try_lock(&locks[c]))
			return FAILED;
		section(plainly(), c);
		unlock(&locks[c]);
		return DONE;
	}

	BOTH outcome try_words(job c) const
	{
#ifdef __CUDA_ARCH__
		unsigned old = atomicExch(&count[c], (unsigned)LOCKED);
#else
		unsigned old = __atomic_exchange_n(&count[c], (unsigned)LOCKED, __ATOMIC_ACQUIRE);
#endif
		if (old == LOCKED)
			return FAILED;
		before_unlock();
		plainly().write(&count[c], old + 1);
		return DONE;
	}

	BOTH outcome add(job c) const
	{
#ifdef __CUDA_ARCH__
		atomicAdd(&count[c], 1u);
#else
		__atomic_fetch_add(&count[c], 1u, __ATOMIC_RELAXED);
#endif
		return DONE;
	}
	template <int WAY> BOTH outcome try_section(job c) const { return WAY == 0 ? try_locks(c) : WAY == 1 ? try_words(c) : add(c); }

	bool right(const counter &want) const { return !memcmp(count, want.count, o.size * sizeof *count); }
};

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 128, 128, 16, 1024, 8 }, { 4, 64, 2, 16, 8 });

	return play<counter>("COUNTER", o) ? 1 : 0;
}
