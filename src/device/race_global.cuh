/* race_global.cuh - the part of a check of global memory that stands at the access (race.cu): what changes nothing, and
 * the first access of a launch to a line or a word. No loop, no wait for other lanes but at the vote of a warp that is
 * together; whatever is not plainly without a race is for the call.
 *
 * A line that lanes cover and a word's cell are dealt with alike: both have W and R. So are words of which lanes side by side access the bytes, or
 * halves: one of them enters what they do, as a row. What is ordered here is so by program order, by barriers of the block, or is of a launch before.
 *
 * Entries are first looked at through the first-level cache, and may have changed meanwhile. That does no harm: what is found
 * to be said already was entered, and who changed W or R since has seen it; and nothing is entered but by comparing. A GPU's
 * atomic takes the entry out of the cache of its multiprocessor, so who fails looks anew the next time: calls that find
 * nothing to change make one all the same. */
#ifndef WS_RACE_GLOBAL_CUH
#define WS_RACE_GLOBAL_CUH

#include "race_line.cuh"
#include "race_shared.cuh"

struct fast {
	u64 at;                  /* of the line's entry, or of the cell; 0 = for the call */
	u64 w, r;
	u64 now, time;           /* of the warp; with the lane, as it is entered: the first one of a line */
	u32 bits;                /* of the entry: the line's shift, or the bytes of the word, or what sort of row */
	u32 old;                 /* high words of entries below it are of no matter */
	u32 grid;
	bool rounds;             /* this is a call for grids that have rounds */
	u32 epochs, epoch;       /* in such: of accesses of all blocks those in epochs below are before mine; and mine */
	u32 first, n;            /* segments with which time counts as with the warp's: the block's first ones, or its own */
	u64 floors;                      /* in such: where those of this launch are, by lane; 0 = it is none */
	bool covers;             /* there may be lines, or rows, of these lanes: the same for each */
	u32 lanes;
	bool line, row, enters;  /* `at` is a line; a cell, and it is for the whole row; this lane is the one that changes it */
	bool part;               /* of a word, by this lane for itself or in a row */
};

/* ---- what is ordered ---- */
HELPER u32 high(u64 entry) { return (u32)(entry >> 32); }

HELPER bool is_past(u64 entry, const struct fast *f)
{
	return high(entry) < f->old || (f->floors && !is_parts(entry) && is_below_floor(segment_of(entry), f->floors));
}

/* By the same lane, all of it, or of a line or row by the same lanes. */
HELPER bool own(u64 entry, u32 bits, const struct fast *f)
{
	return high(entry) == high(f->time) && (bits == f->bits || (f->part && !f->row && !is_row(bits)));
}

/* The bytes of the word, by whatever lanes. */
HELPER u32 bytes_in(const struct fast *f) { return f->row ? 15 : f->bits; }

HELPER bool is_here(u64 entry, const struct fast *f)
{
	return segment_of(entry) - f->first < f->n;
}

HELPER bool before_barrier(u64 entry, const struct fast *f)
{
	return is_here(entry, f) && epoch_of(entry) < epoch_of(f->now);
}

/* By a round of the grid? (Nothing, 0, is past.) */
HELPER bool is_before_all(u64 entry, u32 several, const struct fast *f)
{
	return f->epochs && are_below(entry, several, f->epochs, f->epoch);
}

/* (Atomics of several blocks are such of the GPU's scope. What races often is for the call.) */
HELPER bool write_is_before(u64 w, const struct fast *f, u32 what)
{
	u32 cls = w_class(w) == W_OFTEN ? 0 : w_class(w) == W_MANY ? (u32)WS_RACE_ATOMIC_GPU : w_class(w);

	if (is_past(w, f) || both_strong(WS_RACE_CLASS_OF(what), cls, false))
		return true;
	return !is_special(w) && (is_before_all(w, ONE_LANE, f) || own(w, w_bytes(w), f) || before_barrier(w, f));
}

HELPER bool read_is_before(u64 r, const struct fast *f)
{
	u32 several = r_several(r);

	return is_past(r, f) || is_before_all(r, several, f) || (!several && own(r, r_bytes(r), f)) || (several != BLOCKS && before_barrier(r, f));
}

/* R says already that somebody has read who is no more ordered than I am with whatever comes: weakly, or as I do. */
HELPER bool says_my_read(u64 r, const struct fast *f, u64 mine)
{
	u32 several = r_several(r), later = (u32)(r ^ f->now);
	bool of_blocks = several == BLOCKS && !is_past(r, f) && has_launch(r, f->grid) && (f->rounds ? __warpsafe_have_read_now(r) : !(f->now & NOW_ROUNDS));
	bool of_block = several == WARPS_OF_BLOCK && is_here(r, f) && !(later >> EPOCH_AT);
	bool of_warp = several == LANES_OF_WARP && segment_of(r) == segment_of(f->now) && !(later >> SUB_AT);

	return (of_blocks || of_block || of_warp) && (!r_class(r) || r_class(r) == r_class(mine)) && (f->line || !(bytes_in(f) & ~r_bytes(r)));
}

