/* ptxas.c - the compiler of a CUDA toolkit as a process; see ptxas.h.
 *
 * Its input, output and messages are files that have no name, so nobody has to remove them. It gets a signal when the thread that
 * waits for it ends, whatever ends that. */
#include "real/ptxas.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"

/* ---- where it is ---- */
static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* The first `len` bytes of folder name a folder. NULL: it is not there. */
static char *program_in(const char *folder, size_t len, const char *below)
{
	struct ws_buf b = { 0 };

	if (!len || *folder != '/')
		return NULL;
	ws_buf_add(&b, folder, len);
	ws_buf_printf(&b, "%s/ptxas", below);
	if (!is_program(b.data))
		ws_buf_free(&b);
	return b.data;
}

char *ws_ptxas_find(void)
{
	static const char *const homes[] = { "CUDA_HOME", "CUDA_PATH" };
	static const char usual[] = "/usr/local/cuda";
	const char *path = getenv("PATH");
	char *found = NULL;

	for (; path && *path && !found; path += strcspn(path, ":"), path += *path == ':')
		found = program_in(path, strcspn(path, ":"), "");
	for (size_t k = 0; k < WS_COUNT(homes) && !found; k++) {
		const char *home = getenv(homes[k]);

		found = home ? program_in(home, strlen(home), "/bin") : NULL;
	}
	return found ? found : program_in(usual, strlen(usual), "/bin");
}

char *ws_ptxas_mark(const char *path)
{
	struct ws_buf b = { 0 };
	struct stat st = { 0 };

	stat(path, &st);
	ws_buf_printf(&b, "%s %lld %lld.%09ld", path, (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return b.data;
}

size_t ws_ptxas_work(const char *text, size_t kernels)
{
	static const char function[] = "\n.func", entry[] = ".entry";
	size_t functions = 0, all = strlen(text);

	for (const char *at = strstr(text, function), *end; at; at = strstr(end, function)) {
		const char *next = strstr(at + 1, function), *kernel = strstr(at + 1, entry);

		end = !next || (kernel && kernel < next) ? kernel : next;
		end = end ? end : text + all;
		functions += (size_t)(end - at);
	}
	return all - functions + functions * (kernels ? kernels : 1);
}

/* ---- a process ---- */
struct files { int in, out, log; };          /* -1 = none */

static int new_file(void)
{
	return memfd_create("warpsafe-ptxas", MFD_CLOEXEC);
}

static bool fill(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

static void *content(int fd, size_t *len)
{
	struct stat st;
	char *data;
	size_t done = 0;
	ssize_t n;

	if (fstat(fd, &st))
		return NULL;
	data = ws_alloc((size_t)st.st_size + 1);
	while (done < (size_t)st.st_size && (n = pread(fd, data + done, (size_t)st.st_size - done, (off_t)done)) > 0)
		done += (size_t)n;
	*len = done;
	return data;
}

/* This process's, without what the program was made to load, and our own. */
static char **environment(void)
{
	extern char **environ;
	static const char *const without[] = { "LD_PRELOAD=", "WARPSAFE_" };
	size_t n = 0, k = 0;
	char **list;

	while (environ[n])
		n++;
	list = ws_alloc((n + 1) * sizeof *list);
	for (char **e = environ; *e; e++)
		if (strncmp(*e, without[0], strlen(without[0])) != 0 && strncmp(*e, without[1], strlen(without[1])) != 0)
			list[k++] = *e;
	return list;
}

/* In the new process, which has this one's memory until it executes something. */
static _Noreturn void become(char *const *argv, char *const *env, const struct files *f)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);               /* all that it starts itself can be ended with it */
	dup2(f->log, STDOUT_FILENO);
	dup2(f->log, STDERR_FILENO);
	if (f->in >= 0)
		fcntl(f->in, F_SETFD, 0);
	if (f->out >= 0)
		fcntl(f->out, F_SETFD, 0);
	execve(argv[0], argv, env);
	_exit(127);
}

/* vfork: a program on a GPU may have much memory, and what it wants done at a fork is not meant for us. */
static pid_t start(char *const *argv, const struct files *f)
{
	char **env = environment();
	pid_t pid = vfork();

	if (!pid)
		become(argv, env, f);
	free(env);
	return pid;
}

enum { BY_SIGNAL = 128 };
/* The exit status, or BY_SIGNAL and more. -1: it had to be ended. A program that ignores SIGCHLD keeps the status from us: then it is 0. */
static int wait_for(pid_t pid, uint64_t limit_ns, const struct ws_ptxas_job *j)
{
	uint64_t begin = ws_monotonic_ns(), end = begin + limit_ns;
	bool lasts = false;
	struct timespec pause = { 0, 1000000 };
	int status = 0;
	pid_t done;

	while (!(done = waitpid(pid, &status, WNOHANG)) || (done < 0 && errno == EINTR)) {
		if (ws_monotonic_ns() > end) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		if (j && j->lasts && !lasts && ws_monotonic_ns() - begin >= j->patience_ns) {
			lasts = true;
			j->lasts();
		}
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 20000000)
			pause.tv_nsec *= 2;
	}
	if (done < 0)
		return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}

