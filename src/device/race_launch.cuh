/* race_launch.cuh - the segments of a launch, and launches of other streams that nothing orders with this one (race.cu; race.h,
 * "launches that may overlap").
 *
 * The host says of a launch, by a parameter, which launches of each lane are complete when it begins. The launch's first block
 * copies that to the table of launches, with the segments of its warps; who comes to an entry of another launch looks there
 * whose it is. `floor` is below all entries of launches that may overlap this one, so what is older costs no look.
 *
 * A launch may begin while the one before it in its lane still runs (WS_RACE_EARLY, programmatic dependent launch). What its blocks do
 * before one of their threads has waited for that one (griddepcontrol.wait) may overlap it; the host has said so in `before`.
 *
 * The table says that a launch has begun before its segments are taken, and with a bound from below: of two launches one
 * finds the other in the table, or has the higher segments. */
#ifndef WS_RACE_LAUNCH_CUH
#define WS_RACE_LAUNCH_CUH

#include "race_state.cuh"

#define NEWEST(lane) (RACE.launches + __builtin_offsetof(struct ws_race_launches, newest) + 4ull * (lane))
#define BEGUN(number) (RACE.launches + __builtin_offsetof(struct ws_race_launches, begun) + \
		       (u64)sizeof(struct ws_race_begun) * (number))
#define BEGUN_AT(number, field) (BEGUN(number) + __builtin_offsetof(struct ws_race_begun, field))
static_assert(sizeof(struct ws_race_begun) % 16 == 0 && __builtin_offsetof(struct ws_race_launches, begun) % 16 == 0,
	      "its first words are loaded at once");

HELPER u32 number_in_lane(u32 lane, u32 index) { return lane * WS_RACE_DEPTH + index % WS_RACE_DEPTH; }

/* The parameter lies at the beginning of the block's memory until that is used. */
#define SAID(field) said(__builtin_offsetof(struct ws_race_launch, field))
HELPER u32 said(u32 offset) { return shared_load32((u32)IN_SHARED(__warpsafe_block) + offset); }

/* Of BLOCK.launch: nobody of the block has waited for the launch before. */
enum { LAUNCH_EARLY = 1 << 30 };
HELPER u32 launch_number() { return (BLOCK.launch & ~LAUNCH_EARLY) - 1; }

/* 1 + the launch's number in the table, and LAUNCH_EARLY; 0 = it is not compared. */
HELPER u32 launch_said(u32 mark)
{
	if (mark != WS_RACE_COMPARED || !RACE.launches || SAID(lane) >= WS_RACE_LANES)
		return 0;
	return (1 + number_in_lane(SAID(lane), SAID(index))) | (SAID(stream) & WS_RACE_EARLY ? LAUNCH_EARLY : 0);
}

HELPER bool is_counted(u32 mark) { return mark >> 28 == WS_RACE_COUNTS_TURNS >> 28; }

/* By one thread of each block: what the launch is known by. If nothing is known of it, nothing is checked. The block that is the last to
 * begin gives the next launch its number. */
HELPER u32 counted_launch(u32 mark)
{
	u32 row = mark & ~WS_RACE_COUNTS_TURNS, number, next;
	u64 at = RACE.turns + 8ull * (1 + row), was;

	if (row >= WS_RACE_TURNS) {
		BLOCK.off = OFF_SILENT;
		return 0;
	}
	was = fetch_add64(at, 1);
	number = (u32)(was >> 32);
	if ((u32)was + 1ull == blocks_x() * (u64)blocks_y() * blocks_z()) {
		next = WS_RACE_FIRST_TURN(WS_RACE_TURNS) + fetch_add32(RACE.turns, 1) % (1u << 29);
		store64(at, (u64)next << 32);
	}
	return WS_RACE_OWN_GRID | WS_RACE_OWN_GRID >> 1 | (number ? number : WS_RACE_FIRST_TURN(row));
}

HELPER void copy_said(u32 number)
{
	store32(BEGUN_AT(number, stream), SAID(stream));
	store32(BEGUN_AT(number, lanes), SAID(lanes) < WS_RACE_LANES ? SAID(lanes) : (u32)WS_RACE_LANES);
	#pragma nounroll
	for (u32 lane = 0; lane < WS_RACE_LANES; lane++)
		store32(BEGUN_AT(number, before) + 4 * lane, said(__builtin_offsetof(struct ws_race_launch, before) + 4 * lane));
}

