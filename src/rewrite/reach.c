/* reach.c - which kernels of a module the race checks can follow, and which functions their checks go into.
 *
 * The checks on the device know barriers of blocks, warp synchronization, fences and atomics. What
 * synchronizes or copies in other ways makes every kernel that can come to it a kernel that is not checked: to leave
 * it out would invent races. */
#include "rewrite/reach.h"
#include "rewrite/async.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- instructions ---- */
static const char *barrier(const struct ws_ptx_inst *i)
{
	for (unsigned k = 1; k < i->nops; k++)
		if (i->ops[k].kind == WS_O_REG && i->mode != WS_MODE_WARP_SYNC && ws_ptx_sets(i, i->ops[k].reg))
			return "a barrier that sets its own operands";
	return ws_ptx_sets(i, i->guard) ? "a barrier that sets its own guard" : NULL;
}

static bool asynchronous(const struct ws_ptx_inst *i)
{
	return i->mode == WS_MODE_OTHER && i->extra && strstr(i->extra, "async");
}

/* What makes an instruction one that the checks do not know; NULL: they do, or it does not matter to them. */
static const char *beyond(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	unsigned fx = ws_op_info(i->op)->fx;

	switch (i->op) {
	case WS_OP_bar: case WS_OP_barrier:
		return barrier(i);
	case WS_OP_cp: case WS_OP_mbarrier:
		return ws_rw_async(f, i) != WS_RW_NOT_FOLLOWED ? NULL : i->op == WS_OP_cp ? "cp.async" : "mbarrier";
	case WS_OP_wgmma:
		return ws_rw_async(f, i) != WS_RW_NOT_FOLLOWED ? NULL : "wgmma";
	case WS_OP_griddepcontrol:           /* orders launches: a hook */
	case WS_OP_tensormap:                /* an access that is not followed */
		return NULL;
	case WS_OP_mapa: case WS_OP_getctarank:      /* addresses */
		return NULL;
	case WS_OP_setmaxnreg:               /* is taken out */
		return NULL;
	case WS_OP_st: case WS_OP_red:
		if (asynchronous(i))
			return ws_rw_async(f, i) != WS_RW_NOT_FOLLOWED ? NULL : i->op == WS_OP_st ? "st.async" : "red.async";
		break;
	case WS_OP_unknown:
		return "an unknown instruction";
	default:
		break;
	}
	if (fx & (WS_FX_SYNC | WS_FX_ASYNC))
		return ws_op_info(i->op)->name;
	return NULL;
}

/* ---- clusters ---- */
bool ws_reach_is_cluster_barrier(const struct ws_ptx_inst *i, bool *wait)
{
	if (i->op != WS_OP_barrier || i->mode != WS_MODE_OTHER || !i->extra)
		return false;
	*wait = strcmp(i->extra, ".cluster.wait") == 0;
	return true;
}

static bool has_label(const struct ws_ptx_func *f, uint32_t inst)
{
	for (uint32_t k = 0; k < f->nlabels; k++)
		if (f->labels[k].inst == inst)
			return true;
	return false;
}

/* Does nothing come between it and its other half that others could notice? */
static bool is_whole(const struct ws_ptx_func *f, uint32_t at, bool wait)
{
	enum { NOTICED = WS_FX_READ | WS_FX_WRITE | WS_FX_ATOMIC | WS_FX_BARRIER | WS_FX_WARP | WS_FX_FENCE | WS_FX_BRANCH | WS_FX_CALL |
		         WS_FX_EXIT | WS_FX_ASYNC };
	const struct ws_ptx_inst *i;
	bool is_wait;

	if (f->insts[at].guard || (wait && has_label(f, at)))
		return false;
	for (uint32_t k = wait ? at - 1 : at + 1; k < f->ninsts; k += wait ? -1u : 1) {
		i = &f->insts[k];
		if (ws_reach_is_cluster_barrier(i, &is_wait))
			return is_wait != wait && !i->guard && i->sem != WS_SEM_RELAXED;
		if (has_label(f, k) || ws_op_info(i->op)->fx & (NOTICED | WS_FX_SYNC))
			return false;
	}
	return false;
}

