/* test_ranges_left_over.c - proofs of shared memory of what compilers do one by one ahead of an unrolled loop (ranges_left_over.c), and kernels that are told what to
 * check of global memory (sure.c). */
#include "ranges_rig.h"

/* `for (k = 0; k < 8; k++) { if (k < tid) for (c = k + 1; c < 8; c++) s[tid][c] = s[k][c]; barrier; }` of rows of 9 words, without the rounds that are done four at a time:
 * 7 - k of them, modulo 4. %r10: k; %r12: where row and k are; %r13: and row k, which is read. */
#define ROWS(bytes, mask, one, two) KERNEL(OFFSET "{ .shared .align 4 .b8 s[" bytes "]; mov.u32 %r20, s; .shared .b32 own[8]; mul.lo.s32 %r21, %r3, 9; mov.u32 %r10, 0;\n" \
	"mov.u32 %r24, own; shl.b32 %r25, %r3, 2; add.s32 %r26, %r24, %r25; st.shared.u32 [%r26], %r3;\n" \
	"L: add.s32 %r22, %r10, %r21; shl.b32 %r23, %r22, 2; add.s32 %r12, %r20, %r23; mad.lo.s32 %r13, %r10, 40, %r20;\n" \
	"setp.le.s32 %p1, %r3, %r10; @%p1 bra NEXT; " mask \
	"setp.eq.s32 %p3, %r15, 0; @%p3 bra NEXT; ld.shared.u32 %r7, [%r13+4]; st.shared.u32 [%r12+4], %r7; setp.eq.s32 %p4, %r15, " one "; @%p4 bra NEXT; ld.shared.u32 %r7, [%r13+8]; st.shared.u32 [%r12+8], %r7;\n" \
	"setp.eq.s32 %p5, %r15, " two "; @%p5 bra NEXT; ld.shared.u32 %r7, [%r13+12]; st.shared.u32 [%r12+12], %r7;\n" \
	"NEXT: bar.sync 0; add.s32 %r10, %r10, 1; setp.lt.u32 %p6, %r10, 8; @%p6 bra L; st.global.u32 [%rd5], %r3; }\n")
#define REST_OF(of, bits) "mov.u32 %r14, " of "; sub.s32 %r19, %r14, %r10; and.b32 %r15, %r19, " bits ";\n"

/* So many rounds of a block of 8, of which the rows are not proved (what tells them apart is tid > k); the words of `own` are, where all stays in its variable. */
#define IN(rounds) ALL(2 * (rounds), 2 * (rounds))
#define OUT(rounds) ALL(2 * (rounds), 2 * (rounds) + 2 * 8)

static void rows_of_a_triangle(void **state)
{
	const struct launch l = { { 2 }, { 8 }, 8192, 16, 0 };

	(void)state;
	expect(ROWS("284", REST_OF("3", "3"), "1", "2"), l, IN(52));       /* to the last row's column 7 */
	expect(ROWS("284", REST_OF("7", "3"), "1", "2"), l, IN(52));
	expect(ROWS("280", REST_OF("3", "3"), "1", "2"), l, OUT(52));
	expect(ROWS("284", REST_OF("7", "7"), "1", "2"), l, IN(7 * 3 + 6 * 3 + 5 * 3 + 4 * 3 + 3 * 3 + 2 * 2 + 1));     /* of eight at a time */
	/* A column too many: in the first words of the next row, or behind the last one. */
	expect(ROWS("284", REST_OF("4", "3"), "1", "2"), l, OUT(6 * 3 + 5 * 2 + 4 + 2 * 3 + 2));
	expect(ROWS("284", REST_OF("3", "3"), "3", "2"), l, OUT(7 + 6 * 2 + 5 * 3 + 3 + 2 * 2 + 3));
	expect(ROWS("284", REST_OF("3", "3"), "1", "3"), l, OUT(7 * 2 + 6 * 3 + 5 + 3 * 2 + 2 * 3 + 1));
	expect(ROWS("284", REST_OF("3", "1"), "2", "3"), l, OUT(3 * (7 + 5 + 3 + 1)));
}

/* Rows of 25 words; words that data gives, which are always checked, so that there is no probe; and a copy in global memory, which races where both arrays overlap. */
#define STORE(at) "st.shared.u32 [%r21+" #at "], %r3;"
#define STORE8(a, b, c, d, e, f, g, h) STORE(a) STORE(b) STORE(c) STORE(d) STORE(e) STORE(f) STORE(g) STORE(h)
#define LONG_ROWS KERNEL(OFFSET ".shared .b32 s[1600]; mov.u32 %r20, s; mad.lo.s32 %r21, %r3, 100, %r20; ld.global.u32 %r7, [%rd4]; .shared .b32 t[16]; and.b32 %r8, %r7, 60; mov.u32 %r22, t;\n" \
	"add.s32 %r23, %r22, %r8; st.shared.u32 [%r23], %r3;\n" STORE8(0, 4, 8, 12, 16, 20, 24, 28) \
	STORE8(32, 36, 40, 44, 48, 52, 56, 60) STORE8(64, 68, 72, 76, 80, 84, 88, 92) " bar.sync 0; st.global.u32 [%rd5], %r7;\n")

