/* bench.c - `warpsafe bench`: runs claims of the papers from source to figures and prints ours beside theirs. */
#include "cli/bench.h"

#include "base/version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct ws_claim *const claims[] = { &ws_claim_d2, &ws_claim_d3, &ws_claim_d4, &ws_claim_d5, &ws_claim_s2, &ws_claim_s3,
	                                         &ws_claim_s4, &ws_claim_s5, &ws_claim_s6, &ws_claim_r1, &ws_claim_r2,
	                                         &ws_claim_r3, &ws_claim_r4, &ws_claim_r5, &ws_claim_r6,
	                                         &ws_claim_r7, &ws_claim_r8 };

const char *const ws_bench_workloads[] = { "mcarlo", "scan", "fwalsh", "hist", "sortnw", "reduce", "psum", "offt",
	                                       "kmeans", "hash", NULL };

enum { MAX_ARGS = 32 };

/* ---- running ---- */
void ws_bench_trouble(struct ws_bench *b, const char *fmt, ...)
{
	va_list ap;

	if (b->trouble)
		return;
	va_start(ap, fmt);
	ws_buf_vprintf(&b->why, fmt, ap);
	va_end(ap);
	b->trouble = b->why.data;
}

/* Runs warpsafe with these arguments, its output in the file `output` (NULL: thrown away), errors in the file `errors`.
 * Its exit status, -1 = not run. */
static int run_self(struct ws_bench *b, const char *const *args, const char *output, const char *errors)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int out = open(output ? output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		int err = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(out, STDOUT_FILENO);
		dup2(err >= 0 ? err : out, STDERR_FILENO);
		execv(b->self, (char *const *)args);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *path_of(const char *folder, const char *name, const char *end)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "%s/%s%s", folder, name, end);
	return b.data;
}

/* A name without a folder is that of a race detector's workload. */
static char *source_of(const struct ws_bench *b, const char *name)
{
	struct ws_buf path = { 0 };

	ws_buf_printf(&path, "%s/%s%s.cu", b->sources, strchr(name, '/') ? "" : "workloads/", name);
	return path.data;
}

/* A file of the program: its folder's name becomes a part of its own. */
static char *file_of(const struct ws_bench *b, const char *name, const char *end)
{
	char *path = path_of(b->folder, name, end), *slash = path ? strchr(path + strlen(b->folder) + 1, '/') : NULL;

	if (slash)
		*slash = '-';
	return path;
}

