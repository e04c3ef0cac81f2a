/* registers.c - places of virtual registers in a frame. PTX is close to single assignment: a function has many more
 * registers than values that are live at once, and an array of 32 lanes for each would not stay in the caches. So
 * registers of one width whose lifetimes do not touch share an array: linear scan (Poletto and Sarkar, "Linear scan
 * register allocation", 1999) over the blocks in the order of the decoded code. Threads of a warp that have parted use
 * different lanes of an array, so what holds for a thread holds for the warp. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>

enum { CLASSES = 4, NEVER = UINT32_MAX };

struct scan {
	struct ws_decoder *dc;
	uint32_t *first, *last;          /* lifetime of a register, in places of instructions */
	uint32_t *next_start, *next_end; /* lists of registers by place */
	uint32_t *starts, *ends;
	uint32_t place;
	uint32_t *free[CLASSES];
	size_t nfree[CLASSES], cap_free[CLASSES];
};

static unsigned class_of(const struct ws_reg *r)
{
	unsigned w = ws_reg_width(r);

	return w == 2 ? 0 : w == 4 ? 1 : w == 8 ? 2 : 3;
}

static void lives(struct scan *s, uint32_t reg, uint32_t place)
{
	if (s->first[reg] == NEVER || place < s->first[reg])
		s->first[reg] = place;
	if (s->last[reg] == NEVER || place > s->last[reg])
		s->last[reg] = place;
}

static void touch(void *user, struct ws_reg *r, bool is_def)
{
	struct scan *s = user;

	(void)is_def;
	lives(s, r->index, s->place);
}

static void live_set(struct scan *s, const uint64_t *set, uint32_t place)
{
	for (uint32_t w = 0; w < (s->dc->ptx->nregs + 63) / 64; w++)
		for (uint64_t bits = set[w]; bits; bits &= bits - 1)
			lives(s, w * 64 + (uint32_t)__builtin_ctzll(bits), place);
}

/* Lifetimes; returns the number of places. */
static uint32_t lifetimes(struct scan *s, const uint32_t *order, uint32_t n)
{
	struct ws_ptx_func *f = s->dc->ptx;
	uint32_t place = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ws_ptx_block *b = &f->blocks[order[i]];

		live_set(s, b->live_in, place);
		for (uint32_t k = b->first; k <= b->last && k < f->ninsts; k++) {
			s->place = place++;
			ws_ptx_inst_regs(&f->insts[k], touch, s);
		}
		live_set(s, b->live_out, place);         /* behind its last instruction, which must not write there */
	}
	return place + 1;
}

static bool takes_part(const struct scan *s, uint32_t reg)
{
	return s->dc->reg[reg] == WS_LANE_NONE && s->first[reg] != NEVER && s->dc->ptx->regs[reg]->vec <= 1;
}

static void make_lists(struct scan *s, uint32_t places)
{
	memset(s->starts, 0xff, places * sizeof *s->starts);
	memset(s->ends, 0xff, places * sizeof *s->ends);
	for (uint32_t r = s->dc->ptx->nregs; r-- > 0;) {
		if (!takes_part(s, r))
			continue;
		s->next_start[r] = s->starts[s->first[r]];
		s->starts[s->first[r]] = r;
		s->next_end[r] = s->ends[s->last[r]];
		s->ends[s->last[r]] = r;
	}
}

static void give_back(struct scan *s, uint32_t place, bool born_here)
{
	for (uint32_t r = s->ends[place]; r != NEVER; r = s->next_end[r]) {
		unsigned c = class_of(s->dc->ptx->regs[r]);

		if ((s->first[r] == place) == born_here)
			*WS_PUSH(s->free[c], s->nfree[c], s->cap_free[c]) = s->dc->reg[r];
	}
}

static void assign(struct scan *s, uint32_t places)
{
	for (uint32_t p = 0; p < places; p++) {
		give_back(s, p, false);  /* an operand read last here may be the place of the result */
		for (uint32_t r = s->starts[p]; r != NEVER; r = s->next_start[r]) {
			const struct ws_reg *reg = s->dc->ptx->regs[r];
			unsigned c = class_of(reg);

			s->dc->reg[r] = s->nfree[c] ? s->free[c][--s->nfree[c]]
			                            : ws_dec_space(s->dc, ws_reg_width(reg) * WS_WARP);
		}
		give_back(s, p, true);
	}
}

/* Every register that has no place yet gets one of its own; those that no instruction mentions share one. */
static void assign_alone(struct ws_decoder *dc, const uint32_t *first)
{
	uint32_t unused = WS_LANE_NONE;

	for (uint32_t i = 0; i < dc->ptx->nregs; i++) {
		const struct ws_reg *r = dc->ptx->regs[i];
		uint32_t bytes = ws_reg_width(r) * WS_WARP * (r->vec ? r->vec : 1);

		if (dc->reg[i] != WS_LANE_NONE)
			continue;
		if (first && first[i] == NEVER && r->vec <= 1) {
			if (unused == WS_LANE_NONE)
				unused = ws_dec_space(dc, 16 * WS_WARP);
			dc->reg[i] = unused;
		} else {
			dc->reg[i] = ws_dec_space(dc, bytes);
		}
	}
}

static bool can_share(const struct ws_ptx_func *f)
{
	for (uint32_t i = 0; i < f->nparams; i++)
		if (f->params[i]->space == WS_SPACE_REG)
			return false;    /* registers that live outside of the instructions */
	for (uint32_t i = 0; i < f->nrets; i++)
		if (f->rets[i]->space == WS_SPACE_REG)
			return false;
	return f->nblocks && f->nregs && f->blocks[0].live_in;
}

void ws_dec_registers(struct ws_decoder *dc, const uint32_t *order, uint32_t n)
{
	size_t bytes = (dc->ptx->nregs + 1) * sizeof(uint32_t), place_bytes = (dc->ptx->ninsts + 1) * sizeof(uint32_t);
	struct scan s = {.dc = dc};
	uint32_t places;

	if (!can_share(dc->ptx)) {
		assign_alone(dc, NULL);
		return;
	}
	s.first = ws_alloc(bytes);
	s.last = ws_alloc(bytes);
	s.next_start = ws_alloc(bytes);
	s.next_end = ws_alloc(bytes);
	s.starts = ws_alloc(place_bytes);
	s.ends = ws_alloc(place_bytes);
	memset(s.first, 0xff, bytes);
	memset(s.last, 0xff, bytes);
	places = lifetimes(&s, order, n);
	make_lists(&s, places);
	assign(&s, places);
	assign_alone(dc, s.first);
	free(s.first);
	free(s.last);
	free(s.next_start);
	free(s.next_end);
	free(s.starts);
	free(s.ends);
	for (int c = 0; c < CLASSES; c++)
		free(s.free[c]);
}