static void what_is_left_of_global_memory_is_told(void **state)
{
	const struct launch apart = { { 2 }, { 64 }, 8192, 128, 0 }, overlap = { { 2 }, { 64 }, 4, 128, 0 }, twice = { { 2 }, { 32, 2 }, 8192, 128, 0 };
	const unsigned before = ntold;

	(void)state;
	expect(LONG_ROWS, apart, ALL(0, 128));
	assert_int_equal(ntold, before);
	expect(LONG_ROWS, overlap, ALL(127, 256));      /* the first word is read alone */
	assert_int_equal(ntold, before + 1);
	expect(LONG_ROWS, twice, ALL(0, 256 + 128 * 24));      /* two threads of a block have a row, and a word */
	assert_int_equal(ntold, before + 1);
}

/* `for (i = tid; i < 256; i += 32) s[i] = tid; s[256 + tid] = tid;` of one variable, as nvcc has it: i begins with the register of tid, which a later loop goes on by, and is
 * compared before it goes on. Words from `second` on are the other array's. */
#define TWO_ARRAYS(last, least, few, many, second) KERNEL(OFFSET ".shared .b32 s[512]; mov.u32 %r20, s; shl.b32 %r30, %r3, 2; add.s32 %r31, %r20, %r30;\n" \
	"setp.gt.s32 %p1, %r3, " last "; @%p1 bra DONE; max.s32 %r11, %r3, " least "; add.s32 %r12, %r11, 31; sub.s32 %r13, %r12, %r3; shr.u32 %r14, %r13, 5; add.s32 %r15, %r14, 1;\n" \
	"and.b32 %r16, %r15, 3; setp.eq.s32 %p2, %r16, 0; mov.u32 %r10, %r3; @%p2 bra LEFT;\n" "mov.u32 %r10, %r3;\n" \
	"FEW: shl.b32 %r17, %r10, 2; add.s32 %r18, %r20, %r17; st.shared.u32 [%r18], %r1; add.s32 %r10, %r10, 32; add.s32 %r16, %r16, -1; setp.ne.s32 %p3, %r16, 0; @%p3 bra FEW;\n" \
	"LEFT: setp.lt.u32 %p4, %r13, " few "; @%p4 bra DONE; mov.u32 %r23, s;\n" \
	"MANY: shl.b32 %r19, %r10, 2; add.s32 %r21, %r23, %r19; st.shared.u32 [%r21], %r1; st.shared.u32 [%r21+128], %r1; st.shared.u32 [%r21+256], %r1; st.shared.u32 [%r21+384], %r1;\n" \
	"add.s32 %r22, %r10, 128; setp.lt.s32 %p5, %r10, " many "; mov.u32 %r10, %r22; @%p5 bra MANY;\n" \
	"DONE: st.shared.u32 [%r31+" second "], %r1;\n" "LATE: add.s32 %r3, %r3, 32; setp.lt.s32 %p6, %r3, 100; @%p6 bra LATE;\n")

static void arrays_of_one_variable(void **state)
{
	const struct launch l = { { 2 }, { 32 }, 8192, 64, 0 };

	(void)state;
	expect(TWO_ARRAYS("255", "224", "96", "128", "1024"), l, NONE);
	expect(TWO_ARRAYS("255", "224", "96", "128", "1028"), l, NONE);
	expect(TWO_ARRAYS("223", "192", "96", "96", "896"), l, NONE);                              /* three rounds are left over */
	expect(TWO_ARRAYS("255", "224", "96", "128", "1020"), l, ALL(0, 2 * 32 * 9));      /* the first one's last word */
	expect(TWO_ARRAYS("255", "224", "96", "256", "1024"), l, ALL(0, 2 * 32 * 13));     /* it goes on */
	expect(TWO_ARRAYS("95", "64", "64", "-32", "388"), l, ALL(0, 2 * 32 * 8));         /* three rounds, and four more */
	/* As wrong as these, but not where 32 threads have eight rounds each, which nobody examines. */
	expect(TWO_ARRAYS("255", "224", "64", "128", "1024"), l, ALL(0, 2 * 32 * 9));
	expect(TWO_ARRAYS("287", "224", "96", "128", "1024"), l, ALL(0, 2 * 32 * 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_of_a_triangle), cmocka_unit_test(what_is_left_of_global_memory_is_told), cmocka_unit_test(arrays_of_one_variable) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
