/* race_copy.cuh - asynchronous copies by threads (cp.async) and mbarrier objects (race.cu).
 *
 * A copy is before nothing until its thread has waited for it (PTX ISA 9.0, Asynchronous operations; cp.async.wait_group), so
 * what it reads and writes is entered in cells as of no time: with the number of its group among those of its thread. The
 * thread's last waits say which numbers are complete, and since when: that is the time of the access then.
 *
 *     in shared memory   high half of W: COPY_TIME, later than all times | number 22; SHARED_COPY in the low half
 *     elsewhere          segment: one of BLOCK.copies, a warp each, with COPIES for its epoch; number 11 for epoch and sub
 *
 * Where there are bulk copies (race_bulk.cuh), a number has its copy's kind in its last two bits, and a wait its flavor.
 *
 * Numbers go on with each commit_group, and each cp.async.mbarrier.arrive. After the latter a copy is complete for who comes
 * by a release of its thread at that object or later, and not for the thread itself.
 *
 * mbarrier objects: who arrives releases, at a word that stands for the object and the parity of its phase; who has seen
 * a phase end acquires what was released there, in this phase or in an earlier one of that parity. */
#ifndef WS_RACE_COPY_CUH
#define WS_RACE_COPY_CUH

#include "race_order.cuh"

enum { COPIES = -1 };                            /* the epoch at which a segment of copies begins */
enum { CELL_NUMBERS = 1 << (LANE_AT - SUB_AT) };
enum { SHARED_COPY = 1 << 21 };

/* (Before that time the bit says something else: race_shared_cell.cuh.) */
HELPER bool is_shared_copy(u64 w) { return (u32)w & SHARED_COPY && (u32)(w >> 32) >= COPY_TIME; }

/* Behind the segments for copies: those for products (race_product.cuh), told by `sub`. */
enum { PRODUCT_SEGMENTS = TENSOR ? 8 : 0, OF_PRODUCTS = 1 };

/* Segments for the copies of the block's warps, by one thread. */
HELPER void begin_copies(void)
{
	u32 first = BLOCK.first ? take_segments(BLOCK.nwarps + PRODUCT_SEGMENTS, load32(COUNTS(segments))) : 0;

	BLOCK.copies = first;
	for (u32 w = 0; first && w < BLOCK.nwarps; w++)
		describe(first + w, w, (u32)COPIES, 0);
	for (u32 k = 0; first && k < PRODUCT_SEGMENTS; k++)
		describe(first + BLOCK.nwarps + k, k, (u32)COPIES, OF_PRODUCTS);
}

/* An entry of products, in R: segment, of OF_PRODUCTS and the number's high bits | warpgroups 8 | the number's low bits 8. */
enum { GROUPS_AT = 29, PRODUCT_LOW = 8, PRODUCT_NUMBERS = 8 << PRODUCT_LOW, GROUP_WARPS = 4, GROUP_THREADS = 32 * GROUP_WARPS };
HELPER u32 groups_of(u64 entry) { return (u32)(entry >> GROUPS_AT) & 255; }

HELPER bool is_product(u64 entry)
{
	struct place o;

	if (!TENSOR || !BLOCK.copies)
		return false;
	o = beginning(segment_of(entry));
	return o.epoch == (u32)COPIES && o.sub == OF_PRODUCTS;
}

HELPER bool is_copy(u64 entry)
{
	return BLOCK.copies && beginning(segment_of(entry)).epoch == (u32)COPIES;
}

/* ---- waits ----
 * upto 22 | mbarrier 1 | epoch 25 | MET 1 | sub 15: copies below `upto` are complete, since then. (Flavor 2 | epoch 24.) */
enum { WAITS = 4, UPTO_AT = 42, FLAVOR_AT = SM90 ? 40 : 41, WAIT_EPOCH_AT = 16, WAIT_EPOCHS = (1 << (FLAVOR_AT - WAIT_EPOCH_AT)) - 1 };
/* Of cp.async's groups; by an object; of bulk groups: the reads, or all. */
enum { WAIT_GROUPS, WAIT_OBJECT, WAIT_READS, WAIT_BULK };
/* Of a bulk group; by an object; of a bulk group, its reads; cp.async, in both ways. */
enum { COPY_WRITES, COPY_BY_OBJECT, COPY_READS, COPY_BOTH };

