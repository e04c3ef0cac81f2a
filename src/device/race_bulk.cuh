/* race_bulk.cuh - bulk copies of memory as it lies (cp.async.bulk), and the async proxy (race.cu; race_copy.cuh has the rules for
 * what is under way).
 *
 * A copy that completes on an mbarrier object is complete for who comes by a release of its thread at that object, which is
 * made when the copy begins, in the phase of that moment. One that completes in groups is so by the waits for them.
 *
 * Bulk copies access memory through the async proxy (PTX ISA 9.0, Proxies): a plain write before one must also come before a
 * fence.proxy.async that does. Each thread keeps where its last two fences were, and the block the last two epochs with any: known
 * is what the writer has fenced, what the copy's thread has, and what a barrier parts from an epoch with a fence. */
#ifndef WS_RACE_BULK_CUH
#define WS_RACE_BULK_CUH

/* ---- fences of the proxy ---- */
/* The block's: epoch + 1 of the last, and of the one before; behind the visits. */
HELPER u64 proxy_epochs(void) { return visit_at(0, 0, 0) + 8 * MOST_RANKS * WARPS; }
static_assert(8 * MOST_RANKS * WARPS + 8 <= 4 * sizeof(struct block), "it has room in place of the cells of the block's variable");

SLOW void __warpsafe_proxy_fence(void)
{
	u32 thread = thread_index(), was;
	struct place p;

	if (!has_slot_for_copies() || !BLOCK.warps[thread >> 5].now)
		return;
	want_state(thread);
	next_sub(thread >> 5, false);
	p = place_of(BLOCK.warps[thread >> 5].now);
	store64(THREAD(thread, proxy[1]), load64(THREAD(thread, proxy[0])));
	store64(THREAD(thread, proxy[0]), (u64)p.epoch << 32 | p.sub);
	asm volatile("atom.global.max.u32 %0, [%1], %2;" : "=r"(was) : "l"(proxy_epochs()), "r"(p.epoch + 1) : "memory");
	if (was < p.epoch + 1)
		store32(proxy_epochs() + 4, was);
}

INLINED void race_proxy_fence(void)
{
	__warpsafe_proxy_fence();
}

/* Is a fence of a thread of the block, in the last moment before that time of its, before what I do now? */
HELPER u32 fence_verdict(u32 thread, u32 epoch, u32 sub, const struct place *now, u32 known)
{
	u32 me = thread_index(), warp = me >> 5;

	if (thread == me || epoch < now->epoch || (thread >> 5 == warp && sub <= BLOCK.full[warp]))
		return ORDERED;
	if (known & NOW_UNKNOWN)
		return UNDECIDED;
	return known ? is_before_me(BLOCK.block, thread, epoch, sub - 1, now->epoch, warp, 0) : (u32)UNORDERED;
}

/* A write by a thread of the block, which is before my copy. */
SLOW u32 __warpsafe_proxy_verdict(u32 thread, u32 epoch, u32 sub, u64 now_is)
{
	u32 me = thread_index(), warp = me >> 5, known = (u32)now_is & (NOW_ACQUIRED | NOW_UNKNOWN | NOW_PARTIAL), last, before, v;
	struct place now = place_of(now_is);
	u64 mine = has_state(me) ? load64(THREAD(me, proxy[0])) : 0;
	bool maybe = false;

	for (u32 k = 0; k < 2 && has_state(thread); k++) {
		u64 f = load64(THREAD(thread, proxy[k]));

		if (!f || f <= ((u64)epoch << 32 | sub))
			continue;
		v = fence_verdict(thread, (u32)(f >> 32), (u32)f, &now, known);
		if (v == ORDERED)
			return ORDERED;
		maybe |= known || k;
	}
	if (mine && ((u32)(mine >> 32) > epoch || (thread >> 5 == warp && (u32)(mine >> 32) == epoch && sub < BLOCK.full[warp] &&
						    BLOCK.full[warp] <= (u32)mine)))
		return ORDERED;
	maybe |= mine && thread != me && (u32)(mine >> 32) == epoch;
	last = load32(proxy_epochs());
	before = last > now.epoch ? load32(proxy_epochs() + 4) : last;
	if (before > epoch + 1)
		return ORDERED;
	return maybe || (last > epoch && thread != me && !mine) ? (u32)UNDECIDED : (u32)UNORDERED;
}

