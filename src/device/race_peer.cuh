/* race_peer.cuh - the hooks of kernels that know of clusters (race.cu; race_cluster.cuh has what they leave). Only here are
 * instructions of sm_90.
 *
 * Where all threads wait at a barrier of the cluster at once when they have arrived, it ends an epoch, and what is in the row
 * suffices for kernels without releases and acquires. In others each block releases at a word that stands for the barrier, and
 * each warp acquires there, so that what was learned otherwise is handed on. Where there is something between arrival and
 * wait, or an arrival is relaxed, it is done by releases and acquires alone.
 *
 * Addresses of another block's shared memory are made offsets there, with number + 1 of that block's slot above them. */
#ifndef WS_RACE_PEER_CUH
#define WS_RACE_PEER_CUH

SPECIAL(cluster_x, "%%cluster_ctaid.x")
SPECIAL(cluster_y, "%%cluster_ctaid.y")
SPECIAL(cluster_z, "%%cluster_ctaid.z")
SPECIAL(cluster_size_x, "%%cluster_nctaid.x")
SPECIAL(cluster_size_y, "%%cluster_nctaid.y")
SPECIAL(cluster_size_z, "%%cluster_nctaid.z")
SPECIAL(cluster_rank, "%%cluster_ctarank")

/* ---- beginning ---- */
HELPER void begin_cluster(u32 peers)
{
	u32 x = block_x() - cluster_x(), y = block_y() - cluster_y(), z = block_z() - cluster_z();

	BLOCK.shape = cluster_size_x() | cluster_size_y() << SHAPE_BITS | cluster_size_z() << 2 * SHAPE_BITS | (peers ? PEERS : 0);
	BLOCK.cluster = 1 + x + blocks_x() * (y + blocks_y() * z);
	asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %2, %3};" : : "l"(row_at(BLOCK.block)), "r"(0),
		     "r"(BLOCK.slot ? BLOCK.slot_number + 1 : 0), "r"(BLOCK.cluster) : "memory");
	fence_gpu();
}

/* Of a block that does not know where the others' rows are nothing is known but its own epochs. */
SLOW void __warpsafe_cluster(u32 peers)
{
	u32 t = thread_index(), warp = t >> 5;

	if (peers && !BLOCK.off && BLOCK.slot)
		forget_visits();
	if (REMOTE && !BLOCK.off && BLOCK.threads)
		want_state(t);                   /* other blocks look there */
	fence_gpu();
	warp_sync_all();
	asm volatile("bar.sync 0;" : : : "memory");
	if (!t && !BLOCK.off && BLOCK.lowest && BLOCK.range > BLOCK.nwarps * blocks_x() * blocks_y() * blocks_z())
		begin_cluster(peers);
	warp_sync_all();
	asm volatile("bar.sync 0;" : : : "memory");
	if (!BLOCK.off && !BLOCK.cluster && !(t & 31))
		unknown_from_here(warp);
	warp_sync_all();
}

INLINED void race_cluster(u32 peers)
{
	__warpsafe_cluster(peers);
}

/* ---- barriers of the cluster ---- */
enum { CLUSTER_WHAT = WS_RACE_CLASS(WS_RACE_STRONG_GPU) | WS_RACE_SPACE(WS_RACE_GLOBAL) | WS_RACE_BYTES(4) };

/* A word of ours that stands for the barrier. */
HELPER u64 cluster_word(u32 nth) { return row_at(BLOCK.cluster - 1) + ROW_WORDS + 4 * (nth & 1); }

/* Has the warp learned nothing since it passed the last one? */
HELPER bool has_no_news(u32 warp)
{
	u32 head = BLOCK.lists[warp];
	struct record r;

	if (!head)
		return true;
	r = load_record(head);
	return kind_of(&r) == REC_ACQUIRE && r.full == number_of_word(location_of(location_key(cluster_word(BLOCK.passed), CLUSTER_WHAT), false));
}

