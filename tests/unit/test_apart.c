/* test_apart.c - src/rewrite/apart.c: which stores are kept before the loads behind them. */
#include "rewrite_help.h"

#include "rewrite/apart.h"

#define BODY(behind) HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .pred %p; .reg .u32 %r<9>; .reg .u64 %d<9>; .shared .u32 s[64];\n" \
	" ld.param.u64 %d0, [p]; st.global.u32 [%d0+64], %r1;\n" behind " ret;\n}\n"

/* Is the first store to be kept before what is behind it? */
static bool needed(const char *text)
{
	struct ws_ptx_module *m = ptx_good(text);
	uint32_t n;
	const struct ws_rw_access *list = ws_rw_accesses(m->funcs[0], &n);
	bool needed;

	ws_ptx_cfg(m->funcs[0]);
	while (n && list->kind != WS_RW_WRITE) {     /* parameters come first */
		list++;
		n--;
	}
	assert_true(n);
	needed = ws_apart_needed(m->funcs[0], list);
	ws_ptx_free(m);
	return needed;
}

static void loads_of_the_same_line(void **state)
{
	assert_true(needed(BODY(" ld.global.u32 %r2, [%d0+128];\n")));
	assert_true(needed(BODY(" ld.global.u32 %r2, [%d0];\n")));
	assert_true(needed(BODY(" ld.global.u32 %r2, [%d0+-60];\n")));
	assert_true(needed(BODY(" ld.u32 %r2, [%d0+128];\n")));
	assert_true(needed(BODY(" add.u32 %r3, %r3, 1; ld.shared.u32 %r4, [s]; ld.global.v2.u32 {%r2, %r5}, [%d0+72];\n")));
	assert_true(needed(BODY(" ld.global.u32 %r2, [%d0+1024]; ld.global.u32 %r3, [%d0+68];\n")));
}

static void loads_that_need_nothing(void **state)
{
	assert_false(needed(BODY("")));
	assert_false(needed(BODY(" ld.global.u32 %r2, [%d0+64];\n")));                 /* what was stored: it stays behind it by itself */
	assert_false(needed(BODY(" ld.global.u32 %r2, [%d0+192];\n")));
	assert_false(needed(BODY(" ld.global.u32 %r2, [%d0+-64];\n")));
	assert_false(needed(BODY(" ld.global.u32 %r2, [%d1+128];\n")));
	assert_false(needed(BODY(" ld.shared.u32 %r2, [s+128];\n")));
	assert_false(needed(BODY(" ld.volatile.global.u32 %r2, [%d0+128];\n")));
	assert_false(needed(BODY(" add.u64 %d0, %d0, 4; ld.global.u32 %r2, [%d0+128];\n")));
	assert_false(needed(BODY(" st.global.u32 [%d0+68], %r1; ld.global.u32 %r2, [%d0+128];\n")));   /* it has a check of its own, which is in the way */
	assert_false(needed(BODY(" bar.sync 0; ld.global.u32 %r2, [%d0+128];\n")));
	assert_false(needed(BODY("L: ld.global.u32 %r2, [%d0+128]; @%p bra L;\n")));
}

/* All of the pass: the branch stands between the two, and nowhere else. */
static uint32_t kept(const char *text)
{
	struct ws_buf out = { 0 }, said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ptx_good(text);
	uint32_t n = 0;

	assert_true(ws_rewrite("race", m, &sink));
	ws_ptx_print(m, &out);
	for (const char *at = out.data; (at = strstr(at, "trap;")); at++)
		n++;
	ws_ptx_free(ptx_good(out.data));
	ws_ptx_free(m);
	ws_buf_free(&out);
	ws_buf_free(&said);
	return n;
}

static void the_pass_keeps_them(void **state)
{
	assert_int_not_equal(kept(BODY(" ld.global.u32 %r2, [%d0+128]; st.global.u32 [%d0+128], %r2;\n")), 0);
	assert_int_equal(kept(BODY(" ld.global.u32 %r2, [%d0+64]; st.global.u32 [%d0+64], %r2;\n")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_of_the_same_line), cmocka_unit_test(loads_that_need_nothing), cmocka_unit_test(the_pass_keeps_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
