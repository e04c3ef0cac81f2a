/* src/rewrite/tm*.c: where marked sections are, what a new attempt needs, and what the code in them becomes. */
#include "tests/unit/ptx_help.h"

#include "rewrite/tm.h"

#define BEGIN "\tmov.b64 %d0, 0x77735f74785f6265;\n"
#define END "\tmov.b64 %d0, 0x77735f74785f656e;\n"
#define EITHER "\tmov.b64 %d0, 0x77735f74785f6569;\n\tsetp.lt.s64 %p8, %d0, 0;\n"
#define EITHER_END "\tmov.b64 %d0, 0x77735f74785f6f72;\n"
#define ABORT "\tmov.b64 %d0, 0x77735f74785f6162;\n"
#define LOOK "\tsetp.lt.s64 %p7, %d0, 0;\n"
#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define REGS "\t.reg .pred %p<9>;\n\t.reg .b32 %r<9>;\n\t.reg .f32 %f<9>;\n\t.reg .b64 %d<9>;\n"
#define KERNEL(body) HEAD ".visible .entry k(.param .u64 p)\n{\n" REGS body "}\n"

/* The rewritten module as text, which can be read; the caller frees it. */
static char *rewritten(const char *text)
{
	struct ws_buf said = { 0 }, out = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ptx_good(text);

	if (!ws_rewrite("tm", m, &sink))
		fail_msg("%s", said.data);
	ws_ptx_print(m, &out);
	ws_ptx_free(ptx_good(out.data));
	ws_ptx_free(m);
	ws_buf_free(&said);
	return out.data;
}

/* All these are in the rewritten module, one behind the other; a first '!': this one is nowhere. */
static void expect(const char *text, const char *const *lines)
{
	char *out = rewritten(text);
	const char *at = strstr(out, ".entry");

	for (; *lines; lines++) {
		const char *found = strstr(**lines == '!' ? out : at, *lines + (**lines == '!'));

		if (!found == (**lines != '!'))
			fail_msg("'%s' in: %s", *lines, at);
		if (found)
			at = found + 1;
	}
	free(out);
}
#define EXPECT(text, ...) expect(text, (const char *const[]){ __VA_ARGS__, NULL })

static void refused(const char *text, const char *words)
{
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ptx_good(text);

	assert_false(ws_rewrite("tm", m, &sink));
	if (!strstr(said.data, words))
		fail_msg("'%s' is not in: %s", words, said.data);
	ws_ptx_free(m);
	ws_buf_free(&said);
}

/* ---- sections and registers ---- */
struct found {
	struct ws_ptx_module *m;
	struct ws_ptx_func *f;
	struct ws_tm_flow flow;
};

static struct found find(const char *text)
{
	struct found w = { .m = ptx_good(text) };

	w.f = w.m->funcs[0];
	assert_true(ws_tm_flow_find(ws_rw_begin(w.m, NULL), w.f, &w.flow));
	return w;
}

static void done(struct found *w)
{
	ws_tm_flow_free(&w->flow);
	ws_ptx_free(w->m);
}

static void sections_in_sections(void **state)
{
	struct found w = find(KERNEL(BEGIN "\tadd.u32 %r1, %r1, 1;\n" BEGIN EITHER EITHER_END END END
	                             "\tadd.u32 %r1, %r1, 1;\n" BEGIN END "\tret;\n"));
	static const uint32_t inside[] = { 0, 1, 1, 2, 3, 3, 2, 1, 0, 0, 4, 0 }, begins[] = { 1, 0, 2, 3, 0, 0, 0, 0, 0, 4, 0, 0 };

	assert_int_equal(w.flow.nsections, 4);
	for (uint32_t k = 0; k < WS_COUNT(inside); k++) {
		assert_int_equal(w.flow.inside[k], inside[k]);
		assert_int_equal(w.flow.begins[k], begins[k]);
	}
	for (uint32_t k = 0; k < 4; k++) {
		assert_int_equal(w.flow.sections[k].around, k % 3 ? k : 0);
		assert_int_equal(w.flow.sections[k].either, k == 2);
	}
	assert_true(ws_tm_flow_in(&w.flow, 4, 0) && ws_tm_flow_in(&w.flow, 4, 2) && !ws_tm_flow_in(&w.flow, 4, 3));
	assert_int_equal(ws_tm_flow_undone(&w.flow, 4), 2);
	done(&w);
}

