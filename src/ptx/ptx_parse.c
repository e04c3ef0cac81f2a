/* ptx_parse.c - the module: tokens, errors and their recovery, directives at module scope. */
#include "ptx/ptx_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- tokens and errors ---- */
void ws_p_next(struct parser *p)
{
	p->last_end = p->t.off + p->t.len;
	ws_lex(&p->lx, &p->t);
	if (p->t.kind == TK_BAD && p->lx.error) {
		const char *why = p->lx.error;

		p->lx.error = NULL;
		ws_p_error(p, p->t.off, p->t.len, "%s", why);
		p->stop |= p->lx.pos >= p->lx.end;       /* what swallowed the rest makes no more messages */
	}
}

enum { MAX_SHOWN = 400 };                /* bytes of a line */

static void place_of(const struct parser *p, uint32_t off, struct ws_diag *d)
{
	const char *text = p->m->text;
	uint32_t line = 1, start = 0, end;
	const char *nl;

	while ((nl = memchr(text + start, '\n', off - start))) {
		line++;
		start = (uint32_t)(nl - text) + 1;
	}
	end = start;
	while (end < p->m->text_len && text[end] != '\n' && text[end] != '\r')
		end++;
	d->place.line = line;
	d->place.col = off - start + 1;
	if (d->place.col > MAX_SHOWN)            /* no screen shows the caret of such a line */
		return;
	d->source_line = text + start;
	d->source_len = end - start < MAX_SHOWN ? end - start : MAX_SHOWN;
}

bool ws_p_error(struct parser *p, uint32_t off, uint32_t len, const char *fmt, ...)
{
	struct ws_diag d = { .severity = WS_ERROR, .place = { .path = p->m->path, .len = len } };
	struct ws_buf b = { 0 };
	va_list ap;

	if (p->stop)
		return false;
	p->errors++;
	p->stop = p->errors >= p->opt.max_errors;
	if (!p->sink || !p->sink->emit)
		return false;
	va_start(ap, fmt);
	ws_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	place_of(p, off, &d);
	d.text = b.data;
	p->sink->emit(p->sink->user, &d);
	ws_buf_free(&b);
	return false;
}

/* The lexer has already spoken about a bad token: one fault, one message. */
bool ws_p_error_here(struct parser *p, const char *fmt, ...)
{
	struct ws_buf b = { 0 };
	va_list ap;

	if (p->t.kind == TK_BAD)
		return false;
	va_start(ap, fmt);
	ws_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	ws_p_error(p, p->t.off, p->t.len, "%s", b.data);
	ws_buf_free(&b);
	return false;
}

bool ws_p_is(const struct parser *p, char ch)
{
	return p->t.kind == TK_PUNCT && p->t.ch == ch;
}

bool ws_p_accept(struct parser *p, char ch)
{
	if (!ws_p_is(p, ch))
		return false;
	ws_p_next(p);
	return true;
}

bool ws_p_expect(struct parser *p, char ch, const char *after)
{
	if (ws_p_accept(p, ch))
		return true;
	return ws_p_error_here(p, "expected '%c' after %s", ch, after);
}

void ws_p_skip(struct parser *p)
{
	while (p->t.kind != TK_END && !p->stop) {
		if (ws_p_is(p, '{')) {
			p->braces++;
		} else if (ws_p_is(p, '}')) {
			if (p->braces <= 0)
				return;
			p->braces--;
		} else if (ws_p_is(p, ';')) {
			ws_p_next(p);
			break;
		}
		ws_p_next(p);
	}
	p->braces = 0;
}

/* ---- a small map from 64-bit keys (0 is a legal key) ---- */
static void map_grow(struct map64 *m)
{
	struct map64 old = *m;

	m->cap = old.cap ? old.cap * 2 : 64;
	m->keys = ws_alloc(m->cap * sizeof *m->keys);
	m->vals = ws_alloc(m->cap * sizeof *m->vals);
	m->n = 0;
	for (size_t i = 0; i < old.cap; i++)
		if (old.keys[i])
			*ws_p_map(m, old.keys[i] - 1, NULL) = old.vals[i];
	free(old.keys);
	free(old.vals);
}

uint64_t *ws_p_map(struct map64 *m, uint64_t key, bool *fresh)
{
	size_t i;

	if (m->n * 2 >= m->cap)
		map_grow(m);
	key++;
	for (i = ws_hash(&key, sizeof key) & (m->cap - 1); m->keys[i] && m->keys[i] != key; i = (i + 1) & (m->cap - 1))
		;
	if (fresh)
		*fresh = !m->keys[i];
	m->n += !m->keys[i];
	m->keys[i] = key;
	return &m->vals[i];
}

