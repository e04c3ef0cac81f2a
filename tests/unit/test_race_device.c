/* test_race_device.c - src/device/race.cu: what the checks find, and above all what they do not, on the simulated GPU. */
#include "race_rig.h"

/* Where nothing is to be found, nothing is by any schedule; wherever shared memory begins. */
static const struct ws_gpu_config configs[] = {
	{ .divergence = WS_DIV_ITS, .host_threads = 1, .shared_reserved = 1 << 10 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 1, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 2, .host_threads = 2 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 3, .host_threads = 2 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_PRIORITY, .seed = 4, .host_threads = 1 },
};

static uint32_t nconfigs(void) { return rig_ways(WS_COUNT(configs), 1); }

/* %r0 thread, %r1 block, %r2 lane (computed so that no proof spares the checks), %r3 warp; %rd1 the buffer, %rd2 the thread's word of it, %r4 shared memory, %r5 the
 * thread's word of it. */
#define KERNEL(body) PTX_HEAD ".shared .align 4 .b8 s[4096];\n" \
	".visible .entry k(.param .u64 out)\n{\n" \
	" .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b16 %h<4>;\n" \
	" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %lanemask_eq; bfind.u32 %r2, %r2; shr.u32 %r3, %r0, 5;\n" \
	" mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd1, %rd2; mov.u32 %r4, s; shl.b32 %r5, %r0, 2; add.u32 %r5, %r4, %r5;\n" \
	body " ret;\n}\n"

/* Lines of a body. */
#define THREAD(n)       " setp.eq.u32 %p1, %r0, " #n "; "        /* @%p1: this thread */
#define BLOCK(n)        " setp.eq.u32 %p2, %r1, " #n "; "
#define BARRIER         " bar.sync 0;\n"
#define NEXT_WORD       " xor.b32 %r6, %r5, 4;\n"                /* of the neighbouring lane */
#define OTHER_WARP      " xor.b32 %r6, %r5, 128;\n"

struct expected {
	uint32_t races;                  /* pairs of places */
	uint64_t undecided, not_checked, lost;
	bool any_undecided;
};

static void say(const struct race_rig *r)
{
	const struct ws_race_counts *c = r->tables.counts;
	const struct ws_race_found *f;

	for (uint32_t k = 0; (f = race_found(&r->tables, k)); k++)
		print_message("pair %u flags %u space %u address %llx bytes %u site %u other %u: block %u thread %u, block %u "
			      "thread %u; %llu times\n", f->pair, f->flags, f->space, f->address, f->bytes, f->site,
			      f->other_site, f->block, f->thread, f->other_block, f->other_thread,
			      r->tables.seen[f - r->tables.found].count);
	print_message("segments %u cells %u records %u; undecided %llu lost %llu\n", c->segments, c->cells, c->records,
		      c->undecided, c->lost);
	for (int k = 0; k < WS_RACE_LIMITS; k++)
		print_message("not checked by limit %d: %llu\n", k, c->not_checked[k]);
}

static void compare(const struct race_rig *r, const struct expected *e)
{
	const struct ws_race_counts *c = r->tables.counts;
	uint64_t not_checked = 0;
	uint32_t n = 0;

	while (race_found(&r->tables, n))
		n++;
	for (int k = 0; k < WS_RACE_LIMITS; k++)
		not_checked += c->not_checked[k];
	if (n == e->races && (c->undecided == e->undecided || e->any_undecided) && not_checked == e->not_checked &&
	    c->lost == e->lost)
		return;
	say(r);
	fail_msg("%u races, %llu undecided, %llu not checked, %llu lost", n, c->undecided, (unsigned long long)not_checked, c->lost);
}

/* What lies in shared memory: nothing, its cells, the states of threads. */
enum in_shared { NOTHING_MORE, ITS_CELLS, STATES, WAYS };
static struct race_rig ran_with(enum in_shared more, const struct ws_gpu_config *c, const char *text, uint32_t grid, uint32_t block)
{
	struct race_rig r = race_new(*c, text);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 16);
	uint64_t params[] = { m->addr };

	r.rig.shared = more == ITS_CELLS ? race_shared_size(r.rig.mod, "k", block) : more == STATES ? WS_RACE_STATES_SIZE(0, block) : 0;
	rig_run(&r.rig, "k", grid, block, params);
	return r;
}

static struct race_rig ran(const struct ws_gpu_config *c, const char *text, uint32_t grid, uint32_t block)
{
	return ran_with(NOTHING_MORE, c, text, grid, block);
}

static void expect(const char *text, uint32_t grid, uint32_t block, struct expected e)
{
	for (uint32_t k = 0; k < WAYS * (e.races || e.not_checked ? 1 : nconfigs()); k++) {
		struct race_rig r = ran_with(k % WAYS, &configs[k / WAYS], text, grid, block);

		compare(&r, &e);
		race_free(&r);
	}
}

#define NONE ((struct expected){ 0 })
#define RACES(n) ((struct expected){ .races = (n) })

/* ---- cells ---- */
/* Each lane has lines of its own, and writes a word of each: there are cells for four lines, and no more, however often they are asked for. */
static void what_has_no_cells_is_counted(void **state)
{
	enum { CELLS = 4, LANES = 32, ROUNDS = 3 };

	for (uint32_t k = 0; k < nconfigs(); k++) {
		struct race_rig r = race_new(configs[k], KERNEL(" mul.wide.u32 %rd3, %r0, 128; add.u64 %rd3, %rd1, %rd3;\n"
			" st.global.u32 [%rd3], %r0; ld.global.u32 %r7, [%rd3]; st.global.u32 [%rd3+4], %r7;\n"));
		struct ws_mem *m = rig_mem(&r.rig, LANES * 128);
		uint64_t params[] = { m->addr };

		r.tables.device.ncells = CELLS;
		assert_true(race_set(r.rig.mod, &r.tables));
		rig_run(&r.rig, "k", 1, LANES, params);
		compare(&r, &(struct expected){ .not_checked = (LANES - CELLS) * ROUNDS });
		assert_int_equal(r.tables.counts->cells, CELLS);
		race_free(&r);
	}
}

/* ---- barriers and syncs ---- */
static void own_words_do_not_race(void **state)
{
	expect(KERNEL(" st.shared.u32 [%r5], %r0; ld.shared.u32 %r7, [%r5]; st.global.u32 [%rd2], %r7;\n"), 1, 96, NONE);
}

static void a_barrier_orders(void **state)
{
	expect(KERNEL(" st.shared.u32 [%r5], %r0;\n" BARRIER OTHER_WARP " ld.shared.u32 %r7, [%r6];\n" BARRIER
	              " st.shared.u32 [%r5], %r7;\n"), 2, 128, NONE);
}

static void without_a_barrier(void **state)
{
	struct race_rig r = ran(configs, KERNEL(" st.shared.u32 [%r5], %r0;\n" OTHER_WARP " ld.shared.u32 %r7, [%r6];\n"), 1, 64);
	const struct ws_race_found *f = race_found(&r.tables, 0);
	uint32_t reader = f ? f->pair == WS_RACE_READ_AFTER_WRITE ? f->thread : f->other_thread : 0;

	assert_non_null(f);
	assert_int_equal(f->space, WS_RACE_SHARED);
	assert_int_equal(f->bytes, 4);
	assert_int_equal(f->thread ^ f->other_thread, 32);
	assert_int_equal(f->ready, 1);
	assert_true(f->site != f->other_site && f->site < 2 && f->other_site < 2);
	assert_true(reader < 64);
	assert_int_equal(f->block_dim[0], 64);
	race_free(&r);
}

static void lanes_of_a_warp(void **state)
{
	expect(KERNEL(" st.shared.u32 [%r5], %r0;\n" NEXT_WORD " ld.shared.u32 %r7, [%r6];\n"), 1, 32, RACES(1));
	expect(KERNEL(" st.shared.u32 [%r5], %r0; bar.warp.sync -1;\n" NEXT_WORD " ld.shared.u32 %r7, [%r6];\n"), 1, 32, NONE);
	expect(KERNEL(" st.shared.u32 [%r4], %r0;\n"), 1, 32, RACES(1));
}

/* Lanes that write a word by one instruction: of one value or of several. */
static void lanes_of_an_instruction(void **state)
{
	#define EIGHT_WRITE(what) KERNEL(" setp.lt.u32 %p1, %r2, 8; add.u32 %r1, %r1, 5; @%p1 st.shared.u32 [%r4], " what ";\n")
	static const struct { const char *text; uint32_t flags; } writes[] = {
		{ EIGHT_WRITE("%r1"), WS_RACE_SAME_INST | WS_RACE_SAME_VALUE }, { EIGHT_WRITE("%r0"), WS_RACE_SAME_INST },
	};

	for (size_t k = 0; k < WS_COUNT(writes); k++) {
		struct race_rig r = ran(configs, writes[k].text, 1, 32);

		assert_non_null(race_found(&r.tables, 0));
		assert_int_equal(race_found(&r.tables, 0)->flags, writes[k].flags);
		race_free(&r);
	}
}

/* Two blocks write the same by one instruction, over what a third one has written: who comes first has so long to look at the third one's words
 * that what it writes comes later than the second block waits for. */
static void blocks_that_wait_for_each_other(void **state)
{
	static const char *const text = KERNEL(" setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE;\n" BLOCK(2) " @%p2 bra THIRD;\n"
		"W: ld.volatile.global.u32 %r7, [%rd1+512]; setp.eq.u32 %p3, %r7, 0; @%p3 bra W;\n"
		" mov.u32 %r8, 1; mov.u32 %r9, 5; st.global.v4.u32 [%rd1], {%r8, %r9, %r9, %r9}; bra DONE;\n"
		"THIRD: st.global.u32 [%rd1+4], 7; st.global.u32 [%rd1+8], 7; st.global.u32 [%rd1+12], 7; membar.gl; red.global.add.u32 [%rd1+512], 1;\nDONE:\n");
	const struct ws_race_found *f;

	for (size_t k = 0; k < nconfigs(); k++) {
		struct race_rig r = ran(&configs[k], text, 3, 32);
		uint32_t n;

		for (n = 0; (f = race_found(&r.tables, n)); n++)
			assert_true(f->site != f->other_site || f->flags == WS_RACE_SAME_VALUE);
		assert_true(n >= 3);
		race_free(&r);
	}
}

/* 100 syncs are more than a segment has room for, and 100 barriers are. */
static void many_syncs(void **state)
{
	expect(KERNEL(" mov.u32 %r8, 0;\nL: st.shared.u32 [%r5], %r0; bar.warp.sync -1;\n" NEXT_WORD
	              " ld.shared.u32 %r7, [%r6]; bar.warp.sync -1; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 100; @%p1 bra L;\n"),
	       1, 64, NONE);
	expect(KERNEL(" mov.u32 %r8, 0;\nL: st.shared.u32 [%r5], %r0;\n" BARRIER OTHER_WARP " ld.shared.u32 %r7, [%r6];\n" BARRIER
	              " add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 100; @%p1 bra L;\n"), 1, 64, NONE);
	expect(KERNEL(" mov.u32 %r8, 0;\nL: st.shared.u32 [%r5], %r0;\n" BARRIER OTHER_WARP " ld.shared.u32 %r7, [%r6];\n"
	              " add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 100; @%p1 bra L;\n"), 1, 64, RACES(2));
}

/* With a table of so few segments that a kernel must not take one for each 64 barriers or 32 syncs of a warp. */
static struct race_rig ran_long(const struct ws_gpu_config *c, uint32_t segments, const char *text, uint32_t grid, uint32_t block)
{
	struct race_rig r = race_new_by("race-all", *c, text);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 16);
	uint64_t params[] = { m->addr };

	r.tables.device.nsegments = segments;
	race_set(r.rig.mod, &r.tables);
	r.rig.shared = race_shared_size(r.rig.mod, "k", block);
	rig_run(&r.rig, "k", grid, block, params);
	return r;
}

