/* group.cu - transactions of whole warps and thread blocks (include/warpsafe/tm_group.cuh) with each engine, and on objects
 * (tm_block.cuh) with the two that have them.
 *
 *     group [broken] [NAME...]      all checks, or those named. broken: without the lock that makes lanes take turns. Ends with 1 and a
 *                                   line for each that fails. */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
__constant__ unsigned broken;
#define WS_TM_BREAK broken
#include <warpsafe/tm.h>
#include <warpsafe/tm_group.cuh>
#include <warpsafe/tm_block.cuh>

enum { THREADS = 40, BLOCKS = 2, WORDS = 1024 };     /* the second warp of a block has 8 lanes */

struct shared { unsigned words[WORDS]; unsigned bad; };

__device__ void must(struct shared *s, bool right)
{
	if (!right)
		atomicAdd(&s->bad, 1u);
}

/* ---- any engine: sections of groups ---- */

/* All lanes count at the same time, each its own word; and one word takes what each warp's lanes found. */
__device__ void together(struct ws_group *g, struct shared *s, unsigned)
{
	for (unsigned i = 0; i < 2; i++) {
		WS_TX_GROUP(g) {
			unsigned *own = s->words + g->lane, one = ws_tx_read_u32(g, own), other;

			ws_tx_write_u32(g, own, one + 1);
			ws_group_sync(g);
			other = ws_tx_read_u32(g, s->words + (g->lane + 1) % 8);
			if (ws_group_valid(g) && g->lane < 8)
				must(s, other == one + 1);
		}
		must(s, ws_tx_status(g) == WS_TX_COMMITTED);
	}
}

/* Lanes that leave early, and lanes that never use it. */
__device__ void diverge(struct ws_group *g, struct shared *s, unsigned)
{
	WS_TX_GROUP(g) {
		if (g->lane % 3 == 0)
			continue;
		for (unsigned i = 0; i < g->lane % 4; i++)
			ws_tx_write_u32(g, s->words + g->lane, ws_tx_read_u32(g, s->words + g->lane) + 1);
		if (g->lane % 3 == 1)
			break;
		ws_tx_write_u64(g, (unsigned long long *)(s->words + 100 + 2 * g->lane), 5);
	}
}

/* One lane takes back what all have done. */
__device__ void cancel(struct ws_group *g, struct shared *s, unsigned)
{
	WS_TX_GROUP(g) {
		ws_tx_write_u32(g, s->words + g->lane, 1);
		ws_group_sync(g);
		if (g->lane == 7)
			ws_tx_abort(g);
	}
	must(s, ws_tx_status(g) == WS_TX_CANCELLED);
}

/* Each group waits for the one before it. */
__device__ void retry(struct ws_group *g, struct shared *s, unsigned number)
{
	WS_TX_GROUP(g)
		if (g->lane == 5 && ws_tx_read_u32(g, s->words) != number)
			ws_tx_retry(g);
		else if (g->lane == 5)
			ws_tx_write_u32(g, s->words, number + 1);
}

/* More than a log holds in shared memory, in sections within a section. */
__device__ void many(struct ws_group *g, struct shared *s, unsigned)
{
	WS_TX_GROUP(g)
		for (unsigned i = 0; i < 2; i++)
			WS_TX_GROUP(g) {
				float *p = (float *)(s->words + 2 * (g->lane % 16) + i);

				if (g->lane < 16)
					ws_tx_write_f32(g, p, ws_tx_read_f32(g, p) + 0.5f);
			}
}

#define SECTIONS(X) X(together) X(diverge) X(cancel) X(retry) X(many)
#define SECTION(NAME) \
	__global__ void b_##NAME(struct ws_tm tm, struct shared *s) \
	{ \
		WS_TX_BLOCK_VAR(g, tm); \
		NAME(&g, s, blockIdx.x); \
	} \
	__global__ void w_##NAME(struct ws_tm tm, struct shared *s) \
	{ \
		WS_TX_WARP_VAR(g, tm, 2); \
		NAME(&g, s, blockIdx.x * 2 + threadIdx.x / 32); \
	}
SECTIONS(SECTION)

