/* test_fixed.c - src/rewrite/fixed.c: which kernels do the same accesses in all launches with the same parameters, and that those
 * of which it says so have a race with all data or with none. */
#include "noise.h"
#include "race_rig.h"
#include "rewrite/async.h"
#include "rewrite/probe.h"

#define KERNEL(body) ".version 7.8\n.target sm_80\n.address_size 64\n" \
	".global .align 4 .b32 there[64]; .const .align 4 .b32 k0[4]; .shared .align 4 .b8 s[1024];\n" \
	".visible .entry k(.param .u64 out, .param .u32 n)\n{\n" \
	".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .f32 %f<9>;\n" \
	"ld.param.u64 %d0, [out]; ld.param.u32 %r1, [n]; mov.u32 %r0, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;\n" \
	"mad.lo.s32 %r4, %r2, 64, %r0; mul.wide.u32 %d1, %r4, 4; add.s64 %d2, %d0, %d1;\n" body "END: ret;\n}\n"

static bool is_fixed(const char *text, size_t *nparams)
{
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", text, strlen(text), NULL, &sink);
	struct ws_probe_value *params;
	const struct ws_rw_access *list;
	uint32_t n;
	bool is;

	if (!m)
		fail_msg("%s", said.data);
	list = ws_rw_accesses(m->funcs[0], &n);
	list = ws_rw_with_copies(m->funcs[0], list, n, 0);
	is = ws_launch_is_fixed(m->funcs[0], list, n, &params, nparams);
	ws_ptx_free(m);
	return is;
}

static void what_decides_must_be_known(void **state)
{
	static const struct { bool fixed; size_t nparams; const char *text; } rows[] = {
		{ true, 1, KERNEL("st.global.u32 [%d2], %r0;") },
		{ true, 2, KERNEL("setp.ge.u32 %p1, %r4, %r1; @%p1 bra END; st.global.u32 [%d2], %r0;") },
		{ true, 1, KERNEL("ld.global.u32 %r5, [%d2]; add.u32 %r5, %r5, %r1; st.global.u32 [%d2], %r5;") },
		{ true, 1, KERNEL("setp.eq.u32 %p1, %r2, %r3; @%p1 bra END; bar.sync 0; st.global.u32 [%d2], %r0;") },
		{ true, 2, KERNEL("L: st.global.u32 [%d2], %r0; add.u32 %r4, %r4, 7; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L;") },
		{ true, 1, KERNEL("ld.global.f32 %f1, [%d2]; setp.lt.f32 %p1, %f1, 0f00000000; @%p1 mov.f32 %f1, 0f00000000;\n"
			"st.global.f32 [%d2], %f1;") },
		{ true, 1, KERNEL("mov.u32 %r5, s; cp.async.ca.shared.global [%r5], [%d2], 4; cp.async.wait_all; bar.sync 0;\n"
			"ld.shared.u32 %r6, [s]; st.global.u32 [%d2], %r6;") },
		{ false, 0, KERNEL("mov.u32 %r5, s; ld.global.u64 %d3, [%d2]; cp.async.ca.shared.global [%r5], [%d3], 4;\n"
			"cp.async.wait_all; st.global.u32 [%d2], %r5;") },
		{ false, 0, KERNEL("ld.global.u32 %r5, [%d2]; mul.wide.u32 %d3, %r5, 4; add.s64 %d4, %d0, %d3; st.global.u32 [%d4], %r0;") },
		{ false, 0, KERNEL("ld.global.u32 %r5, [%d2]; setp.eq.u32 %p1, %r5, 0; @%p1 st.global.u32 [%d2], %r0;") },
		{ false, 0, KERNEL("ld.global.u32 %r5, [%d2]; setp.eq.u32 %p1, %r5, 0; @%p1 bra END; st.global.u32 [%d2], %r0;") },
		{ false, 0, KERNEL("ld.global.u32 %r5, [%d2]; setp.eq.u32 %p1, %r5, 0; @%p1 bra M; bar.sync 0;\nM: bar.sync 0; st.global.u32 [%d2], %r0;") },
		{ false, 0, KERNEL("ld.global.u32 %r5, [%d2]; mov.u32 %r6, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra M; mov.u32 %r6, 2;\n"
			"M: mad.wide.u32 %d4, %r6, 4, %d0; st.global.u32 [%d4], %r0;") },
		{ false, 0, KERNEL("ld.global.u32 %r5, [%d2]; setp.eq.u32 %p1, %r5, 0; selp.u32 %r6, 1, 2, %p1;\n"
			"mad.wide.u32 %d4, %r6, 4, %d0; st.global.u32 [%d4], %r0;") },
		{ false, 0, KERNEL("ld.global.u32 %r5, [%d2]; L: st.global.u32 [%d2], %r0; add.u32 %r4, %r4, 7; setp.lt.u32 %p1, %r4, %r5; @%p1 bra L;") },
		{ false, 0, KERNEL("ld.const.u32 %r5, [k0]; mad.wide.u32 %d4, %r5, 4, %d0; st.global.u32 [%d4], %r0;") },
		{ false, 0, KERNEL("mov.u32 %r5, %clock; mad.wide.u32 %d4, %r5, 4, %d0; st.global.u32 [%d4], %r0;") },
		{ false, 0, KERNEL("mov.u32 %r5, %smid; setp.eq.u32 %p1, %r5, 0; @%p1 st.global.u32 [%d2], %r0;") },
		{ false, 0, KERNEL("shfl.sync.idx.b32 %r5, %r0, 3, 31, -1; mad.wide.u32 %d4, %r5, 4, %d0; st.global.u32 [%d4], %r0;") },
		{ false, 0, KERNEL("atom.global.add.u32 %r5, [%d0], 1; st.global.u32 [%d2+512], %r0;") },
		{ false, 0, KERNEL("st.global.u32 [%d2], %r0; membar.gl; ld.global.u32 %r5, [%d0];") },
		{ false, 0, KERNEL("st.volatile.global.u32 [%d2], %r0;") },
		{ true, 1, KERNEL("st.global.u8 [%d2], %r0;") },
		{ true, 1, KERNEL("ld.global.u16 %r5, [%d2]; st.global.u16 [%d2+2], %r5;") },
		{ false, 0, KERNEL("ld.global.u8 %r5, [%d2]; cvt.u64.u32 %d3, %r5; add.s64 %d4, %d0, %d3; st.global.u8 [%d4], %r0;") },
		{ false, 0, KERNEL("st.u32 [%d2], %r0;") },
		{ false, 0, KERNEL("ld.global.u32 %r5, [%d2]; bar.warp.sync %r5; st.global.u32 [%d2], %r0;") },
		{ false, 0, KERNEL("shr.u32 %r5, %r0, 5; sub.u32 %r5, 0, %r5; bar.warp.sync %r5; st.global.u32 [%d2], %r0;") },
		{ true, 1, KERNEL("bar.warp.sync -1; bar.warp.sync 0xffffffff; st.global.u32 [%d2], %r0;") },
		{ false, 0, KERNEL("bar.sync 0, 32; st.global.u32 [%d2], %r0;") },
		{ false, 0, KERNEL("mad.wide.u32 %d4, %r9, 4, %d0; st.global.u32 [%d4], %r0;") },
		{ true, 0, KERNEL("mov.u64 %d4, there; st.global.u32 [%d4], %r0;") },
	};
	size_t nparams;

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		if (is_fixed(rows[k].text, &nparams) != rows[k].fixed)
			fail_msg("%s is expected to be %s", rows[k].text, rows[k].fixed ? "fixed" : "not fixed");
		if (rows[k].fixed)
			assert_int_equal(nparams, rows[k].nparams);
	}
}

