/* test_ranges_least.c - proofs of what merges by ranks do: the lesser of two of which it is known which it is, ends of chunks, and numbers that have
 * bounds by one name and none by another. */
#include "left_finds.h"
#include "ranges_rig.h"

enum { KERNELS = 60 };

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

/* The first thread writes its word and the next one's, then the first two threads, then three. */
#define MORE_EACH_ROUND KERNEL(".shared .align 4 .b8 s[512]; mov.u32 %r21, s; mad.lo.s32 %r20, %r3, 4, %r21; mov.u32 %r30, 0;\n" \
	"ROUND: setp.lt.s32 %p1, %r30, %r3; @%p1 bra NEXT; st.shared.u32 [%r20], %r3; st.shared.u32 [%r20+4], %r3;\nNEXT: add.s32 %r30, %r30, 1; setp.lt.s32 %p2, %r30, 3; @%p2 bra ROUND;\n")

static void counters_that_go_on_later(void **state)
{
	(void)state;
	expect(MORE_EACH_ROUND, (struct launch){ { 1 }, { 3 }, 0, 0, 0 }, ALL(0, 2 * (3 + 2 + 1)));
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

/* A tile of 64 words, of which data says how many there are, and what lies behind it. */
#define OF_THE_TILE(least, number) KERNEL(".shared .align 4 .b8 s[256]; .shared .align 4 .b8 other[512]; mov.u32 %r20, s; mov.u32 %r21, other; ld.global.u32 %r29, [%rd1]; add.s32 %r30, %r29, 1000; " least " mov.u32 %r33, %tid.y; shl.b32 %r34, %r33, 5; add.s32 %r35, %r34, %r3;\n" \
	"setp.ge.s32 %p1, %r35, %r31; @%p1 bra NEXT; mov.u32 %r36, %tid.y; shl.b32 %r37, %r36, 5; " number " shl.b32 %r24, %r38, 2; add.s32 %r25, %r20, %r24; st.shared.u32 [%r25], %r3;\n" \
	"NEXT: shl.b32 %r26, %r35, 2; add.s32 %r27, %r21, %r26; st.shared.u32 [%r27], %r3; bar.sync 0;\n")

static void as_many_as_data_says_of_a_tile(void **state)
{
	const struct launch l = { { 1 }, { 32, 4 }, 8192, 0, 0 };

	(void)state;
	expect(OF_THE_TILE("min.s32 %r31, %r30, 64;", "mov.u32 %r38, %r35;"), l, NONE);
	expect(OF_THE_TILE("min.s32 %r31, 64, %r30;", "mov.u32 %r38, %r35;"), l, NONE);
	expect(OF_THE_TILE("min.s32 %r31, %r30, 65;", "mov.u32 %r38, %r35;"), l, ALL(0, 65 + 128));
	expect(OF_THE_TILE("max.s32 %r31, %r30, 64;", "mov.u32 %r38, %r35;"), l, ALL(0, 128 + 128));
	expect(OF_THE_TILE("min.u32 %r31, %r30, 64;", "mov.u32 %r38, %r35;"), l, ALL(0, 64 + 128));          /* compared as another type */
	/* The number is made anew behind the comparison, and is the same; or it is not. */
	expect(OF_THE_TILE("min.s32 %r31, %r30, 64;", "add.s32 %r38, %r37, %r3;"), l, NONE);
	expect(OF_THE_TILE("min.s32 %r31, %r30, 64;", "add.s32 %r38, %r37, %r33;"), l, ALL(0, 64 + 128));
	expect(OF_THE_TILE("min.s32 %r31, %r30, 64;", "add.s32 %r38, %r36, %r3;"), l, ALL(0, 64));
}

/* One register for what is compared with a number, and for an index that goes on behind that; or for both in one loop, where it is another number in the second
 * round. */