/* ---- where ---- */
/* The line's entry, if the page is where it is looked for first; else 0. */
HELPER u64 line_at_once(u64 address)
{
	u32 n = first_row(address);

	return load64_stable(RACE.pages + 8ull * n) == page_key(address) ? line_in_page(n, address) : 0;
}

HELPER void load_cell_near(u64 cell, u64 *w, u64 *r)
{
	asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(*w), "=l"(*r) : "l"(cell) : "memory");
}

/* Where a row of bytes or halves begins, by its lane: lane k has what lies k accesses behind the first. Those at the ends of what comes
 * together that have no whole word between them are none. */
HELPER u32 row_begin(u64 address, u32 bytes, u32 lane) { return lane - ((u32)address & 3) / bytes; }
HELPER u32 row_of_size(u32 bytes) { return bytes == 1 ? ROW_OF_BYTES : ROW_OF_HALVES; }
HELPER u32 row_lanes(u32 begin, u32 bytes) { return (bytes == 1 ? 15u : 3u) << begin; }

HELPER void find_row(struct fast *f, u64 address, u32 bytes, u32 *lane)
{
	u32 begin = row_begin(address, bytes, *lane), of = row_lanes(begin & 31, bytes);

	f->lanes = activemask();
	f->covers = true;
	f->row = !(of & ~lanes_side_by_side(f->lanes, address - *lane * bytes)) && begin <= 32 - 4 / bytes;
	if (!f->row)
		return;
	f->bits = row_of_size(bytes);
	f->enters = *lane == begin;
	*lane = begin;
}

/* Of a page that is not there yet, or elsewhere. */
SLOW u64 __warpsafe_make_line(u64 address) { return line_of(address); }

/* Bytes and halves never make a line's entry. Where there is no room for its cells, it has none. */
HELPER void have_cells(struct fast *f, u32 self, u64 address)
{
	if (!f->at)
		f->at = __warpsafe_make_line(address);
	f->w = f->at ? __warpsafe_expand(f->at, (self - self_of(0)) >> 5) : EXPANDED;
}

/* How it is accessed: a word by itself, or by warps that may cover lines, or bytes and halves by such as may have rows. */
enum how { SINGLY, IN_LINES, IN_ROWS };

/* line: see line_at_once. */
HELPER void find_line(struct fast *f, u64 line, u32 self, u64 address, u32 what, enum how how)
{
	u32 bytes = WS_RACE_BYTES_OF(what), lane = self & 31, shift = bytes >> 3;
	bool rows = how == IN_ROWS;

	f->covers = f->row = false;
	f->part = rows;
	f->at = line;
	f->w = rows ? 0 : EXPANDED;
	f->r = 0;
	if (f->at)
		load_cell_near(f->at, &f->w, &f->r);
	if (rows && !is_expanded(f->w))
		have_cells(f, self, address);
	f->lanes = 0;
	f->line = false;
	if (how == IN_LINES && !is_expanded(f->w)) {
		f->lanes = activemask();
		f->covers = true;
		f->line = covers_line(f->lanes, address, bytes, lane);
	}
	f->enters = true;
	f->bits = bytes_of((u32)address, bytes);
	if (is_expanded(f->w)) {
		f->line = false;
		f->at = f->at && bytes <= 4 ? cell_by(f->w, address) : 0;
		if (f->at)
			load_cell_near(f->at, &f->w, &f->r);
		if (f->at && rows)
			find_row(f, address, bytes, &lane);
	} else if (f->line) {
		u32 first = lowest(lanes_of_line(bytes, lane));

		f->bits = shift;
		f->enters = lane == first;
		lane = first;
	} else {
		f->at = 0;
	}
	f->time = (f->now >> SUB_AT << SUB_AT) | (u64)lane << LANE_AT;
}

/* What the warp is; false: it is not checked, and there may be no tables; or this is its segment's first access. */
HELPER bool begin_fast(struct fast *f, u32 self)
{
	struct launch l = launch_of_block();
	bool first;

	f->now = shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now));
	first = segment_of(f->now) - l.first < l.nwarps;
	f->first = first ? l.first : segment_of(f->now);
	f->n = first ? l.nwarps : 1;
	f->rounds = f->part = false;
	f->floors = 0;
	f->epochs = f->epoch = 0;
	f->old = l.floor << (SEGMENT_AT - 32);
	f->grid = l.grid;
	return f->now & NOW_ENTERED;
}

/* The segment's first access, where a warp's lanes would else do it one by one, and forget each other's bytes. */
SLOW void __warpsafe_begins(u32 self) { set_flags((self - self_of(0)) >> 5, NOW_ENTERED); }

HELPER bool begin_access_fast(struct fast *f, u32 self, enum how how)
{
	if (begin_fast(f, self))
		return true;
	if (how != IN_ROWS || !f->now)
		return false;
	__warpsafe_begins(self);
	return true;
}

/* In a call, where the grid has rounds. */
HELPER void learn_rounds(struct fast *f, u32 self)
{
	f->rounds = true;
	f->epoch = own_place(f->now, (self - self_of(0)) >> 5).epoch;
	f->epochs = ordered_in(f->epoch);
}

/* In a call, where launches of other streams may overlap. */
HELPER void look_beside(struct fast *f) { f->floors = BEGUN_AT(launch_number(), floors); }

