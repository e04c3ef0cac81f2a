/* meeting.c - do all threads that arrive at mbarrier objects wait for the phase's end at once, as by cuda::barrier's arrive_and_wait()?
 *
 *     mbarrier.arrive.shared.b64 token, [object];
 *     loop: mbarrier.try_wait.shared.b64 p, [object], token;
 *     @!p bra loop;
 *
 * On all ways from the arrival on the thread comes to a wait for that token, and does nothing before it has seen the phase end that others
 * could see: no access, no barrier, no call. If that is so of each arrival of a kernel, a thread arrives once in a phase, and so a phase
 * that as many arrivals end as the block has threads is a barrier of the block (device/race_meeting.cuh): how many there are is known when the
 * object begins.
 *
 * Whether the phase has ended is looked up in the code behind the wait: what is computed of its predicate, up to the branch. */
#include "rewrite/meeting.h"
#include "rewrite/async.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 4, MOST_KNOWN = 8, MOST_WORK = 100000 };

struct known { const struct ws_reg *r; uint64_t value; };

/* At a place of the code, on a way from an arrival on. */
struct way {
	const struct ws_reg *tokens[MOST_TOKENS];        /* have its token; NULL = free */
	struct known known[MOST_KNOWN];                  /* by the outcome of the last wait; r NULL = free */
};

struct ws_meetings {
	const struct ws_ptx_func *f;
	uint8_t *visible;                /* by instruction: others could see what it does */
	uint8_t *waits;                  /* ... it is a wait, and a way from an arrival on comes to it */
	struct way *seen;                /* by block: how the ways came to it, from this arrival on */
	bool *came;
	uint32_t *todo, ntodo, work;     /* blocks */
};

/* ---- what is known on the way ---- */
static struct known *find_known(struct way *w, const struct ws_reg *r)
{
	for (unsigned k = 0; k < MOST_KNOWN; k++)
		if (r && w->known[k].r == r)
			return &w->known[k];
	return NULL;
}

static void know(struct way *w, const struct ws_reg *r, uint64_t value)
{
	for (unsigned k = 0; k < MOST_KNOWN; k++)
		if (!w->known[k].r) {
			w->known[k] = (struct known){ r, value };
			return;
		}
}

static bool has_token(const struct way *w, const struct ws_reg *r)
{
	for (unsigned k = 0; k < MOST_TOKENS; k++)
		if (r && w->tokens[k] == r)
			return true;
	return false;
}

static void add_token(struct way *w, const struct ws_reg *r)
{
	for (unsigned k = 0; k < MOST_TOKENS; k++)
		if (!w->tokens[k]) {
			w->tokens[k] = r;
			return;
		}
}

static void forget(void *user, struct ws_reg *r, bool is_def)
{
	struct way *w = user;

	for (unsigned k = 0; is_def && k < MOST_TOKENS; k++)
		if (w->tokens[k] == r)
			w->tokens[k] = NULL;
	for (unsigned k = 0; is_def && k < MOST_KNOWN; k++)
		if (w->known[k].r == r)
			w->known[k].r = NULL;
}

/* Of a register, with a `!` before it, or a number. */
static bool value_of(struct way *w, const struct ws_operand *o, uint64_t *value)
{
	const struct known *k = o->kind == WS_O_REG && !o->component ? find_known(w, o->reg) : NULL;

	if (k)
		*value = o->negated ? !k->value : k->value;
	else
		*value = o->imm;
	return k || o->kind == WS_O_INT;
}

/* What compilers compute of a predicate before they branch: selp, setp with a number, not. */
static bool computes(struct way *w, const struct ws_ptx_inst *i, uint64_t *value)
{
	uint64_t a, b;

	if (i->guard || i->nops < 2 || i->ops[0].kind != WS_O_REG || i->ops[0].component)
		return false;
	if (i->op == WS_OP_selp && i->nops == 4 && value_of(w, &i->ops[3], &a))
		return value_of(w, &i->ops[a ? 1 : 2], value);
	if (i->op == WS_OP_setp && i->nops == 3 && (i->cmp == WS_EQ || i->cmp == WS_NE) && value_of(w, &i->ops[1], &a) &&
	    value_of(w, &i->ops[2], &b)) {
		*value = (a == b) == (i->cmp == WS_EQ);
		return true;
	}
	if (!value_of(w, &i->ops[1], &a) || i->nops != 2)
		return false;
	*value = i->op == WS_OP_not ? !a : a;
	return i->op == WS_OP_mov || (i->op == WS_OP_not && i->type[0] == WS_PRED);
}

