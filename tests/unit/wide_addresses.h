/* wide_addresses.h - random kernels as another compiler would have them: with addresses of 64 bits in shared memory, as clang has, in place of 32; or with
 * generic addresses, as libraries of atomics and code in line have. */
#ifndef WIDE_ADDRESSES_H
#define WIDE_ADDRESSES_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { WIDE_MOST = 200, WIDE_OPERANDS = 4, WIDE_NAME = 24 };

struct wide_set { char names[WIDE_MOST][WIDE_NAME]; unsigned n; };
/* One instruction: what stands before its name (labels, a guard), that, and its operands. */
struct wide_line { char before[128], op[32], operands[WIDE_OPERANDS][48]; unsigned n; };
struct wide { struct wide_set wide, symbols; bool possible, generic; unsigned made; };

static inline bool wide_has(const struct wide_set *s, const char *name)
{
	for (unsigned k = 0; k < s->n; k++)
		if (!strcmp(s->names[k], name))
			return true;
	return false;
}

static inline bool wide_add(struct wide_set *s, const char *name)
{
	if (wide_has(s, name) || s->n == WIDE_MOST || strlen(name) >= WIDE_NAME)
		return false;
	strcpy(s->names[s->n++], name);
	return true;
}

/* "LOOP: @%q1 add.s32 %x, %y, 4": false: it is none of that form. */
static inline bool wide_read(const char *text, size_t len, struct wide_line *l)
{
	char line[512], *at = line, *name;

	*l = (struct wide_line){ .n = 0 };
	if (len >= sizeof line)
		return false;
	memcpy(line, text, len);
	line[len] = 0;
	for (;;) {
		at += strspn(at, " \t\n");
		name = at;
		if (*at == '@')
			at += strcspn(at, " ");
		else if (at[strcspn(at, ": ,")] == ':')
			at += strcspn(at, ":") + 1;
		else
			break;
	}
	snprintf(l->before, sizeof l->before, "%.*s", (int)(name - line), line);
	at += strcspn(at, " ");
	if (!*at)
		return false;
	*at++ = 0;
	snprintf(l->op, sizeof l->op, "%s", name);
	for (char *next = at; next && l->n < WIDE_OPERANDS; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = 0;
		at += strspn(at, " ");
		snprintf(l->operands[l->n++], sizeof l->operands[0], "%s", at);
	}
	return true;
}

static inline bool wide_is_symbol(const char *operand) { return isalpha((unsigned char)*operand); }
static inline bool wide_is_register(const char *operand) { return *operand == '%'; }

/* The registers of addresses of shared memory, and those that they are made of. */
static inline bool wide_note(struct wide *w, const struct wide_line *l)
{
	bool sum = !strncmp(l->op, "add.s32", 7) || !strncmp(l->op, "add.u32", 7), more = false;

	if (!strcmp(l->op, "mov.u32") && wide_is_symbol(l->operands[1]))
		more |= wide_add(&w->symbols, l->operands[0]);
	if (strstr(l->op, ".shared"))
		for (unsigned k = 0; k < l->n; k++)
			if (l->operands[k][0] == '[' && l->operands[k][1] == '%') {
				char name[WIDE_NAME];

				snprintf(name, sizeof name, "%.*s", (int)strcspn(l->operands[k] + 1, "+-]"), l->operands[k] + 1);
				more |= wide_add(&w->wide, name);
			}
	if (!l->n || !wide_has(&w->wide, l->operands[0]))
		return more;
	if (!strcmp(l->op, "mov.u32") && wide_is_register(l->operands[1]))
		more |= wide_add(&w->wide, l->operands[1]);
	else if (!strcmp(l->op, "mad.lo.s32"))
		more |= wide_add(&w->wide, l->operands[3]);
	else if (sum && !wide_has(&w->wide, l->operands[1]) && !wide_has(&w->wide, l->operands[2]))
		more |= wide_add(&w->wide, l->operands[wide_is_register(l->operands[2]) && !wide_has(&w->symbols, l->operands[1]) ? 2 : 1]);
	return more;
}

/* A name of 64 bits in place of one of these registers. */
static inline const char *wide_name(const struct wide *w, const char *operand, char out[64])
{
	const char *name = *operand == '[' ? operand + 1 : operand;
	size_t len = strcspn(name, "+-]");
	char bare[WIDE_NAME];

	snprintf(bare, sizeof bare, "%.*s", (int)len, name);
	if (!wide_has(&w->wide, bare))
		return operand;
	snprintf(out, 64, "%s%s_w%s", *operand == '[' ? "[" : "", bare, name + len);
	return out;
}

