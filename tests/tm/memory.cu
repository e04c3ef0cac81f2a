/* memory.cu - memory that transactions allocate and free (ws_tx_alloc, ws_tx_free): a sorted list whose nodes come and go while others
 * write to them. With -DMARKED the same in marked sections, by malloc and free.
 *
 *     memory [engine=NAME] [granularity=N] [seed=N] [sections=N] [pool=BYTES] [zombie=1] [misuse=1|2|3] [broken=N]
 *
 * Ends with 1 if the list, what was written to its nodes or the memory in use is wrong afterwards. zombie:
 * an attempt that follows a pointer to a block that has been freed and is another's. misuse: a block is freed twice, or what is none, or
 * twice in one section; the kernel must fail. broken: step N of the engines is left out (WS_TM_BREAK). */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#ifdef MARKED
#include <warpsafe/atomic.h>
#else
__constant__ unsigned broken;
#define WS_TM_BREAK broken
#include <warpsafe/tm.h>
#include <warpsafe/tm.cuh>
#endif

enum { THREADS = 32, BLOCKS = 2, KEYS = 8 };

struct node { unsigned key, visits, check; struct node *next; };

struct list {
	struct node *head;
	unsigned sums[6];
};

/* What a section has done; all of them, in sums. GONE: visits of nodes that were removed; WRONG: nodes that were not whole; MISSING:
 * allocations in vain. */
enum { INSERTED, REMOVED, VISITED, GONE, WRONG, MISSING };
struct done { unsigned n[6]; };

__device__ void count(struct list *l, const struct done *d)
{
	for (int k = 0; k < 6; k++)
		if (d->n[k])
			atomicAdd(&l->sums[k], d->n[k]);
}

__device__ unsigned random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 10;
}

__device__ unsigned check_of(unsigned key) { return key * 0x9e3779b1u + 12345; }

#ifdef MARKED
/* What a section of the thread does to the list is plain code. */
__device__ struct node **find(struct list *l, unsigned key)
{
	struct node **at = &l->head;

	while (*at && (*at)->key < key)
		at = &(*at)->next;
	return at;
}

__device__ void change(struct list *l, unsigned key, unsigned what)
{
	struct done d = {};

	WS_ATOMIC {
		struct node **at = find(l, key), *n = *at;
		bool there = n && n->key == key;

		d.n[WRONG] = there && n->check != check_of(key);
		if (there && what < 2) {
			n->visits++;
			d.n[VISITED] = 1;
		} else if (there) {
			*at = n->next;
			d.n[GONE] = n->visits;
			d.n[REMOVED] = 1;
			free(n);
		} else if (struct node *fresh = (struct node *)malloc(sizeof *fresh)) {
			fresh->key = key;
			fresh->visits = 0;
			fresh->check = check_of(key);
			fresh->next = n;
			*at = fresh;
			d.n[INSERTED] = 1;
		} else {
			d.n[MISSING] = 1;
		}
	}
	count(l, &d);
}

__global__ void work(struct list *l, unsigned sections, unsigned seed)
{
	unsigned state = seed * 1000003u + (blockIdx.x * blockDim.x + threadIdx.x) * 7919u;

	for (unsigned k = 0; k < sections; k++)
		change(l, random(&state) % KEYS, random(&state) % 4);
}

__global__ void misused(struct list *l, int misuse)
{
	WS_ATOMIC {
		void *p = malloc(40);

		l->head = (struct node *)p;
		if (misuse == 1)
			free(p);
		else
			free(l);
	}
	if (misuse == 1)
		free(l->head);
}

#else
/* Where the link to the first node that is not before `key` is. NULL: the attempt is lost. */
__device__ struct node **find(struct ws_tx *tx, struct list *l, unsigned key)
{
	struct node **at = &l->head, *n;

	while (ws_tx_validate(tx) && (n = (struct node *)ws_tx_read_pointer(tx, at)) && ws_tx_read_u32(tx, &n->key) < key)
		at = &n->next;
	return ws_tx_ok(tx) ? at : nullptr;
}

