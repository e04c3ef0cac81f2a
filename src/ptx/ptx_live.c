/* ptx_live.c - which registers an instruction reads and writes, and which are live between blocks. */
#include "ptx/ptx_priv.h"

#include <stdlib.h>
#include <string.h>

typedef void reg_fn(void *user, struct ws_reg *r, bool is_def);

static void each_reg(const struct ws_operand *o, unsigned n, reg_fn *fn, void *user, bool is_def)
{
	for (unsigned k = 0; k < n; k++) {
		bool def = is_def && o[k].kind != WS_O_ADDR && o[k].kind != WS_O_TEX;

		if (o[k].elems)          /* lists nest at most a few levels (ptx_operand.c) */
			each_reg(o[k].elems, o[k].sreg_or_count, fn, user, def);
		if (!o[k].reg)
			continue;
		if (def && o[k].component)       /* the rest of the register stays: read as well */
			fn(user, o[k].reg, false);
		fn(user, o[k].reg, def);
	}
}

static bool starts(const char *s, const char *with)
{
	return s && strncmp(s, with, strlen(with)) == 0;
}

/* How many operands from the first on are written. Those in brackets are addresses and never are. */
static unsigned written(const struct ws_ptx_inst *i)
{
	unsigned n = ws_op_info(i->op)->ndst;

	if (!n || !i->nops)
		return 0;
	if ((i->op == WS_OP_bar || i->op == WS_OP_barrier) && i->mode != WS_MODE_RED)
		return 0;
	if (i->op == WS_OP_tcgen05 && starts(i->extra, ".dealloc"))
		return 0;
	return n > 1 && i->nops > 1 && i->ops[1].paired ? 2 : 1;
}

void ws_ptx_inst_regs(const struct ws_ptx_inst *i, void (*fn)(void *user, struct ws_reg *r, bool is_def), void *user)
{
	unsigned n = written(i);

	if (i->guard)
		fn(user, i->guard, false);
	if (i->call) {
		each_reg(i->call->target, i->call->target ? 1 : 0, fn, user, false);
		each_reg(i->call->args, i->call->nargs, fn, user, false);
		each_reg(i->call->rets, i->call->nrets, fn, user, true);
	}
	if (i->nops > n)
		each_reg(i->ops + n, i->nops - n, fn, user, false);
	if (n && i->op == WS_OP_wgmma)   /* the accumulator is read and written */
		each_reg(i->ops, n, fn, user, false);
	each_reg(i->ops, n, fn, user, true);
}

struct setting { const struct ws_reg *r; bool found; };

static void is_set(void *user, struct ws_reg *r, bool is_def)
{
	struct setting *s = user;

	s->found |= is_def && r == s->r;
}

bool ws_ptx_sets(const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	struct setting s = { .r = r };

	if (r)
		ws_ptx_inst_regs(i, is_set, &s);
	return s.found;
}

/* ---- liveness ---- */
struct sets {                            /* of the block at hand */
	uint64_t *use, *def;
	bool guarded;
};

static void note(void *user, struct ws_reg *r, bool is_def)
{
	struct sets *s = user;
	uint64_t bit = UINT64_C(1) << (r->index & 63);
	uint32_t word = r->index >> 6;

	if (!is_def && !(s->def[word] & bit))
		s->use[word] |= bit;
	if (is_def && !s->guarded)       /* a guarded write may leave the old value */
		s->def[word] |= bit;
}

static void local_sets(const struct ws_ptx_func *f, const struct ws_ptx_block *b, uint64_t *use, uint64_t *def)
{
	struct sets s = { .use = use, .def = def };

	for (uint32_t i = b->first; i <= b->last; i++) {
		s.guarded = f->insts[i].guard != NULL;
		ws_ptx_inst_regs(&f->insts[i], note, &s);
	}
}

/* live_out = union of the successors' live_in; live_in = use | (live_out & ~def). true: live_in has changed */
static bool transfer(struct ws_ptx_func *f, struct ws_ptx_block *b, const uint64_t *use, const uint64_t *def,
		     size_t words)
{
	bool changed = false;

	for (uint32_t s = 0; s < b->nsucc; s++)
		for (size_t w = 0; w < words; w++)
			b->live_out[w] |= f->blocks[b->succ[s]].live_in[w];
	for (size_t w = 0; w < words; w++) {
		uint64_t in = use[w] | (b->live_out[w] & ~def[w]);

		changed |= in != b->live_in[w];
		b->live_in[w] = in;
	}
	return changed;
}

static void solve(struct ws_ptx_func *f, const uint64_t *use, const uint64_t *def, size_t words)
{
	uint32_t n = f->nblocks, *queue = ws_alloc(n * sizeof *queue), head = 0, count = n;
	bool *queued = ws_alloc(n * sizeof *queued);

	for (uint32_t b = 0; b < n; b++) {       /* late blocks first */
		queue[n - 1 - f->blocks[b].rpo] = b;
		queued[b] = true;
	}
	while (count) {
		uint32_t b = queue[head];
		struct ws_ptx_block *k = &f->blocks[b];

		head = head + 1 == n ? 0 : head + 1;
		count--;
		queued[b] = false;
		if (!transfer(f, k, use + b * words, def + b * words, words))
			continue;
		for (uint32_t p = 0; p < k->npred; p++) {
			if (queued[k->pred[p]])
				continue;
			queued[k->pred[p]] = true;
			queue[(head + count++) % n] = k->pred[p];
		}
	}
	free(queue);
	free(queued);
}

/* Bytes of all sets of a function. Beyond it (blocks times registers is then above 10^10) there is no liveness. */
#define MAX_SETS (UINT64_C(4) << 30)

void ws_ptx_liveness(struct ws_ptx_func *f)
{
	size_t words = ((size_t)f->nregs + 63) / 64;
	uint64_t *sets, *live;

	ws_ptx_cfg(f);
	if (!f->nblocks || f->blocks[0].live_in)
		return;
	words += !words;                 /* never empty, so that live_in tells that it was done */
	if (f->nblocks > MAX_SETS / (4 * words * sizeof *sets))
		return;
	sets = ws_alloc(2 * f->nblocks * words * sizeof *sets);
	live = ws_arena_alloc(f->module->arena, 2 * f->nblocks * words * sizeof *live);
	for (uint32_t b = 0; b < f->nblocks; b++) {
		f->blocks[b].live_in = live + 2 * b * words;
		f->blocks[b].live_out = live + (2 * b + 1) * words;
		local_sets(f, &f->blocks[b], sets + b * words, sets + (f->nblocks + b) * words);
	}
	solve(f, sets, sets + f->nblocks * words, words);
	free(sets);
}
