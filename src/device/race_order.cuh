/* race_order.cuh - what threads learn from each other otherwise than by barriers of the block and syncs of the whole
 * warp: release and acquire patterns (PTX ISA 9.0, 8.8 and 8.9), and syncs of some lanes (race.cu).
 *
 * Each warp has a list of records, newest first. Whatever is taken to be ordered though it is not (a release that was
 * not the one read) can hide a race and never makes one. Records that there was no room for make the launch
 * "incomplete": who acquires from then on is NOW_UNKNOWN. */
#ifndef WS_RACE_ORDER_CUH
#define WS_RACE_ORDER_CUH

#include "race_all.cuh"
#include "race_clock.cuh"

enum { ALL_LANES = -1 };

/* ---- syncs of some lanes ---- */
/* A sync of the same lanes just before, or with those of other lanes between, needs no record of its own: its time is
 * moved on. A release between the two then covers more than it did, which hides and never invents. */
HELPER bool same_sync_before(u32 warp, u32 lanes, const struct place *p)
{
	u32 number = BLOCK.lists[warp];

	for (u32 n = 0; number && n < 8; n++) {
		struct record r = load_record(number);

		if (kind_of(&r) != REC_SYNC || (r.what != lanes && r.what & lanes))
			return false;
		if (r.what == lanes) {
			store64(record_at(number) + 16, (u64)p->sub << 32 | p->epoch);
			return true;
		}
		number = r.previous == UNLINKED ? 0 : r.previous;
	}
	return false;
}

/* One lane does it; the time has gone on already. */
HELPER void record_sync(u32 warp, u32 lanes)
{
	u64 now = BLOCK.warps[warp].now;
	struct place p = place_of(now);
	struct record r = { UNLINKED, REC_SYNC, lanes, 0, p.epoch, p.sub, p.block, p.grid };

	if (!now || same_sync_before(warp, lanes, &p))
		return;
	if (put_on_warp(warp, &r))
		set_flags(warp, NOW_PARTIAL);
}

/* ---- acquire ---- */
/* A release of a word: what a look at it found, see race_release.cuh. */
struct found {
	u32 release;             /* the newest; 0 = none */
	u32 word, counted;       /* the word's number; how many there were */
};

/* What a thread has acquired last, and the newest record of what it has observed: they lie together in its state. */
struct last {
	u32 mark, word, counted, observed;
};

HELPER struct last load_last(u64 state)
{
	struct last l;

	own_load_four(IN_PIECES(state, acquired), &l.mark, &l.word, &l.counted, &l.observed);
	return l;
}

enum { BY_SC = 8, BY_ACQUIRE = 16, BY_RELEASE = 32 };          /* of the scope of a fence: it is a fence.sc; it is that half of a fence alone */
static_assert(WS_RACE_STRONG_SYS < BY_SC, "scopes are below");

/* At the time p of the thread. */
HELPER void acquire_other_than(u32 thread, u64 state, const struct place *p, const struct found *f, u32 fence, const struct last *last)
{
	u32 warp = thread >> 5, scope = fence & (BY_SC - 1), mark = f->release << 3 | scope, by = fence & BY_SC ? REC_BY_SC : 0;
	struct record r = { UNLINKED, REC_ACQUIRE | by | (thread & 31) << 8 | warp << 16 | scope << 24, f->release, f->word, p->epoch, p->sub,
			    f->counted, p->grid };

	if (is_round_word(BLOCK.released, f->word) && BLOCK.ordered >> 16 != p->epoch + 1)
		__warpsafe_round_acquired(f->word, f->counted, scope, p->epoch);
	if (last->mark == mark)
		return;
	own_store_four(IN_PIECES(state, acquired), mark, f->word, f->counted, last->observed);
	if (put_on_warp(warp, &r))
		set_flags(warp, NOW_ACQUIRED);
}

HELPER void acquire_behind_fence(u32 thread, const struct found *f, u32 scope)
{
	u64 state = first_piece(BLOCK.threads, thread);
	struct place p = own_place(BLOCK.warps[thread >> 5].now, thread >> 5);
	struct last last = load_last(state);

	acquire_other_than(thread, state, &p, f, scope, &last);
}

