/* race_parts.cuh - words of global memory to which threads come by parts (race.cu).
 *
 * A cell says of one access which bytes it was to. While a word's bytes, or halves, are one thread's, or those of lanes side by side, that
 * is enough. When an entry would take the place of one that says something of other bytes, the word gets parts: four cells, of a byte each, that
 * are dealt with as words are, with all bits of `bytes`. W says where they are from then on (is_parts). They are carved out of the cells of a line.
 *
 * Of two that come at the same moment: a read that has entered R looks at W again, and goes to the parts if it has some by then; what was
 * entered until R is taken away is entered in the parts by the one who makes them. A write finds W changed. */
#ifndef WS_RACE_PARTS_CUH
#define WS_RACE_PARTS_CUH

#include "race_memory.cuh"

enum { PARTS_BYTES = 4 * 16, PARTS_IN_CELLS = WS_RACE_CELLS_BYTES / PARTS_BYTES };
enum { PARTS_LOW = 13, PARTS_BITS = PARTS_LOW + GRID_BITS };     /* of their number, from 1 on: where the site is, and the launch */
static_assert(W_BYTES_AT == PARTS_LOW, "the number's low bits are where the site is");

HELPER u64 parts_entry(u32 number)
{
	return EXPANDED | (u64)(number >> PARTS_LOW) << SUB_AT | (u32)W_OFTEN << W_CLASS_AT | 15u << W_BYTES_AT | (number & ((1u << PARTS_LOW) - 1));
}

/* The cell of the word's first byte. */
HELPER u64 parts_of(u64 w)
{
	u32 number = ((u32)(w >> SUB_AT) & ((1u << GRID_BITS) - 1)) << PARTS_LOW | ((u32)w & ((1u << PARTS_LOW) - 1));

	return RACE.cells + (u64)(number - 1) * PARTS_BYTES;
}

/* The number of parts that are not in use; 0 = there are none. Those of one line's cells are for any words of the block. */
HELPER u32 take_parts(u32 warp)
{
	u64 at = IN_SHARED(__warpsafe_block.parts);

	for (;;) {
		u32 next = shared_load32((u32)at), cells, more;

		if (next) {
			more = next % PARTS_IN_CELLS ? next + 1 : 0;
			if (shared_cas32(at, next, more) == next)
				return next;
			continue;
		}
		cells = take_cells(warp) & ~(u32)USED;
		if (!cells || cells >> (PARTS_BITS - 3))
			return 0;
		next = (cells - 1) * PARTS_IN_CELLS + 1;
		if (!shared_cas32(at, 0, next + 1))
			return next;
		shared_exchange32(IN_SHARED(__warpsafe_block.spare[warp]), cells | USED);        /* another warp was faster */
	}
}

/* What an entry of the word says of its k-th byte, as an entry of that byte's cell. */
HELPER u64 w_of_byte(u64 w, u32 k)
{
	u32 rest = 1u << k;

	if (!(w_mask(w) >> k & 1) || is_forgotten(w))
		return 0;
	return w_part(w, &rest) | 15ull << W_BYTES_AT;
}

HELPER u64 r_of_byte(u64 r, u32 k)
{
	u32 rest = 1u << k;

	if (!(r_mask(r) >> k & 1) || is_forgotten(r))
		return 0;
	return r_part(r, &rest) | 15ull << R_BYTES_AT;
}

/* W of a word that has parts from now on. */
HELPER u64 make_parts(u64 cell, u32 number)
{
	u64 mine = parts_entry(number), at = parts_of(mine), w, r, was;

	for (load_cell(cell, &w, &r);; w = was, r = load64(cell + 8)) {
		if (is_parts(w))
			return w;        /* another warp was faster: what was taken stays unused */
		#pragma nounroll
		for (u32 k = 0; k < 4; k++)
			asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" : : "l"(at + 16 * k), "l"(w_of_byte(w, k)), "l"(r_of_byte(r, k))
				     : "memory");
		fence_gpu();
		was = cas64(cell, w, mine);
		if (was == w)
			break;
	}
	was = exchange64(cell + 8, 0);
	#pragma nounroll
	for (u32 k = 0; k < 4 && was != r; k++)
		if (r_of_byte(was, k))
			enter_late(at + 16 * k + 8, r_of_byte(r, k), r_of_byte(was, k));
	return mine;
}

/* The same, by all lanes that come here together; 0 = there is no room. One of those of a word makes them for all, and they take their numbers one after the
 * other: of lanes that find none left at once each would take the cells of a line, for one. */
