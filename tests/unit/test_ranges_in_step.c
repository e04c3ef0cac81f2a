/* test_ranges_in_step.c - proofs of wavefronts: places that go on with the rounds of a loop, as far in all threads as there is a barrier in each. */
#include "left_finds.h"
#include "ranges_rig.h"

enum { KERNELS = 90, MIDDLE = 2048, MOST = 5 };     /* of the block's variable, for which the rig has cells, and threads */

/* 16 rows of 65 words and more, row `thread` from word `thread` less the round on: a thread's place is 256 t + 4 round. `rounds` sets %r24; `body` is at
 * %r30. */
#define WAVES(rounds, body, step) KERNEL(".shared .align 4 .b8 s[16384]; .shared .align 4 .b8 many[8]; mov.u32 %r20, s; mov.u32 %r21, many; mad.lo.s32 %r30, %r3, 256, %r20; mov.u32 %r31, 0;\n" rounds \
	"LOOP: " body step " add.s32 %r31, %r31, 1; setp.lt.s32 %p1, %r31, %r24; @%p1 bra LOOP;\n")
#define UP_AND_LEFT "ld.shared.u32 %r25, [%r30]; ld.shared.u32 %r26, [%r30+256]; st.shared.u32 [%r30+260], %r25;\n"
#define ON "add.s32 %r30, %r30, 4;"
#define BARRIER "bar.sync 0;\n"

static const struct launch sixteen = { { 2 }, { 16 }, 0, 8, 0 };

static void rounds_of_a_wavefront(void **state)
{
	(void)state;
	expect(WAVES("mov.u32 %r24, %r5;", UP_AND_LEFT BARRIER, ON), sixteen, NONE);
	expect(WAVES("mov.u32 %r24, %r5;", UP_AND_LEFT, ON BARRIER), sixteen, NONE);
	/* As many as data says, which is the same for all; of the block's own, behind a barrier. */
	expect(WAVES("ld.global.u32 %r24, [%rd1];", UP_AND_LEFT BARRIER, ON), sixteen, NONE);
	expect(WAVES("st.shared.u32 [%r21], %r5; bar.sync 0; ld.shared.u32 %r24, [%r21];", UP_AND_LEFT BARRIER, ON), (struct launch){ { 1 }, { 1 }, 0, 8, 0 }, NONE);
}

static void what_threads_do_not_share(void **state)
{
	(void)state;
	/* The next thread's word of the same round. */
	expect(WAVES("mov.u32 %r24, %r5;", UP_AND_LEFT "ld.shared.u32 %r27, [%r30+516];" BARRIER, ON), sixteen, ALL(2 * 16 * 8 * 3, 2 * 16 * 8));
	/* No barrier in a round. */
	expect(WAVES("mov.u32 %r24, %r5;", UP_AND_LEFT, ON), sixteen, ALL(2 * 16 * 8 * 2, 2 * 16 * 8));
	/* It is further in the second of two accesses. */
	expect(WAVES("mov.u32 %r24, %r5;", "ld.shared.u32 %r25, [%r30];" ON "st.shared.u32 [%r30+260], %r25;" BARRIER, ""), sixteen, ALL(2 * 16 * 8, 2 * 16 * 8));
	/* Some threads go on, and others do not. */
	expect(WAVES("mov.u32 %r24, %r5; and.b32 %r27, %r3, 1; setp.eq.s32 %p2, %r27, 0;", UP_AND_LEFT BARRIER, "@%p2 " ON), sixteen, ALL(2 * 16 * 8 * 2, 2 * 16 * 8));
	expect(WAVES("mov.u32 %r24, %r5; and.b32 %r27, %r3, 1; setp.eq.s32 %p2, %r27, 0;", UP_AND_LEFT BARRIER, "@%p2 bra NOT; " ON "NOT:"), sixteen, ALL(2 * 16 * 8 * 2, 2 * 16 * 8));
	/* What it was one round ago. */
	expect(WAVES("mov.u32 %r24, %r5; mov.u32 %r28, %r30;", "ld.shared.u32 %r25, [%r28]; st.shared.u32 [%r30+260], %r25; mov.u32 %r28, %r30;" BARRIER, ON), sixteen, ALL(2 * 16 * 8, 2 * 16 * 8));
}

/* The first warp has two barriers in a round where the second one has one: it is in another round. */
static void barriers_of_some_warps(void **state)
{
	#define ROWS(more) KERNEL(".shared .align 4 .b8 s[16384]; mov.u32 %r20, s; mad.lo.s32 %r30, %r3, 4, %r20; mov.u32 %r31, 0; setp.lt.s32 %p2, %r3, 32;\n" \
		"LOOP: st.shared.u32 [%r30], %r3;\n" more BARRIER "add.s32 %r30, %r30, 128; add.s32 %r31, %r31, 1; setp.lt.s32 %p1, %r31, %r5; @%p1 bra LOOP;\n")

	(void)state;
	expect(ROWS(BARRIER), (struct launch){ { 1 }, { 64 }, 0, 8, 0 }, NONE);
	expect(ROWS("@!%p2 bra ONE; bar.sync 0;\nONE: "), (struct launch){ { 1 }, { 64 }, 0, 8, 0 }, ALL(0, 64 * 8));
	expect(ROWS("@%p2 bar.sync 0;\n"), (struct launch){ { 1 }, { 64 }, 0, 8, 0 }, ALL(0, 64 * 8));
}

