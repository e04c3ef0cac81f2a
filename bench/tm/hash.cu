/* HASH-S and HASH-M: each transaction puts one element, or four, in front of the lists of a hash table (Holey 2015, 4.2.1 and
 * table 4.1: 120 blocks of 160 threads, 32K commits in all; 1 read and 2 writes, or 4 and 8; tables of 256 to 128K entries
 * in 4.3.2). size is the number of lists. Result: every element once, in its list. */
#include "tm_bench.cuh"
#include <vector>

enum { MOST = 4 };                         /* elements a transaction */

/* Element i: its successor + 1, 0 at the end. The list of an element follows from its number. */
struct table { unsigned *head, *next, size, elements; };

__host__ __device__ static inline unsigned list_of(unsigned element, unsigned size) { return noise(element) % size; }

/* Of the thread's section i. */
__device__ static unsigned first_element(table t, unsigned sections, unsigned i)
{
	return ((blockIdx.x * blockDim.x + threadIdx.x) * sections + i) * t.elements;
}

__global__ void with_transactions(struct ws_tm tm, table t, unsigned sections)
{
	WS_TX_VAR(tx, tm);

	for (unsigned i = 0; i < sections; i++) {
		unsigned first = first_element(t, sections, i);

		WS_TX(&tx)
			for (unsigned e = first; ws_tx_ok(&tx) && e < first + t.elements; e++) {
				unsigned *head = &t.head[list_of(e, t.size)];

				ws_tx_write_u32(&tx, &t.next[e], ws_tx_read_u32(&tx, head));
				ws_tx_write_u32(&tx, head, e + 1);
			}
	}
}

__host__ __device__ static inline void insert(volatile unsigned *head, volatile unsigned *next, unsigned element)
{
	next[element] = *head;
	*head = element + 1;
}

__global__ void with_one_lock(unsigned *lock, table t, unsigned sections)
{
	for (unsigned i = 0; i < sections; i++) {
		unsigned first = first_element(t, sections, i);

		for (int done = 0; !hidden(done);)
			if (try_lock(lock)) {
				for (unsigned e = first; e < first + t.elements; e++)
					insert(&t.head[list_of(e, t.size)], t.next, e);
				unlock(lock);
				done = 1;
			}
	}
}

/* All lists' locks or none, so no order of locks is needed. Bit k of the result: lock of element k was taken; a list that
 * comes twice is taken once. */
__device__ static unsigned try_all(unsigned *locks, table t, unsigned first, bool *all)
{
	unsigned taken = 0;

	*all = true;
	for (unsigned k = 0; k < MOST && k < t.elements && *all; k++) {
		unsigned list = list_of(first + k, t.size);
		bool mine = false;

		for (unsigned j = 0; j < k; j++)
			mine = mine || list_of(first + j, t.size) == list;
		if (!mine && try_lock(&locks[list]))
			taken |= 1u << k;
		else
			*all = mine;
	}
	return taken;
}

__global__ void with_locks(unsigned *locks, table t, unsigned sections)
{
	unsigned random = first_element(t, 1, 0) + 1;

	for (unsigned i = 0; i < sections; i++) {
		unsigned first = first_element(t, sections, i), skip = 0, failures = 0;

		for (int done = 0; !hidden(done);) {
			bool all;

			if (skip) {
				skip--;
				continue;
			}
			unsigned taken = try_all(locks, t, first, &all);
			for (unsigned k = 0; all && k < t.elements; k++)
				insert(&t.head[list_of(first + k, t.size)], t.next, first + k);
			__threadfence();
			for (unsigned k = 0; k < t.elements; k++)
				if (taken >> k & 1)
					*(volatile unsigned *)&locks[list_of(first + k, t.size)] = 0;
			done = all;
			skip = back_off(&random, &failures, done);
		}
	}
}

/* HASH-S alone: the list's first word is its own lock while it has this value. No fence to take it: what is read is what the
 * exchange gives. */
enum : unsigned { LOCKED = ~0u };

__global__ void with_locked_heads(unsigned *, table t, unsigned sections)
{
	for (unsigned i = 0; i < sections; i++) {
		unsigned e = first_element(t, sections, i), *head = &t.head[list_of(e, t.size)];

		for (int done = 0; !hidden(done);) {
			unsigned old = atomicExch(head, (unsigned)LOCKED);

			if (old == LOCKED)
				continue;
			*(volatile unsigned *)&t.next[e] = old;
			__threadfence();
			*(volatile unsigned *)head = e + 1;
			done = 1;
		}
	}
}

struct hash {
	options o;
	const char *name;
	table t;                           /* device memory */
	unsigned *locks, total;            /* elements in all */
};

