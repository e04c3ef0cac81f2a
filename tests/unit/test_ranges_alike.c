/* test_ranges_alike.c - src/rewrite/ranges_alike.c: places of one thread, each behind a comparison of its own, as compilers write tiles of results
 * in registers. */
#include "ranges_rig.h"

/* Each thread has words of out[row * n + column], where row is below m and column below n, with row = 2 y + rows[i], column = 3 x + columns[j];
 * each row and each column in it is compared on its own. */
enum form { REGISTERS, OFFSETS, OFFSETS_BY_OR };
struct tile { enum form form; int rows[2], columns[2][3], at[2][3]; bool in_place; };    /* at: of OFFSETS, where that is not the column */

static void print_word(struct ws_buf *b, const struct tile *t, unsigned i, unsigned j)
{
	unsigned k = 3 * i + j, column = t->columns[i][j] ? 40 + k : 24;
	int offset = t->form == REGISTERS ? 0 : 4 * (t->at[i][j] ? t->at[i][j] : t->columns[i][j]);

	if (column != 24)
		ws_buf_printf(b, "add.s32 %%r%u, %%r24, %d;\n", column, t->columns[i][j]);
	ws_buf_printf(b, "setp.ge.s32 %%p%u, %%r%u, %%r6; @%%p%u bra ROW%u;\n", 10 + k, column, 10 + k, i);
	if (t->form == REGISTERS || !j)
		ws_buf_printf(b, "cvt.s64.s32 %%rd%u, %%r%u; add.s64 %%rd%u, %%rd%u, %%rd%u; shl.b64 %%rd%u, %%rd%u, 2; add.s64 %%rd%u, %%rd2, %%rd%u;\n",
		              40 + k, column, 50 + k, 30 + i, 40 + k, 60 + k, 50 + k, 70 + k, 60 + k);
	k = t->form == REGISTERS ? k : 3 * i;
	if (t->in_place)
		ws_buf_printf(b, "ld.global.u32 %%r9, [%%rd%u+%d];\n", 70 + k, offset);
	ws_buf_printf(b, "st.global.u32 [%%rd%u+%d], %%r3;\n", 70 + k, offset);
}

static const char *kernel_of(const struct tile *t)
{
	static struct ws_buf b;

	b.len = 0;
	ws_buf_puts(&b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
		".reg .pred %p<30>; .reg .b32 %r<60>; .reg .b64 %rd<90>;\n"
		"ld.param.u64 %rd21, [b]; ld.param.u32 %r5, [n]; ld.param.u32 %r6, [w]; cvta.to.global.u64 %rd2, %rd21;\n"
		"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;\n"
		"mov.u32 %r11, %ctaid.y; mov.u32 %r12, %ntid.y; mov.u32 %r13, %tid.y; mad.lo.s32 %r10, %r11, %r12, %r13;\n"
		"shl.b32 %r20, %r10, 1; mul.lo.s32 %r24, %r4, 3; cvt.s64.s32 %rd3, %r6;\n");
	for (unsigned i = 0; i < 2; i++) {
		unsigned row = t->rows[i] ? 30 + i : 20;

		if (row != 20)
			ws_buf_printf(&b, "add.s32 %%r%u, %%r20, %d;\n", row, t->rows[i]);
		ws_buf_printf(&b, "setp.ge.s32 %%p%u, %%r%u, %%r5; @%%p%u bra END;\n", 1 + i, row, 1 + i);
		if (t->form == OFFSETS_BY_OR && row != 20)
			ws_buf_printf(&b, "or.b32 %%r35, %%r20, %d; cvt.s64.s32 %%rd%u, %%r35;\n", t->rows[i], 10 + i);
		else
			ws_buf_printf(&b, "cvt.s64.s32 %%rd%u, %%r%u;\n", 10 + i, row);
		ws_buf_printf(&b, "mul.lo.s64 %%rd%u, %%rd%u, %%rd3;\n", 30 + i, 10 + i);
		for (unsigned j = 0; j < 3; j++)
			print_word(&b, t, i, j);
		ws_buf_printf(&b, "ROW%u:\n", i);
	}
	ws_buf_puts(&b, "END: ret;\n}\n");
	return b.data;
}

#define ALL_COLUMNS { { 0, 1, 2 }, { 0, 1, 2 } }
#define TILES(m, n) (struct launch){ { 2, 2 }, { 4, 4 }, 4096, (m), (n) }

static void whole_tiles(void **state)
{
	for (int form = REGISTERS; form <= OFFSETS_BY_OR; form++)
		for (int in_place = 0; in_place < 2; in_place++) {
			const struct tile t = { form, { 0, 1 }, ALL_COLUMNS, { { 0 } }, in_place };

			expect(kernel_of(&t), TILES(16, 24), NONE);
			expect(kernel_of(&t), TILES(13, 22), NONE);      /* tiles at the rim are not whole */
			expect(kernel_of(&t), TILES(13, 23), NONE);
			expect(kernel_of(&t), TILES(16, 1), NONE);
			expect(kernel_of(&t), TILES(40, 17), NONE);
		}
}

