/* race_shared.cuh - cells of a block's shared memory that lie in shared memory themselves, behind the program's own
 * (race.h says when), so that a check is some thirty instructions and no trip to the L2 cache (race.cu).
 *
 * They are the block's alone and zero when it begins, so they need no segments. Of a word there are
 *     W: epoch + 1 22 | sub 10 | thread 10 | copy 1 | class 4 | bytes 4 | site 13           the last write or atomic
 *     R: epoch + 1 22 | sub 10 | thread 10 | parts 1 | class 3 | bytes 4 | several 2 | site 12   reads since
 * all W first, then all R, so that neighbours lie in neighbouring banks: in the low 21 bits as elsewhere. "Nothing" and
 * "in an earlier epoch" is then one comparison of the high halves, and "by the same thread" one more of the low ones.
 *
 * Of several readers each has read all of R's bytes. With `parts` each byte was read by some of them: by a lane of the warp at that time, or by
 * one of some warp. So what another warp writes is told from what lanes of one have read; where the byte may be the writer's own, nothing is told of
 * it, and it counts as forgotten.
 *
 * The order of publication is that of race_cell.cuh. Accesses of a warp to shared memory are done one after the other. */
#ifndef WS_RACE_SHARED_CUH
#define WS_RACE_SHARED_CUH

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
enum { R_PARTS = SHARED_COPY };          /* of W the same bit says that it is a copy */
#define SAME_THREAD  (0xffc00000u | SHARED_COPY)         /* bits of the low half: it is no copy that may go on */
#define SAME_READER  (SAME_THREAD | 0x3000u)             /* and it is but one */
#define SHARED_EPOCH (~(u32)(SHARED_SUBS - 1))  /* of the high half */

/* What a thread needs to know of itself: the first 16 bytes of its warp's row. */
struct here {
	u32 time, cells, reads, values;
};

HELPER struct here here(u32 self)
{
	struct here h;

	asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(h.time), "=r"(h.cells), "=r"(h.reads),
		     "=r"(h.values) : "r"(self & ~31u) : "memory");
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

/* Of the warp's last full sync. */
HELPER u32 full_sub(u32 self) { return shared_load32(IN_BLOCK(full) + ((self - self_of(0)) >> 5) * 4); }

/* Is it of the same warp, which has synced as a whole since? No copy, and of lanes of one warp: that is to be asked of R. */
HELPER bool is_before_sync(u64 old, u32 self)
{
	u32 low, high;

	halves(old, &low, &high);
	return same_warp(low, self) && !(low & SHARED_COPY) && high % SHARED_SUBS < LAST_SHARED_SUB && high % SHARED_SUBS < full_sub(self);
}

HELPER bool r_is_before_sync(u64 r, u32 self) { return r_several(r) <= LANES_OF_WARP && is_before_sync(r & ~(u64)R_PARTS, self); }

/* May the byte that R has be one that the writer alone has read? Of a pair that is not ordered. */
HELPER bool may_be_own(u64 r, u32 self) { return r & R_PARTS && (r_several(r) != LANES_OF_WARP || same_warp((u32)r, self)); }

/* The same, or both are strong. */
HELPER bool w_is_fine(u64 w, u32 self, u32 time, u32 what)
{
	return is_before(w, self, time, SAME_THREAD) || both_strong(WS_RACE_CLASS_OF(what), w_class(w), true);
}

HELPER bool r_is_fine(u64 r, u32 self, u32 time, u32 what)
{
	return is_before(r, self, time, SAME_READER) || both_strong(WS_RACE_CLASS_OF(what), r_class(r), true);
}

/* ---- where they are ---- */
/* Where dynamic shared memory begins the kernel's own code says, and hands it on: a function that named it would have it lie behind the static
 * shared memory of all kernels that call it, so that each of them had as much as the one with the most (what ptxas makes of it). */
HELPER u32 dynamic_begin(void) { return (u32)IN_SHARED(__warpsafe_dynamic); }

