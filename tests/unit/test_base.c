/* Arenas, buffers, hash and diagnostics of src/base. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"

static void arena_gives_zeroed_aligned_memory(void **state)
{
	struct ws_arena *a = ws_arena_new();
	size_t sizes[] = { 1, 16, 17, 1000, 20000, 3, 100000, 5, 65536, 0 };

	for (int round = 0; round < 50; round++)
		for (size_t i = 0; i < WS_COUNT(sizes); i++) {
			unsigned char *p = ws_arena_alloc(a, sizes[i]);

			assert_int_equal((uintptr_t)p % 16, 0);
			for (size_t k = 0; k < sizes[i]; k++)
				assert_int_equal(p[k], 0);
			memset(p, 0xa5, sizes[i]);
		}
	assert_true(ws_arena_bytes(a) >= 50 * 186562u);
	ws_arena_free(a);
	ws_arena_free(NULL);
}

static void what_grows_can_be_zero(void **state)
{
	int *list = NULL;
	size_t cap = 0;

	for (size_t n = 1; n < 100; n++) {
		list = ws_grow_zeroed(list, &cap, n, sizeof *list);
		assert_true(cap >= n);
		assert_int_equal(list[n - 1], 0);
		list[n - 1] = (int)n;
	}
	for (size_t n = 1; n < 100; n++)
		assert_int_equal(list[n - 1], n);
	free(list);
}

static void buffer_grows_and_stays_terminated(void **state)
{
	struct ws_buf b = { 0 };

	for (int i = 0; i < 1000; i++)
		ws_buf_printf(&b, "%d,", i);
	assert_int_equal(b.len, 3890);
	assert_int_equal(b.data[b.len], 0);
	assert_memory_equal(b.data, "0,1,2,3,4,5,6,7,8,9,10,", 23);
	ws_buf_free(&b);
	ws_buf_add(&b, "", 0);
	assert_string_equal(b.data, "");
	ws_buf_free(&b);
}

static void hash_differs_for_small_changes(void **state)
{
	char text[40] = "the same forty bytes but for one of them";
	uint64_t h = ws_hash(text, sizeof text);

	assert_int_equal(h, ws_hash(text, sizeof text));
	for (size_t i = 0; i < sizeof text; i++) {
		text[i] ^= 1;
		assert_true(ws_hash(text, sizeof text) != h);
		text[i] ^= 1;
	}
	assert_true(ws_hash("a", 1) != ws_hash("a\0", 2));
}

static void file_is_read_whole(void **state)
{
	size_t len = 0;
	char *text = ws_read_file("tests/unit/test_base.c", &len);

	assert_non_null(text);
	assert_int_equal(strlen(text), len);
	assert_memory_equal(text, "/* Arenas", 9);
	free(text);
	assert_null(ws_read_file("/nonexistent", &len));
}

static void check_diag(const char *line, uint32_t col, uint32_t len, const char *expected)
{
	struct ws_diag d = { WS_ERROR, { "k.ptx", 12, col, len }, "unknown type 'u33'", line, strlen(line) };
	struct ws_buf b = { 0 };

	ws_diag_format(&b, &d);
	assert_string_equal(b.data, expected);
	ws_buf_free(&b);
}

static void caret_stands_under_the_place(void **state)
{
	check_diag("add.u33 %r1;", 5, 3, "k.ptx:12:5: error: unknown type 'u33'\n  add.u33 %r1;\n      ^~~\n");
	check_diag("\tadd.u33\t%r1;", 6, 3, "k.ptx:12:6: error: unknown type 'u33'\n  \tadd.u33\t%r1;\n  \t    ^~~\n");
	check_diag("ab", 1, 0, "k.ptx:12:1: error: unknown type 'u33'\n  ab\n  ^\n");
	check_diag("ab", 2, 100, "k.ptx:12:2: error: unknown type 'u33'\n  ab\n   ^\n");
}

static void diag_without_place_is_a_line(void **state)
{
	struct ws_diag d = { .severity = WS_WARNING, .place = { .path = "f" }, .text = "odd" };
	struct ws_buf b = { 0 };

	ws_diag_format(&b, &d);
	assert_string_equal(b.data, "f: warning: odd\n");
	ws_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_gives_zeroed_aligned_memory),
		cmocka_unit_test(what_grows_can_be_zero),
		cmocka_unit_test(buffer_grows_and_stays_terminated),
		cmocka_unit_test(hash_differs_for_small_changes),
		cmocka_unit_test(file_is_read_whole),
		cmocka_unit_test(caret_stands_under_the_place),
		cmocka_unit_test(diag_without_place_is_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