/* Checked where a thread comes to another one's words, and where proofs do not see that none does. */
static void more_than_tiles(void **state)
{
	static const struct tile columns = { REGISTERS, { 0, 1 }, { { 0, 1, 3 }, { 0, 1, 2 } }, { { 0 } }, false },
	                         rows = { REGISTERS, { 0, 2 }, ALL_COLUMNS, { { 0 } }, false },
	                         offsets = { OFFSETS, { 0, 1 }, ALL_COLUMNS, { { 0 }, { 0, 0, 3 } }, false },
	                         tiles = { REGISTERS, { 0, 1 }, ALL_COLUMNS, { { 0 } }, false };

	expect(kernel_of(&columns), TILES(16, 24), ALL(0, 8 * (8 + 8 + 7) + 8 * 24));    /* 3 x + 3 is another thread's */
	expect(kernel_of(&rows), TILES(16, 24), ALL(0, 8 * 24 + 7 * 24));                /* so is 2 y + 2 */
	expect(kernel_of(&offsets), TILES(16, 24), ALL(0, 16 * 24));                     /* and the word behind the one compared */
	expect(kernel_of(&tiles), (struct launch){ { 2, 2, 2 }, { 4, 4 }, 4096, 16, 24 }, ALL(0, 2 * 16 * 24));
}

/* What is too much to be compared in pairs: of reads of another allocation that is enough. */
static void too_many_to_compare(void **state)
{
	struct ws_buf b = { 0 };

	ws_buf_puts(&b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
		".reg .b32 %r<60>; .reg .b64 %rd<150>;\nld.param.u64 %rd21, [b]; ld.param.u64 %rd22, [a]; cvta.to.global.u64 %rd2, %rd21;\n"
		"cvta.to.global.u64 %rd1, %rd22; mov.u32 %r3, %tid.x; mul.wide.s32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r7, [%rd4];\n");
	for (unsigned k = 2; k < 40; k++)
		ws_buf_printf(&b, "mul.lo.s32 %%r%u, %%r3, %u; mul.wide.s32 %%rd%u, %%r%u, 4; add.s64 %%rd%u, %%rd2, %%rd%u; st.global.u32 [%%rd%u], %%r7;\n",
		              10 + k, k, 50 + k, 10 + k, 100 + k, 50 + k, 100 + k);
	ws_buf_puts(&b, "ret;\n}\n");
	expect_allocated(b.data, (struct launch){ { 1 }, { 8 }, 4096, 0, 0 }, 4096, ALL(0, 304));
	expect_allocated(b.data, (struct launch){ { 1 }, { 8 }, 1024, 0, 0 }, 4096, ALL(8, 304));
	expect(b.data, (struct launch){ { 1 }, { 8 }, 4096, 0, 0 }, ALL(8, 304));        /* where allocations are is not known */
	ws_buf_free(&b);
}

/* `if (i + 1 < n)` two halves at once, `else if (i < n)` one: the same place, by two accesses. b: the words, or halves, lie so many bytes behind it. */
#define HALVES(behind) KERNEL("shl.b32 %r7, %r4, 1; or.b32 %r8, %r7, 1; setp.lt.s32 %p1, %r8, %r5; mul.wide.s32 %rd3, %r7, 2; add.s64 %rd4, %rd2, %rd3;\n" \
	"@%p1 bra BOTH;\nsetp.ge.s32 %p2, %r7, %r5; @%p2 bra END;\nst.global.u16 [%rd4" behind "], %r4; bra END;\nBOTH: st.global.u32 [%rd4], %r4;\n")

static void two_at_once_or_one(void **state)
{
	struct launch l = { { 4 }, { 64 }, 4096, 401, 0 };

	expect(HALVES(""), l, NONE);
	expect(HALVES("+2"), l, NONE);                       /* the other half of it */
	l.n = 402;
	expect(HALVES(""), l, NONE);
	l.n = 2000;
	expect(HALVES(""), l, NONE);
	expect(HALVES("+4"), l, ALL(0, 256));                /* that is the next thread's */
	expect(HALVES("-2"), l, ALL(0, 256));
}

/* Atomics may meet, and no read may meet one: also where it is by another pointer to the same memory. */
static void reads_where_others_update(void **state)
{
	static const char text[] = KERNEL(OFFSET "red.global.add.u32 [%rd4], 1; ld.global.u32 %r7, [%rd5];\n");
	struct launch l = { .grid = { 3 }, .block = { 31, 2 } };

	expect(text, l, (struct checks){ .reads = 186, .atomics = 186 });
	l.b = 4096;
	expect(text, l, NONE);
}

/* `sum[n + 1]` is counted up by all threads, and `sum[n]` is read by all of them: places of one pointer that do not meet. */
#define COUNTED(read, bits) KERNEL("mul.wide.s32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; ld.global." bits " [%rd4" read "]; red.global.add.u32 [%rd4+4], 1;\n")
static void beside_what_is_counted(void **state)
{
	struct launch l = { .grid = { 3 }, .block = { 31, 2 }, .b = 4096, .n = 6 };
	const struct checks all = { .reads = 186, .atomics = 186 };

	expect(COUNTED("", "u32 %r7,"), l, NONE);
	expect(COUNTED("+8", "u32 %r7,"), l, NONE);
	expect(COUNTED("+4", "u32 %r7,"), l, all);
	expect(COUNTED("", "u64 %rd5,"), l, all);
	expect(COUNTED("+6", "u16 %r7,"), l, all);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_tiles), cmocka_unit_test(more_than_tiles), cmocka_unit_test(too_many_to_compare), cmocka_unit_test(two_at_once_or_one),
		cmocka_unit_test(reads_where_others_update), cmocka_unit_test(beside_what_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
