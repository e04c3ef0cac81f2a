/* report.h - what is told to people and to other programs. Knows only its own types.
 *
 * A report is collected in the process of the program under test, kept on disk as JSON (rewritten whole, so that a
 * program that is killed leaves what was found), and read again by `warpsafe`, which renders it. */
#ifndef WS_REPORT_H
#define WS_REPORT_H

#include "base/base.h"

enum ws_race_kind { WS_RAW, WS_WAR, WS_WAW };    /* second access after first */
enum ws_race_access_kind { WS_RA_READ, WS_RA_WRITE, WS_RA_ATOMIC };

struct ws_race_access {
	enum ws_race_access_kind access;
	const char *file;            /* source file; NULL = no line information */
	uint32_t line, col;
	bool nearby;                 /* that is where the value is used first: the compiler names no line here */
	const char *function;        /* inlined function the line is in; NULL = the kernel */
	const char *inlined_file;    /* where the outermost call was inlined; NULL = not inlined */
	uint32_t inlined_line;
	const char *ptx_file;
	uint32_t ptx_line;
	const char *ptx;             /* the instruction's text */
	uint32_t block[3], thread[3];/* of an instruction */
	const char *operation;       /* what it is part of, where that matters: "launch 2 of 'kernel' in stream 1", or a call
	                              * of the host (no instruction then); else NULL */
};

struct ws_race {
	enum ws_severity severity;   /* WS_ERROR, WS_WARNING (same value) */
	enum ws_race_kind kind;
	const char *space;           /* "shared" or "global" */
	const char *category;        /* "missing-barrier", "missing-fence", "scope", "lock", "atomic-plain", "warp",
	                              * "same-instruction", "same-value", "inter-block", ... */
	const char *kernel;          /* demangled */
	const char *location;        /* variable, or "allocation #3 (cudaMalloc at app.cu:12)" */
	uint64_t offset, size;       /* bytes in the location; bytes in conflict */
	struct ws_race_access first, second;
	const char *missing, *repair;
	uint64_t count;              /* how often seen */
	uint64_t launch, seed;
	uint32_t runs;               /* of several runs, how many showed it; 0 = there was one run */
};

struct ws_kernel_row { const char *name; uint64_t launches, accesses, thread_instructions; bool checked; };
struct ws_unchecked_row { const char *kernel, *why; };
/* What transactions must not do and did (warpsafe tm --check): text for people, of the first time. */
struct ws_violation_row { const char *what; /* the same kind at the same places has the same */ const char *text; uint64_t count; };

struct ws_report;
struct ws_report *ws_report_new(void);
void ws_report_free(struct ws_report *r);
void ws_report_set(struct ws_report *r, const char *gpu, const char *detector, uint32_t granularity);
/* Adds a race, or counts it when the same pair of instructions was there already (same kernel, kind, space, both
 * places). Copies all strings. Returns true if it was new. Safe from several threads. */
bool ws_report_race(struct ws_report *r, const struct ws_race *race);
void ws_report_kernel(struct ws_report *r, const struct ws_kernel_row *k);       /* adds to the row of that name */
void ws_report_unchecked(struct ws_report *r, const char *kernel, const char *why);
void ws_report_limit(struct ws_report *r, const char *text);     /* what could not be checked, said once */
/* The same for a figure that grows: takes the place of the limit that begins with `key`. */
void ws_report_limit_now(struct ws_report *r, const char *key, const char *text);
void ws_report_error(struct ws_report *r, const char *text);     /* a kernel that failed: out of bounds, deadlock */
void ws_report_violation(struct ws_report *r, const struct ws_violation_row *v);  /* adds to the row of that `what` */
/* Appends all of them, as text; returns how many rows there are. */
size_t ws_report_write_violations(const struct ws_report *r, struct ws_buf *out);
/* Adds what one run of several found; `one` stays as it is. */
void ws_report_add_run(struct ws_report *r, const struct ws_report *one);
/* Thread and block of an access from their linear indices; a dimension of 0 is one of 1. */
void ws_race_set_thread(struct ws_race_access *a, const uint32_t grid[3], const uint32_t block_dim[3], uint64_t block,
                        uint32_t thread);
size_t ws_report_count(const struct ws_report *r, enum ws_severity severity);
size_t ws_report_findings(const struct ws_report *r);            /* errors and warnings */
bool ws_report_failed(const struct ws_report *r);                /* an error was added */

/* Rules that name races not to be told (docs/REPORT.md, "Suppressions"). NULL: the text is wrong, told to the sink. */
struct ws_suppressions;
struct ws_suppressions *ws_suppressions_read(const char *path, const char *text, size_t len,
                                             const struct ws_sink *sink);
bool ws_suppressions_match(const struct ws_suppressions *s, const struct ws_race *race);
void ws_suppressions_free(struct ws_suppressions *s);
/* Takes the races that a rule names out of the report, which keeps their number, in all and for each rule. */
void ws_report_suppress(struct ws_report *r, const struct ws_suppressions *s);

/* JSON: docs/report.schema.json. read merges into r (races are added with their counts). */
void ws_report_write_json(const struct ws_report *r, struct ws_buf *out);
bool ws_report_read_json(struct ws_report *r, const char *text, size_t len, const struct ws_sink *sink);
/* Replaces the file in one step (written beside it, then renamed). false with errno. */
bool ws_report_save(const struct ws_report *r, const char *path);

struct ws_text_options {
	bool color;
	const char *source_dirs;     /* extra places for source files, ':' between; NULL = none */
	unsigned max_reports;        /* 0 = all */
	bool failures_told;          /* the reader saw each failure as it happened: they are not repeated */
};
void ws_report_write_text(const struct ws_report *r, const struct ws_text_options *opt, struct ws_buf *out);
/* The kernels that were launched, how often, and which of them cannot be checked and why; a line each. */
void ws_report_write_kernels(const struct ws_report *r, struct ws_buf *out);
void ws_report_write_sarif(const struct ws_report *r, struct ws_buf *out);
void ws_report_write_html(const struct ws_report *r, struct ws_buf *out);

#endif
