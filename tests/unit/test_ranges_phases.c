/* test_ranges_phases.c - proofs of buffers that take turns: registers that all threads turn over, or count rounds by, from barrier to barrier. */
#include "left_finds.h"
#include "ranges_rig.h"

enum { KERNELS = 120, HALF = 1024, MOST = 24 };          /* bytes of a buffer, and threads */

/* Two buffers of 1,024 bytes and more; a thread's place in the first one is %r30. `body` has %r31, which is 0 or 1, and `turn` turns it over; %r5 rounds. */
#define BUFFERS(body, turn) KERNEL(".shared .align 4 .b8 s[4096]; mov.u32 %r20, s; mad.lo.s32 %r30, %r3, 4, %r20; mov.u32 %r31, 0; mov.u32 %r32, 0;\n" \
	"LOOP: " body turn " add.s32 %r32, %r32, 1; setp.lt.s32 %p1, %r32, %r5; @%p1 bra LOOP;\n")
/* Reads the next thread's word of one buffer, and writes its own of the other one. */
#define READ(from) "mad.lo.s32 %r21, " from ", 1024, %r30; ld.shared.u32 %r22, [%r21+4];\n"
#define WRITE(to) "mad.lo.s32 %r23, " to ", 1024, %r30; st.shared.u32 [%r23], %r22;\n"
#define READ_AND_WRITE READ("%r31") "xor.b32 %r24, %r31, 1;\n" WRITE("%r24")
#define BARRIER "bar.sync 0;\n"
#define XOR "xor.b32 %r31, %r31, 1;"

static const struct launch threads = { { 2 }, { 64 }, 0, 8, 0 };

static void buffers_that_take_turns(void **state)
{
	(void)state;
	expect(BUFFERS(READ_AND_WRITE BARRIER, XOR), threads, NONE);
	expect(BUFFERS(READ_AND_WRITE XOR BARRIER, ""), threads, NONE);
	expect(BUFFERS(READ_AND_WRITE BARRIER, "sub.s32 %r31, 1, %r31;"), threads, NONE);
	expect(BUFFERS(READ_AND_WRITE BARRIER, "mov.u32 %r31, %r24;"), threads, NONE);
	/* By the round's number. */
	expect(BUFFERS("and.b32 %r26, %r32, 1;" READ("%r26") "add.s32 %r25, %r32, 1; and.b32 %r24, %r25, 1;" WRITE("%r24") BARRIER, ""), threads, NONE);
	/* Behind the barrier is read what was written before it; the next round writes the other one. */
	expect(BUFFERS(WRITE("%r31") BARRIER READ("%r31"), XOR), threads, NONE);
	expect(BUFFERS("and.b32 %r26, %r32, 1;" WRITE("%r26") BARRIER READ("%r26"), ""), threads, NONE);
}

/* Counters that do not begin alike: of an index that has bounds, the phases are those of the steps alone. */
static void counters_that_begin_with_the_index(void **state)
{
	(void)state;
	expect(KERNEL(".shared .align 4 .b8 s[4096]; mov.u32 %r20, s; mov.u32 %r7, %tid.x; mad.lo.s32 %r30, %r3, 4, %r20; mov.u32 %r8, 0; mad.lo.s32 %r32, %r7, 2, %r8; setp.ge.s32 %p2, %r7, 512; @%p2 bra END;\n"
		"mov.u32 %r33, 0;\nLOOP: and.b32 %r26, %r32, 1;" READ("%r26") "add.s32 %r25, %r32, 1; and.b32 %r24, %r25, 1;" WRITE("%r24") BARRIER
		"add.s32 %r32, %r32, 1; add.s32 %r33, %r33, 1; setp.lt.s32 %p1, %r33, %r5; @%p1 bra LOOP;\n"), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
}

/* %r31 goes round by three, and %r33 with it, a buffer ahead; each next number is made in `next`. */
#define STAGES(body, next) KERNEL(".shared .align 4 .b8 s[4096]; mov.u32 %r20, s; mad.lo.s32 %r30, %r3, 4, %r20; mov.u32 %r31, 0; mov.u32 %r33, 1; mov.u32 %r32, 0;\n" \
	"LOOP: " body next " add.s32 %r32, %r32, 1; setp.lt.s32 %p1, %r32, %r5; @%p1 bra LOOP;\n")
