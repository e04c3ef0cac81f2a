/* transact.c - marked sections on the simulated GPU; see transact.h. */
#include "cuda/transact.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda/session.h"
#include "rewrite/tm_counts.h"

static struct ws_tm_counts counts;
static atomic_uint sections;

bool ws_transact(struct ws_ptx_module *m, const struct ws_sink *sink)
{
	struct ws_tm_settings settings = ws_tm_settings_of(&ws_session()->options);
	bool done = ws_rewrite_tm(&settings, m, sink);

	atomic_fetch_add(&sections, done ? ws_rewrite_result(m)->sections : 0);
	return done;
}

_Noreturn void ws_transact_refused(const char *why)
{
	fflush(stdout);
	fprintf(stderr, "%s", why ? why : "");
	_exit(2);
}

void ws_transact_take(void *counters)
{
	ws_tm_counts_add(&counts, counters);
	memset(counters, 0, WS_TM_COUNTERS_BYTES);
}

void ws_transact_tell(void)
{
	struct ws_buf b = { 0 };

	ws_tm_counts_tell(&counts, atomic_load(&sections), ws_session()->options.stats, &b);
	if (b.len)
		fprintf(stderr, "%s", b.data);
	ws_buf_free(&b);
}
