/* sim.c - `warpsafe sim`: runs a program on a GPU with a clock, cycle by cycle, and shows what was counted. */
#include "cli/cli.h"
#include "units/units.h"
#include "timing/timing.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the machine ---- */
/* Descriptions are in the source tree of a built warpsafe, or PREFIX/share/warpsafe of an installed one. */
char *ws_cli_machine_path(const char *name)
{
	static const char *const places[] = { "../src/timing/configs", "../share/warpsafe/configs" };
	char *own = ws_cli_own_folder(), *found = NULL;

	for (size_t i = 0; own && !found && i < WS_COUNT(places); i++) {
		struct ws_buf b = { 0 };

		ws_buf_printf(&b, "%s/%s/%s.conf", own, places[i], name);
		if (access(b.data, R_OK) == 0)
			found = realpath(b.data, NULL);
		ws_buf_free(&b);
	}
	free(own);
	return found;
}

/* Full path of the description that --config names, after a look at what it says. NULL after a refusal. */
static char *find_machine(const char *config)
{
	bool is_file = strpbrk(config, "./") != NULL;
	char *path = is_file ? realpath(config, NULL) : ws_cli_machine_path(config), *text = NULL;
	struct ws_buf why = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &why };
	struct ws_machine m;
	size_t len;

	if (path)
		text = ws_read_file(path, &len);
	if (!text) {
		if (is_file)
			ws_cli_refuse("sim", "cannot read '%s': %s", config, strerror(errno));
		else
			ws_cli_refuse("sim", "there is no machine '%s' (there are fermi, fermi30, fx5800, gtx480, h200, southern-islands; a file has a dot "
			              "or a slash in its name)", config);
	} else if (!ws_machine_read(&m, config, text, &sink)) {
		fputs(why.data, stderr);
		free(text);
		text = NULL;
	}
	if (!text) {
		free(path);
		path = NULL;
	}
	free(text);
	ws_buf_free(&why);
	return path;
}

static bool check_unit(const char *text)
{
	uint32_t values[WS_UNIT_OPTIONS];
	struct ws_buf why = { 0 };
	bool ok = !text || ws_unit_parse(text, values, &why);

	if (!ok)
		ws_cli_refuse("sim", "%s", why.data);
	ws_buf_free(&why);
	return ok;
}

/* ---- the counters of all processes ---- */
static int compare_names(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t n = strlen(x), m = strlen(y);

	return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && strcmp(name + n - m, ending) == 0;
}

struct collecting {
	const char *ending, *between;
	struct ws_buf *out;
	size_t found;
};

static void take_counters(void *user, const char *path, const char *name)
{
	struct collecting *c = user;
	size_t len;
	char *text = has_ending(name, c->ending) ? ws_read_file(path, &len) : NULL;

	if (!text)
		return;
	ws_buf_puts(c->out, c->found++ ? c->between : "");
	ws_buf_add(c->out, text, len);
	free(text);
}

/* Files of that ending are appended to out, `between` them; all files go, and the folder. */
static size_t collect(const char *folder, const char *ending, const char *between, struct ws_buf *out)
{
	struct collecting c = { ending, between, out, 0 };

	ws_cli_take_folder(folder, compare_names, take_counters, &c);
	return c.found;
}

static bool write_json(const struct ws_options *o, const char *folder)
{
	bool standard = strcmp(o->counters, "-") == 0, fine;
	struct ws_buf b = { 0 };
	FILE *f = standard ? stdout : fopen(o->counters, "w");

	ws_buf_puts(&b, "{\"schema\": 1, \"processes\": [\n");
	collect(folder, ".json", ",\n", &b);
	ws_buf_puts(&b, "]}\n");
	fine = f && fwrite(b.data, 1, b.len, f) == b.len && fflush(f) == 0;
	if (f && !standard)
		fine = fclose(f) == 0 && fine;
	if (!fine)
		ws_cli_refuse("sim", "cannot write '%s': %s", o->counters, strerror(errno));
	ws_buf_free(&b);
	return fine;
}

static bool show_counters(const struct ws_options *o, const char *folder)
{
	struct ws_buf b = { 0 };

	if (o->counters)
		return write_json(o, folder);
	if (!collect(folder, ".txt", "\n", &b))
		ws_buf_puts(&b, "warpsafe sim: no kernel was launched\n");
	fwrite(b.data, 1, b.len, stderr);
	ws_buf_free(&b);
	return true;
}

/* ---- the verb ---- */
static int run_program(char **argv, const struct ws_options *o, const char *machine)
{
	struct ws_report *report = ws_report_new();
	struct ws_options with = *o;
	char *folder = ws_cli_temporary_folder("warpsafe-sim");
	struct ws_program p;
	int status;
	bool shown = true;

	if (!folder) {
		ws_report_free(report);
		return ws_cli_refuse("sim", "cannot make a folder for the counters: %s (set TMPDIR)", strerror(errno));
	}
	with.config = machine;
	with.counters_dir = folder;
	p = ws_cli_launch(&ws_verb_sim, &with, argv, WS_OUTPUT_SHOWN, report);
	status = ws_cli_status(&p, report);
	if (p.state == WS_PROGRAM_RAN)
		shown = show_counters(o, folder);
	else
		rmdir(folder);
	ws_report_free(report);
	free(folder);
	return shown ? status : WS_EXIT_USAGE;
}

static int sim(int argc, char **argv)
{
	struct ws_options o;
	char *machine;
	int status, program;

	ws_options_default(&o);
	program = ws_cli_parse(&ws_verb_sim, argc, argv, &o, &status);
	if (program) {
		machine = check_unit(o.unit) ? find_machine(o.config) : NULL;
		status = machine ? run_program(argv + program, &o, machine) : WS_EXIT_USAGE;
		free(machine);
	}
	ws_options_free(&o);
	return status;
}

const struct ws_verb ws_verb_sim = {
	"sim", "run a program cycle by cycle on a described machine",
	"[options] [--] PROGRAM [ARGUMENTS]",
	"Runs PROGRAM, an ordinary CUDA program, on a simulated GPU with a clock: cores, caches, network\n"
	"and memory of a machine that a file describes. Results are those of 'warpsafe run'; for each\n"
	"kernel it tells cycles, instructions, why schedulers waited, and the use of caches and memory.\n"
	"docs/TIMING.md says what is modelled, and how to describe a machine.\n",
	sim,
};
