/* session.c - one session a process: options, report, figures; see real_priv.h. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "real/real_priv.h"
#include "real/streams.h"
#include "report/keep.h"

static atomic_ullong figures[WS_FIG_COUNT];

void ws_real_tell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ws_tell_line("warpsafe: ", fmt, ap);
	va_end(ap);
}

void ws_real_count(enum ws_real_figure f, uint64_t n)
{
	atomic_fetch_add(&figures[f], n);
}

void ws_real_most(enum ws_real_figure f, uint64_t n)
{
	unsigned long long was = atomic_load(&figures[f]);

	while (was < n && !atomic_compare_exchange_weak(&figures[f], &was, n))
		;
}

static void tell_stats(void)
{
	unsigned long long f[WS_FIG_COUNT];

	if (ws_process_forked())
		return;
	ws_real_tell_times();
	for (size_t i = 0; i < WS_FIG_COUNT; i++)
		f[i] = atomic_load(&figures[i]);
	ws_real_tell("modules loaded: %llu; rewritten: %llu (%.3f s); compiled: %llu (%.3f s); from the cache: %llu",
	             f[WS_FIG_LOOKED], f[WS_FIG_REWRITTEN], (double)f[WS_FIG_REWRITE_NS] * 1e-9, f[WS_FIG_COMPILED],
	             (double)f[WS_FIG_COMPILE_NS] * 1e-9, f[WS_FIG_CACHED]);
	if (f[WS_FIG_WHOLE])
		ws_real_tell("compiled as a whole, by ptxas: %llu", f[WS_FIG_WHOLE]);
	if (f[WS_FIG_SILENT])
		ws_real_tell("launches of which the host has found that they need no checks: %llu", f[WS_FIG_SILENT]);
	if (f[WS_FIG_ALIKE])
		ws_real_tell("launches without checks, for one that does the same accesses has found nothing: %llu", f[WS_FIG_ALIKE]);
	if (f[WS_FIG_TOLD])
		ws_real_tell("launches without checks, for one that does the same accesses has told no other races than those before: %llu", f[WS_FIG_TOLD]);
	if (f[WS_FIG_PLAIN])
		ws_real_tell("launches of the kernel as it is, in place of the one with checks: %llu", f[WS_FIG_PLAIN]);
	if (f[WS_FIG_SURE])
		ws_real_tell("launches of the kernel without the checks that proofs spare: %llu", f[WS_FIG_SURE]);
	if (f[WS_FIG_PARTS])
		ws_real_tell("launches without checks that look whether accesses stay in their parts of shared memory: %llu", f[WS_FIG_PARTS]);
	if (f[WS_FIG_STATES])
		ws_real_tell("launches with the states of threads in shared memory: %llu", f[WS_FIG_STATES]);
	if (f[WS_FIG_PROBES])
		ws_real_tell("probes of shared memory: %llu; launches without checks of it: %llu", f[WS_FIG_PROBES], f[WS_FIG_PROVED]);
	if (ws_real_session()->checks && f[WS_FIG_WITH_CHECKS]) {
		uint64_t entered, waited, all = f[WS_FIG_WITH_CHECKS];

		ws_real_race_counted(&entered, &waited);
		entered -= f[WS_FIG_RANGES];
		if (waited)
			ws_real_tell("blocks of kernels with locks that have waited for room (--resident): %llu", (unsigned long long)waited);
		ws_real_tell("launches of kernels with checks: %llu; without hooks, for all was proved: %llu", (unsigned long long)all,
		             (unsigned long long)(entered < all ? all - entered : 0));
	}
	if (f[WS_FIG_RANGES])
		ws_real_tell("ranges of copies and fills that were compared with launches: %llu", f[WS_FIG_RANGES]);
	if (f[WS_FIG_TOUCHED])
		ws_real_tell("shadow memory of global memory: %.3f MB for %.3f MB touched, %.2f bytes a byte",
		             (double)f[WS_FIG_SHADOW] * 1e-6, (double)f[WS_FIG_TOUCHED] * 1e-6,
		             (double)f[WS_FIG_SHADOW] / (double)f[WS_FIG_TOUCHED]);
}

static void *create(void)
{
	struct ws_real_session *s = ws_alloc(sizeof *s);
	const char *text = getenv(WS_REAL_OPTIONS_ENV), *why = NULL;
	struct ws_options *o = &s->options;

	ws_options_default(o);
	if (text && !ws_options_from_env(o, text, &why))
		ws_real_tell("error: %s: %s", WS_REAL_OPTIONS_ENV, why ? why : "not understood");
	s->checks = strcmp(o->verb, "race") == 0;
	s->pass = ws_real_pass_find(s->checks ? "race" : o->instrument);
	s->report = ws_report_new();
	ws_report_set(s->report, "real", s->checks ? "device" : "none", o->granularity);
	if (o->report_dir && *o->report_dir)
		ws_keep_start(&(struct ws_keep){ s->report, o->report_dir, ws_real_gather, s->report });
	if (o->stats)
		atexit(tell_stats);
	if (s->checks)
		ws_real_streams_start(s->report);
	s->transactions = strcmp(o->instrument, "tm") == 0;
	if (s->transactions)
		atexit(ws_real_transact_tell);
	return s;
}

struct ws_real_session *ws_real_session(void)
{
	return ws_process_session(create);
}

int ws_real_cuInit(unsigned flags)
{
	ws_real_session();
	return ws_real.cuInit(flags);
}
