/* tm_group.cuh - one transaction of a whole warp or thread block: what its lanes read and write belongs together. Each engine.
 *
 *     __global__ void move(struct ws_tm tm, struct list *lists)
 *     {
 *             WS_TX_BLOCK_VAR(g, tm);                 // or WS_TX_WARP_VAR(g, tm, WARPS)
 *
 *             WS_TX_GROUP(&g)
 *                     if (threadIdx.x < 16)
 *                             ws_tx_write_i32(&g, &to[threadIdx.x], ws_tx_read_i32(&g, &from[threadIdx.x]));
 *     }
 *
 * All lanes come to the section, and all leave it; inside they may diverge, and may wait for each other (ws_group_sync,
 * __syncthreads) as anywhere. Any lane may read and write at any time, and sees what the others of its group have written before
 * in the order that barriers make; two lanes that use one word, one of them writing, need a barrier between.
 *
 * One struct ws_tx in shared memory is the group's, and a lane that is at work on it has it for itself: accesses of the lanes come one
 * after the other. A group pays where a transaction's work besides its accesses is large, or with the calls of
 * tm_block.cuh, which copy whole objects by all lanes. Nobody waits for a lane that is not at work at that time: lanes in step and
 * independent lanes make progress alike (tm/log.cuh). */
#ifndef WARPSAFE_TM_GROUP_CUH
#define WARPSAFE_TM_GROUP_CUH

#include "tm.cuh"

/* In shared memory. */
struct ws_group_shared {
	struct ws_tx tx;
	struct ws_tx_log log;
	unsigned busy;        /* a lane is at work on tx */
	unsigned answer;      /* of the first lane, for all */
};

/* Each lane has one. */
struct ws_group {
	struct ws_group_shared *shared;
	unsigned lane, lanes;
	unsigned mask;        /* of a warp's lanes; 0: the group is a thread block */
};

#define WS_GROUP_RARE static __device__ __noinline__ __attribute__((unused))

WS_TX_FN void ws_group_sync(const struct ws_group *g)
{
	if (g->mask)
		__syncwarp(g->mask);
	else
		__syncthreads();
}

