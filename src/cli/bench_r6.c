/* bench_r6.c - claims R6 and R7 (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011, chapter
 * 7): the workloads of bench/locks with atomics, with lock instructions, with queues in the memory partitions, and
 * with tries, on the machine of table 6.1. */
#include "cli/bench_tm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATOMICS, LOCKS, QUEUES, TRIES, VARIANTS };
static const struct { const char *way, *unit; } variants[VARIANTS] = {
	{ "atomics", NULL }, { "locks", "simt-lock" }, { "locks", "lock-queue" }, { "tries", "simt-lock" },
};

/* What the text's figures show: only table 7.1 has numbers. */
enum expected { NEAR_ONE, SLOWER };
struct load {
	const char *name, *program, *kernel;     /* the kernel that locks */
	const char *usual, *full, *quick;        /* arguments; NULL: not with these sizes */
	enum expected expected;
	bool in_text;                            /* else ours is a size of our own */
	double storage;                          /* table 7.1, MB; 0: not in it */
};
static const struct load loads[] = {
	{ "Apriori", "locks/apriori", "apriori_gen", "quick", "quick", "quick", NEAR_ONE, true, 0.006 },
	{ "Apriori T10.I4.D2K", "locks/apriori", "apriori_gen", "records=2000", NULL, NULL, NEAR_ONE, false, 0 },
	{ "Apriori T10.I4.D100K", "locks/apriori", "apriori_gen", NULL, "full", NULL, NEAR_ONE, false, 0 },
	{ "Interac", "locks/interac", "transfer", "accounts=30000", "full", "accounts=2000 transactions=3000", NEAR_ONE,
	  true, 0 },
	{ "BarnesHut-50K", "locks/barneshut", "build", "bodies=50000", "bodies=50000", "bodies=5000", SLOWER, true, 0.34 },
	{ "BarnesHut-100K", "locks/barneshut", "build", "bodies=100000", "bodies=100000", NULL, SLOWER, true, 0.63 },
	{ "BarnesHut-300K", "locks/barneshut", "build", "bodies=300000", "bodies=300000", NULL, SLOWER, true, 1.77 },
};

static const char *arguments_of(const struct ws_bench *b, const struct load *l)
{
	return b->quick ? l->quick : b->full ? l->full : l->usual;
}

/* ---- one run ---- */
struct figure { double cycles, kernel, sections, vain, requests, releases, queued, most; };

static const char *const fields[] = { "cycles", "kernel", "sections", "vain", "requests", "releases", "queued",
	                              "most" };

static double number(json_t *of, const char *key)
{
	return json_number_value(json_object_get(of, key));
}

/* From the document of counters. false: it is none. */
static bool read_counters(const char *path, const char *kernel, struct figure *f)
{
	json_t *root = json_load_file(path, 0, NULL), *process, *k, *unit;
	size_t i, j;

	json_array_foreach(json_object_get(root, "processes"), i, process) {
		json_array_foreach(json_object_get(process, "kernels"), j, k) {
			const char *name = json_string_value(json_object_get(k, "name"));

			f->cycles += number(k, "cycles");
			if (name && strstr(name, kernel))
				f->kernel += number(k, "cycles");
		}
		unit = json_object_get(process, "unit");
		f->requests += number(unit, "lock_requests");
		f->releases += number(unit, "lock_releases");
		f->queued += number(unit, "locks_queued");
		f->most += number(unit, "queue_records");
	}
	json_decref(root);
	return f->kernel > 0;
}

/* The program's line: "NAME WAY N sections N in vain right". */
static bool read_line(const char *output, const char *way, struct figure *f)
{
	const char *at = output ? strstr(output, way) : NULL;

	return at && sscanf(at + strlen(way), "%lf sections %lf in vain", &f->sections, &f->vain) == 2 && strstr(at, "right");
}

static struct figure play(struct ws_bench *b, const struct load *l, int variant)
{
	struct ws_buf path = { 0 }, counters = { 0 }, way = { 0 }, unit = { 0 };
	char *text = ws_strdup(arguments_of(b, l)), *second = strchr(text, ' '), *output = NULL, *errors;
	struct figure f = { 0 };

	if (second)
		*second++ = 0;
	ws_buf_printf(&path, "%s/counters", b->folder);
	ws_buf_printf(&counters, "--counters=%s", path.data);
	ws_buf_printf(&way, "way=%s", variants[variant].way);
	if (variants[variant].unit)
		ws_buf_printf(&unit, "--unit=%s", variants[variant].unit);
	const char *options[] = { "--config=fermi30", counters.data, unit.data, NULL };
	const char *arguments[] = { way.data, text, second, NULL };

