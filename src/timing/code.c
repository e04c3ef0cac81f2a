/* code.c - what each PTX instruction is to the pipelines: its class, the registers that it waits for and that wait for it, and
 * how many machine instructions it stands for where a GPU has none of its own. These numbers are estimates of the
 * compiler's usual sequences. */
#include "timing/timing_priv.h"
#include "gpu/syscall.h"

#include <stdlib.h>

static bool wide(enum ws_type t)
{
	return ws_type_bytes(t) == 8;
}

/* times: machine instructions; each waits for the one before if `chain`, else all but the last only take their turn. */
static void set(struct ws_tinst *ti, enum ws_class cls, enum ws_unit_kind unit, unsigned times)
{
	ti->chain = 1;
	ti->cls = (uint8_t)cls;
	ti->unit = (uint8_t)unit;
	ti->times = (uint8_t)times;
}

static void division(const struct ws_ptx_inst *in, struct ws_tinst *ti)
{
	enum ws_type t = in->type[0];

	bool approximate = in->flags & (WS_F_APPROX | WS_F_FULL);

	if (t == WS_F64) {
		set(ti, WS_CLASS_DOUBLE, WS_UNIT_DOUBLE, in->op == WS_OP_rsqrt ? 8 : 10);
		ti->chain = ti->times;
	} else if (t == WS_F32 && approximate) {
		set(ti, WS_CLASS_SPECIAL, WS_UNIT_SPECIAL, in->op == WS_OP_div ? 2 : 1);
	} else if (t == WS_F32) {        /* an estimate, and steps of Newton's method */
		set(ti, WS_CLASS_FLOAT, WS_UNIT_ALU, 10);
		ti->chain = ti->times;
	} else {
		set(ti, WS_CLASS_MULTIPLY, WS_UNIT_ALU, wide(t) ? 70 : 20);
		ti->chain = wide(t) ? 100 : 30;          /* its estimate has a latency of its own */
	}
}

static void arithmetic(const struct ws_ptx_inst *in, struct ws_tinst *ti, bool product)
{
	enum ws_type t = in->type[0];

	if (t == WS_F64)
		set(ti, WS_CLASS_DOUBLE, WS_UNIT_DOUBLE, 1);
	else if (ws_type_is_float(t))
		set(ti, WS_CLASS_FLOAT, WS_UNIT_ALU, t == WS_F32X2 ? 2 : 1);
	else if (product)
		set(ti, WS_CLASS_MULTIPLY, WS_UNIT_MULTIPLY, wide(t) ? 4 : 1);
	else
		set(ti, WS_CLASS_INTEGER, WS_UNIT_ALU, wide(t) ? 2 : 1);
}

static void classify_effect(const struct ws_ptx_inst *in, struct ws_tinst *ti)
{
	unsigned fx = ws_op_info(in->op)->fx;

	if (fx & (WS_FX_BRANCH | WS_FX_CALL | WS_FX_EXIT)) {
		set(ti, WS_CLASS_BRANCH, WS_UNIT_ALU, 1);
		ti->call = in->op == WS_OP_call;
		ti->library = ti->call && in->call->target->kind == WS_O_SYM && ws_syscall_find(in->call->target->sym->name);
		if (in->op == WS_OP_call || in->op == WS_OP_ret)
			ti->sync = WS_SYNC_ALL;  /* the other function's registers have other numbers */
		else if (fx & WS_FX_EXIT)
			ti->sync = WS_SYNC_ATOMICS;      /* a thread that has ended does nothing any more */
	} else if (fx & (WS_FX_BARRIER | WS_FX_FENCE)) {
		set(ti, WS_CLASS_BARRIER, WS_UNIT_ALU, 1);
		ti->fence = (in->op == WS_OP_membar || in->sem == WS_SEM_SC) && in->scope != WS_SCOPE_CTA;
		ti->sync = fx & WS_FX_FENCE ? WS_SYNC_MEMORY : in->op == WS_OP_bar ? WS_SYNC_BLOCK : WS_SYNC_ATOMICS;
	} else if (fx & (WS_FX_ASYNC | WS_FX_SYNC)) {
		set(ti, WS_CLASS_ASYNC, WS_UNIT_MEMORY, 1);
		ti->sync = WS_SYNC_MEMORY;
	} else if (fx & WS_FX_WARP) {
		set(ti, in->op == WS_OP_shfl ? WS_CLASS_WARP : WS_CLASS_VOTE, WS_UNIT_ALU, 1);
	} else if (fx & (WS_FX_READ | WS_FX_WRITE)) {
		set(ti, WS_CLASS_MEMORY, WS_UNIT_MEMORY, 1);
	} else {
		arithmetic(in, ti, false);
	}
}

