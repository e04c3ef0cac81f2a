/* src/rewrite: edits of a module, the accesses that are found, and the inliner; PTX in, PTX out. */
#include "tests/unit/rewrite_help.h"

static void add_line(struct work *w, uint32_t inst, enum ws_side side, const char *line)
{
	struct ws_code *c = ws_code_at(w->p, w->f, &w->f->insts[inst], side);

	ws_code_add(c, "%s", line);
	ws_code_end(c);
}

/* ---- edits ---- */
static void code_stands_before_and_after(void **state)
{
	struct work w;

	begin(&w, KERNEL("\tmov.u32 %r1, 1;mov.u32 %r2, 2; // two\n"));
	add_line(&w, 1, WS_BEFORE, "mov.u32 %r3, 3;");
	add_line(&w, 0, WS_AFTER, "mov.u32 %r4, 4;");
	add_line(&w, 0, WS_BEFORE, "mov.u32 %r5, 5;");
	add_line(&w, 0, WS_BEFORE, "mov.u32 %r6, 6;");
	expect_from(&w, "\tmov.u32 %r5",
	            "\tmov.u32 %r5, 5;\n\tmov.u32 %r6, 6;\n\tmov.u32 %r1, 1;\n\tmov.u32 %r4, 4;mov.u32 %r3, 3;\n\t"
	            "mov.u32 %r2, 2; // two\n\tret;\n}\n");
}

static void labels_and_lines_stay_before_the_code(void **state)
{
	struct work w;

	begin(&w, KERNEL("again:\n\t.loc 1 7 0\n\tst.global.u32 [%d1], %r1;\n\tbra again;\n") ".file 1 \"a.cu\"\n");
	add_line(&w, 0, WS_BEFORE, "add.u32 %r2, %r2, 1;");
	expect_from(&w, "again:", "again:\n\t.loc 1 7 0\n\tadd.u32 %r2, %r2, 1;\n\tst.global.u32 [%d1], %r1;\n\tbra again;\n"
	            "\tret;\n}\n.file 1 \"a.cu\"\n");
}

static void code_runs_under_the_guard(void **state)
{
	struct work w;
	struct ws_code *c;

	begin(&w, KERNEL("\t@%p st.global.u32 [%d1], %r1;\n\t@!%p st.global.u32 [%d1], %r1;\n"));
	add_line(&w, 0, WS_BEFORE, "add.u32 %r2, %r2, 1;");
	c = ws_code_at(w.p, w.f, &w.f->insts[1], WS_AFTER);
	ws_code_add(c, "@%s bra $ws_end;", "%p");
	ws_code_add(c, "$ws_end:");
	ws_code_end(c);
	expect_from(&w, "\t@%p add", "\t@%p add.u32 %r2, %r2, 1;\n\t@%p st.global.u32 [%d1], %r1;\n"
	            "\t@!%p st.global.u32 [%d1], %r1;\n\t@%p bra $ws_0;\n\t@%p bra $ws_end;\n\t$ws_end:\n\t$ws_0:\n"
	            "\tret;\n}\n");
}

#define SAVED "\taddc.u32 %ws_b32_0, 0, 0;\n"
#define GIVEN_BACK "\tadd.cc.u32 %ws_b32_0, %ws_b32_0, 0xffffffff;\n"

/* Calls need not keep it, and more than plain instructions may have some. */
static void code_keeps_the_carry(void **state)
{
	struct work w;

	begin(&w, KERNEL("\tst.global.u32 [%d1], %r1;\n\tadd.cc.u32 %r1, %r1, 1;\n\t@%p st.global.u32 [%d1], %r1;\n\taddc.u32 %r2, %r2, 0;\n"
	                 "\tst.global.u32 [%d1], %r2;\n"));
	add_line(&w, 0, WS_BEFORE, "{ mov.u32 %r3, 4; }");
	add_line(&w, 2, WS_BEFORE, "{ mov.u32 %r3, 4; }");
	add_line(&w, 2, WS_BEFORE, "mov.u32 %r3, 3;");
	add_line(&w, 2, WS_AFTER, "{ mov.u32 %r3, 5; }");
	add_line(&w, 4, WS_BEFORE, "{ mov.u32 %r3, 4; }");
	expect_from(&w, "\t{ mov", "\t{ mov.u32 %r3, 4; }\n\tst.global.u32 [%d1], %r1;\n\tadd.cc.u32 %r1, %r1, 1;\n"
	            SAVED "\t@!%p bra $ws_0;\n\t{ mov.u32 %r3, 4; }\n\t$ws_0:\n" GIVEN_BACK "\t@%p mov.u32 %r3, 3;\n\t@%p st.global.u32 [%d1], %r1;\n"
	            SAVED "\t@!%p bra $ws_1;\n\t{ mov.u32 %r3, 5; }\n\t$ws_1:\n" GIVEN_BACK "\taddc.u32 %r2, %r2, 0;\n"
	            "\t{ mov.u32 %r3, 4; }\n\tst.global.u32 [%d1], %r2;\n\tret;\n}\n");
}