/* ---- directives ---- */
static bool version_directive(struct parser *p)
{
	const char *s = p->m->text + p->t.off;
	char *end;
	unsigned long major, minor;

	if (p->t.kind != TK_FLOAT)
		return ws_p_error_here(p, "expected a version such as 9.0 after '.version'");
	major = strtoul(s, &end, 10);
	minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	if (major > 99 || minor > 9)
		return ws_p_error_here(p, "there is no such version of PTX");
	if (major > 9)
		return ws_p_error_here(p, "PTX %lu.%lu is newer than 9.x, the newest that is understood", major, minor);
	p->m->version = (uint32_t)(10 * major + minor);
	p->m->version_off = p->t.off;
	p->m->version_len = p->t.len;
	ws_p_next(p);
	return true;
}

static bool target_word(struct parser *p)
{
	const char *s = p->t.kind == TK_IDENT ? p->t.name->str : "";
	struct ws_ptx_module *m = p->m;
	char *end;
	unsigned long sm;

	if (strcmp(s, "debug") == 0) {
		m->debug = true;
	} else if (strcmp(s, "texmode_independent") == 0) {
		m->texmode_independent = true;
	} else if (strncmp(s, "sm_", 3) == 0 || strncmp(s, "compute_", 8) == 0) {
		s = strchr(s, '_') + 1;
		sm = strtoul(s, &end, 10);
		if (end == s || sm < 10 || sm > 999 || (*end && (strcmp(end, "a") && strcmp(end, "f"))))
			return ws_p_error_here(p, "unknown target '%s'", p->t.name->str);
		m->sm = (uint32_t)sm;
		m->sm_suffix = *end;
		m->target_off = p->t.off;
		m->target_len = p->t.len;
	} else if (strcmp(s, "texmode_unified") && strcmp(s, "map_f64_to_f32")) {
		return ws_p_error_here(p, "unknown target '%.*s'", (int)p->t.len, m->text + p->t.off);
	}
	ws_p_next(p);
	return true;
}

static bool target_directive(struct parser *p)
{
	do {
		if (!target_word(p))
			return false;
	} while (ws_p_accept(p, ','));
	return true;
}

static bool address_size_directive(struct parser *p)
{
	if (p->t.kind != TK_INT || (p->t.value != 32 && p->t.value != 64))
		return ws_p_error_here(p, "'.address_size' is 32 or 64");
	p->m->address_size = (uint32_t)p->t.value;
	ws_p_next(p);
	return true;
}

bool ws_p_file_number(struct parser *p, uint64_t number, uint32_t *index)
{
	bool fresh;
	uint64_t *at = ws_p_map(&p->file_map, number, &fresh);

	if (fresh) {
		*at = p->nfiles;
		*WS_PUSH(p->files, p->nfiles, p->files_cap) = (struct ws_ptx_file){ .number = (uint32_t)number };
	}
	*index = (uint32_t)*at;
	return fresh;
}

/* .file N "path" [, timestamp, size]  (11.5.4) */
static bool file_directive(struct parser *p)
{
	uint32_t index;
	uint64_t number = p->t.value, unused;

	if (p->t.kind != TK_INT || number > UINT32_MAX)
		return ws_p_error_here(p, "expected a file number after '.file'");
	ws_p_next(p);
	if (p->t.kind != TK_STRING)
		return ws_p_error_here(p, "expected a file name in quotes");
	ws_p_file_number(p, number, &index);
	if (!p->files[index].path)
		p->files[index].path = ws_arena_strndup(p->a, p->m->text + p->t.off + 1, p->t.len - 2);
	ws_p_next(p);
	while (ws_p_accept(p, ','))
		if (!ws_p_uint(p, &unused, "time stamp or size of a file"))
			return false;
	return true;
}

/* .alias a, b;  b's code under a's name (11.4.x) */
static bool alias_directive(struct parser *p)
{
	struct ws_ptx_sym *s[2] = { NULL, NULL };

	for (int i = 0; i < 2; i++) {
		struct binding *b = p->t.kind == TK_IDENT ? p->t.name->top : NULL;

		if (p->t.kind != TK_IDENT)
			return ws_p_error_here(p, "expected the name of a function");
		if (!b || b->kind != B_SYM || b->u.sym->kind != WS_SYM_FUNC)
			return ws_p_error_here(p, "'%s' is not a function declared before", p->t.name->str);
		s[i] = b->u.sym;
		ws_p_next(p);
		if (i == 0 && !ws_p_expect(p, ',', "the alias"))
			return false;
	}
	if (s[1]->func->declared_only)
		return ws_p_error(p, p->last_end - 1, 1, "'%s' has no body and cannot have an alias", s[1]->name);
	s[0]->func = s[1]->func;
	return ws_p_expect(p, ';', "'.alias'");
}

