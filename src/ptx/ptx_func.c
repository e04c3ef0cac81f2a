/* ptx_func.c - functions, their bodies, and what may stand in a body beside instructions. */
#include "ptx/ptx_priv.h"

#include <string.h>

/* ---- header ---- */
static bool params(struct parser *p, struct ws_ptx_sym ***out, uint32_t *n, bool bind)
{
	struct ws_ptx_sym **list = NULL;
	size_t count = 0, cap = 0;
	bool ok = true;

	ws_p_next(p);
	if (!ws_p_accept(p, ')')) {
		do {
			struct ws_ptx_sym *s = NULL;

			ok = ws_p_param(p, &s, bind);
			if (ok)
				*WS_PUSH(list, count, cap) = s;
		} while (ok && ws_p_accept(p, ','));
		ok = ok && ws_p_expect(p, ')', "the parameters");
	}
	*out = ws_p_keep(p, list, count, sizeof *list);
	*n = (uint32_t)count;
	for (uint32_t i = 0; i < *n; i++)
		if ((*out)[i]->space != WS_SPACE_REG)
			(*out)[i]->index = i;
	return ok;
}

/* Up to `max` numbers with commas; those that are missing are 1. */
static bool triple(struct parser *p, uint32_t *out, unsigned max, const char *what)
{
	for (unsigned i = 0; i < max; i++)
		out[i] = 1;
	for (unsigned i = 0; i < max; i++) {
		uint64_t v;
		uint32_t off = p->t.off, len = p->t.len;

		if (!ws_p_uint(p, &v, what))
			return false;
		if (v > UINT32_MAX)
			return ws_p_error(p, off, len, "%s is too large", what);
		out[i] = (uint32_t)v;
		if (i + 1 == max || !ws_p_accept(p, ','))
			break;
	}
	return true;
}

static bool performance_directive(struct parser *p, struct ws_ptx_func *f)
{
	const char *word = p->t.name->str;
	uint32_t ignored[3] = { 0 };
	bool managed;

	switch (p->t.name->directive) {
	case D_MAXNTID: ws_p_next(p); return triple(p, f->maxntid, 3, word);
	case D_REQNTID: ws_p_next(p); return triple(p, f->reqntid, 3, word);
	case D_REQNCTAPERCLUSTER: ws_p_next(p); return triple(p, f->reqnctapercluster, 3, word);
	case D_MINNCTAPERSM: ws_p_next(p); return triple(p, &f->minnctapersm, 1, word);
	case D_MAXNREG: ws_p_next(p); return triple(p, &f->maxnreg, 1, word);
	case D_MAXCLUSTERRANK: ws_p_next(p); return triple(p, &f->maxclusterrank, 1, word);
	case D_MAXNCTAPERSM: case D_ABI_PRESERVE: case D_ABI_PRESERVE_CONTROL:
		ws_p_next(p);
		return triple(p, ignored, 1, word);
	case D_NORETURN: f->noreturn = true; break;
	case D_EXPLICITCLUSTER: f->explicitcluster = true; break;
	case D_BLOCKSARECLUSTERS: f->blocksareclusters = true; break;
	case D_ATTRIBUTE: return ws_p_attribute(p, &managed);
	case D_PRAGMA: ws_p_next(p); return ws_p_pragma(p);
	default: return ws_p_error_here(p, "'%s' cannot stand before a function's body", word);
	}
	ws_p_next(p);
	return true;
}

/* Everything from the return values to the body; f's fields are filled. */
static bool header(struct parser *p, struct ws_ptx_func *f, struct name **name, uint32_t *at)
{
	bool managed;

	while (p->t.kind == TK_DOT && p->t.name->directive == D_ATTRIBUTE)
		if (!ws_p_attribute(p, &managed))
			return false;
	if (ws_p_is(p, '(')) {
		if (f->entry)
			return ws_p_error_here(p, "a kernel returns nothing");
		if (!params(p, &f->rets, &f->nrets, true))
			return false;
	}
	if (p->t.kind != TK_IDENT)
		return ws_p_error_here(p, "expected the name of a function");
	*name = p->t.name;
	*at = p->t.off;
	f->name = p->t.name->str;
	ws_p_next(p);
	if (ws_p_is(p, '(') && !params(p, &f->params, &f->nparams, true))
		return false;
	while (p->t.kind == TK_DOT)
		if (!performance_directive(p, f))
			return false;
	return true;
}

