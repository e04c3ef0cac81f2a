/* bench.h - what the claims of `warpsafe bench` share. A claim is a table of rows, each of our figures beside the
 * paper's; a row holds or not. Adding one: a file bench_*.c with a struct ws_claim, and a line in bench.c's list. */
#ifndef WS_BENCH_H
#define WS_BENCH_H

#include "cli/cli.h"

#include <jansson.h>

struct ws_bench {
	bool quick, full;            /* small sizes; the papers' where the usual ones are smaller */
	bool real;                   /* on the machine's own GPU, where a claim can be run on both */
	bool may_fail;               /* a launch that fails is a result too (ws_bench_run) */
	const char *programs;        /* folder of programs that were built before; NULL = they are compiled */
	char *sources;               /* folder of the folders of workloads */
	char *folder;                /* for what is built; removed at the end, if it is not `programs` */
	char *self;                  /* path of warpsafe */
	json_t *table;               /* rows so far: arrays of strings, the last of them "holds", "differs" or a reason */
	json_t *kept;                /* what claims keep for others; may be NULL */
	size_t differs;
	const char *trouble;         /* why it cannot go on; NULL = nothing */
	struct ws_buf why;
};

struct ws_claim {
	const char *id, *title, *source;
	const char *const *columns;  /* NULL at the end */
	void (*run)(struct ws_bench *b);
	const char *note;            /* below the table */
	bool on_demand;              /* only run when it is named: takes long, or a real GPU */
};
extern const struct ws_claim ws_claim_d2, ws_claim_d3, ws_claim_d4, ws_claim_d5, ws_claim_s2, ws_claim_s3, ws_claim_s4, ws_claim_s5,
	ws_claim_s6;
extern const struct ws_claim ws_claim_r1, ws_claim_r2, ws_claim_r3, ws_claim_r4, ws_claim_r5, ws_claim_r6,
	ws_claim_r7, ws_claim_r8;

/* The ten workloads of Holey et al. 2015, table 6.2: file names without ".cu"; NULL at the end. */
extern const char *const ws_bench_workloads[];

/* Compiles sources/NAME.cu; NAME is "tm/bank", say, and "scan" is "workloads/scan". false: b->trouble says why. */
bool ws_bench_build(struct ws_bench *b, const char *name);
/* `warpsafe race OPTIONS -- NAME [quick] ARGUMENT`; options and arguments are NULL-ended. Owned; NULL: b->trouble. */
json_t *ws_bench_race(struct ws_bench *b, const char *name, const char *const *options, const char *argument);
/* `warpsafe VERB OPTIONS -- NAME ARGUMENTS`, all NULL-ended: what it wrote as errors. Owned; NULL: b->trouble. output, if
 * not NULL: what it wrote to standard output, owned. */
char *ws_bench_run(struct ws_bench *b, const char *verb, const char *name, const char *const *options,
                   const char *const *arguments, char **output);
/* Why the claims cannot go on; the first reason is kept. */
void ws_bench_trouble(struct ws_bench *b, const char *fmt, ...) WS_PRINTF(2, 3);
/* Races of that severity ("error", "warning", NULL = both) and memory (NULL = both) in a report. */
size_t ws_bench_count(json_t *report, const char *severity, const char *space);
/* A row of the table; the last cell becomes the verdict. */
void ws_bench_row(struct ws_bench *b, int holds, ...) __attribute__((sentinel));       /* strings, NULL at the end */

#endif
