/* test_ranges.c - src/rewrite/ranges*.c: how many checks run in launches of which the proofs hold, and do not hold. The
 * device functions are stand-ins that count; the kernels run on the simulated GPU. */
#include "ranges_rig.h"

static void copies(void **state)
{
	static const char copy[] = KERNEL(BELOW_N OFFSET COPY);

	expect(copy, (struct launch){ { 4 }, { 64 }, 4096, 256, 0 }, NONE);
	expect(copy, (struct launch){ { 4 }, { 64 }, -4096, 256, 0 }, NONE);
	expect(copy, (struct launch){ { 4 }, { 64 }, 400, 100, 0 }, NONE);              /* close together: n bounds them */
	expect(copy, (struct launch){ { 4 }, { 64 }, -400, 100, 0 }, NONE);
	expect(copy, (struct launch){ { 4 }, { 64 }, 396, 100, 0 }, ALL(1, 100));
	expect(copy, (struct launch){ { 4 }, { 64 }, -396, 100, 0 }, ALL(1, 100));
	expect(copy, (struct launch){ { 4 }, { 64 }, 4, 100, 0 }, ALL(99, 100));
	expect(copy, (struct launch){ { 4 }, { 64 }, 0, 100, 0 }, NONE);                 /* each onto itself */
	expect(copy, (struct launch){ { 4 }, { 64 }, 4096, 0, 0 }, NONE);
	expect(copy, (struct launch){ { 2, 2 }, { 32 }, 4096, 64, 0 }, ALL(0, 128));    /* two threads write one word */
	expect(copy, (struct launch){ { 2 }, { 32, 1, 2 }, 4096, 64, 0 }, ALL(0, 128));
}

static void in_place(void **state)
{
	expect(KERNEL(OFFSET "ld.global.u32 %r7, [%rd5]; st.global.u32 [%rd5], %r7;\n"), (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, NONE);
	expect(KERNEL(OFFSET "ld.global.u32 %r7, [%rd5+4]; st.global.u32 [%rd5], %r7;\n"), (struct launch){ { 4 }, { 64 }, 0, 0, 0 },
	       ALL(256, 256));
	expect(KERNEL(OFFSET "ld.global.u32 %r7, [%rd5+1024]; st.global.u32 [%rd5], %r7;\n"), (struct launch){ { 4 }, { 64 }, 0, 0, 0 },
	       ALL(256, 256));
	expect(KERNEL("mul.wide.s32 %rd3, %r4, 8; add.s64 %rd5, %rd2, %rd3;\n"       /* two fields of a struct */
	              "ld.global.u32 %r7, [%rd5+4]; st.global.u32 [%rd5], %r7;\n"), (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, NONE);
}

/* Each thread has four rows, a number of the launch apart: out[(y + 8 k) * w + x], threads 32 x 8. */
#define ROW_OF(from, to) "add.s32 %r" #to ", %r" #from ", %r31; mul.wide.s32 %rd1" #to ", %r" #to ", 4;\n" \
	"add.s64 %rd2" #to ", %rd2, %rd1" #to "; st.global.u32 [%rd2" #to "], %r3;\n"

static void rows_of_one_thread(void **state)
{
	static const char text[] = PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
		".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<60>;\n"
		"ld.param.u64 %rd21, [b]; ld.param.u32 %r6, [w]; cvta.to.global.u64 %rd2, %rd21;\n"
		"mov.u32 %r2, %ctaid.y; shl.b32 %r12, %r2, 5; mov.u32 %r3, %tid.x;\n"
		"mov.u32 %r11, %ctaid.x; shl.b32 %r13, %r11, 5; add.s32 %r14, %r13, %r3; mov.u32 %r15, %tid.y;\n"
		"add.s32 %r16, %r12, %r15; mad.lo.s32 %r4, %r16, %r6, %r14; shl.b32 %r31, %r6, 3;\n"
		"mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r3;\n"
		ROW_OF(4, 5) ROW_OF(5, 7) ROW_OF(7, 8) "ret;\n}\n";

	expect(text, (struct launch){ { 2, 2 }, { 32, 8 }, 0, 0, 64 }, NONE);
	expect(text, (struct launch){ { 2, 2 }, { 32, 8 }, 0, 0, 100 }, NONE);
	expect(text, (struct launch){ { 2, 2 }, { 32, 8 }, 0, 0, 63 }, ALL(0, 4096));   /* rows that are too short */
	expect(text, (struct launch){ { 2, 2 }, { 32, 9 }, 0, 0, 64 }, ALL(0, 4608));   /* the ninth row is the next one's first */
	expect(text, (struct launch){ { 2, 2 }, { 32, 8, 2 }, 0, 0, 64 }, ALL(0, 8192));
}

static void two_variables(void **state)
{
	expect(KERNEL(OFFSET "st.global.u32 [%rd4], %r4; st.global.u32 [%rd5], %r4;\n"), (struct launch){ { 4 }, { 64 }, 1024, 0, 0 }, NONE);
	expect(KERNEL(OFFSET "st.global.u32 [%rd4], %r4; st.global.u32 [%rd5], %r4;\n"), (struct launch){ { 4 }, { 64 }, 1020, 0, 0 },
	       ALL(0, 512));
}

/* Four places a constant apart, between those of other threads. */
static void places_of_one_thread(void **state)
{
	static const char text[] = KERNEL("shl.b32 %r9, %r1, 8; add.s32 %r10, %r9, %r3; mul.wide.s32 %rd6, %r10, 4; add.s64 %rd7, %rd2, %rd6;\n"
		"st.global.u32 [%rd7], %r4; st.global.u32 [%rd7+256], %r4; st.global.u32 [%rd7+512], %r4; st.global.u32 [%rd7+768], %r4;\n");

	expect(text, (struct launch){ { 2 }, { 64 }, 0, 0, 0 }, NONE);
	expect(text, (struct launch){ { 2 }, { 65 }, 0, 0, 0 }, ALL(0, 520));
}

/* i > 0 && i < n - 1, as compilers compare it. */
#define INNER     "add.s32 %r8, %r5, -1; setp.eq.s32 %p1, %r4, 0; setp.ge.u32 %p2, %r4, %r8; or.pred %p3, %p1, %p2; @%p3 bra END;\n"

static void what_is_not_zero(void **state)
{
	static const char text[] = KERNEL(INNER "add.s32 %r7, %r4, -1; mul.wide.u32 %rd6, %r7, 4; add.s64 %rd7, %rd1, %rd6;\n"
		"mul.wide.u32 %rd8, %r4, 4; add.s64 %rd9, %rd2, %rd8; ld.global.u32 %r9, [%rd7]; st.global.u32 [%rd9], %r9;\n");

	expect(text, (struct launch){ { 4 }, { 64 }, 4096, 256, 0 }, NONE);
	expect(text, (struct launch){ { 4 }, { 64 }, -1020, 256, 0 }, NONE);            /* writes 1..254, reads 0..253 */
	expect(text, (struct launch){ { 4 }, { 64 }, -1016, 256, 0 }, ALL(1, 254));
}

static void stencils(void **state)
{
	static const char stencil[] = KERNEL("setp.lt.s32 %p1, %r4, 1; add.s32 %r8, %r5, -1; setp.ge.s32 %p2, %r4, %r8;\n"
		"or.pred %p3, %p1, %p2; @%p3 bra END;\n" OFFSET
		"ld.global.u32 %r7, [%rd4+-4]; ld.global.u32 %r7, [%rd4+4]; st.global.u32 [%rd5], %r7;\n");

	expect(stencil, (struct launch){ { 4 }, { 32 }, 400, 100, 0 }, NONE);
	expect(stencil, (struct launch){ { 4 }, { 32 }, 392, 100, 0 }, ALL(1, 98));
	expect(stencil, (struct launch){ { 4 }, { 32 }, 0, 100, 0 }, ALL(194, 98));
}

static void sizes_of_accesses(void **state)
{
#define WIDE(bytes) KERNEL("mul.wide.s32 %rd3, %r4, " #bytes "; add.s64 %rd4, %rd2, %rd3;\n" \
	"st.global.v2.u32 [%rd4], {%r1, %r2}; st.global.v4.u32 [%rd4+16], {%r1, %r2, %r3, %r4};\n")
	expect(WIDE(32), (struct launch){ { 2 }, { 32 }, 0, 0, 0 }, NONE);
	expect(WIDE(16), (struct launch){ { 2 }, { 32 }, 0, 0, 0 }, ALL(0, 128));
#undef WIDE
}

#define OFFSET_OF_A "mul.wide.s32 %rd7, %r4, 4; add.s64 %rd6, %rd1, %rd7;\n"
#define AT(index, to) "mul.wide.s32 " to "0, " index ", 4; add.s64 " to ", %rd2, " to "0;\n"

/* One thread of each block, one of each warp, or one of all. */
static void by_one_thread(void **state)
{
	static const char first[] = KERNEL("setp.ne.s32 %p1, %r3, 3; @%p1 bra END;\n" AT("%r1", "%rd4") "st.global.u32 [%rd4], %r4;\n");
	static const char last[] = KERNEL("add.s32 %r7, %r2, -1; setp.eq.s32 %p1, %r3, %r7;\n" AT("%r1", "%rd4") "@%p1 st.global.u32 [%rd4], %r4;\n");
	static const char of_all[] = KERNEL("setp.ne.s32 %p1, %r4, 9; @%p1 bra END; st.global.u32 [%rd2], %r4;\n");
	static const char of_plane[] = KERNEL("mov.u32 %r13, %tid.y; or.b32 %r7, %r13, %r3; setp.ne.s32 %p1, %r7, 0; @%p1 bra END;\n"
		AT("%r1", "%rd4") "st.global.u32 [%rd4], %r4;\n");
	static const char of_warps[] = KERNEL("and.b32 %r7, %r4, 31; setp.ne.s32 %p1, %r7, 5; @%p1 bra END; shr.u32 %r8, %r4, 5;\n"
		AT("%r8", "%rd4") "st.global.u32 [%rd4], %r4;\n");
#define BY_LANE(word, of) KERNEL("and.b32 %r7, %r3, 31; setp.ne.s32 %p1, %r7, 5; @%p1 bra END; " of " shr.u32 %r8, " word ", 5;\n" AT("%r8", "%rd4") "st.global.u32 [%rd4], %r4;\n")
	static const char of_x[] = BY_LANE("%r4", ""), of_64[] = BY_LANE("%r9", "mad.lo.s32 %r9, %r1, 64, %r3;");
	static const char by_parts[] = KERNEL("and.b32 %r7, %r3, 31; setp.ne.s32 %p1, %r7, 0; @%p1 bra END; shr.u32 %r8, %r3, 5; setp.ne.s32 %p2, %r8, 0; @%p2 bra END;\n"
		AT("%r1", "%rd4") "st.global.u32 [%rd4], %r4;\n");
	static const char others[] = KERNEL("setp.eq.s32 %p1, %r3, 3; @%p1 bra END;\n" AT("%r1", "%rd4") "st.global.u32 [%rd4], %r4;\n");
	static const char two[] = KERNEL("setp.eq.s32 %p1, %r3, 3; setp.eq.s32 %p2, %r3, 4;\n" AT("%r1", "%rd4")
		"@%p1 st.global.u32 [%rd4], %r4; @%p2 st.global.u32 [%rd4], %r4;\n");
	static const char half[] = KERNEL("shr.u32 %r7, %r3, 1; setp.ne.s32 %p1, %r7, 0; @%p1 bra END;\n" AT("%r1", "%rd4")
		"st.global.u32 [%rd4], %r4;\n");

	expect(first, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, NONE);
	expect(first, (struct launch){ { 4 }, { 64, 2 }, 0, 0, 0 }, ALL(0, 8));
	expect(first, (struct launch){ { 4, 2 }, { 64 }, 0, 0, 0 }, ALL(0, 8));
	expect(last, (struct launch){ { 4 }, { 50 }, 0, 0, 0 }, NONE);
	expect(last, (struct launch){ { 4 }, { 50, 2 }, 0, 0, 0 }, ALL(0, 8));
	expect(of_all, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, NONE);
	expect(of_all, (struct launch){ { 4, 2 }, { 64 }, 0, 0, 0 }, ALL(0, 2));
	expect(of_plane, (struct launch){ { 4 }, { 8, 8 }, 0, 0, 0 }, NONE);
	expect(of_plane, (struct launch){ { 4 }, { 8, 8, 2 }, 0, 0, 0 }, ALL(0, 8));
	expect(of_warps, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, NONE);
	expect(of_warps, (struct launch){ { 4 }, { 64, 2 }, 0, 0, 0 }, ALL(0, 16));
	/* the lane is that of the block, the warp one of the grid, or of blocks that are 64 apart */
	expect(of_x, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, NONE);
	expect(of_x, (struct launch){ { 4 }, { 48 }, 0, 0, 0 }, ALL(0, 8));
	expect(of_x, (struct launch){ { 4 }, { 64, 2 }, 0, 0, 0 }, ALL(0, 16));
	expect(of_64, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, NONE);
	expect(of_64, (struct launch){ { 4 }, { 96 }, 0, 0, 0 }, ALL(0, 12));
	expect(of_64, (struct launch){ { 4 }, { 48 }, 0, 0, 0 }, NONE);
	expect(by_parts, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, NONE);
	expect(by_parts, (struct launch){ { 4 }, { 64, 2 }, 0, 0, 0 }, ALL(0, 8));
	expect(others, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, ALL(0, 252));
	expect(two, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, ALL(0, 8));
	expect(half, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, ALL(0, 8));
}

/* The first row is written in another place of the code, with another address. */
static void first_row_apart(void **state)
{
#define ROWS(first, more) KERNEL(Y "setp.eq.s32 %p4, %r10, " first "; @%p4 bra FIRST;\n" \
	"mad.lo.s32 %r14, %r10, %r6, %r4;\n" AT("%r14", "%rd4") "st.global.u32 [%rd4], %r4; bra END;\n" \
	"FIRST: " more AT("%r7", "%rd5") "st.global.u32 [%rd5], %r4;\n")
	static const char same[] = ROWS("0", "mov.u32 %r7, %r4;\n"), second[] = ROWS("1", "mov.u32 %r7, %r4;\n");
	static const char beside[] = ROWS("0", "add.s32 %r7, %r4, 1;\n");

	expect(same, (struct launch){ { 4, 4 }, { 8, 8 }, 0, 30, 30 }, NONE);
	expect(same, (struct launch){ { 4, 4 }, { 8, 8 }, 0, 30, 29 }, ALL(0, 900));    /* rows overlap */
	expect(second, (struct launch){ { 4, 4 }, { 8, 8 }, 0, 30, 30 }, ALL(0, 900));   /* two rows at one place */
	expect(beside, (struct launch){ { 4, 4 }, { 8, 8 }, 0, 30, 30 }, ALL(0, 900));
#undef ROWS
}

static void rows_and_columns(void **state)
{
	static const char rows[] = KERNEL(Y "mad.lo.s32 %r14, %r10, %r6, %r4; mul.wide.s32 %rd3, %r14, 4;\n"
		"add.s64 %rd4, %rd1, %rd3; mad.lo.s32 %r15, %r4, %r6, %r10; mul.wide.s32 %rd6, %r15, 4; add.s64 %rd5, %rd2, %rd6;\n"
		COPY);

	expect(rows, (struct launch){ { 4, 4 }, { 8, 8 }, 4096, 30, 30 }, NONE);
	expect(rows, (struct launch){ { 4, 4 }, { 8, 8 }, 4096, 32, 32 }, NONE);
	expect(rows, (struct launch){ { 4, 4 }, { 8, 8 }, 4096, 25, 29 }, NONE);
	expect(rows, (struct launch){ { 4, 4 }, { 8, 8 }, 8192, 30, 29 }, ALL(0, 900));      /* rows overlap */
	expect(rows, (struct launch){ { 4, 4 }, { 8, 8 }, 1200, 30, 30 }, ALL(600, 900));
	expect(rows, (struct launch){ { 4, 4, 2 }, { 8, 8 }, 4096, 30, 30 }, ALL(0, 1800));
	expect(rows, (struct launch){ { 4, 4 }, { 8, 8 }, 4096, 30, -1u }, ALL(900, 900));   /* a negative pitch */
}

/* Reads in a loop have no bounds: each looks where it is. The write is checked, because they might come there. */
static void loops_that_read(void **state)
{
	static const char sum[] = KERNEL(BELOW_N OFFSET "mov.u32 %r7, 0; mov.u32 %r8, 0;\n"
		"LOOP: ld.global.u32 %r9, [%rd4]; add.u32 %r8, %r8, %r9; add.s64 %rd4, %rd4, 4; add.u32 %r7, %r7, 1;\n"
		"setp.lt.u32 %p2, %r7, 8; @%p2 bra LOOP; st.global.u32 [%rd5], %r8;\n");

	expect(sum, (struct launch){ { 2 }, { 32 }, 4096, 64, 0 }, NONE);
	expect(sum, (struct launch){ { 2 }, { 32 }, 0, 64, 0 }, ALL(64 * 8 - 28, 64));
	expect(sum, (struct launch){ { 2 }, { 32 }, 256, 64, 0 }, ALL(28, 64));
	expect(sum, (struct launch){ { 2 }, { 32 }, 280, 64, 0 }, ALL(1, 64));
	expect(sum, (struct launch){ { 2 }, { 32 }, 284, 64, 0 }, NONE);
}

