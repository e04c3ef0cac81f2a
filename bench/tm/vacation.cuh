/* vacation.cuh - reservations (after STAMP, Minh et al. 2008, with nobody who gives anything back): each transaction looks for a car, a flight
 * and a room for a customer, the most expensive one of some that is still free, takes them, and writes them on the customer's
 * bill. size is the number of items of each kind; there is a quarter as many customers. Result: every item and every bill, from the
 * customers' lists; who did not get something better could not have.
 *
 * TREES: the items are in red-black trees, one for each kind, as STAMP's tables are. Each one that is looked at is found from the root
 * down; every eighth transaction brings a new item into one of the trees, which turns some of its nodes. Result: the same, and
 * trees in order with every item. By hand: found without locks, for what is found stays; a new item under at most four locks, top down. */
#ifndef VACATION_CUH
#define VACATION_CUH

#include "redblack.cuh"

template <bool TREES> struct vacation : work {
	typedef unsigned job;
	enum { WAYS = 1, KINDS = 3, LOOKED_AT = 2, NEW = 8 };
	enum : unsigned { MISSED = ~0u };       /* in the place of an item: one was not found */

	const char *name;
	unsigned *left;                         /* of each item, those of one kind after those of another */
	unsigned *newest, *bill;                /* of each customer: last section + 1, and what it costs */
	unsigned *earlier, *taken;              /* of each section: the customer's one before + 1; KINDS items + 1, 0: none was left */
	unsigned *locks;                        /* of the items, then of the customers */
	unsigned *child, *red, *node_locks;     /* of the trees; item i of those that are there, and the one of section i behind them all */

	static const char *way_name(int) { return "fgl"; }
	ws_tm_features features() const { return { KINDS * LOOKED_AT * (TREES ? 16 : 1) + 2, KINDS + 2, KINDS + 2, 0, 0 }; }
	BOTH size_t nodes() const { return TREES ? KINDS * (size_t)o.size + total + KINDS : 1; }
	BOTH redblack_tree tree(unsigned kind) const { return { child, red, node_locks, KINDS, kind }; }
	BOTH unsigned customers() const { return o.size / 4 + 1; }
	template <class F> void arrays(F f)
	{
		f(&left, KINDS * o.size, false);
		f(&newest, customers(), false);
		f(&bill, customers(), false);
		f(&earlier, total, false);
		f(&taken, KINDS * (size_t)total, false);
		f(&locks, KINDS * o.size + customers(), false);
		f(&child, 2 * nodes(), false);
		f(&red, nodes(), false);
		f(&node_locks, nodes(), false);
	}
	/* About as many as are asked for, so that some are used up. */
	void prepare()
	{
		for (unsigned i = 0; i < KINDS * o.size; i++)
			left[i] = noise(i) % (2 * total / o.size + 2);
		for (unsigned i = 0; TREES && i < KINDS * o.size; i++)
			tree(i / o.size).insert(plainly(), i);
	}

	/* Sections that bring an item, and which one; the others are customers. */
	BOTH bool brings(job i) const { return TREES && i % NEW == NEW - 1; }
	BOTH unsigned brought(job i) const { return KINDS * o.size + i; }
	BOTH static unsigned kind_of(job i) { return i / NEW % KINDS; }

	BOTH job nth(unsigned i) const { return i; }
	BOTH unsigned customer(job i) const { return noise(~i) % customers(); }
	BOTH static unsigned price(unsigned item) { return 50 + noise(item + 77) % 100; }
	BOTH unsigned candidate(job i, unsigned kind, unsigned k) const
	{
		return kind * o.size + noise((i * KINDS + kind) * LOOKED_AT + k) % o.size;
	}

	/* The item of that kind that is taken, + 1; MISSED. */
	template <class A> BOTH unsigned choose(A a, job i, unsigned kind) const
	{
		unsigned best = 0;

		for (unsigned k = 0; k < LOOKED_AT; k++) {
			unsigned item = candidate(i, kind, k);

			if (TREES && !tree(kind).find(a, item))
				return MISSED;
			if (a.read(&left[item]) && (!best || price(item) > price(best - 1)))
				best = item + 1;
		}
		return best;
	}

	template <class A> BOTH void book(A a, job i, const unsigned *items) const
	{
		unsigned c = customer(i), sum = 0;

ROLLED
		for (unsigned kind = 0; kind < KINDS; kind++) {
			if (items[kind] && a.ok()) {
				unsigned *at = &left[items[kind] - 1];

				a.write(at, a.read(at) - 1);
				sum += price(items[kind] - 1);
			}
			a.fill(&taken[KINDS * i + kind], items[kind]);
		}
		a.write(&bill[c], a.read(&bill[c]) + sum);
		a.fill(&earlier[i], a.read(&newest[c]));
		a.write(&newest[c], i + 1);
	}

	template <class A> BOTH bool section(A a, job i) const
	{
		unsigned items[KINDS];

		if (brings(i))
			return tree(kind_of(i)).insert(a, brought(i));
ROLLED
		for (unsigned kind = 0; kind < KINDS; kind++)
			if ((items[kind] = choose(a, i, kind)) == MISSED)
				return false;           /* the attempt is lost */
		book(a, i, items);
		return true;
	}

	/* What is used up stays so: the items are chosen without locks, and looked at again under them. All locks or none. */
	template <int WAY> BOTH outcome try_section(job i) const
	{
		unsigned items[KINDS], own = KINDS * o.size + customer(i), n = 0;
		bool all, mine;

		if (brings(i))
			return tree(kind_of(i)).try_section(brought(i), nullptr) == FAILED ? FAILED : DONE;
		all = mine = try_lock(&locks[own]);
		for (unsigned kind = 0; kind < KINDS; kind++) {
			items[kind] = choose(plainly(), i, kind);
			all = all && items[kind] != MISSED;
		}
		for (; n < KINDS && all; n += all) {
			if (items[n])
				all = try_lock(&locks[items[n] - 1]);
			if (all && items[n] && !plainly().read(&left[items[n] - 1])) {
				give_back(&locks[items[n] - 1]);
				all = false;
			}
		}
		if (all)
			book(plainly(), i, items);
		before_unlock();
		while (n-- > 0)
			if (items[n])
				give_back(&locks[items[n] - 1]);
		if (mine)
			give_back(&locks[own]);
		return all ? DONE : FAILED;
	}

	/* Whether section i took the best that was left: what is used up at the end may have been so then, what is left was not. */
	bool fair(job i, std::vector<unsigned> &used, unsigned *sum) const
	{
		for (unsigned kind = 0; kind < KINDS; kind++) {
			unsigned item = taken[KINDS * i + kind];
			bool known = !item;

			for (unsigned k = 0; k < LOOKED_AT; k++) {
				unsigned other = candidate(i, kind, k);

				known = known || other == item - 1;
				if (left[other] && (!item || price(other) > price(item - 1)))
					return false;
			}
			if (!known)
				return false;
			if (item) {
				used[item - 1]++;
				*sum += price(item - 1);
			}
		}
		return true;
	}

	bool trees_right(void) const
	{
		size_t n = 0;
		unsigned long long sum = 0;

		for (unsigned kind = 0; kind < KINDS; kind++)
			if (!tree(kind).right(nodes() - KINDS, &n, nullptr, &sum))
				return false;
		return n == KINDS * (size_t)o.size + total / NEW;
	}

	bool right(const vacation &) const
	{
		std::vector<unsigned> used(KINDS * o.size);
		unsigned n = 0;

		for (unsigned c = 0; c < customers(); c++) {
			unsigned sum = 0;

			for (unsigned s = newest[c]; s; s = earlier[s - 1])
				if (++n > total || s > total || customer(s - 1) != c || !fair(s - 1, used, &sum))
					return false;
			if (sum != bill[c])
				return false;
		}
		for (unsigned i = 0; i < KINDS * o.size; i++)
			if (left[i] + used[i] != noise(i) % (2 * total / o.size + 2))
				return false;
		return n == total - (TREES ? total / NEW : 0) && (!TREES || trees_right());
	}
};

#endif