HELPER u32 upto_of(u64 wait) { return (u32)(wait >> UPTO_AT); }
HELPER u32 flavor_of(u64 wait) { return (u32)(wait >> FLAVOR_AT) & (SM90 ? 3 : 1); }
/* In place of a bit of sub: by an object at which the whole block meets, in the epoch that the meeting ends (race_meeting.cuh). */
#define MET (1u << 15)
HELPER bool is_by_meeting(u64 wait) { return (u32)wait & MET; }
HELPER bool is_by_object(u64 wait) { return flavor_of(wait) == WAIT_OBJECT && !is_by_meeting(wait); }
HELPER u64 wait_at(u32 thread, u32 n) { return THREAD(thread, waits[n % WAITS]); }

HELPER u64 load_wait(u32 thread, u32 n)
{
	return load64(wait_at(thread, n));
}

HELPER struct place place_of_wait(u64 wait, u32 warp)
{
	return (struct place){ BLOCK.grid, BLOCK.block, warp, (u32)(wait >> WAIT_EPOCH_AT) & WAIT_EPOCHS, (u32)wait & (MET - 1) };
}

/* met: MET, or 0. */
HELPER void note_wait(u32 thread, u32 upto, u32 flavor, u32 met)
{
	u32 n = load32(THREAD(thread, nwaits));
	struct place p = place_of(BLOCK.warps[thread >> 5].now);
	u64 wait = (u64)(upto % NUMBERS) << UPTO_AT | (u64)flavor << FLAVOR_AT |
		   (u64)(p.epoch & WAIT_EPOCHS) << WAIT_EPOCH_AT | met | (p.sub < MET - 1 ? p.sub : MET - 1);

	if (n && flavor != WAIT_OBJECT && flavor == flavor_of(load_wait(thread, n - 1)) && upto_of(load_wait(thread, n - 1)) == upto % NUMBERS)
		return;                  /* it waits for what is complete already */
	store64(wait_at(thread, n), wait);
	fence_block();
	store32(THREAD(thread, nwaits), n + 1);
}

/* The number of the copies to come. */
HELPER u32 next_number(u32 thread)
{
	u32 number = load32(THREAD(thread, number)) + COPY_STEP;

	store32(THREAD(thread, number), number);
	return number;
}

enum { COMMITS = 8 };
HELPER void commit(u32 thread)
{
	u32 n = own_load32(THREAD(thread, ncommits));

	own_store32(THREAD(thread, commits[n % COMMITS]), next_number(thread));
	own_store32(THREAD(thread, ncommits), n + 1);
}

/* All but the last n groups. Where that many are not known, more count as complete than are. */
HELPER void wait_for_groups(u32 thread, u32 n, u32 flavor)
{
	u32 commits = own_load32(THREAD(thread, ncommits));

	n = n < COMMITS ? n : COMMITS - 1;
	if (commits > n)
		note_wait(thread, own_load32(THREAD(thread, commits[(commits - n - 1) % COMMITS])), flavor, 0);
}

/* ---- is a copy before what the thread does now? ---- */
HELPER bool completes(u64 wait, u32 number)
{
	u32 kind = number % COPY_STEP, flavor = flavor_of(wait);

	if (!SM90)
		return true;
	return flavor == WAIT_GROUPS ? kind == COPY_BOTH : flavor == WAIT_OBJECT ? kind & 1 : flavor == WAIT_READS ? kind == COPY_READS :
	       !(kind & 1);
}

HELPER bool is_done(u64 wait, u32 number)
{
	return completes(wait, number) && (upto_of(wait) - 1 - number) % NUMBERS < NUMBERS / 2;
}

