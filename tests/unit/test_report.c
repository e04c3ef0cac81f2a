/* Reports: what is the same race, JSON there and back, bytes that are no report, and the four forms as goldens in
 * tests/golden/report (run with WS_UPDATE=1 to write them anew). Runs in the folder of the project. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/version.h"
#include "report/report.h"

#define GOLDEN "tests/golden/report/"

static struct ws_race example(void)
{
	return (struct ws_race){
		.severity = WS_ERROR, .kind = WS_WAR, .space = "shared", .category = "missing-barrier",
		.kernel = "reduce(float*, int)", .location = "tile", .offset = 48, .size = 4,
		.first = { .access = WS_RA_READ, .file = GOLDEN "reduce.cu", .line = 13, .col = 15, .ptx_file = "reduce.ptx",
		           .ptx_line = 40, .ptx = "ld.shared.f32 \t%f1, [%r2];", .block = { 3, 0, 0 }, .thread = { 5, 0, 0 } },
		.second = { .access = WS_RA_WRITE, .file = GOLDEN "reduce.cu", .line = 13, .col = 12, .ptx_file = "reduce.ptx",
		            .ptx_line = 44, .ptx = "st.shared.f32 [%r3], %f2;", .block = { 3, 0, 0 }, .thread = { 12, 0, 0 } },
		.missing = "no __syncthreads() between the two", .repair = "add __syncthreads() at the end of the loop",
		.count = 1, .launch = 1,
	};
}

/* A report with all that a report can say. */
static struct ws_report *full_report(void)
{
	struct ws_report *r = ws_report_new();
	struct ws_race a = example(), b = example(), c = example();

	ws_report_set(r, "sim", "shadow", 4);
	b.severity = WS_WARNING;
	b.kind = WS_WAW;
	b.space = "global";
	b.category = "same-value";
	b.location = "allocation #3 (cudaMalloc at app.cu:12)";
	b.offset = 0;
	b.size = 1;
	b.first = b.second;
	b.first.file = b.second.file = NULL;
	b.missing = b.repair = NULL;
	b.seed = 7;
	b.count = 1;
	ws_report_race(r, &b);
	a.count = 1024;
	ws_report_race(r, &a);
	c.kind = WS_RAW;
	c.kernel = "pick<int>\033[31m & <more>";
	c.first.access = WS_RA_ATOMIC;
	c.second.access = WS_RA_READ;
	c.second.line = 3;
	c.second.function = "pick";
	c.second.inlined_file = GOLDEN "reduce.cu";
	c.second.inlined_line = 14;
	c.first.file = "/no/such/file.cu";
	c.count = 1234567;
	ws_report_race(r, &c);
	ws_report_kernel(r, &(struct ws_kernel_row){ "reduce(float*, int)", 2, 12345678, 99, true });
	ws_report_kernel(r, &(struct ws_kernel_row){ "other", 1, 5, 10, true });
	ws_report_unchecked(r, "fast", "no PTX in the program");
	ws_report_unchecked(r, "fast", "no PTX in the program");
	ws_report_limit(r, "asynchronous copies are taken as plain ones");
	ws_report_error(r, "out-of-bounds read of 4 bytes\n  at app.cu:7");
	ws_report_violation(r, &(struct ws_violation_row){ "cycle a.cu:3", "no order\n    T1 thread 5", 2 });
	ws_report_violation(r, &(struct ws_violation_row){ "cycle a.cu:3", "no order\n    T1 thread 6", 40 });
	return r;
}

static void same_places_are_counted_once(void **state)
{
	struct ws_report *r = ws_report_new();
	struct ws_race a = example();

	assert_true(ws_report_race(r, &a));
	a.count = 5;
	a.second.ptx_line = 90;                  /* another copy of an unrolled loop */
	a.first.thread[0] = 9;
	a.offset = 4;
	assert_false(ws_report_race(r, &a));
	assert_int_equal(ws_report_count(r, WS_ERROR), 1);
	a.second.line = 14;
	assert_true(ws_report_race(r, &a));
	a.kind = WS_RAW;
	assert_true(ws_report_race(r, &a));
	a.kernel = "other";
	assert_true(ws_report_race(r, &a));
	a.location = "tile2";
	assert_true(ws_report_race(r, &a));
	a.space = "global";
	assert_true(ws_report_race(r, &a));
	a.location = "allocation #4";
	assert_false(ws_report_race(r, &a));
	a.first.file = NULL;
	assert_true(ws_report_race(r, &a));
	a.first.ptx_line++;
	assert_true(ws_report_race(r, &a));
	assert_int_equal(ws_report_count(r, WS_ERROR), 8);
	ws_report_free(r);
}