#define ROUNDS(n, body) " mov.u32 %r8, 0;\nL:" body " add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, " #n "; @%p1 bra L;\n"
#define HAND_OVER " st.shared.u32 [%r5], %r0;\n" BARRIER OTHER_WARP " ld.shared.u32 %r7, [%r6];\n" BARRIER
#define HAND_OVER_IN_WARP " st.shared.u32 [%r5], %r0; bar.warp.sync -1;\n" NEXT_WORD " ld.shared.u32 %r7, [%r6]; bar.warp.sync -1;\n"
/* The word of the same lane of the other warp, in global memory. */
#define OTHER_GLOBAL " xor.b32 %r6, %r0, 32; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd3, %rd1, %rd3;\n"

static void tells(const struct race_rig *r, bool races)
{
	const struct ws_race_counts *c = r->tables.counts;

	if ((race_found(&r->tables, 0) != NULL) == races && !c->undecided && !c->not_checked[WS_RACE_NO_SEGMENT])
		return;
	say(r);
	fail_msg("%s", races ? "no race" : "a race");
}

/* Two blocks of two warps: first segments, and one more for each warp; a race at the end. */
static void long_kernels(void **state)
{
	static const struct { const char *text; bool races; } kernels[] = {
		{ KERNEL(ROUNDS(300, HAND_OVER)), false },
		{ KERNEL(ROUNDS(400, HAND_OVER_IN_WARP)), false },
		{ KERNEL(ROUNDS(300, HAND_OVER) " st.shared.u32 [%r5], %r0;\n" OTHER_WARP " ld.shared.u32 %r7, [%r6];\n"), true },
		{ KERNEL(ROUNDS(300, HAND_OVER) " st.global.u32 [%rd2], %r1;\n"), true },
		{ KERNEL(ROUNDS(400, HAND_OVER_IN_WARP) " st.global.u32 [%rd2], %r1;\n"), true },
	};

	for (size_t k = 0; k < WS_COUNT(kernels); k++)
		for (size_t n = 0; n < nconfigs(); n++) {
			struct race_rig r = ran_long(&configs[n], 8, kernels[k].text, 2, 64);

			tells(&r, kernels[k].races);
			assert_int_equal(r.tables.counts->segments, 8);
			race_free(&r);
		}
}

/* What is entered in some rounds, far apart, keeps its time while others go by. */
static void long_kernels_that_write_now_and_then(void **state)
{
	#define NOW_AND_THEN(bits, what) " and.b32 %r9, %r8, " #bits "; setp.ne.u32 %p2, %r9, 0; @%p2 bra N;\n" what "N:\n"
	#define OWN_WRITE " st.global.u32 [%rd2], %r8;\n"
	#define OTHERS_READ OTHER_GLOBAL " ld.global.u32 %r7, [%rd3];\n"
	static const struct { const char *text; bool races; } kernels[] = {
		{ KERNEL(ROUNDS(1000, HAND_OVER NOW_AND_THEN(255, OWN_WRITE BARRIER OTHERS_READ))), false },
		{ KERNEL(ROUNDS(1000, HAND_OVER NOW_AND_THEN(255, OWN_WRITE)) OTHERS_READ), false },
		{ KERNEL(ROUNDS(1000, HAND_OVER NOW_AND_THEN(255, OWN_WRITE OTHERS_READ))), true },
		{ KERNEL(ROUNDS(1000, HAND_OVER) " st.global.u32 [%rd2], %r0;\n" OTHERS_READ), true },
	};

	for (size_t k = 0; k < WS_COUNT(kernels); k++)
		for (size_t n = 0; n < nconfigs(); n++) {
			struct race_rig r = ran_long(&configs[n], 2 + 2 * 5, kernels[k].text, 1, 64);

			tells(&r, kernels[k].races);
			race_free(&r);
		}
}

/* Segments that are taken again: each round enters something, so a warp needs a new one for each 32 of them. The table has room for
 * some 15 a warp. Each block has words of its own in %rd2, and all have those at %rd6. In round 40 one thread of block 0 writes a
 * word there, which is summed up long before the end. */
#define ROUNDS_THAT_ENTER(n) " mov.u64 %rd6, %rd1; mul.wide.u32 %rd5, %r1, 256; add.u64 %rd1, %rd1, %rd5; add.u64 %rd1, %rd1, 8192;\n" \
	" add.u64 %rd2, %rd2, %rd5; add.u64 %rd2, %rd2, 8192; setp.ne.u32 %p4, %r1, 0; setp.ne.or.u32 %p4, %r0, 37, %p4;\n" \
	ROUNDS(n, " st.global.u32 [%rd2], %r8;\n" BARRIER OTHER_GLOBAL " ld.global.u32 %r7, [%rd3]; setp.ne.or.u32 %p3, %r8, 40, %p4;\n" \
	       " @!%p3 st.global.u32 [%rd6+64], %r0;\n" BARRIER)
#define OF_BLOCK_1(then) " setp.ne.u32 %p5, %r1, 1; setp.ne.or.u32 %p5, %r0, 3, %p5; @%p5 bra E;\n" then "E:\n"
#define TELL " setp.ne.u32 %p5, %r1, 0; setp.ne.or.u32 %p5, %r0, 37, %p5; @%p5 bra T; membar.gl; st.volatile.global.u32 [%rd6+4096], 1;\nT:\n"
#define TELL_FIRST " mov.u64 %rd6, %rd1;\n" TELL
#define HEAR " ld.volatile.global.u32 %r7, [%rd6+4096]; setp.eq.u32 %p6, %r7, 0; @%p6 bra H; membar.gl;\n"
#define READ_IT " ld.global.u32 %r7, [%rd6+64];\n"

static struct race_rig ran_out(size_t config, const char *text)
{
	struct race_rig r = ran_long(&configs[config], 64, text, 2, 64);

	assert_true(r.tables.counts->segments >= 64);
	assert_true(r.tables.counts->reused > 0);
	return r;
}

static void segments_are_taken_again(void **state)
{
	static const struct { const char *text; bool races; } kernels[] = {
		{ KERNEL(ROUNDS_THAT_ENTER(800)), false },
		{ KERNEL(ROUNDS_THAT_ENTER(800) " st.global.u32 [%rd6], %r1;\n"), true },
		{ KERNEL(ROUNDS_THAT_ENTER(800) " ld.global.u32 %r7, [%rd2+256];\n"), true },
		{ KERNEL(ROUNDS_THAT_ENTER(800) TELL OF_BLOCK_1("H:" HEAR READ_IT)), false },
	};

	for (size_t k = 0; k < WS_COUNT(kernels); k++)
		for (size_t n = 0; n < (kernels[k].races && nconfigs() > 1 ? 2 : nconfigs()); n++) {
			struct race_rig r = ran_out(n, kernels[k].text);

			tells(&r, kernels[k].races);
			race_free(&r);
		}
}

/* Who raced is known of what was summed up; or, for who has acquired something from it before, that the order is not. */
static void what_was_summed_up(void **state)
{
	struct race_rig r = ran_out(0, KERNEL(ROUNDS_THAT_ENTER(800) OF_BLOCK_1(READ_IT)));
	const struct ws_race_found *f = race_found(&r.tables, 0);

	tells(&r, true);
	assert_int_equal(f->pair, WS_RACE_READ_AFTER_WRITE);
	assert_int_equal(f->other_block, 0);
	assert_int_equal(f->other_thread, 37);
	assert_int_equal(f->thread, 3);
	race_free(&r);
	r = ran_out(0, KERNEL(BARRIER TELL_FIRST ROUNDS_THAT_ENTER(800) OF_BLOCK_1("H:" HEAR READ_IT)));
	assert_true(race_found(&r.tables, 0) || r.tables.counts->undecided);
	race_free(&r);
}

/* The bits for epochs of cells in shared memory end after some rounds, and begin anew. What was released before has a later number
 * then than what is written. */
static void epochs_begin_anew(void **state)
{
	#define TELL_HERE " setp.ne.u32 %p5, %r0, 0; @%p5 bra H; membar.cta; st.volatile.shared.u32 [%r4+2048], 1; bra J;\n" \
		"H: setp.ne.u32 %p5, %r0, 32; @%p5 bra J;\nW: ld.volatile.shared.u32 %r7, [%r4+2048]; setp.eq.u32 %p6, %r7, 0; @%p6 bra W;" \
		" membar.cta;\nJ:\n"
	#define WRITE_AND_READ " setp.eq.u32 %p5, %r0, 0; @%p5 st.shared.u32 [%r4+1024], 1; setp.eq.u32 %p5, %r0, 32;" \
		" @%p5 ld.shared.u32 %r7, [%r4+1024];\n"
	#define MORE_ROUNDS(n) " mov.u32 %r8, 0;\nM:" HAND_OVER " add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, " #n "; @%p1 bra M;\n"
	static const struct { const char *text; bool races; } kernels[] = {
		{ KERNEL(ROUNDS(60, HAND_OVER)), false },
		{ KERNEL(ROUNDS(60, HAND_OVER) " st.shared.u32 [%r5], %r0;\n" OTHER_WARP " ld.shared.u32 %r7, [%r6];\n"), true },
		{ KERNEL(ROUNDS(10, HAND_OVER) TELL_HERE MORE_ROUNDS(41)), false },
		{ KERNEL(ROUNDS(10, HAND_OVER) TELL_HERE MORE_ROUNDS(41) WRITE_AND_READ), true },
		{ KERNEL(MORE_ROUNDS(51) " setp.eq.u32 %p5, %r0, 0; @%p5 st.shared.u32 [%r4+1024], 1;\n" TELL_HERE
		         " setp.eq.u32 %p5, %r0, 32; @%p5 ld.shared.u32 %r7, [%r4+1024];\n"), false },
	};

	for (size_t k = 0; k < WS_COUNT(kernels); k++)
		for (size_t n = 0; n < 2; n++) {
			struct race_rig r = race_new_by("race-all", configs[1], kernels[k].text);
			struct ws_mem *m = rig_mem(&r.rig, 1 << 16);
			uint64_t params[] = { m->addr };

			r.tables.device.shared_epoch = (n ? 1u << 21 : 1u << 22) - 100;
			race_set(r.rig.mod, &r.tables);
			r.rig.shared = race_shared_size(r.rig.mod, "k", 64);
			rig_run(&r.rig, "k", 1, 64, params);
			tells(&r, kernels[k].races);
			race_free(&r);
		}
}

/* Each half syncs by itself: what the other half does is not ordered. */
static void syncs_of_some_lanes(void **state)
{
	#define HALVES " setp.lt.u32 %p1, %r2, 16; selp.b32 %r8, 0xffff, 0xffff0000, %p1;\n st.shared.u32 [%r5], %r0;\n" \
		" bar.warp.sync %r8;\n"
	expect(KERNEL(HALVES NEXT_WORD " ld.shared.u32 %r7, [%r6];\n"), 1, 32, NONE);
	expect(KERNEL(HALVES " xor.b32 %r6, %r5, 64; ld.shared.u32 %r7, [%r6];\n"), 1, 32, RACES(1));
}

/* Half of the warp has left before the sync of the others, which does not order what it did. */
static void syncs_of_what_is_left(void **state)
{
	#define HALF_LEAVES " setp.ge.u32 %p1, %r2, 16; @%p1 ret; mov.u32 %r8, 0;\n" \
		"L: add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 300; @%p1 bra L;\n bar.warp.sync 0xffff;\n"
	#define OTHER_HALF " xor.b32 %r6, %r5, 64; ld.shared.u32 %r7, [%r6];\n"
	expect(KERNEL(" st.shared.u32 [%r5], %r0;\n" HALF_LEAVES OTHER_HALF), 1, 32, RACES(1));
	expect(KERNEL(" st.shared.u32 [%r5], %r0; bar.warp.sync -1;\n" HALF_LEAVES OTHER_HALF), 1, 32, NONE);
	expect(KERNEL(" st.shared.u32 [%r5], %r0;\n" HALF_LEAVES NEXT_WORD " ld.shared.u32 %r7, [%r6];\n"), 1, 32, NONE);
}

