/* json.c - writes the JSON form of a report, with the small emitter below: strings of others may be any bytes and are made
 * valid UTF-8. docs/report.schema.json describes it; json_read.c reads it. */
#include "base/demangle.h"
#include "base/version.h"
#include "report/report_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- emitter ---- */
static void next_value(struct ws_json *j, const char *key)
{
	if (j->comma)
		ws_buf_puts(j->out, ",");
	if (j->depth)
		ws_buf_printf(j->out, "\n%*s", (int)j->depth * 2, "");
	if (key)
		ws_buf_printf(j->out, "\"%s\": ", key);
	j->comma = true;
}

void ws_json_open(struct ws_json *j, const char *key, char bracket)
{
	next_value(j, key);
	ws_buf_add(j->out, &bracket, 1);
	j->depth++;
	j->comma = false;
}

void ws_json_close(struct ws_json *j, char bracket)
{
	j->depth--;
	if (j->comma)
		ws_buf_printf(j->out, "\n%*s", (int)j->depth * 2, "");
	ws_buf_add(j->out, &bracket, 1);
	j->comma = true;
}

/* Length of the valid UTF-8 sequence at s (Unicode 15, table 3-7), 0 if there is none. */
static size_t utf8_length(const unsigned char *s)
{
	unsigned low = 0x80, high = 0xbf;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (n < 2)
		return n;
	if (s[0] == 0xe0)
		low = 0xa0;
	if (s[0] == 0xed)
		high = 0x9f;
	if (s[0] == 0xf0)
		low = 0x90;
	if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return n;
}

static void add_character(struct ws_buf *out, const unsigned char **s)
{
	size_t n = utf8_length(*s);

	if (!n)
		ws_buf_puts(out, "\xef\xbf\xbd");        /* U+FFFD, the replacement character */
	else if (**s == '"' || **s == '\\')
		ws_buf_printf(out, "\\%c", **s);
	else if (**s == '\n')
		ws_buf_puts(out, "\\n");
	else if (**s < 0x20 || **s == 0x7f)
		ws_buf_printf(out, "\\u%04x", **s);
	else
		ws_buf_add(out, *s, n);
	*s += n ? n : 1;
}

void ws_json_string(struct ws_json *j, const char *key, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	next_value(j, key);
	if (!s) {
		ws_buf_puts(j->out, "null");
		return;
	}
	ws_buf_puts(j->out, "\"");
	while (*s)
		add_character(j->out, &s);
	ws_buf_puts(j->out, "\"");
}

/* Readers keep integers in 64 bits with a sign. */
void ws_json_number(struct ws_json *j, const char *key, uint64_t value)
{
	next_value(j, key);
	ws_buf_printf(j->out, "%" PRIu64, value > INT64_MAX ? (uint64_t)INT64_MAX : value);
}

void ws_json_number_or_null(struct ws_json *j, const char *key, uint64_t value)
{
	if (value)
		ws_json_number(j, key, value);
	else
		ws_json_string(j, key, NULL);
}

void ws_json_bool(struct ws_json *j, const char *key, bool value)
{
	next_value(j, key);
	ws_buf_puts(j->out, value ? "true" : "false");
}

void ws_json_triple(struct ws_json *j, const char *key, const uint32_t v[3])
{
	next_value(j, key);
	ws_buf_printf(j->out, "[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", v[0], v[1], v[2]);
}

/* ---- writer ---- */
static void write_access(struct ws_json *j, const char *key, const struct ws_race_access *a)
{
	char *function = a->function ? ws_demangle(a->function) : NULL;

	ws_json_open(j, key, '{');
	ws_json_string(j, "access", ws_race_access_name(a->access));
	ws_json_string(j, "file", a->file);
	ws_json_number_or_null(j, "line", a->line);
	ws_json_number_or_null(j, "column", a->col);
	ws_json_string(j, "function", function);
	ws_json_string(j, "inlined_file", a->inlined_file);
	ws_json_number_or_null(j, "inlined_line", a->inlined_line);
	ws_json_string(j, "ptx_file", a->ptx_file);
	ws_json_number_or_null(j, "ptx_line", a->ptx_line);
	ws_json_string(j, "ptx", a->ptx);
	ws_json_triple(j, "block", a->block);
	ws_json_triple(j, "thread", a->thread);
	if (a->nearby)
		ws_json_bool(j, "nearby", true);
	if (a->operation)
		ws_json_string(j, "operation", a->operation);
	ws_json_close(j, '}');
	free(function);
}

