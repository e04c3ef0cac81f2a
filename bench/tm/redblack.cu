/* REDBLACK: each transaction puts an element into a red-black tree (Guibas and Sedgewick 1978), or, every second one, looks for an element
 * that was there before and counts the visit. size is the number of elements that are there before. Result: every element once,
 * in order, no red one below a red one, as many black ones on each way; and all visits. */
#ifndef WS_TM_CALLS
#define WS_TM_CALLS
#endif
#ifndef WS_TM_LOG
#define WS_TM_LOG 48        /* a way down and what is turned on it: nothing goes to the heap */
#endif
#include "redblack.cuh"

struct redblack : work {
	struct job { unsigned element; bool visit; };
	enum { WAYS = 1 };

	const char *name;
	unsigned *child;                        /* two a node; the first one of node 0 is the root; node e + 1 is element e's */
	unsigned *red, *visits, *locks;

	static const char *way_name(int) { return "fgl"; }
	ws_tm_features features() const { return { 25, 2, 2, 0, 0 }; }
	BOTH size_t nodes() const { return (size_t)total + o.size + 1; }
	template <class F> void arrays(F f)
	{
		f(&child, 2 * nodes(), false);
		f(&red, nodes(), false);
		f(&visits, nodes(), false);
		f(&locks, nodes(), false);
	}
	void prepare()
	{
		for (unsigned e = total; e < total + o.size; e++)
			section(plainly(), job{ e, false });
	}

	/* Elements 0 to total - 1 come in, those from total on were there. */
	BOTH job nth(unsigned i) const
	{
		bool visit = i % 2 && o.size;

		return { visit ? total + i / 2 % o.size : i, visit };
	}

	BOTH redblack_tree tree() const { return { child, red, locks, 1, 0 }; }

	template <class A> BOTH bool section(A a, job j) const
	{
		unsigned *visit = &visits[tree().node_of(j.element)];

		if (!j.visit)
			return tree().insert(a, j.element);
		if (!tree().find(a, j.element))
			return false;
		a.write(visit, a.read(visit) + 1);
		return true;
	}

	template <int WAY> BOTH outcome try_section(job j) const { return tree().try_section(j.element, j.visit ? visits : nullptr); }

	bool right(const redblack &) const
	{
		size_t n = 0, in = 0;
		unsigned long long sum = 0;

		for (unsigned i = 0; i < total; i++)
			in += !nth(i).visit;
		return tree().right(nodes() - 1, &n, visits, &sum) && n == in + o.size && sum == total - in;
	}
};

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 120, 128, 4, 65536, 4 }, { 2, 32, 2, 32, 4 });

	return play<redblack>("REDBLACK", o) ? 1 : 0;
}