/* Half of the warp has left before the barrier; the other lanes come to it one by one. */
static void barriers_of_what_is_left(void **state)
{
	expect(KERNEL(" st.shared.u32 [%r5], %r0; setp.lt.u32 %p1, %r2, 16; @%p1 ret;\n" BARRIER OTHER_WARP
	              " ld.shared.u32 %r7, [%r6];\n" BARRIER " st.shared.u32 [%r5], %r0;\n"), 1, 64, NONE);
	expect(KERNEL(" st.shared.u32 [%r5], %r0; setp.lt.u32 %p1, %r2, 16; @%p1 bra A;\n barrier.sync 0; bra B;\n"
	              "A: barrier.sync 0;\nB:" OTHER_WARP " ld.shared.u32 %r7, [%r6];\n"), 1, 64, NONE);
}

static void a_barrier_of_fewer_threads(void **state)
{
	expect(KERNEL(" st.shared.u32 [%r5], %r0; bar.sync 0, 32;\n" NEXT_WORD " ld.shared.u32 %r7, [%r6];\n"), 1, 32, NONE);
	expect(KERNEL(" mov.u32 %r8, 32; setp.gt.u32 %p1, %r3, 0; @%p1 ret; st.shared.u32 [%r5], %r0; bar.sync 1, %r8;\n"
	              NEXT_WORD " st.shared.u32 [%r6], %r7;\n"), 1, 64, NONE);
	/* pairs of warps: 0 and 1, 2 and 3 at a barrier of theirs; then 0 and 2, 1 and 3 */
	expect(KERNEL(" st.shared.u32 [%r5], %r0; shr.u32 %r8, %r3, 1; add.u32 %r8, %r8, 1; bar.sync %r8, 64;\n" OTHER_WARP
	              " st.shared.u32 [%r6], %r7;\n"), 1, 128, NONE);
	expect(KERNEL(" st.shared.u32 [%r5], %r0; and.b32 %r8, %r3, 1; add.u32 %r8, %r8, 1; bar.sync %r8, 64;\n" THREAD(7) OTHER_WARP
	              " @%p1 st.shared.u32 [%r6], %r7;\n"), 1, 128, RACES(1));
}

static void who_arrives_goes_on(void **state)
{
	expect(KERNEL(" setp.ne.u32 %p1, %r3, 0; @%p1 bra B; st.shared.u32 [%r5], %r0; bar.arrive 1, 64; ret;\n"
	              "B: bar.sync 1, 64;\n" OTHER_WARP " ld.shared.u32 %r7, [%r6];\n"), 1, 64, NONE);
	expect(KERNEL(" setp.ne.u32 %p1, %r3, 0; @%p1 bra B; bar.arrive 1, 64; st.shared.u32 [%r5], %r0; ret;\n"
	              "B: bar.sync 1, 64;\n" OTHER_WARP " ld.shared.u32 %r7, [%r6];\n"), 1, 64, RACES(1));
}

/* ---- blocks ---- */
static void blocks(void **state)
{
	expect(KERNEL(" st.global.u32 [%rd2], %r1;\n"), 2, 32, RACES(1));
	expect(KERNEL(" atom.global.add.u32 %r7, [%rd1], 1;\n"), 4, 64, NONE);
	expect(KERNEL(" atom.cta.global.add.u32 %r7, [%rd1], 1;\n"), 4, 64, RACES(1));
	expect(KERNEL(" ld.global.u32 %r7, [%rd2];\n"), 4, 64, NONE);
	expect(KERNEL(" ld.global.u32 %r7, [%rd2];" BLOCK(3) " @%p2 st.global.u32 [%rd2], %r7;\n"), 4, 64, RACES(1));
}

/* The same memory in the next launch. */
static void launches_are_not_compared(void **state)
{
	struct race_rig r = race_new(configs[0], KERNEL(" st.global.u32 [%rd2], %r0; st.shared.u32 [%r5], %r0;\n"));
	struct ws_mem *m = rig_mem(&r.rig, 1 << 12);
	uint64_t params[] = { m->addr };

	for (int k = 0; k < 3; k++)
		rig_run(&r.rig, "k", 1, 32 << k, params);
	compare(&r, &NONE);
	race_free(&r);
}

/* No slot is needed when the launch has room for the cells; a size that only looks like it has none. */
static void cells_in_shared_memory(void **state)
{
	static const char text[] = KERNEL(" st.shared.u32 [%r5], %r0;\n" OTHER_WARP " ld.shared.u32 %r7, [%r6];\n");

	for (uint32_t more = 0; more < 2; more++) {
		struct race_rig r = race_new(configs[0], text);
		struct ws_mem *m = rig_mem(&r.rig, 1 << 12);
		uint64_t params[] = { m->addr };

		r.tables.device.slots[0].count = 0;
		race_set(r.rig.mod, &r.tables);
		r.rig.shared = race_shared_size(r.rig.mod, "k", 64) + more;
		rig_run(&r.rig, "k", 1, 64, params);
		compare(&r, more ? &(struct expected){ .not_checked = 128 } : &RACES(2));      /* see a_word_each */
		race_free(&r);
	}
}

static uint64_t told(const struct race_tables *t)
{
	const struct ws_race_found *f;
	uint64_t n = 0;

	for (uint32_t k = 0; (f = race_found(t, k)); k++)
		n += t->seen[f - t->found].count;
	return n;
}

/* Each of 64 words is written by a thread and read by one of the other warp: one race a word, found by one of them, or at the same
 * moment by both. How many rows they are
 * depends on which warp is ahead: thread 0 writes the 0 that was there, and where its word was read before, that row has a flag. */
static void a_word_each(void **state)
{
	static const char text[] = KERNEL(" st.shared.u32 [%r5], %r0;\n" OTHER_WARP " ld.shared.u32 %r7, [%r6];\n");

	for (uint32_t k = 0; k < 2 * nconfigs(); k++) {
		struct race_rig r = ran_with(k % 2, &configs[k / 2], text, 1, 64);

		assert_in_range(told(&r.tables), 64, 128);
		race_free(&r);
	}
}

/* Without cells in shared memory nothing is written there but our own, at whatever address it begins: what the kernel has
 * there stays as it is; else threads write to one word. */
static void shared_memory_stays_as_it_is(void **state)
{
	static const char text[] = KERNEL(" st.shared.u32 [%r5], %r0;\n" BARRIER
		" mul.wide.u32 %rd3, %r0, 8; add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], -1;\n" BARRIER
		" ld.shared.u32 %r7, [%r5]; setp.ne.u32 %p3, %r7, %r0; @%p3 st.global.u32 [%rd1+32768], %r0;\n");

	expect(text, 1, 1024, NONE);
}

/* ---- bytes ---- */
static void bytes_of_a_word(void **state)
{
	#define BYTE " cvt.u64.u32 %rd3, %r0; add.u64 %rd3, %rd1, %rd3; mov.u32 %r7, 1; st.global.u8 [%rd3], %r7;\n"
	expect(KERNEL(BYTE), 1, 4, NONE);
	#define NO_PROOF " ld.global.u32 %r9, [%rd2]; add.u32 %r4, %r4, %r9;\n"  /* of where a thread's own words are; it is 0 */
	for (enum in_shared more = NOTHING_MORE; more < WAYS; more++) {          /* a row, but where the cells are elsewhere */
		struct race_rig r = ran_with(more, configs, KERNEL(NO_PROOF " add.u32 %r6, %r4, %r0; st.shared.u8 [%r6], %r0;\n"), 1, 4);

		compare(&r, &(struct expected){ .lost = more == ITS_CELLS ? 0 : 3 });
		race_free(&r);
	}
	expect(KERNEL(NO_PROOF " add.u32 %r6, %r4, %r0; st.shared.u8 [%r6], %r0; add.u32 %r7, %r0, 1; st.shared.u8 [%r6], %r7;\n"), 1, 1, NONE);
	expect(KERNEL(" st.shared.u8 [%r4+1], %r0;\n"), 1, 32, RACES(1));
	expect(KERNEL(" shr.u32 %r6, %r0, 1; shl.b32 %r6, %r6, 1; add.u32 %r6, %r4, %r6; st.shared.u16 [%r6], %r0;\n"), 1, 2, RACES(1));
	#define EIGHT NO_PROOF " shl.b32 %r6, %r0, 3; add.u32 %r6, %r4, %r6; mov.u64 %rd3, 1; st.shared.u64 [%r6], %rd3;\n"
	expect(KERNEL(EIGHT " ld.shared.u64 %rd4, [%r6];\n" BARRIER " ld.shared.u64 %rd4, [%r4]; st.global.u64 [%rd1+1024], %rd4;\n"), 1, 1, NONE);
	expect(KERNEL(EIGHT BARRIER " ld.shared.u64 %rd4, [%r4];\n"), 1, 96, NONE);
	expect(KERNEL(EIGHT THREAD(1) " @%p1 ld.shared.u64 %rd4, [%r4];\n"), 1, 2, RACES(1));
	expect(KERNEL(EIGHT THREAD(1) " @%p1 st.shared.v2.u32 [%r4], {%r0, %r0};\n"), 1, 2, RACES(1));      /* as a whole not of one value */
	#define COUNTS_8 " mov.u64 %rd3, 1; atom.shared.add.u64 %rd4, [%r4], %rd3;\n"
	expect(KERNEL(EIGHT BARRIER COUNTS_8 BARRIER " ld.shared.u64 %rd4, [%r4];\n"), 1, 96, NONE);
	expect(KERNEL(THREAD(1) " mov.u64 %rd3, 5; @%p1 st.shared.u64 [%r4], %rd3;\n" COUNTS_8), 1, 2, RACES(1));
	#define ONE_COUNTS_8 " setp.eq.u32 %p2, %r0, 7; mov.u64 %rd3, 1; @%p2 atom.shared.add.u64 %rd4, [%r4], %rd3;\n" THREAD(40)
	expect(KERNEL(ONE_COUNTS_8 " @%p1 ld.shared.u32 %r7, [%r4+4];\n"), 1, 64, RACES(1));
	expect(KERNEL(ONE_COUNTS_8 " @%p1 atom.shared.add.u32 %r7, [%r4+4], 1;\n"), 1, 64, RACES(1));       /* of another size */
	expect(KERNEL(ONE_COUNTS_8 " @%p1 atom.shared.add.u64 %rd4, [%r4], %rd3;\n"), 1, 64, NONE);
	expect(KERNEL(" st.global.v4.u32 [%rd1], {%r0, %r0, %r0, %r0};\n"), 1, 1, NONE);
	expect(KERNEL(" shl.b32 %r6, %r0, 3; cvt.u64.u32 %rd3, %r6; add.u64 %rd3, %rd1, %rd3; ld.global.v4.u32 {%r7, %r8, %r9, %r10},"
	              " [%rd1];\n" THREAD(1) " @%p1 st.global.u64 [%rd3], %rd3;\n"), 1, 2, RACES(1));
}

