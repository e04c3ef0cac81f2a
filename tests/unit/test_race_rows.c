/* test_race_rows.c - src/device/race.cu: bytes and halves of words, of global memory and of shared memory, that the lanes of a warp access side by side.
 * What is told is compared, byte by byte, with what is true of each pair of accesses. */
#include "noise.h"
#include "race_rig.h"

static const struct ws_gpu_config configs[] = {
	{ .divergence = WS_DIV_ITS, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 1, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 2, .host_threads = 2 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_PRIORITY, .seed = 3, .host_threads = 1 },
};

static uint32_t nconfigs(void) { return rig_ways(WS_COUNT(configs), 2); }

/* %r0 thread, %r2 lane, %r3 warp of the block, computed so that no proof spares the checks; %rd1 the buffer. */
#define KERNEL(body) PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n" \
	" .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n" \
	" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %lanemask_eq; bfind.u32 %r2, %r2; shr.u32 %r3, %r0, 5;\n" \
	body " ret;\n}\n"

/* ---- random ones ----
 * In each phase, between barriers, each warp does two things one after the other. */
enum { PHASES = 3, STEPS = 2, BLOCKS = 2, WARPS = 2, ALL = PHASES * STEPS * BLOCKS * WARPS, PLACES = 160, ROUNDS = 120 };
enum { NOTHING, READS, WRITES, READS_AND_WRITES, OPS };
struct step { uint32_t place, lanes, op, size; };        /* the byte of lane 0; lanes: first | last << 8; bytes of each lane */

/* n-th of the warp; of its place %rd5, or %r17 of shared memory. */
#define ACCESS(space, place, type, size) " setp.eq.and.u32 %p4, %r11, " size ", %p2; @%p4 ld." space "." type " %r13, [" place "];\n" \
	" setp.eq.and.u32 %p4, %r11, " size ", %p3; @%p4 st." space "." type " [" place "], %r2;\n"
#define ACCESSES(space, place) ACCESS(space, place, "u8", "1") ACCESS(space, place, "u16", "2") ACCESS(space, place, "u32", "4")
#define STEP(n, accesses) " add.u64 %rd4, %rd2, " #n "*64; ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd4];\n" \
	" and.b32 %r14, %r9, 255; shr.u32 %r12, %r9, 8; setp.ge.u32 %p1, %r2, %r14; setp.le.and.u32 %p1, %r2, %r12, %p1; and.b32 %r15, %r10, 1; and.b32 %r16, %r10, 2;\n" \
	" setp.ne.and.u32 %p2, %r15, 0, %p1; setp.ne.and.u32 %p3, %r16, 0, %p1; mad.lo.u32 %r8, %r2, %r11, %r8; cvt.u64.u32 %rd5, %r8; add.u64 %rd5, %rd1, %rd5;\n" \
	accesses
#define BARRIER " bar.sync 0;\n"
#define STEPS_OF(accesses) " mad.lo.u32 %r6, %r1, 2, %r3; mul.wide.u32 %rd2, %r6, 16; add.u64 %rd2, %rd1, %rd2;\n" \
	STEP(0, accesses) STEP(1, accesses) BARRIER STEP(2, accesses) STEP(3, accesses) BARRIER STEP(4, accesses) STEP(5, accesses)
static const char text[] = KERNEL(STEPS_OF(ACCESSES("global", "%rd5")));
/* The same of shared memory: what lies in global memory behind the steps lies there, and its address here. */
static const char shared_text[] = KERNEL(" .shared .align 4 .b8 s[1024]; mov.u32 %r16, s; or.b32 %r17, %r0, %r1; setp.eq.u32 %p1, %r17, 0; @%p1 st.global.u32 [%rd1+384], %r16;\n"
	STEPS_OF(" mov.u32 %r17, s; add.u32 %r17, %r17, %r8; sub.u32 %r17, %r17, 384;\n" ACCESSES("shared", "%r17")));
enum memory { GLOBAL, SLOTS, HERE };                       /* where the cells of shared memory lie: in global memory, or there */
_Static_assert(sizeof(struct step) * BLOCKS * WARPS == 64 && sizeof(struct step) * ALL == 384, "as the kernel finds them");

static void choose(struct step *all, uint32_t area)
{
	uint32_t apart = below(3), size = 1u << below(2), mixed = !below(4), whole = below(4), begin = below(2) ? 4 : 1;

	for (uint32_t k = 0; k < ALL; k++) {
		uint32_t each = mixed ? 1u << below(3) : size, warp = k % (BLOCKS * WARPS);
		uint32_t first = whole || below(3) ? 0 : below(32), last = whole || below(3) ? 31 : first + below(32 - first);
		uint32_t place = apart ? warp * 32 * each + below(4) * (apart - 1) * each : below(PLACES / each) * each;

		place = place / begin * begin;
		all[k] = (struct step){ ALL * sizeof *all + area * 3 * PLACES + place, first | last << 8, below(5) ? below(OPS) : 0, each };
	}
}