/* By who waited, and what he and barriers have ordered since. */
HELPER u32 verdict_of_wait(u64 wait, u32 thread, u32 known, u32 epoch, u32 what)
{
	u32 me = thread_index(), warp = me >> 5;
	struct place o = place_of_wait(wait, thread >> 5);

	if (!is_by_object(wait) && (thread == me || o.epoch < epoch || (o.warp == warp && o.sub < BLOCK.full[warp])))
		return ORDERED;
	return verdict_of_order(BLOCK.first + o.warp, thread & 31, &o, known, epoch, what, warp);
}

/* Of a thread of this block. The first wait of each kind decides: who comes behind a later one comes behind it. The thread may wait once
 * more meanwhile: the place of its next wait is that of the one WAITS before, which is therefore not looked at. */
SLOW u32 __warpsafe_copy_verdict(u32 thread, u32 number, u32 epoch, u32 what)
{
	u32 warp = warp_index(), n = load32(THREAD(thread, nwaits)), first = first_wait(n, WAITS), least = IN_FLIGHT;
	u32 now = (u32)BLOCK.warps[warp].now, v, asked = 0, kind;
	u32 known = now & (NOW_ACQUIRED | NOW_UNKNOWN | (thread >> 5 == warp ? (u32)NOW_PARTIAL : 0));

	for (u32 k = first; k < n && asked != 7; k++) {
		u64 wait = load_wait(thread, k);

		kind = is_by_meeting(wait) ? 2 : is_by_object(wait);
		if (!is_done(wait, number) || asked >> kind & 1)
			continue;
		v = verdict_of_wait(wait, thread, known, epoch, what);
		if (v == ORDERED)
			return ORDERED;
		asked |= 1u << kind;
		if (v == UNDECIDED || (first && k == first))     /* there may have been an earlier one */
			least = UNDECIDED;
		else if (least == IN_FLIGHT && !is_by_object(wait))
			least = UNORDERED;
	}
	fence_block();
	return load32(THREAD(thread, nwaits)) - first < WAITS ? least : (u32)UNDECIDED;
}

HELPER bool is_own_copy(u64 entry)
{
	return BLOCK.copies && segment_of(entry) == BLOCK.copies + warp_index() && lane_of(entry) == lane_index();
}

/* The number of an entry with but its last bits; false: it may be that of one long ago. */
HELPER bool whole_number(u32 thread, u32 bits, u32 *number)
{
	u32 newest = load32(THREAD(thread, number)) | (COPY_STEP - 1);

	*number = newest - (newest - bits) % CELL_NUMBERS;
	return newest < CELL_NUMBERS;
}

/* race_remote.cuh: of one that completes on an object. */
SLOW u32 __warpsafe_operation_verdict(u64 old, u64 now);
/* race_product.cuh: of products. */
SLOW u32 __warpsafe_product_verdict(u64 old, u64 now);

/* An entry that is_copy, of a warp's segment that begins there. */
SLOW u32 __warpsafe_copy_entry_verdict(u64 old, u64 now, u32 what)
{
	struct place o = beginning(segment_of(old)), m = place_of(now);
	u32 thread = o.warp * 32 + lane_of(old), number, v;

	if (TENSOR && o.sub == OF_PRODUCTS)
		return __warpsafe_product_verdict(old, now);
	if (REMOTE && (u32)(old >> SUB_AT) % COPY_STEP == COPY_BY_OBJECT && (o.block == m.block || is_near(o.block)))
		return __warpsafe_operation_verdict(old, now);
	if (o.block != m.block)
		return WS_RACE_SPACE_OF(what) == WS_RACE_SHARED && !is_near(o.block) ? (u32)ORDERED :
		       (u32)now & (NOW_ACQUIRED | NOW_UNKNOWN) || (IN_CLUSTER && BLOCK.passed) || sc_fences_tell_nothing(warp_index(), false) ?
		       (u32)UNDECIDED : (u32)UNORDERED;
	if (whole_number(thread, (u32)(old >> SUB_AT) % CELL_NUMBERS, &number))
		return __warpsafe_copy_verdict(thread, number, m.epoch, what);
	v = __warpsafe_copy_verdict(thread, number, m.epoch, what);
	return v == ORDERED ? ORDERED : UNDECIDED;
}

#endif