static void a_guard_that_is_overwritten_is_refused(void **state)
{
	struct work w;

	begin(&w, KERNEL("\t@%p setp.eq.u32 %p, %r1, 0;\n"));
	add_line(&w, 0, WS_AFTER, "add.u32 %r2, %r2, 1;");
	expect_refusal(&w, "writes its own guard");
}

static void registers_variables_parameters_and_entry_code(void **state)
{
	struct work w;
	struct ws_code *c;
	const char *kept;

	begin(&w, HEAD "// first\n.global .u32 g;\n.visible .entry k(.param .u64 p) {\n\tret;\n}\n");
	kept = ws_rw_register(w.p, w.f, WS_U64);
	c = ws_code_entry(w.p, w.f);
	ws_code_add(c, "mov.u64 %s, %s;", kept, ws_code_temp(c, WS_B64));
	ws_code_end(c);
	ws_rw_shared(w.p, w.f, 16, 64, "__warpsafe_s");
	assert_true(ws_rw_param(w.p, w.f, WS_U64, "__warpsafe_q"));
	ws_rw_declare(w.p, ".global .u64 __warpsafe_%s;", "g");
	ws_rw_need(w.p, 78, 90);
	expect_from(&w, ".version", ".version 7.8\n.target sm_90\n.address_size 64\n// first\n.global .u64 __warpsafe_g;\n"
	            ".global .u32 g;\n.visible .entry k(.param .u64 p,\n\t.param .u64 __warpsafe_q) {\n"
	            "\t.reg .u64 \t%ws_kept_u64_<1>;\n\t.reg .b64 \t%ws_b64_<1>;\n"
	            "\t.shared .align 16 .b8 __warpsafe_s[64];\n\tmov.u64 %ws_kept_u64_0, %ws_b64_0;\n\tret;\n}\n");
}

static void the_first_parameter_of_a_kernel(void **state)
{
	static const char *const heads[][2] = {
		{ ".entry k {", ".entry k(.param .u32 q) {" },
		{ ".entry k ( ) .maxntid 3 {", ".entry k (.param .u32 q ) .maxntid 3 {" },
		{ ".entry k{", ".entry k(.param .u32 q){" },
	};

	for (size_t k = 0; k < WS_COUNT(heads); k++) {
		struct ws_buf in = { 0 }, out = { 0 };
		struct work w;

		ws_buf_printf(&in, HEAD "%s ret; }\n", heads[k][0]);
		ws_buf_printf(&out, "%s ret; }\n", heads[k][1]);
		begin(&w, in.data);
		assert_true(ws_rw_param(w.p, w.f, WS_U32, "q"));
		expect_from(&w, ".entry", out.data);
		ws_buf_free(&in);
		ws_buf_free(&out);
	}
}

static void functions_and_twice_declared_kernels_take_no_parameter(void **state)
{
	struct work w;

	begin(&w, HEAD ".func f() { ret; }\n");
	assert_false(ws_rw_param(w.p, w.f, WS_U32, "q"));
	expect_refusal(&w, "no kernel");
	begin(&w, HEAD ".entry k(.param .u32 a);\n.entry k(.param .u32 a) { ret; }\n");
	assert_false(ws_rw_param(w.p, w.f, WS_U32, "q"));
	expect_refusal(&w, "declared twice");
}

static void old_code_is_not_raised_to_targets_that_lack_its_instructions(void **state)
{
	struct work w;

	begin(&w, KERNEL("\tshfl.idx.b32 %r1, %r2, 0, 31;\n"));
	ws_rw_need(w.p, 60, 70);
	expect_refusal(&w, "before sm_70");
	begin(&w, ".version 8.0\n.target sm_90a\n.address_size 64\n");
	ws_rw_need(w.p, 86, 100);
	expect_refusal(&w, "runs there alone");
}

static void what_was_rewritten_is_refused(void **state)
{
	struct work w;

	begin(&w, HEAD ".global .u32 __warpsafe_x;\n");
	expect_refusal(&w, "rewritten already");
	begin(&w, HEAD);
	assert_true(ws_rw_end(w.p));
	assert_false(ws_rewrite("nonsense", w.m, &w.sink));
	assert_non_null(strstr(w.said.data, "there is no pass 'nonsense'"));
	finish(&w);
}

