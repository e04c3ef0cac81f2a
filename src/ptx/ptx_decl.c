/* ptx_decl.c - declarations of variables, registers and parameters (PTX ISA 9.0, chapter 5). Initializers are in
 * ptx_init.c. */
#include "ptx/ptx_priv.h"

#include <string.h>

enum { MAX_ALIGN = 1 << 20 };

struct decl {                            /* what stands before the names */
	enum ws_space space;
	enum ws_type type;
	uint8_t vec;
	uint32_t align;                  /* 0 = not given */
	bool managed, ptr;
};

struct ws_ptx_sym *ws_p_new_sym(struct parser *p, enum ws_sym_kind kind, struct name *n, uint32_t off)
{
	struct ws_ptx_sym *s = ws_arena_alloc(p->a, sizeof *s);

	s->kind = kind;
	s->name = n->str;
	s->off = off;
	s->line = p->t.line;
	s->vec = 1;
	s->align = 1;
	return s;
}

static bool align_clause(struct parser *p, uint32_t *align)
{
	uint32_t off = p->t.off, len = p->t.len;

	ws_p_next(p);
	if (p->t.kind != TK_INT || !p->t.value || (p->t.value & (p->t.value - 1)) || p->t.value > MAX_ALIGN)
		return ws_p_error(p, off, len, "'.align' needs a power of two");
	*align = (uint32_t)p->t.value;
	ws_p_next(p);
	return true;
}

/* .attribute(.managed), .attribute(.unified(id, id)); commas between several (5.4.8) */
bool ws_p_attribute(struct parser *p, bool *managed)
{
	uint64_t unused;

	ws_p_next(p);
	if (!ws_p_expect(p, '(', "'.attribute'"))
		return false;
	do {
		unsigned d = p->t.kind == TK_DOT ? p->t.name->directive : D_NONE;

		if (d != D_MANAGED && d != D_UNIFIED)
			return ws_p_error_here(p, "unknown attribute");
		ws_p_next(p);
		if (d == D_MANAGED) {
			*managed = true;
			continue;
		}
		if (!ws_p_expect(p, '(', "'.unified'") || !ws_p_uint(p, &unused, "an identifier") ||
		    !ws_p_expect(p, ',', "the identifier") || !ws_p_uint(p, &unused, "an identifier") ||
		    !ws_p_expect(p, ')', "the identifiers"))
			return false;
	} while (ws_p_accept(p, ','));
	return ws_p_expect(p, ')', "the attribute");
}

/* A type word at the current token; WS_T_NONE if it is none. */
static enum ws_type type_word(const struct parser *p)
{
	for (unsigned i = p->t.kind == TK_DOT ? p->t.name->mod : 0; i; i = p->names.mod_next[i - 1]) {
		const struct mod_row *r = &ws_ptx_mods[i - 1];

		if (r->classes & M_TYPE)
			return (enum ws_type)r->value;
	}
	return WS_T_NONE;
}

/* .ptr [.space] [.align N] behind the type of a kernel parameter (5.1.6.3) */
static bool ptr_clause(struct parser *p, struct decl *d)
{
	uint32_t ignored;

	d->ptr = true;
	ws_p_next(p);
	while (p->t.kind == TK_DOT) {
		switch (p->t.name->directive) {
		case D_CONST: case D_GLOBAL: case D_LOCAL: case D_SHARED: ws_p_next(p); continue;
		case D_ALIGN:
			if (!align_clause(p, &ignored))
				return false;
			continue;
		default: break;
		}
		return ws_p_error_here(p, "'%s' cannot follow '.ptr'", p->t.name->str);
	}
	return true;
}

/* Words up to the first name. */
static bool decl_words(struct parser *p, struct decl *d, const char *what)
{
	while (p->t.kind == TK_DOT) {
		enum ws_type type = type_word(p);

		switch (p->t.name->directive) {
		case D_ALIGN:
			if (!align_clause(p, &d->align))
				return false;
			continue;
		case D_ATTRIBUTE:
			if (!ws_p_attribute(p, &d->managed))
				return false;
			continue;
		case D_PTR:
			if (!d->type)
				return ws_p_error_here(p, "'.ptr' stands behind the type");
			if (!ptr_clause(p, d))
				return false;
			continue;
		case D_V2: d->vec = 2; break;
		case D_V4: d->vec = 4; break;
		case D_V8: d->vec = 8; break;
		default:
			if (!type)
				return ws_p_error_here(p, "unknown type '%s' in %s", p->t.name->str, what);
			if (d->type)
				return ws_p_error_here(p, "a second type '%s' in %s", p->t.name->str, what);
			d->type = type;
		}
		ws_p_next(p);
	}
	if (!d->type)
		return ws_p_error_here(p, "expected a type in %s", what);
	return true;
}

