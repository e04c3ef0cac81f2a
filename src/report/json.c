/* json.c - the JSON form of a report: written with the small emitter below (strings of others may be any bytes and are
 * made valid UTF-8), read with libjansson. docs/report.schema.json describes it. */
#include "base/demangle.h"
#include "base/version.h"
#include "report/report_priv.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1 };

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

void ws_report_write_json(const struct ws_report *r, struct ws_buf *out)
{
	struct ws_json j = { .out = out };
	struct ws_report_view v;

	ws_report_view_open(r, &v);
	ws_json_open(&j, NULL, '{');
	ws_json_string(&j, "warpsafe", WS_VERSION);
	ws_json_number(&j, "schema", SCHEMA);
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
	ws_json_number(&j, "suppressed", v.suppressed);
	if (v.nrules)
		write_rules(&j, &v);
	if (v.runs)
		ws_json_number(&j, "runs", v.runs);
	ws_json_close(&j, '}');
	ws_buf_puts(out, "\n");
	ws_report_view_close(r, &v);
}

/* ---- reader ---- */
struct reader {
	struct ws_report *report;
	const struct ws_sink *sink;
	bool failed;                         /* one complaint is enough */
};

static void complain(struct reader *rd, uint32_t line, uint32_t col, const char *text)
{
	struct ws_diag d = { .severity = WS_ERROR, .place = { "report", line, col, 0 }, .text = text };

	if (!rd->failed && rd->sink && rd->sink->emit)
		rd->sink->emit(rd->sink->user, &d);
	rd->failed = true;
}

static void complain_key(struct reader *rd, const char *key, const char *wanted)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "'%s' must be %s", key, wanted);
	complain(rd, 0, 0, b.data);
	ws_buf_free(&b);
}

/* The getters take what is missing or null as the empty value; `wanted` says that it must be there. */
static const char *get_string(struct reader *rd, json_t *o, const char *key, bool wanted)
{
	json_t *v = json_object_get(o, key);

	if (json_is_string(v))
		return json_string_value(v);
	if (wanted || (v && !json_is_null(v)))
		complain_key(rd, key, "a string");
	return wanted ? "" : NULL;
}

static uint64_t get_number(struct reader *rd, json_t *o, const char *key, uint64_t max)
{
	json_t *v = json_object_get(o, key);

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) > max) {
		complain_key(rd, key, "a number that is not negative and not too large");
		return 0;
	}
	return (uint64_t)json_integer_value(v);
}

static void get_triple(struct reader *rd, json_t *o, const char *key, uint32_t out[3])
{
	json_t *v = json_object_get(o, key);

	if (!json_is_array(v) || json_array_size(v) != 3) {
		complain_key(rd, key, "an array of three numbers");
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		json_t *n = json_array_get(v, i);

		if (!json_is_integer(n) || json_integer_value(n) < 0 || json_integer_value(n) > UINT32_MAX)
			complain_key(rd, key, "an array of three numbers");
		else
			out[i] = (uint32_t)json_integer_value(n);
	}
}

static unsigned get_word(struct reader *rd, json_t *o, const char *key, const char *const *words, unsigned n)
{
	const char *s = get_string(rd, o, key, true);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	complain_key(rd, key, "one of the words that the schema lists");
	return 0;
}

static json_t *get_object(struct reader *rd, json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	if (!json_is_object(v))
		complain_key(rd, key, "an object");
	return v;
}

static void read_access(struct reader *rd, json_t *o, struct ws_race_access *a)
{
	static const char *const kinds[] = { "read", "write", "atomic" };

	a->access = (enum ws_race_access_kind)get_word(rd, o, "access", kinds, WS_COUNT(kinds));
	a->file = get_string(rd, o, "file", false);
	a->line = (uint32_t)get_number(rd, o, "line", UINT32_MAX);
	a->col = (uint32_t)get_number(rd, o, "column", UINT32_MAX);
	a->function = get_string(rd, o, "function", false);
	a->inlined_file = get_string(rd, o, "inlined_file", false);
	a->inlined_line = (uint32_t)get_number(rd, o, "inlined_line", UINT32_MAX);
	a->ptx_file = get_string(rd, o, "ptx_file", false);
	a->ptx_line = (uint32_t)get_number(rd, o, "ptx_line", UINT32_MAX);
	a->ptx = get_string(rd, o, "ptx", false);
	get_triple(rd, o, "block", a->block);
	get_triple(rd, o, "thread", a->thread);
	a->nearby = json_is_true(json_object_get(o, "nearby"));
	if (json_object_get(o, "operation"))
		a->operation = get_string(rd, o, "operation", false);
}