static void order_of_two_writes_does_not_matter(void **state)
{
	struct ws_report *r = ws_report_new();
	struct ws_race a = example(), b;

	a.kind = WS_WAW;
	a.first.access = WS_RA_WRITE;
	b = a;
	b.first = a.second;
	b.second = a.first;
	assert_true(ws_report_race(r, &a));
	assert_false(ws_report_race(r, &b));
	a.kind = b.kind = WS_RAW;
	assert_true(ws_report_race(r, &a));
	assert_true(ws_report_race(r, &b));
	ws_report_free(r);
}

static void warning_becomes_error(void **state)
{
	struct ws_report *r = ws_report_new();
	struct ws_race a = example();

	a.severity = WS_WARNING;
	assert_true(ws_report_race(r, &a));
	assert_int_equal(ws_report_count(r, WS_WARNING), 1);
	a.severity = WS_ERROR;
	assert_false(ws_report_race(r, &a));
	assert_int_equal(ws_report_count(r, WS_WARNING), 0);
	assert_int_equal(ws_report_count(r, WS_ERROR), 1);
	ws_report_free(r);
}

static void many_races_are_all_kept(void **state)
{
	struct ws_report *r = ws_report_new();
	struct ws_race a = example();

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 3000; i++) {
			a.first.line = i + 1;
			assert_int_equal(ws_report_race(r, &a), round == 0);
		}
	assert_int_equal(ws_report_count(r, WS_ERROR), 3000);
	ws_report_free(r);
}

static void json_comes_back_the_same(void **state)
{
	struct ws_report *r = full_report(), *back = ws_report_new();
	struct ws_buf a = { 0 }, b = { 0 };

	ws_report_write_json(r, &a);
	assert_true(ws_report_read_json(back, a.data, a.len, NULL));
	ws_report_write_json(back, &b);
	assert_string_equal(a.data, b.data);
	assert_true(ws_report_read_json(back, a.data, a.len, NULL));     /* merging: counts add up */
	assert_int_equal(ws_report_count(back, WS_ERROR), 2);
	b.len = 0;
	ws_report_write_json(back, &b);
	assert_non_null(strstr(b.data, "\"count\": 2048"));
	assert_true(ws_report_failed(back));
	b.len = 0;
	assert_int_equal(ws_report_write_violations(back, &b), 1);
	assert_string_equal(b.data, "T1  error: no order\n    T1 thread 5\n    seen 84 times\n\n");
	ws_buf_free(&a);
	ws_buf_free(&b);
	ws_report_free(r);
	ws_report_free(back);
}

static void odd_bytes_become_valid_json(void **state)
{
	struct ws_report *r = ws_report_new();
	struct ws_buf b = { 0 };
	json_t *root;

	ws_report_limit(r, "quote \" back \\ tab \t bell \a bad \xff\xc3( cut \xe2\x82");
	ws_report_limit(r, "good \xe2\x82\xac \xf0\x9f\x98\x80 surrogate \xed\xa0\x80");
	ws_report_write_json(r, &b);
	root = json_loadb(b.data, b.len, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_array_get(json_object_get(root, "limits"), 1)),
	                    "good \xe2\x82\xac \xf0\x9f\x98\x80 surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	json_decref(root);
	ws_buf_free(&b);
	ws_report_free(r);
}

