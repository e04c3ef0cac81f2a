/* text.c - the report for people: a block a race, then what failed, what was not checked, and one closing line. */
#include "report/report_priv.h"

#include <inttypes.h>
#include <string.h>

/* SGR sequences (ECMA-48, 8.3.117) */
#define BOLD   "\033[1m"
#define RED    "\033[1;31m"
#define YELLOW "\033[1;33m"
#define GREEN  "\033[1;32m"
#define CYAN   "\033[36m"
#define DIM    "\033[2m"
#define RESET  "\033[0m"

struct writer {
	struct ws_buf *out;
	const struct ws_text_options *opt;
	struct ws_sources *sources;
	uint32_t runs;
};

static void color(struct writer *w, const char *sequence)
{
	if (w->opt->color)
		ws_buf_puts(w->out, sequence);
}

static void add_clean(struct writer *w, const char *s)
{
	ws_buf_add_clean(w->out, s, strlen(s));
}

static void label(struct writer *w, const char *word)
{
	ws_buf_puts(w->out, "    ");
	color(w, CYAN);
	ws_buf_printf(w->out, "%-8s", word);
	color(w, RESET);
	ws_buf_puts(w->out, " ");
}

/* The source line, or the instruction where there is no source. */
static void write_source(struct writer *w, const char *file, uint32_t line, const char *ptx)
{
	size_t len = 0;
	const char *text = file ? ws_sources_line(w->sources, file, line, &len) : NULL;

	if (!text && !ptx)
		return;
	color(w, DIM);
	if (text)
		ws_buf_printf(w->out, "      %6" PRIu32 " | ", line);
	else
		ws_buf_printf(w->out, "      %6s | ", "ptx");
	color(w, RESET);
	ws_buf_add_clean(w->out, text ? text : ptx, text ? len : strlen(ptx));
	ws_buf_puts(w->out, "\n");
}

static void write_inlined(struct writer *w, const struct ws_race_access *a)
{
	if (!a->function && !a->inlined_file)
		return;
	ws_buf_puts(w->out, "             ");
	if (a->function) {
		ws_buf_puts(w->out, "in ");
		add_clean(w, a->function);
	}
	if (a->inlined_file) {
		ws_buf_puts(w->out, a->function ? ", inlined at " : "inlined at ");
		add_clean(w, ws_report_short_path(a->inlined_file));
		ws_buf_printf(w->out, ":%" PRIu32, a->inlined_line);
	}
	ws_buf_puts(w->out, "\n");
	if (a->inlined_file)
		write_source(w, a->inlined_file, a->inlined_line, NULL);
}

static void write_access(struct writer *w, const struct ws_race_access *a)
{
	label(w, ws_race_access_name(a->access));
	color(w, BOLD);
	ws_race_add_place(w->out, a);
	color(w, RESET);
	ws_buf_puts(w->out, "   ");
	ws_race_add_thread(w->out, a);
	ws_buf_puts(w->out, "\n");
	write_source(w, a->file, a->line, a->ptx);
	write_inlined(w, a);
	if (a->operation && a->ptx) {
		ws_buf_puts(w->out, "             in ");
		add_clean(w, a->operation);
		ws_buf_puts(w->out, "\n");
	}
}

static void write_words(struct writer *w, const char *word, const char *text)
{
	if (!text)
		return;
	label(w, word);
	add_clean(w, text);
	ws_buf_puts(w->out, "\n");
}

static void write_race(struct writer *w, const struct ws_race *race, size_t number)
{
	struct ws_buf id = { 0 };

	ws_buf_printf(&id, "R%zu", number);
	color(w, BOLD);
	ws_buf_printf(w->out, "%-3s ", id.data);
	color(w, race->severity == WS_ERROR ? RED : YELLOW);
	ws_buf_printf(w->out, "%s: ", ws_race_severity_name(race->severity));
	color(w, RESET);
	color(w, BOLD);
	ws_race_add_title(w->out, race);
	color(w, RESET);
	ws_buf_puts(w->out, "\n");
	ws_buf_free(&id);
	write_words(w, "kernel", race->kernel);
	label(w, "where");
	ws_race_add_bytes(w->out, race);
	ws_buf_puts(w->out, "\n");
	write_access(w, &race->first);
	write_access(w, &race->second);
	write_words(w, "missing", race->missing);
	write_words(w, "repair", race->repair);
	label(w, "seen");
	ws_buf_add_count(w->out, race->count);
	ws_buf_puts(w->out, race->count == 1 ? " time" : " times");
	if (race->launch) {
		ws_buf_puts(w->out, race->count == 1 ? ", in launch " : ", first in launch ");
		ws_buf_add_count(w->out, race->launch);
	}
	if (race->runs)
		ws_buf_printf(w->out, " of the run with --seed=%" PRIu64 "; in %" PRIu32 " of %" PRIu32 " runs", race->seed,
		              race->runs, w->runs);
	else if (race->seed)
		ws_buf_printf(w->out, " (--seed=%" PRIu64 ")", race->seed);
	ws_buf_puts(w->out, "\n\n");
}

/* Text of several lines, each of them indented. */
static void write_lines(struct writer *w, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		ws_buf_puts(w->out, "    ");
		ws_buf_add_clean(w->out, text, n);
		ws_buf_puts(w->out, "\n");
		text += n + (text[n] == '\n');
	}
}