__device__ struct node *fresh_node(struct ws_tx *tx, unsigned key, struct node *next)
{
	struct node *n = (struct node *)ws_tx_alloc(tx, sizeof *n);

	if (n) {
		ws_tx_fill_u32(tx, &n->key, key);
		ws_tx_fill_u32(tx, &n->visits, 0);
		ws_tx_fill_u32(tx, &n->check, check_of(key));
		ws_tx_fill_pointer(tx, &n->next, next);
	}
	return n;
}

__device__ void insert(struct ws_tx *tx, struct done *d, struct node **at, struct node *next, unsigned key, unsigned how)
{
	struct node *n = nullptr;

	WS_TX_EITHER(tx) {                                 /* an alternative that allocates, and frees, and is undone */
		n = fresh_node(tx, key, next);
		if (how % 4 == 1 && n) {
			ws_tx_write_pointer(tx, at, n);
			ws_tx_free(tx, n);
			ws_tx_retry(tx);
		}
	}
	WS_TX_OR(tx)
		n = fresh_node(tx, key, next);
	d->n[MISSING] = ws_tx_ok(tx) && !n;
	if (!n)
		return;
	ws_tx_write_pointer(tx, at, n);
	d->n[INSERTED] = 1;
	if (how % 4 == 2)
		ws_tx_abort(tx);
}

__device__ void change(struct ws_tx *tx, struct list *l, unsigned key, unsigned what, unsigned how)
{
	struct done d = {};

	WS_TX(tx) {
		d = {};
		struct node **at = find(tx, l, key), *n = at ? (struct node *)ws_tx_read_pointer(tx, at) : nullptr;
		bool there = n && ws_tx_read_u32(tx, &n->key) == key, whole = there && ws_tx_read_u32(tx, &n->check) == check_of(key);

		if (!ws_tx_ok(tx))
			continue;
		d.n[WRONG] = there && !whole;
		if (there && what < 2) {
			ws_tx_write_u32(tx, &n->visits, ws_tx_read_u32(tx, &n->visits) + 1);
			d.n[VISITED] = 1;
		} else if (there) {
			ws_tx_write_pointer(tx, at, ws_tx_read_pointer(tx, &n->next));
			d.n[GONE] = ws_tx_read_u32(tx, &n->visits);
			d.n[REMOVED] = 1;
			ws_tx_free(tx, n);
		} else {
			insert(tx, &d, at, n, key, how);
		}
	}
	if (ws_tx_status(tx) == WS_TX_COMMITTED)
		count(l, &d);
}

__global__ void work(struct ws_tm tm, struct list *l, unsigned sections, unsigned seed)
{
	unsigned state = seed * 1000003u + (blockIdx.x * blockDim.x + threadIdx.x) * 7919u;
	WS_TX_VAR(tx, tm);

	for (unsigned k = 0; k < sections; k++) {
		unsigned key = random(&state) % KEYS, what = random(&state) % 4;

		change(&tx, l, key, what, random(&state));
	}
}

__global__ void misused(struct ws_tm tm, struct list *l, int misuse)
{
	WS_TX_VAR(tx, tm);
	void *p;

	WS_TX(&tx) {
		p = ws_tx_alloc(&tx, 40);
		ws_tx_free(&tx, misuse == 2 ? (void *)l : p);
		if (misuse == 3)
			ws_tx_free(&tx, p);
	}
	if (misuse == 1)
		WS_TX(&tx)
			ws_tx_free(&tx, p);
}

/* Waits for the other thread, for some time: with some engines it cannot come before this one ends. */
__device__ void wait_for(const volatile unsigned *flag)
{
	for (int k = 0; k < 3000 && !*flag; k++)
		;
}

enum { HAS_READ = INSERTED, HAS_FILLED = REMOVED, HAS_WRITTEN = VISITED, HAS_LOOKED = GONE };

