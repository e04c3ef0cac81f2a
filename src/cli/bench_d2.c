/* bench_d2.c - claim D2: which races are found in the ten workloads of Holey, Mekkat, Yew, Zhai, "Transactions and
 * races", 2015, 6.5.1: the three documented ones, and each of 41 put in: 23 barriers removed, 13 accesses across
 * the border of a block, 3 fences removed, 2 accesses in and out of a critical section. The clean programs have
 * none, so that what is reported with race N put in comes from race N; it must be in the kernel where that is. */
#include "cli/bench.h"

#include <stdio.h>
#include <string.h>

enum kind { BARRIER, TRESPASS, FENCE, LOCK };
static const char *const kinds[] = { "barrier removed", "across blocks", "fence removed", "critical section" };

struct injected {
	int number;
	enum kind kind;
	const char *program, *kernel, *place;
};

/* The numbers of bench/workloads. */
static const struct injected injected[] = {
	{ 1, BARRIER, "mcarlo", "mcarlo", "before the tree" },
	{ 2, BARRIER, "mcarlo", "mcarlo", "in the tree" },
	{ 3, BARRIER, "scan", "scan", "after loading" },
	{ 4, BARRIER, "scan", "scan", "between steps" },
	{ 5, BARRIER, "fwalsh", "walsh_near", "after loading" },
	{ 6, BARRIER, "fwalsh", "walsh_near", "between strides" },
	{ 7, BARRIER, "fwalsh", "walsh_near", "before storing" },
	{ 8, BARRIER, "hist", "hist", "after clearing" },
	{ 9, BARRIER, "hist", "hist", "after counting" },
	{ 10, BARRIER, "hist", "merge", "before the tree" },
	{ 11, BARRIER, "hist", "merge", "in the tree" },
	{ 12, BARRIER, "sortnw", "sortnw", "between strides" },
	{ 13, BARRIER, "sortnw", "sortnw", "in the last merge" },
	{ 14, BARRIER, "sortnw", "sortnw", "before storing" },
	{ 15, BARRIER, "sortnw", "in_order", "after loading" },
	{ 16, BARRIER, "reduce", "reduce", "before the tree" },
	{ 17, BARRIER, "reduce", "reduce", "in the tree" },
	{ 18, BARRIER, "reduce", "reduce", "after the flag" },
	{ 19, BARRIER, "reduce", "reduce", "in the last tree" },
	{ 20, BARRIER, "psum", "psum", "after adding" },
	{ 21, BARRIER, "psum", "psum", "after the flag" },
	{ 22, BARRIER, "offt", "rows", "after loading" },
	{ 23, BARRIER, "kmeans", "kmeans", "between rounds" },
	{ 24, TRESPASS, "mcarlo", "mcarlo", "next price" },
	{ 25, TRESPASS, "scan", "scan_rows", "next total" },
	{ 26, TRESPASS, "fwalsh", "walsh_far", "next block's element" },
	{ 27, TRESPASS, "fwalsh", "walsh_near", "next row" },
	{ 28, TRESPASS, "hist", "hist", "next part" },
	{ 29, TRESPASS, "hist", "merge", "next bin" },
	{ 30, TRESPASS, "sortnw", "sortnw", "next array" },
	{ 31, TRESPASS, "reduce", "reduce", "next part" },
	{ 32, TRESPASS, "psum", "psum", "next window" },
	{ 33, TRESPASS, "offt", "spectrum", "next row" },
	{ 34, TRESPASS, "offt", "rows", "next row" },
	{ 35, TRESPASS, "kmeans", "sizes", "next size" },
	{ 36, TRESPASS, "hash", "hash", "next block's key" },
	{ 37, FENCE, "reduce", "reduce", "before the counter" },
	{ 38, FENCE, "psum", "psum", "before the counter" },
	{ 39, FENCE, "hash", "hash", "before unlocking" },
	{ 40, LOCK, "hash", "hash", "other entry, wrong lock" },
	{ 41, LOCK, "hash", "hash", "entry without the lock" },
};

struct documented { const char *program, *kernel, *paper; };
static const struct documented documented[] = {
	{ "scan", "scan", "WAW/RAW, blocks share data" },
	{ "kmeans", "kmeans", "blocks share data" },
	{ "offt", "spectrum", "WAR, wrong address" },
};

/* "RAW 1, WAR 2", and whether all of them are in that kernel. */
static bool describe(json_t *report, const char *kernel, char *out, size_t size)
{
	static const char *const names[] = { "RAW", "WAR", "WAW" };
	size_t n[3] = { 0 }, i, at = 0;
	json_t *race;
	bool inside = true;

	json_array_foreach(json_object_get(report, "races"), i, race) {
		const char *kind = json_string_value(json_object_get(race, "kind"));
		const char *where = json_string_value(json_object_get(race, "kernel"));

		for (int k = 0; k < 3; k++)
			n[k] += kind && !strcmp(kind, names[k]);
		inside = inside && where && !strcmp(where, kernel);
	}
	out[0] = 0;
	for (int k = 0; k < 3; k++)
		if (n[k])
			at += (size_t)snprintf(out + at, size - at, "%s%s %zu", at ? ", " : "", names[k], n[k]);
	if (!at)
		snprintf(out, size, "none");
	return inside;
}

static void one(struct ws_bench *b, const char *program, const char *kernel, const char *argument, const char *what,
                const char *paper)
{
	json_t *report = ws_bench_race(b, program, NULL, argument);
	char found[80];
	bool inside, any;

	if (!report)
		return;
	inside = describe(report, kernel, found, sizeof found);
	any = ws_bench_count(report, "error", NULL) > 0;
	ws_bench_row(b, kernel[0] ? any && inside : !ws_bench_count(report, NULL, NULL), program, kernel, what, paper, found,
	             NULL);
	json_decref(report);
}

static void run(struct ws_bench *b)
{
	for (int i = 0; ws_bench_workloads[i] && !b->trouble; i++)
		one(b, ws_bench_workloads[i], "", NULL, "clean", "none");
	for (size_t i = 0; i < WS_COUNT(documented) && !b->trouble; i++)
		one(b, documented[i].program, documented[i].kernel, "racy", "documented race", documented[i].paper);
	for (size_t i = 0; i < WS_COUNT(injected) && !b->trouble; i++) {
		const struct injected *x = &injected[i];
		char argument[32], what[80];

		snprintf(argument, sizeof argument, "inject=%d", x->number);
		snprintf(what, sizeof what, "%d: %s, %s", x->number, kinds[x->kind], x->place);
		one(b, x->program, x->kernel, argument, what, "found");
	}
}

static const char *const columns[] = { "program", "kernel", "race", "paper", "ours (races by kind)", NULL };

const struct ws_claim ws_claim_d2 = {
	"D2", "races found in ten workloads: none in clean ones, the documented ones, 41 put in",
	"Holey et al. 2015, 6.5.1", columns, run, NULL,
	false,
};
