/* inline.c - bodies of device functions in the code of a pass.
 *
 * The functions come from clang, as PTX of their own module: parameters and results travel by ld.param and st.param
 * (PTX ISA 9.0, Abstracting the ABI). Placed elsewhere, a parameter is the register that was given for it, or a move;
 * a result is a move; `ret` is a jump behind the body; registers and labels get names of the place; the .param
 * variables of calls get a scope around the body. The runtime's module is ours alone: names are changed in it, and the
 * printer does the rest. */
#include "rewrite/rewrite_priv.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The files of src/device, each parsed once, and the body of each function when it is first asked for: of 100,000 lines most modules
 * need some thousand. A pass has one alone, as it changes names in it, which are made anew wherever a function is placed; what it
 * gives back is for the next. */
static struct {
	const char *ptx;
	struct ws_ptx_module *_Atomic module;    /* NULL: not parsed yet, or a pass has it */
} parsed[] = { { ws_device_count, NULL }, { ws_device_race, NULL }, { ws_device_race_sm90, NULL }, { ws_device_race_remote, NULL },
	       { ws_device_race_tensor, NULL },
	       { ws_device_tm, NULL }, { ws_device_tm_logged, NULL } };

static struct ws_ptx_module *take(const char *ptx)
{
	for (size_t k = 0; k < WS_COUNT(parsed); k++)
		if (parsed[k].ptx == ptx)
			return atomic_exchange(&parsed[k].module, NULL);
	return NULL;
}

bool ws_rw_runtime(struct ws_pass *p, const char *name, const char *ptx)
{
	if (!p->runtime) {
		p->runtime = take(ptx);
		p->runtime_ptx = ptx;
	}
	if (!p->runtime)
		p->runtime = ws_ptx_parse(name, ptx, strlen(ptx), &(struct ws_ptx_options){ .later = true }, p->sink);
	p->failed |= !p->runtime;
	return p->runtime != NULL;
}

void ws_rw_runtime_back(struct ws_pass *p)
{
	struct ws_ptx_module *m = p->runtime;

	for (size_t k = 0; m && k < WS_COUNT(parsed); k++)
		if (parsed[k].ptx == p->runtime_ptx) {
			m = atomic_exchange(&parsed[k].module, m);
			break;
		}
	ws_ptx_free(m);
	p->runtime = NULL;
}

/* ---- what the body needs in the module ---- */
static bool add_symbol(struct ws_pass *p, const struct ws_ptx_sym *s);

static void need(struct ws_pass *p, const struct ws_ptx_inst *i)
{
	const struct ws_op_info *o = ws_op_info(i->op);

	ws_rw_need(p, o->ptx_version, o->sm);
	if (i->space == WS_SPACE_SHARED_CLUSTER || i->scope == WS_SCOPE_CLUSTER)
		ws_rw_need(p, 78, 90);
	if (i->flags & WS_F_SYNC)
		ws_rw_need(p, 60, 30);
	if (i->op == WS_OP_fence || (i->sem > WS_SEM_WEAK && i->sem < WS_SEM_VOLATILE))
		ws_rw_need(p, 60, 70);
}

static bool add_used(struct ws_pass *p, const struct ws_operand *o, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		if (o[k].sym && !o[k].sym->scope && !add_symbol(p, o[k].sym))
			return false;
		if (o[k].elems && !add_used(p, o[k].elems, o[k].sreg_or_count))
			return false;
	}
	return true;
}

static bool add_all_used(struct ws_pass *p, struct ws_ptx_func *f)
{
	if (!ws_ptx_body(f, p->sink))
		return ws_rw_error(p, NULL, "the runtime's '%s' cannot be read", f->name);
	for (uint32_t n = 0; n < f->ninsts; n++) {
		const struct ws_ptx_inst *i = &f->insts[n];

		need(p, i);
		if (!add_used(p, i->ops, i->nops) || (i->call && !add_used(p, i->call->target, 1)))
			return false;
	}
	return true;
}

