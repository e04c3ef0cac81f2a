/* race_async.cuh - the hooks of asynchronous copies and mbarrier objects (race.cu; race_copy.cuh has the rules). */
#ifndef WS_RACE_ASYNC_CUH
#define WS_RACE_ASYNC_CUH

/* Has the thread what it needs for copies? If not, they are counted as not checked. */
HELPER bool can_copy(u32 thread)
{
	if (!BLOCK.warps[thread >> 5].now) {
		__warpsafe_unchecked();
		return false;
	}
	if (!BLOCK.threads || !BLOCK.copies) {
		count_threads(BLOCK.threads ? COUNTS(not_checked[WS_RACE_NO_SEGMENT]) : COUNTS(not_checked[WS_RACE_NO_SLOT]));
		return false;
	}
	want_state(thread);
	return true;
}

/* The time of an entry for a cell that is not in shared memory. */
HELPER u64 time_of_copy(u32 thread, u32 number)
{
	return (u64)(BLOCK.copies + (thread >> 5)) << SEGMENT_AT | (u64)(thread & 31) << LANE_AT |
	       (u64)(number % CELL_NUMBERS) << SUB_AT;
}

/* What my read takes the place of: nothing, or what is before it; a read of a launch that may overlap mine; another one. */
enum displaced { NO_READ, READ_OF_LAUNCH, ANOTHER_READ };

/* R after the copy's read. An entry has one reader, or says of global memory that several blocks have read. */
HELPER u64 after_copy_read(u64 r, const struct me *m, u64 mine, u32 *displaced)
{
	bool global = !SM90 || WS_RACE_SPACE_OF(m->what) == WS_RACE_GLOBAL;

	*displaced = NO_READ;
	if (global && !r_class(r) && !is_of_past(r) && blocks_have_read(r, BLOCK.grid))
		return r;
	if (!segment_of(r) || is_own_copy(r) || verdict(r, r_class(r), r_several(r), m) == ORDERED)
		return mine;
	if (global && other_launch(r)) {
		*displaced = READ_OF_LAUNCH;
		return mine;
	}
	if (global && beginning(segment_of(r)).block != BLOCK.block && r_mask(r) == 15)
		return with_readers((mine & ~(3ull << R_SEVERAL_AT)) | (u64)BLOCKS << R_SEVERAL_AT, r);
	*displaced = ANOTHER_READ;
	return mine;
}

/* R as it was and as it is. */
struct entered_read { u64 was, is; u32 displaced; };

/* False: the word is passed over, or its bytes have cells: these are for threads' own accesses. */
HELPER bool enter_copy_read(const struct word *d, const struct me *m, u64 mine, struct entered_read *e)
{
	u64 w, has;

	load_cell(d->cell, &w, &e->was);
	if (is_parts(w))
		count_threads(COUNTS(undecided));
	if (is_parts(w) || is_passed_over(w, BLOCK.grid))
		return false;
	while ((e->is = after_copy_read(e->was, m, mine, &e->displaced)) != e->was) {
		has = cas64(d->cell + 8, e->was, e->is);
		if (has == e->was)
			break;
		e->was = has;
	}
	if (e->displaced != NO_READ)
		count_threads(e->displaced == ANOTHER_READ ? COUNTS(lost) : COUNTS(readers));
	return true;
}

HELPER void copy_reads_word(const struct word *d, const struct me *m, u64 mine)
{
	struct entered_read e;
	u64 w;

	if (!enter_copy_read(d, m, mine, &e))
		return;
	w = load64(d->cell);
	judge_read(d, m, w);
}

/* `bytes` from an address on, which is one of a word. */
HELPER void copy_reads(u32 thread, u64 address, u32 bytes, u32 number, u32 site)
{
	struct me m = access_of(BLOCK.warps[thread >> 5].now, WS_RACE_BYTES(4) | WS_RACE_SPACE(WS_RACE_GLOBAL), site);
	struct word d;

	#pragma nounroll
	for (; bytes; bytes = bytes > 4 ? bytes - 4 : 0, address += 4) {
		if (!find_word(address, &m, ATOMIC, &d))
			continue;
		d.bytes = bytes >= 4 ? 15 : bytes_of(0, bytes);
		copy_reads_word(&d, &m, time_of_copy(thread, number) | (u64)d.bytes << R_BYTES_AT | (site & (R_SITES - 1)));
	}
}

