/* link.c - what a name means when several PTX modules are loaded together (relocatable device code). Local symbols
 * stay in their module; extern ones find a visible, weak or common definition in any module
 * (PTX ISA 9.0, Linking Directives). What stays unresolved is reported when a kernel that uses it is launched. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	const char *name;
	struct ws_var *var;
	struct ws_fn *fn;
};

struct names {
	struct entry *slots;
	size_t mask;
};

static struct entry *lookup(struct names *t, const char *name)
{
	size_t i = ws_hash(name, strlen(name)) & t->mask;

	while (t->slots[i].name && strcmp(t->slots[i].name, name))
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

static bool is_definition(const struct ws_var *v)
{
	return v->sym->linkage != WS_LINK_EXTERN;
}

static int rank(enum ws_linkage l)
{
	return l == WS_LINK_VISIBLE ? 3 : l == WS_LINK_WEAK ? 2 : l == WS_LINK_COMMON ? 1 : 0;
}

static bool duplicate(struct ws_gpu_error *err, const char *name, const struct ws_ptx_module *a,
                      const struct ws_ptx_module *b)
{
	ws_error_set(err, WS_GPU_BAD_MODULE, "'%s' is defined twice: in %s and in %s", name, a->path ? a->path : "?",
	             b->path ? b->path : "?");
	return false;
}

static bool export_var(struct names *t, struct ws_unit *u, struct ws_var *v, struct ws_gpu_error *err)
{
	struct entry *e;

	if (!is_definition(v) || v->sym->linkage == WS_LINK_LOCAL)
		return true;
	e = lookup(t, v->sym->name);
	e->name = v->sym->name;
	if (!e->var) {
		e->var = v;
		return true;
	}
	if (rank(v->sym->linkage) == 3 && rank(e->var->sym->linkage) == 3)
		return duplicate(err, v->sym->name, u->ptx, u->ptx);
	if (rank(v->sym->linkage) > rank(e->var->sym->linkage) ||
	    (v->sym->linkage == WS_LINK_COMMON && e->var->sym->linkage == WS_LINK_COMMON &&
	     v->sym->size > e->var->sym->size))
		e->var = v;
	return true;
}

static bool export_fn(struct names *t, struct ws_fn *fn, struct ws_gpu_error *err)
{
	struct entry *e;
	enum ws_linkage l = fn->ptx->sym->linkage;

	if (fn->ptx->declared_only || l == WS_LINK_LOCAL)
		return true;
	e = lookup(t, fn->ptx->name);
	e->name = fn->ptx->name;
	if (e->fn && rank(l) == 3 && rank(e->fn->ptx->sym->linkage) == 3)
		return duplicate(err, fn->ptx->name, e->fn->unit->ptx, fn->unit->ptx);
	if (!e->fn || rank(l) > rank(e->fn->ptx->sym->linkage))
		e->fn = fn;
	return true;
}

static bool export_all(struct names *t, struct ws_gpu_module *mod, struct ws_gpu_error *err)
{
	for (size_t i = 0; i < mod->nunits; i++) {
		struct ws_unit *u = &mod->units[i];

		for (uint32_t k = 0; k < u->ptx->nvars; k++)
			if (!export_var(t, u, &u->vars[k], err))
				return false;
		for (uint32_t k = 0; k < u->ptx->nfuncs; k++)
			if (!export_fn(t, &u->fns[k], err))
				return false;
	}
	return true;
}

/* A symbol that is declared and defined in one module may have two entries there. */
static struct ws_var *local_var(struct ws_unit *u, const char *name)
{
	for (uint32_t k = 0; k < u->ptx->nvars; k++)
		if (is_definition(&u->vars[k]) && !strcmp(u->vars[k].sym->name, name))
			return &u->vars[k];
	return NULL;
}

static struct ws_fn *local_fn(struct ws_unit *u, const char *name)
{
	for (uint32_t k = 0; k < u->ptx->nfuncs; k++)
		if (!u->fns[k].ptx->declared_only && !strcmp(u->fns[k].ptx->name, name))
			return &u->fns[k];
	return NULL;
}