void ws_rw_leave_out(struct ws_pass *p, const char *const *functions, unsigned n)
{
	p->left_out = functions;
	p->nleft_out = n;
}

static bool is_left_out(const struct ws_pass *p, const struct ws_ptx_sym *s)
{
	bool is = false;

	for (unsigned k = 0; k < p->nleft_out && s->kind == WS_SYM_FUNC; k++)
		is |= !strcmp(p->left_out[k], s->name);
	return is;
}

/* What stands before the body, and a body that gives 0. */
static bool add_left_out(struct ws_pass *p, const struct ws_ptx_sym *s, const char *text)
{
	const char *body = strchr(text, '{');

	if (!body || s->func->nrets != 1)
		return ws_rw_error(p, NULL, "the runtime's '%s' gives no value", s->name);
	ws_rw_declare(p, "%.*s{\n\tst.param.b32 \t[%s], 0;\n\tret;\n}", (int)(body - text), text, s->func->rets[0]->name);
	return true;
}

/* The text of a declaration: without its linkage, so that the name stays the module's own. */
static bool add_symbol(struct ws_pass *p, const struct ws_ptx_sym *s)
{
	static const char own[] = "__warpsafe_", visible[] = ".visible";
	bool defined = s->kind == WS_SYM_FUNC && !s->func->declared_only;    /* there may be a declaration before */
	const char *text = p->runtime->text + (defined ? s->func->off : s->off);
	uint32_t len = defined ? s->func->len : s->len;

	for (size_t k = 0; k < p->added.n; k++)
		if (p->added.list[k] == s)
			return true;
	*WS_PUSH(p->added.list, p->added.n, p->added.cap) = s;
	if (strncmp(s->name, own, strlen(own)))
		return ws_rw_error(p, NULL, "'%s' of the runtime is added to the module, and its name does not begin with "
				   "'%s'", s->name, own);
	if (s->linkage == WS_LINK_EXTERN)        /* the pass declares it */
		return true;
	if (s->kind == WS_SYM_FUNC && !is_left_out(p, s) && !add_all_used(p, s->func))
		return false;
	for (uint32_t k = 0; k < s->nrelocs; k++)
		if (!add_symbol(p, s->relocs[k].sym))
			return false;
	if (!strncmp(text, visible, strlen(visible))) {
		text += strlen(visible) + 1;
		len -= (uint32_t)strlen(visible) + 1;
	}
	if (is_left_out(p, s))
		return add_left_out(p, s, text);
	ws_rw_declare(p, "%.*s%s", (int)len, text, text[len - 1] == '}' || text[len - 1] == ';' ? "" : ";");
	return true;
}

bool ws_rw_use(struct ws_pass *p, const char *function)
{
	const struct ws_ptx_sym *s = p->runtime ? ws_ptx_find(p->runtime, function) : NULL;

	return s ? add_symbol(p, s) : ws_rw_error(p, NULL, "the runtime has no function '%s'", function);
}

/* ---- one inlining ---- */
struct inlining {
	struct ws_code *c;
	struct ws_ptx_func *fn;
	const char *const *args;
	const char *result, *end;        /* end: label behind the body; NULL = nobody needs it so far */
	uint32_t *defs;                  /* by register: how often it is written */
	bool scope;                      /* there are .param variables of calls */
};

static bool refuse(struct inlining *n, const char *why)
{
	return ws_rw_error(n->c->p, n->c->inst, "'%s' cannot be placed inline: it %s", n->fn->name, why);
}

/* The parameter (or result, by `list`) that a ld.param or st.param is about; -1: another variable. */
static int formal(struct ws_ptx_sym *const *list, uint32_t count, const struct ws_operand *o)
{
	for (uint32_t k = 0; o->kind == WS_O_ADDR && k < count; k++)
		if (o->sym == list[k])
			return (int)k;
	return -1;
}

static int loaded(const struct inlining *n, const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_ld && i->nops > 1 ? formal(n->fn->params, n->fn->nparams, &i->ops[1]) : -1;
}

