/* test_ranges_warps.c - the proofs of shared memory by syncs of warps, and by sides of branches that a block goes one way of, against the pass without
 * them: random kernels in blocks of random shapes. What has a race by all checks has one by those that are left. */
#include "noise.h"
#include "numbered.h"
#include "race_rig.h"

enum { KERNELS = 120, SHAPES = 3 };

static unsigned pitch;                   /* of warps, in the kernel: words */
static bool by_warps;                    /* rows of threads that are no whole warps have lanes on both sides of a condition with a sync behind it */

/* %i#, a word: of %t thread in x, %y in y, %l lane, %q warp by x, %n a parameter. Each access has registers of its own. */
static void number(struct ws_buf *b)
{
	static const char *const forms[] = {
		"mov.u32 %i#, %t;", "mov.u32 %i#, %l;", "mad.lo.s32 %i#, %q, 32, %l;", "mad.lo.s32 %i#, %q, 64, %l;", "mad.lo.s32 %i#, %q, 100, %l;",
		"mul.lo.s32 %j#, %l, 3; mad.lo.s32 %i#, %q, 96, %j#;", "mul.lo.s32 %j#, %l, 2; mad.lo.s32 %i#, %q, 62, %j#;",
		"sub.s32 %j#, 31, %l; mad.lo.s32 %i#, %q, 32, %j#;", "mad.lo.s32 %i#, %y, 32, %t;", "mad.lo.s32 %i#, %y, 40, %l;", "mad.lo.s32 %i#, %y, 31, %t;",
		"and.b32 %i#, %t, -32;", "and.b32 %j#, %t, -32; mul.lo.s32 %k#, %j#, 3; or.b32 %i#, %k#, %l;", "mul.lo.s32 %i#, %q, 32;", "mov.u32 %i#, 500;",
		"mov.u32 %i#, 3;", "mad.lo.s32 %j#, %y, 64, %l; mad.lo.s32 %i#, %q, 32, %j#;", "shr.u32 %j#, %l, 1; mad.lo.s32 %i#, %q, 32, %j#;",
		"and.b32 %j#, %n, 31; mad.lo.s32 %i#, %q, 32, %j#;", "mov.u32 %i#, %q;",
	};

	static const char *const lanes[] = { "%l", "%l", "%l", "%l2", "%lr", "%l3", "%m", "%mb", "%mc" };

	if (below(4))
		ws_buf_printf(b, "mad.lo.s32 %%i#, %%q, %u, %s;", pitch, ONE_OF(lanes));
	else
		ws_buf_puts(b, ONE_OF(forms));
}

static void access(struct ws_buf *out, unsigned *label)
{
	static const char *const conditions[] = { "", "", "", "", "setp.ne.s32 %p#, %l, 0; ", "setp.ne.s32 %p#, %t, 0; ", "setp.gt.s32 %p#, %t, 40; " };
	static const char *const forms[] = {
		"ld.shared.u32 %v, [%a#];", "ld.shared.u32 %v, [%a#];", "st.shared.u32 [%a#], %t;", "st.shared.u32 [%a#], %t;", "ld.shared.u32 %v, [%a#+128];",
		"ld.shared.u32 %v, [%a#+4];", "ld.shared.u32 %v, [%a#];", "st.shared.u32 [%a#], %t;", "st.shared.u32 [%a#+4], %t;",
	};
	const char *condition = ONE_OF(conditions);
	struct ws_buf b = { 0 };

	number(&b);
	ws_buf_printf(&b, " shl.b32 %%s#, %%i#, 2; mov.u32 %%u#, s; add.s32 %%a#, %%u#, %%s#;\n%s", condition);
	if (*condition)
		ws_buf_puts(&b, "@%p# bra L#;\n");
	ws_buf_puts(&b, ONE_OF(forms));
	if (*condition)
		ws_buf_puts(&b, "\nL#:");
	ws_buf_puts(&b, "\n");
	numbered(out, (*label)++, b.data);
	ws_buf_free(&b);
}

