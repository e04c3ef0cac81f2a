/* SPATH: shortest paths from one node of an undirected graph with weights; each transaction looks at the distances of both ends
 * of an edge and lowers that of the second one if the way over the first is shorter (Holey 2015, 4.2.1 and table 4.1: 128
 * blocks of 128 threads, 120M commits in all, 2 reads and 1 write, 4.2 MB of shared data, which are 1M distances).
 * Bellman and Ford's rounds over all edges until none lowers anything; the number of rounds depends on the order, so that
 * ways are to be compared by sections a second. size is the number of nodes, sections that of edges a node.
 * Result: the shortest distances, proved edge by edge. */
#include "tm_bench.cuh"

struct spath : work {
	struct job { unsigned from, to, weight; };
	enum { WAYS = 3 };
	enum : unsigned { FAR = ~0u / 2 };

	const char *name;
	unsigned *from, *to, *weight;           /* of each edge, in both directions */
	unsigned *distance, *locks;

	/* The best locks are asked for only when the distance will be lowered; fgl-both is what a transaction says, both nodes
	 * locked; atomic is no lock at all. */
	static const char *way_name(int way) { return way == 0 ? "fgl" : way == 1 ? "fgl-both" : "atomic"; }
	ws_tm_features features() const { return { 2, 0.3, 0.3, 0, 0 }; }
	template <class F> void arrays(F f)
	{
		f(&from, total, true);
		f(&to, total, true);
		f(&weight, total, true);
		f(&distance, o.size, false);
		f(&locks, o.size, false);
		f(&changed, 1, false);
	}

	void prepare()
	{
		unsigned half = total / 2, e;

		for (e = 0; e < half; e++) {
			unsigned node = e % o.size, other = e < o.size ? noise(e) % (node ? node : 1) : noise(e) % o.size;

			from[e] = to[e + half] = node;       /* the first of each node leads to a smaller one, so that all are reached */
			to[e] = from[e + half] = other;
			weight[e] = weight[e + half] = 1 + noise(~e) % 100;
		}
		for (e = 1; e < o.size; e++)
			distance[e] = FAR;
	}

	BOTH job nth(unsigned i) const { return { from[i], to[i], weight[i] }; }

	template <class A> BOTH bool section(A a, job j) const
	{
		unsigned by_way = a.read(&distance[j.from]) + j.weight;
		bool shorter = by_way < a.read(&distance[j.to]);

		if (shorter)
			a.write(&distance[j.to], by_way);
		return shorter;
	}

	/* A distance that is read without its lock is at most too large; who lowers it has everything looked at once more. */
	BOTH outcome lock_target(job j) const
	{
		outcome out = DONE;

		if (plainly().read(&distance[j.from]) + j.weight >= plainly().read(&distance[j.to]))
			return DONE;
		if (!try_lock(&locks[j.to]))
			return FAILED;
		if (section(plainly(), j))
			out = CHANGED;
		unlock(&locks[j.to]);
		return out;
	}

	BOTH outcome lock_both(job j) const
	{
		outcome out = FAILED;

		if (j.from == j.to)
			return DONE;
		if (!try_lock(&locks[j.from]))
			return FAILED;
		if (try_lock(&locks[j.to])) {
			out = section(plainly(), j) ? CHANGED : DONE;
			unlock(&locks[j.to]);
		}
		unlock(&locks[j.from]);
		return out;
	}

	BOTH outcome lower(job j) const
	{
		unsigned by_way = plainly().read(&distance[j.from]) + j.weight, old = plainly().read(&distance[j.to]);

		if (by_way >= old)
			return DONE;
#ifdef __CUDA_ARCH__
		return by_way < atomicMin(&distance[j.to], by_way) ? CHANGED : DONE;
#else
		while (by_way < old)
			if (__atomic_compare_exchange_n(&distance[j.to], &old, by_way, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				return CHANGED;
		return DONE;
#endif
	}

	template <int WAY> BOTH outcome try_section(job j) const
	{
		return WAY == 0 ? lock_target(j) : WAY == 1 ? lock_both(j) : lower(j);
	}

	/* No edge leads to something shorter, and each distance is that of a way. */
	bool right(const spath &) const
	{
		std::vector<bool> by_edge(o.size);

		for (unsigned e = 0; e < total; e++) {
			if (distance[from[e]] + weight[e] < distance[to[e]])
				return false;
			if (distance[from[e]] + weight[e] == distance[to[e]])
				by_edge[to[e]] = true;
		}
		return distance[0] == 0 && std::count(by_edge.begin() + 1, by_edge.end(), true) == (long)o.size - 1;
	}
};

int main(int argc, char **argv)
{
	spath s = {};

	s.o = read_options(argc, argv, { 128, 128, 4, 1u << 20, 4 }, { 4, 64, 3, 256, 4 });
	s.total = 2 * s.o.size * s.o.sections;
	s.name = "SPATH";
	return play(s) ? 1 : 0;
}