static void first_line(struct ws_bench *b, const char *what, const char *name, const char *errors)
{
	size_t len;
	char *text = ws_read_file(errors, &len);

	ws_bench_trouble(b, "cannot %s %s: %.*s", what, name, text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	free(text);
}

bool ws_bench_build(struct ws_bench *b, const char *name)
{
	char *source = source_of(b, name), *program = file_of(b, name, ""), *errors = file_of(b, name, ".err");
	const char *args[] = { b->self, "cc", "-O2", "-lineinfo", source, "-o", program, NULL };
	bool fine = access(program, X_OK) == 0 || (!b->programs && run_self(b, args, NULL, errors) == 0);

	if (!fine && b->programs)
		ws_bench_trouble(b, "%s cannot be run: %s", program, strerror(errno));
	else if (!fine)
		first_line(b, "compile", name, errors);
	unlink(errors);
	free(source);
	free(program);
	free(errors);
	return fine;
}

json_t *ws_bench_race(struct ws_bench *b, const char *name, const char *const *options, const char *argument)
{
	char *program = file_of(b, name, ""), *report = file_of(b, name, ".json"), *errors = file_of(b, name, ".err");
	struct ws_buf output = { 0 };
	const char *args[MAX_ARGS] = { b->self, "race", "--threads=1", "--format=json" };
	int n = 4, status;
	json_t *found = NULL;

	ws_buf_printf(&output, "--output=%s", report);
	args[n++] = output.data;
	for (int i = 0; options && options[i] && n < MAX_ARGS - 6; i++)
		args[n++] = options[i];
	args[n++] = "--";
	args[n++] = program;
	if (b->quick)
		args[n++] = "quick";
	if (argument)
		args[n++] = argument;
	status = ws_bench_build(b, name) ? run_self(b, args, NULL, errors) : -1;
	if (status == 0 || status == 1)
		found = json_load_file(report, 0, NULL);
	if (!found)
		first_line(b, "run", name, errors);
	unlink(report);
	unlink(errors);
	free(program);
	free(report);
	free(errors);
	ws_buf_free(&output);
	return found;
}

char *ws_bench_run(struct ws_bench *b, const char *verb, const char *name, const char *const *options,
                   const char *const *arguments, char **output)
{
	char *program = file_of(b, name, ""), *errors = file_of(b, name, ".err"), *out = file_of(b, name, ".out"), *text = NULL;
	const char *args[MAX_ARGS] = { b->self, verb };
	int n = 2, status;
	size_t len;

	for (int i = 0; options[i] && n < MAX_ARGS - 3; i++)
		args[n++] = options[i];
	args[n++] = "--";
	args[n++] = program;
	for (int i = 0; arguments[i] && n < MAX_ARGS - 1; i++)
		args[n++] = arguments[i];
	status = ws_bench_build(b, name) ? run_self(b, args, output ? out : NULL, errors) : -1;
	if (status == 0 || status == 1 || (b->may_fail && status == WS_EXIT_FAILED))
		text = ws_read_file(errors, &len);
	else if (!b->trouble)
		first_line(b, "run", name, errors);
	if (output)
		*output = text ? ws_read_file(out, &len) : NULL;
	unlink(errors);
	unlink(out);
	free(program);
	free(errors);
	free(out);
	return text;
}

size_t ws_bench_count(json_t *report, const char *severity, const char *space)
{
	json_t *race;
	size_t i, n = 0;

	json_array_foreach(json_object_get(report, "races"), i, race) {
		const char *s = json_string_value(json_object_get(race, "severity"));
		const char *m = json_string_value(json_object_get(race, "space"));

		n += (!severity || (s && !strcmp(s, severity))) && (!space || (m && !strcmp(m, space)));
	}
	return n;
}

void ws_bench_row(struct ws_bench *b, int holds, ...)
{
	json_t *row = json_array();
	const char *cell;
	va_list ap;

	va_start(ap, holds);
	while ((cell = va_arg(ap, const char *)))
		json_array_append_new(row, json_string(cell));
	va_end(ap);
	json_array_append_new(row, json_string(holds ? "holds" : "DIFFERS"));
	json_array_append_new(b->table, row);
	b->differs += !holds;
}

/* ---- printing ---- */
static size_t width_of(const struct ws_claim *c, json_t *table, size_t column)
{
	size_t width = c->columns[column] ? strlen(c->columns[column]) : 0, i;
	json_t *row;

	json_array_foreach(table, i, row) {
		const char *s = json_string_value(json_array_get(row, column));

		if (s && strlen(s) > width)
			width = strlen(s);
	}
	return width;
}

static void print_table(const struct ws_claim *c, json_t *table, size_t differs)
{
	size_t columns = 0, i, j;
	json_t *row, *cell;

	while (c->columns[columns])
		columns++;
	printf("%s  %s\n    (%s)\n\n", c->id, c->title, c->source);
	for (j = 0; j < columns; j++)
		printf("  %-*s", (int)width_of(c, table, j), c->columns[j]);
	printf("\n");
	json_array_foreach(table, i, row) {
		json_array_foreach(row, j, cell)
			printf("  %-*s", j < columns ? (int)width_of(c, table, j) : 0, json_string_value(cell));
		printf("\n");
	}
	printf("\n%s%s: %zu of %zu rows hold\n\n", c->note ? c->note : "", c->id, json_array_size(table) - differs,
	       json_array_size(table));
	fflush(stdout);
}

static json_t *as_json(const struct ws_claim *c, json_t *table, size_t differs)
{
	json_t *columns = json_array();

	for (size_t i = 0; c->columns[i]; i++)
		json_array_append_new(columns, json_string(c->columns[i]));
	json_array_append_new(columns, json_string("verdict"));
	return json_pack("{s:s, s:s, s:s, s:o, s:O, s:b}", "claim", c->id, "title", c->title, "source", c->source,
	                 "columns", columns, "rows", table, "holds", differs == 0);
}

/* ---- the verb ---- */
static const struct ws_claim *find_claim(const char *id)
{
	for (size_t i = 0; i < WS_COUNT(claims); i++)
		if (strcmp(claims[i]->id, id) == 0)
			return claims[i];
	return NULL;
}

/* Beside a built warpsafe, or share/warpsafe of an installed one; NULL: neither. */
static char *find_sources(const char *own)
{
	static const char *const places[] = { "../bench", "../share/warpsafe/bench" };

	for (size_t i = 0; i < WS_COUNT(places); i++) {
		char *folder = path_of(own, places[i], ""), *common = path_of(folder, "common.cuh", "");
		bool there = access(common, R_OK) == 0;

		free(common);
		if (there)
			return folder;
		free(folder);
	}
	return NULL;
}

static bool prepare(struct ws_bench *b)
{
	char *own = ws_cli_own_folder();

	b->sources = own ? find_sources(own) : NULL;
	b->self = own ? path_of(own, "warpsafe", "") : NULL;
	free(own);
	if (b->self && b->programs) {
		b->folder = ws_strdup(b->programs);
		return true;
	}
	if (!b->sources) {
		ws_bench_trouble(b, "the workloads are not beside warpsafe; build or install it again");
		return false;
	}
	b->folder = ws_cli_temporary_folder("warpsafe-bench");
	if (!b->folder)
		ws_bench_trouble(b, "cannot make a folder: %s (set TMPDIR)", strerror(errno));
	return b->folder;
}

/* Runs the chosen claims. */
static int run_claims(struct ws_bench *b, const struct ws_claim *const *chosen, size_t n, bool json)
{
	json_t *all = json_array();
	size_t differ = 0;

	for (size_t i = 0; i < n && !b->trouble; i++) {
		b->table = json_array();
		b->differs = 0;
		chosen[i]->run(b);
		differ += b->differs;
		if (json)
			json_array_append_new(all, as_json(chosen[i], b->table, b->differs));
		else if (!b->trouble)
			print_table(chosen[i], b->table, b->differs);
		json_decref(b->table);
	}
	if (json && !b->trouble) {
		json_t *root = json_pack("{s:s, s:b, s:O}", "warpsafe", WS_VERSION, "quick", b->quick, "claims", all);

		json_dumpf(root, stdout, JSON_INDENT(2));
		printf("\n");
		json_decref(root);
	}
	json_decref(all);
	return b->trouble ? ws_cli_refuse("bench", "%s", b->trouble) : differ ? 1 : 0;
}

static int bench(int argc, char **argv)
{
	const struct ws_claim *chosen[WS_COUNT(claims)];
	struct ws_bench b = { 0 };
	bool json = false;
	size_t n = 0;
	int status;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quick"))
			b.quick = true;
		else if (!strcmp(argv[i], "--full"))
			b.full = true;
		else if (!strcmp(argv[i], "--gpu=real") || !strcmp(argv[i], "--gpu=sim"))
			b.real = argv[i][6] == 'r';
		else if (!strcmp(argv[i], "--format=json") || !strcmp(argv[i], "--format=text"))
			json = argv[i][9] == 'j';
		else if (!strncmp(argv[i], "--programs=", 11))
			b.programs = argv[i] + 11;
		else if (argv[i][0] == '-')
			return ws_cli_refuse("bench", "there is no option '%s' (see 'warpsafe help bench')", argv[i]);
		else if (!find_claim(argv[i]))
			return ws_cli_refuse("bench", "there is no claim '%s' (see 'warpsafe help bench')", argv[i]);
		else if (n < WS_COUNT(chosen))
			chosen[n++] = find_claim(argv[i]);
	}
	if (n == 0)
		for (size_t i = 0; i < WS_COUNT(claims); i++)
			if (!claims[i]->on_demand)
				chosen[n++] = claims[i];
	if (prepare(&b))
		status = run_claims(&b, chosen, n, json);
	else
		status = ws_cli_refuse("bench", "%s", b.trouble);
	if (b.folder && !b.programs)
		ws_cli_take_folder(b.folder, NULL, NULL, NULL);
	free(b.folder);
	free(b.sources);
	free(b.self);
	json_decref(b.kept);
	ws_buf_free(&b.why);
	return status;
}

