/* race_order.cuh - what threads learn from each other otherwise than by barriers of the block and syncs of the whole
 * warp: release and acquire patterns (PTX ISA 9.0, 8.8 and 8.9), and syncs of some lanes (race.cu).
 *
 * Each warp has a list of records, newest first. RELEASE records hang at the memory word that was written, all there
 * ever were: an older value may still be read. Whatever is taken to be ordered though it is not (a release that was not
 * the one read) can hide a race and never makes one. Records that there was no room for make the launch "incomplete":
 * who acquires from then on is NOW_UNKNOWN. */
#ifndef WS_RACE_ORDER_CUH
#define WS_RACE_ORDER_CUH

#include "race_state.cuh"

enum { REC_SYNC = 1, REC_ACQUIRE, REC_BARRIER, REC_JOIN, REC_RELEASE, REC_OBSERVED };
enum { ALL_LANES = -1 };

struct record {                  /* struct ws_race_record, by its use */
	u32 previous;            /* of the warp's list; JOIN: of the block's; RELEASE: of the word; OBSERVED: of the thread */
	u32 kind;                /* kind | lane << 8 | warp << 16 | scope << 24 */
	u32 what;                /* SYNC: lanes; ACQUIRE, OBSERVED: a RELEASE; BARRIER: block's list; JOIN, RELEASE: warp's list */
	u32 full;                /* RELEASE: sub of the last sync of the warp; OBSERVED: the word's number */
	u32 epoch, sub;          /* SYNC, BARRIER: behind it; RELEASE: all before this is covered */
	u32 block, grid;
};

HELPER u32 kind_of(const struct record *r) { return r->kind & 255; }
HELPER u32 rec_lane(const struct record *r) { return r->kind >> 8 & 31; }
HELPER u32 rec_warp(const struct record *r) { return r->kind >> 16 & 31; }
HELPER u32 rec_scope(const struct record *r) { return r->kind >> 24; }

HELPER u64 record_at(u32 number) { return RACE.records + 32ull * number; }

HELPER struct record load_record(u32 number)
{
	struct record r;

	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.previous), "=r"(r.kind), "=r"(r.what),
		     "=r"(r.full) : "l"(record_at(number)) : "memory");
	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.epoch), "=r"(r.sub), "=r"(r.block),
		     "=r"(r.grid) : "l"(record_at(number) + 16) : "memory");
	return r;
}

HELPER void unknown_from_here(u32 warp)
{
	launch_is_incomplete(BLOCK.grid);
	BLOCK.unknown = 1;
	set_flags(warp, NOW_ACQUIRED | NOW_UNKNOWN);
}

/* The record's number; 0 = there is no room. */
HELPER u32 new_record(const struct record *r)
{
	u32 number = load32(COUNTS(records)) < RACE.nrecords ? fetch_add32(COUNTS(records), 1) + 1 : 0;

	if (!number || number > RACE.nrecords) {
		launch_is_incomplete(BLOCK.grid);
		count_threads(COUNTS(records_missing));
		return 0;
	}
	asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(record_at(number)), "r"(r->previous),
		     "r"(r->kind), "r"(r->what), "r"(r->full) : "memory");
	asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(record_at(number) + 16), "r"(r->epoch),
		     "r"(r->sub), "r"(r->block), "r"(r->grid) : "memory");
	return number;
}

/* Puts a record on a list in shared memory. */
HELPER void put(u64 list, u32 number)
{
	u32 head = 0, was;

	for (;; head = was) {
		store32(record_at(number), head);
		fence_gpu();
		was = shared_cas32(list, head, number);
		if (was == head)
			break;
	}
}

HELPER bool put_on_warp(u32 warp, const struct record *r)
{
	u32 number = new_record(r);

	if (number)
		put(IN_SHARED(__warpsafe_block.lists[warp]), number);
	else
		unknown_from_here(warp);
	return number;
}

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
		number = r.previous;
	}
	return false;
}

/* One lane does it; the time has gone on already. */
HELPER void record_sync(u32 warp, u32 lanes)
{
	u64 now = BLOCK.warps[warp].now;
	struct place p = place_of(now);
	struct record r = { 0, REC_SYNC, lanes, 0, p.epoch, p.sub, p.block, p.grid };

	if (!now || same_sync_before(warp, lanes, &p))
		return;
	if (put_on_warp(warp, &r))
		set_flags(warp, NOW_PARTIAL);
}

