/* module.c - loading of PTX modules: units, functions with their sites, variables with their memory, kernels. What
 * names mean across modules is link.c's work; code is decoded later, kernel by kernel (decode.c). */
#include "base/demangle.h"
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>

static bool in_memory(const struct ws_ptx_sym *s)
{
	return s->kind == WS_SYM_VAR && (s->space == WS_SPACE_GLOBAL || s->space == WS_SPACE_CONST ||
	                                 s->space == WS_SPACE_TEX);
}

static void add_fn(struct ws_gpu *g, struct ws_unit *u, struct ws_fn *fn, struct ws_ptx_func *f)
{
	fn->ptx = f;
	fn->unit = u;
	fn->id = (uint32_t)g->nfns;
	*WS_PUSH(g->fns, g->nfns, g->cap_fns) = fn;
	fn->sites = ws_arena_alloc(u->module->arena, f->ninsts * sizeof *fn->sites);
	for (uint32_t i = 0; i < f->ninsts; i++)
		fn->sites[i] = (struct ws_site){g->nsites++, f, &f->insts[i]};
	fn->vars = ws_arena_alloc(u->module->arena, f->nvars * sizeof *fn->vars);
	for (uint32_t i = 0; i < f->nvars; i++)
		fn->vars[i].sym = f->vars[i];
}

static void add_unit(struct ws_gpu_module *mod, struct ws_unit *u, struct ws_ptx_module *m)
{
	u->ptx = m;
	u->module = mod;
	u->vars = ws_arena_alloc(mod->arena, m->nvars * sizeof *u->vars);
	u->fns = ws_arena_alloc(mod->arena, m->nfuncs * sizeof *u->fns);
	for (uint32_t i = 0; i < m->nvars; i++)
		u->vars[i].sym = m->vars[i];
	for (uint32_t i = 0; i < m->nfuncs; i++)
		add_fn(mod->gpu, u, &u->fns[i], m->funcs[i]);
}

/* ---- variables ---- */
static enum ws_mem_kind kind_of(const struct ws_ptx_sym *s)
{
	if (s->managed)
		return WS_MEM_MANAGED;
	return s->space == WS_SPACE_CONST ? WS_MEM_CONST : WS_MEM_SYMBOL;
}

static bool place_var(struct ws_gpu *g, struct ws_var *v, struct ws_gpu_error *err)
{
	struct ws_ptx_sym *s = v->sym;
	uint64_t size = s->size ? s->size : 8;   /* texture references and the like have no size of their own */

	if (!in_memory(s) || v->def != v || v->mem)
		return true;
	v->mem = ws_memmap_new(&g->map, size, s->align, kind_of(s), s->name, NULL);
	if (!v->mem) {
		ws_error_set(err, WS_GPU_NO_MEMORY, "no device memory left for variable '%s' of %llu bytes", s->name,
		             (unsigned long long)size);
		return false;
	}
	return true;
}

static uint64_t address_of(struct ws_unit *u, const struct ws_fn *fn, const struct ws_ptx_sym *sym)
{
	struct ws_var *v;

	if (sym->kind == WS_SYM_FUNC) {
		struct ws_fn *f = u->fns[sym->index].def;

		if (!f)
			return 0;
		f->address_taken = true;
		return WS_WINDOW(WS_WINDOW_FUNC) + (uint64_t)f->id * WS_FUNC_STEP;
	}
	v = sym->kind == WS_SYM_VAR ? ws_unit_var(u, fn, sym) : NULL;
	return v && v->mem ? v->mem->addr : 0;
}

static void fill_var(struct ws_unit *u, const struct ws_fn *fn, struct ws_var *v)
{
	const struct ws_ptx_sym *s = v->sym;

	if (v->def != v || !v->mem)
		return;
	if (s->init)
		memcpy(v->mem->host, s->init, s->size);
	for (uint32_t i = 0; i < s->nrelocs; i++) {
		const struct ws_ptx_reloc *r = &s->relocs[i];
		uint64_t value = (address_of(u, fn, r->sym) + (uint64_t)r->addend) >> r->shift;

		if (r->at + r->bytes <= s->size)
			memcpy(v->mem->host + r->at, &value, r->bytes);
	}
}