HELPER void copy_writes_here(const struct word *d, const struct me *m, const struct here *h, u32 number)
{
	u32 at = w_cell(h, (u32)d->address);
	u32 low = self_of_me(m) << THREAD_AT | (u32)SHARED_COPY | 15u << W_BYTES_AT | (m->site & (W_SITES - 1));
	u64 w = shared_exchange64(at, pair(low, COPY_TIME | number % NUMBERS));

	check_shared_write(d, m, h, w, shared_load64(at + h->reads), &unknown);
}

HELPER void copy_writes_slot(const struct word *d, const struct me *m, u32 thread, u32 number)
{
	u64 w = exchange64(d->cell, time_of_copy(thread, number) | 15ull << W_BYTES_AT | (m->site & (W_SITES - 1)));

	check_write(d, m, w, load64(d->cell + 8), &unknown);
}

HELPER void copy_writes(u32 thread, u64 address, u32 bytes, u32 number, u32 site)
{
	struct me m = access_of(BLOCK.warps[thread >> 5].now, WS_RACE_BYTES(4) | WS_RACE_SPACE(WS_RACE_SHARED), site);
	struct here h = here(self_of(thread & ~31u));
	struct word d;

	#pragma nounroll
	for (u32 n = bytes / 4; n; n--, address += 4) {
		if (!find_word(address, &m, ATOMIC, &d))
			continue;
		if (cells_are_here(&m))
			copy_writes_here(&d, &m, &h, number);
		else
			copy_writes_slot(&d, &m, thread, number);
	}
}

/* Of the thread's copies to come, until it commits them. */
HELPER u32 copy_number(u32 thread) { return load32(THREAD(thread, number)) | (SM90 ? COPY_BOTH : 0); }

/* What it reads alone, where a probe has found nothing of the rest. */
SLOW void __warpsafe_copy_read(u64 from, u32 reads, u32 site)
{
	u32 thread = thread_index();

	if (can_copy(thread))
		copy_reads(thread, from, reads, copy_number(thread), site);
}

INLINED void race_copy_read(u64 from, u32 reads, u32 site)
{
	__warpsafe_copy_read(from, reads, site);
}

/* site: of the read; that of the write follows. */
SLOW void __warpsafe_copy(u64 to, u64 from, u32 bytes, u32 reads, u32 site)
{
	u32 thread = thread_index(), number;

	if (!can_copy(thread))
		return;
	number = copy_number(thread);
	copy_reads(thread, from, reads < bytes ? reads : bytes, number, site);
	copy_writes(thread, to, bytes, number, site + 1);
}

INLINED void race_copy(u64 to, u64 from, u32 bytes, u32 reads, u32 site)
{
	__warpsafe_copy(to, from, bytes, reads, site);
}

/* In a probe: what it writes. */
SLOW void __warpsafe_probe_copy(u32 self, u64 address, u32 what)
{
	u32 thread = self - self_of(0), bytes = WS_RACE_BYTES_OF(what);
	struct here h = here(self);

	if (address >> 32 || !probe_is_inside(&h, (u32)address, bytes) || !can_copy(thread))
		BLOCK.failed = 1;
	else
		copy_writes(thread, address, bytes, copy_number(thread), 0);
}

INLINED void race_probe_copy(u32 self, u64 address, u32 what)
{
	__warpsafe_probe_copy(self, address, what);
}

HELPER bool has_slot_for_copies(void) { return !BLOCK.off && BLOCK.copies && BLOCK.threads; }

HELPER bool has_copies(u32 thread)
{
	return has_slot_for_copies() && has_state(thread);
}

SLOW void __warpsafe_copy_commit(void)
{
	if (has_copies(thread_index()))
		commit(thread_index());
}

INLINED void race_copy_commit(void)
{
	__warpsafe_copy_commit();
}

SLOW void __warpsafe_copy_wait(u32 n)
{
	if (has_copies(thread_index()))
		wait_for_groups(thread_index(), n, WAIT_GROUPS);
}