/* A barrier of the cluster may be an epoch of its blocks where all threads wait there at once when they have arrived, and have
 * released what they did. */
static unsigned of_cluster(const struct ws_ptx_func *f, uint32_t at)
{
	const struct ws_ptx_inst *i = &f->insts[at];
	bool wait;

	if (ws_reach_is_cluster_barrier(i, &wait))
		return i->sem != WS_SEM_RELAXED && is_whole(f, at, wait) ? WS_REACH_CLUSTER : WS_REACH_CLUSTER | WS_REACH_SPLIT;
	if (i->op == WS_OP_cp && ws_rw_async(f, i) == WS_RW_TENSOR_LOAD && ws_ptx_says(f, i, ".multicast::cluster"))
		return WS_REACH_CLUSTER | WS_REACH_PEERS;
	if (i->op == WS_OP_mapa || (i->space == WS_SPACE_SHARED_CLUSTER && i->op != WS_OP_cp))
		return WS_REACH_CLUSTER | WS_REACH_PEERS;
	return i->scope == WS_SCOPE_CLUSTER ? WS_REACH_CLUSTER : 0;
}

/* Functions without a body of which it is known that they are no matter: what a conditional node does next is read when the kernel has
 * ended. Memory that `free` gives back may come to another thread, and that would look like a race. */
static bool harmless(const char *name)
{
	static const char *const list[] = { "vprintf", "malloc", "__assertfail", "__assert_fail", "cudaGraphSetConditional" };

	for (unsigned k = 0; k < WS_COUNT(list); k++)
		if (strcmp(name, list[k]) == 0)
			return true;
	return false;
}

/* ---- one function ---- */
static void add_edge(struct ws_reach_func *r, struct ws_ptx_func *to)
{
	for (size_t k = 0; k < r->ncalls; k++)
		if (r->calls[k] == to)
			return;
	*WS_PUSH(r->calls, r->ncalls, r->cap) = to;
}

static void note(struct ws_reach_func *r, const struct ws_ptx_inst *i, const char *why)
{
	if (r->why)
		return;
	r->why = why;
	r->inst = i;
}

static void scan_call(struct ws_reach *reach, struct ws_reach_func *r, const struct ws_ptx_inst *i)
{
	const struct ws_operand *to = i->call->target;

	if (to->kind != WS_O_SYM || to->sym->kind != WS_SYM_FUNC) {
		r->indirect = true;
		return;
	}
	if (!to->sym->func->declared_only)
		add_edge(r, to->sym->func);
	else if (strcmp(to->sym->name, "free") == 0)
		note(r, i, "free");
	else if (!harmless(to->sym->name))
		note(r, i, ws_arena_strndup(reach->m->arena, to->sym->name, strlen(to->sym->name)));
}

static void take(struct ws_reach *reach, const struct ws_ptx_sym *s)
{
	if (s->kind != WS_SYM_FUNC)
		return;
	reach->funcs[s->index].taken = true;
	if (s->func->declared_only && !harmless(s->name))
		reach->foreign = s->name;
}

static void take_address(struct ws_reach *reach, const struct ws_operand *o, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		if (o[k].sym)
			take(reach, o[k].sym);
		if (o[k].elems)
			take_address(reach, o[k].elems, o[k].sreg_or_count);
	}
}

