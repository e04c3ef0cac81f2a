/* test_ranges_named.c - proofs of shared memory that need no addresses, or many: tables that nobody writes to meanwhile, whatever is done to other variables (ranges_named.c);
 * rows whose parts are `(t + 256) / 8` (ranges_split.c); and places that mixed bits give (ranges_value.c). */
#include "ranges_rig.h"

/* table is filled, and read between barriers while own words are written to `own`; %r20, %r22: where they begin; %r21: 4 * tid. */
#define TABLE "{ .shared .b32 table[64]; .shared .b32 own[64]; .shared .b32 other[64]; mov.u32 %r20, table; shl.b32 %r21, %r3, 2; add.s32 %r22, %r20, %r21; st.shared.u32 [%r22], %r3;\n" \
	"mov.u32 %r23, own; add.s32 %r24, %r23, %r21; bar.sync 0;\n"
/* %r25: somewhere in a variable, as data says (it is 0). */
#define ANYWHERE(variable) "mov.u32 %r28, " variable "; ld.global.u32 %r26, [%rd4]; xor.b32 %r27, %r26, 4; mul.lo.s32 %r29, %r27, %r6; add.s32 %r25, %r28, %r29;\n"
#define READ(at) "ld.shared.u32 %r7, [table+" #at "];"
#define READ8(at) READ(at) READ(at) READ(at) READ(at) READ(at) READ(at) READ(at) READ(at)
#define READ64(at) READ8(at) READ8(at) READ8(at) READ8(at) READ8(at) READ8(at) READ8(at) READ8(at)
#define DONE "bar.sync 0; st.global.u32 [%rd5], %r7; }\n"
#define EACH 64

static void tables(void **state)
{
	const struct launch l = { { 2 }, { 64 }, 8192, 128, 0 };
	const uint32_t all = 2 * EACH;

	(void)state;
	/* More reads than there is room for in groups, each of the whole block. */
	expect(KERNEL(OFFSET TABLE "st.shared.u32 [%r24], %r3;\n" READ64(0) READ64(4) READ64(8) READ64(12) READ64(16) READ64(20) DONE), l, NONE);
	/* Somewhere in it; while something is written somewhere in another one: of that alone nothing is known. */
	expect(KERNEL(OFFSET TABLE ANYWHERE("table") "ld.shared.u32 %r7, [%r25]; st.shared.u32 [%r24], %r7;\n" DONE), l, NONE);
	expect(KERNEL(OFFSET TABLE ANYWHERE("own") "st.shared.u32 [%r25], %r3;" READ(8) READ(60) DONE), l, ALL(0, all));
	/* Into it; with an atomic; by an address that is not known to be in a variable. */
	expect(KERNEL(OFFSET TABLE ANYWHERE("table") "st.shared.u32 [%r25], %r3;" READ(8) DONE), l, ALL(all, all));
	expect(KERNEL(OFFSET TABLE ANYWHERE("table") "red.shared.add.u32 [%r25], 1;" READ(8) DONE), l, ((struct checks){ all, 0, all, 0 }));
	expect(KERNEL(OFFSET TABLE ANYWHERE("table") "setp.eq.s32 %p2, %r6, 7; mov.u32 %r30, own; selp.b32 %r31, %r30, %r25, %p2; st.shared.u32 [%r31], %r3;" READ(8) DONE), l, ALL(all, all));
	/* It is written in the interval before, and no barrier is between. */
	expect(KERNEL(OFFSET TABLE ANYWHERE("own") "st.shared.u32 [%r22], 7; st.shared.u32 [%r25], %r3;" READ(8) DONE), l, ALL(all, 3 * all));
	expect(KERNEL(OFFSET TABLE ANYWHERE("own") "st.shared.u32 [%r25], %r3;" READ(8) "st.shared.u32 [%r22], 7;" DONE), l, ALL(all, 3 * all));
	expect(KERNEL(OFFSET TABLE ANYWHERE("own") "st.shared.u32 [%r25], %r3;" READ(8) "bar.sync 0; st.shared.u32 [%r22], 7;" DONE), l, ALL(0, all));
}