/* race_remote.cuh: the same by a thread of another block of the cluster. */
SLOW u32 __warpsafe_peer_proxy_verdict(u64 w, u64 now_is);

/* A write that is before my copy: is there a fence between? */
HELPER u32 proxy_verdict(u64 w, const struct me *m)
{
	struct place o;

	if (is_parts(w))
		return UNDECIDED;
	o = place_of(w);
	if (!segment_of(w) || is_copy(w) || o.grid != BLOCK.grid || w_class(w) == W_OFTEN)
		return ORDERED;
	if (strong_copy(w_class(w), WS_RACE_CLASS_OF(m->what), o.block))
		return ORDERED;
	if (REMOTE && !is_special(w) && !is_summed(w) && o.block != BLOCK.block && is_near(o.block))
		return __warpsafe_peer_proxy_verdict(w, m->now);
	if (is_special(w) || is_summed(w) || o.block != BLOCK.block)
		return UNDECIDED;
	return __warpsafe_proxy_verdict(o.warp * 32 + lane_of(w), o.epoch, o.sub, m->now);
}

/* ---- what a copy does to a word ---- */
enum { BY_PROXY = 1 << 7 };      /* of `same` of note: see __warpsafe_report */

/* What was judged of the word before, by the same earlier access. */
struct judged {
	u64 write;
	u32 verdict, proxy;
};

/* Judged anew. */
SLOW void __warpsafe_judge_write(const struct me *m, u64 w, struct judged *j)
{
	j->write = w >> W_CLASS_AT;
	j->verdict = write_verdict(w, m);
	j->proxy = 0;
	if (j->verdict != ORDERED)
		return;
	j->verdict = proxy_verdict(w, m);
	j->proxy = j->verdict == UNORDERED ? BY_PROXY : 0;
}

SLOW void __warpsafe_judge_read(const struct me *m, u64 r, struct judged *j)
{
	j->write = r >> R_SEVERAL_AT;
	j->verdict = verdict(r, r_class(r), r_several(r), m);
}

SLOW void __warpsafe_note_judged(const struct word *d, const struct me *m, u64 old, u32 pair, const struct judged *j)
{
	bool read = pair == WS_RACE_WRITE_AFTER_READ;

	note(j->verdict, pair, old, (read ? r_bytes(old) : w_bytes(old)) & d->bytes, d, m, read ? r_several(old) : writers_in(old),
	     read ? 0 : j->proxy);
}

HELPER void judge_before(const struct word *d, const struct me *m, u64 w, u32 pair, struct judged *j)
{
	u32 rest = w_mask(w) & d->bytes;

	#pragma nounroll
	while (rest) {
		u64 part = w_part(w, &rest);

		if (part >> W_CLASS_AT != j->write)
			__warpsafe_judge_write(m, part, j);
		if (j->verdict != ORDERED)
			__warpsafe_note_judged(d, m, part, pair, j);
	}
}

struct touch {
	struct me m;
	u64 mine;                        /* W or R, but for the bytes */
	bool writes;
	struct judged write, read;
	/* What was looked at last: of an R that gave way to my read, and of one by another block, its high bits; of several blocks, READERS; of a warp that has read, its time of which all
	 * lanes were asked for, and were before; of one that has written, that of an earlier launch. What is like it needs no look. */
	u64 entered, other, readers, asked, before, asked_write, earlier_write;
};

HELPER struct touch touch_of(u32 space, u32 number, u32 site, u32 writes)
{
	u32 thread = thread_index(), cls = REMOTE ? writes & WS_RACE_CLASS(15) : 0;
	struct touch s = { access_of(BLOCK.warps[thread >> 5].now, WS_RACE_BYTES(4) | WS_RACE_SPACE(space) | cls, site),
			  time_of_copy(thread, number), writes != 0, { ~0ull, ORDERED, 0 }, { ~0ull, ORDERED, 0 }, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull };

	s.mine |= writes ? (u64)WS_RACE_CLASS_OF(cls) << W_CLASS_AT | (site & (W_SITES - 1)) : site & (R_SITES - 1);
	return s;
}

