/* access.c - which instructions access memory, and how (PTX ISA 9.0, Data Movement; Parallel Synchronization). */
#include "rewrite/rewrite_priv.h"

#include <string.h>

static const struct ws_operand *bracket(const struct ws_ptx_inst *i)
{
	for (unsigned k = 0; k < i->nops; k++)
		if (i->ops[k].kind == WS_O_ADDR || i->ops[k].kind == WS_O_TEX)
			return &i->ops[k];
	return NULL;
}

static bool plain(const struct ws_ptx_inst *i)
{
	bool known = i->op == WS_OP_ld || i->op == WS_OP_ldu || i->op == WS_OP_st || i->op == WS_OP_atom ||
		     i->op == WS_OP_red;
	const struct ws_operand *o = known ? bracket(i) : NULL;

	return o && o->kind == WS_O_ADDR && i->mode != WS_MODE_OTHER && i->ntypes && ws_type_bytes(i->type[i->ntypes - 1]);
}

/* Accesses that stand in no bracket: wgmma reads shared memory by descriptors. */
static bool unhandled(const struct ws_ptx_inst *i)
{
	unsigned fx = ws_op_info(i->op)->fx;

	if (i->op == WS_OP_wgmma)
		return i->extra && strstr(i->extra, "mma_async");
	if (i->op == WS_OP_unknown)
		return true;
	return fx & (WS_FX_READ | WS_FX_WRITE | WS_FX_ATOMIC | WS_FX_ASYNC) && bracket(i);
}

static const char *exempt(enum ws_space space)
{
	switch (space) {
	case WS_SPACE_CONST: return "constant memory";
	case WS_SPACE_LOCAL: return "memory of one thread";
	case WS_SPACE_PARAM: return "parameters";
	default: return NULL;
	}
}

static void fill(struct ws_ptx_inst *i, struct ws_rw_access *a)
{
	const struct ws_operand *o = bracket(i);

	*a = (struct ws_rw_access){ .inst = i, .rw_class = WS_RW_UNHANDLED };
	if (!plain(i)) {
		if (unhandled(i))
			a->why = ws_op_info(i->op)->name;
		else
			a->rw_class = WS_RW_NONE;
		return;
	}
	a->kind = i->op == WS_OP_st ? WS_RW_WRITE : i->op == WS_OP_atom || i->op == WS_OP_red ? WS_RW_ATOMIC : WS_RW_READ;
	a->address = o;
	a->bytes = ws_type_bytes(i->type[i->ntypes - 1]) * i->vec;
	a->space = (enum ws_space)i->space;
	if (i->op == WS_OP_ldu && !a->space)
		a->space = WS_SPACE_GENERIC;
	if (!a->space && o->sym && o->sym->kind == WS_SYM_VAR)   /* a variable's name: its own space is meant */
		a->space = o->sym->space;
	a->sem = ws_ptx_order(i).sem;
	a->scope = ws_ptx_order(i).scope;
	a->why = exempt(a->space);
	a->rw_class = a->why ? WS_RW_EXEMPT : WS_RW_CHECK;
}

/* A load from a variable, that may be there for some of the threads only. Liveness is made for such functions alone. */
static void find_needed(struct ws_ptx_func *f, struct ws_rw_access *a)
{
	if (a->rw_class != WS_RW_CHECK || a->inst->op != WS_OP_ld || a->inst->guard || a->address->reg)
		return;
	ws_ptx_liveness(f);
	if (!ws_load_needed(f, a->inst, &a->needed))
		a->needed.p = NULL;
}

bool ws_rw_is_barrier(const struct ws_ptx_inst *i)
{
	return (i->op == WS_OP_bar || i->op == WS_OP_barrier) && i->mode != WS_MODE_WARP_SYNC &&
	       i->mode != WS_MODE_OTHER;
}

bool ws_rw_names_no_count(const struct ws_ptx_inst *barrier)
{
	return barrier->nops == (barrier->mode == WS_MODE_RED ? 3 : 1);
}

bool ws_rw_is_warp_sync(const struct ws_ptx_inst *i)
{
	return (i->op == WS_OP_bar || i->op == WS_OP_barrier) && i->mode == WS_MODE_WARP_SYNC;
}

bool ws_rw_syncs_whole_warp(const struct ws_ptx_inst *i)
{
	return ws_rw_is_warp_sync(i) && i->ops[0].kind == WS_O_INT && (uint32_t)i->ops[0].imm == UINT32_MAX;
}

bool ws_rw_arrives(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (ws_rw_is_barrier(&f->insts[k]) && f->insts[k].mode == WS_MODE_ARRIVE)
			return true;
	return false;
}

struct ws_rw_access *ws_rw_accesses(struct ws_ptx_func *f, uint32_t *n)
{
	struct ws_rw_access *list, one;
	uint32_t count = 0;

	for (uint32_t i = 0; i < f->ninsts; i++) {
		fill(&f->insts[i], &one);
		count += one.rw_class != WS_RW_NONE;
	}
	list = ws_arena_alloc(f->module->arena, (count + 1) * sizeof *list);
	*n = 0;
	for (uint32_t i = 0; i < f->ninsts; i++) {
		fill(&f->insts[i], &list[*n]);
		find_needed(f, &list[*n]);
		*n += list[*n].rw_class != WS_RW_NONE;
	}
	list[*n] = (struct ws_rw_access){ 0 };       /* of no instruction: callers go through both lists at once */
	return list;
}

bool ws_rw_waits_for_grid(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_griddepcontrol && i->extra && strcmp(i->extra, ".wait") == 0;
}

bool ws_rw_reads_shared_size(const struct ws_ptx_inst *i)
{
	for (unsigned n = 0; n < i->nops; n++)
		if (i->ops[n].kind == WS_O_SREG && (i->ops[n].sreg_or_count == WS_SR_DYNAMIC_SMEM_SIZE ||
		                                    i->ops[n].sreg_or_count == WS_SR_TOTAL_SMEM_SIZE ||
		                                    i->ops[n].sreg_or_count == WS_SR_AGGR_SMEM_SIZE))
			return true;
	return false;
}
