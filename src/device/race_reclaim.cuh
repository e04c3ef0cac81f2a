/* race_reclaim.cuh - segments that are used again (race.cu).
 *
 * A kernel that runs for minutes and meets at barriers would take all numbers of the table in seconds. So a warp's later
 * segments (not its first) are given back when all their epochs are before a barrier that the whole block has passed, and when
 * the block ends. Entries of cells and lines still refer to them. Who takes a new segment when half of the table is in use
 * looks at some lines or cells in turn (the sweep), and makes entries of segments that were given back entries of the warp's
 * first segment, "summed up": at some time not behind the epoch that the first segment's description tells. A number is
 * taken again when two whole sweeps have begun and ended since, and some milliseconds have gone by. The sweep has phases, all lines
 * and then all cells: a line that gets cells in the first has been looked at, or its cells will be.
 *
 * For who is of the same block, what is summed up is before a barrier; for others who have acquired nothing, when it was
 * is of no matter. For who has acquired something it is decided where the latest possible time is ordered, or the earliest is
 * not; else the order is not known. */
#ifndef WS_RACE_RECLAIM_CUH
#define WS_RACE_RECLAIM_CUH

#include "race_memory.cuh"

enum { PHASE_AT = 40, PHASES_TO_REST = 4, MOST_CHAIN = 4096 };
#define LEFT WS_RACE_SEGMENT_LEFT
#define END  WS_RACE_SEGMENT_END
#define STATE(segment) (SEGMENT(segment) + __builtin_offsetof(struct ws_race_segment, state))
#define LEFT_AT(segment) (SEGMENT(segment) + __builtin_offsetof(struct ws_race_segment, last[0]))
#define BEFORE(segment) (SEGMENT(segment) + __builtin_offsetof(struct ws_race_segment, fenced[0]))

HELPER u32 phase_of(u64 sweep) { return (u32)(sweep >> PHASE_AT); }
HELPER bool is_of_lines(u32 phase) { return !(phase & 1); }

/* ---- giving back ---- */
/* Cells in a slot are not swept. */
HELPER bool may_give_back(void) { return !BLOCK.slot || BLOCK.cells; }

/* All of a chain. */
HELPER void give_back_chain(u32 segment, u32 flags)
{
	u32 phase = phase_of(load64(COUNTS(sweep))), next;
	u64 time = nanoseconds();

	fence_gpu();
	for (u32 n = 0; segment && n < MOST_CHAIN; n++, segment = next) {
		next = load32(BEFORE(segment));
		store64(LEFT_AT(segment), time);
		store32(STATE(segment), flags | phase);
	}
}

/* A warp begins an epoch in `newest`, or has just left it: all other warps have passed the barrier before the one before that
 * epoch. */
SLOW void __warpsafe_give_back(u32 newest, u32 warp, u32 epoch)
{
	enum { STEPS = 64 };

	if (!may_give_back())
		return;
	for (u32 n = 0; newest && newest != BLOCK.first + warp && n < STEPS; n++, newest = load32(BEFORE(newest))) {
		u32 begins = load32(SEGMENT(newest) + __builtin_offsetof(struct ws_race_segment, epoch)), first = BLOCK.first + warp;

		if (begins + 2 > epoch)
			continue;
		if (load32(STATE(first)) < begins)
			store32(STATE(first), begins);
		give_back_chain(load32(BEFORE(newest)), LEFT);
		store32(BEFORE(newest), 0);
		return;
	}
}

/* The block's last thread leaves. How late its last entries are is not kept. */
SLOW void __warpsafe_give_back_all(void)
{
	for (u32 w = 0; w < BLOCK.nwarps && may_give_back(); w++) {
		u64 now = BLOCK.warps[w].now;

		if (now && segment_of(now) != BLOCK.first + w)
			give_back_chain(segment_of(now), LEFT | END);
	}
}

/* ---- the sweep ---- */
/* write: it is a W. */
HELPER void sweep_entry(u64 at, u64 entry, bool write)
{
	enum { TRIES = 8 };

	for (u32 n = 0; n < TRIES && entry && !is_expanded(entry); n++) {
		bool of_grid = write ? is_special(entry) : r_several(entry) == BLOCKS;
		u64 kept = entry & (of_grid ? (1ull << SEGMENT_AT) - 1 : 31ull << LANE_AT | ((1ull << SUB_AT) - 1)), was;
		u32 first, fenced, more, state;
		u64 summed;

		asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(first), "=r"(fenced), "=r"(more), "=r"(state)
			     : "l"(SEGMENT(segment_of(entry)) + __builtin_offsetof(struct ws_race_segment, first)) : "memory");
		if (!(state & LEFT))
			return;
		summed = state & END ? SUMMED_END : SUMMED;
		was = cas64(at, entry, kept | (u64)first << SEGMENT_AT | (of_grid ? 0 : summed << SUB_AT));
		if (was == entry)
			return;
		entry = was;
	}
}

HELPER void sweep_entries(u64 at)
{
	u64 w, r;

	#pragma nounroll
	for (u32 k = 0; k < LINE_WORDS; k++, at += 16) {
		load_cell(at, &w, &r);
		sweep_entry(at, w, true);
		sweep_entry(at + 8, r, false);
	}
}