/* Lanes have read bytes of one word, each its own, or that of one beside: what may be the writer's own byte is forgotten. */
static void bytes_that_lanes_read(void **state)
{
	#define MY_BYTE NO_PROOF " and.b32 %r6, %r0, 31; add.u32 %r6, %r4, %r6; setp.lt.u32 %p2, %r0, 32;\n"
	static const struct { const char *text; uint32_t block; struct expected e; } cases[] = {
		{ KERNEL(MY_BYTE " @%p2 ld.shared.u8 %r7, [%r6];\n" THREAD(40) " @%p1 st.shared.u8 [%r4+2], %r0;\n"), 64, { .races = 1 } },
		{ KERNEL(MY_BYTE " and.b32 %r8, %r6, 1; setp.eq.and.u32 %p2, %r8, 0, %p2; @%p2 ld.shared.u8 %r7, [%r6];\n" THREAD(40) " @%p1 st.shared.u8 [%r4+1], %r0;\n"), 64, { 0 } },
		{ KERNEL(MY_BYTE " @%p2 ld.shared.u8 %r7, [%r6];\n" BARRIER THREAD(40) " @%p1 st.shared.u8 [%r4+2], %r0;\n"), 64, { 0 } },
		{ KERNEL(MY_BYTE " ld.shared.u8 %r7, [%r6]; ld.shared.u8 %r7, [%r6]; ld.shared.u32 %r7, [%r4];\n"), 96, { 0 } },
		{ KERNEL(MY_BYTE " ld.shared.u8 %r7, [%r6]; bar.warp.sync -1;\n" THREAD(5) " @%p1 st.shared.u8 [%r4+2], %r0;\n"), 32, { 0 } },
		{ KERNEL(MY_BYTE " ld.shared.u8 %r7, [%r6];\n" THREAD(5) " @%p1 st.shared.u8 [%r4+2], %r0;\n"), 32, { .races = 1 } },
		{ KERNEL(MY_BYTE " ld.shared.u8 %r7, [%r6];\n" THREAD(5) " @%p1 st.shared.u8 [%r4+5], %r0;\n"), 32, { 0 } },
		/* One of them has read all four. */
		{ KERNEL(MY_BYTE " ld.shared.u8 %r7, [%r6];\n" THREAD(0) " @%p1 ld.shared.u32 %r7, [%r4];\n" THREAD(1) " @%p1 st.shared.u8 [%r4+1], %r0;\n"), 32, { .lost = 1 } },
		{ KERNEL(MY_BYTE " ld.shared.u8 %r7, [%r6]; ld.shared.u8 %r7, [%r6+1];\n" THREAD(5) " @%p1 st.shared.u8 [%r4+6], %r0;\n"), 32, { .lost = 1 } },
		{ KERNEL(MY_BYTE " setp.ge.u32 %p2, %r0, 32; @%p2 ld.shared.u8 %r7, [%r6]; mov.u32 %r8, 0;\n"
			"LATER: add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 2000; @%p3 bra LATER;\n" THREAD(5) " @%p1 st.shared.u8 [%r4+2], %r0;\n"), 96, { .races = 1 } },
		{ KERNEL(MY_BYTE " ld.shared.u8 %r7, [%r6]; mov.u32 %r8, 0;\n"
			"LATER: add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 2000; @%p3 bra LATER;\n" THREAD(5) " @%p1 st.shared.u8 [%r4+2], %r0;\n"), 96, { .races = 1 } },
		{ KERNEL(MY_BYTE " @%p2 ld.shared.u8 %r7, [%r4+2];\n" THREAD(40) " @%p1 st.shared.u8 [%r4+2], %r0;\n"), 64, { .races = 1 } },
		{ KERNEL(MY_BYTE " ld.shared.u8 %r7, [%r4+2];\n" THREAD(5) " @%p1 st.shared.u8 [%r4+2], %r0;\n"), 32, { .races = 1 } },        /* all of them have read it */
	};

	for (unsigned k = 0; k < WS_COUNT(cases); k++) {
		struct race_rig r = ran_with(ITS_CELLS, configs, cases[k].text, 1, cases[k].block);

		compare(&r, &cases[k].e);
		race_free(&r);
	}
}

/* ---- whole lines ---- */
static uint32_t cells_for(const char *text, uint32_t grid, uint32_t block)
{
	struct race_rig r = ran(configs, text, grid, block);
	uint32_t cells = r.tables.counts->cells;

	compare(&r, &NONE);
	race_free(&r);
	return cells;
}

/* The word of the thread in the grid, 4 << shift bytes. */
#define GLOBAL(shift) " mov.u32 %r10, %ntid.x; mad.lo.u32 %r10, %r10, %r1, %r0; shl.b32 %r10, %r10, 2+" #shift ";\n" \
	" cvt.u64.u32 %rd3, %r10; add.u64 %rd3, %rd1, %rd3;\n"

static void whole_lines_need_no_cells(void **state)
{
	assert_int_equal(cells_for(KERNEL(GLOBAL(0) " ld.global.u32 %r7, [%rd3]; st.global.u32 [%rd3], %r7;\n"), 4, 64), 0);
	assert_int_equal(cells_for(KERNEL(GLOBAL(1) " ld.global.u64 %rd4, [%rd3]; st.global.u64 [%rd3], %rd4;\n"), 4, 64), 0);
	assert_int_equal(cells_for(KERNEL(GLOBAL(2) " ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd3];\n"
	                                  " st.global.v4.u32 [%rd3], {%r7, %r8, %r9, %r10};\n"), 4, 64), 0);
	assert_int_equal(cells_for(KERNEL(" ld.global.u32 %r7, [%rd2];\n"), 4, 64), 0);
	assert_int_equal(cells_for(KERNEL(GLOBAL(0) " st.global.u32 [%rd3], %r7;\n"), 1, 40), 1);
}

/* Rows of 2^lanes threads, 512 bytes apart; each has 4 << shift bytes. */
#define ROWS(lanes, shift) " and.b32 %r10, %r0, (1<<" #lanes ")-1; shl.b32 %r10, %r10, 2+" #shift "; shr.u32 %r11, %r0, " #lanes "; shl.b32 %r11, %r11, 9;\n" \
	" add.u32 %r10, %r10, %r11; cvt.u64.u32 %rd3, %r10; add.u64 %rd3, %rd1, %rd3;\n"

static void whole_lines_by_some_lanes(void **state)
{
	assert_int_equal(cells_for(KERNEL(ROWS(4, 0) " ld.global.u32 %r7, [%rd3]; st.global.u32 [%rd3], %r7;\n"), 1, 64), 0);
	assert_int_equal(cells_for(KERNEL(ROWS(3, 1) " ld.global.u64 %rd4, [%rd3]; st.global.u64 [%rd3], %rd4;\n"), 1, 64), 0);
	assert_int_equal(cells_for(KERNEL(ROWS(2, 2) " ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd3];\n"
	                                  " st.global.v4.u32 [%rd3], {%r7, %r8, %r9, %r10};\n"), 1, 32), 0);
	assert_int_equal(cells_for(KERNEL(ROWS(3, 0) " st.global.u32 [%rd3], %r7;\n"), 1, 64), 8);              /* half a line */
	assert_int_equal(cells_for(KERNEL(ROWS(4, 0) " setp.lt.u32 %p1, %r2, 16; @%p1 st.global.u32 [%rd3], %r7;\n"), 1, 64), 0);
	assert_int_equal(cells_for(KERNEL(ROWS(4, 0) " setp.lt.u32 %p1, %r2, 24; @%p1 st.global.u32 [%rd3], %r7;\n"), 1, 64), 2);
}

/* ---- words side by side ----
 * Warps that access words side by side, from any word on, by any lanes side by side, in phases between barriers. Whether that
 * has races, and at which words, is compared with what is true of each pair of accesses. */
enum { P_PHASES = 3, P_BLOCKS = 2, P_WARPS = 2, P_ALL = P_PHASES * P_BLOCKS * P_WARPS, P_WORDS = 128, P_AREAS = 20, P_ROUNDS = 60 };
struct by_warp { uint32_t word, lanes, op, reserved; };          /* the word of lane 0; lanes: first | last << 8; op: 1 reads, 2 writes */

#define PHASE(n) " add.u64 %rd4, %rd2, " #n "*64; ld.global.v2.u32 {%r8, %r9}, [%rd4]; ld.global.u32 %r10, [%rd4+8];\n" \
	" and.b32 %r11, %r9, 255; shr.u32 %r12, %r9, 8; setp.ge.u32 %p1, %r2, %r11; setp.le.and.u32 %p1, %r2, %r12, %p1;\n" \
	" setp.eq.and.u32 %p2, %r10, 1, %p1; setp.eq.and.u32 %p3, %r10, 2, %p1; add.u32 %r8, %r8, %r2; mul.wide.u32 %rd5, %r8, 4;\n" \
	" add.u64 %rd5, %rd1, %rd5; @%p2 ld.global.u32 %r13, [%rd5]; @%p3 st.global.u32 [%rd5], %r2;\n" BARRIER
#define PHASES KERNEL(" mad.lo.u32 %r6, %r1, 2, %r3; mul.wide.u32 %rd2, %r6, 16; add.u64 %rd2, %rd1, %rd2;\n" \
	PHASE(0) PHASE(1) PHASE(2))

static uint32_t any(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % n;
}

/* area: the words that they are about. Mostly disjoint ones. */
static void choose(struct by_warp *a, uint32_t *state, uint32_t area)
{
	uint32_t apart = any(state, 4), few = any(state, 3);

	for (uint32_t k = 0; k < P_ALL; k++) {
		uint32_t first = any(state, 3) ? 0 : any(state, 32), last = any(state, 3) ? 31 : first + any(state, 32 - first);
		uint32_t word = apart ? k % (P_BLOCKS * P_WARPS) * 32 + apart * 3 : any(state, P_WORDS - 32);

		a[k] = (struct by_warp){ P_ALL * 4 + area * P_WORDS + word, first | last << 8, few && any(state, 4) ? 0 : any(state, 3), 0 };
		if (apart && !any(state, 12))
			a[k].word += any(state, 20);
	}
}

/* The lane of an access at a word, or -1. */
static int lane_at(const struct by_warp *a, uint32_t word)
{
	uint32_t lane = word - a->word;

	return a->op && lane >= (a->lanes & 255) && lane <= a->lanes >> 8 ? (int)lane : -1;
}

static bool races_at(const struct by_warp *all, uint32_t word)
{
	for (uint32_t i = 0; i < P_ALL; i++)
		for (uint32_t k = 0; k < i; k++) {
			bool same_block = i / P_WARPS % P_BLOCKS == k / P_WARPS % P_BLOCKS, same_phase = i / (P_BLOCKS * P_WARPS) == k / (P_BLOCKS * P_WARPS);

			if (lane_at(&all[i], word) >= 0 && lane_at(&all[k], word) >= 0 && (all[i].op == 2 || all[k].op == 2) &&
			    (!same_block || same_phase))
				return true;
		}
	return false;
}

static void words_side_by_side_by(const struct ws_gpu_config *c, uint32_t seed)
{
	struct race_rig r = race_new(*c, PHASES);
	struct ws_mem *m = rig_mem(&r.rig, (P_ALL * 4 + (P_AREAS + 1) * P_WORDS) * 4);
	uint64_t params[] = { m->addr };
	uint32_t racy = 0, rounds = rig_rounds(P_ROUNDS);

	for (uint32_t n = 0; n < rounds; n++) {
		struct by_warp *all = (void *)m->host;
		const struct ws_race_found *f;
		bool races = false;

		memset(r.tables.found, 0, r.tables.nfound * sizeof *r.tables.found);
		memset(r.tables.seen, 0, r.tables.nfound * sizeof *r.tables.seen);
		choose(all, &seed, n % P_AREAS);
		for (uint32_t word = 0; word < P_ALL * 4 + (P_AREAS + 1) * P_WORDS; word++)
			races |= races_at(all, word);
		rig_run(&r.rig, "k", P_BLOCKS, P_WARPS * 32, params);
		if (races != !!race_found(&r.tables, 0))
			fail_msg("seed %u, round %u: %s", seed, n, races ? "the race is not told" : "there is no race");
		for (uint32_t k = 0; (f = race_found(&r.tables, k)); k++)
			assert_true(races_at(all, (uint32_t)(f->address - m->addr) / 4));
		racy += races;
		assert_int_equal(r.tables.counts->lost, 0);
	}
	assert_true(racy && racy < rounds);
	race_free(&r);
}

static void words_side_by_side(void **state)
{
	for (uint32_t k = 0; k < nconfigs(); k++)
		words_side_by_side_by(&configs[k], 1 + k);
}

/* In kernels that read nothing, a write takes the place of what its word's cell has, and that is what it is compared with. */
static void writes_where_nothing_is_read(void **state)
{
	/* Every other word, so that there are cells; then those again, 2 * (thread ^ `other`). */
	#define WRITE_TWICE(order, other, value) KERNEL(" mul.wide.u32 %rd4, %r0, 8; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], 777;\n" order \
		" xor.b32 %r6, %r0, " #other "; mul.wide.u32 %rd6, %r6, 8; add.s64 %rd7, %rd1, %rd6; st.global.u32 [%rd7], " value ";\n")
	static const char racy[] = WRITE_TWICE("", 32, "%r0");
	struct race_rig r = ran(configs, racy, 1, 64);

	assert_non_null(strstr(strstr(r.text.data, ".entry k"), "atom.global.exch.b64"));
	race_free(&r);
	expect(racy, 1, 64, RACES(2));
	expect(WRITE_TWICE("", 0, "%r0"), 1, 64, NONE);
	expect(WRITE_TWICE(BARRIER, 32, "%r0"), 1, 64, NONE);
	expect(WRITE_TWICE(BARRIER, 5, "%r0"), 1, 64, NONE);
	expect(WRITE_TWICE(" bar.warp.sync -1;\n", 5, "%r0"), 1, 64, NONE);
	expect(WRITE_TWICE(" bar.warp.sync -1;\n", 32, "%r0"), 1, 64, RACES(2));
	expect(KERNEL(" mul.wide.u32 %rd4, %r0, 8; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], %r1;\n"), 2, 64, RACES(1));
	expect(KERNEL(" xor.b32 %r6, %r3, 1; mul.wide.u32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], %r0;\n" BARRIER
	              " st.global.u32 [%rd5+4], 1;\n"), 1, 32, RACES(2));     /* lanes, of several values and of one */
}

