/* html.c - the report as one HTML page that needs nothing else: no script, no other file. */
#include "base/version.h"
#include "report/report_priv.h"

#include <inttypes.h>
#include <string.h>

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<title>warpsafe report</title>\n<style>\n"
	"body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;"
	"background:#fff}\n"
	"h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}\n"
	"section{border:1px solid #d0d7de;border-left:5px solid #c62828;border-radius:6px;padding:.2rem 1rem 1rem;"
	"margin:1rem 0}\n"
	"section.warning{border-left-color:#b7791f}\n"
	"section h3{font-size:1rem;margin:.6rem 0}\n"
	".error h3 b{color:#c62828}.warning h3 b{color:#8a5a00}\n"
	"dl{display:grid;grid-template-columns:6rem 1fr;gap:.15rem .8rem;margin:0}dt{color:#57606a}dd{margin:0}\n"
	"pre,code{font:13px/1.45 ui-monospace,monospace}pre{background:#f6f8fa;padding:.4rem .6rem;margin:.2rem 0;"
	"overflow-x:auto;border-radius:4px}\n"
	"table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .6rem;"
	"border-bottom:1px solid #d0d7de}td.n,th.n{text-align:right}\n"
	"</style>\n</head>\n<body>\n<h1>warpsafe report</h1>\n";

static void add_html(struct ws_buf *out, const char *s, size_t n)
{
	struct ws_buf clean = { 0 };

	ws_buf_add_clean(&clean, s, n);
	for (size_t i = 0; i < clean.len; i++) {
		switch (clean.data[i]) {
		case '&':
			ws_buf_puts(out, "&amp;");
			break;
		case '<':
			ws_buf_puts(out, "&lt;");
			break;
		case '>':
			ws_buf_puts(out, "&gt;");
			break;
		case '"':
			ws_buf_puts(out, "&quot;");
			break;
		default:
			ws_buf_add(out, clean.data + i, 1);
		}
	}
	ws_buf_free(&clean);
}

/* Adds what is in b as text, and empties it. */
static void flush(struct ws_buf *out, struct ws_buf *b)
{
	if (b->len)
		add_html(out, b->data, b->len);
	b->len = 0;
}

static void write_source(struct ws_buf *out, struct ws_sources *sources, const char *file, uint32_t line,
                         const char *ptx)
{
	size_t len = 0;
	const char *text = file ? ws_sources_line(sources, file, line, &len) : NULL;

	if (!text && !ptx)
		return;
	ws_buf_puts(out, "<pre>");
	if (text)
		ws_buf_printf(out, "%" PRIu32 " | ", line);
	else
		ws_buf_puts(out, "ptx | ");
	add_html(out, text ? text : ptx, text ? len : strlen(ptx));
	ws_buf_puts(out, "</pre>");
}

static void write_access(struct ws_buf *out, struct ws_sources *sources, const struct ws_race_access *a)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(out, "<dt>%s</dt><dd><code>", ws_race_access_name(a->access));
	ws_race_add_place(&b, a);
	flush(out, &b);
	ws_buf_puts(out, "</code> &nbsp; ");
	ws_race_add_thread(&b, a);
	flush(out, &b);
	write_source(out, sources, a->file, a->line, a->ptx);
	if (a->function) {
		ws_buf_puts(out, "in <code>");
		add_html(out, a->function, strlen(a->function));
		ws_buf_puts(out, "</code> ");
	}
	if (a->inlined_file) {
		ws_buf_printf(&b, "%s:%" PRIu32, ws_report_short_path(a->inlined_file), a->inlined_line);
		ws_buf_puts(out, "inlined at <code>");
		flush(out, &b);
		ws_buf_puts(out, "</code>");
		write_source(out, sources, a->inlined_file, a->inlined_line, NULL);
	}
	if (a->operation && a->ptx) {
		ws_buf_puts(out, "in ");
		add_html(out, a->operation, strlen(a->operation));
	}
	ws_buf_puts(out, "</dd>\n");
	ws_buf_free(&b);
}

static void write_words(struct ws_buf *out, const char *word, const char *text)
{
	if (!text)
		return;
	ws_buf_printf(out, "<dt>%s</dt><dd>", word);
	add_html(out, text, strlen(text));
	ws_buf_puts(out, "</dd>\n");
}

static void write_race(struct ws_buf *out, struct ws_sources *sources, const struct ws_race *race, size_t number,
                       uint32_t runs)
{
	const char *severity = ws_race_severity_name(race->severity);
	struct ws_buf b = { 0 };

	ws_buf_printf(out, "<section class=\"%s\" id=\"R%zu\">\n<h3>R%zu <b>%s</b>: ", severity, number, number, severity);
	ws_race_add_title(&b, race);
	flush(out, &b);
	ws_buf_puts(out, "</h3>\n<dl>\n");
	write_words(out, "kernel", race->kernel);
	ws_race_add_bytes(&b, race);
	write_words(out, "where", b.data);
	write_access(out, sources, &race->first);
	write_access(out, sources, &race->second);
	write_words(out, "missing", race->missing);
	write_words(out, "repair", race->repair);
	b.len = 0;
	ws_buf_add_count(&b, race->count);
	ws_buf_printf(&b, " time%s; launch %" PRIu64 ", seed %" PRIu64, race->count == 1 ? "" : "s", race->launch,
	              race->seed);
	if (race->runs)
		ws_buf_printf(&b, "; in %" PRIu32 " of %" PRIu32 " runs", race->runs, runs);
	write_words(out, "seen", b.data);
	ws_buf_puts(out, "</dl>\n</section>\n");
	ws_buf_free(&b);
}

