/* race_shared_cell.cuh - what a cell in shared memory says (race_shared.cuh): who, when, and of which bytes. */
#ifndef WS_RACE_SHARED_CELL_CUH
#define WS_RACE_SHARED_CELL_CUH

#include "race_cell.cuh"

/* `self` of a thread: the address of its block's variable and its index in the block. That is a multiple of 128, so the
 * row of the thread's warp is self without the low 5 bits; the address itself would be computed anew each time. In cells
 * stand the low 10 bits. */
enum { THREAD_AT = 22, THREADS = 1 << (32 - THREAD_AT) };
HELPER u32 self_of(u32 thread) { return (u32)IN_SHARED(__warpsafe_block) + thread; }
HELPER u32 thread_in(u64 entry) { return (((u32)entry >> THREAD_AT) - self_of(0)) % THREADS; }
HELPER u32 self_of_me(const struct me *m) { return self_of(m->warp * 32 + lane_of(m->time)); }
HELPER bool of_one_warp(u32 low, u32 other) { return (low ^ other) >> (THREAD_AT + 5) == 0; }    /* of two entries */
HELPER bool same_warp(u32 low, u32 self) { return of_one_warp(low, self << THREAD_AT); }
enum { R_PARTS = SHARED_COPY };          /* of W the same bit says that it is a copy, or a row */
#define SAME_THREAD  (0xffc00000u | SHARED_COPY)         /* bits of the low half: it is no copy that may go on, and no row */
#define SAME_READER  (SAME_THREAD | 0x3000u)             /* and it is but one */
#define SHARED_EPOCH (~(u32)(SHARED_SUBS - 1))  /* of the high half */

/* What a thread needs to know of itself: the first 16 bytes of its warp's row. synced: what the warp has done before is before its last full sync. */
struct here {
	u32 time, cells, reads, values, synced;
};

HELPER struct here here(u32 self)
{
	struct here h;
	u32 reads_full;

	asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(h.time), "=r"(h.cells), "=r"(reads_full),
		     "=r"(h.values) : "r"(self & ~31u) : "memory");
	h.reads = reads_full >> SHARED_EPOCH_AT;
	h.synced = (h.time & SHARED_EPOCH) | (reads_full & ~SHARED_EPOCH);
	return h;
}

/* Has a strong access of the warp been noted (observe)? */
HELPER bool has_observed(u32 self)
{
	return shared_load32((self & ~31u) + __builtin_offsetof(struct warp, now)) & NOW_OBSERVED_SHARED;
}

HELPER u32 w_cell(const struct here *h, u32 offset) { return h->cells + 2 * (offset & ~3u); }

/* Is what W or R says before my access, by barriers or as my own? mask: SAME_... */
HELPER bool is_before(u64 old, u32 self, u32 time, u32 mask)
{
	u32 low, high;

	halves(old, &low, &high);
	return high < (time & SHARED_EPOCH) || !((low ^ self << THREAD_AT) & mask);
}

/* Is it of the same warp, which has synced as a whole since? No copy, and of lanes of one warp: that is to be asked of R. */
HELPER bool is_before_sync(u64 old, u32 self, u32 synced)
{
	u32 low, high;

	halves(old, &low, &high);
	return same_warp(low, self) && high < synced;
}

HELPER bool r_is_before_sync(u64 r, u32 self, u32 synced) { return r_several(r) != WARPS_OF_BLOCK && is_before_sync(r, self, synced); }

/* Before my access by what an access sees itself, or both are strong. */
HELPER bool w_is_fine(u64 w, u32 self, const struct here *h, u32 what)
{
	return is_before(w, self, h->time, SAME_THREAD) || is_before_sync(w, self, h->synced) ||
	       (!((u32)w & SHARED_COPY) && both_strong(WS_RACE_CLASS_OF(what), w_class(w), true));
}

HELPER bool r_is_fine(u64 r, u32 self, const struct here *h, u32 what)
{
	return is_before(r, self, h->time, SAME_READER) || r_is_before_sync(r, self, h->synced) ||
	       both_strong(WS_RACE_CLASS_OF(what), r_class(r), true);
}

/* ---- rows ----
 * What lanes side by side do to the bytes, or halves, of a word, at one time and by one instruction, each to one of them. The entry's thread is that whose
 * the first byte or half is, or would be; each next one is the next lane's. As bytes it has those that are (two at least), or, for halves, of which there
 * are both, what no row of bytes has. W tells it by SHARED_COPY, at a time that no copy has; R by R_PARTS of one reader. So nothing that speaks of whole words takes
 * a row for one of these: it has another bit there.
 * Of two lanes that have weakly written the halves, and are not side by side, the second one's number is where else the class stands. */
