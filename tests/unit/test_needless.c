/* test_needless.c - the proofs of src/rewrite/needless.c and interval.c against the pass without them: a small random
 * kernel has a race in shared memory, and one in global memory, by the checks that are left if and only if it has by
 * all of them. */
#include "noise.h"
#include "race_rig.h"

enum { KERNELS = 150, STATEMENTS = 5, THREADS = 64, SPACES = 2 };

/* Addresses: of the thread's own word, the other warp's, a neighbour's, one for all. */
static void access(struct ws_buf *b, bool shared)
{
	static const char *const guards[] = { "", "", "", "@%p1 ", "@!%p1 ", "@%p0 " };
	const char *guard = guards[below(6)], *space = shared ? "shared" : "global", *reg = shared ? "%s" : "%g";
	uint32_t address = below(4);

	switch (below(4)) {
	case 0:
		ws_buf_printf(b, "%sst.%s.u32 [%s%u], %%r0;\n", guard, space, reg, address);
		break;
	case 1:
		ws_buf_printf(b, "%sld.%s.u32 %%r1, [%s%u];\n%sst.%s.u32 [%s%u], %%r1;\n", guard, space, reg, address, guard,
			      space, reg, address);
		break;
	default:
		ws_buf_printf(b, "%sld.%s.u32 %%r1, [%s%u];\n", guard, space, reg, address);
	}
}

static void statements(struct ws_buf *b, uint32_t n, unsigned depth);

/* Conditions and loops that all threads go through alike, so that barriers may be in them. */
static void nested(struct ws_buf *b, unsigned depth)
{
	static unsigned labels;
	unsigned label = labels++;

	if (below(2)) {
		ws_buf_printf(b, "setp.eq.u32 %%p2, %%r2, %u;\n@%%p2 bra E%u;\n", below(2), label);
		statements(b, 2, depth + 1);
		ws_buf_printf(b, "E%u:\n", label);
	} else {
		ws_buf_printf(b, "mov.u32 %%n%u, 0;\nL%u:\n", depth, label);
		statements(b, 2, depth + 1);
		ws_buf_printf(b, "add.u32 %%n%u, %%n%u, 1;\nsetp.lt.u32 %%p2, %%n%u, %u;\n@%%p2 bra L%u;\n", depth, depth, depth,
			      depth ? 2 : 2 + 3 * below(2), label);
	}
}

static void statements(struct ws_buf *b, uint32_t n, unsigned depth)
{
	while (n--) {
		uint32_t what = below(10);

		if (what < 3)
			ws_buf_puts(b, what ? "bar.sync 0;\n" : "bar.warp.sync -1;\n");
		else if (what == 9)
			ws_buf_puts(b, "mov.u32 %r3, %s0; mov.u32 %s0, %s2; mov.u32 %s2, %r3;\n"
			            "mov.u64 %d1, %g0; mov.u64 %g0, %g2; mov.u64 %g2, %d1;\n");
		else if (what == 3 && depth < 2)
			nested(b, depth);
		else
			access(b, below(4));
	}
}

static void make(struct ws_buf *b)
{
	ws_buf_puts(b, PTX_HEAD ".shared .align 4 .b8 s[512];\n.visible .entry k(.param .u64 out)\n{\n"
	            ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b32 %s<4>; .reg .b32 %n<3>; .reg .b64 %g<4>; .reg .b64 %d<4>;\n"
	            "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r2, %ctaid.x; setp.lt.u32 %p1, %r0, 32; setp.eq.u32 %p0, %r0, 5;\n"
	            "mov.u32 %s3, s; shl.b32 %r3, %r0, 2; add.u32 %s0, %s3, %r3; xor.b32 %s1, %s0, 128; xor.b32 %s2, %s0, 4;\n"
	            "cvt.u64.u32 %d1, %r3; add.u64 %g0, %d0, %d1; xor.b64 %g1, %g0, 128; xor.b64 %g2, %g0, 4;\n"
	            "mov.u64 %g3, %d0;\n");
	statements(b, STATEMENTS, 0);
	ws_buf_puts(b, "ret;\n}\n");
}

/* By space: is there a race? */
static void find(const char *pass, const char *text, const struct ws_gpu_config *c, bool race[SPACES])
{
	struct race_rig r = race_new_by(pass, *c, text);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 12);
	uint64_t params[] = { m->addr };
	const struct ws_race_found *f;

	rig_run(&r.rig, "k", 1, THREADS, params);
	race[0] = race[1] = false;
	for (uint32_t k = 0; (f = race_found(&r.tables, k)); k++)
		race[f->space == WS_RACE_SHARED] = true;
	race_free(&r);
}