/* What all threads of a block come to. */
static void sync(struct ws_buf *b, unsigned *label)
{
	static const char *const forms[] = {
		"bar.warp.sync -1;\n", "bar.warp.sync -1;\n", "bar.warp.sync -1;\n", "bar.warp.sync 0xffffffff;\n", "bar.sync 0;\n", "bar.sync 0;\n", "",
	};

	unsigned n = *label;

	if (below(12)) {
		ws_buf_puts(b, ONE_OF(forms));
		return;
	}
	*label += 2;
	ws_buf_printf(b, "setp.gt.s32 %%p%u, %%l, 7; @%%p%u bra L%u;\n", n, n, n);        /* some lanes at another one */
	access(b, label);
	ws_buf_printf(b, "bar.warp.sync -1;\nbra L%u;\nL%u: bar.warp.sync -1;\n", n + 1, n);
	access(b, label);
	ws_buf_printf(b, "L%u:\n", n + 1);
}

static void stretch(struct ws_buf *b, unsigned *label)
{
	for (unsigned k = 0, n = 1 + below(2); k < n; k++) {
		access(b, label);
		if (below(5) == 0)
			access(b, label);
		sync(b, label);
	}
}

/* Both sides of a condition, or one. */
static void sides(struct ws_buf *b, unsigned *label)
{
	static const char *const conditions[] = {
		"setp.eq.s32 %%p%u, %%b, 0;", "setp.gt.s32 %%p%u, %%n, 9;", "setp.lt.s32 %%p%u, %%bn, 5;", "setp.eq.s32 %%p%u, %%k, 0;", "setp.lt.s32 %%p%u, %%t, 0;",
	};
	unsigned n = *label;

	*label += 2;
	ws_buf_printf(b, ONE_OF(conditions), n);
	ws_buf_printf(b, " @%%p%u bra L%u;\n", n, n);
	stretch(b, label);
	ws_buf_printf(b, "bra L%u;\nL%u:\n", n + 1, n);
	stretch(b, label);
	ws_buf_printf(b, "L%u:\n", n + 1);
}

/* What the warps of one number by x come to, or some more, or all but these; with syncs of the warp. */
static void section_of_warp(struct ws_buf *b, unsigned *label)
{
	static const char *const conditions[] = {
		"setp.ne.u32 %%p%u, %%q, 0;", "setp.ne.u32 %%p%u, %%q, 0;", "setp.gt.u32 %%p%u, %%t, 31;", "setp.gt.s32 %%p%u, %%t, 31;", "setp.ge.u32 %%p%u, %%t, 32;",
		"setp.ne.u32 %%p%u, %%q, 1;", "setp.eq.u32 %%p%u, %%q, 0;", "setp.gt.u32 %%p%u, %%t, 63;", "setp.lt.u32 %%p%u, %%t, 32;",
	};
	unsigned n = (*label)++;

	ws_buf_printf(b, ONE_OF(conditions), n);
	ws_buf_printf(b, " @%%p%u bra L%u;\n", n, n);
	for (unsigned k = 0, all = 2 + below(3); k < all; k++) {
		access(b, label);
		if (below(3))
			ws_buf_puts(b, "bar.warp.sync -1;\n");
	}
	ws_buf_printf(b, "L%u:\n", n);
	if (below(3))
		ws_buf_puts(b, "bar.sync 0;\n");
}

/* Some threads end. */
static void leave(struct ws_buf *b, unsigned number)
{
	static const char *const leaves[] = { "", "", "", "setp.gt.s32 %e#, %l, 20; @%e# bra END;\n", "setp.gt.s32 %e#, %t, 40; @%e# bra END;\n" };

	numbered(b, number, ONE_OF(leaves));
}

