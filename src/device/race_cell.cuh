/* race_cell.cuh - what is remembered of a word of memory, and which pairs of accesses race (race.cu).
 *
 * A cell is 16 bytes for 4 bytes of memory:
 *     W: segment 27 | lane 5 | epoch 6 | sub 5 | class 4 | bytes 4 | site 13            the last write or atomic
 *     R: segment 27 | lane 5 | epoch 6 | sub 5 | class 3 | bytes 4 | several 2 | site 12   reads since (several blocks: the
 *        launch, 10, and the epoch of the last one, 6, in place of lane, epoch and sub); a class above the strong ones: by a compare-and-swap that has only read
 * What lanes of a warp do side by side to the bytes of a word is one entry: see ROW_OF_BYTES. Where threads come to bytes of one word each for
 * itself, its bytes have cells of their own: see is_parts.
 * Two classes of W are of no access, and have the launch in place of lane and time likewise: MANY, atomics of several
 * blocks; OFTEN, a race that was told so often that its word is only sampled.
 * Both change by 64-bit atomics alone. A read enters R, then looks at W; a write enters W, then looks at R: of two that
 * race at the same moment one sees the other. */
#ifndef WS_RACE_CELL_CUH
#define WS_RACE_CELL_CUH

#include "race_copy.cuh"
#include "race_launch.cuh"
#include "race_report.cuh"

enum { W_CLASS_AT = 17, W_BYTES_AT = 13, R_CLASS_AT = 18, R_BYTES_AT = 14, R_SEVERAL_AT = 12 };
enum { ONE_LANE, LANES_OF_WARP, WARPS_OF_BLOCK, BLOCKS };        /* several */
enum { W_SITES = 1 << WS_RACE_WRITE_SITE_BITS, R_SITES = 1 << WS_RACE_READ_SITE_BITS };

HELPER u32 w_class(u64 w) { return (u32)w >> W_CLASS_AT & 15; }
HELPER u32 w_bytes(u64 w) { return (u32)w >> W_BYTES_AT & 15; }
HELPER u32 r_class(u64 r) { return (u32)r >> R_CLASS_AT & 7; }
HELPER u32 strong_class(u64 r) { return r_class(r) > WS_RACE_STRONG_SYS ? r_class(r) - WS_RACE_STRONG_SYS : r_class(r); }       /* also of a swap */
HELPER u32 r_bytes(u64 r) { return (u32)r >> R_BYTES_AT & 15; }
HELPER u32 r_several(u64 r) { return (u32)r >> R_SEVERAL_AT & 3; }

/* Of a word of global memory, values of `bytes` that say of lanes side by side: the entry's lane has the first byte or half, and each lane behind it
 * the next. (No thread comes to these by itself: see with_bytes.) */
enum { ROW_OF_BYTES = 0, ROW_OF_HALVES = 9 };
HELPER bool is_row(u32 bytes) { return bytes == ROW_OF_BYTES || bytes == ROW_OF_HALVES; }
HELPER bool w_is_row(u64 w) { return w && is_row(w_bytes(w)); }
HELPER bool r_is_row(u64 r) { return is_row(r_bytes(r)) && !r_several(r); }      /* of one that is not 0 */

/* The bytes that an entry speaks of, of whatever lanes. */
HELPER u32 w_mask(u64 w) { return w_is_row(w) ? 15 : w_bytes(w); }
HELPER u32 r_mask(u64 r) { return r && r_is_row(r) ? 15 : r_bytes(r); }

/* Of a row those of the bytes *rest that belong to one lane, as that lane's entry, and *rest without them. All else as it is. at: of `bytes`. */
HELPER u64 next_part(u64 entry, u32 row, u32 at, u32 *rest)
{
	u32 size = row == ROW_OF_HALVES ? 2 : 1, nth = (u32)__builtin_ctz(*rest | 16) / size, mine = ((1u << size) - 1) << size * nth;
	u32 bytes = *rest;

	*rest = bytes & ~mine;
	return (entry & ~(15ull << at)) + ((u64)nth << LANE_AT) + ((bytes & mine) << at);
}

HELPER u64 w_part(u64 w, u32 *rest)
{
	if (*rest && w_is_row(w))
		return next_part(w, w_bytes(w), W_BYTES_AT, rest);
	*rest = 0;
	return w;
}

HELPER u64 r_part(u64 r, u32 *rest)
{
	if (*rest && r_is_row(r))
		return next_part(r, r_bytes(r), R_BYTES_AT, rest);
	*rest = 0;
	return r;
}

enum { W_MANY = 14, W_OFTEN = 15, GRID_BITS = 16 };
HELPER bool is_special(u64 w) { return ((u32)w >> W_CLASS_AT & 14) == 14; }
/* W of a word of global memory of which the bytes have cells: where these are (race_parts.cuh), for ever. Its class is OFTEN, so whoever looks for
 * what is plainly before leaves it to a call; R is nothing. (A line's entry with cells looks like it: the word's own is meant.) */
HELPER bool is_parts(u64 w) { return segment_of(w) == NO_MORE_SEGMENTS; }

HELPER bool has_grid(u64 entry, u32 grid) { return !(((u32)(entry >> SUB_AT) ^ grid) << (32 - GRID_BITS)); }

/* An entry that tells the launch. */
HELPER u64 of_launch(u64 entry, u32 grid)
{
	u64 bits = (1ull << GRID_BITS) - 1;

	return (entry & ~(bits << SUB_AT)) | (grid & bits) << SUB_AT;
}

/* R of several blocks: the launch, and in which epoch of its block the last one has read, both modulo. (Of shared memory of a cluster: of_launch, with
 * barriers in place of the launch.) */
enum { READERS_GRID_AT = SUB_AT + 6, READERS_GRID_BITS = SEGMENT_AT - READERS_GRID_AT };
HELPER bool has_launch(u64 r, u32 grid) { return !(((u32)(r >> READERS_GRID_AT) ^ grid) << (32 - READERS_GRID_BITS)); }

HELPER u64 of_readers(u64 r, u32 grid, u32 epoch)
{
	return of_launch(r, grid << (READERS_GRID_AT - SUB_AT) | epoch % EPOCHS);
}

/* That epoch, as seen in one of mine: blocks are no more than a few epochs ahead of each other, where that matters. May be below 0. */
enum { EPOCHS_AHEAD = 16 };
HELPER int readers_epoch(u64 r, u32 mine)
{
	u32 most = mine + EPOCHS_AHEAD;

	return (int)(most - (most - ((u32)r >> SUB_AT)) % EPOCHS);
}