/* The way goes on behind the instruction. */
static void pass(struct way *w, const struct ws_ptx_inst *i)
{
	uint64_t value = 0;
	bool is = computes(w, i, &value), copies = i->op == WS_OP_mov && !i->guard && i->ops[1].kind == WS_O_REG && has_token(w, i->ops[1].reg);

	ws_ptx_inst_regs(i, forget, w);
	if (copies)
		add_token(w, i->ops[0].reg);
	else if (is)
		know(w, i->ops[0].reg, value);
}

/* ---- where it goes ---- */
enum { NOWHERE = UINT32_MAX, EITHER = UINT32_MAX - 1 };

static uint32_t block_of(const struct ws_ptx_func *f, uint32_t inst)
{
	return inst < f->ninsts ? f->insts[inst].block : NOWHERE;
}

/* The one block that comes next; EITHER: that is not known. */
static uint32_t next_block(const struct ws_meetings *m, struct way *w, uint32_t block)
{
	const struct ws_ptx_block *b = &m->f->blocks[block];
	const struct ws_ptx_inst *last = &m->f->insts[b->last];
	const struct known *k = find_known(w, last->guard);

	if (!last->guard || last->op != WS_OP_bra)
		return b->nsucc == 1 ? b->succ[0] : b->nsucc ? EITHER : NOWHERE;
	if (!k)
		return EITHER;
	return block_of(m->f, !k->value == last->guard_neg ? m->f->labels[last->ops[0].label].inst : b->last + 1);
}

static bool has_any(const struct way *w)
{
	for (unsigned k = 0; k < MOST_KNOWN; k++)
		if (w->known[k].r)
			return true;
	return false;
}

static bool is_wait(const struct ws_meetings *m, const struct way *w, uint32_t k)
{
	const struct ws_ptx_inst *i = &m->f->insts[k];

	return ws_rw_async(m->f, i) == WS_RW_OBJECT_WAIT && !ws_ptx_says(m->f, i, ".parity") && !i->guard && i->ops[0].kind == WS_O_REG &&
	       i->ops[2].kind == WS_O_REG && has_token(w, i->ops[2].reg);
}

/* From behind a wait that has seen the phase end: does the way come to a branch of which that is known, and to nothing that others could see? */
static bool comes_out(struct ws_meetings *m, struct way w, uint32_t k)
{
	uint32_t block = m->f->insts[k - 1].block, next;

	while (m->work++ < MOST_WORK) {
		for (; k <= m->f->blocks[block].last; k++) {
			if (m->visible[k] || is_wait(m, &w, k))
				return false;
			pass(&w, &m->f->insts[k]);
		}
		next = next_block(m, &w, block);
		if (next == NOWHERE || next == EITHER)
			return false;
		if (m->f->blocks[block].nsucc > 1)
			return true;
		block = next;
		k = m->f->blocks[block].first;
	}
	return false;
}

/* A block to go on with; where two ways meet, both must know the same of the token. */
static bool come(struct ws_meetings *m, struct way *w, uint32_t block)
{
	if (block == NOWHERE)
		return false;
	memset(w->known, 0, sizeof w->known);
	if (m->came[block])
		return memcmp(m->seen[block].tokens, w->tokens, sizeof w->tokens) == 0;
	m->came[block] = true;
	m->seen[block] = *w;
	m->todo[m->ntodo++] = block;
	return true;
}

static bool leave(struct ws_meetings *m, struct way *w, uint32_t block)
{
	const struct ws_ptx_block *b = &m->f->blocks[block];
	uint32_t next = next_block(m, w, block);
	bool whole = next != EITHER || !has_any(w);

	if (next != EITHER)
		return come(m, w, next);
	for (uint32_t k = 0; k < b->nsucc && whole; k++)
		whole = come(m, w, b->succ[k]);
	return whole;
}

/* From an instruction on to the end of its block, in a thread that has not seen the phase end. */
static bool go_on(struct ws_meetings *m, struct way w, uint32_t block, uint32_t k)
{
	for (; k <= m->f->blocks[block].last; k++) {
		const struct ws_ptx_inst *i = &m->f->insts[k];
		struct way ended = w;

		if (m->work++ >= MOST_WORK)
			return false;
		if (!is_wait(m, &w, k)) {
			if (m->visible[k])
				return false;
			pass(&w, i);
			continue;
		}
		m->waits[k] = 1;
		pass(&w, i);
		pass(&ended, i);
		know(&w, i->ops[0].reg, 0);
		know(&ended, i->ops[0].reg, 1);
		if (!comes_out(m, ended, k + 1))
			return false;
	}
	return leave(m, &w, block);
}

