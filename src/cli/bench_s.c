/* bench_s.c - claims S2 to S5 (Holey, "Transactional execution and data race detection on GPUs", 2015, 4.3 and 4.4): the
 * engines of transactions against locks, by contention, by granularity, by the number of cores and beside the CPU. */
#include "cli/bench_tm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Engines in the order of the tables; those of figure 4.3 come first. */
enum { ESTM, PSTM, ISTM, HSTM, BLOCK, ENGINES, PAPERS = HSTM };
static const char *const engines[ENGINES] = { "estm", "pstm", "istm", "hstm", "block" };

/* Arguments: for the clocked GPU at table 4.1's grids and at a small size, for a real one at table 4.1's size, and for one lock,
 * under which everything takes turns: few sections, and on the clocked GPU few threads. */
struct workload {
	const char *program, *name;
	const char *locks;           /* those that protect what a section uses, as the paper's; the best ones are "fgl" */
	const char *size, *quick, *real, *one_lock, *one_lock_real;
	double limit;                /* what the paper says of its best engine against locks */
	const char *real_cores;      /* S5 on a real one: there are up to 17 times as many threads */
};
static const struct workload workloads[] = {
	{ "tm/hash", "HASH-S", "fgl", "", "quick", "repeat=5", "blocks=15", "", 2.5, "repeat=5" },
	{ "tm/hash", "HASH-M", "fgl", "", "quick", "repeat=5", "blocks=15", "", 2.5, "repeat=5" },
	{ "tm/bank", "BANK", "fgl", "sections=2", "quick", "sections=1100 repeat=3", "blocks=16 sections=2", "sections=2", 2.5,
	  "sections=64 repeat=3" },
	{ "tm/spath", "SPATH", "fgl-both", "size=4096", "quick", "repeat=3", "blocks=16 size=512", "size=4096", 2.5, "repeat=3" },
	{ "tm/equake", "EQUAKE", "fgl", "sections=1", "quick", "repeat=5", "blocks=16 size=12 sections=1", "sections=1", 1, "repeat=5" },
};
enum { WORKLOADS = WS_COUNT(workloads) };

static const char *arguments_of(const struct ws_bench *b, const struct workload *w)
{
	return b->quick ? w->quick : b->real ? w->real : w->size;
}

static const char *one_lock_arguments(const struct ws_bench *b, const struct workload *w)
{
	return b->quick ? w->quick : b->real ? w->one_lock_real : w->one_lock;
}

static double least(const struct ws_tm_figure *f, int n)
{
	double best = INFINITY;

	for (int e = 0; e < n; e++)
		if (f[e].there)
			best = fmin(best, f[e].cost);
	return best;
}

/* The first n engines behind up to two other ways; f has as many figures as there are of both. */
static void play_beside(struct ws_bench *b, const struct workload *w, const char *arguments, const char *first, const char *second,
                        struct ws_tm_figure *f, int n)
{
	const char *ways[WS_BENCH_TM_WAYS];
	int others = 0;

	if (first)
		ways[others++] = first;
	if (second)
		ways[others++] = second;
	for (int e = 0; e < n; e++)
		ways[others + e] = engines[e];
	ws_bench_tm_ways(b, w->program, w->name, ways, others + n, arguments, f);
}

static void aborts_cell(struct ws_cell *c, const struct ws_tm_figure *f, int n)
{
	for (int e = 0; e < n; e++)
		if (f[e].there)
			ws_cell_add(c, "%s%s %.2f", e ? ", " : "", engines[e], f[e].aborts);
}

/* ---- S2 ---- */

/* Sums of logarithms of what is to be averaged. */
struct means { double engine[ENGINES], best, best_locks, one_lock; };

static void add_means(struct means *m, const struct ws_tm_figure *f, double locks, double best_locks, double one_lock)
{
	for (int e = 0; e < ENGINES; e++)
		m->engine[e] += f[e].there ? log(f[e].cost / locks) : NAN;
	m->best += log(least(f, ENGINES) / locks);
	m->best_locks += log(least(f, ENGINES) / best_locks);
	m->one_lock += log(one_lock / locks);
}

/* One lock for all, at the same grid: taken by each thread, and by a warp for all of its lanes. */
static void against_one_lock(struct ws_bench *b, const struct workload *w, double best, struct ws_tm_figure each, struct ws_tm_figure warp)
{
	struct ws_cell ours = { "" };

	ws_cell_add(&ours, "best engine %.0fx as fast; %.0fx if a warp takes it for its lanes", each.cost / best, warp.cost / best);
	ws_bench_row(b, fmin(each.cost, warp.cost) >= 100 * best, "one lock", w->name, "100x and more", ours.text, NULL);
}