/* ---- what many words have in common ---- */
/* Is what a warp of the block did then before my copy, whichever lane did it? */
SLOW bool __warpsafe_all_lanes_before(u64 old, u64 now)
{
	struct place o = place_of(old), m = place_of(now);
	u32 known = (u32)now & (NOW_ACQUIRED | NOW_UNKNOWN);

	if (o.grid != m.grid)
		return !other_launch(old);
	if (is_summed(old) || is_copy(old) || o.block != m.block)
		return false;
	if (o.epoch < m.epoch)
		return true;
	if (o.warp == warp_index())
		return o.sub < BLOCK.full[o.warp];
	return has_clocks() && known == NOW_ACQUIRED && __warpsafe_clock_of_lanes(o.warp, o.epoch, o.sub, warp_index()) == ORDERED;
}

HELPER u64 time_of_warp(u64 entry) { return entry >> SUB_AT << SUB_AT & ~(31ull << LANE_AT); }

/* A tile is read by as many lanes as it has words, at few times. */
HELPER bool is_before_by_any_lane(struct touch *s, u64 r)
{
	if (r_several(r) > LANES_OF_WARP)
		return false;
	if (time_of_warp(r) != s->asked) {
		s->asked = time_of_warp(r);
		if (__warpsafe_all_lanes_before(r, s->m.now))
			s->before = s->asked;
	}
	return s->asked == s->before;
}

/* The same of a write, but of earlier launches alone: in this one its proxy matters. */
SLOW void __warpsafe_ask_write(struct touch *s, u64 w)
{
	s->asked_write = time_of_warp(w);
	if (place_of(w).grid != BLOCK.grid && !other_launch(w))
		s->earlier_write = s->asked_write;
}

/* Before a word is judged: what of it goes for the words of other lanes. */
HELPER void look_at_lanes(struct touch *s, u64 w, u64 r)
{
	if (r)
		is_before_by_any_lane(s, r);
	if (w && !is_special(w) && time_of_warp(w) != s->asked_write)
		__warpsafe_ask_write(s, w);
}

HELPER void judge_reads(const struct word *d, struct touch *s, u64 r)
{
	u32 rest = r_mask(r) & d->bytes;

	#pragma nounroll
	while (rest) {
		u64 part = r_part(r, &rest);

		if (part >> R_SEVERAL_AT == s->read.write ? s->read.verdict == ORDERED : is_before_by_any_lane(s, part))
			continue;
		if (part >> R_SEVERAL_AT != s->read.write)
			__warpsafe_judge_read(&s->m, part, &s->read);
		if (s->read.verdict != ORDERED)
			__warpsafe_note_judged(d, &s->m, part, WS_RACE_WRITE_AFTER_READ, &s->read);
	}
}

/* ---- a few words at a time, of which the cells lie side by side ----
 * One thread does what a warp does elsewhere: so each trip to memory is for all of them, and words where there was nothing, or the like of what was
 * looked at last, take few instructions. All else is done word by word. */
enum { AT_ONCE = 8 };

HELPER bool w_is_plain(const struct touch *s, u64 w)
{
	if (!w)
		return true;
	if (w_bytes(w) != 15 || is_special(w))
		return false;
	return (w >> W_CLASS_AT == s->write.write && s->write.verdict == ORDERED) || time_of_warp(w) == s->earlier_write;
}

HELPER bool r_is_before(const struct touch *s, u64 r) { return r_bytes(r) == 15 && r_several(r) <= LANES_OF_WARP && time_of_warp(r) == s->before; }

HELPER bool r_is_plain(const struct touch *s, u64 r)
{
	return !r || (r >> R_SEVERAL_AT == s->read.write && s->read.verdict == ORDERED) || r_is_before(s, r);
}

/* What several blocks have read in a launch: that, and how, but not who was last. */
#define READERS ((1ull << SEGMENT_AT) - (1ull << READERS_GRID_AT) + (1ull << SUB_AT) - (1ull << R_SEVERAL_AT))