HELPER u64 special(u64 w, u32 cls, u32 grid) { return of_launch((w & ~(15ull << W_CLASS_AT)) | cls << W_CLASS_AT, grid); }

struct me {                      /* an access of the thread */
	u64 now;                 /* of its warp */
	u64 time;                /* with the lane, as in a cell */
	u32 warp, what, site;
	u64 seen_w, seen_r;      /* WS_RACE_SWAPPED: as W and R were before the access */
};

HELPER struct me access_of(u64 now, u32 what, u32 site)
{
	u32 t = thread_index();
	struct me m = { now, (now >> SUB_AT << SUB_AT) | (u64)(t & 31) << LANE_AT, t >> 5, what, site, 0, 0 };

	return m;
}

/* ---- pairs ---- */
/* The scope of a class: WS_RACE_STRONG_... or 0. */
HELPER u32 scope_of(u32 cls)
{
	return cls > WS_RACE_UPDATE ? cls - WS_RACE_UPDATE : cls == WS_RACE_UPDATE ? 0 : cls > WS_RACE_STRONG_SYS ?
	       cls - WS_RACE_STRONG_SYS : cls;
}

/* Atomics of different sizes? */
HELPER bool mixed_sizes(u32 a, u32 b)
{
	return WS_RACE_IS_ATOMIC(a) && WS_RACE_IS_ATOMIC(b) && (a > WS_RACE_UPDATE) != (b > WS_RACE_UPDATE);
}

/* Morally strong (PTX ISA 9.0, 8.7.2): each one's scope includes the other. */
HELPER bool both_strong(u32 a, u32 b, bool same_block)
{
	u32 sa = scope_of(a), sb = scope_of(b);

	return sa && sb && !mixed_sizes(a, b) && (same_block || (sa >= WS_RACE_STRONG_GPU && sb >= WS_RACE_STRONG_GPU));
}

/* Likewise, of two blocks of a cluster. */
HELPER bool strong_in_cluster(u32 a, u32 b)
{
	u32 sa = scope_of(a), sb = scope_of(b);

	return !mixed_sizes(a, b) && sa >= WS_RACE_STRONG_CLUSTER && sb >= WS_RACE_STRONG_CLUSTER;
}

/* Asynchronous atomics, of that block: what a copy does is weak. */
HELPER bool strong_copy(u32 a, u32 b, u32 block)
{
	return REMOTE && (both_strong(a, b, block == BLOCK.block) || (strong_in_cluster(a, b) && is_near(block)));
}

/* Reads of shared memory by several blocks of a cluster: an entry has, in place of the launch, how many barriers of the
 * cluster they had passed. */
HELPER u32 barriers_in(u64 r) { return (u32)(r >> SUB_AT) & ((1u << GRID_BITS) - 1); }
HELPER bool read_before_barrier(u64 r) { return (BLOCK.passed - barriers_in(r) - 1) % (1u << GRID_BITS) < 1u << (GRID_BITS - 1); }

/* An entry that was summed up, of another block: ordered if its latest possible time is, not ordered if its earliest one is not. */
SLOW u32 __warpsafe_summed_verdict(u64 old, u32 what)
{
	u32 warp = warp_index(), first = first_segment(segment_of(old)), known, epoch;
	struct place o = place_of_summed(old);

	known = (u32)BLOCK.warps[warp].now & (NOW_ACQUIRED | NOW_UNKNOWN);
	epoch = place_of(BLOCK.warps[warp].now).epoch;
	if (verdict_of_order(first, lane_of(old), &o, known, epoch, what, warp) == ORDERED)
		return ORDERED;
	o.epoch = o.sub = 0;
	return verdict_of_order(first, lane_of(old), &o, known, epoch, what, warp) == UNORDERED ? UNORDERED : UNDECIDED;
}

/* As __warpsafe_verdict, of an access by another block of the cluster, or reads by several blocks; NOT_THAT: of others. */
enum { NOT_THAT = 16 };
SLOW u32 __warpsafe_verdict_in_cluster(u64 old, u32 cls, u32 several, u64 now, u32 what, u32 warp)
{
	struct place o = place_of(old), last = is_summed(old) ? place_of_summed(old) : o;
	bool shared = WS_RACE_SPACE_OF(what) == WS_RACE_SHARED;
	u32 known = (u32)now & (NOW_ACQUIRED | NOW_UNKNOWN);
	struct row near = row_in_cluster(o.block);

	if (o.grid != BLOCK.grid || o.epoch - epoch_of(old) == (u32)COPIES || (several != BLOCKS && (!near.cluster || o.block == BLOCK.block)))
		return NOT_THAT;
	if (shared && (!near.cluster || (several == BLOCKS && read_before_barrier(old))))
		return ORDERED;
	if (strong_in_cluster(cls, WS_RACE_CLASS_OF(what)) &&
	    (near.cluster || both_strong(cls, WS_RACE_CLASS_OF(what), false)))
		return ORDERED;
	if (several == BLOCKS)
		return known || (BLOCK.passed && !shared) || sc_fences_tell_nothing(warp, false) ? UNDECIDED : UNORDERED;
	if (before_in_cluster(&near, last.epoch))
		return ORDERED;
	if (is_summed(old) && BLOCK.passed)
		return UNDECIDED;
	if (several != ONE_LANE)
		return known || sc_fences_tell_nothing(warp, false) ? UNDECIDED : UNORDERED;
	if (is_summed(old))
		return __warpsafe_summed_verdict(old, what);
	return verdict_of_order(first_segment(segment_of(old)), lane_of(old), &o, known, place_of(now).epoch, what, warp);
}

/* An access of another launch: nothing but the host orders launches. */
HELPER u32 verdict_of_launch(u64 old, u32 cls, u32 what)
{
	if (WS_RACE_SPACE_OF(what) == WS_RACE_SHARED || both_strong(cls, WS_RACE_CLASS_OF(what), false) || !other_launch(old))
		return ORDERED;
	return UNORDERED;
}

/* In a block that has clocks, by a warp that knows nothing else: of what lanes of a warp have read at that time, or several warps. Of these the
 * entry is of the first reader, and what that one's read is not ordered before is a race, whoever else has read. */
SLOW u32 __warpsafe_verdict_of_several(u32 thread, u32 epoch, u32 sub, u32 several, u32 my_epoch, u32 what, u32 warp)
{
	u32 lane = thread & 31;
	struct place o = { BLOCK.grid, BLOCK.block, thread >> 5, epoch, sub };

	if (several == LANES_OF_WARP)
		return __warpsafe_clock_of_lanes(o.warp, epoch, sub, warp);
	if (o.warp == warp || verdict_of_order(BLOCK.first + o.warp, lane, &o, NOW_ACQUIRED, my_epoch, what, warp) != UNORDERED)
		return UNDECIDED;
	return UNORDERED;
}

