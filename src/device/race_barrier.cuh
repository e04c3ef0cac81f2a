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
	BLOCK.full[warp] = 0;
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
	warp_sync(lanes_of_warp(warp_index()));
	return shared_load64(at);
}

SLOW u64 __warpsafe_come_together(u32 at) { return come_together(at); }

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
	warp_sync(lanes_of_warp(warp_index()));
}

/* The same, by one call. */
SLOW void __warpsafe_arrive_by_call(void)
{
	arrive_together(activemask());
	warp_sync(lanes_of_warp(warp_index()));
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
	warp_sync(lanes_of_warp(warp_index()));
}

SLOW void __warpsafe_pass_by_call(void)
{
	u32 group = activemask();

	__warpsafe_pass_others(group);
	warp_sync(lanes_of_warp(warp_index()));
}

/* The whole warp is here. */
SLOW void __warpsafe_warp_arrived(void)
{
	u32 warp = warp_index();

	if (!block_is_off(warp))
		epoch_ends(warp);
}

enum { AFTER_SYNC = 31 << SUB_AT | NOW_FULL | NOW_LATER | NOW_SCRUB };

/* The same, by the warp's row, where nothing but barriers has moved its time on. It may be stopped meanwhile. False: it is for the call. */
HELPER bool end_epoch(u32 row)
{
	u32 at = row + __builtin_offsetof(struct warp, now), time = shared_load32(row);
	u64 now = shared_load64(at);

	if (!now || now & AFTER_SYNC || epoch_of(now) == EPOCHS - 1 || is_scrubbed_behind(time))
		return false;
	shared_swap64(at, now, now + (1ull << EPOCH_AT));
	shared_store32(row, time ? next_shared_epoch(time) : 0);
	if (!shared_load64(at))
		shared_store32(row, 0);
	return true;
}

HELPER void load_times(u32 row, u64 *now, u64 *alive_arrived)
{
	asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];" : "=l"(*now), "=l"(*alive_arrived) :
		     "r"(row + (u32)__builtin_offsetof(struct warp, now)) : "memory");
}

/* In kernels in which but barriers and syncs order anything, a barrier brings no news. */
INLINED void race_block_arrive(u32 self)
{
	u32 row = self & ~31u, at = row + (u32)__builtin_offsetof(struct warp, alive_arrived);
	u64 alive = shared_load64(at);

	if (activemask() != alive)
		alive = __warpsafe_come_together(at);
	if (alive >> 32) {
		__warpsafe_arrive_by_call();
		return;
	}
	if (leads((u32)alive) && !end_epoch(row))
		__warpsafe_warp_arrived();
	warp_sync((u32)alive);
}

/* The same as one copy. (The one above is not made of this: at the place that takes 4 % more instructions, and a form like it took 75 ms for 51 on
 * an H100, in a kernel with many barriers.) It calls nothing: the warp's lanes, with EPOCH_LEFT for one of them if the epoch is still to end; 0: all is left. */
#define EPOCH_LEFT (1ull << 32)
SLOW u64 __warpsafe_block_arrive(u32 self)
{
	u32 row = self & ~31u;
	u64 alive = alive_together(row + (u32)__builtin_offsetof(struct warp, alive_arrived));

	if (alive >> 32)
		return 0;
	return leads((u32)alive) && !end_epoch(row) ? alive | EPOCH_LEFT : alive;
}

INLINED void race_call_block_arrive(u32 self)
{
	u64 lanes = __warpsafe_block_arrive(self);

	if (!lanes) {
		__warpsafe_arrive_by_call();
		return;
	}
	if (lanes & EPOCH_LEFT)
		__warpsafe_warp_arrived();
	warp_sync((u32)lanes);
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

INLINED void race_block_pass(u32 self)
{
	u64 now, alive;

	load_times(self & ~31u, &now, &alive);
	if ((u32)(alive >> 32) >> (self & 31) & 1 || now & NOW_SCRUB)
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

/* The next sub of a warp that has met as a whole in its first segment, if that is all that there is to do. */
HELPER bool sub_ends_at_once(u32 warp)
{
	u64 old = BLOCK.warps[warp].now;

	if (!old || sub_of(old) == LAST_SUB || segment_of(old) != BLOCK.first + warp || BLOCK.handed == HANDED_SOME)
		return false;
	shared_max32(IN_SHARED(__warpsafe_block.full[warp]), sub_of(old) + 1);
	if (cas_now(warp, old, in_next_sub(old)) != old)
		return false;
	next_shared_sub(warp);
	return true;
}

/* Is there more to do, for one of the lanes? It calls nothing. */
SLOW u32 __warpsafe_warp_sync(u32 lanes)
{
	u32 warp = warp_index(), alive = (u32)BLOCK.warps[warp].alive_arrived;

	if (lanes & alive & lanes_below())
		return 0;
	return BLOCK.off || (lanes & alive) != lanes_of_warp(warp) || !sub_ends_at_once(warp);
}

INLINED void race_warp_sync(u32 lanes)
{
	if (__warpsafe_warp_sync(lanes))
		__warpsafe_sync_others(lanes);
	warp_sync(lanes);
}

/* As on the simulated GPU, for the block as a whole. */
INLINED void race_grid_waited(void)
{
	BLOCK.launch &= ~LAUNCH_EARLY;
}

#endif