/* ---- random kernels, with two kinds of data ---- */
enum { KERNELS = 120, THREADS = 64, BLOCKS = 2 };

/* %v is data and %i is not, as long as nobody says so. */
static void statement(struct ws_buf *b, unsigned label, bool parts)
{
	static const char *const plain[] = {
		"mov.u32 %i, %r0;\n", "mov.u32 %i, %r4;\n", "xor.b32 %i, %i, 1;\n", "and.b32 %i, %i, 31;\n", "shr.u32 %i, %i, 1;\n",
		"mov.u32 %i, %v;\n", "bar.sync 0;\n", "bar.warp.sync -1;\n", "add.u32 %v, %v, %i;\n", "and.b32 %v, %v, 63;\n", "mov.u32 %v, 3;\n",
	};

	if (below(3)) {
		ws_buf_puts(b, plain[below(WS_COUNT(plain))]);
		return;
	}
	ws_buf_puts(b, "mad.wide.u32 %d5, %i, 4, %d0; and.b32 %r10, %i, 127; mad.lo.u32 %r10, %r10, 4, %r11;\n");
	switch (below(parts ? 11 : 7)) {
	case 7:
		ws_buf_printf(b, "st.global.u8 [%%d5+%u], %%r0;\n", below(4));
		break;
	case 8:
		ws_buf_printf(b, "ld.global.u8 %%v, [%%d5+%u]; and.b32 %%v, %%v, 127;\n", below(4));
		break;
	case 9:
		ws_buf_printf(b, "st.shared.u%u [%%r10+2], %%v;\n", below(2) ? 8 : 16);
		break;
	case 10:
		ws_buf_printf(b, "ld.shared.u%u %%v, [%%r10+%u]; and.b32 %%v, %%v, 127;\n", below(2) ? 8 : 16, 2 * below(2));
		break;
	case 0:
		ws_buf_puts(b, "st.global.u32 [%d5], %r0;\n");
		break;
	case 1:
		ws_buf_puts(b, "ld.global.u32 %v, [%d5]; and.b32 %v, %v, 127;\n");
		break;
	case 2:
		ws_buf_puts(b, "st.shared.u32 [%r10], %v;\n");
		break;
	case 3:
		ws_buf_puts(b, "ld.shared.u32 %v, [%r10]; and.b32 %v, %v, 127;\n");
		break;
	case 4:
		ws_buf_printf(b, "setp.gt.u32 %%p1, %s, 20; @%%p1 bra M%u; st.global.u32 [%%d5], %%r0;\nM%u:\n", below(2) ? "%v" : "%i", label, label);
		break;
	case 5:
		ws_buf_printf(b, "setp.gt.u32 %%p1, %s, 20; @%%p1 mov.u32 %%i, 5;\n", below(2) ? "%v" : "%r0");
		break;
	default:
		ws_buf_printf(b, "setp.gt.u32 %%p1, %s, 20; @%%p1 st.shared.u32 [%%r10], %%r0;\n", below(2) ? "%v" : "%i");
	}
}