static void doubled_markers_are_one_section(void **state)
{
	struct found w = find(KERNEL("\t@%p1 bra other;\n" BEGIN "\tbra both;\nother:\n" BEGIN "both:\n\t@%p2 bra out;\n" END
	                             "\tret;\nout:\n" END "\tret;\n"));

	assert_int_equal(w.flow.nsections, 1);
	done(&w);
	w = find(KERNEL("\t@%p1 bra other;\n" BEGIN BEGIN "\tbra both;\nother:\n" BEGIN BEGIN "both:\n" END END "\tret;\n"));
	assert_int_equal(w.flow.nsections, 2);
	assert_int_equal(w.flow.sections[1].around, 1);
	done(&w);
}

static void what_is_saved(void **state)
{
	struct found w = find(KERNEL("\tmov.u32 %r1, 1;\n\tmov.u32 %r2, 1;\n\tmov.u32 %r3, 1;\n\tsetp.eq.u32 %p1, %r1, 1;\n"
	                             "\tmov.u32 %r5, 1;\n" BEGIN
	                             "\tadd.u32 %r1, %r1, 1;\n"          /* changed: saved */
	                             "\tmov.u32 %r2, 2;\n"               /* set before it is used: not */
	                             "\tadd.u32 %r4, %r3, %r2;\n"        /* only read, and new: not */
	                             "\t@%p1 mov.u32 %r5, 3;\n"          /* may be set: saved */
	                             "\tsetp.eq.or.u32 %p1, %r4, 1, %p1;\n" END
	                             "\tst.global.v4.u32 [%d1], {%r1, %r2, %r4, %r5};\n\tret;\n"));
	struct ws_tm_saved saved = { 0 };

	ws_tm_saved_find(w.f, &w.flow, &w.f->insts[5], &saved);
	assert_int_equal(saved.n, 3);
	assert_string_equal(saved.regs[0]->name, "%r1");
	assert_string_equal(saved.regs[1]->name, "%p1");
	assert_string_equal(saved.regs[2]->name, "%r5");
	free(saved.regs);
	done(&w);
}

static void a_section_is_a_loop_of_rounds(void **state)
{
	EXPECT(KERNEL("\tmov.u32 %r1, 1;\n" BEGIN "\tadd.u32 %r1, %r1, 1;\n" END "\tst.global.u32 [%d1], %r1;\n\tret;\n"),
	       ".local .align 16 .b8 __warpsafe_thread[", "mov.b32 %ws_kept_b32_2, %r1;", "call __warpsafe_tm_enter_reading, ",
	       "$ws_2:", "mov.b32 %r1, %ws_kept_b32_2;", "__warpsafe_tm_begin, ", "bra $ws_1;", "add.u32 %r1, %r1, 1;",
	       "call __warpsafe_tm_end, ", "bra $ws_1;", "$ws_3:", "st.global.u32 [%d1], %r1;", "ret;", "$ws_0:",
	       "call __warpsafe_tm_end, ", "$ws_1:", "__warpsafe_tm_again, ", "bra $ws_2;", "bra $ws_3;");
}

