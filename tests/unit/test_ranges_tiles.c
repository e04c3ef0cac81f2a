/* test_ranges_tiles.c - proofs of tiles that threads load by one index in turn: `for (i = thread; i < W * H; i += THREADS) s[i / W][i % W] = x`, in loops of
 * which nobody counts the rounds. */
#include "left_finds.h"
#include "ranges_rig.h"

enum { KERNELS = 90, BYTES = 4096 };     /* of the tile: what the rig has cells for */

/* Rows of 8 words in 9, by i = %r30, which goes on by `step` until it is 64 or more; %r31: what it is written by. */
#define ROW_AND_COLUMN "shr.s32 %r24, %r30, 31; shr.u32 %r25, %r24, 29; add.s32 %r26, %r30, %r25; shr.s32 %r27, %r26, 3; and.b32 %r28, %r26, -8; sub.s32 %r29, %r30, %r28;\n" \
	"mad.lo.s32 %r31, %r27, 9, %r29; shl.b32 %r32, %r31, 2; add.s32 %r33, %r20, %r32;\n"
#define TILE(begin, step) KERNEL(".shared .align 4 .b8 s[1152]; mov.u32 %r34, s; add.s32 %r20, %r34, 256; ld.global.u32 %r35, [%rd1];\n" begin "mov.u32 %r30, %r36;\n" \
	"LOOP: " ROW_AND_COLUMN "st.shared.u32 [%r33], %r3; add.s32 %r30, %r30, " step "; add.s32 %r35, %r35, -1; setp.gt.s32 %p1, %r35, 0; @%p1 bra LOOP;\n")

/* The same by a register that begins a step before, in masks without the bits that the shift drops. */
#define TILE_AHEAD(begin, step, at) KERNEL(".shared .align 4 .b8 s[1152]; mov.u32 %r34, s; add.s32 %r20, %r34, 256; ld.global.u32 %r35, [%rd1];\n" begin "add.s32 %r30, %r36, -32;\n" \
	"LOOP: add.s32 %r30, %r30, " step "; shr.s32 %r24, %r30, 31; shr.u32 %r25, %r24, 29; add.s32 %r26, %r30, %r25; shr.s32 %r27, %r26, 3; and.b32 %r28, %r26, 1073741816; sub.s32 %r29, %r30, %r28;\n" \
	"mad.lo.s32 %r31, %r27, 9, %r29; shl.b32 %r32, %r31, 2; add.s32 %r33, %r20, %r32; st.shared.u32 [%r33], %r3; " at " add.s32 %r35, %r35, -1; setp.gt.s32 %p1, %r35, 0; @%p1 bra LOOP;\n")

