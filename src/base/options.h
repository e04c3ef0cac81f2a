/* options.h - the options of `warpsafe race|run|...`, one table (options.def), used three times: to parse and explain
 * the command line, to check it, and to carry it into the program under test (environment variable WARPSAFE_OPTIONS,
 * "name=value" lines), where src/cuda reads it. */
#ifndef WS_OPTIONS_H
#define WS_OPTIONS_H

#include "base/base.h"

struct ws_options {
	/* which work */
	const char *verb;            /* "race", "run", ... */
	const char *gpu;             /* "sim", "real" */
	const char *instrument;      /* pass over the program's PTX: "none", "print", "count", "tm" (src/rewrite) */
	/* simulated GPU */
	const char *divergence;      /* "auto", "stack", "its" */
	const char *schedule;        /* "rr", "random", "priority" */
	uint64_t seed;
	uint32_t runs;               /* used by the command line alone */
	uint32_t threads;            /* host threads, 0 = one a core */
	uint64_t max_instructions;   /* warp instructions a launch, 0 = no limit */
	double timeout;              /* seconds a launch, 0 = none */
	uint32_t cc;                 /* compute capability, 10 * major + minor */
	uint64_t memory;             /* bytes of device memory */
	uint64_t shadow_limit;       /* bytes */
	/* real GPU */
	uint64_t cache_limit;        /* bytes of compiled kernels kept on disk; 0 = none */
	const char *compile;         /* "auto", "driver", "ptxas" */
	uint32_t resident;           /* threads of a checked kernel with locks on a multiprocessor, 0 = all that fit */
	/* transactions */
	const char *tm_engine;       /* "pstm" */
	uint32_t tm_granule;         /* bytes */
	uint32_t tm_table;           /* entries */
	uint32_t tm_patience;        /* aborts */
	uint64_t tm_heap;            /* bytes */
	uint64_t tm_pool;            /* bytes */
	const char *tm_check;        /* "none", "history", "log" */
	uint64_t tm_log;             /* bytes */
	bool tm_opacity;
	/* detector */
	const char *detector;        /* "shadow" */
	const char *memories;        /* "shared,global" */
	uint32_t granularity;
	const char *kernel;          /* regex or NULL */
	uint64_t launch_skip, launch_count;  /* launches of kernels that match; count 0 = all */
	bool stats;                  /* say how long launches took, and memory of the detector */
	bool same_value_error;
	/* output (used by the command line alone) */
	const char *format;          /* "text", "json", ... */
	const char *output;          /* file or NULL */
	uint32_t error_exitcode;     /* default 1 */
	uint32_t max_reports;
	bool color_always, color_never;
	const char *color;           /* "auto", "always", "never": what the two above are set from */
	const char *suppress;        /* file of rules or NULL */
	const char *source_dirs;     /* more folders for source files, ':' between; NULL = none */
	/* clocked GPU */
	const char *config;          /* name or path; in the program: path */
	const char *unit;            /* proposed hardware with its options, or NULL */
	const char *counters;        /* file or NULL; used by the command line alone */
	/* from the command line to the program */
	const char *report_dir;      /* each process writes DIR/report.PID.json */
	const char *counters_dir;    /* each process writes DIR/PID.txt and DIR/PID.json */
	char *why;                   /* text of the last refusal; owned */
};

void ws_options_default(struct ws_options *o);
/* Sets one option from text. false: *why (static text or owned by o) says what is wrong with it. Strings are copied. */
bool ws_options_set(struct ws_options *o, const char *name, const char *value, const char **why);
/* "name=value\n" of all that differs from the default. */
void ws_options_to_env(const struct ws_options *o, struct ws_buf *out);
bool ws_options_from_env(struct ws_options *o, const char *text, const char **why);
/* The table printed for --help: only the options that belong to `verb`. */
void ws_options_help(const char *verb, struct ws_buf *out);
/* Closest option name of that verb, for "did you mean"; NULL if none is near. */
const char *ws_options_nearest(const char *verb, const char *name);
/* True if the option needs no value. */
bool ws_options_flag(const char *name);
/* True if the verb takes an option of this name. */
bool ws_options_known(const char *verb, const char *name);
/* The verb's options as the rows of a manual page (man(7)). */
void ws_options_man(const char *verb, struct ws_buf *out);
void ws_options_free(struct ws_options *o);

/* How many single-character insertions, deletions, replacements and swaps of neighbours lead from a to b. */
size_t ws_edit_distance(const char *a, const char *b);

#endif
