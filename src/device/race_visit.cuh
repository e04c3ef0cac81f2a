/* race_visit.cuh - how long the shared memory of another block lives (race.cu). It may be accessed only after that block has
 * begun and before it ends (CUDA C++ Programming Guide, Distributed Shared Memory): an access must be behind something that
 * the block did, and the block's end behind the access.
 *
 * Each warp of each block of the cluster has an entry for its last visit, in the owner's slot, in place of the cells of the
 * block's variable. The owner looks at them when it ends; who comes later sees that it has ended. */
#ifndef WS_RACE_VISIT_CUH
#define WS_RACE_VISIT_CUH

#include "race_memory.cuh"

/* A visit: time | class 4 | 0 3 | writes 1 | site 13. */
enum { MOST_RANKS = 16, VISIT_WRITES_AT = 13 };
static_assert(8 * MOST_RANKS * WARPS <= 4 * sizeof(struct block), "its cells have room for it");

/* Of a slot, number + 1; 0 = the own one. */
HELPER u64 visit_at(u32 slot, u32 rank, u32 warp)
{
	return shared_cell((u64)slot << 32 | (u32)IN_SHARED(__warpsafe_block)) + 8 * (rank % MOST_RANKS * WARPS + warp);
}

HELPER void report_end(u64 visit, u64 now, u32 flags)
{
	bool writes = visit >> VISIT_WRITES_AT & 1;
	u32 cls = (u32)visit >> W_CLASS_AT & 15, site = (u32)visit & (W_SITES - 1);
	u64 old = visit >> SUB_AT << SUB_AT;

	old |= writes ? cls << W_CLASS_AT | site : cls << R_CLASS_AT | site % R_SITES;
	__warpsafe_report(0, (writes ? WS_RACE_WRITE_AFTER_WRITE : WS_RACE_WRITE_AFTER_READ) | 1 << 2 | flags / WS_RACE_LIFETIME_BEGINS << 11, old, now,
			  WS_RACE_SPACE(WS_RACE_SHARED) | WS_RACE_BYTES(1), 0);
}

/* race_remote.cuh: the same of a visit by an operation. */
SLOW void __warpsafe_check_operation(u64 visit, u64 now);

/* Does a thread of the block know of a visit? By the last one that leaves. */
HELPER void check_visit(u64 visit, u32 warp)
{
	u64 now = BLOCK.warps[warp].now;
	struct place o = place_of(visit), m = place_of(now);
	struct row near;
	u32 known = (u32)now & (NOW_ACQUIRED | NOW_UNKNOWN);

	if (!visit || o.grid != BLOCK.grid || o.block == BLOCK.block)
		return;
	if (REMOTE && is_copy(visit)) {
		__warpsafe_check_operation(visit, now);
		return;
	}
	near = row_in_cluster(o.block);
	if (!near.cluster || before_in_cluster(&near, o.epoch))
		return;
	if (known & NOW_ACQUIRED && !(known & NOW_UNKNOWN) &&
	    __warpsafe_before(o.block, o.warp * 32 + lane_of(visit), o.epoch, o.sub, m.epoch, warp, 0) == ORDERED)
		return;
	for (u32 w = 0; w < BLOCK.nwarps; w++)
		known |= BLOCK.lists[w];         /* others may know */
	if (known)
		global_add(COUNTS(undecided), 1);
	else
		report_end(visit, now, WS_RACE_LIFETIME_ENDS);
}

SLOW void __warpsafe_check_visits(void)
{
	u32 n = cluster_blocks(), warp = warp_index();

	store32(row_at(BLOCK.block) + ROW_ENDED, 1);
	fence_gpu();
	for (u32 rank = 0; rank < n; rank++)
		for (u32 w = 0; w < BLOCK.nwarps && BLOCK.warps[warp].now; w++)
			check_visit(load64(visit_at(0, rank, w)), warp);
}

HELPER void forget_visits(void)
{
	for (u32 n = thread_index(); n < MOST_RANKS * WARPS; n += threads_of_block())
		store64(visit_at(0, 0, 0) + 8 * n, 0);
}

/* ---- the visitor ---- */
/* Is something that the block of a rank did before what the thread does now? */
HELPER u32 has_begun(u32 block, u32 rank, u32 warp)
{
	u32 known = (u32)BLOCK.warps[warp].now & (NOW_ACQUIRED | NOW_UNKNOWN), thread = thread_index(), bit = 1u << (16 + rank), seen;

	if (BLOCK.passed)
		return ORDERED;
	if (!known)
		return UNORDERED;
	if (known & NOW_UNKNOWN || !BLOCK.threads)
		return UNDECIDED;
	want_state(thread);
	seen = own_load32(THREAD(thread, cluster_phase));
	if (seen & bit)
		return ORDERED;
	if (__warpsafe_before(block, 0, 0, 0, place_of(BLOCK.warps[warp].now).epoch, warp, 0) != ORDERED)
		return UNDECIDED;
	own_store32(THREAD(thread, cluster_phase), seen | bit);
	return ORDERED;
}

/* time: of an operation's entry (race_remote.cuh); 0 = it is now. */
HELPER void visit(u64 address, u32 what, u32 site, u32 writes, u32 ranks, u32 slot, u64 time)
{
	u32 warp = warp_index(), rank = ranks & 0xffff, block = block_of_rank(rank), v;
	u64 now = BLOCK.warps[warp].now, at, visit;

	if (!now || BLOCK.off)
		return;
	if (!(now & NOW_ENTERED))
		set_flags(warp, NOW_ENTERED);
	v = has_begun(block, rank, warp);
	if (v == UNDECIDED)
		count_threads(COUNTS(undecided));
	else if (v == UNORDERED)
		__warpsafe_report(address, (writes ? WS_RACE_WRITE_AFTER_WRITE : WS_RACE_READ_AFTER_WRITE) |
				  bytes_of((u32)address, WS_RACE_BYTES_OF(what)) << 2 | 1 << 11,
				  (u64)(BLOCK.lowest + block * BLOCK.nwarps) << SEGMENT_AT, now, what, site);
	if (!slot)
		return;
	at = visit_at(slot, ranks >> 16, warp);
	visit = (time ? time : access_of(now, what, site).time) | WS_RACE_CLASS_OF(what) << W_CLASS_AT | writes << VISIT_WRITES_AT |
		(site & (W_SITES - 1));
	if (!((load64(at) ^ visit) >> SUB_AT & ~(31ull << (LANE_AT - SUB_AT))))
		return;
	store64(at, visit);
	fence_gpu();
	if (load32(row_at(block) + ROW_ENDED))
		report_end(visit, now, WS_RACE_LIFETIME_ENDS | WS_RACE_LIFETIME_ENDED);
}

/* An access to the block of a rank, which has that slot (0: it has not begun). ranks: that one, and above it the visitor's block's. */
SLOW void __warpsafe_visit(u64 address, u32 what, u32 site, u32 writes, u32 ranks, u32 slot)
{
	visit(address, what, site, writes, ranks, slot, 0);
}

#endif
