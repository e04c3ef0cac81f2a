/* bench_s6.c - claim S6 (Chaudhry, "CUDA software transactional memory", 2009, 6 and tables 1 to 4): operations on a binary tree
 * and a skip list, by engines that lock at their commit, or what they have read as well. */
#include "cli/bench_tm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Tables 1 and 2: one thread on each of 15 cores; milliseconds of the pessimistic engine and the other. */
struct small { const char *program, *name, *size, *arguments; double paper[2]; };
static const struct small small[] = {
	{ "tm/tree", "TREE", "30", "blocks=15 threads=1 sections=2", { 50, 1.2 } },
	{ "tm/tree", "TREE", "300", "blocks=15 threads=1 sections=20", { 4927, 7.9 } },
	{ "tm/lists", "SKIP", "30", "quick blocks=15 threads=1 sections=2", { 9.7, 5.45 } },
	{ "tm/lists", "SKIP", "300", "quick blocks=15 threads=1 sections=20", { 3264, 46 } },
};

static void pessimism(struct ws_bench *b, const struct small *s)
{
	struct ws_tm_figure late = ws_bench_tm(b, s->program, s->name, "block", s->arguments), all = { 0 };
	struct ws_cell paper = { "" }, ours = { "" };

	if (!b->trouble)
		all = ws_bench_tm(b, s->program, s->name, "block-pessimistic", s->arguments);
	if (b->trouble)
		return;
	ws_cell_add(&paper, "%.3gx (%g ms, %g ms)", s->paper[0] / s->paper[1], s->paper[0], s->paper[1]);
	if (!late.there || !all.there)
		ws_cell_add(&ours, "not there");
	else
		ws_cell_add(&ours, "%.3gx (aborts a commit %.1f, %.1f)", all.cost / late.cost, all.aborts, late.aborts);
	ws_bench_row(b, late.there && all.there && all.cost > late.cost, "locking what is read", s->name, s->size, paper.text,
	             ours.text, NULL);
}

/* Tables 3 and 4: 15 blocks of 8 threads. A real GPU goes on to 20 times as many. */
struct large { const char *program, *name; int steps; double paper[5]; };
static const struct large large[] = {
	{ "tm/tree", "TREE", 3, { 680, 4009, 5458 } },
	{ "tm/lists", "SKIP", 5, { 1550, 2476, 3767, 4827, 5458 } },
};
enum { OPERATIONS = 15000, THREADS = 15 * 8, BEYOND = 20 };

/* What one operation takes, against that of the smallest size, beside the paper's (1 thread for each access to memory). */
static void growth(struct ws_bench *b, const struct large *l)
{
	static const char *const engines[] = { "block", "hstm" };
	double first[2] = { 0 };

	for (int k = 1; k <= l->steps + b->real && !b->trouble; k++) {
		int operations = b->quick ? OPERATIONS / 10 : OPERATIONS * (k > l->steps ? BEYOND : k);
		struct ws_cell arguments = { "" }, paper = { "-" }, ours = { "" }, size = { "" };
		bool holds = true;

		ws_cell_add(&arguments, "blocks=15 threads=8 sections=%d%s", operations / THREADS, strcmp(l->name, "SKIP") ? "" : " size=16");
		ws_cell_add(&size, "%d", operations / THREADS * THREADS);
		for (int e = 0; e < 2 && !b->trouble; e++) {
			struct ws_tm_figure f = ws_bench_tm(b, l->program, l->name, engines[e], arguments.text);

			first[e] = k == 1 ? f.cost : first[e];
			holds = holds && f.there;
			ws_cell_add(&ours, "%s%s %.3g %s (x %.2f)", e ? ", " : "", engines[e], f.cost, b->real ? "us" : "cycles",
			            f.cost / first[e]);
		}
		if (k <= l->steps && !b->quick)
			snprintf(paper.text, sizeof paper.text, "%.3g us (x %.2f)", 1e3 * l->paper[k - 1] / (OPERATIONS * k),
			         l->paper[k - 1] / l->paper[0] / k);
		if (!b->trouble)
			ws_bench_row(b, holds, "an operation", l->name, size.text, paper.text, ours.text, NULL);
		if (b->quick)
			return;
	}
}

/* Tables 3 and 4, the first size: milliseconds with copies made by one thread, by 32, and by one a byte, in transactions of blocks. */
struct copied { const char *name; double paper[3]; };
static const struct copied copied[] = { { "TREE-BLOCK", { 680, 405, 356 } }, { "SKIP-BLOCK", { 1550, 478, 460 } } };

static void copies(struct ws_bench *b, const struct copied *c)
{
	static const char *const ways[] = { "one", "32", "bytes" };
	const char *arguments = b->quick ? "quick" : b->real ? "sections=500 repeat=3" : "blocks=15 sections=20";
	struct ws_tm_figure f[3] = { 0 };
	struct ws_cell paper = { "" }, ours = { "" };

	for (int k = 0; k < 3 && !b->trouble; k++)
		f[k] = ws_bench_tm(b, "tm/objects", c->name, ways[k], arguments);
	if (b->trouble)
		return;
	ws_cell_add(&paper, "1x, %.2fx, %.2fx", c->paper[1] / c->paper[0], c->paper[2] / c->paper[0]);
	for (int k = 0; k < 3; k++)
		ws_cell_ratio(&ours, ways[k], f[k], f[0].cost);
	ws_bench_row(b, f[1].there && f[2].there && f[1].cost < f[0].cost && f[2].cost < f[0].cost, "copies by one, 32, one a byte", c->name,
	             arguments, paper.text, ours.text, NULL);
}

static void run(struct ws_bench *b)
{
	for (size_t i = 0; i < WS_COUNT(copied) && !b->trouble; i++)
		copies(b, &copied[i]);
	for (size_t i = 0; i < WS_COUNT(small) && !b->trouble; i++)
		pessimism(b, &small[i]);
	for (size_t i = 0; i < WS_COUNT(large) && !b->trouble; i++)
		growth(b, &large[i]);
}

static const char *const columns[] = { "what", "structure", "operations", "paper", "ours", NULL };

const struct ws_claim ws_claim_s6 = {
	"S6", "binary tree and skip list: what locking all that was read costs; growth to 75,000 operations and beyond",
	"Chaudhry 2009, tables 1 to 4", columns, run,
	"Transactions of TREE and SKIP belong to a thread, and nothing is copied; those of TREE-BLOCK and SKIP-BLOCK to a thread block, as\n"
	"the paper's, and work on copies. The result of every run is checked as a whole.\n\n",
	true,
};