/* What else is known of what is before: calls of which most launches have none have functions of their own. */
enum { NO_MORE, BY_ROUNDS, BY_LAUNCHES };

/* A strong access is noted by the warp's first one (observe): that is for the call. */
HELPER bool is_noted(const struct fast *f, u32 what)
{
	return WS_RACE_CLASS_OF(what) == WS_RACE_WEAK || WS_RACE_CLASS_OF(what) == WS_RACE_UPDATE || f->now & NOW_OBSERVED;
}

/* A line that its lanes cover is done as a whole, or not at all; and so is a row. */
HELPER bool all_done(const struct fast *f, bool done, u32 bytes)
{
	u32 left = 0;

	if (f->covers)
		left = ballot_of(f->lanes, (f->line || f->row) && !done);
	if (f->row)
		left &= row_lanes(lane_of(f->time), bytes);
	else if (f->line)
		left &= lanes_of_line(bytes, lane_of(f->time));
	return done && !((f->line || f->row) && left);
}

/* Does an entry that takes the place of another one not say of all of its bytes? That is for the call (race_parts.cuh). */
HELPER bool forgets(u64 old, u32 mask, const struct fast *f) { return !f->line && mask & ~bytes_in(f) && !is_past(old, f); }

/* What a thread does to further bytes of a word, at the same time, is said by its own entry. bytes: with those, in place; 0 = they have no room. */
HELPER bool adds_bytes(u64 old, u64 mine, u32 has, u32 time_at, const struct fast *f)
{
	return f->part && !f->row && !((old ^ mine) >> time_at) && !is_row(has) && with_bytes(has, f->bits);
}

/* ---- accesses ---- */
HELPER bool read_fast(struct fast *f, u32 what, u32 site)
{
	u64 mine = f->time | WS_RACE_CLASS_OF(what) << R_CLASS_AT | f->bits << R_BYTES_AT | (site & (R_SITES - 1));
	bool same, done = write_is_before(f->w, f, what);

	if (is_passed_over(f->w, f->grid))
		return true;
	if (adds_bytes(f->r, mine, r_bytes(f->r), R_CLASS_AT, f) && !r_several(f->r))
		mine |= (u64)r_bytes(f->r) << R_BYTES_AT;
	same = !((f->r ^ mine) >> R_SEVERAL_AT);
	if (!done || same || says_my_read(f->r, f, mine))
		return done;
	if (!read_is_before(f->r, f) || (forgets(f->r, r_mask(f->r), f) && r_mask(f->r) & ~(u32)(mine >> R_BYTES_AT)))
		return false;
	if (f->enters) {
		done = cas64(f->at + 8, f->r, mine) == f->r;
		if (done)
			f->w = load64(f->at);
	}
	return done && write_is_before(f->w, f, what);
}

HELPER bool write_fast(struct fast *f, u32 what, u32 site)
{
	u64 mine = f->time | WS_RACE_CLASS_OF(what) << W_CLASS_AT | f->bits << W_BYTES_AT | (site & (W_SITES - 1));
	bool done = write_is_before(f->w, f, what) && read_is_before(f->r, f);

	if (is_passed_over(f->w, f->grid))
		return true;
	if (adds_bytes(f->w, mine, w_bytes(f->w), W_CLASS_AT, f))
		mine |= (u64)w_bytes(f->w) << W_BYTES_AT;
	else if (forgets(f->w, w_mask(f->w), f))
		done = false;
	if (!done || !((f->w ^ mine) >> W_BYTES_AT))
		return done;
	if (f->enters) {
		done = cas64(f->at, f->w, mine) == f->w;
		if (done)
			f->r = load64(f->at + 8);
	}
	return done && read_is_before(f->r, f);
}

/* ---- a word's cell, by a call ----
 * What several threads do to a word without a race, where no list need be asked: with loads that are up to date, and
 * tried again when another thread was faster. */
enum { TRIES = 4 };

struct cell {                    /* what the part at the access has left: see left_over; with W and R as they were near */
	u64 at, w, r;
};
enum { IN_ROW = 4 };             /* of `at`: it is for a row, of which all lanes have come */

HELPER bool begin_cell(struct fast *f, u32 self, const struct cell *c, u64 address, u32 what)
{
	bool begun = begin_fast(f, self);

	f->at = c->at;
	f->w = c->w;
	f->r = c->r;
	f->line = f->row = false;
	f->bits = bytes_of((u32)address, WS_RACE_BYTES_OF(what));
	f->part = f->bits != 15;
	f->time = (f->now >> SUB_AT << SUB_AT) | (u64)(self & 31) << LANE_AT;
	return begun;
}

/* Mine is a row: is it, or has it, none of the bytes that the same lane has in R? */
HELPER bool rows_differ(u64 r, const struct fast *f)
{
	return r_several(r) || (r_bytes(r) == f->bits && lane_of(r) != lane_of(f->time));
}