static void write_race(struct ws_json *j, const struct ws_race *race, size_t number)
{
	char id[32], *location = race->location ? ws_race_location(race) : NULL;

	snprintf(id, sizeof id, "R%zu", number);
	ws_json_open(j, NULL, '{');
	ws_json_string(j, "id", id);
	ws_json_string(j, "severity", ws_race_severity_name(race->severity));
	ws_json_string(j, "kind", ws_race_kind_name(race->kind));
	ws_json_string(j, "space", race->space);
	ws_json_string(j, "category", race->category);
	ws_json_string(j, "kernel", race->kernel);
	ws_json_number(j, "count", race->count);
	ws_json_number(j, "launch", race->launch);
	ws_json_number(j, "seed", race->seed);
	if (race->runs)
		ws_json_number(j, "runs", race->runs);
	ws_json_open(j, "location", '{');
	ws_json_string(j, "name", location);
	ws_json_number(j, "offset", race->offset);
	ws_json_number(j, "size", race->size);
	ws_json_close(j, '}');
	write_access(j, "first", &race->first);
	write_access(j, "second", &race->second);
	ws_json_string(j, "missing", race->missing);
	ws_json_string(j, "repair", race->repair);
	ws_json_close(j, '}');
	free(location);
}

static void write_kernel(struct ws_json *j, const struct ws_kernel_row *k)
{
	ws_json_open(j, NULL, '{');
	ws_json_string(j, "name", k->name);
	ws_json_number(j, "launches", k->launches);
	ws_json_number(j, "accesses", k->accesses);
	ws_json_number(j, "thread_instructions", k->thread_instructions);
	ws_json_bool(j, "checked", k->checked);
	ws_json_close(j, '}');
}

static void write_strings(struct ws_json *j, const char *key, const char *const *texts, size_t n)
{
	ws_json_open(j, key, '[');
	for (size_t i = 0; i < n; i++)
		ws_json_string(j, NULL, texts[i]);
	ws_json_close(j, ']');
}

static void write_rules(struct ws_json *j, const struct ws_report_view *v)
{
	ws_json_open(j, "suppressions", '[');
	for (size_t i = 0; i < v->nrules; i++) {
		ws_json_open(j, NULL, '{');
		ws_json_string(j, "rule", v->rules[i].text);
		ws_json_string(j, "file", v->rules[i].file);
		ws_json_number(j, "line", v->rules[i].line);
		ws_json_number(j, "races", v->rules[i].races);
		ws_json_close(j, '}');
	}
	ws_json_close(j, ']');
}

static void write_violations(struct ws_json *j, const struct ws_report_view *v)
{
	ws_json_open(j, "violations", '[');
	for (size_t i = 0; i < v->nviolations; i++) {
		ws_json_open(j, NULL, '{');
		ws_json_string(j, "what", v->violations[i].what);
		ws_json_string(j, "text", v->violations[i].text);
		ws_json_number(j, "count", v->violations[i].count);
		ws_json_close(j, '}');
	}
	ws_json_close(j, ']');
}

void ws_report_write_json(const struct ws_report *r, struct ws_buf *out)
{
	struct ws_json j = { .out = out };
	struct ws_report_view v;

	ws_report_view_open(r, &v);
	ws_json_open(&j, NULL, '{');
	ws_json_string(&j, "warpsafe", WS_VERSION);
	ws_json_number(&j, "schema", WS_REPORT_SCHEMA);
	ws_json_string(&j, "gpu", v.gpu);
	ws_json_string(&j, "detector", v.detector);
	ws_json_number(&j, "granularity", v.granularity);
	ws_json_open(&j, "races", '[');
	for (size_t i = 0; i < v.nraces; i++)
		write_race(&j, v.races[i], i + 1);
	ws_json_close(&j, ']');
	ws_json_open(&j, "kernels", '[');
	for (size_t i = 0; i < v.nkernels; i++)
		write_kernel(&j, &v.kernels[i]);
	ws_json_close(&j, ']');
	ws_json_open(&j, "unchecked", '[');
	for (size_t i = 0; i < v.nunchecked; i++) {
		ws_json_open(&j, NULL, '{');
		ws_json_string(&j, "kernel", v.unchecked[i].kernel);
		ws_json_string(&j, "why", v.unchecked[i].why);
		ws_json_close(&j, '}');
	}
	ws_json_close(&j, ']');
	write_strings(&j, "limits", v.limits, v.nlimits);
	write_strings(&j, "errors", v.errors, v.nfailures);
	if (v.nviolations)
		write_violations(&j, &v);
	ws_json_number(&j, "suppressed", v.suppressed);
	if (v.nrules)
		write_rules(&j, &v);
	if (v.runs)
		ws_json_number(&j, "runs", v.runs);
	ws_json_close(&j, '}');
	ws_buf_puts(out, "\n");
	ws_report_view_close(r, &v);
}
