/* test_ranges_columns.c - proofs of words of shared memory that each thread has a column of, of which data says the row: a stack, or counts (ws_value_multiple).
 * Kernels that show one thing each, and random ones against the pass without proofs. */
#include "left_finds.h"
#include "numbered.h"
#include "ranges_rig.h"

enum { KERNELS = 200 };

/* Each thread writes its first word, reads one in a row that data gives (%r26; it is 0), and writes one `next` bytes behind it. */
#define COLUMN(row, next) KERNEL(OFFSET "{ .shared .align 8 .b8 s[4096]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; add.s32 %r22, %r20, %r21; st.shared.u32 [%r22], %r3;\n" \
	"ld.global.u32 %r26, [%rd4]; " row " add.s32 %r24, %r22, %r23; ld.shared.u32 %r7, [%r24]; st.shared.u32 [%r24+" next "], %r7; st.global.u32 [%rd5], %r7; }\n")
#define CHECKED(threads) ALL(2 * (threads), 2 * 2 * (threads))
static const struct launch fits = { { 2 }, { 64 }, 8192, 128, 0 }, too_wide = { { 2 }, { 65 }, 8192, 130, 0 };

static void rows_by_data(void **state)
{
	(void)state;
	expect(COLUMN("shl.b32 %r23, %r26, 8;", "256"), fits, NONE);
	expect(COLUMN("mul.lo.s32 %r23, %r26, 256;", "512"), fits, NONE);
	expect(COLUMN("mul.lo.s32 %r23, %r26, 768;", "0"), fits, NONE);
	expect(COLUMN("add.s32 %r27, %r26, -1; shl.b32 %r28, %r27, 8; add.s32 %r23, %r28, 512;", "256"), fits, NONE);
	/* One thread more than there are columns. */
	expect(COLUMN("shl.b32 %r23, %r26, 8;", "256"), too_wide, CHECKED(65));
	/* Half as many columns; rows that do not begin at one; the neighbour's column. */
	expect(COLUMN("shl.b32 %r23, %r26, 7;", "256"), fits, CHECKED(64));
	expect(COLUMN("mul.lo.s32 %r23, %r26, 260;", "260"), fits, CHECKED(64));
	expect(COLUMN("shl.b32 %r23, %r26, 8;", "260"), fits, CHECKED(64));
	/* Less a row before, which is not the same number; one thread more. */
	expect(COLUMN("shl.b32 %r27, %r26, 8; add.s32 %r26, %r26, 1; shl.b32 %r28, %r26, 8; sub.s32 %r23, %r28, %r27;", "256"), fits, NONE);
	expect(COLUMN("shl.b32 %r27, %r26, 8; add.s32 %r26, %r26, 1; shl.b32 %r28, %r26, 8; sub.s32 %r23, %r28, %r27;", "256"), too_wide, CHECKED(65));
	/* By two instructions; a shift to the right is not known, for something may have wrapped. */
	expect(COLUMN("mul.lo.s32 %r27, %r26, 64; shl.b32 %r28, %r27, 2; add.s32 %r23, %r28, 256;", "256"), fits, NONE);
	expect(COLUMN("shl.b32 %r27, %r26, 9; shr.u32 %r23, %r27, 1;", "256"), fits, CHECKED(64));
}

/* Up and down, as a stack goes: a register that has two definitions, each of the other one. */
#define STACK(down, up) KERNEL(OFFSET "{ .shared .align 8 .b8 s[4096]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; add.s32 %r22, %r20, %r21; st.shared.u32 [%r22], %r3;\n" \
	"ld.global.u32 %r26, [%rd4]; mov.u32 %r30, 2; mov.u32 %r31, 0;\n" \
	"LOOP: add.s32 %r29, %r30, " down "; shl.b32 %r23, %r29, 8; add.s32 %r24, %r22, %r23; ld.shared.u32 %r7, [%r24]; setp.ne.s32 %p2, %r7, %r26; @%p2 bra NEXT;\n" \
	"st.shared.u32 [%r24], %r7; add.s32 %r29, %r30, " up ";\n" \
	"NEXT: mov.u32 %r30, %r29; add.s32 %r31, %r31, 1; setp.lt.s32 %p3, %r31, 2; @%p3 bra LOOP;\n" \
	"st.shared.u32 [%r24+256], %r3; st.global.u32 [%rd5], %r7; }\n")

