/* SKIP and LIST: each transaction puts an element into a sorted list or takes one out, a quarter of them the latter: a skip list
 * (Pugh 1990; Chaudhry 2009, 6.6 and tables 2 and 4: up to 75,000 operations) and a plain one. size is the number of elements
 * that are there before, of which those taken out are some. Result: every level of the list, element by element. */
#include "tm_bench.cuh"

/* LEVELS: of the list; a quarter of what is on one is also on the next. 1: a plain list. PEEK: the way is found without promises, as with
 * locks, and only the links that are to change, and that their nodes are there yet, are read: all of them before the first write, so that
 * nobody sees a link that is undone (pstm). */
template <unsigned LEVELS, bool PEEK> struct lists : work {
	struct job { unsigned element; bool out; };
	enum : unsigned { ENGINES = PEEK ? 1u << WS_TM_PSTM | 1u << WS_TM_HSTM : work::ENGINES };
	enum { WAYS = PEEK ? 0 : 1 };

	const char *name;
	unsigned *next;                         /* LEVELS a node; node 0 is the head, node e + 1 is element e's; 0: none */
	unsigned *gone, *locks;                 /* one a node; gone: it was taken out (locks and PEEK) */

	static const char *way_name(int) { return "fgl"; }
	ws_tm_features features() const { return { PEEK ? 3 : 30, 1.5, 1.5, PEEK }; }
	BOTH size_t nodes() const { return (size_t)total + o.size + 1; }
	template <class F> void arrays(F f)
	{
		f(&next, LEVELS * nodes(), false);
		f(&gone, nodes(), false);
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
		bool out = i % 4 == 3 && i / 4 < o.size;

		return { out ? total + i / 4 : i, out };
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

	template <class A> BOTH static unsigned look(A a, const unsigned *at) { return PEEK ? a.peek(at) : a.read(at); }

	/* On each level the last node before that one and what is behind it. */
	template <class A> BOTH void find(A a, unsigned node, unsigned *before, unsigned *behind) const
	{
		unsigned p = 0;

#pragma unroll 1
		for (unsigned l = LEVELS; l-- > 0;) {
			unsigned n = look(a, link(p, l));

			while (n && a.ok() && key(n) < key(node)) {
				p = n;
				n = look(a, link(p, l));
			}
			before[l] = p;
			behind[l] = n;
		}
	}

	/* Reads what the section relies on; whether it is as it was found. */
	template <class A> BOTH bool rely(A a, const unsigned *before, const unsigned *behind, unsigned h) const
	{
#pragma unroll 1
		for (unsigned l = 0; l < h && a.ok(); l++)
			if (a.read(link(before[l], l)) != behind[l] || a.read(&gone[before[l]]))
				a.conflict();
		return a.ok();
	}

	template <class A> BOTH bool section(A a, job j) const
	{
		unsigned before[LEVELS], behind[LEVELS], node = j.element + 1, h = height(node);

		find(a, node, before, behind);
		if (PEEK && j.out)
			a.write(&gone[node], 1u);       /* a mark that nobody goes by */
		if (PEEK && !rely(a, before, behind, h))
			return false;
#pragma unroll 1
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h && a.ok()) {
				if (j.out) {
					a.write(link(before[l], l), a.read(link(node, l)));
				} else {
					a.fill(link(node, l), behind[l]);
					a.write(link(before[l], l), node);
				}
			}
		return true;
	}

	/* Whether the way still leads where `find` has seen it lead. */
	BOTH bool valid(const unsigned *before, const unsigned *behind, unsigned h) const
	{
		bool fine = true;

#pragma unroll 1
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h)
				fine = fine && !plainly().read(&gone[before[l]]) && plainly().read(link(before[l], l)) == behind[l];
		return fine;
	}

	/* With all locks. */
	BOTH void relink(job j, const unsigned *before, const unsigned *behind, unsigned h) const
	{
		unsigned node = j.element + 1;

		if (j.out)
			plainly().write(&gone[node], 1u);
#pragma unroll 1
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h && !j.out)
				plainly().write(link(node, l), behind[l]);
		before_unlock();                    /* who comes along without locks sees a node whose links are there */
#pragma unroll 1
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h)
				plainly().write(link(before[l], l), j.out ? plainly().read(link(node, l)) : node);
	}

	/* The way is found without locks; then the nodes whose links change are locked, and the way is looked at again (Heller et al.
	 * 2005, A lazy concurrent list-based set algorithm; Herlihy et al. 2006, A provably correct scalable concurrent skip list). */
	template <int WAY> BOTH outcome try_section(job j) const
	{
		unsigned before[LEVELS], behind[LEVELS], node = j.element + 1, h = height(node), taken = 0;
		bool own = false, all = true;

		find(plainly(), node, before, behind);
		if (j.out)
			all = own = try_lock(&locks[node]);
#pragma unroll 1
		for (unsigned l = 0; l < LEVELS; l++)
			if (l < h && all && (l == 0 || before[l] != before[l - 1])) {
				all = try_lock(&locks[before[l]]);
				taken |= (unsigned)all << l;
			}
		all = all && valid(before, behind, h);
		if (all)
			relink(j, before, behind, h);
		before_unlock();
#pragma unroll 1
		for (unsigned l = 0; l < LEVELS; l++)
			if (taken >> l & 1)
				give_back(&locks[before[l]]);
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
	options list = read_options(argc, argv, { 16, 64, 1, 512, 4 }, { 3, 16, 1, 32, 4 });
	int bad = play<lists<8, false>>("SKIP", skip);

	bad += play<lists<8, true>>("SKIP-PEEK", skip);
	bad += play<lists<1, false>>("LIST", list);
	bad += play<lists<1, true>>("LIST-PEEK", list);
	return bad ? 1 : 0;
}
