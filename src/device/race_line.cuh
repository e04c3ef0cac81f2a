/* race_line.cuh - accesses by which lanes of a warp cover whole lines of global memory (race.cu): one after the other the 4, 8 or 16 bytes from
 * the beginning of a line, by as many lanes as it has of these. The first one does it, on the line's own entry. */
#ifndef WS_RACE_LINE_CUH
#define WS_RACE_LINE_CUH

#include "race_parts.cuh"

/* An old entry of a line of another segment: is every one of its accesses before mine by barriers and syncs alone?
 * same_lanes: each lane has accessed what it accesses now. */
SLOW u32 __warpsafe_line_before(u64 old, u32 several, u64 now, u32 warp, u32 same_lanes)
{
	struct place o = place_of(old), m = place_of(now);

	if (o.grid != m.grid)
		return !other_launch(old);
	if (is_before_round(old, several, now, warp))
		return true;
	if (several == BLOCKS || o.block != m.block)
		return false;
	if (o.epoch < m.epoch)
		return true;
	return o.warp == warp && several <= LANES_OF_WARP && ((same_lanes && !several) || o.sub < BLOCK.full[warp]);
}

/* m->time has the line's first lane; shift is as in the entries. */
HELPER bool line_before(u64 old, u32 old_shift, u32 several, const struct me *m, u32 shift)
{
	bool same_lanes = old_shift == shift && lane_of(old) == lane_of(m->time);

	if (!segment_of(old))
		return true;
	if (segment_of(old) == segment_of(m->now)) {
		if (several == ONE_LANE && same_lanes)
			return true;
		if (several <= WARPS_OF_BLOCK && epoch_of(old) < epoch_of(m->now))
			return true;
		if (several <= LANES_OF_WARP && epoch_of(old) == epoch_of(m->now) && sub_of(old) < (m->now & NOW_FULL))
			return true;
	}
	return __warpsafe_line_before(old, several, m->now, m->warp, same_lanes);
}

/* R after my read; 0 = the line needs cells to say it. */
HELPER u64 line_after_read(u64 old, const struct me *m, u32 shift)
{
	u32 cls = WS_RACE_CLASS_OF(m->what), several = r_several(old), both = cls > r_class(old) ? cls : r_class(old);
	u64 mine = read_entry(m, cls, shift, ONE_LANE), was = old;

	if (!((old ^ mine) >> R_SEVERAL_AT))
		return old;
	if (line_before(old, r_bytes(old), several, m, shift))
		return mine;
	if (m->now & NOW_ACQUIRED && several == ONE_LANE)
		return 0;
	several = __warpsafe_several(old, m->now, false, m->warp);
	if (!several && beginning(segment_of(old)).grid != BLOCK.grid)
		return mine;             /* one reader is remembered, of the last launch */
	if (several < WARPS_OF_BLOCK)
		return 0;
	old &= ~(7ull << R_CLASS_AT | 3ull << R_SEVERAL_AT);
	old |= both << R_CLASS_AT | several << R_SEVERAL_AT;
	return several == BLOCKS ? with_readers(old, was) : old;
}

/* False: the words' cells must be looked at; if the line has none yet, there is no room. */
HELPER bool read_line(u64 line, const struct me *m, u32 shift)
{
	u64 w, r, now;

	for (;;) {
		load_cell(line, &w, &r);
		if (is_expanded(w))
			return false;
		now = line_after_read(r, m, shift);
		if (!now)
			break;
		if (now != r || m->what & WS_RACE_LOOKED) {
			if (cas64(line + 8, r, now) != r)
				continue;
			w = load64(line);
			if (is_expanded(w))
				return false;
		}
		if (line_before(w, w_bytes(w), ONE_LANE, m, shift))
			return true;
		break;
	}
	__warpsafe_expand_line(line, m->warp);
	return false;
}

HELPER bool write_line(u64 line, const struct me *m, u32 shift)
{
	u64 w, r, now, mine = write_entry(m, WS_RACE_CLASS_OF(m->what), shift);

	for (;;) {
		load_cell(line, &w, &r);
		if (is_expanded(w))
			return false;
		if (!line_before(w, w_bytes(w), ONE_LANE, m, shift))
			break;
		now = (w ^ mine) >> W_BYTES_AT ? mine : w;
		if (now != w || m->what & WS_RACE_LOOKED) {
			if (cas64(line, w, now) != w)
				continue;
			r = load64(line + 8);
			if (is_expanded(r))
				return false;
		}
		if (line_before(r, r_bytes(r), r_several(r), m, shift))
			return true;
		break;
	}
	__warpsafe_expand_line(line, m->warp);
	return false;
}

/* A line is for as many lanes one after the other; bytes: 4, 8 or 16 of an access. */
HELPER u32 lanes_a_line(u32 bytes) { return LINE_WORDS >> (bytes >> 3); }

/* The lanes with which this one may cover a line. */
HELPER u32 lanes_of_line(u32 bytes, u32 lane)
{
	u32 each = lanes_a_line(bytes);

	return ((1u << each) - 1) << (lane & ~(each - 1));
}

/* The lanes that come together here and have what lies side by side by their numbers, this one among them: of a block of 16 by 16 threads half a warp
 * has a row of an image, and of a tile the threads inside the rim. first: of a warp that has it all. */
HELPER u32 lanes_side_by_side(u32 lanes, u64 first)
{
	return lanes == 0xffffffff && all_lanes_have(first) ? lanes : lanes_with(lanes, first);
}

/* Do these lanes, which have come together, cover this one's line? */
HELPER bool covers_line(u32 lanes, u64 address, u32 bytes, u32 lane)
{
	bool aligned = ((u32)address & (LINE_BYTES - 1)) == (lane & (lanes_a_line(bytes) - 1)) * bytes;
	u32 with = lanes_side_by_side(lanes, address - lane * bytes);

	return aligned && !(lanes_of_line(bytes, lane) & ~with);
}

/* By all lanes of the line. True: done. */
HELPER bool access_line(u64 line, const struct me *m, bool write)
{
	u32 bytes = WS_RACE_BYTES_OF(m->what), shift = bytes >> 3, lanes = lanes_of_line(bytes, lane_of(m->time)), first = lowest(lanes), done = 0;
	struct me l = *m;

	l.time = (m->time & ~(31ull << LANE_AT)) | (u64)first << LANE_AT;
	if (lane_of(m->time) == first && !is_expanded(load64_stable(line)))
		done = write ? write_line(line, &l, shift) : read_line(line, &l, shift);
	return of_lane(lanes, first, done);
}

#endif
