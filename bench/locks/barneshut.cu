/* barneshut.cu - BarnesHut (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011, section
 * 6.5.1): bodies are put into an octree by many threads at once, each under the lock of the leaf that it changes
 * (Barnes and Hut, "A hierarchical O(N log N) force-calculation algorithm", Nature 324, 1986). Examples 17 and 18 of
 * the text. The tree of a set of bodies is the same in whatever order they come, so it is compared with that of one
 * thread of the CPU, cell by cell. */
#include "locks.cuh"

#include <cmath>

/* What a child is: a body, from n on a cell, or */
enum { EMPTY = -1, LOCKED = -2 };
enum { DEPTH = 100 };                    /* halving a float 100 times: bodies at one place */

/* Child o of cell c is child[8 * c + o], its lock is locks[8 * c + o]; cell 0 is the root, the cube around all
 * bodies. */
struct tree {
	const float *x, *y, *z;
	int n, most_cells;
	int *child;
	unsigned *locks;
	int *cells;                      /* how many there are */
	unsigned *radius;                /* half the edge of the root: the bits of a float */
	tally *done;
};

/* A child of a cell, and the middle and half the edge of that cell. */
struct place { float x, y, z, r; int slot; };

__host__ __device__ static inline int octant(const tree &t, const place &p, int body)
{
	return (t.x[body] >= p.x) | (t.y[body] >= p.y) << 1 | (t.z[body] >= p.z) << 2;
}

/* From the cell of p to that in its octant o. */
__host__ __device__ static inline void enter(place &p, int o, int cell)
{
	p.r *= 0.5f;
	p.x += o & 1 ? p.r : -p.r;
	p.y += o & 2 ? p.r : -p.r;
	p.z += o & 4 ? p.r : -p.r;
	p.slot = 8 * cell;
}

/* ---- on the device ---- */
__device__ static inline int child_at(const tree &t, int slot)
{
	return (int)ws_lock_load((const unsigned *)&t.child[slot]);
}

__device__ static inline place root(const tree &t, int body)
{
	place p = { 0, 0, 0, __uint_as_float(*t.radius), 0 };

	p.slot = octant(t, p, body);
	return p;
}

/* Goes down to a child that is no cell. */
__device__ static int descend(const tree &t, place &p, int body)
{
	int child = child_at(t, p.slot);

	while (child >= t.n) {
		enter(p, p.slot & 7, child - t.n);
		p.slot += octant(t, p, body);
		child = child_at(t, p.slot);
	}
	return child;
}

/* Cells, of which nobody knows yet, until two bodies of the leaf are apart: what the leaf becomes. */
__device__ static int split(const tree &t, place p, int old, int body)
{
	int first = LOCKED;

	for (int i = 0; i < DEPTH; i++) {
		int cell = atomicAdd(t.cells, 1), a, b;

		if (cell >= t.most_cells)
			break;
		if (first == LOCKED)
			first = t.n + cell;
		else
			t.child[p.slot] = t.n + cell;
		enter(p, p.slot & 7, cell);
		a = octant(t, p, old);
		b = octant(t, p, body);
		if (a != b) {
			t.child[p.slot + a] = old;
			t.child[p.slot + b] = body;
			return first;
		}
		p.slot += a;
	}
	__trap();
	return first;
}

__device__ static inline int with_body(const tree &t, const place &p, int child, int body)
{
	return child == EMPTY ? body : split(t, p, child, body);
}

/* Example 17: the child itself is the lock. */
__device__ static bool by_atomics(const tree &t, const place &p, int child, int body, tally &own)
{
	if (child == LOCKED || ws_lock_cas((unsigned *)&t.child[p.slot], (unsigned)child, (unsigned)LOCKED) != (unsigned)child)
		return false;
	own.sections++;
	ws_lock_store((unsigned *)&t.child[p.slot], (unsigned)with_body(t, p, child, body));
	return true;
}

/* In the critical section. A leaf that has become a cell meanwhile: in vain. */
__device__ static bool inside(const tree &t, const place &p, int body, tally &own)
{
	int child = child_at(t, p.slot);
	bool leaf = child < t.n;

	if (leaf)
		ws_lock_store((unsigned *)&t.child[p.slot], (unsigned)with_body(t, p, child, body));
	own.sections++;
	own.vain += !leaf;
	return leaf;
}

/* Example 18: the lock is only asked for when nobody has it, and got in the end. */
__device__ static bool by_instructions(const tree &t, const place &p, int body, tally &own)
{
	unsigned *lock = &t.locks[p.slot];
	bool inserted;

	if (taken(lock))
		return false;
	__ws_lock(lock);
	inserted = inside(t, p, body, own);
	leave(lock);
	return inserted;
}

/* Section 9.2.2: one attempt. */
__device__ static bool by_tries(const tree &t, const place &p, int body, tally &own)
{
	unsigned *lock = &t.locks[p.slot];
	bool inserted = false;

	if (!taken(lock) && try_lock<TRIES>(lock)) {
		inserted = inside(t, p, body, own);
		leave(lock);
	}
	return inserted;
}

template <way WAY> __device__ static bool insert(const tree &t, const place &p, int child, int body, tally &own)
{
	return WAY == ATOMICS ? by_atomics(t, p, child, body, own) :
	       WAY == LOCKS ? by_instructions(t, p, body, own) : by_tries(t, p, body, own);
}

