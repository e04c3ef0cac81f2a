/* Fuzz target: the PTX front end, strict and syntax_only. Properties besides "no crash": a module prints as it was
 * read, its instructions in canonical form are read again and print the same, it is the same where bodies are read later, errors
 * come with a place. */
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	unsigned errors;
	bool placeless;
};

static void count(void *user, const struct ws_diag *d)
{
	struct seen *s = user;
	struct ws_buf b = { 0 };

	s->errors++;
	s->placeless |= !d->place.line || !d->place.col || !*d->text;
	ws_diag_format(&b, d);
	ws_buf_free(&b);
}

static int by_offset(const void *a, const void *b)
{
	const struct ws_ptx_func *x = *(struct ws_ptx_func *const *)a, *y = *(struct ws_ptx_func *const *)b;

	return (x->off > y->off) - (x->off < y->off);
}

/* The module's text with every instruction in canonical form. */
static void canonical(struct ws_ptx_module *m, struct ws_buf *out)
{
	struct ws_ptx_func **f = ws_alloc((m->nfuncs + 1) * sizeof *f);
	size_t at = 0;

	if (m->nfuncs)
		memcpy(f, m->funcs, m->nfuncs * sizeof *f);
	qsort(f, m->nfuncs, sizeof *f, by_offset);
	for (uint32_t k = 0; k < m->nfuncs; k++) {
		for (uint32_t n = 0; n < f[k]->ninsts; n++) {
			const struct ws_ptx_inst *i = &f[k]->insts[n];

			if (i->off < at)
				abort();         /* spans follow one another */
			ws_buf_add(out, m->text + at, i->off - at);
			ws_ptx_print_inst(f[k], i, out);
			at = i->off + (size_t)i->len;
		}
	}
	ws_buf_add(out, m->text + at, m->text_len - at);
	free(f);
}

static void walk(struct ws_ptx_module *m, const uint8_t *data, size_t size)
{
	struct ws_buf b = { 0 };

	ws_ptx_print(m, &b);
	if (b.len != size || (size && memcmp(b.data, data, size) != 0))
		abort();
	for (uint32_t k = 0; k < m->nfuncs; k++) {
		if (ws_ptx_find(m, m->funcs[k]->name) != m->funcs[k]->sym)
			abort();
		ws_ptx_print_cfg(m->funcs[k], &b);
		for (uint32_t n = 0; n < m->funcs[k]->ninsts; n++)
			ws_ptx_where(m, &m->funcs[k]->insts[n], &b);
	}
	ws_buf_free(&b);
}

/* Bodies that are read later: the module is the same, or it is told why not. */
static void check_later(const uint8_t *data, size_t size, bool syntax_only, const struct ws_buf *canon)
{
	struct seen seen = { 0 };
	struct ws_sink sink = { count, &seen };
	struct ws_ptx_module *m = ws_ptx_parse("fuzz.ptx", (const char *)data, size, &(struct ws_ptx_options){ .syntax_only = syntax_only, .later = true }, &sink);
	struct ws_buf text = { 0 };
	bool all = true;

	if (!m)
		abort();
	for (uint32_t k = 0; k < m->nfuncs; k++)
		all &= ws_ptx_body(m->funcs[k], &sink);
	if (all != !seen.errors || seen.placeless)
		abort();
	canonical(m, &text);
	if (all && (text.len != canon->len || memcmp(text.data, canon->data, text.len) != 0))
		abort();
	ws_buf_free(&text);
	ws_ptx_free(m);
}

static void check(const uint8_t *data, size_t size, bool syntax_only)
{
	struct ws_ptx_options opt = { .syntax_only = syntax_only };
	struct seen seen = { 0 };
	struct ws_sink sink = { count, &seen };
	struct ws_ptx_module *m = ws_ptx_parse("fuzz.ptx", (const char *)data, size, &opt, &sink), *again;
	struct ws_buf first = { 0 }, second = { 0 };

	if (!m) {
		if (!seen.errors || seen.errors > 20 || seen.placeless)
			abort();
		return;
	}
	if (seen.errors)
		abort();
	walk(m, data, size);
	canonical(m, &first);
	again = ws_ptx_parse("canonical.ptx", first.data, first.len, &opt, &sink);
	if (!again)
		abort();
	canonical(again, &second);
	if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
		abort();
	check_later(data, size, syntax_only, &first);
	ws_buf_free(&first);
	ws_buf_free(&second);
	ws_ptx_free(again);
	ws_ptx_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(data, size, false);
	check(data, size, true);
	return 0;
}
