/* transact.c - `warpsafe tm` on a real GPU: marked sections become transactions when a module is loaded; what they counted
 * lies in variables of the module, read before it is unloaded and when the program ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/tm.h"
#include "real/real_priv.h"
#include "rewrite/rewrite.h"
#include "rewrite/tm_counts.h"

static atomic_uint sections;
static atomic_bool bare;                     /* that there is code without PTX was told */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ws_tm_counts counts;
static bool unread;                          /* counters of some module */

bool ws_real_transactions(void)
{
	const struct ws_real_session *s = ws_real_session();

	return s && s->transactions;
}

_Noreturn void ws_real_transact_refused(const char *why)
{
	fflush(stdout);
	fprintf(stderr, "%s\n", why);
	_exit(2);
}

bool ws_real_transact(const struct ws_real_text *t, struct ws_buf *out, struct ws_buf *why, const struct ws_real_table **table)
{
	struct ws_sink sink = { ws_sink_to_buf, why };
	struct ws_ptx_options options = { .max_errors = 1 };
	struct ws_tm_settings settings = ws_tm_settings_of(&ws_real_session()->options);
	struct ws_ptx_module *m = ws_ptx_parse(t->label, t->text, t->len, &options, &sink);

	(void)table;
	if (!m)                              /* told by the caller: it may have no section, and the program goes on */
		return false;
	if (!ws_rewrite_tm(&settings, m, &sink))
		ws_real_transact_refused(why->data);
	atomic_fetch_add(&sections, ws_rewrite_result(m)->sections);
	ws_ptx_print(m, out);
	ws_ptx_free(m);
	return true;
}

void ws_real_transact_bare(void)
{
	if (!atomic_exchange(&bare, true))
		ws_real_tell("some kernels are there without PTX, as machine code: a marked section in them would not be atomic");
}

void ws_real_transact_take(void *handle, bool library)
{
	uint64_t address = 0;
	size_t bytes = 0;
	int e = -1;
	void *memory;

	if (library && ws_real.cuLibraryGetGlobal)
		e = ws_real.cuLibraryGetGlobal(&address, &bytes, handle, WS_TM_COUNTERS);
	else if (!library && ws_real.cuModuleGetGlobal_v2)
		e = ws_real.cuModuleGetGlobal_v2(&address, &bytes, handle, WS_TM_COUNTERS);
	if (e || bytes != WS_TM_COUNTERS_BYTES)
		return;                      /* no section in it, or never used in this context */
	memory = ws_alloc(bytes);
	e = ws_real.cuMemcpyDtoH_v2 ? ws_real.cuMemcpyDtoH_v2(memory, address, bytes) : -1;
	pthread_mutex_lock(&lock);
	if (!e)
		ws_tm_counts_add(&counts, memory);
	unread = unread || e;
	pthread_mutex_unlock(&lock);
	free(memory);
}

void ws_real_transact_tell(void)
{
	struct ws_buf b = { 0 };
	struct ws_real_session *s = ws_real_session();

	if (!s)                              /* forked: what was counted is the parent's */
		return;
	ws_real_modules(ws_real_transact_take);
	ws_tm_counts_tell(&counts, atomic_load(&sections), s->options.stats, &b);
	if (unread && s->options.stats)
		ws_buf_puts(&b, "warpsafe: some of the transactions are not counted: their module's memory could not be read\n");
	fflush(stdout);
	if (b.len)
		fprintf(stderr, "%s", b.data);
	ws_buf_free(&b);
}
