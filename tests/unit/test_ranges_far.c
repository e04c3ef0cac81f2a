/* test_ranges_far.c - proofs of loops that are unrolled and have branches inside, and of the next array in the variable (ranges_far.c): kernels as nvcc makes them, and random ones
 * against the pass without proofs. */
#include "left_finds.h"
#include "ranges_rig.h"

enum { KERNELS = 300 };

/* ---- as nvcc has them ---- */
/* `for (i = tid; i < n; i += 32) if (...) use(s[i]);`, and `s[second + tid] = 1`, behind a loop with two buffers that take turns, from byte 2,048 on. What is left over is done in a loop, or without
 * one; four rounds at a time by a pointer and a counter of its own. `use` is a macro that has a label, and an address. */
#define BEGIN_LOOP(last, least) "setp.gt.s32 %p1, %r3, " last "; @%p1 bra DONE; max.s32 %r11, %r3, " least "; add.s32 %r12, %r11, 31; sub.s32 %r13, %r12, %r3; shr.u32 %r14, %r13, 5;\n" \
	"add.s32 %r15, %r14, 1; and.b32 %r16, %r15, 3; setp.eq.s32 %p2, %r16, 0; mov.u32 %r10, %r3; @%p2 bra LEFT;\n"
#define WRITES(label, at) "setp.eq.s32 %p3, %r5, %r6; @%p3 bra " label "; st.shared.u32 [" at "], %r1;\n" label ":\n"
#define READS(label, at) "setp.eq.s32 %p3, %r5, %r6; @%p3 bra " label "; ld.shared.u32 %r7, [" at "];\n" label ":\n"
#define FEW(use) "mov.u32 %r10, %r3;\nFEW: shl.b32 %r17, %r10, 2; add.s32 %r18, %r20, %r17;\n" use("F", "%r18") "add.s32 %r10, %r10, 32; add.s32 %r16, %r16, -1; setp.ne.s32 %p4, %r16, 0; @%p4 bra FEW;\n"
#define ONE_BY_ONE(use, step) use("A", "%r31") "setp.eq.s32 %p4, %r16, 1; add.s32 %r10, %r3, 32; @%p4 bra LEFT;\n" \
	use("B", "%r31+128") "setp.eq.s32 %p5, %r16, 2; add.s32 %r10, %r3, " step "; @%p5 bra LEFT;\n" use("C", "%r31+256") "add.s32 %r10, %r3, 96;\n"
#define MANY(use, end) MANY_AND(use, end, "")
#define MANY_AND(use, end, behind) "LEFT: setp.lt.u32 %p6, %r13, 96; @%p6 bra DONE; add.s32 %r23, %r10, -128; shl.b32 %r19, %r10, 2; add.s32 %r21, %r20, %r19;\n" \
	"MANY:\n" use("M0", "%r21") use("M1", "%r21+128") use("M2", "%r21+256") use("M3", "%r21+384") \
	"add.s32 %r21, %r21, 512; " behind " add.s32 %r23, %r23, 128; setp.lt.s32 %p7, %r23, " end "; @%p7 bra MANY;\nDONE:\n"
#define TWO(rounds, second) KERNEL(".shared .b32 s[1024]; mov.u32 %r20, s; shl.b32 %r30, %r3, 2; add.s32 %r31, %r20, %r30; mov.u32 %r33, 0; mov.u32 %r32, 0;\n" \
	"LOOP: mad.lo.s32 %r34, %r33, 1024, %r31; ld.shared.u32 %r22, [%r34+2052]; xor.b32 %r24, %r33, 1; mad.lo.s32 %r35, %r24, 1024, %r31; st.shared.u32 [%r35+2048], %r22;\n" \
	"bar.sync 0; xor.b32 %r33, %r33, 1; add.s32 %r32, %r32, 1; setp.lt.s32 %p8, %r32, %r5; @%p8 bra LOOP;\n" rounds "st.shared.u32 [%r31+" second "], %r1;\n")

static const struct launch row = { { 2 }, { 32 }, 0, 8, 7 };

