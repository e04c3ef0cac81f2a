/* session.c - one session a process: simulated GPU, detector, report, and the saving of the report; see session.h.
 *
 * The report must survive every end of the program. It is saved by a thread of its own, soon after a change, and at
 * exit. When the program dies of a signal, the handler cannot save (nothing that allocates is safe there): it wakes
 * the thread, waits for it a bounded time, and raises the signal again under the program's former handler. */
#include "cuda/session.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/instrument.h"
#include "cuda/program.h"
#include "cuda/sync.h"

enum { SAVE_EVERY_MS = 100, SIGNAL_WAIT_MS = 2000 };

static struct ws_session *the_session;
static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t save_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int sticky;
static atomic_bool forked, saver_runs, ending;
static atomic_ulong changes, saved;
static sem_t wake;

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGHUP};
static struct sigaction former[WS_COUNT(fatal_signals)];

/* ---- messages ---- */
void ws_tell(const char *fmt, ...)
{
	struct ws_buf b = {0};
	va_list ap;

	va_start(ap, fmt);
	ws_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	while (b.len && b.data[b.len - 1] == '\n')
		b.data[--b.len] = '\0';
	fflush(stdout); /* keeps the order of what the program said before */
	fprintf(stderr, "warpsafe: error: %s\n", b.len ? b.data : "");
	ws_buf_free(&b);
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

/* ---- saving ---- */
static void save(struct ws_session *s)
{
	unsigned long now = atomic_load(&changes);
	struct ws_buf path = {0};

	if (atomic_load(&forked) || atomic_load(&saved) == now)
		return;
	pthread_mutex_lock(&save_lock);
	if (!s->saves) {
		pthread_mutex_unlock(&save_lock);
		return;
	}
	ws_buf_printf(&path, "%s/report.%ld.json", s->options.report_dir, (long)getpid());
	if (!ws_report_save(s->report, path.data)) {
		fprintf(stderr, "warpsafe: error: cannot write '%s': %s\n", path.data, strerror(errno));
		s->saves = false;
	}
	atomic_store(&saved, now);
	ws_buf_free(&path);
	pthread_mutex_unlock(&save_lock);
}

static void pause_ms(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void *saver(void *arg)
{
	struct ws_session *s = arg;

	for (;;) {
		while (sem_wait(&wake) != 0)
			;
		while (sem_trywait(&wake) == 0)
			; /* one saving is enough for all changes so far */
		save(s);
		if (!atomic_load(&ending))
			pause_ms(SAVE_EVERY_MS);
	}
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* What is found is saved at once, for the program may end itself right after (_exit, SIGKILL); but not so often that it
 * costs time. */
void ws_session_touch(void)
{
	static atomic_ulong findings, last;
	struct ws_session *s = ws_session_if_any();
	unsigned long n, now = now_ms();

	atomic_fetch_add(&changes, 1);
	if (!s || !atomic_load(&saver_runs))
		return;
	n = ws_report_count(s->report, WS_ERROR) + ws_report_count(s->report, WS_WARNING);
	if (n != atomic_load(&findings) && now - atomic_load(&last) >= SAVE_EVERY_MS) {
		atomic_store(&findings, n);
		atomic_store(&last, now);
		save(s);
	} else {
		sem_post(&wake);
	}
}

static void save_at_exit(void)
{
	struct ws_session *s = ws_session_if_any();

	if (s)
		save(s);
}

static void tell_stats(void)
{
	const struct ws_session *s = ws_session_if_any();

	struct ws_buf b = {0};

	if (!s || atomic_load(&forked))
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

/* Runs after the program's own destructors, which may still free memory or launch. */
__attribute__((destructor)) static void save_at_unload(void)
{
	save_at_exit();
}

static void on_fatal_signal(int sig)
{
	int waited;
	size_t i;

	atomic_store(&ending, true);
	if (atomic_load(&saver_runs))
		sem_post(&wake);
	for (waited = 0; atomic_load(&saver_runs) && atomic_load(&saved) != atomic_load(&changes); waited += 5) {
		if (waited >= SIGNAL_WAIT_MS)
			break;
		pause_ms(5);
	}
	for (i = 0; i < WS_COUNT(fatal_signals); i++)
		if (fatal_signals[i] == sig)
			sigaction(sig, &former[i], NULL);
	raise(sig); /* delivered when this handler returns */
}

static void watch_signals(void)
{
	struct sigaction act = {.sa_handler = on_fatal_signal};
	size_t i;

	for (i = 0; i < WS_COUNT(fatal_signals); i++) {
		sigaction(fatal_signals[i], NULL, &former[i]);
		if (!(former[i].sa_flags & SA_SIGINFO) && former[i].sa_handler == SIG_DFL)
			sigaction(fatal_signals[i], &act, NULL);
	}
}

/* The thread inherits a full signal mask: the program's signals are for the program's threads. */
static void start_saver(struct ws_session *s)
{
	sigset_t all, old;
	pthread_t thread;

	sem_init(&wake, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, NULL, saver, s) == 0) {
		pthread_detach(thread);
		atomic_store(&saver_runs, true);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
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
		.stats = o->stats,
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

static void in_child(void)
{
	if (the_session)
		atomic_store(&forked, true);
	atomic_store(&saver_runs, false);
}

static struct ws_session *create(void)
{
	struct ws_session *s = ws_alloc(sizeof *s);
	struct ws_gpu_config c;

	read_options(&s->options);
	s->report = ws_report_new();
	s->saves = s->options.report_dir && *s->options.report_dir;
	c = gpu_config(&s->options);
	if (s->options.verb && strcmp(s->options.verb, "race") == 0)
		make_detector(s);
	if (s->detector) {
		c.observer = s->detector->ops;
		c.observer_self = s->detector_self;
		c.watch_host = true;
	}
	if (strcmp(s->options.instrument, "none") != 0) {
		c.observer = &ws_instrument_observer;
		atexit(ws_instrument_tell);
	}
	ws_report_set(s->report, "sim", s->detector ? s->detector->name : "none", s->options.granularity);
	s->gpu = ws_gpu_create(&c);
	if (s->detector && s->detector->attach)
		s->detector->attach(s->detector_self, s->gpu);
	ws_sync_start(s);
	if (s->saves) {
		atexit(save_at_exit);
		start_saver(s);
		watch_signals();
	}
	if (s->options.stats)
		atexit(tell_stats);
	pthread_atfork(NULL, NULL, in_child);
	atomic_fetch_add(&changes, 1); /* a program without a launch has a report, too: nothing found */
	return s;
}

struct ws_session *ws_session(void)
{
	struct ws_session *s;

	if (atomic_load(&forked))
		return NULL;
	s = __atomic_load_n(&the_session, __ATOMIC_ACQUIRE);
	if (s)
		return s;
	pthread_mutex_lock(&create_lock);
	if (!the_session)
		__atomic_store_n(&the_session, create(), __ATOMIC_RELEASE);
	s = the_session;
	pthread_mutex_unlock(&create_lock);
	return s;
}

struct ws_session *ws_session_if_any(void)
{
	return __atomic_load_n(&the_session, __ATOMIC_ACQUIRE);
}

int ws_session_sticky(void)
{
	return atomic_load(&sticky);
}

void ws_session_set_sticky(int code)
{
	atomic_store(&sticky, code);
}