static void stacks(void **state)
{
	(void)state;
	expect(STACK("-1", "1"), fits, NONE);
	expect(STACK("-1", "2"), fits, NONE);
}

/* A row that data gives, and others from there on, up or down, as many as data says. */
#define WALK(shift, step, more) KERNEL(OFFSET "{ .shared .align 8 .b8 s[4096]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; add.s32 %r22, %r20, %r21; mov.u32 %r31, 0;\n" \
	"ld.global.u32 %r26, [%rd4]; shl.b32 %r23, %r26, " shift "; " more "\n" \
	"LOOP: st.shared.u32 [%r24+1024], %r3; add.s32 %r24, %r24, " step "; add.s32 %r31, %r31, 1; setp.lt.s32 %p3, %r31, %r26; @%p3 bra LOOP; }\n")
#define FROM_ROW "add.s32 %r24, %r22, %r23;"
/* The register itself goes on. */
#define DOWN(shift) KERNEL(OFFSET "{ .shared .align 8 .b8 s[4096]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; add.s32 %r22, %r20, %r21; mov.u32 %r31, 0;\n" \
	"ld.global.u32 %r26, [%rd4]; shl.b32 %r23, %r26, " shift ";\n" \
	"LOOP: add.s32 %r24, %r22, %r23; st.shared.u32 [%r24+1024], %r3; add.s32 %r23, %r23, -256; add.s32 %r31, %r31, 1; setp.lt.s32 %p3, %r31, %r26; @%p3 bra LOOP; }\n")

static void walks(void **state)
{
	const struct launch twice = { { 2 }, { 128 }, 8192, 256, 0 };

	(void)state;
	expect(WALK("8", "-256", FROM_ROW), fits, NONE);
	expect(WALK("8", "256", FROM_ROW), fits, NONE);
	/* What it begins with is not forgotten, nor are both taken for one. */
	expect(WALK("7", "256", FROM_ROW), fits, ALL(0, 2 * 64));
	expect(WALK("8", "256", FROM_ROW), twice, ALL(0, 2 * 128));
	expect(WALK("8", "-256", FROM_ROW), twice, ALL(0, 2 * 128));
	expect(DOWN("8"), fits, NONE);
	expect(DOWN("7"), fits, ALL(0, 2 * 64));
	expect(DOWN("8"), twice, ALL(0, 2 * 128));
}

/* Beside it, words of another variable: these are proved with it, and without. */
#define BESIDE(pitch) KERNEL(OFFSET "{ .shared .align 8 .b8 s[4096]; .shared .align 4 .b8 o[512]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; add.s32 %r22, %r20, %r21;\n" \
	"mov.u32 %r12, o; mad.lo.s32 %r13, %r3, 4, %r12; st.shared.u32 [%r13], %r3; st.shared.u32 [%r22], %r3;\n" \
	"ld.global.u32 %r26, [%rd4]; mul.lo.s32 %r23, %r26, " pitch "; add.s32 %r24, %r22, %r23; ld.shared.u32 %r7, [%r24]; st.shared.u32 [%r24], %r7;\n" \
	"ld.shared.u32 %r8, [%r13]; add.s32 %r9, %r7, %r8; st.global.u32 [%rd5], %r9; }\n")

static void beside_others(void **state)
{
	(void)state;
	expect(BESIDE("256"), fits, NONE);
	expect(BESIDE("128"), fits, ALL(0, 2 * 2 * 64));
}