/* What compilers make of for (k = 0; k < n; k++) sum += a[i * w + k]; four rounds at a time, and what remains. */
#define UNROLLED(begin, back) KERNEL( \
	"add.s32 %r18, %r5, -1; and.b32 %r25, %r5, 3; mov.u32 %r24, 0; setp.lt.s32 %p1, %r5, 1; @%p1 bra END;\n" \
	"mul.lo.s32 %r30, %r4, %r6; mul.wide.s32 %rd7, %r30, 4; " begin \
	"mul.wide.s32 %rd3, %r4, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r24;\n" \
	"setp.lt.u32 %p3, %r18, 3; @%p3 bra REST; sub.s32 %r23, %r5, %r25; mov.u32 %r24, 0; mov.u64 %rd24, %rd8;\n" \
	"MAIN: ld.global.u32 %r9, [%rd24]; ld.global.u32 %r9, [%rd24+4]; ld.global.u32 %r9, [%rd24+8];\n" \
	"ld.global.u32 %r9, [%rd24+12]; add.s32 %r24, %r24, 4; add.s64 %rd24, %rd24, " back "; add.s32 %r23, %r23, -4;\n" \
	"setp.ne.s32 %p4, %r23, 0; @%p4 bra MAIN;\n" \
	"REST: setp.eq.s32 %p5, %r25, 0; @%p5 bra END; mul.wide.s32 %rd23, %r24, 4; add.s64 %rd26, %rd8, %rd23;\n" \
	"LAST: ld.global.u32 %r9, [%rd26]; add.s64 %rd26, %rd26, 4; add.s32 %r25, %r25, -1; setp.ne.s32 %p6, %r25, 0;\n" \
	"@%p6 bra LAST;\n")

static void loops_that_were_unrolled(void **state)
{
	static const char sum[] = UNROLLED("add.s64 %rd8, %rd1, %rd7; ", "16");
	static const char down[] = UNROLLED("add.s64 %rd27, %rd1, %rd7; add.s64 %rd8, %rd27, 32; ", "-16");

	for (uint32_t n = 8; n < 12; n++) {
		int64_t end = (63 * 16 + n) * 4;

		expect(sum, (struct launch){ { 2 }, { 32 }, end, n, 16 }, NONE);
		/* the last word is one of four that are checked at once, or one of the rest, whose neighbours are near enough to be */
		expect(sum, (struct launch){ { 2 }, { 32 }, end - 4, n, 16 }, ALL(n == 8 ? 4 : n - 8, 64));
		expect(sum, (struct launch){ { 2 }, { 32 }, -256, n, 16 }, NONE);
		expect(sum, (struct launch){ { 2 }, { 32 }, -252, n, 16 }, ALL(4, 64));
	}
	expect(sum, (struct launch){ { 2 }, { 32 }, 8192, 3, 16 }, NONE);                /* a main loop that is not entered */
	expect(down, (struct launch){ { 2 }, { 32 }, 8192, 8, 16 }, NONE);
	expect(down, (struct launch){ { 2 }, { 32 }, -240, 8, 16 }, NONE);              /* from 16 on */
	expect(down, (struct launch){ { 2 }, { 32 }, -236, 8, 16 }, ALL(4, 64));
}

/* for (k = i * w; k < i * w + w; k += 4): as many rounds for each, from another number on. */
static void loops_of_equal_length(void **state)
{
	static const char text[] = KERNEL("mul.lo.s32 %r30, %r4, %r6; add.s32 %r32, %r30, %r6; mul.wide.s32 %rd7, %r30, 4;\n"
		"add.s64 %rd8, %rd1, %rd7; mov.u64 %rd24, %rd8; mov.u32 %r31, %r30; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd5, %rd2, %rd3;\n"
		"LOOP: ld.global.u32 %r9, [%rd24]; add.s64 %rd24, %rd24, 16; add.s32 %r31, %r31, 4; setp.lt.s32 %p2, %r31, %r32;\n"
		"@%p2 bra LOOP; st.global.u32 [%rd5], %r9;\n");

	expect(text, (struct launch){ { 2 }, { 32 }, 2036, 0, 8 }, NONE);
	expect(text, (struct launch){ { 2 }, { 32 }, 2032, 0, 8 }, ALL(1, 64));
	expect(text, (struct launch){ { 2 }, { 32 }, 2036, 0, 9 }, ALL(21, 64));
}

/* The pointer goes on where it was in the round before of a loop around. */
static void loops_that_do_not_begin_anew(void **state)
{
	static const char text[] = KERNEL(BELOW_N OFFSET "mov.u32 %r8, 0; mov.u64 %rd6, %rd4;\nOUTER: mov.u32 %r7, 0;\n"
		"LOOP: ld.global.u32 %r9, [%rd6]; add.s64 %rd6, %rd6, 4; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 4; @%p2 bra LOOP;\n"
		"add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 3; @%p3 bra OUTER; st.global.u32 [%rd5], %r9;\n");

	expect(text, (struct launch){ { 2 }, { 32 }, 4096, 64, 0 }, ALL(0, 64));
	expect(text, (struct launch){ { 2 }, { 32 }, 280, 64, 0 }, ALL(15, 64));
}

static void loops_that_write(void **state)
{
#define STRIDED(step) KERNEL(BELOW_N "mov.u32 %r8, %nctaid.x; mul.lo.s32 %r9, %r8, %r2;\n" \
	"LOOP: " OFFSET COPY "add.s32 %r4, %r4, " step "; setp.lt.s32 %p2, %r4, %r5; @%p2 bra LOOP;\n")
	expect(STRIDED("%r9"), (struct launch){ { 2 }, { 32 }, 4000, 1000, 0 }, NONE);
	expect(STRIDED("%r9"), (struct launch){ { 2 }, { 32 }, 3996, 1000, 0 }, ALL(1, 1000));
	expect(STRIDED("%r6"), (struct launch){ { 2 }, { 32 }, 4096, 100, 64 }, NONE);
	expect(STRIDED("%r6"), (struct launch){ { 2 }, { 32 }, 4096, 65, 63 }, ALL(0, 64 + 2));      /* they meet */
#undef STRIDED
	/* the counter as an unsigned number; a step of 2^32 - 1 counts down */
	static const char counter[] = KERNEL("setp.ge.u32 %p1, %r4, %r5; @%p1 bra END;\n"
		"LOOP: " OFFSET COPY "add.u32 %r4, %r4, %r6; setp.lt.u32 %p2, %r4, %r5; @%p2 bra LOOP;\n");

	expect(counter, (struct launch){ { 1 }, { 8 }, 4096, 20, 8 }, NONE);
	expect(counter, (struct launch){ { 1 }, { 8 }, 4096, 20, 0x7fffffff }, NONE);
	expect(counter, (struct launch){ { 1 }, { 8 }, 4096, 20, -1u }, ALL(36, 36));
}

/* What was compared is another register than the counter, which begins with a copy of it; or the counter as it was then. */
static void loops_that_begin_with_a_copy(void **state)
{
#define ROWS_OF(begin, test) KERNEL("setp.ge.s32 %p1, %r3, %r5; mul.lo.s32 %r21, %r1, %r6; mov.u32 %r25, %r3;\n" begin test \
	"L: add.s32 %r22, %r20, %r21;\n" AT("%r22", "%rd4") "st.global.u32 [%rd4], %r4; add.s32 %r20, %r20, %r2; setp.lt.s32 %p2, %r20, %r5; @%p2 bra L;\n")
	static const char copied[] = ROWS_OF("@%p1 bra END; mov.u32 %r20, %r3;\n", "");
	static const char other[] = ROWS_OF("@%p1 bra END; add.s32 %r20, %r3, 1;\n", "");
	static const char late[] = ROWS_OF("mov.u32 %r20, %r3; bra.uni N;\n", "N: @%p1 bra END;\n");
	static const char itself[] = KERNEL("mov.u32 %r20, %tid.x; setp.ge.s32 %p1, %r20, %r5; mul.lo.s32 %r21, %r1, %r6; bra.uni N;\nN: @%p1 bra END;\n"
		"L: add.s32 %r22, %r20, %r21;\n" AT("%r22", "%rd4") "st.global.u32 [%rd4], %r4; add.s32 %r20, %r20, %r2; setp.lt.s32 %p2, %r20, %r5; @%p2 bra L;\n");
	static const char changed[] = KERNEL("mov.u32 %r20, %tid.x; setp.ge.s32 %p1, %r20, %r5; mul.lo.s32 %r21, %r1, %r6; mov.u32 %r24, 0;\n"
		"A: add.s32 %r20, %r20, %r5; add.s32 %r24, %r24, 1; setp.lt.s32 %p3, %r24, 2; @%p3 bra A; @%p1 bra END;\n"
		"L: add.s32 %r22, %r20, %r21;\n" AT("%r22", "%rd4") "st.global.u32 [%rd4], %r4; add.s32 %r20, %r20, %r2; setp.lt.s32 %p2, %r20, %r5; @%p2 bra L;\n");

	expect(copied, (struct launch){ { 4 }, { 32 }, 0, 100, 100 }, NONE);
	expect(copied, (struct launch){ { 4 }, { 32 }, 0, 100, 99 }, ALL(0, 400));      /* rows overlap */
	expect(copied, (struct launch){ { 4 }, { 32, 2 }, 0, 100, 100 }, ALL(0, 800));
	expect(other, (struct launch){ { 4 }, { 32 }, 0, 100, 100 }, ALL(0, 396));
	expect(late, (struct launch){ { 4 }, { 32 }, 0, 100, 100 }, ALL(0, 400));       /* compared behind the copy */
	expect(itself, (struct launch){ { 4 }, { 32 }, 0, 100, 100 }, NONE);
	expect(itself, (struct launch){ { 4 }, { 32 }, 0, 100, 99 }, ALL(0, 400));
	expect(changed, (struct launch){ { 4 }, { 32 }, 0, 32, 32 }, ALL(0, 128));
#undef ROWS_OF
}

/* Counters that are added to through copies, and in another width. */
static void counters_with_copies(void **state)
{
	static const char widths[] = KERNEL("setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; mov.u32 %r20, %r4;\n"
		"L: cvt.u64.u32 %rd10, %r20; cvt.u32.u64 %r21, %rd10;\n" AT("%r20", "%rd4") "st.global.u32 [%rd4], %r4;\n"
		"add.s32 %r20, %r21, %r6; setp.lt.u32 %p2, %r20, %r5; @%p2 bra L;\n");
#define NEXT(first, test) KERNEL("mov.u32 %r20, %r4; setp.ge.u32 %p1, %r20, %r5; " first "add.s32 %r21, %r20, %r6;\n" \
		"setp.ge.u32 %p2, %r21, %r5; mov.u32 %r24, 0;\n" "@%p1 bra N;\n" AT("%r20", "%rd4") "st.global.u32 [%rd4], %r4;\nN: @%p2 bra END;\n" \
		"L: mov.u32 %r22, %r21;\n" AT("%r22", "%rd5") "st.global.u32 [%rd5], %r4; add.s32 %r21, %r22, %r6; mov.u32 %r20, %r22;\n" \
		"add.s32 %r24, %r24, 1; " test "@%p3 bra L;\n")
	static const char next[] = NEXT("@%p1 bra END; ", "setp.lt.u32 %p3, %r21, %r5; ");
	static const char not_bounded[] = NEXT("@%p1 bra END; ", "setp.lt.u32 %p3, %r24, 2; ");
	static const char once[] = NEXT("", "setp.lt.u32 %p3, %r21, %r5; ");
	static const char two_begins[] = KERNEL("setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; mov.u32 %r20, %r4; setp.lt.u32 %p4, %r3, 9;\n"
		"@%p4 mov.u32 %r20, 3;\nL: cvt.u64.u32 %rd10, %r20; cvt.u32.u64 %r21, %rd10;\n" AT("%r20", "%rd4") "st.global.u32 [%rd4], %r4;\n"
		"add.s32 %r20, %r21, %r6; setp.lt.u32 %p2, %r20, %r5; @%p2 bra L;\n");

	expect(widths, (struct launch){ { 2 }, { 32 }, 0, 100, 64 }, NONE);
	expect(widths, (struct launch){ { 2 }, { 32 }, 0, 100, 63 }, ALL(0, 101));
	expect(widths, (struct launch){ { 2, 2 }, { 32 }, 0, 100, 64 }, ALL(0, 200));
	expect(widths, (struct launch){ { 2 }, { 32 }, 0, 100, 0x7fffffff }, NONE);
	expect(widths, (struct launch){ { 2 }, { 32 }, 0, 100, -1u }, ALL(0, 2080));    /* wraps: counts down */
	expect(next, (struct launch){ { 2 }, { 32 }, 0, 100, 64 }, NONE);
	expect(next, (struct launch){ { 2 }, { 32 }, 0, 100, 63 }, ALL(0, 101));
	expect(next, (struct launch){ { 2 }, { 32 }, 0, 100, 0x7fffffff }, NONE);
	expect(once, (struct launch){ { 2 }, { 32 }, 0, 100, 64 }, NONE);
	expect(once, (struct launch){ { 2 }, { 32 }, 0, 100, 63 }, ALL(0, 101));
	expect(once, (struct launch){ { 2 }, { 32 }, 0, 100, 0x7fffffff }, ALL(0, 64));        /* might wrap in two steps */
	expect(not_bounded, (struct launch){ { 2 }, { 32 }, 0, 100, 64 }, ALL(0, 136));
	expect(two_begins, (struct launch){ { 2 }, { 32 }, 0, 100, 64 }, ALL(0, 105));
#undef NEXT
}

/* b[n - 1 - i], as compilers compute it. */
static void backwards(void **state)
{
	static const char text[] = KERNEL(BELOW_N "not.b32 %r7, %r4; add.s32 %r8, %r7, %r5;\n" AT("%r8", "%rd4") OFFSET_OF_A
		"ld.global.u32 %r9, [%rd6]; st.global.u32 [%rd4], %r9;\n");

	expect(text, (struct launch){ { 2 }, { 32 }, 256, 64, 0 }, NONE);
	expect(text, (struct launch){ { 2 }, { 32 }, 252, 64, 0 }, ALL(1, 64));
	expect(text, (struct launch){ { 2 }, { 32, 2 }, 256, 64, 0 }, ALL(0, 128));
}

/* Tiles of 4 x 4 on a diagonal: block b has the tile of column b and row n - 1 - b, and reads words around it. */
static void tiles_on_a_diagonal(void **state)
{
#define ROW_BELOW(from, to) "add.s64 " to ", " from ", %rd12; st.global.u32 [" to "], %r4;\n"
#define TILE(reads) KERNEL("not.b32 %r7, %r1; add.s32 %r8, %r7, %r5; shl.b32 %r9, %r6, 2; shl.b32 %r10, %r1, 2;\n" \
	"mad.lo.s32 %r11, %r9, %r8, %r10; add.s32 %r12, %r11, %r3; add.s32 %r13, %r12, %r6; add.s32 %r18, %r13, 1;\n" \
	"mul.wide.s32 %rd12, %r6, 4;\n" AT("%r18", "%rd4") "st.global.u32 [%rd4], %r4; " ROW_BELOW("%rd4", "%rd13") ROW_BELOW("%rd13", "%rd14") ROW_BELOW("%rd14", "%rd15") \
	reads)
#define READ(index, to) AT(index, to) "ld.global.u32 %r20, [" to "];\n"
	static const char stores[] = TILE("");
	static const char around[] = TILE(READ("%r11", "%rd5") "add.s32 %r14, %r12, 1;\n" READ("%r14", "%rd6")
		"add.s32 %r15, %r3, 1; mad.lo.s32 %r16, %r15, %r6, %r11;\n" READ("%r16", "%rd3"));
	static const char inside[] = TILE("add.s32 %r14, %r11, %r6;\n" READ("%r14", "%rd5") "ld.global.u32 %r20, [%rd5+4];\n");
	/* the first word of the tile of the next block, or of the one behind it */
	static const char next[] = TILE("add.s32 %r14, %r11, %r6; sub.s32 %r15, %r14, %r9; add.s32 %r16, %r15, 5;\n" READ("%r16", "%rd5"));
	static const char far[] = TILE("add.s32 %r14, %r11, %r6; sub.s32 %r15, %r14, %r9; sub.s32 %r16, %r15, %r9; add.s32 %r17, %r16, 9;\n"
		READ("%r17", "%rd5"));

	expect(stores, (struct launch){ { 3 }, { 4 }, 0, 3, 20 }, NONE);
	expect(around, (struct launch){ { 3 }, { 4 }, 0, 3, 20 }, NONE);
	expect(around, (struct launch){ { 1 }, { 4 }, 0, 3, 20 }, NONE);
	expect(around, (struct launch){ { 3 }, { 4 }, 0, 3, 9 }, NONE);
	expect(around, (struct launch){ { 3 }, { 4 }, 0, 3, 8 }, ALL(27, 48));          /* a tile ends where the next row begins */
	expect(around, (struct launch){ { 3, 2 }, { 4 }, 0, 3, 20 }, ALL(54, 96));
	expect(inside, (struct launch){ { 3 }, { 4 }, 0, 3, 20 }, ALL(20, 48));
	expect(next, (struct launch){ { 3 }, { 4 }, 0, 3, 20 }, ALL(8, 48));
	expect(far, (struct launch){ { 3 }, { 4 }, 0, 3, 20 }, ALL(4, 48));
#undef TILE
}

