/* race_barrier.cuh - barriers of the block and syncs of warps, as hooks before and behind them (race.cu). What nearly always happens stands in
 * functions that call nothing. */
#ifndef WS_RACE_BARRIER_CUH
#define WS_RACE_BARRIER_CUH

/* A warp whose block is off stops itself at its next barrier or sync: who switched it off may not have come to it yet, and
 * its time does not go on. */
HELPER bool block_is_off(u32 warp)
{
	if (!BLOCK.off)
		return false;
	stop_warp(warp);
	return true;
}

/* The warp's epoch ends, if that is all that there is to do: nothing is to be handed on, or remembered. False: nothing has been done, but
 * perhaps that which __warpsafe_arrive_others does first. By one lane of a warp of which all others wait. */
HELPER bool epoch_ends_at_once(u32 warp)
{
	u64 old = BLOCK.warps[warp].now;
	u32 time = BLOCK.warps[warp].time;

	if (!old || epoch_of(old) == EPOCHS - 1 || is_scrubbed_behind(time) || BLOCK.handed == HANDED_SOME || BLOCK.lists[warp] ||
	    clocks_meet())
		return false;
	forget_full(warp);
	if (cas_now(warp, old, in_next_epoch(old)) != old)
		return false;
	if (time)
		set_shared_time(warp, next_shared_epoch(time));
	return true;
}

/* The lanes that are alive, and all here: a condition before the barrier may have parted them. Who is about to leave does so first. (All name all lanes of the
 * warp: of those that are alive they may know different ones.) */
HELPER u64 come_together(u32 at)
{
	warp_sync_all();
	return shared_load64(at);
}

HELPER u64 alive_together(u32 at)
{
	u64 alive = shared_load64(at);

	return activemask() == alive ? alive : come_together(at);
}

/* One of the lanes that arrive together does it. */
HELPER void arrive_together(u32 group)
{
	u32 warp = warp_index();

	if (!block_is_off(warp) && leads(group))
		come(warp, group, false);
}

SLOW void __warpsafe_arrive_others(u32 group) { arrive_together(group); }

/* What is left for one of them: the lanes, or 0. It calls nothing. */
SLOW u32 __warpsafe_barrier_arrive(void)
{
	u32 warp = warp_index(), group;
	u64 alive = alive_together((u32)IN_SHARED(__warpsafe_block.warps[warp].alive_arrived));

	group = alive >> 32 ? activemask() : (u32)alive;
	if (!leads(group) || (!BLOCK.off && BLOCK.warps[warp].alive_arrived == group && epoch_ends_at_once(warp)))
		return 0;
	return group;
}

/* All lanes of the warp go to the barrier together, as a barrier instruction that is .aligned wants it; those that have
 * left do not count. */
INLINED void race_barrier_arrive(void)
{
	u32 group = __warpsafe_barrier_arrive();

	if (group)
		__warpsafe_arrive_others(group);
	warp_sync_all();
}

/* The same, by one call. */
SLOW void __warpsafe_arrive_by_call(void)
{
	arrive_together(activemask());
	warp_sync_all();
}

/* Who came here while it still counts as waiting has met others than those that are alive. */
SLOW void __warpsafe_pass_others(u32 group)
{
	u32 warp = warp_index();

	if (BLOCK.warps[warp].now & NOW_SCRUB)
		scrub(warp);
	if (!block_is_off(warp) && leads(group)) {
		if ((u32)(BLOCK.warps[warp].alive_arrived >> 32) & group)
			switch_off();
		if (BLOCK.list || BLOCK.unknown)
			learn_from_block(warp);
		if (clocks_meet())
			set_flags(warp, NOW_ACQUIRED);
	}
}

/* What is left for the lane: the lanes it has come with, or 0. It calls nothing. */
SLOW u32 __warpsafe_barrier(void)
{
	u32 group = activemask(), warp = warp_index();
	bool met = (u32)(BLOCK.warps[warp].alive_arrived >> 32) & group;
	bool learns = BLOCK.list || BLOCK.unknown || (clocks_meet() && !(BLOCK.warps[warp].now & NOW_ACQUIRED));

	return BLOCK.warps[warp].now & NOW_SCRUB || BLOCK.off || (leads(group) && (met || learns)) ? group : 0;
}

INLINED void race_barrier(void)
{
	u32 group = __warpsafe_barrier();

	if (group)
		__warpsafe_pass_others(group);
	warp_sync_all();
}

SLOW void __warpsafe_pass_by_call(void)
{
	u32 group = activemask();

	__warpsafe_pass_others(group);
	warp_sync_all();
}

enum { AFTER_SYNC = 31 << SUB_AT | NOW_FULL | NOW_LATER | NOW_SCRUB };

/* What a barrier asks of the warp's row. */
struct turn {
	u32 time;
	u64 now, alive_arrived;
};

HELPER struct turn load_turn(u32 row)
{
	struct turn t;

	t.time = shared_load32(row);
	asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];" : "=l"(t.now), "=l"(t.alive_arrived) :
		     "r"(row + (u32)__builtin_offsetof(struct warp, now)) : "memory");
	return t;
}

/* Has nothing but barriers moved the warp's time on? Then its epoch ends at once. No branches: all lanes ask it. */
HELPER bool ends_at_once(const struct turn *t)
{
	u32 low = (u32)t->now;

	return (t->now >> 32 != 0) & !(low & AFTER_SYNC) & (low < (EPOCHS - 1u) << EPOCH_AT) & !is_scrubbed_behind(t->time);
}