/* By one thread of the launch, before its segments are taken. */
SLOW void __warpsafe_launch_begins(u32 number)
{
	u32 lane = SAID(lane), index = SAID(index);

	store32(BEGUN_AT(number, index), 0);
	fence_gpu();
	store32(BEGUN_AT(number, first), load32(COUNTS(segments)) + 1);
	store32(BEGUN_AT(number, count), 0);
	store32(BEGUN_AT(number, grid), BLOCK.grid);
	store32(BEGUN_AT(number, nwarps), BLOCK.nwarps);
	store32(BEGUN_AT(number, module), __warpsafe_module);
	store32(BEGUN_AT(number, kernel), number_of_kernel());
	store32(BEGUN_AT(number, grid_dim[0]), blocks_x());
	store32(BEGUN_AT(number, grid_dim[1]), blocks_y());
	store32(BEGUN_AT(number, grid_dim[2]), blocks_z());
	store32(BEGUN_AT(number, block_dim[0]), threads_x());
	store32(BEGUN_AT(number, block_dim[1]), threads_y());
	store32(BEGUN_AT(number, block_dim[2]), threads_z());
	copy_said(number);
	fence_gpu();
	store32(BEGUN_AT(number, index), index);
	if (load32(NEWEST(lane)) < index)
		store32(NEWEST(lane), index);
	fence_gpu();
}

struct begun { u32 index, first, count, grid; };

HELPER struct begun load_begun(u32 number)
{
	struct begun b;

	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(b.index), "=r"(b.first), "=r"(b.count), "=r"(b.grid)
		     : "l"(BEGUN(number)) : "memory");
	return b;
}

/* The launches of a lane that may overlap mine, as far as they are known: from `from` on. */
struct others { u32 from, newest; bool more; };

/* Of its own lane: the one just before, if it may still run. */
HELPER u32 newest_of_own(u32 number)
{
	return load32(BEGUN_AT(number, stream)) & WS_RACE_EARLY ? load32(BEGUN_AT(number, index)) - 1 : 0;
}

HELPER struct others others_of(u32 number, u32 lane)
{
	u32 own = number / WS_RACE_DEPTH, newest = load32(NEWEST(lane)), before = load32(BEGUN_AT(number, before) + 4 * lane);
	struct others o = { before + 1, lane == own ? newest_of_own(number) : newest, false };

	if (o.newest > before + WS_RACE_DEPTH) {
		o.more = true;
		o.from = newest - WS_RACE_DEPTH + 1;
	}
	return o;
}

/* The first segment that one of them may have, or `floor`. They begin one after the other, so the first few decide. */
HELPER u32 floor_of_lane(u32 number, u32 lane, u32 floor)
{
	enum { FEW = 3 };
	struct others o = others_of(number, lane);
	u32 seen = 0;

	if (o.more)
		global_add(COUNTS(launches_missing), 1);
	#pragma nounroll
	for (u32 index = o.from; index <= o.newest && seen < FEW; index++) {
		struct begun b = load_begun(number_in_lane(lane, index));

		if (b.index != index)
			continue;
		seen++;
		floor = b.first < floor ? b.first : floor;
	}
	return floor;
}

HELPER u64 segments_row_at(u32 grid) { return COUNTS(ranges) + 8ull * (grid % WS_RACE_GRIDS); }

/* By the same thread, behind that. first 0: the blocks take theirs singly. */
SLOW void __warpsafe_launch_begun(u32 number, u32 first, u32 count)
{
	u32 floor = first ? first : 1, lanes = load32(BEGUN_AT(number, lanes)), of_lane;

	if (first) {
		store32(BEGUN_AT(number, first), first);
		store32(BEGUN_AT(number, count), count);
	}
	fence_gpu();
	#pragma nounroll
	for (u32 lane = 0; lane < lanes; lane++) {
		of_lane = floor_of_lane(number, lane, first ? first : 1);
		store32(BEGUN_AT(number, floors) + 4 * lane, of_lane);
		floor = of_lane < floor ? of_lane : floor;
	}
	store32(BEGUN_AT(number, floor), floor);
	fence_gpu();
}

/* ---- the segments of a launch ---- */
enum { RANGE_BEGUN = ~0u, RANGE_NONE = ~0u - 1 };        /* somebody takes it; there is no room */
enum { RANGE_TRIES = 1 << 16 };

HELPER u32 take_range(u64 n)
{
	u32 used = load32(COUNTS(segments)), first = n && used + n <= RACE.nsegments ? fetch_add32(COUNTS(segments), (u32)n) + 1 : 0;

	return first && first + n - 1 <= RACE.nsegments ? first : (u32)RANGE_NONE;
}