static void write_failures(struct writer *w, const struct ws_report_view *v)
{
	for (size_t i = 0; i < v->nfailures && !w->opt->failures_told; i++) {
		color(w, BOLD);
		ws_buf_printf(w->out, "E%zu  ", i + 1);
		color(w, RED);
		ws_buf_puts(w->out, "error: ");
		color(w, RESET);
		color(w, BOLD);
		ws_buf_puts(w->out, "a kernel failed\n");
		color(w, RESET);
		write_lines(w, v->errors[i]);
		ws_buf_puts(w->out, "\n");
	}
}

static void write_rules(struct writer *w, const struct ws_report_view *v)
{
	for (size_t i = 0; i < v->nrules; i++) {
		ws_report_add_rule_words(w->out, &v->rules[i]);
		ws_buf_puts(w->out, "\n");
	}
}

static void write_limits(struct writer *w, const struct ws_report_view *v)
{
	for (size_t i = 0; i < v->nunchecked; i++) {
		ws_buf_puts(w->out, "not checked: kernel ");
		add_clean(w, v->unchecked[i].kernel);
		ws_buf_puts(w->out, ": ");
		add_clean(w, v->unchecked[i].why);
		ws_buf_puts(w->out, "\n");
	}
	for (size_t i = 0; i < v->nlimits; i++) {
		ws_buf_puts(w->out, "limit: ");
		add_clean(w, v->limits[i]);
		ws_buf_puts(w->out, "\n");
	}
	if (v->granularity > 1)
		ws_buf_printf(w->out, "limit: %" PRIu32 " bytes count as one place (--granularity): a race between "
		              "neighbours in them may be none\n", v->granularity);
}

static void write_summary(struct writer *w, const struct ws_report_view *v)
{
	const char *sequence = v->nerrors || v->nfailures ? RED : v->nwarnings || !v->nkernels ? YELLOW : GREEN;

	color(w, sequence);
	ws_buf_puts(w->out, "warpsafe: ");
	color(w, RESET);
	ws_report_add_summary(w->out, v);
	ws_buf_puts(w->out, "\n");
}

static void add_kernel_row(struct ws_buf *out, uint64_t launches, const char *checked, const char *name, const char *why)
{
	struct ws_buf n = { 0 };

	ws_buf_add_count(&n, launches);
	ws_buf_printf(out, "%14s  %-7s  ", n.data, checked);
	ws_buf_add_clean(out, name, strlen(name));
	if (why) {
		ws_buf_puts(out, ": ");
		ws_buf_add_clean(out, why, strlen(why));
	}
	ws_buf_puts(out, "\n");
	ws_buf_free(&n);
}

/* A kernel's first reason; the same name may stand for kernels of several modules. */
static const char *why_unchecked(const struct ws_report_view *v, const char *kernel)
{
	for (size_t i = 0; i < v->nunchecked; i++)
		if (strcmp(v->unchecked[i].kernel, kernel) == 0)
			return v->unchecked[i].why;
	return NULL;
}

void ws_report_write_kernels(const struct ws_report *r, struct ws_buf *out)
{
	struct ws_report_view v;

	ws_report_view_open(r, &v);
	ws_buf_printf(out, "warpsafe: %zu kernel%s launched\n", v.nkernels, v.nkernels == 1 ? " was" : "s were");
	if (v.nkernels)
		ws_buf_printf(out, "%14s  %-7s  kernel\n", "launches", "checks");
	for (size_t i = 0; i < v.nkernels; i++)
		add_kernel_row(out, v.kernels[i].launches, v.kernels[i].checked ? "can be" : "none", v.kernels[i].name,
		               why_unchecked(&v, v.kernels[i].name));
	for (size_t i = 0; i < v.nlimits; i++) {
		ws_buf_puts(out, "limit: ");
		ws_buf_add_clean(out, v.limits[i], strlen(v.limits[i]));
		ws_buf_puts(out, "\n");
	}
	ws_report_view_close(r, &v);
}

void ws_report_write_text(const struct ws_report *r, const struct ws_text_options *opt, struct ws_buf *out)
{
	struct writer w = { out, opt, ws_sources_new(opt->source_dirs), 0 };
	struct ws_report_view v;
	size_t shown;

	ws_report_view_open(r, &v);
	w.runs = v.runs;
	shown = opt->max_reports && opt->max_reports < v.nraces ? opt->max_reports : v.nraces;
	for (size_t i = 0; i < shown; i++)
		write_race(&w, v.races[i], i + 1);
	if (shown < v.nraces) {
		ws_buf_puts(out, "... and ");
		ws_buf_add_count(out, v.nraces - shown);
		ws_buf_puts(out, " more (--max-reports=0 shows all)\n\n");
	}
	write_failures(&w, &v);
	write_rules(&w, &v);
	write_limits(&w, &v);
	write_summary(&w, &v);
	ws_report_view_close(r, &v);
	ws_sources_free(w.sources);
}

size_t ws_report_write_violations(const struct ws_report *r, struct ws_buf *out)
{
	struct ws_report_view v;
	size_t n;

	ws_report_view_open(r, &v);
	n = v.nviolations;
	for (size_t i = 0; i < n; i++) {
		ws_buf_printf(out, "T%zu  error: %s\n    seen ", i + 1, v.violations[i].text);
		ws_buf_add_count(out, v.violations[i].count);
		ws_buf_puts(out, v.violations[i].count == 1 ? " time\n\n" : " times\n\n");
	}
	ws_report_view_close(r, &v);
	return n;
}