static void next_to_another_array(void **state)
{
	(void)state;
	expect(TWO(BEGIN_LOOP("255", "224") FEW(WRITES) MANY(WRITES, "128"), "1024"), row, NONE);
	expect(TWO(BEGIN_LOOP("255", "224") FEW(READS) MANY(READS, "128"), "1024"), row, NONE);
	expect(TWO(BEGIN_LOOP("255", "224") ONE_BY_ONE(READS, "64") MANY(READS, "128"), "1024"), row, NONE);
	/* Its last word; and it goes on. */
	expect(TWO(BEGIN_LOOP("255", "224") FEW(WRITES) MANY(WRITES, "128"), "1020"), row, ALL(0, 2 * 32 * 9));
	expect(TWO(BEGIN_LOOP("255", "224") FEW(WRITES) MANY(WRITES, "256"), "1024"), row, ALL(0, 2 * 32 * 13));
	expect(TWO(BEGIN_LOOP("255", "224") ONE_BY_ONE(READS, "64") MANY(READS, "256"), "1024"), row, ALL(2 * 32 * 12, 2 * 32));
	/* The next word is written as soon as it goes on. */
	expect(TWO(BEGIN_LOOP("255", "224") FEW(WRITES) MANY_AND(WRITES, "128", "st.shared.u32 [%r21], %r1;"), "1028"), row, ALL(0, 2 * 32 * 11));
	/* Seven rounds, of which three are left over: how many these are is not known together with where they end. */
	expect(TWO(BEGIN_LOOP("223", "192") FEW(WRITES) MANY(WRITES, "96"), "896"), row, ALL(0, 2 * 32 * 8));
	expect(TWO(BEGIN_LOOP("223", "192") FEW(WRITES) MANY(WRITES, "96"), "1280"), row, NONE);
	expect(TWO(BEGIN_LOOP("223", "192") ONE_BY_ONE(READS, "64") MANY(READS, "96"), "1280"), row, NONE);
	expect(TWO(BEGIN_LOOP("223", "192") ONE_BY_ONE(READS, "768") MANY(READS, "96"), "1280"), row, ALL(2 * 32 * 4, 2 * 32));     /* some may begin far behind */
}

/* ---- random ones ---- */
static struct making { struct ws_buf *b; bool careful; unsigned labels, step, n, wrong; bool writes; } m;

enum wrong { NOTHING, ROUNDS, MASK, ENTERS, ENOUGH, END, STEP, BEGINS, READ_BEHIND, READ_AT_ONCE, OTHER_COUNT, WRONGS };

static bool is_wrong(enum wrong w) { return m.wrong == w; }

static void access(const char *at, unsigned more)
{
	unsigned label = m.labels++;

	if (!below(3))
		ws_buf_printf(m.b, "setp.%s.s32 %%q6, %%t, %u; @%%q6 bra N%u;\n", below(2) ? "lt" : "ge", below(6), label);
	if (m.writes)
		ws_buf_printf(m.b, "st.shared.u32 [%s+%u], %%t;\n", at, more);
	else
		ws_buf_printf(m.b, "ld.shared.u32 %%v, [%s+%u];\n", at, more);
	ws_buf_printf(m.b, "N%u:\n", label);
}

static void few_in_a_loop(void)
{
	ws_buf_puts(m.b, below(2) ? "mov.u32 %i, %t;\n" : "");
	ws_buf_puts(m.b, "FEW: shl.b32 %j1, %i, 2; add.s32 %p1, %s, %j1;\n");
	access("%p1", 0);
	ws_buf_printf(m.b, "add.s32 %%i, %%i, %u; add.s32 %%c, %%c, -1; setp.ne.s32 %%q3, %%c, 0; @%%q3 bra FEW;\n", m.step * (is_wrong(STEP) ? 2 : 1));
}

static void few_one_by_one(void)
{
	for (unsigned k = 0; k < 3; k++) {
		access("%p", 4 * k * m.step);
		if (k < 2)
			ws_buf_printf(m.b, "setp.eq.s32 %%q3, %%c, %u;\n", k + 1 + is_wrong(OTHER_COUNT));
		ws_buf_printf(m.b, "add.s32 %%i, %%t, %u;%s\n", (k + 1) * m.step * (is_wrong(STEP) ? 2 : 1), k < 2 ? " @%q3 bra LEFT;" : "");
	}
}

