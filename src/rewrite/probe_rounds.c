/* probe_rounds.c - loops of a kernel of which two rounds tell for all.
 *
 * Let a loop have one block at its end that leads back, and a barrier of the block on every way through it. Let nothing that is
 * needed for accesses, barriers, waits for copies and conditions go on from round to round: no such register that a round writes
 * is live where rounds begin. Then all rounds make the same accesses between the same barriers. Two accesses that no
 * barrier orders are of one round or of two that follow each other, and those of what comes before the loop and behind it of the
 * first and the last one. So a probe that makes two rounds makes each such pair.
 *
 * Asynchronous copies: which wait completes a copy depends on how many groups the thread has committed since; as many in each round,
 * so the distance is the same in all rounds. Where the copy of one round is not before that of the next one, which writes the same
 * bytes, the probe finds that; else what is ordered with the later copy is so with the earlier one.
 *
 * How many rounds there are, where that is known, must be the same in all threads, and must not depend on how often another such loop
 * has gone round. Then the probe makes that many, two at most. Where it is not known, but the same in all threads of a block, it makes
 * two: one round alone lies between the same barriers, and nothing less comes from it. Else there must be no access or barrier behind the
 * loop: then it makes two, and threads that have gone round less often have ended (probe.c). If threads were at different barriers
 * at a time, rounds of different loops could meet: no branch whose condition is another in other threads may decide about barriers. */
#include "rewrite/needless.h"
#include "rewrite/probe.h"

#include <stdlib.h>
#include <string.h>

/* ---- what may be different in threads of a block ---- */
struct varying { struct ws_probe *p; bool *varies, from, changed, by_barriers; };

static bool is_of_thread(unsigned sreg)
{
	return !(sreg >= WS_SR_NTID_X && sreg <= WS_SR_NTID_Z) && !(sreg >= WS_SR_CTAID_X && sreg <= WS_SR_NCTAID_Z);
}

/* May a thread order what it does with other threads by anything but barriers of all threads and syncs of its warp? */
static bool orders_otherwise(const struct ws_ptx_inst *i)
{
	unsigned fx = ws_op_info(i->op)->fx;

	if (fx & WS_FX_BARRIER)
		return i->mode != WS_MODE_WARP_SYNC && (i->mode == WS_MODE_ARRIVE || i->mode == WS_MODE_OTHER || !ws_rw_names_no_count(i));
	if (fx & (WS_FX_READ | WS_FX_WRITE | WS_FX_ATOMIC) && !(fx & (WS_FX_SYNC | WS_FX_ASYNC)))
		return i->mode == WS_MODE_OTHER || ws_ptx_order(i).sem > WS_SEM_RELAXED;
	return fx & (WS_FX_FENCE | WS_FX_CALL | WS_FX_SYNC | WS_FX_ASYNC) || i->op == WS_OP_unknown;
}

static bool orders_by_barriers(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (orders_otherwise(&f->insts[k]))
			return false;
	return true;
}

/* Loads of one address give the same in all threads, if nobody writes there; or if they are in one interval between barriers and nothing else orders
 * threads: who wrote there meanwhile would have a race with one of them, which the check of this load tells. */
static bool loads_alike(const struct varying *v, const struct ws_ptx_inst *i)
{
	if (i->op != WS_OP_ld || i->nops != 2)
		return false;
	return i->flags & WS_F_NC || (v->by_barriers && ws_ptx_order(i).sem == WS_SEM_WEAK && i->mode != WS_MODE_OTHER &&
	                              (i->space == WS_SPACE_GLOBAL || i->space == WS_SPACE_SHARED || i->space == WS_SPACE_CONST));
}

/* But for the registers that it uses. */
static bool gives_varying(const struct varying *v, const struct ws_ptx_inst *i)
{
	if (!ws_probe_computes(v->p, i) && !loads_alike(v, i))
		return true;
	for (unsigned k = 0; k < i->nops; k++)
		if (i->ops[k].kind == WS_O_SREG && is_of_thread(i->ops[k].sreg_or_count))
			return true;
	return false;
}

static void use_varying(void *user, struct ws_reg *r, bool is_def)
{
	struct varying *v = user;

	v->from |= !is_def && v->varies[r->index];
}

static void make_varying(void *user, struct ws_reg *r, bool is_def)
{
	struct varying *v = user;

	v->changed |= is_def && !v->varies[r->index];
	v->varies[r->index] |= is_def;
}

static void vary_by_values(struct varying *v)
{
	for (uint32_t k = 0; k < v->p->f->ninsts; k++) {
		const struct ws_ptx_inst *i = &v->p->f->insts[k];

		v->from = gives_varying(v, i);
		ws_ptx_inst_regs(i, use_varying, v);
		if (v->from)
			ws_ptx_inst_regs(i, make_varying, v);
	}
}

/* Does a thread that comes there do nothing more? */
static bool ends(const struct ws_probe *p, uint32_t block)
{
	const struct ws_ptx_inst *i = block != WS_EXIT_BLOCK ? &p->f->insts[p->f->blocks[block].first] : NULL;

	return !i || (ws_op_info(i->op)->fx & WS_FX_EXIT && !i->guard);
}