/* Every prefix of a report, and reports with one byte changed, are read or refused, and never crash. */
static void broken_json_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "{", "[]", "{}", "{\"schema\": 2}", "{\"schema\": \"1\"}", "{\"schema\": 1, \"gpu\": 1}",
		"{\"schema\": 1, \"gpu\": \"sim\", \"detector\": \"d\", \"races\": 5}",
		"{\"schema\": 1, \"gpu\": \"sim\", \"detector\": \"d\", \"races\": [5]}",
		"{\"schema\": 1, \"gpu\": \"sim\", \"detector\": \"d\", \"limits\": [5]}",
		"{\"schema\": 1, \"gpu\": \"sim\", \"detector\": \"d\", \"kernels\": [{\"name\": \"k\", \"launches\": -1}]}",
	};
	struct ws_report *r = full_report();
	struct ws_buf b = { 0 }, text = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &text };

	for (size_t i = 0; i < WS_COUNT(bad); i++) {
		struct ws_report *back = ws_report_new();

		text.len = 0;
		assert_false(ws_report_read_json(back, bad[i], strlen(bad[i]), &sink));
		assert_true(text.len > 0);
		ws_report_free(back);
	}
	ws_report_write_json(r, &b);
	for (size_t i = 0; i < b.len; i++) {
		struct ws_report *back = ws_report_new();
		char saved = b.data[i];

		if (i + 2 < b.len)
			assert_false(ws_report_read_json(back, b.data, i, NULL));
		b.data[i] = "\"x0-[{]},\xff"[i % 10];
		ws_report_read_json(back, b.data, b.len, NULL);
		b.data[i] = saved;
		ws_report_free(back);
	}
	ws_buf_free(&b);
	ws_buf_free(&text);
	ws_report_free(r);
}

static void saving_replaces_the_file(void **state)
{
	char path[] = "/tmp/ws-report-XXXXXX";
	struct ws_report *r = full_report(), *back = ws_report_new();
	int fd = mkstemp(path);
	size_t len;
	char *text;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "old", 3), 3);
	close(fd);
	assert_true(ws_report_save(r, path));
	text = ws_read_file(path, &len);
	assert_non_null(text);
	assert_true(ws_report_read_json(back, text, len, NULL));
	assert_int_equal(ws_report_count(back, WS_ERROR), 2);
	unlink(path);
	assert_false(ws_report_save(r, "/nonexistent/report.json"));
	free(text);
	ws_report_free(r);
	ws_report_free(back);
}

/* ---- the schema: as much of JSON Schema 2020-12 as docs/report.schema.json uses ---- */
static bool type_fits(json_t *value, const char *type)
{
	if (strcmp(type, "null") == 0)
		return json_is_null(value);
	if (strcmp(type, "string") == 0)
		return json_is_string(value);
	if (strcmp(type, "integer") == 0)
		return json_is_integer(value);
	if (strcmp(type, "boolean") == 0)
		return json_is_boolean(value);
	if (strcmp(type, "array") == 0)
		return json_is_array(value);
	return strcmp(type, "object") == 0 && json_is_object(value);
}

static bool any_type_fits(json_t *value, json_t *type)
{
	json_t *t;
	size_t i;

	if (json_is_string(type))
		return type_fits(value, json_string_value(type));
	json_array_foreach(type, i, t)
		if (type_fits(value, json_string_value(t)))
			return true;
	return type == NULL;
}

static void validate(json_t *root, json_t *schema, json_t *value);

static void validate_object(json_t *root, json_t *schema, json_t *value)
{
	json_t *properties = json_object_get(schema, "properties"), *item;
	const char *key;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, item)
		if (!json_object_get(value, json_string_value(item)))
			fail_msg("'%s' is missing", json_string_value(item));
	json_object_foreach(value, key, item) {
		if (!json_object_get(properties, key))
			fail_msg("'%s' is not in the schema", key);
		validate(root, json_object_get(properties, key), item);
	}
}

static void validate(json_t *root, json_t *schema, json_t *value)
{
	json_t *ref = json_object_get(schema, "$ref"), *item, *choices = json_object_get(schema, "enum");
	json_t *constant = json_object_get(schema, "const"), *minimum = json_object_get(schema, "minimum");
	bool found = choices == NULL;
	size_t i;

	if (ref) {
		schema = json_object_get(json_object_get(root, "$defs"), strrchr(json_string_value(ref), '/') + 1);
		assert_non_null(schema);
		validate(root, schema, value);
		return;
	}
	assert_true(any_type_fits(value, json_object_get(schema, "type")));
	json_array_foreach(choices, i, item)
		found = found || json_equal(item, value);
	assert_true(found);
	assert_true(!constant || json_equal(constant, value));
	if (minimum && json_is_integer(value))
		assert_true(json_integer_value(value) >= json_integer_value(minimum));
	if (json_is_object(value))
		validate_object(root, schema, value);
	if (json_object_get(schema, "items"))
		json_array_foreach(value, i, item)
			validate(root, json_object_get(schema, "items"), item);
}