#define COMPARED(first, behind) KERNEL(".shared .align 4 .b8 s[64]; .shared .align 4 .b8 other[128]; mov.u32 %r20, s; mov.u32 %r21, other; mov.u32 %r30, %tid.x; mov.u32 %r31, 0; mov.u32 %r32, %tid.x;\n" \
	"shl.b32 %r24, %r32, 2; add.s32 %r25, %r20, %r24; add.s32 %r27, %r21, %r24; st.shared.u32 [%r27], %r3;\n" \
	first "setp.gt.s32 %p1, %r30, 15; @%p1 bra NEXT; st.shared.u32 [%r25], %r3;\nNEXT: " behind "add.s32 %r30, %r30, -16; add.s32 %r31, %r31, 1; setp.lt.s32 %p2, %r31, 2; @%p2 bra LOOP;\n bar.sync 0;\n")

static void one_register_for_two_numbers(void **state)
{
	const struct launch l = { { 1 }, { 32 }, 0, 0, 0 };

	(void)state;
	expect(COMPARED("", "LOOP: "), l, NONE);
	expect(COMPARED("LOOP: ", ""), l, ALL(0, 32 + 16 + 32));
}

/* An array that is read at many places by a table of distances (lattices by directions), and one that is written. */
#define AT_A_PLACE(k) "{ .reg .b32 %c; .reg .b64 %q, %at; ld.const.u32 %c, [table+" #k "]; mul.wide.s32 %q, %c, 64 + " #k "; add.s64 %at, %rd4, %q; ld.global.u32 %r7, [%at]; }\n"
#define FOUR_PLACES(k) AT_A_PLACE(0x ## k ## 0) AT_A_PLACE(0x ## k ## 4) AT_A_PLACE(0x ## k ## 8) AT_A_PLACE(0x ## k ## C)

static void many_places_of_one_array(void **state)
{
	static const char text[] = PTX_HEAD ".const .align 4 .b32 table[56];\n" BEHIND_HEAD(BELOW_N OFFSET
		FOUR_PLACES(0) FOUR_PLACES(1) FOUR_PLACES(2) FOUR_PLACES(3) FOUR_PLACES(4) FOUR_PLACES(5) FOUR_PLACES(6) FOUR_PLACES(7)
		FOUR_PLACES(8) FOUR_PLACES(9) FOUR_PLACES(A) FOUR_PLACES(B) FOUR_PLACES(C) FOUR_PLACES(D) "st.global.u32 [%rd5], %r7;\n");
	const struct launch l = { { 2 }, { 32 }, 4096, 64, 0 };

	(void)state;
	expect_allocated(text, l, 4096, NONE);
	expect_allocated(text, l, 8192, ALL(0, 64));                 /* one allocation for both */
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 0, 64, 0 }, 8192, ALL(56 * 64, 64));
}

