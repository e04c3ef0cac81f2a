/* race_shared_rows.cuh - accesses to bytes and halves of shared memory of which the cells lie in shared memory, too: a call each (race.cu). Lanes that
 * come together tell each other what they come to, and the first one of a word enters it for all of its row; others join what is there (race_shared.cuh).
 * No lane of `lanes` goes another way before all that they wait for each other for: these are two functions, and no copies of them. */
#ifndef WS_RACE_SHARED_ROWS_CUH
#define WS_RACE_SHARED_ROWS_CUH

#include "race_shared.cuh"

struct part {                    /* an access of a lane to part of a word */
	u32 self, size, bytes;
	u32 lanes;               /* that come together */
	u32 head;                /* the lane that enters it */
	u32 low, row;            /* of an entry: alone; with the lanes that come together, or 0 */
	bool more;               /* it stands for other lanes, which come to the same bytes */
	bool joinable;           /* it may be in a row */
};

/* Bytes of a word around the nth one, of size 1; bit k of `joined`: bytes k and k + 1 are together. */
HELPER u32 bytes_around(u32 joined, u32 nth)
{
	u32 apart = ~joined & 7, below = apart & ((1u << nth) - 1), first = below ? 32 - (u32)__builtin_clz(below) : 0;
	u32 last = nth + (u32)__builtin_ctz(apart >> nth | 1u << (3 - nth));

	return (2u << last) - (1u << first);
}

/* The bytes that lanes side by side come to, mine among them. behind: lanes that come to what lies right behind the access of the lane below. */
HELPER u32 bytes_together(u32 behind, u32 self, u32 offset, u32 size)
{
	u32 nth = nth_part(offset, size), joined = behind >> 1 >> ((self - nth) & 31);

	return size == 1 ? bytes_around(joined & 7, nth) : joined & 1 ? 15 : 3u << 2 * nth;
}

/* alike: the lane below reads the same. Who is in a row is in no run. */
HELPER void find_run(struct part *p, bool alike)
{
	u32 rows = ballot_of(p->lanes, p->row), same = ballot_of(p->lanes, alike && !p->row) & ~(rows << 1);

	if (p->row)
		return;
	p->head = 31 - (u32)__builtin_clz(~same & (0xffffffffu >> (31 - (p->self & 31))));
	p->more = same >> 1 >> p->head & 1;
}

/* low: of an entry, with the bytes from `at` on. */
HELPER struct part part_of(u32 time, u32 self, u32 offset, u32 size, u32 low, u32 at)
{
	return (struct part){ self, size, low >> at & 15, 0, self & 31, low, 0, false, may_be_in_row(self, offset, size, time) };
}

/* With what lanes that come here together do. mark: of a row. reads: lanes side by side that read the same have their first one enter it. */
HELPER void come_together(struct part *p, u32 offset, u32 at, u32 mark, bool reads)
{
	u32 self = p->self, size = p->size, below, behind, together;
	bool has_below;

	p->lanes = activemask();
	has_below = (p->lanes & p->lanes << 1) >> (self & 31) & 1;
	below = of_lane(p->lanes, (self - 1) & 31, offset);
	behind = ballot_of(p->lanes, has_below && below + size == offset && offset & 3);
	together = p->joinable ? bytes_together(behind, self, offset, size) : p->bytes;
	if (together != p->bytes) {
		p->row = row_with(p->low, at, mark, size) | (size == 2 ? 0 : together << at);
		p->head -= nth_part(offset, size) - nth_part((u32)__builtin_ctz(together), size);
	}
	if (reads)
		find_run(p, has_below && below == offset);
}

HELPER void count_lost(void)
{
	u32 lanes = activemask();

	if (leads(lanes))
		shared_add32(IN_SHARED(__warpsafe_block.lost), population(lanes));
}

HELPER u64 of_head(const struct part *p, u64 entry)
{
	u32 low, high;

	halves(entry, &low, &high);
	return pair(of_lane(p->lanes, p->head, low), of_lane(p->lanes, p->head, high));
}

/* ---- writes ---- */
HELPER bool w_is_fine_for_part(u64 w, const struct part *p, const struct here *h, u32 offset, u32 what)
{
	return w_is_fine(w, p->self, h, what) || !(shared_w_mask(w) & p->bytes) || w_has_me(w, p->self, offset, p->size);
}

/* What may be the writer's own byte is forgotten. */
HELPER bool r_is_fine_for_part(u64 r, const struct part *p, const struct here *h, u32 offset, u32 what)
{
	if (r_is_fine(r, p->self, h, what) || !(shared_r_mask(r) & p->bytes) || r_has_me(r, p->self, offset, p->size))
		return true;
	if (surely_by_others(r, p->self) & p->bytes)
		return false;
	count_lost();
	return true;
}

/* Enters it; what W was. No lane leaves before the others have what they need of it. */
HELPER u64 enter_part_write(struct part *p, u32 at, u32 offset, u32 time)
{
	u64 w = 0, now = 0;

	come_together(p, offset, W_BYTES_AT, SHARED_COPY, false);
	if (p->head == (p->self & 31)) {
		w = enter_part(at, p->low, p->row, time, p->size, p->joinable, &now);
		if (forgets_part(w, now, p->self, time))
			count_lost();
	}
	return of_head(p, w);
}