/* R after my read; 0 = that is for after_read, as where a weak reader and a strong one come together. */
HELPER u64 next_read(u64 r, const struct fast *f, u64 mine)
{
	u32 several = r_several(r), common = (f->row ? r_mask(r) : r_bytes(r)) & bytes_in(f);
	u64 was = r;

	if (is_past(r, f))
		return mine;
	if (f->row ? !rows_differ(r, f) && (r ^ mine) >> R_SEVERAL_AT && segment_of(r) == segment_of(f->now) : r_is_row(r))
		return 0;
	if (!several && !((r ^ mine) >> SUB_AT))
		return r_class(r) == r_class(mine) && (f->row || with_bytes(r_bytes(r), f->bits)) ? r | f->bits << R_BYTES_AT : 0;
	if (read_is_before(r, f))
		return mine;
	if (says_my_read(r, f, mine))
		return r;
	if (several == BLOCKS || r_class(r) != r_class(mine) || !common)
		return 0;
	if (!is_here(r, f)) {
		if (segment_of(r) - BLOCK.lowest >= BLOCK.range || segment_of(r) - BLOCK.first < BLOCK.nwarps)
			return 0;
		several = BLOCKS;
	} else {
		if (epoch_of(r) != epoch_of(f->now))
			return 0;
		if (several == WARPS_OF_BLOCK || segment_of(r) != segment_of(f->now))
			several = WARPS_OF_BLOCK;
		else if (sub_of(r) == sub_of(f->now))
			several = LANES_OF_WARP;
		else
			return 0;
	}
	r &= ~(15ull << R_BYTES_AT | 3ull << R_SEVERAL_AT);
	r |= common << R_BYTES_AT | several << R_SEVERAL_AT;
	if (several != BLOCKS)
		return r;
	return f->now & NOW_ROUNDS ? __warpsafe_with_readers(r, was) : of_readers(r, f->grid, 0);
}

/* Who has made an entry, if it is a thread of the launch. Warps that fence in a loop take a segment every LAST_SUB fences, so that most
 * entries are of no first segment: those have a description, one more trip to memory. */
HELPER bool far_target(u64 entry, const struct fast *f, struct target *t)
{
	u32 nth = segment_of(entry) - BLOCK.lowest, nwarps = BLOCK.nwarps, block = nth / nwarps;

	t->at = (struct place){ f->grid, block, nth - block * nwarps, epoch_of(entry), sub_of(entry) };
	t->lane = lane_of(entry);
	if (is_summed(entry))
		return false;
	if (nth < BLOCK.range)
		return true;
	if (BLOCK.copies)                /* it may be of an asynchronous copy */
		return false;
	t->at = place_of(entry);
	return t->at.grid == f->grid;
}

/* Of a thread that has acquired something: is the write before mine by its last acquire? R is entered meanwhile, where what
 * it says is plainly before mine or says mine already. False: for the call that knows all. */
HELPER bool read_acquired(const struct fast *f, u32 self, u64 mine)
{
	u32 thread = self - self_of(0), likely;
	struct acquired last = last_acquire(thread);
	bool enters = read_is_before(f->r, f);
	struct target t;
	u64 was;

	if (!last.mark || f->now & NOW_UNKNOWN || is_special(f->w) || !far_target(f->w, f, &t) ||
	    !(enters || says_my_read(f->r, f, mine)))
		return false;
	was = cas64(f->at + 8, f->r, enters ? mine : f->r);
	likely = likely_release(&t, &last);
	if (was != f->r || load64(f->at) != f->w)
		return false;
	return last_acquire_covers(&t, &last, last.mark & 7, likely);
}

/* It is entered even where it says so already: what led here was out of date. False: for the call that knows all. */
HELPER bool read_cell(u32 self, const struct cell *c, u64 address, u32 what, u32 site, u32 also)
{
	struct fast f;
	u64 mine, next, was;

	if (!begin_cell(&f, self, c, address, what))
		return false;
	if (also == BY_ROUNDS)
		learn_rounds(&f, self);
	if (also == BY_LAUNCHES)
		look_beside(&f);
	mine = f.time | WS_RACE_CLASS_OF(what) << R_CLASS_AT | f.bits << R_BYTES_AT | (site & (R_SITES - 1));
	if (f.now & NOW_ACQUIRED && !f.epochs)
		return f.bits == 15 && read_acquired(&f, self, mine);
	#pragma nounroll
	for (u32 n = 0; n < TRIES; n++) {
		next = next_read(f.r, &f, mine);
		if (!next || (forgets(f.r, r_mask(f.r), &f) && r_mask(f.r) & ~(u32)(next >> R_BYTES_AT)))
			return false;
		was = cas64(f.at + 8, f.r, next);
		if (was == f.r)
			return write_is_before(load64(f.at), &f, what);
		f.r = was;
	}
	return false;
}

/* See observe. */
HELPER void note_strong(u32 self, u32 what)
{
	u32 at = (self & ~31u) + __builtin_offsetof(struct warp, now);

	if (scope_of(WS_RACE_CLASS_OF(what)) && !(shared_load64(at) & NOW_OBSERVED))
		set_flags((self - self_of(0)) >> 5, NOW_OBSERVED);
}

/* The first cell of an access, of a line that has none yet, or says so in the first-level cache, or of one that has. 0: for
 * the call that knows all. made: the line had none. */