/* The address where shared memory begins: what the system reserves lies below. */
HELPER u32 shared_begin(u32 dynamic)
{
	return (dynamic - (shared_bytes() - dynamic_bytes()) + 127) & ~1023u;
}

/* The block's cells, as every thread finds them by itself; no cells: bytes 0. */
struct cells {
	u32 at, bytes;           /* all of them; behind them the values */
	u32 begin;               /* address of the first word */
	bool probe;
};

HELPER struct cells find_cells(u32 dynamic)
{
	u32 begin = shared_begin(dynamic), fixed = dynamic - begin;
	u32 size = dynamic_bytes(), threads = threads_of_block();
	struct cells c = { 0, 0, begin, WS_RACE_IS_PROBE_SIZE(fixed, size, threads) };

	if (c.probe)
		size -= WS_RACE_PROBE_MORE;
	if (WS_RACE_IS_SHARED_SIZE(fixed, size, threads)) {
		u32 own = (size - WS_RACE_SHARED_BASE(fixed, threads)) / 5;

		c.at = dynamic + own;
		c.bytes = 4 * (WS_RACE_UNIT(fixed) + own);
	}
	return c;
}

/* All of them: also those of __warpsafe_block, which a program may read that goes a little beyond its own memory. */
HELPER void zero_cells(const struct cells *c, u32 thread)
{
	u32 half = c->bytes / 2, step = 16 * threads_of_block();

	#pragma nounroll
	for (u32 at = c->at + 16 * thread; at < c->at + half; at += step) {
		shared_store_four(at, 0, 0, 0, 0);
		shared_store_four(at + half, 0, 0, 0, 0);
	}
}

/* See next_shared_epoch. Entries of this epoch may be there already: of threads that were faster. */
HELPER void scrub(u32 warp)
{
	enum { QUARTER = 1 << 30 };
	u32 at = BLOCK.cells, bytes = 2 * BLOCK.warps[warp].reads, time = BLOCK.warps[warp].time;

	for (u32 n = 0; n < bytes && time; n += 8) {
		u64 entry = shared_load64(at + n);

		if (entry && (entry >> 32 < QUARTER) == (time >= QUARTER))
			shared_swap64(at + n, entry, 0);
	}
}

/* One lane of each warp: its row, which fits what was loaded at once elsewhere. `cells` is 0 only where there are none: on a GPU shared
 * memory does not begin at 0. */
HELPER void begin_times(const struct cells *c, u32 warp, u64 now, u32 lanes)
{
	u32 row = self_of(32 * warp), time = ((u32)RACE.shared_epoch + !RACE.shared_epoch) << SHARED_EPOCH_AT;

	shared_store_four(row, c->bytes && now ? time : 0, c->bytes ? c->at - 2 * c->begin : 0, c->bytes / 2,
			  c->at + c->bytes - 8 * self_of(0));
	shared_store_two64(row + (u32)__builtin_offsetof(struct warp, now), now, lanes);
}

/* As shared_begin, where there are cells. (Another warp's row may not be there yet.) */
HELPER u32 begin_of_cells(const struct here *h) { return (BLOCK.cells - h->cells) / 2; }

/* ---- pairs ---- */
/* time: of the cells, in the block's epoch `epoch`: their bits have begun anew since the block did. */
HELPER struct place shared_place(u64 old, u32 time, u32 epoch)
{
	u32 low, high;

	halves(old, &low, &high);
	epoch -= (time >> SHARED_EPOCH_AT) - (high >> SHARED_EPOCH_AT);
	return (struct place){ BLOCK.grid, BLOCK.block, thread_in(old) >> 5, epoch, high % SHARED_SUBS };
}

/* As an entry of another cell of the block: thread, class, bytes and site are right. */
HELPER u64 elsewhere(u64 old)
{
	u32 thread = thread_in(old);

	return (u64)(BLOCK.first + (thread >> 5)) << SEGMENT_AT | (u64)(thread & 31) << LANE_AT |
	       ((u32)old & ((1u << SUB_AT) - 1));
}