/* The lane that accesses a byte, or -1. */
static int lane_at(const struct step *s, uint32_t byte)
{
	uint32_t lane = (byte - s->place) / s->size;

	return s->op && byte >= s->place && lane >= (s->lanes & 255) && lane <= s->lanes >> 8 ? (int)lane : -1;
}

/* Of two steps, of which `a` is the later one of a warp, or of another warp. */
static bool race_at(enum memory memory, const struct step *all, uint32_t a, uint32_t b, uint32_t byte)
{
	uint32_t warps = BLOCKS * WARPS, x = a % warps, y = b % warps;
	int lane = lane_at(&all[a], byte), other = lane_at(&all[b], byte);

	return lane >= 0 && other >= 0 && ((all[a].op | all[b].op) & WRITES) && (x != y || lane != other) &&
	       (x / WARPS != y / WARPS ? memory == GLOBAL : a / warps / STEPS == b / warps / STEPS);
}

static bool any_race(enum memory memory, const struct step *all)
{
	for (uint32_t a = 0; a < ALL; a++)
		for (uint32_t b = 0; b < a; b++)
			for (uint32_t byte = all[a].place; byte < all[a].place + 32 * all[a].size; byte++)
				if (race_at(memory, all, a, b, byte))
					return true;
	return false;
}

/* The step of a thread in a block, if it accesses the byte in that phase. */
static bool is_by(uint32_t step, uint32_t block, uint32_t thread, const struct step *all, uint32_t byte)
{
	return step % (BLOCKS * WARPS) == block * WARPS + thread / 32 && lane_at(&all[step], byte) == (int)(thread % 32);
}

/* Is there such a race, at a byte that it tells, of the threads that it tells? */
static bool is_true(enum memory memory, const struct step *all, const struct ws_race_found *f, uint64_t buffer)
{
	for (uint32_t byte = (uint32_t)(f->address - buffer); byte < f->address - buffer + f->bytes; byte++)
		for (uint32_t a = 0; a < ALL; a++)
			for (uint32_t b = 0; b < ALL; b++)
				if (a != b && race_at(memory, all, a, b, byte) && is_by(a, f->block, f->thread, all, byte) &&
				    (f->flags & WS_RACE_SEVERAL || is_by(b, f->other_block, f->other_thread, all, byte)))
					return true;
	return false;
}

static void sides(enum memory memory, const struct ws_gpu_config *c, uint32_t seed)
{
	struct race_rig r = race_new(*c, memory == GLOBAL ? text : shared_text);
	struct ws_mem *m = rig_mem(&r.rig, ALL * sizeof(struct step) + 21 * 3 * PLACES);
	uint64_t params[] = { m->addr }, lost = 0;
	uint32_t racy = 0, whole = 0, rounds = rig_rounds(ROUNDS);

	r.rig.shared = memory == HERE ? race_shared_size(r.rig.mod, "k", WARPS * 32) : 0;
	noise = seed;
	for (uint32_t n = 0; n < rounds; n++, lost = r.tables.counts->lost) {
		struct step *all = (void *)m->host;
		const struct ws_race_found *f;
		uint64_t begin = m->addr;
		bool races;

		memset(r.tables.found, 0, r.tables.nfound * sizeof *r.tables.found);
		memset(r.tables.seen, 0, r.tables.nfound * sizeof *r.tables.seen);
		choose(all, memory == GLOBAL ? n % 20 : 0);
		races = any_race(memory, all);
		rig_run(&r.rig, "k", BLOCKS, WARPS * 32, params);
		if (memory != GLOBAL)
			begin = *(uint32_t *)(void *)&all[ALL] - sizeof *all * ALL;
		for (uint32_t k = 0; (f = race_found(&r.tables, k)); k++)
			if (!is_true(memory, all, f, begin))
				fail_msg("seed %u, round %u: no such race: pair %u, byte %u, %u bytes, block %u thread %u, block %u thread %u, flags %u", seed, n, f->pair,
				         (uint32_t)(f->address - begin), f->bytes, f->block, f->thread, f->other_block, f->other_thread, f->flags);
		if (races && !race_found(&r.tables, 0) && r.tables.counts->lost == lost)
			fail_msg("seed %u, round %u: the race is not told", seed, n);
		racy += races;
		whole += races && r.tables.counts->lost == lost;
	}
	assert_int_equal(r.tables.counts->undecided, 0);
	assert_true(racy < rounds && (whole || c->schedule || memory == SLOTS));      /* other schedules part the lanes of a warp */
	race_free(&r);
}