static void make(struct ws_buf *b, bool parts)
{
	ws_buf_puts(b, PTX_HEAD ".shared .align 4 .b8 s[512];\n.visible .entry k(.param .u64 out)\n{\n"
	            ".reg .pred %p<3>; .reg .b32 %r<12>, %i, %v; .reg .b64 %d<9>;\n"
	            "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r4, %r2, 64, %r0; mov.u32 %r11, s;\n"
	            "mul.wide.u32 %d1, %r4, 4; add.s64 %d2, %d0, %d1; ld.global.u32 %v, [%d2+1024]; mov.u32 %i, %r4;\n");
	for (unsigned k = 0; k < 9; k++)
		statement(b, k, parts);
	ws_buf_puts(b, "ret;\n}\n");
}

enum outcome { NOTHING, RACE, NOT_KNOWN };   /* NOT_KNOWN: no race, but something was counted that is not known */

static enum outcome finds(const char *text, uint64_t data)
{
	struct ws_gpu_config c = { .divergence = WS_DIV_ITS, .host_threads = 1, .schedule = WS_SCHED_RANDOM, .seed = data };
	struct race_rig r = race_new_by("race-all", c, text);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 12);
	uint64_t params[] = { m->addr };
	enum outcome found;

	noise = data;
	for (unsigned k = 0; k < 1024; k++)
		((uint32_t *)(void *)m->host)[k] = below(128);
	rig_run(&r.rig, "k", BLOCKS, THREADS, params);
	found = race_found(&r.tables, 0) ? RACE : r.tables.counts->lost + r.tables.counts->undecided ? NOT_KNOWN : NOTHING;
	race_free(&r);
	return found;
}

/* Under schedules and with data of which none are alike. */
static void data_changes_nothing(bool parts)
{
	unsigned fixed = 0, found[3] = { 0 }, kernels = rig_rounds(KERNELS);

	for (unsigned n = 0; n < kernels; n++) {
		struct ws_buf text = { 0 };
		size_t nparams;

		noise = n;
		make(&text, parts);
		if (is_fixed(text.data, &nparams)) {
			unsigned of[3] = { 0 };

			for (unsigned k = 1; k <= 3; k++)
				of[finds(text.data, k)]++;
			if (of[RACE] && of[NOTHING])
				fail_msg("kernel %u: data decides whether there is a race\n%s", n, text.data);
			fixed++;
			found[of[RACE] ? RACE : of[NOT_KNOWN] ? NOT_KNOWN : NOTHING]++;
		}
		ws_buf_free(&text);
	}
	print_message("%u kernels: %u fixed, %u of them with races, %u not known\n", kernels, fixed, found[RACE], found[NOT_KNOWN]);
	assert_true(fixed > kernels / 8 && fixed < kernels && found[RACE] > fixed / 8 && found[NOTHING]);
	assert_int_equal(found[NOT_KNOWN], 0);
}

static void data_changes_nothing_of_words(void **state)
{
	data_changes_nothing(false);
}

static void data_changes_nothing_of_parts(void **state)
{
	data_changes_nothing(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_decides_must_be_known), cmocka_unit_test(data_changes_nothing_of_words),
	                                    cmocka_unit_test(data_changes_nothing_of_parts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