static bool pragma_directive(struct parser *p)
{
	do {
		if (p->t.kind != TK_STRING)
			return ws_p_error_here(p, "expected a string after '.pragma'");
		ws_p_next(p);
	} while (ws_p_accept(p, ','));
	return ws_p_expect(p, ';', "'.pragma'");
}

bool ws_p_pragma(struct parser *p)
{
	return pragma_directive(p);
}

/* Linkage, then a function or a variable. */
static bool declaration(struct parser *p)
{
	enum ws_linkage linkage = WS_LINK_LOCAL;
	uint32_t off = p->t.off;
	bool managed = false;

	for (; p->t.kind == TK_DOT; ws_p_next(p)) {
		if (p->t.name->directive == D_ATTRIBUTE && !ws_p_attribute(p, &managed))
			return false;
		if (p->t.kind != TK_DOT)
			break;
		switch (p->t.name->directive) {
		case D_VISIBLE: linkage = WS_LINK_VISIBLE; continue;
		case D_EXTERN: linkage = WS_LINK_EXTERN; continue;
		case D_WEAK: linkage = WS_LINK_WEAK; continue;
		case D_COMMON: linkage = WS_LINK_COMMON; continue;
		case D_ENTRY: case D_FUNC: return ws_p_function(p, linkage, off);
		case D_GLOBAL: case D_CONST: case D_SHARED: case D_LOCAL: case D_PARAM: case D_TEX:
			return ws_p_variable(p, linkage, managed, off);
		default: break;
		}
		break;
	}
	if (p->t.kind == TK_DOT)
		return ws_p_error_here(p, "unknown directive '%s'", p->t.name->str);
	return ws_p_error_here(p, "expected a directive");
}

static bool header_first(struct parser *p, unsigned directive)
{
	if (p->m->version && p->m->sm)
		return true;
	if (directive == D_VERSION || directive == D_FILE || (directive == D_TARGET && p->m->version))
		return true;
	if (!p->m->version)
		return ws_p_error_here(p, "a module begins with '.version'");
	return ws_p_error_here(p, "'.target' must follow '.version'");
}

static bool statement(struct parser *p)
{
	unsigned d = p->t.kind == TK_DOT ? p->t.name->directive : D_NONE;

	if (!header_first(p, d)) {
		p->stop = true;          /* all that follows would be judged by the wrong rules */
		return false;
	}
	switch (d) {
	case D_VERSION: ws_p_next(p); return version_directive(p);
	case D_TARGET: ws_p_next(p); return target_directive(p);
	case D_ADDRESS_SIZE: ws_p_next(p); return address_size_directive(p);
	case D_FILE: ws_p_next(p); return file_directive(p);
	case D_SECTION: ws_p_next(p); return ws_p_section(p);
	case D_ALIAS: ws_p_next(p); return alias_directive(p);
	case D_PRAGMA: ws_p_next(p); return pragma_directive(p);
	case D_LOC: return ws_p_loc(p);
	default: return declaration(p);
	}
}

static void statements(struct parser *p)
{
	ws_p_next(p);
	while (p->t.kind != TK_END && !p->stop) {
		if (ws_p_accept(p, ';') || statement(p))
			continue;
		ws_p_skip(p);
		if (ws_p_accept(p, '}'))
			p->braces = 0;
	}
}

/* ---- begin and end ---- */
void *ws_p_copy(struct parser *p, const void *items, size_t n, size_t size)
{
	void *out = n ? ws_arena_alloc(p->a, n * size) : NULL;

	if (n)
		memcpy(out, items, n * size);
	return out;
}

void *ws_p_keep(struct parser *p, void *items, size_t n, size_t size)
{
	void *out = ws_p_copy(p, items, n, size);

	free(items);
	return out;
}