/* ---- the arrivals ---- */
/* A register that holds that number wherever it is read. */
static bool is_always(const struct ws_ptx_func *f, const struct ws_operand *o, uint64_t number)
{
	uint32_t n = 0;

	if (o->kind == WS_O_INT)
		return o->imm == number;
	for (uint32_t k = 0; k < f->ninsts && o->kind == WS_O_REG; k++) {
		const struct ws_ptx_inst *i = &f->insts[k];

		if (!ws_ptx_sets(i, o->reg))
			continue;
		if (i->op != WS_OP_mov || i->nops != 2 || i->ops[1].kind != WS_O_INT || i->ops[1].imm != number)
			return false;
		n++;
	}
	return n > 0;
}

/* One arrival, of which the token is kept. (Of arrive.expect_tx the number is that of bytes.) */
static bool arrives_once(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	if (i->guard || i->ops[0].kind != WS_O_REG || i->sem == WS_SEM_RELAXED || ws_ptx_says(f, i, ".noComplete") || ws_ptx_says(f, i, "arrive_drop"))
		return false;
	return i->nops == 2 || ws_ptx_says(f, i, ".expect_tx") || (i->nops == 3 && is_always(f, &i->ops[2], 1));
}

static bool meets(struct ws_meetings *m, const struct ws_ptx_inst *i)
{
	struct way w = { .tokens = { i->ops[0].reg } };

	if (!arrives_once(m->f, i))
		return false;
	memset(m->came, 0, m->f->nblocks);
	m->ntodo = 0;
	if (!go_on(m, w, i->block, i->index + 1))
		return false;
	while (m->ntodo) {
		uint32_t block = m->todo[--m->ntodo];

		if (!go_on(m, m->seen[block], block, m->f->blocks[block].first))
			return false;
	}
	return true;
}

/* What ends a phase earlier, or waits for one in another way, is none of these. */
static bool is_known(const struct ws_meetings *m, const struct ws_ptx_inst *i)
{
	switch (ws_rw_async(m->f, i)) {
	case WS_RW_COPY_ARRIVE:
		return !ws_ptx_says(m->f, i, ".noinc");
	case WS_RW_OBJECT_WAIT:
		return m->waits[i->index];
	case WS_RW_OBJECT_PEER: case WS_RW_OBJECT_TX: case WS_RW_OPERATION: case WS_RW_MULTICAST: case WS_RW_TENSOR_LOAD: case WS_RW_TENSOR_STORE:
	case WS_RW_PRODUCT: case WS_RW_NOT_FOLLOWED:
		return false;
	default:
		return true;
	}
}

static void find_visible(struct ws_meetings *m, const struct ws_rw_access *list, uint32_t n)
{
	const unsigned seen = WS_FX_BARRIER | WS_FX_WARP | WS_FX_FENCE | WS_FX_CALL | WS_FX_EXIT | WS_FX_ASYNC | WS_FX_SYNC;

	for (uint32_t k = 0; k < m->f->ninsts; k++) {
		const struct ws_ptx_inst *i = &m->f->insts[k];

		m->visible[k] = ws_op_info(i->op)->fx & seen || i->op == WS_OP_unknown || i->call || ws_rw_async(m->f, i) != WS_RW_NOT_ASYNC;
	}
	for (uint32_t k = 0; k < n; k++)
		m->visible[list[k].inst->index] |= list[k].rw_class == WS_RW_CHECK || list[k].rw_class == WS_RW_UNHANDLED;
}

static bool find(struct ws_meetings *m)
{
	bool any = false;

	for (uint32_t k = 0; k < m->f->ninsts; k++) {
		if (ws_rw_async(m->f, &m->f->insts[k]) != WS_RW_OBJECT_ARRIVE)
			continue;
		if (!meets(m, &m->f->insts[k]))
			return false;
		any = true;
	}
	for (uint32_t k = 0; k < m->f->ninsts && any; k++)
		any = is_known(m, &m->f->insts[k]);
	return any;
}

struct ws_meetings *ws_meetings_find(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n)
{
	struct ws_meetings *m = ws_alloc(sizeof *m);
	bool is;

	ws_ptx_cfg(kernel);
	m->f = kernel;
	m->visible = ws_alloc(kernel->ninsts + 1);
	m->waits = ws_alloc(kernel->ninsts + 1);
	m->seen = ws_alloc((kernel->nblocks + 1) * sizeof *m->seen);
	m->came = ws_alloc((kernel->nblocks + 1) * sizeof *m->came);
	m->todo = ws_alloc((kernel->nblocks + 1) * sizeof *m->todo);
	find_visible(m, list, n);
	is = find(m);
	if (is)
		return m;
	ws_meetings_free(m);
	return NULL;
}

void ws_meetings_free(struct ws_meetings *m)
{
	if (!m)
		return;
	free(m->visible);
	free(m->waits);
	free(m->seen);
	free(m->came);
	free(m->todo);
	free(m);
}
