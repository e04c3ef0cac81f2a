/* bench_d4.c - claim D4: HAccRG as hardware (Holey, "Transactional execution and dynamic data race detection on GPUs", 2015,
 * 6.5.1 to 6.5.3), as `warpsafe sim --config=fx5800 --unit=haccrg`: what race detection costs (figure 6.8), with shared
 * entries split between hardware and software (6.10), the use of DRAM (6.11), the memory it takes (table 6.4), and
 * which races this hardware finds. Slowdowns are ratios of simulated cycles. */
#include "cli/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct workload {
	const char *name;
	const char *arguments;           /* for a size that takes seconds; the paper's is `times` as large */
	unsigned times;
	const char *entry;               /* which IDs its entries have: those without fences and locks need no atomic ID */
	double slowdown;                 /* 6.5.2, in percent; below 0: the text has no number */
	bool more_dram;                  /* 6.5.3: its use of DRAM grows */
	double kilobytes;                /* table 6.4 */
};

static const struct workload workloads[] = {
	{ "mcarlo", "", 1, "atomic=0", -1, true, 288 },
	{ "scan", "", 1, "atomic=0", 0.2, false, 9 },
	{ "fwalsh", "", 1, "atomic=0", -1, true, 4700 },
	{ "hist", "quick scale=32", 5, "atomic=0", 0.3, true, 27900 },
	{ "sortnw", "", 1, "atomic=0", -1, true, 576 },
	{ "reduce", "", 1, "atomic=16", -1, true, 6700 },
	{ "psum", "", 1, "atomic=16", -1, false, 208 },
	{ "offt", "", 1, "atomic=0", -1, true, 1200 },
	{ "kmeans", "", 1, "atomic=0", 22.1, false, 9.5 },
	{ "hash", "", 1, "atomic=16", -1, true, 4600 },
};

/* hwX-swY of figure 6.10; the first two runs are without the unit and with shared memory alone. */
enum { OFF, SHARED, BOTH, HALF, SOFTWARE, RUNS };
static const char *const units[RUNS] = {
	NULL, "haccrg,global=0", "haccrg", "haccrg,hardware=50", "haccrg,hardware=0"
};

struct figure { double cycles, dram, kilobytes; };

/* ---- one run ---- */
static void add_process(json_t *process, struct figure *f)
{
	json_t *kernel;
	size_t i;

	json_array_foreach(json_object_get(process, "kernels"), i, kernel) {
		double cycles = json_number_value(json_object_get(kernel, "cycles"));

		f->cycles += cycles;
		f->dram += cycles * json_number_value(json_object_get(kernel, "dram_utilization"));
	}
	f->kilobytes += json_number_value(json_object_get(json_object_get(process, "unit"), "shadow_bytes")) / 1024;
}

/* The document of counters; owned, NULL: b->trouble. */
static json_t *sim(struct ws_bench *b, const char *name, const char *unit, const char *arguments)
{
	struct ws_buf path = { 0 }, counters = { 0 }, with = { 0 };
	char *errors, *text = ws_strdup(arguments), *rest;
	const char *args[4] = { NULL }, *options[] = { "--config=fx5800", NULL, NULL, NULL };
	json_t *root = NULL;
	int n = 0;

	ws_buf_printf(&path, "%s/counters", b->folder);
	ws_buf_printf(&counters, "--counters=%s", path.data);
	ws_buf_printf(&with, "--unit=%s", unit ? unit : "");
	options[1] = counters.data;
	options[2] = unit ? with.data : NULL;
	for (char *at = strtok_r(text, " ", &rest); at && n < 3; at = strtok_r(NULL, " ", &rest))
		args[n++] = at;
	errors = ws_bench_run(b, "sim", name, options, args, NULL);
	root = errors ? json_load_file(path.data, 0, NULL) : NULL;
	if (!root)
		ws_bench_trouble(b, "%s has left no counters", name);
	remove(path.data);
	free(errors);
	free(text);
	ws_buf_free(&path);
	ws_buf_free(&counters);
	ws_buf_free(&with);
	return root;
}

static struct figure measure(struct ws_bench *b, const struct workload *w, int run)
{
	const char *arguments = b->quick ? "quick" : b->full ? "" : w->arguments;
	struct figure f = { 0 };
	struct ws_buf unit = { 0 };
	json_t *root, *process;
	size_t i;

