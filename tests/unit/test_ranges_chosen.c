/* test_ranges_chosen.c - proofs of words of shared memory that lie before what data chooses: centres before the sums of what is nearest (ranges_chosen.c). Kernels that
 * show one thing each, and random ones against the pass without proofs. */
#include "left_finds.h"
#include "numbered.h"
#include "ranges_rig.h"

enum { KERNELS = 220 };

/* Each thread reads its own word and one of the first `n` words in each round, and adds to one behind 256 bytes that data chooses of the rounds. */
#define CHOOSES(begin, candidate, factor, behind) KERNEL(OFFSET "{ .shared .align 8 .b8 s[4096]; mov.u32 %r20, s; ld.global.u32 %r26, [%rd4]; mov.u32 %r30, " begin "; mov.u32 %r31, 0;\n" \
	"LOOP: shl.b32 %r21, %r31, 2; add.s32 %r22, %r20, %r21; ld.shared.u32 %r7, [%r22]; setp.ne.u32 %p2, %r7, %r26; selp.b32 %r29, " candidate ", %r30, %p2; mov.u32 %r30, %r29;\n" \
	"add.s32 %r31, %r31, 1; setp.lt.s32 %p3, %r31, %r5; @%p3 bra LOOP;\n" \
	"mul.lo.s32 %r23, %r30, " factor "; add.s32 %r24, %r20, %r23; red.shared.add.u32 [%r24+" behind "], 1; st.global.u32 [%rd5], %r30; }\n")
/* Two blocks of 64 threads and four rounds; first launches of the words' values are data, too: they are 0. */
static const struct launch usual = { { 2 }, { 64 }, 8192, 4, 0 }, farther = { { 2 }, { 64 }, 8192, 65, 0 };
#define READS(rounds) { 2 * 64 * (rounds), 0, 2 * 64, 1 }

static void what_lies_before(void **state)
{
	(void)state;
	expect(CHOOSES("0", "%r31", "4", "256"), usual, NONE);
	expect(CHOOSES("0", "%r31", "48", "256"), usual, NONE);
	expect(CHOOSES("7", "%r31", "48", "256"), usual, NONE);
	expect(CHOOSES("0", "3", "48", "256"), usual, NONE);
	/* The last word that is read is the first one that may be added to. */
	expect(CHOOSES("0", "%r31", "4", "256"), farther, ((struct checks)READS(65)));
	expect(CHOOSES("0", "%r31", "4", "12"), usual, ((struct checks)READS(4)));
	/* It may be negative, or anything; it goes far, so that it may wrap. */
	expect(CHOOSES("-1", "%r31", "4", "256"), usual, ((struct checks)READS(4)));
	expect(CHOOSES("0", "%r26", "4", "256"), usual, ((struct checks)READS(4)));
	expect(CHOOSES("0", "%r31", "-4", "256"), usual, ((struct checks)READS(4)));
	expect(CHOOSES("0", "%r31", "4096", "256"), usual, ((struct checks)READS(4)));
}

/* ---- random ones ---- */
/* %c, of the thread's index, of rounds, of a parameter, of numbers; %d is data. */
static void choose(struct ws_buf *b, unsigned k)
{
	static const char *const begins[] = { "mov.u32 %c#, 0;\n", "mov.u32 %c#, 0;\n", "mov.u32 %c#, 3;\n", "mov.u32 %c#, %t;\n", "mov.u32 %c#, -1;\n" };
	static const char *const candidates[] = { "%t", "%k", "%k", "5", "%n", "0", "%m", "-1" };
	static const char *const conditions[] = { "setp.gt.u32 %b, %d, 1;", "setp.eq.u32 %b, %d, 0;", "setp.gt.u32 %b, %d, %k;" };
	bool loop = below(2);

	numbered(b, k, ONE_OF(begins));
	ws_buf_puts(b, "mov.u32 %k, 0;\n");
	if (loop)
		numbered(b, k, "L#:\n");
	for (unsigned n = 1 + below(2); n--;) {
		numbered(b, k, ONE_OF(conditions));
		numbered(b, k, " selp.b32 %c#, ");
		numbered(b, k, below(5) ? candidates[below(5)] : ONE_OF(candidates));
		numbered(b, k, ", %c#, %b;\n");
	}
	if (loop)
		numbered(b, k, "add.s32 %k, %k, 1; setp.lt.s32 %b, %k, 3; @%b bra L#;\n");
}

