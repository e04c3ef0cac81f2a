/* ptx_cfg.c - basic blocks, dominators and post-dominators of a function.
 *
 * Dominators: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the graph for dominators and on
 * the reversed graph, with one virtual exit behind all exits, for post-dominators. All walks keep their own stacks. */
#include "ptx/ptx_priv.h"

#include <stdlib.h>
#include <string.h>

/* A graph in two arrays: the neighbours of node n are to[first[n]] .. to[first[n + 1] - 1]. */
struct graph {
	uint32_t nodes;
	uint32_t *first, *to;
};

static bool ends_block(const struct ws_ptx_inst *i)
{
	return ws_op_info(i->op)->fx & (WS_FX_BRANCH | WS_FX_EXIT);
}

static bool is_exit(const struct ws_ptx_inst *i)
{
	return ws_op_info(i->op)->fx & WS_FX_EXIT;
}

/* The instructions that a branch may go to; calls fn for each. */
static void each_target(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, void (*fn)(void *, uint32_t),
			void *user)
{
	if (i->op == WS_OP_bra) {
		fn(user, f->labels[i->ops[0].label].inst);
	} else if (i->op == WS_OP_brx) {
		const struct ws_ptx_branch_table *t = &f->tables[i->ops[1].label];

		for (uint32_t k = 0; k < t->nlabels; k++)
			fn(user, f->labels[t->labels[k]].inst);
	}
}

/* ---- blocks ---- */
static void mark_leader(void *user, uint32_t inst)
{
	((uint8_t *)user)[inst] = 1;
}

static void make_blocks(struct ws_ptx_func *f)
{
	uint8_t *leader = ws_alloc((size_t)f->ninsts + 1);
	uint32_t n = 0;

	leader[0] = 1;
	for (uint32_t i = 0; i < f->ninsts; i++) {
		if (!ends_block(&f->insts[i]))
			continue;
		leader[i + 1] = 1;
		each_target(f, &f->insts[i], mark_leader, leader);
	}
	for (uint32_t i = 0; i < f->ninsts; i++)
		n += leader[i];
	f->nblocks = n;
	f->blocks = ws_arena_alloc(f->module->arena, n * sizeof *f->blocks);
	n = 0;
	for (uint32_t i = 0; i < f->ninsts; i++) {
		if (leader[i])
			f->blocks[n++].first = i;
		f->insts[i].block = n - 1;
		f->blocks[n - 1].last = i;
	}
	free(leader);
}

/* ---- edges ---- */
struct edges {
	struct ws_ptx_func *f;
	uint32_t *to;                    /* successors of the block at hand, without repeats */
	size_t n, cap;
	uint32_t *seen;                  /* block -> 1 + the last block that listed it */
	uint32_t from;
	bool exits;
};

static void add_successor(struct edges *e, uint32_t block)
{
	if (e->seen[block] == e->from + 1)
		return;
	e->seen[block] = e->from + 1;
	*WS_PUSH(e->to, e->n, e->cap) = block;
}

static void add_target(void *user, uint32_t inst)
{
	struct edges *e = user;

	if (inst >= e->f->ninsts)
		e->exits = true;         /* a label behind the last instruction */
	else
		add_successor(e, e->f->insts[inst].block);
}

/* Targets first, then the fall-through. */
static void successors(struct edges *e, uint32_t b)
{
	struct ws_ptx_func *f = e->f;
	const struct ws_ptx_inst *last = &f->insts[f->blocks[b].last];

	e->from = b;
	e->n = 0;
	e->exits = is_exit(last);
	each_target(f, last, add_target, e);
	if (!ends_block(last) || last->guard)
		add_target(e, f->blocks[b].last + 1);
}