/* In a block that has clocks. Where the bits for sub have come to their end, it may be later than it says. */
HELPER u32 verdict_by_clocks(u64 old, const struct place *o, u32 several, u32 known, u32 epoch, u32 what, u32 warp)
{
	u32 v;

	if (several == ONE_LANE)
		v = verdict_of_order(BLOCK.first + o->warp, thread_in(old) & 31, o, known, epoch, what, warp);
	else
		v = known == NOW_ACQUIRED ? __warpsafe_verdict_of_several(thread_in(old), o->epoch, o->sub, several, epoch, what, warp) : (u32)UNDECIDED;
	return v == ORDERED && o->sub >= LAST_SHARED_SUB ? (u32)UNDECIDED : v;
}

SLOW u32 __warpsafe_shared_verdict(u64 old, u32 cls, u32 several, u32 time, u32 what)
{
	u32 thread = thread_index(), warp = thread >> 5, other = thread_in(old);
	u32 now = (u32)BLOCK.warps[warp].now, known = now & (NOW_ACQUIRED | NOW_UNKNOWN);
	u32 epoch = place_of(BLOCK.warps[warp].now).epoch;
	struct place o = shared_place(old, time, epoch);

	if (is_shared_copy(old))
		return __warpsafe_copy_verdict(other, (u32)(old >> 32) % NUMBERS, epoch, what);
	if (both_strong(cls, WS_RACE_CLASS_OF(what), true) || !(old >> 32) || (u32)(old >> 32) < (time & SHARED_EPOCH))
		return ORDERED;
	if (o.warp == warp && several <= LANES_OF_WARP) {
		if (several == ONE_LANE && other == thread)
			return ORDERED;
		if (o.sub >= LAST_SHARED_SUB)
			return UNDECIDED;
		if (o.sub < BLOCK.full[warp])
			return ORDERED;
		known |= now & NOW_PARTIAL;
	}
	if (has_clocks() && known & NOW_ACQUIRED)
		return verdict_by_clocks(old, &o, several, known, epoch, what, warp);
	if (several != ONE_LANE)
		return known || sc_fences_tell_nothing(warp, true) ? UNDECIDED : UNORDERED;
	return verdict_of_order(BLOCK.first + o.warp, other & 31, &o, known, epoch, what, warp);
}

HELPER u32 shared_verdict(u64 old, u32 cls, u32 several, const struct me *m, u32 time)
{
	if (is_before(old, self_of_me(m), time, several == ONE_LANE ? SAME_THREAD : ~0u))
		return ORDERED;
	return __warpsafe_shared_verdict(old, cls, several, time, m->what);
}

/* As quick_verdict. */
HELPER u32 shared_quick_verdict(u64 old, const struct me *m, u32 time)
{
	struct me quick = *m;

	quick.what |= QUICK;
	return shared_verdict(old, 0, ONE_LANE, &quick, time);
}

/* As write_verdict. */
HELPER u32 shared_write_verdict(u64 w, const struct me *m, u32 time)
{
	u32 v = shared_verdict(w, w_class(w), ONE_LANE, m, time);

	return v == UNORDERED && scope_of(w_class(w)) && m->now & NOW_OBSERVED_SHARED ? (u32)UNDECIDED : v;
}

/* ---- reads ---- */
HELPER u64 shared_read_entry(const struct me *m, u32 time, u32 bytes)
{
	return pair(self_of_me(m) << THREAD_AT | class_of_read(m->what) << R_CLASS_AT | bytes << R_BYTES_AT |
		    (m->site & (R_SITES - 1)), time);
}