#define WRAP(r, by, p) "add.s32 " by ", " r ", 1; setp.eq.s32 " p ", " by ", 3; selp.b32 " r ", 0, " by ", " p ";"
#define REM(r, by) "add.s32 " by ", " r ", 1; rem.s32 " r ", " by ", 3;"
/* As nvcc divides by three. */
#define MUL(r, a, b, c, d, e) "add.s32 " a ", " r ", 1; mul.hi.s32 " b ", " a ", 1431655766; shr.u32 " c ", " b ", 31; add.s32 " d ", " b ", " c "; mul.lo.s32 " e ", " d ", 3; sub.s32 " r ", " a ", " e ";"

static void buffers_that_go_round(void **state)
{
	(void)state;
	expect(STAGES(READ("%r31") WRITE("%r33") BARRIER, WRAP("%r31", "%r10", "%p3") WRAP("%r33", "%r11", "%p4")), threads, NONE);
	expect(STAGES(READ("%r31") WRITE("%r33") BARRIER, REM("%r31", "%r10") REM("%r33", "%r11")), threads, NONE);
	expect(STAGES(READ("%r31") "add.s32 %r12, %r31, 2; rem.s32 %r13, %r12, 3;" WRITE("%r13") BARRIER, MUL("%r31", "%r10", "%r11", "%r14", "%r15", "%r16")), threads, NONE);
	expect(STAGES(READ("%r31") "add.s32 %r12, %r31, 2; and.b32 %r13, %r12, 3;" WRITE("%r13") BARRIER, "add.s32 %r10, %r31, 1; and.b32 %r31, %r10, 3;"), threads, NONE);
	/* A pointer into the buffer, which goes on in a loop of its own. */
	expect(STAGES("mad.lo.s32 %r21, %r31, 1024, %r20; mov.u32 %r22, 0;\nIN: ld.shared.u32 %r24, [%r21+512]; add.s32 %r21, %r21, 4; add.s32 %r22, %r22, 1; setp.ne.s32 %p2, %r22, 8; @%p2 bra IN;\n"
		WRITE("%r33") BARRIER, WRAP("%r31", "%r10", "%p3") WRAP("%r33", "%r11", "%p4")), (struct launch){ { 1 }, { 32 }, 0, 8, 0 }, NONE);
}

