/* order.c - the order in which a function's basic blocks are laid out in decoded code.
 *
 * Independent threads run the fragment of a warp with the smallest program counter (Collange, "Stack-less SIMT
 * reconvergence at low cost", 2011), so that threads meet again where the order puts a block behind all blocks that
 * lead to it: a topological order of the forward edges in which the blocks of a loop are contiguous. Compilers' own
 * order is not always such a one. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>

struct loops {
	struct ws_ptx_func *f;
	uint32_t *head;                  /* header of the innermost loop of a block; WS_EXIT_BLOCK = in no loop */
	uint32_t *depth;                 /* loops around a block */
	uint32_t *waits;                 /* forward predecessors that are not placed yet */
	uint32_t *ready;
	uint32_t nready;
};

static bool reachable(const struct ws_ptx_func *f, uint32_t b)
{
	return b == 0 || f->blocks[b].idom != WS_EXIT_BLOCK;
}

static bool dominates(const struct ws_ptx_func *f, uint32_t a, uint32_t b)
{
	while (b != a) {
		uint32_t up = f->blocks[b].idom;

		if (up == b || up == WS_EXIT_BLOCK)
			return false;
		b = up;
	}
	return true;
}

/* Edges that the order ignores: to a block that comes earlier in reverse post-order. In a reducible graph these are
 * the back edges of loops. */
static bool is_back(const struct ws_ptx_func *f, uint32_t from, uint32_t to)
{
	return f->blocks[to].rpo <= f->blocks[from].rpo;
}

/* Marks the natural loop of the back edge latch -> head. */
static void mark_loop(struct loops *l, uint32_t head, uint32_t latch, uint8_t *in, uint32_t *stack)
{
	uint32_t n = 0;

	if (!in[head])
		in[head] = 1;
	if (!in[latch]) {
		in[latch] = 1;
		stack[n++] = latch;
	}
	while (n) {
		const struct ws_ptx_block *b = &l->f->blocks[stack[--n]];

		for (uint32_t i = 0; i < b->npred; i++)
			if (!in[b->pred[i]] && reachable(l->f, b->pred[i])) {
				in[b->pred[i]] = 1;
				stack[n++] = b->pred[i];
			}
	}
}

/* All loops with this header are one. Headers are visited from the outermost in, so the last one to claim a block is
 * the innermost. */
static void find_loop(struct loops *l, uint32_t head, uint8_t *in, uint32_t *stack)
{
	const struct ws_ptx_block *h = &l->f->blocks[head];
	bool any = false;

	for (uint32_t b = 0; b < l->f->nblocks; b++)
		in[b] = 0;
	for (uint32_t i = 0; i < h->npred; i++)
		if (reachable(l->f, h->pred[i]) && dominates(l->f, head, h->pred[i])) {
			mark_loop(l, head, h->pred[i], in, stack);
			any = true;
		}
	if (!any)
		return;
	for (uint32_t b = 0; b < l->f->nblocks; b++)
		if (in[b]) {
			l->head[b] = head;
			l->depth[b]++;
		}
}

static bool has_back_edge(const struct ws_ptx_func *f, uint32_t b)
{
	for (uint32_t i = 0; i < f->blocks[b].npred; i++)
		if (is_back(f, f->blocks[b].pred[i], b))
			return true;
	return false;
}

static void find_loops(struct loops *l, const uint32_t *by_rpo, uint32_t n)
{
	uint8_t *in = ws_alloc(l->f->nblocks);
	uint32_t *stack = ws_alloc((l->f->nblocks + 1) * sizeof *stack);

	for (uint32_t i = 0; i < n; i++)
		if (has_back_edge(l->f, by_rpo[i]))
			find_loop(l, by_rpo[i], in, stack);
	free(in);
	free(stack);
}

/* Is b in the loop with that header (and in how many around it)? The number of loops that a and b share. */
static uint32_t shared_depth(const struct loops *l, uint32_t a, uint32_t b)
{
	uint32_t ha = l->head[a], hb = l->head[b];

	while (ha != hb) {
		uint32_t da = ha == WS_EXIT_BLOCK ? 0 : l->depth[ha], db = hb == WS_EXIT_BLOCK ? 0 : l->depth[hb];
		uint32_t *deeper = da >= db ? &ha : &hb;
		uint32_t up = l->f->blocks[*deeper].idom;

		if (*deeper == WS_EXIT_BLOCK)
			return 0;
		*deeper = up == *deeper || up == WS_EXIT_BLOCK ? WS_EXIT_BLOCK : l->head[up];
	}
	return ha == WS_EXIT_BLOCK ? 0 : l->depth[ha];
}

static uint32_t take_best(struct loops *l, uint32_t last)
{
	uint32_t best = 0, best_depth = 0;
	uint32_t block;

	for (uint32_t i = 0; i < l->nready; i++) {
		uint32_t d = shared_depth(l, last, l->ready[i]);

		if (!i || d > best_depth || (d == best_depth && l->ready[i] < l->ready[best])) {
			best = i;
			best_depth = d;
		}
	}
	block = l->ready[best];
	l->ready[best] = l->ready[--l->nready];
	return block;
}

static void place(struct loops *l, uint32_t b)
{
	const struct ws_ptx_block *k = &l->f->blocks[b];

	for (uint32_t i = 0; i < k->nsucc; i++)
		if (!is_back(l->f, b, k->succ[i]) && !--l->waits[k->succ[i]])
			l->ready[l->nready++] = k->succ[i];
}

static uint32_t count_waits(struct loops *l, uint32_t *by_rpo)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < l->f->nblocks; b++) {
		l->head[b] = WS_EXIT_BLOCK;
		if (!reachable(l->f, b))
			continue;
		n++;
		by_rpo[l->f->blocks[b].rpo] = b;
		for (uint32_t i = 0; i < l->f->blocks[b].nsucc; i++)
			if (!is_back(l->f, b, l->f->blocks[b].succ[i]))
				l->waits[l->f->blocks[b].succ[i]]++;
	}
	return n;
}

uint32_t ws_order_blocks(struct ws_ptx_func *f, uint32_t *order)
{
	size_t bytes = (f->nblocks + 1) * sizeof(uint32_t);
	struct loops l = {.f = f, .head = ws_alloc(bytes), .depth = ws_alloc(bytes), .waits = ws_alloc(bytes),
	                  .ready = ws_alloc(bytes)};
	uint32_t *by_rpo = ws_alloc(bytes);
	uint32_t n = count_waits(&l, by_rpo), done = 0;

	find_loops(&l, by_rpo, n);
	if (n)
		l.ready[l.nready++] = 0;
	while (l.nready) {
		uint32_t b = take_best(&l, done ? order[done - 1] : 0);

		order[done++] = b;
		place(&l, b);
	}
	free(l.head);
	free(l.depth);
	free(l.waits);
	free(l.ready);
	free(by_rpo);
	return done;
}