HELPER u64 cell_of_line(u32 self, u64 address, bool *made)
{
	u64 now = shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now));
	u64 line = now ? line_at_once(address) : 0, entry = line ? load64_stable(line) : 0;

	*made = line && !is_expanded(entry);
	if (*made)
		entry = __warpsafe_expand(line, (self - self_of(0)) >> 5);
	return is_expanded(entry) ? cell_by(entry, address) : 0;
}

HELPER u64 cell_of_new_line(u32 self, u64 address)
{
	bool made;

	return cell_of_line(self, address, &made);
}

/* Of a line that just got its cells they are most often 0. A write is entered by comparing with that, and learns what else there is; a read
 * asks at first. */
HELPER struct cell make_cell(u32 self, u64 address, u32 what, bool writes)
{
	struct cell c = { 0, 0, 0 };
	bool made = false;

	if (WS_RACE_BYTES_OF(what) <= 4)
		c.at = cell_of_line(self, address, &made);
	if (c.at && !(made && writes))
		load_cell(c.at, &c.w, &c.r);
	return c;
}

/* Is W before mine by my last acquire? */
HELPER bool write_acquired(const struct fast *f, u32 self)
{
	struct acquired last;
	struct target t;

	if (!(f->now & NOW_ACQUIRED) || f->now & NOW_UNKNOWN || is_special(f->w))
		return false;
	last = last_acquire(self - self_of(0));          /* on its way while the segment is looked at */
	return far_target(f->w, f, &t) && last.mark && last_acquire_covers(&t, &last, last.mark & 7, likely_release(&t, &last));
}

/* W behind a write of a part of the word; 0 = it has to be one of its bytes' cells, or W is not before it. */
HELPER u64 next_part_write(u64 w, const struct fast *f, u32 what, u32 site)
{
	u64 mine = f->time | WS_RACE_CLASS_OF(what) << W_CLASS_AT | f->bits << W_BYTES_AT | (site & (W_SITES - 1));

	if (adds_bytes(w, mine, w_bytes(w), W_CLASS_AT, f))
		return mine | (u64)w_bytes(w) << W_BYTES_AT;
	return write_is_before(w, f, what) && !forgets(w, w_mask(w), f) ? mine : 0;
}

HELPER bool write_part_of_cell(u32 self, const struct cell *c, u64 address, u32 what, u32 site, u32 also)
{
	struct fast f;
	u64 next, was;

	if (!begin_cell(&f, self, c, address, what))
		return false;
	if (also == BY_LAUNCHES)
		look_beside(&f);
	#pragma nounroll
	for (u32 n = 0; n < TRIES; n++) {
		next = next_part_write(f.w, &f, what, site);
		if (!next)
			return false;
		was = cas64(f.at, f.w, next);
		if (was == f.w)
			return read_is_before(load64(f.at + 8), &f);
		f.w = was;
	}
	return false;
}

/* A write or atomic. Those of the launch to the word stay as they are where that is enough: see by_other_blocks. */
HELPER bool write_cell(u32 self, const struct cell *c, u64 address, u32 what, u32 site, u32 also)
{
	struct fast f;
	struct me m;
	u64 next, was;

	if (!begin_cell(&f, self, c, address, what) || f.bits != 15)
		return false;
	if (also == BY_LAUNCHES)
		look_beside(&f);
	m = (struct me){ f.now, f.time, 0, what, site, 0, 0 };
	#pragma nounroll
	for (u32 n = 0; n < TRIES; n++) {
		if (!write_is_before(f.w, &f, what) &&
		    !(w_class(f.w) == W_MANY && by_other_blocks(f.w, WS_RACE_CLASS_OF(what), 15, what)) &&
		    !write_acquired(&f, self))
			return false;
		next = after_write(f.w, &m, 15);
		was = cas64(f.at, f.w, next);
		if (was == f.w) {
			f.r = load64(f.at + 8);
			return read_is_before(f.r, &f) || both_strong(WS_RACE_CLASS_OF(what), r_class(f.r), false);
		}
		f.w = was;
	}
	return false;
}

/* ---- words of which the bytes have cells (race_parts.cuh), by a call ----
 * w: W of the word. False: for the call that knows all. */
SLOW bool __warpsafe_read_bytes(u32 self, u64 w, u64 address, u32 what, u32 site)
{
	u32 bytes = WS_RACE_BYTES_OF(what), n = bytes < 4 ? bytes : 4, word = WS_RACE_BYTES(4) | (what & ~31u), also = BLOCK.ordered ? BY_ROUNDS : BLOCK.launch ? BY_LAUNCHES : NO_MORE;
	u64 at = parts_of(w) + 16 * (address & 3);

	#pragma nounroll
	for (u32 k = 0; k < n; k++) {
		struct cell c = { at + 16 * k, 0, 0 };

		load_cell(c.at, &c.w, &c.r);
		if (!read_cell(self, &c, address & ~3ull, word, site, also))
			return false;
	}
	return true;
}