/* ---- a thread's own state: 16 bytes in the slot ---- */
/* fence: epoch << 32 | sub << 3 | scope of the last one, 0 = none; observed: newest OBSERVED record that no fence came
 * behind; acquired: the release of the last acquire. */
HELPER u64 thread_fence_at(u32 thread) { return BLOCK.threads + 16ull * thread; }
HELPER u64 thread_observed_at(u32 thread) { return BLOCK.threads + 16ull * thread + 8; }
HELPER u64 thread_acquired_at(u32 thread) { return BLOCK.threads + 16ull * thread + 12; }

/* The state is made when it is first wanted. */
HELPER void want_state(u32 thread)
{
	u32 bit = 1u << (thread & 31);

	if (BLOCK.ready[thread >> 5] & bit)
		return;
	store64(thread_fence_at(thread), 0);
	store64(thread_observed_at(thread), 0);
	shared_or32(IN_SHARED(__warpsafe_block.ready[thread >> 5]), bit);
}

HELPER bool scope_reaches(u32 scope, bool same_block)
{
	return same_block ? scope >= WS_RACE_STRONG_CTA : scope >= WS_RACE_STRONG_GPU;
}

HELPER void acquire(u32 warp, u32 lane, u32 release, u32 scope)
{
	struct place p = place_of(BLOCK.warps[warp].now);
	struct record r = { 0, REC_ACQUIRE | lane << 8 | warp << 16 | scope << 24, release, 0, p.epoch, p.sub, p.block, p.grid };
	u32 mark = release << 3 | scope;

	if (load32(thread_acquired_at(warp * 32 + lane)) == mark)
		return;
	store32(thread_acquired_at(warp * 32 + lane), mark);
	if (put_on_warp(warp, &r))
		set_flags(warp, NOW_ACQUIRED);
}

/* Behind a fence, by each lane; the time has gone on already. What was observed before it is acquired. */
HELPER void fenced(u32 thread, u32 scope)
{
	struct place p = place_of(BLOCK.warps[thread >> 5].now);
	u64 fence = load64(thread_fence_at(thread));
	u32 observed = load32(thread_observed_at(thread));
	u32 wide = (u32)fence & 7;

	wide = wide > scope ? wide : scope;
	store64(thread_fence_at(thread), (u64)p.epoch << 32 | p.sub << 3 | wide);
	if (observed)
		store32(thread_observed_at(thread), 0);
	while (observed) {
		struct record r = load_record(observed);
		u32 read = rec_scope(&r);

		acquire(thread >> 5, thread & 31, r.what, read < scope ? read : scope);
		observed = r.previous;
	}
}

/* ---- fence.sc ----
 * Two of them are ordered, whatever lies between (PTX ISA 9.0, 8.9.1, Fence-SC order): so an access may be before another
 * one without any release if its thread has executed one behind it. That is not followed: such a pair is not decided. */
enum { ANY_SCOPE, BEYOND_BLOCK };
#define FENCES(segment, field) (SEGMENT(segment) + __builtin_offsetof(struct ws_race_segment, field))

HELPER void note_sc_fence(u32 thread, u32 scope)
{
	u32 warp = thread >> 5, segment = BLOCK.first + warp;
	struct place p = place_of(BLOCK.warps[warp].now);

	for (u32 k = ANY_SCOPE; k <= (scope_reaches(scope, false) ? BEYOND_BLOCK : ANY_SCOPE); k++) {
		global_or(FENCES(segment, fenced[k]), 1u << (thread & 31));
		global_max(FENCES(segment, last[k]), (u64)p.epoch << 32 | p.sub);
	}
	fence_gpu();
}

/* Has the thread that asks executed one? */
HELPER bool has_fenced(u32 warp, bool same_block)
{
	return load32(FENCES(BLOCK.first + warp, fenced[same_block ? ANY_SCOPE : BEYOND_BLOCK])) >> lane_index() & 1;
}