/* R after my read, as after_read has it. */
HELPER u64 shared_after_read(u64 old, const struct me *m, u32 time, u32 bytes, bool *lost)
{
	u32 cls = class_of_read(m->what), several = r_several(old), both = cls > r_class(old) ? cls : r_class(old);
	u32 low, high;
	bool mine, warp;

	*lost = false;
	halves(old, &low, &high);
	mine = several == ONE_LANE && thread_in(old) == m->warp * 32 + lane_of(m->time);
	warp = same_warp(low, self_of_me(m)) && several <= LANES_OF_WARP;
	if (high >= (time & SHARED_EPOCH) && (!mine || high == time) && gives_way(old, m))
		return old;
	if (high < (time & SHARED_EPOCH) || displaces(old, m) || (mine && (high != time || r_class(old) != cls)))
		return shared_read_entry(m, time, bytes);
	if (mine)
		return old | bytes << R_BYTES_AT;
	if (several == ONE_LANE && m->now & NOW_ACQUIRED && shared_quick_verdict(old, m, time) == ORDERED)
		return shared_read_entry(m, time, bytes);
	if (warp && high != time) {
		*lost = high % SHARED_SUBS >= BLOCK.full[m->warp];
		return shared_read_entry(m, time, bytes);
	}
	if (r_bytes(old) != bytes)
		low |= R_PARTS;
	low &= ~(7u << R_CLASS_AT | 3u << R_SEVERAL_AT);
	return pair(low | both << R_CLASS_AT | bytes << R_BYTES_AT | (u32)(warp ? LANES_OF_WARP : WARPS_OF_BLOCK) << R_SEVERAL_AT, high);
}

HELPER void shared_note(u32 v, u32 pair, u64 old, const struct word *d, const struct me *m, u32 bytes, u32 several,
			u32 same)
{
	if (v != ORDERED)
		note(v, pair, elsewhere(old), bytes, d, m, several, same);
}

/* A copy that is complete, and before my access, becomes an access of the time when its thread waited for it: who comes
 * next sees that without asking. Not where it may have waited for it before the waits that are known: see __warpsafe_copy_verdict. */
SLOW void __warpsafe_settle(u32 at, u64 w)
{
	u32 thread = thread_in(w), n = load32(THREAD(thread, nwaits)), warp = warp_index(), first = first_wait(n, WAITS);
	u32 time = BLOCK.warps[warp].time >> SHARED_EPOCH_AT, epoch = place_of(BLOCK.warps[warp].now).epoch;

	for (u32 k = first; k < n; k++) {
		u64 wait = load_wait(thread, k);
		struct place p = place_of_wait(wait, thread >> 5);

		if (!is_done(wait, (u32)(w >> 32) % NUMBERS) || is_by_object(wait))
			continue;
		fence_block();
		if ((first && k == first) || load32(THREAD(thread, nwaits)) - first >= WAITS)
			return;
		if (p.sub < LAST_SHARED_SUB && epoch - p.epoch < time && time < COPY_TIME >> SHARED_EPOCH_AT)
			shared_swap64(at, w, pair((u32)w & ~(u32)SHARED_COPY, (time - (epoch - p.epoch)) << SHARED_EPOCH_AT | p.sub));
		return;
	}
}

HELPER void read_shared_word(const struct word *d, const struct me *m, const struct here *h)
{
	u32 at = w_cell(h, (u32)d->address);
	u64 r = shared_load64(at + h->reads), was, now, w;
	bool lost;

	while ((now = shared_after_read(r, m, h->time, d->bytes, &lost)) != r) {
		was = shared_swap64(at + h->reads, r, now);
		if (was == r)
			break;
		r = was;
	}
	if (lost)
		count_threads(COUNTS(lost));
	w = shared_load64(at);
	if (w_bytes(w) & d->bytes) {
		u32 v = shared_write_verdict(w, m, h->time);

		shared_note(v, WS_RACE_READ_AFTER_WRITE, w, d, m, w_bytes(w) & d->bytes, 0, 0);
		if (v == ORDERED && is_shared_copy(w))
			__warpsafe_settle(at, w);
	}
}

/* ---- writes ---- */
HELPER u64 shared_write_entry(u32 self, u32 time, u32 what, u32 site, u32 bytes)
{
	return pair(self << THREAD_AT | WS_RACE_CLASS_OF(what) << W_CLASS_AT | bytes << W_BYTES_AT | (site & (W_SITES - 1)),
		    time);
}

