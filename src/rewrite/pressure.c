/* pressure.c - how many registers a function needs, as far as its PTX tells: an assembler orders instructions as it
 * likes, and needs a few for addresses. */
#include "rewrite/rewrite_priv.h"

#include <stdlib.h>
#include <string.h>

struct live {
	uint64_t *set;
	unsigned now, most;              /* registers of 32 bits */
};

static unsigned width(const struct ws_reg *r)
{
	return r->type == WS_PRED ? 0 : (ws_type_bytes(r->type) + 3) / 4;
}

static void set(struct live *l, const struct ws_reg *r, bool is)
{
	uint64_t bit = 1ull << (r->index & 63), *word = &l->set[r->index / 64];

	if (!(*word & bit) == is)
		l->now += is ? width(r) : -width(r);
	*word = is ? *word | bit : *word & ~bit;
	l->most = l->now > l->most ? l->now : l->most;
}

static void ends(void *user, struct ws_reg *r, bool is_def)
{
	if (is_def)
		set(user, r, false);
}

static void begins(void *user, struct ws_reg *r, bool is_def)
{
	if (!is_def)
		set(user, r, true);
}

static void walk(struct live *l, struct ws_ptx_func *f, const struct ws_ptx_block *b)
{
	uint32_t words = (f->nregs + 63) / 64;

	memset(l->set, 0, words * sizeof *l->set);
	l->now = 0;
	for (uint32_t k = 0; k < f->nregs; k++)
		if (b->live_out[k / 64] >> (k & 63) & 1)
			set(l, f->regs[k], true);
	for (uint32_t k = b->last + 1; k-- > b->first;) {
		ws_ptx_inst_regs(&f->insts[k], ends, l);
		ws_ptx_inst_regs(&f->insts[k], begins, l);
	}
}

unsigned ws_rw_pressure(struct ws_ptx_func *f)
{
	struct live l = { .set = ws_alloc((f->nregs / 64 + 1) * sizeof *l.set) };

	ws_ptx_cfg(f);
	ws_ptx_liveness(f);
	for (uint32_t k = 0; k < f->nblocks; k++)
		if (f->blocks[k].live_out)
			walk(&l, f, &f->blocks[k]);
	free(l.set);
	return l.most;
}
