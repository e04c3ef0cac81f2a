/* apriori.cu - Apriori (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011, chapter 2): which
 * sets of items are in many records of a database. Sets of k items that may be frequent, because all their parts
 * are, go into a hash tree, many threads at once, each under the lock of the leaf that it changes; then the records
 * are looked up in the tree (Agrawal and Srikant, "Fast algorithms for mining association rules", VLDB 1994, 2.1).
 * The records are made as they describe in "Generation of synthetic data": by default what they call T10.I4, with
 * fewer records. Frequent sets and their counts must be those that one thread of the CPU finds without a tree. */
#include "locks.cuh"

#include <cmath>
#include <cstdint>

enum { MOST = 12 };                      /* items of a set */

/* ---- the database: the paper's generator ---- */
struct database { std::vector<unsigned> items, start; };        /* record r: items[start[r]], ..., in order */

struct dice {
	unsigned at;

	double uniform() { return ((noise(at++) >> 6) + 0.5) / (1 << 26); }
	double exponential(double mean) { return -mean * log(uniform()); }
	double normal(double mean, double deviation)
	{
		double r = sqrt(-2 * log(uniform()));

		return mean + deviation * r * cos(6.283185307 * uniform());
	}
	unsigned poisson(double mean)
	{
		double limit = exp(-mean), product = uniform();
		unsigned n = 0;

		for (; product > limit; n++)
			product *= uniform();
		return n;
	}
	unsigned below(unsigned n) { return (unsigned)(uniform() * n); }
};

struct pattern { std::vector<unsigned> items; double weight, corruption; };

static bool has(const std::vector<unsigned> &set, unsigned item)
{
	return std::count(set.begin(), set.end(), item) > 0;
}

/* Maximal sets that customers may buy together. A part of each, on average half, comes from the one before it. */
static std::vector<pattern> patterns_of(dice &d, unsigned n, unsigned items, double mean_size)
{
	std::vector<pattern> all;
	double sum = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned size = std::min(std::max(d.poisson(mean_size - 1) + 1, 1u), items / 2);
		double common = std::min(d.exponential(0.5), 1.0);
		pattern p;

		for (unsigned k = 0; i > 0 && k < all[i - 1].items.size() && p.items.size() < size; k++)
			if (d.uniform() < common)
				p.items.push_back(all[i - 1].items[k]);
		while (p.items.size() < size) {
			unsigned item = d.below(items);

			if (!has(p.items, item))
				p.items.push_back(item);
		}
		p.weight = sum += d.exponential(1);
		p.corruption = d.normal(0.5, sqrt(0.1));
		all.push_back(p);
	}
	for (pattern &p : all)
		p.weight /= sum;         /* the sum of all up to this one */
	return all;
}

static database generate(unsigned records, unsigned items, unsigned patterns, double mean_items, double mean_pattern)
{
	dice d = { 1 };
	std::vector<pattern> all = patterns_of(d, patterns, items, mean_pattern);
	std::vector<unsigned> left;      /* a set that did not fit into the record before */
	database db;

	db.start.push_back(0);
	for (unsigned r = 0; r < records; r++) {
		unsigned size = std::min(std::max(d.poisson(mean_items), 1u), items / 2);
		std::vector<unsigned> record;

		for (unsigned tries = 0; record.size() < size && tries < 1000; tries++) {
			std::vector<unsigned> set = left;
			bool fits;

			left.clear();
			if (set.empty()) {
				double u = d.uniform();
				const pattern &p = *std::lower_bound(all.begin(), all.end(), u,
				                                     [](const pattern &q, double v) { return q.weight < v; });

				set = p.items;
				while (!set.empty() && d.uniform() < p.corruption)
					set.erase(set.begin() + d.below((unsigned)set.size()));
			}
			fits = record.size() + set.size() <= size;
			if (!fits && !record.empty() && d.uniform() < 0.5) {
				left = set;
				break;
			}
			for (unsigned item : set)
				if (!has(record, item))
					record.push_back(item);
		}
		std::sort(record.begin(), record.end());
		db.items.insert(db.items.end(), record.begin(), record.end());
		db.start.push_back((unsigned)db.items.size());
	}
	return db;
}

/* ---- the hash tree ----
 * A node is a leaf with a list of sets, or has FAN children side by side. A set goes down by its items in turn. */
enum { FAN = 128, LEAF = 16 };           /* sets that a leaf keeps */

/* children: the number of the first, 0: a leaf; sets: number + 1 of the first one in the list, 0: none */
struct node { unsigned lock, children, sets, count; };