static bool each_var(struct ws_gpu_module *mod, struct ws_gpu_error *err)
{
	for (size_t i = 0; i < mod->nunits; i++) {
		struct ws_unit *u = &mod->units[i];

		for (uint32_t k = 0; k < u->ptx->nvars; k++)
			if (!place_var(mod->gpu, &u->vars[k], err))
				return false;
		for (uint32_t f = 0; f < u->ptx->nfuncs; f++)
			for (uint32_t k = 0; k < u->fns[f].ptx->nvars; k++)
				if (!place_var(mod->gpu, &u->fns[f].vars[k], err))
					return false;
	}
	for (size_t i = 0; i < mod->nunits; i++) {
		struct ws_unit *u = &mod->units[i];

		for (uint32_t k = 0; k < u->ptx->nvars; k++)
			fill_var(u, NULL, &u->vars[k]);
		for (uint32_t f = 0; f < u->ptx->nfuncs; f++)
			for (uint32_t k = 0; k < u->fns[f].ptx->nvars; k++)
				fill_var(u, &u->fns[f], &u->fns[f].vars[k]);
	}
	return true;
}

/* ---- kernels ---- */
static const char *readable(struct ws_arena *a, const char *name)
{
	char *text = ws_demangle(name);
	const char *copy = name;

	if (text)
		copy = ws_arena_strndup(a, text, strlen(text));
	free(text);
	return copy;
}

static struct ws_gpu_kernel *new_kernel(struct ws_gpu_module *mod, struct ws_fn *fn)
{
	struct ws_gpu_kernel *k = ws_arena_alloc(mod->arena, sizeof *k);
	struct ws_ptx_func *f = fn->ptx;
	uint64_t at = 0;

	k->fn = fn;
	k->module = mod;
	k->name = readable(mod->arena, f->name);
	k->param_offset = ws_arena_alloc(mod->arena, (f->nparams + 1) * sizeof *k->param_offset);
	k->param_size = ws_arena_alloc(mod->arena, (f->nparams + 1) * sizeof *k->param_size);
	for (uint32_t i = 0; i < f->nparams; i++) {
		uint64_t align = f->params[i]->align ? f->params[i]->align : 1;

		at = (at + align - 1) & ~(align - 1);
		k->param_offset[i] = (uint32_t)at;
		k->param_size[i] = (uint32_t)f->params[i]->size;
		at += f->params[i]->size;
	}
	k->param_bytes = (uint32_t)at;
	return k;
}

static void add_kernels(struct ws_gpu_module *mod)
{
	size_t n = 0;

	for (size_t i = 0; i < mod->nunits; i++)
		n += mod->units[i].ptx->nfuncs;
	mod->kernels = ws_arena_alloc(mod->arena, (n + 1) * sizeof *mod->kernels);
	for (size_t i = 0; i < mod->nunits; i++)
		for (uint32_t f = 0; f < mod->units[i].ptx->nfuncs; f++) {
			struct ws_fn *fn = &mod->units[i].fns[f];

			if (fn->ptx->entry && fn->def == fn)
				mod->kernels[mod->nkernels++] = new_kernel(mod, fn);
		}
}

/* ---- the public face ---- */
static void free_vars(struct ws_gpu *g, struct ws_var *vars, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (vars[i].mem && vars[i].def == &vars[i])
			ws_memmap_free(&g->map, vars[i].mem->addr);
}

static void drop(struct ws_gpu_module *mod)
{
	struct ws_gpu *g = mod->gpu;

	for (size_t i = 0; i < mod->nkernels; i++)
		ws_image_free(mod->kernels[i]->image);
	for (size_t i = 0; i < mod->nunits; i++) {
		struct ws_unit *u = &mod->units[i];

		free_vars(g, u->vars, u->ptx->nvars);
		for (uint32_t f = 0; f < u->ptx->nfuncs; f++) {
			free_vars(g, u->fns[f].vars, u->fns[f].ptx->nvars);
			g->fns[u->fns[f].id] = NULL;
		}
	}
	ws_arena_free(mod->arena);
}

struct ws_gpu_module *ws_gpu_module_load(struct ws_gpu *g, struct ws_ptx_module *const *m, size_t n,
                                         struct ws_gpu_error *err)
{
	struct ws_arena *arena = ws_arena_new();
	struct ws_gpu_module *mod = ws_arena_alloc(arena, sizeof *mod);
	bool ok;