static void addresses_in_every_form(void **state)
{
	static const struct { const char *inst, *code, *code32; } forms[] = {
		{ "ld.global.u32 %r1, [%d1];", "", "cvt.u32.u64 %ws_b32_0, %d1;\n" },
		{ "ld.global.u32 %r1, [%d1+-8];", "add.s64 %ws_b64_0, %d1, -8;\n",
		  "cvt.u32.u64 %ws_b32_0, %d1;\nadd.s32 %ws_b32_0, %ws_b32_0, -8;\n" },
		{ "ld.shared.u32 %r1, [%r2];", "cvt.u64.u32 %ws_b64_0, %r2;\n", "" },
		{ "ld.shared.u32 %r1, [%r2+4];", "add.s32 %ws_b32_0, %r2, 4;\ncvt.u64.u32 %ws_b64_0, %ws_b32_0;\n",
		  "add.s32 %ws_b32_0, %r2, 4;\n" },
		{ "ld.shared.u32 %r1, [s+4];", "mov.u64 %ws_b64_0, s;\nadd.s64 %ws_b64_0, %ws_b64_0, 4;\n",
		  "mov.u32 %ws_b32_0, s;\nadd.s32 %ws_b32_0, %ws_b32_0, 4;\n" },
		{ "ld.shared.u32 %r1, [16];", "mov.u64 %ws_b64_0, 0;\nadd.s64 %ws_b64_0, %ws_b64_0, 16;\n",
		  "mov.u32 %ws_b32_0, 0;\nadd.s32 %ws_b32_0, %ws_b32_0, 16;\n" },
	};

	for (size_t k = 0; k < 2 * WS_COUNT(forms); k++) {
		struct ws_buf text = { 0 };
		struct work w;
		struct ws_rw_access *a;
		struct ws_code *c;
		uint32_t n;

		ws_buf_puts(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n\t.reg .u32 %r<9>;\n\t.reg .u64 %d<9>;\n"
		            "\t.shared .u32 s[4];\n");
		ws_buf_puts(&text, forms[k / 2].inst);
		ws_buf_puts(&text, "\nret; }\n");
		begin(&w, text.data);
		a = ws_rw_accesses(w.f, &n);
		assert_int_equal(n, 1);
		c = ws_code_at(w.p, w.f, a->inst, WS_BEFORE);
		if (k % 2)
			ws_code_address32(c, a);
		else
			ws_code_address(c, a);
		assert_string_equal(c->text.data ? c->text.data : "", k % 2 ? forms[k / 2].code32 : forms[k / 2].code);
		ws_code_end(c);
		assert_true(ws_rw_end(w.p));
		ws_buf_free(&text);
		finish(&w);
	}
}