static bool whole(const struct ws_ptx_inst *i, const struct ws_operand *o, const struct ws_ptx_sym *s)
{
	unsigned bytes = ws_type_bytes(i->type[0]);

	return !o->offset && i->vec == 1 && bytes == s->size && (bytes == 4 || bytes == 8);
}

static bool checked(struct inlining *n)
{
	const struct ws_ptx_func *fn = n->fn;

	if (fn->ntables)
		return refuse(n, "has a table of branch targets");
	for (uint32_t k = 0; k < fn->nvars; k++)
		if (fn->vars[k]->space != WS_SPACE_PARAM)
			return refuse(n, "has variables of its own in local or shared memory");
	for (uint32_t k = 0; k < fn->ninsts; k++) {
		const struct ws_ptx_inst *i = &fn->insts[k];
		int arg = loaded(n, i);

		if (i->op == WS_OP_exit)
			return refuse(n, "ends the thread");
		if (i->call && i->call->target->kind != WS_O_SYM)
			return refuse(n, "has an indirect call");
		if (arg >= 0 && (!whole(i, &i->ops[1], fn->params[arg]) || i->ops[0].kind != WS_O_REG))
			return refuse(n, "has a parameter that is not a value of 32 or 64 bits");
		if (i->op == WS_OP_st && formal(fn->rets, fn->nrets, &i->ops[0]) >= 0 &&
		    !whole(i, &i->ops[0], fn->rets[0]))
			return refuse(n, "has a result that is not a value of 32 or 64 bits");
	}
	return true;
}

static void count_def(void *user, struct ws_reg *r, bool is_def)
{
	((uint32_t *)user)[r->index] += is_def ? 1 : 0;
}

static void mark_use(void *user, struct ws_reg *r, bool is_def)
{
	(void)is_def;
	((uint8_t *)user)[r->index] = 1;
}

/* Registers are renamed: one that is but a parameter, given as a register, is that register. */
static void rename_registers(struct inlining *n)
{
	struct ws_ptx_func *fn = n->fn;
	uint8_t *used = ws_alloc(fn->nregs + 1);

	for (uint32_t k = 0; k < fn->ninsts; k++) {
		ws_ptx_inst_regs(&fn->insts[k], count_def, n->defs);
		ws_ptx_inst_regs(&fn->insts[k], mark_use, used);
	}
	for (uint32_t k = 0; k < fn->ninsts; k++) {
		int arg = loaded(n, &fn->insts[k]);
		struct ws_reg *r = arg >= 0 ? fn->insts[k].ops[0].reg : NULL;

		if (r && n->defs[r->index] == 1 && *n->args[arg] == '%' && !fn->insts[k].guard) {
			r->name = n->args[arg];
			used[r->index] = 0;
		}
	}
	for (uint32_t k = 0; k < fn->nregs; k++)
		if (used[k])
			fn->regs[k]->name = ws_code_temp(n->c, fn->regs[k]->type);
	free(used);
}

static void rename_labels(struct inlining *n)
{
	for (uint32_t k = 0; k < n->fn->nlabels; k++)
		n->fn->labels[k].name = ws_code_label(n->c);
}

/* The variables that carry arguments and results of calls, each under a name of its own. */
static void declare_call_variables(struct inlining *n)
{
	struct ws_ptx_func *fn = n->fn;
	struct ws_pass *p = n->c->p;

	n->scope = fn->nvars > 0;
	if (n->scope)
		ws_code_add(n->c, "{");
	for (uint32_t k = 0; k < fn->nvars; k++) {
		struct ws_ptx_sym *s = fn->vars[k];
		char made[32];

		snprintf(made, sizeof made, "__warpsafe_p%u", k);
		s->name = ws_arena_strndup(p->m->arena, made, strlen(made));
		if (s->array)
			ws_code_add(n->c, ".param .align %u .b8 %s[%llu];", s->align, s->name,
				    (unsigned long long)s->size);
		else
			ws_code_add(n->c, ".param .%s %s;", ws_type_name(s->type), s->name);
	}
}

