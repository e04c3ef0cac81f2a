/* TREE-BLOCK and SKIP-BLOCK: nodes go into a binary tree and into a skip list as in Chaudhry 2009 (6.6, 7.2, tables 1 to 4): a transaction
 * is that of a whole thread block, it works on copies of the nodes on its way (tm_block.cuh), and only the nodes that change are
 * locked at its end. The ways are the paper's: who makes the copies (one thread, 32, one a byte; and words), and all that was read
 * locked as well (pessimistic). size is of no account. Result: every node once, where its key belongs. */
#include "tm_bench.cuh"
#include <warpsafe/tm_block.cuh>

enum { LEVELS = 8 };

/* Numbers of nodes, 0: none. Node 0 is the head; node i + 1 is what transaction i puts in. */
struct alignas(16) tree_node { unsigned key, child[2], unused; };
struct alignas(16) skip_node { unsigned key, height, unused[2], next[LEVELS]; };

BOTH static unsigned key_of(unsigned node) { return noise(node - 1); }

struct block_tree {
	typedef tree_node node;

	static const char *name(void) { return "TREE-BLOCK"; }

	/* The head has all others on its right. */
	BOTH static unsigned side(unsigned at, const node *n, unsigned key) { return !at || key > n->key; }

	/* One attempt, between ws_stm_start and ws_stm_commit. All lanes see the same copies, so they go the same way. */
	__device__ static void attempt(struct ws_stm *stm, node *nodes, unsigned mine)
	{
		unsigned key = key_of(mine), at = 0, below = 0;
		node *n = (node *)ws_stm_read(stm, &nodes[0], sizeof *nodes, WS_STM_READ), *own;

		while (n && (below = n->child[side(at, n, key)])) {
			at = below;
			n = (node *)ws_stm_read(stm, &nodes[at], sizeof *nodes, WS_STM_READ);
		}
		if (!n || !ws_stm_write_intend(stm, &nodes[at]))
			return;
		own = (node *)ws_stm_read(stm, &nodes[mine], sizeof *nodes, WS_STM_WRITE);
		if (own && stm->group.lane == 0) {
			own->key = key;
			n->child[side(at, n, key)] = mine;
		}
	}

	static bool right(const std::vector<node> &nodes)
	{
		struct part { unsigned node; long long low, high; };
		std::vector<part> todo(1, part{ nodes[0].child[1], -1, 1ll << 32 });
		size_t seen = 1;

		while (!todo.empty() && seen <= nodes.size()) {
			part p = todo.back();

			todo.pop_back();
			if (!p.node)
				continue;
			if (p.node >= nodes.size() || key_of(p.node) != nodes[p.node].key || nodes[p.node].key <= p.low ||
			    nodes[p.node].key >= p.high)
				return false;
			todo.push_back({ nodes[p.node].child[0], p.low, nodes[p.node].key });
			todo.push_back({ nodes[p.node].child[1], nodes[p.node].key, p.high });
			seen++;
		}
		return seen == nodes.size();
	}
};

struct block_skip {
	typedef skip_node node;

	static const char *name(void) { return "SKIP-BLOCK"; }

	BOTH static unsigned height_of(unsigned node)
	{
		unsigned h = 1;

		for (unsigned bits = noise(~node); h < LEVELS && bits % 4 == 0; bits /= 4)
			h++;
		return h;
	}

	/* On each level the last node before the key; whether all could be read. */
	__device__ static bool find(struct ws_stm *stm, node *nodes, unsigned key, unsigned *before)
	{
		node *n = (node *)ws_stm_read(stm, &nodes[0], sizeof *nodes, WS_STM_READ), *behind;
		unsigned at = 0;

		for (unsigned l = LEVELS; n && l-- > 0;) {
			for (bool on = true; n && n->next[l] && on;) {
				behind = (node *)ws_stm_read(stm, &nodes[n->next[l]], sizeof *nodes, WS_STM_READ);
				on = behind && behind->key < key;
				at = on ? n->next[l] : at;
				n = on || !behind ? behind : n;
			}
			before[l] = at;
		}
		return n != nullptr;
	}

