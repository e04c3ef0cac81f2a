/* redblack.cuh - red-black trees (Guibas and Sedgewick 1978) of numbered elements, ordered by noise(element): into which elements come by
 * transactions (bottom up) or under locks (top down), and are found. Element e is node e + heads; the nodes below are the heads of so many
 * trees, whose first link is the root. Used by redblack.cu and vacation.cuh. */
#ifndef REDBLACK_CUH
#define REDBLACK_CUH

#include "tm_bench.cuh"

struct redblack_tree {
	enum { DEEPEST = 64 };                  /* twice the logarithm of the nodes, at most */
	unsigned *child, *red, *locks;          /* two links a node, its colour, its lock */
	unsigned heads, head;

	/* Where the way to the element goes on from that node. */
	BOTH unsigned node_of(unsigned e) const { return e + heads; }
	BOTH unsigned side(unsigned node, unsigned e) const { return node >= heads && noise(e) > noise(node - heads); }
	BOTH unsigned *link(unsigned node, unsigned side) const { return &child[2 * node + side]; }

	/* p and x, its child, are red, and p's sibling is not: the three nodes change places below gg. */
	template <class A> BOTH void rotate(A a, unsigned gg, unsigned g, unsigned p, unsigned x) const
	{
		unsigned s = a.read(link(g, 1)) == p, above = gg >= heads && a.read(link(gg, 1)) == g;

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
		unsigned depth = 0, n = head, x = node_of(e);

		do {
			way[depth++] = n;
			n = a.read(link(n, side(n, e)));
		} while (n && n != x && depth < DEEPEST && a.ok());
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

	/* Brings the element in. false: the attempt is lost. */
	template <class A> BOTH bool insert(A a, unsigned e) const
	{
		unsigned way[DEEPEST], depth = descend(a, e, way), x = node_of(e);

		if (!depth)
			return false;
		a.fill(&red[x], depth > 1 ? 1u : 0u);
		a.write(link(way[depth - 1], side(way[depth - 1], e)), x);
		mend(a, way, depth, x);
		return true;
	}

	/* Whether the element is found. Without a transaction or locks it may be missed while others come in; who finds it can rely on it,
	 * for none is ever taken out. */
	template <class A> BOTH bool find(A a, unsigned e) const
	{
		unsigned n = head, x = node_of(e), depth = 0;

		do
			n = a.read(link(n, side(n, e)));
		while (n && n != x && ++depth < DEEPEST && a.ok());
		return n == x && a.ok();
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

	/* Brings the element in or, with `visits`, counts a visit of it. */
	BOTH outcome try_section(unsigned e, unsigned *visits) const
	{
		plainly a;
		window w = { { 0, 0, 0, 0 }, 0 };
		unsigned x = node_of(e), next = head;

		do {
			unsigned at = next;

			if (!enter(&w, at))
				return leave(&w, FAILED);
			if (at >= heads && !visits && flip(&w)) {       /* the window is not above the next node any more: from the root */
				rotate(a, w.node[3], w.node[2], w.node[1], w.node[0]);
				return leave(&w, FAILED);
			}
			next = a.read(link(at, side(at, e)));
		} while (next && next != x);
		if (visits) {
			a.write(&visits[x], a.read(&visits[x]) + 1);
			return leave(&w, CHANGED);
		}
		a.write(&red[x], w.n > 1 ? 1u : 0u);
		a.write(link(w.node[0], side(w.node[0], e)), x);
		if (w.n > 1 && a.read(&red[w.node[0]]))
			rotate(a, w.node[2], w.node[1], w.node[0], x);
		return leave(&w, CHANGED);
	}

	/* ---- the result, on the host ---- */

	/* Black nodes on each way down from there; 0: something is wrong. Counts nodes, of which there are `most` at most, and visits. */
	unsigned height(unsigned node, long long low, long long high, bool below_red, size_t most, size_t *n, const unsigned *visits,
	                unsigned long long *sum) const
	{
		unsigned left, right;

		if (!node)
			return 1;
		long long key = node < most + heads ? (long long)noise(node - heads) : -1;

		if (key <= low || key >= high || (below_red && red[node]) || ++*n > most)
			return 0;
		*sum += visits ? visits[node] : 0;
		left = height(child[2 * node], low, key, red[node], most, n, visits, sum);
		right = height(child[2 * node + 1], key, high, red[node], most, n, visits, sum);
		return left && left == right ? left + !red[node] : 0;
	}
	/* Whether the tree is in order. Adds its nodes and visits. */
	bool right(size_t most, size_t *n, const unsigned *visits, unsigned long long *sum) const
	{
		return height(child[2 * head], -1, 1ll << 32, true, most, n, visits, sum) != 0;
	}
};

#endif