/* No comparison bounds the counter where it is added to. */
static void loops_without_bounds(void **state)
{
	expect(KERNEL("mov.u32 %r8, 0;\nLOOP: " OFFSET COPY "add.s32 %r4, %r4, 64; add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 3;\n"
	              "@%p2 bra LOOP;\n"), (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, ALL(0, 192));
	expect(KERNEL("LOOP: " OFFSET COPY "add.s32 %r4, %r4, 64; setp.lt.s32 %p2, %r4, %r5; @%p2 bra LOOP;\n"),
	       (struct launch){ { 2 }, { 32 }, 4096, 100, 0 }, NONE);        /* but behind it */
	expect(KERNEL("LOOP: " OFFSET COPY "add.s32 %r4, %r4, 63; setp.lt.s32 %p2, %r4, %r5; @%p2 bra LOOP;\n"),
	       (struct launch){ { 2 }, { 32 }, 4096, 100, 0 }, ALL(0, 101));
}

/* for (; i < n; i += all) copy(i), unrolled: what is left over by division first, by pointers, then four at once. */
#define GRID_STRIDE(most, enter, index, step, unit, st) KERNEL("mov.u32 %r8, %nctaid.x; mul.lo.s32 %r9, %r2, %r8; setp.ge.s32 %p1, %r4, %r5; @%p1 bra END;\n" \
	"sub.s32 %r10, %r5, %r4; add.s32 %r10, %r10, %r9; add.s32 %r10, %r10, -1; div.u32 %r11, %r10, %r9; and.b32 %r12, %r11, " most ";\n" \
	"cvt.s64.s32 %rd8, %r9; shl.b64 %rd9, %rd8, " step "; " enter "\n" \
	"cvt.s64.s32 %rd10, %r4; shl.b64 %rd11, %rd10, " step "; add.s64 %rd12, %rd2, %rd11; add.s64 %rd13, %rd1, %rd11;\n" \
	"LEFT: .pragma \"nounroll\"; ld.global." unit " %r20, [%rd13]; st.global." unit " [%rd12], %r20; add.s32 %r4, %r4, %r9; add.s64 %rd12, %rd12, %rd9;\n" \
	"add.s64 %rd13, %rd13, %rd9; add.s32 %r12, %r12, -1; setp.ne.s32 %p3, %r12, 0; @%p3 bra LEFT;\n" \
	"MAIN: setp.lt.u32 %p4, %r11, 4; @%p4 bra END;\n" \
	"FOUR: cvt.s64.s32 %rd14, " index "; shl.b64 %rd15, %rd14, " step "; add.s64 %rd16, %rd1, %rd15; add.s64 %rd17, %rd2, %rd15;\n" \
	"ld.global." unit " %r20, [%rd16]; st.global." unit " [%rd17], %r20; add.s64 %rd18, %rd16, %rd9; add.s64 %rd19, %rd17, %rd9;\n" \
	"ld.global." unit " %r21, [%rd18]; st.global." unit " [%rd19], %r21; add.s64 %rd22, %rd18, %rd9; add.s64 %rd23, %rd19, %rd9;\n" \
	"add.s32 %r14, %r4, %r9; add.s32 %r15, %r14, %r9; ld.global." unit " %r22, [%rd22]; st.global." unit " [%rd23], %r22;\n" \
	"add.s32 %r16, %r15, %r9; add.s64 %rd24, %rd22, %rd9; add.s64 %rd25, %rd23, %rd9; ld.global." unit " %r23, [%rd24];\n" \
	st "st.global." unit " [%rd25], %r23; add.s32 %r4, %r16, %r9; setp.lt.s32 %p5, %r4, %r5; @%p5 bra FOUR;\n")

static void loops_in_steps_of_the_grid(void **state)
{
#define ENTER "setp.eq.s32 %p2, %r12, 0; @%p2 bra MAIN;"
	static const char words[] = GRID_STRIDE("3", ENTER, "%r4", "2", "u32", ""), halves[] = GRID_STRIDE("3", ENTER, "%r4", "1", "u16", "");
	static const char bytes[] = GRID_STRIDE("3", ENTER, "%r4", "0", "u8", "");
	/* a loop that may be entered with 0; another index; one more place */
	static const char endless[] = GRID_STRIDE("3", "", "%r4", "2", "u32", "");
	static const char other[] = GRID_STRIDE("3", ENTER, "%r3", "2", "u32", "");
	static const char moved[] = GRID_STRIDE("3", ENTER, "%r4", "2", "u32", "add.s64 %rd25, %rd25, 4;");

	/* what is left over is only read; its counter goes down */
	static const char summed[] = KERNEL("not.b32 %r10, %r4; add.s32 %r11, %r10, %r5; shr.u32 %r12, %r11, 5; add.s32 %r13, %r12, 1;\n"
		"and.b32 %r14, %r13, 3; setp.eq.s32 %p2, %r14, 0; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd5, %rd2, %rd3; add.s64 %rd4, %rd1, %rd3; @%p2 bra L;\n"
		"R: ld.global.u32 %r20, [%rd4]; add.s64 %rd4, %rd4, 128; add.s32 %r14, %r14, -1; setp.ne.s32 %p3, %r14, 0; @%p3 bra R;\n"
		"L: st.global.u32 [%rd5], %r20; setp.ne.s32 %p4, %r6, 1; @%p4 bra END; st.global.u32 [%rd1], %r20;\n");

	expect_allocated(summed, (struct launch){ { 1 }, { 32 }, 8192, 100, 0 }, 8192, NONE);
	for (uint32_t n = 65; n < 1000; n += 133) {
		struct launch l = { { 2 }, { 32 }, 16384, n, 0 };

		expect(words, l, NONE);
		expect(halves, l, NONE);
		expect(bytes, l, NONE);
	}
	expect_allocated(words, (struct launch){ { 2 }, { 32 }, 4000, 1000, 0 }, 4000, NONE);     /* steps more than there are lead beyond it */
	expect(words, (struct launch){ { 2, 2 }, { 32 }, 16384, 65, 0 }, ALL(0, 130));
	expect(words, (struct launch){ { 2 }, { 32 }, 4, 64, 0 }, ALL(63, 64));
	expect(endless, (struct launch){ { 2 }, { 32 }, 16384, 65 + 64, 0 }, ALL(129, 129));
	expect(other, (struct launch){ { 2 }, { 32 }, 16384, 256, 0 }, ALL(0, 256));
	expect(moved, (struct launch){ { 2 }, { 32 }, 16384, 256, 0 }, ALL(256, 256));
#undef ENTER
}

/* Numbers that do not fit their type: the address is another one than it looks. */
static void numbers_that_wrap(void **state)
{
	static const char scaled[] = KERNEL("mul.lo.s32 %r7, %r4, %r6; setp.lt.u32 %p1, %r7, 64; @!%p1 bra END;\n"
		"cvt.u64.u32 %rd3, %r7; add.s64 %rd4, %rd2, %rd3; st.global.u8 [%rd4], 1;\n");

	expect(scaled, (struct launch){ { 1 }, { 32 }, 0, 0, 2 }, NONE);
	expect(scaled, (struct launch){ { 1 }, { 32 }, 0, 0, 1u << 31 }, ALL(0, 16));
	expect(KERNEL("mul.lo.s32 %r7, %r4, %r6; cvt.u64.u32 %rd3, %r7; shl.b64 %rd3, %rd3, 33; shr.u64 %rd4, %rd3, 33;\n"
	              "add.s64 %rd4, %rd2, %rd4; st.global.u8 [%rd4], 1;\n"), (struct launch){ { 1 }, { 32 }, 0, 0, 1u << 31 },
	       ALL(0, 32));
}

static void atomics(void **state)
{
	expect(KERNEL(OFFSET "ld.global.u32 %r7, [%rd4]; red.global.add.u32 [%rd2], %r7;\n"),
	       (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, NONE);
	expect(KERNEL(OFFSET "ld.global.u32 %r7, [%rd4]; red.global.add.u32 [%rd2], %r7;\n"),
	       (struct launch){ { 2 }, { 32 }, 128, 0, 0 }, (struct checks){ 1, 0, 64, 0 });
	expect(KERNEL("ld.global.u32 %r7, [%rd2]; red.global.add.u32 [%rd2], 1;\n"),
	       (struct launch){ { 2 }, { 32 }, 0, 0, 0 }, (struct checks){ 64, 0, 64, 0 });
	expect(KERNEL("red.cta.global.add.u32 [%rd2], 1;\n"), (struct launch){ { 2 }, { 32 }, 0, 0, 0 }, (struct checks){ 0, 0, 64, 0 });
	expect(KERNEL("st.global.u32 [%rd2], 1;\n"), (struct launch){ { 2 }, { 32 }, 0, 0, 0 }, ALL(0, 64));
	expect(KERNEL("st.global.u32 [%rd2], 1;\n"), (struct launch){ { 1 }, { 1 }, 0, 0, 0 }, NONE);
}

/* ---- shared memory at addresses that are data ---- */
/* A column of bytes for each of 64 threads, 16 of them in words of their own, and the row by some bits of what was loaded. */
#define COLUMN(mask) ".shared .b8 s[4096]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; and.b32 %r22, %r21, 60; shr.u32 %r23, %r3, 4;\n" \
	"or.b32 %r24, %r22, %r23; ld.global.u32 %r25, [%rd4]; shl.b32 %r26, %r25, 6; and.b32 %r27, %r26, " mask ";\n" \
	"add.s32 %r28, %r27, %r24; add.s32 %r29, %r20, %r28;\n"
#define COUNT    "ld.shared.u8 %r30, [%r29]; add.s32 %r30, %r30, 1; st.shared.u8 [%r29], %r30;\n"

/* A parameter of 32 bits that is loaded into a register of 64: rows of that many words. */
static void wide_parameters(void **state)
{
	static const char rows[] = KERNEL("ld.param.s32 %rd10, [w]; cvt.u64.u32 %rd11, %r1; mul.lo.s64 %rd12, %rd10, %rd11; cvt.u64.u32 %rd13, %r3;\n"
		"add.s64 %rd14, %rd12, %rd13; shl.b64 %rd15, %rd14, 2; add.s64 %rd16, %rd2, %rd15; st.global.u32 [%rd16], %r3;\n");

	expect(rows, (struct launch){ { 4 }, { 64 }, 8192, 0, 256 }, NONE);
	expect(rows, (struct launch){ { 4 }, { 64 }, 8192, 0, 64 }, NONE);
	expect(rows, (struct launch){ { 4 }, { 64 }, 8192, 0, 32 }, ALL(0, 256));
}

/* Division of 64 bits as nvcc has it: by a short one where that suffices; its remainder is a difference. */
#define LONG(behind) "cvt.u64.u32 %rd10, %r4; ld.param.u32 %rd11, [w]; or.b64 %rd12, %rd10, %rd11; and.b64 %rd13, %rd12, -4294967296; setp.ne.s64 %p1, %rd13, 0;\n" \
	"@%p1 bra SLOW;\ncvt.u32.u64 %r20, %rd11; cvt.u32.u64 %r21, %rd10; div.u32 %r22, %r21, %r20; mul.lo.s32 %r23, %r22, %r20; sub.s32 %r24, %r21, %r23;\n" \
	"cvt.u64.u32 %rd14, %r22; cvt.u64.u32 %rd15, %r24; bra BOTH;\nSLOW: div.u64 %rd14, %rd10, %rd11; mul.lo.s64 %rd16, %rd14, %rd11; " behind \
	"sub.s64 %rd15, %rd10, %rd16;\nBOTH: shl.b64 %rd17, %rd14, 7; add.s64 %rd18, %rd17, %rd15; shl.b64 %rd19, %rd18, 2; add.s64 %rd22, %rd2, %rd19; st.global.u32 [%rd22], %r3;\n"
static void long_divisions(void **state)
{
	expect(KERNEL(LONG("")), (struct launch){ { 4 }, { 64 }, 8192, 0, 100 }, NONE);
	expect(KERNEL(LONG("")), (struct launch){ { 4 }, { 64 }, 8192, 0, 128 }, NONE);
	expect(KERNEL(LONG("")), (struct launch){ { 4 }, { 64 }, 8192, 0, 129 }, ALL(0, 256));             /* a row begins before the last one ends */
	expect(KERNEL(LONG("add.s64 %rd10, %rd10, 1; ")), (struct launch){ { 4 }, { 64 }, 8192, 0, 100 }, ALL(0, 256));
}

/* A number that is used as one without a sign, of which it cannot be examined that it is not negative: `if (i >= w) read(a[i - w])`. */
static void reads_without_bounds(void **state)
{
	static const char text[] = KERNEL(OFFSET "sub.s32 %r20, %r4, %r6; shr.u32 %r21, %r20, 31; setp.ne.u32 %p1, %r21, 0; @%p1 bra END; cvt.u64.u32 %rd10, %r20; shl.b64 %rd11, %rd10, 2;\n"
		"add.s64 %rd12, %rd1, %rd11; ld.global.u32 %r7, [%rd12]; st.global.u32 [%rd5], %r7;\n");
	const struct launch l = { { 2 }, { 32 }, 4096, 0, 8 };

	expect_allocated(text, l, 4096, NONE);
	expect_allocated(text, l, 0, ALL(0, 56));             /* not known; but nobody writes there */
	expect_allocated(text, l, 8192, ALL(0, 56));          /* one allocation for both */
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 0, 0, 8 }, 0, ALL(56, 56));
}

static void columns_of_bytes(void **state)
{
	const struct launch l = { { 4 }, { 64 }, 8192, 256, 0 }, wide = { { 2 }, { 128 }, 8192, 256, 0 };
	static const char twice[] = KERNEL(OFFSET COLUMN("4032") COUNT
		"shr.u32 %r36, %r25, 2; and.b32 %r37, %r36, 4032; add.s32 %r38, %r37, %r24; add.s32 %r39, %r20, %r38;\n"
		"ld.shared.u8 %r32, [%r39]; add.s32 %r33, %r32, 1; st.shared.u8 [%r39], %r33; bar.sync 0; st.global.u32 [%rd5], %r30;\n");

	static const char zeroed[] = KERNEL(OFFSET COLUMN("192") "add.s32 %r34, %r20, %r24; mov.u32 %r35, 0; st.shared.u8 [%r34], %r35;\n"
		"st.shared.u8 [%r34+64], %r35; st.shared.u8 [%r34+128], %r35; st.shared.u8 [%r34+192], %r35;\n" COUNT "st.global.u32 [%rd5], %r30;\n");
	static const char others[] = KERNEL(OFFSET COLUMN("192") "add.s32 %r34, %r20, %r24; mov.u32 %r35, 0; st.shared.u8 [%r34+1], %r35;\n"
		"st.shared.u8 [%r34+65], %r35; st.shared.u8 [%r34+129], %r35; st.shared.u8 [%r34+193], %r35;\n" COUNT "st.global.u32 [%rd5], %r30;\n");
	static const char three[] = KERNEL(OFFSET COLUMN("192") "add.s32 %r34, %r20, %r24; mov.u32 %r35, 0; st.shared.u8 [%r34], %r35;\n"
		"st.shared.u8 [%r34+64], %r35; st.shared.u8 [%r34+128], %r35;\n" COUNT "st.global.u32 [%rd5], %r30;\n");

	expect(KERNEL(OFFSET COLUMN("4032") COUNT "bar.sync 0; st.global.u32 [%rd5], %r30;\n"), l, NONE);
	expect(zeroed, l, NONE);                             /* the same bytes one after the other, and by data */
	expect(others, l, ALL(0, 5 * 256));                  /* those of the next thread */
	expect(three, l, ALL(0, 4 * 256));                   /* limited: not all of the column */
	expect(twice, l, NONE);
	expect(KERNEL(OFFSET COLUMN("4032") COUNT "bar.sync 0; st.global.u32 [%rd5], %r30;\n"), wide, ALL(0, 256));
	expect(KERNEL(OFFSET COLUMN("4064") COUNT "bar.sync 0; st.global.u32 [%rd5], %r30;\n"), l, ALL(0, 256));     /* half columns */
	expect(KERNEL(OFFSET COLUMN("8128") COUNT "bar.sync 0; st.global.u32 [%rd5], %r30;\n"), l, NONE);            /* data is taken to stay in s */
	expect(KERNEL(OFFSET COLUMN("4032") COUNT "ld.shared.u8 %r31, [%r20]; st.global.u32 [%rd5], %r31;\n"), l, ALL(256, 256));
}

/* Some bits from the middle of the thread's number, and bits of what was loaded in two steps. */
static void columns_by_parts(void **state)
{
	static const char parts[] = KERNEL(OFFSET
		".shared .b8 s[4096]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; and.b32 %r22, %r21, 60; and.b32 %r23, %r3, 48; shr.u32 %r32, %r23, 4;\n"
		"and.b32 %r31, %r3, -64; or.b32 %r33, %r22, %r31; or.b32 %r24, %r33, %r32; ld.global.u32 %r25, [%rd4];\n"
		"shr.u32 %r26, %r25, 26; shl.b32 %r27, %r26, 6; add.s32 %r28, %r27, %r24; add.s32 %r29, %r20, %r28;\n"
		COUNT "bar.sync 0; st.global.u32 [%rd5], %r30;\n");

	expect(parts, (struct launch){ { 4 }, { 64 }, 8192, 256, 0 }, NONE);
	expect(parts, (struct launch){ { 4 }, { 33 }, 8192, 256, 0 }, NONE);
	expect(parts, (struct launch){ { 2 }, { 65 }, 8192, 256, 0 }, ALL(0, 130));
}

#define BINS(n) ".shared .b32 s[64]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; add.s32 %r22, %r20, %r21; st.shared.u32 [%r22], 0; bar.sync 0;\n" \
	"ld.global.u32 %r25, [%rd4]; and.b32 %r26, %r25, " #n "; shl.b32 %r28, %r26, 2; add.s32 %r27, %r20, %r28;\n"

/* A word for each warp, written by one of its lanes, and then all of them by the first warp. */
#define OF_WARPS(unless_last, unless_first) WARPS_BY("shl.b32 %r23, %r22, 2;", unless_last, unless_first)
#define WARPS_BY(word, unless_last, unless_first) KERNEL(OFFSET ".shared .b32 s[32]; mov.u32 %r20, s; and.b32 %r21, %r3, 31; shr.u32 %r22, %r3, 5;\n" \
	word " add.s32 %r24, %r20, %r23; " unless_last " @%p1 bra M; st.shared.u32 [%r24], %r3;\nM: bar.sync 0;\n" \
	unless_first " @%p2 bra N; shl.b32 %r25, %r21, 2; add.s32 %r26, %r20, %r25; ld.shared.u32 %r27, [%r26]; add.s32 %r28, %r27, 1;\n" \
	"st.shared.u32 [%r26], %r28;\nN: bar.sync 0; st.global.u32 [%rd5], %r3;\n")

/* Remainder and quotient of a number with a sign by 32. */
#define SIGNED "shr.s32 %r29, %r3, 31; shr.u32 %r35, %r29, 27; add.s32 %r31, %r3, %r35; and.b32 %r32, %r31, -32; sub.s32 %r36, %r3, %r32; shr.s32 %r38, %r31, 5;\n"

