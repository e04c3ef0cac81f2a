/* test_ranges_columns.c - proofs of words of shared memory that each thread has a column of, of which data says the row: a stack, or counts (ws_value_multiple). */
#include "ranges_rig.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_by_data), cmocka_unit_test(stacks), cmocka_unit_test(walks), cmocka_unit_test(beside_others) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