/* Has the thread of the old access executed such a fence behind it? */
HELPER bool fenced_since(u64 old, const struct place *o, bool same_block)
{
	u32 first = load32(FENCES(segment_of(old), first)), k = same_block ? ANY_SCOPE : BEYOND_BLOCK;

	return !first || (load32(FENCES(first, fenced[k])) >> lane_of(old) & 1 &&
	       ((u64)o->epoch << 32 | o->sub) < load64(FENCES(first, last[k])));
}

/* ---- words that were released ---- */
/* The word's row in the table; 0 = it has none, or (insert) there is no room. */
HELPER u64 location_of(u64 key, bool insert)
{
	u32 mask = (1u << RACE.locations_log2) - 1;
	u32 n = (u32)(key * 0x9e3779b97f4a7c15ull >> 40) & mask;

	for (u32 tries = 0; tries < 64 && tries <= mask; tries++, n = (n + 1) & mask) {
		u64 at = RACE.locations + 16ull * n, has = load64(at);

		if (!has && !insert)
			return 0;
		if (!has) {
			has = cas64(at, 0, key);
			if (!has) {
				fetch_add32(COUNTS(locations), 1);
				return at;
			}
		}
		if (has == key)
			return at;
	}
	return 0;
}

HELPER bool same_release(u32 number, const struct record *r)
{
	struct record o;

	if (!number)
		return false;
	o = load_record(number);
	return o.kind == r->kind && o.what == r->what && o.full == r->full && o.epoch == r->epoch && o.sub == r->sub &&
	       o.block == r->block && o.grid == r->grid;
}

/* Before a strong write of a thread that has fenced, or one that releases itself: the record is there before the value
 * can be read. key: see location_key. */
HELPER void release(u64 key, struct record *r)
{
	u64 at = location_of(key, true);
	u32 old, was, number;

	if (!at) {
		launch_is_incomplete(BLOCK.grid);
		count_threads(COUNTS(records_missing));
		return;
	}
	old = load32(at + 8);
	if (same_release(old, r))
		return;
	r->previous = old;
	number = new_record(r);
	while (number) {
		fence_gpu();
		was = cas32(at + 8, old, number);
		if (was == old)
			break;
		old = was;
		store32(record_at(number), old);
	}
	fence_gpu();
}

/* After a strong read that found this release: it is acquired when the thread fences. Looking at one word again and
 * again takes one record: a word's newest release leads to all older ones. */
HELPER void observe(u32 thread, u32 release, u32 word, u32 scope)
{
	u32 first = load32(thread_observed_at(thread)), number = first;
	struct record r = { first, REC_OBSERVED | scope << 24, release, word, 0, 0, BLOCK.block, BLOCK.grid };

	for (u32 n = 0; number; n++) {
		struct record o = load_record(number);

		if (o.full == word && rec_scope(&o) == scope) {
			store32(record_at(number) + 8, release);
			return;
		}
		if (n == 64) {
			unknown_from_here(thread >> 5);
			return;
		}
		number = o.previous;
	}
	number = new_record(&r);
	if (number)
		store32(thread_observed_at(thread), number);
	else
		unknown_from_here(thread >> 5);
}

/* ---- barriers of the block hand on what was acquired ---- */
/* The last lane of a warp that comes to a barrier, in the epoch that it ends. */
HELPER void join_block(u32 warp)
{
	u32 list = BLOCK.lists[warp], number;
	struct place p = place_of(BLOCK.warps[warp].now);
	struct record r = { 0, REC_JOIN | warp << 16, list, 0, p.epoch, p.sub, p.block, p.grid };

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
	struct record r = { 0, REC_BARRIER, list, 0, p.epoch, p.sub, p.block, p.grid };

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
	u32 number;              /* of the next record; kind of list: see chain */
	u32 lanes, epoch, full;
	u32 block;
	u32 flags;               /* WALK_... | scope << 8 of the acquire that led here */
};
enum { WALK_CHAIN = 1, WALK_BLOCK = 2, WALK_HOME = 4 };
enum { WALKS = 16, STEPS = 4096, SEEN = 8 };