/* Enters the function, or meets its earlier declaration. NULL after an error. */
static struct ws_ptx_func *enter(struct parser *p, struct ws_ptx_func *f, struct name *n, uint32_t at,
                                 enum ws_linkage linkage, bool defined)
{
	struct binding *b = n->top;
	struct ws_ptx_sym *s;

	while (b && b->depth)
		b = b->shadowed;
	if (b && (b->kind != B_SYM || b->u.sym->kind != WS_SYM_FUNC)) {
		ws_p_error(p, at, n->len, "'%s' is declared already", n->str);
		return NULL;
	}
	if (!b) {
		s = ws_p_new_sym(p, WS_SYM_FUNC, n, f->off);
		s->linkage = linkage;
		s->func = f;
		s->index = (uint32_t)p->nfuncs;
		s->line = f->line;
		*WS_PUSH(p->funcs, p->nfuncs, p->funcs_cap) = f;
		f->sym = s;
		ws_p_bind_global(p, n, s);
		return f;
	}
	s = b->u.sym;
	if (!s->func->declared_only && defined) {
		ws_p_error(p, at, n->len, "'%s' is defined already, in line %u", n->str, s->func->line);
		return NULL;
	}
	f->sym = s;
	if (defined) {
		struct ws_ptx_func *old = s->func;

		*old = *f;
		s->linkage = linkage;
		return old;
	}
	return s->func;
}

/* ---- .loc (11.5.2) ---- */
static bool loc_numbers(struct parser *p, struct ws_ptx_loc *l)
{
	uint64_t v[3] = { 0 };

	for (unsigned i = 0; i < 3; i++) {
		if (p->t.kind != TK_INT) {
			if (i == 2)
				break;
			return ws_p_error_here(p, "expected file, line and column");
		}
		if (p->t.value > UINT32_MAX)
			return ws_p_error_here(p, "this number is too large");
		v[i] = p->t.value;
		ws_p_next(p);
	}
	ws_p_file_number(p, v[0], &l->file);
	l->line = (uint32_t)v[1];
	l->col = (uint32_t)v[2];
	return true;
}

static uint64_t *loc_slot(struct parser *p, const struct ws_ptx_loc *l)
{
	uint64_t key[3] = { (uint64_t)p->nfuncs << 32 | l->file, l->line, l->col };

	return ws_p_map(&p->loc_map, ws_hash(key, sizeof key) >> 1, NULL);
}

/* The position that is inlined at, with its own chain where an earlier .loc gave one. */
static bool inlined_at(struct parser *p, struct ws_ptx_loc *l)
{
	struct ws_ptx_loc *at = ws_arena_alloc(p->a, sizeof *at);
	const struct ws_ptx_loc *known;

	if (!loc_numbers(p, at))
		return false;
	known = (const struct ws_ptx_loc *)(uintptr_t)*loc_slot(p, at);
	if (known && known->file == at->file && known->line == at->line && known->col == at->col)
		l->inlined_at = known;
	else
		l->inlined_at = at;
	return true;
}

static bool function_name(struct parser *p, struct ws_ptx_loc *l)
{
	struct pending_loc *pl;

	if (p->t.kind != TK_IDENT)
		return ws_p_error_here(p, "expected a label after 'function_name'");
	pl = WS_PUSH(p->pending, p->npending, p->pending_cap);
	*pl = (struct pending_loc){ .loc = l, .label = p->t.name };
	ws_p_next(p);
	return ws_p_offset(p, &pl->offset);
}