/* Before the barrier begins `epoch`. first: of the block's warps. */
HELPER void release_to_cluster(u32 warp, u32 epoch, bool first)
{
	struct record r = { .epoch = epoch, .block = BLOCK.block, .grid = BLOCK.grid };

	if (!first && has_no_news(warp))
		return;
	r.kind = REC_RELEASE | lane_index() << 8 | warp << 16 | WS_RACE_STRONG_GPU << 24;
	r.what = BLOCK.lists[warp];
	release(location_key(cluster_word(BLOCK.arrived), CLUSTER_WHAT), &r, false);
}

/* The first lane of the block's that comes to the barrier. */
HELPER bool begins_barrier(u32 epoch)
{
	u32 n;

	if (shared_max32(IN_SHARED(__warpsafe_block.arrived_epoch), epoch) >= epoch)
		return false;
	n = BLOCK.arrived + 1;
	BLOCK.arrived = n;
	store32(row_at(BLOCK.block) + 4 * (n & 1), epoch);
	return true;
}

SLOW void __warpsafe_cluster_arrive(u32 ordering)
{
	u32 group = activemask(), warp = warp_index();
	bool first;

	if (!block_is_off(warp) && leads(group)) {
		u64 now = BLOCK.warps[warp].now;
		u32 epoch = place_of(now).epoch + 1;

		if (now && BLOCK.cluster) {
			first = begins_barrier(epoch);
			if (ordering)
				release_to_cluster(warp, epoch, first);
		}
		come(warp, group, false);
	}
	fence_gpu();
	warp_sync_all();
}

INLINED void race_cluster_arrive(u32 ordering)
{
	__warpsafe_cluster_arrive(ordering);
}

/* Another warp may have come to the next one already. */
HELPER u32 barrier_passed(u32 warp)
{
	u32 epoch = place_of(BLOCK.warps[warp].now).epoch, n = BLOCK.arrived;

	return n - (BLOCK.arrived_epoch != epoch);
}

SLOW void __warpsafe_cluster_pass(u32 ordering)
{
	u32 group = activemask(), warp = warp_index();

	if (BLOCK.warps[warp].now & NOW_SCRUB)
		scrub(warp);
	if (!block_is_off(warp) && leads(group) && BLOCK.warps[warp].now) {
		if ((u32)(BLOCK.warps[warp].alive_arrived >> 32) & group)
			switch_off();
		if (BLOCK.list || BLOCK.unknown)
			learn_from_block(warp);
		if (BLOCK.cluster) {
			u32 nth = barrier_passed(warp);

			shared_max32(IN_SHARED(__warpsafe_block.passed), nth);
			if (ordering) {
				acquire_at(warp, location_key(cluster_word(nth), CLUSTER_WHAT), WS_RACE_STRONG_GPU);
				next_sub(warp, true);
			}
		}
	}
	warp_sync_all();
}

INLINED void race_cluster_pass(u32 ordering)
{
	__warpsafe_cluster_pass(ordering);
}

/* ---- the same, where threads do something else meanwhile ----
 * Each lane for itself: it need not come with others. A thread's phases are counted in its state. */
HELPER u64 cluster_phase_word(u32 thread, bool arrives)
{
	u32 n = own_load32(THREAD(thread, cluster_phase)) + arrives;

	if (arrives)
		own_store32(THREAD(thread, cluster_phase), n);
	return cluster_word(n & 0xffff);         /* the rest: has_begun */
}

SLOW void __warpsafe_cluster_release(u32 what)
{
	u32 thread = thread_index(), warp = thread >> 5;
	u64 fence, word;

	if (BLOCK.off || !BLOCK.cluster)
		return;
	if (!BLOCK.threads || !BLOCK.warps[warp].now) {
		launch_is_incomplete(BLOCK.grid);
		return;
	}
	want_state(thread);
	word = cluster_phase_word(thread, true);
	fence = own_load64(THREAD(thread, fence));
	sync_hands_on();
	if (what & WS_RACE_RELEASES)
		next_sub(warp, false);
	if (fence || what & WS_RACE_RELEASES)
		release_all(word, CLUSTER_WHAT | what, thread, fence, false);
}

