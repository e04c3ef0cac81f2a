/* json_read.c - reads the JSON form of a report, with libjansson. Apart from the writing, which alone is wanted in the
 * processes of a program under test. */
#include "report/report_priv.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

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

static void read_violation(struct reader *rd, json_t *o)
{
	struct ws_violation_row v = { get_string(rd, o, "what", true), get_string(rd, o, "text", true),
	                              get_number(rd, o, "count", INT64_MAX) };

	if (!rd->failed)
		ws_report_violation(rd->report, &v);
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

	if (!json_is_object(root) || get_number(rd, root, "schema", INT64_MAX) != WS_REPORT_SCHEMA) {
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
	read_array(rd, root, "violations", read_violation);
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