static unsigned of_async(enum ws_rw_async kind)
{
	switch (kind) {
	case WS_RW_NOT_ASYNC: return 0;
	case WS_RW_COPY: return WS_REACH_ASYNC | WS_REACH_COPIES;
	case WS_RW_BULK_LOAD: return WS_REACH_ASYNC | WS_REACH_BULK;
	case WS_RW_BULK_STORE: return WS_REACH_ASYNC | WS_REACH_BULK | WS_REACH_BULK_GROUPS;
	case WS_RW_BULK_REDUCE: return WS_REACH_ASYNC | WS_REACH_BULK | WS_REACH_BULK_GROUPS | WS_REACH_REMOTE;
	case WS_RW_OPERATION: case WS_RW_MULTICAST:
		return WS_REACH_ASYNC | WS_REACH_BULK | WS_REACH_REMOTE | WS_REACH_CLUSTER | WS_REACH_PEERS;
	case WS_RW_OBJECT_PEER: return WS_REACH_ASYNC | WS_REACH_REMOTE | WS_REACH_CLUSTER | WS_REACH_PEERS;
	case WS_RW_TENSOR_LOAD: return WS_REACH_ASYNC | WS_REACH_BULK | WS_REACH_TENSOR;
	case WS_RW_TENSOR_STORE: return WS_REACH_ASYNC | WS_REACH_BULK | WS_REACH_BULK_GROUPS | WS_REACH_TENSOR;
	case WS_RW_PRODUCT: return WS_REACH_ASYNC | WS_REACH_BULK | WS_REACH_TENSOR;
	case WS_RW_BULK_COMMIT: case WS_RW_BULK_WAIT:        /* nothing without a copy, or a product */
	case WS_RW_PRODUCT_COMMIT: case WS_RW_PRODUCT_WAIT: case WS_RW_PRODUCT_FENCE:
		return 0;
	default: return WS_REACH_ASYNC;
	}
}

bool ws_reach_is_fence(const struct ws_ptx_inst *i)
{
	return (i->op == WS_OP_fence || i->op == WS_OP_membar) && i->mode != WS_MODE_PROXY && i->mode != WS_MODE_OTHER;
}

static unsigned of_fence(const struct ws_ptx_inst *i)
{
	if (!ws_reach_is_fence(i))
		return 0;
	return i->scope == WS_SCOPE_CTA || i->scope == WS_SCOPE_CLUSTER ? WS_REACH_NEAR : WS_REACH_WIDE;
}

static void scan(struct ws_reach *reach, struct ws_ptx_func *f)
{
	struct ws_reach_func *r = &reach->funcs[f->sym->index];

	for (uint32_t n = 0; n < f->ninsts; n++) {
		const struct ws_ptx_inst *i = &f->insts[n];
		const char *why = beyond(f, i);

		r->has |= of_async(ws_rw_async(f, i));
		r->has |= of_cluster(f, n);
		r->has |= of_fence(i);
		r->has |= i->op == WS_OP_setmaxnreg ? WS_REACH_REGISTERS : 0;

		if (why)
			note(r, i, why);
		if (i->call)
			scan_call(reach, r, i);
		take_address(reach, i->ops, i->nops);
	}
	for (uint32_t k = 0; k < f->nvars; k++)
		r->shared += f->vars[k]->space == WS_SPACE_SHARED ? f->vars[k]->size + f->vars[k]->align - 1 : 0;
}

static void scan_variables(struct ws_reach *reach)
{
	for (uint32_t k = 0; k < reach->m->nvars; k++) {
		const struct ws_ptx_sym *v = reach->m->vars[k];

		for (uint32_t n = 0; n < v->nrelocs; n++)
			take(reach, v->relocs[n].sym);
		reach->shared += v->space == WS_SPACE_SHARED ? v->size + v->align - 1 : 0;
		if (v->space == WS_SPACE_SHARED && !v->size && v->align > reach->align)
			reach->align = v->align;
	}
}

/* ---- from a kernel on ---- */
struct walk {
	struct ws_reach *reach;
	uint64_t *seen;                  /* by function */
	struct ws_ptx_func **stack;
	size_t n, cap;
};

static bool bit(const uint64_t *set, uint32_t k)
{
	return set[k / 64] >> k % 64 & 1;
}