/* A word for each row of threads, by its first lane. */
#define OF_ROWS(lane) KERNEL("mov.u32 %r13, %tid.y; mov.u32 %r14, %ntid.y; mad.lo.s32 %r15, %r1, %r14, %r13; " lane " setp.ne.s32 %p1, %r21, 0; @%p1 bra END;\n" \
	"mul.wide.s32 %rd3, %r15, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r3;\n")

/* Tiles of 16 x 16 threads that have `rows` x 2 words each: of row (i / 16) * rows + k, columns 2 * (i % 16) and the next one. */
#define TILES(rest, more) TILES_BY("1", "30", rest, more)
#define TILES_BY(shift, mask, rest, more) KERNEL("mov.u32 %r10, %ctaid.y; mad.lo.s32 %r11, %r10, %r6, %r1; shl.b32 %r12, %r11, 5; cvt.u64.u32 %rd3, %r12;\n" \
	"shr.u32 %r13, %r3, 3; and.b32 %r14, %r13, " rest "; shl.b32 %r15, %r3, " shift "; and.b32 %r16, %r15, " mask "; mad.lo.s32 %r17, %r14, %r6, %r16;\n" \
	"cvt.s64.s32 %rd4, %r17; add.s64 %rd5, %rd4, %rd3; shl.b64 %rd6, %rd5, 2; add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r3; st.global.u32 [%rd7+4], %r3;\n" more)
#define NEXT_ROW "add.s32 %r18, %r17, %r6; cvt.s64.s32 %rd8, %r18; add.s64 %rd9, %rd8, %rd3; shl.b64 %rd10, %rd9, 2; add.s64 %rd11, %rd2, %rd10;\n" \
	"st.global.u32 [%rd11], %r3; st.global.u32 [%rd11+4], %r3;\n"

static void tiles_of_threads(void **state)
{
	const struct launch l = { { 2, 2 }, { 256 }, 0, 0, 64 };

	expect(TILES("536870910", ""), l, NONE);
	expect(TILES("536870910", NEXT_ROW), l, NONE);
	expect(TILES("536870910", NEXT_ROW), (struct launch){ { 2, 2 }, { 256 }, 0, 0, 63 }, ALL(0, 4 * 1024));      /* rows too short */
	expect(TILES("536870908", NEXT_ROW), l, ALL(0, 4 * 1024));     /* a row for two */
	expect(TILES_BY("0", "15", "536870910", NEXT_ROW), l, ALL(0, 4 * 1024));       /* the next column is the next thread's */
}

static void words_of_warps(void **state)
{
	const struct launch l = { { 4 }, { 128 }, 8192, 256, 0 };

	expect(OF_WARPS("setp.ne.s32 %p1, %r21, 31;", "setp.ne.s32 %p2, %r22, 0;"), l, NONE);
	expect(OF_WARPS("setp.lt.s32 %p1, %r21, 30;", "setp.ne.s32 %p2, %r22, 0;"), l, ALL(0, 4 * 8));         /* two lanes of each warp */
	expect(OF_WARPS("setp.ne.s32 %p1, %r21, 31;", "setp.gt.s32 %p2, %r22, 1;"), l, ALL(0, 4 * 64));       /* two warps */
	expect(WARPS_BY("shr.u32 %r29, %r3, 3; and.b32 %r23, %r29, 536870908;", "setp.ne.s32 %p1, %r21, 0;", "setp.ne.s32 %p2, %r22, 0;"), l, NONE);
	expect(OF_ROWS("and.b32 %r21, %r3, 31;"), (struct launch){ { 4 }, { 32, 4 }, 8192, 0, 0 }, NONE);
	expect(OF_ROWS("and.b32 %r21, %r3, 31;"), (struct launch){ { 4 }, { 33, 4 }, 8192, 0, 0 }, ALL(0, 4 * 8));
	expect(OF_ROWS("and.b32 %r21, %r13, 31;"), (struct launch){ { 4 }, { 32, 1 }, 8192, 0, 0 }, ALL(0, 4 * 32));     /* of another coordinate */
	expect(WARPS_BY(SIGNED "shl.b32 %r23, %r38, 2;", "setp.ne.s32 %p1, %r36, 0;", "setp.ne.s32 %p2, %r38, 0;"), l, NONE);
	expect(WARPS_BY("shr.u32 %r29, %r3, 4; and.b32 %r23, %r29, 268435452;", "setp.ne.s32 %p1, %r21, 0;", "setp.ne.s32 %p2, %r22, 0;"), l,
	       ALL(0, 4 * 4));               /* one for two warps */
	expect(WARPS_BY("shr.u32 %r29, %r3, 3; and.b32 %r23, %r29, 536870904;", "setp.ne.s32 %p1, %r21, 0;", "setp.ne.s32 %p2, %r22, 0;"), l,
	       ALL(0, 4 * 4));               /* likewise */
}

/* Rows of a warp each: bit fields beside each other. */
#define FIELDS(of, field) KERNEL("and.b32 %r7, %r3, 31; shr.u32 %r8, " of ", 5;\n" field AT("%r10", "%rd4") "st.global.u32 [%rd4], %r4;\n")

static void bit_fields(void **state)
{
	const struct launch l = { { 4 }, { 64 }, 0, 0, 0 }, odd = { { 4 }, { 48 }, 0, 0, 0 };
	static const char ends[] = FIELDS("%r4", "bfi.b32 %r10, %r8, %r7, 6, 26;\n"), middle[] = FIELDS("%r4", "bfi.b32 %r10, %r8, %r7, 6, 10;\n");
	static const char wide[] = FIELDS("%r4", "bfi.b32 %r10, %r8, %r3, 5, 27;\n"), narrow[] = FIELDS("%r4", "bfi.b32 %r10, %r8, %r7, 4, 28;\n");
	static const char few[] = FIELDS("%r4", "bfi.b32 %r10, %r8, %r7, 5, 2;\n"), above[] = FIELDS("%r8", "bfi.b32 %r10, %r8, %r4, 5, 2;\n");
	static const char set[] = FIELDS("%r4", "shl.b32 %r9, %r8, 6; add.s32 %r11, %r9, %r7; or.b32 %r10, %r11, 32;\n");
	static const char lost[] = FIELDS("%r4", "shl.b32 %r9, %r8, 6; add.s32 %r11, %r9, %r7; or.b32 %r10, %r11, 16;\n");

	expect(ends, l, NONE);
	expect(ends, odd, ALL(0, 192));              /* warps of two blocks */
	expect(middle, l, NONE);
	expect(wide, l, NONE);
	expect(narrow, l, ALL(0, 256));
	expect(few, l, ALL(0, 256));
	expect(above, l, ALL(0, 256));
	expect(set, l, NONE);
	expect(set, odd, ALL(0, 192));
	expect(lost, l, ALL(0, 256));
}

/* Words that one thread writes and all read, while they write words of their own. */
#define TOLD(unless, before, between, behind) KERNEL(OFFSET ".shared .b32 told; .shared .b32 s[64]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2;\n" \
	"add.s32 %r22, %r20, %r21; " before unless " @%p1 bra M; st.shared.u32 [told], %r3;\nM: " between " ld.shared.u32 %r7, [told]; st.shared.u32 [%r22], %r7;\n" \
	behind " st.global.u32 [%rd5], %r7;\n")
#define FIRST "setp.ne.s32 %p1, %r3, 0;"

static void words_that_all_are_told(void **state)
{
	const struct launch l = { { 4 }, { 64 }, 8192, 256, 0 };

	expect(TOLD(FIRST, "", "bar.sync 0;", ""), l, NONE);
	expect(TOLD(FIRST, "", "bar.sync 0;", "bar.sync 0;"), l, NONE);
	expect(TOLD(FIRST, "", "", "bar.sync 0;"), l, ALL(256, 4));
	expect(TOLD("setp.gt.s32 %p1, %r3, 1;", "", "bar.sync 0;", ""), l, ALL(0, 8));       /* two write it; it is read behind the barrier */
	/* in a loop, without a barrier at its end; and with one */
	expect(TOLD(FIRST, "mov.u32 %r30, 0;\nL: ", "bar.sync 0;", "add.s32 %r30, %r30, 1; setp.lt.s32 %p2, %r30, 2; @%p2 bra L;"), l, ALL(512, 8));
	expect(TOLD(FIRST, "mov.u32 %r30, 0;\nL: ", "bar.sync 0;", "bar.sync 0; add.s32 %r30, %r30, 1; setp.lt.s32 %p2, %r30, 2; @%p2 bra L;"), l, NONE);
	expect(TOLD(FIRST, "", "bar.sync 0; @%p1 bra N; st.shared.u32 [told], 7;\nN: ", ""), l, ALL(256, 8));  /* again, where it is read */
}

/* While there is nothing but atomics of one size, it does not matter where. */
static void only_atomics(void **state)
{
	const struct launch l = { { 4 }, { 64 }, 8192, 256, 0 };

	expect(KERNEL(OFFSET BINS(63) "red.shared.add.u32 [%r27], 1; bar.sync 0; ld.shared.u32 %r7, [%r22]; st.global.u32 [%rd5], %r7;\n"), l, NONE);
	expect(KERNEL(OFFSET BINS(63) "red.shared.add.u32 [%r27], 1; ld.shared.u32 %r7, [%r22]; st.global.u32 [%rd5], %r7;\n"), l,
	       ((struct checks){ 256, 256, 256, 0 }));
	expect(KERNEL(OFFSET BINS(63) "@%p8 st.shared.u32 [%r27], 1; red.shared.add.u32 [%r27], 1; bar.sync 0; st.global.u32 [%rd5], %r7;\n"), l,
	       ((struct checks){ 0, 0, 256, 0 }));
	expect(KERNEL(OFFSET BINS(62) "red.shared.add.u32 [%r27], 1; and.b32 %r29, %r27, -8; red.shared.add.u64 [%r29], %rd4; bar.sync 0;\n"
	              "st.global.u32 [%rd5], %r7;\n"), l, ((struct checks){ 0, 0, 512, 0 }));
}

/* A loop that the compiler made two of: of the first the rounds are what is left over. */
#define ZERO(step, bytes) ".shared .b32 s[512]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; mov.u32 %r31, %r3; add.s32 %r32, %r5, %r3;\n" \
	"and.b32 %r24, %r32, 3;" \
	"setp.eq.s32 %p2, %r24, 0; @%p2 bra REST; add.s32 %r22, %r20, %r21; mov.u32 %r31, %r3;\n" \
	"ONE: st.shared.u32 [%r22], 0; add.s32 %r31, %r31, " #step "; add.s32 %r22, %r22, " #bytes "; add.s32 %r24, %r24, -1;\n" \
	"setp.ne.s32 %p3, %r24, 0; @%p3 bra ONE;\nREST: add.s32 %r25, %r31, -128; shl.b32 %r26, %r31, 2; add.s32 %r27, %r20, %r26;\n" \
	"add.s32 %r28, %r27, 256;\nTWO: st.shared.u32 [%r28-256], 0; st.shared.u32 [%r28], 0; add.s32 %r28, %r28, 512; add.s32 %r25, %r25, 128;\n" \
	"setp.lt.s32 %p4, %r25, 128; @%p4 bra TWO;\n"

static void loops_without_end(void **state)
{
	const struct launch l = { { 1 }, { 64 }, 8192, 1, 0 };
	static const char zero[] = KERNEL(OFFSET ZERO(64, 256) "bar.sync 0; ld.global.u32 %r7, [%rd4]; st.global.u32 [%rd5], %r7;\n");
	static const char half[] = KERNEL(OFFSET ZERO(32, 128) "bar.sync 0; ld.global.u32 %r7, [%rd4]; st.global.u32 [%rd5], %r7;\n");
	static const char read[] = KERNEL(OFFSET ZERO(64, 256) "add.s32 %r33, %r20, %r21; ld.shared.u32 %r7, [%r33]; st.global.u32 [%rd5], %r7;\n");

	expect(zero, l, NONE);
	expect(zero, (struct launch){ { 1 }, { 64 }, 8192, 7, 0 }, NONE);
	expect(zero, (struct launch){ { 1 }, { 65 }, 8192, 1, 0 }, ALL(0, 291));         /* two threads are 64 apart */
	expect(half, l, ALL(0, 336));
	expect(read, l, ALL(64, 288));
}

/* Of what cannot be computed the variable is known, and who writes there. */
static void neighbours(void **state)
{
#define BESIDE(to) ".shared .b32 s[64]; .shared .b32 q[64]; mov.u32 %r20, s; mov.u32 %r21, q; shl.b32 %r22, %r3, 2;\n" \
	"add.s32 %r23, %r20, %r22; add.s32 %r24, %r21, %r22; st.shared.u32 [%r23], %r3; bar.sync 0;\n" \
	"sub.s32 %r25, %r3, 1; max.s32 %r29, %r25, 0; shl.b32 %r30, %r29, 2; add.s32 %r31, %r20, %r30; ld.shared.u32 %r26, [%r31];\n" \
	"add.s32 %r27, %r3, 1; min.s32 %r32, %r27, 63; shl.b32 %r33, %r32, 2; add.s32 %r34, %r20, %r33; ld.shared.u32 %r28, [%r34];\n" \
	"st.shared.u32 [" #to "], %r28; bar.sync 0; st.shared.u32 [%r23], %r26; st.global.u32 [%rd5], %r28;\n"
	const struct launch l = { { 4 }, { 64 }, 8192, 256, 0 };

	expect(KERNEL(OFFSET BESIDE(%r24)), l, NONE);
	expect(KERNEL(OFFSET BESIDE(%r23)), l, ALL(512, 768));
	expect(KERNEL(OFFSET BESIDE(%r34)), l, ALL(256, 256));           /* to a place that is not known */
}

/* Rows of a column, eight apart, in a loop of several blocks. */
#define ROWS(rows, end) "mov.u32 %r13, %tid.y; mul.lo.s32 %r20, %r13, %r6; mul.lo.s32 %r22, %r6, " #rows "; mov.u32 %r21, 0;\n" \
	"cvt.s64.s32 %rd6, %r4;\nROW: cvt.u64.u32 %rd7, %r20; add.s64 %rd8, %rd7, %rd6; shl.b64 %rd9, %rd8, 2; add.s64 %rd10, %rd1, %rd9;\n" \
	"ld.global.u32 %r7, [%rd10]; setp.eq.s32 %p2, %r3, 0; @%p2 bra SAME; add.s32 %r7, %r7, 1;\nSAME: st.global.u32 [%rd10], %r7;\n" \
	"setp.eq.s32 %p1, %r21, " #end "; @%p1 bra END; add.s32 %r21, %r21, 4; add.s32 %r20, %r20, %r22; bra ROW;\n"

static void rows_in_a_loop(void **state)
{
	const struct launch l = { { 2 }, { 8, 8 }, 0, 1, 16 };
	static const char around[] = KERNEL("mov.u32 %r13, %tid.y; mul.lo.s32 %r20, %r13, %r6; shl.b32 %r22, %r6, 3; mov.u32 %r21, 0; mov.u32 %r23, 0;\n"
		"cvt.s64.s32 %rd6, %r4;\nROW: cvt.u64.u32 %rd7, %r20; add.s64 %rd8, %rd7, %rd6; shl.b64 %rd9, %rd8, 2; add.s64 %rd10, %rd1, %rd9;\n"
		"ld.global.u32 %r7, [%rd10]; add.s32 %r23, %r23, 1; st.global.u32 [%rd10], %r7; setp.lt.s32 %p2, %r23, 3; @%p2 bra NEXT;\n"
		"setp.eq.s32 %p1, %r21, 12; @%p1 bra END;\nNEXT: add.s32 %r21, %r21, 4; add.s32 %r20, %r20, %r22; bra ROW;\n");

	expect(KERNEL(ROWS(8, 12)), l, NONE);
	expect(KERNEL(ROWS(7, 12)), l, ALL(512, 512));
	expect(KERNEL(ROWS(8, 12)), (struct launch){ { 2 }, { 8, 8 }, 0, 1, 15 }, ALL(512, 512));
	expect(around, l, ALL(0, 512));        /* there is a way that nothing counts */
}