static void json_fits_the_schema(void **state)
{
	json_t *schema = json_load_file("docs/report.schema.json", JSON_REJECT_DUPLICATES, NULL), *root;
	struct ws_report *r = full_report();
	struct ws_buf b = { 0 };

	assert_non_null(schema);
	ws_report_write_json(r, &b);
	root = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	validate(schema, schema, root);
	json_decref(root);
	json_decref(schema);
	ws_buf_free(&b);
	ws_report_free(r);
}

/* ---- goldens ---- */
/* The version is no part of the expectation. */
static void hide_version(struct ws_buf *b)
{
	char *at = b->data;
	size_t n = strlen(WS_VERSION);

	while ((at = strstr(at, WS_VERSION))) {
		memmove(at + 1, at + n, strlen(at + n) + 1);
		*at = 'V';
		b->len -= n - 1;
	}
}

static void check_golden(const char *name, struct ws_buf *got)
{
	struct ws_buf path = { 0 };
	char *expected;
	size_t len;

	hide_version(got);
	ws_buf_printf(&path, GOLDEN "%s", name);
	if (getenv("WS_UPDATE")) {
		FILE *f = fopen(path.data, "wb");

		assert_non_null(f);
		fwrite(got->data, 1, got->len, f);
		fclose(f);
	}
	expected = ws_read_file(path.data, &len);
	assert_non_null(expected);
	assert_string_equal(got->data, expected);
	free(expected);
	ws_buf_free(&path);
	ws_buf_free(got);
}

static void forms_are_as_expected(void **state)
{
	struct ws_report *r = full_report();
	struct ws_text_options plain = { false, NULL, 0, false }, colored = { true, NULL, 1, false };
	struct ws_buf b = { 0 };
	json_t *root;

	ws_report_write_text(r, &plain, &b);
	check_golden("full.txt", &b);
	ws_report_write_text(r, &colored, &b);
	check_golden("full-color.txt", &b);
	ws_report_write_json(r, &b);
	check_golden("full.json", &b);
	ws_report_write_sarif(r, &b);
	root = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	json_decref(root);
	check_golden("full.sarif", &b);
	ws_report_write_html(r, &b);
	assert_null(strstr(b.data, "<more>"));
	assert_null(strstr(b.data, "http"));
	check_golden("full.html", &b);
	ws_report_free(r);
}

static void source_is_found_in_given_folders(void **state)
{
	struct ws_report *r = ws_report_new();
	struct ws_race a = example();
	struct ws_text_options opt = { false, "/nowhere:tests/golden", 0, false };
	struct ws_buf b = { 0 };

	a.first.file = "/build/of/someone/report/reduce.cu";
	ws_report_race(r, &a);
	ws_report_write_text(r, &opt, &b);
	assert_non_null(strstr(b.data, "13 | tile[t] += tile[t + s];"));
	ws_buf_free(&b);
	ws_report_free(r);
}

static void closing_line_tells_what_was_checked(void **state)
{
	struct ws_report *r = ws_report_new();
	struct ws_text_options opt = { 0 };
	struct ws_buf b = { 0 };

	ws_report_write_text(r, &opt, &b);
	assert_string_equal(b.data, "warpsafe: no kernel was launched: nothing was checked\n");
	ws_report_kernel(r, &(struct ws_kernel_row){ "k", 3, 1000, 10, true });
	b.len = 0;
	ws_report_write_text(r, &opt, &b);
	assert_string_equal(b.data, "warpsafe: no race in 1 kernel; 1,000 accesses checked; everything was checked\n");
	ws_buf_free(&b);
	ws_report_free(r);
}

/* A kernel has its row when its launch ends; its races are there before. */
static void kernels_that_did_not_end_are_counted(void **state)
{
	struct ws_report *r = ws_report_new();
	struct ws_text_options opt = { 0 };
	struct ws_race a = example();
	struct ws_buf b = { 0 };

	ws_report_set(r, "sim", "shadow", 1);
	ws_report_race(r, &a);
	a.second.line++;
	ws_report_race(r, &a);
	ws_report_limit(r, "ended by a signal");
	ws_report_write_text(r, &opt, &b);
	assert_non_null(strstr(b.data, "warpsafe: 2 races (2 errors) in 1 kernel; some things were not checked"));
	ws_report_kernel(r, &(struct ws_kernel_row){ .name = a.kernel, .launches = 1, .accesses = 10, .checked = true });
	b.len = 0;
	ws_report_write_text(r, &opt, &b);
	assert_non_null(strstr(b.data, "warpsafe: 2 races (2 errors) in 1 kernel; 10 accesses checked; "));
	ws_buf_free(&b);
	ws_report_free(r);
}