/* Four rows of 8 for each thread, (t + 64 * k) / 8 and % 8, by signed shifts as compilers have them: words of a tile. */
#define ROW(k, more, pitch) "add.s32 %x" #k "0, %r3, " #more "; shr.s32 %x" #k "1, %x" #k "0, 31; shr.u32 %x" #k "2, %x" #k "1, 29; add.s32 %x" #k "3, %x" #k "0, %x" #k "2;\n" \
	"shr.s32 %x" #k "4, %x" #k "3, 3; and.b32 %x" #k "5, %x" #k "3, -8; sub.s32 %x" #k "6, %x" #k "0, %x" #k "5; mad.lo.s32 %x" #k "7, %x" #k "6, " #pitch ", %x" #k "4;\n" \
	"shl.b32 %x" #k "8, %x" #k "7, 2; add.s32 %x" #k "9, %r20, %x" #k "8; st.shared.u32 [%x" #k "9], %r3;\n"
#define TILE(a, b, c, pitch) KERNEL(OFFSET "{ .reg .b32 %x<50>; .shared .b32 tile[512]; mov.u32 %r20, tile;\n" ROW(1, 0, pitch) ROW(2, a, pitch) ROW(3, b, pitch) ROW(4, c, pitch) \
	"bar.sync 0; st.global.u32 [%rd5], %r3; }\n")

static void rows_in_turn(void **state)
{
	const struct launch l = { { 2 }, { 64 }, 8192, 128, 0 }, more = { { 2 }, { 72 }, 8192, 144, 0 };

	(void)state;
	expect(TILE(64, 128, 192, 33), l, NONE);
	expect(TILE(64, 128, 192, 32), l, NONE);
	expect(TILE(64, 128, 192, 31), l, ALL(0, 512));              /* columns meet */
	expect(TILE(64, 128, 184, 33), l, ALL(0, 512));              /* rows do */
	expect(TILE(64, 128, 192, 33), more, ALL(0, 576));           /* more threads than that are for */
}

/* x = x ^ x >> 15, x = x * odd, and again: 2 * 30 times. Each is read twice, and nothing is known of any. */

static struct ws_buf mixing(unsigned rounds, const char *behind)
{
	struct ws_buf out = { 0 };

	ws_buf_puts(&out, PTX_HEAD BEGIN OFFSET "{ .reg .b32 %x<200>; .shared .b32 s[512]; mov.u32 %r8, 0; mov.u32 %r10, s; shl.b32 %r14, %r3, 2; add.s32 %r15, %r14, %r10;\n"
	            "L: ld.global.u32 %r9, [%rd4]; add.u32 %x0, %r9, %r8;\n");
	for (unsigned k = 0; k < 3 * rounds; k += 3)
		ws_buf_printf(&out, "shr.u32 %%x%u, %%x%u, 15; xor.b32 %%x%u, %%x%u, %%x%u; mul.lo.s32 %%x%u, %%x%u, 2146121005;\n", k + 1, k, k + 2, k + 1, k, k + 3, k + 2);
	ws_buf_printf(&out, "and.b32 %%r11, %%x%u, 63; shl.b32 %%r12, %%r11, 2; add.s32 %%r13, %%r12, %%r10; ld.shared.u32 %%r7, [%%r13]; %s\n"
	              "bar.sync 0; add.s32 %%r8, %%r8, 1; setp.lt.s32 %%p1, %%r8, 2; @%%p1 bra L; st.global.u32 [%%rd5], %%r7; }\nret;\n}\n", 3 * rounds, behind);
	return out;
}

static void mixed_bits(void **state)
{
	const struct launch l = { { 1 }, { 64 }, 8192, 64, 0 };

	(void)state;
	for (unsigned rounds = 1; rounds <= 25; rounds += 24) {
		struct ws_buf apart = mixing(rounds, "st.shared.u32 [%r15+256], %r3;"), together = mixing(rounds, "st.shared.u32 [%r15+252], %r3;");

		expect(apart.data, l, NONE);                         /* the first 64 words are read, the next are written */
		expect(together.data, l, ALL(128, 128));
		ws_buf_free(&apart);
		ws_buf_free(&together);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tables), cmocka_unit_test(rows_in_turn), cmocka_unit_test(mixed_bits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