static void visit(struct walk *w, struct ws_ptx_func *f)
{
	uint32_t k = f->sym->index;

	if (bit(w->seen, k))
		return;
	w->seen[k / 64] |= 1ull << k % 64;
	*WS_PUSH(w->stack, w->n, w->cap) = f;
}

static void visit_taken(struct walk *w)
{
	for (uint32_t k = 0; k < w->reach->m->nfuncs; k++)
		if (w->reach->funcs[w->reach->m->funcs[k]->sym->index].taken && !w->reach->m->funcs[k]->declared_only)
			visit(w, w->reach->m->funcs[k]);
}

static uint64_t *reached(struct ws_reach *reach, struct ws_ptx_func *kernel)
{
	struct walk w = { .reach = reach };

	w.seen = ws_arena_alloc(reach->m->arena, (reach->m->nfuncs / 64 + 1) * sizeof *w.seen);
	visit(&w, kernel);
	while (w.n) {
		const struct ws_reach_func *r = &reach->funcs[w.stack[--w.n]->sym->index];

		for (size_t k = 0; k < r->ncalls; k++)
			visit(&w, r->calls[k]);
		if (r->indirect)
			visit_taken(&w);
	}
	free(w.stack);
	return w.seen;
}

/* ---- what is not checked, and why ---- */
static void say(struct ws_reach *reach, struct ws_rw_kernel *k, const char *fmt, ...) WS_PRINTF(3, 4);
static void say(struct ws_reach *reach, struct ws_rw_kernel *k, const char *fmt, ...)
{
	struct ws_buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	ws_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	k->why = ws_arena_strndup(reach->m->arena, b.data, b.len);
	ws_buf_free(&b);
}

static void say_instruction(struct ws_reach *reach, struct ws_rw_kernel *k, const struct ws_reach_func *r)
{
	struct ws_buf place = { 0 };

	ws_ptx_where(reach->m, r->inst, &place);
	say(reach, k, "%s%s at %s", r->inst->call ? "call of " : "", r->why, place.data);
	ws_buf_free(&place);
}

/* May another module call it? */
static bool open_to_others(const struct ws_reach *reach, const struct ws_ptx_func *f)
{
	return !f->entry && (f->sym->linkage != WS_LINK_LOCAL || reach->funcs[f->sym->index].taken);
}

/* Beside the checks' variables it begins at a multiple of 16 bytes, whatever it asks for: linking forgets the alignment of what is
 * extern. Copies of tensors and products want more. */
static bool loses_alignment(const struct ws_reach *reach, const struct ws_rw_kernel *k)
{
	enum { KEPT = 16 };

	return reach->align > KEPT && ws_reach_has(reach, k) & WS_REACH_TENSOR;
}

/* Static shared memory that a kernel may have, and what the checks take of it at most with the gap in front. */
enum { SHARED_MOST = 48 << 10, SHARED_OURS = (2 << 10) + 128 };

static void judge(struct ws_reach *reach, struct ws_rw_kernel *k, bool part)
{
	uint64_t shared = reach->shared;

	for (uint32_t n = 0; n < reach->m->nfuncs && !k->why; n++) {
		const struct ws_ptx_func *f = reach->m->funcs[n];
		const struct ws_reach_func *r = &reach->funcs[f->sym->index];

		if (!bit(k->reach, f->sym->index))
			continue;
		shared += r->shared;
		if (r->why)
			say_instruction(reach, k, r);
		else if (part && open_to_others(reach, f))
			say(reach, k, "it can come to '%s', which other modules can call", f->name);
		else if (r->indirect && reach->foreign)
			say(reach, k, "it calls functions by their addresses, and '%s' may be one", reach->foreign);
		else if (part && r->indirect)
			say(reach, k, "it calls functions by their addresses, and the module is linked with others");
	}
	if (!k->why && !(~ws_reach_has(reach, k) & (WS_REACH_COPIES | WS_REACH_BULK_GROUPS)))
		say(reach, k, "it has groups of cp.async and of bulk copies");
	if (!k->why && loses_alignment(reach, k))
		say(reach, k, "its dynamic shared memory would not be aligned to %u bytes beside the checks", reach->align);
	k->full = shared > SHARED_MOST - SHARED_OURS;
	if (k->full && !k->why)
		say(reach, k, "its %llu bytes of shared memory leave no room for the checks", (unsigned long long)shared);
}

