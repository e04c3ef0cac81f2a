/* transact.c - marked sections on the simulated GPU; see transact.h. */
#include "cuda/transact.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cuda/session.h"
#include "rewrite/tm_choice.h"
#include "rewrite/tm_counts.h"

static struct ws_tm_counts counts;
static atomic_uint sections;

/* Engine auto. */
static struct ws_tm_choice choice;
static pthread_mutex_t choice_lock = PTHREAD_MUTEX_INITIALIZER;
struct tables { const void *key; struct ws_mem *handle, *shadow; };
static struct tables *tables;                /* of modules that have sections */
static size_t ntables, tables_cap;
static unsigned running;                     /* launches */
static uint64_t committed;                   /* when the launch began */

static bool automatic(void) { return strcmp(ws_session()->options.tm_engine, "auto") == 0; }

bool ws_transact(struct ws_ptx_module *m, const struct ws_sink *sink)
{
	struct ws_tm_settings settings = ws_tm_settings_of(&ws_session()->options);
	bool done = ws_rewrite_tm(&settings, m, sink);

	if (done) {
		atomic_fetch_add(&sections, ws_rewrite_result(m)->tm.sections);
		pthread_mutex_lock(&choice_lock);
		ws_tm_choice_know(&choice, &ws_rewrite_result(m)->tm);
		pthread_mutex_unlock(&choice_lock);
	}
	return done;
}

void ws_transact_loaded(const void *key, struct ws_gpu_module *m)
{
	struct tables t = { .key = key };
	size_t k = 0;

	while (k < ntables && tables[k].key != key)
		k++;
	if (k < ntables)
		tables[k] = tables[--ntables];
	if (m) {
		t.handle = ws_gpu_module_var(m, WS_TM_HANDLE);
		t.shadow = ws_gpu_module_var(m, WS_TM_TABLE);
	}
	if (t.handle && t.shadow)
		*WS_PUSH(tables, ntables, tables_cap) = t;
}

/* Each engine has a layout of its own of the table, which nobody uses now: all zero in each. */
static void set_engine(const struct tables *t, enum ws_tm_engine engine)
{
	struct ws_tm *tm = (struct ws_tm *)(void *)t->handle->host;

	if (tm->engine == (unsigned)engine)
		return;
	tm->engine = (unsigned short)engine;
	memset(t->shadow->host, 0, ((size_t)tm->mask + 1) * 8);
}

enum ws_tm_engine ws_transact_engine(void)
{
	return ntables ? (enum ws_tm_engine)((const struct ws_tm *)(const void *)tables[0].handle->host)->engine : WS_TM_PSTM;
}

void ws_transact_begin(void)
{
	if (running++ || !automatic())
		return;
	pthread_mutex_lock(&choice_lock);
	for (size_t k = 0; k < ntables; k++)
		set_engine(&tables[k], ws_tm_choice_before(&choice));
	pthread_mutex_unlock(&choice_lock);
	committed = counts.sum.commits;
}

/* Launches that ran beside others tell nothing. */
void ws_transact_end(const char *kernel)
{
	static bool beside;

	beside |= running > 1;
	if (--running)
		return;
	if (automatic() && !beside) {
		pthread_mutex_lock(&choice_lock);
		ws_tm_choice_after(&choice, kernel, counts.sum.commits - committed, ws_tm_choice_now());
		pthread_mutex_unlock(&choice_lock);
	}
	beside = false;
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
	if (automatic() && atomic_load(&sections))
		ws_tm_choice_tell(&choice, &b);
	if (b.len)
		fprintf(stderr, "%s", b.data);
	ws_buf_free(&b);
}
