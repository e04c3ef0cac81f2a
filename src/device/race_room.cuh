/* race_room.cuh - blocks of kernels with locks go on a few at a time on each multiprocessor (race.cu).
 *
 * Under a lock a thread's checks are trips to memory that come at random, and with fewer threads at a time those are faster: what each has
 * in the caches stays there (docs/PERFORMANCE.md). So a block that begins waits until there is room, for a while at most: a block that others wait
 * for is only late. */
#ifndef WS_RACE_ROOM_CUH
#define WS_RACE_ROOM_CUH

#include "race_cluster.cuh"

HELPER u64 room_here(void) { return COUNTS(rooms) + 8ull * (multiprocessor() % WS_RACE_ROOMS); }

/* Blocks of the launch that go on here have so many threads. What another launch has left there counts as nothing. */
HELPER u32 threads_in(u64 room, u32 grid) { return (u32)(room >> 32) == grid ? (u32)room : 0; }

HELPER bool is_crowded(u64 room, u32 grid, u32 threads)
{
	u32 there = threads_in(room, grid);

	return there && there + threads > RACE.resident;
}

/* By the thread that begins a block. */
SLOW void __warpsafe_wait_for_room(u32 grid)
{
	u32 threads = threads_of_block();
	u64 at = room_here(), room = load64(at), until = nanoseconds() + RACE.patience, was;

	if (is_crowded(room, grid, threads))
		global_add(COUNTS(waited), 1);
	for (;; room = was) {
		if (is_crowded(room, grid, threads) && nanoseconds() < until) {
			asm volatile("nanosleep.u32 1000;");
			was = load64(at);
			continue;
		}
		was = cas64(at, room, (u64)grid << 32 | (threads_in(room, grid) + threads));
		if (was == room)
			break;
	}
	BLOCK.shape |= IN_ROOM;
}

/* By the last thread of it. */
SLOW void __warpsafe_make_room(void)
{
	u32 threads = threads_of_block();
	u64 at = room_here(), room = load64(at), was;

	for (; threads_in(room, BLOCK.grid) >= threads; room = was) {
		was = cas64(at, room, room - threads);
		if (was == room)
			return;
	}
}

#endif