static void guarded(const struct ws_ptx_inst *i, struct ws_buf *b)
{
	if (i->guard)
		ws_buf_printf(b, "@%s%s ", i->guard_neg ? "!" : "", i->guard->name);
}

static void jump_to_end(struct inlining *n, const struct ws_ptx_inst *i, struct ws_buf *b)
{
	if (i->index + 1 == n->fn->ninsts && !i->guard)
		return;
	if (!n->end)
		n->end = ws_code_label(n->c);
	guarded(i, b);
	ws_buf_printf(b, "bra %s;", n->end);
}

/* The value that st.param stores, as an operand: it stands behind the ',' of the instruction in canonical form. */
static void result_move(struct inlining *n, const struct ws_ptx_inst *i, struct ws_buf *b)
{
	struct ws_buf whole = { 0 };

	if (!n->result)
		return;
	ws_ptx_print_inst(n->fn, i, &whole);
	guarded(i, b);
	ws_buf_printf(b, "mov.%s %s%s", ws_type_name(i->type[0]), n->result, strstr(whole.data, "],") + 1);
	ws_buf_free(&whole);
}

static void instruction(struct inlining *n, const struct ws_ptx_inst *i)
{
	struct ws_buf b = { 0 };
	int arg = loaded(n, i);

	if (arg >= 0) {
		if (strcmp(i->ops[0].reg->name, n->args[arg])) {
			guarded(i, &b);
			ws_buf_printf(&b, "mov.%s %s, %s;", ws_type_name(i->type[0]), i->ops[0].reg->name,
				      n->args[arg]);
		}
	} else if (i->op == WS_OP_ret) {
		jump_to_end(n, i, &b);
	} else if (i->op == WS_OP_st && formal(n->fn->rets, n->fn->nrets, &i->ops[0]) >= 0) {
		result_move(n, i, &b);
	} else {
		ws_ptx_print_inst(n->fn, i, &b);
	}
	if (b.len)
		ws_code_add(n->c, "%s", b.data);
	ws_buf_free(&b);
}

static void labels_before(struct inlining *n, uint32_t inst)
{
	for (uint32_t k = 0; k < n->fn->nlabels; k++)
		if (n->fn->labels[k].inst == inst)
			ws_code_add(n->c, "%s:", n->fn->labels[k].name);
}

static void body(struct inlining *n)
{
	declare_call_variables(n);
	for (uint32_t k = 0; k < n->fn->ninsts; k++) {
		labels_before(n, k);
		instruction(n, &n->fn->insts[k]);
	}
	labels_before(n, n->fn->ninsts);
	if (n->end)
		ws_code_add(n->c, "%s:", n->end);
	if (n->scope)
		ws_code_add(n->c, "}");
}

bool ws_inline(struct ws_code *c, const char *function, const char *const *args, unsigned nargs, const char *result)
{
	struct ws_pass *p = c->p;
	struct ws_ptx_sym *s = p->runtime ? ws_ptx_find(p->runtime, function) : NULL;
	struct inlining n = { .c = c, .args = args, .result = result };

	if (!s || s->kind != WS_SYM_FUNC || s->func->declared_only)
		return ws_rw_error(p, c->inst, "the runtime has no function '%s'", function);
	n.fn = s->func;
	if (nargs != n.fn->nparams || (result && !n.fn->nrets))
		return ws_rw_error(p, c->inst, "'%s' takes %u arguments and returns %s", function, n.fn->nparams,
				   n.fn->nrets ? "a value" : "nothing");
	if (!add_all_used(p, n.fn) || !checked(&n))
		return false;
	n.defs = ws_alloc((n.fn->nregs + 1) * sizeof *n.defs);
	rename_registers(&n);
	rename_labels(&n);
	body(&n);
	free(n.defs);
	return true;
}