const struct ws_verb ws_verb_bench = {
	"bench", "run claims of the papers and print our figures beside theirs",
	"[--quick|--full] [--gpu=sim|real] [--programs=FOLDER] [--format=text|json] [CLAIM...]",
	"Compiles the workloads of a claim, runs them on the simulated GPU (D5: on a real one), and\n"
	"prints what was found beside what the paper says; a row says whether the shape holds.\n"
	"Without a CLAIM D2 and D3 are run.\n"
	"\n"
	"  D2   races found: documented ones, and 41 put in (Holey 2015, 6.5.1)\n"
	"  D3   false races by granularity, recent pages only, lock signatures (Holey 2015, 6.5.1)\n"
	"  D4   race detection as hardware, cycle by cycle (Holey 2015, fig. 6.8, 6.10, 6.11, table 6.4)\n"
	"  D5   what the checks cost on an NVIDIA GPU (Holey 2015, fig. 6.9)\n"
	"  S2   transactions against locks (Holey 2015, 4.3.1, fig. 4.2 to 4.5)\n"
	"  S3   ... by contention (Holey 2015, 4.3.2, fig. 4.6 and 4.7)\n"
	"  S4   ... by the bytes that conflict together (Holey 2015, 4.3.3, fig. 4.8)\n"
	"  S5   ... by the number of cores, against other engines and the CPU (Holey 2015, 4.3.5 and 4.4)\n"
	"  S6   binary tree and skip list (Chaudhry 2009, tables 1 to 4)\n"
	"  R6   lock instructions against atomics: Apriori, Interac, BarnesHut (Ramamurthy 2011, fig. 7.1 and 7.2)\n"
	"  R7   ... with queues in the memory partitions (fig. 7.3 and 7.4, table 7.1)\n"
	"  R1 to R5, R8   locks in warps: examples 1 to 20, and what goes beyond (Ramamurthy 2011)\n"
	"\n"
	"S2 to S6 count cycles of the clocked GPU, as `warpsafe sim --config=gtx480`, the paper's machine;\n"
	"with --gpu=real, milliseconds of the machine's own GPU. R6 and R7 count cycles of fermi30, D4 of\n"
	"fx5800. --quick takes small sizes, --full those that take long (Apriori with 100,000 records in R6 and\n"
	"R7, all of HIST in D4). --programs: the\n"
	"programs were built before and lie in FOLDER (mcarlo, scan, ...), so that a machine without a\n"
	"compiler can run them. The exit status is 1 when a row does not hold.\n",
	bench,
};