	errors = ws_bench_run(b, "sim", l->program, options, arguments, &output);
	if (errors && !(read_line(output, variants[variant].way, &f) && read_counters(path.data, l->kernel, &f)))
		ws_bench_trouble(b, "%s (%s): no result that is right", l->name, way.data);
	remove(path.data);
	free(errors);
	free(output);
	free(text);
	ws_buf_free(&path);
	ws_buf_free(&counters);
	ws_buf_free(&way);
	ws_buf_free(&unit);
	return f;
}

/* The same, or what an earlier claim has kept of it. */
static struct figure figure_of(struct ws_bench *b, const struct load *l, int variant)
{
	struct figure f = { 0 };
	double *const at[] = { &f.cycles, &f.kernel, &f.sections, &f.vain, &f.requests, &f.releases, &f.queued, &f.most };
	struct ws_cell key = { "" };
	json_t *kept;

	ws_cell_add(&key, "%s %d", l->name, variant);
	if (!b->kept)
		b->kept = json_object();
	kept = json_object_get(b->kept, key.text);
	if (!kept) {
		f = play(b, l, variant);
		kept = json_object();
		for (size_t i = 0; i < WS_COUNT(fields); i++)
			json_object_set_new(kept, fields[i], json_real(*at[i]));
		json_object_set_new(b->kept, key.text, kept);
	}
	for (size_t i = 0; i < WS_COUNT(fields); i++)
		*at[i] = number(kept, fields[i]);
	return f;
}

/* ---- R6 ---- */
static double slowdown(struct ws_bench *b, const struct load *l, int variant)
{
	double with = figure_of(b, l, variant).cycles;

	return b->trouble ? 0 : with / figure_of(b, l, ATOMICS).cycles;
}

/* "1.11 (kernel that locks 1.25)" */
static struct ws_cell cycles(struct ws_bench *b, const struct load *l, int variant)
{
	struct figure f = figure_of(b, l, variant), atomics = figure_of(b, l, ATOMICS);
	struct ws_cell c = { "" };

	ws_cell_add(&c, "%.2f (%s alone %.2f; %.0f cycles with atomics)", f.cycles / atomics.cycles, l->kernel,
	            f.kernel / atomics.kernel, atomics.cycles);
	return c;
}

/* At small sizes nothing is the text's. */
static bool as_in_text(const struct ws_bench *b, const struct load *l) { return l->in_text && !b->quick; }

static void row(struct ws_bench *b, bool holds, const char *figure, const struct load *l, const char *paper,
                const char *ours)
{
	struct ws_cell name = { "" };

	ws_cell_add(&name, "%s%s", l->name, b->quick && l->in_text ? ", small" : "");
	if (!b->trouble)
		ws_bench_row(b, holds, figure, name.text, as_in_text(b, l) ? paper : "-", ours, NULL);
}

static bool near_one(double x) { return x > 0.8 && x < 1.25; }

static void locks_against_atomics(struct ws_bench *b, const struct load *l)
{
	double x = slowdown(b, l, LOCKS);
	struct ws_cell ours = cycles(b, l, LOCKS);
	bool slower = l->expected == SLOWER;

	row(b, slower ? x > 1.05 : near_one(x), "7.1 cycles / atomics'", l, slower ? "slower" : "near 1", ours.text);
}

static double waste(struct ws_bench *b, const struct load *l)
{
	struct figure f = figure_of(b, l, LOCKS);

	return f.sections > 0 ? f.vain / f.sections : 0;
}

/* Without any there would be nothing to explain; Interac has none by its nature. */
static void sections_in_vain(struct ws_bench *b, const struct load *l)
{
	struct figure f = figure_of(b, l, LOCKS);
	struct ws_cell ours = { "" };
	bool slower = l->expected == SLOWER;

	ws_cell_add(&ours, "%.2f %% (%.0f of %.0f)", 100 * waste(b, l), f.vain, f.sections);
	row(b, slower ? f.vain > 0 : waste(b, l) < 0.05, "7.2 sections in vain", l, slower ? "some" : "few", ours.text);
}

/* "There is a direct relationship" (7.1): of two sizes the one with more waste is the slower one. */
static void relationship(struct ws_bench *b)
{
	const struct load *last = NULL;
	struct ws_cell ours = { "" };
	bool holds = true;
	int n = 0;

	for (size_t i = 0; i < WS_COUNT(loads) && !b->trouble; i++) {
		const struct load *l = &loads[i];

		if (l->expected != SLOWER || !arguments_of(b, l))
			continue;
		ws_cell_add(&ours, "%s%.2f %% and %.2f", n++ ? ", " : "", 100 * waste(b, l), slowdown(b, l, LOCKS));
		if (last)
			holds = holds && (waste(b, l) > waste(b, last)) == (slowdown(b, l, LOCKS) > slowdown(b, last, LOCKS));
		last = l;
	}
	if (n > 1 && !b->trouble)
		ws_bench_row(b, holds, "7.1 waste and cycles", "BarnesHut", "the more, the slower", ours.text, NULL);
}