struct pass {
	unsigned k;                      /* items of a candidate */
	const unsigned *frequent;        /* the sets of k - 1 items, in order */
	unsigned n;
	unsigned *candidates;            /* candidate c has k items from k * c on */
	unsigned *next, *support;        /* the next one in its leaf, in how many records it is */
	node *nodes;
	unsigned most_candidates, most_nodes;
	unsigned *used;                  /* candidates and nodes: how many there are */
	tally *done;
};
enum { CANDIDATES, NODES };

__device__ static unsigned *children_of(node *n) { return &n->children; }
__device__ static unsigned child_of(unsigned item) { return item % FAN; }

__device__ static void put(const pass &p, node *leaf, unsigned candidate)
{
	p.next[candidate] = leaf->sets;
	leaf->sets = candidate + 1;
	leaf->count++;
}

/* A leaf that is full becomes a node. Nobody knows its children before that is stored. */
__device__ static void rehash(const pass &p, node *leaf, unsigned depth)
{
	unsigned first = atomicAdd(&p.used[NODES], FAN);

	if (first + FAN > p.most_nodes)
		__trap();
	for (unsigned c = leaf->sets, next; c; c = next) {
		next = p.next[c - 1];
		put(p, &p.nodes[first + child_of(p.candidates[p.k * (c - 1) + depth])], c - 1);
	}
	ws_lock_store(children_of(leaf), first);
}

/* In the critical section. false: it is no leaf any more, in vain. That is asked inside: the benchmark that the text
 * ports asked outside only, and its results changed from run to run (2.2.2). */
__device__ static bool inside(const pass &p, node *leaf, unsigned depth, unsigned candidate, tally &own)
{
	bool is_leaf = ws_lock_load(children_of(leaf)) == 0;

	if (is_leaf) {
		put(p, leaf, candidate);
		if (leaf->count > LEAF && depth < p.k)
			rehash(p, leaf, depth);
	}
	own.sections++;
	own.vain += !is_leaf;
	return is_leaf;
}

/* In a loop round the section; or with the instructions. */
template <way WAY>
__device__ static bool try_insert(const pass &p, node *leaf, unsigned depth, unsigned candidate, tally &own)
{
	bool inserted = false;

	if (WAY == LOCKS) {
		__ws_lock(&leaf->lock);
		inserted = inside(p, leaf, depth, candidate, own);
		leave(&leaf->lock);
	} else if (try_lock<WAY>(&leaf->lock)) {
		inserted = inside(p, leaf, depth, candidate, own);
		unlock<WAY>(&leaf->lock);
	}
	return inserted;
}

template <way WAY> __device__ static void insert(const pass &p, unsigned candidate, tally &own)
{
	unsigned at = 0, depth = 0, again = 1;

	while (again) {
		unsigned children = ws_lock_load(children_of(&p.nodes[at]));

		if (children)
			at = children + child_of(p.candidates[p.k * candidate + depth++]);
		else if (try_insert<WAY>(p, &p.nodes[at], depth, candidate, own))
			again = 0;
		ws_lock_meet(again);
	}
}