bool ws_p_loc(struct parser *p)
{
	struct ws_ptx_loc *l = ws_arena_alloc(p->a, sizeof *l);

	ws_p_next(p);
	if (!loc_numbers(p, l))
		return false;
	while (ws_p_accept(p, ',')) {
		const char *word = p->t.kind == TK_IDENT ? p->t.name->str : "";
		bool inlined = strcmp(word, "inlined_at") == 0;

		if (!inlined && strcmp(word, "function_name"))
			return ws_p_error_here(p, "expected 'function_name' or 'inlined_at'");
		ws_p_next(p);
		if (!(inlined ? inlined_at(p, l) : function_name(p, l)))
			return false;
	}
	*loc_slot(p, l) = (uint64_t)(uintptr_t)l;
	p->loc = l;
	return true;
}

/* ---- .section: of the debug sections only .debug_str is read, for function_name ---- */
static void section_item(struct parser *p, bool strings)
{
	struct token t = p->t;

	ws_p_next(p);
	if (t.kind == TK_IDENT && ws_p_accept(p, ':')) {
		if (strings)
			*ws_p_map(&p->string_map, (uint64_t)(uintptr_t)t.name, NULL) = p->strings.len + 1;
		return;
	}
	if (t.kind != TK_DOT || strcmp(t.name->str, ".b8"))
		return;
	while (p->t.kind == TK_INT) {
		char byte = (char)p->t.value;

		if (strings)
			ws_buf_add(&p->strings, &byte, 1);
		ws_p_next(p);
		if (!ws_p_accept(p, ','))
			break;
	}
}

bool ws_p_section(struct parser *p)
{
	bool strings = p->t.kind == TK_DOT && strcmp(p->t.name->str, ".debug_str") == 0;

	if (p->t.kind != TK_DOT && p->t.kind != TK_IDENT)
		return ws_p_error_here(p, "expected the name of a section");
	ws_p_next(p);
	if (!ws_p_expect(p, '{', "the name of the section"))
		return false;
	while (!ws_p_is(p, '}')) {
		if (p->t.kind == TK_END)
			return ws_p_error_here(p, "this section has no '}'");
		if (p->stop)
			return false;
		section_item(p, strings);
	}
	ws_p_next(p);
	return true;
}

/* The string at a label + offset of .debug_str; NULL if there is none. Each is copied once. */
static const char *debug_string(struct parser *p, const struct pending_loc *pl)
{
	uint64_t at = *ws_p_map(&p->string_map, (uint64_t)(uintptr_t)pl->label, NULL);
	uint64_t start = at - 1 + (uint64_t)pl->offset;
	uint64_t *copy;

	if (!at || start >= p->strings.len)
		return NULL;
	copy = ws_p_map(&p->copy_map, start, NULL);
	if (!*copy) {
		const char *s = p->strings.data + start;

		*copy = (uint64_t)(uintptr_t)ws_arena_strndup(p->a, s, strnlen(s, p->strings.len - start));
	}
	return (const char *)(uintptr_t)*copy;
}

void ws_p_finish_locs(struct parser *p)
{
	for (size_t i = 0; i < p->npending; i++)
		p->pending[i].loc->function = debug_string(p, &p->pending[i]);
}

/* ---- what a label names ---- */
static bool plain_label(struct parser *p, const struct token *t)
{
	struct binding *b = t->name->top;
	struct ws_ptx_label *l;

	if (b && b->depth == p->depth && !b->poison)
		return ws_p_error(p, t->off, t->len, "'%s' is declared already", t->name->str);
	b = ws_p_bind(p, p->depth, t->name, B_LABEL);
	b->u.index = (uint32_t)p->nlabels;
	l = WS_PUSH(p->labels, p->nlabels, p->labels_cap);
	*l = (struct ws_ptx_label){ .name = t->name->str, .inst = (uint32_t)p->ninsts, .line = t->line };
	return true;
}

