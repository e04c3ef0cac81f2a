/* run.c - `warpsafe run`: runs a program on the simulated GPU or a real one, without checks for races. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

static void show_kernels(const struct ws_report *report)
{
	struct ws_buf b = { 0 };

	ws_report_write_kernels(report, &b);
	fwrite(b.data, 1, b.len, stderr);
	ws_buf_free(&b);
}

static int run_program(char **argv, const struct ws_options *o)
{
	struct ws_report *report = ws_report_new();
	struct ws_program p = ws_cli_launch(&ws_verb_run, o, argv, WS_OUTPUT_SHOWN, report);
	int status = ws_cli_status(&p, report);

	if (p.state == WS_PROGRAM_RAN && o->stats && ws_cli_is_real(o))
		show_kernels(report);
	ws_report_free(report);
	return status;
}

static int run(int argc, char **argv)
{
	struct ws_options o;
	int status, program;

	ws_options_default(&o);
	program = ws_cli_parse(&ws_verb_run, argc, argv, &o, &status);
	if (program)
		status = run_program(argv + program, &o);
	ws_options_free(&o);
	return status;
}

const struct ws_verb ws_verb_run = {
	"run", "run a program on the simulated GPU, without checks",
	"[options] [--] PROGRAM [ARGUMENTS]",
	"Runs PROGRAM, an ordinary CUDA program, on the simulated GPU. Out-of-bounds accesses,\n"
	"deadlocks and other failures of a kernel are told; data races are not looked for.\n"
	"With --gpu=real it runs on the machine's own NVIDIA GPU, through the installed driver.\n",
	run,
};