struct search {
	struct place target;     /* of the old access */
	u32 lane;
	u32 depth, steps;
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

HELPER bool counts_for(const struct record *r, const struct walk *w)
{
	bool same = r->block == w->block;

	return scope_reaches(rec_scope(r), same) && scope_reaches(w->flags >> 8, same);
}

HELPER bool covers(const struct record *r, const struct search *s)
{
	const struct place *t = &s->target;

	if (r->grid != t->grid || r->block != t->block)
		return false;
	if (t->epoch != r->epoch)
		return t->epoch < r->epoch;
	return rec_warp(r) == t->warp && (t->sub < r->full || (rec_lane(r) == s->lane && t->sub < r->sub));
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

/* The releases of a word from this one on: is the access covered by one? They are all looked at before the lists of
 * their threads are. */
HELPER bool chain_covers(struct search *s, u32 number, const struct walk *w)
{
	for (; number && s->steps < STEPS; s->steps++) {
		struct record r = load_record(number);

		if (counts_for(&r, w) && covers(&r, s))
			return true;
		number = r.previous;
	}
	return false;
}

/* One record of a list of a warp. */
HELPER bool step_list(struct search *s, struct walk *w)
{
	struct record r = load_record(w->number);
	struct walk next = { r.what, (u32)ALL_LANES, r.epoch + 1, 0, w->block, WALK_BLOCK };

	w->number = r.previous;
	if (r.epoch < w->epoch || r.sub < w->full)
		w->lanes = (u32)ALL_LANES;
	if (kind_of(&r) == REC_SYNC && r.what & w->lanes) {
		w->lanes |= r.what;
		return w->flags & WALK_HOME && w->lanes >> s->lane & 1 && s->target.epoch == r.epoch &&
		       s->target.sub < r.sub;
	}
	if (kind_of(&r) == REC_BARRIER) {
		w->lanes = (u32)ALL_LANES;
		go_on(s, &next);
	} else if (kind_of(&r) == REC_ACQUIRE && w->lanes >> rec_lane(&r) & 1) {
		next.flags = WALK_CHAIN | rec_scope(&r) << 8;
		if (chain_covers(s, r.what, &next))
			return true;
		go_on(s, &next);
	}
	return false;
}

/* One record of a word's releases, or of the block's list: it leads to the list of a warp. */
HELPER void step_lists(struct search *s, struct walk *w)
{
	struct record r = load_record(w->number);
	struct walk next = { r.what, (u32)ALL_LANES, r.epoch + 1, 0, r.block, 0 };

	w->number = r.previous;
	if (w->flags & WALK_CHAIN) {
		if (!counts_for(&r, w) || seen_before(s, &r))
			return;
		next.lanes = 1u << rec_lane(&r);
		next.epoch = r.epoch;
		next.full = r.full;
		if (r.block == s->target.block && rec_warp(&r) == s->target.warp)
			next.flags = WALK_HOME;
	}
	if (next.number)
		go_on(s, &next);
}

/* Is an old access of this launch (of `thread` of `block`, then) before what the thread does now, by what its warp's list
 * says? */
SLOW u32 __warpsafe_before(u32 block, u32 thread, u32 epoch, u32 sub, u32 my_epoch, u32 warp)
{
	struct search s;
	struct walk first = { BLOCK.lists[warp], 1u << lane_index(), my_epoch, BLOCK.full[warp], BLOCK.block, 0 };

	s.target = (struct place){ BLOCK.grid, block, thread >> 5, epoch, sub };
	s.lane = thread & 31;
	s.depth = s.steps = 0;
	s.gave_up = false;
	for (u32 k = 0; k < SEEN; k++)
		s.seen[k].number = 0;
	if (block == BLOCK.block && s.target.warp == warp)
		first.flags = WALK_HOME;
	go_on(&s, &first);
	while (s.depth && s.steps++ < STEPS) {
		u32 at = s.depth - 1;
		struct walk w = s.stack[at];

		if (!w.number) {
			s.depth--;
			continue;
		}
		if (w.flags & (WALK_CHAIN | WALK_BLOCK))
			step_lists(&s, &w);
		else if (step_list(&s, &w))
			return ORDERED;
		s.stack[at] = w;
	}
	return s.depth || s.gave_up || s.steps >= STEPS ? UNDECIDED : UNORDERED;
}

#endif