/* The first thread takes the node out, frees it, and gets it again; while it fills it the other one, which has read the old pointer, reads and
 * writes there. */
__global__ void zombie(struct ws_tm tm, struct list *l)
{
	volatile unsigned *flags = l->sums;
	WS_TX_VAR(tx, tm);
	struct node *n = nullptr, *again = nullptr;
	int first = 1;

	if (blockIdx.x == 0) {
		WS_TX(&tx)
			ws_tx_write_pointer(&tx, &l->head, n = fresh_node(&tx, 1, nullptr));
		flags[MISSING] = 2;
		wait_for(&flags[HAS_READ]);
		WS_TX(&tx) {
			ws_tx_write_pointer(&tx, &l->head, nullptr);
			ws_tx_free(&tx, n);
		}
		WS_TX(&tx) {
			again = fresh_node(&tx, 2, nullptr);
			__threadfence();
			flags[HAS_FILLED] = 1;
			wait_for(&flags[HAS_WRITTEN]);
			if (again != n || *(volatile unsigned *)&again->visits || *(volatile unsigned *)&again->check != check_of(2))
				flags[WRONG] = 1;
			flags[HAS_LOOKED] = 1;
			ws_tx_write_pointer(&tx, &l->head, again);
		}
		return;
	}
	wait_for(&flags[MISSING]);
	WS_TX(&tx) {
		if (!(n = (struct node *)ws_tx_read_pointer(&tx, &l->head)))
			continue;
		if (first) {
			flags[HAS_READ] = 1;
			wait_for(&flags[HAS_FILLED]);
		}
		/* Who comes so late that the first thread no longer waits for it may well see what that has linked after it had looked. */
		if (ws_tx_read_u32(&tx, &n->check) == check_of(2) && ws_tx_ok(&tx) && first && !flags[HAS_LOOKED] && WS_TM_OPAQUE(tm.engine))
			flags[WRONG] = 2;
		ws_tx_write_u32(&tx, &n->visits, 77);
		flags[HAS_WRITTEN] = 1;
		if (first)
			wait_for(&flags[HAS_LOOKED]);
		first = 0;
	}
}

/* What lies on the stacks and what is in use must be all that was ever handed out, and so many nodes in use. */
static bool memory_is_right(const struct ws_tm *tm, unsigned nodes)
{
	static struct ws_tm_pool pool;
	unsigned *links = (unsigned *)malloc(tm->units * sizeof *links + 1), used = 0, units = 0, steps = 0;

	if (cudaMemcpy(&pool, tm->pool, sizeof pool, cudaMemcpyDeviceToHost) ||
	    cudaMemcpy(links, tm->pool + 1, tm->units * sizeof *links, cudaMemcpyDeviceToHost))
		return false;
	for (unsigned k = 0; k < WS_TM_TOPS; k++)
		for (unsigned size = 0; size < WS_TM_CLASSES; size++)
			for (unsigned n = (unsigned)pool.top[k][size]; n - 1 < tm->units && steps <= tm->units; n = links[n - 1], steps++)
				units += 1u << size;
	for (unsigned k = 0; k < tm->units; k++)
		if (links[k] & 0x80000000u) {
			used++;
			units += 1u << (links[k] & 0x7fffffff);
		}
	if (used != nodes || units != pool.fresh)
		printf("%u blocks are in use instead of %u; %u units of %llu are there\n", used, nodes, units, pool.fresh);
	free(links);
	return used == nodes && units == pool.fresh;
}
#endif

/* Walks the list on the device: its memory may be the device's alone. */
__global__ void sums(const struct list *l, unsigned *out)
{
	unsigned last = 0;

	for (const struct node *n = l->head; n && out[0] <= KEYS; n = n->next) {
		out[0]++;
		out[1] += n->visits;
		out[2] |= n->check != check_of(n->key) || (out[0] > 1 && n->key <= last);
		last = n->key;
	}
}