/* Whether each element is once in its list and nowhere else. */
static bool right(const hash &h, const unsigned *head, const unsigned *next)
{
	std::vector<bool> seen(h.total);
	unsigned n = 0;

	for (unsigned list = 0; list < h.o.size; list++)
		for (unsigned e = head[list]; e; e = next[e - 1], n++) {
			if (e > h.total || seen[e - 1] || list_of(e - 1, h.o.size) != list)
				return false;
			seen[e - 1] = true;
		}
	return n == h.total;
}

static bool right(const hash &h)
{
	std::vector<unsigned> head(h.o.size), next(h.total);

	CHECK(cudaMemcpy(head.data(), h.t.head, head.size() * sizeof head[0], cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(next.data(), h.t.next, next.size() * sizeof next[0], cudaMemcpyDeviceToHost));
	return right(h, head.data(), next.data());
}

static void clear(const hash &h)
{
	CHECK(cudaMemset(h.t.head, 0, h.o.size * sizeof(unsigned)));
	CHECK(cudaMemset(h.t.next, 0xff, h.total * sizeof(unsigned)));
}

static int play_locks(const hash &h, const char *way, void (*kernel)(unsigned *, table, unsigned))
{
	if (!wanted(h.o, way))
		return 0;
	clear(h);
	double ms = milliseconds([&] { kernel<<<h.o.blocks, h.o.threads>>>(h.locks, h.t, h.o.sections); });
	return tell(h.o, h.name, way, ms, right(h), nullptr);
}

static int play_engine(const hash &h, unsigned engine)
{
	if (!wanted(h.o, ws_tm_engine_name(engine)))
		return 0;
	clear(h);
	return with_engine(h.o, h.name, engine, [&] { return right(h); }, [&](const ws_tm &tm) {
		with_transactions<<<h.o.blocks, h.o.threads>>>(tm, h.t, h.o.sections);
	});
}

static int play_auto(const hash &h)
{
	double n = h.t.elements;

	if (!wanted(h.o, "auto"))
		return 0;
	return with_auto(h.o, h.name, { n, 2 * n, n, 0 }, [&] { clear(h); }, [&] { return right(h); }, [&](const ws_tm &tm) {
		with_transactions<<<h.o.blocks, h.o.threads>>>(tm, h.t, h.o.sections);
	});
}

/* On the CPU, one thread or as many as it has; with several each list has its lock, taken in the order of the lists. */
static int play_cpu(const hash &h, unsigned threads)
{
	std::vector<unsigned> head(h.o.size), next(h.total);
	std::vector<cpu_lock> locks(threads > 1 ? h.o.size : 0);
	unsigned n = h.t.elements;

	double ms = on_cpu(threads, h.total / n, [&](unsigned section) {
		unsigned lists[MOST];

		for (unsigned k = 0; k < n; k++)
			lists[k] = list_of(section * n + k, h.o.size);
		cpu_guard guard(locks, lists, n);
		for (unsigned k = 0; k < n; k++)
			insert(&head[list_of(section * n + k, h.o.size)], next.data(), section * n + k);
	});
	return tell(h.o, h.name, threads > 1 ? "cpu-all" : "cpu", ms, right(h, head.data(), next.data()), nullptr);
}

static int play(hash h)
{
	int bad = 0;

	CHECK(cudaMalloc((void **)&h.t.head, h.o.size * sizeof(unsigned)));
	CHECK(cudaMalloc((void **)&h.t.next, h.total * sizeof(unsigned)));
	CHECK(cudaMalloc((void **)&h.locks, h.o.size * sizeof(unsigned)));
	CHECK(cudaMemset(h.locks, 0, h.o.size * sizeof(unsigned)));
	bad += play_cpu(h, 1);
	bad += play_cpu(h, cpu_threads());
	bad += play_locks(h, "cgl-lock", with_one_lock);
	bad += play_locks(h, "fgl", with_locks);
	if (h.t.elements == 1)
		bad += play_locks(h, "fgl-head", with_locked_heads);
	for (unsigned e = 0; e < WS_TM_ENGINES; e++)
		bad += play_engine(h, e);
	bad += play_auto(h);
	CHECK(cudaFree(h.t.head));
	CHECK(cudaFree(h.t.next));
	CHECK(cudaFree(h.locks));
	return bad;
}

int main(int argc, char **argv)
{
	options o = read_options(argc, argv, { 120, 160, 2, 1u << 15, 4, nullptr }, { 4, 64, 2, 128, 4, nullptr });
	unsigned n = o.blocks * o.threads * o.sections;
	int bad = play({ o, "HASH-S", { nullptr, nullptr, o.size, 1 }, nullptr, n });

	bad += play({ o, "HASH-M", { nullptr, nullptr, o.size, MOST }, nullptr, n * MOST });
	return bad ? 1 : 0;
}
