/* depend.c - see depend.h. */
#include "detect/depend.h"

#include <stdlib.h>

enum { SHARED = 1, LOCAL = 2, PARAM = 4 };

struct taint {
	const struct ws_ptx_func *f;
	const struct ws_ptx_inst *load;      /* NULL: all weak loads of global memory */
	bool *reg;                           /* by register: made from what was loaded */
	unsigned spaces;                     /* memories that hold some of it */
	bool used, changed;                  /* used: by the instruction at hand */
};

static bool may_be_global(const struct ws_ptx_inst *i)
{
	return i->space == WS_SPACE_GLOBAL || i->space == WS_SPACE_GENERIC;
}

static bool weak(const struct ws_ptx_inst *i)
{
	return ws_ptx_order(i).sem == WS_SEM_WEAK;
}

static bool kernel_parameter(const struct taint *t, const struct ws_ptx_inst *i)
{
	const struct ws_operand *a = ws_ptx_address(i);

	return t->f->entry && a && a->sym && a->sym->index < t->f->nparams && t->f->params[a->sym->index] == a->sym;
}

static unsigned spaces_of(const struct taint *t, const struct ws_ptx_inst *i)
{
	switch (i->space) {
	case WS_SPACE_SHARED:
	case WS_SPACE_SHARED_CLUSTER: return SHARED;
	case WS_SPACE_LOCAL: return LOCAL;
	case WS_SPACE_GENERIC: return SHARED | LOCAL;
	case WS_SPACE_PARAM: return kernel_parameter(t, i) ? 0 : PARAM;
	default: return 0;
	}
}

static void look(void *user, struct ws_reg *r, bool is_def)
{
	struct taint *t = user;

	t->used |= !is_def && t->reg[r->index];
}

static void mark(void *user, struct ws_reg *r, bool is_def)
{
	struct taint *t = user;

	if (!is_def || t->reg[r->index])
		return;
	t->reg[r->index] = t->changed = true;
}

static bool is_source(const struct taint *t, const struct ws_ptx_inst *i)
{
	return t->load ? i == t->load : i->op == WS_OP_ld && may_be_global(i) && weak(i);
}

static void flow(struct taint *t, const struct ws_ptx_inst *i)
{
	unsigned fx = ws_op_info(i->op)->fx, spaces = fx & (WS_FX_READ | WS_FX_WRITE | WS_FX_ATOMIC) ? spaces_of(t, i) : 0;

	t->used = is_source(t, i) || (fx & (WS_FX_READ | WS_FX_ATOMIC) && t->spaces & spaces);
	ws_ptx_inst_regs(i, look, t);
	if (!t->used)
		return;
	if (fx & (WS_FX_WRITE | WS_FX_ATOMIC) && spaces & ~t->spaces) {
		t->spaces |= spaces;
		t->changed = true;
	}
	ws_ptx_inst_regs(i, mark, t);
}

static bool tainted(const struct taint *t, const struct ws_operand *o)
{
	if (o->kind == WS_O_REG)
		return t->reg[o->reg->index];
	for (uint32_t n = 0; o->kind == WS_O_VEC && n < o->sreg_or_count; n++)
		if (tainted(t, &o->elems[n]))
			return true;
	return false;
}

static bool publishes(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_st && may_be_global(i) && !weak(i);
}

static bool reaches(struct taint *t)
{
	bool found = false;

	t->reg = ws_alloc((t->f->nregs + 1) * sizeof *t->reg);
	do {
		t->changed = false;
		for (uint32_t n = 0; n < t->f->ninsts; n++)
			flow(t, &t->f->insts[n]);
	} while (t->changed);
	for (uint32_t n = 0; n < t->f->ninsts && !found; n++)
		found = publishes(&t->f->insts[n]) && t->f->insts[n].nops > 1 && tainted(t, &t->f->insts[n].ops[1]);
	free(t->reg);
	return found;
}

bool ws_depend_on(const struct ws_ptx_func *f, const struct ws_ptx_inst *load)
{
	return f && load && load->op == WS_OP_ld && reaches(&(struct taint){.f = f, .load = load});
}

bool ws_depend_used(const struct ws_ptx_func *f)
{
	bool set = false, seen = false;

	for (uint32_t n = 0; n < f->ninsts && !(set && seen); n++) {
		const struct ws_ptx_inst *i = &f->insts[n];

		set |= publishes(i);
		seen |= i->op == WS_OP_ld && may_be_global(i) && !weak(i);
	}
	return set && seen && reaches(&(struct taint){.f = f});
}