/* The thread, which may have released since its last fence, acquires something. */
HELPER void has_acquired(u32 thread)
{
	u64 released = own_load64(THREAD(thread, released));

	if (released & NOT_ACQUIRED)
		own_store64(THREAD(thread, released), released & ~NOT_ACQUIRED);
}

/* Elsewhere than behind a fence. */
HELPER void acquire(u32 thread, const struct found *f, u32 scope)
{
	has_acquired(thread);
	acquire_behind_fence(thread, f, scope);
}

/* By what a word is found in the table of releases: words of shared memory by the block's slot (race_peer.cuh: by the slot of
 * the block that the address tells). */
HELPER u64 location_key(u64 address, u32 what)
{
	u32 slot = SM90 ? (u32)(address >> 32) : 0;

	if (WS_RACE_SPACE_OF(what) == WS_RACE_SHARED)
		return ((u64)(slot ? slot - 1 : BLOCK.slot_number) << 20 | (address & 0xffffc)) | 1;
	return (address & ~3ull) | 2;
}

/* What was released at a word: 0 = nothing, or nothing by this block or its cluster for shared memory. */
HELPER struct found released_at(u64 key)
{
	u64 row, at = look_up(key, &row);
	struct found f;
	struct record r;

	if (is_folded(row))
		row = __warpsafe_unfold_for_others(at, row);
	f = (struct found){ newest_in(row), at ? number_of_word(at) : 0, counted_in(row) };
	if (!f.release || !(key & 1))
		return f;
	r = load_record(f.release);
	if (r.grid != BLOCK.grid || (real_block(r.block) != BLOCK.block && !is_near(real_block(r.block))))
		f.release = 0;
	return f;
}

/* In what scope that which was read strongly in one is acquired by a fence. */
HELPER u32 read_by_fence(u32 read, u32 fence)
{
	u32 scope = fence & (BY_SC - 1);

	return (read < scope ? read : scope) | (fence & BY_SC);
}

/* The word that the thread has looked at again and again is acquired with its newest release: the thread has seen that
 * one, or one just before. */
HELPER void acquire_again(u32 thread, u64 looked_at, u32 fence)
{
	u32 read = (u32)(looked_at >> KEY_SCOPE_AT) & 7;
	struct found f;

	if (is_incomplete(BLOCK.grid)) {
		unknown_from_here(thread >> 5);
		return;
	}
	f = released_at(looked_at & ((1ull << KEY_SCOPE_AT) - 1));
	if (f.release)
		acquire_behind_fence(thread, &f, read_by_fence(read, fence));
}

/* What was observed before what was seen last, or found by looking again and again: rare, and so elsewhere. */
SLOW void __warpsafe_acquire_list(u32 thread, u32 number, u32 fence)
{
	while (number) {
		struct record r = load_record(number);
		struct found f = { r.what, r.full, r.epoch };

		if (f.release)
			acquire_behind_fence(thread, &f, read_by_fence(rec_scope(&r), fence));
		number = r.previous;
	}
}

SLOW void __warpsafe_acquire_again(u32 thread, u64 looked_at, u32 fence)
{
	acquire_again(thread, looked_at, fence);
}

/* Is there a record of that word and scope among what was observed? Then it has the newest release from now on: that
 * leads to all older ones. */
HELPER bool observed_before(u32 thread, const struct found *f, u32 scope)
{
	u32 number = own_load32(THREAD(thread, observed));

	for (u32 n = 0; number; n++) {
		struct record o = load_record(number);

		if (o.full == f->word && rec_scope(&o) == scope) {
			store32(record_at(number) + 8, f->release);
			store32(record_at(number) + 16, f->counted);
			store32(record_at(number) + 20, 0);      /* not acquired yet, in any scope */
			return true;
		}
		if (n == 64) {
			unknown_from_here(thread >> 5);
			return true;
		}
		number = o.previous;
	}
	return false;
}

#include "race_fences.cuh"