/* How many lanes have number `lane` in their group. */
static unsigned holders(unsigned lane, bool warps)
{
	return !warps ? lane < THREADS ? BLOCKS : 0 : lane < 8 ? 2 * BLOCKS : lane < 32 ? BLOCKS : 0;
}

static bool after_section(const char *name, const struct shared *s, bool warps)
{
	bool right = s->bad == 0;

	for (unsigned i = 0; i < 96; i++) {
		unsigned n = holders(i, warps), want = 0;
		float f;

		if (!strcmp(name, "together"))
			want = 2 * n;
		else if (!strcmp(name, "diverge"))
			want = i % 3 ? i % 4 * n : 0;
		else if (!strcmp(name, "retry"))
			want = i ? 0 : warps ? 2 * BLOCKS : BLOCKS;
		memcpy(&f, &s->words[i], sizeof f);
		right = right && (!strcmp(name, "many") ? f == (i < 32 ? 0.5f * (float)holders(i / 2, warps) : 0) : s->words[i] == want);
		if (!strcmp(name, "diverge") && i < THREADS)
			right = right && s->words[100 + 2 * i] == (i % 3 == 2 && n ? 5 : 0);
	}
	return right;
}

/* ---- objects ---- */

struct object { unsigned words[10]; };       /* all equal */

__device__ bool whole(const struct object *o)
{
	bool right = true;

	for (unsigned i = 1; i < 10; i++)
		right = right && o->words[i] == o->words[0];
	return right;
}

/* Objects count up as wholes, also in attempts that fail; one that is only read stays as it is, whatever is done to its copy. */
__device__ void counts(struct ws_stm *stm, struct shared *s, struct object *o)
{
	for (unsigned i = 0; i < 4; i++) {
		stm->copy = (enum ws_stm_copy)(i % 4);
		do {
			struct object *one, *two, *again;

			ws_stm_start(stm);
			one = (struct object *)ws_stm_read(stm, o, sizeof *o, WS_STM_WRITE);
			two = (struct object *)ws_stm_read(stm, o + 1, sizeof *o, WS_STM_READ);
			if (!one || !two)
				continue;
			must(s, whole(one) && whole(two));
			again = (struct object *)ws_stm_read(stm, o, sizeof *o, WS_STM_READ);
			must(s, again == one);
			ws_group_sync(&stm->group);
			for (unsigned k = stm->group.lane; k < 10; k += stm->group.lanes) {
				one->words[k]++;
				two->words[k] = i % 2 ? one->words[k] : 12345;
			}
			if (i % 2)
				must(s, ws_stm_write_intend(stm, o + 1));
			must(s, !ws_stm_write_intend(stm, o + 2));
		} while (!ws_stm_commit(stm));
	}
}

/* What is aborted leaves nothing, and a transaction that is given up stands in nobody's way. */
__device__ void aborts(struct ws_stm *stm, struct shared *s, struct object *o)
{
	struct object *copy;

	ws_stm_start(stm);
	copy = (struct object *)ws_stm_read(stm, o, sizeof *o, WS_STM_WRITE);
	if (copy && stm->group.lane == 0)
		copy->words[0] = 1;
	ws_stm_abort(stm);
	ws_stm_start(stm);
	ws_stm_read(stm, o, sizeof *o, WS_STM_WRITE);
	ws_stm_give_up(stm);
	must(s, !ws_stm_commit(stm));
}

/* Copies that shared memory does not hold, and more of them than a list there. */
__device__ void large(struct ws_stm *stm, struct shared *s, struct object *)
{
	do {
		ws_stm_start(stm);
		for (unsigned i = 0; i < 36; i++) {
			unsigned *copy = (unsigned *)ws_stm_read(stm, s->words + 16 * i, 64, WS_STM_WRITE);

			if (!copy)
				break;
			ws_group_sync(&stm->group);
			for (unsigned k = stm->group.lane; k < 16; k += stm->group.lanes)
				copy[k]++;
		}
	} while (!ws_stm_commit(stm));
	ws_stm_start(stm);
	must(s, !ws_stm_read(stm, s->words, WS_STM_LARGEST + 8, WS_STM_READ));
	must(s, ws_stm_too_large(stm));
	ws_stm_give_up(stm);
}