enum { UNITS_OF_ROW = WS_RACE_PAGE_BYTES / 16 / LINE_WORDS };
HELPER u32 units_of(u32 phase)
{
	return is_of_lines(phase) ? (u32)UNITS_OF_ROW << RACE.pages_log2 : load32(COUNTS(sweep_units));
}

HELPER void next_phase(u32 phase)
{
	u32 cells = load32(COUNTS(cells));

	store32(COUNTS(sweep_done), 0);
	store32(COUNTS(sweep_units), 1 + (cells < RACE.ncells ? cells : RACE.ncells));       /* cells begin with number 1 */
	fence_gpu();
	store64(COUNTS(sweep), (u64)(phase + 1) << PHASE_AT);
}

/* One unit: the entries of LINE_WORDS lines, or the cells of a line; rows without a page are passed over at once. */
HELPER void sweep_unit(void)
{
	u64 sweep = load64(COUNTS(sweep));
	u32 phase = phase_of(sweep), unit = (u32)sweep, units = units_of(phase), n = 1, row = unit / UNITS_OF_ROW;
	bool none = is_of_lines(phase) ? unit < units && !load64(RACE.pages + 8ull * row) : !unit;

	if (unit >= units)
		return;                  /* others are at the last ones */
	if (none && is_of_lines(phase))
		n = UNITS_OF_ROW - unit % UNITS_OF_ROW;
	if (cas64(COUNTS(sweep), sweep, sweep + n) != sweep)
		return;
	if (!none)
		sweep_entries(is_of_lines(phase) ? RACE.lines + (u64)unit * 16 * LINE_WORDS : cells_at(unit));
	fence_gpu();
	if (fetch_add32(COUNTS(sweep_done), n) + n == units)
		next_phase(phase);
}

/* So much of it for each segment that two sweeps have ended before a quarter of the table was taken. */
HELPER void sweep_some(u32 times)
{
	enum { MOST = 1 << 12 };
	u64 all = (u64)load32(COUNTS(pages)) * UNITS_OF_ROW + (1u << RACE.pages_log2) + load32(COUNTS(cells));
	u64 n = times * (2 + 8 * all / RACE.nsegments);

	#pragma nounroll
	for (u32 k = 0; k < n && k < MOST; k++)
		sweep_unit();
}

/* ---- taking ---- */
/* Does no entry refer to it, and is none that did still in the hands of a thread that looks at it? */
HELPER bool has_rested(u32 segment, u32 state)
{
	u32 phases = (phase_of(load64(COUNTS(sweep))) - state) & ~(LEFT | END);

	return state & LEFT && phases >= PHASES_TO_REST && nanoseconds() - load64(LEFT_AT(segment)) >= RACE.rest;
}

/* Numbers of a launch are not below its first ones: see is_past. */
HELPER u32 take_again(void)
{
	enum { TRIES = 64 };
	u32 floor = BLOCK.lowest + BLOCK.range, span = floor < RACE.nsegments ? RACE.nsegments - floor : 0;

	floor += !floor;
	for (u32 n = 0; n < TRIES && span; n++) {
		u32 number = floor + fetch_add32(COUNTS(reused), 1) % span, state = load32(STATE(number));

		if (has_rested(number, state) && cas32(STATE(number), state, 0) == state)
			return number;
	}
	return 0;
}

HELPER u32 take_late(void)
{
	enum { MORE = 1 << 9 };
	u32 number = 0, used = load32(COUNTS(segments));

	sweep_some(1);
	if (used < RACE.nsegments) {
		number = fetch_add32(COUNTS(segments), 1) + 1;
		if (number <= RACE.nsegments)
			return number;
	}
	number = take_again();
	for (u32 n = 0; n < MORE && !number; n++) {
		sweep_some(2);
		number = take_again();
	}
	return number;
}

/* Lanes that come at once take one each, and one of them is the warp's from then on. Who was held up meanwhile must not say where the warp's
 * segment begins: own_place knows that by some bits of its number alone. */
SLOW u64 __warpsafe_new_segment(u64 now, u32 warp, u32 epoch, u32 sub)
{
	u32 begins = BLOCK.begins[warp], used = load32(COUNTS(segments)), before = segment_of(now), segment = 0;
	bool many = used >= RACE.nsegments / 2, first = segment_of(BLOCK.warps[warp].now) == before;

	if (sub < 1u << 27)
		segment = many ? take_late() : take_segments(1, used);
	if (!segment) {
		launch_is_incomplete(BLOCK.grid);
		return 0;
	}
	if (first)
		shared_cas32(IN_SHARED(__warpsafe_block.begins[warp]), begins, begin_word(segment, epoch, sub));
	describe(segment, warp, epoch, sub);
	store32(SEGMENT(segment) + __builtin_offsetof(struct ws_race_segment, fenced[0]), before == BLOCK.first + warp ? 0 : before);
	BLOCK.late = 1;
	if (many)
		fence_gpu();             /* it may have been another warp's, and an entry of it be in the first-level cache */
	return (u64)segment << SEGMENT_AT;
}

#endif
