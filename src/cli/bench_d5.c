/* bench_d5.c - claim D5 (Holey et al. 2015, fig. 6.9): what race checks cost as software on a real GPU. Time is that of the
 * kernels, by events of the GPU, the least of some runs with and without the checks in turn. */
#include "cli/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, QUICK_RUNS = 1 };

struct program {
	const char *name, *size;     /* a size that fills a GPU of today */
	double paper;                /* times; 0 = not in the figure's text */
};
static const struct program programs[] = {
	{ "scan", "scale=32", 6.6 }, { "hist", "scale=8", 12.4 }, { "kmeans", NULL, 18.1 },
	{ "mcarlo", "scale=16", 0 }, { "fwalsh", "scale=32", 0 }, { "sortnw", "scale=32", 0 }, { "reduce", "scale=8", 0 },
	{ "psum", "scale=8", 0 }, { "offt", "scale=8", 0 }, { "hash", "scale=16", 0 },
};

/* Sum of "GPU time of KERNEL: N ms in ..." in what --stats=yes prints; -1: there is none. */
static double kernels_ms(const char *text)
{
	static const char begin[] = "warpsafe: GPU time of ", end[] = " ms in ";
	double ms = -1;

	for (const char *at = text; (at = strstr(at, begin)) != NULL; at++) {
		size_t line = strcspn(at, "\n");
		const char *unit = NULL;

		for (const char *u = at; (u = strstr(u, end)) != NULL && u < at + line; u++)
			unit = u;
		while (unit && unit > at && unit[-1] != ' ')
			unit--;
		if (unit)
			ms = (ms < 0 ? 0 : ms) + strtod(unit, NULL);
	}
	return ms;
}

/* Milliseconds of the program's kernels under `verb`; -1: it could not be run, b->trouble says why. */
static double measure(struct ws_bench *b, const char *verb, const struct program *p)
{
	const char *options[] = { "--gpu=real", "--stats=yes", NULL };
	const char *arguments[] = { b->quick ? "quick" : "large", b->quick ? NULL : p->size, NULL };
	char *text = ws_bench_run(b, verb, p->name, options, arguments, NULL);
	double ms = text ? kernels_ms(text) : -1;

	free(text);
	if (ms < 0)
		ws_bench_trouble(b, "D5 needs an NVIDIA GPU: no kernel of %s was timed under `warpsafe %s --gpu=real`", p->name,
		                 verb);
	return ms;
}

/* How many times the checks make it; 0: could not be told. */
static double slower(struct ws_bench *b, const struct program *p, char *cell, size_t size)
{
	double plain = INFINITY, checked = INFINITY;

	for (int k = 0; k < (b->quick ? QUICK_RUNS : RUNS) && !b->trouble; k++) {
		plain = fmin(plain, measure(b, "run", p));
		if (!b->trouble)
			checked = fmin(checked, measure(b, "race", p));
	}
	if (b->trouble || plain <= 0)
		return 0;
	snprintf(cell, size, "%.1fx (%.3f ms, %.3f ms)", checked / plain, plain, checked);
	return checked / plain;
}

static void run(struct ws_bench *b)
{
	double logs = 0;
	size_t n = 0;
	char ours[64], paper[32];

	for (size_t i = 0; i < WS_COUNT(programs) && !b->trouble; i++) {
		const struct program *p = &programs[i];
		double times = slower(b, p, ours, sizeof ours);

		if (times <= 0)
			continue;
		snprintf(paper, sizeof paper, p->paper > 0 ? "%.1fx" : "-", p->paper);
		ws_bench_row(b, p->paper <= 0 || times <= p->paper, p->name, paper, ours, NULL);
		logs += log(times);
		n++;
	}
	if (b->trouble || !n)
		return;
	snprintf(ours, sizeof ours, "%.1fx", exp(logs / (double)n));
	ws_bench_row(b, 1, "geometric mean", "-", ours, NULL);
}

static const char *const columns[] = { "program", "paper", "ours (plain, checked)", NULL };

const struct ws_claim ws_claim_d5 = {
	"D5", "race checks as software on a real GPU: times the kernels take", "Holey et al. 2015, fig. 6.9", columns, run,
	"The paper's figures are those of a GPU of 2010 and of shared and global memory together, as ours are. A row holds\n"
	"when ours is not above the paper's.\n\n",
	true,
};
