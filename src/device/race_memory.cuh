/* race_memory.cuh - where the cells of an address are (race.cu).
 *
 * Shared memory: in the block's slot. Global memory: pages of 2 MiB are found by a hash table of open addressing; the
 * number of the row is that of the page's lines, 16 bytes for each 128 of the program's, which lead to cells. Nothing is
 * locked: rows and lines change from 0 by CAS, once. */
#ifndef WS_RACE_MEMORY_CUH
#define WS_RACE_MEMORY_CUH

#include "race_state.cuh"

enum { PAGE_SHIFT = 21, LINE_SHIFT = 7, PROBES = 64 };
/* In a line: segment NO_MORE_SEGMENTS and the number of its cells, + 1. */
#define EXPANDED ((u64)NO_MORE_SEGMENTS << SEGMENT_AT)

/* 0 = no room. */
HELPER u64 line_of(u64 address)
{
	u64 page = (address >> PAGE_SHIFT) + 1;
	u32 mask = (1u << RACE.pages_log2) - 1, n = (u32)(page * 0x9e3779b97f4a7c15ull >> 40) & mask;

	for (u32 tries = 0; tries < PROBES && tries <= mask; tries++, n = (n + 1) & mask) {
		u64 at = RACE.pages + 8ull * n, has = load64_stable(at);

		if (!has) {
			has = cas64(at, 0, page);
			if (!has) {
				fetch_add32(COUNTS(pages), 1);
				has = page;
			}
		}
		if (has == page)
			return RACE.lines + (u64)n * WS_RACE_PAGE_BYTES +
			       (address >> LINE_SHIFT & ((1u << (PAGE_SHIFT - LINE_SHIFT)) - 1)) * 16;
	}
	return 0;
}

/* The number + 1 of cells that are not in use; 0 = there are none. One taken in vain stays with the warp. */
HELPER u32 take_cells(u32 warp)
{
	u32 spare = shared_exchange32(IN_SHARED(__warpsafe_block.warps[warp].spare), 0);

	if (spare)
		return spare;
	if (load32(COUNTS(cells)) >= RACE.ncells)
		return 0;
	spare = fetch_add32(COUNTS(cells), 1) + 1;
	return spare <= RACE.ncells ? spare : 0;
}

/* By one lane for all those that come to the line together. */
HELPER void expand(u64 line, u32 warp)
{
	u32 cells = take_cells(warp);

	if (cells && cas64(line, 0, EXPANDED | cells))
		shared_exchange32(IN_SHARED(__warpsafe_block.warps[warp].spare), cells);
}

SLOW u64 __warpsafe_expand(u64 line, u32 warp)
{
	u32 group = lanes_with(line);

	if (leads(group))
		expand(line, warp);
	warp_sync(group);
	return load64(line);
}

/* The cell of the word of an address; 0 = there is no room, which is counted. */
HELPER u64 global_cell(u64 address, u32 warp)
{
	u64 line = line_of(address), has;

	if (!line) {
		count_threads(COUNTS(not_checked[WS_RACE_NO_PAGE]));
		return 0;
	}
	has = load64_stable(line);
	if (!has)
		has = __warpsafe_expand(line, warp);
	if (!has) {
		count_threads(COUNTS(not_checked[WS_RACE_NO_CELLS]));
		return 0;
	}
	return RACE.cells + (u64)((u32)has - 1) * WS_RACE_CELLS_BYTES + (address >> 2 & 31) * 16;
}

HELPER u64 shared_cell(u32 offset)
{
	if (!BLOCK.slot || offset >= BLOCK.slot_bytes) {
		count_threads(COUNTS(not_checked[WS_RACE_NO_SLOT]));
		return 0;
	}
	return BLOCK.slot + (u64)(offset >> 2) * 16;
}

/* ---- slots ---- */
HELPER bool take_slot_of(u32 cls, u32 start)
{
	u32 count = RACE.slots[cls].count, n = count ? start % count : 0;

	for (u32 tries = 0; tries < count; tries++, n = n + 1 == count ? 0 : n + 1) {
		u64 used = RACE.slots[cls].used + 4ull * n;
		u32 bytes = RACE.slots[cls].bytes;

		if (load32(used) || cas32(used, 0, 1))
			continue;
		BLOCK.slot = RACE.slots[cls].cells + n * WS_RACE_SLOT_BYTES(bytes);
		BLOCK.threads = BLOCK.slot + 4ull * bytes;
		BLOCK.slot_bytes = bytes;
		BLOCK.slot_used = used;
		return true;
	}
	return false;
}

/* One thread, when the block begins. Blocks of a multiprocessor look from the same place on. */
HELPER void take_slot(void)
{
	u32 bytes = shared_bytes() + 1024;

	for (u32 cls = 0; cls < WS_RACE_SLOT_CLASSES; cls++)
		if (RACE.slots[cls].bytes >= bytes && take_slot_of(cls, multiprocessor() * 32))
			return;
	launch_is_incomplete(BLOCK.grid);
}

/* The last thread that leaves. Nobody reads the cells as being of the next block: their segments are others. */
HELPER void free_slot(void)
{
	if (BLOCK.slot_used)
		store32(BLOCK.slot_used, 0);
}

#endif