	__device__ static void attempt(struct ws_stm *stm, node *nodes, unsigned mine)
	{
		unsigned before[LEVELS] = { 0 }, key = key_of(mine), h = height_of(mine);
		node *own, *n;

		if (!find(stm, nodes, key, before))
			return;
		own = (node *)ws_stm_read(stm, &nodes[mine], sizeof *nodes, WS_STM_WRITE);
		if (own && stm->group.lane == 0) {
			own->key = key;
			own->height = h;
		}
		for (unsigned l = 0; own && l < h; l++) {
			n = (node *)ws_stm_read(stm, &nodes[before[l]], sizeof *nodes, WS_STM_WRITE);
			if (n && stm->group.lane == 0) {
				own->next[l] = n->next[l];
				n->next[l] = mine;
			}
		}
	}

	static bool right(const std::vector<node> &nodes)
	{
		for (unsigned l = 0; l < LEVELS; l++) {
			size_t want = 0, n = 0;

			for (unsigned i = 1; i < nodes.size(); i++)
				want += height_of(i) > l;
			for (unsigned last = 0, i = nodes[0].next[l]; i; last = i, i = nodes[i].next[l], n++)
				if (n >= want || i >= nodes.size() || nodes[i].key != key_of(i) || (last && nodes[last].key >= nodes[i].key))
					return false;
			if (n != want)
				return false;
		}
		return true;
	}
};

template <class S> __global__ void insert(struct ws_tm tm, typename S::node *nodes, unsigned each, enum ws_stm_copy copy)
{
	WS_STM_BLOCK_VAR(stm, tm);

	stm.copy = copy;
	for (unsigned i = 0; i < each; i++)
		do {
			ws_stm_start(&stm);
			S::attempt(&stm, nodes, 1 + i * gridDim.x + blockIdx.x);
		} while (!ws_stm_commit(&stm));
}

struct copies { const char *name; enum ws_stm_copy copy; enum ws_tm_engine engine; };
static const copies ways[] = {
	{ "one", WS_STM_ONE, WS_TM_BLOCK }, { "32", WS_STM_32, WS_TM_BLOCK }, { "bytes", WS_STM_BYTES, WS_TM_BLOCK },
	{ "words", WS_STM_WORDS, WS_TM_BLOCK }, { "pessimistic", WS_STM_ONE, WS_TM_BLOCK_PESSIMISTIC },
};

/* Every transaction must have been committed once. */
template <class S> static int play_way(const options &o, const copies &way)
{
	std::vector<typename S::node> nodes(o.blocks * o.sections + 1);
	size_t bytes = nodes.size() * sizeof nodes[0];
	outcome_of_way out = { 0, 0, true };
	typename S::node *device;
	ws_tm_stats stats;
	ws_tm tm;

	if (!wanted(o, way.name))
		return 0;
	CHECK(ws_stm_init(&tm, o.blocks, 256, 256 * sizeof nodes[0], 20, way.engine));
	CHECK(cudaMalloc((void **)&device, bytes));
	for (unsigned k = 0; k < o.repeat; k++) {
		CHECK(cudaMemset(device, 0, bytes));
		CHECK(ws_tm_reset_stats(&tm));
		CHECK(cudaDeviceSynchronize());
		double ms = milliseconds([&] {
			insert<S><<<o.blocks, o.threads>>>(tm, device, o.sections, way.copy);
			CHECK(cudaGetLastError());
			CHECK(cudaDeviceSynchronize());
		});
		CHECK(cudaMemcpy(nodes.data(), device, bytes, cudaMemcpyDeviceToHost));
		out.right = out.right && S::right(nodes);
		out.ms = k && out.ms < ms ? out.ms : ms;
	}
	out.sections = (double)nodes.size() - 1;
	CHECK(ws_tm_read_stats(&tm, &stats));
	out.right = out.right && stats.commits == nodes.size() - 1;
	CHECK(cudaFree(device));
	CHECK(ws_tm_destroy(&tm));
	return tell(S::name(), way.name, out, &stats);
}

template <class S> static int play_ways(const options &o)
{
	int bad = 0;

	if (o.workload && strcmp(o.workload, S::name()))
		return 0;
	for (const copies &way : ways)
		bad += play_way<S>(o, way);
	return bad;
}

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 30, 32, 500, 1, 64 }, { 4, 32, 6, 1, 64 });
	int bad = play_ways<block_tree>(o);

	bad += play_ways<block_skip>(o);
	return bad ? 1 : 0;
}
