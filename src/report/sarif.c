/* sarif.c - the report in the Static Analysis Results Interchange Format 2.1.0 (OASIS Standard, 27 March 2020), which
 * code hosts and editors show beside the source. A race is a result at its second access; the first one is related. */
#include "base/version.h"
#include "report/report_priv.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA_URI "https://json.schemastore.org/sarif-2.1.0.json"

/* RFC 3986: a path becomes a reference; an absolute one a file URI. */
static void add_uri(struct ws_buf *out, const char *path)
{
	static const char plain[] = "-._~/+,=@";

	if (*path == '/')
		ws_buf_puts(out, "file://");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr(plain, c))
			ws_buf_add(out, path, 1);
		else
			ws_buf_printf(out, "%%%02X", c);
	}
}

static void write_message(struct ws_json *j, const struct ws_buf *text)
{
	ws_json_open(j, "message", '{');
	ws_json_string(j, "text", text->data);
	ws_json_close(j, '}');
}

/* A call of the host has none without line information. */
static bool has_place(const struct ws_race_access *a)
{
	return a->file || a->ptx_file || !a->operation;
}

static void write_location(struct ws_json *j, const struct ws_race_access *a, const struct ws_buf *message)
{
	const char *file = a->file ? a->file : a->ptx_file ? a->ptx_file : "module.ptx";
	uint32_t line = a->file ? a->line : a->ptx_line;
	struct ws_buf uri = { 0 };

	ws_json_open(j, NULL, '{');
	if (!has_place(a) && message) {
		write_message(j, message);
		ws_json_close(j, '}');
		return;
	}
	add_uri(&uri, ws_report_short_path(file));
	ws_json_open(j, "physicalLocation", '{');
	ws_json_open(j, "artifactLocation", '{');
	ws_json_string(j, "uri", uri.data);
	ws_json_close(j, '}');
	if (line) {
		ws_json_open(j, "region", '{');
		ws_json_number(j, "startLine", line);
		if (a->file && a->col)
			ws_json_number(j, "startColumn", a->col);
		ws_json_close(j, '}');
	}
	ws_json_close(j, '}');
	if (message)
		write_message(j, message);
	ws_json_close(j, '}');
	ws_buf_free(&uri);
}

static void write_result_message(struct ws_json *j, const struct ws_race *race)
{
	struct ws_buf b = { 0 };

	ws_race_add_title(&b, race);
	ws_buf_printf(&b, ". In kernel %s, ", race->kernel);
	ws_race_add_bytes(&b, race);
	ws_buf_printf(&b, ": %s by ", ws_race_access_name(race->first.access));
	ws_race_add_thread(&b, &race->first);
	ws_buf_puts(&b, " at ");
	ws_race_add_place(&b, &race->first);
	ws_buf_printf(&b, ", then %s by ", ws_race_access_name(race->second.access));
	ws_race_add_thread(&b, &race->second);
	ws_buf_puts(&b, " here.");
	if (race->missing)
		ws_buf_printf(&b, " Missing: %s.", race->missing);
	if (race->repair)
		ws_buf_printf(&b, " Repair: %s.", race->repair);
	write_message(j, &b);
	ws_buf_free(&b);
}

static void write_race(struct ws_json *j, const struct ws_race *race)
{
	struct ws_buf b = { 0 };

	ws_json_open(j, NULL, '{');
	ws_json_string(j, "ruleId", race->category);
	ws_json_string(j, "level", ws_race_severity_name(race->severity));
	write_result_message(j, race);
	ws_json_open(j, "locations", '[');
	write_location(j, has_place(&race->second) ? &race->second : &race->first, NULL);
	ws_json_close(j, ']');
	ws_json_open(j, "relatedLocations", '[');
	ws_buf_printf(&b, "the first access, a %s by ", ws_race_access_name(race->first.access));
	ws_race_add_thread(&b, &race->first);
	write_location(j, &race->first, &b);
	ws_json_close(j, ']');
	ws_json_number(j, "occurrenceCount", race->count ? race->count : 1);
	ws_json_close(j, '}');
	ws_buf_free(&b);
}