/* j: the job that it is for; NULL: for none, it only says its version. */
static bool run(char *const *argv, const struct files *f, uint64_t limit_ns, struct ws_ptxas_job *j, struct ws_buf *why)
{
	pid_t pid = start(argv, f);
	int status = pid < 0 ? 127 : wait_for(pid, limit_ns, j);
	size_t len = 0;
	char *log;

	if (j)
		j->killed = status > BY_SIGNAL;
	if (!status)
		return true;
	log = content(f->log, &len);
	if (status < 0)
		ws_buf_printf(why, "%s has taken longer than %.0f seconds", argv[0], (double)limit_ns * 1e-9);
	else
		ws_buf_printf(why, "%s ended with status %d%s%.*s", argv[0], status, len ? ": " : "", log ? (int)strcspn(log, "\n") : 0, log ? log : "");
	free(log);
	return false;
}

/* ---- its version ---- */
#define ASK_NS 10000000000ull               /* to say it */

/* As drivers say theirs; 0: it does not say. */
static int version_in(const char *said)
{
	static const char before[] = ", release ";
	const char *at = said ? strstr(said, before) : NULL;
	int major, minor;

	if (!at || sscanf(at + strlen(before), "%d.%d", &major, &minor) != 2)
		return 0;
	return major * 1000 + minor * 10;
}

/* 0: the driver does not know what it makes, or it does not say. */
static int version_for(const char *path, int driver, struct ws_buf *why)
{
	struct files f = { -1, -1, new_file() };
	char *argv[] = { (char *)path, (char *)"--version", NULL }, *said;
	size_t len = 0;
	int version;
	bool fine = f.log >= 0 && run(argv, &f, ASK_NS, NULL, why);

	said = fine ? content(f.log, &len) : NULL;
	version = version_in(said);
	free(said);
	if (f.log >= 0)
		close(f.log);
	if (!fine)
		return 0;
	if (!version)
		ws_buf_printf(why, "%s does not say its version", path);
	else if (version > driver)
		ws_buf_printf(why, "%s is of CUDA %d.%d, and the driver of %d.%d", path, version / 1000, version % 1000 / 10, driver / 1000,
		              driver % 1000 / 10);
	return version <= driver ? version : 0;
}

/* ---- compiling ---- */
/* The module's own target if that says more than a number: sm_90a. */
static void add_target(struct ws_buf *b, const char *text, uint32_t cc)
{
	static const char target[] = "\n.target sm_";
	const char *at = strstr(text, target), *end;

	ws_buf_printf(b, "-arch=sm_%u", cc);
	if (!at)
		return;
	at += strlen(target);
	end = at + strspn(at, "0123456789");
	if ((*end == 'a' || *end == 'f') && (uint32_t)strtoul(at, NULL, 10) == cc)
		ws_buf_add(b, end, 1);
}

static bool is_machine_code(const void *data, size_t len)
{
	const Elf64_Ehdr *e = data;

	return len > sizeof *e && !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_machine == EM_CUDA;
}

/* From that version on it works with a thread for each processor if it is asked to. */
enum { SPLITS_FROM = 13000 };

static bool compile_to(struct ws_ptxas_job *j, int version, const struct files *f, void **cubin, size_t *len, struct ws_buf *why)
{
	struct ws_buf arch = { 0 };
	char in[32], out[32], *argv[] = { (char *)j->path, NULL, in, (char *)"-o", out, NULL, NULL };
	bool fine;

	if (version >= SPLITS_FROM)
		argv[WS_COUNT(argv) - 2] = (char *)"-split-compile=0";

	snprintf(in, sizeof in, "/proc/self/fd/%d", f->in);
	snprintf(out, sizeof out, "/proc/self/fd/%d", f->out);
	add_target(&arch, j->text, j->cc);
	argv[1] = arch.data;
	fine = run(argv, f, j->limit_ns, j, why);
	ws_buf_free(&arch);
	if (!fine)
		return false;
	*cubin = content(f->out, len);
	if (*cubin && is_machine_code(*cubin, *len))
		return true;
	ws_buf_printf(why, "%s has made no machine code", j->path);
	free(*cubin);
	*cubin = NULL;
	return false;
}

bool ws_ptxas_compile(struct ws_ptxas_job *j, void **cubin, size_t *len, struct ws_buf *why)
{
	struct files f = { new_file(), new_file(), new_file() };
	const int all[] = { f.in, f.out, f.log };
	bool fine = false;
	int version;

	*cubin = NULL;
	j->killed = false;
	if (f.in < 0 || f.out < 0 || f.log < 0 || !fill(f.in, j->text, j->len))
		ws_buf_printf(why, "no memory for the files of %s", j->path);
	else
		fine = (version = version_for(j->path, j->driver, why)) != 0 && compile_to(j, version, &f, cubin, len, why);
	for (size_t k = 0; k < WS_COUNT(all); k++)
		if (all[k] >= 0)
			close(all[k]);
	return fine;
}
