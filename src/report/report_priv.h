/* report_priv.h - what the files of src/report share. */
#ifndef WS_REPORT_PRIV_H
#define WS_REPORT_PRIV_H

#include "report/report.h"

struct ws_rule_row { const char *text, *file; uint32_t line; uint64_t races; };     /* races: that it took out */

struct ws_report_view {              /* a report as a renderer sees it; points into the report */
	const char *gpu, *detector;
	uint32_t granularity;
	const struct ws_race **races;        /* sorted: errors first, then by kernel and place; R1 is races[0] */
	size_t nraces, nerrors, nwarnings;   /* races of each severity */
	uint64_t suppressed;                 /* races that are not among them */
	const struct ws_rule_row *rules;     /* of --suppress, in order */
	size_t nrules;
	uint32_t runs;                       /* of the program; 0 = one */
	const struct ws_kernel_row *kernels;
	size_t nkernels;
	const struct ws_unchecked_row *unchecked;
	size_t nunchecked;
	const struct ws_violation_row *violations;
	size_t nviolations;
	const char *const *limits, *const *errors;
	size_t nlimits, nfailures;           /* failures: entries of errors */
};
void ws_report_add_suppressed(struct ws_report *r, uint64_t n);
void ws_report_add_rule(struct ws_report *r, const struct ws_rule_row *rule);        /* copies */
void ws_report_set_runs(struct ws_report *r, uint32_t runs);
/* Number of the first rule that names the race; -1 = none. */
long ws_suppressions_which(const struct ws_suppressions *s, const struct ws_race *race);
/* The rule with that number (races is 0); false behind the last one. The strings live as long as s. */
bool ws_suppressions_rule(const struct ws_suppressions *s, size_t i, struct ws_rule_row *rule);
/* Locks the report until close. */
void ws_report_view_open(const struct ws_report *r, struct ws_report_view *v);
void ws_report_view_close(const struct ws_report *r, struct ws_report_view *v);

/* ---- words ---- */
const char *ws_race_kind_name(enum ws_race_kind k);          /* "RAW" */
const char *ws_race_kind_words(enum ws_race_kind k);         /* "read-after-write" */
const char *ws_race_access_name(enum ws_race_access_kind k); /* "read" */
const char *ws_race_severity_name(enum ws_severity s);       /* "error" */
/* The location for people: a mangled name is made plain. The caller frees it. */
char *ws_race_location(const struct ws_race *race);
/* The tail of a path that lies below the current folder, else the path. */
const char *ws_report_short_path(const char *path);
/* "bytes 48..51 of 'tile'" */
void ws_race_add_bytes(struct ws_buf *out, const struct ws_race *race);
/* "read-after-write race (RAW) in shared memory: no barrier between them" */
void ws_race_add_title(struct ws_buf *out, const struct ws_race *race);
/* "app.cu:12", or "app.ptx:40" without line information */
void ws_race_add_place(struct ws_buf *out, const struct ws_race_access *a);
/* "thread (5,0,0) of block (3,0,0)" */
void ws_race_add_thread(struct ws_buf *out, const struct ws_race_access *a);
/* "2 races (1 error, 1 warning) in 3 kernels; 12,345 accesses checked; everything was checked" */
void ws_report_add_summary(struct ws_buf *out, const struct ws_report_view *v);
/* "suppressed: 2 races by known:3: kernel=scan" */
void ws_report_add_rule_words(struct ws_buf *out, const struct ws_rule_row *rule);
/* Text of others in a line of ours: control characters, which could drive a terminal, become '?', a tab a blank. */
void ws_buf_add_clean(struct ws_buf *out, const char *s, size_t n);

enum { WS_REPORT_SCHEMA = 1 };       /* version of the JSON form */

/* ---- JSON text: strings are made valid UTF-8 ---- */
struct ws_json {
	struct ws_buf *out;
	unsigned depth;
	bool comma;                          /* the next value needs one before it */
};
void ws_json_open(struct ws_json *j, const char *key, char bracket);   /* key NULL: in an array */
void ws_json_close(struct ws_json *j, char bracket);
void ws_json_string(struct ws_json *j, const char *key, const char *value);  /* NULL value: null */
void ws_json_number(struct ws_json *j, const char *key, uint64_t value);
void ws_json_number_or_null(struct ws_json *j, const char *key, uint64_t value); /* 0: null */
void ws_json_bool(struct ws_json *j, const char *key, bool value);
void ws_json_triple(struct ws_json *j, const char *key, const uint32_t v[3]);

/* ---- source lines ---- */
struct ws_sources;
struct ws_sources *ws_sources_new(const char *dirs);         /* ':' between; NULL = none */
void ws_sources_free(struct ws_sources *s);
/* The line without blanks around it, not NUL-terminated; NULL if there is none. Looks for the file as named, then
 * in `dirs` under shorter and shorter tails of its path. */
const char *ws_sources_line(struct ws_sources *s, const char *path, uint32_t line, size_t *len);

#endif
