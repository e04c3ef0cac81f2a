/* REDBLACK: each transaction puts an element into a red-black tree (Guibas and Sedgewick 1978), or, every second one, looks for an element
 * that was there before and counts the visit. size is the number of elements that are there before. Result: every element once,
 * in order, no red one below a red one, as many black ones on each way; and all visits. */
#ifndef WS_TM_CALLS
#define WS_TM_CALLS
#endif
#include "tm_bench.cuh"

struct redblack : work {
	struct job { unsigned element; bool visit; };
	enum { WAYS = 1, DEEPEST = 64 };        /* twice the logarithm of the nodes, at most */

	const char *name;
	unsigned *child;                        /* two a node; the first one of node 0 is the root; node e + 1 is element e's */
	unsigned *red, *visits, *locks;

	static const char *way_name(int) { return "fgl"; }
	ws_tm_features features() const { return { 25, 2, 2, 0 }; }
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

	/* ---- what both ways share ---- */

	/* Where the way to the element goes on from that node. */
	BOTH unsigned side(unsigned node, unsigned e) const { return node && noise(e) > noise(node - 1); }
	BOTH unsigned *link(unsigned node, unsigned side) const { return &child[2 * node + side]; }

	/* p and x, its child, are red, and p's sibling is not: the three nodes change places below gg. */
	template <class A> BOTH void rotate(A a, unsigned gg, unsigned g, unsigned p, unsigned x) const
	{
		unsigned s = a.read(link(g, 1)) == p, above = gg && a.read(link(gg, 1)) == g;

		if (a.read(link(p, !s)) == x) {
			a.write(link(p, !s), a.read(link(x, s)));
			a.write(link(x, s), p);
			p = x;
		}
		a.write(link(g, s), a.read(link(p, !s)));
		a.write(link(p, !s), g);
		a.write(link(gg, above), p);
		a.write(&red[p], 0u);
		a.write(&red[g], 1u);
	}

	/* ---- bottom up, for transactions and one thread ---- */

	/* Links that were torn apart may lead round, but not deeper than DEEPEST; then 0. */
	template <class A> BOTH unsigned descend(A a, unsigned e, unsigned *way) const
	{
		unsigned depth = 0, n = 0;

		do {
			way[depth++] = n;
			n = a.read(link(n, side(n, e)));
		} while (n && n != e + 1 && depth < DEEPEST && a.ok());
		return depth < DEEPEST && a.ok() ? depth : 0;
	}

	template <class A> BOTH void mend(A a, const unsigned *way, unsigned depth, unsigned x) const
	{
		while (a.ok() && depth > 2 && a.read(&red[way[depth - 1]])) {
			unsigned p = way[depth - 1], g = way[depth - 2], uncle = a.read(link(g, a.read(link(g, 1)) != p));

			if (!uncle || !a.read(&red[uncle])) {
				rotate(a, way[depth - 3], g, p, x);
				return;
			}
			a.write(&red[p], 0u);
			a.write(&red[uncle], 0u);
			if (depth > 3)                  /* the root stays black */
				a.write(&red[g], 1u);
			x = g;
			depth -= 2;
		}
	}

	template <class A> BOTH bool section(A a, job j) const
	{
		unsigned way[DEEPEST], depth = descend(a, j.element, way), x = j.element + 1;

		if (!depth)
			return false;
		if (j.visit) {
			a.write(&visits[x], a.read(&visits[x]) + 1);
			return true;
		}
		a.fill(&red[x], depth > 1 ? 1u : 0u);
		a.write(link(way[depth - 1], side(way[depth - 1], j.element)), x);
		mend(a, way, depth, x);
		return true;
	}

	/* ---- top down, for locks: no more than four nodes are locked at a time, and the tree is in order after each step ---- */

	/* A node's lock is for its links and for the colours of its children. */
	struct window { unsigned node[4], n; };         /* the lowest one first */

	BOTH bool enter(window *w, unsigned node) const
	{
		if (!try_lock(&locks[node]))
			return false;
		if (w->n == 4)
			unlock(&locks[w->node[3]]);
		w->n += w->n < 4;
		for (int k = 3; k > 0; k--)
			w->node[k] = w->node[k - 1];
		w->node[0] = node;
		return true;
	}
	BOTH outcome leave(const window *w, outcome out) const
	{
		before_unlock();
		for (int k = 0; k < 4; k++)
			if ((unsigned)k < w->n)
				give_back(&locks[w->node[k]]);
		return out;
	}

	/* Two red children of the lowest node become black, and it red. Whether its parent is red, too. */
	BOTH bool flip(const window *w) const
	{
		plainly a;
		unsigned x = w->node[0], left = a.read(link(x, 0)), right = a.read(link(x, 1));

		if (!left || !right || !a.read(&red[left]) || !a.read(&red[right]))
			return false;
		a.write(&red[left], 0u);
		a.write(&red[right], 0u);
		if (w->n == 2)                          /* the root stays black */
			return false;
		a.write(&red[x], 1u);
		return a.read(&red[w->node[1]]) != 0;
	}

	template <int WAY> BOTH outcome try_section(job j) const
	{
		plainly a;
		window w = { { 0, 0, 0, 0 }, 0 };
		unsigned x = j.element + 1, next = 0;

		do {
			unsigned at = next;

			if (!enter(&w, at))
				return leave(&w, FAILED);
			if (at && !j.visit && flip(&w)) {       /* the window is not above the next node any more: from the root */
				rotate(a, w.node[3], w.node[2], w.node[1], w.node[0]);
				return leave(&w, FAILED);
			}
			next = a.read(link(at, side(at, j.element)));
		} while (next && next != x);
		if (j.visit) {
			a.write(&visits[x], a.read(&visits[x]) + 1);
			return leave(&w, CHANGED);
		}
		a.write(&red[x], w.n > 1 ? 1u : 0u);
		a.write(link(w.node[0], side(w.node[0], j.element)), x);
		if (w.n > 1 && a.read(&red[w.node[0]]))
			rotate(a, w.node[2], w.node[1], w.node[0], x);
		return leave(&w, CHANGED);
	}

	/* ---- the result ---- */

	/* Black nodes on each way down from there; 0: something is wrong. Counts nodes and visits. */
	unsigned height(unsigned node, long long low, long long high, bool below_red, size_t *n, unsigned long long *sum) const
	{
		unsigned left, right;

		if (!node)
			return 1;
		long long key = node < nodes() ? (long long)noise(node - 1) : -1;

		if (key <= low || key >= high || (below_red && red[node]) || ++*n > nodes())
			return 0;
		*sum += visits[node];
		left = height(child[2 * node], low, key, red[node], n, sum);
		right = height(child[2 * node + 1], key, high, red[node], n, sum);
		return left && left == right ? left + !red[node] : 0;
	}

	bool right(const redblack &) const
	{
		size_t n = 0, in = 0;
		unsigned long long sum = 0;

		for (unsigned i = 0; i < total; i++)
			in += !nth(i).visit;
		return height(child[0], -1, 1ll << 32, true, &n, &sum) && n == in + o.size && sum == total - in;
	}
};

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 120, 128, 4, 65536, 4 }, { 2, 32, 2, 32, 4 });

	return play<redblack>("REDBLACK", o) ? 1 : 0;
}