SLOW void __warpsafe_copy_reads_one(struct touch *s, const struct word *d)
{
	struct entered_read e;
	u64 w;

	if (!enter_copy_read(d, &s->m, s->mine | (u64)d->bytes << R_BYTES_AT, &e))
		return;
	if (r_several(e.is) == BLOCKS && !has_rounds()) {
		s->readers = e.is & READERS;
		s->other = e.is == e.was ? s->other : e.was >> R_SEVERAL_AT;
	} else if (r_several(e.is) != BLOCKS && e.displaced == NO_READ && segment_of(e.was)) {
		s->entered = e.was >> R_SEVERAL_AT;
	}
	w = load64(d->cell);
	look_at_lanes(s, w, e.was);
	judge_before(d, &s->m, w, WS_RACE_READ_AFTER_WRITE, &s->write);
}

/* Which are left, bit by bit. Blocks that read the same at the same time find that others have said so. */
HELPER u32 copy_reads_words(const struct touch *s, u64 cell)
{
	u64 w[AT_ONCE], r[AT_ONCE], mine = s->mine | 15ull << R_BYTES_AT, entered = s->entered, other = s->other, readers = s->readers;
	u64 with_other = (mine & ~((1ull << SEGMENT_AT) - (1ull << R_SEVERAL_AT))) | readers;        /* of no epoch: there are no rounds */
	u32 left = 0, enters = 0;

	#pragma unroll
	for (u32 k = 0; k < AT_ONCE; k++)
		load_cell(cell + 16 * k, &w[k], &r[k]);
	#pragma unroll
	for (u32 k = 0; k < AT_ONCE; k++) {
		bool gives_way = !r[k] || r[k] >> R_SEVERAL_AT == entered || r[k] >> R_SEVERAL_AT == other || r_is_before(s, r[k]);

		if (!w_is_plain(s, w[k]) || (!gives_way && (r[k] & READERS) != readers))
			left |= 1u << k;
		else if (gives_way && r[k] != mine)
			enters |= 1u << k;
	}
	#pragma unroll
	for (u32 k = 0; k < AT_ONCE; k++)
		if (enters >> k & 1) {
			u64 was = cas64(cell + 16 * k + 8, r[k], r[k] >> R_SEVERAL_AT == other ? with_other : mine);

			if (was != r[k] && (was & READERS) != readers)
				left |= 1u << k;
		}
	#pragma unroll
	for (u32 k = 0; k < AT_ONCE; k++)        /* who has written meanwhile may not have seen the read */
		if (enters && w[k] != load64(cell + 16 * k))
			left |= 1u << k;
	return left;
}

SLOW void __warpsafe_copy_writes_one(struct touch *s, const struct word *d, u64 w, u64 r)
{
	if (is_parts(w)) {               /* they are for threads' own accesses */
		exchange64(d->cell, w);
		count_threads(COUNTS(undecided));
		return;
	}
	look_at_lanes(s, w, r);
	judge_before(d, &s->m, w, WS_RACE_WRITE_AFTER_WRITE, &s->write);
	judge_reads(d, s, r);
	forget_readers(r, d, &s->m);
}

HELPER struct word kth_word(const struct word *first, u32 k, u32 bytes)
{
	return (struct word){ first->cell + 16 * k, first->address + 4 * k, bytes_of(0, bytes - 4 * k) };
}

HELPER void copy_writes_words(struct touch *s, const struct word *first)
{
	u64 w[AT_ONCE], r[AT_ONCE], mine = s->mine | 15ull << W_BYTES_AT;

	#pragma unroll
	for (u32 k = 0; k < AT_ONCE; k++)
		w[k] = exchange64(first->cell + 16 * k, mine);
	#pragma unroll
	for (u32 k = 0; k < AT_ONCE; k++)
		r[k] = load64(first->cell + 16 * k + 8);
	#pragma unroll
	for (u32 k = 0; k < AT_ONCE; k++) {
		struct word d = kth_word(first, k, 4 * AT_ONCE);

		if (!w_is_plain(s, w[k]) || !r_is_plain(s, r[k]))
			__warpsafe_copy_writes_one(s, &d, w[k], r[k]);
	}
}

/* As many as there are at once. */
SLOW void __warpsafe_touch_words_at_once(struct touch *s, const struct word *first)
{
	u32 left;

	if (s->writes) {
		copy_writes_words(s, first);
		return;
	}
	#pragma nounroll
	for (u32 done = 0; (left = copy_reads_words(s, first->cell) & ~done) != 0; done |= left & -left) {
		struct word d = kth_word(first, lowest(left), 4 * AT_ONCE);

		__warpsafe_copy_reads_one(s, &d);        /* the others may be like it */
	}
}