/* The half of a fence that releases: what was before it. One of a smaller scope than the last one does not take from that. */
HELPER void fence_releases(u32 thread, u64 state, u64 now, const struct place *p, u32 scope)
{
	u32 wide = scope;

	if (scope > WS_RACE_STRONG_GPU) {
		set_flags(thread >> 5, NOW_WIDE);
	} else if (scope < WS_RACE_STRONG_GPU || now & NOW_WIDE) {
		wide = (u32)own_load64(IN_PIECES(state, fence)) & 7;
		wide = wide > scope && wide <= WS_RACE_STRONG_SYS ? wide : scope;
	}
	own_store_two64(IN_PIECES(state, fence), (u64)p->epoch << 32 | p->sub << 3 | wide, 0);         /* and released */
}

/* Behind a fence, by each lane; the time has gone on already. What was observed before it is acquired, the newest last: it
 * is what the thread most likely waited for, and __warpsafe_before asks the last acquire first. All of the state that may be asked for is
 * loaded at once. */
HELPER void fenced(u32 thread, u64 now, u32 by)
{
	u64 state = first_piece(BLOCK.threads, thread), looked_at;
	struct place p = own_place(now, thread >> 5);
	struct last last;
	u32 scope = by & (BY_SC - 1), read;
	struct found seen;

	if (scope < WS_RACE_STRONG_GPU && has_two_fences()) {
		__warpsafe_near_fence(thread, by);
		return;
	}
	if (by & BY_ACQUIRE)
		has_acquired(thread);
	else
		fence_releases(thread, state, now, &p, scope);
	if (by & BY_RELEASE || !hears(thread))
		return;
	looked_at = own_load64(IN_PIECES(state, observed_word));
	last = load_last(state);
	own_load_four(IN_PIECES(state, seen), &seen.release, &seen.word, &seen.counted, &read);
	has_heard(thread);
	if (last.observed) {
		own_store32(IN_PIECES(state, observed), 0);
		__warpsafe_acquire_list(thread, last.observed, by);
		last = load_last(state);
	}
	if (seen.release)
		acquire_other_than(thread, state, &p, &seen, read_by_fence(read, by), &last);
	if (looked_at & AGAIN)
		__warpsafe_acquire_again(thread, looked_at, by);
}

/* Of a word where the thread has released since its last fence, and has acquired nothing since: has there been that one release alone
 * since it acquired the word last? Who unlocks reads what it wrote itself when it locked, and learns nothing by that. The newest is the
 * thread's own then, and the one behind it that which it has acquired: counts alone do not tell, for a release is counted before it is
 * linked (link_at_once), so that one may have been counted for the thread that it has not seen. */
HELPER bool only_own_since(u64 state, const struct found *f, u32 scope)
{
	struct last l = load_last(state);

	return l.mark && l.counted + 1 == f->counted && (l.mark & 7) >= scope && load32(record_at(f->release)) == l.mark >> 3;
}

/* What was observed last becomes a record, for another word or scope takes its place. False: it is in a record already, or there is no room. */
SLOW u32 __warpsafe_keep_observed(u32 thread, u32 release, u32 word, u32 counted, u32 scope)
{
	struct found f = { release, word, counted };
	u32 seen, seen_word, seen_counted, read, number;
	struct record r;

	if (observed_before(thread, &f, scope))
		return false;
	own_load_four(THREAD(thread, seen), &seen, &seen_word, &seen_counted, &read);
	r = (struct record){ own_load32(THREAD(thread, observed)), REC_OBSERVED | read << 24, seen, seen_word, seen_counted, 0, BLOCK.block, BLOCK.grid };
	number = new_record(&r);
	if (number)
		own_store32(THREAD(thread, observed), number);
	else
		unknown_from_here(thread >> 5);
	return true;
}

/* After a strong read that found this release: it is acquired when the thread fences. What was found last is kept with
 * the thread; what was before it, in another word, becomes a record. */
HELPER void observe_behind(u32 thread, u64 state, u32 seen, u32 word, u32 read, const struct found *f, u32 scope)
{
	if (seen && (word != f->word || read != scope) && !__warpsafe_keep_observed(thread, f->release, f->word, f->counted, scope))
		return;
	if (!hears(thread)) {
		own_store64(IN_PIECES(state, observed_word), 0);
		will_hear(thread);
	}
	own_store_four(IN_PIECES(state, seen), f->release, f->word, f->counted, scope);
}

