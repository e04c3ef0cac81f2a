/* ptx.c - `warpsafe ptx`: what the PTX front end makes of a file. */
#include "cli/cli.h"
#include "rewrite/rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum action { CHECK, PRINT, CFG, COVERAGE, INSTRUMENT };

struct request {
	enum action action;
	const char *path;
	const char *pass;            /* INSTRUMENT */
};

static int write_out(const struct ws_buf *b)
{
	if ((b->len && fwrite(b->data, 1, b->len, stdout) != b->len) || fflush(stdout))
		return ws_cli_refuse("ptx", "cannot write to standard output: %s", strerror(errno));
	return WS_EXIT_FINE;
}

static bool act(struct ws_ptx_module *m, const struct request *rq, const struct ws_sink *sink, struct ws_buf *out)
{
	if (rq->action == INSTRUMENT && !ws_rewrite(rq->pass, m, sink))
		return false;
	if (rq->action == PRINT || rq->action == INSTRUMENT)
		ws_ptx_print(m, out);
	for (uint32_t i = 0; rq->action == CFG && i < m->nfuncs; i++) {
		if (m->funcs[i]->declared_only)
			continue;
		ws_ptx_cfg(m->funcs[i]);
		ws_ptx_liveness(m->funcs[i]);
		ws_ptx_print_cfg(m->funcs[i], out);
	}
	return true;
}

static int read_module(const struct request *rq)
{
	const char *name = strcmp(rq->path, "-") == 0 ? "<stdin>" : rq->path;
	struct ws_buf problems = { 0 }, out = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &problems };
	struct ws_ptx_options options = { .syntax_only = rq->action != CHECK && rq->action != INSTRUMENT };
	struct ws_ptx_module *m;
	size_t len;
	int status = WS_EXIT_USAGE;
	char *text = ws_read_file(rq->path, &len);

	if (!text)
		return ws_cli_refuse("ptx", "cannot read '%s': %s", rq->path, strerror(errno));
	m = ws_ptx_parse(name, text, len, &options, &sink);
	if (m && act(m, rq, &sink, &out))
		status = write_out(&out);
	if (problems.len)
		fwrite(problems.data, 1, problems.len, stderr);
	ws_ptx_free(m);
	ws_buf_free(&problems);
	ws_buf_free(&out);
	free(text);
	return status;
}

static bool known_pass(const char *name)
{
	const char *known, *help;

	for (unsigned k = 0; ws_rewrite_pass(k, &known, &help); k++)
		if (strcmp(known, name) == 0)
			return true;
	return ws_cli_refuse("ptx", "there is no pass '%s' (see 'warpsafe help ptx')", name), false;
}

static bool parse(int argc, char **argv, struct request *rq)
{
	static const char instrument[] = "--instrument=";
	static const char *const names[] = { "--check", "--print", "--cfg", "--coverage" };

	for (int i = 1; i < argc; i++) {
		size_t k = 0;

		if (argv[i][0] != '-' || !argv[i][1]) {
			if (rq->path)
				return ws_cli_refuse("ptx", "one file at a time: '%s' is too many", argv[i]), false;
			rq->path = argv[i];
			continue;
		}
		if (strncmp(argv[i], instrument, strlen(instrument)) == 0) {
			rq->action = INSTRUMENT;
			rq->pass = argv[i] + strlen(instrument);
			if (!known_pass(rq->pass))
				return false;
			continue;
		}
		while (k < WS_COUNT(names) && strcmp(argv[i], names[k]) != 0)
			k++;
		if (k == WS_COUNT(names))
			return ws_cli_refuse("ptx", "there is no option '%s' (see 'warpsafe help ptx')", argv[i]), false;
		rq->action = (enum action)k;
	}
	if (!rq->path && rq->action != COVERAGE)
		return ws_cli_refuse("ptx", "no file given; usage: warpsafe ptx %s", ws_verb_ptx.usage), false;
	return true;
}

static int ptx(int argc, char **argv)
{
	struct request rq = { .action = CHECK };
	struct ws_buf out = { 0 };
	int status;

	if (!parse(argc, argv, &rq))
		return WS_EXIT_USAGE;
	if (rq.action != COVERAGE)
		return read_module(&rq);
	ws_ptx_print_coverage(&out);
	status = write_out(&out);
	ws_buf_free(&out);
	return status;
}

const struct ws_verb ws_verb_ptx = {
	"ptx", "check a PTX file, print it or its control-flow graph",
	"FILE|- [--check|--print|--cfg|--instrument=PASS]",
	"Reads a PTX file ('-' is standard input). Errors go to the error stream and make the\n"
	"exit status 2.\n"
	"\n"
	"  --check                       only check it (what happens without an option)\n"
	"  --print                       print the module; unchanged, this is the input\n"
	"  --cfg                         print basic blocks, dominators and live registers\n"
	"  --instrument=PASS             print the module with the code that a pass inserts: print\n"
	"                                (nothing), count (counts accesses to memory), race (checks\n"
	"                                them for races on a real GPU)\n"
	"  --coverage                    print the table of known instructions; needs no file\n",
	ptx,
};