SLOW bool __warpsafe_write_bytes(u32 self, u64 w, u64 address, u32 what, u32 site)
{
	u32 bytes = WS_RACE_BYTES_OF(what), n = bytes < 4 ? bytes : 4, word = WS_RACE_BYTES(4) | (what & ~31u);
	u64 at = BLOCK.ordered ? 0 : parts_of(w) + 16 * (address & 3);

	#pragma nounroll
	for (u32 k = 0; at && k < n; k++) {
		struct cell c = { at + 16 * k, 0, 0 };

		load_cell(c.at, &c.w, &c.r);
		if (!write_cell(self, &c, address & ~3ull, word, site, BLOCK.launch ? BY_LAUNCHES : NO_MORE))
			return false;
	}
	return at;
}

/* ---- reads of words side by side, by a call ----
 * Each step for all of them before the next one, so that the trips to memory overlap. */
enum { MOST_WORDS = 4 };

struct side {                    /* one of the words */
	u64 w, r, was, again;    /* as first seen; R as it was when mine was entered; W behind that */
	u64 next;                /* R with my read; 0 = for the call that knows all */
	u64 key, has, newest;    /* of the row of a release that may cover W */
	struct target target;
	struct record release;
	bool fine;               /* what W and R say leaves it to us */
	bool asks;               /* W is before if the release covers it */
};

HELPER void begin_side(struct side *e, struct fast *f, const struct acquired *last, u32 what, u32 site)
{
	u64 mine = f->time | WS_RACE_CLASS_OF(what) << R_CLASS_AT | 15 << R_BYTES_AT | (site & (R_SITES - 1));
	bool before = write_is_before(e->w, f, what);

	e->asks = !before && last->counted > DENSE && !(f->now & NOW_UNKNOWN) && !is_special(e->w) && far_target(e->w, f, &e->target);
	if (f->now & NOW_ACQUIRED && !read_is_before(e->r, f))
		e->next = says_my_read(e->r, f, mine) ? e->r : 0;      /* it may be ordered with mine: see after_read */
	else
		e->next = next_read(e->r, f, mine);
	if (w_class(e->w) == W_OFTEN)
		e->next = 0;             /* it may be passed over */
	e->fine = (before || e->asks) && e->next;
	e->key = key_of_list(last->word, e->target.at.block, e->target.at.warp * 32 + e->target.lane);
}

HELPER bool ends_well(const struct side *e, const struct acquired *last)
{
	bool covered = e->has == e->key && e->newest >> 32 <= last->counted &&
		       counts_for(&e->release, BLOCK.block, last->mark & 7) && covers(&e->release, &e->target);

	return e->fine && e->was == e->r && e->again == e->w && (!e->asks || covered);
}

/* Of words that have not ended well: R is entered, so nothing is left but what W says. */
HELPER bool is_entered(const struct side *e) { return e->next && e->was == e->r; }

/* Behind begin_fast: whole words, by this lane. */
HELPER void of_words(struct fast *f, u32 self)
{
	f->line = f->row = false;
	f->bits = 15;
	f->time = (f->now >> SUB_AT << SUB_AT) | (u64)(self & 31) << LANE_AT;
}

/* n cells from `at` on. The words that are done, bit by bit, and from MOST_WORDS on those of which R is entered; w: their W behind that. */
HELPER u32 read_side_by_side(u32 self, u64 at, u32 n, u32 what, u32 site, u64 *w)
{
	struct acquired last = { 0, 0, 0 };
	struct side e[MOST_WORDS];
	struct fast f;
	u32 done = 0;

	if (!begin_fast(&f, self))
		return 0;
	of_words(&f, self);
	#pragma unroll
	for (u32 k = 0; k < n; k++)
		load_cell(at + 16 * k, &e[k].w, &e[k].r);
	if (f.now & NOW_ACQUIRED)
		last = last_acquire(self - self_of(0));
	#pragma unroll
	for (u32 k = 0; k < n; k++) {
		begin_side(&e[k], &f, &last, what, site + (what & WS_RACE_FOUR ? k : 0));
		e[k].was = e[k].r;
		if (e[k].next && e[k].next != e[k].r)
			e[k].was = cas64(at + 16 * k + 8, e[k].r, e[k].next);
		e[k].has = e[k].newest = 0;
		if (e[k].asks)
			load_location(location_at(first_place(e[k].key)), &e[k].has, &e[k].newest);
	}
	#pragma unroll
	for (u32 k = 0; k < n; k++) {
		e[k].again = e[k].w;
		if (e[k].was == e[k].r)          /* always, or done again: but known only when R is entered */
			e[k].again = load64(at + 16 * k);
		if (e[k].asks)
			e[k].release = load_record((u32)e[k].newest);
	}
	#pragma unroll
	for (u32 k = 0; k < n; k++) {
		done |= (u32)ends_well(&e[k], &last) << k | (u32)is_entered(&e[k]) << (MOST_WORDS + k);
		w[k] = e[k].again;
	}
	return done;
}

/* The same where the thread has acquired nothing, and where no round of the grid orders: it calls nothing. Is all done? Lanes that read one word
 * enter it one after the other. */