/* ---- AprioriGen: joins frequent sets that differ in their last item; all parts of the result must be frequent ---- */
__device__ static bool is_frequent(const pass &p, const unsigned *set)
{
	unsigned low = 0, high = p.n;

	while (low < high) {
		unsigned middle = (low + high) / 2, i = 0;
		const unsigned *f = &p.frequent[(p.k - 1) * middle];

		while (i < p.k - 1 && f[i] == set[i])
			i++;
		if (i == p.k - 1)
			return true;
		if (f[i] < set[i])
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

__device__ static bool parts_are_frequent(const pass &p, const unsigned *set)
{
	unsigned part[MOST];

	for (unsigned without = 0; without + 2 < p.k; without++) {
		for (unsigned i = 0, n = 0; i < p.k; i++)
			if (i != without)
				part[n++] = set[i];
		if (!is_frequent(p, part))
			return false;
	}
	return true;
}

/* A thread joins one frequent set with those behind it. */
template <way WAY> __global__ void apriori_gen(pass p)
{
	tally own = { 0, 0 };
	unsigned set[MOST], a = THREAD, b = a + 1;

	if (a >= p.n)
		return;
	for (unsigned i = 0; i < p.k - 1; i++)
		set[i] = p.frequent[(p.k - 1) * a + i];
	for (; b < p.n; b++) {
		const unsigned *other = &p.frequent[(p.k - 1) * b];
		unsigned i = 0, candidate;

		while (i + 2 < p.k && other[i] == set[i])
			i++;
		if (i + 2 < p.k)
			break;           /* they are in order: nobody else begins like this one */
		set[p.k - 1] = other[p.k - 2];
		if (!parts_are_frequent(p, set))
			continue;
		candidate = atomicAdd(&p.used[CANDIDATES], 1);
		if (candidate >= p.most_candidates)
			__trap();
		for (i = 0; i < p.k; i++)
			p.candidates[p.k * candidate + i] = set[i];
		insert<WAY>(p, candidate, own);
	}
	add_up(p.done, own);
}

/* ---- subset: the candidates that are in a record count it ---- */
struct records { const unsigned *items, *start; unsigned n; };

/* Where a thread is in the tree: path[d] is the item that leads from depth d to depth d + 1, at[d] the node there. */
enum { COUNTERS = 64 };                  /* threads of a block */
struct walk {
	unsigned at[MOST + 1][COUNTERS];
	unsigned char path[MOST][COUNTERS];
};

/* The candidate is in the record, and its first items are those that led here: so it is counted once. */
__device__ static bool counts(const unsigned *candidate, unsigned k, const unsigned *items, unsigned n, const walk &w,
                              unsigned depth)
{
	unsigned at = depth ? w.path[depth - 1][threadIdx.x] + 1 : 0;

	for (unsigned i = 0; i < depth; i++)
		if (candidate[i] != items[w.path[i][threadIdx.x]])
			return false;
	for (unsigned i = depth; i < k; i++, at++) {
		while (at < n && items[at] < candidate[i])
			at++;
		if (at == n || items[at] != candidate[i])
			return false;
	}
	return true;
}

/* Goes through the tree with all sequences of the record's items. */
__device__ static void look_up(const pass &p, const unsigned *items, unsigned n, walk &w)
{
	unsigned depth = 0, me = threadIdx.x;
	bool down = true;

	w.at[0][me] = 0;
	while (true) {
		const node *here = &p.nodes[w.at[depth][me]];

		if (down && !here->children)
			for (unsigned c = here->sets; c; c = p.next[c - 1])
				if (counts(&p.candidates[p.k * (c - 1)], p.k, items, n, w, depth))
					atomicAdd(&p.support[c - 1], 1);
		if (down && here->children) {
			w.path[depth][me] = depth ? w.path[depth - 1][me] + 1 : 0;
		} else {
			if (depth == 0)
				return;
			w.path[--depth][me]++;
		}
		down = w.path[depth][me] < n;
		if (down) {
			w.at[depth + 1][me] = p.nodes[w.at[depth][me]].children + child_of(items[w.path[depth][me]]);
			depth++;
		}
	}
}

__global__ void subset(pass p, records r)
{
	__shared__ walk w;

	for (unsigned i = THREAD; i < r.n; i += gridDim.x * blockDim.x)
		look_up(p, r.items + r.start[i], r.start[i + 1] - r.start[i], w);
}

/* ---- on the host ---- */
struct found { std::vector<unsigned> items; unsigned support; };
static bool operator<(const found &a, const found &b) { return a.items < b.items; }
static bool operator==(const found &a, const found &b) { return a.items == b.items && a.support == b.support; }

/* The frequent sets of one item. */
static std::vector<found> single(const database &db, unsigned items, unsigned least)
{
	std::vector<unsigned> count(items);
	std::vector<found> all;

	for (unsigned item : db.items)
		count[item]++;
	for (unsigned i = 0; i < items; i++)
		if (count[i] >= least)
			all.push_back(found{ { i }, count[i] });
	return all;
}

/* What is in no frequent set is taken out. */
static database only(const database &db, const std::vector<found> &frequent)
{
	database kept;

	kept.start.push_back(0);
	for (size_t r = 0; r + 1 < db.start.size(); r++) {
		for (unsigned i = db.start[r]; i < db.start[r + 1]; i++)
			if (std::binary_search(frequent.begin(), frequent.end(), found{ { db.items[i] }, 0 }))
				kept.items.push_back(db.items[i]);
		kept.start.push_back((unsigned)kept.items.size());
	}
	return kept;
}

/* The same without a tree: each item has a bit for each record. */
struct cpu {
	std::vector<std::vector<uint64_t>> bits;

	cpu(const database &db, unsigned items) : bits(items, std::vector<uint64_t>(db.start.size() / 64 + 1))
	{
		for (size_t r = 0; r + 1 < db.start.size(); r++)
			for (unsigned i = db.start[r]; i < db.start[r + 1]; i++)
				bits[db.items[i]][r / 64] |= (uint64_t)1 << r % 64;
	}

	unsigned support(const std::vector<unsigned> &set)
	{
		unsigned n = 0;

		for (size_t w = 0; w < bits[0].size(); w++) {
			uint64_t all = ~(uint64_t)0;

			for (unsigned item : set)
				all &= bits[item][w];
			n += (unsigned)__builtin_popcountll(all);
		}
		return n;
	}

	std::vector<found> next(const std::vector<found> &frequent, unsigned least)
	{
		std::vector<found> all;

		for (size_t a = 0; a < frequent.size(); a++)
			for (size_t b = a + 1; b < frequent.size(); b++) {
				found f = frequent[a];

				if (!std::equal(f.items.begin(), f.items.end() - 1, frequent[b].items.begin()))
					break;
				f.items.push_back(frequent[b].items.back());
				f.support = support(f.items);
				if (f.support >= least)
					all.push_back(f);
			}
		return all;
	}
};

/* One pass on the device; the frequent sets of k items. */
static std::vector<found> pass_of(way w, const std::vector<found> &before, const records &r, unsigned least,
                                  unsigned threads, tally *done)
{
	unsigned k = (unsigned)before[0].items.size() + 1, n = (unsigned)before.size(), used[2] = { 0, 1 }, blocks;
	size_t most = (size_t)n * (n - 1) / 2 + 1;
	std::vector<unsigned> flat, candidates, support;
	std::vector<found> all;
	pass p = {};

	for (const found &f : before)
		flat.insert(flat.end(), f.items.begin(), f.items.end());
	p.k = k;
	p.n = n;
	p.frequent = on_device(flat.data(), flat.size());
	p.most_candidates = (unsigned)most;
	p.most_nodes = (unsigned)(most * 2 + 1000) / LEAF * FAN + 1;
	p.candidates = on_device<unsigned>(NULL, most * k);
	p.next = on_device<unsigned>(NULL, most);
	p.support = on_device<unsigned>(NULL, most);
	p.nodes = on_device<node>(NULL, p.most_nodes);
	p.used = on_device(used, 2);
	p.done = done;
	blocks = (n + threads - 1) / threads;
	if (w == LOCKS)
		apriori_gen<LOCKS><<<blocks, threads>>>(p);
	else if (w == TRIES)
		apriori_gen<TRIES><<<blocks, threads>>>(p);
	else
		apriori_gen<ATOMICS><<<blocks, threads>>>(p);
	subset<<<120, COUNTERS>>>(p, r);
	ended();
	from_device(used, p.used, 2);
	candidates.resize((size_t)used[CANDIDATES] * k + 1);
	support.resize(used[CANDIDATES] + 1);
	from_device(candidates.data(), p.candidates, (size_t)used[CANDIDATES] * k);
	from_device(support.data(), p.support, used[CANDIDATES]);
	for (unsigned c = 0; c < used[CANDIDATES]; c++)
		if (support[c] >= least)
			all.push_back(found{ { candidates.begin() + (long)k * c, candidates.begin() + (long)k * (c + 1) }, support[c] });
	std::sort(all.begin(), all.end());
	for (const void *q : std::vector<const void *>{ p.frequent, p.candidates, p.next, p.support, p.nodes, p.used })
		CHECK(cudaFree((void *)q));
	return all;
}

int main(int argc, char **argv)
{
	enum { RECORDS, ITEMS, PATTERNS, SUPPORT, THREADS, NUMBERS };   /* SUPPORT: of 10,000 records */
	number o[NUMBERS] = { { "records", 200, 2000, 100000, 0 }, { "items", 100, 1000, 1000, 0 },
		              { "patterns", 60, 2000, 2000, 0 }, { "support", 1200, 100, 100, 0 }, { "threads", 64, 64, 64, 0 } };
	way w = read_arguments(argc, argv, o, NUMBERS);
	unsigned items = o[ITEMS].value, least = (unsigned)((double)o[RECORDS].value * o[SUPPORT].value / 10000);
	database db = generate(o[RECORDS].value, items, o[PATTERNS].value, 10, 4);
	std::vector<found> device = single(db, items, least), host = device;
	database kept = only(db, device);
	records r = { on_device(kept.items.data(), kept.items.size()), on_device(kept.start.data(), kept.start.size()),
		      o[RECORDS].value };
	tally *done = on_device<tally>(NULL, 1);
	cpu one(db, items);
	bool right = true;
	size_t sets = device.size();

	while (device.size() > 1 && right && device[0].items.size() < MOST) {
		device = pass_of(w, device, r, least, o[THREADS].value, done);
		host = one.next(host, least);
		right = device == host;
		sets += device.size();
	}
	printf("%zu frequent items, %zu sets\n", single(db, items, least).size(), sets);
	return tell("apriori", w, done, right && sets > 0);
}