/* ---- accesses ---- */
static void accesses_are_what_they_are(void **state)
{
	static const struct {
		const char *text;
		enum ws_rw_class class;
		enum ws_rw_kind kind;
		enum ws_space space;
		uint32_t bytes;
		enum ws_sem sem;
		enum ws_scope scope;
	} rows[] = {
		{ "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];", WS_RW_CHECK, WS_RW_READ, WS_SPACE_GLOBAL, 16,
		  WS_SEM_WEAK, WS_SCOPE_NONE },
		{ "ld.u8 %r1, [%d1];", WS_RW_CHECK, WS_RW_READ, WS_SPACE_GENERIC, 1, WS_SEM_WEAK, WS_SCOPE_NONE },
		{ "ld.u32 %r1, [g];", WS_RW_CHECK, WS_RW_READ, WS_SPACE_GLOBAL, 4, WS_SEM_WEAK, WS_SCOPE_NONE },
		{ "ld.volatile.shared.u32 %r1, [%r2];", WS_RW_CHECK, WS_RW_READ, WS_SPACE_SHARED, 4, WS_SEM_VOLATILE,
		  WS_SCOPE_SYS },
		{ "ld.acquire.sys.global.u32 %r1, [%d1];", WS_RW_CHECK, WS_RW_READ, WS_SPACE_GLOBAL, 4, WS_SEM_ACQUIRE,
		  WS_SCOPE_SYS },
		{ "st.relaxed.cta.shared.u64 [%r1], %d1;", WS_RW_CHECK, WS_RW_WRITE, WS_SPACE_SHARED, 8, WS_SEM_RELAXED,
		  WS_SCOPE_CTA },
		{ "st.shared::cluster.u32 [%r1], %r2;", WS_RW_CHECK, WS_RW_WRITE, WS_SPACE_SHARED_CLUSTER, 4, WS_SEM_WEAK,
		  WS_SCOPE_NONE },
		{ "atom.global.cas.b32 %r1, [%d1], 0, 1;", WS_RW_CHECK, WS_RW_ATOMIC, WS_SPACE_GLOBAL, 4, WS_SEM_RELAXED,
		  WS_SCOPE_GPU },
		{ "red.release.cta.add.u64 [%d1], 1;", WS_RW_CHECK, WS_RW_ATOMIC, WS_SPACE_GENERIC, 8, WS_SEM_RELEASE,
		  WS_SCOPE_CTA },
		{ "ldu.global.u32 %r1, [%d1];", WS_RW_CHECK, WS_RW_READ, WS_SPACE_GLOBAL, 4, WS_SEM_WEAK, WS_SCOPE_NONE },
		{ "ld.const.u32 %r1, [%d1];", WS_RW_EXEMPT, WS_RW_READ, WS_SPACE_CONST, 4, WS_SEM_WEAK, WS_SCOPE_NONE },
		{ "ld.param.u64 %d1, [p];", WS_RW_EXEMPT, WS_RW_READ, WS_SPACE_PARAM, 8, WS_SEM_WEAK, WS_SCOPE_NONE },
		{ "st.local.u32 [%d1], 0;", WS_RW_EXEMPT, WS_RW_WRITE, WS_SPACE_LOCAL, 4, WS_SEM_WEAK, WS_SCOPE_NONE },
		{ "cp.async.ca.shared.global [%r1], [%d1], 4;", WS_RW_UNHANDLED, 0, 0, 0, 0, 0 },
		{ "cp.async.wait_all;", WS_RW_NONE, 0, 0, 0, 0, 0 },
		{ "mbarrier.init.shared.b64 [%r1], 1;", WS_RW_UNHANDLED, 0, 0, 0, 0, 0 },
		{ "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", WS_RW_UNHANDLED, 0, 0, 0, 0, 0 },
		{ "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], 1, [%r2];", WS_RW_UNHANDLED, 0, 0, 0,
		  0, 0 },
		{ "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];", WS_RW_UNHANDLED, 0, 0, 0, 0, 0 },
		{ "prefetch.global.L2 [%d1];", WS_RW_NONE, 0, 0, 0, 0, 0 },
		{ "bar.sync 0;", WS_RW_NONE, 0, 0, 0, 0, 0 },
	};

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		struct ws_buf text = { 0 };
		struct ws_rw_access *a;
		struct ws_ptx_module *m;
		uint32_t n;

		ws_buf_puts(&text, ".version 9.0\n.target sm_90\n.address_size 64\n.global .u32 g;\n.global .texref t;\n"
		            ".entry k(.param .u64 p)\n{\n.reg .u32 %r<9>;\n.reg .u64 %d<9>;\n.reg .f32 %f<9>;\n");
		ws_buf_puts(&text, rows[k].text);
		ws_buf_puts(&text, "\nret;\n}\n");
		m = ptx_good(text.data);
		a = ws_rw_accesses(m->funcs[0], &n);
		assert_int_equal(n, rows[k].class != WS_RW_NONE);
		if (n) {
			assert_int_equal(a->rw_class, rows[k].class);
			assert_true(a->rw_class == WS_RW_CHECK || a->why);
			assert_int_equal(a->kind, rows[k].kind);
			assert_int_equal(a->space, rows[k].space);
			assert_int_equal(a->bytes, rows[k].bytes);
			assert_int_equal(a->sem, rows[k].sem);
			assert_int_equal(a->scope, rows[k].scope);
			assert_true((a->address != NULL) == (a->rw_class != WS_RW_UNHANDLED));
		}
		ws_ptx_free(m);
		ws_buf_free(&text);
	}
}