/* ---- rounds: race_all.cuh ---- */
/* Is an entry of one thread, or of threads of one block, of an epoch below that? */
SLOW bool __warpsafe_is_below(u64 entry, u32 epochs)
{
	struct place p;

	if (BLOCK.copies && is_copy(entry))
		return false;
	p = is_summed(entry) ? place_of_summed(entry) : place_of(entry);
	return p.grid == BLOCK.grid && p.epoch < epochs;
}

HELPER bool is_below(u64 entry, u32 epochs)
{
	if (!is_summed(entry) && segment_of(entry) - BLOCK.lowest < BLOCK.range)
		return epoch_of(entry) < epochs;
	return __warpsafe_is_below(entry, epochs);
}

HELPER bool are_below(u64 entry, u32 several, u32 epochs, u32 mine)
{
	return several == BLOCKS ? has_launch(entry, BLOCK.grid) && readers_epoch(entry, mine) < (int)epochs : is_below(entry, epochs);
}

/* Is an entry of global memory, of the launch, before what the warp does now by a round of the grid? */
SLOW bool __warpsafe_is_before_round(u64 entry, u32 several, u64 now, u32 warp)
{
	u32 mine = own_place(now, warp).epoch, epochs = ordered_in(mine);

	return epochs && are_below(entry, several, epochs, mine);
}

HELPER bool is_before_round(u64 entry, u32 several, u64 now, u32 warp)
{
	return BLOCK.ordered && __warpsafe_is_before_round(entry, several, now, warp);
}

/* An earlier access of another segment, or of the same where its time alone does not decide. */
SLOW u32 __warpsafe_verdict(u64 old, u32 cls, u32 several, u64 now, u32 what, u32 warp)
{
	struct place o = place_of(old), m = place_of(now);
	bool same_block = o.block == m.block;
	u32 known = (u32)now & (NOW_ACQUIRED | NOW_UNKNOWN), near = NOT_THAT;

	if (o.grid != m.grid)
		return verdict_of_launch(old, cls, what);
	if (WS_RACE_SPACE_OF(what) != WS_RACE_SHARED && is_before_round(old, several, now, warp))
		return ORDERED;
	if (IN_CLUSTER)
		near = __warpsafe_verdict_in_cluster(old, cls, several, now, what, warp);
	if (near != NOT_THAT)
		return near;
	if (BLOCK.copies && o.epoch - epoch_of(old) == (u32)COPIES)
		return strong_copy(cls, WS_RACE_CLASS_OF(what), o.block) ? ORDERED : __warpsafe_copy_entry_verdict(old, now, what);
	if (!same_block && WS_RACE_SPACE_OF(what) == WS_RACE_SHARED)
		return ORDERED;
	same_block = same_block && several != BLOCKS;    /* else the entry has the segment of one of them */
	if (both_strong(cls, WS_RACE_CLASS_OF(what), same_block))
		return ORDERED;
	if (same_block) {
		if (o.epoch < m.epoch)
			return ORDERED;
		if (o.warp == warp && several <= LANES_OF_WARP) {
			if (o.sub < BLOCK.full[warp] || (several == ONE_LANE && lane_of(old) == lane_index()))
				return ORDERED;
			known |= (u32)now & NOW_PARTIAL;
		}
	}
	if (several != ONE_LANE && same_block && has_clocks() && known == NOW_ACQUIRED && !is_summed(old))
		return __warpsafe_verdict_of_several(o.warp * 32 + lane_of(old), o.epoch, o.sub, several, m.epoch, what, warp);
	if (several != ONE_LANE)
		return known || sc_fences_tell_nothing(warp, same_block) ? UNDECIDED : UNORDERED;
	if (is_summed(old))
		return __warpsafe_summed_verdict(old, what);
	return verdict_of_order(first_segment(segment_of(old)), lane_of(old), &o, known, m.epoch, what, warp);
}

HELPER u32 verdict(u64 old, u32 cls, u32 several, const struct me *m)
{
	if (!segment_of(old))
		return ORDERED;
	if (segment_of(old) == segment_of(m->now)) {
		if (several == ONE_LANE && lane_of(old) == lane_of(m->time))
			return ORDERED;
		if (several <= WARPS_OF_BLOCK && epoch_of(old) < epoch_of(m->now))
			return ORDERED;
		if (several <= LANES_OF_WARP && epoch_of(old) == epoch_of(m->now) && sub_of(old) < (m->now & NOW_FULL))
			return ORDERED;
	}
	return __warpsafe_verdict(old, cls, several, m->now, m->what, m->warp);
}

/* Is an earlier read known to be before mine? */
HELPER u32 quick_verdict(u64 old, const struct me *m)
{
	struct me quick = *m;

	quick.what |= QUICK;
	return verdict(old, 0, ONE_LANE, &quick);
}

/* ---- what a read leaves ---- */
HELPER u64 read_entry(const struct me *m, u32 cls, u32 bytes, u32 several)
{
	return m->time | cls << R_CLASS_AT | bytes << R_BYTES_AT | several << R_SEVERAL_AT | (m->site & (R_SITES - 1));
}

/* Where blocks have read, an entry says of which launch, and in what epoch, in place of lane and time: who sees his own there need not look further.
 * old: R before, of which it is made. Where the launch has no rounds, epochs are of no matter: they would only be changed again and again. */
SLOW u64 __warpsafe_with_readers(u64 r, u64 old)
{
	u32 warp = warp_index(), mine = own_place(BLOCK.warps[warp].now, warp).epoch;
	int last = r_several(old) == BLOCKS ? readers_epoch(old, mine) : segment_of(old) ? (int)place_of(old).epoch : 0;

	return of_readers(r, BLOCK.grid, last > (int)mine ? (u32)last : mine);
}

HELPER u64 with_readers(u64 r, u64 old)
{
	return has_rounds() ? __warpsafe_with_readers(r, old) : of_readers(r, BLOCK.grid, 0);
}

/* Does R say of several blocks of the launch that they have read, and that as late as I do? */
SLOW bool __warpsafe_have_read_now(u64 r)
{
	u32 warp = warp_index(), mine = own_place(BLOCK.warps[warp].now, warp).epoch;

	return readers_epoch(r, mine) >= (int)mine;
}

HELPER bool blocks_have_read(u64 r, u32 grid)
{
	return r_several(r) == BLOCKS && has_launch(r, grid) && (!has_rounds() || __warpsafe_have_read_now(r));
}