/* A line as a warp wrote it is looked at word by word, and the other way round. */
static void lines_and_words(void **state)
{
	#define LINE_THEN(order, then) KERNEL(" st.global.u32 [%rd2], %r0;\n" order " xor.b32 %r6, %r0, 32; mul.wide.u32 %rd3, %r6, 4;" \
		" add.u64 %rd3, %rd1, %rd3; mul.wide.u32 %rd4, %r6, 16; add.u64 %rd4, %rd1, %rd4;\n" then)
	#define THREAD_40 " setp.eq.u32 %p1, %r0, 40; @%p1"
	expect(LINE_THEN(BARRIER, THREAD_40 " st.global.u32 [%rd3], %r0;\n"), 1, 64, NONE);
	expect(LINE_THEN("", THREAD_40 " st.global.u32 [%rd3], %r0;\n"), 1, 64, RACES(1));
	expect(LINE_THEN("", THREAD_40 " ld.global.u32 %r7, [%rd3];\n"), 1, 64, RACES(1));
	expect(LINE_THEN("", " setp.lt.u32 %p1, %r0, 32; @%p1 ld.global.u32 %r7, [%rd3];\n"), 1, 64, RACES(1));
	expect(LINE_THEN("", THREAD_40 " st.global.u32 [%rd2], %r0;\n"), 1, 64, NONE);
	expect(LINE_THEN(" bar.warp.sync -1;\n", " setp.lt.u32 %p1, %r0, 32; @%p1 bra E; xor.b32 %r6, %r0, 5; mul.wide.u32 %rd3, %r6, 4;"
	                 " add.u64 %rd3, %rd1, %rd3; ld.global.u32 %r7, [%rd3];\nE:"), 1, 64, NONE);
	expect(LINE_THEN(BARRIER, " ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd4];\n" BARRIER " st.global.u32 [%rd2], %r0;\n"), 1, 64,
	       NONE);
	expect(LINE_THEN(BARRIER, " ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd4]; st.global.u32 [%rd2], %r0;\n"), 1, 64, RACES(2));
}

/* What several blocks have read is kept for the line. */
static void a_line_that_blocks_read(void **state)
{
	expect(KERNEL(" ld.global.u32 %r7, [%rd2];" BLOCK(3) " @%p2 st.global.u32 [%rd2], %r7;\n"), 4, 32, RACES(1));
	expect(KERNEL(" ld.global.u32 %r7, [%rd2];" BARRIER " setp.eq.u32 %p1, %r3, 1; @%p1 bra E; ld.global.u32 %r8, [%rd2+128];"
	              BARRIER " bra F;\nE:" BARRIER "F:" BARRIER " st.global.u32 [%rd2], %r7;\n"), 1, 64, NONE);
}

/* Reads of four words side by side are one check, with a place for each. */
static void four_words(void **state)
{
	#define FOUR_AT(at) " ld.global.u32 %r7, [" at "]; ld.global.u32 %r8, [" at "+4]; ld.global.u32 %r9, [" at "+8];" \
		" ld.global.u32 %r10, [" at "+12];\n"
	#define WRITES_TWO " setp.eq.u32 %p1, %r0, 40; @%p1 st.global.u32 [%rd1+4], %r0; @%p1 st.global.u32 [%rd1+8], %r0;\n"
	#define THEN_FOUR(order, who, at) KERNEL(WRITES_TWO order " setp.ne.u32 %p2, %r0, " who "; @%p2 bra E;\n" FOUR_AT(at) "E:")
	expect(THEN_FOUR(BARRIER, "0", "%rd1"), 1, 64, NONE);
	expect(THEN_FOUR("", "0", "%rd1"), 1, 64, RACES(2));
	expect(THEN_FOUR("", "40", "%rd1"), 1, 64, NONE);
	expect(THEN_FOUR("", "0", "%rd1+4"), 1, 64, RACES(2));          /* not aligned */
	expect(THEN_FOUR("", "0", "%rd1+8"), 1, 64, RACES(1));
	expect(KERNEL(" mul.wide.u32 %rd4, %r2, 16; add.u64 %rd4, %rd1, %rd4; st.global.u32 [%rd2+1024], %r0;\n" FOUR_AT("%rd4") BARRIER
	              " @%p1 bra E; st.global.u32 [%rd2], %r0;\nE:"), 1, 64, NONE);
}

/* ---- one word by many ---- */
/* Reads by lanes, warps and blocks that no entry names one by one. */
static void a_word_that_many_read(void **state)
{
	#define ALL_READ(order) KERNEL(" ld.global.u32 %r7, [%rd1];\n" order THREAD(70) " @%p1 st.global.u32 [%rd1], %r0;\n")
	expect(ALL_READ(BARRIER), 1, 96, NONE);
	expect(ALL_READ(BARRIER " ld.global.u32 %r8, [%rd1];\n" BARRIER), 1, 96, NONE);
	expect(ALL_READ(""), 1, 96, RACES(2));
	expect(ALL_READ(BARRIER), 3, 96, RACES(3));
	expect(KERNEL(THREAD(0) " @%p1 ld.global.u8 %r7, [%rd1]; @%p1 ld.global.u8 %r8, [%rd1+1];\n" THREAD(40)
	              " @%p1 st.global.u8 [%rd1], %r0;\n"), 1, 64, RACES(1));
}

/* The entry says of atomics by several blocks no more than that; warps that have seen none of them write the word. */
static void a_word_of_atomics_by_blocks(void **state)
{
	#define ATOMICS(order, who) KERNEL(" setp.eq.u32 %p1, %r3, 0; @%p1 red.global.add.u32 [%rd1], 1; @%p1 red.global.add.u32 [%rd1], 1;\n" \
		order " setp.eq.u32 %p1, %r0, 40; setp.eq.u32 %p2, %r1, " who "; and.pred %p1, %p1, %p2; @%p1 st.global.u32 [%rd1], %r0;\n")
	struct race_rig r;

	expect(ATOMICS(BARRIER, "0"), 1, 64, NONE);
	r = ran(configs, ATOMICS(BARRIER, "3"), 4, 64);
	assert_non_null(race_found(&r.tables, 0));
	assert_int_equal(race_found(&r.tables, 0)->pair, WS_RACE_WRITE_AFTER_WRITE);
	assert_int_equal(race_found(&r.tables, 0)->other_class, WS_RACE_ATOMIC_GPU);
	race_free(&r);
	expect(ATOMICS(BARRIER, "9"), 4, 64, NONE);
}

/* An index that was loaded, 0: nothing is known of the address, and its check stands there. */
#define LOADED " ld.global.u32 %r9, [%rd1+16384]; mul.wide.u32 %rd3, %r9, 4; add.u64 %rd1, %rd1, %rd3;\n"

/* A compare-and-swap that finds something else than it compares with has only read. Memory is 0. */
static void swaps(void **state)
{
	#define SWAP_IN(warp, swap, other) KERNEL(" setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.eq.u32 %p2, %r3, " warp "; mov.u32 %r7, 5; mov.u64 %rd3, 5;\n" \
		" mov.u16 %h1, 5; mov.u64 %rd6, %rd1; @%p2 bra SWAP;\n " other " bra DONE;\nSWAP: " swap " st.global.u32 [%rd6+64], %r7;\nDONE:\n")
	#define EITHER_FIRST(swap, other, races) \
		expect(SWAP_IN("0", swap, other), 1, 64, races); \
		expect(SWAP_IN("1", swap, other), 1, 64, races)
	#define READS " ld.global.u32 %r8, [%rd1];"
	#define WRITES " st.global.u32 [%rd1], 7;"

	EITHER_FIRST("atom.global.cas.b32 %r8, [%rd1], 5, 7;", READS, NONE);
	EITHER_FIRST("atom.global.cas.b32 %r8, [%rd1], 5, 7;", " ld.volatile.global.u32 %r8, [%rd1];", NONE);
	EITHER_FIRST("atom.global.cas.b32 %r8, [%rd1], 5, 7;", " red.global.add.u32 [%rd1], 0;", NONE);
	EITHER_FIRST("atom.global.cas.b32 %r8, [%rd1], 5, 7;", WRITES, RACES(1));
	EITHER_FIRST("atom.global.cas.b32 %r8, [%rd1], 0, 7;", READS, RACES(1));
	EITHER_FIRST("atom.global.cas.b32 %r8, [%rd1], 0, 7;", " ld.volatile.global.u32 %r8, [%rd1];", NONE);
	EITHER_FIRST("atom.cas.b32 %r8, [%rd1], 5, 7;", READS, NONE);
	EITHER_FIRST("atom.cas.b32 %r8, [%rd1], 0, 7;", READS, RACES(1));
	EITHER_FIRST("@!%p1 atom.global.cas.b32 %r8, [%rd1], 5, 7;", READS, NONE);
	EITHER_FIRST("@%p1 atom.global.cas.b32 %r8, [%rd1], 0, 7;", READS, NONE);
	/* what it compares with, or its address, is where its result comes */
	EITHER_FIRST("atom.global.cas.b32 %r7, [%rd1], %r7, 3;", READS, NONE);
	EITHER_FIRST("sub.u32 %r7, %r7, 5; atom.global.cas.b32 %r7, [%rd1], %r7, 3;", READS, RACES(1));
	EITHER_FIRST("atom.global.cas.b64 %rd1, [%rd1], %rd3, %rd3;", READS, NONE);
	EITHER_FIRST("sub.u64 %rd4, %rd3, 5; atom.global.cas.b64 %rd1, [%rd1], %rd4, %rd3;", " ld.global.u64 %rd7, [%rd1];", RACES(1));
	EITHER_FIRST("atom.global.cas.b16 %h1, [%rd1], %h1, %h1;", READS, NONE);
	EITHER_FIRST("mov.u16 %h2, 0; atom.global.cas.b16 %h2, [%rd1], %h2, %h1;", READS, RACES(1));
	EITHER_FIRST("atom.shared.cas.b32 %r8, [%r4], 5, 7;", " ld.shared.u32 %r8, [%r4];", NONE);
	EITHER_FIRST("atom.shared.cas.b32 %r8, [%r4], 5, 7;", " st.shared.u32 [%r4], 7;", RACES(1));
	EITHER_FIRST("atom.shared.exch.b32 %r8, [%r4], 0; atom.shared.cas.b32 %r8, [%r4], 0, 7;", " ld.volatile.shared.u32 %r8, [%r4];", NONE);
	/* one that succeeds, and one that does not */
	EITHER_FIRST("atom.global.cas.b32 %r8, [%rd1], 0, 7; atom.global.cas.b32 %r8, [%rd1], 0, 9;", READS, RACES(1));
	EITHER_FIRST("atom.global.cas.b32 %r8, [%rd1], 5, 7; atom.global.cas.b32 %r8, [%rd1], 0, 9;", READS, RACES(1));
}

