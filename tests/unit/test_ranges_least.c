/* test_ranges_least.c - proofs of what merges by ranks do: the lesser of two of which it is known which it is, ends of chunks, and numbers that have
 * bounds by one name and none by another. */
#include "ranges_rig.h"

/* The block's chunk of 64 words of n, or what is left of them: %r23. (Of which blocks differ: a proof knows that they are 64 at most.) */
#define CHUNK ".shared .align 4 .b8 s[1024]; mov.u32 %r20, s; shl.b32 %r21, %r1, 6; add.s32 %r33, %r21, 64; min.s32 %r22, %r33, %r5; sub.s32 %r23, %r22, %r21;\n"

/* Two words a thread, from min(2 * thread, chunk) on, each of which is compared. */
#define FIRST "shl.b32 %r24, %r3, 1; min.s32 %r25, %r24, %r23;\n"
#define TWO(first, second) KERNEL(CHUNK FIRST "shl.b32 %r26, %r25, 2; add.s32 %r27, %r20, %r26; add.s32 %r28, %r25, 1;\n" \
	first " @%p1 bra NEXT; st.shared.u32 [%r27], %r3;\nNEXT: " second " @%p2 bra BEHIND; st.shared.u32 [%r27+4], %r3;\nBEHIND: bar.sync 0;\n")

static void the_lesser_of_two(void **state)
{
	(void)state;
	expect(TWO("setp.ge.s32 %p1, %r25, %r23;", "setp.ge.s32 %p2, %r28, %r23;"), (struct launch){ { 3 }, { 64 }, 0, 150, 0 }, NONE);
	expect(TWO("setp.le.s32 %p1, %r23, %r24;", "setp.ge.s32 %p2, %r28, %r23;"), (struct launch){ { 3 }, { 64 }, 0, 150, 0 }, NONE);
	expect(TWO("setp.ge.s32 %p1, %r25, %r23;", "setp.gt.s32 %p2, %r28, %r23;"), (struct launch){ { 3 }, { 64 }, 0, 150, 0 }, NONE);      /* one more is not greater: so it is less */
	/* It may be both: then threads from there on write the same word. Chunks of 64, 64, 22. */
	expect(TWO("setp.gt.s32 %p1, %r25, %r23;", "setp.ge.s32 %p2, %r28, %r23;"), (struct launch){ { 3 }, { 64 }, 0, 150, 0 }, ALL(0, 3 * 64 + 32 + 32 + 11));
	/* Compared with another number. */
	expect(TWO("setp.ge.s32 %p1, %r25, %r6;", "setp.ge.s32 %p2, %r28, %r23;"), (struct launch){ { 3 }, { 64 }, 0, 150, 1000 }, ALL(0, 3 * 64 + 32 + 32 + 11));
}

/* A chunk in shared memory by all threads in turn, in front of bytes of which it is the end. */
#define IN_TURN(chunk) KERNEL(".shared .align 4 .b8 s[1024]; mov.u32 %r20, s; shl.b32 %r21, %r1, 6; " chunk " sub.s32 %r23, %r22, %r21;\n" \
	"mov.u32 %r30, %r3; setp.ge.s32 %p1, %r30, %r23; @%p1 bra BEHIND;\n" \
	"LOOP: shl.b32 %r24, %r30, 2; add.s32 %r25, %r20, %r24; st.shared.u32 [%r25], %r3; st.shared.u32 [%r25+256], %r3; add.s32 %r30, %r30, %r2; setp.lt.s32 %p2, %r30, %r23; @%p2 bra LOOP;\n" \
	"BEHIND: bar.sync 0;\n")

static void ends_of_chunks(void **state)
{
	(void)state;
	expect(IN_TURN("add.s32 %r33, %r21, 64; min.s32 %r22, %r33, %r5;"), (struct launch){ { 3 }, { 32 }, 0, 150, 0 }, NONE);
	expect(IN_TURN("add.s32 %r33, %r21, 65; min.s32 %r22, %r33, %r5;"), (struct launch){ { 3 }, { 32 }, 0, 150, 0 }, ALL(0, 2 * (65 + 65 + 22)));
}

/* The thread's number in a register that goes on behind a barrier, and is copied before. */
#define GOES_ON(by) KERNEL(".shared .align 4 .b8 s[256]; mov.u32 %r20, s; mov.u32 %r30, %r3; setp.ge.s32 %p1, %r30, 64; @%p1 bra BEHIND; mov.u32 %r31, %r30;\n" \
	"LOOP: shl.b32 %r24, %r31, 2; add.s32 %r25, %r20, %r24; st.shared.u32 [%r25], %r3; add.s32 %r31, %r31, %r2; setp.lt.s32 %p2, %r31, 64; @%p2 bra LOOP;\n" \
	"BEHIND: bar.sync 0; setp.ge.s32 %p3, %r30, 64; @%p3 bra DONE;\n" \
	"READ: shl.b32 %r26, %r30, 2; add.s32 %r27, %r20, %r26; ld.shared.u32 %r28, [%r27]; add.s32 %r30, %r30, " by "; setp.lt.s32 %p4, %r30, 64; @%p4 bra READ;\nDONE: ")

/* What it is before that may be bounded as well. */
#define BOUNDED(limit) KERNEL(".shared .align 4 .b8 s[512]; mov.u32 %r20, s; mov.u32 %r30, %r3; setp.gt.s32 %p1, %r30, " limit "; @%p1 bra NEXT;\n" \
	"shl.b32 %r24, %r30, 2; add.s32 %r25, %r20, %r24; st.shared.u32 [%r25], %r3;\nNEXT: setp.ne.s32 %p3, %r3, 5; @%p3 bra BOUND; st.shared.u32 [%r20+256], %r3;\nBOUND: bar.sync 0; ld.global.u32 %r32, [%rd1];\n" \
	"ROUND: add.s32 %r30, %r30, 96; add.s32 %r32, %r32, -1; setp.gt.s32 %p2, %r32, 0; @%p2 bra ROUND;\n st.global.u32 [%rd2], %r30;\n")

static void counters_that_go_on_later(void **state)
{
	(void)state;
	expect(GOES_ON("%r2"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, NONE);
	expect(BOUNDED("63"), (struct launch){ { 1 }, { 96 }, 8192, 0, 0 }, ALL(0, 96));
	expect(BOUNDED("64"), (struct launch){ { 1 }, { 96 }, 8192, 0, 0 }, ALL(0, 65 + 1 + 96));
}

/* A word has its bound by one name, and is one of several by another. */
static void one_number_by_two_names(void **state)
{
	#define NAMES(third) KERNEL(".shared .align 4 .b8 s[1024]; mov.u32 %r20, s; shl.b32 %r24, %r3, 1; shl.b32 %r26, %r24, 2; add.s32 %r27, %r20, %r26; add.s32 %r28, %r24, 1;\n" \
		"shl.b32 %r29, %r28, 2; add.s32 %r31, %r20, %r29; st.shared.u32 [%r27], %r3; setp.ge.s32 %p1, %r28, 200; @%p1 bra NEXT; st.shared.u32 [%r31], %r3;\nNEXT: st.shared.u32 [%r27+" third "], %r3; bar.sync 0;\n")

	(void)state;
	expect(NAMES("4"), (struct launch){ { 1 }, { 64 }, 0, 0, 0 }, NONE);
	expect(NAMES("8"), (struct launch){ { 1 }, { 64 }, 0, 0, 0 }, ALL(0, 192));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lesser_of_two), cmocka_unit_test(ends_of_chunks), cmocka_unit_test(counters_that_go_on_later), cmocka_unit_test(one_number_by_two_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