	pthread_mutex_lock(&g->lock);
	mod->gpu = g;
	mod->arena = arena;
	mod->nunits = n;
	mod->units = ws_arena_alloc(arena, n * sizeof *mod->units);
	for (size_t i = 0; i < n; i++)
		add_unit(mod, &mod->units[i], m[i]);
	ok = ws_link(mod, err) && each_var(mod, err);
	if (ok) {
		add_kernels(mod);
		mod->next = g->modules;
		g->modules = mod;
	} else {
		drop(mod);
	}
	pthread_mutex_unlock(&g->lock);
	return ok ? mod : NULL;
}

void ws_gpu_module_unload(struct ws_gpu *g, struct ws_gpu_module *mod)
{
	pthread_mutex_lock(&g->lock);
	for (struct ws_gpu_module **at = &g->modules; *at; at = &(*at)->next)
		if (*at == mod) {
			*at = mod->next;
			drop(mod);
			break;
		}
	pthread_mutex_unlock(&g->lock);
}

struct ws_mem *ws_gpu_module_var(struct ws_gpu_module *mod, const char *name)
{
	for (size_t i = 0; i < mod->nunits; i++)
		for (uint32_t k = 0; k < mod->units[i].ptx->nvars; k++) {
			struct ws_var *v = &mod->units[i].vars[k];

			if (v->def && v->def->mem && !strcmp(v->sym->name, name))
				return v->def->mem;
		}
	return NULL;
}

struct ws_gpu_kernel *ws_gpu_module_kernel(struct ws_gpu_module *mod, const char *name)
{
	for (size_t i = 0; i < mod->nkernels; i++)
		if (!strcmp(mod->kernels[i]->fn->ptx->name, name))
			return mod->kernels[i];
	return NULL;
}

struct ws_gpu_kernel *ws_gpu_module_kernel_at(struct ws_gpu_module *mod, size_t i)
{
	return i < mod->nkernels ? mod->kernels[i] : NULL;
}

uint64_t ws_gpu_function_address(struct ws_gpu_module *mod, const char *name)
{
	for (size_t i = 0; i < mod->nunits; i++)
		for (uint32_t f = 0; f < mod->units[i].ptx->nfuncs; f++) {
			struct ws_fn *fn = mod->units[i].fns[f].def;

			if (fn && fn->ptx && !strcmp(fn->ptx->name, name)) {
				fn->address_taken = true;
				return WS_WINDOW(WS_WINDOW_FUNC) + (uint64_t)fn->id * WS_FUNC_STEP;
			}
		}
	return 0;
}

struct ws_fn *ws_fn_at(struct ws_gpu *g, uint64_t address)
{
	uint64_t off = address - WS_WINDOW(WS_WINDOW_FUNC);

	if (off % WS_FUNC_STEP || off / WS_FUNC_STEP >= g->nfns)
		return NULL;
	return g->fns[off / WS_FUNC_STEP];
}

void ws_gpu_kernel_info(const struct ws_gpu_kernel *k, struct ws_kernel_info *info)
{
	const struct ws_ptx_func *f = k->fn->ptx;
	struct ws_image *im = ws_image_get((struct ws_gpu_kernel *)(uintptr_t)k);
	uint64_t max = ws_ptx_most_threads(f), consts = 0;

	for (uint32_t i = 0; i < k->fn->unit->ptx->nvars; i++)
		if (k->fn->unit->ptx->vars[i]->space == WS_SPACE_CONST)
			consts += k->fn->unit->ptx->vars[i]->size;
	*info = (struct ws_kernel_info){
		.name = f->name, .nparams = f->nparams, .param_offset = k->param_offset, .param_size = k->param_size,
		.param_bytes = k->param_bytes, .regs = im->regs, .shared_static = im->shared_static - k->module->gpu->config.shared_reserved,
		.local_bytes = im->local_bytes, .const_bytes = (uint32_t)consts,
		.max_threads = max && max < WS_MAX_THREADS ? (uint32_t)max : WS_MAX_THREADS,
		.ptx_version = k->fn->unit->ptx->version, .sm = k->fn->unit->ptx->sm, .launches = k->launches,
		.thread_instructions = k->thread_instructions, .func = f,
	};
}