/* Fills succ and pred of all blocks; exits[b]: b may end the thread or return. */
static void make_edges(struct ws_ptx_func *f, bool *exits)
{
	struct edges e = { .f = f, .seen = ws_alloc(f->nblocks * sizeof(uint32_t)) };

	for (uint32_t b = 0; b < f->nblocks; b++) {
		struct ws_ptx_block *k = &f->blocks[b];

		successors(&e, b);
		exits[b] = e.exits;
		k->nsucc = (uint32_t)e.n;
		k->succ = ws_arena_alloc(f->module->arena, e.n * sizeof *k->succ);
		if (e.n)
			memcpy(k->succ, e.to, e.n * sizeof *k->succ);
		for (uint32_t s = 0; s < k->nsucc; s++)
			f->blocks[k->succ[s]].npred++;
	}
	for (uint32_t b = 0; b < f->nblocks; b++) {
		struct ws_ptx_block *k = &f->blocks[b];

		k->pred = ws_arena_alloc(f->module->arena, k->npred * sizeof *k->pred);
		k->npred = 0;
	}
	for (uint32_t b = 0; b < f->nblocks; b++) {
		for (uint32_t s = 0; s < f->blocks[b].nsucc; s++) {
			struct ws_ptx_block *to = &f->blocks[f->blocks[b].succ[s]];

			to->pred[to->npred++] = b;
		}
	}
	free(e.to);
	free(e.seen);
}

/* ---- graphs ---- */
static void graph_free(struct graph *g)
{
	free(g->first);
	free(g->to);
}

/* Forward: successors. Backward: predecessors, and a node more, the exit, whose neighbours are the exiting blocks. */
static struct graph graph_of(const struct ws_ptx_func *f, const bool *exits, bool backward)
{
	uint32_t n = f->nblocks, at = 0;
	struct graph g = { .nodes = n + backward };

	for (uint32_t b = 0; b < n; b++)
		at += (backward ? f->blocks[b].npred : f->blocks[b].nsucc) + (backward && exits[b]);
	g.first = ws_alloc((g.nodes + 1) * sizeof *g.first);
	g.to = ws_alloc((at + 1) * sizeof *g.to);
	at = 0;
	for (uint32_t b = 0; b < n; b++) {
		uint32_t count = backward ? f->blocks[b].npred : f->blocks[b].nsucc;

		g.first[b] = at;
		memcpy(g.to + at, backward ? f->blocks[b].pred : f->blocks[b].succ, count * sizeof *g.to);
		at += count;
	}
	g.first[n] = at;
	if (backward) {
		for (uint32_t b = 0; b < n; b++)
			if (exits[b])
				g.to[at++] = b;
		g.first[n + 1] = at;
	}
	return g;
}

static struct graph reversed(const struct graph *g)
{
	uint32_t edges = g->first[g->nodes];
	struct graph r = { .nodes = g->nodes };

	r.first = ws_alloc((g->nodes + 2) * sizeof *r.first);
	r.to = ws_alloc((edges + 1) * sizeof *r.to);
	for (uint32_t e = 0; e < edges; e++)
		r.first[g->to[e] + 2]++;
	for (uint32_t n = 0; n < g->nodes; n++)
		r.first[n + 2] += r.first[n + 1];
	for (uint32_t n = 0; n < g->nodes; n++)
		for (uint32_t e = g->first[n]; e < g->first[n + 1]; e++)
			r.to[r.first[g->to[e] + 1]++] = n;
	return r;
}

/* Post-order numbers from 0; UINT32_MAX for nodes that cannot be reached. Returns how many were; order[] lists them. */
static uint32_t post_order(const struct graph *g, uint32_t root, uint32_t *number, uint32_t *order)
{
	uint32_t *stack = ws_alloc((g->nodes + 1) * sizeof *stack), *next = ws_alloc((g->nodes + 1) * sizeof *next);
	uint32_t depth = 0, n = 0;

	for (uint32_t i = 0; i < g->nodes; i++)
		number[i] = UINT32_MAX;
	stack[depth++] = root;
	number[root] = UINT32_MAX - 1;
	next[root] = g->first[root];
	while (depth) {
		uint32_t at = stack[depth - 1];

		if (next[at] == g->first[at + 1]) {
			order[n] = at;
			number[at] = n++;
			depth--;
			continue;
		}
		uint32_t to = g->to[next[at]++];

		if (number[to] == UINT32_MAX) {
			number[to] = UINT32_MAX - 1;
			next[to] = g->first[to];
			stack[depth++] = to;
		}
	}
	free(stack);
	free(next);
	return n;
}

