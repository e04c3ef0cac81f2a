/* pass.c - the passes of --instrument, one row each; see real.h. */
#include "real/real.h"

#include <string.h>

#include "rewrite/rewrite.h"

static bool rewrite(const char *pass, const char *label, const char *text, size_t len, struct ws_buf *out,
                    struct ws_buf *why)
{
	struct ws_sink sink = { ws_sink_to_buf, why };
	struct ws_ptx_options options = { .max_errors = 1 };
	struct ws_ptx_module *m = ws_ptx_parse(label, text, len, &options, &sink);

	bool good = m && ws_rewrite(pass, m, &sink);

	if (good)
		ws_ptx_print(m, out);
	ws_ptx_free(m);
	return good;
}

/* Reads and prints: what comes out is what went in, and the whole way of a module is gone through. */
static bool print(const char *label, const char *text, size_t len, uint32_t cc, struct ws_buf *out, struct ws_buf *why)
{
	return rewrite("print", label, text, len, out, why);
}

static const struct ws_real_pass passes[] = {
	{ "print", print },
};

const struct ws_real_pass *ws_real_pass_find(const char *name)
{
	for (size_t i = 0; name && i < WS_COUNT(passes); i++)
		if (strcmp(passes[i].name, name) == 0)
			return &passes[i];
	return NULL;
}
