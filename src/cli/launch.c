/* launch.c - starts the program under test with the simulated GPU in place of NVIDIA's libraries, or with warpsafe before
 * the driver of a real one, waits for it, and collects the reports of its processes. */
#include "cli/cli.h"
#include "real/real.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- environment ---- */
/* NAME=value, or NAME=value:old when the variable is set. */
static void put_before(const char *name, const char *value)
{
	const char *old = getenv(name);
	struct ws_buf b = { 0 };

	ws_buf_puts(&b, value);
	if (old && *old)
		ws_buf_printf(&b, ":%s", old);
	setenv(name, b.data, 1);
	ws_buf_free(&b);
}

static void set_environment(const struct ws_options *o, const char *libraries)
{
	struct ws_buf b = { 0 };

	ws_options_to_env(o, &b);
	if (strcmp(o->instrument, "tm") == 0)
		setenv("WARPSAFE_TM", "1", 1);       /* include/warpsafe/atomic.h has nothing to warn of */
	if (ws_cli_is_real(o)) {     /* the driver before the driver; the simulated libraries stay out of it */
		setenv(WS_REAL_OPTIONS_ENV, b.data, 1);
		put_before("LD_LIBRARY_PATH", o->report_dir);
		ws_buf_free(&b);
		return;
	}
	setenv("WARPSAFE_OPTIONS", b.data, 1);
	b.len = 0;
	ws_buf_printf(&b, "%s/libwarpsafe-preload.so", libraries);
	put_before("LD_PRELOAD", b.data);
	put_before("LD_LIBRARY_PATH", libraries);
	ws_buf_free(&b);
}

/* ---- signals ---- */
static volatile sig_atomic_t child;

/* A signal that the terminal sends reaches the program by itself; one that a process sent to us is passed on. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (child > 0 && info->si_code != SI_KERNEL)
		kill((pid_t)child, signal);
	errno = saved;
}

static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };

static void catch_signals(struct sigaction *old)
{
	struct sigaction a = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART };

	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < WS_COUNT(passed); i++) {
		sigaction(passed[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)        /* what was ignored (nohup) stays so, here and in the program */
			sigaction(passed[i], &a, NULL);
	}
}

static void restore_signals(const struct sigaction *old)
{
	for (size_t i = 0; i < WS_COUNT(passed); i++)
		sigaction(passed[i], &old[i], NULL);
}

/* ---- the program ---- */
static void redirect(enum ws_program_output output)
{
	int nowhere = output == WS_OUTPUT_HIDDEN ? open("/dev/null", O_WRONLY) : -1;

	if (output == WS_OUTPUT_TO_STDERR)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (nowhere >= 0) {
		dup2(nowhere, STDOUT_FILENO);
		dup2(nowhere, STDERR_FILENO);
		close(nowhere);
	}
}

static _Noreturn void become(const struct ws_options *o, const char *libraries, char **argv,
                             enum ws_program_output output, int tell)
{
	int failed;

	redirect(output);
	set_environment(o, libraries);
	execvp(argv[0], argv);
	failed = errno;
	if (write(tell, &failed, sizeof failed) < 0)
		_exit(127);
	_exit(127);
}

static struct ws_program wait_for(pid_t pid)
{
	struct ws_program p = { .state = WS_PROGRAM_RAN };
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	p.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	p.status = p.signal ? 128 + p.signal : WEXITSTATUS(status);
	return p;
}

int ws_cli_status(const struct ws_program *p, const struct ws_report *report)
{
	return p->state == WS_PROGRAM_RAN && ws_report_failed(report) ? WS_EXIT_FAILED : p->status;
}

static struct ws_program refused(int status)
{
	return (struct ws_program){ .state = WS_PROGRAM_REFUSED, .status = status };
}

static struct ws_program run_program(const char *verb, const struct ws_options *o, const char *libraries, char **argv,
                                     enum ws_program_output output)
{
	struct sigaction old[WS_COUNT(passed)];
	struct ws_program p;
	int tell[2], failed = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(tell, O_CLOEXEC))
		return refused(ws_cli_refuse(verb, "cannot make a pipe: %s", strerror(errno)));
	fflush(NULL);
	child = 0;
	catch_signals(old);
	pid = fork();
	if (pid == 0) {
		restore_signals(old);
		become(o, libraries, argv, output, tell[1]);
	}
	failed = errno;
	child = pid;
	close(tell[1]);
	if (pid < 0) {
		close(tell[0]);
		restore_signals(old);
		return refused(ws_cli_refuse(verb, "cannot start a process: %s", strerror(failed)));
	}
	while ((n = read(tell[0], &failed, sizeof failed)) < 0 && errno == EINTR)
		;
	close(tell[0]);
	p = wait_for(pid);
	child = 0;
	restore_signals(old);
	if (n == sizeof failed)
		return refused(ws_cli_refuse(verb, "cannot run '%s': %s", argv[0], strerror(failed)));
	return p;
}

/* ---- reports ---- */
static void read_report(const char *verb, const char *path, struct ws_report *report)
{
	struct ws_buf problem = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &problem };
	size_t len;
	char *text = ws_read_file(path, &len);

	if (!text || !ws_report_read_json(report, text, len, &sink)) {
		ws_cli_refuse(verb, "a part of the report cannot be read: %s", text ? problem.data : strerror(errno));
		ws_report_limit(report, "the report of one process could not be read");
	}
	free(text);
	ws_buf_free(&problem);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct collecting { const char *verb; struct ws_report *report; };

static void take_report(void *user, const char *path, const char *name)
{
	const struct collecting *c = user;
	size_t len = strlen(name);

	if (strncmp(name, "report.", 7) == 0 && len > 5 && strcmp(name + len - 5, ".json") == 0)
		read_report(c->verb, path, c->report);
}

/* Reads report.*.json in order of name and removes the folder. */
static void collect(const char *verb, const char *folder, struct ws_report *report)
{
	struct collecting c = { verb, report };

	ws_cli_take_folder(folder, compare_names, take_report, &c);
}

struct ws_program ws_cli_launch(const struct ws_verb *verb, const struct ws_options *o, char **argv,
                                enum ws_program_output output, struct ws_report *report)
{
	struct ws_options with_folder = *o;
	struct ws_program p = refused(WS_EXIT_USAGE);
	struct ws_buf text = { 0 };
	const char *why = ws_cli_check_real(verb->name, o, &text);
	char *libraries = NULL, *folder = NULL;

	if (!why)
		why = ws_cli_check_program(argv[0], ws_cli_is_real(o), &text);
	if (why) {
		ws_cli_refuse(verb->name, "%s", why);
	} else if (!(libraries = ws_cli_library_folder())) {
		ws_cli_refuse(verb->name, "libwarpsafe-preload.so is not beside warpsafe; build or install it again");
	} else if (!(folder = ws_cli_temporary_folder("warpsafe"))) {
		ws_cli_refuse(verb->name, "cannot make a folder for the report: %s (set TMPDIR)", strerror(errno));
	} else if (ws_cli_is_real(o) && (why = ws_cli_put_stub(libraries, folder, &text))) {
		ws_cli_refuse(verb->name, "%s", why);
		collect(verb->name, folder, report);
	} else {
		with_folder.verb = verb->name;
		with_folder.report_dir = folder;
		p = run_program(verb->name, &with_folder, libraries, argv, output);
		collect(verb->name, folder, report);
	}
	ws_buf_free(&text);
	free(libraries);
	free(folder);
	return p;
}
