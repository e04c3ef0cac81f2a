/* test_race_rows.c - src/device/race.cu: bytes and halves of words of global memory that the lanes of a warp access side by side. What is told is
 * compared, byte by byte, with what is true of each pair of accesses. */
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

/* n-th of the warp; of its place %rd5. */
#define ACCESS(type, size) " setp.eq.and.u32 %p4, %r11, " size ", %p2; @%p4 ld.global." type " %r13, [%rd5];\n" \
	" setp.eq.and.u32 %p4, %r11, " size ", %p3; @%p4 st.global." type " [%rd5], %r2;\n"
#define STEP(n) " add.u64 %rd4, %rd2, " #n "*64; ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd4];\n" \
	" and.b32 %r14, %r9, 255; shr.u32 %r12, %r9, 8; setp.ge.u32 %p1, %r2, %r14; setp.le.and.u32 %p1, %r2, %r12, %p1; and.b32 %r15, %r10, 1; and.b32 %r16, %r10, 2;\n" \
	" setp.ne.and.u32 %p2, %r15, 0, %p1; setp.ne.and.u32 %p3, %r16, 0, %p1; mad.lo.u32 %r8, %r2, %r11, %r8; cvt.u64.u32 %rd5, %r8; add.u64 %rd5, %rd1, %rd5;\n" \
	ACCESS("u8", "1") ACCESS("u16", "2") ACCESS("u32", "4")
#define BARRIER " bar.sync 0;\n"
static const char text[] = KERNEL(" mad.lo.u32 %r6, %r1, 2, %r3; mul.wide.u32 %rd2, %r6, 16; add.u64 %rd2, %rd1, %rd2;\n"
	STEP(0) STEP(1) BARRIER STEP(2) STEP(3) BARRIER STEP(4) STEP(5));
_Static_assert(sizeof(struct step) * BLOCKS * WARPS == 64, "as the kernel finds them");

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
static bool race_at(const struct step *all, uint32_t a, uint32_t b, uint32_t byte)
{
	uint32_t warps = BLOCKS * WARPS, x = a % warps, y = b % warps;
	int lane = lane_at(&all[a], byte), other = lane_at(&all[b], byte);

	return lane >= 0 && other >= 0 && ((all[a].op | all[b].op) & WRITES) && (x != y || lane != other) &&
	       (x / WARPS != y / WARPS || a / warps / STEPS == b / warps / STEPS);
}

static bool any_race(const struct step *all)
{
	for (uint32_t a = 0; a < ALL; a++)
		for (uint32_t b = 0; b < a; b++)
			for (uint32_t byte = all[a].place; byte < all[a].place + 32 * all[a].size; byte++)
				if (race_at(all, a, b, byte))
					return true;
	return false;
}

/* The step of a thread in a block, if it accesses the byte in that phase. */
static bool is_by(uint32_t step, uint32_t block, uint32_t thread, const struct step *all, uint32_t byte)
{
	return step % (BLOCKS * WARPS) == block * WARPS + thread / 32 && lane_at(&all[step], byte) == (int)(thread % 32);
}

/* Is there such a race, at a byte that it tells, of the threads that it tells? */
static bool is_true(const struct step *all, const struct ws_race_found *f, uint64_t buffer)
{
	for (uint32_t byte = (uint32_t)(f->address - buffer); byte < f->address - buffer + f->bytes; byte++)
		for (uint32_t a = 0; a < ALL; a++)
			for (uint32_t b = 0; b < ALL; b++)
				if (a != b && race_at(all, a, b, byte) && is_by(a, f->block, f->thread, all, byte) &&
				    (f->flags & WS_RACE_SEVERAL || is_by(b, f->other_block, f->other_thread, all, byte)))
					return true;
	return false;
}

static void sides(const struct ws_gpu_config *c, uint32_t seed)
{
	struct race_rig r = race_new(*c, text);
	struct ws_mem *m = rig_mem(&r.rig, ALL * sizeof(struct step) + 21 * 3 * PLACES);
	uint64_t params[] = { m->addr }, lost = 0;
	uint32_t racy = 0, whole = 0, rounds = rig_rounds(ROUNDS);

	noise = seed;
	for (uint32_t n = 0; n < rounds; n++, lost = r.tables.counts->lost) {
		struct step *all = (void *)m->host;
		const struct ws_race_found *f;
		bool races;

		memset(r.tables.found, 0, r.tables.nfound * sizeof *r.tables.found);
		memset(r.tables.seen, 0, r.tables.nfound * sizeof *r.tables.seen);
		choose(all, n % 20);
		races = any_race(all);
		rig_run(&r.rig, "k", BLOCKS, WARPS * 32, params);
		for (uint32_t k = 0; (f = race_found(&r.tables, k)); k++)
			if (!is_true(all, f, m->addr))
				fail_msg("seed %u, round %u: no such race: pair %u, byte %u, %u bytes, block %u thread %u, block %u thread %u, flags %u", seed, n, f->pair,
				         (uint32_t)(f->address - m->addr), f->bytes, f->block, f->thread, f->other_block, f->other_thread, f->flags);
		if (races && !race_found(&r.tables, 0) && r.tables.counts->lost == lost)
			fail_msg("seed %u, round %u: the race is not told", seed, n);
		racy += races;
		whole += races && r.tables.counts->lost == lost;
	}
	assert_int_equal(r.tables.counts->undecided, 0);
	assert_true(racy < rounds && (whole || c->schedule));       /* other schedules part the lanes of a warp */
	race_free(&r);
}

static void side_by_side(void **state)
{
	for (uint32_t k = 0; k < nconfigs(); k++)
		for (uint32_t n = 0; n < 2; n++)
			sides(&configs[k], 1 + 4 * k + n);
}

/* ---- what is one entry ---- */
/* The lane's place, of so many bytes, behind the buffer's beginning. */
#define PLACE(bytes) " mov.u32 %r10, %ntid.x; mad.lo.u32 %r10, %r10, %r1, %r3; and.b32 %r11, %r0, -32; mad.lo.u32 %r10, %r1, 64, %r11; add.u32 %r10, %r10, %r2;\n" \
	" mul.lo.u32 %r10, %r10, " #bytes "; cvt.u64.u32 %rd3, %r10; add.u64 %rd3, %rd1, %rd3;\n"

/* Is a race told? all: and nothing is forgotten. */
static void tells(const char *kernel, bool races, bool all)
{
	for (uint32_t k = 0; k < nconfigs(); k++) {
		struct race_rig r = race_new(configs[k], kernel);
		struct ws_mem *m = rig_mem(&r.rig, 1 << 12);
		uint64_t params[] = { m->addr };
		uint32_t n = 0;

		rig_run(&r.rig, "k", 4, 64, params);
		while (race_found(&r.tables, n))
			n++;
		assert_int_equal(n > 0, races);
		if (all && !configs[k].schedule)
			assert_int_equal(r.tables.counts->lost, 0);
		race_free(&r);
	}
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(side_by_side), cmocka_unit_test(bytes_in_place), cmocka_unit_test(bytes_around), cmocka_unit_test(bytes_of_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