static void against_locks(struct ws_bench *b, const struct workload *w, struct means *m)
{
	static const char *const one_lock[] = { "cgl-lock", "cgl-warp" };
	bool two = strcmp(w->locks, "fgl") != 0, warp = b->real && !b->quick;
	struct ws_tm_figure all[ENGINES + 2], ones[2], *f = all + 1 + two, locks, best_locks, one;
	struct ws_cell ours = { "" }, aborts = { "" }, limit = { "" };

	play_beside(b, w, arguments_of(b, w), w->locks, two ? "fgl" : NULL, all, ENGINES);
	if (!b->trouble)
		ws_bench_tm_ways(b, w->program, w->name, one_lock, 1 + warp, one_lock_arguments(b, w), ones);
	if (b->trouble)
		return;
	locks = all[0];
	best_locks = all[two];
	one = ones[0];
	for (int e = 0; e < ENGINES; e++)
		ws_cell_ratio(&ours, engines[e], f[e], locks.cost);
	ws_cell_ratio(&ours, "one lock", one, locks.cost);
	ws_cell_add(&limit, "best below %gx", w->limit);
	ws_bench_row(b, least(f, ENGINES) < w->limit * locks.cost, "time against locks", w->name, limit.text, ours.text, NULL);
	aborts_cell(&aborts, f, ENGINES);
	if (w->limit <= 1)
		ws_bench_row(b, f[PSTM].aborts <= f[ISTM].aborts, "aborts a commit", w->name, "pstm 0.05, istm 0.21", aborts.text, NULL);
	else if (strcmp(w->locks, "fgl"))
		ws_bench_row(b, f[PSTM].aborts > f[ISTM].aborts, "aborts a commit", w->name, "most with pstm", aborts.text, NULL);
	else
		ws_bench_row(b, 1, "aborts a commit", w->name, "-", aborts.text, NULL);
	if (warp)
		against_one_lock(b, w, least(f, ENGINES), one, ones[1]);
	add_means(m, f, locks.cost, best_locks.cost, one.cost);
}

/* Rough size: at most twice as slow as the paper's. */
static void mean_row(struct ws_bench *b, const char *what, double sum, double paper)
{
	double x = exp(sum / WORKLOADS);
	struct ws_cell ours = { "" }, papers = { "-" };

	if (paper > 0)
		snprintf(papers.text, sizeof papers.text, "%.2fx", paper);
	if (isfinite(x))
		ws_cell_add(&ours, "%.2fx", x);
	else                                 /* it was not compiled in */
		ws_cell_add(&ours, "not there");
	ws_bench_row(b, paper <= 0 || x <= 2 * paper, "geometric mean", what, papers.text, ours.text, NULL);
}

/* Figure 4.4: what the engines cost where nobody else is. */
static void one_thread(struct ws_bench *b, const struct workload *w)
{
	const char *alone = b->real ? "quick blocks=1 threads=1 sections=200 repeat=5" : "quick blocks=1 threads=1 sections=4";
	struct ws_tm_figure all[PAPERS + 1], *f = all + 1;
	struct ws_cell ours = { "" };

	play_beside(b, w, alone, "cgl-lock", NULL, all, PAPERS);
	if (b->trouble)
		return;
	for (int e = 0; e < PAPERS; e++)
		ws_cell_ratio(&ours, engines[e], f[e], all[0].cost);
	ws_bench_row(b, f[ESTM].cost >= f[PSTM].cost && f[ISTM].cost >= f[PSTM].cost, "one thread, against one lock", w->name,
	             "estm most, istm more than pstm", ours.text, NULL);
}

static void run_s2(struct ws_bench *b)
{
	struct means m = { 0 };
	struct ws_cell x = { "" };

	for (int i = 0; i < WORKLOADS && !b->trouble; i++)
		against_locks(b, &workloads[i], &m);
	if (b->trouble)
		return;
	mean_row(b, "estm", m.engine[ESTM], 3.4);
	mean_row(b, "pstm", m.engine[PSTM], 2.16);
	mean_row(b, "istm", m.engine[ISTM], 1.62);
	mean_row(b, "best", m.best, 1.56);
	mean_row(b, "best, against the best locks", m.best_locks, 0);
	snprintf(x.text, sizeof x.text, "%.0fx", exp(m.one_lock / WORKLOADS));
	/* The fewer threads there are, the less they lose by taking turns: 256 in the quick run, which a real GPU is hardly longer at than at its launch. */
	ws_bench_row(b, m.one_lock / WORKLOADS > log(!b->quick ? 100 : b->real ? 1 : 5), "geometric mean", "one lock", "10800x", x.text, NULL);
	for (int i = 0; i < WORKLOADS && !b->trouble; i++)
		one_thread(b, &workloads[i]);
}

/* ---- S3 ---- */

