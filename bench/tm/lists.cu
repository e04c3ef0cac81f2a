/* SKIP and LIST: each transaction puts an element into a sorted list or takes one out, a quarter of them the latter: a skip list
 * (Pugh 1990; Chaudhry 2009, 6.6 and tables 2 and 4: up to 75,000 operations) and a plain one. size is the number of elements
 * that are there before, of which those taken out are some. Result: every level of the list, element by element. */
#include "tm_bench.cuh"

/* LEVELS: of the list; a quarter of what is on one is also on the next. 1: a plain list. PEEK: the way is found without promises, as with
 * locks, and only the links that are to change are read. A node that was taken out says so in its own links (Harris 2001, A pragmatic
 * implementation of non-blocking linked-lists), with locks and PEEK. Who tries again, with these, begins where the last attempt has led. */
template <unsigned LEVELS, bool PEEK> struct lists : work {
	enum : unsigned { GONE = 1u << 31 };
	struct job {
		unsigned element;
		bool out;
		unsigned before[LEVELS];        /* nodes to begin at; 0: at the head */
	};
	enum : unsigned { ENGINES = PEEK ? 1u << WS_TM_PSTM | 1u << WS_TM_HSTM : work::ENGINES };
	enum { WAYS = PEEK ? 0 : 1 };

	const char *name;
	unsigned *next;                         /* LEVELS a node; node 0 is the head, node e + 1 is element e's; 0: none; GONE: see above */
	unsigned *locks;                        /* one a node */

	static const char *way_name(int) { return "fgl"; }
	ws_tm_features features() const { return { PEEK ? 3 : 30, 1.5, 1.5, PEEK, 0 }; }
	BOTH size_t nodes() const { return (size_t)total + o.size + 1; }
	template <class F> void arrays(F f)
	{
		f(&next, LEVELS * nodes(), false);
		f(&locks, nodes(), false);
	}
	void prepare()
	{
		for (unsigned e = total; e < total + o.size; e++) {
			job j = { e, false, { 0 } };

			section(plainly(), j);
		}
	}

	/* Elements 0 to total - 1 come in, those from total on were there. */
	BOTH job nth(unsigned i) const
	{
		bool out = i % 4 == 3 && i / 4 < o.size;

		return { out ? total + i / 4 : i, out, { 0 } };
	}

	BOTH static unsigned key(unsigned node) { return noise(node - 1); }
	BOTH static unsigned height(unsigned node)
	{
		unsigned h = 1;

		for (unsigned bits = noise(~node); h < LEVELS && bits % 4 == 0; bits /= 4)
			h++;
		return h;
	}
	BOTH unsigned *link(unsigned node, unsigned level) const { return &next[(size_t)node * LEVELS + level]; }

	/* The loops over levels stay loops: each access in a transaction is much code. */

	template <class A> BOTH static unsigned look(A a, const unsigned *at) { return PEEK ? a.glance(at) : a.read(at); }

	/* Where the way on level l begins: at the node that the level above has led to, or further on, where an earlier attempt has been. */
	template <class A> BOTH unsigned from(A a, const job &j, unsigned above, unsigned l) const
	{
		unsigned b = j.before[l];

		return b && (!above || key(above) < key(b)) && !(look(a, link(b, l)) & GONE) ? b : above;
	}

	/* On each level the last node before that one and what is behind it. */
	template <class A> BOTH void find(A a, job &j, unsigned *behind) const
	{
		unsigned p = 0, mine = key(j.element + 1);

ROLLED
		for (unsigned l = LEVELS; l-- > 0;) {
			p = from(a, j, p, l);
			unsigned n = look(a, link(p, l)) & ~GONE;

			while (n && key(n) < mine) {            /* an attempt that is lost reads 0 */
				p = n;
				n = look(a, link(p, l)) & ~GONE;
			}
			j.before[l] = p;
			behind[l] = n;
		}
	}

	/* Reads what the section relies on; whether it is as it was found. */
	template <class A> BOTH bool rely(A a, const job &j, const unsigned *behind, unsigned h) const
	{
ROLLED
		for (unsigned l = 0; l < h && a.ok(); l++) {
			if (a.read(link(j.before[l], l)) != behind[l])
				a.conflict();
			if (j.out)
				a.read(link(j.element + 1, l));
		}
		return a.ok();
	}

	template <class A> BOTH bool section(A a, job &j) const
	{
		unsigned behind[LEVELS], node = j.element + 1, h = height(node);

		find(a, PEEK ? j : fresh(j), behind);
		if (PEEK && !rely(a, j, behind, h))
			return false;
ROLLED
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h && a.ok()) {
				if (j.out) {
					unsigned rest = a.read(link(node, l));

					a.write(link(j.before[l], l), rest);
					if (PEEK)
						a.write(link(node, l), rest | GONE);
				} else {
					a.fill(link(node, l), behind[l]);
					a.write(link(j.before[l], l), node);
				}
			}
		return true;
	}

	/* The same job, from the head on. */
	BOTH static job &fresh(job &j)
	{
ROLLED
		for (unsigned l = 0; l < LEVELS; l++)
			j.before[l] = 0;
		return j;
	}

	/* Whether the way still leads where `find` has seen it lead. */
	BOTH bool valid(const job &j, const unsigned *behind, unsigned h) const
	{
		bool fine = true;

ROLLED
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h)
				fine = fine && plainly().read(link(j.before[l], l)) == behind[l];
		return fine;
	}

	/* With all locks. */
	BOTH void relink(const job &j, const unsigned *behind, unsigned h) const
	{
		unsigned node = j.element + 1;

ROLLED
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h && !j.out)
				plainly().write(link(node, l), behind[l]);
		before_unlock();                    /* who comes along without locks sees a node whose links are there */