static void classify(const struct ws_ptx_inst *in, struct ws_tinst *ti)
{
	switch ((enum ws_op)in->op) {
	case WS_OP_ld: case WS_OP_ldu: case WS_OP_st: case WS_OP_atom: case WS_OP_red:
		set(ti, WS_CLASS_MEMORY, WS_UNIT_MEMORY, 1);
		ti->memory = true;
		ti->load = in->op == WS_OP_ld || in->op == WS_OP_ldu;
		break;
	case WS_OP_mov: case WS_OP_selp: case WS_OP_cvta: case WS_OP_prmt:
		set(ti, WS_CLASS_MOVE, WS_UNIT_ALU, 1);
		break;
	case WS_OP_cvt:
		set(ti, WS_CLASS_CONVERT, ws_type_is_float(in->type[0]) != ws_type_is_float(in->type[1]) ? WS_UNIT_CONVERT
		    : WS_UNIT_ALU, 1);
		if (ti->unit == WS_UNIT_ALU)
			ti->cls = WS_CLASS_MOVE; /* between widths */
		break;
	case WS_OP_mul: case WS_OP_mad: case WS_OP_fma: case WS_OP_mul24: case WS_OP_mad24:
		arithmetic(in, ti, true);
		break;
	case WS_OP_div: case WS_OP_rem: case WS_OP_rcp: case WS_OP_sqrt: case WS_OP_rsqrt:
		division(in, ti);
		break;
	case WS_OP_sin: case WS_OP_cos: case WS_OP_lg2: case WS_OP_ex2: case WS_OP_tanh:
		set(ti, WS_CLASS_SPECIAL, WS_UNIT_SPECIAL, 1);
		break;
	case WS_OP_mma: case WS_OP_wmma: case WS_OP_ldmatrix: case WS_OP_stmatrix: case WS_OP_movmatrix:
		set(ti, WS_CLASS_MATRIX, WS_UNIT_MATRIX, 1);
		break;
	default:
		classify_effect(in, ti);
	}
}

/* Numbers of the places of a function's registers, from 1 on; 0: not used. */
struct places {
	const struct ws_exec *x;
	uint32_t function, n;
	uint32_t *number;
};

static uint32_t place(struct places *p, uint32_t reg)
{
	uint32_t at = ws_step_place(p->x, p->function, reg);

	if (!p->number[at])
		p->number[at] = ++p->n;
	return p->number[at];
}

struct registers { struct ws_tinst *ti; bool defs; uint32_t n; struct places *places; };

static void note(void *user, struct ws_reg *r, bool is_def)
{
	struct registers *s = user;

	if (is_def != s->defs)
		return;
	if (s->ti->regs)
		s->ti->regs[s->n] = place(s->places, r->index);
	if (!is_def && s->n < 32 && wide(r->type))
		s->ti->wide |= 1u << s->n;
	s->n++;
}

static void find_registers(struct ws_arena *a, struct places *p, const struct ws_ptx_inst *in, struct ws_tinst *ti)
{
	struct registers s = {.ti = ti, .places = p};

	ws_ptx_inst_regs(in, note, &s);
	ti->nuse = (uint16_t)s.n;
	s.defs = true;
	ws_ptx_inst_regs(in, note, &s);
	ti->ndef = (uint16_t)(s.n - ti->nuse);
	ti->regs = ws_arena_alloc(a, (s.n + 1) * sizeof *ti->regs);
	s = (struct registers){.ti = ti, .places = p};
	ws_ptx_inst_regs(in, note, &s);
	s.defs = true;
	ws_ptx_inst_regs(in, note, &s);
}

/* ---- results that nobody reads ---- */
struct reads { uint8_t *read; bool all, any; };

static void note_read(void *user, struct ws_reg *r, bool is_def)
{
	struct reads *s = user;

	if (!is_def && s->all)
		s->read[r->index] = 1;
	else if (is_def && !s->all)
		s->any |= s->read[r->index];
}

/* Compilers leave an atom whose result is not used, which the assembler turns into a red. */
static void find_unread(const struct ws_ptx_func *f, struct ws_tinst *inst)
{
	struct reads s = {.read = ws_alloc(f->nregs + 1), .all = true};

	for (uint32_t k = 0; k < f->ninsts; k++)
		ws_ptx_inst_regs(&f->insts[k], note_read, &s);
	s.all = false;
	for (uint32_t k = 0; k < f->ninsts; k++) {
		s.any = false;
		ws_ptx_inst_regs(&f->insts[k], note_read, &s);
		inst[k].unread = !s.any;
	}
	free(s.read);
}

struct ws_tcode *ws_timing_code(struct ws_arena *a, const struct ws_machine *m, const struct ws_exec *x, uint32_t functions,
                                uint32_t *registers)
{
	struct ws_tcode *code = ws_arena_alloc(a, functions * sizeof *code);

	*registers = 0;
	for (uint32_t i = 0; i < functions; i++) {
		const struct ws_ptx_func *f = ws_step_function(x, i);
		struct places p = {.x = x, .function = i};

		p.number = ws_alloc(ws_step_places(x, i) * sizeof *p.number);
		code[i] = (struct ws_tcode){.func = f, .inst = ws_arena_alloc(a, (f->ninsts + 1) * sizeof *code[i].inst)};
		for (uint32_t k = 0; k < f->ninsts; k++) {
			classify(&f->insts[k], &code[i].inst[k]);
			if (!m->units[code[i].inst[k].unit])
				code[i].inst[k].unit = WS_UNIT_ALU;
			if (f->entry && f->insts[k].op == WS_OP_ret)
				code[i].inst[k].sync = WS_SYNC_ATOMICS;
			find_registers(a, &p, &f->insts[k], &code[i].inst[k]);
		}
		find_unread(f, code[i].inst);
		free(p.number);
		*registers = p.n + 1 > *registers ? p.n + 1 : *registers;
	}
	return code;
}