/* A thread has every so-manieth body. A block's threads make their attempts together, as in the text. */
template <way WAY> __global__ void build(tree t)
{
	int body = (int)THREAD, step = (int)(gridDim.x * blockDim.x);
	tally own = { 0, 0 };
	place p;

	if (body < t.n)
		p = root(t, body);
	while (__syncthreads_or(body < t.n))
		if (body < t.n) {
			int child = descend(t, p, body);

			if (insert<WAY>(t, p, child, body, own)) {
				body += step;
				if (body < t.n)
					p = root(t, body);
			}
		}
	add_up(t.done, own);
}

/* Bits of floats that are not negative are ordered as they are. */
__global__ void surround(tree t)
{
	float r = 0;

	for (int i = (int)THREAD; i < t.n; i += (int)(gridDim.x * blockDim.x))
		r = fmaxf(r, fmaxf(fabsf(t.x[i]), fmaxf(fabsf(t.y[i]), fabsf(t.z[i]))));
	atomicMax(t.radius, __float_as_uint(r));
}

/* ---- on the host ---- */
struct bodies { std::vector<float> x, y, z; };

static float chance(unsigned i) { return (float)(noise(i) >> 8) / (1 << 24); }

/* Plummer's model: what galaxies are simulated with (Aarseth, Henon and Wielen, Astronomy and Astrophysics 37, 1974,
 * appendix). The mass inside of r is (1 + 1 / r^2)^(-3/2) of all. */
static bodies plummer(unsigned n)
{
	bodies b;

	for (unsigned i = 0; i < n; i++) {
		float mass = 0.001f + 0.998f * chance(3 * i), height = 2 * chance(3 * i + 1) - 1;
		float angle = 6.2831853f * chance(3 * i + 2);
		float r = 1 / sqrtf(powf(mass, -2.0f / 3.0f) - 1), flat = r * sqrtf(1 - height * height);

		b.x.push_back(flat * cosf(angle));
		b.y.push_back(flat * sinf(angle));
		b.z.push_back(r * height);
	}
	return b;
}

/* One body after the other, by one thread. */
static std::vector<int> sequential(const tree &t, float radius)
{
	std::vector<int> child(8, (int)EMPTY);

	for (int body = 0; body < t.n; body++) {
		place p = { 0, 0, 0, radius, 0 };
		int old;

		p.slot = octant(t, p, body);
		while ((old = child[p.slot]) != EMPTY) {
			int other = -1;

			if (old < t.n) {
				other = old;
				old = t.n + (int)child.size() / 8;
				child[p.slot] = old;
				child.insert(child.end(), 8, (int)EMPTY);
			}
			enter(p, p.slot & 7, old - t.n);
			if (other >= 0)
				child[p.slot + octant(t, p, other)] = other;
			p.slot += octant(t, p, body);
		}
		child[p.slot] = body;
	}
	return child;
}

static bool same(const tree &t, const std::vector<int> &a, int cell_a, const std::vector<int> &b, int cell_b)
{
	for (int o = 0; o < 8; o++) {
		int c = a[8 * cell_a + o], d = b[8 * cell_b + o];

		if (c >= t.n && d >= t.n ? !same(t, a, c - t.n, b, d - t.n) : c != d)
			return false;
	}
	return true;
}

static bool right(const tree &t, const bodies &b)
{
	tree host = t;
	std::vector<int> child, want;
	std::vector<unsigned> locks;
	unsigned bits;
	float radius;
	int cells;

	host.x = b.x.data();
	host.y = b.y.data();
	host.z = b.z.data();
	from_device(&bits, t.radius, 1);
	memcpy(&radius, &bits, sizeof radius);
	from_device(&cells, t.cells, 1);
	want = sequential(host, radius);
	if ((size_t)cells * 8 != want.size())
		return false;
	child.resize(want.size());
	from_device(child.data(), t.child, child.size());
	locks.resize(want.size());
	from_device(locks.data(), t.locks, locks.size());
	return same(host, child, 0, want, 0) && std::count(locks.begin(), locks.end(), 0u) == (long)locks.size();
}

int main(int argc, char **argv)
{
	enum { BODIES, BLOCKS, THREADS, NUMBERS };
	number o[NUMBERS] = { { "bodies", 500, 50000, 300000, 0 }, { "blocks", 3, 60, 60, 0 },
		              { "threads", 64, 256, 256, 0 } };
	way w = read_arguments(argc, argv, o, NUMBERS);
	unsigned n = o[BODIES].value, blocks = o[BLOCKS].value, threads = o[THREADS].value;
	bodies b = plummer(n);
	tree t = { on_device(b.x.data(), n), on_device(b.y.data(), n), on_device(b.z.data(), n), (int)n, (int)(2 * n + 100),
		   NULL, on_device<unsigned>(NULL, 8 * (2 * n + 100)), NULL, on_device<unsigned>(NULL, 1),
		   on_device<tally>(NULL, 1) };
	int one = 1;

	t.child = on_device<int>(NULL, 8 * (size_t)t.most_cells);
	CHECK(cudaMemset(t.child, 0xff, 8 * (size_t)t.most_cells * sizeof(int)));      /* EMPTY */
	t.cells = on_device(&one, 1);
	surround<<<blocks, threads>>>(t);
	if (w == LOCKS)
		build<LOCKS><<<blocks, threads>>>(t);
	else if (w == TRIES)
		build<TRIES><<<blocks, threads>>>(t);
	else
		build<ATOMICS><<<blocks, threads>>>(t);
	ended();
	return tell("barneshut", w, t.done, right(t, b));
}