/* By space: the thread's own memory is none that others see. Another section's write does not count, an atomic does. */
static void sections_that_only_read(void **state)
{
	EXPECT(KERNEL(BEGIN "\tld.global.u32 %r1, [%d1];\n\tst.local.u32 [%d1], %r1;\n" END BEGIN "\tst.shared.u32 [%d1], %r1;\n" END "\tret;\n"),
	       "call __warpsafe_tm_enter_reading, ", "call __warpsafe_tm_enter, ");
	EXPECT(KERNEL(BEGIN "\tst.u32 [%d1], %r1;\n" END "\tst.global.u32 [%d1], %r1;\n\tret;\n"), "call __warpsafe_tm_enter, ");
	EXPECT(KERNEL(BEGIN "\tred.global.add.u32 [%d1], %r1;\n" END "\tret;\n"), "call __warpsafe_tm_enter, ");
}

static void a_module_without_markers_stays(void **state)
{
	const char *text = KERNEL("\tst.global.u32 [%d1], %r1;\n\tret;\n");
	char *out = rewritten(text);

	assert_string_equal(out, text);
	free(out);
}

static void a_retry_loses_the_attempt(void **state)
{
	EXPECT(KERNEL("\tmov.b64 %d3, 0x77735f74785f7265;\n" BEGIN "\tmov.b64 %d3, 0x77735f74785f7265;\n" END "\tret;\n"),
	       "__warpsafe_tm_begin, ", "call __warpsafe_tm_retry, ", "bra $ws_0;", "!0x77735f74785f7265");
}

static void a_section_in_a_section_is_undone_alone(void **state)
{
	EXPECT(KERNEL("\tmov.u32 %r1, 1;\n" BEGIN "\tld.global.u32 %r2, [%d1];\n" BEGIN LOOK "\tadd.u32 %r1, %r1, 1;\n\tld.global.u32 %r3, [%d1];\n"
	              ABORT END END "\tst.global.u32 [%d1], %r1;\n\tret;\n"),
	       "__warpsafe_tm_begin, ", "mov.b64 %d0, 0;", "bra $ws_0;", "mov.b64 %ws_kept_b64_0, 0;", "mov.b32 %ws_kept_b32_6, %r1;",
	       "__warpsafe_tm_inner, ", "$ws_4:", "mov.b32 %r1, %ws_kept_b32_6;", "mov.b64 %d0, %ws_kept_b64_0;", "setp.lt.s64 %p7, %d0, 0;", "bra $ws_2;",
	       "call __warpsafe_tm_abort, ", "bra $ws_2;", "call __warpsafe_tm_inner_done, ", "call __warpsafe_tm_end, ", "$ws_2:",
	       "__warpsafe_tm_inner_lost, ", "bra $ws_0;", "mov.b64 %ws_kept_b64_0, 0xffffffffffffffff;", "bra $ws_4;");
	/* in a function that a section calls, and in one of its own */
	EXPECT(HEAD ".func f()\n{\n" REGS BEGIN "\tld.global.u32 %r1, [%d1];\n" END "\tret;\n}\n.visible .entry k()\n{\n" REGS BEGIN "\tcall f;\n" END
	       "\tcall f;\n\tret;\n}\n",
	       "call __warpsafe_tm_of_f", ".func __warpsafe_tm_of_f", "__warpsafe_tm_inner, ", "__warpsafe_tm_inner_lost, ", "ret;");
}

static void alternatives(void **state)
{
	EXPECT(KERNEL(BEGIN EITHER "\t@%p8 bra second;\n\tmov.b64 %d3, 0x77735f74785f7265;\nsecond:\n" EITHER_END END "\tret;\n"),
	       "__warpsafe_tm_begin, ", "__warpsafe_tm_either, ", "setp.lt.s64 %p8, %d0, 0;", "call __warpsafe_tm_retry, ", "bra $ws_2;", "second:",
	       "call __warpsafe_tm_end, ", "$ws_2:", "__warpsafe_tm_other, ", "bra $ws_0;", "bra $ws_4;");
}

#define UNDOES ".func f()\n{\n" REGS ABORT "\tret;\n}\n"
#define ENTRY(body) ".visible .entry k()\n{\n" REGS body "\tret;\n}\n"