static void all_sides(enum memory memory)
{
	for (uint32_t k = 0; k < nconfigs(); k++)
		for (uint32_t n = 0; n < 2; n++)
			sides(memory, &configs[k], 1 + 4 * k + n);
}

static void side_by_side(void **state) { all_sides(GLOBAL); }
static void in_shared_memory(void **state) { all_sides(HERE); }
static void in_slots(void **state) { all_sides(SLOTS); }

/* ---- what is one entry ---- */
/* The lane's place, of so many bytes, behind the buffer's beginning. */
#define PLACE(bytes) " mov.u32 %r10, %ntid.x; mad.lo.u32 %r10, %r10, %r1, %r3; and.b32 %r11, %r0, -32; mad.lo.u32 %r10, %r1, 64, %r11; add.u32 %r10, %r10, %r2;\n" \
	" mul.lo.u32 %r10, %r10, " #bytes "; cvt.u64.u32 %rd3, %r10; add.u64 %rd3, %rd1, %rd3;\n"

/* Is a race told? all: and nothing is forgotten. */
static void tells_in(enum memory memory, const char *kernel, bool races, bool all)
{
	for (uint32_t k = 0; k < nconfigs(); k++) {
		struct race_rig r = race_new(configs[k], kernel);
		struct ws_mem *m = rig_mem(&r.rig, 1 << 12);
		uint64_t params[] = { m->addr };
		uint32_t n = 0;

		r.rig.shared = memory == HERE ? race_shared_size(r.rig.mod, "k", 64) : 0;
		rig_run(&r.rig, "k", 4, 64, params);
		while (race_found(&r.tables, n))
			n++;
		assert_int_equal(n > 0, races);
		if (all && !configs[k].schedule)
			assert_int_equal(r.tables.counts->lost, 0);
		race_free(&r);
	}
}

static void tells(const char *kernel, bool races, bool all) { tells_in(GLOBAL, kernel, races, all); }

static void bytes_in_place(void **state)
{
	tells(KERNEL(PLACE(1) " ld.global.u8 %r7, [%rd3+64]; st.global.u8 [%rd3+64], %r7; ld.global.u8 %r7, [%rd3+64];\n"), 0, true);
	tells(KERNEL(PLACE(2) " ld.global.u16 %r7, [%rd3+64]; st.global.u16 [%rd3+64], %r7; ld.global.u16 %r7, [%rd3+64];\n"), 0, true);
	tells(KERNEL(PLACE(1) " st.global.u8 [%rd3+64], %r7;\n" BARRIER " ld.global.u8 %r7, [%rd3+64]; ld.global.u8 %r7, [%rd3+64];\n"), 0, true);
}

/* What lies around, read by all: each byte has several readers. */
static void bytes_around(void **state)
{
	tells(KERNEL(PLACE(1) " ld.global.u8 %r7, [%rd3+63]; ld.global.u8 %r7, [%rd3+64]; ld.global.u8 %r7, [%rd3+65]; st.global.u8 [%rd3+1024], %r7;\n"), false, false);
}

/* Without a sync a lane's byte is read by its neighbour; by one instruction, and by two. */
static void bytes_of_neighbours(void **state)
{
	tells(KERNEL(PLACE(1) " st.global.u8 [%rd3+64], %r7; xor.b32 %r10, %r2, 1; sub.u32 %r10, %r10, %r2; cvt.s64.s32 %rd4, %r10; add.s64 %rd4, %rd3, %rd4;\n"
	             " ld.global.u8 %r7, [%rd4+64];\n"), true, false);
	tells(KERNEL(PLACE(1) " ld.global.u8 %r7, [%rd3+64]; setp.eq.u32 %p1, %r2, 5; @%p1 st.global.u8 [%rd3+66], %r7;\n"), true, false);
	tells(KERNEL(PLACE(1) " ld.global.u8 %r7, [%rd3+64]; setp.eq.u32 %p1, %r2, 5; @%p1 st.global.u8 [%rd3+64], %r7;\n"), false, false);
}

/* Of shared memory, of which the cells lie there; the thread's place is %r10. */
#define SHARED(bytes, body) KERNEL(" .shared .align 4 .b8 s[1024]; mov.u32 %r10, s; and.b32 %r11, %r0, -32; add.u32 %r11, %r11, %r2; mad.lo.u32 %r10, %r11, " #bytes ", %r10;\n" body)

