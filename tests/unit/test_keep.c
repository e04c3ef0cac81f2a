/* The report of a process that ends: what is found last must be in it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "report/keep.h"

static atomic_bool later;                /* gather knows of something new */
static atomic_uint gathered;

static void gather(void *report)
{
	if (atomic_load(&later))
		ws_report_limit(report, "found at the end");
	atomic_fetch_add(&gathered, 1);
}

/* Has its report saved; then there is more to gather, of which nobody says anything. */
static void child(const char *folder, void (*end)(void))
{
	struct ws_keep k = { ws_report_new(), folder, gather, NULL };

	k.user = k.report;
	ws_keep_start(&k);
	ws_keep_touch();
	for (int ms = 0; !atomic_load(&gathered) && ms < 10000; ms++)
		usleep(1000);
	usleep(20000);
	atomic_store(&later, true);
	end();
}

static void leave(void)
{
	exit(0);
}

static void be_killed(void)
{
	raise(SIGTERM);
}

static bool is_told(void (*end)(void))
{
	char folder[] = "/tmp/warpsafe-keep-XXXXXX", path[80];
	bool told;
	size_t len;
	char *text;
	pid_t pid;
	int status;

	assert_non_null(mkdtemp(folder));
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		child(folder, end);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(path, sizeof path, "%s/report.%ld.json", folder, (long)pid);
	text = ws_read_file(path, &len);
	assert_non_null(text);
	told = strstr(text, "found at the end") != NULL;
	free(text);
	unlink(path);
	rmdir(folder);
	return told;
}

static void what_is_found_last_is_told(void **state)
{
	assert_true(is_told(leave));
	assert_true(is_told(be_killed));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_found_last_is_told) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
