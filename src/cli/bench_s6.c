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
	static const char *const both[] = { "block", "block-pessimistic" };
	struct ws_tm_figure f[2], late, all;
	struct ws_cell paper = { "" }, ours = { "" }, arguments = { "" };

	/* The first launch of a process takes a real GPU longer than 30 operations. */
	ws_cell_add(&arguments, "%s%s", s->arguments, b->real ? " repeat=5" : "");
	ws_bench_tm_ways(b, s->program, s->name, both, 2, arguments.text, f);
	if (b->trouble)
		return;
	late = f[0];
	all = f[1];
	ws_cell_add(&paper, "%.3gx (%g ms, %g ms)", s->paper[0] / s->paper[1], s->paper[0], s->paper[1]);
	if (!late.there || !all.there)
		ws_cell_add(&ours, "not there");
	else
		ws_cell_add(&ours, "%.3gx (aborts a commit %.1f, %.1f)", all.cost / late.cost, all.aborts, late.aborts);
	ws_bench_row(b, late.there && all.there && all.cost > late.cost, "locking what is read", s->name, s->size, paper.text,
	             ours.text, NULL);
}

/* The sizes of tables 3 and 4: 15 blocks of 8 threads, a transaction each. A real GPU goes on to 20 times as many. */
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
		struct ws_tm_figure f[2];
		bool holds = true;

		ws_cell_add(&arguments, "blocks=15 threads=8 sections=%d%s", operations / THREADS, strcmp(l->name, "SKIP") ? "" : " size=16");
		ws_cell_add(&size, "%d", operations / THREADS * THREADS);
		ws_bench_tm_ways(b, l->program, l->name, engines, 2, arguments.text, f);
		for (int e = 0; e < 2 && !b->trouble; e++) {
			first[e] = k == 1 ? f[e].cost : first[e];
			holds = holds && f[e].there;
			ws_cell_add(&ours, "%s%s %.3g %s (x %.2f)", e ? ", " : "", engines[e], f[e].cost, b->real ? "us" : "cycles",
			            f[e].cost / first[e]);
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

/* Tables 1 to 4, in transactions of thread blocks: milliseconds by who makes the copies. The paper's grid is not told; 30 blocks of a warp
 * here, and beyond its sizes as many as fill the chip. */
enum { WAYS = 4 };
static const char *const ways[WAYS] = { "one", "32", "bytes", "pessimistic" };
struct table { const char *name; int blocks, sections; double paper[WAYS]; };
static const struct table tables[] = {
	{ "TREE-BLOCK", 30, 1, { 1.2, 1.35, 1.39, 50 } },
	{ "TREE-BLOCK", 30, 10, { 7.9, 4.75, 5.6, 4927 } },
	{ "SKIP-BLOCK", 30, 1, { 5.45, 3.13, 3.18, 9.7 } },
	{ "SKIP-BLOCK", 30, 10, { 46, 25, 26, 3264 } },
	{ "TREE-BLOCK", 30, 500, { 680, 405, 356 } },
	{ "TREE-BLOCK", 30, 1000, { 4009, 1719, 1706 } },
	{ "TREE-BLOCK", 30, 1500, { 5458, 4889, 4430 } },
	{ "TREE-BLOCK", 30, 5000, { 0 } },
	{ "TREE-BLOCK", 1056, 500, { 0 } },
	{ "SKIP-BLOCK", 30, 500, { 1550, 478, 460 } },
	{ "SKIP-BLOCK", 30, 1000, { 2476, 825, 800 } },
	{ "SKIP-BLOCK", 30, 1500, { 3767, 1151, 1125 } },
	{ "SKIP-BLOCK", 30, 2000, { 4827, 1475, 1465 } },
	{ "SKIP-BLOCK", 30, 2500, { 5458, 1795, 1697 } },
	{ "SKIP-BLOCK", 30, 5000, { 0 } },
	{ "SKIP-BLOCK", 1056, 500, { 0 } },
};
enum { SMALL = 4 };                  /* tables 1 and 2 */

/* A figure in milliseconds, or in thousands of cycles. */
static void add_total(struct ws_cell *c, const char *way, struct ws_tm_figure f)
{
	ws_cell_add(c, "%s%s %.4g", c->text[0] ? ", " : "", way, f.cost * f.sections / 1e3);
}

static void one_of_tables(struct ws_bench *b, const struct table *t, bool pessimistic)
{
	struct ws_tm_figure f[WAYS];
	struct ws_cell arguments = { "" }, size = { "" }, paper = { "" }, ours = { "" };
	bool grown = t->sections > 1, holds = true;

	ws_cell_add(&arguments, "blocks=%d sections=%d", t->blocks, t->sections);
	ws_cell_add(&size, "%d", t->blocks * t->sections);
	ws_bench_tm_ways(b, "tm/objects", t->name, ways, WAYS - !pessimistic, arguments.text, f);
	for (int k = 0; k < WAYS - !pessimistic && !b->trouble; k++) {
		add_total(&ours, ways[k], f[k]);
		if (t->paper[k] > 0)
			ws_cell_add(&paper, "%s%s %g", k ? ", " : "", ways[k], t->paper[k]);
		holds = holds && f[k].there;
	}
	if (b->trouble)
		return;
	if (grown)                       /* of 30 operations most meet at the root */
		holds = holds && f[1].cost < f[0].cost && f[2].cost < f[0].cost;
	if (pessimistic)
		holds = holds && f[3].cost > f[0].cost;
	ws_bench_row(b, holds, b->real ? "copies, ms" : "copies, thousand cycles", t->name, size.text,
	             paper.text[0] ? paper.text : "-", ours.text, NULL);
}

/* The clocked GPU takes a minute for each of the first sizes of tables 3 and 4, and does not go beyond the paper's; locking all that was
 * read takes it millions of cycles, of which `pessimism` has what is left without copies. */
static void all_tables(struct ws_bench *b)
{
	static const struct table quick[] = { { "TREE-BLOCK", 4, 6, { 0 } }, { "SKIP-BLOCK", 4, 6, { 0 } } };

	for (size_t i = 0; b->quick && i < WS_COUNT(quick) && !b->trouble; i++)
		one_of_tables(b, &quick[i], false);
	for (size_t i = 0; !b->quick && i < WS_COUNT(tables) && !b->trouble; i++)
		if (tables[i].paper[0] > 0 || b->real)
			one_of_tables(b, &tables[i], i < SMALL && b->real);
}

static void run(struct ws_bench *b)
{
	all_tables(b);
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
	"the paper's, and work on copies made by one thread, by 32, or by one for each byte (tables 1 to 4, milliseconds of a real GPU;\n"
	"pessimistic: what was read is locked as well). The result of every run is checked as a whole.\n\n",
	true,
};
