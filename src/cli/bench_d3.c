/* bench_d3.c - claim D3 (Holey, Mekkat, Yew, Zhai, "Transactions and races", 2015, 6.5.1): false races when bytes
 * are tracked together (table 6.3), checks that remain with shadow memory for recent pages only (figure 6.7), races
 * missed by lock signatures of several sizes. The machine of the paper runs the lanes of a warp in step:
 * --divergence=stack. */
#include "cli/bench.h"
#include "detect/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRAINS = 5 };
static const char *const grains[GRAINS] = { "4", "8", "16", "32", "64" };

struct falses { const char *name; int paper[2][GRAINS]; };
static const struct falses table_6_3[] = {           /* shared, global */
	{ "mcarlo", { { 0, 0, 0, 0, 0 }, { 0, 0, 2, 2, 2 } } },
	{ "scan", { { 0, 0, 2, 7, 7 }, { 0, 0, 0, 0, 0 } } },
	{ "fwalsh", { { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 } } },
	{ "hist", { { 32, 32, 32, 32, 32 }, { 0, 2, 2, 2, 2 } } },
	{ "sortnw", { { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 } } },
	{ "reduce", { { 0, 1, 1, 1, 1 }, { 0, 2, 2, 2, 2 } } },
	{ "psum", { { 0, 0, 0, 0, 0 }, { 0, 0, 1, 1, 1 } } },
	{ "offt", { { 0, 0, 0, 0, 0 }, { 0, 0, 5, 6, 7 } } },
	{ "kmeans", { { 0, 0, 0, 0, 3 }, { 0, 0, 0, 0, 0 } } },
	{ "hash", { { 0, 0, 0, 0, 0 }, { 0, 2, 2, 2, 2 } } },
};

static void five(char *out, size_t size, const int n[GRAINS])
{
	snprintf(out, size, "%d %d %d %d %d", n[0], n[1], n[2], n[3], n[4]);
}

/* What must hold: no false race at the size of the elements (4 bytes, but for HIST's bytes in shared memory), and
 * never fewer at a coarser grain. */
static bool shape(const int *ours, const int *paper)
{
	for (int g = 1; g < GRAINS; g++)
		if (ours[g - 1] > 0 && ours[g] == 0)
			return false;
	return !ours[0] == !paper[0];
}

static void false_races(struct ws_bench *b, const struct falses *f)
{
	static const char *const memories[] = { "shared", "global" };
	int ours[2][GRAINS];

	for (int g = 0; g < GRAINS; g++) {
		char grain[32];
		const char *options[] = { "--divergence=stack", grain, NULL };
		json_t *report;

		snprintf(grain, sizeof grain, "--granularity=%s", grains[g]);
		report = ws_bench_race(b, f->name, options, NULL);
		for (int m = 0; m < 2; m++)
			ours[m][g] = (int)ws_bench_count(report, NULL, memories[m]);
		json_decref(report);
		if (b->trouble)
			return;
	}
	for (int m = 0; m < 2; m++) {
		char paper[64], found[64];

		five(paper, sizeof paper, f->paper[m]);
		five(found, sizeof found, ours[m]);
		ws_bench_row(b, shape(ours[m], f->paper[m]), m ? "false races, global" : "false races, shared", f->name, paper,
		             found, NULL);
	}
}

/* Percent of checks that remain when there is shadow memory for half of the pages; negative: the report does not
 * say. */
static double half_of(json_t *report)
{
	json_t *limit;
	size_t i;
	double percent = -1;

	json_array_foreach(json_object_get(report, "limits"), i, limit) {
		const char *s = json_string_value(limit), *colon = s ? strchr(s, ':') : NULL;

		if (colon && strstr(s, " the 50 % most recent"))
			percent = strtod(colon + 1, NULL);
	}
	return percent;
}

static void recent_pages(struct ws_bench *b)
{
	static const char *const options[] = { "--detector=recent", "--divergence=stack", NULL };
	double sum = 0;
	int n = 0;
	char ours[64];

	for (; ws_bench_workloads[n] && !b->trouble; n++) {
		json_t *report = ws_bench_race(b, ws_bench_workloads[n], options, NULL);
		double percent = report ? half_of(report) : 0;

		json_decref(report);
		sum += percent;
		snprintf(ours, sizeof ours, "%.1f %%", percent);
		if (!b->trouble)
			ws_bench_row(b, percent >= 0 && percent <= 100, "checks with half of the pages", ws_bench_workloads[n], "-",
			             ours, NULL);
	}
	snprintf(ours, sizeof ours, "%.1f %%", sum / n);
	if (!b->trouble)
		ws_bench_row(b, sum / n >= 85, "checks with half of the pages", "mean", "95 %", ours, NULL);
}

/* Two threads hold one lock each, of a million pairs of different locks; the race is missed when the signatures
 * meet. */
static double missed(struct ws_signature_form f)
{
	enum { PAIRS = 1 << 20 };
	uint64_t seed = 88172645463325252u;
	unsigned n = 0;

	for (int i = 0; i < PAIRS; i++) {
		uint64_t a, b;

		do {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			a = (seed & 0xffffff) * 4;
			b = (seed >> 32 & 0xffffff) * 4;
		} while (a == b);
		n += ws_signature_meets(f, ws_signature_add(f, 0, a), ws_signature_add(f, 0, b));
	}
	return 100.0 * n / PAIRS;
}

static void signatures(struct ws_bench *b)
{
	static const struct { uint32_t bits; double paper; } sizes[] = { { 8, 25 }, { 16, 12.5 }, { 32, 6.25 } };

	for (size_t i = 0; i < WS_COUNT(sizes); i++) {
		double two = missed((struct ws_signature_form){ sizes[i].bits, 2 });
		double four = missed((struct ws_signature_form){ sizes[i].bits, 4 });
		char size[32], paper[32], ours[64];

		snprintf(size, sizeof size, "%u bits", (unsigned)sizes[i].bits);
		snprintf(paper, sizeof paper, "%g %%", sizes[i].paper);
		snprintf(ours, sizeof ours, "%.2f %%", two);
		ws_bench_row(b, two > sizes[i].paper * 0.95 && two < sizes[i].paper * 1.05, "missed, 2 bins", size, paper,
		             ours, NULL);
		snprintf(ours, sizeof ours, "%.2f %%", four);
		ws_bench_row(b, four > two, "missed, 4 bins", size, "more than with 2 bins", ours, NULL);
	}
}

static void run(struct ws_bench *b)
{
	for (size_t i = 0; i < WS_COUNT(table_6_3) && !b->trouble; i++)
		false_races(b, &table_6_3[i]);
	if (!b->trouble)
		recent_pages(b);
	if (!b->trouble)
		signatures(b);
}

static const char *const columns[] = { "what", "program", "paper", "ours", NULL };

const struct ws_claim ws_claim_d3 = {
	"D3", "false races at 4, 8, 16, 32, 64 bytes; recent pages only; lock signatures", 
	"Holey et al. 2015, 6.5.1, table 6.3, fig. 6.7", columns, run,
	"A false race is one that tracking each byte apart does not report; ours are pairs of source places. Which\n"
	"programs have some depends on their layout, and ours are not the paper's sources: neighbours that different\n"
	"blocks or warps write meet in one entry as soon as it is larger than they are. What must hold: none at the\n"
	"size of the elements (HIST counts in bytes, so that it has some at 4), and none that vanish again.\n\n",
	false,
};
