/* race_shared.cuh - cells of a block's shared memory that lie in shared memory themselves, behind the program's own
 * (race.h says when), so that a check is some fifty to seventy instructions and no trip to the L2 cache (race_shared_access.cuh).
 *
 * They are the block's alone and zero when it begins, so they need no segments. Of a word there are
 *     W: epoch + 1 22 | sub 10 | thread 10 | copy, row 1 | class 4 | bytes 4 | site 13           the last write or atomic
 *     R: epoch + 1 22 | sub 10 | thread 10 | parts 1 | class 3 | bytes 4 | several 2 | site 12   reads since
 * all W first, then all R, so that neighbours lie in neighbouring banks: in the low 21 bits as elsewhere. "Nothing" and
 * "in an earlier epoch" is then one comparison of the high halves, and "by the same thread" one more of the low ones.
 *
 * What lanes side by side do to the bytes, or halves, of a word is one entry, a row (race_shared_cell.cuh). Of other readers, of several, each has read
 * all of R's bytes. With `parts` each byte was read by some of them: by a lane of the warp at that time, or by some of its warp or of others (a crowd).
 * So what one warp has read is told from what another one writes; where the byte may be the writer's own, nothing is told of it, and it counts as forgotten.
 *
 * The order of publication is that of race_cell.cuh. Accesses of a warp to shared memory are done one after the other. */
#ifndef WS_RACE_SHARED_CUH
#define WS_RACE_SHARED_CUH

