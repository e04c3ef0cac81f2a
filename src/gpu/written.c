/* written.c - which memory a launch can write: found from the kernel's code, so that reads of other memory need not be
 * told to an observer that looks for races.
 *
 * A register's sources are the parameters of the kernel that its value is made from, in any way and on any path (no
 * order of instructions is considered). What stores and atomics may write is the memory that the values of their
 * addresses' sources point into or just behind, at this launch. A 64-bit value from memory, a call or pieces may be any
 * pointer; smaller ones are indices. Variables of modules and the device's heap always count as written.
 *
 * That is right for programs whose pointers stay inside the allocation that they were made for. Others are caught: a store
 * into memory that does not count as written is seen by the observer (struct ws_obs_launch, `unwritten_untold`). */
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 63 };                      /* parameters told apart */
#define ANY (1ull << 63)                 /* the value may be any pointer */
#define NO_POINTER (1ull << 32)          /* no memory has an address below */

struct scan {
	const struct ws_gpu_kernel *k;
	const struct ws_ptx_func *f;
	struct ws_written *w;
	uint64_t *src;                   /* by register: bits of w->param, or ANY */
	uint64_t uses, defs;             /* of the instruction at hand: sources of what it reads; what it defines becomes `defs` */
	bool changed;
};

static void add_use(void *user, struct ws_reg *r, bool is_def)
{
	struct scan *s = user;

	if (!is_def)
		s->uses |= s->src[r->index];
}

static void set_def(void *user, struct ws_reg *r, bool is_def)
{
	struct scan *s = user;

	if (!is_def || r->type == WS_PRED || !(s->defs & ~s->src[r->index]))
		return;
	s->src[r->index] |= s->defs;
	s->changed = true;
}

static uint64_t param_bit(struct scan *s, uint32_t offset)
{
	for (uint32_t i = 0; i < s->w->n; i++)
		if (s->w->param[i] == offset)
			return 1ull << i;
	if (s->w->n == MANY)
		return ANY;
	s->w->param = ws_realloc(s->w->param, (s->w->n + 1) * sizeof *s->w->param);
	s->w->param[s->w->n] = offset;
	return 1ull << s->w->n++;
}

static bool wide(const struct ws_ptx_inst *i)
{
	return i->ntypes && ws_type_bytes(i->type[0]) >= 8 && !ws_type_is_float(i->type[0]);
}

/* Elements of a vector may be different parameters: each is a source of all registers. */
static uint64_t loaded(struct scan *s, const struct ws_ptx_inst *i)
{
	const struct ws_operand *a = ws_ptx_address(i);
	uint64_t bits = 0;

	if (!wide(i))
		return 0;
	if (i->op != WS_OP_ld || i->space != WS_SPACE_PARAM || !a || !a->sym || a->reg || !s->f->entry ||
	    a->sym->index >= s->f->nparams || s->f->params[a->sym->index] != a->sym)
		return ANY;
	for (uint32_t e = 0; e < (i->vec ? i->vec : 1); e++)
		bits |= param_bit(s, s->k->param_offset[a->sym->index] + (uint32_t)a->offset + e * ws_type_bytes(i->type[0]));
	return bits;
}

/* Does it make 64 bits, of which a pointer may be, from pieces: two halves, what was loaded as a float, or bytes shifted to
 * their places? Shifts of an index are smaller. */
static bool packs(const struct ws_ptx_inst *i)
{
	enum { PIECE = 24 };
	const struct ws_operand *from = &i->ops[1];

	if (!wide(i))
		return false;
	if (i->op == WS_OP_mov)
		return i->nops == 2 && (from->kind == WS_O_VEC || (from->kind == WS_O_REG && ws_type_is_float(from->reg->type)));
	return i->op == WS_OP_bfi || (i->op == WS_OP_shl && i->nops == 3 && i->ops[2].kind == WS_O_INT && i->ops[2].imm >= PIECE);
}

static void flow(struct scan *s, const struct ws_ptx_inst *i)
{
	s->uses = 0;
	ws_ptx_inst_regs(i, add_use, s);
	if (ws_op_info(i->op)->fx & (WS_FX_READ | WS_FX_ATOMIC | WS_FX_CALL))
		s->defs = i->op == WS_OP_call ? ANY : loaded(s, i);
	else
		s->defs = packs(i) ? ANY : s->uses;
	if (s->defs)
		ws_ptx_inst_regs(i, set_def, s);
}

/* PTX ISA 9.0, Data Movement and Conversion Instructions, Asynchronous copy: only bulk and tensor forms write global
 * memory. */
static bool plain_copy(const struct scan *s, const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_cp && !ws_ptx_says(s->f, i, ".bulk");
}

static uint64_t stored(struct scan *s, const struct ws_ptx_inst *i)
{
	const struct ws_operand *a = ws_ptx_address(i);

	if (!(ws_op_info(i->op)->fx & (WS_FX_WRITE | WS_FX_ATOMIC)) || plain_copy(s, i))
		return 0;
	if (i->op != WS_OP_st && i->op != WS_OP_atom && i->op != WS_OP_red)
		return ANY;
	if (i->space != WS_SPACE_GENERIC && i->space != WS_SPACE_GLOBAL)
		return 0;
	return a ? a->reg ? s->src[a->reg->index] : 0 : ANY;
}

static void scan_function(struct scan *s)
{
	s->src = ws_alloc((s->f->nregs + 1) * sizeof *s->src);
	do {
		s->changed = false;
		for (uint32_t n = 0; n < s->f->ninsts; n++)
			flow(s, &s->f->insts[n]);
	} while (s->changed);
	for (uint32_t n = 0; n < s->f->ninsts; n++)
		s->w->by |= stored(s, &s->f->insts[n]);
	free(s->src);
}

static struct ws_written *written_of(struct ws_gpu_kernel *k)
{
	struct scan s = {.k = k};

	if (k->image->written)
		return k->image->written;
	k->image->written = s.w = ws_alloc(sizeof *s.w);
	for (size_t n = 0; (s.f = ws_gpu_kernel_function(k, n)) != NULL && !(s.w->by & ANY); n++)
		scan_function(&s);
	return s.w;
}

bool ws_written_mark(struct ws_launch *la)
{
	struct ws_written *w = written_of(la->kernel);
	struct ws_mem *m[2 * MANY];
	uint32_t n = 0;

	if (w->by & ANY)
		return false;
	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t v;

		if (!(w->by >> i & 1))
			continue;
		if (w->param[i] + 8ull > la->kernel->param_bytes)
			return false;
		memcpy(&v, la->params + w->param[i], 8);
		m[n] = ws_memmap_find(&la->gpu->map, v);
		m[n + 1] = ws_memmap_find(&la->gpu->map, v - 1);     /* the end of what is written from behind */
		if (!m[n] && !m[n + 1] && v >= NO_POINTER)
			return false;            /* a pointer to beside its memory, perhaps */
		n += 2;
	}
	for (uint32_t i = 0; i < n; i++)
		if (m[i] && m[i]->written < la->obs.serial)      /* else: always */
			m[i]->written = la->obs.serial;
	return true;
}

void ws_written_free(struct ws_written *w)
{
	if (w)
		free(w->param);
	free(w);
}