HELPER void observe(u32 thread, u64 state, const struct found *f, u32 scope)
{
	u32 seen = 0, word = 0, counted, read = 0;

	if (hears(thread))
		own_load_four(IN_PIECES(state, seen), &seen, &word, &counted, &read);
	observe_behind(thread, state, seen, word, read, f, scope);
}

/* ---- fence.sc ----
 * Two of them are ordered (PTX ISA 9.0, 8.9.1, Fence-SC order), which one is first is certain if a strong read before
 * the one saw a strong write behind the other, by their threads or by such as are ordered with them. Then an access may be
 * before another one though its thread has released nothing, and the other's acquired nothing. Such pairs are not
 * decided: which are they? Where only program order and releases and acquires lie between fences, reads and writes, the
 * old access's thread has a release (for it has fenced) on the way back from what mine has acquired, whatever scope the
 * fences were of. Where a block has passed a barrier or a sync behind such a fence or read, that does not tell.
 *
 * But for what is done most often: all threads of a block write and execute __threadfence(), they meet at a barrier, and behind it one of them,
 * which is released by its own fence alone, sets a flag; who reads the flag executes a fence.sc as well. Had that one come before
 * a fence of the block's in Fence-SC order, the flag's write would be behind the read of it. So such a write says that all have fenced (rec_fenced), as far as
 * the block knows: `fenced` is epoch 32 | sub behind the first such fence in it 16 | how many threads have executed one 16. */
enum { ANY_SCOPE, BEYOND_BLOCK };
#define FENCES(segment, field) (SEGMENT(segment) + __builtin_offsetof(struct ws_race_segment, field))

enum { FENCED_SUB_AT = 16, FENCED_THREADS = 1 << FENCED_SUB_AT };
HELPER u32 fenced_sub(u64 fenced) { return (u32)fenced >> FENCED_SUB_AT; }

/* By each lane for itself, before its fence. One that has fenced in this epoch before is not counted again. Asynchronous copies are not ordered by a
 * fence of their thread. (While a thread is in an epoch none can fence in a later one.) */
SLOW void __warpsafe_fence_of_block(u32 epoch, u32 before)
{
	u32 thread = thread_index(), sub = before + 1;
	u64 fence = has_state(thread) ? own_load64(THREAD(thread, fence)) : 0, has;

	if ((fence && fence >> 32 == epoch) || sub > MOST_FENCED_SUB || IN_CLUSTER || BLOCK.copies)
		return;
	for (;;) {
		bool begun;

		has = BLOCK.fenced;
		begun = has && has >> 32 == epoch;
		if (begun && fenced_sub(has) <= sub)
			break;
		shared_cas64(IN_BLOCK(fenced), has, (u64)epoch << 32 | sub << FENCED_SUB_AT | (begun ? (u32)has % FENCED_THREADS : 0));
	}
	shared_add32(IN_BLOCK(fenced), 1);       /* the low half */
}

/* See rec_fenced: of a release by a thread that fenced in that epoch, which has ended. */
HELPER u32 fenced_by_all(u32 epoch)
{
	u64 has = BLOCK.fenced;

	if (has_clocks() || IN_CLUSTER || has >> 32 != epoch || (u32)has % FENCED_THREADS != threads_of_block())
		return 0;
	return kind_of_fenced(fenced_sub(has));
}

/* Before the fence, which makes it known together with all else. The lanes that are here do it as one. */
HELPER void note_sc_fence(u32 scope, bool meets)
{
	u32 group = activemask(), warp = warp_index(), segment = BLOCK.first + warp;
	struct place p = own_place(BLOCK.warps[warp].now, warp);
	u32 kernel = BLOCK.kernel, k = scope_reaches(scope, false) || (scope == WS_RACE_STRONG_CLUSTER && IN_CLUSTER) ? BEYOND_BLOCK : ANY_SCOPE;

	if (meets && scope_reaches(scope, false))
		__warpsafe_fence_of_block(p.epoch, p.sub);
	if (!leads(group))
		return;
	if (!(kernel & WS_RACE_HAS_FENCED))
		BLOCK.kernel = kernel | WS_RACE_HAS_FENCED;
	global_or(FENCES(segment, fenced[k]), group);
	global_max(FENCES(segment, last[k]), (u64)p.epoch << 32 | (p.sub + 1));
}