static void finish(struct parser *p)
{
	struct ws_ptx_module *m = p->m;
	struct names *names = ws_arena_alloc(p->a, sizeof *names);

	ws_p_finish_locs(p);
	m->vars = ws_p_copy(p, p->vars, p->nvars, sizeof *p->vars);
	m->nvars = (uint32_t)p->nvars;
	m->funcs = ws_p_copy(p, p->funcs, p->nfuncs, sizeof *p->funcs);
	m->nfuncs = (uint32_t)p->nfuncs;
	m->files = ws_p_copy(p, p->files, p->nfiles, sizeof *p->files);
	m->nfiles = (uint32_t)p->nfiles;
	*names = p->names;
	m->names = names;
}

static void release(struct parser *p)
{
	struct map64 *maps[] = { &p->file_map, &p->loc_map, &p->string_map, &p->copy_map };

	for (unsigned i = 0; i < WS_COUNT(maps); i++) {
		free(maps[i]->keys);
		free(maps[i]->vals);
	}
	free(p->fixups);
	free(p->regs);
	free(p->fvars);
	free(p->insts);
	free(p->labels);
	free(p->tables);
	free(p->vars);
	free(p->funcs);
	free(p->files);
	free(p->pending);
	ws_buf_free(&p->strings);
	free(p);
}

static struct ws_ptx_module *new_module(const char *path, const char *text, size_t len)
{
	struct ws_arena *a = ws_arena_new();
	struct ws_ptx_module *m = ws_arena_alloc(a, sizeof *m);

	m->arena = a;
	m->path = ws_arena_strndup(a, path ? path : "<ptx>", strlen(path ? path : "<ptx>"));
	m->text = ws_arena_strndup(a, text, len);
	m->text_len = len;
	return m;
}

static struct parser *new_parser(struct ws_ptx_module *m, const struct ws_ptx_options *opt, const struct ws_sink *sink)
{
	struct parser *p = ws_alloc(sizeof *p);

	p->m = m;
	p->a = m->arena;
	p->sink = sink;
	p->opt = opt ? *opt : (struct ws_ptx_options){ 0 };
	if (!p->opt.max_errors)
		p->opt.max_errors = 20;
	p->lx = (struct lexer){ .text = m->text, .end = (uint32_t)m->text_len, .line = 1, .names = &p->names };
	return p;
}

struct ws_ptx_module *ws_ptx_parse(const char *path, const char *text, size_t len, const struct ws_ptx_options *opt,
                                   const struct ws_sink *sink)
{
	bool too_long = len > UINT32_MAX - 64;
	struct ws_ptx_module *m = new_module(path, text, too_long ? 0 : len);
	struct parser *p = new_parser(m, opt, sink);
	bool failed;

	m->syntax_only = p->opt.syntax_only;
	ws_names_init(&p->names, p->a);
	if (too_long)
		ws_p_error(p, 0, 0, "a module of 4 GiB and more cannot be read");
	else
		statements(p);
	if (!p->errors && !m->version)
		ws_p_error(p, 0, 0, "a module begins with '.version'");
	else if (!p->errors && !m->sm)
		ws_p_error(p, (uint32_t)m->text_len, 0, "'.target' is missing");
	if (!m->address_size)
		m->address_size = 32;    /* PTX ISA 9.0, .address_size: the default */
	if (!p->errors)
		finish(p);
	failed = p->errors > 0;
	if (failed)
		ws_names_free(&p->names);
	release(p);
	if (!failed)
		return m;
	ws_ptx_free(m);
	return NULL;
}

bool ws_ptx_body(struct ws_ptx_func *f, const struct ws_sink *sink)
{
	struct ws_ptx_module *m = f->module;
	struct parser *p;
	bool good;

	if (!f->waits)
		return true;
	p = new_parser(m, &(struct ws_ptx_options){ .syntax_only = m->syntax_only }, sink);
	p->names = *(struct names *)m->names;
	p->lx.pos = f->body_off;
	p->lx.line = f->body_line;
	ws_p_waiting_body(p, f);
	if (p->nfiles)           /* files are numbered when the whole module is read */
		ws_p_error(p, f->body_off, 1, "a body that is read later has no .loc");
	*(struct names *)m->names = p->names;
	good = !p->errors;
	f->waits = !good;
	release(p);
	return good;
}

void ws_ptx_free(struct ws_ptx_module *m)
{
	struct ws_arena *a;

	if (!m)
		return;
	if (m->names)
		ws_names_free(m->names);
	a = m->arena;
	ws_arena_free(a);
}

struct ws_ptx_sym *ws_ptx_find(const struct ws_ptx_module *m, const char *name)
{
	struct name *n = ws_names_find(m->names, name, strlen(name));

	return n && n->top && n->top->kind == B_SYM ? n->top->u.sym : NULL;
}
