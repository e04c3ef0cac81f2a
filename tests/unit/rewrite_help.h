/* rewrite_help.h - for tests of src/rewrite: a module as a pass has it, PTX in, PTX out. */
#ifndef REWRITE_HELP_H
#define REWRITE_HELP_H

#include "tests/unit/ptx_help.h"

#include "rewrite/rewrite_priv.h"

#define HEAD ".version 6.0\n.target sm_60\n.address_size 64\n"
#define KERNEL(body) HEAD ".visible .entry k(.param .u64 p)\n{\n" \
	"\t.reg .pred %p;\n\t.reg .u32 %r<9>;\n\t.reg .u64 %d<9>;\n\t.shared .u32 s[4];\n" body "\tret;\n}\n"

struct work {
	struct ws_ptx_module *m;
	struct ws_pass *p;
	struct ws_ptx_func *f;
	struct ws_buf said;
	struct ws_sink sink;
};

static inline void begin(struct work *w, const char *text)
{
	*w = (struct work){ .m = ptx_good(text) };
	w->sink = (struct ws_sink){ ws_sink_to_buf, &w->said };
	w->p = ws_rw_begin(w->m, &w->sink);
	w->f = w->m->nfuncs ? w->m->funcs[w->m->nfuncs - 1] : NULL;
}

static inline void finish(struct work *w)
{
	ws_ptx_free(w->m);
	ws_buf_free(&w->said);
}

/* Ends the pass; the module, from `from` on, is this text, and can be read. */
static inline void expect_from(struct work *w, const char *from, const char *text)
{
	struct ws_buf out = { 0 };
	const char *at;

	assert_true(ws_rw_end(w->p));
	ws_ptx_print(w->m, &out);
	at = strstr(out.data, from);
	assert_non_null(at);
	if (strncmp(at, text, strlen(text)) || (at[strlen(text)] && strncmp(at + strlen(text), ".entry __warpsafe_sure_", 23)))
		assert_string_equal(at, text);       /* a kernel beside it may follow (rewrite/sure.h) */
	ws_ptx_free(ptx_good(out.data));
	ws_buf_free(&out);
	finish(w);
}

/* Ends the pass, which has failed and said this. */
static inline void expect_refusal(struct work *w, const char *words)
{
	assert_false(ws_rw_end(w->p));
	assert_non_null(w->said.data);
	if (!strstr(w->said.data, words))
		fail_msg("'%s' is not in: %s", words, w->said.data);
	finish(w);
}

#endif
