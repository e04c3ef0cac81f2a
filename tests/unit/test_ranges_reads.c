/* test_ranges_reads.c - proofs of what a thread reads of words of its own, where others may read what it writes there. */
#include "left_finds.h"
#include "ranges_rig.h"

enum { KERNELS = 150, MOST = 12 };

/* A thread's word is at %r30; %r31 is a place that data says; in each of %r5 rounds is `body`, and a barrier. */
#define ROUNDS(body) KERNEL(".shared .align 4 .b8 s[1024]; mov.u32 %r20, s; mad.lo.s32 %r30, %r3, 4, %r20; ld.global.u32 %r21, [%rd1]; and.b32 %r22, %r21, 63; mad.lo.s32 %r31, %r22, 4, %r20; mov.u32 %r32, 0;\n" \
	"LOOP: " body "bar.sync 0; add.s32 %r32, %r32, 1; setp.lt.s32 %p1, %r32, %r5; @%p1 bra LOOP;\n")
#define OWN "ld.shared.u32 %r10, [%r30];\n"
#define THEIRS "ld.shared.u32 %r11, [%r31];\n"
#define IF_LESS "setp.lt.s32 %p2, %r11, %r10; @%p2 st.shared.u32 [%r30], %r11;\n"

static const struct launch threads = { { 2 }, { 64 }, 0, 8, 0 };

static void own_words(void **state)
{
	(void)state;
	/* Written where it makes a difference: the write and the read of others meet, and are checked. */
	expect(ROUNDS(OWN THEIRS IF_LESS), threads, ALL(2 * 64 * 8, 0));
	expect(ROUNDS(OWN THEIRS "st.shared.u32 [%r30], %r10;\n"), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
}

static void words_of_others(void **state)
{
	(void)state;
	/* Of the next thread. */
	expect(ROUNDS("ld.shared.u32 %r10, [%r30+4];\n" THEIRS IF_LESS), threads, ALL(2 * 2 * 64 * 8, 0));
	/* Others write anywhere. */
	expect(ROUNDS(OWN THEIRS IF_LESS "st.shared.u32 [%r31], %r10;\n"), threads, ALL(2 * 64 * 8, 2 * 64 * 8));          /* whose check is one of their read */
	/* Two threads have one word. */
	expect(ROUNDS("shr.u32 %r12, %r3, 1; mad.lo.s32 %r13, %r12, 4, %r20; ld.shared.u32 %r10, [%r13];\n" THEIRS "setp.lt.s32 %p2, %r11, %r10; @%p2 st.shared.u32 [%r13], %r11;\n"), threads,
	       ALL(2 * 2 * 64 * 8, 0));
}

/* ---- random ones ---- */
static void add_access(struct ws_buf *b, int row, unsigned n)
{
	static const char *const compares[] = { "lt", "lt", "gt", "ge", "ne", "eq" };
	bool some = !below(3), write = !below(3);
	const int offsets[] = { 0, 0, 0, 4, row, -row, 512 };

	if (some)
		ws_buf_printf(b, "setp.%s.s32 %%q2, %s, %%%s; @%%q2 bra NEXT%u;\n", ONE_OF(compares), below(2) ? "%t" : "%k", below(2) ? "d" : "w", n);
	if (!below(3))                   /* anywhere */
		ws_buf_puts(b, below(5) ? "ld.shared.u32 %v, [%e];\n" : "st.shared.u32 [%e], %t;\n");
	else
		ws_buf_printf(b, write ? "st.shared.u32 [%%p+%d], %%t;\n" : "ld.shared.u32 %%v, [%%p+%d];\n", 512 + ONE_OF(offsets) * (below(4) ? 0 : 1));
	if (some)
		ws_buf_printf(b, "NEXT%u:\n", n);
}

static void make(struct ws_buf *b)
{
	static const int rows[] = { 4, 4, 8, 12, -4 };
	int row = ONE_OF(rows);
	unsigned items = 2 + below(5);

	ws_buf_printf(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n.reg .pred %%q<4>; .reg .b64 %%ad; .reg .b32 %%t, %%n, %%w, %%d, %%e, %%k, %%p, %%v, %%s; .shared .align 4 .b8 s[2048];\n"
		"ld.param.u32 %%n, [n]; ld.param.u32 %%w, [w]; ld.param.u64 %%ad, [a]; ld.global.u32 %%d, [%%ad]; and.b32 %%d, %%d, 7; mov.u32 %%t, %%tid.x; mov.u32 %%s, s; mov.u32 %%v, 0; mad.lo.s32 %%p, %%t, %d, %%s; mad.lo.s32 %%e, %%d, 4, %%s; add.s32 %%e, %%e, 512; mov.u32 %%k, 0;\nLOOP:\n", row);
	for (unsigned k = 0; k < items; k++) {
		add_access(b, row, k);
		if (!below(4))
			ws_buf_puts(b, "bar.sync 0;\n");
	}
	ws_buf_printf(b, "%sadd.s32 %%k, %%k, 1; setp.lt.s32 %%q1, %%k, %%n; @%%q1 bra LOOP;\nret;\n}\n", below(4) ? "bar.sync 0;\n" : "");
}

static struct sizes any_sizes(void) { return (struct sizes){ 1 + below(2), { 1 + below(MOST), 1 }, 1 + below(3), below(4) }; }

static void what_is_left_finds_what_all_find(void **state)
{
	(void)state;
	left_finds_what_all_find(KERNELS, make, any_sizes, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(own_words), cmocka_unit_test(words_of_others), cmocka_unit_test(what_is_left_finds_what_all_find) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