/* A begin must look whether it was undone, if it may be: the innermost one around the call. */
static void who_is_undone(void **state)
{
	EXPECT(HEAD UNDOES ENTRY(BEGIN LOOK "\tcall f;\n" END), "mov.b64 %ws_kept_b64_0, 0;", "call __warpsafe_tm_enter_reading, ",
	       "mov.b64 %d0, %ws_kept_b64_0;", "__warpsafe_tm_again, ", "mov.b64 %ws_kept_b64_0, 0xffffffffffffffff;");
	refused(HEAD UNDOES ENTRY(BEGIN "\tcall f;\n" END), "write it with WS_ATOMIC");
	EXPECT(HEAD UNDOES ENTRY(BEGIN BEGIN LOOK "\tcall f;\n" END END), "__warpsafe_tm_inner, ", "__warpsafe_tm_inner_lost, ");
	refused(KERNEL(BEGIN EITHER ABORT EITHER_END END "\tret;\n"), "write it with WS_ATOMIC");
}

/* ---- accesses ---- */
static void loads_and_stores(void **state)
{
	EXPECT(KERNEL(BEGIN "\t@%p1 ld.volatile.global.v2.s8 {%r1, %r2}, [%d1+6];\n" END "\tret;\n"),
	       "@!%p1 bra $ws_", "add.s64 %ws_b64_0, %d1, 6;", "cvta.global.u64", "st.param.b32 [__warpsafe_a2], 2;",
	       "call __warpsafe_tm_read_global, ", "setp.ne.u32", "bra $ws_0;", "ld.v2.s8 {%r1, %r2}, [%ws_kept_b64_0+0];",
	       "!ld.volatile.global.v2");
	EXPECT(KERNEL(BEGIN "\tst.shared.f32 [%r1], 0f3F800000;\n\tst.u64 [%d1], %d2;\n\tst.local.u32 [%d1], %r2;\n" END "\tret;\n"),
	       "cvta.shared.u64", "st.f32 [%ws_kept_b64_0+0], 0f3F800000;", "call __warpsafe_tm_write, ",
	       "st.u64 [%ws_kept_b64_0+0], %d2;", "call __warpsafe_tm_write, ", "cvta.local.u64", "call __warpsafe_tm_write, ",
	       "!st.shared.f32");
	EXPECT(KERNEL(BEGIN "\tld.global.nc.u32 %r1, [%d1];\n\tld.param.u64 %d2, [p];\n\tld.local.u32 %r2, [%d1];\n" END "\tret;\n"),
	       "ld.global.nc.u32 %r1, [%d1];", "ld.param.u64 %d2, [p];", "ld.local.u32 %r2, [%d1];");
}

static void atomics(void **state)
{
	EXPECT(KERNEL(BEGIN "\tatom.global.cas.b32 %r1, [%d1], %r2, %r3;\n\tred.global.add.f32 [%d1], %f1;\n"
	              "\tatom.shared.inc.u32 _, [%d1], 7;\n" END "\tret;\n"),
	       "__warpsafe_tm_read_global", "ld.b32 %ws_b32_0, ", "setp.eq.b32 %ws_pred_1, %ws_b32_0, %r2;",
	       "selp.b32 %ws_b32_1, %r3, %ws_b32_0, %ws_pred_1;", "st.b32 ", "__warpsafe_tm_write_global", "mov.b32 %r1, %ws_b32_0;",
	       "add.rn.f32 ", ", %f1;", "setp.ge.u32 ", ", 7;", "!atom.global.cas", "!red.global.add");
}

/* A call does not keep it. */
static void the_carry_is_kept(void **state)
{
	EXPECT(KERNEL(BEGIN "\tadd.cc.u32 %r1, %r2, %r3;\n\tst.global.u32 [%d1], %r1;\n\taddc.u32 %r2, %r2, 0;\n" END "\tret;\n"),
	       "add.cc.u32 %r1, %r2, %r3;", "addc.u32 %ws_b32_1, 0, 0;", "__warpsafe_tm_write_global", "add.cc.u32 %ws_b32_1, %ws_b32_1, 0xffffffff;",
	       "addc.u32 %r2, %r2, 0;");
	EXPECT(KERNEL(BEGIN "\tst.global.u32 [%d1], %r1;\n\tadd.cc.u32 %r1, %r2, %r3;\n\taddc.u32 %r2, %r2, 0;\n" END "\tret;\n"),
	       "__warpsafe_tm_write_global", "!add.cc.u32 %ws_");
}