enum { BOTH_HALVES = 1, HALVES_APART = 2, HALVES_FAR_APART = 4 };        /* of a lane from 16 on */
HELPER bool are_halves(u32 has) { return has == BOTH_HALVES || has == HALVES_APART || has == HALVES_FAR_APART; }
#define R_ROW ((u32)R_PARTS)
HELPER bool w_is_shared_row(u64 w) { return (u32)w & SHARED_COPY && (u32)(w >> 32) < COPY_TIME; }
HELPER bool r_is_shared_row(u64 r) { return (u32)r & R_PARTS && r_several(r) == ONE_LANE; }
HELPER u32 bytes_of_row(u32 has) { return are_halves(has) ? 15 : has; }
HELPER u32 shared_w_mask(u64 w) { return w_is_shared_row(w) ? bytes_of_row(w_bytes(w)) : w_bytes(w); }

/* Bytes read by lanes of several warps, each byte by some: in place of the thread stand the first one's warp, whose bytes are R's bytes, and the bytes
 * that other warps have read. */
HELPER bool is_crowd(u32 low)
{
	u32 bits = (u32)R_PARTS | 3u << R_SEVERAL_AT;

	return (low & bits) == ((u32)R_PARTS | (u32)WARPS_OF_BLOCK << R_SEVERAL_AT);
}

HELPER u32 by_others(u32 low) { return low >> THREAD_AT & 15; }

HELPER u32 shared_r_mask(u64 r)
{
	return r_is_shared_row(r) ? bytes_of_row(r_bytes(r)) : is_crowd((u32)r) ? r_bytes(r) | by_others((u32)r) : r_bytes(r);
}

/* R of one reader, or several, as of a crowd, with these bytes read by mine. */
HELPER u32 with_crowd(u32 low, u32 mine, u32 bytes)
{
	u32 others = (low >> R_SEVERAL_AT & 3) == WARPS_OF_BLOCK ? low >> R_BYTES_AT & 15 : 0;

	if (!is_crowd(low))
		low = (low & ~(31u << THREAD_AT | 3u << R_SEVERAL_AT)) | others << THREAD_AT | (u32)R_PARTS | (u32)WARPS_OF_BLOCK << R_SEVERAL_AT;
	return low | (of_one_warp(low, mine) ? bytes << R_BYTES_AT : bytes << THREAD_AT);
}

/* Of the bytes that R has, not ordered with the writer, who has not read them in a row: those that somebody else has read for certain. */
HELPER u32 surely_by_others(u64 r, u32 self)
{
	bool mine = same_warp((u32)r, self);

	if (r_is_shared_row(r))
		return shared_r_mask(r);
	return is_crowd((u32)r) && mine ? by_others((u32)r) : r & R_PARTS && mine ? 0 : r_bytes(r);
}

/* Of a row the thread of the nth byte or half, with what an entry of it has but the bytes. at: of the bytes. */
HELPER u32 thread_of_row(u32 low, u32 at, u32 nth)
{
	u32 has = low >> at & 15, lane = low >> W_CLASS_AT & 15;

	low &= ~(15u << at);
	if (has != HALVES_APART && has != HALVES_FAR_APART)
		return low + (nth << THREAD_AT);
	low &= ~(15u << W_CLASS_AT);
	return nth ? (low & ~(31u << THREAD_AT)) | (lane | (has == HALVES_FAR_APART ? 16 : 0)) << THREAD_AT : low;
}

/* Those of the bytes *rest that are one lane's, as that one's entry would have them, and *rest without them. */
HELPER u32 part_of_row(u32 low, u32 at, u32 *rest)
{
	u32 size = are_halves(low >> at & 15) ? 2 : 1, nth = (u32)__builtin_ctz(*rest | 16) >> (size >> 1), mine = ((1u << size) - 1) << size * nth;
	u32 bytes = *rest & mine;

	*rest &= ~mine;
	return thread_of_row(low, at, nth) | bytes << at;
}

/* As they are, if they are no rows: then nothing is left. */
HELPER u64 shared_w_part(u64 w, u32 *rest)
{
	if (w_is_shared_row(w))
		return pair(part_of_row((u32)w & ~(u32)SHARED_COPY, W_BYTES_AT, rest), (u32)(w >> 32));
	*rest = 0;
	return w;
}

HELPER u64 shared_r_part(u64 r, u32 *rest)
{
	if (r_is_shared_row(r))
		return pair(part_of_row((u32)r & ~R_ROW, R_BYTES_AT, rest), (u32)(r >> 32));
	*rest = 0;
	return r;
}

/* Which of the word's bytes (size 1) or halves (2) it is. */
HELPER u32 nth_part(u32 offset, u32 size) { return (offset & 3) >> (size >> 1); }

/* Has a row this thread where its access of `size` to this offset is? Then those bytes are its own, or nobody's. */
HELPER bool has_me(u32 low, u32 at, u32 self, u32 offset, u32 size)
{
	return are_halves(low >> at & 15) == (size == 2) && !((thread_of_row(low, at, nth_part(offset, size)) ^ self << THREAD_AT) >> THREAD_AT);
}

HELPER bool w_has_me(u64 w, u32 self, u32 offset, u32 size)
{
	return size < 4 && w_is_shared_row(w) && has_me((u32)w, W_BYTES_AT, self, offset, size);
}

HELPER bool r_has_me(u64 r, u32 self, u32 offset, u32 size)
{
	return size < 4 && r_is_shared_row(r) && has_me((u32)r, R_BYTES_AT, self, offset, size);
}

#endif