/* As __warpsafe_several, for the same as __warpsafe_verdict_in_cluster. */
SLOW u32 __warpsafe_several_in_cluster(u64 old, u32 shared)
{
	struct place o = place_of(old);
	struct row near = row_in_cluster(o.block);

	if (!near.cluster)
		return NOT_THAT;
	if (r_several(old) == BLOCKS)
		return shared && read_before_barrier(old) ? ONE_LANE : BLOCKS;
	return before_in_cluster(&near, (is_summed(old) ? place_of_summed(old) : o).epoch) ? ONE_LANE : BLOCKS;
}

/* How many have read, old and me, of which it is not known by barriers that one is before the other; ONE_LANE: no entry
 * can say it. */
SLOW u32 __warpsafe_several(u64 old, u64 now, u32 shared, u32 warp)
{
	struct place o = place_of(old), m = place_of(now);
	u32 several = r_several(old), near = NOT_THAT;

	if (o.grid != m.grid) {
		if (!shared && other_launch(old))
			count_threads(COUNTS(readers));
		return ONE_LANE;
	}
	if (!shared && is_before_round(old, several, now, warp))
		return ONE_LANE;
	if (IN_CLUSTER && (several == BLOCKS || o.block != m.block))
		near = __warpsafe_several_in_cluster(old, shared);
	if (near != NOT_THAT)
		return near;
	if (shared && o.block != m.block)
		return ONE_LANE;
	if (several == BLOCKS || o.block != m.block)
		return BLOCKS;
	if (o.epoch != m.epoch)
		return ONE_LANE;
	if (several == WARPS_OF_BLOCK || o.warp != warp)
		return WARPS_OF_BLOCK;
	return o.sub == m.sub ? LANES_OF_WARP : ONE_LANE;
}

/* The class that R has of a read. Of a compare-and-swap it has one of its own, with the scope, or the GPU's. */
HELPER u32 class_of_read(u32 what)
{
	u32 cls = WS_RACE_CLASS_OF(what), scope = scope_of(cls);

	return !WS_RACE_IS_ATOMIC(cls) ? cls : WS_RACE_STRONG_SYS + (scope < WS_RACE_STRONG_GPU ? scope : (u32)WS_RACE_STRONG_GPU);
}

/* What a compare-and-swap has read is of no matter where another read is entered or comes: one
 * class is said of several readers, and a weak one races with more. */
HELPER bool is_swap(u32 cls) { return cls > WS_RACE_STRONG_SYS; }
HELPER bool gives_way(u64 old, const struct me *m) { return is_swap(class_of_read(m->what)) && !is_swap(r_class(old)); }
HELPER bool displaces(u64 old, const struct me *m) { return !is_swap(class_of_read(m->what)) && is_swap(r_class(old)); }

/* A thread's entry with more bytes; 0: it would be taken for a row. */
HELPER u32 with_bytes(u32 has, u32 bytes) { return is_row(has | bytes) ? 0 : has | bytes; }

/* Does a row say of the thread, at its time, that it has these bytes? */
HELPER bool row_has(u64 row, u32 at, const struct me *m, u32 bytes)
{
	u64 part = next_part(row, (u32)row >> at & 15, at, &bytes);

	return !bytes && !((part ^ m->time) >> SUB_AT);
}

/* Which of the bytes a row of the thread's warp says of that thread. */
HELPER u32 own_part(u64 r, const struct me *m, u32 bytes)
{
	u32 rest = segment_of(r) == segment_of(m->now) ? bytes : 0, own = 0;

	#pragma nounroll
	while (rest) {
		u64 part = r_part(r, &rest);

		own |= lane_of(part) == lane_of(m->time) ? r_bytes(part) : 0;
	}
	return own;
}

/* R, a row, after my read: of those of my bytes that others have read it can say so, as after_read has it. */
SLOW u64 __warpsafe_read_beside_row(u64 old, u64 time, u32 what, u32 site, u32 bytes)
{
	u64 now = BLOCK.warps[warp_index()].now, next;
	struct me m = { now, time, warp_index(), what, site, 0, 0 };
	u32 cls = class_of_read(what), several, common, both = cls > r_class(old) ? cls : r_class(old);

	if ((row_has(old, R_BYTES_AT, &m, bytes) && r_class(old) == cls) || gives_way(old, &m))
		return old;
	several = __warpsafe_several(old, now, WS_RACE_SPACE_OF(what) == WS_RACE_SHARED, m.warp);
	common = bytes & ~own_part(old, &m, bytes);
	if (several == ONE_LANE || !common) {
		if (segment_of(old) == segment_of(now) && epoch_of(old) == epoch_of(now) && sub_of(old) >= (now & NOW_FULL))
			count_threads(COUNTS(lost));
		return read_entry(&m, cls, bytes, ONE_LANE);
	}
	next = old & ~(7ull << R_CLASS_AT | 15ull << R_BYTES_AT | 3ull << R_SEVERAL_AT);
	next |= both << R_CLASS_AT | common << R_BYTES_AT | several << R_SEVERAL_AT;
	return several == BLOCKS ? with_readers(next, old) : next;
}

/* R after my read. Where several have read, an entry says of a class and of bytes what is true of each of them; what
 * does not fit is forgotten, and a race may be missed. */
HELPER u64 after_read(u64 old, const struct me *m, u32 bytes, bool *lost)
{
	u32 cls = class_of_read(m->what), several, common, both;
	u64 was = old;

	*lost = false;
	if (!segment_of(old))
		return read_entry(m, cls, bytes, ONE_LANE);
	if (r_is_row(old))
		return __warpsafe_read_beside_row(old, m->time, m->what, m->site, bytes);
	several = r_several(old);
	both = cls > r_class(old) ? cls : r_class(old);
	if (!((old ^ m->time) >> SUB_AT) && several == ONE_LANE)
		return (r_class(old) == cls || gives_way(old, m)) && with_bytes(r_bytes(old), bytes) ?
		       old | bytes << R_BYTES_AT : read_entry(m, cls, bytes, ONE_LANE);
	if (several == ONE_LANE && m->now & NOW_ACQUIRED && quick_verdict(old, m) == ORDERED)
		return read_entry(m, cls, bytes, ONE_LANE);
	if (segment_of(old) == segment_of(m->now) && several <= LANES_OF_WARP) {
		several = (old ^ m->now) << (64 - LANE_AT) >> (64 - LANE_AT + SUB_AT) ? ONE_LANE : LANES_OF_WARP;
		*lost = !several && epoch_of(old) == epoch_of(m->now) && sub_of(old) >= (m->now & NOW_FULL) &&
			lane_of(old) != lane_of(m->time);
	} else if (is_copy(old)) {
		several = ONE_LANE;
		*lost = verdict(old, 0, ONE_LANE, m) != ORDERED;
		if (*lost && is_own_copy(old)) {
			*lost = false;
			return old;              /* it goes on for longer than my read */
		}
	} else {
		several = __warpsafe_several(old, m->now, WS_RACE_SPACE_OF(m->what) == WS_RACE_SHARED, m->warp);
	}
	common = r_bytes(old) & bytes;
	if (gives_way(old, m) && (*lost || several != ONE_LANE)) {
		*lost = false;
		return old;
	}
	if (displaces(old, m)) {
		*lost = false;
		return read_entry(m, cls, bytes, ONE_LANE);
	}
	if (several == ONE_LANE || !common) {
		*lost |= several != ONE_LANE;
		return read_entry(m, cls, bytes, ONE_LANE);
	}
	old &= ~(7ull << R_CLASS_AT | 15ull << R_BYTES_AT | 3ull << R_SEVERAL_AT);
	old |= both << R_CLASS_AT | common << R_BYTES_AT | several << R_SEVERAL_AT;
	if (several != BLOCKS)
		return old;
	return SM90 && WS_RACE_SPACE_OF(m->what) == WS_RACE_SHARED ? of_launch(old, BLOCK.passed) : with_readers(old, was);
}