/* ---- calls ---- */
#define FUNC(name, params) ".func " name params "\n{\n" REGS "\tld.global.u32 %r1, [%d1];\n\tret;\n}\n"

/* The last instruction is a jump back, and no access. */
static void a_function_that_ends_in_a_jump(void **state)
{
	EXPECT(HEAD ".func f()\n{\n" REGS "\tbra.uni LAST;\nBACK:\n\tst.global.u32 [%d1], %r1;\n\tret;\nLAST:\n\tbra.uni BACK;\n}\n"
	       ".visible .entry k()\n{\n" REGS BEGIN "\tcall f;\n" END "\tret;\n}\n",
	       ".func __warpsafe_tm_of_f", "__warpsafe_tm_write_global", "ret;", "bra.uni BACK;");
}

static void functions_get_a_second_body(void **state)
{
	EXPECT(HEAD FUNC("none", "()") FUNC("bare", "") FUNC("one", "(.param .b64 one_0)")
	       ".visible .entry k()\n{\n" REGS BEGIN "\tcall.uni none, ();\n\tcall bare;\n"
	       "\t{\n\t.param .b64 a;\n\tst.param.b64 [a], %d1;\n\tcall one, (a);\n\t}\n" END "\tcall bare;\n\tret;\n}\n",
	       "st.param.b64 [__warpsafe_t0], ", "call.uni __warpsafe_tm_of_none, (__warpsafe_t0);", "bra $ws_0;",
	       "call __warpsafe_tm_of_bare, (__warpsafe_t1);", "call __warpsafe_tm_of_one, (a, __warpsafe_t2);", "call bare;",
	       ".func __warpsafe_tm_of_none(.param .b64 __warpsafe_t)", "__warpsafe_tm_read_global", "ret;",
	       ".func __warpsafe_tm_of_bare(.param .b64 __warpsafe_t)", "__warpsafe_tm_read_global",
	       ".func __warpsafe_tm_of_one(.param .b64 one_0,\n\t.param .b64 __warpsafe_t)", "__warpsafe_tm_read_global");
}

static void results_come_before_the_question(void **state)
{
	EXPECT(HEAD ".func (.param .b32 r) f()\n{\n" REGS "\tst.param.b32 [r], %r1;\n\tret;\n}\n"
	       ".visible .entry k()\n{\n" REGS BEGIN "\t{\n\t.param .b32 v;\n\tcall (v), f;\n\tld.param.b32 %r2, [v];\n"
	       "\tadd.u32 %r3, %r2, 1;\n\t}\n" END "\tret;\n}\n",
	       "call (v), __warpsafe_tm_of_f, (__warpsafe_t0);", "ld.param.b32 %r2, [v];", "setp.ne.u32", "add.u32 %r3");
}

static void own_variables_are_forgotten(void **state)
{
	EXPECT(HEAD ".func f()\n{\n\t.local .align 8 .b8 mine[24];\n" REGS "\t@%p1 ret;\n\tst.local.u32 [mine], %r1;\n\tret;\n}\n"
	       ".visible .entry k()\n{\n" REGS BEGIN "\tcall f;\n" END "\tret;\n}\n",
	       ".func __warpsafe_tm_of_f", "@!%p1 bra", "__warpsafe_tm_forget", "@%p1 ret;", "__warpsafe_tm_write, ",
	       "__warpsafe_tm_forget", "ret;", "__warpsafe_tm_forget", "ret;");
}