static unsigned value(int argc, char **argv, const char *name, unsigned otherwise)
{
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, strlen(name)) && argv[i][strlen(name)] == '=')
			return (unsigned)atoi(argv[i] + strlen(name) + 1);
	return otherwise;
}

/* Plays once and looks. */
static bool right(const char *engine, struct list *l, unsigned *out)
{
	struct list h;
	unsigned o[3];
	bool good;

	sums<<<1, 1>>>(l, out);
	if (cudaMemcpy(&h, l, sizeof h, cudaMemcpyDeviceToHost) || cudaMemcpy(o, out, sizeof o, cudaMemcpyDeviceToHost))
		return printf("%s: failed\n", engine), false;
	good = o[0] == h.sums[INSERTED] - h.sums[REMOVED] && o[1] + h.sums[GONE] == h.sums[VISITED] && !o[2] && !h.sums[WRONG] &&
	       !h.sums[MISSING] && h.sums[REMOVED] && h.sums[VISITED];
	if (!good)
		printf("%s: %u nodes, %u inserted, %u removed; %u visits and %u gone of %u; order %u, %u wrong, %u allocations in vain\n",
		       engine, o[0], h.sums[INSERTED], h.sums[REMOVED], o[1], h.sums[GONE], h.sums[VISITED], o[2], h.sums[WRONG],
		       h.sums[MISSING]);
	return good;
}

int main(int argc, char **argv)
{
	unsigned seed = value(argc, argv, "seed", 1), sections = value(argc, argv, "sections", 12), *out;
	unsigned misuse = value(argc, argv, "misuse", 0), bad = 0;
	struct list *l;

	if (cudaMalloc((void **)&l, sizeof *l) || cudaMalloc((void **)&out, 3 * sizeof *out))
		return 2;
#ifdef MARKED
	cudaMemset(l, 0, sizeof *l);
	cudaMemset(out, 0, 3 * sizeof *out);
	if (misuse)
		misused<<<1, 1>>>(l, (int)misuse);
	else
		work<<<BLOCKS, THREADS>>>(l, sections, seed);
	bad = !right("marked", l, out);
#else
	unsigned step = value(argc, argv, "broken", 0);

	if (cudaMemcpyToSymbol(broken, &step, sizeof step))
		return 2;
	for (unsigned e = 0; e < WS_TM_ENGINES; e++) {
		struct ws_tm_config config = ws_tm_defaults();
		struct ws_tm tm;
		unsigned o = 0;

		for (int i = 1; i < argc; i++)
			o |= !strncmp(argv[i], "engine=", 7) && strcmp(argv[i] + 7, ws_tm_engine_name(e));
		if (o)
			continue;
		config.engine = (enum ws_tm_engine)e;
		config.granularity = value(argc, argv, "granularity", 4);
		config.pool = value(argc, argv, "pool", 8192);
		config.entries = 4096;
		if (ws_tm_create(&tm, &config) || cudaMemset(l, 0, sizeof *l) || cudaMemset(out, 0, 3 * sizeof *out))
			return 2;
		if (value(argc, argv, "zombie", 0)) {
			struct list h;

			zombie<<<2, 1>>>(tm, l);
			if (cudaMemcpy(&h, l, sizeof h, cudaMemcpyDeviceToHost) || h.sums[WRONG])
				bad = !!printf("%s: a zombie was seen (%u)\n", ws_tm_engine_name(e), h.sums[WRONG]);
			ws_tm_destroy(&tm);
			continue;
		}
		if (misuse)
			misused<<<1, 1>>>(tm, l, (int)misuse);
		else
			work<<<BLOCKS, THREADS>>>(tm, l, sections, seed);
		if (!right(ws_tm_engine_name(e), l, out))
			bad = 1;
		else if (!cudaMemcpy(&o, out, sizeof o, cudaMemcpyDeviceToHost))
			bad |= !memory_is_right(&tm, o);
		ws_tm_destroy(&tm);
	}
#endif
	return bad ? 1 : 0;
}