/* W as it was, if more is to be looked at; NOT_ENTERED: all; IS_FINE: nothing. It calls nothing. value: where the bytes are in the word. */
SLOW u64 __warpsafe_write_part_shared(u32 self, u32 offset, u32 what, u32 site, u32 value)
{
	struct here h = here(self);
	u32 size = WS_RACE_BYTES_OF(what), at = w_cell(&h, offset);
	struct part p;
	u64 w, r;

	if (!h.time)
		return NOT_ENTERED;
	note_here(&h, self, offset, what, site, value);
	p = part_of(h.time, self, offset, size, (u32)shared_write_entry(self, h.time, what, site, bytes_of(offset, size)), W_BYTES_AT);
	w = shared_load64(at);
	if (with_write(w, p.low, 0, h.time, size, p.joinable) != w || ((u32)w ^ p.low) & (W_SITES - 1))
		w = enter_part_write(&p, at, offset, h.time);
	r = shared_load64(at + h.reads);
	return w_is_fine_for_part(w, &p, &h, offset, what) && r_is_fine_for_part(r, &p, &h, offset, what) ? IS_FINE : w;
}

INLINED void race_write_part_shared(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	u64 value = v0 << 8 * ((u32)address & 3), w = __warpsafe_write_part_shared(self, (u32)address, what, site, (u32)value);

	(void)v1;
	if (w != IS_FINE)
		__warpsafe_shared_left(self, address, what, site, value, w);
}

/* ---- reads ---- */
/* Does R say already what it would with this read, or those of the row? */
HELPER bool is_part_entered(u64 r, const struct part *p, u32 time)
{
	u32 mine = p->row ? (u32)as_several(pair(p->row, time)) : p->low, row = row_with(p->low, R_BYTES_AT, R_ROW, p->size);
	u32 bytes = p->row ? bytes_of_row(p->row >> R_BYTES_AT & 15) : p->bytes;

	if (is_crowd((u32)r))
		return (u32)(r >> 32) >= (time & SHARED_EPOCH) && of_one_class((u32)r, mine) && with_crowd((u32)r, mine, bytes) == (u32)r;
	if (!r_is_shared_row(r))
		return is_entered(r, mine, time, p->bytes, p->row || p->more);
	return !p->more && (u32)(r >> 32) == time && !(((u32)r ^ row) & ~(15u << R_BYTES_AT | (R_SITES - 1))) && !(bytes & ~shared_r_mask(r)) &&
	       are_halves(r_bytes(r)) == (p->size == 2);
}

/* R with them; false: it wants a closer look. */
HELPER bool with_part_read(u64 r, const struct part *p, const struct here *h, u64 *now)
{
	u32 low, high, both, time = h->time;

	halves(r, &low, &high);
	*now = pair(p->row ? p->row : p->more ? p->low | (u32)LANES_OF_WARP << R_SEVERAL_AT : p->low, time);
	if (high < (time & SHARED_EPOCH) || r_is_before_sync(r, p->self, h->synced))
		return true;
	if (high == time && p->joinable && !p->more && joins(low, p->low, R_BYTES_AT, R_ROW, p->size, &both)) {
		*now = pair(p->row ? p->row | both : both, time);
		return true;
	}
	if (r_is_shared_row(r))
		r = as_several(r);
	return p->row ? with_bytes_read(r, (u32)as_several(pair(p->row, time)), time, true, now) :
	       with_read(r, p->low, p->self, time, p->bytes, 0, p->more, now);
}

HELPER bool enter_part_until(u32 at, u64 r, const struct part *p, const struct here *h)
{
	u64 was, now;

	for (; !is_part_entered(r, p, h->time); r = was) {
		if (!with_part_read(r, p, h, &now))
			return false;
		was = shared_swap64(at, r, now);
		if (was == r)
			break;
	}
	return true;
}

/* Likewise. */
HELPER bool enter_part_read(struct part *p, u32 at, u64 r, u32 offset, const struct here *h)
{
	bool fine = true;

	come_together(p, offset, R_BYTES_AT, R_ROW, true);
	if (p->head == (p->self & 31))
		fine = enter_part_until(at, r, p, h);
	return of_lane(p->lanes, p->head, fine);
}

/* False: it is not entered, or W is not before it. It calls nothing. */
SLOW u32 __warpsafe_read_part_shared(u32 self, u32 offset, u32 what, u32 site)
{
	struct here h = here(self);
	u32 size = WS_RACE_BYTES_OF(what), at = w_cell(&h, offset);
	bool fine = true;
	struct part p;
	u64 w, r;

	if (!h.time)
		return false;
	p = part_of(h.time, self, offset, size, read_low(self, bytes_of(offset, size), what, site), R_BYTES_AT);
	r = shared_load64(at + h.reads);
	if (!is_part_entered(r, &p, h.time))
		fine = enter_part_read(&p, at + h.reads, r, offset, &h);
	w = shared_load64(at);
	return fine & (w_is_before_read(w, self, &h, p.bytes, what) || w_has_me(w, self, offset, size));
}

INLINED void race_read_part_shared(u32 self, u64 address, u32 what, u32 site)
{
	bool fine = __warpsafe_read_part_shared(self, (u32)address, what, site);

	if (fine && WS_RACE_CLASS_OF(what))
		observes_here(self);
	if (!fine)
		__warpsafe_read(address, what, site);
}

#endif