/* ---- random ones ---- */
/* What a thread begins with, and how far its chunk goes; in each of a few accesses one of both is compared with the other, or with something else. */
static void make(struct ws_buf *b)
{
	static const char *const chunks[] = {
		"shl.b32 %b, %bx, 5; add.s32 %e0, %b, 32; min.s32 %e, %e0, %n; sub.s32 %c, %e, %b;\n", "shl.b32 %b, %bx, 5; add.s32 %e0, %b, 32; min.s32 %e, %n, %e0; sub.s32 %c, %e, %b;\n",
		"mov.u32 %c, %w;\n", "min.s32 %c, %w, %n;\n", "add.s32 %c, %w, 1;\n",
	};
	static const char *const begins[] = { "mov.u32 %m, %t;\n", "shl.b32 %m, %t, 1;\n", "mul.lo.s32 %m, %t, 3;\n", "shr.u32 %m, %t, 1;\n" };
	static const char *const firsts[] = { "min.s32 %f, %m, %c;\n", "min.s32 %f, %m, %c;\n", "min.s32 %f, %c, %m;\n", "min.s32 %f, %m, %w;\n", "mov.u32 %f, %m;\n", "max.s32 %f, %m, %c;\n" };
	static const char *const guards[] = { "ge.s32 %q#, %i#, %c", "ge.s32 %q#, %i#, %c", "ge.s32 %q#, %f, %c", "le.s32 %q#, %c, %m", "gt.s32 %q#, %i#, %c", "gt.s32 %q#, %f, %c", "ge.s32 %q#, %i#, %w",
		"ge.s32 %q#, %m, %c", "lt.s32 %q#, %c, %i#", "ge.u32 %q#, %i#, %c", "eq.s32 %q#, %t, 77" };
	static const char *const accesses[] = { "st.shared.u32 [%a], %t;\n", "st.shared.u32 [%a], %t;\n", "ld.shared.u32 %v, [%a];\n", "st.shared.u32 [%a+512], %t;\n" };
	bool careful = below(2), loop = !below(3);
	const char *guard = careful ? guards[0] : ONE_OF(guards);

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n.reg .pred %q<9>; .reg .b32 %t, %bx, %tn, %n, %w, %b, %c, %e, %e0, %m, %f, %v, %s, %k, %i<9>, %a, %a0; .shared .align 4 .b8 s[2048];\n"
		"ld.param.u32 %n, [n]; ld.param.u32 %w, [w]; mov.u32 %t, %tid.x; mov.u32 %bx, %ctaid.x; mov.u32 %tn, %ntid.x; mov.u32 %s, s;\n");
	ws_buf_puts(b, ONE_OF(chunks));
	ws_buf_puts(b, careful ? begins[2] : ONE_OF(begins));
	ws_buf_puts(b, careful ? firsts[below(3)] : ONE_OF(firsts));
	if (loop)
		ws_buf_puts(b, "mov.u32 %k, %t; setp.ge.s32 %q8, %k, %c; @%q8 bra OUT;\nIN: shl.b32 %a0, %k, 2; add.s32 %a, %s, %a0; st.shared.u32 [%a], %t; add.s32 %k, %k, %tn; setp.lt.s32 %q8, %k, %c; @%q8 bra IN;\nOUT:\n");
	if (loop && (careful || below(2)))
		ws_buf_puts(b, "bar.sync 0;\n");
	for (unsigned k = 0, n = 1 + below(3); k < n; k++) {
		if (!careful && !below(3))
			guard = ONE_OF(guards);
		ws_buf_printf(b, k ? "add.s32 %%i%u, %%f, %u;\n" : "mov.u32 %%i%u, %%f;\n", k, k);
		ws_buf_puts(b, "setp.");
		for (const char *at = guard; *at; at++)
			ws_buf_printf(b, "%c", *at == '#' ? '0' + (int)k : *at);
		ws_buf_printf(b, "; @%%q%u bra NEXT%u;\nshl.b32 %%a0, %%i%u, 2; add.s32 %%a, %%s, %%a0;\n", k, k, careful || below(6) ? k : 0);
		ws_buf_puts(b, ONE_OF(accesses));
		ws_buf_printf(b, "NEXT%u:\n", k);
		if (!below(5))
			ws_buf_puts(b, "bar.sync 0;\n");
	}
	ws_buf_puts(b, "ret;\n}\n");
}

static struct sizes any_sizes(void)
{
	return (struct sizes){ 1 + below(3), { 1 + below(64), 1 }, 97 + below(30), 1 + below(64) };
}

static void what_is_left_finds_what_all_find(void **state)
{
	(void)state;
	left_finds_what_all_find(KERNELS, make, any_sizes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lesser_of_two), cmocka_unit_test(ends_of_chunks), cmocka_unit_test(counters_that_go_on_later), cmocka_unit_test(one_number_by_two_names), cmocka_unit_test(many_places_of_one_array),
		cmocka_unit_test(as_many_as_data_says_of_a_tile), cmocka_unit_test(one_register_for_two_numbers),
		cmocka_unit_test(what_is_left_finds_what_all_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
