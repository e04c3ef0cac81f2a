/* test_race_strong.c - src/device/race.cu: weak and strong accesses of the same words by several blocks. What is told is compared with what is
 * true of each pair of accesses; strong ones without fences order nothing. */
#include "noise.h"
#include "race_rig.h"

static const struct ws_gpu_config configs[] = {
	{ .divergence = WS_DIV_ITS, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_PRIORITY, .seed = 1, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_PRIORITY, .seed = 2, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_PRIORITY, .seed = 3, .host_threads = 1 },
	{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 4, .host_threads = 2 },
};

static uint32_t nconfigs(void) { return rig_ways(WS_COUNT(configs), 2); }

/* In each phase, between barriers of the block, each warp does two things one after the other. */
enum { PHASES = 3, STEPS = 2, BLOCKS = 3, WARPS = 2, SLOTS = 8, ALL = PHASES * STEPS * SLOTS, WORDS = 16, AREAS = 20, ROUNDS = 160 };
enum { NOTHING, READS, READS_STRONG, WRITES, WRITES_STRONG, ATOMIC, OPS };
struct step { uint32_t place, lanes, op, wait; };        /* of the lanes first | last << 8, each its word, or all the same one | 1 << 16 */

/* n-th of the warp; %r2 lane, %r3 warp of the block, %rd1 the buffer, %rd2 the warp's steps. Its place: %rd5. */
#define ACCESS(op, inst) " setp.eq.and.u32 %p4, %r10, " op ", %p1; @%p4 " inst ";\n"
#define STEP(n) " add.u64 %rd4, %rd2, " #n "*128; ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd4];\n" \
	" setp.eq.u32 %p5, %r11, 0; @%p5 bra GO" #n ";\nWAIT" #n ": sub.u32 %r11, %r11, 1; setp.ne.u32 %p5, %r11, 0; @%p5 bra WAIT" #n ";\nGO" #n ":\n" \
	" and.b32 %r14, %r9, 255; shr.u32 %r12, %r9, 8; and.b32 %r12, %r12, 255; setp.ge.u32 %p1, %r2, %r14; setp.le.and.u32 %p1, %r2, %r12, %p1;\n" \
	" shr.u32 %r15, %r9, 16; setp.ne.u32 %p2, %r15, 0; selp.u32 %r15, 0, %r2, %p2; mad.lo.u32 %r8, %r15, 4, %r8; cvt.u64.u32 %rd5, %r8; add.u64 %rd5, %rd1, %rd5;\n" \
	ACCESS("1", "ld.global.u32 %r13, [%rd5]") ACCESS("2", "ld.relaxed.gpu.global.u32 %r13, [%rd5]") ACCESS("3", "st.global.u32 [%rd5], %r2") \
	ACCESS("4", "st.relaxed.gpu.global.u32 [%rd5], %r2") ACCESS("5", "atom.relaxed.gpu.global.add.u32 %r13, [%rd5], 1")
#define BARRIER " bar.sync 0;\n"
static const char text[] = PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n"
	" .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
	" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %lanemask_eq; bfind.u32 %r2, %r2; shr.u32 %r3, %r0, 5;\n"
	" mad.lo.u32 %r6, %r1, 2, %r3; mul.wide.u32 %rd2, %r6, 16; add.u64 %rd2, %rd1, %rd2;\n"
	STEP(0) STEP(1) BARRIER STEP(2) STEP(3) BARRIER STEP(4) STEP(5) " ret;\n}\n";
_Static_assert(sizeof(struct step) * SLOTS == 128, "as the kernel finds them");

static bool is_strong(uint32_t op) { return op == READS_STRONG || op >= WRITES_STRONG; }
static bool is_write(uint32_t op) { return op >= WRITES; }

/* Few words, by one lane or by some; most kernels nearly without weak writes, which race with all. */
static void choose(struct step *all, uint32_t area)
{
	uint32_t words = 1 + below(WORDS), tame = below(4), busy = 1 + below(6);

	for (uint32_t k = 0; k < ALL; k++) {
		uint32_t first = below(32), last = below(2) ? first : first + below(32 - first), op = below(8) < busy ? 1 + below(OPS - 1) : NOTHING;

		if (tame && op == WRITES)
			op = below(20) ? READS_STRONG : op;
		all[k] = (struct step){ ALL * sizeof *all + area * 4 * (WORDS + 32) + 4 * below(words), first | last << 8 | (below(3) ? 1u << 16 : 0),
		                        k % SLOTS < BLOCKS * WARPS ? op : NOTHING, below(2) ? below(150) : 0 };
	}
}