static void make(struct ws_buf *b)
{
	static const unsigned pitches[] = { 96, 96, 64, 100, 62, 32 };
	unsigned label = 0;
	bool loop = below(4) == 0;

	pitch = ONE_OF(pitches);
	ws_buf_puts(b, PTX_HEAD ".shared .align 16 .b8 s[4096];\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
	            ".reg .pred %p<99>, %e<9>; .reg .b32 %t, %y, %l, %l2, %l3, %lr, %m, %m1, %m2, %m3, %mb, %mc, %q, %b, %bn, %n, %k, %i<99>, %j<99>, %k<99>, %s<99>, %u<99>, %a<99>, %v;\n"
	            "ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mov.u32 %y, %tid.y; mov.u32 %l, %laneid; shl.b32 %l2, %l, 1; mul.lo.s32 %l3, %l, 3; sub.s32 %lr, 31, %l; shr.u32 %q, %t, 5;\n"
	            "and.b32 %m, %t, 31; and.b32 %m1, %t, 1; and.b32 %m3, %t, 7; shl.b32 %m2, %m, 1; sub.s32 %mb, %m2, %m1; sub.s32 %mc, %m2, %m3; mov.u32 %b, %ctaid.x; add.s32 %bn, %b, %n; mov.u32 %k, 0;\n");
	if (below(3) == 0)
		leave(b, 1);
	if (loop)
		ws_buf_puts(b, "LOOP:\n");
	stretch(b, &label);
	if (below(3) == 0)
		leave(b, 2);
	if (below(2))
		sides(b, &label);
	by_warps = below(2);
	if (by_warps)
		section_of_warp(b, &label);
	stretch(b, &label);
	if (loop)
		ws_buf_puts(b, "add.s32 %k, %k, 1; setp.lt.s32 %e3, %k, 2; @%e3 bra LOOP;\n");
	ws_buf_puts(b, "END: ret;\n}\n");
}

struct shape { uint32_t x, y, n; };

/* No atomics: of those a word has the last one, and which that is depends on the schedule; and no fences, of which it may not be known what they order. */
static bool finds(const char *pass, const char *text, const struct shape *s, bool *entered, unsigned seed)
{
	const struct ws_gpu_config c = { .divergence = WS_DIV_ITS, .schedule = seed ? WS_SCHED_RANDOM : WS_SCHED_RR, .seed = seed, .host_threads = 1 };
	struct race_rig r = race_new_by(pass, c, text);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 12);
	struct { uint64_t out; uint32_t n; uint32_t pad; } params = { m->addr, s->n, 0 };
	struct ws_gpu_launch l = { .grid = { 2, 1, 1 }, .block = { s->x, s->y, 1 }, .params = &params };

	return race_finds(&r, &l, text, entered);
}

/* A word's last write and reads are known, so it is up to the schedule which of several races is found; and whether any, where writes are ordered and
 * others are not. */
static bool finds_in_time(const char *pass, const char *text, const struct shape *s)
{
	enum { SEEDS = 12 };
	bool found = false, entered;

	for (unsigned seed = 1; seed <= SEEDS && !found; seed++)
		found = finds(pass, text, s, &entered, seed);
	return found;
}

static void what_is_left_finds_what_all_find(void **state)
{
	static const struct shape shapes[] = { { 32, 1, 3 }, { 64, 1, 3 }, { 96, 1, 12 }, { 48, 1, 0 }, { 16, 1, 7 }, { 32, 2, 7 }, { 16, 4, 3 }, { 64, 2, 30 }, { 40, 2, 3 } };
	unsigned races = 0, silent = 0, kernels = rig_rounds(KERNELS);

	for (unsigned k = 0; k < kernels; k++) {
		struct ws_buf text = { 0 };
		bool entered;

		noise = k;
		make(&text);
		for (unsigned n = 0; n < SHAPES; n++) {
			const struct shape *s = &shapes[below(WS_COUNT(shapes) - by_warps)];
			bool all = finds("race-all", text.data, s, &entered, 0), left = finds("race", text.data, s, &entered, 0);

			if (all != left && !finds_in_time(all ? "race" : "race-all", text.data, s)) {
				fputs(text.data, stderr);        /* messages are cut */
				fail_msg("kernel %u, block %u %u, n %u: race %d, race-all %d", k, s->x, s->y, s->n, left, all);
			}
			races += all;
			silent += !entered;
		}
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks\n", kernels * SHAPES, races, silent);
	assert_true(races > kernels * SHAPES / 8 && silent > kernels * SHAPES / 60);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_finds_what_all_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