#define OBJECTS(X) X(counts) X(aborts) X(large)
#define OBJECT(NAME) \
	__global__ void o_##NAME(struct ws_tm tm, struct shared *s) \
	{ \
		WS_STM_BLOCK_VAR(stm, tm); \
		NAME(&stm, s, (struct object *)s->words); \
	} \
	__global__ void v_##NAME(struct ws_tm tm, struct shared *s) \
	{ \
		WS_STM_WARP_VAR(stm, tm, 2); \
		NAME(&stm, s, (struct object *)s->words); \
	}
OBJECTS(OBJECT)

static bool after_objects(const char *name, const struct shared *s, bool warps)
{
	bool right = s->bad == 0;
	unsigned groups = warps ? 2 * BLOCKS : BLOCKS, last = 4 * groups;

	for (unsigned i = 0; i < WORDS; i++) {
		if (!strcmp(name, "counts") && i < 10)
			right = right && s->words[i] == last;
		else if (!strcmp(name, "counts") && i < 20)
			right = right && s->words[i] == s->words[10] && s->words[i] <= last && s->words[i] != 0;
		else
			right = right && s->words[i] == (!strcmp(name, "large") && i < 36 * 16 ? groups : 0);
	}
	return right;
}

/* ---- all ---- */

typedef void kernel(struct ws_tm, struct shared *);
typedef bool judge(const char *, const struct shared *, bool);

static cudaError_t make(struct ws_tm *tm, unsigned engine, judge *after)
{
	struct ws_tm_config config = ws_tm_defaults();

	if (after == after_objects)
		return ws_stm_init(tm, 2 * BLOCKS, 36, 36 * 64, 8, (enum ws_tm_engine)engine);
	config.engine = (enum ws_tm_engine)engine;
	config.entries = 1000;
	config.patience = 24;
	config.heap = 1 << 20;
	return ws_tm_create(tm, &config);
}

static int play(const char *name, kernel *k, unsigned engine, judge *after, bool warps)
{
	static struct shared host;
	struct ws_tm tm;
	struct shared *s;
	bool right;

	if (make(&tm, engine, after) || cudaMalloc((void **)&s, sizeof *s) || cudaMemset(s, 0, sizeof *s))
		return printf("%s: set-up failed\n", name), 2;
	k<<<BLOCKS, THREADS>>>(tm, s);
	right = cudaMemcpy(&host, s, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess && after(name, &host, warps);
	if (!right)
		printf("%s, engine %s, by %s: wrong (%u)\n", name, ws_tm_engine_name(engine), warps ? "warp" : "block", host.bad);
	cudaFree(s);
	ws_tm_destroy(&tm);
	return !right;
}

static bool wanted(int argc, char **argv, const char *name)
{
	bool found = argc == 1;

	for (int i = 1; i < argc; i++)
		found = found || !strcmp(argv[i], name);
	return found;
}

int main(int argc, char **argv)
{
	unsigned step = argc > 1 && !strcmp(argv[1], "broken") ? 25 : 0;
	int bad = 0;

	if (cudaMemcpyToSymbol(broken, &step, sizeof step))
		return 2;
	argc -= step > 0;
	argv += step > 0;
	for (unsigned engine = 0; engine < WS_TM_ENGINES; engine++) {
#define PLAY_SECTION(NAME) \
		if (wanted(argc, argv, #NAME)) \
			bad += play(#NAME, b_##NAME, engine, after_section, false) + play(#NAME, w_##NAME, engine, after_section, true);
#define PLAY_OBJECT(NAME) \
		if (wanted(argc, argv, #NAME)) \
			bad += play(#NAME, o_##NAME, engine, after_objects, false) + play(#NAME, v_##NAME, engine, after_objects, true);
		SECTIONS(PLAY_SECTION)
		if (engine == WS_TM_BLOCK || engine == WS_TM_BLOCK_PESSIMISTIC) {
			OBJECTS(PLAY_OBJECT)
		}
	}
	return bad ? 1 : 0;
}