HELPER void will_hand_on(void)
{
	if (BLOCK.handed == HANDED_NOTHING)
		BLOCK.handed = HANDED_SOME;
}

/* At a barrier, or a sync of a warp. */
HELPER void sync_hands_on(void)
{
	if (BLOCK.handed != HANDED_SOME)
		return;
	tell_launch(BLOCK.grid, WS_RACE_LAUNCH_HANDED_ON);
	BLOCK.handed = HANDED_ON;
}

/* Have these lanes of a warp executed one, at or behind `time`? */
HELPER bool fenced_since(u32 segment, u32 lane, u64 time, bool same_block)
{
	for (u32 k = same_block ? ANY_SCOPE : BEYOND_BLOCK; k <= BEYOND_BLOCK; k++)
		if (load32(FENCES(segment, fenced[k])) >> lane & 1 && time < load64(FENCES(segment, last[k])))
			return true;
	return false;
}

/* Some thread of the block has, or has seen a release: most kernels do neither, and that is known without a trip to memory. */
HELPER bool may_have_fenced(void) { return BLOCK.handed != HANDED_NOTHING; }

/* Am I behind such a fence, my own or one that a barrier or a sync has handed on? */
HELPER bool behind_sc_fence(u32 warp, bool same_block)
{
	return (BLOCK.handed == HANDED_ON && BLOCK.kernel & WS_RACE_HAS_FENCED) || (may_have_fenced() && fenced_since(BLOCK.first + warp, lane_index(), 0, same_block));
}

/* May any access at all be before mine by such fences? */
HELPER bool sc_fences_tell_nothing(u32 warp, bool same_block)
{
	return behind_sc_fence(warp, same_block) && launch_is(BLOCK.grid, WS_RACE_LAUNCH_HANDED_ON);
}

/* May the one by this lane, then, whose warp's first segment that is? */
HELPER bool sc_fences(u32 first, u32 lane, const struct place *o, u32 warp, bool same_block)
{
	return behind_sc_fence(warp, same_block) &&
	       (!first || fenced_since(first, lane, (u64)o->epoch << 32 | o->sub, same_block));
}

/* ---- barriers of the block hand on what was acquired ---- */
/* The last lane of a warp that comes to a barrier, in the epoch that it ends. */
HELPER void join_block(u32 warp)
{
	u32 list = BLOCK.lists[warp], number;
	struct place p = place_of(BLOCK.warps[warp].now);
	struct record r = { UNLINKED, REC_JOIN | warp << 16, list, 0, p.epoch, p.sub, p.block, p.grid };

	if (!list || !(BLOCK.warps[warp].now & NOW_ACQUIRED))
		return;
	if ((load32(record_at(list) + 4) & 255) == REC_BARRIER)
		return;
	number = new_record(&r);
	if (number)
		put(IN_SHARED(__warpsafe_block.list), number);
	else
		unknown_from_here(warp);
}

/* One lane of those that come from the barrier together. */
HELPER void learn_from_block(u32 warp)
{
	u32 head = BLOCK.lists[warp], list = BLOCK.list;
	struct place p = place_of(BLOCK.warps[warp].now);
	struct record r = { UNLINKED, REC_BARRIER, list, 0, p.epoch, p.sub, p.block, p.grid };

	if (BLOCK.unknown)
		set_flags(warp, NOW_ACQUIRED | NOW_UNKNOWN);
	if (!list)
		return;
	if (head) {
		struct record o = load_record(head);

		if (kind_of(&o) == REC_BARRIER && o.what == list)
			return;
	}
	if (put_on_warp(warp, &r))
		set_flags(warp, NOW_ACQUIRED);
}

/* ---- the question ---- */
/* A walk goes back through a list: what the lanes of `lanes` knew. All lanes from the last sync of the warp, or barrier,
 * on backwards. */
