/* ptx_memory.c - what an instruction says of the memory that it accesses. */
#include "ptx/ptx.h"

#include <string.h>

const struct ws_operand *ws_ptx_address(const struct ws_ptx_inst *i)
{
	for (unsigned n = 0; i && n < i->nops; n++)
		if (i->ops[n].kind == WS_O_ADDR)
			return &i->ops[n];
	return NULL;
}

struct ws_ptx_order ws_ptx_order(const struct ws_ptx_inst *i)
{
	bool atomic = i->op == WS_OP_atom || i->op == WS_OP_red;
	struct ws_ptx_order o = {(enum ws_sem)i->sem, (enum ws_scope)i->scope};

	if (o.sem == WS_SEM_NONE)
		o.sem = atomic ? WS_SEM_RELAXED : WS_SEM_WEAK;
	if (o.sem == WS_SEM_VOLATILE || o.sem == WS_SEM_MMIO)
		o.scope = WS_SCOPE_SYS;
	else if (o.sem != WS_SEM_WEAK && o.scope == WS_SCOPE_NONE)
		o.scope = WS_SCOPE_GPU;
	return o;
}

bool ws_ptx_says(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, const char *word)
{
	return memmem(f->module->text + i->off, i->len, word, strlen(word));
}
