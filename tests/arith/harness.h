/* harness.h - executes the kernels of forms.c with the lane functions, without the simulator: registers are arrays, a
 * kernel's loads are from its row, the rest is lane functions. For check.c and tests/unit/test_lanes.c. */
#ifndef WS_ARITH_HARNESS_H
#define WS_ARITH_HARNESS_H

#include "gpu/lanes.h"
#include "tests/arith/forms.h"

#include <stdio.h>

enum { REG_BYTES = 512, MAX_REGS = 128, MAX_INSTS = 64 };

struct step {
	enum { LANE, LOAD, STORE } kind;
	struct ws_lane_op op;
	uint32_t reg, word;      /* LOAD, STORE: offset of the register, word of the row */
};
struct program {
	struct step steps[MAX_INSTS];
	unsigned nsteps, next;   /* next: first free slot of the register file */
};

static _Alignas(64) uint8_t regs[(MAX_REGS + 1) * REG_BYTES];

static uint32_t place_immediate(struct program *p, const struct ws_ptx_inst *i, const struct ws_operand *o, unsigned w)
{
	uint32_t off = REG_BYTES * p->next++;
	uint64_t v = o->kind == WS_O_SREG ? 0 : ws_lanes_immediate(i, o, w);
	for (int l = 0; l < WS_WARP; l++)
		if (w == 2)
			((uint16_t *)(regs + off))[l] = (uint16_t)v;
		else if (w == 4)
			((uint32_t *)(regs + off))[l] = (uint32_t)v;
		else if (w == 8)
			((uint64_t *)(regs + off))[l] = v;
		else
			((uint32_t *)(regs + off))[0] = v ? UINT32_MAX : 0;
	return off;
}

static bool lane_step(struct program *p, const struct ws_ptx_inst *i)
{
	struct step *s = &p->steps[p->nsteps++];
	unsigned width[WS_LANE_OPERANDS];
	const char *why;
	const struct ws_operand *o;
	s->kind = LANE;
	if (!ws_lanes_decode(i, &s->op, width, &why)) {
		printf("refused: %s\n", why ? why : "no lane function");
		return false;
	}
	s->op.cc = MAX_REGS * REG_BYTES;
	for (unsigned k = 0; (o = ws_lanes_operand(i, k)); k++) {
		uint32_t *slot = ws_lanes_slot(&s->op, i, k);
		if (slot)
			*slot = o->kind == WS_O_REG    ? o->reg->index * REG_BYTES
			        : o->kind == WS_O_SINK ? WS_LANE_NONE
			                               : place_immediate(p, i, o, width[k]);
	}
	return true;
}

/* Address arithmetic is executed like the rest and its result ignored: a kernel's loads are from its row in order. */
static bool prepare(const struct ws_ptx_func *f, struct program *p)
{
	p->nsteps = 0;
	p->next = f->nregs;
	for (uint32_t k = 0; k < f->ninsts; k++) {
		const struct ws_ptx_inst *i = &f->insts[k];
		if (p->nsteps == MAX_INSTS || p->next + 4 > MAX_REGS)
			return false;
		if (i->op == WS_OP_ret || (i->op == WS_OP_ld && i->space == WS_SPACE_PARAM))
			continue;
		if (i->op == WS_OP_ld || i->op == WS_OP_st) {
			const struct ws_operand *addr = &i->ops[i->op == WS_OP_st ? 0 : 1];
			struct step *s = &p->steps[p->nsteps++];
			s->kind = i->op == WS_OP_ld ? LOAD : STORE;
			s->reg = i->ops[i->op == WS_OP_ld ? 0 : 1].reg->index * REG_BYTES;
			s->word = (uint32_t)addr->offset / 8;
			continue;
		}
		if (!lane_step(p, i))
			return false;
	}
	return true;
}

/* Rows first.. of f with the lanes of mask active in the form itself; results of the others are what they were. */
static void run_rows(const struct program *p, const struct arith_form *f, unsigned first, uint32_t mask,
                     uint64_t out[][2])
{
	uint64_t x[WS_WARP][ARITH_SOURCES];
	for (unsigned l = 0; l < WS_WARP; l++)
		arith_row(f->src, first + l, x[l]);
	for (unsigned k = 0; k < p->nsteps; k++) {
		const struct step *s = &p->steps[k];
		uint64_t *r = s->kind == LANE ? NULL : (uint64_t *)(regs + s->reg);
		if (s->kind == LANE)
			s->op.fn(&s->op, regs, mask);
		for (unsigned l = 0; l < WS_WARP && s->kind != LANE; l++)
			if (s->kind == LOAD)
				r[l] = x[l][s->word];
			else
				out[l][s->word] = r[l];
	}
}

#endif