static void what_is_left_finds_what_all_find(void **state)
{
	static const char *const passes[] = { "race-all", "race" };
	static const struct ws_gpu_config configs[] = {
		{ .divergence = WS_DIV_ITS, .host_threads = 1 },
		{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 1, .host_threads = 1 },
	};
	unsigned races[2] = { 0 }, kernels = rig_rounds(KERNELS);

	for (unsigned n = 0; n < kernels; n++) {
		struct ws_buf text = { 0 };
		bool race[2][SPACES];

		noise = n;
		make(&text);
		for (unsigned k = 0; k < 2; k++)
			find(passes[k], text.data, &configs[n % 2], race[k]);
		races[race[0][0] || race[0][1]]++;
		if (memcmp(race[0], race[1], sizeof race[0]))
			fail_msg("kernel %u: race finds races in global memory %d, shared %d; race-all %d, %d:\n%s", n, race[1][0],
				 race[1][1], race[0][0], race[0][1], text.data);
		ws_buf_free(&text);
	}
	assert_true(races[0] > kernels / 8 && races[1] > kernels / 8);       /* kernels of both kinds were there */
	print_message("%u kernels have races, %u none\n", races[1], races[0]);
}

/* ---- addresses that are data ---- */
static void part_of_thread(struct ws_buf *b, unsigned k)
{
	static const char *const forms[] = {
		"shl.b32 %%i%u, %%r0, 2; and.b32 %%j%u, %%i%u, 60; shr.u32 %%k%u, %%r0, 4; or.b32 %%a%u, %%j%u, %%k%u;\n",
		"mov.u32 %%a%u, %%r0;\n", "and.b32 %%a%u, %%r0, 31;\n", "shl.b32 %%a%u, %%r0, 1;\n",
		"mov.u32 %%a%u, 5;\n",
	};

	ws_buf_printf(b, forms[below(WS_COUNT(forms))], k, k, k, k, k, k, k);
}

static void part_of_data(struct ws_buf *b, unsigned k)
{
	static const char *const forms[] = {
		"shl.b32 %%d%u, %%r5, 6; and.b32 %%b%u, %%d%u, 960;\n", "shr.u32 %%d%u, %%r5, 28; shl.b32 %%b%u, %%d%u, 6;\n",
		"shr.u32 %%d%u, %%r5, 2; and.b32 %%b%u, %%d%u, 960;\n", "shl.b32 %%d%u, %%r5, 5; and.b32 %%b%u, %%d%u, 992;\n",
		"and.b32 %%d%u, %%r5, 7; mul.lo.s32 %%b%u, %%d%u, 128;\n", "and.b32 %%d%u, %%r5, 3; mov.u32 %%b%u, %%d%u;\n",
	};

	ws_buf_printf(b, forms[below(WS_COUNT(forms))], k, k, k);
}

static void make_by_data(struct ws_buf *b)
{
	static const char *const accesses[] = {
		"st.shared.u8 [%%s%u], %%r0;\n", "st.shared.u8 [%%s%u], %%r0;\n", "ld.shared.u8 %%r6, [%%s%u];\n",
		"and.b32 %%r7, %%s%u, -4; red.shared.add.u32 [%%r7], 1;\n",
	};
	unsigned most = below(2) ? 1 : 2;

	ws_buf_puts(b, PTX_HEAD ".shared .align 4 .b8 s[2048];\n.visible .entry k(.param .u64 out)\n{\n"
	            ".reg .b32 %r<9>, %s<2>, %a<2>, %b<2>, %d<2>, %i<2>, %j<2>, %k<2>, %l<2>; .reg .b64 %rd<4>;\n"
	            "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1;\n"
	            "ld.global.u32 %r5, [%rd2]; mov.u32 %r3, s;\n");
	for (unsigned k = 0; k < most; k++) {
		part_of_thread(b, k);
		part_of_data(b, k);
		ws_buf_printf(b, "add.s32 %%l%u, %%a%u, %%b%u; add.s32 %%s%u, %%r3, %%l%u;\n", k, k, k, k, k);
	}
	for (unsigned n = 0; n < 4; n++)
		if (below(3) == 0)
			ws_buf_puts(b, "bar.sync 0;\n");
		else
			ws_buf_printf(b, accesses[below(WS_COUNT(accesses))], below(most));
	ws_buf_puts(b, "ret;\n}\n");
}

