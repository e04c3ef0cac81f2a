/* race.c - `warpsafe race`: runs a program under a detector and shows what was found. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum target { TO_ERROR_STREAM, TO_STANDARD_OUTPUT, TO_FILE };

static enum target target(const struct ws_options *o)
{
	if (!o->output)
		return strcmp(o->format, "text") == 0 ? TO_ERROR_STREAM : TO_STANDARD_OUTPUT;
	return strcmp(o->output, "-") == 0 ? TO_STANDARD_OUTPUT : TO_FILE;
}

static bool colored(const struct ws_options *o)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (o->color_always || o->color_never)
		return o->color_always;
	if (target(o) == TO_FILE || !isatty(target(o) == TO_ERROR_STREAM ? STDERR_FILENO : STDOUT_FILENO))
		return false;
	return (!term || strcmp(term, "dumb") != 0) && !(no_color && *no_color);
}

static void render(const struct ws_report *r, const struct ws_options *o, struct ws_buf *out)
{
	struct ws_text_options text = { colored(o), o->source_dirs, o->max_reports,
		                         target(o) == TO_ERROR_STREAM && o->runs <= 1 };

	if (strcmp(o->format, "json") == 0)
		ws_report_write_json(r, out);
	else if (strcmp(o->format, "sarif") == 0)
		ws_report_write_sarif(r, out);
	else if (strcmp(o->format, "html") == 0)
		ws_report_write_html(r, out);
	else
		ws_report_write_text(r, &text, out);
}

static bool write_report(const struct ws_report *r, const struct ws_options *o)
{
	struct ws_buf b = { 0 };
	enum target t = target(o);
	FILE *f = t == TO_FILE ? fopen(o->output, "wb") : t == TO_ERROR_STREAM ? stderr : stdout;
	bool fine = f != NULL;

	render(r, o, &b);
	fine = fine && fwrite(b.data, 1, b.len, f) == b.len;
	fine = f && (t == TO_FILE ? fclose(f) : fflush(f)) == 0 && fine;
	if (!fine)
		ws_cli_refuse("race", "cannot write the report to %s: %s", t == TO_FILE ? o->output : "standard output",
		              strerror(errno));
	ws_buf_free(&b);
	return fine;
}

static int exit_status(const struct ws_report *r, const struct ws_options *o, const struct ws_program *p)
{
	if (ws_report_count(r, WS_ERROR) && o->error_exitcode)
		return (int)o->error_exitcode;
	return ws_cli_status(p, r);
}

/* false: the rules cannot be read, which was told. *rules is NULL without --suppress. */
static bool read_rules(const char *path, struct ws_suppressions **rules)
{
	struct ws_buf problems = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &problems };
	size_t len;
	char *text;

	*rules = NULL;
	if (!path)
		return true;
	text = ws_read_file(path, &len);
	if (!text) {
		ws_cli_refuse("race", "--suppress: cannot read '%s': %s", path, strerror(errno));
		return false;
	}
	*rules = ws_suppressions_read(path, text, len, &sink);
	if (!*rules)
		fwrite(problems.data, 1, problems.len, stderr);
	ws_buf_free(&problems);
	free(text);
	return *rules != NULL;
}

static void note_signal(struct ws_report *report, const struct ws_program *p)
{
	if (p->state == WS_PROGRAM_RAN && p->signal)
		ws_report_limit(report, "the program was ended by a signal; what it would have done later was not checked");
}

/* One run after the other, each under a seed of its own, as long as the program can be started. The program's output is
 * that of the first run. The status is that of the first run that ended with another one than 0. */
static struct ws_program run_often(char **argv, const struct ws_options *o, enum ws_program_output output,
                                   struct ws_report *report)
{
	struct ws_program all = { .state = WS_PROGRAM_RAN };
	struct ws_options one = *o;

	if (!one.threads)
		one.threads = 1;             /* so that a seed gives one execution */
	for (uint32_t i = 0; i < o->runs; i++, one.seed++) {
		struct ws_report *found = ws_report_new();
		struct ws_program p = ws_cli_launch(&ws_verb_race, &one, argv, i ? WS_OUTPUT_HIDDEN : output, found);

		note_signal(found, &p);
		if (p.state == WS_PROGRAM_RAN)
			ws_report_add_run(report, found);
		ws_report_free(found);
		if (p.state != WS_PROGRAM_RAN)
			return p;
		if (!all.status)
			all = p;
	}
	return all;
}

static int race_program(char **argv, const struct ws_options *o, const struct ws_suppressions *rules)
{
	enum ws_program_output output = target(o) == TO_STANDARD_OUTPUT ? WS_OUTPUT_TO_STDERR : WS_OUTPUT_SHOWN;
	struct ws_report *report = ws_report_new();
	struct ws_program p;
	int status;

	ws_report_set(report, o->gpu, o->detector, o->granularity);
	if (o->runs > 1)
		p = run_often(argv, o, output, report);
	else
		p = ws_cli_launch(&ws_verb_race, o, argv, output, report);
	status = p.status;
	if (p.state == WS_PROGRAM_RAN) {
		if (o->runs <= 1)
			note_signal(report, &p);
		if (rules)
			ws_report_suppress(report, rules);
		status = write_report(report, o) ? exit_status(report, o, &p) : WS_EXIT_USAGE;
	}
	ws_report_free(report);
	return status;
}

static int race(int argc, char **argv)
{
	struct ws_suppressions *rules;
	struct ws_options o;
	int status, program;

	ws_options_default(&o);
	program = ws_cli_parse(&ws_verb_race, argc, argv, &o, &status);
	if (program && o.runs > 1 && strcmp(o.schedule, "rr") == 0) {
		status = ws_cli_refuse("race", "--runs needs --schedule=random or priority: in the fixed order every run is the same");
	} else if (program && read_rules(o.suppress, &rules)) {
		status = race_program(argv + program, &o, rules);
		ws_suppressions_free(rules);
	}
	ws_options_free(&o);
	return status;
}

const struct ws_verb ws_verb_race = {
	"race", "run a program and report its data races",
	"[options] [--] PROGRAM [ARGUMENTS]",
	"Runs PROGRAM, an ordinary CUDA program, on the simulated GPU and reports the data\n"
	"races of its kernels: both accesses with source line and thread, what order is\n"
	"missing, and a repair. For source lines compile with -lineinfo (nvcc) or with\n"
	"'warpsafe cc'. A script may be given as well: all programs that it starts are checked.\n"
	"With --gpu=real the kernels run on the machine's own NVIDIA GPU, with checks inserted\n"
	"into their PTX; kernels that cannot be checked are listed with the reason.\n"
	"\n"
	"The report goes to the error stream, or to the file of --output. A JSON, SARIF or HTML\n"
	"report without --output goes to standard output, and what the program itself writes\n"
	"there goes to the error stream.\n",
	race,
};
