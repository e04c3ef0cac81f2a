/* sides.c - code that no two threads of a block can both come to.
 *
 * A branch on a condition that is the same for all threads of a block (of parameters, constants, the block's index and sizes alone), and that a thread
 * comes to once at most, sends them all one way: into a full tile, or into the last one. What is executed only behind one side and
 * what is executed only behind the other are never both executed in a block, whatever barriers they have. */
#include "rewrite/needless.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BRANCHES = 16, DEEPEST = 16 };

struct ws_sides {
	const struct ws_ptx_func *f;
	const struct ws_ptx_inst **def;  /* by register: where it is written; if twice, NULL */
	bool *several;
	uint8_t *only[MOST_BRANCHES][2]; /* by block: comes behind one side alone */
	unsigned n;
	uint8_t *seen;                   /* by block */
	uint32_t *stack;
};

/* ---- conditions ---- */
struct finder { struct ws_sides *s; const struct ws_ptx_inst *at; };

static void note_def(void *user, struct ws_reg *r, bool is_def)
{
	const struct finder *f = user;

	if (!is_def)
		return;
	f->s->several[r->index] |= f->s->def[r->index] != NULL;
	f->s->def[r->index] = f->at;
}

static void find_defs(struct ws_sides *s)
{
	for (uint32_t k = 0; k < s->f->ninsts; k++)
		ws_ptx_inst_regs(&s->f->insts[k], note_def, &(struct finder){ s, &s->f->insts[k] });
}

/* A parameter of the kernel, or a constant. */
static bool is_stable(const struct ws_sides *s, const struct ws_ptx_inst *i)
{
	const struct ws_ptx_sym *sym = i->nops == 2 && i->ops[1].kind == WS_O_ADDR ? i->ops[1].sym : NULL;

	if (i->guard || i->vec > 1 || !sym)
		return false;
	if (i->space == WS_SPACE_CONST)
		return sym->kind == WS_SYM_VAR && sym->space == WS_SPACE_CONST;
	return i->space == WS_SPACE_PARAM && sym->index < s->f->nparams && s->f->params[sym->index] == sym;
}

static bool is_plain(const struct ws_sides *s, const struct ws_ptx_inst *i)
{
	switch ((enum ws_op)i->op) {
	case WS_OP_mov: case WS_OP_cvta: case WS_OP_cvt: case WS_OP_add: case WS_OP_sub: case WS_OP_mul: case WS_OP_mad: case WS_OP_div:
	case WS_OP_rem: case WS_OP_min: case WS_OP_max: case WS_OP_neg: case WS_OP_abs: case WS_OP_and: case WS_OP_or: case WS_OP_xor:
	case WS_OP_not: case WS_OP_shl: case WS_OP_shr: case WS_OP_setp: case WS_OP_selp:
		return !i->guard;
	case WS_OP_ld:
		return is_stable(s, i);
	default:
		return false;
	}
}

/* Has the operand one value in all threads of a block? */
static bool is_alike(const struct ws_sides *s, const struct ws_operand *o, unsigned depth)
{
	const struct ws_ptx_inst *i = o->reg ? s->def[o->reg->index] : NULL;

	if (o->kind == WS_O_SREG)
		return o->sreg_or_count >= WS_SR_NTID_X && o->sreg_or_count <= WS_SR_NCTAID_Z;
	if (!o->reg)
		return o->kind == WS_O_INT || o->kind == WS_O_SYM || o->kind == WS_O_ADDR;
	if (!i || s->several[o->reg->index] || depth == DEEPEST || !is_plain(s, i))
		return false;
	for (unsigned k = 1; k < i->nops; k++)
		if (!i->ops[k].paired && !is_alike(s, &i->ops[k], depth + 1))
			return false;
	return true;
}

/* ---- sides ---- */
/* All that comes behind the blocks on the stack, but by the way between two blocks. */
static void follow(struct ws_sides *s, uint32_t depth, uint32_t from, uint32_t to)
{
	while (depth) {
		uint32_t b = s->stack[--depth];

		for (uint32_t k = 0; k < s->f->blocks[b].nsucc; k++) {
			uint32_t next = s->f->blocks[b].succ[k];

			if (s->seen[next] || (b == from && next == to))
				continue;
			s->seen[next] = 1;
			s->stack[depth++] = next;
		}
	}
}

/* Does a thread come to the block once at most? */
static bool is_once(struct ws_sides *s, uint32_t b)
{
	memset(s->seen, 0, s->f->nblocks);
	s->stack[0] = b;
	follow(s, 1, UINT32_MAX, UINT32_MAX);
	return !s->seen[b];
}

static void note_sides(struct ws_sides *s, uint32_t b)
{
	for (unsigned k = 0; k < 2; k++) {
		memset(s->seen, 0, s->f->nblocks);
		s->seen[0] = 1;
		s->stack[0] = 0;
		follow(s, 1, b, s->f->blocks[b].succ[k]);
		s->only[s->n][k] = ws_alloc(s->f->nblocks + 1);
		for (uint32_t m = 0; m < s->f->nblocks; m++)
			s->only[s->n][k][m] = !s->seen[m];
	}
	s->n++;
}

static bool divides(struct ws_sides *s, uint32_t b)
{
	const struct ws_ptx_block *block = &s->f->blocks[b];
	const struct ws_ptx_inst *last = &s->f->insts[block->last];
	const struct ws_operand guard = { .kind = WS_O_REG, .reg = last->guard };

	return last->op == WS_OP_bra && last->guard && block->nsucc == 2 && block->succ[0] != block->succ[1] && is_alike(s, &guard, 0) &&
	       is_once(s, b);
}

struct ws_sides *ws_sides_find(const struct ws_ptx_func *kernel)
{
	struct ws_sides *s = ws_alloc(sizeof *s);

	s->f = kernel;
	s->def = ws_alloc((kernel->nregs + 1) * sizeof *s->def);
	s->several = ws_alloc(kernel->nregs + 1);
	s->seen = ws_alloc(kernel->nblocks + 1);
	s->stack = ws_alloc((kernel->nblocks + 1) * sizeof *s->stack);
	find_defs(s);
	for (uint32_t b = 0; b < kernel->nblocks && s->n < MOST_BRANCHES; b++)
		if (divides(s, b))
			note_sides(s, b);
	return s;
}

bool ws_sides_exclude(const struct ws_sides *s, uint32_t i, uint32_t j)
{
	uint32_t a = s->f->insts[i].block, b = s->f->insts[j].block;

	for (unsigned k = 0; k < s->n; k++)
		if ((s->only[k][0][a] && s->only[k][1][b]) || (s->only[k][1][a] && s->only[k][0][b]))
			return true;
	return false;
}

void ws_sides_free(struct ws_sides *s)
{
	for (unsigned k = 0; k < s->n; k++) {
		free(s->only[k][0]);
		free(s->only[k][1]);
	}
	free(s->def);
	free(s->several);
	free(s->seen);
	free(s->stack);
	free(s);
}