WS_TX_FN unsigned ws_group__thread(void)
{
	return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

WS_TX_FN void ws_group__init(struct ws_group *g, struct ws_tm tm)
{
	if (g->lane == 0) {
		ws_tx_init(&g->shared->tx, &g->shared->log, tm);
		g->shared->tx.levels = WS_TX_MOST - WS_TX_MORE;    /* its attempts take longer than those of a thread */
		g->shared->busy = 0;
	}
	ws_group_sync(g);
}

WS_TX_FN struct ws_group ws_group_of_block(struct ws_group_shared *shared, struct ws_tm tm)
{
	struct ws_group g = { shared, ws_group__thread(), blockDim.x * blockDim.y * blockDim.z, 0 };

	ws_group__init(&g, tm);
	return g;
}

/* All lanes that the warp has. shared: the warp's own. */
WS_TX_FN struct ws_group ws_group__of_warp(struct ws_group_shared *shared, struct ws_tm tm)
{
	unsigned threads = blockDim.x * blockDim.y * blockDim.z, warp = ws_group__thread() / 32;
	struct ws_group g = { shared, ws_group__thread() % 32, 32, 0xffffffffu };

	if (threads - warp * 32 < 32) {
		g.lanes = threads - warp * 32;
		g.mask = (1u << g.lanes) - 1;
	}
	ws_group__init(&g, tm);
	return g;
}

/* shared: an array with one for each warp of the block. */
WS_TX_FN struct ws_group ws_group_of_warp(struct ws_group_shared *shared, struct ws_tm tm)
{
	return ws_group__of_warp(shared + ws_group__thread() / 32, tm);
}

/* Each declares a variable of every thread, for any number of sections. All lanes come by. WARPS: how many a block has, at least. */
#define WS_TX_BLOCK_VAR(NAME, TM) \
	__shared__ struct ws_group_shared ws_group_of_##NAME; \
	struct ws_group NAME = ws_group_of_block(&ws_group_of_##NAME, TM)
#define WS_TX_WARP_VAR(NAME, TM, WARPS) \
	__shared__ struct ws_group_shared ws_group_of_##NAME[WARPS]; \
	struct ws_group NAME = ws_group_of_warp(ws_group_of_##NAME, TM)

/* ---- one lane at a time ---- */

/* Whether this lane has the transaction now. */
WS_TX_FN int ws_group__take(struct ws_group_shared *s)
{
	if (atomicCAS(&s->busy, 0u, 1u) && WS_TM_BREAK != 25)
		return 0;
	__threadfence_block();
	return 1;
}

WS_TX_FN void ws_group__give(struct ws_group_shared *s)
{
	__threadfence_block();
	atomicExch(&s->busy, 0u);
}

/* Runs what follows once, when this lane has the transaction. Rounds as in ws_tx_again: the lane that has it comes to the end of its
 * round before those in step with it ask again, which the register hides from the compiler. */
#define WS_GROUP__ALONE(S) \
	for (unsigned ws_group_left = 1; ws_group_left; ws_group__round(&ws_group_left)) \
		if (ws_group__take(S)) \
			for (; ws_group_left; ws_group_left = 0, ws_group__give(S))
WS_TX_FN void ws_group__round(unsigned *left)
{
	unsigned now = *left;

	__asm__ volatile("" : "+r"(now));
	*left = now;
}

WS_GROUP_RARE unsigned long long ws_group__read_word(struct ws_group_shared *s, unsigned long long at, unsigned size)
{
	unsigned long long value = 0;

	WS_GROUP__ALONE(s)
		value = ws_tx__read_word(&s->tx, at, size);
	return value;
}

WS_GROUP_RARE void ws_group__write_word(struct ws_group_shared *s, unsigned long long at, unsigned size,
                                        unsigned long long value)
{
	WS_GROUP__ALONE(s)
		ws_tx__write_word(&s->tx, at, size, value);
}

/* ---- by all lanes together ---- */

WS_GROUP_RARE unsigned ws_group__answer(const struct ws_group *g)
{
	unsigned answer;

	ws_group_sync(g);
	answer = g->shared->answer;
	ws_group_sync(g);
	return answer;
}

/* What the first lane finds, for all. */
#define WS_GROUP__LEAD(G, WHAT) \
	((G)->lane == 0 ? (void)((G)->shared->answer = (unsigned)(WHAT)) : (void)0, ws_group__answer(G))

WS_TX_FN void ws_group_enter(struct ws_group *g)
{
	ws_group_sync(g);
	if (g->lane == 0)
		ws_tx_enter(&g->shared->tx);
}
WS_TX_FN int ws_group_again(struct ws_group *g) { return (int)WS_GROUP__LEAD(g, ws_tx_again(&g->shared->tx)); }
WS_TX_FN int ws_group_begin(struct ws_group *g) { return (int)WS_GROUP__LEAD(g, ws_tx_begin(&g->shared->tx)); }
WS_TX_FN void ws_group_end(struct ws_group *g)
{
	ws_group_sync(g);
	if (g->lane == 0)
		ws_tx_end(&g->shared->tx);
}

/* Whether the attempt still has a chance, and the values read so far were there together: the same answer for all lanes,
 * who must all ask. For loops with barriers. */
WS_TX_FN int ws_group_valid(struct ws_group *g)
{
	ws_group_sync(g);
	return (int)WS_GROUP__LEAD(g, ws_tx_validate(&g->shared->tx));
}

#define WS_TX_GROUP(G) \
	for (ws_group_enter(G); ws_group_again(G); ws_group_end(G)) \
		for (int ws_tx_once = ws_group_begin(G); ws_tx_once; ws_tx_once = 0)

/* After the section, by all lanes. */
WS_TX_FN enum ws_tx_state ws_tx_status(const struct ws_group *g)
{
	return (enum ws_tx_state)WS_GROUP__LEAD(g, ws_tx_status(&g->shared->tx));
}

/* ---- by any lane: as those of tm.cuh ---- */

WS_TX_FN int ws_tx_ok(const struct ws_group *g)
{
	int ok = 0;

	WS_GROUP__ALONE(g->shared)
		ok = ws_tx_ok(&g->shared->tx);
	return ok;
}
WS_TX_FN void ws_tx_abort(struct ws_group *g)
{
	WS_GROUP__ALONE(g->shared)
		ws_tx_abort(&g->shared->tx);
}
WS_TX_FN void ws_tx_retry(struct ws_group *g)
{
	WS_GROUP__ALONE(g->shared)
		ws_tx_retry(&g->shared->tx);
}

/* Any lane; what other lanes have done so far belongs to it. */
WS_TX_FN int ws_tx_irrevocable(struct ws_group *g)
{
	int now = 0;

	WS_GROUP__ALONE(g->shared)
		now = ws_tx_irrevocable(&g->shared->tx);
	return now;
}

#define WS_GROUP__WORD(NAME, TYPE, BITS, TO_BITS, FROM_BITS) \
	WS_TX_FN TYPE ws_tx_read_##NAME(struct ws_group *g, const TYPE *p) \
	{ \
		return FROM_BITS((BITS)ws_group__read_word(g->shared, (unsigned long long)p, sizeof(TYPE))); \
	} \
	WS_TX_FN void ws_tx_write_##NAME(struct ws_group *g, TYPE *p, TYPE value) \
	{ \
		ws_group__write_word(g->shared, (unsigned long long)p, sizeof(TYPE), (unsigned long long)TO_BITS(value)); \
	}
WS_TX__TYPES(WS_GROUP__WORD)
#undef WS_GROUP__WORD

WS_GROUP_RARE void *ws_tx_alloc(struct ws_group *g, unsigned long long bytes)
{
	void *block = 0;

	WS_GROUP__ALONE(g->shared)
		block = ws_tx_alloc(&g->shared->tx, bytes);
	return block;
}
WS_GROUP_RARE void ws_tx_free(struct ws_group *g, void *p)
{
	WS_GROUP__ALONE(g->shared)
		ws_tx_free(&g->shared->tx, p);
}

WS_TX_FN void *ws_tx_read_pointer(struct ws_group *g, const void *p)
{
	return (void *)ws_group__read_word(g->shared, (unsigned long long)p, sizeof(void *));
}
WS_TX_FN void ws_tx_write_pointer(struct ws_group *g, void *p, const void *value)
{
	ws_group__write_word(g->shared, (unsigned long long)p, sizeof(void *), (unsigned long long)value);
}

#endif