/* By the index, compared before it goes on or behind that, or by a pointer and a counter. */
static void many(void)
{
	unsigned form = below(4), by = 4 * m.step, more = is_wrong(END) ? m.step * (1 + below(4)) : 0;

	ws_buf_printf(m.b, "add.s32 %%k, %%i, %d; shl.b32 %%j2, %%i, 2; add.s32 %%p2, %%s, %%j2;\n", -(int)by + (is_wrong(BEGINS) ? -(int)m.step : 0));
	ws_buf_puts(m.b, form < 2 ? "MANY: shl.b32 %j3, %i, 2; add.s32 %p3, %s, %j3;\n" : "MANY:\n");
	for (unsigned k = 0; k < 4; k++)
		access(form < 2 ? "%p3" : "%p2", 4 * k * m.step);
	if (form == 0)
		ws_buf_printf(m.b, "add.s32 %%i2, %%i, %u; setp.lt.s32 %%q4, %%i, %d; mov.u32 %%i, %%i2; @%%q4 bra MANY;\n", by, (int)(m.n + more) - (int)by);
	else if (form == 1)
		ws_buf_printf(m.b, "add.s32 %%i, %%i, %u; %s setp.lt.s32 %%q4, %%i, %u; @%%q4 bra MANY;\n", by,
		              is_wrong(READ_AT_ONCE) ? "shl.b32 %j4, %i, 2; add.s32 %p4, %s, %j4; st.shared.u32 [%p4], %t;" : "", m.n + more);
	else if (is_wrong(READ_AT_ONCE))
		ws_buf_printf(m.b, "add.s32 %%p2, %%p2, %u; st.shared.u32 [%%p2], %%t; add.s32 %%k, %%k, %u; setp.lt.s32 %%q4, %%k, %d; @%%q4 bra MANY;\n", 4 * by, by, (int)m.n - (int)by);
	else
		ws_buf_printf(m.b, "add.s32 %%p2, %%p2, %u; add.s32 %%k, %%k, %u; setp.lt.s32 %%q4, %%k, %d; @%%q4 bra MANY;\n", 4 * by * (is_wrong(BEGINS) && below(2) ? 2 : 1), by,
		              (int)(m.n + more) - (int)by);
	if (is_wrong(READ_BEHIND))
		access(form < 2 ? "%p3" : "%p2", 4 * 4 * m.step);
}

static void make_loop(void)
{
	int n = (int)m.n, step = (int)m.step;
	unsigned bits = (unsigned)__builtin_ctz(m.step);

	ws_buf_printf(m.b, "setp.ge.s32 %%q1, %%t, %d; @%%q1 bra DONE;\n", n);
	ws_buf_printf(m.b, "max.s32 %%t1, %%t, %d; add.s32 %%t2, %%t1, %d; sub.s32 %%sp, %%t2, %%t; shr.u32 %%n1, %%sp, %u; add.s32 %%n2, %%n1, %u;\n", n - step, step - 1, bits, 1 + is_wrong(ROUNDS));
	ws_buf_printf(m.b, "and.b32 %%c, %%n2, %u; setp.eq.s32 %%q2, %%c, 0; mov.u32 %%i, %%t;\n", is_wrong(MASK) ? 7 : 3);
	if (!is_wrong(ENTERS))
		ws_buf_puts(m.b, "@%q2 bra LEFT;\n");
	if (below(2) && !is_wrong(ENTERS))
		few_in_a_loop();
	else
		few_one_by_one();
	ws_buf_printf(m.b, "LEFT: setp.lt.u32 %%q5, %%sp, %d; @%%q5 bra DONE;\n", 3 * step - (is_wrong(ENOUGH) ? step : 0));
	many();
	ws_buf_puts(m.b, "DONE:\n");
}

static void make(struct ws_buf *b)
{
	unsigned second;

	m = (struct making){ .b = b, .careful = below(2), .step = 4u << below(3), .writes = below(3) };
	m.wrong = m.careful ? NOTHING : 1 + below(WRONGS - 1);
	m.n = below(2) ? 4 * m.step * (1 + below(3)) : m.step * (1 + below(12)) + below(2) * below(m.step);
	second = m.n + (m.careful ? 1 + below(2) : below(2) * below(5 * m.step)) - below(3) - below(2);
	ws_buf_printf(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n.reg .pred %%q<8>; .reg .b32 %%t, %%s, %%p, %%p1, %%p2, %%p3, %%i, %%i2, %%k, %%c, %%j, %%j1, %%j2, %%j3, %%j4, %%p4, %%t1, %%t2, %%sp, %%n1, %%n2, %%v;\n"
		".shared .align 4 .b8 s[4096]; mov.u32 %%t, %%tid.x; mov.u32 %%s, s; shl.b32 %%j, %%t, 2; add.s32 %%p, %%s, %%j;\n");
	if (below(4) == 0)
		ws_buf_printf(b, "st.shared.u32 [%%p+%u], %%t; %s\n", 4 * second, below(2) ? "bar.sync 0;" : "");
	make_loop();
	ws_buf_printf(b, "%s st.shared.u32 [%%p+%u], %%t;\nret;\n}\n", below(4) ? "" : "bar.sync 0;", 4 * second);
}

static struct sizes any_sizes(void)
{
	return (struct sizes){ 1, { below(3) ? m.step : 1 + below(2 * m.step), 1 }, 1, 1 };
}

static void what_is_left_finds_what_all_find(void **state)
{
	(void)state;
	left_finds_what_all_find(rig_ways(KERNELS, KERNELS / 2), make, any_sizes, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(next_to_another_array), cmocka_unit_test(what_is_left_finds_what_all_find) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