HELPER bool read_all_side_by_side(u32 self, u64 at, u32 n, u32 what, u32 site)
{
	struct { u64 w, r, next, was; } e[MOST_WORDS];
	struct fast f;
	bool done = false;
	u64 mine;

	if (!begin_fast(&f, self) || !is_noted(&f, what) || f.now & (NOW_ACQUIRED | NOW_ROUNDS))
		return false;
	f.now &= ~(u64)NOW_ROUNDS;
	of_words(&f, self);
	mine = f.time | WS_RACE_CLASS_OF(what) << R_CLASS_AT | 15 << R_BYTES_AT;
	#pragma nounroll
	for (u32 tries = 0; tries < TRIES && !done; tries++) {
		bool fine = true;

		#pragma unroll
		for (u32 k = 0; k < n; k++)
			load_cell(at + 16 * k, &e[k].w, &e[k].r);
		#pragma unroll
		for (u32 k = 0; k < n; k++) {
			e[k].next = w_class(e[k].w) == W_OFTEN || !write_is_before(e[k].w, &f, what) ? 0 :
				    next_read(e[k].r, &f, mine | ((site + (what & WS_RACE_FOUR ? k : 0)) & (R_SITES - 1)));
			e[k].was = e[k].r;
			fine &= e[k].next != 0;
			if (e[k].next && e[k].next != e[k].r)
				e[k].was = cas64(at + 16 * k + 8, e[k].r, e[k].next);
		}
		if (!fine)
			return false;
		done = true;
		#pragma unroll
		for (u32 k = 0; k < n; k++)
			if (e[k].was == e[k].r)  /* always, or done again: but known only when R is entered */
				done &= write_is_before(load64(at + 16 * k), &f, what);
			else
				done = false;
	}
	return done;
}

/* n words from the cell `at` on are written, or are an atomic's. Those that are done, bit by bit: where nothing is to be asked for that calls. */
HELPER u32 write_side_by_side(u32 self, u64 at, u32 n, u32 what, u32 site)
{
	struct { u64 w, r, next, was; bool fine; } e[MOST_WORDS];
	struct fast f;
	struct me m;
	u32 done = 0;

	if (!begin_fast(&f, self) || !is_noted(&f, what))
		return 0;
	of_words(&f, self);
	m = (struct me){ f.now, f.time, 0, what, site, 0, 0 };
	#pragma unroll
	for (u32 k = 0; k < n; k++)
		load_cell(at + 16 * k, &e[k].w, &e[k].r);
	#pragma unroll
	for (u32 k = 0; k < n; k++) {
		e[k].fine = w_class(e[k].w) != W_OFTEN && (write_is_before(e[k].w, &f, what) ||
			    (w_class(e[k].w) == W_MANY && by_other_blocks(e[k].w, WS_RACE_CLASS_OF(what), 15, what)));
		e[k].next = after_write(e[k].w, &m, 15);
		e[k].was = e[k].w;
		if (e[k].fine && e[k].next != e[k].w)
			e[k].was = cas64(at + 16 * k, e[k].w, e[k].next);
	}
	#pragma unroll
	for (u32 k = 0; k < n; k++)
		if (e[k].was == e[k].w)          /* always, or done again: but known only when W is entered */
			e[k].r = load64(at + 16 * k + 8);
	#pragma unroll
	for (u32 k = 0; k < n; k++)
		done |= (u32)(e[k].fine && e[k].was == e[k].w &&
			      (read_is_before(e[k].r, &f) || both_strong(WS_RACE_CLASS_OF(what), r_class(e[k].r), false))) << k;
	return done;
}

/* For lanes that write the word by the same instruction. */
HELPER void note_wrote(u32 self, const struct wrote *v)
{
	struct here h = here(self);

	if (h.cells)
		shared_store_two(h.values + 8 * self, v->noted, v->tag);
	else
		note_written(self - self_of(0), v);
}

HELPER void note_own(u32 self, u64 address, u32 what, u32 site, u32 value)
{
	struct wrote v = wrote_word(address, what, site, value);

	note_wrote(self, &v);
}

/* The cell of a word, if its line has some and both are where they are looked for first; else 0. */
HELPER u64 cell_at_once(u64 address)
{
	u64 line = line_at_once(address), entry = line ? load64_stable(line) : 0;

	return is_expanded(entry) ? cell_by(entry, address) : 0;
}

/* What the part at the access leaves to the call: NOTHING, ALL (a line, for example), a word in a cell, or without one (0). */
#define NOTHING 1
#define ALL 2
HELPER struct cell left_over(const struct fast *f, bool done)
{
	return (struct cell){ done ? NOTHING : f->line ? ALL : f->row ? f->at | IN_ROW : f->at, f->w, f->r };
}

HELPER struct cell all_left(u64 at) { return (struct cell){ at, 0, 0 }; }

/* ---- rows, by a call ----
 * By all lanes of a row. The first one enters what they do, and then each judges what concerns its own bytes: false: it is not entered, each does
 * that for itself. */
HELPER u64 of_first_lane(u32 lanes, u32 first, u64 value)
{
	u32 low, high;

	halves(value, &low, &high);
	return pair(of_lane(lanes, first, low), of_lane(lanes, first, high));
}