/* ---- dominators ---- */
static uint32_t intersect(const uint32_t *idom, const uint32_t *number, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (number[a] < number[b])
			a = idom[a];
		while (number[b] < number[a])
			b = idom[b];
	}
	return a;
}

/* idom[n] for every node that root reaches (root: itself); WS_EXIT_BLOCK for the others. */
static void dominators(const struct graph *g, uint32_t root, uint32_t *idom, uint32_t *number, uint32_t *order)
{
	uint32_t n = post_order(g, root, number, order);
	struct graph pred = reversed(g);
	bool changed = true;

	for (uint32_t i = 0; i < g->nodes; i++)
		idom[i] = WS_EXIT_BLOCK;
	idom[root] = root;
	while (changed) {
		changed = false;
		for (uint32_t k = n; k-- > 0;) {
			uint32_t at = order[k], best = WS_EXIT_BLOCK;

			for (uint32_t e = pred.first[at]; at != root && e < pred.first[at + 1]; e++)
				if (idom[pred.to[e]] != WS_EXIT_BLOCK)
					best = best == WS_EXIT_BLOCK ? pred.to[e]
								     : intersect(idom, number, best, pred.to[e]);
			if (at != root && idom[at] != best) {
				idom[at] = best;
				changed = true;
			}
		}
	}
	graph_free(&pred);
}

static void number_blocks(struct ws_ptx_func *f, const uint32_t *number, uint32_t reached)
{
	uint32_t last = reached;

	for (uint32_t b = 0; b < f->nblocks; b++)
		f->blocks[b].rpo = number[b] == UINT32_MAX ? last++ : reached - 1 - number[b];
}

static uint32_t count_reached(const uint32_t *number, uint32_t n)
{
	uint32_t reached = 0;

	for (uint32_t i = 0; i < n; i++)
		reached += number[i] != UINT32_MAX;
	return reached;
}

void ws_ptx_cfg(struct ws_ptx_func *f)
{
	uint32_t n, *idom, *number, *order;
	struct graph g;
	bool *exits;

	if (f->blocks || !f->ninsts)
		return;
	make_blocks(f);
	n = f->nblocks;
	exits = ws_alloc(n * sizeof *exits);
	idom = ws_alloc((n + 1) * 3 * sizeof *idom);
	number = idom + n + 1;
	order = number + n + 1;
	make_edges(f, exits);

	g = graph_of(f, exits, false);
	dominators(&g, 0, idom, number, order);
	for (uint32_t b = 0; b < n; b++)
		f->blocks[b].idom = idom[b];
	number_blocks(f, number, count_reached(number, n));
	graph_free(&g);

	g = graph_of(f, exits, true);
	dominators(&g, n, idom, number, order);
	for (uint32_t b = 0; b < n; b++)
		f->blocks[b].ipdom = idom[b] == n ? WS_EXIT_BLOCK : idom[b];
	graph_free(&g);
	free(exits);
	free(idom);
}

/* Notes what control comes to from a block, until it comes to block `to`: then true. */
static bool walk(const struct ws_ptx_func *f, uint32_t from, uint32_t to, const bool *closed, bool *seen)
{
	uint32_t *stack = ws_alloc((f->nblocks + 1) * sizeof *stack), depth = 0;
	bool found = false;

	stack[depth++] = from;
	while (depth && !found) {
		uint32_t at = stack[--depth];
		const struct ws_ptx_block *b = &f->blocks[at];

		for (uint32_t k = 0; k < b->nsucc && !(closed && closed[at]); k++) {
			found |= b->succ[k] == to;
			if (!seen[b->succ[k]])
				stack[depth++] = b->succ[k];
			seen[b->succ[k]] = true;
		}
	}
	free(stack);
	return found;
}

void ws_ptx_blocks_reached(const struct ws_ptx_func *f, uint32_t from, bool *seen)
{
	walk(f, from, UINT32_MAX, NULL, seen);
}

bool ws_ptx_block_reaches(const struct ws_ptx_func *f, uint32_t from, uint32_t to, const bool *closed)
{
	bool *seen = ws_alloc(f->nblocks + 1), found = walk(f, from, to, closed, seen);

	free(seen);
	return found;
}
