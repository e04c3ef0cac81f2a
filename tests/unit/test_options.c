/* The option table: defaults, checks, help, the way through the environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/options.h"

static void defaults_are_the_table_s(void **state)
{
	struct ws_options o;

	ws_options_default(&o);
	assert_string_equal(o.gpu, "sim");
	assert_string_equal(o.memories, "shared,global");
	assert_int_equal(o.granularity, 1);
	assert_int_equal(o.error_exitcode, 1);
	assert_int_equal(o.cc, 90);
	assert_true(o.memory == 16ull << 30);
	assert_null(o.kernel);
	assert_false(o.same_value_error);
	assert_false(o.color_always || o.color_never);
	ws_options_free(&o);
}

static void good_values_are_taken(void **state)
{
	static const char *const good[][2] = {
		{ "granularity", "64" }, { "memory", "global" }, { "memory", "global,shared" }, { "seed", "9223372036854775807" },
		{ "timeout", "0.5" }, { "cc", "7.5" }, { "cc", "sm_80" }, { "cc", "90" }, { "device-memory", "512M" },
		{ "kernel", "^a(b|c)$" }, { "same-value", "error" }, { "color", "never" }, { "output", "" },
	};
	struct ws_options o;

	ws_options_default(&o);
	for (size_t i = 0; i < WS_COUNT(good); i++)
		assert_true(ws_options_set(&o, good[i][0], good[i][1], NULL));
	assert_int_equal(o.granularity, 64);
	assert_int_equal(o.cc, 90);
	assert_true(o.memory == 512ull << 20);
	assert_true(o.same_value_error && o.color_never);
	assert_true(o.seed == INT64_MAX);
	ws_options_free(&o);
}

static void bad_values_are_refused_with_a_reason(void **state)
{
	static const char *const bad[][2] = {
		{ "granularity", "3" }, { "granularity", "" }, { "memory", "shared,local" }, { "memory", "" }, { "seed", "-1" },
		{ "seed", "1x" }, { "seed", "9223372036854775808" }, { "seed", "99999999999999999999999" }, { "seed", " 1" },
		{ "timeout", "-1" }, { "timeout", "nan" }, { "timeout", "1s" }, { "cc", "1.0" }, { "cc", "9.10" },
		{ "device-memory", "4X" }, { "device-memory", "99999999T" }, { "kernel", "(" }, { "gpu", "no" },
		{ "nothing", "1" }, { "error-exitcode", "256" },
	};
	struct ws_options o;

	ws_options_default(&o);
	for (size_t i = 0; i < WS_COUNT(bad); i++) {
		const char *why = NULL;

		assert_false(ws_options_set(&o, bad[i][0], bad[i][1], &why));
		assert_non_null(why);
		assert_non_null(strstr(why, bad[i][0]));
	}
	assert_int_equal(o.granularity, 1);
	ws_options_free(&o);
}

static void environment_carries_what_differs(void **state)
{
	struct ws_options o, back;
	struct ws_buf b = { 0 };
	const char *why;

	ws_options_default(&o);
	ws_options_to_env(&o, &b);
	assert_string_equal(b.data, "");
	ws_options_set(&o, "kernel", "a\\d\nb=c", NULL);
	ws_options_set(&o, "timeout", "0.1", NULL);
	ws_options_set(&o, "same-value", "error", NULL);
	ws_options_set(&o, "report-dir", "/tmp/x y", NULL);
	ws_options_set(&o, "verb", "race", NULL);
	ws_options_to_env(&o, &b);
	ws_options_default(&back);
	assert_true(ws_options_from_env(&back, b.data, &why));
	assert_string_equal(back.kernel, "a\\d\nb=c");
	assert_true(back.timeout == 0.1);
	assert_true(back.same_value_error);
	assert_string_equal(back.report_dir, "/tmp/x y");
	assert_string_equal(back.verb, "race");
	assert_false(ws_options_from_env(&back, "seed", &why));
	assert_false(ws_options_from_env(&back, "seed=1\nunknown=2\n", &why));
	assert_true(ws_options_from_env(&back, "\n\nseed=7", &why));
	assert_int_equal(back.seed, 7);
	ws_buf_free(&b);
	ws_options_free(&o);
	ws_options_free(&back);
}

static void help_shows_the_verb_s_options(void **state)
{
	struct ws_buf race = { 0 }, run = { 0 };

	ws_options_help("race", &race);
	ws_options_help("run", &run);
	assert_non_null(strstr(race.data, "--granularity="));
	assert_null(strstr(run.data, "--granularity="));
	assert_non_null(strstr(run.data, "--timeout="));
	assert_null(strstr(race.data, "report-dir"));
	for (char *line = strtok(race.data, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 100);
	ws_buf_free(&race);
	ws_buf_free(&run);
}

static void nearest_name_is_proposed(void **state)
{
	assert_string_equal(ws_options_nearest("race", "granularty"), "granularity");
	assert_string_equal(ws_options_nearest("race", "formta"), "format");
	assert_null(ws_options_nearest("run", "granularity"));
	assert_null(ws_options_nearest("race", "xyzzy"));
	assert_true(ws_options_known("run", "seed"));
	assert_false(ws_options_known("run", "detector"));
	assert_false(ws_options_known("race", "report-dir"));
	assert_int_equal(ws_edit_distance("rcae", "race"), 1);
	assert_int_equal(ws_edit_distance("", "race"), 4);
	assert_int_equal(ws_edit_distance("kitten", "sitting"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_the_table_s),
		cmocka_unit_test(good_values_are_taken),
		cmocka_unit_test(bad_values_are_refused_with_a_reason),
		cmocka_unit_test(environment_carries_what_differs),
		cmocka_unit_test(help_shows_the_verb_s_options),
		cmocka_unit_test(nearest_name_is_proposed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