static void write_kernels(struct ws_buf *out, const struct ws_report_view *v)
{
	if (!v->nkernels)
		return;
	ws_buf_puts(out, "<h2>Kernels</h2>\n<table>\n<tr><th>kernel</th><th class=\"n\">launches</th>"
	            "<th class=\"n\">accesses checked</th><th>checked</th></tr>\n");
	for (size_t i = 0; i < v->nkernels; i++) {
		const struct ws_kernel_row *k = &v->kernels[i];

		ws_buf_puts(out, "<tr><td><code>");
		add_html(out, k->name, strlen(k->name));
		ws_buf_puts(out, "</code></td><td class=\"n\">");
		ws_buf_add_count(out, k->launches);
		ws_buf_puts(out, "</td><td class=\"n\">");
		ws_buf_add_count(out, k->accesses);
		ws_buf_printf(out, "</td><td>%s</td></tr>\n", k->checked ? "yes" : "no");
	}
	ws_buf_puts(out, "</table>\n");
}

static void write_failures(struct ws_buf *out, const struct ws_report_view *v)
{
	for (size_t i = 0; i < v->nfailures; i++) {
		const char *s = v->errors[i];

		ws_buf_puts(out, "<section class=\"error\"><h3><b>error</b>: a kernel failed</h3><pre>");
		while (*s) {
			size_t n = strcspn(s, "\n");

			add_html(out, s, n);
			ws_buf_puts(out, "\n");
			s += n + (s[n] == '\n');
		}
		ws_buf_puts(out, "</pre></section>\n");
	}
}

static void write_limits(struct ws_buf *out, const struct ws_report_view *v)
{
	struct ws_buf b = { 0 };

	if (!v->nunchecked && !v->nlimits && v->granularity <= 1)
		return;
	ws_buf_puts(out, "<h2>Not checked</h2>\n<ul>\n");
	for (size_t i = 0; i < v->nunchecked; i++) {
		ws_buf_printf(&b, "kernel %s: %s", v->unchecked[i].kernel, v->unchecked[i].why);
		ws_buf_puts(out, "<li>");
		flush(out, &b);
		ws_buf_puts(out, "</li>\n");
	}
	for (size_t i = 0; i < v->nlimits; i++) {
		ws_buf_puts(out, "<li>");
		add_html(out, v->limits[i], strlen(v->limits[i]));
		ws_buf_puts(out, "</li>\n");
	}
	if (v->granularity > 1)
		ws_buf_printf(out, "<li>%" PRIu32 " bytes count as one place: a race between neighbours in them may be "
		              "none</li>\n", v->granularity);
	ws_buf_puts(out, "</ul>\n");
	ws_buf_free(&b);
}

static void write_rules(struct ws_buf *out, const struct ws_report_view *v)
{
	struct ws_buf b = { 0 };

	if (!v->nrules)
		return;
	ws_buf_puts(out, "<h2>Suppressions</h2>\n<ul>\n");
	for (size_t i = 0; i < v->nrules; i++) {
		ws_report_add_rule_words(&b, &v->rules[i]);
		ws_buf_puts(out, "<li>");
		flush(out, &b);
		ws_buf_puts(out, "</li>\n");
	}
	ws_buf_puts(out, "</ul>\n");
	ws_buf_free(&b);
}

void ws_report_write_html(const struct ws_report *r, struct ws_buf *out)
{
	struct ws_sources *sources = ws_sources_new(NULL);
	struct ws_report_view v;

	ws_report_view_open(r, &v);
	ws_buf_puts(out, head);
	ws_buf_puts(out, "<p>");
	ws_report_add_summary(out, &v);
	ws_buf_puts(out, ".</p>\n");
	for (size_t i = 0; i < v.nraces; i++)
		write_race(out, sources, v.races[i], i + 1, v.runs);
	write_failures(out, &v);
	write_kernels(out, &v);
	write_limits(out, &v);
	write_rules(out, &v);
	ws_buf_puts(out, "<p><small>warpsafe " WS_VERSION ", detector ");
	add_html(out, v.detector, strlen(v.detector));
	ws_buf_puts(out, ", GPU ");
	add_html(out, v.gpu, strlen(v.gpu));
	ws_buf_puts(out, "</small></p>\n</body>\n</html>\n");
	ws_report_view_close(r, &v);
	ws_sources_free(sources);
}