static bool name_list(struct parser *p, struct name ***names, size_t *n, uint32_t **offs)
{
	struct name **list = NULL;
	uint32_t *off = NULL;
	size_t cap = 0, off_cap = 0, noff = 0;

	*n = 0;
	do {
		if (p->t.kind != TK_IDENT)
			break;
		*WS_PUSH(list, *n, cap) = p->t.name;
		*WS_PUSH(off, noff, off_cap) = p->t.off;
		ws_p_next(p);
	} while (ws_p_accept(p, ','));
	*names = ws_p_keep(p, list, *n, sizeof *list);
	*offs = ws_p_keep(p, off, noff, sizeof *off);
	return ws_p_expect(p, ';', "the list");
}

static bool branch_targets(struct parser *p, const struct token *t)
{
	struct ws_ptx_branch_table *bt;
	uint32_t table = (uint32_t)p->ntables, *offs;
	struct name **names;
	size_t n;

	if (t->name->top && t->name->top->depth == p->depth && !t->name->top->poison)
		return ws_p_error(p, t->off, t->len, "'%s' is declared already", t->name->str);
	if (!name_list(p, &names, &n, &offs))
		return false;
	bt = WS_PUSH(p->tables, p->ntables, p->tables_cap);
	*bt = (struct ws_ptx_branch_table){ .name = t->name->str, .nlabels = (uint32_t)n };
	bt->labels = ws_arena_alloc(p->a, n * sizeof *bt->labels);
	ws_p_bind(p, p->depth, t->name, B_TABLE)->u.index = table;
	for (size_t i = 0; i < n; i++)
		ws_p_add_fixup(p, &(struct fixup){ .name = names[i], .off = offs[i], .len = names[i]->len,
		                                   .kind = FIX_TABLE_ENTRY, .table = table, .entry = (uint32_t)i });
	return true;
}

static bool call_targets(struct parser *p, const struct token *t)
{
	struct ws_ptx_sym *s = ws_p_new_sym(p, WS_SYM_TARGETS, t->name, t->off);
	struct name **names;
	uint32_t *offs;
	size_t n;

	if (!name_list(p, &names, &n, &offs))
		return false;
	s->scope = p->f;
	s->len = p->last_end - t->off;
	s->targets = ws_arena_alloc(p->a, n * sizeof *s->targets);
	for (size_t i = 0; i < n; i++) {
		struct binding *b = names[i]->top;

		if (!b || b->kind != B_SYM || b->u.sym->kind != WS_SYM_FUNC)
			return ws_p_error(p, offs[i], names[i]->len, "'%s' is not a function", names[i]->str);
		s->targets[s->ntargets++] = b->u.sym;
	}
	ws_p_bind(p, p->depth, t->name, B_SYM)->u.sym = s;
	return true;
}

/* label: .callprototype (rets) _ (params) ... ; */
static bool call_prototype(struct parser *p, const struct token *t)
{
	struct ws_ptx_sym *s = ws_p_new_sym(p, WS_SYM_PROTO, t->name, t->off);
	struct ws_ptx_func *f = ws_arena_alloc(p->a, sizeof *f);

	*f = (struct ws_ptx_func){ .name = t->name->str, .sym = s, .module = p->m, .declared_only = true, .off = t->off,
	                           .line = t->line };
	s->func = f;
	s->scope = p->f;
	if (ws_p_is(p, '(') && !params(p, &f->rets, &f->nrets, false))
		return false;
	if (p->t.kind != TK_IDENT)
		return ws_p_error_here(p, "expected '_' in a call prototype");
	ws_p_next(p);
	if (ws_p_is(p, '(') && !params(p, &f->params, &f->nparams, false))
		return false;
	while (p->t.kind == TK_DOT)
		if (!performance_directive(p, f))
			return false;
	if (!ws_p_expect(p, ';', "the call prototype"))
		return false;
	s->len = f->len = p->last_end - t->off;
	ws_p_bind(p, p->depth, t->name, B_SYM)->u.sym = s;
	return true;
}

