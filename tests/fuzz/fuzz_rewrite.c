/* Fuzz target: every pass over every module that parses. What is printed is read again; the input is in it, in its order,
 * with nothing left out but the numbers of version and target; a second rewriting is refused. */
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *user, const struct ws_diag *d)
{
	++*(unsigned *)user;
	if (!*d->text)
		abort();
}

/* Each edit takes away nothing, or the number of .version or .target. */
static void keeps_all(const struct ws_ptx_module *m)
{
	for (size_t k = 0; m->edits && k < m->edits->n; k++) {
		const struct ws_ptx_edit *e = &m->edits->list[k];

		if (e->at > m->text_len || (e->len && e->at != m->version_off && e->at != m->target_off))
			abort();
	}
}

static void rewrite(const char *pass, const uint8_t *data, size_t size)
{
	unsigned errors = 0;
	struct ws_sink sink = { count, &errors };
	struct ws_ptx_module *m = ws_ptx_parse("fuzz.ptx", (const char *)data, size, NULL, &sink), *again;
	struct ws_buf out = { 0 };

	if (!m)
		return;
	if (!ws_rewrite(pass, m, &sink)) {
		if (!errors)
			abort();
		ws_ptx_free(m);
		return;
	}
	keeps_all(m);
	ws_ptx_print(m, &out);
	again = ws_ptx_parse("rewritten.ptx", out.data, out.len, NULL, &sink);
	if (!again || errors)
		abort();
	if (out.len != size && ws_rewrite(pass, again, &sink))
		abort();
	ws_ptx_free(again);
	ws_ptx_free(m);
	ws_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *name, *help;

	for (unsigned k = 0; ws_rewrite_pass(k, &name, &help); k++)
		rewrite(name, data, size);
	return 0;
}