/* By lanes of one instruction? */
HELPER u32 shared_sameness(u32 v, u64 w, u32 bytes, const struct word *d, const struct me *m, const struct here *h,
			     const struct wrote *value)
{
	u32 other = thread_in(w);
	bool inst = (u32)(w >> 32) == h->time && other >> 5 == m->warp && !(((u32)w ^ m->site) & (W_SITES - 1));
	u32 same = inst ? SAME_INST : 0;

	if (!is_shared_copy(w) && by_note(m, w, bytes, other, value, &same))
		return same;
	return value_later(v, elsewhere(w), bytes, d, m, 0, value);
}

/* As judge_w and judge_r. */
HELPER u32 judge_shared_w(u64 *w, const struct word *d, const struct me *m, u32 time)
{
	u64 now = *w;
	u32 v;

	if (m->what & WS_RACE_SWAPPED)
		*w = m->seen_w;
	v = w_bytes(*w) & d->bytes ? shared_write_verdict(*w, m, time) : ORDERED;
	if (v != ORDERED || *w == now)
		return v;
	*w = now;
	return w_bytes(now) & d->bytes && shared_write_verdict(now, m, time) != ORDERED ? UNDECIDED : ORDERED;
}

/* Of what readers have done. What may be the writer's own byte counts as forgotten. */
HELPER u32 shared_readers_verdict(u64 r, const struct me *m, u32 time)
{
	u32 v = shared_verdict(r & ~(u64)R_PARTS, strong_class(r), r_several(r), m, time);

	if (v == ORDERED || !may_be_own(r, self_of_me(m)))
		return v;
	count_threads(COUNTS(lost));
	return ORDERED;
}

HELPER u32 judge_shared_r(u64 *r, const struct word *d, const struct me *m, u32 time)
{
	u64 now = *r;
	u32 v;

	if (m->what & WS_RACE_SWAPPED)
		*r = m->seen_r;
	v = r_bytes(*r) & d->bytes ? shared_readers_verdict(*r, m, time) : ORDERED;
	if (v != ORDERED || *r == now)
		return v;
	*r = now;
	return r_bytes(now) & d->bytes && shared_readers_verdict(now, m, time) != ORDERED ? UNDECIDED : ORDERED;
}

/* w, r: what the cell had when the write was entered. */
HELPER void check_shared_write(const struct word *d, const struct me *m, const struct here *h, u64 w, u64 r,
			       const struct wrote *value)
{
	u32 v = judge_shared_w(&w, d, m, h->time), bytes = w_bytes(w) & d->bytes;

	if (forgets_readers(r, d, m))
		shared_swap64(w_cell(h, (u32)d->address) + h->reads, r, 0);
	if (v != ORDERED)
		shared_note(v, WS_RACE_WRITE_AFTER_WRITE, w, d, m, bytes, 0,
			    value->known ? shared_sameness(v, w, bytes, d, m, h, value) : 0);
	v = judge_shared_r(&r, d, m, h->time);
	bytes = r_bytes(r) & d->bytes;
	if (v != ORDERED)
		shared_note(v, WS_RACE_WRITE_AFTER_READ, r, d, m, bytes, r_several(r),
			    value->known && same_value(d, m->what, bytes, value->value) ? SAME_VALUE : 0);
}

HELPER void write_shared_word(const struct word *d, const struct me *m, const struct here *h, const struct wrote *value)
{
	u32 at = w_cell(h, (u32)d->address), self = self_of_me(m), bytes = d->bytes;
	u64 w = shared_load64(at), r;

	if (value->known)
		note_written(m->warp * 32 + lane_of(m->time), value);
	if ((u32)(w >> 32) == h->time && !(((u32)w ^ self << THREAD_AT) & SAME_THREAD) &&
	    w_class(w) == WS_RACE_CLASS_OF(m->what))
		bytes |= w_bytes(w);
	w = shared_exchange64(at, shared_write_entry(self, h->time, m->what, m->site, bytes));
	r = shared_load64(at + h->reads);
	if (w_bytes(w) & ~bytes && !is_before(w, self, h->time, SAME_THREAD))
		count_threads(COUNTS(lost));
	check_shared_write(d, m, h, w, r, value);
}

