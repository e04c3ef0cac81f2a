/* reconverge.c - where the threads of a warp meet again after a branch (used by the stack model).
 *
 * The immediate post-dominator is the answer for functions whose paths all end at one place. A path that ends the
 * thread (an early exit) is no reason not to meet: those threads are gone. With post-dominators alone, one `if (...)
 * return;` inside a branch would keep a warp apart until its end, and the barriers after it would see half warps.
 * So post-dominators are computed here towards the ends that count: in a function its returns, in a kernel the one
 * end that most blocks lead to; other ends do not take part. The algorithm is that of (Cooper, Harvey, Kennedy, "A
 * simple, fast dominance algorithm", 2001) on the reversed graph. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>

#define UNKNOWN (UINT32_MAX - 1)

struct meet {
	struct ws_ptx_func *f;
	uint32_t n;                  /* blocks; the number of the virtual block after all ends */
	uint32_t *post;              /* reverse graph: blocks in post-order, then their positions */
	uint32_t *position;
	uint32_t npost;
	uint32_t *dom;
	bool *is_end;
};

static const struct ws_ptx_inst *last_of(const struct ws_ptx_func *f, uint32_t block)
{
	return &f->insts[f->blocks[block].last];
}

/* Threads that come to the end of this block, which has no successor, are gone: exit, trap, a call that does not come
 * back. */
static bool ends_thread(const struct ws_ptx_func *f, uint32_t block)
{
	const struct ws_ptx_inst *in = last_of(f, block);

	return in->op == WS_OP_exit || in->op == WS_OP_trap || in->op == WS_OP_call;
}

/* ... and a kernel can end well there. */
static bool ends_kernel(const struct ws_ptx_func *f, uint32_t block)
{
	return !f->blocks[block].nsucc && (!ends_thread(f, block) || last_of(f, block)->op == WS_OP_exit);
}

/* Marks and counts the blocks that lead to `end`; in_order: also puts them into post-order. */
static uint32_t walk_back(struct meet *m, uint32_t end, bool *seen, bool in_order)
{
	struct step { uint32_t block, next; } *stack = ws_alloc((m->n + 1) * sizeof *stack);
	uint32_t depth = 0, count = 0;

	if (!seen[end]) {
		seen[end] = true;
		stack[depth++] = (struct step){end, 0};
	}
	while (depth) {
		struct step *s = &stack[depth - 1];
		const struct ws_ptx_block *b = &m->f->blocks[s->block];

		if (s->next < b->npred) {
			uint32_t p = b->pred[s->next++];

			if (!seen[p]) {
				seen[p] = true;
				stack[depth++] = (struct step){p, 0};
			}
			continue;
		}
		count++;
		if (in_order) {
			m->position[s->block] = m->npost;
			m->post[m->npost++] = s->block;
		}
		depth--;
	}
	free(stack);
	return count;
}

static uint32_t main_end(struct meet *m)
{
	uint32_t best = UNKNOWN, most = 0;

	for (uint32_t b = 0; b < m->n; b++) {
		bool *seen;
		uint32_t count;

		if (!ends_kernel(m->f, b))
			continue;
		seen = ws_alloc(m->n);
		count = walk_back(m, b, seen, false);
		free(seen);
		if (count >= most) {
			most = count;
			best = b;
		}
	}
	return best;
}

static void find_ends(struct meet *m)
{
	uint32_t only = m->f->entry ? main_end(m) : UNKNOWN;

	for (uint32_t b = 0; b < m->n; b++)
		if (!m->f->blocks[b].nsucc)
			m->is_end[b] = m->f->entry ? b == only : !ends_thread(m->f, b);
}

static uint32_t intersect(const struct meet *m, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (a != m->n && (b == m->n || m->position[a] < m->position[b]))
			a = m->dom[a];
		while (b != m->n && (a == m->n || m->position[b] < m->position[a]))
			b = m->dom[b];
	}
	return a;
}

static bool improve(struct meet *m, uint32_t block)
{
	const struct ws_ptx_block *b = &m->f->blocks[block];
	uint32_t d = m->is_end[block] ? m->n : UNKNOWN;

	for (uint32_t i = 0; i < b->nsucc; i++) {
		uint32_t s = b->succ[i];

		if (m->dom[s] != UNKNOWN)        /* else it leads to no end that counts, or is not known yet */
			d = d == UNKNOWN ? s : intersect(m, d, s);
	}
	if (d == UNKNOWN || m->dom[block] == d)
		return false;
	m->dom[block] = d;
	return true;
}

static void dominate(struct meet *m)
{
	bool *seen = ws_alloc(m->n + 1), changed = true;

	for (uint32_t b = 0; b < m->n; b++) {
		m->dom[b] = UNKNOWN;
		if (m->is_end[b])
			walk_back(m, b, seen, true);
	}
	while (changed) {
		changed = false;
		for (uint32_t i = m->npost; i--;)
			changed |= improve(m, m->post[i]);
	}
	free(seen);
}

uint32_t *ws_meeting_blocks(struct ws_ptx_func *f)
{
	struct meet m = {.f = f, .n = f->nblocks};
	uint32_t *meets = ws_alloc((m.n + 1) * sizeof *meets);

	m.post = ws_alloc((m.n + 1) * sizeof *m.post);
	m.position = ws_alloc((m.n + 1) * sizeof *m.position);
	m.dom = ws_alloc((m.n + 1) * sizeof *m.dom);
	m.is_end = ws_alloc(m.n + 1);
	find_ends(&m);
	dominate(&m);
	for (uint32_t b = 0; b < m.n; b++)
		meets[b] = m.dom[b] == UNKNOWN ? f->blocks[b].ipdom : m.dom[b] == m.n ? WS_EXIT_BLOCK : m.dom[b];
	free(m.post);
	free(m.position);
	free(m.dom);
	free(m.is_end);
	return meets;
}