static void buffers_that_meet(void **state)
{
	(void)state;
	/* The two come together: one goes the other way. */
	expect(STAGES(READ("%r31") WRITE("%r33") BARRIER, WRAP("%r31", "%r10", "%p3") "add.s32 %r11, %r33, 2; rem.s32 %r33, %r11, 3;"), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	/* One is turned twice. */
	expect(STAGES(READ("%r31") WRITE("%r33") BARRIER, WRAP("%r31", "%r10", "%p3") WRAP("%r33", "%r11", "%p4") WRAP("%r33", "%r12", "%p4")), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	/* Some threads are an access further with one of them. */
	expect(STAGES(READ("%r31") WRAP("%r31", "%r10", "%p3") WRITE("%r33") BARRIER, WRAP("%r33", "%r11", "%p4")), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	/* What it is made of comes from elsewhere in the first round. */
	expect(STAGES(READ("%r31") WRITE("%r33") BARRIER, "setp.ne.s32 %p2, %r32, 0; @%p2 bra GO; ld.global.v2.u32 {%r10, %r11}, [%rd1]; bra ON;\nGO: add.s32 %r10, %r33, 1;\nON: rem.s32 %r33, %r10, 3;" WRAP("%r31", "%r12", "%p3")), threads,
	       ALL(2 * 64 * 8, 2 * 64 * 8));
	/* What it is made of is made in the round before. */
	expect(STAGES(READ("%r31") WRITE("%r33") BARRIER, "add.s32 %r33, %r10, 1; rem.s32 %r10, %r33, 3;" WRAP("%r31", "%r11", "%p3")), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
}

/* Turned over as soon as it is read for the last time, and written by what was made of it before; as nvcc has it. */
#define AT_OLD(from) "add.s32 %r21, " from ", %r30; "
#define OLD(behind) BUFFERS("mul.lo.s32 %r26, %r31, 1024; " AT_OLD("%r26") "ld.shared.u32 %r22, [%r21+4];\n" behind, "")
#define WRITE_OLD(at) "add.s32 %r23, " at ", %r30; st.shared.u32 [%r23], %r22;\n"

static void buffers_turned_before_they_are_written(void **state)
{
	const struct checks all = ALL(2 * 64 * 8, 2 * 64 * 8);

	(void)state;
	expect(OLD(XOR "xor.b32 %r27, %r26, 1024;" WRITE_OLD("%r27") BARRIER), threads, NONE);
	expect(OLD("xor.b32 %r27, %r26, 1024;" XOR WRITE_OLD("%r27") BARRIER), threads, NONE);
	expect(OLD(XOR WRITE_OLD("%r26") BARRIER), threads, all);                    /* what is read */
	/* Behind the barrier: the next round reads the other one, or this. */
	expect(OLD(XOR BARRIER WRITE_OLD("%r26")), threads, NONE);
	expect(OLD(XOR BARRIER "xor.b32 %r27, %r26, 1024;" WRITE_OLD("%r27")), threads, all);
	/* Made of both what it was and what it is; turned twice; not by all. */
	expect(OLD(XOR "mul.lo.s32 %r28, %r31, 1024; xor.b32 %r27, %r26, %r28; xor.b32 %r29, %r27, 2048;" WRITE_OLD("%r29") BARRIER), threads, all);
	expect(OLD(XOR "xor.b32 %r27, %r26, 1024;" XOR WRITE_OLD("%r27") BARRIER XOR), threads, all);
	expect(OLD("and.b32 %r25, %r3, 1; setp.eq.s32 %p2, %r25, 0; @%p2 " XOR "xor.b32 %r27, %r26, 1024;" WRITE_OLD("%r27") BARRIER), threads, all);
}

static void buffers_that_do_not(void **state)
{
	(void)state;
	/* Both in one. */
	expect(BUFFERS(READ("%r31") WRITE("%r31") BARRIER, XOR), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	/* No barrier in a round. */
	expect(BUFFERS(READ_AND_WRITE, XOR), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	/* It is turned over between the two. */
	expect(BUFFERS(READ("%r31") XOR "xor.b32 %r24, %r31, 1;" WRITE("%r24") BARRIER, ""), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	/* As it was before. */
	expect(BUFFERS("mov.u32 %r25, %r31;" XOR READ("%r25") "xor.b32 %r24, %r31, 1;" WRITE("%r24") BARRIER, ""), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	/* Some threads turn it over, and others do not. */
	expect(BUFFERS("and.b32 %r25, %r3, 1; setp.eq.s32 %p2, %r25, 0;" READ_AND_WRITE BARRIER, "@%p2 " XOR), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	expect(BUFFERS("and.b32 %r25, %r3, 1; setp.eq.s32 %p2, %r25, 0;" READ_AND_WRITE BARRIER, "@%p2 bra NOT; " XOR "NOT:"), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	/* What has been summed up of it. */
	expect(BUFFERS("add.s32 %r26, %r26, %r31; and.b32 %r25, %r26, 1;" READ("%r25") "xor.b32 %r24, %r31, 1;" WRITE("%r24") BARRIER, XOR), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
	/* Threads begin with other numbers. */
	expect(BUFFERS("setp.ne.s32 %p2, %r32, 0; @%p2 bra GO; and.b32 %r31, %r3, 1; GO:" READ_AND_WRITE BARRIER, XOR), threads, ALL(2 * 64 * 8, 2 * 64 * 8));
}

/* ---- random ones ---- */
struct making { struct ws_buf *b; bool careful; unsigned labels; };

/* Which buffer: into a register of the access. */
static void add_buffer(struct making *m, unsigned at)
{
	static const char *const now[] = { "mov.u32", "%f;", "mov.u32", "%f;", "mov.u32", "%h;", "mov.u32", "%h;", "xor.b32", "%h, 1;", "xor.b32", "%f, 1;", "xor.b32", "%f, 1;", "sub.s32", "1, %f;", "and.b32", "%k, 1;", "and.b32", "%k, 3;",
		"and.b32", "%z, 1;", "and.b32", "%z, 3;", "mov.u32", "0;", "mov.u32", "1;" };
	static const char *const old[] = { "mov.u32", "%o;", "xor.b32", "%o, 1;", "mov.u32", "%g;", "mov.u32", "%d;", "and.b32", "%a, 1;", "and.b32", "%a, 1;" };
	bool fine = m->careful || below(4);
	unsigned k = 2 * below((fine ? WS_COUNT(now) : WS_COUNT(old)) / 2);

	ws_buf_printf(m->b, "%s %%x%u, %s\n", (fine ? now : old)[k], at, (fine ? now : old)[k + 1]);
}

static void add_access(struct making *m)
{
	static const char *const compares[] = { "lt", "lt", "gt", "ge", "ne", "eq" };
	bool some = !below(4), early = !below(5);
	unsigned label = m->labels++;

	if (early)
		add_buffer(m, label);
	if (some)
		ws_buf_printf(m->b, "setp.%s.s32 %%q2, %s, %%%s; @%%q2 bra NEXT%u;\n", ONE_OF(compares), below(2) ? "%k" : "%f", below(2) ? "t" : "w", label);
	if (!early)
		add_buffer(m, label);
	ws_buf_printf(m->b, "and.b32 %%z%u, %%x%u, 3; mad.lo.s32 %%y%u, %%z%u, %d, %%p;\n", label, label, label, label, HALF);
	if (below(2))
		ws_buf_printf(m->b, "st.shared.u32 [%%y%u+%u], %%t;\n", label, 4 * below(2));
	else
		ws_buf_printf(m->b, "ld.shared.u32 %%v, [%%y%u+%u];\n", label, 4 * below(3));
	if (some)
		ws_buf_printf(m->b, "NEXT%u:\n", label);
}

/* f = what comes next, by one of several ways. */
static void add_next(struct making *m, const char *guard, const char *f, unsigned way)
{
	unsigned label = m->labels++;

	if (way < 3) {
		static const char *const ways[] = { "xor.b32 %%%s, %%%s, 1;\n", "sub.s32 %%%s, 1, %%%s;\n", "mov.u32 %%%s, %%g;\n" };

		ws_buf_printf(m->b, "%s", guard);
		ws_buf_printf(m->b, ways[way], f, f);
		return;
	}
	ws_buf_printf(m->b, "add.s32 %%x%u, %%%s, 1; setp.eq.s32 %%u%u, %%x%u, 3;\n", label, f, label, label);
	if (way == 3)
		ws_buf_printf(m->b, "%sselp.b32 %%%s, 0, %%x%u, %%u%u;\n", guard, f, label, label);
	else
		ws_buf_printf(m->b, "%s%s.%s32 %%%s, %%x%u, 3;\n", guard, way == 4 ? "and" : "rem", way == 4 ? "b" : "u", f, label);
}

static void add_turn(struct making *m, const char *f, unsigned way)
{
	bool guarded = !m->careful && !below(5), branch = !m->careful && !below(5);
	unsigned label = m->labels++;

	if (branch)
		ws_buf_printf(m->b, "@%%q3 bra NEXT%u;\n", label);
	add_next(m, guarded ? "@%q3 " : "", f, way);
	if (branch)
		ws_buf_printf(m->b, "NEXT%u:\n", label);
}

static void add_loop(struct making *m, const char *rounds)
{
	unsigned loop = m->labels++, items = 2 + below(4), turn_at = m->careful ? items : below(items + 1), way = below(6), g_at = m->careful ? 0 : below(items);

	unsigned other_at = m->careful || below(2) ? turn_at : below(items + 1), other = m->careful || below(4) ? way : below(6);

	ws_buf_printf(m->b, "mov.u32 %%k, 0;%s\nLOOP%u:\nadd.s32 %%z, %%k, %u;\n", below(3) ? "" : " mov.u32 %f, 0; mov.u32 %h, 1;", loop, below(4));
	for (unsigned k = 0; k < items; k++) {
		if (k == g_at)
			ws_buf_puts(m->b, "xor.b32 %g, %f, 1;\n");
		if (k == turn_at)
			add_turn(m, "f", way);
		if (k == other_at)
			add_turn(m, "h", other);
		if (!m->careful && !below(3))
			ws_buf_puts(m->b, "add.s32 %a, %a, %f;\n");
		add_access(m);
		if (!m->careful && !below(6))
			ws_buf_puts(m->b, "mov.u32 %o, %f;\n");
		if (!below(4))
			ws_buf_puts(m->b, "bar.sync 0;\n");
	}
	if (m->careful || below(6))
		ws_buf_puts(m->b, "bar.sync 0;\n");
	if (turn_at == items)
		add_turn(m, "f", way);
	if (other_at == items)
		add_turn(m, "h", other);
	ws_buf_printf(m->b, "add.s32 %%k, %%k, %s; setp.lt.s32 %%q1, %%k, %s; @%%q1 bra LOOP%u;\n", below(5) ? "1" : "2", rounds, loop);
}

static void make(struct ws_buf *b)
{
	static const char *const rounds[] = { "%n", "%n", "4", "%x" };
	struct making m = { .b = b, .careful = below(3) };
	unsigned last = below(WS_COUNT(rounds) - m.careful);     /* of which threads may have another number: nothing is behind it */

	ws_buf_printf(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n.reg .pred %%q<4>, %%u<99>; .reg .b64 %%ad; .reg .b32 %%t, %%n, %%w, %%d, %%x, %%z, %%x<99>, %%y<99>, %%z<99>, %%a, %%h, %%k, %%o, %%p, %%f, %%g, %%v, %%s; .shared .align 4 .b8 s[%u];\n"
		"ld.param.u32 %%n, [n]; ld.param.u32 %%w, [w]; ld.param.u64 %%ad, [a]; ld.global.u32 %%d, [%%ad]; and.b32 %%d, %%d, 1; mov.u32 %%t, %%tid.x; mov.u32 %%s, s; mad.lo.s32 %%p, %%t, 4, %%s;\n"
		"and.b32 %%x, %%t, 1; setp.eq.s32 %%q3, %%x, 1; add.s32 %%x, %%x, %%n; mov.u32 %%f, %s; mov.u32 %%a, 0; mov.u32 %%h, 1; mov.u32 %%o, 0; mov.u32 %%g, 1; mov.u32 %%k, 0; mov.u32 %%z, 0;\n", 4 * HALF, below(m.careful ? 8 : 3) ? "0" : "1");
	if (below(2))
		add_access(&m);
	if (below(3))
		ws_buf_puts(b, "bar.sync 0;\n");
	add_loop(&m, rounds[last]);
	if (last + 1 < WS_COUNT(rounds)) {
		if (below(2))
			add_access(&m);
		if (!below(3)) {
			if (below(3))
				ws_buf_puts(b, "bar.sync 0;\n");
			add_loop(&m, rounds[below(3)]);
		}
	}
	ws_buf_puts(b, "ret;\n}\n");
}

static struct sizes any_sizes(void) { return (struct sizes){ 1 + below(2), { 1 + below(MOST), 1 }, 1 + below(5), below(4) }; }

static void what_is_left_finds_what_all_find(void **state)
{
	(void)state;
	left_finds_what_all_find(KERNELS, make, any_sizes, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_that_take_turns), cmocka_unit_test(counters_that_begin_with_the_index), cmocka_unit_test(buffers_that_do_not), cmocka_unit_test(buffers_turned_before_they_are_written), cmocka_unit_test(buffers_that_go_round), cmocka_unit_test(buffers_that_meet), cmocka_unit_test(what_is_left_finds_what_all_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
