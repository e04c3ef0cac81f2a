/* race_remote.cuh - operations on shared memory that complete on an mbarrier object of the block whose memory it is, of this block
 * or another one of the cluster: st.async, red.async, bulk copies; and bulk copies that reduce (race.cu).
 *
 * An operation is as if by a thread of its own, which begins at its instruction with what the thread that starts it knows (PTX
 * ISA 9.0, Asynchronous Operations). Cells have its number among those of that thread, as of copies (race_copy.cuh). When it
 * begins it releases at the object, twice: what the thread knows, and itself, with AGENT and its number. So it is complete for
 * who has acquired that very release, at the object or by way of other threads, and for nobody else: no barrier orders it, nor
 * its own thread.
 *
 * Which phase another block's object is in cannot be asked, so what is released there counts for any (ANY_PHASE): an operation
 * of a later phase that has begun when a thread sees a phase end counts as complete for it. That hides races and makes none. */
#ifndef WS_RACE_REMOTE_CUH
#define WS_RACE_REMOTE_CUH

/* ---- is an operation complete? ---- */
/* Where the states of the threads of this block or of another one of the cluster are; 0 = it has none. */
HELPER u64 states_of(u32 block)
{
	u32 slot, bytes;
	u64 cells;

	if (block == BLOCK.block)
		return BLOCK.threads;
	slot = row_in_cluster(block).slot;
	cells = cells_of_slot(slot, &bytes);
	return slot ? cells + 4ull * bytes : 0;
}

/* Who began it, and its number; false: not known, or it may be one long ago with the same bits. */
HELPER bool find_operation(u64 entry, struct target *t)
{
	struct place o = beginning(segment_of(entry));
	u64 states = states_of(o.block);
	u32 newest = states ? load32(THREAD_IN(states, o.warp * 32 + lane_of(entry), number)) | (COPY_STEP - 1) : 0;

	t->at = (struct place){ BLOCK.grid, o.block | AGENT, o.warp, 0, newest - (newest - (u32)(entry >> SUB_AT)) % CELL_NUMBERS };
	t->lane = lane_of(entry);
	return states && newest < CELL_NUMBERS;
}

SLOW u32 __warpsafe_operation_verdict(u64 old, u64 now)
{
	u32 known = (u32)now & (NOW_ACQUIRED | NOW_UNKNOWN), v = UNORDERED;
	struct target t;
	bool sure = find_operation(old, &t);

	if (known & NOW_UNKNOWN)
		return UNDECIDED;
	if (known)
		v = __warpsafe_before(t.at.block, t.at.warp * 32 + t.lane, 0, t.at.sub, place_of(now).epoch, warp_index(), 0);
	return v != UNORDERED ? v : sure ? IN_FLIGHT : UNDECIDED;
}

/* Does any thread of the block know, as it ends, that it is complete? */
HELPER u32 known_at_end(const struct target *t)
{
	struct search s;
	u32 least = BLOCK.unknown ? UNDECIDED : UNORDERED, v;

	s.target = *t;
	for (u32 w = 0; w < BLOCK.nwarps; w++) {
		struct walk first = { BLOCK.lists[w], (u32)ALL_LANES, ~0u, 0, BLOCK.block, 0 };

		v = search(&s, 0, STEPS, &first);
		if (v == ORDERED)
			return ORDERED;
		least = v == UNDECIDED ? UNDECIDED : least;
	}
	return least;
}

SLOW void __warpsafe_check_operation(u64 visit, u64 now)
{
	struct target t;
	bool sure = find_operation(visit, &t);
	u32 v = known_at_end(&t);

	if (v == UNORDERED && sure)
		report_end(visit, now, WS_RACE_LIFETIME_ENDS);
	else if (v != ORDERED)
		global_add(COUNTS(undecided), 1);
}

/* ---- the async proxy, between blocks ---- */
/* Has any block of the cluster executed a fence of it? */
HELPER bool any_proxy_fence(void)
{
	for (u32 rank = 0, n = cluster_blocks(); rank < n; rank++) {
		u32 slot = row_of(block_of_rank(rank)).slot;

		if (slot && load32(visit_at(slot, 0, 0) + 8 * MOST_RANKS * WARPS))
			return true;
	}
	return false;
}

/* Did I execute one since the last barrier of the cluster, which the write was before? */
HELPER bool fenced_since_barrier(const struct row *near, const struct place *o)
{
	u32 me = thread_index(), passed = BLOCK.passed, begins = row_of(BLOCK.block).epochs[passed & 1];
	u64 mine = has_state(me) ? load64(THREAD(me, proxy[0])) : 0;

	return mine && begins && before_in_cluster(near, o->epoch) && (u32)(mine >> 32) >= begins;
}

/* What orders the write before mine is known: by whom was a fence executed between, so that it is, too? */
SLOW u32 __warpsafe_peer_proxy_verdict(u64 w, u64 now_is)
{
	struct place o = place_of(w), now = place_of(now_is);
	struct row near = row_in_cluster(o.block);
	u64 states = states_of(o.block);
	u32 known = (u32)now_is & (NOW_ACQUIRED | NOW_UNKNOWN);

	for (u32 k = 0; k < 2 && states; k++) {
		u64 f = load64(THREAD_IN(states, o.warp * 32 + lane_of(w), proxy[k]));

		if (!f || f <= ((u64)o.epoch << 32 | o.sub))
			continue;
		if (before_in_cluster(&near, (u32)(f >> 32)))
			return ORDERED;
		if (known && !(known & NOW_UNKNOWN) &&
		    __warpsafe_before(o.block, o.warp * 32 + lane_of(w), (u32)(f >> 32), (u32)f - 1, now.epoch, warp_index(), 0) == ORDERED)
			return ORDERED;
	}
	if (fenced_since_barrier(&near, &o))
		return ORDERED;
	return any_proxy_fence() ? UNDECIDED : UNORDERED;
}

