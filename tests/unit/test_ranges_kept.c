/* test_ranges_kept.c - src/rewrite/ranges_kept.c: what proofs of loops in loops keep in memory. Each counter begins with what the one around it has come to,
 * so the same sums are made again and again, for each access: 217 MB of them in this kernel, and 4.5 GB of a Fourier transform's. */
#include "ranges_rig.h"

enum { LOOPS = 4, STORES = 40 };

static void print_kernel(struct ws_buf *b)
{
	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n.reg .pred %p<9>; .reg .b32 %r<200>;\n"
		".shared .align 4 .b8 s[16384];\nmov.u32 %r10, %tid.x; mov.u32 %r2, %ntid.x; ld.param.u32 %r5, [n]; mov.u32 %r6, s;\n");
	for (unsigned k = 0; k < LOOPS; k++)
		ws_buf_printf(b, "mov.u32 %%r%u, %%r%u;\nLOOP%u:\n", 11 + k, 10 + k, k);
	for (unsigned k = 0; k < STORES; k++)
		ws_buf_printf(b, "shl.b32 %%r%u, %%r%u, 2; add.s32 %%r%u, %%r6, %%r%u; st.shared.u32 [%%r%u+%u], %%r2;\n", 40 + k, 10 + LOOPS, 100 + k, 40 + k,
		              100 + k, 4 * k);
	for (unsigned k = LOOPS; k-- > 0;)
		ws_buf_printf(b, "add.s32 %%r%u, %%r%u, %%r2; setp.lt.s32 %%p%u, %%r%u, %%r5; mov.u32 %%r%u, %%r%u; @%%p%u bra LOOP%u;\n", 20 + k, 11 + k, k, 11 + k,
		              11 + k, 20 + k, k, k);
	ws_buf_puts(b, "bar.sync 0;\nret;\n}\n");
}

static void loops_in_loops(void **state)
{
	enum { MOST = 8 << 20 };
	struct ws_buf text = { 0 };
	struct ws_ptx_module *m;

	print_kernel(&text);
	m = passed(text.data);
	assert_in_range(ws_arena_bytes(m->arena), 1, MOST);
	ws_ptx_free(m);
	ws_buf_free(&text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(loops_in_loops) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