static enum ws_space space_of(unsigned directive)
{
	switch (directive) {
	case D_CONST: return WS_SPACE_CONST;
	case D_GLOBAL: return WS_SPACE_GLOBAL;
	case D_LOCAL: return WS_SPACE_LOCAL;
	case D_PARAM: return WS_SPACE_PARAM;
	case D_SHARED: return WS_SPACE_SHARED;
	case D_TEX: return WS_SPACE_TEX;
	default: return WS_SPACE_REG;
	}
}

/* The current token must be a new name in this scope; moves on behind it. */
static struct name *new_name(struct parser *p, const char *what)
{
	struct name *n = p->t.name;

	if (p->t.kind != TK_IDENT) {
		ws_p_error_here(p, "expected the name of %s", what);
		return NULL;
	}
	if (n->sreg || strcmp(n->str, "WARP_SZ") == 0) {
		ws_p_error_here(p, "'%s' is predefined", n->str);
		return NULL;
	}
	ws_p_next(p);
	return n;
}

static bool declared_here(const struct parser *p, const struct name *n)
{
	return n->top && n->top->depth == p->depth && !n->top->poison;
}

/* ---- registers ---- */
static bool one_reg(struct parser *p, const struct decl *d)
{
	uint32_t off = p->t.off, len = p->t.len;
	struct name *n = new_name(p, "a register");
	uint64_t count;

	if (!n)
		return false;
	if (ws_p_accept(p, '<')) {
		uint32_t at = p->t.off, at_len = p->t.len;

		if (p->t.kind != TK_INT)
			return ws_p_error_here(p, "expected the number of registers");
		count = p->t.value;
		ws_p_next(p);
		if (!ws_p_expect(p, '>', "the number of registers"))
			return false;
		if (count > UINT32_MAX)
			return ws_p_error(p, at, at_len, "%llu registers cannot be declared at once",
					  (unsigned long long)count);
		if (n->range && n->range->depth == p->depth)
			return ws_p_error(p, off, len, "'%s<...>' is declared already", n->str);
		ws_p_add_range(p, n, count, d->type, d->vec);
		return true;
	}
	if (declared_here(p, n))
		return ws_p_error(p, off, len, "'%s' is declared already", n->str);
	ws_p_bind(p, p->depth, n, B_REG)->u.reg = ws_p_new_reg(p, n->str, d->type, d->vec);
	return true;
}

bool ws_p_reg_decl(struct parser *p)
{
	struct decl d = { .space = WS_SPACE_REG, .vec = 1 };

	ws_p_next(p);
	if (!decl_words(p, &d, "a register declaration"))
		return false;
	do {
		if (!one_reg(p, &d))
			return false;
	} while (ws_p_accept(p, ','));
	return ws_p_expect(p, ';', "the register declaration");
}

/* ---- variables ---- */
enum { MAX_DIMS = 16 };

static bool multiply(uint64_t *size, uint64_t by)
{
	if (by && *size > (UINT64_C(1) << 40) / by)
		return false;
	*size *= by;
	return true;
}

/* [2][3] or []: fills dims; dims[0] = 0 for the open one. */
static bool dimensions(struct parser *p, struct ws_ptx_sym *s, uint64_t *dims, unsigned *ndims)
{
	uint32_t off = p->t.off;

	s->size = ws_type_bytes(s->type) * (uint64_t)s->vec;
	for (*ndims = 0; ws_p_accept(p, '[');) {
		uint64_t n = 0;

		s->array = true;
		if (*ndims == MAX_DIMS)
			return ws_p_error_here(p, "more than %d dimensions", MAX_DIMS);
		if (!ws_p_is(p, ']') && !ws_p_uint(p, &n, "the size of an array"))
			return false;
		if (!n && *ndims && ws_p_is(p, ']'))
			return ws_p_error_here(p, "only the first dimension may be open");
		if (!multiply(&s->size, n))
			return ws_p_error(p, off, p->t.off - off, "'%s' is larger than 1 TiB", s->name);
		dims[(*ndims)++] = n;
		if (!ws_p_expect(p, ']', "the size of the array"))
			return false;
	}
	if (s->vec > 1 && *ndims < MAX_DIMS)
		dims[(*ndims)++] = s->vec;
	return true;
}

static uint32_t natural_align(const struct ws_ptx_sym *s)
{
	uint32_t n = ws_type_bytes(s->type) * s->vec;

	return n ? n : 1;
}

/* Enters a variable under its name. A declaration with .extern may come before or after the definition. */
static struct ws_ptx_sym *enter_var(struct parser *p, struct name *n, struct ws_ptx_sym *s, uint32_t off, uint32_t len)
{
	struct ws_ptx_sym *old = declared_here(p, n) && n->top->kind == B_SYM ? n->top->u.sym : NULL;