/* Who waits for a word by compare-and-swap has read it many times, and written it once: of that, others are told. */
static void swaps_again_and_again(void **state)
{
	#define WAITING(before, behind) WAITING_BY("atom.global.cas.b32", before, behind)
	#define WAITING_BY(swap, before, behind) KERNEL(LOADED " setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; setp.eq.u32 %p2, %r3, 0; @%p2 bra GIVES;\n" \
		"TRY: " swap " %r7, [%rd1], 1, 2; setp.ne.u32 %p3, %r7, 1; @%p3 bra TRY;\n membar.gl; ld.global.u32 %r8, [%rd1+512]; bra DONE;\n" \
		"GIVES: mov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 300; @%p3 bra L;\n st.global.u32 [%rd1+512], 3; " before \
		" membar.gl; atom.global.exch.b32 %r7, [%rd1], 1; " behind "\nDONE:\n")
	#define WAIT_FOR_2 " S: ld.volatile.global.u32 %r7, [%rd1]; setp.ne.u32 %p3, %r7, 2; @%p3 bra S;\n"

	expect(WAITING("", ""), 1, 64, NONE);
	expect(WAITING_BY("atom.cas.b32", "", ""), 1, 64, NONE);         /* which memory it is comes out when it runs */
	/* it has seen what the swap has written */
	expect(WAITING("", WAIT_FOR_2 " ld.global.u32 %r8, [%rd1];"), 1, 64, ((struct expected){ .any_undecided = true }));
	expect(WAITING("", WAIT_FOR_2 " st.global.u32 [%rd1], 5;"), 1, 64, ((struct expected){ .any_undecided = true }));
}

/* Told more often than WS_RACE_OFTEN: samples of the word are left, and another race there is still found. Also in a kernel in which threads
 * acquire, where writes are entered before they look. */
static void a_race_again_and_again(void **state)
{
	#define AGAIN_AND_AGAIN(before) KERNEL(before " mov.u32 %r8, 0;\nL: add.s64 %rd1, %rd1, 0; st.global.u32 [%rd1], %r0; add.u32 %r8, %r8, 1;" \
		" setp.lt.u32 %p1, %r8, 400; @%p1 bra L;\n ld.global.u32 %r7, [%rd1];\n")
	static const char *const texts[] = {
		AGAIN_AND_AGAIN(""),
		AGAIN_AND_AGAIN(LOADED " membar.gl; atom.global.exch.b32 %r7, [%rd1+4096], 0; membar.gl;\n"),
	};

	for (uint32_t k = 0; k < rig_ways(WS_COUNT(texts), 1); k++) {
		struct race_rig r = ran(configs, texts[k], 1, 64);

		assert_in_range(told(&r.tables), WS_RACE_OFTEN, 2 * WS_RACE_OFTEN);
		assert_true(r.tables.counts->sampled > 0);
		race_free(&r);
	}
}

/* A read of several words tells of each, whether one thread has written them or several. */
static void races_of_words_side_by_side(void **state)
{
	#define READER(read, bytes, n) " setp.eq.u32 %p2, %r1, 0; @%p2 bra WRITER; setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE; mov.u32 %r8, 0;\n" \
		"L: " read " [%rd1]; add.u64 %rd1, %rd1, " #bytes "; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, " #n "; @%p1 bra L; bra DONE;\nWRITER: "
	static const char *const texts[] = {
		KERNEL(READER("ld.global.u64 %rd4,", 8, 32) "st.global.u32 [%rd2], %r0;\nDONE:\n"),
		KERNEL(READER("ld.global.u64 %rd4,", 8, 32) "mul.wide.u32 %rd2, %r0, 8; add.u64 %rd2, %rd1, %rd2; st.global.u64 [%rd2], %rd1;\nDONE:\n"),
		KERNEL(READER("ld.global.v2.u64 {%rd4, %rd5},", 16, 16) "st.global.u32 [%rd2], %r0;\nDONE:\n"),
		KERNEL(READER("ld.global.v2.u64 {%rd4, %rd5},", 16, 16) "mul.wide.u32 %rd2, %r0, 8; add.u64 %rd2, %rd1, %rd2; st.global.u64 [%rd2], %rd1;\nDONE:\n"),
	};

	for (size_t k = 0; k < WS_COUNT(texts); k++) {
		struct race_rig r = ran(configs, texts[k], 2, 64);

		compare(&r, &RACES(1));
		assert_int_equal(told(&r.tables), 64);
		assert_int_equal(race_found(&r.tables, 0)->bytes, 4);
		race_free(&r);
	}
}

/* Many words with races of several pairs of places: most come to be sampled, and how often they are told of is bounded. */
static void races_of_many_words(void **state)
{
	struct race_rig r = ran(configs, KERNEL(" and.b32 %r6, %r0, 31; mov.u32 %r8, 0;\nL: mad.lo.u32 %r7, %r8, 32, %r6; mul.wide.u32 %rd3, %r7, 4;"
	                                        " add.u64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r0; st.global.u32 [%rd3], %r8; add.u32 %r8, %r8, 1;"
	                                        " setp.lt.u32 %p1, %r8, 256; @%p1 bra L;\n st.global.u32 [%rd3+1024], %r0;\n"), 1, 128);
	uint32_t n = 0;

	while (race_found(&r.tables, n))
		n++;
	assert_true(n >= 2);
	assert_in_range(r.tables.counts->sampled, WS_RACE_MANY, 1 << 16);
	assert_in_range(told(&r.tables), WS_RACE_OFTEN, 8 * WS_RACE_OFTEN);
	race_free(&r);
}

/* So many checks that they are calls. */
static void checks_by_calls(void **state)
{
	#define TURN(order) " st.shared.u32 [%r5], %r0; st.global.u32 [%rd2], %r0;\n" BARRIER OTHER_WARP " ld.shared.u32 %r7, [%r6];" \
		" xor.b32 %r8, %r0, 32; mul.wide.u32 %rd3, %r8, 4; add.u64 %rd3, %rd1, %rd3; ld.global.u32 %r7, [%rd3];" \
		" red.global.add.u32 [%rd1+4096], 1; ld.shared.u8 %r9, [%r6];\n" order
	#define THREE(x) x x x
	#define TURNS THREE(THREE(TURN(BARRIER))) THREE(TURN(BARRIER))
	expect(KERNEL(TURNS), 1, 64, NONE);
	expect(KERNEL(TURNS TURN("") " st.shared.u32 [%r5], %r0; st.global.u32 [%rd2], %r0;\n"), 1, 64, RACES(5));
}

/* ---- release and acquire ---- */
#define MESSAGE(fence1, fence2) KERNEL( \
	" setp.ne.u32 %p1, %r0, 0; setp.ne.u32 %p2, %r1, 0; @%p1 bra DONE; @%p2 bra READER;\n" \
	" st.global.u32 [%rd1], 7;\n" fence1 " st.volatile.global.u32 [%rd1+4096], 1; bra DONE;\n" \
	"READER: ld.volatile.global.u32 %r7, [%rd1+4096]; setp.eq.u32 %p3, %r7, 0; @%p3 bra READER;\n" fence2 \
	" ld.global.u32 %r8, [%rd1];\nDONE:\n")

static void messages(void **state)
{
	expect(MESSAGE(" membar.gl;\n", " membar.gl;\n"), 2, 32, NONE);
	expect(MESSAGE("", " membar.gl;\n"), 2, 32, RACES(1));
	expect(MESSAGE(" membar.gl;\n", ""), 2, 32, RACES(1));
	expect(MESSAGE(" membar.cta;\n", " membar.gl;\n"), 2, 32, RACES(1));
	expect(MESSAGE(" membar.gl; membar.cta;\n", " membar.gl;\n"), 2, 32, NONE);          /* the widest of them counts */
	expect(MESSAGE(" membar.sys; membar.gl;\n", " membar.sys; membar.cta; membar.gl;\n"), 2, 32, NONE);
}

/* Both have fenced so often before that a segment's beginning takes more bits than its word in shared memory has. */
static void messages_behind_many_fences(void **state)
{
	#define MANY_FENCES(fence) KERNEL( \
		" setp.ne.u32 %p1, %r0, 0; setp.ne.u32 %p2, %r1, 0; mov.u32 %r9, 0; @%p1 bra DONE;\n" \
		"F: membar.gl; add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 4200; @%p3 bra F; @%p2 bra READER;\n" \
		" st.global.u32 [%rd1], 7;\n" fence " st.volatile.global.u32 [%rd1+4096], 1; bra DONE;\n" \
		"READER: ld.volatile.global.u32 %r7, [%rd1+4096]; setp.eq.u32 %p3, %r7, 0; @%p3 bra READER; membar.gl;\n" \
		" ld.global.u32 %r8, [%rd1];\nDONE:\n")
	expect(MANY_FENCES(" membar.gl;\n"), 2, 32, NONE);
	expect(MANY_FENCES(""), 2, 32, RACES(1));
}

/* Who has waited for a flag, or by an atomic, and looks at other words before the fence: what was released at the first is not
 * forgotten. The writer comes late. */
static void messages_among_others(void **state)
{
	#define LATE(look, others) KERNEL( \
		" setp.ne.u32 %p1, %r0, 0; setp.ne.u32 %p2, %r1, 0; mov.u32 %r9, 0; @%p1 bra DONE; @%p2 bra READER;\n" \
		"L: add.u32 %r9, %r9, 1; ld.volatile.global.u32 %r7, [%rd1+8192]; setp.lt.u32 %p3, %r9, 40; @%p3 bra L;\n" \
		" st.global.u32 [%rd1], 7; membar.gl; st.volatile.global.u32 [%rd1+4096], 1; bra DONE;\n" \
		"READER: " look " %r7, [%rd1+4096]" others " ld.global.u32 %r8, [%rd1];\nDONE:\n")
	#define WAIT "; setp.eq.u32 %p3, %r7, 0; @%p3 bra READER;\n"
	#define CAS  ", 1, 2; setp.ne.u32 %p3, %r7, 1; @%p3 bra READER;\n"
	#define LOOK(at) " ld.volatile.global.u32 %r7, [%rd1+" at "];"
	#define ADD(at)  " atom.global.add.u32 %r7, [%rd1+" at "], 1;"
	expect(LATE("ld.volatile.global.u32", WAIT " membar.gl;\n"), 2, 32, NONE);
	expect(LATE("ld.volatile.global.u32", WAIT LOOK("5120") " membar.gl;\n"), 2, 32, NONE);
	expect(LATE("ld.volatile.global.u32", WAIT ADD("5120") LOOK("6144") ADD("7168") " membar.gl;\n"), 2, 32, NONE);
	expect(LATE("atom.global.cas.b32", CAS ADD("5120") " membar.gl;\n"), 2, 32, NONE);
	expect(LATE("atom.global.cas.b32", CAS ADD("5120") ADD("6144") ADD("7168") LOOK("7168") " membar.gl;\n"), 2, 32, NONE);
	expect(LATE("atom.global.cas.b32", CAS ADD("5120") ADD("6144") ADD("7168")), 2, 32, RACES(1));
}

/* All threads of block 0 write, and all of block 1 read what they wrote. */
static void messages_for_blocks(void **state)
{
	#define FLAG(before, after) KERNEL( \
		" setp.ne.u32 %p1, %r0, 0; setp.ne.u32 %p2, %r1, 0; @%p2 bra READER;\n" \
		" st.global.u32 [%rd2], 7;\n" before " @%p1 bra DONE; membar.gl; st.volatile.global.u32 [%rd1+4096], 1; bra DONE;\n" \
		"READER: @%p1 bra WAIT;\nSPIN: ld.volatile.global.u32 %r7, [%rd1+4096]; setp.eq.u32 %p3, %r7, 0; @%p3 bra SPIN;\n" \
		" membar.gl;\nWAIT:" after " xor.b32 %r6, %r0, 37; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd3, %rd1, %rd3;\n" \
		" ld.global.u32 %r8, [%rd3];\nDONE:\n")
	expect(FLAG(BARRIER, BARRIER), 2, 64, NONE);
	expect(FLAG("", BARRIER), 2, 64, RACES(1));
	expect(FLAG(BARRIER, ""), 2, 64, RACES(1));
}

/* A word under a lock, one thread of each warp. Without the fence before the unlocking, what was read by several blocks
 * is not decided: they have acquired something. */
