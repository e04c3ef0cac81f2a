/* copy.c - a second copy of a function's code, for when nothing that a pass inserts is to be done.
 *
 * The text behind the body's '{' is written once more, behind the code: labels get names of their own, declarations of
 * the outermost scope are left out, for they hold for both. So whoever is in the function can go there. For who can choose beforehand
 * there is a kernel of its own, with the declarations: its registers, shared and local memory, and its place in the instruction cache are
 * those of the program's kernel, not of one with hooks. Labels get other names there as well, for debug information speaks of the first. */
#include "rewrite/rewrite_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct copy {
	const struct ws_ptx_func *f;
	const char *at, *end;
	struct ws_buf out;
	unsigned depth;                  /* of scopes */
	bool whole;                      /* with its declarations */
	bool possible;
};

static bool in_name(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_' || ch == '$' || ch == '%';
}

static bool is_label(const struct ws_ptx_func *f, const char *name, size_t len)
{
	for (uint32_t k = 0; k < f->nlabels; k++)
		if (!strncmp(f->labels[k].name, name, len) && !f->labels[k].name[len])
			return true;
	return false;
}

static const char *behind(const char *at, const char *end, const char *what)
{
	const char *found = memmem(at, (size_t)(end - at), what, strlen(what));

	return found ? found + strlen(what) : end;
}

/* Comments and space before a statement are copied as they are. */
static void blanks(struct copy *c)
{
	const char *from = c->at;

	while (c->at < c->end) {
		if (isspace((unsigned char)*c->at))
			c->at++;
		else if (!strncmp(c->at, "//", 2))
			c->at = behind(c->at, c->end, "\n");
		else if (!strncmp(c->at, "/*", 2))
			c->at = behind(c->at, c->end, "*/");
		else
			break;
	}
	ws_buf_add(&c->out, from, (size_t)(c->at - from));
}

/* A statement's first name, but for that of its guard, is a label only before a ':'; else it is an instruction, of which some may be
 * called as labels are ("or"). */
static bool is_instruction(const char *name, const char *behind, bool *first)
{
	if (!*first || name[-1] == '@' || name[-1] == '!')
		return false;
	*first = false;
	while (isspace((unsigned char)*behind))
		behind++;
	return *behind != ':';
}

/* To behind a ';', or the ':' of a label. */
static void statement(struct copy *c, bool drop)
{
	bool first = true;

	while (c->at < c->end) {
		const char *from = c->at;

		if (*c->at == '"') {
			c->at = behind(c->at + 1, c->end, "\"");
		} else if (in_name(*c->at)) {
			while (c->at < c->end && in_name(*c->at))
				c->at++;
			if (!is_instruction(from, c->at, &first) && !drop && from[-1] != '.' && is_label(c->f, from, (size_t)(c->at - from)))
				ws_buf_puts(&c->out, "$ws_copy_");
		} else {
			c->at++;
		}
		if (!drop)
			ws_buf_add(&c->out, from, (size_t)(c->at - from));
		if (*from == ';' || (*from == ':' && *c->at != ':' && from[-1] != ':'))
			return;
	}
}

static bool begins(const struct copy *c, const char *word)
{
	return !strncmp(c->at, word, strlen(word)) && !in_name(c->at[strlen(word)]);
}

static void line(struct copy *c)
{
	const char *from = c->at;

	c->at = behind(c->at, c->end, "\n");
	ws_buf_add(&c->out, from, (size_t)(c->at - from));
}

static void next(struct copy *c)
{
	if (*c->at == '{' || *c->at == '}') {
		c->depth += *c->at == '{' ? 1 : -1u;
		ws_buf_add(&c->out, c->at++, 1);
	} else if (begins(c, ".loc")) {
		line(c);
	} else {
		c->possible &= !c->depth || !(begins(c, ".shared") || begins(c, ".local"));
		statement(c, !c->whole && !c->depth && *c->at == '.' && !begins(c, ".pragma"));
	}
}

static void code(struct copy *c)
{
	for (blanks(c); c->at < c->end; blanks(c))
		next(c);
}

static bool may_be_copied(const struct ws_ptx_func *f)
{
	enum { MOST = 20000 };

	for (uint32_t k = 0; k < f->ninsts; k++)
		if (f->insts[k].call)
			return false;
	return !f->ntables && f->ninsts <= MOST;
}

void ws_rw_put_copy(struct ws_pass *p, size_t at, struct ws_buf *copy)
{
	for (size_t k = 0; k < copy->len; k++)
		if (!copy->data[k])
			copy->data[k] = ' ';
	ws_ptx_edit(p->m, at, 0, RANK_COPY, copy->data);
	ws_buf_free(copy);
}

const char *ws_rw_copy(struct ws_pass *p, struct ws_ptx_func *f)
{
	const char *text = p->m->text, *label = NULL;
	struct copy c = { .f = f, .at = text + f->body_off + 1, .end = text + f->off + f->len - 1, .possible = true };
	char name[32];

	if (!may_be_copied(f))
		return NULL;
	snprintf(name, sizeof name, "$ws_%u", p->labels++);
	ws_buf_printf(&c.out, "\n\tret;\n%s:", name);
	code(&c);
	if (c.possible) {
		label = ws_arena_strndup(p->m->arena, name, strlen(name));
		ws_rw_put_copy(p, f->off + f->len - 1, &c.out);
	}
	ws_buf_free(&c.out);
	return label;
}

static bool is_dynamic(const struct ws_ptx_sym *s)
{
	return s && s->kind == WS_SYM_VAR && s->space == WS_SPACE_SHARED && s->linkage == WS_LINK_EXTERN;
}

bool ws_rw_names_dynamic(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		for (unsigned n = 0; n < f->insts[k].nops; n++)
			if (is_dynamic(f->insts[k].ops[n].sym))
				return true;
	return false;
}

unsigned ws_rw_dynamic_align(const struct ws_ptx_module *m)
{
	unsigned align = 128;

	for (uint32_t k = 0; k < m->nvars; k++)
		if (is_dynamic(m->vars[k]) && m->vars[k]->align > align)
			align = m->vars[k]->align;
	return align;
}

void ws_rw_relabel(const struct ws_ptx_func *f, const char *text, size_t len, struct ws_buf *out)
{
	struct copy c = { .f = f, .at = text, .end = text + len, .whole = true };

	code(&c);
	ws_buf_add(out, c.out.data, c.out.len);
	ws_buf_free(&c.out);
}

bool ws_rw_plain(struct ws_pass *p, struct ws_ptx_func *f)
{
	const char *text = p->m->text, *begin = text + f->off, *body = text + f->body_off + 1;
	struct copy c = { .f = f, .at = behind(begin, body, ".entry"), .end = begin + f->len - 1, .whole = true };

	ws_buf_add(&c.out, "\n", 1);
	ws_buf_add(&c.out, begin, (size_t)(c.at - begin));
	blanks(&c);
	if (strncmp(c.at, f->name, strlen(f->name)) != 0) {
		ws_buf_free(&c.out);
		return false;
	}
	ws_buf_puts(&c.out, WS_RW_PLAIN);
	ws_buf_add(&c.out, c.at, (size_t)(body - c.at));
	c.at = body;
	code(&c);
	ws_buf_puts(&c.out, "}\n");
	ws_rw_put_copy(p, f->off + f->len, &c.out);
	return true;
}
