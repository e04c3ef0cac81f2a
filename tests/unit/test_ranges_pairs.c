/* test_ranges_pairs.c - proofs of words of shared memory of which each thread has two, as in steps of a bitonic sort: a place, and that and a number. As one group,
 * or as two of one sum (ranges_entry.c, ws_entry_or_threads_apart), where a kernel has buffers that take turns and the number is far. */
#include "ranges_rig.h"

/* Two buffers of 1,024 bytes take turns, and a barrier later both words of each thread are exchanged, behind them; %r9: where the first one is, in bytes. */
#define EXCHANGE(place, other) KERNEL(".shared .align 8 .b8 s[4096]; mov.u32 %r20, s; mad.lo.s32 %r30, %r3, 4, %r20; mov.u32 %r31, 0; mov.u32 %r32, 0;\n" \
	"LOOP: mad.lo.s32 %r21, %r31, 1024, %r30; ld.shared.u32 %r22, [%r21+4]; xor.b32 %r24, %r31, 1; mad.lo.s32 %r23, %r24, 1024, %r30; st.shared.u32 [%r23], %r22;\n" \
	"bar.sync 0; xor.b32 %r31, %r31, 1; add.s32 %r32, %r32, 1; setp.lt.s32 %p2, %r32, %r5; @%p2 bra LOOP;\n" place "add.s32 %r12, %r20, %r9;\n" \
	"ld.shared.u32 %r7, [%r12+2560]; ld.shared.u32 %r8, [%r12+2560+" other "]; st.shared.u32 [%r12+2560], %r8; st.shared.u32 [%r12+2560+" other "], %r7;\n")
/* Rows of 2 * 2^bits words: threads have one in the first half, and one in the second. */
#define HALVES(mask, bits, row) "and.b32 %r10, %r3, " mask "; shr.u32 %r11, %r3, " bits "; shl.b32 %r17, %r10, 2; mad.lo.s32 %r9, %r11, " row ", %r17;\n"
/* The same of threads up to `last`, as 2 * t - (t & mask). */
#define NAMED(last, mask) "shl.b32 %r14, %r3, 1; setp.gt.s32 %p1, %r3, " last "; @%p1 bra END; and.b32 %r15, %r3, " mask "; sub.s32 %r16, %r14, %r15; shl.b32 %r9, %r16, 2;\n"

/* Two blocks, of which so many threads exchange words: a check of a write stands for the read in front of it. */
#define CHECKED(threads) ALL(0, 2 * 2 * (threads))
static const struct launch threads = { { 2 }, { 64 }, 0, 8, 0 }, one_more = { { 2 }, { 65 }, 0, 8, 0 };

static void halves_of_rows(void **state)
{
	(void)state;
	expect(EXCHANGE(HALVES("15", "4", "128"), "64"), threads, NONE);
	expect(EXCHANGE(HALVES("31", "5", "256"), "128"), threads, NONE);
	expect(EXCHANGE(HALVES("15", "4", "128"), "64"), one_more, NONE);
	/* In the words of the next thread, in those of the next row, and in rows that are too short. */
	expect(EXCHANGE(HALVES("15", "4", "128"), "60"), threads, CHECKED(64));
	expect(EXCHANGE(HALVES("15", "4", "128"), "128"), threads, CHECKED(64));
	expect(EXCHANGE(HALVES("15", "4", "124"), "64"), threads, CHECKED(64));
	expect(EXCHANGE(HALVES("31", "4", "128"), "64"), threads, CHECKED(64));
}

static void halves_of_the_first_rows(void **state)
{
	(void)state;
	expect(EXCHANGE(NAMED("15", "15"), "64"), threads, NONE);
	expect(EXCHANGE(NAMED("31", "15"), "64"), threads, NONE);
	expect(EXCHANGE(NAMED("31", "31"), "128"), threads, NONE);
	expect(EXCHANGE(NAMED("15", "15"), "60"), threads, CHECKED(16));
	expect(EXCHANGE(NAMED("31", "15"), "128"), threads, CHECKED(32));
	expect(EXCHANGE(NAMED("31", "7"), "64"), threads, CHECKED(32));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(halves_of_rows), cmocka_unit_test(halves_of_the_first_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