struct series {
	const struct workload *w;
	const char *sizes[6], *small, *real;
	const char *crossing;        /* what the paper says of pstm */
};
static const struct series contention[] = {
	{ &workloads[0], { "256", "1024", "4096", "16384", "65536", "131072" }, "", "repeat=5", "below 1K lists" },
	{ &workloads[2], { "2048", "8192", "32768", "131072", "1048576", NULL }, "sections=2", "sections=64 repeat=3",
	  "below 8K accounts" },
};

/* Rows by size, from the smallest; whether pstm was faster than locks at one of them. */
static void by_contention(struct ws_bench *b, const struct series *s)
{
	double aborts = INFINITY;
	struct ws_cell crossing = { "at no size" };
	bool faster = false;

	for (int n = 0; n < (b->quick ? 3 : 6) && s->sizes[n] && !b->trouble; n++) {
		struct ws_tm_figure all[PAPERS + 1], *f = all + 1, locks;
		struct ws_cell arguments = { "" }, ours = { "" }, ab = { "" };

		ws_cell_add(&arguments, "%s size=%s", b->quick ? "quick" : b->real ? s->real : s->small, s->sizes[n]);
		play_beside(b, s->w, arguments.text, "fgl", NULL, all, PAPERS);
		if (b->trouble)
			return;
		locks = all[0];
		for (int e = 0; e < PAPERS; e++)
			ws_cell_ratio(&ours, engines[e], f[e], locks.cost);
		aborts_cell(&ab, f, PAPERS);
		ws_cell_add(&ours, "; %s", ab.text);
		ws_bench_row(b, f[PSTM].aborts <= aborts, s->w->name, s->sizes[n], "fewer aborts than above", ours.text, NULL);
		aborts = f[PSTM].aborts;
		if (f[PSTM].cost < locks.cost) {
			snprintf(crossing.text, sizeof crossing.text, "at %s and below", s->sizes[n]);
			faster = true;
		}
	}
	if (!b->trouble)
		ws_bench_row(b, faster, s->w->name, "pstm faster than locks", s->crossing, crossing.text, NULL);
}

static void run_s3(struct ws_bench *b)
{
	for (size_t i = 0; i < WS_COUNT(contention) && !b->trouble; i++)
		by_contention(b, &contention[i]);
}

/* ---- S4 ---- */

enum { GRAINS = 5 };
static const char *const grains[GRAINS] = { "4", "8", "16", "32", "64" };

/* The rows of a workload, and what they add to the sums of logarithms. */
static void by_grain(struct ws_bench *b, const struct workload *w, double sums[PAPERS][GRAINS])
{
	struct ws_tm_figure f[GRAINS][PAPERS];

	for (int g = 0; g < GRAINS && !b->trouble; g++) {
		struct ws_cell arguments = { "" };

		ws_cell_add(&arguments, "%s granularity=%s", arguments_of(b, w), grains[g]);
		play_beside(b, w, arguments.text, NULL, NULL, f[g], PAPERS);
	}
	for (int e = 0; e < PAPERS && !b->trouble; e++) {
		struct ws_cell ours = { "" }, aborts = { "" };

		for (int g = 0; g < GRAINS; g++) {
			sums[e][g] += log(f[g][e].cost / f[0][e].cost);
			ws_cell_add(&ours, "%s%.2f", g ? " " : "", f[g][e].cost / f[0][e].cost);
			ws_cell_add(&aborts, "%s%.2f", g ? " " : "", f[g][e].aborts);
		}
		ws_cell_add(&ours, "; aborts %s", aborts.text);
		ws_bench_row(b, 1, w->name, engines[e], "-", ours.text, NULL);
	}
}

static void run_s4(struct ws_bench *b)
{
	double sums[PAPERS][GRAINS] = { 0 };

	for (int i = 0; i < WORKLOADS && !b->trouble; i++)
		by_grain(b, &workloads[i], sums);
	if (b->trouble)
		return;
	for (int e = 0; e < PAPERS; e++) {
		static const char *const papers[PAPERS] = { "-", "1.17 at 64 bytes", "1.46 at 64 bytes" };
		struct ws_cell ours = { "" };

		for (int g = 0; g < GRAINS; g++)
			ws_cell_add(&ours, "%s%.2f", g ? " " : "", exp(sums[e][g] / WORKLOADS));
		ws_bench_row(b, e != ISTM || sums[PSTM][GRAINS - 1] <= sums[ISTM][GRAINS - 1], "geometric mean", engines[e], papers[e],
		             ours.text, NULL);
	}
}

/* ---- S5 ---- */