struct walk {
	u32 number;              /* of the next record; kind of list: see flags */
	u32 lanes, epoch, full;
	u32 block;
	u32 flags;               /* WALK_... | scope << 8 of the acquire that led here */
};
enum { WALK_CHAIN = 1, WALK_BLOCK = 2, WALK_HOME = 4 };
enum { WALKS = 16, STEPS_NEAR = 512, SEEN = 8 };
/* What is asked. NEAR: only what was acquired from a release that covers the access itself. ANY_FENCE: whatever scope
 * the fences were of. QUICK: who asks need not know for certain. */
enum { ASK_NEAR = 1, ASK_ANY_FENCE = 2, ASK_QUICK = 4 };

struct search {
	struct target target;
	u32 how, steps, limit;
	u32 depth;
	bool gave_up;
	struct walk stack[WALKS];
	struct { u32 number, lane, epoch, full; } seen[SEEN];
};

HELPER void go_on(struct search *s, const struct walk *w)
{
	if (s->depth == WALKS)
		s->gave_up = true;
	else
		s->stack[s->depth++] = *w;
}

HELPER bool seen_before(struct search *s, const struct record *r)
{
	u32 n = (r->what ^ rec_lane(r)) % SEEN;

	if (s->seen[n].number == r->what && s->seen[n].lane == r->kind && s->seen[n].epoch == r->epoch &&
	    s->seen[n].full == r->full)
		return true;
	s->seen[n].number = r->what;
	s->seen[n].lane = r->kind;
	s->seen[n].epoch = r->epoch;
	s->seen[n].full = r->full;
	return false;
}

HELPER void next_in_list(struct search *s, struct walk *w, const struct record *r)
{
	w->number = record_behind(w->number, r);
	if (w->number == UNLINKED) {
		s->gave_up = true;
		w->number = 0;
	}
}

/* An acquire by a thread of this block. */
HELPER bool acquired_from(struct search *s, const struct record *r, u32 block, u32 scope)
{
	u32 v = __warpsafe_covered(&s->target, r->what, r->full, r->block, block, scope);

	s->gave_up |= v == UNDECIDED;
	return v == ORDERED;
}

/* Was that before the access, by a barrier of its block? Then nothing leads from the access to it, nor to what it came from. */
HELPER bool precedes(const struct search *s, u32 block, u32 epoch)
{
	return block == s->target.at.block && epoch < s->target.at.epoch;
}

/* Of a write that the acquiring thread has observed: has the access's thread executed a fence.sc behind it, before a barrier that came before the write? */
HELPER bool fenced_before(const struct target *t, const struct record *r)
{
	return r->grid == t->at.grid && r->block == t->at.block && r->epoch == t->at.epoch && t->at.sub < rec_fenced(r) && scope_reaches(rec_scope(r), false);
}

/* Who waits by atomics releases by each of them, as well: what is observed lies a few records back. */
HELPER bool fenced_and_read(const struct target *t, const struct record *acquire)
{
	enum { FEW = 8 };
	struct record r;

	if (!(acquire->kind & REC_BY_SC) || !scope_reaches(rec_scope(acquire), false))
		return false;
	for (u32 n = 0, number = acquire->what; n < FEW && number && number != UNLINKED; n++, number = record_behind(number, &r)) {
		r = load_record(number);
		if (fenced_before(t, &r))
			return true;
	}
	return false;
}

/* One record of a list of a warp. */
HELPER bool step_list(struct search *s, struct walk *w)
{
	struct record r = load_record(w->number);
	struct walk next = { r.what, (u32)ALL_LANES, r.epoch + 1, 0, w->block, WALK_BLOCK };

	next_in_list(s, w, &r);
	if (kind_of(&r) != REC_SYNC && precedes(s, w->block, r.epoch)) {
		w->number = 0;
		return false;
	}
	if (r.epoch < w->epoch || r.sub < w->full)
		w->lanes = (u32)ALL_LANES;
	if (kind_of(&r) == REC_SYNC && r.what & w->lanes) {
		w->lanes |= r.what;
		return w->flags & WALK_HOME && (is_of_all(&s->target) || w->lanes >> s->target.lane & 1) && s->target.at.epoch == r.epoch &&
		       s->target.at.sub < r.sub;
	}
	if (kind_of(&r) == REC_BARRIER) {
		w->lanes = (u32)ALL_LANES;
		go_on(s, &next);
	} else if (kind_of(&r) == REC_ACQUIRE && w->lanes >> rec_lane(&r) & 1) {
		u32 scope = s->how & ASK_ANY_FENCE ? WS_RACE_STRONG_SYS : rec_scope(&r);

		next.flags = WALK_CHAIN | scope << 8;
		if (fenced_and_read(&s->target, &r) || acquired_from(s, &r, w->block, scope))
			return true;
		if (!(s->how & ASK_NEAR))
			go_on(s, &next);
	}
	return false;
}