/* Whose the segments from a multiple of WS_RACE_OF_LANE on are. */
HELPER void note_lane(u32 first, u32 n, u32 lane)
{
	u64 at = RACE.lanes + first / WS_RACE_OF_LANE, end = at + (n + WS_RACE_OF_LANE - 1) / WS_RACE_OF_LANE, all = (lane + 1) * 0x0101010101010101ull;

	#pragma nounroll
	while (at < end) {
		bool many = !(at & 7) && at + 8 <= end;

		if (many)
			store64(at, all);
		else
			store8(at, (u32)all);
		at += many ? 8 : 1;
	}
}

/* That of a compared launch: it shares no WS_RACE_OF_LANE segments with others. */
HELPER u32 take_range_in_lane(u64 n, u32 lane)
{
	u32 first = n ? take_range(n + 2 * (WS_RACE_OF_LANE - 1)) : (u32)RANGE_NONE;

	if (first == RANGE_NONE)
		return first;
	first = (first + WS_RACE_OF_LANE - 1) / WS_RACE_OF_LANE * WS_RACE_OF_LANE;
	note_lane(first, (u32)n, lane);
	return first;
}

/* See race_all.cuh. */
#define ALL_OF_LAUNCH(field) (COUNTS(all) + sizeof(struct ws_race_all) * (u64)(BLOCK.grid % WS_RACE_GRIDS) + \
		    __builtin_offsetof(struct ws_race_all, field))

HELPER void clear_all(void)
{
	store64(ALL_OF_LAUNCH(who), 0);
	store64(ALL_OF_LAUNCH(blocks), 0);
	store32(ALL_OF_LAUNCH(most), 0);
	for (u32 k = 0; k < WS_RACE_ROUNDS; k++) {
		store64(ALL_OF_LAUNCH(rounds[k].id), 0);
		store64(ALL_OF_LAUNCH(rounds[k].blocks), 0);
	}
	store32(ALL_OF_LAUNCH(uneven), 0);
	store32(ALL_OF_LAUNCH(grid), BLOCK.grid);
}

/* The launch's row says nothing to me yet: an older launch's, or I am the first. Who comes while another one takes the range
 * waits for it, for a while. */
SLOW u32 __warpsafe_range(u64 at, u32 grid, u64 n)
{
	u64 row = load64(at), was;
	u32 first;

	for (u32 tries = 0; tries < RANGE_TRIES; tries++) {
		first = (u32)(row >> 32);
		if (first && (u32)row == grid && first != RANGE_BEGUN) {
			fence_gpu();             /* and the row is loaded anew by who finds it in the first-level cache */
			return first;
		}
		if (first == RANGE_BEGUN && (u32)row == grid) {
			row = load64(at);
			continue;
		}
		was = cas64(at, row, (u64)RANGE_BEGUN << 32 | grid);
		if (was == row) {
			if (!BLOCK.probe)
				global_add(COUNTS(entered), 1);
			clear_all();
			if (BLOCK.launch)
				__warpsafe_launch_begins(launch_number());
			first = BLOCK.launch ? take_range_in_lane(n, launch_number() / WS_RACE_DEPTH) : take_range(n);
			if (BLOCK.launch)
				__warpsafe_launch_begun(launch_number(), first == RANGE_NONE ? 0 : first, (u32)n);
			fence_gpu();
			store64(at, (u64)first << 32 | grid);
			return first;
		}
		row = was;
	}
	return RANGE_NONE;
}

HELPER u32 floor_in_table(void)
{
	fence_gpu();
	return load32(BEGUN_AT(launch_number(), floor));
}

HELPER u64 segments_row(u32 grid) { return load64_stable(segments_row_at(grid)); }

/* What the thread that begins a block knows of it: what it stores is there some thirty cycles later. */
struct new_block { u32 off, grid, block, nwarps, launch; };

/* The block's segments, by one thread. A row does not change as long as its launch lasts. row: of the grid that the GPU knows the
 * launch by, as it was loaded before; rows: of each block, too (race_cluster.cuh). */