/* ---- what a write leaves ---- */
HELPER u64 write_entry(const struct me *m, u32 cls, u32 bytes)
{
	return m->time | cls << W_CLASS_AT | bytes << W_BYTES_AT | (m->site & (W_SITES - 1));
}

/* May my atomic leave an entry of another block's as it is, or one that says so of several blocks? Where but barriers orders
 * anything, whoever comes later by a weak access and is of one of the blocks is not ordered with the other. */
HELPER bool by_other_blocks(u64 old, u32 cls, u32 bytes, u32 what)
{
	u32 segment = segment_of(old);

	if (!(what & WS_RACE_BARRIERS) || (cls != WS_RACE_ATOMIC_GPU && cls != WS_RACE_ATOMIC_SYS) || bytes & ~w_bytes(old))
		return false;
	if (segment - BLOCK.lowest >= BLOCK.range || WS_RACE_SPACE_OF(what) != WS_RACE_GLOBAL)
		return false;
	return w_class(old) == W_MANY ? has_grid(old, BLOCK.grid) : w_class(old) == cls && segment - BLOCK.first >= BLOCK.nwarps;
}

/* W, a row, after my write of a part of the word. */
SLOW u64 __warpsafe_write_beside_row(u64 old, u64 time, u32 what, u32 site, u32 bytes)
{
	struct me m = { 0, time, 0, what, site, 0, 0 };

	return w_class(old) == WS_RACE_CLASS_OF(what) && row_has(old, W_BYTES_AT, &m, bytes) ? old : write_entry(&m, WS_RACE_CLASS_OF(what), bytes);
}

/* row: by the thread and lanes behind it. */
HELPER u64 after_row_write(u64 old, const struct me *m, u32 row)
{
	u64 mine = write_entry(m, WS_RACE_CLASS_OF(m->what), row);

	return (old ^ mine) >> W_BYTES_AT ? mine : old;
}

HELPER u64 after_write(u64 old, const struct me *m, u32 bytes)
{
	u32 cls = WS_RACE_CLASS_OF(m->what), has = w_bytes(old);

	if (bytes != 15 && w_is_row(old))
		return __warpsafe_write_beside_row(old, m->time, m->what, m->site, bytes);
	if (!((old ^ m->time) >> SUB_AT) && w_class(old) == cls && !is_row(has) && with_bytes(has, bytes))
		return old | bytes << W_BYTES_AT;
	if (by_other_blocks(old, cls, bytes, m->what))
		return is_special(old) ? old : special(old, W_MANY, BLOCK.grid);
	return write_entry(m, cls, bytes);
}

/* Only a sample of a word with a race that was told often enough is checked. */
HELPER bool is_passed_over(u64 w, u32 grid)
{
	return w_class(w) == W_OFTEN && has_grid(w, grid) && clock_low() % WS_RACE_SAMPLE && !is_parts(w);
}

HELPER void sample_from_here(u64 cell, const struct me *m)
{
	u64 w = load64(cell);

	if (w_class(w) != W_OFTEN && cas64(cell, w, special(m->time | 15u << W_BYTES_AT, W_OFTEN, BLOCK.grid)) == w)
		count_threads(COUNTS(sampled));
}

/* ---- a word ---- */
struct word {
	u64 cell;                /* its address */
	u64 address;             /* in the program's memory: global, or the offset in shared memory */
	u32 bytes;               /* that are accessed: bit k = byte k */
};

/* Of an access of so many bytes, in its first word. */
HELPER u32 bytes_of(u32 address, u32 bytes)
{
	return bytes >= 4 ? 15 : ((1u << bytes) - 1) << (address & 3);
}

HELPER void load_cell(u64 cell, u64 *w, u64 *r)
{
	asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(*w), "=l"(*r) : "l"(cell) : "memory");
}

/* What __warpsafe_report is told, of a word and so many more. */
HELPER u32 packed(u32 v, u32 pair, u32 bytes, u32 several, u32 same, u32 more)
{
	return pair | bytes << 2 | several << 6 | same << 8 | (v == IN_FLIGHT) << 10 | more << MORE_AT;
}

HELPER void note(u32 v, u32 pair, u64 old, u32 bytes, const struct word *d, const struct me *m, u32 several, u32 same)
{
	if (v == UNDECIDED)
		count_threads(COUNTS(undecided));
	else if (v != ORDERED)
		if (__warpsafe_report(d->address, packed(v, pair, bytes, several, same, 0), old, m->now, m->what, m->site) &&
		    WS_RACE_SPACE_OF(m->what) == WS_RACE_GLOBAL)
			sample_from_here(d->cell, m);
}

/* The flag for strong accesses to that memory: what is observed there is a write there. */
HELPER u32 observed_in(u32 what)
{
	return WS_RACE_SPACE_OF(what) == WS_RACE_SHARED ? NOW_OBSERVED_SHARED : NOW_OBSERVED;
}

/* The last write as the next access sees it. Who has come to parts has lost its way: they were made at that moment. */
HELPER u32 write_verdict(u64 w, const struct me *m)
{
	u32 cls = is_special(w) ? (u32)WS_RACE_ATOMIC_GPU : w_class(w);
	u32 v = is_parts(w) ? (u32)UNDECIDED : w_class(w) == W_OFTEN ? (u32)ORDERED : verdict(w, cls, cls == w_class(w) ? ONE_LANE : BLOCKS, m);
	bool seen = v == UNORDERED && m->now & observed_in(m->what) &&
		    (other_launch(w) ? both_strong(cls, WS_RACE_STRONG_SYS, false) :
		     both_strong(cls, WS_RACE_STRONG_SYS, place_of(w).block == BLOCK.block) ||
		     (strong_in_cluster(cls, WS_RACE_STRONG_SYS) && is_near(place_of(w).block)));

	return seen ? (u32)UNDECIDED : v;
}

