/* test_ranges_digits.c - src/rewrite/ranges_digits.c: rows of a `size_t` pitch that are read by rounds, of two arrays in turn, and written one by one. */
#include "ranges_rig.h"

/* Thread t reads word t of the first rows of a, and of as many from row `from` + 8 * block on, by rounds of four; and writes `written` ones from row
 * 8 + 8 * block on. The third parameter is the pitch, in words. */
struct slab { unsigned rounds, from, written, apart; };          /* apart: what it writes lies so many rows of the pitch from each other */

static const char *kernel_of(const struct slab *s)
{
	static struct ws_buf b;

	b.len = 0;
	ws_buf_puts(&b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 pitch)\n{\n"
		".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<90>;\n"
		"ld.param.u64 %rd20, [a]; ld.param.u64 %rd3, [pitch]; cvta.to.global.u64 %rd1, %rd20; mov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x;\n"
		"shl.b64 %rd5, %rd3, 2; mul.wide.u32 %rd6, %r3, 4; add.s64 %rd7, %rd1, %rd6; mul.wide.u32 %rd8, %r1, 8; mul.lo.s64 %rd9, %rd8, %rd5;\n");
	ws_buf_printf(&b, "add.s64 %%rd10, %%rd7, %%rd9; mul.lo.s64 %%rd11, %%rd5, %u; add.s64 %%rd31, %%rd10, %%rd11;\n", s->from);
	ws_buf_puts(&b, "mul.lo.s64 %rd12, %rd5, 8; add.s64 %rd50, %rd10, %rd12; mov.u64 %rd30, %rd7; mov.u32 %r8, 0;\nLOOP:\n");
	for (unsigned k = 0; k < 4; k++) {           /* each from the one before, as compilers have it */
		ws_buf_printf(&b, "ld.global.u32 %%r9, [%%rd%u]; ld.global.u32 %%r10, [%%rd%u];\n", k ? 32 + 2 * k : 30, k ? 33 + 2 * k : 31);
		ws_buf_printf(&b, "add.s64 %%rd%u, %%rd%u, %%rd5; add.s64 %%rd%u, %%rd%u, %%rd5;\n", 34 + 2 * k, k ? 32 + 2 * k : 30, 35 + 2 * k, k ? 33 + 2 * k : 31);
	}
	ws_buf_printf(&b, "mov.u64 %%rd30, %%rd40; mov.u64 %%rd31, %%rd41; add.s32 %%r8, %%r8, 4; setp.ne.s32 %%p1, %%r8, %u; @%%p1 bra LOOP;\n", 4 * s->rounds);
	ws_buf_printf(&b, "mul.lo.s64 %%rd2, %%rd5, %u;\n", s->apart);
	for (unsigned k = 0; k < s->written; k++) {
		ws_buf_printf(&b, "st.global.u32 [%%rd%u], %%r3;\n", 50 + k);
		ws_buf_printf(&b, "add.s64 %%rd%u, %%rd%u, %%rd2;\n", 51 + k, 50 + k);
	}
	ws_buf_puts(&b, "ret;\n}\n");
	return b.data;
}

#define SLABS(blocks, threads, pitch) (struct launch){ { (blocks) }, { (threads) }, 0, (pitch), 0 }

static void rows_by_rounds(void **state)
{
	static const struct slab whole = { 2, 8, 8, 1 }, half = { 1, 8, 4, 1 };

	expect(kernel_of(&whole), SLABS(3, 8, 8), NONE);
	expect(kernel_of(&whole), SLABS(3, 8, 20), NONE);
	expect(kernel_of(&whole), SLABS(3, 5, 8), NONE);
	expect(kernel_of(&whole), SLABS(3, 9, 8), ALL(3 * 9 * 8 + 3, 3 * 9 * 8));   /* its last word is the first one of the next row */
	expect(kernel_of(&whole), SLABS(3, 8, 7), ALL(3 * 8 * 8 + 3, 3 * 8 * 8));
	expect(kernel_of(&half), SLABS(3, 8, 8), NONE);
}

static void rows_of_others(void **state)
{
	static const struct slab longer = { 2, 8, 9, 1 }, reads_more = { 3, 8, 8, 1 }, before = { 2, 7, 8, 1 }, apart = { 2, 8, 8, 2 };

	expect(kernel_of(&longer), SLABS(3, 8, 8), ALL(3 * 8 * 8, 3 * 8 * 9));          /* a ninth row is the next block's */
	expect(kernel_of(&reads_more), SLABS(3, 8, 8), ALL(3 * 8 * (12 + 4), 3 * 8 * 8));      /* so are four more that are read, and four of the first rows are written */
	expect(kernel_of(&before), SLABS(3, 8, 8), ALL(3 * 8 * 8 - 8, 3 * 8 * 8));      /* the first one that is read is of the block before, but for the first */
	expect(kernel_of(&apart), SLABS(3, 8, 8), ALL(3 * 8 * 8, 3 * 8 * 8));
}

/* Three rows by a pointer that goes on by the pitch, and a read of as many words of b. */
static const char steps[] = PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n)\n{\n"
	".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<70>;\n"
	"ld.param.u64 %rd20, [a]; ld.param.u64 %rd21, [b]; ld.param.u64 %rd30, [n];\n"
	"cvta.to.global.u64 %rd1, %rd20; cvta.to.global.u64 %rd2, %rd21;\n"
	"mov.u32 %r3, %tid.x; mul.wide.s32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd6, %rd2, %rd3; shl.b64 %rd5, %rd30, 2;\n"
	"ld.global.u32 %r9, [%rd6];\nmov.u32 %r8, 3;\nLOOP: st.global.u32 [%rd4], %r3; add.s64 %rd4, %rd4, %rd5; add.s32 %r8, %r8, -1; setp.ne.s32 %p2, %r8, 0; @%p2 bra LOOP;\nEND: ret;\n}\n";

static void rows_that_go_back(void **state)
{
	expect(steps, (struct launch){ { 1 }, { 8 }, -64, 8, 0 }, NONE);
	expect(steps, (struct launch){ { 1 }, { 8 }, 64, 8, 0 }, ALL(8, 24));
	expect(steps, (struct launch){ { 1 }, { 8 }, -64, (uint32_t)-8, UINT32_MAX }, ALL(8, 24));        /* of a pitch below 0 nothing is proved */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_by_rounds), cmocka_unit_test(rows_of_others), cmocka_unit_test(rows_that_go_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