static void locks(void **state)
{
	#define LOCKED(lock_fence, unlock_fence) KERNEL( \
		" setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;\n" \
		"LOCK: atom.global.cas.b32 %r7, [%rd1+4096], 0, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra LOCK;\n" lock_fence \
		" ld.global.u32 %r8, [%rd1]; add.u32 %r8, %r8, 1; st.global.u32 [%rd1], %r8;\n" unlock_fence \
		" atom.global.exch.b32 %r7, [%rd1+4096], 0;\nDONE:\n")
	expect(LOCKED(" membar.gl;\n", " membar.gl;\n"), 4, 64, NONE);
	expect(LOCKED("", " membar.gl;\n"), 4, 64, RACES(1));        /* one check for the load and the store */
	expect(LOCKED(" membar.gl;\n", ""), 4, 64, ((struct expected){ .races = 1, .any_undecided = true }));
}

/* One block goes without the lock: it writes, or reads, the word under the lock, or the lock itself by a weak store. Whoever comes second sees
 * it, though who has the lock enters what he does without a look. */
static void beside_a_lock(void **state)
{
	#define BESIDE(block, what) KERNEL( \
		LOADED " setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;\n" BLOCK(block) "@%p2 bra BESIDE;\n" \
		"LOCK: atom.global.cas.b32 %r7, [%rd1+4096], 0, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra LOCK;\n membar.gl;\n" \
		" st.global.u32 [%rd1], %r1;\n membar.gl; atom.global.exch.b32 %r7, [%rd1+4096], 0; bra DONE;\n" \
		"BESIDE: setp.ne.u32 %p1, %r3, 0; @%p1 bra DONE; " what "\nDONE:\n")
	enum { ANY_PAIR = 1 << WS_RACE_WRITE_AFTER_WRITE | 1 << WS_RACE_WRITE_AFTER_READ | 1 << WS_RACE_READ_AFTER_WRITE };
	static const struct { const char *text; uint32_t pairs; } ways[] = {     /* pairs: bit by bit */
		{ BESIDE(3, "st.global.u32 [%rd1], 7;"), 1 << WS_RACE_WRITE_AFTER_WRITE },
		{ BESIDE(3, "ld.global.u32 %r8, [%rd1];"), 1 << WS_RACE_WRITE_AFTER_READ | 1 << WS_RACE_READ_AFTER_WRITE },
		{ BESIDE(3, "st.global.u32 [%rd1+4096], 0;"), ANY_PAIR },             /* who has found it taken has read it */
		{ BESIDE(3, "ld.global.u32 %r8, [%rd1+4096];"), 1 << WS_RACE_WRITE_AFTER_READ | 1 << WS_RACE_READ_AFTER_WRITE },
		/* it comes first, in the first of the schedules: what the others enter must be judged by what was there */
		{ BESIDE(0, "st.global.u32 [%rd1], 7;"), 1 << WS_RACE_WRITE_AFTER_WRITE },
		{ BESIDE(0, "ld.global.u32 %r8, [%rd1];"), 1 << WS_RACE_WRITE_AFTER_READ | 1 << WS_RACE_READ_AFTER_WRITE },
		{ BESIDE(0, "st.global.u32 [%rd1+4096], 0;"), ANY_PAIR },
		{ BESIDE(0, "ld.global.u32 %r8, [%rd1+4096];"), 1 << WS_RACE_WRITE_AFTER_READ | 1 << WS_RACE_READ_AFTER_WRITE },
	};

	for (size_t k = 0; k < WS_COUNT(ways); k++) {
		for (uint32_t c = 0; c < nconfigs(); c++) {
			struct race_rig r = ran(&configs[c], ways[k].text, 4, 64);
			const struct ws_race_found *f;
			uint32_t n = 0;

			for (; (f = race_found(&r.tables, n)); n++)
				assert_true(ways[k].pairs >> f->pair & 1);
			assert_true(n > 0);
			race_free(&r);
		}
	}
}

/* Every block publishes what its threads wrote, by an atomic on one word; the last one reads it all: the releases of the
 * word are a long chain, and in the second launch another one before it. */
#define LAST_BLOCK(publish, spread) KERNEL(GLOBAL(0) \
	" add.u64 %rd4, %rd1, 32768; st.global.u32 [%rd3], %r0;\n" spread THREAD(0) " mov.u32 %r11, 0; @!%p1 bra W;\n" publish \
	" atom.global.inc.u32 %r11, [%rd4], 79; membar.gl;\nW: mov.u32 %r9, s; @%p1 st.shared.u32 [%r9], %r11;\n" BARRIER \
	" ld.shared.u32 %r11, [%r9]; setp.ne.u32 %p3, %r11, 79; @%p3 bra E; mov.u32 %r8, 0;\n" \
	"L: mad.lo.u32 %r12, %r8, 64, %r0; shl.b32 %r12, %r12, 2; cvt.u64.u32 %rd5, %r12; add.u64 %rd5, %rd1, %rd5;\n" \
	" ld.global.u32 %r7, [%rd5]; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 80; @%p1 bra L;\nE:\n")

static void last_block(const char *text, uint32_t races)
{
	struct race_rig r = race_new(configs[2], text);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 16);
	uint64_t params[] = { m->addr };

	for (int k = 0; k < (races ? 1 : 2); k++)
		rig_run(&r.rig, "k", 80, 64, params);
	compare(&r, &(struct expected){ .races = races, .any_undecided = races });
	race_free(&r);
}

/* The same by reads of four words. */
#define LAST_BLOCK_BY_FOURS(publish, spread) KERNEL(GLOBAL(0) \
	" add.u64 %rd4, %rd1, 32768; st.global.u32 [%rd3], %r0;\n" spread THREAD(0) " mov.u32 %r11, 0; @!%p1 bra W;\n" publish \
	" atom.global.inc.u32 %r11, [%rd4], 79; membar.gl;\nW: mov.u32 %r9, s; @%p1 st.shared.u32 [%r9], %r11;\n" BARRIER \
	" ld.shared.u32 %r11, [%r9]; setp.ne.u32 %p3, %r11, 79; @%p3 bra E; mov.u32 %r13, 0; and.b32 %r14, %r0, 60;\n" \
	"L: mad.lo.u32 %r12, %r13, 64, %r14; shl.b32 %r12, %r12, 2; cvt.u64.u32 %rd5, %r12; add.u64 %rd5, %rd1, %rd5;\n" \
	FOUR_AT("%rd5") " add.u32 %r13, %r13, 1; setp.lt.u32 %p1, %r13, 80; @%p1 bra L;\nE:\n")

static void a_long_chain_of_releases(void **state)
{
	static const struct { const char *text; uint32_t races; } ways[] = {
		{ LAST_BLOCK(" membar.gl;\n", BARRIER), 0 },
		{ LAST_BLOCK_BY_FOURS(" membar.gl;\n", ""), 4 },
		{ LAST_BLOCK_BY_FOURS(" membar.gl;\n", BARRIER), 0 },
		{ LAST_BLOCK_BY_FOURS("", BARRIER), 4 },
		{ LAST_BLOCK("", BARRIER), 1 },                          /* nothing is released */
		{ LAST_BLOCK(" membar.gl;\n", ""), 1 },                 /* of thread 0 alone */
		{ LAST_BLOCK(" membar.gl;\n", " bar.warp.sync -1;\n"), 1 },    /* of its warp */
	};

	for (uint32_t k = 0; k < rig_ways(WS_COUNT(ways), 1); k++)
		last_block(ways[k].text, ways[k].races);
}

/* A thread that tries again and again to take a lock leaves one record for it. */
static void a_lock_that_is_taken_often(void **state)
{
	static const char often[] = KERNEL(" setp.ne.u32 %p1, %r2, 0; mov.u32 %r9, 0; @%p1 bra DONE;\n"
		"LOCK: atom.global.cas.b32 %r7, [%rd1+4096], 0, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra LOCK; membar.gl;\n"
		" ld.global.u32 %r8, [%rd1]; add.u32 %r8, %r8, 1; st.global.u32 [%rd1], %r8; membar.gl;\n"
		" atom.global.exch.b32 %r7, [%rd1+4096], 0; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 8; @%p2 bra LOCK;\nDONE:\n");

	for (uint32_t k = 1; k < nconfigs(); k++) {               /* else who waits has long turns */
		struct race_rig r = ran(&configs[k], often, 4, 64);

		compare(&r, &NONE);
		assert_in_range(r.tables.counts->records, 4 * 2 * 8, 5 * 4 * 2 * 8);
		race_free(&r);
	}
}

/* Who unlocks reads what it wrote when it locked: that is no acquire. Two locks in turn, or it would count as waiting. */
#define SECTION(at) " atom.global.cas.b32 %r7, [%rd1+" #at "], 0, 1; membar.gl;\n ld.global.u32 %r8, [%rd1]; add.u32 %r8, %r8, 1;\n" \
	" st.global.u32 [%rd1], %r8; membar.gl; atom.global.exch.b32 %r7, [%rd1+" #at "], 0;\n"

static void own_releases_are_not_acquired(void **state)
{
	static const char alone[] = KERNEL(" setp.ne.u32 %p1, %r2, 0; mov.u32 %r9, 0; @%p1 bra DONE;\nAGAIN:\n" SECTION(4096) SECTION(8192)
		" add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 16; @%p2 bra AGAIN;\nDONE:\n");
	struct race_rig r = ran(&configs[0], alone, 1, 32);

	compare(&r, &NONE);
	assert_in_range(r.tables.counts->records, 32, 32 * 3 + 8);       /* two releases a section, and what it acquires when it locks */
	race_free(&r);
}

/* Releases that stand in the rows of their words (race_release.cuh). */
static uint32_t folded_in(struct race_rig *r)
{
	const struct ws_race_device *d = &r->tables.device;
	const struct ws_race_location *row = (const void *)ws_gpu_mem_find(r->rig.g, d->locations)->host;
	uint32_t n = 0;

	for (uint32_t k = 0; k < 1u << d->locations_log2; k++)
		n += row[k].key && row[k].index >> 31;
	return n;
}

/* One fence, then strong writes to several words in turn, again and again: one release for each of them, whether two words or four. (The
 * reads are there so that somebody may hear them, and the weak one so that they are not proved.) */
#define HEARS(at) " ld.volatile.global.u32 %r7, [%rd1+" #at "];\n"
#define STRONG(at) " st.volatile.global.u32 [%rd1+" #at "], %r9;\n"
#define IN_TURN(writes) KERNEL(" setp.ne.u32 %p1, %r2, 0; mov.u32 %r9, 0; @%p1 bra DONE;\n" HEARS(4096) HEARS(4100) HEARS(8192) \
	HEARS(12288) HEARS(16384) " ld.global.u32 %r7, [%rd1+4096]; membar.gl;\nAGAIN:\n" writes \
	" add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 16; @%p2 bra AGAIN;\nDONE:\n")

static void releases_are_not_made_twice(void **state)
{
	static const struct { const char *text; uint32_t releases; } ways[] = {
		{ IN_TURN(STRONG(4096)), 1 },
		{ IN_TURN(STRONG(4096) STRONG(8192)), 2 },
		{ IN_TURN(STRONG(4096) STRONG(8192) STRONG(4096) STRONG(12288) STRONG(16384)), 4 },
		{ IN_TURN(" st.volatile.global.v2.u32 [%rd1+4096], {%r9, %r9};\n" STRONG(4100)), 2 },
		{ IN_TURN(STRONG(4100) " st.volatile.global.v2.u32 [%rd1+4096], {%r9, %r9};\n"), 2 },
		{ IN_TURN(" st.release.gpu.global.u32 [%rd1+4096], %r9;\n"), 16 },     /* each is at a time of its own */
	};

	for (size_t k = 0; k < WS_COUNT(ways); k++) {
		struct race_rig r = ran(&configs[0], ways[k].text, 1, 32);

		compare(&r, &NONE);
		assert_int_equal(r.tables.counts->records + folded_in(&r), ways[k].releases);
		race_free(&r);
	}
}

/* Block 0 releases at one word what it wrote, block 1 at another one behind what `middle` does, and block 2 reads. */
#define RELAY(middle) KERNEL( \
	" setp.ne.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r1, 1; setp.eq.u32 %p3, %r1, 2; @%p2 bra MIDDLE; @%p1 bra DONE; @%p3 bra READER;\n" \
	" st.global.u32 [%rd1], 7; membar.gl; atom.global.exch.b32 %r7, [%rd1+4096], 1; bra DONE;\n" \
	"MIDDLE:" middle " bra DONE;\n" \
	"READER: ld.volatile.global.u32 %r7, [%rd1+8192]; setp.eq.u32 %p3, %r7, 0; @%p3 bra READER; membar.gl;\n" \
	" ld.global.u32 %r8, [%rd1];\nDONE:\n")
