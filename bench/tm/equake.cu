/* EQUAKE: products of a symmetric sparse matrix, of which one half is stored, and a vector. Each entry of the matrix, a block of
 * 3 x 3, belongs to an edge of a mesh and adds to the results of both its ends: to that of its row together with the rest of the
 * row, to that of its column in a transaction of its own (Holey 2015, 4.2.1 and table 4.1: 128 blocks of 128 threads, 600K
 * commits in all, 3 reads and 3 writes, 354 KB of shared data, which are 30,169 nodes of three floats).
 * The mesh is a cube of size^3 nodes cut into tetrahedra (Kuhn's: seven edges a node that lead upwards); sections is the number of
 * products. Result: every sum; all are whole numbers, so that their order does not matter. */
#include "tm_bench.cuh"

struct equake : work {
	struct job { unsigned node; float add[3]; };
	enum { WAYS = 2, UPWARDS = 7 };

	const char *name;
	unsigned nodes, edges;
	unsigned *first, *column, *row;         /* row n has edges first[n] to first[n + 1] - 1 */
	float *matrix, *vector;                 /* 9 a stored edge, 3 a node */
	float *sum;                             /* 4 a node, of which 3 are used: a node is a piece of 16 bytes */
	unsigned *locks;

	static const char *way_name(int way) { return way ? "atomic" : "fgl"; }
	ws_tm_features features() const { return { 3, 3, 3, 0, 0 }; }
	template <class F> void arrays(F f)
	{
		f(&first, nodes + 1, true);
		f(&column, edges, true);
		f(&row, edges, true);
		f(&matrix, 9 * (size_t)edges, true);
		f(&vector, 3 * (size_t)nodes, true);
		f(&sum, 4 * (size_t)nodes, false);
		f(&locks, nodes, false);
	}

	/* Neighbour k of node n, or nodes. */
	static unsigned neighbour(unsigned n, unsigned k, unsigned side)
	{
		unsigned at[3] = { n % side, n / side % side, n / side / side }, step = k + 1, to = 0, stride = 1;

		for (unsigned d = 0; d < 3; d++, stride *= side) {
			at[d] += step >> d & 1;
			if (at[d] == side)
				return side * side * side;
			to += at[d] * stride;
		}
		return to;
	}

	/* Numbers of nodes and edges, before there are arrays. */
	void count()
	{
		nodes = o.size * o.size * o.size;
		edges = 0;
		for (unsigned n = 0; n < nodes; n++)
			for (unsigned k = 0; k < UPWARDS; k++)
				edges += neighbour(n, k, o.size) < nodes;
		total = o.sections * (nodes + edges);
	}

	void prepare()
	{
		unsigned e = 0;

		for (unsigned n = 0; n < nodes; n++) {
			first[n] = e;
			for (unsigned k = 0; k < UPWARDS; k++) {
				unsigned to = neighbour(n, k, o.size);

				if (to == nodes)
					continue;
				row[e] = n;
				column[e++] = to;
			}
			for (unsigned d = 0; d < 3; d++)
				vector[3 * n + d] = (float)(1 + noise(3 * n + d) % 4);
		}
		first[nodes] = e;
		for (size_t i = 0; i < 9 * (size_t)edges; i++)
			matrix[i] = (float)(1 + noise((unsigned)i) % 4);
	}

	/* Adds the block of edge e, or what it is seen from its column, times the vector at `from`. */
	BOTH void multiply(job *j, unsigned e, unsigned from, bool transposed) const
	{
		for (unsigned r = 0; r < 3; r++)
			for (unsigned c = 0; c < 3; c++)
				j->add[r] += matrix[9 * (size_t)e + (transposed ? 3 * c + r : 3 * r + c)] * vector[3 * from + c];
	}

	BOTH job nth(unsigned i) const
	{
		unsigned s = i % (nodes + edges), n = s - edges;
		job j = { 0, { 0, 0, 0 } };

		if (s < edges) {
			j.node = column[s];
			multiply(&j, s, row[s], true);
			return j;
		}
		j.node = n;
		for (unsigned e = first[n]; e < first[n + 1]; e++)
			multiply(&j, e, column[e], false);
		return j;
	}

	template <class A> BOTH bool section(A a, job j) const
	{
		float *at = &sum[4 * (size_t)j.node];

		for (unsigned d = 0; d < 3; d++)
			a.write(&at[d], a.read(&at[d]) + j.add[d]);
		return true;
	}

	template <int WAY> BOTH outcome try_section(job j) const
	{
#ifdef __CUDA_ARCH__
		for (unsigned d = 0; WAY == 1 && d < 3; d++)
			atomicAdd(&sum[4 * (size_t)j.node + d], j.add[d]);
#endif
		if (WAY == 1)
			return DONE;
		if (!try_lock(&locks[j.node]))
			return FAILED;
		section(plainly(), j);
		unlock(&locks[j.node]);
		return DONE;
	}

	bool right(const equake &want) const { return !memcmp(sum, want.sum, 4 * (size_t)nodes * sizeof *sum); }
};

int main(int argc, char **argv)
{
	equake e = {};

	e.o = read_options(argc, argv, { 128, 128, 3, 31, 16 }, { 4, 64, 1, 5, 16 });
	e.count();
	e.name = "EQUAKE";
	return play(e) ? 1 : 0;
}