INLINED void race_cluster_release(u32 what)
{
	__warpsafe_cluster_release(what);
}

SLOW void __warpsafe_cluster_acquire(void)
{
	u32 thread = thread_index(), warp = thread >> 5;
	struct found f;

	if (BLOCK.off || !BLOCK.cluster || !BLOCK.warps[warp].now)
		return;
	if (!BLOCK.threads || is_incomplete(BLOCK.grid)) {
		unknown_from_here(warp);
		return;
	}
	want_state(thread);
	f = released_at(location_key(cluster_phase_word(thread, false), CLUSTER_WHAT));
	if (!f.release)
		return;
	will_hand_on();
	acquire(thread, &f, WS_RACE_STRONG_GPU);
}

INLINED void race_cluster_acquire(void)
{
	__warpsafe_cluster_acquire();
}

/* ---- shared memory of other blocks ---- */
HELPER u32 rank_of(u32 address)
{
	u32 rank;

	asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(address));
	return rank;
}

HELPER u32 at_rank(u32 address, u32 rank)
{
	u32 there;

	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
	return there;
}

HELPER u32 to_cluster(u64 address)
{
	u64 v;

	asm("cvta.to.shared::cluster.u64 %0, %1;" : "=l"(v) : "l"(address));
	return (u32)v;
}

/* Makes an address of shared memory an offset, of the own block or of another one. False: there is nothing to check, or the other
 * block has not begun. */
#define IS_PEER (1u << 31)
HELPER bool find_owner(u64 *address, u32 *what, u32 *ranks, u32 *slot)
{
	u32 space = WS_RACE_SPACE_OF(*what), at = (u32)*address, base = (u32)IN_SHARED(__warpsafe_block), rank;
	struct row owner;

	*ranks = *slot = 0;
	if (space != WS_RACE_CLUSTER && (space != WS_RACE_GENERIC || !is_shared_cluster(*address)))
		return true;
	if (space == WS_RACE_GENERIC)
		at = to_cluster(*address);
	*what ^= WS_RACE_SPACE(space) ^ WS_RACE_SPACE(WS_RACE_SHARED);
	rank = rank_of(at);
	if (rank == cluster_rank())
		*address = (at & SHARED_OFFSETS) | (base & ~(u32)SHARED_OFFSETS);
	else
		*address = (at - at_rank(base, rank) + base) & SHARED_OFFSETS;
	if (rank == cluster_rank() || BLOCK.off)
		return true;
	if (!BLOCK.cluster) {
		count_threads(COUNTS(not_checked[WS_RACE_NO_SEGMENT]));
		return false;
	}
	*ranks = IS_PEER | cluster_rank() << 16 | rank;
	owner = row_of(block_of_rank(rank));
	*slot = owner.cluster == BLOCK.cluster ? owner.slot : 0;
	*address |= (u64)*slot << 32;
	return true;
}

/* Where a write stands before which the word is looked at, so the block is still there if the program may write. */
SLOW u32 __warpsafe_peer_bytes_at(u64 word, u32 bytes)
{
	u32 base = (u32)IN_SHARED(__warpsafe_block), at = ((u32)word & SHARED_OFFSETS) | (base & ~(u32)SHARED_OFFSETS), rank = 0, v = 0, one;

	while (rank + 1 < cluster_blocks() && row_of(block_of_rank(rank)).slot != (u32)(word >> 32))
		rank++;
	for (u32 k = 0; k < 4; k++)
		if (bytes >> k & 1) {
			asm volatile("ld.volatile.shared::cluster.u8 %0, [%1];" : "=r"(one) : "r"(at_rank(at + k, rank)) : "memory");
			v |= one << 8 * k;
		}
	return v;
}

/* The same for an access. */
HELPER bool begin_peer_access(u64 *address, u32 *what, u32 site, u32 writes)
{
	u32 ranks, slot;

	if (!find_owner(address, what, &ranks, &slot))
		return false;
	if (!(ranks & IS_PEER))
		return true;
	__warpsafe_visit(*address, *what, site, writes, ranks & ~IS_PEER, slot);
	if (!slot)
		count_threads(COUNTS(not_checked[WS_RACE_NO_SLOT]));
	return slot;
}