/* What is done to shared memory is checked as ever, and needs the hooks. */
static void shared_memory(void **state)
{
	expect(KERNEL(".shared .b32 s[64]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; add.u32 %r20, %r20, %r21;\n" OFFSET
	              "ld.global.u32 %r7, [%rd4]; st.shared.u32 [%r20], %r7; bar.sync 0; st.global.u32 [%rd5], %r7;\n"),
	       (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, ALL(0, 64));
	expect(KERNEL(OFFSET COPY "bar.sync 0; @%p1 exit; membar.gl;\n"), (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, NONE);
}

/* A tile with a rim on both sides, which the first threads load: three words, the block's 64, three words. */
#define TILE(first, second, width, who) KERNEL(OFFSET ".shared .b32 s[" width "]; mov.u32 %r20, s; shl.b32 %r21, %r3, 2; add.s32 %r22, %r20, %r21;\n" \
	"ld.global.u32 %r7, [%rd4]; st.shared.u32 [%r22+12], %r7; setp.ge.u32 %p1, %r3, " who "; @%p1 bra M;\n" \
	first " st.shared.u32 [%r22+" second "], %r7;\nM: bar.sync 0; ld.shared.u32 %r8, [%r22+12]; st.global.u32 [%rd5], %r8;\n")

static void rims_of_tiles(void **state)
{
	const struct launch l = { { 2 }, { 64 }, 4096, 0, 0 };

	expect(TILE("st.shared.u32 [%r22], %r7;", "268", "71", "3"), l, NONE);
	expect(TILE("st.shared.u32 [%r22], %r7;", "268", "71", "4"), l, ALL(0, 128 + 8));             /* a word too many */
	expect(TILE("st.shared.u32 [%r22], %r7;", "264", "71", "3"), l, ALL(0, 128 + 6));             /* from the tile's last word on */
	expect(TILE("ld.shared.u32 %r7, [%r22];", "268", "71", "3"), l, ALL(6, 128 + 6));
	expect(TILE("st.shared.u32 [%r22], %r7;", "268", "70", "3"), (struct launch){ { 2 }, { 65 }, 4096, 0, 0 }, ALL(0, 130 + 6));
}

static void no_writes(void **state)
{
	struct ws_buf out = rewritten(KERNEL(OFFSET "ld.global.u32 %r7, [%rd4];\n"));

	assert_null(strstr(out.data, "__warpsafe_checks]"));
	ws_buf_free(&out);
}

static void unknown_writes(void **state)
{
	expect(KERNEL(OFFSET "ld.global.u32 %r7, [%rd4]; and.b32 %r8, %r7, 60; cvt.u64.u32 %rd6, %r8; add.s64 %rd7, %rd2, %rd6;\n"
	              "st.global.u32 [%rd7], 1;\n"), (struct launch){ { 1 }, { 32 }, 4096, 0, 0 }, ALL(0, 32));
	expect(KERNEL(OFFSET "ld.global.u32 %r7, [%rd4]; cvt.u64.u32 %rd6, %r7; add.s64 %rd7, %rd2, %rd6;\n"
	              "st.global.u32 [%rd7], 1;\n"), (struct launch){ { 1 }, { 32 }, 4096, 0, 0 }, ALL(32, 32));
	expect(PTX_HEAD ".func f(.param .u64 p) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 1; ret; }\n"
	       ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
	       "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\n ld.global.u32 %r1, [%rd1];\n"
	       "{ .param .u64 q; st.param.u64 [q], %rd2; call f, (q); }\nret;\n}\n", (struct launch){ { 1 }, { 32 }, 4096, 0, 0 }, ALL(32, 32));
}

/* No check knows of what wmma.store writes, so no proof needs to. */
#define TILE_STORED "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd2], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}, 16;\n"

static void writes_without_checks(void **state)
{
	const struct launch l = { { 1 }, { 32 }, 4096, 0, 0 }, meets = { { 1 }, { 32 }, 64, 0, 0 };
	struct ws_buf out = rewritten(KERNEL(OFFSET "ld.global.u32 %r7, [%rd4]; mov.f32 %f1, 0f00000000;\n" TILE_STORED));

	assert_non_null(strstr(out.data, "__warpsafe_checks]"));       /* in launches that are compared with others */
	ws_buf_free(&out);
	expect(KERNEL(OFFSET "ld.global.u32 %r7, [%rd4]; mov.f32 %f1, 0f00000000;\n" TILE_STORED), l, NONE);
	expect(KERNEL(OFFSET COPY "mov.f32 %f1, 0f00000000;\n" TILE_STORED), l, NONE);
	expect(KERNEL(OFFSET COPY "mov.f32 %f1, 0f00000000;\n" TILE_STORED), meets, ALL(16, 32));
}

/* What a thread reads, it reads somewhere in the first allocation. */
#define LOOKED_UP "popc.b32 %r8, %r4; mul.wide.u32 %rd6, %r8, 4; add.s64 %rd7, %rd1, %rd6; ld.global.u32 %r9, [%rd7];\n"

static void reads_of_allocations(void **state)
{
	static const char text[] = KERNEL(OFFSET LOOKED_UP "st.global.u32 [%rd5], %r9;\n");
	static const char bounded[] = KERNEL(OFFSET LOOKED_UP "ld.global.u32 %r7, [%rd4]; st.global.u32 [%rd5], %r9;\n");
	static const char both[] = KERNEL(OFFSET "popc.b32 %r8, %r4; mul.wide.u32 %rd6, %r8, 4; setp.gt.u32 %p1, %r4, 7;\n"
		"selp.b64 %rd8, %rd1, %rd2, %p1; add.s64 %rd7, %rd8, %rd6; ld.global.u32 %r9, [%rd7]; st.global.u32 [%rd5], %r9;\n");

	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, NONE);
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 2048, NONE);
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 0, ALL(0, 64));          /* not known; but nobody writes there */
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 8192, ALL(0, 64));       /* one allocation for both */
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, -4096, 0, 0 }, -64, NONE);
	expect_allocated(bounded, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, NONE);
	expect_allocated(both, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, ALL(8, 64));
}

/* A pointer that goes on in a loop, from a beginning that is not known. */
static void pointers_in_loops(void **state)
{
	static const char text[] = KERNEL(OFFSET "popc.b32 %r8, %r4; mul.wide.u32 %rd6, %r8, 4; add.s64 %rd7, %rd1, %rd6; mov.u32 %r10, 0;\n"
		"L: ld.global.u32 %r9, [%rd7]; add.s64 %rd7, %rd7, 8; add.s32 %r10, %r10, 1; setp.lt.s32 %p2, %r10, %r9; @%p2 bra L;\n"
		"st.global.u32 [%rd5], %r9;\n");

	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, NONE);
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 8192, ALL(0, 64));
}

static void pointers_that_are_not_known(void **state)
{
	static const struct launch l = { { 2 }, { 32 }, 4096, 0, 0 };

#define READ_THERE "ld.global.u32 %r9, [%rd7]; st.global.u32 [%rd5], %r9;\n"
	/* a sum of two; one or a number that was loaded; one with bits changed */
	expect_allocated(KERNEL(OFFSET "add.s64 %rd7, %rd20, %rd21; sub.s64 %rd7, %rd7, %rd20; @%p1 mov.u64 %rd7, 8;\n" READ_THERE), l, 4096, ALL(64, 64));
	expect_allocated(KERNEL(OFFSET "ld.global.u64 %rd9, [%rd1+8]; setp.lt.u32 %p1, %r4, 999; selp.b64 %rd7, %rd1, %rd9, %p1;\n" READ_THERE),
	       l, 4096, ALL(0, 64));
	expect_allocated(KERNEL(OFFSET "xor.b64 %rd7, %rd1, 4;\n" READ_THERE), l, 4096, ALL(0, 64));
#undef READ_THERE
}

static void writes_in_allocations(void **state)
{
	static const char text[] = KERNEL(OFFSET "ld.global.u32 %r7, [%rd4]; popc.b32 %r8, %r4; mul.wide.u32 %rd6, %r8, 4;\n"
		"add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r7;\n");
	static const char atomic[] = KERNEL(OFFSET "ld.global.u32 %r7, [%rd4]; popc.b32 %r8, %r4; mul.wide.u32 %rd6, %r8, 4;\n"
		"add.s64 %rd7, %rd2, %rd6; red.global.add.u32 [%rd7], %r7;\n");
	static const char mixed[] = KERNEL(OFFSET "popc.b32 %r8, %r4; mul.wide.u32 %rd6, %r8, 4;\n"
		"add.s64 %rd7, %rd2, %rd6; red.global.add.u32 [%rd7], 1; st.global.u32 [%rd5+512], 1;\n");

	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, ALL(0, 64));
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 8192, ALL(64, 64));
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 0, ALL(64, 64));
	expect_allocated(atomic, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, NONE);
	expect_allocated(atomic, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 8192, (struct checks){ 64, 0, 64, 0 });
	expect_allocated(mixed, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, (struct checks){ 0, 64, 64, 0 });
}

/* Accesses that a launch comes to if a parameter or constant is equal to a number: w is 7, or a constant is 0. */
#define INTRUDE "ld.global.u32 %r8, [%rd1+12]; st.global.u32 [%rd5+64], %r8;\n"

static void conditions_of_a_launch(void **state)
{
	static const char by_param[] = KERNEL(OFFSET COPY "setp.ne.s32 %p2, %r6, 7; @%p2 bra END;\n" INTRUDE);
	static const char by_guard[] = KERNEL(OFFSET COPY "setp.eq.u32 %p2, %r6, 7; @%p2 st.global.u32 [%rd5+64], %r7;\n");
	static const char both[] = KERNEL(OFFSET COPY "setp.ne.s32 %p2, %r6, 7; setp.ne.s32 %p3, %r3, 0; or.pred %p4, %p3, %p2;\n"
		"@%p4 bra END;\n" INTRUDE);
	static const char by_const[] = PTX_HEAD ".const .b32 c = 1; .const .b32 d[2] = { 4, 0 };\n" BEHIND_HEAD(OFFSET COPY
		"ld.const.u32 %r9, [c]; setp.ne.s32 %p2, %r9, 0; @%p2 bra END;\n" INTRUDE);
	static const char by_other[] = PTX_HEAD ".const .b32 c = 1; .const .b32 d[2] = { 4, 0 };\n" BEHIND_HEAD(OFFSET COPY
		"ld.const.u32 %r9, [d+4]; setp.ne.s32 %p2, %r9, 0; @%p2 bra END;\n" INTRUDE);

	expect(by_param, (struct launch){ { 2 }, { 32 }, 4096, 0, 6 }, NONE);
	expect(by_param, (struct launch){ { 2 }, { 32 }, 4096, 0, 7 }, ALL(0, 128));
	expect(by_guard, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, NONE);
	expect(by_guard, (struct launch){ { 2 }, { 32 }, 4096, 0, 7 }, ALL(0, 128));
	expect(both, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, NONE);
	expect(both, (struct launch){ { 2 }, { 32 }, 4096, 0, 7 }, ALL(0, 66));
	expect(by_const, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, NONE);
	expect(by_other, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, ALL(0, 128));
}