/* `ld.shared.u32 %r1, [%r2]` by a generic address. */
static inline void wide_print_access(const struct wide *w, const struct wide_line *l, const char *const *o, struct ws_buf *b)
{
	const char *shared = strstr(l->op, ".shared"), *rest = shared ? shared + strlen(".shared") : "";
	bool is_register = false;

	for (unsigned k = 0; k < l->n; k++)
		is_register |= o[k][0] == '[' && o[k][1] == '%';
	if (w->generic && shared && is_register)
		ws_buf_printf(b, "%.*s%s", (int)(shared - l->op), l->op, rest);
	else
		ws_buf_puts(b, l->op);
	for (unsigned k = 0; k < l->n; k++)
		ws_buf_printf(b, "%s %s", k ? "," : "", o[k]);
	ws_buf_puts(b, ";");
}

static inline void wide_print(struct wide *w, const struct wide_line *l, struct ws_buf *b)
{
	char names[WIDE_OPERANDS][64];
	const char *o[WIDE_OPERANDS] = { "", "", "", "" }, *op = l->op;
	bool to = wide_has(&w->wide, l->operands[0]), sum = !strncmp(op, "add.", 4);

	for (unsigned k = 0; k < l->n; k++) {
		o[k] = wide_name(w, l->operands[k], names[k]);
		w->possible &= o[k] == l->operands[k] || to || *o[k] == '[';         /* else its number is used as such */
	}
	ws_buf_puts(b, l->before);
	if (to && sum && wide_is_register(o[1]) && wide_is_register(o[2])) {
		bool first = !wide_has(&w->wide, l->operands[1]);

		w->possible &= wide_has(&w->wide, l->operands[1]) != wide_has(&w->wide, l->operands[2]) && !strchr(l->before, '@');
		ws_buf_printf(b, "cvt.s64.s32 %%cvt_w%u, %s; add.s64 %s, %s, %%cvt_w%u;", w->made, o[first ? 1 : 2], o[0], o[first ? 2 : 1], w->made);
		w->possible &= ++w->made < WIDE_MOST;
	} else if (to && w->generic && !strcmp(op, "mov.u32") && wide_is_symbol(o[1])) {
		w->possible &= !strchr(l->before, '@');
		ws_buf_printf(b, "mov.u64 %%cvt_w%u, %s; cvta.shared.u64 %s, %%cvt_w%u;", w->made, o[1], o[0], w->made);
		w->possible &= ++w->made < WIDE_MOST;
	} else if (to && !strstr(op, ".shared")) {
		w->possible &= sum || !strcmp(op, "mov.u32") || !strcmp(op, "mad.lo.s32");
		ws_buf_printf(b, "%s %s, %s%s%s%s%s;", sum ? "add.s64" : *op == 'm' && op[1] == 'o' ? "mov.u64" : "mad.wide.s32", o[0], o[1], l->n > 2 ? ", " : "", o[2],
		              l->n > 3 ? ", " : "", o[3]);
	} else {
		wide_print_access(w, l, o, b);
	}
}

static inline void wide_each(struct wide *w, const char *from, const char *end, struct ws_buf *b, bool *more)
{
	for (const char *at = from, *next; at < end; at = next) {
		struct wide_line l;

		next = memchr(at, ';', (size_t)(end - at));
		next = next ? next + 1 : end;
		if (next[-1] != ';' || !wide_read(at, (size_t)(next - 1 - at), &l) || strstr(l.op, ".reg") || strstr(l.op, ".shared") == l.op) {
			if (b)
				ws_buf_add(b, at, (size_t)(next - at));
		} else if (b) {
			wide_print(w, &l, b);
		} else {
			*more |= wide_note(w, &l);
		}
	}
}

/* The same kernel in *out; false: it is not made of what is known here, and *out is empty. */
static inline bool wide_addresses(const char *text, bool generic, struct ws_buf *out)
{
	const char *body = strchr(text, '{'), *end = text + strlen(text);
	struct wide *w = ws_alloc(sizeof *w);
	struct ws_buf code = { 0 };
	bool more = body != NULL, fine;

	w->possible = body != NULL;
	w->generic = generic;
	while (more) {
		more = false;
		wide_each(w, body + 1, end, NULL, &more);
	}
	if (body)
		wide_each(w, body + 1, end, &code, &more);
	fine = w->possible && w->wide.n;
	if (fine) {
		ws_buf_add(out, text, (size_t)(body + 1 - text));
		ws_buf_printf(out, "\n.reg .b64 %%cvt_w<%u>", WIDE_MOST);
		for (unsigned k = 0; k < w->wide.n; k++)
			ws_buf_printf(out, ", %s_w", w->wide.names[k]);
		ws_buf_puts(out, ";");
		ws_buf_add(out, code.data, code.len);
	}
	ws_buf_free(&code);
	free(w);
	return fine;
}

/* Every other kernel of a test becomes one, where that goes, and every other one of these with generic addresses. */
static inline bool wide_at_times(unsigned number, struct ws_buf *text)
{
	struct ws_buf other = { 0 };

	if (number % 2 == 0 || !wide_addresses(text->data, number % 4 == 3, &other))
		return false;
	ws_buf_free(text);
	*text = other;
	return true;
}

#endif
