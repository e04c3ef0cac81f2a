/* session.c - one session a process: simulated GPU, detector, report; see session.h. */
#include "cuda/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "cuda/check_history.h"
#include "cuda/clocked.h"
#include "cuda/instrument.h"
#include "cuda/program.h"
#include "cuda/sync.h"
#include "report/keep.h"

static atomic_int sticky;

/* ---- messages ---- */
void ws_tell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ws_tell_line("warpsafe: error: ", fmt, ap);
	va_end(ap);
}

void ws_tell_unsupported(const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const char **told;
	static size_t n, cap;
	struct ws_session *s = ws_session_if_any();
	struct ws_buf b = {0};
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < n && strcmp(told[i], name) != 0; i++)
		;
	if (i == n) {
		*WS_PUSH(told, n, cap) = ws_strdup(name);
		ws_buf_printf(&b, "%s is not supported on the simulated GPU", name);
		fflush(stdout);
		fprintf(stderr, "warpsafe: %s\n", b.data);
		if (s)
			ws_report_limit(s->report, b.data);
		ws_buf_free(&b);
	}
	pthread_mutex_unlock(&lock);
}

static void tell_stats(void)
{
	const struct ws_session *s = ws_session_if_any();

	struct ws_buf b = {0};

	if (!s || ws_process_forked())
		return;
	ws_buf_printf(&b, "%llu launches, %.6f s, %.6f s of processor time", (unsigned long long)s->launches,
	              s->launch_seconds, s->launch_cpu_seconds);
	if (s->detector && s->detector->stats) {
		ws_buf_puts(&b, "\nwarpsafe: ");
		s->detector->stats(s->detector_self, &b);
	}
	fprintf(stderr, "warpsafe: %s\n", b.data);
	ws_buf_free(&b);
}

/* ---- creation ---- */
static void read_options(struct ws_options *o)
{
	const char *text = getenv("WARPSAFE_OPTIONS"), *why = NULL;

	ws_options_default(o);
	if (text && !ws_options_from_env(o, text, &why))
		ws_tell("WARPSAFE_OPTIONS: %s", why ? why : "not understood");
}

static struct ws_gpu_config gpu_config(const struct ws_options *o)
{
	struct ws_gpu_config c = {
		.seed = o->seed,
		.host_threads = o->threads,
		.max_instructions = o->max_instructions,
		.timeout_s = o->timeout,
		.cc = o->cc,
		.memory = o->memory,
		.printf_fd = -1,
	};

	if (o->divergence)
		c.divergence = strcmp(o->divergence, "stack") == 0 ? WS_DIV_STACK
			       : strcmp(o->divergence, "its") == 0 ? WS_DIV_ITS
								   : WS_DIV_AUTO;
	if (o->schedule && strcmp(o->schedule, "random") == 0)
		c.schedule = WS_SCHED_RANDOM;
	if (o->schedule && strcmp(o->schedule, "priority") == 0)
		c.schedule = WS_SCHED_PRIORITY;
	return c;
}

void ws_session_detect_config(const struct ws_options *o, struct ws_detect_config *c)
{
	const char *m = o->memories ? o->memories : "shared,global";

	*c = (struct ws_detect_config){
		.granularity = o->granularity,
		.shared = strstr(m, "shared"),
		.global = strstr(m, "global"),
		.kernel_regex = o->kernel,
		.launch_skip = o->launch_skip,
		.launch_count = o->launch_count,
		.same_value_error = o->same_value_error,
		.shadow_limit = o->shadow_limit,
		.seed = o->seed,
	};
}

static void make_detector(struct ws_session *s)
{
	const struct ws_options *o = &s->options;
	struct ws_detect_config c;

	ws_session_detect_config(o, &c);
	s->detector = ws_detector_find(o->detector ? o->detector : "shadow");
	if (!s->detector) {
		ws_tell("there is no detector '%s'; nothing is checked", o->detector);
		return;
	}
	s->detector_self = s->detector->create(&c, s->report);
	if (!c.shared || !c.global)
		ws_report_limit(s->report, c.shared ? "races in global memory were not looked for (--memory)" :
		                                      "races in shared memory were not looked for (--memory)");
}

static void *create(void)
{
	struct ws_session *s = ws_alloc(sizeof *s);
	struct ws_gpu_config c;

	read_options(&s->options);
	s->report = ws_report_new();
	c = gpu_config(&s->options);
	if (s->options.verb && strcmp(s->options.verb, "race") == 0)
		make_detector(s);
	if (s->detector) {
		c.observer = s->detector->ops;
		c.observer_self = s->detector_self;
		c.watch_host = true;
	}
	if (s->options.verb && strcmp(s->options.verb, "sim") == 0)
		ws_clocked_start(s, &c);
	if (strcmp(s->options.instrument, "none") != 0) {
		c.observer = &ws_instrument_observer;
		atexit(ws_instrument_tell);
		if (ws_check_history_wanted(&s->options))
			ws_check_history_start(s, &c);
	}
	ws_report_set(s->report, "sim", s->detector ? s->detector->name : "none", s->options.granularity);
	s->gpu = ws_gpu_create(&c);
	if (s->detector && s->detector->attach)
		s->detector->attach(s->detector_self, s->gpu);
	ws_sync_start(s);
	if (s->options.report_dir && *s->options.report_dir)
		ws_keep_start(&(struct ws_keep){.report = s->report, .folder = s->options.report_dir});
	if (s->options.stats)
		atexit(tell_stats);
	return s;
}

struct ws_session *ws_session(void)
{
	return ws_process_session(create);
}

struct ws_session *ws_session_if_any(void)
{
	return ws_process_session_if_any();
}

int ws_session_sticky(void)
{
	return atomic_load(&sticky);
}

void ws_session_set_sticky(int code)
{
	atomic_store(&sticky, code);
}
