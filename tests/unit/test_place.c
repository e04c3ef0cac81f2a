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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