/* ---- the inliner ---- */
static const char runtime[] =
	".version 6.0\n.target sm_70\n.address_size 64\n"
	".visible .global .u32 __warpsafe_seen;\n"
	/* straight: two parameters, one of them changed, a result */
	".visible .func (.param .b32 func_retval0) sum(\n.param .b32 sum_param_0,\n.param .b64 sum_param_1\n)\n{\n"
	".reg .b32 %r<5>;\n.reg .b64 %rd<3>;\n"
	"ld.param.u32 %r1, [sum_param_0];\nld.param.u64 %rd1, [sum_param_1];\ncvt.u32.u64 %r2, %rd1;\n"
	"add.s32 %r1, %r1, %r2;\nst.param.b32 [func_retval0+0], %r1;\nret;\n}\n"
	/* a loop, ret in the middle and at the end */
	".visible .func spin(\n.param .b64 spin_param_0\n)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<5>;\n.reg .b64 %rd<3>;\n"
	"ld.param.u64 %rd1, [spin_param_0];\nsetp.eq.s64 %p1, %rd1, 0;\n@%p1 ret;\n"
	"LBB1_1:\nld.global.u32 %r1, [%rd1];\nsetp.ne.s32 %p2, %r1, 0;\n@%p2 bra LBB1_1;\nret;\n}\n"
	/* a function that stays one, with one that it calls, and a variable */
	".visible .func __warpsafe_inner();\n"
	".visible .func __warpsafe_inner()\n{\n.reg .b32 %r<3>;\nld.global.u32 %r1, [__warpsafe_seen];\nret;\n}\n"
	".visible .func (.param .b32 func_retval0) __warpsafe_slow(\n.param .b64 __warpsafe_slow_param_0\n)\n{\n"
	".reg .b32 %r<3>;\n{\ncall.uni __warpsafe_inner, ();\n}\nst.param.b32 [func_retval0+0], 7;\nret;\n}\n"
	".visible .func check(\n.param .b64 check_param_0\n)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
	"ld.param.u64 %rd1, [check_param_0];\n{ // callseq 0\n.reg .b32 temp_param_reg;\n.param .b64 param0;\n"
	"st.param.b64 [param0+0], %rd1;\n.param .b32 retval0;\ncall.uni (retval0), __warpsafe_slow, (param0);\n"
	"ld.param.b32 %r1, [retval0+0];\n}\nret;\n}\n"
	/* what cannot be placed inline */
	".visible .func byte(\n.param .b32 byte_param_0\n)\n{\n.reg .b16 %rs<2>;\nld.param.u8 %rs1, [byte_param_0];\nret;\n}\n"
	".visible .func deep()\n{\n.local .align 4 .b8 depot[16];\nret;\n}\n"
	".visible .func quits()\n{\nexit;\n}\n"
	".visible .func jumps(\n.param .b32 jumps_param_0\n)\n{\n.reg .b32 %r<2>;\nld.param.u32 %r1, [jumps_param_0];\n"
	"T: .branchtargets L1, L2;\nbrx.idx %r1, T;\nL1:\nret;\nL2:\nret;\n}\n"
	".visible .func strange() { ret; }\n"
	".visible .func calls_strange() {\n{ call.uni strange, (); }\nret;\n}\n";

static void begin_inline(struct work *w, const char *text)
{
	begin(w, text);
	assert_true(ws_rw_runtime(w->p, "runtime", runtime));
}

static bool place(struct work *w, uint32_t inst, const char *function, const char *const *args, unsigned n,
		  const char *result)
{
	struct ws_code *c = ws_code_at(w->p, w->f, &w->f->insts[inst], WS_BEFORE);
	bool done = ws_inline(c, function, args, n, result);

	ws_code_end(c);
	return done;
}

static void parameters_and_results_become_registers(void **state)
{
	struct work w;
	const char *args[] = { "17", "%d1" };

	begin_inline(&w, KERNEL("\tst.global.u32 [%d1], %r1;\n"));
	assert_true(place(&w, 0, "sum", args, 2, "%r5"));
	expect_from(&w, ".visible", ".visible .entry k(.param .u64 p)\n{\n\t.reg .b32 \t%ws_b32_<2>;\n"
	            "\t.reg .pred %p;\n\t.reg .u32 %r<9>;\n\t.reg .u64 %d<9>;\n\t.shared .u32 s[4];\n"
	            "\tmov.u32 %ws_b32_0, 17;\n\tcvt.u32.u64 %ws_b32_1, %d1;\n"
	            "\tadd.s32 %ws_b32_0, %ws_b32_0, %ws_b32_1;\n\tmov.b32 %r5, %ws_b32_0;\n"
	            "\tst.global.u32 [%d1], %r1;\n\tret;\n}\n");
}

/* A parameter that the function changes is a register of its own: the program's keeps its value. */
static void a_changed_parameter_is_copied(void **state)
{
	struct work w;
	const char *args[] = { "%r3", "%d1" };

	begin_inline(&w, KERNEL("\t@%p st.global.u32 [%d1], %r1;\n"));
	assert_true(place(&w, 0, "sum", args, 2, NULL));
	expect_from(&w, "\t@%p", "\t@%p mov.u32 %ws_b32_0, %r3;\n\t@%p cvt.u32.u64 %ws_b32_1, %d1;\n"
	            "\t@%p add.s32 %ws_b32_0, %ws_b32_0, %ws_b32_1;\n\t@%p st.global.u32 [%d1], %r1;\n\tret;\n}\n");
}

static void loops_and_returns_get_labels_of_the_place(void **state)
{
	struct work w;
	const char *args[] = { "%d1" };

	begin_inline(&w, KERNEL("\tst.global.u32 [%d1], %r1;\n\t@!%p st.global.u32 [%d1], %r1;\n"));
	assert_true(place(&w, 0, "spin", args, 1, NULL));
	assert_true(place(&w, 1, "spin", args, 1, NULL));
	expect_from(&w, "\tsetp", "\tsetp.eq.s64 %ws_pred_0, %d1, 0;\n\t@%ws_pred_0 bra $ws_1;\n\t$ws_0:\n"
	            "\tld.global.u32 %ws_b32_0, [%d1];\n\tsetp.ne.s32 %ws_pred_1, %ws_b32_0, 0;\n"
	            "\t@%ws_pred_1 bra $ws_0;\n\t$ws_1:\n\tst.global.u32 [%d1], %r1;\n"
	            "\t@%p bra $ws_4;\n\tsetp.eq.s64 %ws_pred_0, %d1, 0;\n\t@%ws_pred_0 bra $ws_3;\n\t$ws_2:\n"
	            "\tld.global.u32 %ws_b32_0, [%d1];\n\tsetp.ne.s32 %ws_pred_1, %ws_b32_0, 0;\n"
	            "\t@%ws_pred_1 bra $ws_2;\n\t$ws_3:\n\t$ws_4:\n\t@!%p st.global.u32 [%d1], %r1;\n\tret;\n}\n");
}