INLINED void race_copy_wait(u32 n)
{
	__warpsafe_copy_wait(n);
}

/* ---- mbarrier objects ---- */
enum { OBJECT_WORDS = 0x80000, EITHER_PARITY = 2 };      /* addresses beyond all shared memory */
/* In place of a parity: what another block has released, which cannot ask for the phase (race_remote.cuh). */
enum { ANY_PHASE = 2, PHASES = REMOTE ? 3 : 2 };
enum { OBJECT_SCOPE = REMOTE ? WS_RACE_STRONG_CLUSTER : WS_RACE_STRONG_CTA };
enum { OBJECT_WHAT = WS_RACE_CLASS(OBJECT_SCOPE) | WS_RACE_SPACE(WS_RACE_SHARED) | WS_RACE_BYTES(4) };

HELPER u64 object_word(u64 address, u32 phase)
{
	return OBJECT_WORDS | (address & 0x3fff8) | (REMOTE && phase == ANY_PHASE ? 0x40004 : phase << 2);
}

/* The parity of the phase that is not complete. */
HELPER u32 parity_now(u64 address)
{
	u32 odd;

	asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
		     : "=r"(odd) : "l"(address) : "memory");
	return odd;
}

#include "race_meeting.cuh"

/* By lanes that arrive together, each for itself: those at the same object are as one. */
HELPER void arrive_by_clocks(u64 address)
{
	u32 parity = parity_now(address), lanes = same_object(address << 1 | parity);

	if (leads(lanes))
		next_sub(warp_index(), false);
	warp_sync(lanes);
	__warpsafe_clock_release(key_of_object(address), parity, lanes);
}

/* Before the arrival: so far the phase cannot be complete. One that is relaxed releases what came before the last fence.
 * peer: the object is another block's. */
HELPER void arrive(u64 address, u32 what, u32 thread, bool peer)
{
	u64 fence = 0, slot = peer ? address >> 32 << 32 : 0;

	if (!BLOCK.threads || !BLOCK.warps[thread >> 5].now) {
		launch_is_incomplete(BLOCK.grid);
		return;
	}
	if (has_clocks()) {
		arrive_by_clocks(address);
		return;
	}
	if (what & WS_RACE_RELEASES)
		next_sub(thread >> 5, false);
	else if (has_state(thread))
		fence = own_load64(THREAD(thread, fence));
	if (fence || what & WS_RACE_RELEASES)
		release_all(object_word(address, peer ? (u32)ANY_PHASE : parity_now(address)) | slot, OBJECT_WHAT | (what & WS_RACE_RELEASES),
			    thread, fence, false);
}

SLOW void __warpsafe_object_arrive(u64 address, u32 what)
{
	u32 thread = thread_index();

	if (!BLOCK.off && find_space(&address, &what))
		arrive(address, what, thread, false);
}

INLINED void race_object_arrive(u64 address, u32 what)
{
	__warpsafe_object_arrive(address, what);
}

/* What was copied so far is complete for who acquires this, or for whom the block meets there. The thread has copies. */
HELPER void copies_arrive(u32 thread, u64 address, u32 what)
{
	if (is_meeting(address)) {
		note_copied(thread, address, next_number(thread));
		return;
	}
	note_wait(thread, next_number(thread), WAIT_OBJECT, 0);
	arrive(address, what, thread, false);
}

SLOW void __warpsafe_copy_arrive(u64 address, u32 what)
{
	u32 thread = thread_index();

	if (BLOCK.off || !find_space(&address, &what))
		return;
	if (has_copies(thread) && BLOCK.warps[thread >> 5].now)
		copies_arrive(thread, address, what);
	else if (!is_meeting(address))
		arrive(address, what, thread, false);
}

INLINED void race_copy_arrive(u64 address, u32 what)
{
	__warpsafe_copy_arrive(address, what);
}

HELPER void wait_by_clocks(u64 address, u32 parity)
{
	u32 lanes = same_object(address << 2 | parity);

	for (u32 p = 0; p < 2; p++)
		if (parity == EITHER_PARITY || (parity & 1) == p)
			__warpsafe_clock_acquire(key_of_object(address), p, lanes);
	will_hand_on();
}