/* Of threads, of several numbers, or of what is not equal: such conditions say nothing of a launch. */
static void conditions_of_threads(void **state)
{
	expect(KERNEL(OFFSET COPY "setp.ne.s32 %p2, %r3, 7; @%p2 bra END;\n" INTRUDE), (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, ALL(0, 66));
	expect(KERNEL(OFFSET COPY "setp.eq.s32 %p2, %r6, 7; @%p2 bra END;\n" INTRUDE), (struct launch){ { 2 }, { 32 }, 4096, 0, 6 }, ALL(0, 128));
	expect(KERNEL(OFFSET COPY "setp.ne.s32 %p2, %r6, 7; @%p2 bra END; M: bra N; N:\n" INTRUDE), (struct launch){ { 2 }, { 32 }, 4096, 0, 6 }, NONE);
	expect(KERNEL(OFFSET COPY "setp.eq.s32 %p3, %r6, 6; @%p3 bra M; setp.ne.s32 %p2, %r6, 7; @%p2 bra END; M:\n" INTRUDE),
	       (struct launch){ { 2 }, { 32 }, 4096, 0, 6 }, ALL(0, 128));
	expect(KERNEL("setp.eq.s32 %p3, %r4, 5; @%p3 add.s32 %r6, %r6, 7;\n" OFFSET COPY "setp.ne.s32 %p2, %r6, 7; @%p2 bra END;\n" INTRUDE),
	       (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, ALL(0, 65));
}

/* at = 2 * i - (i & (w - 1)): pairs of places w apart, as in sorting networks; w must be a power of 2. */
#define PAIRS "add.s32 %r20, %r6, -1; and.b32 %r21, %r20, %r4; shl.b32 %r22, %r4, 1; sub.s32 %r23, %r22, %r21;\n"
#define OF_PAIR "mul.wide.u32 %rd3, %r23, 4; add.s64 %rd5, %rd2, %rd3; mul.wide.s32 %rd6, %r6, 4; add.s64 %rd7, %rd5, %rd6;\n"
#define EXCHANGE "ld.global.u32 %r7, [%rd5]; ld.global.u32 %r8, [%rd7]; st.global.u32 [%rd5], %r8; st.global.u32 [%rd7], %r7;\n"

static void split_by_masks(void **state)
{
	static const char pairs[] = KERNEL(PAIRS OF_PAIR EXCHANGE);
	static const char half[] = KERNEL(PAIRS "mul.wide.u32 %rd3, %r21, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4;\n");

	expect(pairs, (struct launch){ { 2 }, { 32 }, 4096, 0, 1 }, NONE);
	expect(pairs, (struct launch){ { 2 }, { 32 }, 4096, 0, 16 }, NONE);
	expect(pairs, (struct launch){ { 2 }, { 32 }, 4096, 0, 256 }, NONE);
	expect(pairs, (struct launch){ { 2 }, { 32 }, 4096, 0, 6 }, ALL(0, 128));          /* no power of 2 */
	expect(pairs, (struct launch){ { 2, 2 }, { 32 }, 4096, 0, 16 }, ALL(0, 256));
	expect(half, (struct launch){ { 2 }, { 32 }, 4096, 0, 16 }, ALL(0, 64));           /* a remainder alone */
	expect(half, (struct launch){ { 1 }, { 1 }, 4096, 0, 16 }, NONE);
}

/* The same by a division: i / w * 2 * w + i % w. */
static void split_by_division(void **state)
{
	static const char pairs[] = KERNEL("div.s32 %r20, %r4, %r6; shl.b32 %r21, %r6, 1; mul.lo.s32 %r22, %r20, %r6; sub.s32 %r24, %r4, %r22;\n"
		"mad.lo.s32 %r23, %r21, %r20, %r24;\n" OF_PAIR EXCHANGE);
	static const char rest[] = KERNEL("rem.u32 %r20, %r4, %r6; div.u32 %r21, %r4, %r6; mad.lo.s32 %r23, %r20, %r5, %r21;\n"
		"mul.wide.u32 %rd3, %r23, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4;\n");

	expect(pairs, (struct launch){ { 2 }, { 32 }, 4096, 0, 16 }, NONE);
	expect(pairs, (struct launch){ { 2 }, { 32 }, 4096, 0, 6 }, NONE);
	expect(pairs, (struct launch){ { 2, 2 }, { 32 }, 4096, 0, 16 }, ALL(0, 256));
	expect(rest, (struct launch){ { 2 }, { 32 }, 4096, 8, 8 }, NONE);                  /* a transposition of 8 x 8 */
	expect(rest, (struct launch){ { 2 }, { 32 }, 4096, 7, 8 }, ALL(0, 64));            /* columns that are too short */
	expect(rest, (struct launch){ { 2 }, { 32 }, 4096, 13, 5 }, NONE);
}

/* Low bits and all others, by numbers; a shift by a parameter. */
static void split_by_numbers(void **state)
{
	expect(KERNEL("and.b32 %r20, %r4, 7; shr.u32 %r21, %r4, 3; mad.lo.s32 %r22, %r20, 100, %r21;\n"
	              "mul.wide.u32 %rd3, %r22, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4;\n"),
	       (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, NONE);
	expect(KERNEL("and.b32 %r20, %r4, 7; shr.u32 %r21, %r4, 3; mad.lo.s32 %r22, %r20, 6, %r21;\n"
	              "mul.wide.u32 %rd3, %r22, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4;\n"),
	       (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, ALL(0, 64));
	expect(KERNEL("and.b32 %r20, %r4, -8; shl.b32 %r21, %r20, 1; and.b32 %r22, %r4, 7; add.s32 %r23, %r21, %r22;\n"
	              "mul.wide.u32 %rd3, %r23, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4;\n"),
	       (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, NONE);
	for (uint32_t w = 1; w <= 65536; w += 65535)         /* nearly all bits of a number that has no others; and of one that has */
		expect(KERNEL("mul.lo.s32 %r20, %r4, %r6; shl.b32 %r21, %r20, 1; and.b32 %r22, %r21, 131070;\n"
		              "mul.wide.u32 %rd3, %r22, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4;\n"),
		       (struct launch){ { 2 }, { 32 }, 4096, 0, w }, w == 1 ? NONE : ALL(0, 64));
	expect(KERNEL("shl.b32 %r20, %r1, %r6; add.s32 %r21, %r20, %r3; mul.wide.s32 %rd3, %r21, 4; add.s64 %rd5, %rd2, %rd3;\n"
	              "st.global.u32 [%rd5], %r4;\n"), (struct launch){ { 2 }, { 32 }, 4096, 0, 5 }, NONE);
	expect(KERNEL("shl.b32 %r20, %r1, %r6; add.s32 %r21, %r20, %r3; mul.wide.s32 %rd3, %r21, 4; add.s64 %rd5, %rd2, %rd3;\n"
	              "st.global.u32 [%rd5], %r4;\n"), (struct launch){ { 2 }, { 32 }, 4096, 0, 4 }, ALL(0, 64));
}

/* Groups that nothing is known of leave the proofs of others as they are, if they stay in another allocation. */
#define ANYWHERE "and.b32 %r8, %r7, 63; xor.b32 %r9, %r8, 5; mul.wide.u32 %rd6, %r9, 4; add.s64 %rd7, %rd1, %rd6; st.global.u32 [%rd7], %r4;\n"

static void some_groups_alone(void **state)
{
	static const char own[] = KERNEL(OFFSET "ld.global.u32 %r7, [%rd5]; st.global.u32 [%rd5], %r4;\n" ANYWHERE);
	static const char one[] = KERNEL(OFFSET "ld.global.u32 %r7, [%rd5]; st.global.u32 [%rd2], %r4;\n" ANYWHERE);
	static const char atomics[] = KERNEL("popc.b32 %r9, %r4; mul.wide.u32 %rd8, %r9, 4; add.s64 %rd9, %rd2, %rd8; red.global.add.u32 [%rd9], 1;\n"
		"mov.u32 %r7, %r4;\n" ANYWHERE);
	static const char either[] = KERNEL(OFFSET "ld.global.u32 %r7, [%rd5]; st.global.u32 [%rd5], %r4; setp.eq.s32 %p1, %r7, 3;\n"
		"selp.b64 %rd8, %rd1, %rd2, %p1; and.b32 %r8, %r7, 63; mul.wide.u32 %rd6, %r8, 4; add.s64 %rd7, %rd8, %rd6; st.global.u32 [%rd7], %r4;\n");

	expect_allocated(own, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, ALL(0, 64));
	expect_allocated(own, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 8192, ALL(0, 128));       /* one allocation */
	expect(own, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, ALL(0, 128));
	expect_allocated(own, (struct launch){ { 2, 2 }, { 32 }, 4096, 0, 0 }, 4096, ALL(0, 256));    /* not their own */
	expect_allocated(one, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, ALL(1, 128));
	expect_allocated(atomics, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, ALL(0, 64));
	expect_allocated(atomics, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 8192, (struct checks){ 0, 64, 64, 0 });
	expect_allocated(either, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 4096, ALL(0, 128));
}

/* Fours of places that each thread of four begins with another one of: i / 4 * 16 + i % 4, and i / 4 * 16 + (i + 2) % 4 + 8. */
#define IN_TURN(second, last) KERNEL("and.b32 %r20, %r3, 3; add.s32 %r21, %r3, 2; and.b32 %r22, %r21, 3; shl.b32 %r23, %r3, 2;\n" \
	"and.b32 %r24, %r23, -16; mul.lo.s32 %r25, %r1, 480; add.s32 %r26, %r25, %r20; add.s32 %r27, %r26, %r24;\n" \
	"mul.wide.u32 %rd3, %r27, 16; add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r4;\n" \
	"add.s32 %r28, %r22, %r25; add.s32 %r29, %r28, %r24; add.s32 %r30, %r29, " second ";\n" \
	"mul.wide.u32 %rd5, %r30, 16; add.s64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], %r4;\n" \
	"add.s32 %r31, %r27, 4; mul.wide.u32 %rd7, %r31, 16; add.s64 %rd8, %rd2, %rd7; st.global.u32 [%rd8], %r4;\n" \
	"add.s32 %r32, %r29, " last "; mul.wide.u32 %rd9, %r32, 16; add.s64 %rd10, %rd2, %rd9; st.global.u32 [%rd10], %r4;\n")

static void places_in_turn(void **state)
{
	static const char fine[] = IN_TURN("8", "12"), closer[] = IN_TURN("6", "10"), same[] = IN_TURN("8", "8");

	expect(fine, (struct launch){ { 2 }, { 120 }, 4096, 0, 0 }, NONE);
	expect(fine, (struct launch){ { 2 }, { 124 }, 4096, 0, 0 }, ALL(0, 4 * 248));      /* rows of blocks are too short */
	expect(fine, (struct launch){ { 1 }, { 32, 2 }, 4096, 0, 0 }, ALL(0, 4 * 64));
	expect(closer, (struct launch){ { 2 }, { 120 }, 4096, 0, 0 }, ALL(0, 4 * 240));
	expect(same, (struct launch){ { 2 }, { 120 }, 4096, 0, 0 }, NONE);                 /* a thread's own, twice */
}

/* (40 - 2 * n) * block + thread: what two terms with one index come to together. */
static void differences_of_weights(void **state)
{
	static const char copy[] = KERNEL("shl.b32 %r20, %r5, 1; mov.u32 %r21, 40; sub.s32 %r22, %r21, %r20; mul.lo.s32 %r23, %r22, %r1;\n"
		"add.s32 %r24, %r23, %r3; mul.wide.s32 %rd3, %r24, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n" COPY);

	expect(copy, (struct launch){ { 4 }, { 32 }, 512, 4, 0 }, NONE);
	expect(copy, (struct launch){ { 4 }, { 32 }, -512, 4, 0 }, NONE);
	expect(copy, (struct launch){ { 4 }, { 32 }, 508, 4, 0 }, ALL(1, 128));
	expect(copy, (struct launch){ { 4 }, { 32 }, 4096, 5, 0 }, ALL(0, 128));         /* blocks come two words into each other */
	expect(copy, (struct launch){ { 4 }, { 8 }, 8192, 36, 0 }, NONE);                /* backwards: 32 words less a block */
	expect(copy, (struct launch){ { 4 }, { 32 }, 8192, 20, 0 }, ALL(0, 128));        /* all blocks in one place */
}

/* (i * k) & w: odd multiples of fewer numbers than there are remainders. */
static void odd_multiples(void **state)
{
	static const char odd[] = KERNEL("mul.lo.s32 %r20, %r4, -1640531535; and.b32 %r21, %r20, %r6;\n"
		"mul.wide.u32 %rd3, %r21, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4;\n");
	static const char even[] = KERNEL("mul.lo.s32 %r20, %r4, 6; add.s32 %r21, %r20, %r5; and.b32 %r22, %r21, %r6;\n"
		"mul.wide.u32 %rd3, %r22, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4;\n");
	static const char two[] = KERNEL("mul.lo.s32 %r20, %r4, 5; and.b32 %r21, %r20, 63;\n"
		"mul.wide.u32 %rd3, %r21, 8; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4; st.global.u32 [%rd5+4], %r4;\n");

	expect(odd, (struct launch){ { 2 }, { 32 }, 4096, 0, 63 }, NONE);
	expect(odd, (struct launch){ { 2 }, { 32 }, 4096, 0, 255 }, NONE);
	expect(odd, (struct launch){ { 2 }, { 32 }, 4096, 0, 31 }, ALL(0, 64));
	expect(odd, (struct launch){ { 2 }, { 32 }, 4096, 0, 62 }, ALL(0, 64));
	expect(odd, (struct launch){ { 2, 2 }, { 32 }, 4096, 0, 255 }, ALL(0, 128));
	expect(even, (struct launch){ { 2 }, { 32 }, 4096, 7, 127 }, NONE);
	expect(even, (struct launch){ { 2 }, { 32 }, 4096, 7, 63 }, ALL(0, 64));
	expect(two, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, NONE);
	expect(two, (struct launch){ { 2 }, { 33 }, 4096, 0, 0 }, ALL(0, 132));
}

/* What is read by one pointer and written by another one, in the same places of each thread. */
static void one_array_by_two_pointers(void **state)
{
	static const char pairs[] = KERNEL(PAIRS OF_PAIR "add.s64 %rd8, %rd1, %rd3; add.s64 %rd9, %rd8, %rd6; ld.global.u32 %r7, [%rd8];\n"
		"ld.global.u32 %r8, [%rd9]; st.global.u32 [%rd5], %r8; st.global.u32 [%rd7], %r7;\n");
	static const char next[] = KERNEL(OFFSET "ld.global.u32 %r7, [%rd4+4]; st.global.u32 [%rd5], %r7;\n");

	expect(pairs, (struct launch){ { 2 }, { 32 }, 4096, 0, 16 }, NONE);
	expect(pairs, (struct launch){ { 2 }, { 32 }, 0, 0, 16 }, NONE);
	expect(pairs, (struct launch){ { 2 }, { 32 }, 4, 0, 16 }, ALL(127, 128));
	expect(next, (struct launch){ { 2 }, { 32 }, 0, 0, 0 }, ALL(63, 64));
}

/* Rows of pitch w: threads read 16 columns, and write as many, n further. */
static void columns_side_by_side(void **state)
{
	static const char text[] = KERNEL("mov.u32 %r11, %tid.y; mad.lo.s32 %r20, %r11, %r6, %r3; mul.wide.s32 %rd3, %r20, 4;\n"
		"add.s64 %rd5, %rd2, %rd3; mul.wide.s32 %rd6, %r5, 4; add.s64 %rd7, %rd5, %rd6; ld.global.u32 %r7, [%rd5];\n"
		"st.global.u32 [%rd7], %r7;\n");

	expect(text, (struct launch){ { 1 }, { 16, 4 }, 4096, 16, 32 }, NONE);
	expect(text, (struct launch){ { 1 }, { 16, 4 }, 4096, 16, 40 }, NONE);
	expect(text, (struct launch){ { 1 }, { 16, 4 }, 4096, -16, 40 }, NONE);
	expect(text, (struct launch){ { 1 }, { 16, 4 }, 4096, 16, 28 }, ALL(48, 64));      /* what is written is read in the next row */
	expect(text, (struct launch){ { 1 }, { 16, 4 }, 4096, 15, 40 }, ALL(49, 64));
	expect(text, (struct launch){ { 1 }, { 16, 4 }, 4096, 16, 0 }, ALL(0, 64));
}

/* A comparison with another register that holds %tid.x, too. */
static void another_register(void **state)
{
	static const char text[] = KERNEL("mov.u32 %r20, %tid.x; setp.ge.u32 %p1, %r20, 8; @%p1 bra END; shl.b32 %r21, %r1, 3;\n"
		"add.s32 %r22, %r21, %r3; mul.wide.s32 %rd3, %r22, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r4;\n");

	expect(text, (struct launch){ { 4 }, { 32 }, 4096, 0, 0 }, NONE);
	expect(text, (struct launch){ { 4 }, { 32, 2 }, 4096, 0, 0 }, ALL(0, 64));
}

/* One block writes, and reads what its other threads have written, behind a barrier or not. */
#define WRITE_OWN OFFSET "mul.wide.s32 %rd6, %r4, 8; add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd5], %r4;\n"
#define READ_OTHER "ld.global.u32 %r7, [%rd7];\n"

static void barriers_of_one_block(void **state)
{
	static const char text[] = KERNEL(WRITE_OWN "bar.sync 0;\n" READ_OTHER);
	static const char none[] = KERNEL(WRITE_OWN READ_OTHER);
	static const char loop[] = KERNEL("mov.u32 %r20, 0;\nL:\n" WRITE_OWN "bar.sync 0;\n" READ_OTHER
		"add.s32 %r20, %r20, 1; setp.lt.s32 %p2, %r20, 3; @%p2 bra L;\n");
	static const char both[] = KERNEL("mov.u32 %r20, 0;\nL:\n" WRITE_OWN "bar.sync 0;\n" READ_OTHER
		"setp.eq.s32 %p3, %r6, 23; @%p3 bra S; bar.sync 0;\nS: add.s32 %r20, %r20, 1; setp.lt.s32 %p2, %r20, 3; @%p2 bra L;\n");
	static const char other_way[] = KERNEL("mov.u32 %r20, 0;\nL:\n" WRITE_OWN "bar.sync 0;\n" READ_OTHER
		"setp.ne.s32 %p3, %r6, 23; @!%p3 bra S; bar.sync 0;\nS: add.s32 %r20, %r20, 1; setp.lt.s32 %p2, %r20, 3; @%p2 bra L;\n");

	expect(text, (struct launch){ { 1 }, { 64 }, 4096, 0, 0 }, NONE);
	expect(text, (struct launch){ { 2 }, { 64 }, 4096, 0, 0 }, ALL(64, 128));
	expect(text, (struct launch){ { 1, 1, 2 }, { 64 }, 4096, 0, 0 }, ALL(64, 128));
	expect(none, (struct launch){ { 1 }, { 64 }, 4096, 0, 0 }, ALL(32, 64));
	expect(loop, (struct launch){ { 1 }, { 64 }, 4096, 0, 0 }, ALL(96, 192));
	expect(both, (struct launch){ { 1 }, { 64 }, 4096, 0, 0 }, NONE);
	expect(both, (struct launch){ { 1 }, { 64 }, 4096, 0, 23 }, ALL(96, 192));
	expect(other_way, (struct launch){ { 1 }, { 64 }, 4096, 0, 0 }, NONE);
	expect(other_way, (struct launch){ { 1 }, { 64 }, 4096, 0, 23 }, ALL(96, 192));
}

/* Rows of the blocks: a thread reads there what another one has written before the barrier. */
static void barriers_and_rows_of_blocks(void **state)
{
#define ROW(between, more) KERNEL("mul.lo.s32 %r9, %r1, %r6; add.s32 %r10, %r9, %r3; sub.s32 %r11, %r9, %r3; add.s32 %r12, %r11, %r2;\n" more \
	AT("%r10", "%rd4") "st.global.u32 [%rd4], %r3;\n" between AT("%r12", "%rd5") "ld.global.u32 %r7, [%rd5+-4];\n")
	static const char row[] = ROW("bar.sync 0;\n", ""), no_barrier[] = ROW("", "");
	static const char part[] = ROW("setp.eq.s32 %p1, %r5, 3; @%p1 bar.sync 0;\n", "");
	static const char next_row[] = ROW("bar.sync 0;\n", "add.s32 %r12, %r12, %r6;\n");
	static const char by_other[] = ROW("bar.sync 0;\n", "mad.lo.s32 %r12, %r1, 64, %r3;\n");

	expect(row, (struct launch){ { 4 }, { 64 }, 0, 0, 64 }, NONE);
	expect(row, (struct launch){ { 4 }, { 64 }, 0, 0, 100 }, NONE);
	expect(row, (struct launch){ { 4 }, { 64 }, 0, 0, 63 }, ALL(256, 256));         /* rows that are too short */
	expect(row, (struct launch){ { 4, 2 }, { 64 }, 0, 0, 64 }, ALL(512, 512));
	expect(row, (struct launch){ { 4 }, { 64, 2 }, 0, 0, 64 }, ALL(0, 512));        /* two write one word */
	expect(no_barrier, (struct launch){ { 4 }, { 64 }, 0, 0, 64 }, ALL(256, 256));
	expect(part, (struct launch){ { 4 }, { 64 }, 0, 0, 64 }, ALL(256, 256));
	expect(next_row, (struct launch){ { 4 }, { 64 }, 0, 0, 64 }, ALL(192, 256));
	expect(by_other, (struct launch){ { 4 }, { 64 }, 0, 0, 65 }, ALL(255, 256));        /* but the word before the first row */
#undef ROW
}

/* More groups of reads than are compared: those of which nothing is said still look where is written. */
static void many_groups(void **state)
{
	struct ws_buf b = { 0 };

	ws_buf_puts(&b, PTX_HEAD BEHIND_HEAD(OFFSET "st.global.u32 [%rd5], %r4;\n"));
	b.len -= strlen("END: ret;\n}\n");
	b.data[b.len] = 0;
	for (unsigned k = 2; k < 40; k++)
		ws_buf_printf(&b, "mul.lo.s32 %%r20, %%r3, %u; mul.wide.s32 %%rd6, %%r20, 4; add.s64 %%rd7, %%rd1, %%rd6; ld.global.u32 %%r21, [%%rd7];\n", k);
	ws_buf_puts(&b, "END: ret;\n}\n");
	expect(b.data, (struct launch){ { 1 }, { 8 }, 4096, 0, 0 }, ALL(0, 8));
	expect(b.data, (struct launch){ { 1 }, { 8 }, 0, 0, 0 }, (struct checks){ 47, 8, 0, 0 });
	ws_buf_free(&b);
}

/* Rows of a thread's own, i * w + c, which it writes four words at a time and then what is left over, and reads two words at a time, in
 * a loop of several blocks, and what is left over. */
#define OWN_ROW(rest, second, step) KERNEL( \
	"mul.lo.s32 %r30, %r4, %r6; and.b32 %r25, %r5, 3; sub.s32 %r23, %r5, %r25; mov.u32 %r24, 0; setp.lt.s32 %p1, %r5, 4; @%p1 bra REST;\n" \
	"MAIN: add.s32 %r20, %r24, %r30; mul.wide.s32 %rd6, %r20, 4; add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r4; st.global.u32 [%rd7+4], %r4;\n" \
	"st.global.u32 [%rd7+8], %r4; st.global.u32 [%rd7+12], %r4; add.s32 %r24, %r24, 4; add.s32 %r23, %r23, -4; setp.ne.s32 %p2, %r23, 0; @%p2 bra MAIN;\n" \
	"REST: setp.eq.s32 %p3, %r25, 0; @%p3 bra AGAIN; add.s32 %r21, %r24, " rest "; mul.wide.s32 %rd8, %r21, 4; add.s64 %rd9, %rd2, %rd8;\n" \
	"LAST: st.global.u32 [%rd9], %r4; add.s64 %rd11, %rd9, 4; add.s32 %r25, %r25, -1; setp.ne.s32 %p4, %r25, 0; mov.u64 %rd9, %rd11; @%p4 bra LAST;\n" \
	"AGAIN: and.b32 %r26, %r5, 1; sub.s32 %r27, %r5, %r26; mov.u32 %r28, 0; setp.lt.s32 %p5, %r5, 2; @%p5 bra ONE;\n" \
	"TWO: add.s32 %r29, %r28, %r30; mul.wide.s32 %rd12, %r29, 4; add.s64 %rd13, %rd2, %rd12; ld.global.u32 %r31, [%rd13];\n" \
	"setp.eq.s32 %p6, %r31, 7; @%p6 bra BOTH; add.s32 %r31, %r31, 1;\nBOTH: ld.global.u32 %r31, [%rd13+" second "];\n" \
	"add.s32 %r28, %r28, 2; add.s32 %r27, %r27, " step "; setp.ne.s32 %p7, %r27, 0; @%p7 bra TWO;\n" \
	"ONE: setp.eq.s32 %p8, %r26, 0; @%p8 bra END; add.s32 %r32, %r28, %r30; mul.wide.s32 %rd14, %r32, 4; add.s64 %rd15, %rd2, %rd14; ld.global.u32 %r31, [%rd15];\n")

static void rows_of_their_own(void **state)
{
	const struct launch l = { { 2 }, { 8 }, 0, 7, 7 };
	static const char fine[] = OWN_ROW("%r30", "4", "-2");

	expect(fine, l, NONE);
	expect(fine, (struct launch){ { 2 }, { 8 }, 0, 8, 9 }, NONE);
	expect(fine, (struct launch){ { 2 }, { 8 }, 0, 8, 8 }, ALL(16 * 8, 16 * 8));   /* limited: no word is left over, but is counted */
	expect(fine, (struct launch){ { 2 }, { 8 }, 0, 5, 6 }, NONE);
	expect(fine, (struct launch){ { 2 }, { 8 }, 0, 3, 3 }, ALL(16 * 3, 16 * 3));   /* limited: no four words */
	expect(fine, (struct launch){ { 2 }, { 8 }, 0, 7, 6 }, ALL(16 * 7, 16 * 7));   /* rows that overlap */
	expect(fine, (struct launch){ { 2, 2 }, { 8 }, 0, 7, 7 }, ALL(32 * 7, 32 * 7));        /* two threads with one row */
	expect(OWN_ROW("%r30", "8", "-2"), l, NONE);                                   /* reads a word more, which is the next row's only ... */
	expect(OWN_ROW("%r30", "8", "-2"), (struct launch){ { 2 }, { 8 }, 0, 8, 8 }, ALL(16 * 8, 16 * 8));     /* ... here */
	expect(OWN_ROW("%r6", "4", "-2"), l, ALL(16 * 7, 16 * 7));                             /* what is left over is not in the row */
}

/* A loop that something leaves before its end, or in which the counter does not go on in each round, has no known rounds. */
#define ROW_LOOP(begin, leave) KERNEL("mul.lo.s32 %r30, %r4, %r6; mov.u32 %r24, 0; mov.u32 %r23, %r5; setp.lt.s32 %p1, %r5, 1; @%p1 bra END;\n" begin \
	"LOOP: add.s32 %r20, %r24, %r30; mul.wide.s32 %rd6, %r20, 4; add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r4;\n" leave \
	"NEXT: add.s32 %r24, %r24, 1; add.s32 %r23, %r23, -1; setp.ne.s32 %p2, %r23, 0; @%p2 bra LOOP;\n")

static void loops_that_are_not_closed(void **state)
{
	const struct launch l = { { 2 }, { 8 }, 0, 4, 4 };

	expect(ROW_LOOP("", ""), l, NONE);
	expect(ROW_LOOP("", "setp.eq.s32 %p3, %r20, 9; @%p3 bra NEXT; add.s32 %r31, %r20, 1;\n"), l, NONE);
	expect(ROW_LOOP("", "setp.eq.s32 %p3, %r24, 9; @%p3 bra END;\n"), l, ALL(0, 64));
	expect(ROW_LOOP("mov.u32 %r31, 0;\n", "add.s32 %r31, %r31, 1; setp.eq.s32 %p3, %r31, 1; @%p3 bra LOOP;\n"), l, ALL(0, 80));
	expect(ROW_LOOP("setp.eq.s32 %p3, %r5, 99; @%p3 bra NEXT;\n", ""), l, ALL(0, 64));
	expect(ROW_LOOP("", "setp.eq.s32 %p3, %r20, 9; @%p3 bra NEXT; add.s32 %r24, %r24, 0;\n"), l, ALL(0, 64));
}

/* What one thread writes in a loop and what all write in an array of their own; thread 0 also reads what the others write. */
static void one_of_two_arrays(void **state)
{
	static const char walk[] = KERNEL(OFFSET "st.global.u32 [%rd5], %r4; setp.ne.s32 %p1, %r4, 0; @%p1 bra END; mov.u32 %r24, %r5;\n"
		"mov.u64 %rd6, %rd1; mov.u64 %rd7, %rd2;\nLOOP: ld.global.u32 %r9, [%rd7]; st.global.u32 [%rd6], %r9; add.s64 %rd6, %rd6, 4;\n"
		"add.s64 %rd7, %rd7, 4; add.s32 %r24, %r24, -1; setp.ne.s32 %p2, %r24, 0; @%p2 bra LOOP;\n");

	expect(walk, (struct launch){ { 2 }, { 32 }, 4096, 64, 0 }, ALL(64, 64));
	expect(walk, (struct launch){ { 2 }, { 32 }, 128, 64, 0 }, ALL(64, 128));      /* one array */
}

/* Of functions that are called it is known which variable they read. */
#define CALLED(table, where) PTX_HEAD ".global .align 4 .b32 table[64];\n.global .align 8 .b64 somewhere;\n.func (.param .b32 r) f(.param .b32 i)\n{\n" \
	".reg .b32 %i, %v; .reg .b64 %d, %t;\nld.param.u32 %i, [i]; and.b32 %i, %i, 15; mul.wide.u32 %d, %i, 4; " table \
	"add.s64 %t, %t, %d; ld.global.u32 %v, [%t]; st.param.b32 [r], %v;\nret;\n}\n" BEHIND_HEAD(OFFSET where \
	"{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r4; call (q), f, (p); ld.param.b32 %r7, [q]; } st.global.u32 [%rd5], %r7;\n")

static void variables_of_functions(void **state)
{
	const struct launch l = { { 2 }, { 32 }, 4096, 0, 0 };

	expect(CALLED("mov.u64 %t, table;", ""), l, ALL(64, 0));
	expect(CALLED("ld.global.u64 %t, [somewhere]; mov.u64 %t, table;", ""), l, ALL(128, 64));
	expect(CALLED("mov.u64 %t, table;", "mov.u64 %rd9, table; add.s64 %rd5, %rd9, %rd3;"), l, ALL(64, 64));
}

/* Tables of the mathematical functions are written by nobody: who reads nothing else is as if it was not called. */
#define MATHEMATICS(name, load, more) PTX_HEAD ".global .align 4 .b32 " name "[64];\n.func (.param .b32 r) f(.param .b32 i)\n{\n" \
	".reg .b32 %i, %v; .reg .b64 %d, %t;\nld.param.u32 %i, [i]; and.b32 %i, %i, 15; mul.wide.u32 %d, %i, 4; mov.u64 %t, " name ";\n" \
	"add.s64 %t, %t, %d; " load " %v, [%t]; st.param.b32 [r], %v; " more "\nret;\n}\n" BEHIND_HEAD(OFFSET \
	"{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r4; call (q), f, (p); ld.param.b32 %r7, [q]; } st.global.u32 [%rd5], %r7;\n")

static void tables_of_functions(void **state)
{
	const struct launch l = { { 2 }, { 32 }, 4096, 0, 0 };

	expect(MATHEMATICS("__cudart_table", "ld.global.nc.u32", ""), l, NONE);
	expect(MATHEMATICS("__cudart_table", "ld.global.u32", ""), l, ALL(64, 0));
	expect(MATHEMATICS("table", "ld.global.nc.u32", ""), l, ALL(64, 0));
	expect(MATHEMATICS("__cudart_table", "ld.global.nc.u32", "bar.sync 0; ld.global.u32 %v, [%t];"), l, ALL(64, 0));
}

/* Of bits of which none is left. */
static void no_bits(void **state)
{
	static const char none[] = KERNEL("and.b32 %r7, %r4, 0; add.s32 %r8, %r7, %r4; mul.wide.s32 %rd3, %r8, 4; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r8;\n");

	expect(none, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, NONE);
}

/* A block sums up 128 words in a tree, each time for another word of the grid: loops from the thread's index in steps of the block's
 * size, of which the way in is compared with another number than the way back. */
#define TREE(in, limit, who, word) KERNEL(".shared .b32 s[128]; mov.u32 %r20, s; setp.ge.s32 %p7, %r1, %r5; @%p7 bra END; mov.u32 %r30, %r1; mov.u32 %r31, %nctaid.x;\n" \
	"VECTOR: setp.gt.s32 %p1, %r3, 127; @%p1 bra SUM; mov.u32 %r21, %r3;\n" \
	"STORE: shl.b32 %r22, %r21, 2; add.s32 %r23, %r20, %r22; st.shared.u32 [%r23], %r3; add.s32 %r21, %r21, %r2;\n" \
	"setp.lt.s32 %p2, %r21, 128; @%p2 bra STORE;\nSUM: setp.gt.s32 %p3, %r3, " in "; bar.sync 0; @%p3 bra LAST; mov.u32 %r24, %r3;\n" \
	"HALF: shl.b32 %r25, %r24, 2; add.s32 %r26, %r20, %r25; ld.shared.u32 %r27, [%r26]; ld.shared.u32 %r28, [%r26+256]; add.s32 %r29, %r27, %r28;\n" \
	"st.shared.u32 [%r26], %r29; add.s32 %r24, %r24, %r2; setp.lt.s32 %p4, %r24, " limit "; @%p4 bra HALF;\n" \
	"LAST: setp.ne.s32 %p5, %r3, " who "; bar.sync 0; @%p5 bra NEXT; ld.shared.u32 %r32, [s+" word "]; mul.wide.s32 %rd6, %r30, 4;\n" \
	"add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r32;\nNEXT: add.s32 %r30, %r30, %r31; setp.lt.s32 %p6, %r30, %r5; @%p6 bra VECTOR;\n")

