/* test_ranges_one_warp.c - proofs of words of shared memory that one warp of a block alone comes to, between its syncs: sorts and sums that the first warp
 * ends. Random ones are in test_ranges_warps.c. */
#include "ranges_rig.h"

#define FILLS  "{ .shared .align 8 .b8 s[4096]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; add.s32 %r22, %r20, %r21; and.b32 %r23, %r3, 31;\n"
#define FILL   "st.shared.u32 [%r22], %r3; bar.sync 0;\n"
/* As often as a parameter says. */
#define ROUNDS "mov.u32 %r30, 0;\nLOOP: " FILL "add.s32 %r30, %r30, 1; setp.lt.s32 %p3, %r30, %r5; @%p3 bra LOOP;\n"
#define PAIRS  "shl.b32 %r24, %r23, 3; add.s32 %r25, %r20, %r24; ld.shared.u32 %r7, [%r25]; st.shared.u32 [%r25+4], %r7;\n"
#define HALVES "shl.b32 %r26, %r23, 2; add.s32 %r27, %r20, %r26; ld.shared.u32 %r8, [%r27+128]; st.shared.u32 [%r27], %r8;\n"
/* A step of a bitonic sort: word 2 * lane - (lane & last), and one behind it. */
#define STEP(last, next) "and.b32 %r31, %r3, " last "; shl.b32 %r32, %r23, 1; sub.s32 %r33, %r32, %r31; shl.b32 %r34, %r33, 2; add.s32 %r35, %r20, %r34;\n" \
	"ld.shared.u32 %r7, [%r35]; st.shared.u32 [%r35+" next "], %r7;\n"
#define SYNC   "bar.warp.sync -1;\n"
#define WITH(fill, condition, body) KERNEL(FILLS fill condition " @%p2 bra END;\n" body "}\n")
#define FIRST  "setp.gt.u32 %p2, %r3, 31;"
#define ZEROTH "shr.u32 %r28, %r3, 5; setp.ne.u32 %p2, %r28, 0;"
#define SECOND "shr.u32 %r28, %r3, 5; setp.ne.u32 %p2, %r28, 1;"
#define TWO    "setp.gt.u32 %p2, %r3, 63;"

/* Of two blocks; warps: that come behind the condition. Each lane reads two words there and writes two. */
#define BEHIND(warps) ALL(2 * 2 * 32 * (warps), 2 * 2 * 32 * (warps))
static const struct launch usual = { { 2 }, { 96 }, 8192, 2, 0 };

static void one_warp_alone(void **state)
{
	(void)state;
	expect(WITH(FILL, FIRST, PAIRS SYNC HALVES), usual, NONE);
	expect(WITH(FILL, ZEROTH, PAIRS SYNC HALVES), usual, NONE);
	expect(WITH(FILL, SECOND, PAIRS SYNC HALVES), usual, NONE);
	expect(WITH(FILL, FIRST, PAIRS SYNC HALVES SYNC PAIRS), usual, NONE);
	/* No sync; two warps. */
	expect(WITH(FILL, FIRST, PAIRS HALVES), usual, BEHIND(1));
	expect(WITH(FILL, TWO, PAIRS SYNC HALVES), usual, BEHIND(2));
	/* The first one by x is two, in a block of two rows; there the words that are filled are not of one thread each, either. */
	expect(WITH(FILL, FIRST, PAIRS SYNC HALVES), ((struct launch){ { 2 }, { 64, 2 }, 8192, 2, 0 }), ALL(2 * 2 * 64, 2 * 2 * 64 + 2 * 128));
}

static void sorts(void **state)
{
	(void)state;
	expect(WITH(FILL, FIRST, STEP("1", "8") SYNC PAIRS), usual, NONE);
	expect(WITH(FILL, FIRST, PAIRS SYNC STEP("7", "32")), usual, NONE);
	expect(WITH(FILL, ZEROTH, STEP("15", "64") SYNC HALVES), usual, NONE);
	/* The next lane's. */
	expect(WITH(FILL, FIRST, STEP("7", "4") SYNC PAIRS), usual, ALL(2 * 32, 2 * 32));
}

/* All threads go round as often, so all lanes are at one sync behind it. */
static void behind_rounds(void **state)
{
	(void)state;
	expect(WITH(ROUNDS, FIRST, PAIRS SYNC HALVES), usual, NONE);
	expect(WITH(ROUNDS, FIRST, PAIRS HALVES), usual, BEHIND(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(one_warp_alone), cmocka_unit_test(sorts), cmocka_unit_test(behind_rounds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