/* With atomics: by the first warp, and all else by the others, for who has come to an atomic may have seen what others did before theirs. */
static bool atomics;

/* At what is chosen, from some word on. */
static void chosen_access(struct ws_buf *b, unsigned k)
{
	static const struct { const char *begin, *end; } accesses[] = { { "@%f1 red.shared.add.u32 [%p#", "], 1;\n" }, { "@!%f1 st.shared.u32 [%p#", "], %t;\n" }, { "@!%f1 ld.shared.u32 %v, [%p#", "];\n" } };
	const unsigned from[] = { 256, 256, 252, 64, 512, 260 }, factors[] = { 4, 4, 8, 20 };
	unsigned at, which;

	choose(b, k);
	ws_buf_printf(b, "mad.lo.s32 %%p%u, %%c%u, %u, %%s;\n", k, k, ONE_OF(factors));
	at = ONE_OF(from);
	which = atomics && below(4) ? 0 : 1 + below(2);
	numbered(b, k, accesses[which].begin);
	ws_buf_printf(b, "+%u%s", at, accesses[which].end);
}

/* At the thread's own word, or that of the next one, or one that all have. */
static void own_access(struct ws_buf *b, unsigned k)
{
	static const char *const accesses[] = { "@!%f1 ld.shared.u32 %v, [%a];\n", "@!%f1 ld.shared.u32 %v, [%a];\n", "@!%f1 ld.shared.u32 %v, [%a+4];\n", "@!%f1 st.shared.u32 [%a], %t;\n",
		"@!%f1 ld.shared.u32 %v, [%s+128];\n", "@!%f1 st.shared.u32 [%a+256], %t;\n" };

	numbered(b, k, ONE_OF(accesses));
}

static void make(struct ws_buf *b)
{
	unsigned n = 2 + below(3);

	atomics = below(3);
	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
	            ".reg .pred %b, %f1; .reg .b32 %t, %s, %d, %v, %x, %k, %n, %m, %a, %o, %c<9>, %p<9>; .reg .b64 %g, %g1, %g2, %y;\n"
	            ".shared .align 8 .b8 s[4096]; mov.u32 %s, s; mov.u32 %t, %tid.x; ld.param.u64 %g, [a]; ld.param.u32 %n, [n]; cvta.to.global.u64 %g1, %g;\n"
	            "and.b32 %x, %t, 15; mul.wide.u32 %y, %x, 4; add.s64 %g2, %g1, %y; ld.global.u32 %d, [%g2]; shl.b32 %o, %t, 2; add.s32 %a, %s, %o; add.s32 %m, %t, -1;\n");
	ws_buf_puts(b, atomics ? "setp.lt.u32 %f1, %t, 32;\n" : "setp.ne.u32 %f1, 0, 0;\n");
	for (unsigned k = 0; k < n; k++) {
		if (below(2))
			chosen_access(b, k);
		else
			own_access(b, k);
		if (below(4) == 0)
			ws_buf_puts(b, "bar.sync 0;\n");
	}
	ws_buf_puts(b, "ret;\n}\n");
}

static struct sizes any_sizes(void)
{
	static const uint32_t threads[] = { 8, 16, 32, 33, 64, 64, 65 }, numbers[] = { 0, 1, 7, 64 };

	return (struct sizes){ 1, { ONE_OF(threads), 1 }, ONE_OF(numbers), 1 };
}

static void what_is_left_finds_what_all_find(void **state)
{
	(void)state;
	left_finds_what_all_find(rig_ways(KERNELS, KERNELS / 2), make, any_sizes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_lies_before), cmocka_unit_test(what_is_left_finds_what_all_find) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