/* What was found needs no change, but who came here has seen something else in the first-level cache, and would again: an
 * atomic takes it out of there. */
HELPER void bring_up_to_date(u64 cell, u64 entry, const struct me *m)
{
	if (m->what & WS_RACE_LOOKED && WS_RACE_SPACE_OF(m->what) == WS_RACE_GLOBAL)
		cas64(cell, entry, entry);
}

HELPER u32 writers_in(u64 w) { return w_class(w) == W_MANY ? BLOCKS : ONE_LANE; }

/* What W says of bytes that I read; it may be of a row. */
SLOW void __warpsafe_judge_read_of_row(u64 cell, u64 address, u32 bytes, u32 what, u32 site, u64 w)
{
	struct word d = { cell, address, bytes };
	struct me m = access_of(BLOCK.warps[warp_index()].now, what, site);

	#pragma nounroll
	while (bytes) {
		u64 part = w_part(w, &bytes);

		note(write_verdict(part, &m), WS_RACE_READ_AFTER_WRITE, part, w_bytes(part) & d.bytes, &d, &m, writers_in(part), 0);
	}
}

HELPER void judge_read(const struct word *d, const struct me *m, u64 w)
{
	if (w_is_row(w))
		__warpsafe_judge_read_of_row(d->cell, d->address, d->bytes, m->what, m->site, w);
	else if (w_bytes(w) & d->bytes)
		note(write_verdict(w, m), WS_RACE_READ_AFTER_WRITE, w, w_bytes(w) & d->bytes, d, m, writers_in(w), 0);
}

/* Would my entry, in which bytes are from `at` on, take the place of one that says something of bytes that I do not come to? Not where both are said
 * by one. Such a word is for race_parts.cuh. mask: of the entry. */
HELPER bool speaks_of_others(u64 entry, u32 mask, u64 mine, u32 at, const struct word *d, const struct me *m)
{
	return d->bytes != 15 && mask & ~d->bytes && WS_RACE_SPACE_OF(m->what) == WS_RACE_GLOBAL && mask & ~(u32)(mine >> at) &&
	       (BLOCK.launch ? segment_of(entry) != 0 : segment_of(entry) >= BLOCK.floor);
}

/* False: its bytes have cells, or should have. whole: there is no room for those. */
HELPER bool read_word(const struct word *d, const struct me *m, bool whole)
{
	u64 w, r, was, now;
	bool lost, entered = false;

	load_cell(d->cell, &w, &r);
	if (is_parts(w))
		return false;
	if (is_passed_over(w, BLOCK.grid)) {
		bring_up_to_date(d->cell, w, m);
		return true;
	}
	for (;; r = was) {
		now = after_read(r, m, d->bytes, &lost);
		if (!whole && speaks_of_others(r, r_mask(r), now, R_BYTES_AT, d, m))
			return false;
		if (now == r)
			break;
		entered = true;
		was = cas64(d->cell + 8, r, now);
		if (was == r)
			break;
	}
	if (entered && lost)
		count_threads(COUNTS(lost));
	if (entered)
		w = load64(d->cell);
	if (is_parts(w))
		return false;
	judge_read(d, m, w);
	return true;
}

/* A strong load or atomic may read what another thread's strong store or atomic has written, which then is before all that
 * the thread does from here on (PTX ISA 9.0, 8.9.5, through observation). Which one it was is not known: entries are made
 * before the accesses, and two threads' accesses may come in the other order. */
HELPER void observe(const struct me *m)
{
	if (!(m->now & observed_in(m->what)) && scope_of(WS_RACE_CLASS_OF(m->what)))
		set_flags(m->warp, observed_in(m->what));
}

HELPER u32 bits_of(u32 bytes)
{
	return (bytes & 1 ? 0xff : 0) | (bytes & 2 ? 0xff00 : 0) | (bytes & 4 ? 0xff0000 : 0) | (bytes & 8 ? 0xff000000 : 0);
}

/* Those bytes of a word: the others may be none of the program's. */
SLOW u32 __warpsafe_bytes_at(u64 word, u32 bytes)
{
	u32 v = 0;

	#pragma nounroll
	for (u32 k = 0; k < 4; k++)
		v |= bytes >> k & 1 ? load8_volatile(word + k) << 8 * k : 0;
	return v;
}

/* The same of shared memory, where a kernel's may end within the word. */
SLOW u32 __warpsafe_shared_bytes_at(u32 word, u32 bytes)
{
	u32 v = 0;

	#pragma nounroll
	for (u32 k = 0; k < 4; k++)
		v |= bytes >> k & 1 ? shared_load8(word + k) << 8 * k : 0;
	return v;
}

/* And of another block's shared memory: race_peer.cuh. */
extern "C" DEVICE u32 __warpsafe_peer_bytes_at(u64 word, u32 bytes);

/* Does memory have, in these bytes of the word, what the write brings? */
HELPER bool same_value(const struct word *d, u32 what, u32 bytes, u32 value)
{
	u64 word = d->address & ~3ull;
	u32 has;

	if (WS_RACE_SPACE_OF(what) != WS_RACE_SHARED)
		has = bytes == 15 ? load32(word) : __warpsafe_bytes_at(word, bytes);
	else if (SM90 && word >> 32)
		has = __warpsafe_peer_bytes_at(word, bytes);
	else
		has = bytes == 15 ? shared_load32((u32)word) : __warpsafe_shared_bytes_at((u32)word, bytes);
	return !((has ^ value) & bits_of(bytes));
}

/* What a write brings to a word. noted: of all of its words, so that lanes know whether they write the same. */
struct wrote {
	bool known;
	u32 value, noted;
	u32 tag;                 /* of the access: see tag_of */
};
static const struct wrote unknown = { false, 0, 0, 0 };

/* Of where, how many bytes and by which instruction a thread writes. It may have written elsewhere since: then its note is of another tag. */
HELPER u32 tag_of(u64 address, u32 what, u32 site)
{
	return ((u32)address ^ (u32)(address >> 32)) + (site & (W_SITES - 1)) * 0x9e3779b1u + WS_RACE_BYTES_OF(what) * 0x27d4eb2fu;
}