SLOW void __warpsafe_touch_few(struct touch *s, const struct word *first, u32 bytes)
{
	#pragma nounroll
	for (u32 k = 0; 4 * k < bytes; k++) {
		struct word d = kth_word(first, k, bytes);

		if (s->writes) {
			u64 w = exchange64(d.cell, s->mine | (u64)d.bytes << W_BYTES_AT);

			__warpsafe_copy_writes_one(s, &d, w, load64(d.cell + 8));
		} else {
			__warpsafe_copy_reads_one(s, &d);
		}
	}
}

/* Words of one line, or of as many bytes of shared memory. */
HELPER void touch_line(struct touch *s, u64 address, u32 bytes)
{
	struct word d;

	if (!find_word(address, &s->m, ATOMIC, &d))
		return;
	#pragma nounroll
	for (u32 at = 0; at < bytes; at += 4 * AT_ONCE, d.cell += 16 * AT_ONCE, d.address += 4 * AT_ONCE) {
		if (bytes - at >= 4 * AT_ONCE)
			__warpsafe_touch_words_at_once(s, &d);
		else
			__warpsafe_touch_few(s, &d, bytes - at);
	}
}

/* Bytes that lie side by side, whole words but for the last one. */
SLOW void __warpsafe_touch_words(struct touch *s, u64 address, u32 bytes)
{
	#pragma nounroll
	for (u32 n; bytes; bytes -= n, address += n) {
		n = LINE_BYTES - (u32)address % LINE_BYTES;
		n = bytes < n ? bytes : n;
		touch_line(s, address, n);
	}
}

/* One side of a copy. writes: and if it reduces, the class of its atomics as WS_RACE_CLASS. */
SLOW void __warpsafe_bulk_side(u64 address, u32 bytes, u32 space, u32 number, u32 site, u32 writes)
{
	struct touch s = touch_of(space, number, site, writes);

	__warpsafe_touch_words(&s, address, bytes);
}

/* ---- copies ---- */
/* From global memory to this block's shared memory. To another block's: nothing of it is looked at. */
SLOW void __warpsafe_bulk_load(u64 to, u64 from, u32 bytes, u64 object, u32 site)
{
	u32 thread = thread_index(), what = WS_RACE_SPACE(WS_RACE_CLUSTER), of_object = what, ranks, slot, number;

	if (!can_copy(thread))
		return;
	if (!find_owner(&to, &what, &ranks, &slot) || ranks & IS_PEER || !find_owner(&object, &of_object, &ranks, &slot)) {
		count_threads(COUNTS(not_checked[WS_RACE_NO_SEGMENT]));
		return;
	}
	number = load32(THREAD(thread, number)) | COPY_BY_OBJECT;
	__warpsafe_bulk_side(from, bytes, WS_RACE_GLOBAL, number, site, 0);
	__warpsafe_bulk_side(to, bytes, WS_RACE_SHARED, number, site + 1, 1);
	copies_arrive(thread, object, WS_RACE_SPACE(WS_RACE_SHARED) | WS_RACE_RELEASES);
}

INLINED void race_bulk_load(u64 to, u64 from, u32 bytes, u64 object, u32 site)
{
	__warpsafe_bulk_load(to, from, bytes, object, site);
}

SLOW void __warpsafe_bulk_store(u64 to, u64 from, u32 bytes, u32 site)
{
	u32 thread = thread_index(), number;

	if (!can_copy(thread))
		return;
	number = load32(THREAD(thread, number));
	__warpsafe_bulk_side(from, bytes, WS_RACE_SHARED, number | COPY_READS, site, 0);
	__warpsafe_bulk_side(to, bytes, WS_RACE_GLOBAL, number | COPY_WRITES, site + 1, 1);
}

INLINED void race_bulk_store(u64 to, u64 from, u32 bytes, u32 site)
{
	__warpsafe_bulk_store(to, from, bytes, site);
}

SLOW void __warpsafe_bulk_wait(u32 n, u32 reads)
{
	if (has_copies(thread_index()))
		wait_for_groups(thread_index(), n, reads ? WAIT_READS : WAIT_BULK);
}

INLINED void race_bulk_wait(u32 n, u32 reads)
{
	__warpsafe_bulk_wait(n, reads);
}

#endif