/* The lanes that access the word. */
static uint32_t lanes_at(const struct step *s, uint32_t place)
{
	uint32_t first = s->lanes & 255, last = s->lanes >> 8 & 255, lane = (place - s->place) / 4;
	uint32_t all = ~0u >> (31 - last) & ~0u << first;

	if (!s->op || place < s->place)
		return 0;
	if (s->lanes >> 16)
		return place == s->place ? all : 0;
	return lane < 32 ? all & 1u << lane : 0;
}

/* Do two steps race by threads of these lanes? (Those of one instruction as well.) */
static bool race_of(const struct step *all, uint32_t a, uint32_t lanes, uint32_t b, uint32_t others)
{
	uint32_t x = a % SLOTS, y = b % SLOTS, phase = SLOTS * STEPS;

	if (!lanes || !others || (x == y && lanes == others && !(lanes & (lanes - 1))))
		return false;
	if (!(is_write(all[a].op) || is_write(all[b].op)) || (is_strong(all[a].op) && is_strong(all[b].op)))
		return false;
	return x / WARPS != y / WARPS || a / phase == b / phase;
}

/* Is there a race at the word in which that thread has part, and the other one if it is told? */
static bool is_true(const struct step *all, const struct ws_race_found *f, uint32_t place)
{
	uint32_t other = f->other_block * WARPS + f->other_thread / 32;

	for (uint32_t a = f->block * WARPS + f->thread / 32; a < ALL; a += SLOTS)
		for (uint32_t b = 0; b < ALL; b++) {
			uint32_t lane = lanes_at(&all[a], place) & 1u << f->thread % 32, lanes = lanes_at(&all[b], place);

			if (!(f->flags & WS_RACE_SEVERAL))
				lanes &= b % SLOTS == other ? 1u << f->other_thread % 32 : 0;
			if (race_of(all, a, lane, b, lanes))
				return true;
		}
	return false;
}

static bool any_race(const struct step *all, uint32_t place)
{
	for (uint32_t a = 0; a < ALL; a++)
		for (uint32_t b = 0; lanes_at(&all[a], place) && b <= a; b++)
			if (race_of(all, a, lanes_at(&all[a], place), b, lanes_at(&all[b], place)))
				return true;
	return false;
}

static bool races_in(const struct step *all, uint32_t area)
{
	for (uint32_t k = 0; k < WORDS + 32; k++)
		if (any_race(all, ALL * sizeof *all + 4 * (area * (WORDS + 32) + k)))
			return true;
	return false;
}

static void mixed(const struct ws_gpu_config *c, uint32_t seed)
{
	struct race_rig r = race_new(*c, text);
	struct ws_mem *m = rig_mem(&r.rig, ALL * sizeof(struct step) + AREAS * 4 * (WORDS + 32));
	uint64_t params[] = { m->addr };
	uint32_t racy = 0, told = 0, rounds = rig_rounds(ROUNDS);

	noise = seed;
	for (uint32_t n = 0; n < rounds; n++) {
		struct step *all = (void *)m->host;
		const struct ws_race_found *f;

		memset(r.tables.found, 0, r.tables.nfound * sizeof *r.tables.found);
		memset(r.tables.seen, 0, r.tables.nfound * sizeof *r.tables.seen);
		choose(all, n % AREAS);
		rig_run(&r.rig, "k", BLOCKS, WARPS * 32, params);
		for (uint32_t k = 0; (f = race_found(&r.tables, k)); k++)
			if (!is_true(all, f, (uint32_t)(f->address - m->addr)))
				fail_msg("seed %u, round %u: no such race: pair %u, byte %u, block %u thread %u, block %u thread %u, flags %u", seed, n, f->pair,
				         (uint32_t)(f->address - m->addr), f->block, f->thread, f->other_block, f->other_thread, f->flags);
		racy += races_in(all, n % AREAS);
		told += race_found(&r.tables, 0) != NULL;
	}
	assert_true(racy < rounds && told <= racy && told >= racy / 2);      /* an entry that says one thing of two readers forgets a race now and then */
	race_free(&r);
}

static void weak_and_strong(void **state)
{
	for (uint32_t k = 0; k < nconfigs(); k++)
		mixed(&configs[k], 1 + k);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(weak_and_strong) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