/* A kernel that has no room for our state must not come to functions with checks: those that it calls get none. */
static void keep_bare(struct ws_reach *reach, const struct ws_rw_kernel *full)
{
	for (uint32_t n = 0; n < reach->m->nfuncs; n++)
		if (bit(full->reach, n))
			reach->funcs[n].bare = true;
}

static void refuse_bare(struct ws_reach *reach, struct ws_rw_kernel *k)
{
	for (uint32_t n = 0; n < reach->m->nfuncs && !k->why; n++) {
		const struct ws_ptx_func *f = reach->m->funcs[n];

		if (bit(k->reach, f->sym->index) && reach->funcs[f->sym->index].bare)
			say(reach, k, "it shares '%s' with a kernel that has no room for checks", f->name);
	}
}

static void choose_functions(struct ws_reach *reach)
{
	for (uint32_t k = 0; k < reach->nkernels; k++)
		for (uint32_t n = 0; n < reach->m->nfuncs; n++)
			if (!reach->kernels[k].why && bit(reach->kernels[k].reach, n)) {
				reach->funcs[n].hooks = true;
				reach->funcs[n].with |= ws_reach_has(reach, &reach->kernels[k]);
			}
}

void ws_reach_find(struct ws_reach *reach, struct ws_ptx_module *m, bool part)
{
	*reach = (struct ws_reach){ .m = m };
	reach->funcs = ws_alloc((m->nfuncs + 1) * sizeof *reach->funcs);
	reach->kernels = ws_arena_alloc(m->arena, (m->nfuncs + 1) * sizeof *reach->kernels);
	scan_variables(reach);
	for (uint32_t n = 0; n < m->nfuncs; n++)
		scan(reach, m->funcs[n]);
	for (uint32_t n = 0; n < m->nfuncs; n++) {
		struct ws_ptx_func *f = m->funcs[n];

		if (!f->entry || f->declared_only)
			continue;
		reach->kernels[reach->nkernels] = (struct ws_rw_kernel){ .func = f, .reach = reached(reach, f) };
		judge(reach, &reach->kernels[reach->nkernels++], part);
	}
	for (uint32_t k = 0; k < reach->nkernels; k++)
		if (reach->kernels[k].full)
			keep_bare(reach, &reach->kernels[k]);
	for (uint32_t k = 0; k < reach->nkernels; k++)
		if (!reach->kernels[k].why)
			refuse_bare(reach, &reach->kernels[k]);
	choose_functions(reach);
}

unsigned ws_reach_has(const struct ws_reach *reach, const struct ws_rw_kernel *k)
{
	unsigned has = 0;

	for (uint32_t n = 0; n < reach->m->nfuncs; n++)
		has |= bit(k->reach, n) ? reach->funcs[n].has : 0;
	return has;
}

bool ws_reach_hooks(const struct ws_reach *reach, const struct ws_rw_kernel *k)
{
	for (uint32_t n = 0; n < reach->m->nfuncs; n++)
		if (bit(k->reach, n) && reach->funcs[n].hooks)
			return true;
	return false;
}

bool ws_reach_calls_hooks(const struct ws_reach *reach, const struct ws_rw_kernel *k)
{
	for (uint32_t n = 0; n < reach->m->nfuncs; n++)
		if (reach->m->funcs[n] != k->func && bit(k->reach, n) && reach->funcs[n].hooks)
			return true;
	return false;
}

void ws_reach_free(struct ws_reach *reach)
{
	for (uint32_t n = 0; n < reach->m->nfuncs; n++)
		free(reach->funcs[n].calls);
	free(reach->funcs);
}