/* The same by another instruction. */
HELPER u32 tag_by(u32 tag, u32 site, u32 other) { return tag + ((other & (W_SITES - 1)) - (site & (W_SITES - 1))) * 0x9e3779b1u; }

HELPER u32 all_of(u32 low, u32 high) { return low * 0x85ebca6bu + high; }

HELPER struct wrote wrote_word(u64 address, u32 what, u32 site, u32 value)
{
	return (struct wrote){ true, value, value, tag_of(address, what, site) };
}

/* What the thread writes, for lanes that write there by the same instruction: memory does not have it yet. Kept in shared
 * memory where there is room behind the block's cells, else in a table, by lane and the number of the warp's first segment
 * modulo: with that number in its tag. */
HELPER u64 written_at(u32 thread)
{
	return RACE.written + 8ull * ((BLOCK.first * 32 + thread) % WS_RACE_WRITTEN);
}

HELPER u32 written_tag(u32 thread, u32 tag) { return tag + (BLOCK.first + (thread >> 5)) * 0xc2b2ae35u; }

/* See race_shared.cuh: `values` is by the thread's own address. */
HELPER u32 value_at(u32 thread) { return BLOCK.warps[thread >> 5].values + 8 * ((u32)IN_SHARED(__warpsafe_block) + thread); }

HELPER void note_written(u32 thread, const struct wrote *v)
{
	if (BLOCK.cells)
		shared_store_two(value_at(thread), v->noted, v->tag);
	else
		store64(written_at(thread), pair(v->noted, written_tag(thread, v->tag)));
}

/* Is the last that the thread wrote of that tag? Then `noted` is what it wrote there. */
HELPER bool written(u32 thread, u32 tag, u32 *noted)
{
	u32 has;

	halves(BLOCK.cells ? shared_load64(value_at(thread)) : load64(written_at(thread)), noted, &has);
	return has == (BLOCK.cells ? tag : written_tag(thread, tag));
}

enum { SAME_VALUE = 1, SAME_INST = 2 };
enum { STAYS_NS = 20000, STAYS_TRIES = 64, COMES_NS = 200000, COMES_TRIES = 512 };

/* What the lanes of a warp that waits have noted, for other blocks, in the other half of that table: by lane and the warp's first segment. The
 * tag has the time, too, for it stays there. */
HELPER u64 posted_at(u32 first, u32 lane) { return RACE.written + 8ull * ((first * 32 + lane + WS_RACE_WRITTEN / 2) % WS_RACE_WRITTEN); }

HELPER u32 posted_tag(u32 tag, u32 first, u64 time)
{
	return tag + (first + segment_of(time)) * 0xc2b2ae35u + ((u32)time >> SUB_AT) * 0x165667b1u;
}

HELPER void post_written(u64 now, u32 warp)
{
	u32 end = threads_of_block() - 32 * warp, noted, tag;

	#pragma nounroll
	for (u32 lane = 0; lane < 32 && lane < end; lane++) {
		halves(BLOCK.cells ? shared_load64(value_at(32 * warp + lane)) : load64(written_at(32 * warp + lane)), &noted, &tag);
		if (!BLOCK.cells)
			tag -= written_tag(32 * warp, 0);
		store64(posted_at(BLOCK.first + warp, lane), pair(noted, posted_tag(tag, BLOCK.first + warp, now)));
	}
}

/* Has the thread of the entry posted what it writes there? */
HELPER bool posted(u64 old, u32 first, u32 tag, u32 *noted)
{
	u32 has;

	halves(load64(posted_at(first, lane_of(old))), noted, &has);
	return has == posted_tag(tag, first, old);
}

/* `old` was entered, but its store comes behind its checks, and memory may not have it yet: which of two pairs it is, of one value or of
 * two, is looked at for a while. What memory has from the first might be older than both; what comes there meanwhile is written by somebody.
 * The thread of `old` may have much to tell before it writes, and its warp may wait for ours: so both post what they write. tag: of
 * our access, if it were by the instruction of `old`. (The simulated GPU's time goes on while other warps do not.) */
SLOW bool __warpsafe_same_later(u64 address, u32 what, u32 bytes, u32 value, u32 noted, u64 old, u32 tag, u64 now)
{
	struct word d = { 0, address, 0 };
	bool has = same_value(&d, what, bytes, value), elsewhere = WS_RACE_SPACE_OF(what) == WS_RACE_GLOBAL && !is_special(old) && !other_launch(old);
	u32 first = elsewhere ? first_segment(segment_of(old)) : 0, other;
	u32 ns = has ? STAYS_NS : COMES_NS, tries = has ? STAYS_TRIES : COMES_TRIES;
	u64 begin = nanoseconds();

	if (elsewhere)
		post_written(now, warp_index());
	#pragma nounroll
	for (u32 k = 0; k < tries || nanoseconds() - begin < ns; k++) {
		if (first && posted(old, first, tag, &other))
			return !((other ^ noted) & bits_of(bytes));
		if (same_value(&d, what, bytes, value) != has)
			return !has;
	}
	return has;
}

/* Which of two pairs it is, unless that pair has been told. */
HELPER u32 value_later(u32 v, u64 old, u32 bytes, const struct word *d, const struct me *m, u32 several, const struct wrote *value)
{
	bool has = same_value(d, m->what, bytes, value->value);

	if (v == UNDECIDED ||
	    __warpsafe_is_told(d->address, packed(v, WS_RACE_WRITE_AFTER_WRITE, bytes, several, has ? SAME_VALUE : 0, 0), old, m->now, m->what, m->site))
		return has ? SAME_VALUE : 0;
	return __warpsafe_same_later(d->address, m->what, bytes, value->value, value->noted, old, tag_by(value->tag, m->site, (u32)old), m->now) ?
	       SAME_VALUE : 0;
}

/* Of a thread of the block that has noted, or not any more, what it wrote when it entered w. *same: see above. */
HELPER bool by_note(const struct me *m, u64 w, u32 bytes, u32 thread, const struct wrote *value, u32 *same)
{
	u32 other;

	if (!written(thread, tag_by(value->tag, m->site, (u32)w), &other))
		return false;
	*same |= (other ^ value->noted) & bits_of(bytes) ? 0 : SAME_VALUE;
	return true;
}

HELPER u32 sameness(u32 v, u64 w, u32 bytes, const struct word *d, const struct me *m, const struct wrote *value)
{
	bool inst = !is_special(w) && !((w ^ m->time) >> SUB_AT & ~(31ull << (LANE_AT - SUB_AT))) &&
		    !((w ^ m->site) & (W_SITES - 1));
	u32 same = inst ? SAME_INST : 0;
	struct place o;

	if (!is_special(w) && !other_launch(w)) {
		o = place_of(w);
		if (o.block == BLOCK.block && by_note(m, w, bytes, o.warp * 32 + lane_of(w), value, &same))
			return same;
	}
	return value_later(v, w, bytes, d, m, writers_in(w), value);
}