/* ---- at the access ---- */
/* The bytes that the write's entry is to have: with those that the thread has written there at this time. */
HELPER u32 own_bytes(const struct here *h, u32 self, u32 offset, u32 bytes, u32 what)
{
	u32 low, high;

	halves(shared_load64(w_cell(h, offset)), &low, &high);
	if (high == h->time && !((low ^ (self << THREAD_AT | WS_RACE_CLASS_OF(what) << W_CLASS_AT)) >> W_CLASS_AT))
		bytes |= low >> W_BYTES_AT & 15;
	return bytes;
}

HELPER void enter_write(const struct here *h, u32 self, u32 offset, u32 bytes, u32 what, u32 site, u64 *w, u64 *r)
{
	u32 at = w_cell(h, offset);

	*w = shared_exchange64(at, shared_write_entry(self, h->time, what, site, bytes));
	*r = shared_load64(at + h->reads);
}

/* Lanes next to each other that read the same: the lowest of them enters it for all. Where not all 32 lanes are here, each does so for itself.
 * (More than this vote is asked only where there are such: most accesses have none.) */
enum { EACH_FOR_ITSELF = 0xffffffff };
HELPER u32 heads_of_runs(u32 self, u32 address)
{
	return activemask() == 0xffffffff ? ballot(of_lane_below(address) != address || !(self & 31)) : EACH_FOR_ITSELF;
}

HELPER bool is_head(u32 heads, u32 self) { return heads >> (self & 31) & 1; }

/* Has the lane one above it that reads the same? */
HELPER bool is_for_several(u32 heads, u32 self) { return (self & 31) < 31 && !(heads >> (self & 31) & 2); }

/* What the lane has found that entered for this one. All 32 lanes come here. */
HELPER bool of_run(u32 heads, u32 self, bool fine)
{
	u32 upto = 0xffffffffu >> (31 - (self & 31));

	return of_lane(0xffffffff, 31 - (u32)__builtin_clz(heads & upto), fine);
}

/* R as a first read has it. */
HELPER u32 read_low(u32 self, u32 bytes, u32 what, u32 site)
{
	return self << THREAD_AT | WS_RACE_CLASS_OF(what) << R_CLASS_AT | bytes << R_BYTES_AT | (site & (R_SITES - 1));
}

HELPER bool of_one_class(u32 low, u32 mine) { return !((low ^ mine) >> R_CLASS_AT & 7); }

/* Of the same class and bytes? */
HELPER bool reads_alike(u32 low, u32 mine) { return !((low ^ mine) >> R_BYTES_AT & 127); }

/* Of the same class, by several, and of these bytes among others? */
HELPER bool reads_more(u32 low, u32 mine)
{
	return low >> R_SEVERAL_AT & 3 && of_one_class(low, mine) && !(mine & ~low & 15u << R_BYTES_AT);
}

/* Does R say already what it would with this read? */
HELPER bool is_entered(u64 r, u32 mine, u32 time, u32 bytes, bool more)
{
	u32 low, high, several;
	bool says, here;

	halves(r, &low, &high);
	several = low >> R_SEVERAL_AT & 3;
	says = reads_alike(low, mine) || (bytes != 15 && reads_more(low, mine));
	here = (high == time) & of_one_warp(low, mine) & ((several == LANES_OF_WARP) | (!more & !((low ^ mine) >> THREAD_AT)));
	return (high >= (time & SHARED_EPOCH)) & says & ((several == WARPS_OF_BLOCK) | here);
}

HELPER u32 of_warps(u32 low) { return (low & ~(3u << R_SEVERAL_AT)) | (u32)WARPS_OF_BLOCK << R_SEVERAL_AT; }

