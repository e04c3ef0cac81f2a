/* pass.c - what is done to the program's PTX on a real GPU, one row each; see real.h. */
#include "real/real.h"

#include <string.h>

#include "real/race.h"
#include "real/real_priv.h"
#include "real/streams.h"
#include "rewrite/rewrite.h"

static bool rewrite(const char *pass, const struct ws_real_text *t, struct ws_buf *out, struct ws_buf *why,
                    const struct ws_real_table **table)
{
	struct ws_sink sink = { ws_sink_to_buf, why };
	struct ws_ptx_options options = { .max_errors = 1 };
	struct ws_ptx_module *m = ws_ptx_parse(t->label, t->text, t->len, &options, &sink);
	bool good = m && ws_rewrite(pass, m, &sink);

	if (good)
		ws_ptx_print(m, out);
	if (good && table)
		*table = ws_real_table_of(m);
	ws_ptx_free(m);
	return good;
}

/* Reads and prints: what comes out is what went in, and the whole way of a module is gone through. */
static bool print(const struct ws_real_text *t, struct ws_buf *out, struct ws_buf *why, const struct ws_real_table **table)
{
	return rewrite("print", t, out, why, NULL);
}

/* A program that has made no stream by now has few launches that may overlap, or none. */
static bool race(const struct ws_real_text *t, struct ws_buf *out, struct ws_buf *why, const struct ws_real_table **table)
{
	return rewrite(t->part ? "race-part" : ws_real_streams_made() ? "race" : "race-alone", t, out, why, table);
}

static const struct ws_real_pass passes[] = {
	{ "print", print },
	{ "race", race },                    /* chosen by the verb: `warpsafe race` */
	{ "tm", ws_real_transact },
};

const struct ws_real_pass *ws_real_pass_find(const char *name)
{
	for (size_t i = 0; name && i < WS_COUNT(passes); i++)
		if (strcmp(passes[i].name, name) == 0)
			return &passes[i];
	return NULL;
}