/* Behind a wait that has seen a phase end: of that parity. One that is relaxed acquires at the thread's next fence. */
SLOW void __warpsafe_object_wait(u64 address, u32 what, u32 parity)
{
	u32 thread = thread_index(), warp = thread >> 5;

	if (BLOCK.off || !BLOCK.warps[warp].now || !find_space(&address, &what))
		return;
	if (BLOCK.threads && has_clocks()) {
		wait_by_clocks(address, parity);
		return;
	}
	if (!BLOCK.threads || is_incomplete(BLOCK.grid)) {
		unknown_from_here(warp);
		return;
	}
	want_state(thread);
	fence_gpu();
	for (u32 p = 0; p < PHASES; p++) {
		struct found f = { 0, 0, 0 };

		if (parity == EITHER_PARITY || (parity & 1) == p || p == ANY_PHASE)
			f = released_at(location_key(object_word(address, p), OBJECT_WHAT));
		if (!f.release)
			continue;
		will_hand_on();
		if (what & WS_RACE_ACQUIRES)
			acquire(thread, &f, OBJECT_SCOPE);
		else
			observe(thread, first_piece(BLOCK.threads, thread), &f, OBJECT_SCOPE);
	}
}

INLINED void race_object_wait(u64 address, u32 what, u32 parity)
{
	__warpsafe_object_wait(address, what, parity);
}

/* An access to the object, by lanes that come together: one of them enters it for those of the same object. */
SLOW void __warpsafe_enter_as_one(u64 address, u32 what, u32 site)
{
	u32 lanes = same_object(address);

	if (leads(lanes))
		__warpsafe_atomic(address, what, site);
	warp_sync(lanes);
}

INLINED void race_clock_enter(u64 address, u32 what, u32 site)
{
	__warpsafe_enter_as_one(address, what, site);
}

INLINED void race_clock_wait(u64 address, u32 what, u32 parity, u32 site)
{
	__warpsafe_enter_as_one(address, what, site);
	__warpsafe_object_wait(address, what, parity);
}

/* ---- in kernels in which who arrives waits at once ----
 * Where the block meets, a warp comes and goes as a whole: one lane of it enters the accesses to the object, for all of them, that of the arrival and
 * one behind the wait. */
SLOW void __warpsafe_object_begin(u64 address, u32 what, u32 count)
{
	if (!BLOCK.off && find_space(&address, &what))
		begin_meeting(address, count);
}

INLINED void race_object_begin(u64 address, u32 what, u32 count)
{
	__warpsafe_object_begin(address, what, count);
}

/* Does the block meet there? */
SLOW u32 __warpsafe_meets(u64 address, u32 what)
{
	return !BLOCK.off && find_space(&address, &what) && is_meeting(address);
}

/* The same, by who arrives. */
SLOW u32 __warpsafe_comes_to_meet(u64 address, u32 what)
{
	u32 thread = thread_index();

	if (BLOCK.off || !find_space(&address, &what) || !is_meeting(address))
		return false;
	if (has_copies(thread) && BLOCK.warps[thread >> 5].now)
		copies_met(thread, address);
	return true;
}

SLOW void __warpsafe_enter_object(u64 address, u32 what, u32 site)
{
	if (has_clocks())
		__warpsafe_enter_as_one(address, what, site);
	else
		__warpsafe_atomic(address, what, site);
}

HELPER void enter_object(u64 address, u32 what, u32 site)
{
	warp_sync_all();
	if (leads((u32)BLOCK.warps[warp_index()].alive_arrived))
		__warpsafe_atomic(address, what, site);
	warp_sync_all();
}

INLINED void race_object_meet(u64 address, u32 what, u32 site)
{
	if (__warpsafe_comes_to_meet(address, what)) {
		enter_object(address, what, site);
		race_barrier_arrive();
	} else {
		__warpsafe_enter_object(address, what, site);
		__warpsafe_object_arrive(address, what);
	}
}

INLINED void race_object_met(u64 address, u32 what, u32 parity, u32 site)
{
	if (__warpsafe_meets(address, what)) {
		race_barrier();
		enter_object(address, what, site);
	} else {
		__warpsafe_enter_object(address, what, site);
		__warpsafe_object_wait(address, what, parity);
	}
}

#endif
