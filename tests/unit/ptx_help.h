/* ptx_help.h - what the unit tests of the PTX front end share: parsing a body, and the messages of a bad one. */
#ifndef PTX_HELP_H
#define PTX_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"

#define PTX_HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
#define PTX_REGS "\t.reg .pred %p<9>;\n\t.reg .b16 %h<9>;\n\t.reg .b32 %r<19>;\n\t.reg .b64 %d<19>;\n" \
	"\t.reg .f32 %f<9>;\n\t.reg .f64 %g<9>;\n"

static inline struct ws_ptx_module *ptx_parse(const char *text, struct ws_buf *messages)
{
	struct ws_sink sink = { ws_sink_to_buf, messages };

	return ws_ptx_parse("t.ptx", text, strlen(text), NULL, &sink);
}

/* A module that must be right. */
static inline struct ws_ptx_module *ptx_good(const char *text)
{
	struct ws_buf b = { 0 };
	struct ws_ptx_module *m = ptx_parse(text, &b);

	if (!m)
		print_error("%s", b.data);
	assert_non_null(m);
	assert_int_equal(b.len, 0);
	ws_buf_free(&b);
	return m;
}

/* A kernel of one body, with registers %p %h %r %d %f %g; `before` stands at module scope. */
static inline char *ptx_text(const char *before, const char *body)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "%s%s\n.visible .entry k(.param .u64 arg)\n{\n%s%s\n}\n", PTX_HEAD, before, PTX_REGS, body);
	return b.data;
}

static inline struct ws_ptx_module *ptx_body(const char *before, const char *body)
{
	char *text = ptx_text(before, body);
	struct ws_ptx_module *m = ptx_good(text);

	free(text);
	return m;
}

/* The function called k. */
static inline struct ws_ptx_func *ptx_k(const struct ws_ptx_module *m)
{
	return ws_ptx_find(m, "k")->func;
}

#endif