static void called_functions_are_added_once(void **state)
{
	struct work w;
	const char *args[] = { "s" };

	begin_inline(&w, KERNEL("\tst.global.u32 [%d1], %r1;\n\tst.global.u32 [%d1], %r1;\n"));
	assert_true(place(&w, 0, "check", args, 1, NULL));
	assert_true(place(&w, 1, "check", args, 1, NULL));
	expect_from(&w, ".global .u32",
	            ".global .u32 __warpsafe_seen;\n"
	            ".func __warpsafe_inner()\n{\n.reg .b32 %r<3>;\nld.global.u32 %r1, [__warpsafe_seen];\nret;\n}\n"
	            ".func (.param .b32 func_retval0) __warpsafe_slow(\n.param .b64 __warpsafe_slow_param_0\n)\n{\n"
	            ".reg .b32 %r<3>;\n{\ncall.uni __warpsafe_inner, ();\n}\nst.param.b32 [func_retval0+0], 7;\nret;\n}\n"
	            ".visible .entry k(.param .u64 p)\n{\n\t.reg .b32 \t%ws_b32_<1>;\n\t.reg .b64 \t%ws_b64_<1>;\n"
	            "\t.reg .pred %p;\n\t.reg .u32 %r<9>;\n\t.reg .u64 %d<9>;\n\t.shared .u32 s[4];\n"
	            "\t{\n\t.param .b64 __warpsafe_p0;\n\t.param .b32 __warpsafe_p1;\n\tmov.u64 %ws_b64_0, s;\n"
	            "\tst.param.b64 [__warpsafe_p0], %ws_b64_0;\n"
	            "\tcall.uni (__warpsafe_p1), __warpsafe_slow, (__warpsafe_p0);\n"
	            "\tld.param.b32 %ws_b32_0, [__warpsafe_p1];\n\t}\n\tst.global.u32 [%d1], %r1;\n"
	            "\t{\n\t.param .b64 __warpsafe_p0;\n\t.param .b32 __warpsafe_p1;\n\tmov.u64 %ws_b64_0, s;\n"
	            "\tst.param.b64 [__warpsafe_p0], %ws_b64_0;\n"
	            "\tcall.uni (__warpsafe_p1), __warpsafe_slow, (__warpsafe_p0);\n"
	            "\tld.param.b32 %ws_b32_0, [__warpsafe_p1];\n\t}\n\tst.global.u32 [%d1], %r1;\n\tret;\n}\n");
}

static void what_cannot_be_inline_is_refused(void **state)
{
	static const struct { const char *function; unsigned nargs; const char *words; } rows[] = {
		{ "byte", 1, "not a value of 32 or 64 bits" }, { "deep", 0, "variables of its own" },
		{ "quits", 0, "ends the thread" }, { "jumps", 1, "table of branch targets" },
		{ "calls_strange", 0, "does not begin with '__warpsafe_'" }, { "nobody", 0, "has no function 'nobody'" },
		{ "sum", 1, "takes 2 arguments" },
	};
	const char *args[] = { "1", "2" };

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		struct work w;

		begin_inline(&w, KERNEL("\tst.global.u32 [%d1], %r1;\n"));
		assert_false(place(&w, 0, rows[k].function, args, rows[k].nargs, NULL));
		expect_refusal(&w, rows[k].words);
	}
}