HELPER void find_segments(const struct new_block *b, u64 row, bool rows)
{
	u64 blocks = (u64)blocks_x() * blocks_y() * blocks_z(), n = blocks >> 27 ? 0 : blocks * (b->nwarps + rows);
	u32 first, floor;

	if ((u32)row != b->grid)
		row = segments_row(b->grid);
	first = (u32)(row >> 32);
	if (!first || (u32)row != b->grid || first == RANGE_BEGUN)
		first = __warpsafe_range(segments_row_at(b->grid), b->grid, n);
	floor = first == RANGE_NONE ? 1 : first;
	if (b->launch)
		floor = floor_in_table();
	if (first == RANGE_NONE) {
		BLOCK.floor = floor;
		BLOCK.first = take_segments(b->nwarps, load32(COUNTS(segments)));
		return;
	}
	BLOCK.lowest = first;
	BLOCK.range = (u32)n;
	shared_store_four(IN_BLOCK(floor), floor, b->grid, first + b->block * b->nwarps, b->nwarps);
}

/* ---- whose is an entry? ---- */
/* Of the launches of a lane from one on, back from another one, that by which a segment is: 1 + its number; 0 = none of them.
 * grid: as the segment's description has it; 0 = it has none, and then it is one of those that a launch takes at once, which rise
 * from launch to launch. */
HELPER u32 launch_in_lane(u32 lane, u32 from, u32 newest, u32 segment, u32 grid)
{
	#pragma nounroll
	for (u32 index = newest; index >= from && index; index--) {
		u32 number = number_in_lane(lane, index);
		struct begun b = load_begun(number);

		if (b.index != index)
			continue;
		if (segment - b.first < b.count || (grid && grid == b.grid))
			return number + 1;
		if (!grid && b.first <= segment)
			return 0;
	}
	return 0;
}

/* 1 + the lane of the launch whose segment it is; 0 = that is not known so. What has just been written there may not be seen yet. */
HELPER u32 lane_of_segment(u32 segment) { return segment <= RACE.nsegments ? load8(RACE.lanes + segment / WS_RACE_OF_LANE) : 0; }

/* Is it of a launch that is complete when mine begins, as its lane says? floors: of mine. */
HELPER bool is_below_floor(u32 segment, u64 floors)
{
	u32 lane = lane_of_segment(segment);

	return lane && segment < load32_stable(floors + 4 * (lane - 1));
}

/* Of the launch by which a segment is, and that may overlap mine: 1 + its number; 0 = there is none. It is mostly one of those just
 * before in the same stream. */
SLOW u32 __warpsafe_other_launch(u32 segment)
{
	enum { NEAR = 4 };
	bool early = BLOCK.launch & LAUNCH_EARLY;
	u32 mine = launch_number(), own = mine / WS_RACE_DEPTH, lanes = load32(BEGUN_AT(mine, lanes)), index = load32(BEGUN_AT(mine, index)), found = 0;
	u32 grid = load32(SEGMENT(segment) + __builtin_offsetof(struct ws_race_segment, grid)), its = lane_of_segment(segment);

	if (!index)
		return 0;                    /* the table does not have mine: nothing is known of the others */
	if (is_below_floor(segment, BEGUN_AT(mine, floors)))
		return 0;
	if (its && its - 1 != own) {
		struct others o = others_of(mine, its - 1);

		return launch_in_lane(its - 1, o.from, o.newest, segment, 0);
	}
	if (launch_in_lane(own, index > NEAR ? index - NEAR : 1, index - 1 - early, segment, grid))
		return 0;
	#pragma nounroll
	for (u32 lane = 0; lane < lanes && !found; lane++) {
		struct others o = others_of(mine, lane);

		if (lane != own || early)
			found = launch_in_lane(lane, o.from, o.newest, segment, grid);
	}
	if (!found && load32(BEGUN_AT(number_in_lane(own, index + 1), stream)) & WS_RACE_EARLY)
		found = launch_in_lane(own, index + 1, index + 1, segment, grid);    /* it has not waited for mine, which runs */
	return found;
}

/* The same of an entry, which may be of this launch. */
HELPER u32 other_launch(u64 entry)
{
	u32 segment = segment_of(entry);

	if (!BLOCK.launch || segment < BLOCK.floor || segment - BLOCK.lowest < BLOCK.range || beginning(segment).grid == BLOCK.grid)
		return 0;
	return __warpsafe_other_launch(segment);
}

/* Who that was. */
HELPER struct place place_in_launch(u64 entry, u32 number)
{
	u32 first = load32(BEGUN_AT(number, first)), nth = segment_of(entry) - first, nwarps = load32(BEGUN_AT(number, nwarps));
	struct place p = beginning(segment_of(entry));

	if (nth < load32(BEGUN_AT(number, count))) {
		p.block = nth / nwarps;
		p.warp = nth % nwarps;
	}
	return p;
}

#endif