/* Is there a race? entered: the launch had hooks. */
static bool finds_by_data(const char *pass, const char *text, bool *entered)
{
	struct race_rig r = race_new_by(pass, (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 12);
	uint64_t params[] = { m->addr };
	bool found;

	for (unsigned k = 0; k < THREADS; k++)
		((uint32_t *)(void *)m->host)[k] = below(4) ? below(1u << 31) * 2 : below(64);
	rig_run(&r.rig, "k", 1, THREADS, params);
	found = race_found(&r.tables, 0) != NULL;
	*entered = r.tables.counts->segments != 0;
	race_free(&r);
	return found;
}

static void what_is_left_finds_races_by_data(void **state)
{
	enum { ROUNDS = 40 };
	unsigned races = 0, silent = 0, rounds = rig_rounds(ROUNDS);

	for (unsigned n = 0; n < rounds; n++) {
		struct ws_buf text = { 0 };
		bool entered, all, left;
		uint64_t data;

		noise = n;
		make_by_data(&text);
		data = noise;
		all = finds_by_data("race-all", text.data, &entered);
		noise = data;
		left = finds_by_data("race", text.data, &entered);
		if (all != left)
			fail_msg("kernel %u: race %d, race-all %d:\n%s", n, left, all, text.data);
		races += all;
		silent += !entered;
		ws_buf_free(&text);
	}
	print_message("%u kernels with addresses that are data: %u have races, %u need no checks\n", rounds, races, silent);
	assert_true(races > rounds / 8 && silent > rounds / 8);
}

/* Words of threads `stride` bytes apart, and `gap` bytes behind them: their own by the size of the launch, or not. */
static void words_of_threads_are_their_own(void **state)
{
	static const struct { uint32_t stride, gap; bool race; } rows[] = {
		{ 4, 256, false }, { 8, 512, false }, { 8, 4, false }, { 4, 4, true }, { 0, 256, true }, { 4, 128, true },
		{ 512, 4, false },
	};
	static const char text[] = PTX_HEAD ".shared .align 4 .b8 s[1024];\n"
		".visible .entry k(.param .u64 out, .param .u32 stride, .param .u32 gap)\n{\n.reg .b32 %r<9>;\n"
		"mov.u32 %r0, %tid.x; ld.param.u32 %r1, [stride]; ld.param.u32 %r2, [gap]; mov.u32 %r3, s;\n"
		"mad.lo.s32 %r4, %r0, %r1, %r3; add.s32 %r5, %r4, %r2;\n"
		"st.shared.u32 [%r4], %r0; ld.shared.u32 %r6, [%r4]; st.shared.u32 [%r5], %r0;\nret;\n}\n";

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		struct race_rig r = race_new((struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);
		struct { uint64_t out; uint32_t stride, gap; } params = { 0, rows[k].stride, rows[k].gap };

		assert_non_null(strstr(r.text.data, "@%ws_kept_pred_"));
		rig_run(&r.rig, "k", 2, rows[k].stride > 64 ? 1 : 64, &params);
		if (!race_found(&r.tables, 0) == rows[k].race)
			fail_msg("stride %u, gap %u", rows[k].stride, rows[k].gap);
		race_free(&r);
	}
}

/* Threads that write one word, or words of their own until round `from`: the race is found, and most rounds have no check. */
static void most_rounds_of_a_loop_have_no_check(void **state)
{
	static const struct { uint32_t from; bool race; const char *between; } rows[] = {
		{ 0, true, "" }, { 1, true, "" }, { 250, true, "" }, { 1000, false, "" },
		{ 250, true, "bar.sync 0;" }, { 1000, false, "bar.sync 0;" }, { 0, true, "bar.sync 0;" },
	};

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		struct ws_buf text = { 0 };
		struct race_rig r;
		struct { uint64_t out; uint32_t from; } params;

		ws_buf_printf(&text, "%s.visible .entry k(.param .u64 out, .param .u32 from)\n{\n"
		              ".reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .pred %%p<3>;\n"
		              "ld.param.u64 %%d0, [out]; ld.param.u32 %%r1, [from]; mov.u32 %%r0, %%tid.x;\n"
		              "mul.wide.u32 %%d1, %%r0, 4; add.s64 %%d2, %%d0, %%d1; mov.u32 %%r2, 0; ld.global.u64 %%d3, [%%d0];\n"
		              "add.s64 %%d2, %%d2, %%d3; add.s64 %%d0, %%d0, %%d3;\nL:\nsetp.ne.u32 %%p1, %%r2, %%r1; @%%p1 bra M;\n"
		              "mov.u64 %%d2, %%d0;\nM:\n%s\nN:\nst.global.u32 [%%d2+512], %%r0;\n"
		              "add.u32 %%r2, %%r2, 1; and.b32 %%r3, %%r2, 15; setp.ne.u32 %%p1, %%r3, 0; @%%p1 bra N;\n"
		              "setp.lt.u32 %%p1, %%r2, 320; @%%p1 bra L;\nret;\n}\n", PTX_HEAD, rows[k].between);
		r = race_new((struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text.data);
		assert_non_null(strstr(r.text.data, "and.b32 %ws_b32_0, %ws_b32_0, %ws_kept_b32_"));
		params.out = rig_mem(&r.rig, 1 << 12)->addr;
		params.from = rows[k].from / 16 * 16;
		rig_run(&r.rig, "k", 1, THREADS, &params);
		if (!race_found(&r.tables, 0) == rows[k].race)
			fail_msg("from round %u: %s", rows[k].from, text.data);
		race_free(&r);
		ws_buf_free(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_threads_are_their_own), cmocka_unit_test(most_rounds_of_a_loop_have_no_check),
		cmocka_unit_test(what_is_left_finds_what_all_find), cmocka_unit_test(what_is_left_finds_races_by_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