#include "race_shared_cell.cuh"

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
	u32 at = BLOCK.cells, bytes = 2 * (BLOCK.warps[warp].reads_full >> SHARED_EPOCH_AT), time = BLOCK.warps[warp].time;

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

	shared_store_four(row, c->bytes && now ? time : 0, c->bytes ? c->at - 2 * c->begin : 0, c->bytes / 2 << SHARED_EPOCH_AT,
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

/* several: BLOCKS of a crowd. */
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
	if (has_clocks() && known & NOW_ACQUIRED && several != BLOCKS)
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

/* A row as an entry of lanes of a warp, of which each byte was read by one. */
HELPER u64 as_several(u64 row)
{
	u32 rest = shared_r_mask(row), all = rest;
	u64 first = shared_r_part(row, &rest);

	return pair((u32)first | (u32)R_PARTS | (u32)LANES_OF_WARP << R_SEVERAL_AT | all << R_BYTES_AT, (u32)(row >> 32));
}

/* R after my read, as after_read has it. */
HELPER u64 shared_after_read(u64 old, const struct me *m, u32 time, u32 bytes, bool *lost)
{
	u32 cls = class_of_read(m->what), several = r_several(old), both = cls > r_class(old) ? cls : r_class(old);
	u32 low, high;
	bool mine, warp;

	*lost = false;
	if (r_is_shared_row(old)) {
		if ((u32)(old >> 32) == time && r_class(old) == cls && !(bytes & ~shared_r_mask(old)) &&
		    r_has_me(old, self_of_me(m), (u32)__builtin_ctz(bytes), WS_RACE_BYTES_OF(m->what)))
			return old;
		several = LANES_OF_WARP;
		old = as_several(old);
	}
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
	low &= ~(7u << R_CLASS_AT);
	if (!warp && low & R_PARTS)
		return pair(with_crowd(low, self_of_me(m) << THREAD_AT, bytes) | both << R_CLASS_AT, high);
	low &= ~(3u << R_SEVERAL_AT);
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
	u32 rest;
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
	rest = shared_w_mask(w) & d->bytes;
	#pragma nounroll
	while (rest) {
		u64 part = shared_w_part(w, &rest);
		u32 v = shared_write_verdict(part, m, h->time);

		shared_note(v, WS_RACE_READ_AFTER_WRITE, part, d, m, w_bytes(part) & d->bytes, 0, 0);
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
		*w = w_is_shared_row(m->seen_w) ? 0 : m->seen_w;
	v = w_bytes(*w) & d->bytes ? shared_write_verdict(*w, m, time) : ORDERED;
	if (v != ORDERED || *w == now)
		return v;
	*w = now;
	return w_bytes(now) & d->bytes && shared_write_verdict(now, m, time) != ORDERED ? UNDECIDED : ORDERED;
}

/* Of what readers have done to some of these bytes. What may be the writer's own byte counts as forgotten. */
HELPER u32 shared_readers_verdict(u64 r, const struct me *m, u32 time, u32 bytes)
{
	u32 several = is_crowd((u32)r) ? (u32)BLOCKS : r_several(r), v = shared_verdict(r & ~(u64)R_PARTS, strong_class(r), several, m, time);

	if (v == ORDERED || surely_by_others(r, self_of_me(m)) & bytes)
		return v;
	count_threads(COUNTS(lost));
	return ORDERED;
}

HELPER u32 judge_shared_r(u64 *r, const struct word *d, const struct me *m, u32 time)
{
	u64 now = *r;
	u32 v;

	if (m->what & WS_RACE_SWAPPED)
		*r = r_is_shared_row(m->seen_r) ? 0 : m->seen_r;
	v = shared_r_mask(*r) & d->bytes ? shared_readers_verdict(*r, m, time, d->bytes) : ORDERED;
	if (v != ORDERED || *r == now)
		return v;
	*r = now;
	return shared_r_mask(now) & d->bytes && shared_readers_verdict(now, m, time, d->bytes) != ORDERED ? UNDECIDED : ORDERED;
}

/* w, r: what the cell had when the write was entered; no rows. */
HELPER void check_shared_entries(const struct word *d, const struct me *m, const struct here *h, u64 w, u64 r, const struct wrote *value)
{
	u32 v = judge_shared_w(&w, d, m, h->time), bytes = w_bytes(w) & d->bytes;

	if (!is_crowd((u32)r) && forgets_readers(r, d, m))
		shared_swap64(w_cell(h, (u32)d->address) + h->reads, r, 0);
	if (v != ORDERED)
		shared_note(v, WS_RACE_WRITE_AFTER_WRITE, w, d, m, bytes, 0,
			    value->known ? shared_sameness(v, w, bytes, d, m, h, value) : 0);
	v = judge_shared_r(&r, d, m, h->time);
	bytes = surely_by_others(r, self_of_me(m)) & d->bytes;
	if (v != ORDERED)
		shared_note(v, WS_RACE_WRITE_AFTER_READ, r, d, m, bytes, r_several(r),
			    value->known && same_value(d, m->what, bytes, value->value) ? SAME_VALUE : 0);
}

/* As __warpsafe_check_part. what: with PART_KNOWN, if the value is known. */
SLOW void __warpsafe_check_shared_part(u64 address, u32 bytes, u32 what, u32 site, u32 value, u32 noted, u64 w, u64 r)
{
	u32 warp = warp_index();
	struct here h = here(self_of(warp * 32));
	struct word d = { 0, address, bytes };
	struct me m = access_of(BLOCK.warps[warp].now, what & ~(u32)PART_KNOWN, site);
	struct wrote v = { (what & PART_KNOWN) != 0, value, noted, tag_of(address, what & ~(u32)PART_KNOWN, site) };

	check_shared_entries(&d, &m, &h, w, r, &v);
}

/* (A swap that meets one is not compared with it.) */
SLOW void __warpsafe_check_shared_rows(u64 address, u32 bytes, u32 what, u32 site, u32 value, u32 noted, u64 w, u64 r)
{
	u32 rest_w = shared_w_mask(w) & bytes, rest_r = shared_r_mask(r) & bytes;

	#pragma nounroll
	while (rest_w | rest_r && !(what & WS_RACE_SWAPPED)) {
		u64 part_w = rest_w ? shared_w_part(w, &rest_w) : 0, part_r = rest_r ? shared_r_part(r, &rest_r) : 0;

		__warpsafe_check_shared_part(address, bytes, what, site, value, noted, part_w, part_r);
	}
}

HELPER void check_shared_write(const struct word *d, const struct me *m, const struct here *h, u64 w, u64 r, const struct wrote *value)
{
	u32 what = m->what | (value->known ? PART_KNOWN : 0);

	if (w_is_shared_row(w) || r_is_shared_row(r))
		__warpsafe_check_shared_rows(d->address, d->bytes, what, m->site, value->value, value->noted, w, r);
	else
		check_shared_entries(d, m, h, w, r, value);
}

/* ---- bytes and halves ---- */
/* mine: low half of an entry of a thread's access of `size` to part of a word, when it is alone. Its row, with that part. */
HELPER u32 row_with(u32 mine, u32 at, u32 mark, u32 size)
{
	u32 bytes = mine >> at & 15, nth = nth_part((u32)__builtin_ctz(bytes), size);

	return (mine & ~(15u << at)) - (nth << THREAD_AT) + (size == 2 ? BOTH_HALVES << at : bytes << at) + mark;
}

/* Is `low`, of an entry of the same time, of another lane of my row, or of some? *now: of these and mine. */
HELPER bool joins(u32 low, u32 mine, u32 at, u32 mark, u32 size, u32 *now)
{
	u32 has = low >> at & 15, row = row_with(mine, at, mark, size), other;

	if ((low & mark) != mark) {
		if (!has || (size == 2 ? has != 3 && has != 12 : (has & (has - 1)) != 0) || !(has & ~(mine >> at)))
			return false;
		other = row_with(low, at, mark, size);
	} else if (size == 2 ? has == BOTH_HALVES : !are_halves(has)) {
		other = low;
	} else {
		return false;
	}
	*now = row | other;
	return !((row ^ other) & ~(15u << at));
}

/* May the thread's part be in a row? Not where that would begin in another warp, or be taken for a copy. */
HELPER bool may_be_in_row(u32 self, u32 offset, u32 size, u32 time) { return (self & 31) >= nth_part(offset, size) && time < COPY_TIME; }

/* Does W, of the same time, say of another lane that it has written the other half? *now: of both. */
HELPER bool has_other_half(u32 low, u32 mine, u32 *now)
{
	u32 has = low >> W_BYTES_AT & 15, adds = mine >> W_BYTES_AT & 15, first = adds == 3 ? mine : low, second = adds == 3 ? low : mine;
	u32 lane = second >> THREAD_AT & 31;

	*now = (first & ~(15u << W_CLASS_AT | 15u << W_BYTES_AT)) | (u32)SHARED_COPY | (lane & 15) << W_CLASS_AT |
	       (u32)(lane < 16 ? HALVES_APART : HALVES_FAR_APART) << W_BYTES_AT;
	return (has ^ adds) == 15 && (adds == 3 || adds == 12) && !(low & SHARED_COPY) && of_one_warp(low, mine) && !((low ^ mine) & (W_SITES - 1)) &&
	       !(scope_of(w_class(low)) | scope_of(w_class(mine)));
}

/* Does a row of the same time say of me, by whatever instruction, that I have written there? */
HELPER bool says_part(u32 low, u32 mine, u32 size)
{
	u32 bytes = mine >> W_BYTES_AT & 15, has = low >> W_BYTES_AT & 15;
	bool alike = has == BOTH_HALVES || !are_halves(has) ? !((low ^ mine) >> W_CLASS_AT & 15) || !(scope_of(w_class(low)) | scope_of(w_class(mine))) :
	             !scope_of(w_class(mine));

	return alike && low & SHARED_COPY && has_me(low, W_BYTES_AT, mine >> THREAD_AT, (u32)__builtin_ctz(bytes), size) && !(bytes & ~bytes_of_row(has));
}

/* W with my write of a part; row: of the lanes that come together, or 0: then I leave a row that says of me what it would say by my instruction, for of
 * the others I do not know whether they come to it. */
HELPER u64 with_write(u64 w, u32 mine, u32 row, u32 time, u32 size, bool joinable)
{
	u32 low, high, both, now = row ? row : mine;

	halves(w, &low, &high);
	if (high != time)
		return pair(now, time);
	if (!row && !((low ^ mine) >> W_CLASS_AT))
		return pair(mine | (low & 15u << W_BYTES_AT), time);
	if (!row && size < 4 && time < COPY_TIME && says_part(low, mine, size))
		return w;
	if (joinable && joins(low, mine, W_BYTES_AT, SHARED_COPY, size, &both))
		return pair(row ? row | both : both, time);
	if (!row && size == 2 && time < COPY_TIME && has_other_half(low, mine, &both))
		return pair(both, time);
	return pair(now, time);
}

/* Enters it; what W was. *now: what it is. */
HELPER u64 enter_part(u32 at, u32 mine, u32 row, u32 time, u32 size, bool joinable, u64 *now)
{
	u64 w = shared_load64(at), was;

	for (; (*now = with_write(w, mine, row, time, size, joinable)) != w; w = was) {
		was = shared_swap64(at, w, *now);
		if (was == w)
			break;
	}
	return w;
}

/* Is something forgotten of an entry that another one takes the place of? */
HELPER bool forgets_part(u64 w, u64 now, u32 self, u32 time)
{
	return shared_w_mask(w) & ~shared_w_mask(now) && !is_before(w, self, time, SAME_THREAD);
}

HELPER void write_shared_word(const struct word *d, const struct me *m, const struct here *h, const struct wrote *value)
{
	u32 at = w_cell(h, (u32)d->address), self = self_of_me(m), size = WS_RACE_BYTES_OF(m->what);
	u64 now = shared_write_entry(self, h->time, m->what, m->site, d->bytes), w, r;

	if (value->known)
		note_written(m->warp * 32 + lane_of(m->time), value);
	if (d->bytes == 15)
		w = shared_exchange64(at, now);
	else
		w = enter_part(at, (u32)now, 0, h->time, size, size < 4 && may_be_in_row(self, (u32)d->address, size, h->time), &now);
	r = shared_load64(at + h->reads);
	if (forgets_part(w, now, self, h->time))
		count_threads(COUNTS(lost));
	check_shared_write(d, m, h, w, r, value);
}

/* ---- at the access ---- */
HELPER void enter_write(const struct here *h, u32 self, u32 offset, u32 what, u32 site, u64 *w, u64 *r)
{
	u32 at = w_cell(h, offset);

	*w = shared_exchange64(at, shared_write_entry(self, h->time, what, site, 15));
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

/* Of the same class and bytes, and alike as to what of them each has read? */
HELPER bool reads_alike(u32 low, u32 mine) { return !((low ^ mine) >> R_BYTES_AT & 255); }

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
	if (!more && !((low ^ mine) >> R_CLASS_AT) && !(low >> R_SEVERAL_AT & 3) && high == time) {
		*now = pair(low | (mine & 15u << R_BYTES_AT), high);
		return true;             /* bytes of one thread come together */
	}
	if (of_one_warp(low, mine) && (low >> R_SEVERAL_AT & 3) != WARPS_OF_BLOCK) {
		*now = pair(low | (mine & 15u << R_BYTES_AT) | (u32)R_PARTS | mores, high);
		return high == time;
	}
	*now = pair(with_crowd(low, mine, mine >> R_BYTES_AT & 15), high);
	return true;
}

/* R with this read, in *now; false: it wants a closer look. Rounds: nothing in this epoch, one lane, lanes of a warp, warps of the block. synced:
 * what is before a sync of the warp counts as nothing. more: for several lanes. */
HELPER bool with_read(u64 r, u32 mine, u32 self, u32 time, u32 bytes, u32 synced, bool more, u64 *now)
{
	u32 low, high, mores = (u32)LANES_OF_WARP << R_SEVERAL_AT;

	halves(r, &low, &high);
	*now = pair(more ? mine | mores : mine, time);
	if (high < (time & SHARED_EPOCH) || r_is_before_sync(r, self, synced))
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
HELPER bool enter_until(u32 at, u64 was, u32 mine, u32 self, u32 time, u32 bytes, u32 synced, bool more)
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

/* Whether a read is entered in any case, or only if no other thread is faster: a loop needs more registers. */
enum reading { ONCE, UNTIL_ENTERED };

/* Enters a read, of what R is. */
HELPER bool enter_read(const struct here *h, u32 at, u64 r, u32 mine, u32 self, u32 bytes, enum reading how, bool more)
{
	u64 was, now;

	if (!with_read(r, mine, self, h->time, bytes, h->synced, more, &now))
		return false;
	was = shared_swap64(at + h->reads, r, now);
	return was == r || (how == UNTIL_ENTERED && enter_until(at + h->reads, was, mine, self, h->time, bytes, h->synced, more));
}

#endif