/* One record of a word's releases, or of the block's list: it leads to the list of a warp. */
HELPER void step_lists(struct search *s, struct walk *w)
{
	struct record r = load_record(w->number);
	struct walk next = { r.what, (u32)ALL_LANES, r.epoch + 1, 0, r.block, 0 };

	next_in_list(s, w, &r);
	if (precedes(s, r.block, r.epoch)) {
		w->number = w->flags & WALK_CHAIN ? w->number : 0;       /* a chain has releases of others, older ones as well */
		return;
	}
	if (w->flags & WALK_CHAIN) {
		if (!counts_for(&r, w->block, w->flags >> 8) || seen_before(s, &r))
			return;
		next.lanes = 1u << rec_lane(&r);
		next.epoch = r.epoch;
		next.full = r.full;
		if (r.block == s->target.at.block && rec_warp(&r) == s->target.at.warp)
			next.flags = WALK_HOME;
	}
	if (next.number)
		go_on(s, &next);
}

HELPER u32 search(struct search *s, u32 how, u32 limit, const struct walk *first)
{
	s->how = how;
	s->limit = limit;
	s->depth = s->steps = 0;
	s->gave_up = false;
	for (u32 k = 0; k < SEEN; k++)
		s->seen[k].number = 0;
	go_on(s, first);
	while (s->depth && s->steps++ < s->limit) {
		u32 at = s->depth - 1;
		struct walk w = s->stack[at];

		if (!w.number) {
			s->depth--;
			continue;
		}
		if (w.flags & (WALK_CHAIN | WALK_BLOCK))
			step_lists(s, &w);
		else if (step_list(s, &w))
			return ORDERED;
		s->stack[at] = w;
	}
	return s->depth || s->gave_up ? UNDECIDED : UNORDERED;
}

struct acquired {                /* by a thread, last: see its state. mark 0 = nothing */
	u32 mark, word, counted;
};

HELPER struct acquired last_acquire(u32 thread)
{
	struct acquired a = { 0, 0, 0 };
	u32 observed;

	if (has_state(thread))
		own_load_four(THREAD(thread, acquired), &a.mark, &a.word, &a.counted, &observed);
	return a;
}

/* In a long chain it is most likely a release by the old access's own thread that covers it. Its newest; 0 = none, or
 * the chain is short. */
HELPER u32 likely_release(const struct target *t, const struct acquired *a)
{
	u64 newest;

	if (a->counted <= DENSE)
		return 0;
	look_up(key_of_list(a->word, t->at.block, t->at.warp * 32 + t->lane), &newest);
	return newest >> 32 <= a->counted ? (u32)newest : 0;
}

/* likely: see likely_release. */
HELPER bool last_acquire_covers(const struct target *t, const struct acquired *a, u32 scope, u32 likely)
{
	if (likely) {
		struct record r = load_record(likely);

		if (counts_for(&r, BLOCK.block, scope) && covers(&r, t))
			return true;
	}
	return __warpsafe_covered(t, a->mark >> 3, a->word, a->counted, BLOCK.block, scope) == ORDERED;
}

enum { STEPS = 4096, STEPS_QUICK = 16 };
enum { OF_WARP_AS_A_WHOLE = 1 << 16 };   /* of `thread`: what all lanes of its warp have done together */

/* Is an old access of this launch (of `thread` of `block`, then) before what the thread does now? At first what is nearest,
 * and nearly always decides: the thread's last acquire, then those that lead to the access without other threads between. */