/* ---- operations ---- */
struct spot {                    /* shared memory of a block of the cluster; see find_owner */
	u64 address;
	u32 ranks, slot;
};

HELPER bool find_spot(u64 address, struct spot *s)
{
	u32 what = WS_RACE_SPACE(WS_RACE_CLUSTER);

	s->address = address;
	return find_owner(&s->address, &what, &s->ranks, &s->slot);
}

HELPER bool is_peer(const struct spot *s) { return s->ranks & IS_PEER; }

/* Is there a block, and cells? Of another one it is noted that it was come to. */
HELPER bool come_to(const struct spot *s, u32 cls, u32 site, u64 time)
{
	if (!is_peer(s))
		return true;
	visit(s->address, WS_RACE_SPACE(WS_RACE_SHARED) | WS_RACE_BYTES(4) | cls, site, 1, s->ranks & ~IS_PEER, s->slot, time);
	if (!s->slot)
		count_threads(COUNTS(not_checked[WS_RACE_NO_SLOT]));
	return s->slot;
}

HELPER void complete_on(u32 thread, const struct spot *object, u32 number)
{
	u32 warp = thread >> 5, phase = is_peer(object) ? (u32)ANY_PHASE : parity_now(object->address);
	u64 word = object_word(object->address, phase) | (u64)object->slot << 32;
	struct record r = { .sub = number, .block = BLOCK.block | AGENT, .grid = BLOCK.grid };

	r.kind = REC_RELEASE | (thread & 31) << 8 | warp << 16 | OBJECT_SCOPE << 24;
	next_sub(warp, false);
	release_all(word, OBJECT_WHAT | WS_RACE_RELEASES, thread, 0, false);
	release(location_key(word, OBJECT_WHAT), &r, false);
	next_number(thread);
}

/* bytes at `to`, of values or from another place. how: WS_RACE_CLASS of what it does there, and WS_RACE_SPACE of `from`
 * (GENERIC: there is none). site: of the write, behind that of the read. */
SLOW void __warpsafe_operation(u64 to, u64 from, u32 bytes, u64 object, u32 how, u32 site)
{
	u32 thread = thread_index(), cls = how & WS_RACE_CLASS(15), number;
	struct spot t, o;

	if (!can_copy(thread) || !find_spot(to, &t) || !find_spot(object, &o))
		return;
	number = load32(THREAD(thread, number)) | COPY_BY_OBJECT;
	if (WS_RACE_SPACE_OF(how) != WS_RACE_GENERIC)
		__warpsafe_bulk_side(from, bytes, WS_RACE_SPACE_OF(how), number, site - 1, 0);
	if (come_to(&t, cls, site, time_of_copy(thread, number)))
		__warpsafe_bulk_side(t.address, bytes, WS_RACE_SHARED, number, site, 1 | cls);
	if (!is_peer(&o) || o.slot)
		complete_on(thread, &o, number);
}

INLINED void race_operation(u64 to, u64 from, u32 bytes, u64 object, u32 how, u32 site)
{
	__warpsafe_operation(to, from, bytes, object, how, site);
}

/* To each of these ranks, at the same place in the block: an operation each. */
SLOW void __warpsafe_multicast(u64 to, u64 from, u32 bytes, u64 object, u32 ranks, u32 site)
{
	#pragma nounroll
	for (; ranks; ranks &= ranks - 1) {
		u32 rank = lowest(ranks);

		__warpsafe_operation(at_rank((u32)to, rank), from, bytes, at_rank((u32)object, rank), WS_RACE_SPACE(WS_RACE_GLOBAL), site);
	}
}

INLINED void race_multicast(u64 to, u64 from, u32 bytes, u64 object, u32 ranks, u32 site)
{
	__warpsafe_multicast(to, from, bytes, object, ranks, site);
}

/* From shared to global memory, by atomics of that class; completes in groups. */
SLOW void __warpsafe_bulk_reduce(u64 to, u64 from, u32 bytes, u32 how, u32 site)
{
	u32 thread = thread_index(), number;

	if (!can_copy(thread))
		return;
	number = load32(THREAD(thread, number));
	__warpsafe_bulk_side(from, bytes, WS_RACE_SHARED, number | COPY_READS, site, 0);
	__warpsafe_bulk_side(to, bytes, WS_RACE_GLOBAL, number | COPY_WRITES, site + 1, 1 | (how & WS_RACE_CLASS(15)));
}

INLINED void race_bulk_reduce(u64 to, u64 from, u32 bytes, u32 how, u32 site)
{
	__warpsafe_bulk_reduce(to, from, bytes, how, site);
}

/* ---- objects of other blocks ---- */
SLOW void __warpsafe_peer_arrive(u64 address, u32 what)
{
	u32 ranks, slot;

	if (!BLOCK.off && find_owner(&address, &what, &ranks, &slot) && (slot || !(ranks & IS_PEER)))
		arrive(address, what, thread_index(), ranks & IS_PEER);
}

INLINED void race_peer_arrive(u64 address, u32 what)
{
	__warpsafe_peer_arrive(address, what);
}

#endif