/* By the first lane. What is found is in *f. */
HELPER bool enter_row(struct fast *f, u32 what, u32 site, bool writes)
{
	struct me m = { f->now, f->time, 0, what, site, 0, 0 };
	u64 mine = read_entry(&m, WS_RACE_CLASS_OF(what), f->bits, ONE_LANE), at = f->at + (writes ? 0 : 8);

	#pragma nounroll
	for (u32 n = 0; n < TRIES; n++) {
		u64 *has = writes ? &f->w : &f->r, next = writes ? after_row_write(f->w, &m, f->bits) : next_read(f->r, f, mine), was;
		bool may_be_ordered = !writes && f->now & NOW_ACQUIRED && !read_is_before(f->r, f) && !says_my_read(f->r, f, mine);

		if (!next || may_be_ordered || is_parts(f->w) || is_passed_over(f->w, f->grid))
			return false;
		was = cas64(at, *has, next);
		if (was == *has)
			return true;
		*has = was;
	}
	return false;
}

/* By all lanes; each has then in f->w what the first one's write has found. */
HELPER bool row_entered(struct fast *f, u32 self, const struct cell *c, u64 address, u32 what, u32 site, bool writes)
{
	u32 bytes = WS_RACE_BYTES_OF(what), lane = self & 31, first = row_begin(address, bytes, lane), lanes = row_lanes(first, bytes), done = 0;
	bool begun = begin_cell(f, self, c, address, what);

	f->row = true;
	f->bits = row_of_size(bytes);
	if (begun && lane == first)
		done = enter_row(f, what, site, writes);
	if (writes)
		f->w = of_first_lane(lanes, first, f->w);
	return of_lane(lanes, first, done);
}

SLOW bool __warpsafe_read_in_row(u32 self, u64 at, u64 address, u32 what, u32 site, u64 w, u64 r)
{
	struct cell c = { at, w, r };
	struct word d = { at, address, bytes_of((u32)address, WS_RACE_BYTES_OF(what)) };
	struct me m = access_of(BLOCK.warps[(self - self_of(0)) >> 5].now, what, site);
	struct fast f;

	if (!row_entered(&f, self, &c, address, what, site, false))
		return false;
	f.w = load64(d.cell);
	if (is_parts(f.w))
		return false;
	judge_read(&d, &m, f.w);
	return true;
}

SLOW bool __warpsafe_write_in_row(u32 self, u64 at, u64 address, u32 what, u32 site, u32 value, u64 w, u64 r)
{
	struct cell c = { at, w, r };
	struct word d = { at, address, bytes_of((u32)address, WS_RACE_BYTES_OF(what)) };
	struct me m = access_of(BLOCK.warps[(self - self_of(0)) >> 5].now, what, site);
	struct wrote v = wrote_word(address, what, site, value);
	struct fast f;

	if (!row_entered(&f, self, &c, address, what, site, true))
		return false;
	check_write(&d, &m, f.w, load64(d.cell + 8), &v);
	return true;
}

HELPER struct cell check_read(u32 self, u64 address, u32 what, u32 site, enum how how)
{
	struct fast f;

	if (!begin_access_fast(&f, self, how) || !is_noted(&f, what))
		return all_left(ALL);
	find_line(&f, line_at_once(address), self, address, what, how);
	return left_over(&f, all_done(&f, f.at && read_fast(&f, what, site), WS_RACE_BYTES_OF(what)));
}

/* The rest of a write, of which begin_fast is true; line: see line_at_once. */
HELPER struct cell check_write_in(struct fast *f, u64 line, u32 self, u64 address, u32 what, u32 site, u32 value, enum how how)
{
	find_line(f, line, self, address, what, how);
	if (f->at && !f->line)
		note_own(self, address, what, site, value);
	return left_over(f, all_done(f, f->at && write_fast(f, what, site), WS_RACE_BYTES_OF(what)));
}

HELPER struct cell check_write_at(u32 self, u64 address, u32 what, u32 site, u32 value, enum how how)
{
	struct fast f;

	if (!begin_access_fast(&f, self, how) || !is_noted(&f, what))
		return all_left(ALL);
	return check_write_in(&f, line_at_once(address), self, address, what, site, value, how);
}

HELPER struct cell check_atomic(u32 self, u64 address, u32 what)
{
	struct fast f;
	bool same;

	if (WS_RACE_BYTES_OF(what) != 4 || !begin_fast(&f, self) || !is_noted(&f, what))
		return all_left(0);
	find_line(&f, line_at_once(address), self, address, what, SINGLY);
	if (!f.at || is_passed_over(f.w, f.grid))
		return all_left(f.at ? NOTHING : 0);
	same = !((f.w ^ (f.time | WS_RACE_CLASS_OF(what) << W_CLASS_AT | f.bits << W_BYTES_AT)) >> W_BYTES_AT);
	if (what & WS_RACE_BARRIERS && WS_RACE_CLASS_OF(what) >= WS_RACE_ATOMIC_GPU &&
	    WS_RACE_CLASS_OF(what) <= WS_RACE_ATOMIC_SYS)
		same |= w_class(f.w) == W_MANY && w_bytes(f.w) == 15 && has_grid(f.w, f.grid) && !is_past(f.w, &f);
	return left_over(&f, same && read_is_before(f.r, &f));
}

#endif