/* Blocks for 1, 4, 8 and all 15 cores of the paper's machine; of an H200, for as large a part of its 132. */
static const struct { const char *cores, *clocked, *real; } parts[] = {
	{ "1", "blocks=8", "blocks=144" }, { "4", "blocks=32", "blocks=560" }, { "8", "blocks=64", "blocks=1120" },
	{ "15", "blocks=120", "blocks=2112" },
};
enum { PARTS = WS_COUNT(parts) };

static void cell_rate(struct ws_cell *c, const char *name, struct ws_tm_figure f, double one)
{
	ws_cell_add(c, f.there ? "%s%s %.1f" : "%s%s not there", c->text[0] ? ", " : "", name, f.there ? one / f.cost : 0);
}

static void by_cores(struct ws_bench *b, const struct workload *w)
{
	static const char *const cpu_ways[] = { "cpu", "cpu-all" };
	const char *size = b->real && !b->quick ? w->real_cores : arguments_of(b, w);
	double one = 0, last = 0, hstm = 0;
	struct ws_tm_figure cpu[2] = { 0 };

	if (b->real)
		ws_bench_tm_ways(b, w->program, w->name, cpu_ways, 2, size, cpu);
	one = cpu[0].cost;
	for (int p = 0; p < PARTS && !b->trouble; p++) {
		struct ws_cell arguments = { "" }, ours = { "" };
		struct ws_tm_figure f[ENGINES], best = { true, 0, 0, 0 };

		ws_cell_add(&arguments, "%s %s threads=128", size, b->real ? parts[p].real : parts[p].clocked);
		play_beside(b, w, arguments.text, NULL, NULL, f, ENGINES);
		if (b->trouble)
			return;
		best.cost = least(f, PAPERS);
		one = one > 0 ? one : best.cost;
		cell_rate(&ours, "best", best, one);
		cell_rate(&ours, "block", f[BLOCK], one);
		cell_rate(&ours, "hstm", f[HSTM], one);
		last = one / best.cost;
		hstm = one / f[HSTM].cost;
		ws_bench_row(b, p + 1 < PARTS || last >= hstm, w->name, parts[p].cores, p + 1 < PARTS ? "-" : "best above both",
		             ours.text, NULL);
	}
	if (b->real && !b->trouble) {
		struct ws_cell ours = { "" };

		cell_rate(&ours, "CPU threads", cpu[1], one);
		ws_bench_row(b, cpu[1].there && last > one / cpu[1].cost, w->name, "CPU", "GPU above 32 threads", ours.text, NULL);
	}
}

static void run_s5(struct ws_bench *b)
{
	for (int i = 0; i < WORKLOADS && !b->trouble; i++)
		by_cores(b, &workloads[i]);
}

/* ---- the claims ---- */

static const char *const s2_columns[] = { "what", "workload", "paper", "ours", NULL };
const struct ws_claim ws_claim_s2 = {
	"S2", "transactions against locks: time of a section, aborts, one thread", "Holey 2015, 4.3.1, fig. 4.2 to 4.5",
	s2_columns, run_s2,
	"Time is that of a section: cycles of the clocked GTX 480, or time of the GPU with --gpu=real. Under one lock there are\n"
	"fewer sections, as they take turns. SPATH's locks are those of both nodes, as in the paper, in the first rows;\n"
	"its best locks are taken only when a distance will be lowered. Our locks are tried once and with back-off, where the paper's\n"
	"spin: that is why EQUAKE, whose locks suffered most from it, need not be faster than they are.\n\n",
	true,
};
static const char *const s3_columns[] = { "workload", "size", "paper", "ours: time against locks; aborts a commit", NULL };
const struct ws_claim ws_claim_s3 = {
	"S3", "contention: sizes of the hash table and of the bank", "Holey 2015, 4.3.2, fig. 4.6 and 4.7", s3_columns, run_s3,
	NULL, true,
};
static const char *const s4_columns[] = { "workload", "engine", "paper", "ours: time at 4, 8, 16, 32, 64 bytes; aborts a commit",
	                                  NULL };
const struct ws_claim ws_claim_s4 = {
	"S4", "bytes that conflict together: time against that at 4 bytes", "Holey 2015, 4.3.3, fig. 4.8", s4_columns, run_s4, NULL,
	true,
};
static const char *const s5_columns[] = { "workload", "cores of 15", "paper", "ours: how many times as fast", NULL };
const struct ws_claim ws_claim_s5 = {
	"S5", "number of cores; the other engines; the CPU", "Holey 2015, 4.3.5 and 4.4, fig. 4.9 and 4.10", s5_columns, run_s5,
	"On the clocked GPU 1 is the best engine on one core, as its cycles are not to be compared with seconds of a CPU; with\n"
	"--gpu=real 1 is one thread of the CPU. block is the engine of Cederman et al. with a transaction a thread.\n\n",
	true,
};
