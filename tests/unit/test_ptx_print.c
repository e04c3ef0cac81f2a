/* Printing: a module as it was read, an instruction in canonical form that is read again and printed the same. */
#include "tests/unit/ptx_help.h"

static int by_offset(const void *a, const void *b)
{
	const struct ws_ptx_func *x = *(struct ws_ptx_func *const *)a, *y = *(struct ws_ptx_func *const *)b;

	return (x->off > y->off) - (x->off < y->off);
}

/* The text with every instruction in canonical form. */
static void canonical(struct ws_ptx_module *m, struct ws_buf *out)
{
	struct ws_ptx_func **f = ws_alloc((m->nfuncs + 1) * sizeof *f);
	size_t at = 0;

	memcpy(f, m->funcs, m->nfuncs * sizeof *f);
	qsort(f, m->nfuncs, sizeof *f, by_offset);
	for (uint32_t k = 0; k < m->nfuncs; k++)
		for (uint32_t n = 0; n < f[k]->ninsts; n++) {
			ws_buf_add(out, m->text + at, f[k]->insts[n].off - at);
			ws_ptx_print_inst(f[k], &f[k]->insts[n], out);
			at = f[k]->insts[n].off + (size_t)f[k]->insts[n].len;
		}
	ws_buf_add(out, m->text + at, m->text_len - at);
	free(f);
}

static void golden_modules_reach_a_fixpoint(void **state)
{
	static const char *const files[] = {"instructions", "tensor",        "declarations",
					    "control",      "nvcc_lineinfo", "clang_lines", "positions"};

	for (size_t k = 0; k < WS_COUNT(files); k++) {
		struct ws_buf path = { 0 }, same = { 0 }, first = { 0 }, second = { 0 };
		struct ws_ptx_module *m, *again;
		size_t len;
		char *text;

		ws_buf_printf(&path, "tests/golden/ptx/%s.ptx", files[k]);
		text = ws_read_file(path.data, &len);
		if (!text)
			skip();          /* run from another folder */
		m = ptx_good(text);
		ws_ptx_print(m, &same);
		assert_int_equal(same.len, len);
		assert_memory_equal(same.data, text, len);
		canonical(m, &first);
		again = ptx_good(first.data);
		canonical(again, &second);
		assert_string_equal(first.data, second.data);
		ws_ptx_free(m);
		ws_ptx_free(again);
		ws_buf_free(&path);
		ws_buf_free(&same);
		ws_buf_free(&first);
		ws_buf_free(&second);
		free(text);
	}
}

static const struct { const char *text, *printed;
} cases[] = {
	{"add.s32 %r1,%r2,3 ;", "add.s32 %r1, %r2, 3;"},
	{"@!%p1\tbra\tL;", "@!%p1 bra L;"},
	{"bra.uni L;", "bra.uni L;"},
	{"ld.global.relaxed.sys.u32 %r1,[%d1+4*2];", "ld.relaxed.sys.global.u32 %r1, [%d1+8];"},
	{"ld.global.b32 %r1,[%d1-4];", "ld.global.b32 %r1, [%d1+-4];"},
	{"ld.shared::cta.u32 %r1, [0x10];", "ld.shared.u32 %r1, [16];"},
	{"ld.mmio.relaxed.sys.global.u32 %r1, [%d1];", "ld.mmio.relaxed.sys.global.u32 %r1, [%d1];"},
	{"ld.global.nc.L1::no_allocate.L2::cache_hint.v2.u32 {%r1,%r2},[%d1],%d2;",
	 "ld.global.nc.L1::no_allocate.L2::cache_hint.v2.u32 {%r1, %r2}, [%d1], %d2;"},
	{"atom.global.acquire.gpu.add.u32 %r1, [%d1], 1;", "atom.acquire.gpu.global.add.u32 %r1, [%d1], 1;"},
	{"setp.lt.and.s32 %p1|%p2, %r1, 0xffffffff, !%p3;", "setp.lt.and.s32 %p1|%p2, %r1, 4294967295, !%p3;"},
	{"mov.f32 %f1, 0F3f800000;", "mov.f32 %f1, 0f3F800000;"},
	{"mov.f64 %g1, 1.0;", "mov.f64 %g1, 0d3FF0000000000000;"},
	{"mov.u32 %r1, %tid .x;", "mov.u32 %r1, %tid.x;"},
	{"mov.b64 %d1, {%r1,%r2};", "mov.b64 %d1, {%r1, %r2};"},
	{"membar.gl;", "membar.gl;"},
	{"membar.sys;", "membar.sys;"},
	{"fence.proxy.async.global;", "fence.proxy.async.global;"},
	{"bar.sync 0;", "bar.sync 0;"},
	{"bar.warp.sync 0xffffffff;", "bar.warp.sync 4294967295;"},
	{"barrier.sync.aligned 0, 64;", "barrier.sync.aligned 0, 64;"},
	{"barrier.cluster.arrive.relaxed;", "barrier.cluster.arrive.relaxed;"},
	{"mad.lo.cc.s32 %r1, %r2, %r3, %r4;", "mad.lo.cc.s32 %r1, %r2, %r3, %r4;"},
	{"fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4;", "fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4;"},
	{"prmt.b32.f4e %r1, %r2, %r3, %r4;", "prmt.b32.f4e %r1, %r2, %r3, %r4;"},
	{"vadd.s32.s32.s32.sat.max %r1, %r2.b3, -%r3, %r4;", "vadd.s32.s32.s32.sat.max %r1, %r2.b3, -%r3, %r4;"},
	{"vadd2.u32.u32.u32 %r1.h10, %r2.h32, %r3, %r4;", "vadd2.u32.u32.u32 %r1.h10, %r2.h32, %r3, %r4;"},
	{"shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;", "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;"},
	{"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1,{%f1,%f2}];",
	 "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}];"},
	{"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;"},
	{"call (%r1), f, (3);", "call (%r1), f, (3);"},
	{"call.uni n;", "call.uni n;"},
	{"brx.idx %r1, t;", "brx.idx %r1, t;"},
};

static void canonical_forms(void **state)
{
	for (size_t k = 0; k < WS_COUNT(cases); k++) {
		struct ws_buf body = { 0 }, out = { 0 };
		struct ws_ptx_module *m;

		ws_buf_printf(&body, "t: .branchtargets L;\n%s\nL: ret;", cases[k].text);
		m = ptx_body(".func (.reg .b32 r) f(.reg .b32 a); .func n();", body.data);
		ws_ptx_print_inst(ptx_k(m), &ptx_k(m)->insts[0], &out);
		assert_string_equal(out.data, cases[k].printed);
		ws_ptx_free(m);
		ws_buf_free(&body);
		ws_buf_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_modules_reach_a_fixpoint),
		cmocka_unit_test(canonical_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