	if (old && old->kind == WS_SYM_VAR && !p->f &&
	    (old->linkage == WS_LINK_EXTERN || s->linkage == WS_LINK_EXTERN)) {
		if (old->space != s->space || old->type != s->type) {
			ws_p_error(p, off, len, "'%s' was declared differently in line %u", n->str, old->line);
			return NULL;
		}
		s->index = old->index;
		if (s->linkage != WS_LINK_EXTERN)
			*old = *s;
		return old;
	}
	if (declared_here(p, n)) {
		ws_p_error(p, off, len, "'%s' is declared already", n->str);
		return NULL;
	}
	ws_p_bind(p, p->depth, n, B_SYM)->u.sym = s;
	if (p->f) {
		s->index = (uint32_t)p->nfvars;
		*WS_PUSH(p->fvars, p->nfvars, p->fvars_cap) = s;
	} else {
		s->index = (uint32_t)p->nvars;
		*WS_PUSH(p->vars, p->nvars, p->vars_cap) = s;
	}
	return s;
}

static struct ws_ptx_sym *make_var(struct parser *p, const struct decl *d, struct name *n, uint32_t off)
{
	struct ws_ptx_sym *s = ws_p_new_sym(p, WS_SYM_VAR, n, off);

	s->scope = p->f;
	s->space = d->space;
	s->type = d->type;
	s->vec = d->vec;
	s->managed = d->managed;
	s->ptr = d->ptr;
	s->align = d->align ? d->align : natural_align(s);
	return s;
}

static bool one_variable(struct parser *p, const struct decl *d, enum ws_linkage linkage, uint32_t off)
{
	uint32_t at = p->t.off, len = p->t.len;
	struct name *n = new_name(p, "a variable");
	uint64_t dims[MAX_DIMS] = { 0 };
	unsigned ndims;
	struct ws_ptx_sym *s, *entered;

	if (!n)
		return false;
	s = make_var(p, d, n, off);
	s->linkage = linkage;
	if (!dimensions(p, s, dims, &ndims))
		return false;
	entered = enter_var(p, n, s, at, len);
	if (!entered)
		return false;
	if (ws_p_accept(p, '=')) {
		if (linkage == WS_LINK_EXTERN || (d->space != WS_SPACE_GLOBAL && d->space != WS_SPACE_CONST))
			return ws_p_error(p, at, len, "'%s' cannot be initialized: only .global and .const variables "
			                  "of this module can", n->str);
		if (!ws_p_initializer(p, entered, dims, ndims))
			return false;
	} else if (ndims && !dims[0] && linkage != WS_LINK_EXTERN) {
		return ws_p_error(p, at, len, "the size of '%s' is not known", n->str);
	}
	entered->len = p->last_end - entered->off;
	return true;
}

bool ws_p_variable(struct parser *p, enum ws_linkage linkage, bool managed, uint32_t off)
{
	struct decl d = { .space = space_of(p->t.name->directive), .vec = 1, .managed = managed };
	uint64_t bank;

	ws_p_next(p);
	if (d.space == WS_SPACE_CONST && ws_p_accept(p, '[')) {      /* .const[bank]: PTX before 2.2 */
		if (!ws_p_uint(p, &bank, "a constant bank") || !ws_p_expect(p, ']', "the constant bank"))
			return false;
	}
	if (!decl_words(p, &d, "a variable declaration"))
		return false;
	if (d.type == WS_PRED)
		return ws_p_error_here(p, "predicates live in registers only");
	if (linkage == WS_LINK_COMMON && d.space != WS_SPACE_GLOBAL)
		return ws_p_error_here(p, "'.common' is for '.global' variables");
	do {
		if (!one_variable(p, &d, linkage, off))
			return false;
	} while (ws_p_accept(p, ','));
	return ws_p_expect(p, ';', "the declaration");
}

/* ---- parameters of functions ---- */
bool ws_p_param(struct parser *p, struct ws_ptx_sym **out, bool bind)
{
	struct decl d = { .vec = 1 };
	uint32_t off = p->t.off, at, len;
	uint64_t dims[MAX_DIMS];
	unsigned ndims, dir = p->t.kind == TK_DOT ? p->t.name->directive : D_NONE;
	struct name *n;

	if (dir != D_PARAM && dir != D_REG)
		return ws_p_error_here(p, "expected '.param' or '.reg'");
	d.space = space_of(dir);
	ws_p_next(p);
	if (!decl_words(p, &d, "a parameter"))
		return false;
	at = p->t.off;
	len = p->t.len;
	n = new_name(p, "a parameter");
	if (!n)
		return false;
	*out = make_var(p, &d, n, off);
	if (!dimensions(p, *out, dims, &ndims))
		return false;
	(*out)->len = p->last_end - off;
	if (!bind || strcmp(n->str, "_") == 0)
		return true;
	if (declared_here(p, n))
		return ws_p_error(p, at, len, "'%s' is declared already", n->str);
	if (d.space == WS_SPACE_REG) {
		struct ws_reg *r = ws_p_new_reg(p, n->str, d.type, d.vec);

		(*out)->index = r->index;
		ws_p_bind(p, p->depth, n, B_REG)->u.reg = r;
	} else {
		ws_p_bind(p, p->depth, n, B_SYM)->u.sym = *out;
	}
	return true;
}