static void write_failure(struct ws_json *j, const char *text)
{
	struct ws_buf b = { 0 };

	ws_buf_puts(&b, text);
	ws_json_open(j, NULL, '{');
	ws_json_string(j, "ruleId", "kernel-failure");
	ws_json_string(j, "level", "error");
	write_message(j, &b);
	ws_json_close(j, '}');
	ws_buf_free(&b);
}

static void write_rule(struct ws_json *j, const char *id, const char *text)
{
	ws_json_open(j, NULL, '{');
	ws_json_string(j, "id", id);
	ws_json_open(j, "shortDescription", '{');
	ws_json_string(j, "text", text);
	ws_json_close(j, '}');
	ws_json_close(j, '}');
}

/* One rule for each category that occurs. */
static void write_rules(struct ws_json *j, const struct ws_report_view *v)
{
	for (size_t i = 0; i < v->nraces; i++) {
		const char *category = v->races[i]->category;
		struct ws_buf b = { 0 };
		size_t k = 0;

		while (strcmp(v->races[k]->category, category) != 0)
			k++;
		if (k < i)
			continue;
		ws_buf_printf(&b, "data race: %s", category);
		write_rule(j, category, b.data);
		ws_buf_free(&b);
	}
	if (v->nfailures)
		write_rule(j, "kernel-failure", "a kernel ended with an error");
}

/* Takes the text out of b. */
static void write_note(struct ws_json *j, struct ws_buf *b)
{
	ws_json_open(j, NULL, '{');
	ws_json_string(j, "level", "note");
	write_message(j, b);
	ws_json_close(j, '}');
	ws_buf_free(b);
}

static void write_invocation(struct ws_json *j, const struct ws_report_view *v)
{
	struct ws_buf b = { 0 };

	ws_json_open(j, "invocations", '[');
	ws_json_open(j, NULL, '{');
	ws_json_bool(j, "executionSuccessful", v->nfailures == 0);
	ws_json_open(j, "toolExecutionNotifications", '[');
	for (size_t i = 0; i < v->nunchecked; i++) {
		ws_buf_printf(&b, "kernel %s was not checked: %s", v->unchecked[i].kernel, v->unchecked[i].why);
		write_note(j, &b);
	}
	for (size_t i = 0; i < v->nlimits; i++) {
		ws_buf_puts(&b, v->limits[i]);
		write_note(j, &b);
	}
	for (size_t i = 0; i < v->nrules; i++) {
		ws_report_add_rule_words(&b, &v->rules[i]);
		write_note(j, &b);
	}
	ws_json_close(j, ']');
	ws_json_close(j, '}');
	ws_json_close(j, ']');
}

void ws_report_write_sarif(const struct ws_report *r, struct ws_buf *out)
{
	struct ws_json j = { .out = out };
	struct ws_report_view v;

	ws_report_view_open(r, &v);
	ws_json_open(&j, NULL, '{');
	ws_json_string(&j, "$schema", SCHEMA_URI);
	ws_json_string(&j, "version", "2.1.0");
	ws_json_open(&j, "runs", '[');
	ws_json_open(&j, NULL, '{');
	ws_json_open(&j, "tool", '{');
	ws_json_open(&j, "driver", '{');
	ws_json_string(&j, "name", "warpsafe");
	ws_json_string(&j, "version", WS_VERSION);
	ws_json_open(&j, "rules", '[');
	write_rules(&j, &v);
	ws_json_close(&j, ']');
	ws_json_close(&j, '}');
	ws_json_close(&j, '}');
	write_invocation(&j, &v);
	ws_json_open(&j, "results", '[');
	for (size_t i = 0; i < v.nraces; i++)
		write_race(&j, v.races[i]);
	for (size_t i = 0; i < v.nfailures; i++)
		write_failure(&j, v.errors[i]);
	ws_json_close(&j, ']');
	ws_json_close(&j, '}');
	ws_json_close(&j, ']');
	ws_json_close(&j, '}');
	ws_buf_puts(out, "\n");
	ws_report_view_close(r, &v);
}