/* As leads, by the thread's `self`: the register of the lanes below takes longer to read. */
HELPER bool leads_as(u32 self, u32 group) { return !(group & ((1u << (self & 31)) - 1)); }

/* By one lane. It may be stopped meanwhile: then the time for cells goes on once more, which does no harm, for nothing is told of who has no `now`. */
HELPER void end_epoch(u32 row, const struct turn *t)
{
	shared_swap64(row + (u32)__builtin_offsetof(struct warp, now), t->now, t->now + (1ull << EPOCH_AT));
	shared_store32(row, t->time ? next_shared_epoch(t->time) : 0);
}

/* The whole warp is here. */
SLOW void __warpsafe_warp_arrived(void)
{
	u32 warp = warp_index();

	if (!block_is_off(warp))
		epoch_ends(warp);
}

/* As one copy, which calls nothing: lanes that a condition before it has parted come together here. (At the place of the barrier they do not: compilers give
 * it to each side of the condition.) One of them asks, for they may load at different times. 0: it is for the call; EPOCH_LEFT: for this lane the
 * epoch is still to end. */
enum { ARRIVED = 1, EPOCH_LEFT };
SLOW u32 __warpsafe_block_arrive(u32 self)
{
	struct turn t;

	warp_sync_all();
	t = load_turn(self & ~31u);
	if (t.alive_arrived >> 32)
		return 0;
	if (!leads_as(self, (u32)t.alive_arrived))
		return ARRIVED;
	if (!ends_at_once(&t))
		return EPOCH_LEFT;
	end_epoch(self & ~31u, &t);
	return ARRIVED;
}

INLINED u32 race_call_block_arrive(u32 self)
{
	u32 how = __warpsafe_block_arrive(self);

	if (how == EPOCH_LEFT)
		__warpsafe_warp_arrived();
	if (how)
		warp_sync_all();
	else
		__warpsafe_arrive_by_call();
	return self;
}

/* In kernels in which but barriers and syncs order anything, a barrier brings no news. All lanes of a warp that is here as a whole load and ask the same,
 * together, as the mask that is taken before says: a branch for one of them, or a load behind it, takes longer. Result: for race_block_pass,
 * 0: there is nothing to look at behind the barrier. */
INLINED u32 race_block_arrive(u32 self)
{
	u32 lanes = activemask();
	struct turn t = load_turn(self & ~31u);

	if ((t.alive_arrived != lanes) | !ends_at_once(&t))
		return race_call_block_arrive(self);
	if (leads_as(self, lanes))
		end_epoch(self & ~31u, &t);
	return 0;
}

/* Who came here while it still counts as waiting has met others than those that are alive. */
SLOW void __warpsafe_passed(void)
{
	u32 warp = warp_index();

	if (BLOCK.warps[warp].now & NOW_SCRUB)
		scrub(warp);
	if (BLOCK.warps[warp].alive_arrived >> 32 >> lane_index() & 1)
		switch_off();
}

/* look: what race_block_arrive gave. */
INLINED void race_block_pass(u32 look)
{
	struct turn t;

	if (!look)
		return;
	t = load_turn(look & ~31u);
	if ((u32)(t.alive_arrived >> 32) >> (look & 31) & 1 || t.now & NOW_SCRUB)
		__warpsafe_passed();
}

/* By one lane of the sync, while the others of it wait. Lanes may come from one sync in several groups if they are more
 * than the mask says; then time goes on more than once, and a race may be missed. */
SLOW void __warpsafe_sync_others(u32 lanes)
{
	u32 warp = warp_index(), alive = (u32)BLOCK.warps[warp].alive_arrived;
	bool full = (lanes & alive) == lanes_of_warp(warp);      /* who has left has not synchronized */

	if (block_is_off(warp))
		return;
	sync_hands_on();
	next_sub(warp, full);
	if (!full)
		record_sync(warp, lanes);
}

/* The next sub of a warp that has met as a whole, if that is all that there is to do. */
HELPER bool sub_ends_at_once(u32 self, const struct turn *t)
{
	u32 row = self & ~31u, warp = (self - self_of(0)) >> 5, begin = BLOCK.begins[warp], sub = sub_of(t->now);

	if (!t->now || sub == LAST_SUB || !begins_near(begin, t->now) || BLOCK.handed == HANDED_SOME)
		return false;
	set_full(warp, sub + 1 + (epoch_of(t->now) ? 0 : begin & BEGIN_FAR));
	if (shared_cas64(row + (u32)__builtin_offsetof(struct warp, now), t->now, in_next_sub(t->now)) != t->now)
		return false;
	next_shared_sub(warp);
	return true;
}

/* Is there more to do, for one of the lanes? It calls nothing. */
SLOW u32 __warpsafe_warp_sync(u32 self, u32 lanes)
{
	struct turn t = load_turn(self & ~31u);
	u32 group = lanes & (u32)t.alive_arrived;

	if (!leads_as(self, group))
		return 0;
	return (group != 0xffffffff && group != lanes_of_warp((self - self_of(0)) >> 5)) || !sub_ends_at_once(self, &t);
}

INLINED void race_warp_sync(u32 self, u32 lanes)
{
	if (__warpsafe_warp_sync(self, lanes))
		__warpsafe_sync_others(lanes);
	warp_sync(lanes);
}

/* As on the simulated GPU, for the block as a whole. */
INLINED void race_grid_waited(void)
{
	BLOCK.launch &= ~LAUNCH_EARLY;
}

#endif
