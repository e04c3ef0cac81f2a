/* race_global.cuh - the part of a check of global memory that stands at the access (race.cu): what changes nothing, and
 * the first access of a launch to a line or a word. No loop, no wait for other lanes but at the vote of a warp that is
 * together; whatever is not plainly without a race is for the call.
 *
 * A line that the warp covers and a word's cell are dealt with alike: both have W and R. What is ordered here is so by
 * program order or by barriers in the warp's own segment, or is of a launch before. */
#ifndef WS_RACE_GLOBAL_CUH
#define WS_RACE_GLOBAL_CUH

#include "race_line.cuh"
#include "race_shared.cuh"

struct fast {
	u64 at;                  /* of the line's entry, or of the cell; 0 = for the call */
	u64 w, r;
	u64 now, time;           /* of the warp; with the lane, as it is entered: the first one of a line */
	u32 bits;                /* of the entry: the line's shift, or the bytes of the word */
	u32 old;                 /* high words of entries below it are of no matter */
	u32 grid;
	bool covers;             /* the warp covers lines, by all of its lanes: the same for each */
	bool line, enters;       /* `at` is a line; this lane is the one that changes it */
};

/* ---- what is ordered ---- */
HELPER u32 high(u64 entry) { return (u32)(entry >> 32); }

HELPER bool is_past(u64 entry, const struct fast *f)
{
	return high(entry) < f->old;
}

/* By the same lane, or of a line by the same lanes. */
HELPER bool own(u64 entry, u32 bits, const struct fast *f)
{
	return high(entry) == high(f->time) && (!f->line || bits == f->bits);
}

/* By this warp, a barrier before. */
HELPER bool before_barrier(u64 entry, const struct fast *f)
{
	return segment_of(entry) == segment_of(f->now) && epoch_of(entry) < epoch_of(f->now);
}

HELPER bool write_is_before(const struct fast *f)
{
	return is_past(f->w, f) || own(f->w, w_bytes(f->w), f) || before_barrier(f->w, f);
}

HELPER bool read_is_before(const struct fast *f)
{
	u32 several = r_several(f->r);

	return is_past(f->r, f) || (!several && own(f->r, r_bytes(f->r), f)) || (several != BLOCKS && before_barrier(f->r, f));
}

/* ---- where ---- */
/* The line's entry, if the page is where it is looked for first; else 0. */
HELPER u64 line_at_once(u64 address)
{
	u32 n = first_row(address);

	return load64_stable(RACE.pages + 8ull * n) == page_key(address) ? line_in_page(n, address) : 0;
}

HELPER void find_line(struct fast *f, u64 address, u32 bytes, u32 lane)
{
	u32 shift = bytes >> 3, each = 32 >> shift;

	f->covers = covers_lines(address, bytes);
	f->line = f->covers;
	f->at = line_at_once(address);
	f->w = EXPANDED;
	f->r = 0;
	if (f->at)
		load_cell(f->at, &f->w, &f->r);
	f->enters = true;
	f->bits = bytes_of((u32)address, bytes);
	if (is_expanded(f->w)) {
		f->line = false;
		f->at = f->at && bytes <= 4 ? cells_at((u32)f->w) + (address & 124) * 4 : 0;
		if (f->at)
			load_cell(f->at, &f->w, &f->r);
	} else if (f->line) {
		f->bits = shift;
		f->enters = !(lane & (each - 1));
		lane &= ~(each - 1);
	} else {
		f->at = 0;
	}
	f->time = (f->now >> SUB_AT << SUB_AT) | (u64)lane << LANE_AT;
}

HELPER bool is_weak(u32 what)
{
	return WS_RACE_CLASS_OF(what) == WS_RACE_WEAK || WS_RACE_CLASS_OF(what) == WS_RACE_UPDATE;
}

/* A strong access may have observed a release: that is for the call. */
HELPER bool begin_fast(struct fast *f, u32 self, u64 address, u32 what)
{
	f->now = shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now));
	f->covers = false;
	if (!f->now)                     /* there may be no tables */
		return false;
	launch_of_block(&f->old, &f->grid);
	f->old = (f->old ? f->old : 1) << (SEGMENT_AT - 32);
	find_line(f, address, WS_RACE_BYTES_OF(what), self & 31);
	return f->at;
}

/* A warp that covers lines is done as a whole, or not at all. */
HELPER bool all_done(const struct fast *f, bool done)
{
	return f->covers ? !any_lane(!done) : done;
}

/* ---- accesses ---- */
HELPER bool read_fast(struct fast *f, u32 site)
{
	u64 mine = f->time | f->bits << R_BYTES_AT | (site & (R_SITES - 1));
	bool same = !((f->r ^ mine) >> R_SEVERAL_AT), done = write_is_before(f);
	bool blocks = !is_past(f->r, f) && said_by_blocks(f->r, f->grid) && (f->line || !(f->bits & ~r_bytes(f->r)));

	if (!done || same || blocks)
		return done;
	if (!read_is_before(f))
		return false;
	if (f->enters) {
		done = cas64(f->at + 8, f->r, mine) == f->r;
		if (done)
			f->w = load64(f->at);
	}
	return done && write_is_before(f);
}

HELPER bool write_fast(struct fast *f, u32 what, u32 site)
{
	u64 mine = f->time | WS_RACE_CLASS_OF(what) << W_CLASS_AT | f->bits << W_BYTES_AT | (site & (W_SITES - 1));
	bool done = write_is_before(f) && read_is_before(f);

	if (!done || !((f->w ^ mine) >> W_BYTES_AT))
		return done;
	if (!f->line && f->bits != 15 && !is_past(f->w, f))       /* what is forgotten is counted */
		return false;
	if (f->enters) {
		done = cas64(f->at, f->w, mine) == f->w;
		if (done)
			f->r = load64(f->at + 8);
	}
	return done && read_is_before(f);
}

/* For lanes that write the word by the same instruction. */
HELPER void note_own(u32 self, u32 value)
{
	struct here h = here(self);

	if (h.cells)
		shared_store32(h.values + 4 * self, value);
	else
		note_written(self - self_of(0), value);
}

/* True: nothing is left to be done. `self`: see race_shared.cuh. */
HELPER bool read_is_checked(u32 self, u64 address, u32 what, u32 site)
{
	struct fast f;

	if (!is_weak(what))
		return false;
	return all_done(&f, begin_fast(&f, self, address, what) && read_fast(&f, site));
}

HELPER bool write_is_checked(u32 self, u64 address, u32 what, u32 site, u32 value)
{
	struct fast f;
	bool begun;

	if (!is_weak(what))
		return false;
	begun = begin_fast(&f, self, address, what);
	if (begun && !f.line)
		note_own(self, value);
	return all_done(&f, begun && write_fast(&f, what, site));
}

#endif