/* ---- random ones ---- */
struct making { struct ws_buf *b; int row, step; bool careful; const char *at; unsigned labels; };         /* at: the register that goes on */

/* An offset by which threads may meet, and others do not. */
static int some_offset(const struct making *m)
{
	const int words[] = { 0, 4, 8, -4, m->step, -m->step };

	return ONE_OF(words) + m->row * (int)below(3) * !below(m->careful ? 2 : 1);
}

static void add_access(struct making *m, const char *at)
{
	static const char *const compares[] = { "lt", "lt", "gt", "ge", "ne", "eq" };
	bool some = !below(3), write = !below(3);
	int offset = some_offset(m);

	if (some)
		ws_buf_printf(m->b, "setp.%s.s32 %%q2, %%k, %%%s; @%%q2 bra NEXT%u;\n", ONE_OF(compares), below(2) ? "t" : "w", m->labels);
	if (write)
		ws_buf_printf(m->b, "st.shared.u32 [%%%s+%d], %%t;\n", at, MIDDLE + offset);
	else
		ws_buf_printf(m->b, "ld.shared.u32 %%v, [%%%s+%d];\n", at, MIDDLE + offset);
	if (some)
		ws_buf_printf(m->b, "NEXT%u:\n", m->labels++);
}

static void add_step(struct making *m)
{
	bool guarded = !m->careful && !below(5), branch = !m->careful && !below(5);

	if (branch)
		ws_buf_printf(m->b, "@%%q3 bra NEXT%u;\n", m->labels);
	ws_buf_printf(m->b, "%sadd.s32 %%%s, %%%s, %d;\n", guarded ? "@%q3 " : "", m->at, m->at, m->step);
	if (branch)
		ws_buf_printf(m->b, "NEXT%u:\n", m->labels++);
}

/* A loop: in each round a few accesses, barriers, and a step. */
static void add_loop(struct making *m, const char *rounds)
{
	unsigned loop = m->labels++, items = 2 + below(4), step_at = m->careful ? items : below(items + 1);
	bool old = !m->careful && !below(4);

	ws_buf_printf(m->b, "mov.u32 %%k, 0; mov.u32 %%o, %%%s;\nLOOP%u:\n", m->at, loop);
	for (unsigned k = 0; k < items; k++) {
		if (k == step_at)
			add_step(m);
		add_access(m, old && below(2) ? "o" : !m->careful && !below(8) ? "p" : m->at);
		if (!below(3))
			ws_buf_puts(m->b, "bar.sync 0;\n");
	}
	if (old)
		ws_buf_printf(m->b, "mov.u32 %%o, %%%s;\n", m->at);
	if (m->careful || below(6))
		ws_buf_puts(m->b, "bar.sync 0;\n");
	if (step_at == items)
		add_step(m);
	ws_buf_printf(m->b, "add.s32 %%k, %%k, 1; setp.lt.s32 %%q1, %%k, %s; @%%q1 bra LOOP%u;\n", rounds, loop);
}

static void make(struct ws_buf *b)
{
	static const int rows[] = { 4, 8, 12, 256, 260, -4, -256, -260 }, steps[] = { 4, 4, -4, 8, 16 };
	static const char *const rounds[] = { "%n", "%n", "%d", "3", "%x" };
	struct making m = { .b = b, .row = ONE_OF(rows), .step = ONE_OF(steps), .careful = below(2), .at = "p" };
	unsigned last = below(WS_COUNT(rounds));         /* of which threads may have another number: nothing is behind it */

	ws_buf_printf(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n.reg .pred %%q<4>; .reg .b64 %%ad; .reg .b32 %%t, %%n, %%w, %%d, %%x, %%k, %%o, %%p, %%z, %%v, %%s; .shared .align 4 .b8 s[%u];\n"
		"ld.param.u32 %%n, [n]; ld.param.u32 %%w, [w]; ld.param.u64 %%ad, [a]; ld.global.u32 %%d, [%%ad]; mov.u32 %%t, %%tid.x; mov.u32 %%s, s; mad.lo.s32 %%p, %%t, %d, %%s;\n"
		"and.b32 %%x, %%t, 1; setp.eq.s32 %%q3, %%x, 1; add.s32 %%x, %%x, %%n; add.s32 %%d, %%d, 2;\n", 2 * MIDDLE, m.row);
	if (below(2)) {
		add_loop(&m, rounds[below(4)]);
		if (below(2))
			ws_buf_puts(b, "bar.sync 0;\n");
		if (below(2))
			add_access(&m, "p");
		if (below(3))
			ws_buf_puts(b, "bar.sync 0;\n");
		if (below(2)) {
			m.at = "z";
			ws_buf_puts(b, "add.s32 %z, %p, 4;\n");
		}
	}
	add_loop(&m, rounds[last]);
	if (last + 1 < WS_COUNT(rounds) && below(2))
		add_access(&m, "p");
	ws_buf_puts(b, "ret;\n}\n");
}

static struct sizes any_sizes(void)
{
	return (struct sizes){ 1 + below(2), { 1 + below(MOST), 1 }, 1 + below(5), below(4) };
}

static void what_is_left_finds_what_all_find(void **state)
{
	(void)state;
	left_finds_what_all_find(KERNELS, make, any_sizes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_of_a_wavefront), cmocka_unit_test(what_threads_do_not_share), cmocka_unit_test(barriers_of_some_warps),
		cmocka_unit_test(what_is_left_finds_what_all_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
