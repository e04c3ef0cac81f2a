/* BANK: each transaction withdraws from one account and deposits in another (Holey 2015, 4.2.1 and table 4.1: 2 reads and 2
 * writes; 128 blocks of 128 threads, 18M commits in all; 2K to 1024K accounts in 4.3.2). size is the number of accounts. Of a
 * hundred, `reading` only look at both. Or an account is its own lock while it has a value that none ever has.
 * Result: every account, as on the CPU. */
#include <climits>
#include "tm_bench.cuh"

struct bank : work {
	struct job { unsigned from, to, sum, looks; };        /* looks: nothing is changed; sum is 0 */
	enum { WAYS = 4, OWN_LOCKS = 2 };
	enum : long long { LOCKED = LLONG_MIN };              /* no account has so little */

	const char *name;
	long long *account;
	unsigned *locks;

	static const char *way_name(int way) { return way == 0 ? "fgl" : way == 1 ? "fgl-word" : way == 2 ? "fgl-early" : "fgl-both"; }
	ws_tm_features features() const { return { 2, 2, 2, 0, 0 }; }
	template <class F> void arrays(F f)
	{
		f(&account, o.size, false);
		f(&locks, o.size, false);
	}
	void prepare() {}

	BOTH job nth(unsigned i) const
	{
		job j = { noise(2 * i) % o.size, noise(2 * i + 1) % o.size, noise(i) % 100, noise(i ^ 0x55555555u) % 100 < o.reading };

		if (j.to == j.from)
			j.to = (j.from + 1) % o.size;
		if (j.looks)
			j.sum = 0;
		return j;
	}

	template <class A> BOTH bool section(A a, job j) const
	{
		long long from, to;

		KNOWN(j.from != j.to);
		if (A::AT_ONCE)
			a.both(&account[j.from], &account[j.to], (long long)LOCKED, &from, &to);
		else
			from = a.read(&account[j.from], (long long)LOCKED);      /* all lanes of a warp read together, those that only look as well */
		a.change(!j.looks, &account[j.from], from - j.sum, (long long)LOCKED);
		if (!A::AT_ONCE)
			to = a.read(&account[j.to], (long long)LOCKED);
		a.change(!j.looks, &account[j.to], to + j.sum, (long long)LOCKED);
#ifdef __CUDA_ARCH__
		return true;                       /* reads of shared words stay without a use; the host's compiler leaves them out */
#else
		return !j.looks || from + to != -1;
#endif
	}

	/* Both locks or none: nobody waits while it has one, so no order of locks is needed. */
	BOTH outcome try_locks(job j) const
	{
		outcome out = FAILED;

		if (!try_lock(&locks[j.from]))
			return FAILED;
		if (try_lock(&locks[j.to])) {
			section(plainly(), j);
			before_unlock();
			give_back(&locks[j.to]);
			out = DONE;
		}
		give_back(&locks[j.from]);
		return out;
	}

	BOTH static long long take(long long *p)
	{
#ifdef __CUDA_ARCH__
		return (long long)atomicExch((unsigned long long *)p, (unsigned long long)LOCKED);
#else
		return __atomic_exchange_n(p, (long long)LOCKED, __ATOMIC_ACQUIRE);
#endif
	}

	/* An account is its own lock while it has this value. EARLY: the fence comes before the accounts are taken, as with pstm-word. */
	template <bool EARLY> BOTH outcome try_words(job j) const
	{
		if (EARLY)
			before_unlock();

		long long from = take(&account[j.from]), to;

		if (from == LOCKED)
			return FAILED;
		to = take(&account[j.to]);
		if (to != LOCKED) {
			if (!EARLY)
				before_unlock();
			plainly().write(&account[j.to], to + j.sum);
		}
		plainly().write(&account[j.from], to != LOCKED ? from - j.sum : from);
		return to != LOCKED ? DONE : FAILED;
	}
	/* Both are asked for at once, as with pstm-both. */
	BOTH outcome try_both(job j) const
	{
		before_unlock();

		long long from = take(&account[j.from]), to = take(&account[j.to]);
		bool got = from != LOCKED && to != LOCKED;

		if (from != LOCKED)
			plainly().write(&account[j.from], got ? from - j.sum : from);
		if (to != LOCKED)
			plainly().write(&account[j.to], got ? to + j.sum : to);
		return got ? DONE : FAILED;
	}
	template <int WAY> BOTH outcome try_section(job j) const { return WAY == 3 ? try_both(j) : WAY ? try_words<WAY == 2>(j) : try_locks(j); }

	bool right(const bank &want) const { return !memcmp(account, want.account, o.size * sizeof *account); }
};

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 128, 128, 64, 1u << 17, 8 }, { 4, 64, 4, 512, 8 });

	return play<bank>("BANK", o) ? 1 : 0;
}