static bool labelled(struct parser *p, const struct token *t)
{
	unsigned d;

	ws_p_next(p);
	d = p->t.kind == TK_DOT ? p->t.name->directive : D_NONE;
	switch (d) {
	case D_BRANCHTARGETS: ws_p_next(p); return branch_targets(p, t);
	case D_CALLTARGETS: ws_p_next(p); return call_targets(p, t);
	case D_CALLPROTOTYPE: ws_p_next(p); return call_prototype(p, t);
	default: return plain_label(p, t);
	}
}

/* ---- body ---- */
static bool body_declaration(struct parser *p)
{
	enum ws_linkage linkage = WS_LINK_LOCAL;
	uint32_t off = p->t.off;

	for (;; ws_p_next(p)) {
		switch (p->t.kind == TK_DOT ? p->t.name->directive : D_NONE) {
		case D_REG: return ws_p_reg_decl(p);
		case D_LOC: return ws_p_loc(p);
		case D_PRAGMA: ws_p_next(p); return ws_p_pragma(p);
		case D_EXTERN: linkage = WS_LINK_EXTERN; continue;
		case D_VISIBLE: linkage = WS_LINK_VISIBLE; continue;
		case D_WEAK: linkage = WS_LINK_WEAK; continue;
		case D_COMMON: linkage = WS_LINK_COMMON; continue;
		case D_GLOBAL: case D_CONST: case D_SHARED: case D_LOCAL: case D_PARAM: case D_TEX:
			return ws_p_variable(p, linkage, false, off);
		default: break;
		}
		return ws_p_error_here(p, "unknown directive in a function");
	}
}

static bool body_statement(struct parser *p)
{
	struct token t = p->t;

	if (p->t.kind == TK_DOT)
		return body_declaration(p);
	if (ws_p_is(p, '{')) {
		ws_p_next(p);
		return ws_p_open(p, t.off);
	}
	if (ws_p_is(p, '@') || p->t.kind == TK_IDENT) {
		if (p->t.kind == TK_IDENT) {
			ws_p_next(p);
			if (ws_p_is(p, ':'))
				return labelled(p, &t);
		}
		return ws_p_instruction(p, &t);
	}
	return ws_p_error_here(p, "expected an instruction, a label or a directive");
}

static void body(struct parser *p)
{
	unsigned base = p->depth - 1;

	while (p->depth > base && !p->stop) {
		if (p->t.kind == TK_END) {
			ws_p_error_here(p, "the body of '%s' has no '}'", p->f->name);
			break;
		}
		if (ws_p_is(p, '}')) {
			ws_p_close(p);
			ws_p_next(p);
		} else if (!ws_p_accept(p, ';')) {
			p->braces = 0;
			p->in_bracket = false;
			if (!body_statement(p))
				ws_p_skip(p);
		}
	}
	while (p->depth > base)          /* only after an error */
		ws_p_close(p);
}

static void finish(struct parser *p)
{
	struct ws_ptx_func *f = p->f;

	f->nregs = (uint32_t)p->nregs;
	f->regs = ws_p_copy(p, p->regs, p->nregs, sizeof *p->regs);
	f->nvars = (uint32_t)p->nfvars;
	f->vars = ws_p_copy(p, p->fvars, p->nfvars, sizeof *p->fvars);
	f->ninsts = (uint32_t)p->ninsts;
	f->insts = ws_p_copy(p, p->insts, p->ninsts, sizeof *p->insts);
	f->nlabels = (uint32_t)p->nlabels;
	f->labels = ws_p_copy(p, p->labels, p->nlabels, sizeof *p->labels);
	f->ntables = (uint32_t)p->ntables;
	f->tables = ws_p_copy(p, p->tables, p->ntables, sizeof *p->tables);
}