/* ---- what a write finds ----
 * W and R are judged, and are then what was judged. Of a swap that is what was there before it; what has come since may be of a thread that has
 * seen what it has written (race_swap.cuh). */
HELPER u32 judge_w(u64 *w, const struct word *d, const struct me *m)
{
	u64 now = *w;
	u32 v;

	if (m->what & WS_RACE_SWAPPED)
		*w = w_is_row(m->seen_w) ? 0 : m->seen_w;
	v = w_bytes(*w) & d->bytes ? write_verdict(*w, m) : ORDERED;
	if (v != ORDERED || *w == now)
		return v;
	*w = now;
	return w_bytes(now) & d->bytes && write_verdict(now, m) != ORDERED ? UNDECIDED : ORDERED;
}

HELPER u32 judge_r(u64 *r, const struct word *d, const struct me *m)
{
	u64 now = *r;
	u32 v;

	if (m->what & WS_RACE_SWAPPED)
		*r = r_is_row(m->seen_r) ? 0 : m->seen_r;
	v = r_bytes(*r) & d->bytes ? verdict(*r, strong_class(*r), r_several(*r), m) : ORDERED;
	if (v != ORDERED || *r == now)
		return v;
	*r = now;
	return r_bytes(now) & d->bytes && verdict(now, strong_class(now), r_several(now), m) != ORDERED ? UNDECIDED : ORDERED;
}

HELPER void check_write_after_write(const struct word *d, const struct me *m, u64 w, const struct wrote *value)
{
	u32 v = judge_w(&w, d, m), bytes = w_bytes(w) & d->bytes;

	if (v != ORDERED)
		note(v, WS_RACE_WRITE_AFTER_WRITE, w, bytes, d, m, writers_in(w), value->known ? sameness(v, w, bytes, d, m, value) : 0);
}

HELPER void check_write_after_read(const struct word *d, const struct me *m, u64 r, const struct wrote *value)
{
	u32 v = judge_r(&r, d, m), bytes = r_bytes(r) & d->bytes;

	if (v != ORDERED)
		note(v, WS_RACE_WRITE_AFTER_READ, r, bytes, d, m, r_several(r),
		     value->known && same_value(d, m->what, bytes, value->value) ? SAME_VALUE : 0);
}

/* Of rows, or what is left of them. what: with PART_KNOWN, if the value is known. */
enum { PART_KNOWN = 1 << 25 };
SLOW void __warpsafe_check_part(u64 cell, u64 address, u32 bytes, u32 what, u32 site, u32 value, u64 w, u64 r)
{
	struct word d = { cell, address, bytes };
	struct me m = access_of(BLOCK.warps[warp_index()].now, what & ~(u32)PART_KNOWN, site);
	struct wrote v = wrote_word(address, what, site, value);

	v.known = what & PART_KNOWN;
	check_write_after_write(&d, &m, w, &v);
	check_write_after_read(&d, &m, r, &v);
}

/* (A swap that meets one is not compared with it.) */
SLOW void __warpsafe_check_write_of_rows(u64 cell, u64 address, u32 bytes, u32 what, u32 site, u32 value, u64 w, u64 r)
{
	u32 rest_w = w_mask(w) & bytes, rest_r = r_mask(r) & bytes;

	#pragma nounroll
	while (rest_w | rest_r && !(what & WS_RACE_SWAPPED)) {
		u64 part_w = rest_w ? w_part(w, &rest_w) : 0, part_r = rest_r ? r_part(r, &rest_r) : 0;

		__warpsafe_check_part(cell, address, bytes, what, site, value, part_w, part_r);
	}
}

/* Behind a write of all that several warps of the block have read, whose order was asked, nobody asks for theirs: who reads next is the first
 * reader again (__warpsafe_verdict_of_several). In blocks that have clocks; elsewhere the first one is not asked about. */
HELPER bool forgets_readers(u64 r, const struct word *d, const struct me *m)
{
	return r_several(r) == WARPS_OF_BLOCK && has_clocks() && !(r_bytes(r) & ~d->bytes) && WS_RACE_CLASS_OF(m->what) == WS_RACE_WEAK;
}

/* r: as the write found it. */
HELPER void forget_readers(u64 r, const struct word *d, const struct me *m)
{
	if (forgets_readers(r, d, m) && place_of(r).grid == BLOCK.grid && place_of(r).block == BLOCK.block)
		cas64(d->cell + 8, r, 0);
}

HELPER void check_write(const struct word *d, const struct me *m, u64 w, u64 r, const struct wrote *value)
{
	if (w_is_row(w) || (r && r_is_row(r))) {
		__warpsafe_check_write_of_rows(d->cell, d->address, d->bytes, m->what | (value->known ? PART_KNOWN : 0), m->site, value->value, w, r);
		return;
	}
	check_write_after_write(d, m, w, value);
	check_write_after_read(d, m, r, value);
	forget_readers(r, d, m);
}

/* False, whole: as read_word. */
HELPER bool write_word(const struct word *d, const struct me *m, const struct wrote *value, bool whole)
{
	u64 w, r, now, was;
	bool enters, compares = d->bytes != 15 && !whole;

	if (value->known)
		note_written(m->warp * 32 + lane_of(m->time), value);
	do {
		load_cell(d->cell, &w, &r);
		if (is_parts(w))
			return false;
		if (is_passed_over(w, BLOCK.grid)) {
			bring_up_to_date(d->cell, w, m);
			return true;
		}
		now = after_write(w, m, d->bytes);
		if (compares && w_class(w) != W_OFTEN && speaks_of_others(w, w_mask(w), now, W_BYTES_AT, d, m))
			return false;
		enters = now != w;
		was = !enters ? w : compares ? cas64(d->cell, w, now) : exchange64(d->cell, now);
	} while (compares && was != w);
	if (enters) {
		w = was;
		if (~w)                  /* always: but known only when it is done */
			r = load64(d->cell + 8);
		if (is_parts(w) || is_passed_over(w, BLOCK.grid)) {
			cas64(d->cell, now, w);  /* another thread has just said so: else they take it from each other for ever */
			return !is_parts(w);
		}
	}
	if (enters && d->bytes != 15 && w_mask(w) & ~d->bytes && (w ^ m->time) >> SUB_AT && beginning(segment_of(w)).grid == BLOCK.grid)
		count_threads(COUNTS(lost));
	check_write(d, m, w, r, value);
	return true;
}

#endif