SLOW u32 __warpsafe_before(u32 block, u32 thread, u32 epoch, u32 sub, u32 my_epoch, u32 warp, u32 how)
{
	struct search s;
	struct acquired last = last_acquire(warp * 32 + lane_index());
	u32 scope = how & ASK_ANY_FENCE ? (u32)WS_RACE_STRONG_SYS : last.mark & 7;
	struct walk first = { BLOCK.lists[warp], 1u << lane_index(), my_epoch, BLOCK.full[warp], BLOCK.block, 0 };

	s.target.at = (struct place){ BLOCK.grid, block, thread >> 5, epoch, sub };
	s.target.lane = thread & 31;
	if (TENSOR && thread & OF_WARP_AS_A_WHOLE) {
		s.target.at.warp = thread >> 5 & (WARPS - 1);
		s.target.lane = ANY_LANE;
	}
	if (last.mark && last_acquire_covers(&s.target, &last, scope, likely_release(&s.target, &last)))
		return ORDERED;
	if (how & ASK_QUICK && block == BLOCK.block && epoch == my_epoch)
		return UNORDERED;        /* reads of one variable, behind a barrier: nearly always so */
	if (block == BLOCK.block && s.target.at.warp == warp)
		first.flags = WALK_HOME;
	if (search(&s, how | ASK_NEAR, how & ASK_QUICK ? STEPS_QUICK : STEPS_NEAR, &first) == ORDERED)
		return ORDERED;
	return how & ASK_QUICK ? (u32)UNDECIDED : search(&s, how, STEPS, &first);
}

/* The same of a thread of this block, where it has clocks. Those do not know what words order, nor syncs of some lanes. A block that found no slot has
 * no room for them: nothing is known. */
SLOW u32 __warpsafe_clock_verdict(u32 thread, u32 epoch, u32 sub, u32 my_epoch, u32 warp, u32 how)
{
	u64 time = clock_time(epoch, sub);
	bool words;
	u32 v;

	if (!BLOCK.threads)
		return UNDECIDED;
	if (knows(warp, my_epoch, thread >> 5, thread & 31, time))
		return ORDERED;
	words = known_by_words(thread >> 5, time);
	if (!words && !(thread >> 5 == warp && BLOCK.warps[warp].now & NOW_PARTIAL))
		return UNORDERED;
	v = __warpsafe_before(BLOCK.block, thread, epoch, sub, my_epoch, warp, how);
	return v == UNORDERED && words ? (u32)UNDECIDED : v;
}

/* As __warpsafe_before, in blocks of both kinds. */
HELPER u32 is_before_me(u32 block, u32 thread, u32 epoch, u32 sub, u32 my_epoch, u32 warp, u32 how)
{
	if (block == BLOCK.block && has_clocks())
		return __warpsafe_clock_verdict(thread, epoch, sub, my_epoch, warp, how);
	return __warpsafe_before(block, thread, epoch, sub, my_epoch, warp, how);
}

/* ---- the order of two accesses ---- */
enum { QUICK = 1 << 30 };        /* of `what`: who asks need not know for certain */

/* By what was acquired (or by syncs of some lanes: `known` says that there are any), and by fence.sc. The old access is by
 * a lane whose warp's first segment was `first`. */
HELPER u32 verdict_of_order(u32 first, u32 lane, const struct place *o, u32 known, u32 my_epoch, u32 what, u32 warp)
{
	bool same_block = o->block == BLOCK.block;
	u32 thread = o->warp * 32 + lane, v = UNORDERED;

	if (known & NOW_UNKNOWN)
		return UNDECIDED;
	if (what & QUICK && BLOCK.ordered)
		return UNDECIDED;                /* what no round of the grid orders, hardly anything else does */
	if (known)
		v = is_before_me(o->block, thread, o->epoch, o->sub, my_epoch, warp, what & QUICK ? ASK_QUICK : 0);
	if (v != UNORDERED || what & QUICK || !sc_fences(first, lane, o, warp, same_block))
		return v;
	if (launch_is(o->grid, WS_RACE_LAUNCH_HANDED_ON))
		return UNDECIDED;
	if (known)
		v = __warpsafe_before(o->block, thread, o->epoch, o->sub, my_epoch, warp, ASK_ANY_FENCE);
	return v == UNORDERED ? UNORDERED : UNDECIDED;
}

#endif
