/* tm.c - `warpsafe tm`: runs a program with its marked sections as transactions. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_program(char **argv, const struct ws_options *o)
{
	struct ws_report *report = ws_report_new();
	struct ws_program p = ws_cli_launch(&ws_verb_tm, o, argv, WS_OUTPUT_SHOWN, report);
	int status = ws_cli_status(&p, report);
	struct ws_buf b = { 0 };

	if (ws_report_write_violations(report, &b)) {
		fprintf(stderr, "\n%s", b.data);
		status = WS_EXIT_RACE;
	}
	ws_buf_free(&b);
	ws_report_free(report);
	return status;
}

/* NULL: the options agree with each other. */
static const char *disagreement(const struct ws_options *o)
{
	bool history = strcmp(o->tm_check, "history") == 0;

	if (o->tm_opacity && strcmp(o->tm_check, "none") == 0)
		return "--opacity is for --check=history";
	if (history && o->threads > 1 && strcmp(o->gpu, "real"))
		return "--check=history needs the order of all accesses, so it runs with one host thread; leave --threads out";
	return NULL;
}

static int run(int argc, char **argv)
{
	struct ws_options o;
	const char *why = NULL;
	int status, program;

	ws_options_default(&o);
	program = ws_cli_parse(&ws_verb_tm, argc, argv, &o, &status);
	if (program && !ws_options_set(&o, "instrument", "tm", &why))
		status = ws_cli_refuse("tm", "%s", why);
	else if (program && (why = disagreement(&o)))
		status = ws_cli_refuse("tm", "%s", why);
	else if (program)
		status = run_program(argv + program, &o);
	ws_options_free(&o);
	return status;
}

const struct ws_verb ws_verb_tm = {
	"tm", "run a program with its marked sections as transactions",
	"[options] [--] PROGRAM [ARGUMENTS]",
	"Runs PROGRAM, an ordinary CUDA program, and makes each of its marked sections\n"
	"(WS_ATOMIC { ... } of <warpsafe/atomic.h>) take effect as a whole or not at all. What a\n"
	"section does that cannot be undone is refused by its source line before the program's\n"
	"kernels run.\n\n"
	"With --check=history the exit status is 1 when transactions were found that no order\n"
	"explains, or that saw what was undone; else it is the program's own.\n",
	run,
};