SLOW void __warpsafe_peer_read(u64 address, u32 what, u32 site)
{
	if (begin_peer_access(&address, &what, site, 0))
		__warpsafe_read(address, what, site);
}

SLOW void __warpsafe_peer_write(u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	if (begin_peer_access(&address, &what, site, 1))
		__warpsafe_write(address, what, site, v0, v1);
}

SLOW void __warpsafe_peer_atomic(u64 address, u32 what, u32 site)
{
	if (begin_peer_access(&address, &what, site, 1))
		__warpsafe_atomic(address, what, site);
}

/* Compare-and-swap (race_swap.cuh). Behind one to another block's memory that block may have ended, if it has seen what was written: so there
 * it is a read, before it, whatever it does. False: that is so. */
HELPER bool begin_own_swap(u64 *address, u32 *what)
{
	u32 ranks, slot;

	return find_owner(address, what, &ranks, &slot) && !(ranks & IS_PEER);
}

SLOW void __warpsafe_peer_swap(u64 address, u32 what, u32 site)
{
	u64 own = address;
	u32 own_what = what;

	if (!begin_own_swap(&own, &own_what) && begin_peer_access(&address, &what, site, 1))
		__warpsafe_not_swapped(address, what, site);
}

SLOW u64 __warpsafe_peer_swap_entry(u64 address, u32 what, u32 n)
{
	return begin_own_swap(&address, &what) ? __warpsafe_swap_entry(address, what, n) : 0;
}

SLOW void __warpsafe_peer_swapped(u64 address, u32 what, u32 site, u64 w, u64 r)
{
	if (begin_own_swap(&address, &what))
		__warpsafe_swapped(address, what, site, w, r);
}

SLOW void __warpsafe_peer_not_swapped(u64 address, u32 what, u32 site)
{
	if (begin_own_swap(&address, &what))
		__warpsafe_not_swapped(address, what, site);
}

INLINED void race_peer_swap(u64 address, u32 what, u32 site)
{
	__warpsafe_peer_swap(address, what, site);
}

INLINED u64 race_peer_swap_w(u64 address, u32 what)
{
	return __warpsafe_peer_swap_entry(address, what, 0);
}

INLINED u64 race_peer_swap_r(u64 address, u32 what)
{
	return __warpsafe_peer_swap_entry(address, what, 1);
}

INLINED void race_peer_swapped(u64 address, u32 what, u32 site, u64 w, u64 r)
{
	__warpsafe_peer_swapped(address, what, site, w, r);
}

INLINED void race_peer_not_swapped(u64 address, u32 what, u32 site)
{
	__warpsafe_peer_not_swapped(address, what, site);
}

SLOW void __warpsafe_peer_release(u64 address, u32 what)
{
	u32 ranks, slot;

	if (find_owner(&address, &what, &ranks, &slot) && (slot || !(ranks & IS_PEER)))
		__warpsafe_release(address, what);
}

SLOW void __warpsafe_peer_acquire(u64 address, u32 what)
{
	u32 ranks, slot;

	if (find_owner(&address, &what, &ranks, &slot) && (slot || !(ranks & IS_PEER)))
		__warpsafe_acquire(address, what);
}

INLINED void race_peer_read(u64 address, u32 what, u32 site)
{
	__warpsafe_peer_read(address, what, site);
}

INLINED void race_peer_write(u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	__warpsafe_peer_write(address, what, site, v0, v1);
}

INLINED void race_peer_atomic(u64 address, u32 what, u32 site)
{
	__warpsafe_peer_atomic(address, what, site);
}

INLINED void race_peer_release(u64 address, u32 what)
{
	__warpsafe_peer_release(address, what);
}

INLINED void race_peer_acquire(u64 address, u32 what)
{
	__warpsafe_peer_acquire(address, what);
}

#endif
