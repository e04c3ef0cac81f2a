/* main.c - `warpsafe`: finds the verb, shows help, proposes the nearest name. */
#include "base/version.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ws_verb *const verbs[] = { &ws_verb_race, &ws_verb_tm, &ws_verb_run, &ws_verb_sim, &ws_verb_cc,
	                                         &ws_verb_ptx, &ws_verb_bench };

static const struct ws_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < WS_COUNT(verbs); i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

static const char *nearest_verb(const char *name)
{
	const char *best = NULL;
	size_t distance = 3;

	if (strlen(name) > 30)
		return NULL;
	for (size_t i = 0; i < WS_COUNT(verbs); i++) {
		size_t d = ws_edit_distance(name, verbs[i]->name);

		if (d < distance && d < strlen(verbs[i]->name)) {
			distance = d;
			best = verbs[i]->name;
		}
	}
	return best;
}

static int unknown_verb(const char *name)
{
	const char *near = nearest_verb(name);

	if (name[0] == '-')
		return ws_cli_refuse(NULL, "there is no option '%s' here: a command comes first (see 'warpsafe help')", name);
	if (near)
		return ws_cli_refuse(NULL, "there is no command '%s'; did you mean '%s'? (see 'warpsafe help')", name, near);
	return ws_cli_refuse(NULL, "there is no command '%s' (see 'warpsafe help')", name);
}

static void overview(struct ws_buf *out)
{
	ws_buf_puts(out, "warpsafe " WS_VERSION " - finds the data races of CUDA programs, without a GPU\n\n"
	            "usage: warpsafe COMMAND ...\n\ncommands:\n");
	for (size_t i = 0; i < WS_COUNT(verbs); i++)
		ws_buf_printf(out, "  %-6s %s\n", verbs[i]->name, verbs[i]->summary);
	ws_buf_puts(out, "  help   show this, or 'warpsafe help COMMAND'\n\n"
	            "exit status: 0 fine and no race; 1 a race was found; 2 bad usage or bad input;\n"
	            "3 a kernel of the program failed or deadlocked; else the program's own status\n");
}

static int show(struct ws_buf *text)
{
	bool fine = fwrite(text->data, 1, text->len, stdout) == text->len && fflush(stdout) == 0;

	ws_buf_free(text);
	return fine ? WS_EXIT_FINE : ws_cli_refuse(NULL, "cannot write to standard output");
}

static void man_text(struct ws_buf *out, const char *s)
{
	for (bool start = true; *s; start = *s++ == '\n') {
		if (start && (*s == '.' || *s == '\''))
			ws_buf_puts(out, "\\&");
		if (*s == '\\')
			ws_buf_puts(out, "\\e");
		else if (*s == '-')
			ws_buf_puts(out, "\\-");
		else
			ws_buf_add(out, s, 1);
	}
}

/* The manual page: docs/warpsafe.1 is this text. */
static int show_man(void)
{
	struct ws_buf b = { 0 };

	ws_buf_puts(&b, ".TH WARPSAFE 1 \"\" \"warpsafe " WS_VERSION "\" \"User Commands\"\n.SH NAME\n"
	            "warpsafe \\- find the data races of CUDA programs, without a GPU\n.SH SYNOPSIS\n");
	for (size_t i = 0; i < WS_COUNT(verbs); i++) {
		ws_buf_printf(&b, "%s.B warpsafe %s\n", i ? ".br\n" : "", verbs[i]->name);
		man_text(&b, verbs[i]->usage);
		ws_buf_puts(&b, "\n");
	}
	ws_buf_puts(&b, ".SH DESCRIPTION\n"
	            "warpsafe runs an ordinary CUDA program on a simulated GPU and reports its data races in shared and\n"
	            "in global memory: both accesses with their source lines and threads, the order that is missing,\n"
	            "and a repair. No GPU, driver or CUDA toolkit is needed.\n.SH COMMANDS\n");
	for (size_t i = 0; i < WS_COUNT(verbs); i++) {
		ws_buf_printf(&b, ".SS warpsafe %s\n.nf\n", verbs[i]->name);
		man_text(&b, verbs[i]->help);
		ws_buf_puts(&b, ".fi\n");
		ws_options_man(verbs[i]->name, &b);
	}
	ws_buf_puts(&b, ".SH EXIT STATUS\n.TP\n.B 0\nfine, and no race\n.TP\n.B 1\na race was found (another number with\n"
	            "\\-\\-error\\-exitcode)\n.TP\n.B 2\nbad usage or bad input\n.TP\n.B 3\n"
	            "a kernel of the program failed or\n"
	            "deadlocked\n.PP\nOtherwise the program's own status; 128 plus the signal's number if one ended it.\n"
	            ".SH ENVIRONMENT\n.TP\n.B TMPDIR\nwhere the folder of a run is made\n.TP\n.B WARPSAFE_DRIVER\n"
	            "with \\-\\-gpu=real: the driver's libcuda.so.1, where it is not the one that the loader finds\n.TP\n"
	            ".B XDG_CACHE_HOME\nwhere compiled kernels are kept, in a folder warpsafe; else in ~/.cache\n"
	            ".SH FILES\ndocs/REPORT.md and docs/report.schema.json describe the JSON report.\n");
	return show(&b);
}

static int help(int argc, char **argv)
{
	const struct ws_verb *verb;
	struct ws_buf b = { 0 };

	if (argc > 1 && strcmp(argv[1], "--man") == 0)
		return show_man();
	if (argc > 1 && strcmp(argv[1], "help") != 0) {
		verb = find_verb(argv[1]);
		if (!verb)
			return unknown_verb(argv[1]);
		ws_cli_verb_help(verb, &b);
	} else {
		overview(&b);
	}
	return show(&b);
}

static bool is_help(const char *s)
{
	return strcmp(s, "--help") == 0 || strcmp(s, "-h") == 0;
}

int main(int argc, char **argv)
{
	const struct ws_verb *verb;
	struct ws_buf b = { 0 };

	if (argc < 2) {
		overview(&b);
		fwrite(b.data, 1, b.len, stderr);
		ws_buf_free(&b);
		return WS_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		ws_buf_puts(&b, "warpsafe " WS_VERSION "\n");
		return show(&b);
	}
	if (is_help(argv[1]) || strcmp(argv[1], "help") == 0)
		return help(argc - 1, argv + 1);
	verb = find_verb(argv[1]);
	if (!verb)
		return unknown_verb(argv[1]);
	if (argc > 2 && is_help(argv[2])) {
		ws_cli_verb_help(verb, &b);
		return show(&b);
	}
	return verb->run(argc - 1, argv + 1);
}