/* What the text expects of tries (7.2, 9.2.2). */
static void tries(struct ws_bench *b, const struct load *l)
{
	double x = slowdown(b, l, TRIES);
	struct ws_cell ours = { "" };

	ws_cell_add(&ours, "%.2f (%.2f %% in vain)", x,
	            100 * figure_of(b, l, TRIES).vain / figure_of(b, l, TRIES).sections);
	row(b, x < slowdown(b, l, LOCKS), "9.2.2 one attempt each", l, "\"may eliminate\"", ours.text);
}

enum which { ALL, THAT_INSERT, SLOWER_ONES, IN_TABLE };

static void each(struct ws_bench *b, enum which w, void (*tell)(struct ws_bench *b, const struct load *l))
{
	for (size_t i = 0; i < WS_COUNT(loads) && !b->trouble; i++) {
		const struct load *l = &loads[i];

		if (arguments_of(b, l) && (w != THAT_INSERT || strcmp(l->name, "Interac")) &&
		    (w != SLOWER_ONES || l->expected == SLOWER) && (w != IN_TABLE || l->storage > 0))
			tell(b, l);
	}
}

static void run_r6(struct ws_bench *b)
{
	each(b, ALL, locks_against_atomics);
	each(b, THAT_INSERT, sections_in_vain);
	relationship(b);
	each(b, SLOWER_ONES, tries);
}

/* ---- R7 ---- */
static void queues(struct ws_bench *b, const struct load *l)
{
	double x = slowdown(b, l, QUEUES), without = slowdown(b, l, LOCKS);
	bool better = l->expected == SLOWER, nested = strcmp(l->name, "Interac") == 0;
	struct ws_cell ours = { "" };

	ws_cell_add(&ours, "%.2f, without queues %.2f (%.2f times)", x, without, x / without);
	x /= without;
	row(b, better ? x < 0.9 : nested ? x <= 1.1 : x > 0.9 && x < 1.1, "7.3 cycles / atomics'", l,
	    better ? "clearly better" : nested ? "not with nested locks" : "no change", ours.text);
}

static void writes(struct ws_bench *b, const struct load *l)
{
	struct figure with = figure_of(b, l, QUEUES), without = figure_of(b, l, LOCKS);
	double x = (with.requests + with.releases) / (without.requests + without.releases);
	struct ws_cell ours = { "" };

	ws_cell_add(&ours, "%.3f (%.0f of %.0f)", x, with.requests + with.releases, without.requests + without.releases);
	row(b, x < 1, "7.4 writes of locks", l, strcmp(l->name, "Interac") ? "fewer" : "-", ours.text);
}

/* A record of 8 bytes for each request, that of who has the lock among them (5.2.1). */
static void storage(struct ws_bench *b, const struct load *l)
{
	enum { RECORD = 8 };
	struct figure f = figure_of(b, l, QUEUES);
	double mb = f.requests * RECORD / (1 << 20), x = mb / l->storage;
	struct ws_cell ours = { "" }, paper = { "" };

	ws_cell_add(&paper, "%g MB", l->storage);
	ws_cell_add(&ours, "%.4f MB; %.0f waited, at most %.0f at once: %.4f MB", mb, f.queued, f.most,
	            f.most * RECORD / (1 << 20));
	row(b, f.most <= f.queued && (as_in_text(b, l) ? x > 0.5 && x < 2 : f.most > 0), "table 7.1 records", l,
	    paper.text, ours.text);
}

static void run_r7(struct ws_bench *b)
{
	each(b, ALL, queues);
	each(b, ALL, writes);
	each(b, IN_TABLE, storage);
}

static const char *const columns[] = { "figure", "workload", "paper", "ours", NULL };

const struct ws_claim ws_claim_r6 = {
	"R6", "lock instructions against atomics: cycles, and critical sections in vain",
	"Ramamurthy 2011, figures 7.1 and 7.2", columns, run_r6,
	"On the machine of table 6.1 (sim --config=fermi30). The text's figures are drawings: what they show is in words.\n\n",
	true,
};
const struct ws_claim ws_claim_r7 = {
	"R7", "queues of lock requests in the memory partitions", "Ramamurthy 2011, figures 7.3 and 7.4, table 7.1", columns,
	run_r7,
	"Locks are held one inside of the other in Interac, which the text's queues cannot do. Table 7.1 counts the records\n"
	"of a whole run, those of threads that need not wait as well; what must be there at once is far less.\n\n", true,
};