/* The bytes that R has so far, and those of this read, of the same class; not before a sync. As with_read. */
HELPER bool with_bytes_read(u64 r, u32 mine, u32 time, bool more, u64 *now)
{
	u32 low, high, mores = (u32)LANES_OF_WARP << R_SEVERAL_AT;

	halves(r, &low, &high);
	if (!of_one_class(low, mine))
		return false;
	low |= mine & 15u << R_BYTES_AT;
	*now = pair(low, high);
	if (!more && !((low ^ mine) >> R_CLASS_AT) && !(low >> R_SEVERAL_AT & 3) && high == time)
		return true;             /* bytes of one thread come together */
	low |= R_PARTS;
	if (of_one_warp(low, mine) && (low >> R_SEVERAL_AT & 3) != WARPS_OF_BLOCK) {
		*now = pair(low | mores, high);
		return high == time;
	}
	*now = pair(of_warps(low), high);
	return true;
}

/* R with this read, in *now; false: it wants a closer look. Rounds: nothing in this epoch, one lane, lanes of a warp, warps of the block. synced:
 * what is before a sync of the warp counts as nothing. more: for several lanes. */
HELPER bool with_read(u64 r, u32 mine, u32 self, u32 time, u32 bytes, bool synced, bool more, u64 *now)
{
	u32 low, high, mores = (u32)LANES_OF_WARP << R_SEVERAL_AT;

	halves(r, &low, &high);
	*now = pair(more ? mine | mores : mine, time);
	if (high < (time & SHARED_EPOCH) || (synced && r_is_before_sync(r, self)))
		return true;
	if (!reads_alike(low, mine))
		return bytes != 15 && with_bytes_read(r, mine, time, more, now);
	if (of_one_warp(low, mine)) {
		*now = pair(low | mores, high);
		return high == time;
	}
	*now = pair(of_warps(low), high);
	return true;
}

/* Enters a read that `was`, which is in R, does not say yet, until it does; false: R wants a closer look. */
HELPER bool enter_until(u32 at, u64 was, u32 mine, u32 self, u32 time, u32 bytes, bool synced, bool more)
{
	u64 r, now;

	for (r = was; !is_entered(r, mine, time, bytes, more); r = was) {
		if (!with_read(r, mine, self, time, bytes, synced, more, &now))
			return false;
		was = shared_swap64(at, r, now);
		if (was == r)
			break;
	}
	return true;
}

/* Another thread was faster. It calls nothing. how: bytes, and 16 for several lanes. */
SLOW u32 __warpsafe_enter_again(u32 at, u64 was, u32 mine, u32 self, u32 time, u32 how)
{
	return enter_until(at, was, mine, self, time, how & 15, false, how & 16);
}

/* How a read is done: at its place, where what is rare is a call; in a function, which would save registers for that each time; or there, and what is
 * before a sync of the warp counts as nothing. */
enum reading { AT_PLACE, IN_FUNCTION, BEHIND_SYNC };

/* Enters a read, of what R is; *w (w 0: who called loads it): W behind that. Its load goes out with what changes R, for accesses of a warp to shared memory
 * are done one after the other. */
HELPER bool enter_read(u32 at, u32 reads, u64 r, u32 mine, u32 self, u32 time, u32 bytes, enum reading how, bool more, u64 *w)
{
	u64 was, now;
	bool fine = with_read(r, mine, self, time, bytes, how == BEHIND_SYNC, more, &now);

	if (!fine)
		return false;
	was = shared_swap64(at + reads, r, now);
	if (w)
		*w = shared_load64(at);
	if (was != r) {
		fine = how == AT_PLACE ? __warpsafe_enter_again(at + reads, was, mine, self, time, bytes | (more ? 16 : 0)) :
		                         enter_until(at + reads, was, mine, self, time, bytes, how == BEHIND_SYNC, more);
		if (w)
			*w = shared_load64(at);
	}
	return fine;
}

#endif