static void tiles_by_one_index(void **state)
{
	(void)state;
	expect(TILE_AHEAD("mov.u32 %r36, %r3;", "32", ""), (struct launch){ { 2 }, { 32 }, 0, 0, 0 }, NONE);
	expect(TILE_AHEAD("mov.u32 %r36, %r3;", "32", ""), (struct launch){ { 1 }, { 40 }, 0, 0, 0 }, ALL(0, 40));
	/* Half a step, after which it may be below 0; and a second step in each round. */
	expect(TILE_AHEAD("mov.u32 %r36, %r3;", "16", ""), (struct launch){ { 1 }, { 8 }, 0, 0, 0 }, ALL(0, 8));
	expect(TILE_AHEAD("mov.u32 %r36, %r3;", "32", "add.s32 %r30, %r30, 32;"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, ALL(0, 32));
	expect(TILE("mov.u32 %r36, %r3;", "32"), (struct launch){ { 2 }, { 32 }, 0, 0, 0 }, NONE);
	expect(TILE("mov.u32 %r36, %r3;", "32"), (struct launch){ { 2 }, { 20 }, 0, 0, 0 }, NONE);
	expect(TILE("mov.u32 %r11, %tid.y; mad.lo.s32 %r36, %r11, 16, %r3;", "32"), (struct launch){ { 1 }, { 16, 2 }, 0, 0, 0 }, NONE);
	/* More threads than the step has. */
	expect(TILE("mov.u32 %r36, %r3;", "32"), (struct launch){ { 1 }, { 40 }, 0, 0, 0 }, ALL(0, 40));
	expect(TILE("mov.u32 %r11, %tid.y; mad.lo.s32 %r36, %r11, 16, %r3;", "32"), (struct launch){ { 1 }, { 17, 2 }, 0, 0, 0 }, ALL(0, 34));
	/* Two threads for each. */
	expect(TILE("shr.u32 %r36, %r3, 1;", "16"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, ALL(0, 32));
	/* It goes down, or may be below 0: rounded towards 0 that is another row. */
	expect(TILE("add.s32 %r36, %r3, 64;", "-32"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, ALL(0, 32));
	expect(TILE("add.s32 %r36, %r3, -8;", "32"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, ALL(0, 32));
}

/* Rows of 10 words in 12, or in 10, which is the index itself. 1717986919 * 10 is 2^34 and 6. */
#define ROWS(product, shift, pitch, step) KERNEL(".shared .align 4 .b8 s[2048]; mov.u32 %r20, s; ld.global.u32 %r35, [%rd1]; mov.u32 %r30, %r3;\n" \
	"LOOP: mul.hi.s32 %r24, %r30, " product "; shr.u32 %r25, %r24, 31; shr.s32 %r26, %r24, " shift "; add.s32 %r27, %r26, %r25; mul.lo.s32 %r28, %r27, 10; sub.s32 %r29, %r30, %r28;\n" \
	"mad.lo.s32 %r31, %r27, " pitch ", %r29; shl.b32 %r32, %r31, 2; add.s32 %r33, %r20, %r32; st.shared.u32 [%r33], %r3; add.s32 %r30, %r30, " step "; add.s32 %r35, %r35, -1; setp.gt.s32 %p1, %r35, 0; @%p1 bra LOOP;\n")

/* The same by a product of 64 bits. 3435973837 * 10 is 2^35 and 2. */
#define ROWS64(product, shift, pitch) KERNEL(".reg .b64 %z<3>; .shared .align 4 .b8 s[2048]; mov.u32 %r20, s; ld.global.u32 %r35, [%rd1]; mov.u32 %r30, %r3;\n" \
	"LOOP: mul.wide.u32 %z1, %r30, " product "; shr.u64 %z2, %z1, " shift "; cvt.u32.u64 %r27, %z2; mul.lo.s32 %r28, %r27, 10; sub.s32 %r29, %r30, %r28;\n" \
	"mad.lo.s32 %r31, %r27, " pitch ", %r29; shl.b32 %r32, %r31, 2; add.s32 %r33, %r20, %r32; st.shared.u32 [%r33], %r3; add.s32 %r30, %r30, 32; add.s32 %r35, %r35, -1; setp.gt.s32 %p1, %r35, 0; @%p1 bra LOOP;\n")

static void rows_that_are_no_power_of_two(void **state)
{
	(void)state;
	expect(ROWS64("-858993459", "35", "12"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, NONE);
	expect(ROWS64("-858993459", "35", "9"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, ALL(0, 32));
	expect(ROWS64("-858990000", "35", "12"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, ALL(0, 32));
	expect(ROWS("1717986919", "2", "10", "32"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, NONE);
	expect(ROWS("1717986919", "2", "12", "32"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, NONE);
	expect(ROWS("1717986919", "2", "12", "32"), (struct launch){ { 1 }, { 33 }, 0, 0, 0 }, ALL(0, 33));
	/* Rows that overlap; and what divides by no number for all indices. */
	expect(ROWS("1717986919", "2", "9", "32"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, ALL(0, 32));
	expect(ROWS("1717980000", "2", "12", "32"), (struct launch){ { 1 }, { 32 }, 0, 0, 0 }, ALL(0, 32));
}

/* ---- random ones ---- */
struct tile { unsigned width, pitch, step, n; bool is_signed, power, product, all, narrow, ahead; };
/* n: accesses so far; product: a division is one, all: of 64 bits; narrow: masks lack the bits that a shift drops; ahead: the first loop begins a step early */

/* As compilers divide by a number. */
static void print_product(struct ws_buf *b, const struct tile *t, const char *i, unsigned n)
{
	unsigned k = (unsigned)(31 - __builtin_clz(t->width)) - t->is_signed, bits = 32 + k;
	unsigned long long m = ((1ull << bits) + t->width - 1) / t->width;

	if (t->is_signed)
		ws_buf_printf(b, "mul.hi.s32 %%u%u, %%%s, %llu; shr.u32 %%e%u, %%u%u, 31; shr.s32 %%f%u, %%u%u, %u; add.s32 %%q%u, %%f%u, %%e%u;\n", n, i, m, n, n, n, n, k, n, n, n);
	else if (t->all)
		ws_buf_printf(b, "mul.wide.u32 %%wu%u, %%%s, %llu; shr.u64 %%ws%u, %%wu%u, %u; cvt.u32.u64 %%q%u, %%ws%u;\n", n, i, m, n, n, k + 32, n, n);
	else
		ws_buf_printf(b, "mul.hi.u32 %%u%u, %%%s, %llu; shr.u32 %%q%u, %%u%u, %u;\n", n, i, m, n, n, k);
	ws_buf_printf(b, "mul.lo.s32 %%g%u, %%q%u, %u; sub.s32 %%c%u, %%%s, %%g%u;\n", n, n, t->width, n, i, n);
}

/* The place of an index in the tile, in %aN; each register is set once, as compilers have it. */
static void place(struct ws_buf *b, const struct tile *t, const char *i, unsigned n)
{
	unsigned shift = (unsigned)__builtin_ctz(t->width);

	if (!t->power && t->product)
		print_product(b, t, i, n);
	else if (!t->power)
		ws_buf_printf(b, "div.%s32 %%q%u, %%%s, %u; mul.lo.s32 %%u%u, %%q%u, %u; sub.s32 %%c%u, %%%s, %%u%u;\n", t->is_signed ? "s" : "u", n, i, t->width, n, n, t->width, n, i, n);
	else if (t->is_signed)
		ws_buf_printf(b, "shr.s32 %%u%u, %%%s, 31; shr.u32 %%e%u, %%u%u, %u; add.s32 %%f%u, %%%s, %%e%u; shr.s32 %%q%u, %%f%u, %u; and.b32 %%g%u, %%f%u, %d; sub.s32 %%c%u, %%%s, %%g%u;\n",
		              n, i, n, n, 32 - shift, n, i, n, n, n, shift, n, n, (t->narrow ? 1 << 30 : 0) - (int)t->width, n, i, n);
	else
		ws_buf_printf(b, "shr.u32 %%q%u, %%%s, %u; and.b32 %%c%u, %%%s, %u;\n", n, i, shift, n, i, t->width - 1);
	ws_buf_printf(b, "mad.lo.s32 %%h%u, %%q%u, %u, %%c%u; shl.b32 %%l%u, %%h%u, 2; add.s32 %%a%u, %%s, %%l%u;\n", n, n, t->pitch, n, n, n, n, n);
}

static void access(struct ws_buf *b, bool write, unsigned n, unsigned offset)
{
	if (write)
		ws_buf_printf(b, "st.shared.u32 [%%a%u+%u], %%t;\n", n, offset);
	else
		ws_buf_printf(b, "ld.shared.u32 %%v, [%%a%u+%u];\n", n, offset);
}

/* A loop of `by` old rounds in one, which data ends; the index is copied to a register that goes on. */
static void add_loop(struct ws_buf *b, struct tile *t, unsigned number, unsigned by, bool write)
{
	bool ahead = t->ahead && !number;

	ws_buf_printf(b, "mov.u32 %%k, 0;\nLOOP%u:\n", number);
	if (ahead)
		ws_buf_printf(b, "add.s32 %%i, %%i, %u;\n", t->step);
	for (unsigned k = 0; k < by; k++) {
		char index[12] = "i";

		if (k) {
			snprintf(index, sizeof index, "j%u", t->n);
			ws_buf_printf(b, "add.s32 %%%s, %%i, %u;\n", index, k * t->step);
		}
		place(b, t, index, t->n);
		access(b, write, t->n++, !below(12) ? 4 : 0);
	}
	if (!ahead && below(2))
		ws_buf_printf(b, "add.s32 %%i, %%i, %u;\n", by * t->step);
	else if (!ahead)
		ws_buf_printf(b, "add.s32 %%o%u, %%i, %u; mov.u32 %%i, %%o%u;\n", number, by * t->step, number);
	ws_buf_printf(b, "add.s32 %%k, %%k, 1; setp.lt.s32 %%p, %%k, %%d; @%%p bra LOOP%u;\n", number);
}

static void make(struct ws_buf *b)
{
	static const unsigned widths[] = { 4, 8, 8, 16, 6, 10, 10, 18 }, steps[] = { 16, 16, 32, 24, 12, 20 };
	static const char *const begins[] = { "mov.u32 %x, %t;\n", "mov.u32 %x, %t;\n", "mad.lo.s32 %x, %ty, 8, %t;\n", "shr.u32 %x, %t, 1;\n", "add.s32 %x, %t, 3;\n", "mul.lo.s32 %x, %t, 3;\n" };
	struct tile t = { .width = ONE_OF(widths), .step = ONE_OF(steps), .is_signed = below(2) };
	bool twice = below(2), again = below(2);

	t.pitch = t.width + (below(3) ? 1 : below(3));
	t.power = !(t.width & (t.width - 1));
	t.product = below(4);
	t.all = below(2);
	t.narrow = below(2);
	t.ahead = below(3) == 0;
	ws_buf_printf(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n.reg .pred %%p; .reg .b64 %%ad, %%wu<9>, %%ws<9>; .reg .b32 %%t, %%ty, %%x, %%i, %%k, %%d0, %%d, %%v, %%s, %%a<9>, %%c<9>, %%e<9>, %%f<9>, %%g<9>, %%h<9>, %%j<9>, %%l<9>, %%o<9>, %%q<9>, %%u<9>;\n"
		".shared .align 4 .b8 s[%u]; ld.param.u64 %%ad, [a]; ld.global.u32 %%d0, [%%ad]; add.s32 %%d, %%d0, 1; mov.u32 %%t, %%tid.x; mov.u32 %%ty, %%tid.y; mov.u32 %%s, s;\n", BYTES);
	ws_buf_puts(b, ONE_OF(begins));
	if (t.ahead)
		ws_buf_printf(b, "add.s32 %%i, %%x, -%u;\n", t.step);
	else
		ws_buf_puts(b, "mov.u32 %i, %x;\n");
	add_loop(b, &t, 0, 1, true);
	if (twice && !t.ahead)
		add_loop(b, &t, 1, 2, true);
	if (again && !t.ahead) {
		if (below(2))
			ws_buf_puts(b, "bar.sync 0;\n");
		if (below(2))
			ws_buf_puts(b, "mov.u32 %i, %x;\n");
		add_loop(b, &t, 2, 1 + below(2), below(3));
	}
	ws_buf_puts(b, "ret;\n}\n");
}

static struct sizes any_sizes(void)
{
	return (struct sizes){ 1 + below(2), { 1 + below(24), 1 + !below(3) }, 0, 0 };
}

static void what_is_left_finds_what_all_find(void **state)
{
	(void)state;
	left_finds_what_all_find(KERNELS, make, any_sizes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_by_one_index), cmocka_unit_test(rows_that_are_no_power_of_two), cmocka_unit_test(what_is_left_finds_what_all_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