static void shared_in_place(void **state)
{
	tells_in(HERE, SHARED(1, " ld.shared.u8 %r7, [%r10+64]; st.shared.u8 [%r10+64], %r7; ld.shared.u8 %r7, [%r10+64]; st.shared.u8 [%r10+64], %r7;\n"), false, true);
	tells_in(HERE, SHARED(2, " ld.shared.u16 %r7, [%r10+64]; st.shared.u16 [%r10+64], %r7; bar.warp.sync -1; ld.shared.u16 %r7, [%r10+64];\n"), false, true);
	tells_in(HERE, SHARED(1, " st.shared.u8 [%r10+64], %r7;\n" BARRIER " ld.shared.u8 %r7, [%r10+64]; ld.shared.u8 %r7, [%r10+65];\n"), false, true);
}

/* Two lanes in four have a half of a word each. */
#define TWO_IN_FOUR " and.b32 %r11, %r2, 2; setp.eq.u32 %p1, %r11, 0;\n"
static void shared_by_some_lanes(void **state)
{
	tells_in(HERE, SHARED(2, TWO_IN_FOUR " @%p1 st.shared.u16 [%r10], %r7; @%p1 ld.shared.u16 %r7, [%r10]; @%p1 st.shared.u16 [%r10], %r7;\n"), false, true);
	tells_in(HERE, SHARED(2, TWO_IN_FOUR " @%p1 st.shared.u16 [%r10], %r7; xor.b32 %r12, %r10, 64; @%p1 ld.shared.u16 %r7, [%r12];\n"), true, true);
	tells_in(HERE, SHARED(1, " setp.ne.u32 %p1, %r2, 30; @%p1 st.shared.u8 [%r10], %r7; xor.b32 %r12, %r10, 32; setp.eq.u32 %p1, %r2, 29;"
	                         " @%p1 ld.shared.u8 %r7, [%r12];\n"), true, true);
}

/* The halves of a word are of lanes that are 16 apart. */
#define FAR_APART(body) SHARED(2, " and.b32 %r12, %r2, 15; shl.b32 %r12, %r12, 1; shr.u32 %r13, %r2, 4; add.u32 %r12, %r12, %r13; sub.u32 %r12, %r12, %r2;\n" \
	" mad.lo.u32 %r10, %r12, 2, %r10; xor.b32 %r12, %r10, 64; xor.b32 %r13, %r10, 2;\n" body)
static void halves_far_apart(void **state)
{
	tells_in(HERE, FAR_APART(" st.shared.u16 [%r10], %r7; ld.shared.u16 %r8, [%r10]; st.shared.u16 [%r10], %r8;\n" BARRIER " ld.shared.u16 %r7, [%r12];\n"), false, true);
	tells_in(HERE, FAR_APART(" st.shared.u16 [%r10], %r7; setp.eq.u32 %p1, %r2, 3; @%p1 ld.shared.u16 %r7, [%r12];\n"), true, true);
	tells_in(HERE, FAR_APART(" st.shared.u16 [%r10], %r7; setp.eq.u32 %p1, %r2, 19; @%p1 ld.shared.u16 %r7, [%r12];\n"), true, true);
	tells_in(HERE, FAR_APART(" st.shared.u16 [%r10], %r7; setp.eq.u32 %p1, %r2, 19; @%p1 ld.shared.u16 %r7, [%r13];\n"), true, true);
	tells_in(HERE, FAR_APART(" st.shared.u16 [%r10], %r7; setp.eq.u32 %p1, %r2, 3; @%p1 ld.shared.u16 %r7, [%r13];\n"), true, true);
	tells_in(HERE, FAR_APART(" st.shared.u16 [%r10], %r7; bar.warp.sync -1; ld.shared.u16 %r7, [%r13];\n"), false, true);
}

/* In place, without a barrier between what neighbours read and what is written: told where warps meet. */
static void shared_stencil(void **state)
{
	tells_in(HERE, SHARED(1, " ld.shared.u8 %r7, [%r10+63]; ld.shared.u8 %r8, [%r10+64]; ld.shared.u8 %r9, [%r10+65]; st.shared.u8 [%r10+64], %r7;\n"), true, false);
	tells_in(HERE, SHARED(2, " ld.shared.u16 %r7, [%r10+62]; ld.shared.u16 %r8, [%r10+64]; ld.shared.u16 %r9, [%r10+66]; st.shared.u16 [%r10+64], %r7;\n"), true, false);
	tells_in(HERE, SHARED(1, " ld.shared.u8 %r7, [%r10+63]; ld.shared.u8 %r8, [%r10+64]; ld.shared.u8 %r9, [%r10+65]; bar.sync 0; st.shared.u8 [%r10+64], %r7;\n"), false, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(side_by_side), cmocka_unit_test(in_shared_memory), cmocka_unit_test(in_slots), cmocka_unit_test(bytes_in_place), cmocka_unit_test(bytes_around), cmocka_unit_test(bytes_of_neighbours),
		cmocka_unit_test(shared_in_place), cmocka_unit_test(shared_by_some_lanes), cmocka_unit_test(halves_far_apart), cmocka_unit_test(shared_stencil),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