/* ---- random ones ---- */
/* %p: so many bytes behind %f, by %d, which data gives: 2 in every 16th thread, else 0. */
static void make_row(struct ws_buf *b, unsigned k, unsigned shift)
{
	static const char *const rows[] = { "mov.u32 %r#, %d;\n", "add.s32 %r#, %d, 1;\n", "xor.b32 %r#, %d, 1;\n", "sub.s32 %r#, 2, %d;\n", "shl.b32 %r#, %d, 1;\n" };
	unsigned odd = below(6) ? 0 : 4;

	numbered(b, k, ONE_OF(rows));
	if (odd || below(3) == 0)
		ws_buf_printf(b, "mul.lo.s32 %%m%u, %%r%u, %u;\n", k, k, (below(3) ? 1u : 3u) * (1u << shift) + odd);
	else
		ws_buf_printf(b, "shl.b32 %%m%u, %%r%u, %u;\n", k, k, shift);
	if (below(4)) {
		numbered(b, k, "add.s32 %p#, %f#, %m#;\n");
		return;
	}
	if (below(2))                            /* less another one, of the number as it was or as it is then */
		ws_buf_puts(b, "add.s32 %d, %d, 1;\n");
	ws_buf_printf(b, "shl.b32 %%q%u, %%d, %u; sub.s32 %%o%u, %%m%u, %%q%u;\n", k, shift, k, k, k);
	numbered(b, k, "add.s32 %p#, %f#, %o#;\n");
}

/* At the thread's column, or at one that others have. */
static void make_access(struct ws_buf *b, unsigned k, unsigned shift)
{
	static const char *const columns[] = { "shl.b32 %c#, %t, 2;\n", "shl.b32 %c#, %t, 2;\n", "shl.b32 %c#, %t, 2;\n", "shl.b32 %c#, %t, 3;\n", "and.b32 %e#, %t, -2; shl.b32 %c#, %e#, 2;\n" };
	static const char *const accesses[] = { "ld.shared.u32 %v, [%p#", "st.shared.u32 [%p#", "st.shared.u32 [%p#" };
	const unsigned behind[] = { 0, 0, 0, 1u << shift, 2u << shift, 4 };
	const char *access = ONE_OF(accesses), *end = access[0] == 'l' ? "];\n" : "], %t;\n";
	unsigned more = 1280 + ONE_OF(behind);
	bool loop = below(3) == 0;

	numbered(b, k, ONE_OF(columns));
	numbered(b, k, "add.s32 %f#, %s, %c#;\n");
	if (below(4))
		make_row(b, k, shift);
	else
		numbered(b, k, "mov.u32 %p#, %f#;\n");
	if (loop)
		numbered(b, k, "mov.u32 %k#, 0;\nL#:\n");
	numbered(b, k, access);
	ws_buf_printf(b, "+%u%s", more, end);
	if (!loop)
		return;
	ws_buf_printf(b, "add.s32 %%p%u, %%p%u, %d;\n", k, k, (below(2) ? 1 : -1) * (below(3) ? 1 << shift : 64));
	numbered(b, k, "add.s32 %k#, %k#, 1; setp.lt.s32 %b, %k#, %d; @%b bra L#;\n");
}

static void make(struct ws_buf *b)
{
	unsigned shift = 5 + below(3), n = 1 + below(3);

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
	            ".reg .pred %b; .reg .b32 %t, %s, %d, %v, %x; .reg .b64 %a, %a1, %a2, %y;\n");
	for (unsigned k = 0; k < n; k++)
		numbered(b, k, ".reg .b32 %c#, %e#, %f#, %k#, %m#, %o#, %p#, %q#, %r#;\n");
	ws_buf_puts(b, ".shared .align 8 .b8 s[4096]; mov.u32 %s, s; mov.u32 %t, %tid.x; ld.param.u64 %a, [a]; cvta.to.global.u64 %a1, %a;\n"
	               "and.b32 %x, %t, 15; mul.wide.u32 %y, %x, 4; add.s64 %a2, %a1, %y; ld.global.u32 %d, [%a2];\n");
	for (unsigned k = 0; k < n; k++) {
		make_access(b, k, shift);
		if (below(4) == 0)
			ws_buf_puts(b, "bar.sync 0;\n");
	}
	ws_buf_puts(b, "ret;\n}\n");
}

static struct sizes any_sizes(void)
{
	static const uint32_t threads[] = { 8, 16, 16, 17, 32, 32, 33, 64, 65 };

	return (struct sizes){ 1, { ONE_OF(threads), 1 }, 1, 1 };
}

static void what_is_left_finds_what_all_find(void **state)
{
	(void)state;
	left_finds_what_all_find(rig_ways(KERNELS, KERNELS / 2), make, any_sizes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_by_data), cmocka_unit_test(stacks), cmocka_unit_test(walks), cmocka_unit_test(beside_others),
		cmocka_unit_test(what_is_left_finds_what_all_find) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
