/* test_place.c - the source line of an access, also where the compiler names none (src/detect/place.c). */
#include "detect/detect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = ".version 7.8\n.target sm_70\n.address_size 64\n.file 1 \"a.cu\"\n"
	".visible .entry k(.param .u64 p)\n{\n.reg .f32 %f<9>; .reg .b64 %rd<3>;\n"
	"ld.global.f32 %f8, [%rd1];\n"               /* before any .loc */
	".loc 1 10 1\nld.param.u64 %rd1, [p];\n"
	".loc 1 0 0\nld.global.f32 %f1, [%rd1];\n"   /* used by line 12, through a product without a line */
	"ld.global.f32 %f2, [%rd1+8];\n"             /* never used */
	"mul.f32 %f3, %f1, %f1;\n"
	".loc 1 11 2\nld.global.f32 %f4, [%rd1+4];\n"
	".loc 1 12 3\nadd.f32 %f5, %f3, %f4;\n"
	".loc 1 0 3\nst.global.f32 [%rd1], %f5;\n"   /* behind line 12 */
	"ret;\n}\n";

/* The place of the n-th access of global memory. */
static struct ws_race_access place(const struct ws_ptx_module *m, int n)
{
	struct ws_race_access r = {.line = 0};
	struct ws_site s = {.func = m->funcs[0]};

	for (uint32_t i = 0; i < s.func->ninsts; i++)
		if (s.func->insts[i].space == WS_SPACE_GLOBAL && n-- == 0)
			s.inst = &s.func->insts[i];
	assert_non_null(s.inst);
	ws_detect_place(&r, &s);
	free((char *)r.ptx);
	return r;
}

static void test_lines(void **state)
{
	static const struct { uint32_t line; bool nearby; } want[] = {
		{0, false}, {12, true}, {0, false}, {11, false}, {12, true}
	};
	struct ws_ptx_module *m = ws_ptx_parse("t.ptx", text, sizeof text - 1, NULL, NULL);

	assert_non_null(m);
	for (int n = 0; n < (int)WS_COUNT(want); n++) {
		struct ws_race_access r = place(m, n);

		assert_int_equal(r.line, want[n].line);
		assert_int_equal(r.nearby, want[n].nearby);
		assert_true(r.ptx_line > 0);
		assert_true(!r.file == !r.line);
	}
	ws_ptx_free(m);
}

/* A line of NVIDIA's headers for atomics is that of the call, in the function which that is inlined in. */
static void test_atomics(void **state)
{
	static const char atomics[] = ".version 7.8\n.target sm_70\n.address_size 64\n.file 1 \"a.cu\"\n"
		".file 2 \"/usr/include/sm_60_atomic_functions.hpp\"\n.file 3 \"/usr/include/other.hpp\"\n"
		".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>;\n"
		".loc 1 4 1\n.loc 2 300 3, function_name $n, inlined_at 1 4 1\nred.global.add.u32 [%rd1], 1;\n"
		".loc 3 8 1, function_name $o, inlined_at 1 5 1\n"
		".loc 2 300 3, function_name $n, inlined_at 3 8 1\nred.global.add.u32 [%rd1], 2;\n"
		".loc 3 9 1, function_name $o, inlined_at 1 6 1\nred.global.add.u32 [%rd1], 3;\nret;\n}\n"
		".section .debug_str\n{\n$n:\n.b8 110\n.b8 0\n$o:\n.b8 111\n.b8 0\n}\n";
	static const struct { const char *file, *inlined; uint32_t line, at; } want[] = {
		{"a.cu", NULL, 4, 0}, {"/usr/include/other.hpp", "a.cu", 8, 5}, {"/usr/include/other.hpp", "a.cu", 9, 6}
	};
	struct ws_ptx_module *m = ws_ptx_parse("t.ptx", atomics, sizeof atomics - 1, NULL, NULL);

	assert_non_null(m);
	for (int n = 0; n < (int)WS_COUNT(want); n++) {
		struct ws_race_access r = place(m, n);

		assert_string_equal(r.file, want[n].file);
		assert_int_equal(r.line, want[n].line);
		assert_int_equal(r.inlined_line, want[n].at);
		assert_true(!r.inlined_file == !want[n].inlined);
		if (r.inlined_file)
			assert_string_equal(r.inlined_file, want[n].inlined);
	}
	ws_ptx_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_atomics),};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