/* ---- the pass count ---- */
static void count_has_a_counter_for_each_place(void **state)
{
	const struct ws_rw_result *r;
	struct work w;

	begin(&w, KERNEL("\tld.const.u32 %r1, [8];\n\tst.u32 [%d1], %r1;\n\tatom.shared.add.u32 %r1, [s], 1;\n"
	                 "\tmembar.gl;\n\tld.local.u32 %r1, [%d1];\n\tcp.async.ca.shared.global [%r1], [%d1], 4;\n"));
	assert_true(ws_rw_end(w.p));
	assert_true(ws_rewrite("count", w.m, &w.sink));
	r = ws_rewrite_result(w.m);
	assert_int_equal(r->nsites, 4);
	assert_int_equal(r->ncounters, 5);
	assert_int_equal(r->sites[1].counter, 1);
	assert_int_equal(r->sites[1].ncounters, WS_RW_COUNTERS);
	assert_int_equal(r->sites[2].counter, 4);
	assert_int_equal(r->sites[2].kind, WS_RW_ATOMIC);
	assert_int_equal(r->sites[3].rw_class, WS_RW_UNHANDLED);
	assert_int_equal(r->sites[3].ncounters, 0);
	assert_int_equal(strncmp(r->counters, "__warpsafe_counters_", 20), 0);
	finish(&w);
	begin(&w, HEAD ".entry k { ret; }\n");
	assert_true(ws_rewrite("count", w.m, &w.sink));
	assert_null(ws_rewrite_result(w.m)->counters);
	expect_from(&w, ".version", HEAD ".entry k { ret; }\n");
}

/* ---- the runtime is parsed once ---- */
static char *rewritten(const char *pass, const char *text)
{
	struct ws_buf out = { 0 };
	struct work w;

	begin(&w, text);
	assert_true(ws_rw_end(w.p));
	assert_true(ws_rewrite(pass, w.m, &w.sink));
	ws_ptx_print(w.m, &out);
	finish(&w);
	return out.data;
}

/* What one pass changes in the functions that it places does not come out of the next. */
static void passes_leave_nothing_in_the_runtime(void **state)
{
	static const char *const texts[] = {
		KERNEL("\tld.global.u32 %r1, [%d1];\n\tbar.sync 0;\n\tst.global.u32 [%d2], %r1;\n\tatom.shared.add.u32 %r1, [s], 1;\n"),
		KERNEL("\tst.global.v2.u32 [%d1+8], {%r1, %r2};\n\tmembar.gl;\n\tld.volatile.global.u32 %r2, [%d2];\n"),
	};
	static const char *const passes[] = { "race", "count", "tm" };
	char *first[WS_COUNT(passes)][WS_COUNT(texts)];

	for (unsigned k = 0; k < WS_COUNT(passes) * WS_COUNT(texts); k++)
		first[k / 2][k % 2] = rewritten(passes[k / 2], texts[k % 2]);
	for (unsigned k = 0; k < WS_COUNT(passes) * WS_COUNT(texts); k++) {
		char *again = rewritten(passes[k / 2], texts[k % 2]);

		assert_string_equal(again, first[k / 2][k % 2]);
		free(again);
		free(first[k / 2][k % 2]);
	}
}