static void names_and_paths_are_short(void **state)
{
	struct ws_report *r = ws_report_new();
	struct ws_race a = example();
	struct ws_text_options opt = { 0 };
	struct ws_buf b = { 0 };
	char here[4096], file[4200];

	assert_non_null(getcwd(here, sizeof here));
	snprintf(file, sizeof file, "%s/" GOLDEN "reduce.cu", here);
	a.first.file = file;
	a.location = "_ZZ9block_sumPKiPiE7partial";
	ws_report_race(r, &a);
	a.space = "global";
	a.location = "_ZN2my7counterE";
	a.second.function = "_Z3putPfif";
	ws_report_race(r, &a);
	ws_report_write_text(r, &opt, &b);
	assert_null(strstr(b.data, here));
	assert_non_null(strstr(b.data, "read     " GOLDEN "reduce.cu:13 "));
	assert_non_null(strstr(b.data, "of 'partial'"));
	assert_non_null(strstr(b.data, "of 'my::counter'"));
	b.len = 0;
	ws_report_write_json(r, &b);
	assert_non_null(strstr(b.data, "\"name\": \"partial\""));
	assert_non_null(strstr(b.data, "\"function\": \"put\""));
	ws_buf_free(&b);
	ws_report_free(r);
}

static size_t left_after(const char *rules)
{
	struct ws_report *r = full_report();
	struct ws_suppressions *s = ws_suppressions_read("rules", rules, strlen(rules), NULL);
	struct ws_race again = example();
	size_t left;

	assert_non_null(s);
	ws_report_suppress(r, s);
	left = ws_report_count(r, WS_ERROR) + ws_report_count(r, WS_WARNING);
	again.kernel = "yet another";
	assert_true(ws_report_race(r, &again));
	assert_false(ws_report_race(r, &again));
	ws_suppressions_free(s);
	ws_report_free(r);
	return left;
}

static void rules_take_races_out(void **state)
{
	assert_int_equal(left_after(""), 3);
	assert_int_equal(left_after("# nothing\n\n"), 3);
	assert_int_equal(left_after("kernel=^reduce"), 1);
	assert_int_equal(left_after("kernel=^reduce kind=WAR  # one of them\n"), 2);
	assert_int_equal(left_after("file=reduce\\.cu$ line=13\r\nmemory=global\n"), 1);
	assert_int_equal(left_after("file=reduce\\.cu$ line=3"), 2);
	assert_int_equal(left_after("file=file\\.cu$ line=3"), 3);
	assert_int_equal(left_after("category=same-value location=#3"), 2);
}

static void wrong_rules_are_told_with_their_place(void **state)
{
	static const char *const wrong[] = {
		"kernel", "kernl=x", "a b", "file=(", "line=0", "line=x", "kind=RAW kind=WAR", "=x"
	};
	struct ws_buf b = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &b };

	for (size_t i = 0; i < WS_COUNT(wrong); i++)
		assert_null(ws_suppressions_read("rules", wrong[i], strlen(wrong[i]), NULL));
	assert_null(ws_suppressions_read("rules", "\n kernel=x line=x\n", 18, &sink));
	assert_string_equal(b.data, "rules:2:11: error: not a line number\n   kernel=x line=x\n            ^~~~~~\n");
	ws_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_places_are_counted_once), cmocka_unit_test(kernels_that_did_not_end_are_counted),
		cmocka_unit_test(order_of_two_writes_does_not_matter),
		cmocka_unit_test(warning_becomes_error),
		cmocka_unit_test(many_races_are_all_kept),
		cmocka_unit_test(json_comes_back_the_same),
		cmocka_unit_test(odd_bytes_become_valid_json),
		cmocka_unit_test(broken_json_is_refused),
		cmocka_unit_test(saving_replaces_the_file),
		cmocka_unit_test(json_fits_the_schema),
		cmocka_unit_test(forms_are_as_expected),
		cmocka_unit_test(source_is_found_in_given_folders),
		cmocka_unit_test(closing_line_tells_what_was_checked),
		cmocka_unit_test(names_and_paths_are_short),
		cmocka_unit_test(rules_take_races_out),
		cmocka_unit_test(wrong_rules_are_told_with_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