SLOW u64 __warpsafe_make_parts(u64 cell, u32 warp)
{
	u32 lanes = activemask(), mine = lanes_below() + 1, same = lanes_with(lanes, cell), number = 0;
	u32 makers = ballot_of(lanes, (same & -same) == mine);
	u64 w = 0;

	#pragma nounroll
	for (u32 left = makers; left; left &= left - 1) {
		if ((left & -left) == mine)
			number = take_parts(warp);
		warp_sync(lanes);
	}
	if (number)
		w = make_parts(cell, number);
	warp_sync(lanes);
	if (!w)
		w = load64(cell);
	return is_parts(w) ? w : 0;
}

/* W of the word, with parts; 0 = there is no room. */
HELPER u64 with_parts(u64 cell, u32 warp)
{
	u64 w = load64(cell);

	return is_parts(w) ? w : __warpsafe_make_parts(cell, warp);
}

/* Bytes side by side of which the entries are the same are judged together: so an access to a half is told once. */
struct alike { u64 cell, w, r; u32 bytes; };

HELPER bool is_alike(const struct alike *a, u64 w, u64 r) { return a->bytes && a->w == w && a->r == r; }

HELPER void read_part(u64 cell, const struct me *m, u64 *w)
{
	u64 r, now, was;
	bool lost;

	load_cell(cell, w, &r);
	for (; (now = after_read(r, m, 15, &lost)) != r; r = was) {
		was = cas64(cell + 8, r, now);
		*w = load64(cell);
		if (was == r)
			break;
	}
	if (now != r && lost)
		count_threads(COUNTS(lost));
}

/* By one thread, of bytes in a word of global memory that has parts, or should have them. False: there is no room. */
SLOW bool __warpsafe_read_of_parts(u64 cell, u64 address, u32 bytes, u32 what, u32 site)
{
	struct me m = access_of(BLOCK.warps[warp_index()].now, what, site);
	u64 with = with_parts(cell, m.warp), w = 0;
	struct alike a = { 0, 0, 0, 0 };

	#pragma nounroll
	for (u32 k = 0; with && k <= 4; k++) {
		bool mine = k < 4 && bytes >> k & 1;

		if (mine)
			read_part(parts_of(with) + 16 * k, &m, &w);
		if (mine && is_alike(&a, w, 0)) {
			a.bytes |= 1u << k;
			continue;
		}
		if (a.bytes && !is_passed_over(a.w, BLOCK.grid))
			__warpsafe_judge_read_of_row(a.cell, address, a.bytes, what, site, a.w);
		a = (struct alike){ parts_of(with) + 16 * k, w, 0, mine ? 1u << k : 0 };
	}
	return with;
}

/* w, r: as it was, and behind it. */
HELPER void write_part(u64 cell, const struct me *m, u64 *w, u64 *r)
{
	u64 now;

	load_cell(cell, w, r);
	now = after_write(*w, m, 15);
	if (now == *w || is_passed_over(*w, BLOCK.grid))
		return;
	*w = exchange64(cell, now);
	if (~*w)                         /* always: but known only when the exchange is done */
		*r = load64(cell + 8);
	if (is_passed_over(*w, BLOCK.grid))
		cas64(cell, now, *w);
}

/* what: with PART_KNOWN, if the value is known. Of a swap it is not known who has seen what it has written: W and R as they were before it are
 * not those of the parts. */
SLOW bool __warpsafe_write_of_parts(u64 cell, u64 address, u32 bytes, u32 what, u32 site, u32 value)
{
	struct me m = access_of(BLOCK.warps[warp_index()].now, what & ~(u32)PART_KNOWN, site);
	u64 with = with_parts(cell, m.warp), w = 0, r = 0;
	struct alike a = { 0, 0, 0, 0 };

	#pragma nounroll
	for (u32 k = 0; with && k <= 4; k++) {
		bool mine = k < 4 && bytes >> k & 1;

		if (mine)
			write_part(parts_of(with) + 16 * k, &m, &w, &r);
		if (mine && is_alike(&a, w, r)) {
			a.bytes |= 1u << k;
			continue;
		}
		if (a.bytes && !is_passed_over(a.w, BLOCK.grid))
			__warpsafe_check_part(a.cell, address, a.bytes, what, site, value, a.w, a.r);
		a = (struct alike){ parts_of(with) + 16 * k, w, r, mine ? 1u << k : 0 };
	}
	return with;
}

#endif
