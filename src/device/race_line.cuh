/* race_line.cuh - accesses by which a warp covers whole lines of global memory (race.cu): lane k the k-th 4, 8 or 16 bytes
 * from the beginning of a line. One lane for each line does it, on the line's own entry. */
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

/* Does the warp cover lines? Then lane k of it accesses what lies k accesses behind the first. */
HELPER bool covers_lines(u64 address, u32 bytes, u32 lane)
{
	u64 first = address - lane * bytes;

	return activemask() == 0xffffffff && all_lanes_have(first) && bytes >= 4 && !(first & 127);
}

/* All 32 lanes. True: done. */
HELPER bool access_lines(u64 line, const struct me *m, bool write)
{
	u32 shift = WS_RACE_BYTES_OF(m->what) >> 3, each = 32 >> shift, first = lane_of(m->time) & ~(each - 1);
	u32 lanes = (each == 32 ? 0xffffffff : (1u << each) - 1) << first, done = 0;
	struct me l = *m;

	l.time = (m->time & ~(31ull << LANE_AT)) | (u64)first << LANE_AT;
	if (lane_of(m->time) == first && !is_expanded(load64_stable(line)))
		done = write ? write_line(line, &l, shift) : read_line(line, &l, shift);
	return of_lane(lanes, first, done);
}

#endif