static void trees(void **state)
{
	const struct launch l = { { 2 }, { 32 }, 0, 2, 0 };

	expect(TREE("63", "64", "0", "0"), l, NONE);
	expect(TREE("63", "64", "0", "0"), (struct launch){ { 2 }, { 32 }, 0, 6, 0 }, NONE);
	expect(TREE("63", "64", "0", "0"), (struct launch){ { 2 }, { 48 }, 0, 2, 0 }, NONE);
	expect(TREE("63", "64", "1", "0"), l, ALL(2, 2 * 128));             /* it is another thread's word when the next round begins */
	expect(TREE("63", "64", "0", "4"), l, ALL(2, 2 * 128));
	expect(TREE("63", "64", "0", "0"), (struct launch){ { 2 }, { 32, 2 }, 0, 2, 0 }, ALL(4 * 65, 4 * 192 + 4));        /* two threads of each index */
	expect(TREE("62", "64", "0", "0"), l, ALL(2 * 64, 2 * 64));         /* the loop alone: what one comparison finds, the other does not */
}

/* Atomics of one size may meet, whatever their addresses are made of; of two sizes they may not. */
static void atomics_that_meet(void **state)
{
	static const char masked[] = KERNEL("mul.wide.u32 %rd6, %r4, 4; and.b64 %rd7, %rd6, 60; add.s64 %rd8, %rd2, %rd7;\n"
		"red.global.add.u32 [%rd8], 1; and.b64 %rd7, %rd6, 28; add.s64 %rd9, %rd2, %rd7; red.global.add.u32 [%rd9], 1;\n");
	static const char sizes[] = KERNEL("mul.wide.u32 %rd6, %r4, 8; and.b64 %rd7, %rd6, 56; add.s64 %rd8, %rd2, %rd7;\n"
		"red.global.add.u32 [%rd8], 1; and.b64 %rd7, %rd6, 24; add.s64 %rd9, %rd2, %rd7; red.global.add.u64 [%rd9], 1;\n");

	expect_allocated(masked, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 0, NONE);
	expect_allocated(sizes, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 0, (struct checks){ 0, 0, 128, 0 });
}

/* The race of a kernel that is given the same memory twice is found by the real checks. */
/* Each block writes a word, and arrives; the last one reads them all, and resets the counter. */
#define FINAL(write, first, arrive, compare, second, behind) FINAL_BY("setp.ne.s32 %p1, %r3, 0;\n", write, first, arrive, compare, second, behind)
#define FINAL_BY(who, write, first, arrive, compare, second, behind) KERNEL(".reg .b16 %rs<4>; .shared .align 4 .b32 last;\n" \
	"mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; mul.wide.u32 %rd5, %r3, 4; add.s64 %rd6, %rd1, %rd5; add.s64 %rd7, %rd2, %rd5;\n" \
	"mov.u32 %r18, %nctaid.x; add.s32 %r8, %r18, -1; mov.u32 %r17, 0;\n" who \
	write "@%p1 bra BAR;\nst.global.u32 [%rd4], %r4;\n" first arrive compare "selp.u32 %r9, 1, 0, %p2; st.shared.u32 [last], %r9;\n" \
	second "BAR: bar.sync 0; ld.shared.u32 %r10, [last]; setp.eq.s32 %p3, %r10, 0; @%p3 bra END;\n" behind \
	"ld.global.u32 %r11, [%rd6]; st.global.u32 [%rd7+64], %r11;\n@%p1 bra END;\nst.global.u32 [%rd2], %r17;\n")
#define GL     "membar.gl;\n"
#define ADD    "atom.global.add.u32 %r7, [%rd2], 1;\n"
#define OWN    "mul.wide.s32 %rd8, %r4, 4; add.s64 %rd9, %rd2, %rd8; st.global.u32 [%rd9+1024], %r4;\n"
#define IS     "setp.eq.s32 %p2, %r7, %r8;\n"

/* Is nothing to be checked in such a launch, for the host, if the counter begins with 0? */
static void expect_final(bool silent, const char *text, struct launch l)
{
	struct checks c;
	bool is;

	for (int k = 0; k < 3; k++) {
		l.grid[k] += !l.grid[k];
		l.block[k] += !l.block[k];
	}
	c = run(text, &l, false, &is);
	if (is != silent || !c.entered)
		fail_msg("the host says %d, %u threads have hooks that it has told nothing\n%s", is, c.entered, text);
	c = run(text, &l, true, &is);
	if (!c.entered != silent)
		fail_msg("%u threads have hooks\n%s", c.entered, text);
}

static void the_last_block(void **state)
{
	static const struct launch l = { { 4 }, { 16 }, 4096, 0, 0 };

	expect_final(true, FINAL("", GL, ADD, IS, GL, ""), l);
	expect_final(true, FINAL("", "fence.acq_rel.gpu;\n", "atom.global.inc.u32 %r7, [%rd2], %r8;\n", IS, "fence.sc.sys;\n", ""), l);
	expect_final(true, FINAL("", GL, ADD, "setp.ne.s32 %p4, %r7, %r8; not.pred %p2, %p4;\n", GL, ""), l);
	expect_final(true, FINAL(OWN "bar.sync 0;\n", GL, ADD, IS, GL, "ld.global.u32 %r12, [%rd7+1028];\n"), l);
	expect_final(false, FINAL("", GL, ADD, IS, GL, ""), (struct launch){ { 4, 2 }, { 16 }, 4096, 0, 0 });  /* more blocks */
	expect_final(false, FINAL("", GL, ADD, IS, GL, ""), (struct launch){ { 4 }, { 16, 2 }, 4096, 0, 0 });  /* two threads arrive */
	expect_final(false, FINAL("", GL, ADD, IS, GL, ""), (struct launch){ { 4 }, { 16 }, 8, 0, 0 });        /* a word is the counter */
}

static void no_last_block(void **state)
{
	static const struct launch l = { { 4 }, { 16 }, 4096, 0, 0 };

	expect_final(false, FINAL("", "", ADD, IS, GL, ""), l);                      /* no fence before, or behind, or too narrow ones */
	expect_final(false, FINAL("", GL, ADD, IS, "", ""), l);
	expect_final(false, FINAL("", "membar.cta;\n", ADD, IS, GL, ""), l);
	expect_final(false, FINAL("", GL, ADD, IS, "fence.acq_rel.cta;\n", ""), l);
	expect_final(false, FINAL("", "setp.eq.s32 %p5, %r5, %r4; @%p5 bra NO;\n" GL "NO:\n", ADD, IS, GL, ""), l);
	expect_final(false, FINAL("", GL, "atom.global.add.u32 %r7, [%rd2], 2;\n", IS, GL, ""), l);
	expect_final(false, FINAL("", GL, "atom.global.cta.add.u32 %r7, [%rd2], 1;\n", IS, GL, ""), l);
	expect_final(false, FINAL("", GL, "atom.global.inc.u32 %r7, [%rd2], %r17;\n", IS, GL, ""), l);        /* it begins again too early */
	expect_final(false, FINAL("", GL, ADD, "add.s32 %r19, %r8, -1; setp.eq.s32 %p2, %r7, %r19;\n", GL, ""), l);                      /* the last but one, too */
	expect_final(false, FINAL("", GL, ADD, "setp.ge.s32 %p2, %r7, %r5;\n", GL, ""), l);
	expect_final(false, FINAL("", GL, ADD ADD, IS, GL, ""), l);                  /* twice */
	expect_final(false, FINAL("", GL "AGAIN:\n", ADD "setp.lt.s32 %p5, %r7, %r5; @%p5 bra AGAIN;\n", IS, GL, ""), l);
	expect_final(false, FINAL("setp.eq.s32 %p5, %r1, 2; @%p5 bra END;\n", GL, ADD, IS, GL, ""), l);        /* not by all blocks */
	expect_final(false, FINAL("", GL "ld.global.u32 %r12, [%rd2+8]; setp.eq.s32 %p5, %r12, 5; @%p5 bra BAR;\n", ADD, IS, GL, ""), l);
	expect_final(false, FINAL("", GL "st.global.u32 [%rd4], %r1;\n", ADD, IS, GL, ""), l);               /* behind the fence */
	expect_final(false, FINAL("", GL, ADD "st.global.u32 [%rd4], %r1;\n", IS, GL, ""), l);
	expect_final(false, FINAL(OWN, GL, ADD, IS, GL, "ld.global.u32 %r12, [%rd7+1028];\n"), l);   /* of other threads */
	expect_final(false, FINAL("st.shared.u32 [last], %r8; bar.sync 0;\n", GL, ADD, IS, GL, ""), l);        /* the flag says nothing */
	expect_final(false, FINAL("", GL, ADD, "setp.eq.s32 %p4, %r7, %r8; setp.eq.or.s32 %p2, %r4, 3, %p4;\n", GL, ""), l);
	expect_final(false, FINAL("", GL, ADD, IS, GL, "ld.global.u32 %r12, [%rd4+4]; st.global.u32 [%rd1], %r12;\n"), l);      /* all threads of it */
	expect_final(false, FINAL("red.global.add.u32 [%rd2+0], 1; bar.sync 0;\n", GL, ADD, IS, GL, ""), l);   /* others count */
}

/* Each thread writes a word, and fences; behind a barrier one of each block arrives. */
#define FENCED(write, between, second) KERNEL(".shared .align 4 .b32 last;\n" \
	"mul.wide.u32 %rd5, %r3, 4; add.s64 %rd7, %rd2, %rd5; mul.wide.s32 %rd8, %r4, 4; add.s64 %rd9, %rd2, %rd8;\n" \
	"mov.u32 %r18, %nctaid.x; add.s32 %r8, %r18, -1; mov.u32 %r17, 0; or.b32 %r19, %r1, %r1; setp.ne.s32 %p1, %r3, 0;\n" write between \
	"@%p1 bra BAR;\n" ADD IS "selp.u32 %r9, 1, 0, %p2; st.shared.u32 [last], %r9;\n" second \
	"BAR: bar.sync 0; ld.shared.u32 %r10, [last]; setp.eq.s32 %p3, %r10, 0; @%p3 bra END;\n" \
	"ld.global.u32 %r11, [%rd7+1024]; @%p1 bra END;\nst.global.u32 [%rd2], %r17;\n")
#define WORD "st.global.u32 [%rd9+1024], %r4;\n"
#define BAR  "bar.sync 0;\n"