/* ---- stored values ---- */
static void stored_values_are_words(void **state)
{
	static const struct { const char *inst, *code, *words[4]; } forms[] = {
		{ "st.global.u64 [%d1], %d2;", "", { "%d2", "0", "0", "0" } },
		{ "st.global.f64 [%d1], %e1;", "mov.b64 %ws_b64_0, %e1;\n", { "%ws_b64_0", "0", "0", "0" } },
		{ "st.global.u32 [%d1], %r2;", "cvt.u64.u32 %ws_b64_0, %r2;\n", { "%ws_b64_0", "0", "0", "0" } },
		{ "st.global.f32 [%d1], %f2;", "mov.b32 %ws_b32_0, %f2;\ncvt.u64.u32 %ws_b64_0, %ws_b32_0;\n",
		  { "%ws_b64_0", "0", "0", "0" } },
		{ "st.global.u32 [%d1], %d2;", "cvt.u32.u64 %ws_b32_0, %d2;\ncvt.u64.u32 %ws_b64_0, %ws_b32_0;\n",
		  { "%ws_b64_0", "0", "0", "0" } },
		{ "st.global.u8 [%d1], %r2;", "and.b32 %ws_b32_0, %r2, 255;\ncvt.u64.u32 %ws_b64_0, %ws_b32_0;\n",
		  { "%ws_b64_0", "0", "0", "0" } },
		{ "st.global.b16 [%d1], %h1;", "mov.b16 %ws_b16_0, %h1;\ncvt.u32.u16 %ws_b32_0, %ws_b16_0;\n"
		  "and.b32 %ws_b32_1, %ws_b32_0, 65535;\ncvt.u64.u32 %ws_b64_0, %ws_b32_1;\n",
		  { "%ws_b64_0", "0", "0", "0" } },
		{ "st.global.v2.u8 [%d1], {%w1, -1};", "cvt.u32.u16 %ws_b32_0, %w1;\nmov.b32 %ws_b32_1, 65280;\n"
		  "bfi.b32 %ws_b32_1, %ws_b32_0, %ws_b32_1, 0, 8;\ncvt.u64.u32 %ws_b64_0, %ws_b32_1;\n",
		  { "%ws_b64_0", "0", "0", "0" } },
		{ "st.global.v4.u16 [%d1], {%w1, %w2, 7, 8};", "cvt.u32.u16 %ws_b32_0, %w1;\ncvt.u32.u16 %ws_b32_1, %w2;\n"
		  "and.b32 %ws_b32_2, %ws_b32_0, 65535;\nbfi.b32 %ws_b32_2, %ws_b32_1, %ws_b32_2, 16, 16;\n"
		  "mov.b32 %ws_b32_3, 524295;\nmov.b64 %ws_b64_0, {%ws_b32_2, %ws_b32_3};\n", { "%ws_b64_0", "0", "0", "0" } },
		{ "st.global.v4.u32 [%d1], {%r1, %r2, %r3, 9};", "mov.b64 %ws_b64_0, {%r1, %r2};\n"
		  "mov.b32 %ws_b32_0, 9;\nmov.b64 %ws_b64_1, {%r3, %ws_b32_0};\n", { "%ws_b64_0", "%ws_b64_1", "0", "0" } },
		{ "st.global.v2.u32 [%d1], %v;", "mov.b64 %ws_b64_0, {%v.x, %v.y};\n", { "%ws_b64_0", "0", "0", "0" } },
		{ "st.global.v2.u64 [%d1], {%d2, 5};", "", { "%d2", "5", "0", "0" } },
		{ "st.global.v4.u64 [%d1], {%d2, 5, 6, %d3};", "", { "%d2", "5", "6", "%d3" } },
		{ "st.global.b128 [%d1], %q;", "mov.b128 {%ws_b64_0, %ws_b64_1}, %q;\n", { "%ws_b64_0", "%ws_b64_1", "0", "0" } },
		{ "st.global.f32 [%d1], 0f3F800000;", "", { "1065353216", "0", "0", "0" } },
		{ "st.global.f32 [%d1], 0d3FF0000000000000;", "", { "1065353216", "0", "0", "0" } },
		{ "st.global.f64 [%d1], 0f3F800000;", "", { "4607182418800017408", "0", "0", "0" } },
		{ "st.global.u32 [%d1], -1;", "", { "4294967295", "0", "0", "0" } },
		{ "st.global.v2.u32 [%d1], {-1, 1};", "", { "8589934591", "0", "0", "0" } },
	};

	for (size_t k = 0; k < WS_COUNT(forms); k++) {
		struct ws_buf text = { 0 };
		const char *words[4];
		struct work w;
		struct ws_code *c;
		uint32_t n;

		ws_buf_printf(&text, ".version 9.0\n.target sm_100\n.address_size 64\n.entry k(.param .u64 p)\n{\n.reg .u32 %%r<9>;\n"
		              ".reg .u64 %%d<9>;\n.reg .f32 %%f<9>;\n.reg .f64 %%e<9>;\n.reg .b16 %%w<9>;\n.reg .f16 %%h<9>;\n"
		              ".reg .v2 .u32 %%v;\n.reg .b128 %%q;\n%s\nret;\n}\n", forms[k].inst);
		begin(&w, text.data);
		c = ws_code_at(w.p, w.f, &w.f->insts[0], WS_BEFORE);
		ws_code_stored(c, &ws_rw_accesses(w.f, &n)[0], words);
		assert_string_equal(c->text.data ? c->text.data : "", forms[k].code);
		for (unsigned i = 0; i < 4; i++)
			assert_string_equal(words[i], forms[k].words[i]);
		ws_code_end(c);
		assert_true(ws_rw_end(w.p));
		ws_buf_free(&text);
		finish(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_stands_before_and_after),
		cmocka_unit_test(labels_and_lines_stay_before_the_code),
		cmocka_unit_test(code_runs_under_the_guard),
		cmocka_unit_test(code_keeps_the_carry),
		cmocka_unit_test(a_guard_that_is_overwritten_is_refused),
		cmocka_unit_test(registers_variables_parameters_and_entry_code),
		cmocka_unit_test(the_first_parameter_of_a_kernel),
		cmocka_unit_test(functions_and_twice_declared_kernels_take_no_parameter),
		cmocka_unit_test(old_code_is_not_raised_to_targets_that_lack_its_instructions),
		cmocka_unit_test(what_was_rewritten_is_refused),
		cmocka_unit_test(addresses_in_every_form),
		cmocka_unit_test(accesses_are_what_they_are),
		cmocka_unit_test(parameters_and_results_become_registers),
		cmocka_unit_test(a_changed_parameter_is_copied),
		cmocka_unit_test(loops_and_returns_get_labels_of_the_place),
		cmocka_unit_test(called_functions_are_added_once),
		cmocka_unit_test(what_cannot_be_inline_is_refused),
		cmocka_unit_test(count_has_a_counter_for_each_place),
		cmocka_unit_test(passes_leave_nothing_in_the_runtime),
		cmocka_unit_test(stored_values_are_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