ROLLED
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h) {
				unsigned rest = j.out ? plainly().read(link(node, l)) : node;

				plainly().write(link(j.before[l], l), rest);
				if (j.out)
					plainly().write(link(node, l), rest | GONE);
			}
	}

	/* The way is found without locks; then the nodes whose links change are locked, and the way is looked at again (Heller et al.
	 * 2005, A lazy concurrent list-based set algorithm; Herlihy et al. 2006, A provably correct scalable concurrent skip list). */
	template <int WAY> BOTH outcome try_section(job &j) const
	{
		unsigned behind[LEVELS], node = j.element + 1, h = height(node), taken = 0;
		bool own = false, all = true;

		find(plainly(), j, behind);
		if (j.out)
			all = own = try_lock(&locks[node]);
ROLLED
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h && all && (l == 0 || j.before[l] != j.before[l - 1])) {
				all = try_lock(&locks[j.before[l]]);
				taken |= (unsigned)all << l;
			}
		all = all && valid(j, behind, h);
		if (all)
			relink(j, behind, h);
		before_unlock();
ROLLED
		for (unsigned l = 0; l < LEVELS; l++)
			if (taken >> l & 1)
				give_back(&locks[j.before[l]]);
		if (own)
			give_back(&locks[node]);
		return all ? DONE : FAILED;
	}

	bool right(const lists &) const
	{
		std::vector<bool> in(nodes(), true);
		bool good = true;

		for (unsigned i = 0; i < total; i++)
			if (nth(i).out)
				in[i + 1] = in[nth(i).element + 1] = false;
		for (unsigned l = 0; l < LEVELS && good; l++) {
			size_t n = 0, want = 0;

			for (size_t i = 1; i < nodes(); i++)
				want += in[i] && height((unsigned)i) > l;
			for (unsigned last = 0, node = *link(0, l); node && good; last = node, node = *link(node, l), n++)
				good = n < want && node < nodes() && in[node] && height(node) > l && (!last || key(last) < key(node));
			good = good && n == want;
		}
		return good;
	}
};

int main(int argc, char **argv)
{
	options skip = read_options(argc, argv, { 120, 128, 5, 1u << 16, 4 }, { 4, 32, 1, 128, 4 });
	options nodes = read_options(argc, argv, { 120, 128, 5, 1u << 16, 32 }, { 4, 32, 1, 128, 32 });       /* all links of a node at once */
	options list = read_options(argc, argv, { 16, 64, 1, 512, 4 }, { 3, 16, 1, 32, 4 });
	int bad = play<lists<8, false>>("SKIP", skip);

	bad += play<lists<8, true>>("SKIP-PEEK", nodes);
	bad += play<lists<1, false>>("LIST", list);
	bad += play<lists<1, true>>("LIST-PEEK", list);
	return bad ? 1 : 0;
}