/* The k-th of the return values and parameters. */
static struct ws_ptx_sym *formal(const struct ws_ptx_func *f, uint32_t k)
{
	return k < f->nrets ? f->rets[k] : f->params[k - f->nrets];
}

static void read_body(struct parser *p, struct ws_ptx_func *f)
{
	p->f = f;
	p->loc = NULL;
	ws_p_next(p);
	body(p);
	finish(p);
	p->f = NULL;
}

/* A parameter that is a register is one of the body's, which begins with those. */
static bool may_wait(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->nrets + f->nparams; k++)
		if (formal(f, k)->space != WS_SPACE_PARAM)
			return false;
	return !f->entry;
}

static void pass_over_body(struct parser *p, struct ws_ptx_func *f)
{
	f->waits = true;
	p->t = (struct token){ .kind = TK_PUNCT, .ch = '}', .off = p->lx.pos - 1, .len = 1, .line = p->lx.line };
	ws_p_next(p);
}

void ws_p_waiting_body(struct parser *p, struct ws_ptx_func *f)
{
	ws_p_open(p, f->off);
	for (uint32_t k = 0; k < f->nrets + f->nparams; k++) {
		const char *name = formal(f, k)->name;

		ws_p_bind(p, p->depth, ws_names_get(&p->names, name, strlen(name)), B_SYM)->u.sym = formal(f, k);
	}
	ws_p_next(p);
	read_body(p, f);
	while (p->depth)
		ws_p_close(p);
}

static bool definition(struct parser *p, struct ws_ptx_func *f, uint32_t off)
{
	f->body_off = p->t.off;
	f->body_line = p->t.line;
	for (uint32_t k = 0; k < f->nrets + f->nparams; k++)
		formal(f, k)->scope = f;
	if (p->opt.later && may_wait(f) && ws_lex_block(&p->lx))
		pass_over_body(p, f);
	else
		read_body(p, f);
	f->len = f->sym->len = p->last_end - off;
	return true;
}

static bool function(struct parser *p, enum ws_linkage linkage, uint32_t off)
{
	struct ws_ptx_func *f = ws_arena_alloc(p->a, sizeof *f), *entered;
	struct name *n = NULL;
	uint32_t at = off;
	bool defined;

	*f = (struct ws_ptx_func){ .module = p->m, .off = off, .line = p->t.line };
	f->entry = p->t.name->directive == D_ENTRY;
	ws_p_next(p);
	if (!header(p, f, &n, &at))
		return false;
	for (uint32_t i = 0; f->entry && i < f->nparams; i++)
		if (f->params[i]->space != WS_SPACE_PARAM)
			return ws_p_error(p, f->params[i]->off, f->params[i]->len,
					  "the parameters of a kernel are '.param' variables");
	defined = ws_p_is(p, '{');
	f->declared_only = !defined;
	entered = enter(p, f, n, at, linkage, defined);
	if (!entered)
		return false;
	if (defined)
		return definition(p, entered, off);
	if (!ws_p_expect(p, ';', "the declaration of a function"))
		return false;
	if (entered == f)
		f->len = f->sym->len = p->last_end - off;
	return true;
}

bool ws_p_function(struct parser *p, enum ws_linkage linkage, uint32_t off)
{
	bool ok;

	p->nregs = p->nfvars = p->ninsts = p->nlabels = p->ntables = 0;
	p->nfixups = 0;
	ws_p_open(p, off);
	ok = function(p, linkage, off);
	while (p->depth)
		ws_p_close(p);
	if (!ok && ws_p_is(p, '{')) {    /* a body whose head was wrong: pass over it */
		ws_p_next(p);
		p->braces = 1;
		while (p->braces > 0 && p->t.kind != TK_END && !p->stop) {
			p->braces += ws_p_is(p, '{') ? 1 : ws_p_is(p, '}') ? -1 : 0;
			ws_p_next(p);
		}
		p->braces = 0;
		return true;
	}
	return ok;
}