#define TAKES(n) " setp.ne.u32 %p4, %r0, " #n "; @%p4 bra TAKEN;\nWAIT: ld.volatile.global.u32 %r7, [%rd1+4096]; setp.eq.u32 %p3, %r7, 0;" \
	" @%p3 bra WAIT; membar.gl;\nTAKEN:\n"
#define GIVES " @%p1 bra DONE; membar.gl; atom.global.exch.b32 %r7, [%rd1+8192], 1;"

/* A release has no record as long as it is the only one of its word, and by a thread that knows no more than it has done. */
static void folded_releases(void **state)
{
	static const char alone[] = KERNEL(" setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;\n" SECTION(4096) SECTION(8192) "DONE:\n");
	struct race_rig r = ran(&configs[0], alone, 1, 32);

	compare(&r, &NONE);
	assert_int_equal(folded_in(&r), 2);
	assert_int_equal(r.tables.counts->records, 0);
	race_free(&r);
	expect(RELAY(TAKES(0) GIVES), 3, 64, NONE);
	expect(RELAY(TAKES(1) GIVES), 3, 64, RACES(1));
	expect(RELAY(TAKES(33) GIVES), 3, 64, RACES(1));
	expect(RELAY(TAKES(1) " bar.warp.sync 0xffffffff;\n" GIVES), 3, 64, NONE);
	expect(RELAY(TAKES(1) " setp.gt.u32 %p4, %r0, 1; @%p4 bra DONE; bar.warp.sync 3;\n" GIVES), 3, 64, NONE);
	expect(RELAY(TAKES(33) BARRIER GIVES), 3, 64, NONE);
}

/* Between the look of a thread that acquires and its chain the thread that has released puts a later release in the place of the first. */
struct later_release {
	struct race_tables *tables;
	struct ws_gpu *g;
	unsigned moved;
};

static void release_later(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	enum { ONE_SUB = 1 << 6 };
	struct later_release *l = self;
	const struct ws_race_device *d = &l->tables->device;
	struct ws_race_location *row = (void *)ws_gpu_mem_find(l->g, d->locations)->host;
	uint64_t at = a->addr[__builtin_ctz(a->mask)];

	if (a->kind != WS_WRITE || at < d->records || at - d->records > (uint64_t)d->nrecords * WS_RACE_RECORD_BYTES || l->moved)
		return;
	for (uint32_t n = 0; n < 1u << d->locations_log2; n++)
		if (row[n].key && row[n].index >> 31) {
			row[n].release += ONE_SUB;
			l->moved++;
		}
}

static void folded_releases_that_change_meanwhile(void **state)
{
	static const struct ws_observer_ops ops = { .abi = WS_OBSERVER_ABI, .name = "later", .needs = WS_NEED_GLOBAL, .access = release_later };
	struct race_rig r = race_new(configs[0], MESSAGE(" membar.gl;\n", " membar.gl;\n"));
	struct ws_mem *m = rig_mem(&r.rig, 1 << 16);
	struct later_release later = { .tables = &r.tables, .g = r.rig.g };
	uint64_t params[] = { m->addr };

	ws_gpu_observe(r.rig.g, &ops, &later);
	rig_run(&r.rig, "k", 2, 32, params);
	assert_int_equal(later.moved, 1);
	assert_int_equal(folded_in(&r), 0);
	compare(&r, &NONE);
	race_free(&r);
}

/* The same word in the launches that follow: what the first one released is no release of theirs. */
static void folded_releases_of_other_launches(void **state)
{
	struct race_rig r = race_new(configs[0], KERNEL(" setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;\n" SECTION(4096) "DONE:\n"));
	struct ws_mem *m = rig_mem(&r.rig, 1 << 16);
	uint64_t params[] = { m->addr };

	for (uint32_t k = 0; k < 3; k++) {
		rig_run(&r.rig, "k", 1, 32, params);
		assert_int_equal(folded_in(&r), !k);
		assert_int_equal(r.tables.counts->records, 2 * k);       /* the second makes a chain of it, the third acquires what the second released */
	}
	compare(&r, &NONE);
	race_free(&r);
}

/* But what another thread has released there meanwhile is acquired: as many releases more, and not its own; in the second it has
 * released before it acquires. The 20,000 rounds are for the other warp. */
#define MEANWHILE(before) KERNEL(" setp.eq.u32 %p2, %r3, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; @%p2 bra OTHER;\n" before \
	" mov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 20000; @%p3 bra L;\n" \
	" atom.global.exch.b32 %r7, [%rd1+4096], 1; setp.ne.u32 %p3, %r7, 5; @%p3 bra DONE;\n membar.gl; ld.global.u32 %r8, [%rd1];\n" \
	" st.global.u32 [%rd1+64], %r8; bra DONE;\nOTHER: mov.u32 %r9, 0;\nM: add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 5000; @%p3 bra M;\n" \
	" st.global.u32 [%rd1], 7; membar.gl; atom.global.exch.b32 %r7, [%rd1+4096], 5;\nDONE:\n")

static void meanwhile(const char *text)
{
	struct race_rig r = race_new(configs[0], text);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 16);
	uint64_t params[] = { m->addr };

	rig_run(&r.rig, "k", 1, 64, params);
	assert_int_equal(((const uint32_t *)(const void *)m->host)[16], 7);    /* it came between */
	compare(&r, &NONE);
	race_free(&r);
}

static void releases_between_own_ones(void **state)
{
	meanwhile(MEANWHILE(" membar.gl; atom.global.exch.b32 %r7, [%rd1+4096], 1; membar.gl;\n"));
	meanwhile(MEANWHILE(" membar.gl; st.relaxed.gpu.global.u32 [%rd1+4096], 1; ld.acquire.gpu.global.u32 %r7, [%rd1+4096];\n"));
}

/* A release is counted before it is linked where many release at once (link_at_once). One that is counted when a thread acquires the word, and is
 * linked when the thread looks again, is new to it. Here it is taken out of the word's row, and put back, when the program reads the words behind
 * these marks. */
enum { UNLINK_AT = 64, LINK_AT = 128, LOCK_AT = 4096 };
struct late_release {
	struct race_tables *tables;
	struct ws_gpu *g;
	uint64_t buffer;
	uint32_t release;                /* the record; 0 = it is where it belongs */
	unsigned moved;
};

static struct ws_race_location *row_of_lock(const struct late_release *l)
{
	const struct ws_race_device *d = &l->tables->device;
	struct ws_race_location *row = (void *)ws_gpu_mem_find(l->g, d->locations)->host;

	for (uint32_t n = 0; n < 1u << d->locations_log2; n++)
		if (row[n].key == ((l->buffer + LOCK_AT) | 2))
			return &row[n];
	return NULL;
}

static void move_release(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct late_release *l = self;
	uint32_t lane = (uint32_t)__builtin_ctz(a->mask);
	struct ws_race_record *records = (void *)ws_gpu_mem_find(l->g, l->tables->device.records)->host;
	struct ws_race_location *row = row_of_lock(l);

	if (a->addr[lane] == l->buffer + UNLINK_AT) {
		assert_non_null(row);
		l->release = row->release;
		row->release = records[l->release].previous;
		l->moved++;
	} else if (a->addr[lane] == l->buffer + LINK_AT) {
		records[l->release].previous = row->release;
		row->release = l->release;
		l->moved++;
	}
}

static void releases_that_are_counted_but_not_linked(void **state)
{
	static const struct ws_observer_ops ops = { .abi = WS_OBSERVER_ABI, .name = "late", .needs = WS_NEED_GLOBAL, .access = move_release };
	static const char text[] = KERNEL(" setp.eq.u32 %p2, %r3, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE; @%p2 bra OTHER;\n mov.u32 %r9, 0;\n"
		"L: add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 20000; @%p3 bra L;\n membar.gl; ld.global.u32 %r8, [%rd1+64];\n"
		" atom.global.add.u32 %r7, [%rd1+4096], 0; membar.gl; ld.global.u32 %r8, [%rd1+128];\n"
		" atom.global.add.u32 %r7, [%rd1+4096], 0; setp.ne.u32 %p3, %r7, 5; @%p3 bra DONE;\n membar.gl; ld.global.u32 %r8, [%rd1];\n"
		" st.global.u32 [%rd1+256], %r8; bra DONE;\n"
		"OTHER: mov.u32 %r9, 0; st.global.u32 [%rd1], 7;\nM: membar.gl; add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 40; @%p3 bra M;\n"
		" atom.global.exch.b32 %r7, [%rd1+4096], 5;\nDONE:\n");   /* behind so many fences that it is not folded */
	struct race_rig r = race_new(configs[0], text);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 16);
	struct late_release late = { .tables = &r.tables, .g = r.rig.g, .buffer = m->addr };
	uint64_t params[] = { m->addr };

	ws_gpu_observe(r.rig.g, &ops, &late);
	rig_run(&r.rig, "k", 1, 64, params);
	assert_int_equal(late.moved, 2);
	assert_int_equal(((const uint32_t *)(const void *)m->host)[64], 7);
	compare(&r, &NONE);
	race_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_cells_is_counted),
		cmocka_unit_test(own_words_do_not_race), cmocka_unit_test(a_barrier_orders),
		cmocka_unit_test(without_a_barrier), cmocka_unit_test(lanes_of_a_warp), cmocka_unit_test(lanes_of_an_instruction), cmocka_unit_test(blocks_that_wait_for_each_other),
		cmocka_unit_test(many_syncs), cmocka_unit_test(long_kernels), cmocka_unit_test(long_kernels_that_write_now_and_then),
		cmocka_unit_test(segments_are_taken_again), cmocka_unit_test(what_was_summed_up), cmocka_unit_test(epochs_begin_anew),
		cmocka_unit_test(syncs_of_some_lanes), cmocka_unit_test(syncs_of_what_is_left), cmocka_unit_test(barriers_of_what_is_left),
		cmocka_unit_test(a_barrier_of_fewer_threads), cmocka_unit_test(who_arrives_goes_on), cmocka_unit_test(blocks),
		cmocka_unit_test(launches_are_not_compared), cmocka_unit_test(cells_in_shared_memory), cmocka_unit_test(a_word_each),
		cmocka_unit_test(shared_memory_stays_as_it_is),
		cmocka_unit_test(bytes_of_a_word), cmocka_unit_test(bytes_that_lanes_read), cmocka_unit_test(whole_lines_need_no_cells), cmocka_unit_test(whole_lines_by_some_lanes), cmocka_unit_test(words_side_by_side), cmocka_unit_test(writes_where_nothing_is_read),
		cmocka_unit_test(lines_and_words), cmocka_unit_test(a_line_that_blocks_read),
		cmocka_unit_test(four_words), cmocka_unit_test(a_word_that_many_read),
		cmocka_unit_test(a_word_of_atomics_by_blocks), cmocka_unit_test(swaps), cmocka_unit_test(swaps_again_and_again),
		cmocka_unit_test(a_race_again_and_again), cmocka_unit_test(races_of_many_words),
		cmocka_unit_test(races_of_words_side_by_side),
		cmocka_unit_test(checks_by_calls), cmocka_unit_test(messages), cmocka_unit_test(messages_behind_many_fences),
		cmocka_unit_test(messages_among_others),
		cmocka_unit_test(messages_for_blocks), cmocka_unit_test(locks), cmocka_unit_test(a_long_chain_of_releases),
		cmocka_unit_test(a_lock_that_is_taken_often), cmocka_unit_test(own_releases_are_not_acquired), cmocka_unit_test(releases_are_not_made_twice),
		cmocka_unit_test(folded_releases), cmocka_unit_test(folded_releases_of_other_launches),
		cmocka_unit_test(folded_releases_that_change_meanwhile),
		cmocka_unit_test(releases_between_own_ones), cmocka_unit_test(releases_that_are_counted_but_not_linked),
		cmocka_unit_test(beside_a_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