static void fences_before_the_barrier(void **state)
{
	static const struct launch l = { { 4 }, { 16 }, 4096, 0, 0 };

	expect_final(true, FENCED(WORD GL, BAR, GL), l);
	expect_final(true, FENCED(WORD "fence.sc.gpu;\n", BAR, "fence.sc.sys;\n"), l);
	expect_final(true, FENCED(WORD "setp.lt.s32 %p5, %r4, 5; @%p5 bra FENCE;\nst.global.u32 [%rd9+1536], %r4; FENCE: " GL, BAR, GL), l);
	expect_final(false, FENCED(WORD "fence.acq_rel.gpu;\n", BAR, GL), l);           /* these two are in no order */
	expect_final(false, FENCED(WORD GL, BAR, "fence.acq_rel.gpu;\n"), l);
	expect_final(false, FENCED(WORD "membar.cta;\n", BAR, GL), l);
	expect_final(false, FENCED(WORD GL, "", GL), l);                                /* no barrier */
	expect_final(false, FENCED(WORD "setp.lt.s32 %p5, %r4, 5; @%p5 bra NO;\n" GL "NO: ", BAR, GL), l);      /* not by all */
	expect_final(false, FENCED(GL WORD, BAR, GL), l);
	expect_final(false, FENCED(WORD "setp.lt.s32 %p5, %r4, 5; @%p5 bra END;\n" GL, BAR, GL), l);
}

/* The thread is one by its place in two dimensions, and by a register with which a loop goes on; other shared memory has no size. */
static void who_arrives(void **state)
{
	static const struct launch l = { { 4 }, { 16 }, 4096, 0, 0 };
	#define LOOP(from) "mov.u32 %r20, " from "; ON: add.s32 %r3, %r3, %r2; setp.lt.s32 %p5, %r3, %r20; @%p5 bra ON;\n"

	expect_final(true, FINAL("", GL, ADD, IS, GL, LOOP("64")), l);
	expect_final(false, FINAL_BY(LOOP("64") "setp.ne.s32 %p1, %r3, 64;\n", "", GL, ADD, IS, GL, ""), l);      /* it is another number then */
	expect_final(true, FINAL(LOOP("64"), GL, ADD, IS, GL, ""), l);
	expect_final(true, FINAL_BY("mov.u32 %r21, %tid.y; or.b32 %r22, %r21, %r3; setp.ne.s32 %p1, %r22, 0;\n", "", GL, ADD, IS, GL, ""), l);
	expect_final(false, FINAL_BY("mov.u32 %r21, %ctaid.x; or.b32 %r22, %r21, %r3; setp.ne.s32 %p1, %r22, 0;\n", "", GL, ADD, IS, GL, ""), l);
	expect(KERNEL("mov.u32 %r20, 64; ON: add.s32 %r3, %r3, %r2; setp.lt.s32 %p5, %r3, %r20; @%p5 bra ON;\n"
	              "setp.ne.s32 %p1, %r3, 64; @%p1 bra END; st.global.u32 [%rd2], %r4;\n"), (struct launch){ { 1 }, { 16 }, 0, 0, 0 }, ALL(0, 1));
}

/* Tiles of 4 x 4 in a grid of one dimension, by quotient and remainder of the block's index, each compared on its own. */
#define TILES_OF_BLOCKS(across) KERNEL("mov.u32 %r12, %tid.y; rem.u32 %r20, %r1, %r6; " across " div.u32 %r21, %r1, %r19; shl.b32 %r22, %r20, 2;\n" \
	"shl.b32 %r23, %r21, 2; add.s32 %r24, %r22, %r3; add.s32 %r25, %r23, %r12; setp.ge.s32 %p1, %r24, %r5; @%p1 bra END;\n" \
	"setp.ge.s32 %p2, %r25, %r5; @%p2 bra END; mad.lo.s32 %r26, %r25, %r5, %r24; mul.wide.s32 %rd3, %r26, 4; add.s64 %rd4, %rd2, %rd3;\n" \
	"st.global.u32 [%rd4], %r3;\n")

static void tiles_of_blocks(void **state)
{
	static const char tiles[] = TILES_OF_BLOCKS("mov.u32 %r19, %r6;"), others[] = TILES_OF_BLOCKS("add.s32 %r19, %r6, -1;");

	expect(tiles, (struct launch){ { 9 }, { 4, 4 }, 0, 12, 3 }, NONE);
	expect(tiles, (struct launch){ { 9 }, { 4, 4 }, 0, 10, 3 }, NONE);
	expect(tiles, (struct launch){ { 9 }, { 5, 4 }, 0, 12, 3 }, ALL(0, 168));        /* five columns of each tile */
	expect(tiles, (struct launch){ { 9, 2 }, { 4, 4 }, 0, 12, 3 }, ALL(0, 288));
	expect(others, (struct launch){ { 6 }, { 4, 4 }, 0, 12, 3 }, ALL(0, 96));
}

/* A column of threads goes down an image: y = y0 + threadIdx.y, compared on its own; the next tile is `step` rows on. y0 is the same in all threads. */
#define DOWN(step) KERNEL("mov.u32 %r12, %tid.y; mov.u32 %r20, 0; setp.lt.s32 %p1, %r5, 1; @%p1 bra END;\n" \
	"LOOP: add.s32 %r21, %r20, %r12; setp.ge.s32 %p2, %r21, %r5; setp.ge.s32 %p3, %r4, %r6; or.pred %p4, %p2, %p3; @%p4 bra NEXT;\n" \
	"mad.lo.s32 %r22, %r21, %r6, %r4; mul.wide.s32 %rd3, %r22, 4; add.s64 %rd4, %rd2, %rd3; ld.global.u32 %r23, [%rd4]; st.global.u32 [%rd4], %r23;\n" \
	"NEXT: add.s32 %r20, %r20, " step "; setp.lt.s32 %p5, %r20, %r5; @%p5 bra LOOP;\n")

static void tiles_one_below_the_other(void **state)
{
	expect(DOWN("8"), (struct launch){ { 2 }, { 16, 8 }, 0, 24, 32 }, NONE);
	expect(DOWN("8"), (struct launch){ { 2 }, { 16, 8 }, 0, 21, 30 }, NONE);
	expect(DOWN("9"), (struct launch){ { 2 }, { 16, 8 }, 0, 27, 32 }, NONE);
	expect(DOWN("7"), (struct launch){ { 2 }, { 16, 8 }, 0, 14, 32 }, ALL(0, 32 * 15));       /* a row in two of them */
	expect(DOWN("8"), (struct launch){ { 2, 2 }, { 16, 8 }, 0, 24, 32 }, ALL(0, 2 * 32 * 24));
}

/* One of eight lanes, by the rank of a thread in its block, writes what the grid's index says. */
static void ranks_in_blocks(void **state)
{
	static const char ranks[] = KERNEL("mov.u32 %r10, %ntid.y; mov.u32 %r11, %tid.z; mov.u32 %r12, %tid.y; mad.lo.s32 %r13, %r10, %r11, %r12;\n"
		"mad.lo.s32 %r14, %r13, %r2, %r3; and.b32 %r15, %r14, 7; setp.ne.s32 %p1, %r15, 0; @%p1 bra END;\n"
		"and.b32 %r16, %r4, -8; mul.wide.u32 %rd3, %r16, 1; add.s64 %rd4, %rd2, %rd3; st.global.v2.u32 [%rd4], {%r4, %r4};\n");

	expect(ranks, (struct launch){ { 4 }, { 64 }, 0, 0, 0 }, NONE);
	expect(ranks, (struct launch){ { 1 }, { 8 }, 0, 0, 0 }, NONE);
	expect(ranks, (struct launch){ { 4 }, { 32, 2 }, 0, 0, 0 }, ALL(0, 32));         /* two threads write one word */
	expect(ranks, (struct launch){ { 4 }, { 4, 16 }, 0, 0, 0 }, ALL(0, 32));
	expect(ranks, (struct launch){ { 4, 2 }, { 64 }, 0, 0, 0 }, ALL(0, 64));
}

/* A parameter as wide as a pointer may be a number of bytes, and 0: it does not say in which allocation an access is. */
static void numbers_as_wide_as_pointers(void **state)
{
	static const char bytes[] = KERNEL("cvt.u64.u32 %rd3, %r4; add.s64 %rd10, %rd20, %rd3; add.s64 %rd11, %rd10, %rd2; add.s64 %rd12, %rd2, %rd3;\n"
		"ld.global.u8 %r7, [%rd12+1]; st.global.u8 [%rd11], %r7;\n");

	first_is_zero = true;
	expect_allocated(bytes, (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, 4096, ALL(31, 32));   /* one reads what nobody writes */
	first_is_zero = false;
}

static void aliases_still_race(void **state)
{
	struct race_rig r = race_new((struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 },
	                             KERNEL(BELOW_N OFFSET COPY));
	struct ws_mem *m = rig_mem(&r.rig, 1 << 14);
	struct { uint64_t a, b; uint32_t n, w; } apart = { m->addr, m->addr + 4096, 128, 0 }, shifted = { m->addr, m->addr + 4, 128, 0 };

	rig_run(&r.rig, "k", 2, 64, &apart);
	assert_null(race_found(&r.tables, 0));
	rig_run(&r.rig, "k", 2, 64, &shifted);
	assert_non_null(race_found(&r.tables, 0));
	race_free(&r);
}

/* Blocks tell others by strong accesses of one size in an allocation, of which nobody knows where; and write elsewhere. By generic addresses, as
 * inline assembly has them. */
static void strong_accesses(void **state)
{
	#define LOOK_BACK(store, load) KERNEL("mul.wide.s32 %rd3, %r1, 8; add.s64 %rd4, %rd20, %rd3; setp.eq.s32 %p1, %r3, 0;\n" \
		"@%p1 " store ";\n" load ";\n mul.wide.u32 %rd6, %r7, 8; add.s64 %rd4, %rd20, %rd6;\n" load ";\n" \
		"mul.wide.s32 %rd7, %r4, 4; add.s64 %rd5, %rd2, %rd7; st.global.u32 [%rd5], %r7;\n")
	static const struct { const char *text; struct checks want; } kernels[] = {
		{ LOOK_BACK("st.relaxed.gpu.v2.u32 [%rd4], {%r5, %r6}", "ld.relaxed.gpu.v2.u32 {%r7, %r9}, [%rd4]"), NONE },
		{ LOOK_BACK("st.volatile.u64 [%rd4], %rd3", "ld.acquire.gpu.u64 %rd8, [%rd4]; mov.b64 {%r7, %r9}, %rd8"), NONE },
		{ LOOK_BACK("atom.add.u64 %rd9, [%rd4], 1", "ld.relaxed.sys.u64 %rd8, [%rd4]; mov.b64 {%r7, %r9}, %rd8"), NONE },
		/* what is out of scope, of another size, in other parts, weak */
		{ LOOK_BACK("st.relaxed.cta.v2.u32 [%rd4], {%r5, %r6}", "ld.relaxed.gpu.v2.u32 {%r7, %r9}, [%rd4]"), ALL(128, 2) },
		{ LOOK_BACK("st.relaxed.gpu.v2.u32 [%rd4], {%r5, %r6}", "ld.relaxed.cta.v2.u32 {%r7, %r9}, [%rd4]"), ALL(128, 2) },
		{ LOOK_BACK("st.relaxed.gpu.v2.u32 [%rd4], {%r5, %r6}", "ld.relaxed.gpu.u32 %r7, [%rd4]"), ALL(128, 2) },
		{ LOOK_BACK("st.relaxed.gpu.v2.u32 [%rd4], {%r5, %r6}", "ld.relaxed.gpu.u64 %rd8, [%rd4]; mov.b64 {%r7, %r9}, %rd8"), ALL(128, 2) },
		{ LOOK_BACK("st.relaxed.gpu.v2.u32 [%rd4], {%r5, %r6}", "ld.v2.u32 {%r7, %r9}, [%rd4]"), ALL(128, 2) },
		{ LOOK_BACK("st.v2.u32 [%rd4], {%r5, %r6}", "ld.relaxed.gpu.v2.u32 {%r7, %r9}, [%rd4]"), ALL(128, 2) },
	};

	for (size_t k = 0; k < WS_COUNT(kernels); k++)
		expect_allocated(kernels[k].text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 2048, kernels[k].want);
	expect_allocated(kernels[0].text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 8192, ALL(128, 66));         /* all of it is one allocation */
}

/* What is read where it is written is not proved, but what is done in other allocations is. */
static void reads_where_is_written(void **state)
{
	static const char text[] = KERNEL("mul.wide.s32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; setp.eq.s32 %p1, %r3, 0; @%p1 st.global.u32 [%rd4], 0;\n"
		"ld.global.u32 %r7, [%rd4+64]; mul.wide.u32 %rd6, %r7, 4; add.s64 %rd8, %rd1, %rd6; ld.global.u32 %r8, [%rd8];\n"
		"mul.wide.s32 %rd7, %r4, 4; add.s64 %rd5, %rd2, %rd7; st.global.u32 [%rd5], %r8;\n");

	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 2048, ALL(128, 2));
	expect_allocated(text, (struct launch){ { 2 }, { 32 }, 4096, 0, 0 }, 8192, ALL(128, 66));
}

/* The last threads do nothing, as data says: bounds reach into the next allocation, accesses do not. */
static void bounds_that_reach_too_far(void **state)
{
	static const char text[] = KERNEL(OFFSET "ld.global.u32 %r7, [%rd4]; setp.ne.u32 %p1, %r7, 0; @%p1 bra END;\n st.global.u32 [%rd4], 0; st.global.u32 [%rd5], 0;\n");
	static const struct launch l = { { 2 }, { 64 }, 400, 0, 0 };

	expect_allocated(text, l, 400, NONE);
	expect_allocated(text, l, 404, ALL(128, 256));           /* the second begins in the first one */
	expect(text, l, ALL(128, 256));
}

/* Many of all these launches are told what proofs find of them, or nothing here examines that. */
static int some_were_told(void **state)
{
	enum { MANY = 100, SOME = 4 };

	if (nwith < MANY || nsure < SOME)
		print_error("%u launches were told what proofs find, %u were of kernels without what they spare\n", nwith, nsure);
	return nwith < MANY || nsure < SOME;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies), cmocka_unit_test(in_place), cmocka_unit_test(what_is_not_zero), cmocka_unit_test(rows_of_one_thread), cmocka_unit_test(places_of_one_thread), cmocka_unit_test(two_variables),
		 cmocka_unit_test(stencils), cmocka_unit_test(sizes_of_accesses),
		cmocka_unit_test(by_one_thread), cmocka_unit_test(first_row_apart), cmocka_unit_test(rows_and_columns), cmocka_unit_test(loops_that_read), cmocka_unit_test(loops_that_were_unrolled),
		cmocka_unit_test(loops_of_equal_length), cmocka_unit_test(loops_that_do_not_begin_anew), cmocka_unit_test(loops_that_write),
		cmocka_unit_test(loops_in_steps_of_the_grid), cmocka_unit_test(loops_without_bounds), cmocka_unit_test(loops_that_begin_with_a_copy), cmocka_unit_test(counters_with_copies), cmocka_unit_test(backwards), cmocka_unit_test(tiles_on_a_diagonal), cmocka_unit_test(numbers_that_wrap), cmocka_unit_test(atomics),
		cmocka_unit_test(shared_memory), cmocka_unit_test(words_that_all_are_told), cmocka_unit_test(wide_parameters), cmocka_unit_test(long_divisions), cmocka_unit_test(reads_without_bounds),
		cmocka_unit_test(columns_of_bytes), cmocka_unit_test(columns_by_parts),
		cmocka_unit_test(only_atomics), cmocka_unit_test(words_of_warps), cmocka_unit_test(bit_fields), cmocka_unit_test(tiles_of_threads), cmocka_unit_test(loops_without_end), cmocka_unit_test(neighbours),
		cmocka_unit_test(rows_in_a_loop), cmocka_unit_test(rims_of_tiles), cmocka_unit_test(no_writes), cmocka_unit_test(unknown_writes), cmocka_unit_test(writes_without_checks),
		cmocka_unit_test(reads_of_allocations), cmocka_unit_test(pointers_in_loops), cmocka_unit_test(pointers_that_are_not_known),
		cmocka_unit_test(writes_in_allocations), cmocka_unit_test(rows_of_their_own), cmocka_unit_test(loops_that_are_not_closed), cmocka_unit_test(one_of_two_arrays),
		cmocka_unit_test(variables_of_functions), cmocka_unit_test(tables_of_functions), cmocka_unit_test(no_bits), cmocka_unit_test(trees), cmocka_unit_test(atomics_that_meet),
		cmocka_unit_test(conditions_of_a_launch), cmocka_unit_test(conditions_of_threads), cmocka_unit_test(split_by_masks),
		cmocka_unit_test(split_by_division), cmocka_unit_test(split_by_numbers), cmocka_unit_test(odd_multiples), cmocka_unit_test(differences_of_weights), cmocka_unit_test(places_in_turn), cmocka_unit_test(some_groups_alone), cmocka_unit_test(one_array_by_two_pointers),
		cmocka_unit_test(columns_side_by_side), cmocka_unit_test(another_register), cmocka_unit_test(many_groups), cmocka_unit_test(barriers_of_one_block), cmocka_unit_test(barriers_and_rows_of_blocks),
		cmocka_unit_test(the_last_block), cmocka_unit_test(fences_before_the_barrier), cmocka_unit_test(who_arrives), cmocka_unit_test(ranks_in_blocks), cmocka_unit_test(tiles_of_blocks), cmocka_unit_test(tiles_one_below_the_other), cmocka_unit_test(no_last_block), cmocka_unit_test(strong_accesses), cmocka_unit_test(reads_where_is_written), cmocka_unit_test(bounds_that_reach_too_far), cmocka_unit_test(numbers_as_wide_as_pointers), cmocka_unit_test(aliases_still_race),
	};

	return cmocka_run_group_tests(tests, NULL, some_were_told);
}