uint8_t *ws_probe_divided(const struct ws_probe *p, const bool *varies, uint32_t b)
{
	bool all = !p->when[b] || !varies[p->when[b]->index] || ends(p, p->next[b][0]) || ends(p, p->next[b][1]);

	return all ? NULL : ws_probe_region(p, b);
}

/* What is written under a condition that varies. */
static void vary_by_branches(struct varying *v)
{
	for (uint32_t b = 0; b < v->p->f->nblocks; b++) {
		uint8_t *marks = ws_probe_divided(v->p, v->varies, b);

		for (uint32_t k = 0; marks && k < v->p->f->ninsts; k++)
			if (marks[v->p->f->insts[k].block])
				ws_ptx_inst_regs(&v->p->f->insts[k], make_varying, v);
		free(marks);
	}
}

static bool *find_varying(struct ws_probe *p)
{
	struct varying v = { .p = p, .varies = ws_alloc(p->f->nregs + 1), .changed = true, .by_barriers = orders_by_barriers(p->f) };

	for (uint32_t k = 0; k < p->f->nregs; k++)
		v.varies[k] = p->data[k] == p->f->insts;         /* it is never written */
	while (v.changed) {
		v.changed = false;
		vary_by_values(&v);
		vary_by_branches(&v);
	}
	return v.varies;
}

static bool is_block_barrier(const struct ws_ptx_inst *i)
{
	return i->mode != WS_MODE_WARP_SYNC && ws_probe_is_barrier(i);
}

static bool has_block_barrier(const struct ws_probe *p, uint32_t b)
{
	for (uint32_t k = p->f->blocks[b].first; k <= p->f->blocks[b].last; k++)
		if (is_block_barrier(&p->f->insts[k]))
			return true;
	return false;
}

static bool has_barrier(const struct ws_probe *p, const uint8_t *marks)
{
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		if (marks[b] && has_block_barrier(p, b))
			return true;
	return false;
}

struct barriers { uint8_t *at, *behind; };       /* by instruction: it is one of the block; one may be executed behind it */

static struct barriers find_barriers(const struct ws_probe *p)
{
	struct barriers b = { ws_alloc(p->f->ninsts + 1), ws_alloc(p->f->ninsts + 1) };

	for (uint32_t k = 0; k < p->f->ninsts; k++)
		b.at[k] = is_block_barrier(&p->f->insts[k]);
	ws_find_after(p->f, b.at, NULL, NULL, b.behind);
	return b;
}

/* Does a thread come to a barrier, if it goes on with the block? */
static bool comes_to_barrier(const struct ws_probe *p, const struct barriers *b, uint32_t block)
{
	uint32_t first = block != WS_EXIT_BLOCK ? p->f->blocks[block].first : 0;

	return block != WS_EXIT_BLOCK && (b->at[first] || b->behind[first]);
}

/* Does what varies decide about a barrier, other than by ending threads? */
static bool barriers_vary(const struct ws_probe *p, const bool *varies)
{
	struct barriers at = find_barriers(p);
	bool any = false;

	for (uint32_t k = 0; k < p->f->ninsts; k++)
		any |= at.at[k] && p->f->insts[k].guard && varies[p->f->insts[k].guard->index];
	for (uint32_t b = 0; b < p->f->nblocks && !any; b++) {
		uint8_t *marks = p->when[b] && varies[p->when[b]->index] ? ws_probe_region(p, b) : NULL;

		any = marks && has_barrier(p, marks) && comes_to_barrier(p, &at, p->next[b][0]) && comes_to_barrier(p, &at, p->next[b][1]);
		free(marks);
	}
	free(at.at);
	free(at.behind);
	return any;
}

bool *ws_probe_varying(struct ws_probe *p)
{
	bool *varies = find_varying(p);

	if (barriers_vary(p, varies)) {
		free(varies);
		return NULL;
	}
	return varies;
}

/* ---- loops ---- */
unsigned ws_probe_loop_side(const struct ws_probe *p, uint32_t b)
{
	return p->when[b] && p->next[b][1] != WS_EXIT_BLOCK && ws_rw_dominates(p->f, p->next[b][1], b);
}

uint32_t ws_probe_loop_begin(const struct ws_probe *p, uint32_t b)
{
	return p->next[b][ws_probe_loop_side(p, b)];
}

/* The blocks from which b is reached without its loop's begin. */
static uint8_t *blocks_of_loop(const struct ws_probe *p, uint32_t b)
{
	uint8_t *in = ws_alloc(p->f->nblocks + 1);
	bool changed = true;

	in[b] = in[ws_probe_loop_begin(p, b)] = 1;
	while (changed) {
		changed = false;
		for (uint32_t a = 0; a < p->f->nblocks; a++)
			for (unsigned k = 0; k < (p->when[a] ? 2u : 1u) && !in[a]; k++) {
				uint32_t to = p->next[a][k];

				changed |= in[a] = to != WS_EXIT_BLOCK && in[to] && to != ws_probe_loop_begin(p, b);
			}
	}
	return in;
}

