/* TREE: each transaction puts a node into a binary tree that nobody balances: it goes down from the root and links the node where
 * the way ends (Chaudhry 2009, 6.6 and 7.2: up to 45,000 nodes, from an empty tree, as many reads as the way is long and
 * one write). size is the number of nodes that are there before. Result: every node once, where its key belongs. */
#include "tm_bench.cuh"

/* PEEK: the way down is found without promises, as with locks: nobody takes nodes away, so only its end matters. A link that it sees
 * stays (pstm: its writer meets no conflict any more). */
template <bool PEEK> struct tree : work {
	typedef unsigned job;                   /* an element; node e + 1 is its, and keys follow from numbers */
	enum : unsigned { ENGINES = PEEK ? 1u << WS_TM_PSTM | 1u << WS_TM_HSTM : work::ENGINES };
	enum { WAYS = PEEK ? 0 : 2 };

	const char *name;
	unsigned *child;                        /* two a node; those of node 0 are the root and nothing */
	unsigned *locks;

	static const char *way_name(int way) { return way ? "cas" : "fgl"; }
	ws_tm_features features() const { return { PEEK ? 1 : 20, 1, 1, PEEK, 0 }; }
	template <class F> void arrays(F f)
	{
		f(&child, 2 * ((size_t)total + o.size + 1), false);
		f(&locks, (size_t)total + o.size + 1, false);
	}
	void prepare()
	{
		for (unsigned e = total; e < total + o.size; e++)
			section(plainly(), e);
	}

	BOTH job nth(unsigned i) const { return i; }

	/* Where the way to the element goes on from that node. */
	BOTH unsigned *below(unsigned node, unsigned e) const { return &child[2 * node + (node && noise(e) > noise(node - 1))]; }

	template <class A> BOTH bool section(A a, job e) const
	{
		unsigned *at = below(0, e);

		if (PEEK)
			for (unsigned n = a.glance(at); n; n = a.glance(at))
				at = below(n, e);
		for (unsigned n = a.read(at); n && a.ok(); n = a.read(at))
			at = below(n, e);
		a.write(at, e + 1);
		return true;
	}

	/* Nobody takes nodes away, so that only the last one on the way is locked, and if there is something below it by then, the
	 * way goes on from there. */
	BOTH outcome lock_parent(job e) const
	{
		for (unsigned parent = 0;;) {
			unsigned *at = below(parent, e), next = plainly().read(at);

			if (next) {
				parent = next;
				continue;
			}
			if (!try_lock(&locks[parent]))
				return FAILED;
			bool free = !plainly().read(at);
			if (free)
				plainly().write(at, e + 1);
			unlock(&locks[parent]);
			if (free)
				return DONE;
		}
	}

	/* The link itself by compare-and-swap: no lock. */
	BOTH outcome swap_link(job e) const
	{
		for (unsigned parent = 0, next = 0;; parent = next) {
			unsigned *at = below(parent, e);

			next = plainly().read(at);
#ifdef __CUDA_ARCH__
			if (!next)
				next = atomicCAS(at, 0u, e + 1);
#else
			if (!next)
				__atomic_compare_exchange_n(at, &next, e + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
#endif
			if (!next)
				return DONE;
		}
	}
	template <int WAY> BOTH outcome try_section(job e) const { return WAY ? swap_link(e) : lock_parent(e); }

	bool right(const tree &) const
	{
		struct part { unsigned node; long long low, high; };
		std::vector<part> todo(1, part{ child[0], -1, 1ll << 32 });
		size_t n = 0, all = (size_t)total + o.size;

		while (!todo.empty() && n <= all) {
			part p = todo.back();
			long long key = p.node ? (long long)noise(p.node - 1) : 0;

			todo.pop_back();
			if (!p.node)
				continue;
			if (p.node > all || key <= p.low || key >= p.high)
				return false;
			todo.push_back({ child[2 * p.node], p.low, key });
			todo.push_back({ child[2 * p.node + 1], key, p.high });
			n++;
		}
		return n == all;
	}
};

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 120, 128, 3, 0, 4 }, { 4, 32, 1, 0, 4 });
	int bad = play<tree<false>>("TREE", o);

	bad += play<tree<true>>("TREE-PEEK", o);
	return bad ? 1 : 0;
}