/* ---- refusals ---- */
static void what_cannot_be(void **state)
{
	static const struct { const char *code, *words; } list[] = {
		{ "\tbar.sync 0;\n", "'bar.sync' waits" },
		{ "\t@%p1 bar.warp.sync -1;\n", "'bar.warp.sync' waits" },
		{ "\tvote.sync.any.pred %p1, %p2, -1;\n", "needs other lanes" },
		{ "\tcp.async.wait_all;\n", "cannot be undone" },
		{ "\texit;\n", "left by 'exit'" },
		{ "\tret;\n", "left by 'ret'" },
		{ "\tatom.global.add.noftz.f16 %h, [%d1], %h;\n", "of this type" },
		{ "\tcall %d1, (), proto;\n", "by address" },
		{ "\tcall outside;\n", "'outside' is not a function of this module" },
	};

	for (size_t k = 0; k < WS_COUNT(list); k++) {
		struct ws_buf text = { 0 };

		ws_buf_puts(&text, ".version 7.1\n.target sm_80\n.address_size 64\n.extern .func outside;\n.entry k()\n{\n" REGS
		            "\t.reg .b16 %h;\nproto: .callprototype _ ();\n" BEGIN);
		ws_buf_puts(&text, list[k].code);
		ws_buf_puts(&text, END "\tret;\n}\n");
		refused(text.data, list[k].words);
		ws_buf_free(&text);
	}
}

static void markers_without_partners(void **state)
{
	refused(KERNEL(END "\tret;\n"), "did not begin in this function");
	refused(KERNEL("\t@%p1 bra on;\n" BEGIN "on:\n" END "\tret;\n"), "a place that it also reaches");
	refused(KERNEL(BEGIN "\t@%p1 bra on;\n" BEGIN "on:\n" END "\tret;\n"), "a place that it also reaches");
	refused(KERNEL(EITHER EITHER_END "\tret;\n"), "not in a marked section");
	refused(KERNEL(BEGIN EITHER END EITHER_END "\tret;\n"), "neither is in the other one");
	refused(KERNEL(BEGIN "\t@%p1 bra in;\n" EITHER "in:\n" EITHER_END END "\tret;\n"), "a place that it also reaches");
	refused(KERNEL(BEGIN EITHER "\tret;\n" EITHER_END END "\tret;\n"), "left by 'ret'");
	refused(KERNEL(BEGIN "\tmov.b64 %d0, 0x77735f74785f6569;\n" EITHER_END END "\tret;\n"), "does not look which one");
	refused(KERNEL(BEGIN "\t@%p1 bra other;\n" BEGIN "\tbra both;\nother:\n" EITHER "both:\n" END END "\tret;\n"), "with another marked section open");
	refused(KERNEL("\t{\n" BEGIN "\t}\n" END "\tret;\n"), "in braces of assembly");
	refused(HEAD ".func f()\n{\n\t.shared .u32 s;\n\tret;\n}\n.entry k()\n{\n" REGS BEGIN "\tcall f;\n" END "\tret;\n}\n",
	        "variables of its own in shared");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_in_sections),
		cmocka_unit_test(doubled_markers_are_one_section),
		cmocka_unit_test(what_is_saved),
		cmocka_unit_test(a_section_is_a_loop_of_rounds), cmocka_unit_test(sections_that_only_read),
		cmocka_unit_test(a_module_without_markers_stays),
		cmocka_unit_test(a_retry_loses_the_attempt),
		cmocka_unit_test(a_section_in_a_section_is_undone_alone), cmocka_unit_test(alternatives), cmocka_unit_test(who_is_undone),
		cmocka_unit_test(loads_and_stores),
		cmocka_unit_test(atomics), cmocka_unit_test(the_carry_is_kept),
		cmocka_unit_test(functions_get_a_second_body), cmocka_unit_test(a_function_that_ends_in_a_jump),
		cmocka_unit_test(results_come_before_the_question),
		cmocka_unit_test(own_variables_are_forgotten),
		cmocka_unit_test(what_cannot_be),
		cmocka_unit_test(markers_without_partners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