	if (units[run])
		ws_buf_printf(&unit, "%s,%s", units[run], w->entry);
	root = sim(b, w->name, unit.data, arguments);
	json_array_foreach(json_object_get(root, "processes"), i, process)
		add_process(process, &f);
	if (f.cycles)
		f.dram /= f.cycles;
	json_decref(root);
	ws_buf_free(&unit);
	return f;
}

/* ---- rows ---- */
static void percent(char *out, size_t size, double part)
{
	snprintf(out, size, "%.1f %%", 100 * part);
}

static void cost_rows(struct ws_bench *b, const struct figure f[][RUNS])
{
	static const char *const what[] = { "slowdown, shared", "slowdown, shared + global" };
	char paper[32], ours[64];

	for (int run = SHARED; run <= BOTH; run++) {
		double product = 0, mean;

		for (size_t i = 0; i < WS_COUNT(workloads); i++) {
			const struct workload *w = &workloads[i];
			double slower = f[i][run].cycles / f[i][OFF].cycles;

			product += log(slower);
			snprintf(paper, sizeof paper, "-");
			if (run == BOTH && w->slowdown >= 0)
				percent(paper, sizeof paper, w->slowdown / 100);
			percent(ours, sizeof ours, slower - 1);
			ws_bench_row(b, run == SHARED ? slower < 1.06 : slower >= f[i][SHARED].cycles / f[i][OFF].cycles * 0.999, what[run - SHARED],
			             w->name, paper, ours, NULL);
		}
		mean = exp(product / WS_COUNT(workloads));
		percent(ours, sizeof ours, mean - 1);
		ws_bench_row(b, run == SHARED ? mean < 1.02 : b->quick || (mean > 1.13 && mean < 1.54), what[run - SHARED], "mean",
		             run == SHARED ? "1 %" : "27 %", ours, NULL);
	}
}

static void split_rows(struct ws_bench *b, const struct figure f[][RUNS])
{
	double most = 0;
	char ours[64];

	for (size_t i = 0; i < WS_COUNT(workloads); i++)
		most = fmax(most, f[i][SOFTWARE].cycles / f[i][BOTH].cycles);
	for (size_t i = 0; i < WS_COUNT(workloads); i++) {
		double half = f[i][HALF].cycles / f[i][BOTH].cycles, none = f[i][SOFTWARE].cycles / f[i][BOTH].cycles;

		snprintf(ours, sizeof ours, "%.3f, %.3f", half, none);
		ws_bench_row(b, !strcmp(workloads[i].name, "offt") ? b->quick || none >= most : none < 1.1, "hw50-sw50, hw0-sw100 by hw100-sw0", workloads[i].name,
		             !strcmp(workloads[i].name, "offt") ? "the most of all" : "small", ours, NULL);
	}
}

static void dram_rows(struct ws_bench *b, const struct figure f[][RUNS])
{
	char ours[64];

	for (size_t i = 0; i < WS_COUNT(workloads); i++) {
		const struct workload *w = &workloads[i];
		double off = f[i][OFF].dram, shared = f[i][SHARED].dram, both = f[i][BOTH].dram;

		snprintf(ours, sizeof ours, "%.1f, %.1f, %.1f %%", 100 * off, 100 * shared, 100 * both);
		ws_bench_row(b, fabs(shared - off) < 0.01 && (w->more_dram ? both > off : both - off < 0.05),
		             "use of DRAM: off, shared, both", w->name, w->more_dram ? "as without, more" : "as without, as without", ours, NULL);
	}
}

static void size_of(char *out, size_t size, double kilobytes)
{
	if (kilobytes >= 1000)
		snprintf(out, size, "%.1f MB", kilobytes / 1000);
	else
		snprintf(out, size, "%.4g KB", kilobytes);
}

static void memory_rows(struct ws_bench *b, const struct figure f[][RUNS])
{
	char paper[32], ours[64];

	for (size_t i = 0; i < WS_COUNT(workloads) && !b->quick; i++) {
		const struct workload *w = &workloads[i];
		double here = f[i][BOTH].kilobytes, ratio;

		here *= b->full ? 1 : w->times;
		ratio = here / w->kilobytes;
		size_of(paper, sizeof paper, w->kilobytes);
		size_of(ours, sizeof ours, here);
		ws_bench_row(b, ratio > 0.5 && ratio < 2, "shadow memory", w->name, paper, ours, NULL);
	}
}

