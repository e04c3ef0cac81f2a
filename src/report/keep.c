/* keep.c - the report must survive every end of the program; see keep.h.
 *
 * It is saved by a thread of its own, soon after a change, and at exit. When the program dies of a signal, the handler
 * cannot save (nothing that allocates is safe there): it wakes the thread, waits for it a bounded time, and raises the
 * signal again under the program's former handler. */
#include "report/keep.h"

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

#include "base/process.h"

enum { SAVE_EVERY_MS = 100, SIGNAL_WAIT_MS = 2000 };

static struct ws_keep kept;
static pthread_mutex_t save_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool saves, saver_runs, ending;
static atomic_ulong changes, saved;
static sem_t wake;

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGHUP};
static struct sigaction former[WS_COUNT(fatal_signals)];

static void write_report(void)
{
	struct ws_buf path = {0};

	if (kept.gather)
		kept.gather(kept.user);
	ws_buf_printf(&path, "%s/report.%ld.json", kept.folder, (long)getpid());
	if (!ws_report_save(kept.report, path.data)) {
		fprintf(stderr, "warpsafe: error: cannot write '%s': %s\n", path.data, strerror(errno));
		atomic_store(&saves, false);
	}
	ws_buf_free(&path);
}

static void save(void)
{
	unsigned long now = atomic_load(&changes);

	if (!atomic_load(&saves) || atomic_load(&saved) == now)
		return;
	pthread_mutex_lock(&save_lock);
	if (atomic_load(&saves)) {
		write_report();
		atomic_store(&saved, now);
	}
	pthread_mutex_unlock(&save_lock);
}

static void pause_ms(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void *saver(void *arg)
{
	for (;;) {
		while (sem_wait(&wake) != 0)
			;
		while (sem_trywait(&wake) == 0)
			; /* one saving is enough for all changes so far */
		save();
		if (!atomic_load(&ending))
			pause_ms(SAVE_EVERY_MS);
	}
	return NULL;
}

/* What is found is saved at once, for the program may end itself right after (_exit, SIGKILL); but not so often that it
 * costs time. */
void ws_keep_touch(void)
{
	static atomic_ulong findings, last;
	unsigned long n, now;

	atomic_fetch_add(&changes, 1);
	if (!atomic_load(&saves) || !atomic_load(&saver_runs))
		return;
	now = (unsigned long)(ws_monotonic_ns() / 1000000);
	n = ws_report_findings(kept.report);
	if (n != atomic_load(&findings) && now - atomic_load(&last) >= SAVE_EVERY_MS) {
		atomic_store(&findings, n);
		atomic_store(&last, now);
		save();
	} else {
		sem_post(&wake);
	}
}

/* At exit. gather may know of more than anybody said: a kernel may have ended just now. */
static void save_all(void)
{
	if (kept.gather)
		atomic_fetch_add(&changes, 1);
	save();
}

/* Runs after the program's own destructors, which may still free memory or launch. */
__attribute__((destructor)) static void save_at_unload(void)
{
	save();
}

static void on_fatal_signal(int sig)
{
	int waited;
	size_t i;

	atomic_store(&ending, true);
	atomic_fetch_add(&changes, 1);       /* gather may know of more than anybody said */
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
static void start_saver(void)
{
	sigset_t all, old;
	pthread_t thread;

	sem_init(&wake, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, NULL, saver, NULL) == 0) {
		pthread_detach(thread);
		atomic_store(&saver_runs, true);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void in_child(void)
{
	atomic_store(&saves, false);
	atomic_store(&saver_runs, false);
}

void ws_keep_start(const struct ws_keep *k)
{
	kept = *k;
	kept.folder = ws_strdup(k->folder);
	atomic_store(&saves, true);
	atexit(save_all);
	start_saver();
	watch_signals();
	pthread_atfork(NULL, NULL, in_child);
	atomic_fetch_add(&changes, 1); /* a program without a launch has a report, too: nothing found */
}
