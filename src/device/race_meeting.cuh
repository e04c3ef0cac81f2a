/* race_meeting.cuh - mbarrier objects at which the whole block meets (race_async.cuh).
 *
 * In a kernel in which each thread that arrives waits for the phase's end before it does anything that others could see (src/rewrite/meeting.c),
 * no thread arrives twice in a phase. So the phase of an object that began with as many arrivals as the block has threads ends when
 * all of them have come, and is a barrier of the block: an epoch ends, where the arrivals of other objects are releases, and
 * the waits acquires, by each thread.
 *
 * Which objects are such is known when they begin, and for as long as they are: the first four, in a word of the block; of more than these the
 * threads release and acquire as ever. Where there may be clusters (race_sm90.cu) there is room for two.
 *
 * Copies that arrive at such an object are complete for who comes from the next meeting there (PTX ISA 9.0, cp.async.mbarrier.arrive,
 * cp.async.bulk): so a thread remembers at which objects its copies have arrived, and up to which number, and notes when it comes to
 * meet there that it has waited for them, MET. It remembers two objects; of more, all that were copied before count as complete with
 * any of the others, which hides and never invents. */
#ifndef WS_RACE_MEETING_CUH
#define WS_RACE_MEETING_CUH

enum { MEETING_BITS = 15, MEETING_MASK = (1 << MEETING_BITS) - 1, MEETINGS = 4, FIRST_MEETING = SM90 ? MEETINGS / 2 : 0 };
static_assert(IN_ROOM >> 2 * MEETING_BITS == 1, "two have room below it in `shape`");

HELPER u32 mark_of_object(u64 address) { return (u32)address >> 3 & MEETING_MASK; }
HELPER u32 meeting_at(u32 k) { return k / 2 * 32 + k % 2 * MEETING_BITS; }
/* 1 and more: the objects in 256 KB. */
HELPER u32 meeting_in(u64 all, u32 k) { return (u32)(all >> meeting_at(k)) & MEETING_MASK; }

/* Shared memory ends before 256 KB do, so there is no object with that place: 0 = none is meant. */
HELPER u64 meeting_of(u64 address, u32 k) { return (u64)((mark_of_object(address) + 1) & MEETING_MASK) << meeting_at(k); }

/* An address in shared memory. */
HELPER bool is_meeting(u64 address)
{
	u64 all = TENSOR || IN_CLUSTER ? 0 : BLOCK.meetings;

	#pragma unroll
	for (u32 k = FIRST_MEETING; k < MEETINGS; k++)
		if (meeting_in(all, k) == mark_of_object(address) + 1)
			return true;
	return false;
}

HELPER u64 with_meeting(u64 all, u64 address, bool meets)
{
	u32 place = MEETINGS;

	for (u32 k = FIRST_MEETING; k < MEETINGS; k++) {
		if (meeting_in(all, k) == mark_of_object(address) + 1)
			all &= ~((u64)MEETING_MASK << meeting_at(k));
		if (!meeting_in(all, k))
			place = k;
	}
	return meets && place < MEETINGS ? all | meeting_of(address, place) : all;
}

/* The object will have so many arrivals in a phase. Other threads may begin others meanwhile. */
HELPER void begin_meeting(u64 address, u32 count)
{
	u64 all = BLOCK.meetings, next, was;

	if (TENSOR || IN_CLUSTER)
		return;
	while ((next = with_meeting(all, address, count == threads_of_block())) != all) {
		was = shared_cas64(IN_BLOCK(meetings), all, next);
		if (was == all)
			return;
		all = was;
	}
}

/* ---- copies that arrive there ---- */
HELPER u64 copied_to(u64 address, u32 upto) { return (u64)(mark_of_object(address) + 1) << 32 | upto; }
HELPER bool is_copied_to(u64 copied, u64 address) { return copied >> 32 == mark_of_object(address) + 1; }

/* What was copied up to that number is complete with the next phase. */
HELPER void note_copied(u32 thread, u64 address, u32 upto)
{
	u64 copied[2], mine = copied_to(address, upto);

	own_load_two64(THREAD(thread, copied), &copied[0], &copied[1]);
	if (!copied[0] || is_copied_to(copied[0], address)) {
		own_store_two64(THREAD(thread, copied), mine, copied[1]);
		return;
	}
	if (copied[1] && !is_copied_to(copied[1], address)) {
		bool first = (u32)copied[0] < (u32)copied[1];    /* it was before */

		own_store64(THREAD(thread, copied_before), (u32)copied[!first]);
		copied[0] = copied[first];
	}
	own_store_two64(THREAD(thread, copied), copied[0], mine);
}

/* Before the thread arrives to meet there. */
HELPER void copies_met(u32 thread, u64 address)
{
	u64 copied[2];

	own_load_two64(THREAD(thread, copied), &copied[0], &copied[1]);
	for (u32 k = 0; k < 2; k++)
		if (is_copied_to(copied[k], address)) {
			note_wait(thread, (u32)copied[k], WAIT_OBJECT, MET);
			own_store_two64(THREAD(thread, copied), k ? copied[0] : 0, k ? 0 : copied[1]);
			return;
		}
	if (own_load64(THREAD(thread, copied_before))) {
		note_wait(thread, (u32)own_load64(THREAD(thread, copied_before)), WAIT_OBJECT, MET);
		own_store64(THREAD(thread, copied_before), 0);
	}
}

#endif
