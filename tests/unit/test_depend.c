/* test_depend.c - which loads' values a kernel may publish (src/detect/depend.h). */
#include "detect/depend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char head[] = ".version 7.8\n.target sm_70\n.address_size 64\n"
	".visible .entry k(.param .u64 p, .param .u64 q)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
	".shared .align 4 .b8 s[128];\n.local .align 4 .b8 l[16];\n"
	"ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nmov.u32 %r8, 1;\nld.global.u32 %r1, [%rd1];\n";
static const char tail[] = "ld.volatile.global.u32 %r7, [%rd2];\nst.global.u32 [%rd1], %r7;\nret;\n}\n";

struct answer { bool used, first; };

/* used: ws_depend_used; first: ws_depend_on of the load of %r1. */
static struct answer ask(const char *body, const char *end)
{
	struct ws_buf text = {NULL, 0, 0};
	struct ws_ptx_module *m;
	struct answer a = {false, false};

	ws_buf_printf(&text, "%s%s%s", head, body, end);
	m = ws_ptx_parse("t.ptx", text.data, text.len, NULL, NULL);
	assert_non_null(m);
	for (uint32_t i = 0; i < m->funcs[0]->ninsts; i++)
		if (m->funcs[0]->insts[i].op == WS_OP_ld && m->funcs[0]->insts[i].space == WS_SPACE_GLOBAL) {
			a.first = ws_depend_on(m->funcs[0], &m->funcs[0]->insts[i]);
			break;
		}
	a.used = ws_depend_used(m->funcs[0]);
	ws_ptx_free(m);
	ws_buf_free(&text);
	return a;
}

static void yes(const char *body)
{
	struct answer a = ask(body, tail);

	assert_true(a.used && a.first);
}

static void no(const char *body)
{
	struct answer a = ask(body, tail);

	assert_false(a.used || a.first);
}

static void test_paths(void **state)
{
	yes("st.volatile.global.u32 [%rd2], %r1;\n");
	yes("add.u32 %r2, %r1, 1;\nst.relaxed.gpu.global.u32 [%rd2], %r2;\n");
	yes("mov.u32 %r2, 1;\nst.release.gpu.global.v2.u32 [%rd2], {%r2, %r1};\n");
	yes("setp.ne.u32 %p1, %r1, 0;\nselp.u32 %r2, 1, 2, %p1;\nst.volatile.u32 [%rd2], %r2;\n");
	yes("setp.ne.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r8, 2;\nst.volatile.global.u32 [%rd2], %r8;\n");
	yes("st.shared.u32 [s], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [s+4];\nst.volatile.global.u32 [%rd2], %r2;\n");
	yes("st.local.u32 [l], %r1;\nld.local.u32 %r2, [l];\nst.volatile.global.u32 [%rd2], %r2;\n");
	yes("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nst.volatile.global.u32 [%rd2], %r2;\n");
	yes("atom.shared.add.u32 %r2, [s], %r1;\nld.shared.u32 %r3, [s];\nst.volatile.global.u32 [%rd2], %r3;\n");
}

static void test_no_path(void **state)
{
	no("st.volatile.global.u32 [%rd2], %r8;\n");
	no("st.global.u32 [%rd2], %r1;\n");                    /* weak: not a flag */
	no("cvt.u64.u32 %rd3, %r1;\nadd.u64 %rd3, %rd3, %rd2;\nst.volatile.global.u32 [%rd3], %r8;\n");
	no("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nst.volatile.global.u32 [%rd2], %r8;\nL:\n");
	no("st.shared.u32 [s], %r1;\nst.volatile.global.u32 [%rd2], %r8;\n");
	no("st.shared.u32 [s], %r1;\nld.local.u32 %r2, [l];\nst.volatile.global.u32 [%rd2], %r2;\n");
}

static void test_needs_a_reader(void **state)
{
	struct answer a = ask("st.volatile.global.u32 [%rd2], %r1;\n", "ret;\n}\n");

	assert_true(a.first);
	assert_false(a.used);
}

/* Another load is published, not the one that is asked for. */
static void test_one_of_two(void **state)
{
	struct answer a = ask("ld.global.u32 %r2, [%rd1+4];\nst.volatile.global.u32 [%rd2], %r2;\n", tail);

	assert_true(a.used);
	assert_false(a.first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_no_path),
		cmocka_unit_test(test_needs_a_reader),
		cmocka_unit_test(test_one_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