/* ---- races ---- */
static const struct { const char *program; int numbers[7]; } put_in[] = {
	{ "mcarlo", { 1, 2, 24 } }, { "scan", { 3, 4, 25 } }, { "fwalsh", { 5, 6, 7, 26, 27 } }, { "hist", { 8, 9, 10, 11, 28, 29 } },
	{ "sortnw", { 12, 13, 14, 15, 30 } }, { "reduce", { 16, 17, 18, 19, 31, 37 } }, { "psum", { 20, 21, 32, 38 } },
	{ "offt", { 22, 33, 34 } }, { "kmeans", { 23, 35 } }, { "hash", { 36, 39, 40, 41 } },
};

/* Places of races that were found. */
static size_t found(struct ws_bench *b, const char *program, const char *argument, const char *unit)
{
	json_t *root, *process, *race;
	size_t i, j, n = 0;

	root = sim(b, program, unit, argument);
	json_array_foreach(json_object_get(root, "processes"), i, process)
		json_array_foreach(json_object_get(json_object_get(process, "unit"), "found"), j, race)
			n++;
	json_decref(root);
	return n;
}

/* Words of 4 bytes (HIST counts in bytes), atomics against others, and what a fence has made safe is safe from a first-level
 * cache too. */
static const char *detecting(const char *program)
{
	return strcmp(program, "hist") ? "haccrg,shared=4,atomics=1,stale=0" : "haccrg,shared=1,atomics=1,stale=0";
}

static void injected_rows(struct ws_bench *b)
{
	for (size_t i = 0; i < WS_COUNT(put_in) && !b->trouble; i++) {
		size_t clean = found(b, put_in[i].program, "quick", detecting(put_in[i].program)), none = 0;
		struct ws_buf ours = { 0 };
		char argument[32], paper[32];
		int n = 0;

		for (const int *k = put_in[i].numbers; *k && !b->trouble; k++, n++) {
			snprintf(argument, sizeof argument, "quick inject=%d", *k);
			if (found(b, put_in[i].program, argument, detecting(put_in[i].program)) > clean)
				continue;
			ws_buf_printf(&ours, "%s%d", none++ ? ", " : " (not ", *k);
		}
		snprintf(paper, sizeof paper, "%d of %d", n, n);
		if (none)
			ws_buf_puts(&ours, ")");
		snprintf(argument, sizeof argument, "%zu of %d%.20s", (size_t)n - none, n, ours.data ? ours.data : "");
		if (!b->trouble)
			ws_bench_row(b, clean == 0 && none == 0, "races put in that are found", put_in[i].program, paper, argument, NULL);
		ws_buf_free(&ours);
	}
}

static void documented_rows(struct ws_bench *b)
{
	static const char *const programs[] = { "scan", "kmeans", "offt" };
	char ours[32];

	for (size_t i = 0; i < WS_COUNT(programs) && !b->trouble; i++) {
		size_t n = found(b, programs[i], "quick racy", detecting(programs[i]));

		snprintf(ours, sizeof ours, "%zu places", n);
		if (!b->trouble)
			ws_bench_row(b, n > 0, "documented races", programs[i], "found", ours, NULL);
	}
}

static void run(struct ws_bench *b)
{
	static struct figure f[WS_COUNT(workloads)][RUNS];

	for (size_t i = 0; i < WS_COUNT(workloads); i++)
		for (int k = 0; k < RUNS && !b->trouble; k++)
			f[i][k] = measure(b, &workloads[i], k);
	if (b->trouble)
		return;
	cost_rows(b, f);
	split_rows(b, f);
	dram_rows(b, f);
	memory_rows(b, f);
	documented_rows(b);
	injected_rows(b);
}

static const char *const columns[] = { "what", "program", "paper", "ours", NULL };

const struct ws_claim ws_claim_d4 = {
	"D4", "race detection as hardware: what it costs, in cycles, DRAM and memory, and what it finds",
	"Holey 2015, 6.5.1 to 6.5.3, fig. 6.8, 6.10, 6.11, table 6.4", columns, run,
	"Cycles of `warpsafe sim --config=fx5800` with and without `--unit=haccrg`; the text has no numbers of single\n"
	"programs but those shown. A fifth of the paper's HIST is run, and its memory is multiplied; --full takes\n"
	"all of it. docs/BENCH.md says why figures differ.\n\n",
	true,
};