static void resolve_var(struct names *t, struct ws_unit *u, struct ws_var *v)
{
	struct entry *e;

	if (v->sym->linkage == WS_LINK_LOCAL || v->sym->space == WS_SPACE_SHARED) {
		v->def = v;              /* shared memory is laid out kernel by kernel */
		return;
	}
	e = lookup(t, v->sym->name);
	v->def = e->name && e->var ? e->var : local_var(u, v->sym->name);
}

static void resolve_fn(struct names *t, struct ws_unit *u, struct ws_fn *fn)
{
	struct entry *e;

	if (!fn->ptx->declared_only && fn->ptx->sym->linkage == WS_LINK_LOCAL) {
		fn->def = fn;
		return;
	}
	e = lookup(t, fn->ptx->name);
	fn->def = e->name && e->fn ? e->fn : local_fn(u, fn->ptx->name);
	if (!fn->def)
		fn->syscall = ws_syscall_find(fn->ptx->name);
}

/* Functions whose address some instruction takes: only those can be called indirectly. */
static void mark_operand(struct ws_unit *u, const struct ws_operand *o)
{
	if (o->kind == WS_O_SYM && o->sym && o->sym->kind == WS_SYM_FUNC && u->fns[o->sym->index].def)
		u->fns[o->sym->index].def->address_taken = true;
	if (o->kind == WS_O_VEC)
		for (uint32_t i = 0; i < o->sreg_or_count; i++)
			mark_operand(u, &o->elems[i]);
}

static void mark_taken(struct ws_unit *u, const struct ws_ptx_func *f)
{
	for (uint32_t i = 0; i < f->ninsts; i++) {
		const struct ws_ptx_inst *in = &f->insts[i];

		if (in->op == WS_OP_call)
			continue;
		for (uint32_t k = 0; k < in->nops; k++)
			mark_operand(u, &in->ops[k]);
	}
}

static void resolve_all(struct names *t, struct ws_gpu_module *mod)
{
	for (size_t i = 0; i < mod->nunits; i++) {
		struct ws_unit *u = &mod->units[i];

		for (uint32_t k = 0; k < u->ptx->nvars; k++)
			resolve_var(t, u, &u->vars[k]);
		for (uint32_t k = 0; k < u->ptx->nfuncs; k++) {
			resolve_fn(t, u, &u->fns[k]);
			for (uint32_t v = 0; v < u->fns[k].ptx->nvars; v++)
				u->fns[k].vars[v].def = &u->fns[k].vars[v];
		}
	}
	for (size_t i = 0; i < mod->nunits; i++)
		for (uint32_t k = 0; k < mod->units[i].ptx->nfuncs; k++)
			mark_taken(&mod->units[i], mod->units[i].ptx->funcs[k]);
}

bool ws_link(struct ws_gpu_module *mod, struct ws_gpu_error *err)
{
	struct names t;
	size_t n = 16;
	bool ok;

	for (size_t i = 0; i < mod->nunits; i++)
		n += mod->units[i].ptx->nvars + mod->units[i].ptx->nfuncs;
	for (t.mask = 16; t.mask < 2 * n; t.mask *= 2)
		;
	t.slots = ws_alloc(t.mask * sizeof *t.slots);
	t.mask--;
	ok = export_all(&t, mod, err);
	if (ok)
		resolve_all(&t, mod);
	free(t.slots);
	return ok;
}

struct ws_var *ws_unit_var(struct ws_unit *u, const struct ws_fn *fn, const struct ws_ptx_sym *sym)
{
	if (!sym->scope)
		return u->vars[sym->index].def;
	if (fn && fn->ptx == sym->scope && sym->index < fn->ptx->nvars && fn->ptx->vars[sym->index] == sym)
		return &fn->vars[sym->index];
	return NULL;
}