static void read_race(struct reader *rd, json_t *o)
{
	static const char *const kinds[] = { "RAW", "WAR", "WAW" };
	static const char *const severities[] = { "note", "warning", "error" };
	struct ws_race race = { 0 };
	json_t *location = get_object(rd, o, "location");

	race.severity = (enum ws_severity)get_word(rd, o, "severity", severities, WS_COUNT(severities));
	race.kind = (enum ws_race_kind)get_word(rd, o, "kind", kinds, WS_COUNT(kinds));
	race.space = get_string(rd, o, "space", true);
	race.category = get_string(rd, o, "category", true);
	race.kernel = get_string(rd, o, "kernel", true);
	race.location = get_string(rd, location, "name", false);
	race.offset = get_number(rd, location, "offset", INT64_MAX);
	race.size = get_number(rd, location, "size", INT64_MAX);
	race.missing = get_string(rd, o, "missing", false);
	race.repair = get_string(rd, o, "repair", false);
	race.count = get_number(rd, o, "count", INT64_MAX);
	race.launch = get_number(rd, o, "launch", INT64_MAX);
	race.seed = get_number(rd, o, "seed", INT64_MAX);
	race.runs = (uint32_t)get_number(rd, o, "runs", UINT32_MAX);
	read_access(rd, get_object(rd, o, "first"), &race.first);
	read_access(rd, get_object(rd, o, "second"), &race.second);
	if (!rd->failed)
		ws_report_race(rd->report, &race);
}

static void read_kernel(struct reader *rd, json_t *o)
{
	struct ws_kernel_row k = { 0 };

	k.name = get_string(rd, o, "name", true);
	k.launches = get_number(rd, o, "launches", INT64_MAX);
	k.accesses = get_number(rd, o, "accesses", INT64_MAX);
	k.thread_instructions = get_number(rd, o, "thread_instructions", INT64_MAX);
	k.checked = json_is_true(json_object_get(o, "checked"));
	if (!rd->failed)
		ws_report_kernel(rd->report, &k);
}

static void read_unchecked(struct reader *rd, json_t *o)
{
	const char *kernel = get_string(rd, o, "kernel", true), *why = get_string(rd, o, "why", true);

	if (!rd->failed)
		ws_report_unchecked(rd->report, kernel, why);
}

static void read_text(struct reader *rd, json_t *o, void (*add)(struct ws_report *, const char *))
{
	if (json_is_string(o))
		add(rd->report, json_string_value(o));
	else
		complain(rd, 0, 0, "'limits' and 'errors' must hold strings");
}

static void read_limit(struct reader *rd, json_t *o)
{
	read_text(rd, o, ws_report_limit);
}

static void read_error(struct reader *rd, json_t *o)
{
	read_text(rd, o, ws_report_error);
}

static void read_rule(struct reader *rd, json_t *o)
{
	struct ws_rule_row rule = { .text = get_string(rd, o, "rule", true), .file = get_string(rd, o, "file", true),
	                            .line = (uint32_t)get_number(rd, o, "line", UINT32_MAX),
	                            .races = get_number(rd, o, "races", INT64_MAX) };

	if (!rd->failed)
		ws_report_add_rule(rd->report, &rule);
}

static void read_array(struct reader *rd, json_t *root, const char *key, void (*item)(struct reader *, json_t *))
{
	json_t *array = json_object_get(root, key), *o;
	size_t i;

	if (array && !json_is_array(array))
		complain_key(rd, key, "an array");
	json_array_foreach(array, i, o)
		if (!rd->failed)
			item(rd, o);
}

static void read_root(struct reader *rd, json_t *root)
{
	const char *gpu, *detector;
	uint32_t granularity;

	if (!json_is_object(root) || get_number(rd, root, "schema", INT64_MAX) != SCHEMA) {
		complain(rd, 0, 0, "not a warpsafe report of schema 1");
		return;
	}
	gpu = get_string(rd, root, "gpu", true);
	detector = get_string(rd, root, "detector", true);
	granularity = (uint32_t)get_number(rd, root, "granularity", 64);
	if (rd->failed)
		return;
	ws_report_set(rd->report, gpu, detector, granularity);
	read_array(rd, root, "races", read_race);
	read_array(rd, root, "kernels", read_kernel);
	read_array(rd, root, "unchecked", read_unchecked);
	read_array(rd, root, "limits", read_limit);
	read_array(rd, root, "errors", read_error);
	read_array(rd, root, "suppressions", read_rule);
	ws_report_add_suppressed(rd->report, get_number(rd, root, "suppressed", INT64_MAX));
	ws_report_set_runs(rd->report, (uint32_t)get_number(rd, root, "runs", UINT32_MAX));
}

bool ws_report_read_json(struct ws_report *r, const char *text, size_t len, const struct ws_sink *sink)
{
	struct reader rd = { .report = r, .sink = sink };
	json_error_t error;
	json_t *root = json_loadb(text, len, 0, &error);

	if (root)
		read_root(&rd, root);
	else
		complain(&rd, error.line > 0 ? (uint32_t)error.line : 0, error.column > 0 ? (uint32_t)error.column : 0,
		         error.text);
	json_decref(root);
	return !rd.failed;
}