/* A way from the block on to the loop's end without a barrier? */
static bool has_way_round(const struct ws_probe *p, const uint8_t *in, uint32_t end, uint32_t from, bool *seen)
{
	if (from == WS_EXIT_BLOCK || !in[from] || seen[from] || has_block_barrier(p, from))
		return false;
	seen[from] = true;
	return from == end || has_way_round(p, in, end, p->next[from][0], seen) ||
	       (p->when[from] && has_way_round(p, in, end, p->next[from][1], seen));
}

/* One block leads back to the begin, and only the begin is entered. */
static bool is_simple(const struct ws_probe *p, const uint8_t *in, uint32_t end)
{
	uint32_t begin = ws_probe_loop_begin(p, end), exit = p->next[end][!ws_probe_loop_side(p, end)];

	if (exit != WS_EXIT_BLOCK && in[exit])
		return false;
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		for (unsigned k = 0; k < (p->when[b] ? 2u : 1u); k++) {
			uint32_t to = p->next[b][k];

			if (to != WS_EXIT_BLOCK && in[to] && (in[b] ? to == begin && b != end : to != begin))
				return false;
		}
	return true;
}

bool ws_probe_has_copies(const struct ws_probe *p)
{
	for (uint32_t k = 0; k < p->f->ninsts; k++)
		if (p->f->insts[k].op == WS_OP_cp && p->access[k])
			return true;
	return false;
}

/* A thread that has ended does not wait for its copies. */
static bool may_vary(const struct ws_probe *p, uint32_t b)
{
	return p->data[p->when[b]->index] && !ws_probe_has_copies(p);
}

static uint8_t *loop_at(const struct ws_probe *p, uint32_t b, const bool *varies)
{
	uint32_t begin = p->when[b] ? ws_probe_loop_begin(p, b) : WS_EXIT_BLOCK;
	uint8_t *in;
	bool *seen;

	if (begin == WS_EXIT_BLOCK || !ws_rw_dominates(p->f, begin, b) || (varies[p->when[b]->index] && !may_vary(p, b)))
		return NULL;
	in = blocks_of_loop(p, b);
	seen = ws_alloc((p->f->nblocks + 1) * sizeof *seen);
	if (!is_simple(p, in, b) || has_way_round(p, in, b, begin, seen)) {
		free(in);
		in = NULL;
	}
	free(seen);
	return in;
}

/* ---- what goes on from round to round ---- */
struct carrying { const struct ws_probe *p; const uint64_t *live; bool any; };

static void is_carried(void *user, struct ws_reg *r, bool is_def)
{
	struct carrying *c = user;

	c->any |= is_def && c->p->needed[r->index] && c->live[r->index / 64] >> (r->index & 63) & 1;
}

static bool carries_needed(const struct ws_probe *p, uint32_t b)
{
	struct carrying c = { p, p->f->blocks[ws_probe_loop_begin(p, b)].live_in, false };

	for (uint32_t k = 0; k < p->f->ninsts; k++)
		if (p->loop[b][p->f->insts[k].block])
			ws_ptx_inst_regs(&p->f->insts[k], is_carried, &c);
	return c.any;
}

static void begin_anew(struct ws_probe *p)
{
	memset(p->needed, 0, (p->f->nregs + 1) * sizeof *p->needed);
	memset(p->kept, 0, (p->f->ninsts + 1) * sizeof *p->kept);
	memset(p->with_only, 0, (p->f->nblocks + 1) * sizeof *p->with_only);
}

static bool leave_out(struct ws_probe *p, uint32_t b)
{
	free(p->loop[b]);
	p->loop[b] = NULL;
	return true;
}

static bool leave_out_carrying(struct ws_probe *p)
{
	bool any = false;

	begin_anew(p);
	ws_probe_need_events(p);
	ws_probe_close(p);
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		any |= p->loop[b] && carries_needed(p, b) && leave_out(p, b);
	return any;
}

/* Loops of which the number of rounds depends on how often another one has gone round. */
static bool leave_out_counting(struct ws_probe *p)
{
	for (uint32_t b = 0; b < p->f->nblocks; b++) {
		if (!p->loop[b] || p->data[p->when[b]->index])
			continue;
		begin_anew(p);
		ws_probe_need(p, p->when[b]);
		ws_probe_close(p);
		for (uint32_t other = 0; other < p->f->nblocks; other++)
			if (other != b && p->loop[other] && carries_needed(p, other))
				return leave_out(p, other);
	}
	return false;
}

void ws_probe_find_rounds(struct ws_probe *p)
{
	bool aligned, any = false;

	p->varies = find_varying(p);
	aligned = !barriers_vary(p, p->varies);
	for (uint32_t b = 0; b < p->f->nblocks && aligned; b++)
		any |= (p->loop[b] = loop_at(p, b, p->varies)) != NULL;
	while (any && (leave_out_carrying(p) || leave_out_counting(p)))
		continue;
	begin_anew(p);
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		if (p->loop[b] && !p->data[p->when[b]->index])
			ws_probe_need(p, p->when[b]);
}
