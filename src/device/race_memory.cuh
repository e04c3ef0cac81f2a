/* race_memory.cuh - where the cells of an address are (race.cu).
 *
 * Shared memory: in the block's slot, unless they are in shared memory itself (race_shared.cuh). Global memory:
 * pages of 2 MiB are found by a hash table of open addressing; the number of the row is that of the page's lines,
 * 16 bytes for each 64 of the program's. Nothing is locked: all of it changes by CAS. */
#ifndef WS_RACE_MEMORY_CUH
#define WS_RACE_MEMORY_CUH

#include "race_cell.cuh"

enum { PAGE_SHIFT = 21, LINE_SHIFT = WS_RACE_LINE_SHIFT, LINE_BYTES = WS_RACE_LINE_BYTES, LINE_WORDS = LINE_BYTES / 4, PROBES = 64 };
/* A line has W and R as a word has, for what a warp has done with all of it: by lane + (word >> bytes), all at one time.
 * When something else comes, it gets cells: segment NO_MORE_SEGMENTS and their number + 1, for ever. */
#define EXPANDED ((u64)NO_MORE_SEGMENTS << SEGMENT_AT)

/* What a page's row holds: never 0. */
HELPER u64 page_key(u64 address) { return (address >> PAGE_SHIFT << PAGE_SHIFT) | 1; }

/* Pages in a row do not meet: multiples of the golden ratio keep apart. */
HELPER u32 first_row(u64 address)
{
	u32 hash = (u32)(address >> PAGE_SHIFT) * 0x9e3779b1u;

	return (u32)((u64)hash << RACE.pages_log2 >> 32);
}

HELPER u64 line_in_page(u32 row, u64 address)
{
	return RACE.lines + (u64)row * WS_RACE_PAGE_BYTES +
	       (address >> LINE_SHIFT & ((1u << (PAGE_SHIFT - LINE_SHIFT)) - 1)) * 16;
}

/* What a row has, when it is 0 as seen through the first-level cache: all warps of a launch come to a new page at once,
 * and one address takes few atomics. Where it is there already, one lane's takes what is out of date out of the cache. */
HELPER u64 row_up_to_date(u64 at)
{
	u64 has = load64(at);

	if (has && leads(activemask()))
		cas64(at, has, has);
	return has;
}

/* 0 = no room. */
HELPER u64 line_of(u64 address)
{
	u64 page = page_key(address);
	u32 mask = (1u << RACE.pages_log2) - 1, n = first_row(address);

	for (u32 tries = 0; tries < PROBES && tries <= mask; tries++, n = (n + 1) & mask) {
		u64 at = RACE.pages + 8ull * n, has = load64_stable(at);

		if (!has)
			has = row_up_to_date(at);
		if (!has) {
			has = cas64(at, 0, page);
			if (!has) {
				fetch_add32(COUNTS(pages), 1);
				has = page;
			}
		}
		if (has == page)
			return line_in_page(n, address);
	}
	return 0;
}

HELPER bool is_expanded(u64 entry) { return segment_of(entry) == NO_MORE_SEGMENTS; }
HELPER u64 cells_at(u32 number) { return RACE.cells + (u64)(number - 1) * WS_RACE_CELLS_BYTES; }
/* The cell of the word of an address; entry: of its line, which is_expanded. */
HELPER u64 cell_by(u64 entry, u64 address) { return cells_at((u32)entry) + (address & (LINE_BYTES - 4)) * 4; }

/* The number + 1 of cells that are not in use; 0 = there are none. What was taken in vain stays with the warp, with
 * USED: the cells are not zero. */
enum { USED = 1u << 31, NONE_LEFT = ~0u };
HELPER u32 take_cells(u32 warp)
{
	u64 spares = IN_SHARED(__warpsafe_block.spare[warp]);
	u32 spare = shared_exchange32(spares, 0);

	if (!spare) {
		spare = fetch_add32(COUNTS(cells), 1) + 1;
		if (spare > RACE.ncells) {
			fetch_add32(COUNTS(cells), -1);
			spare = NONE_LEFT;
		}
	}
	if (spare == NONE_LEFT) {        /* there never are any again: the warp asks no more */
		shared_exchange32(spares, NONE_LEFT);
		return 0;
	}
	return spare;
}

/* An entry of a line as one of its word. */
HELPER u64 entry_of_word(u64 line, u32 word, u32 bytes_at)
{
	u32 lane = lane_of(line) + (word >> ((u32)line >> bytes_at & 15));

	if (!line)
		return 0;
	if (bytes_at == R_BYTES_AT && r_several(line) == BLOCKS)
		return line | 15u << bytes_at;
	return (line & ~(31ull << LANE_AT)) | (u64)lane << LANE_AT | 15u << bytes_at;
}

HELPER void fill_cells(u64 cells, u64 w, u64 r)
{
	#pragma nounroll
	for (u32 k = 0; k < LINE_WORDS; k++)
		asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" : : "l"(cells + 16 * k),
			     "l"(entry_of_word(w, k, W_BYTES_AT)), "l"(entry_of_word(r, k, R_BYTES_AT)) : "memory");
}

/* Of a launch before mine? Nothing of it is compared with what I do. 0 is. */
HELPER bool is_of_past(u64 entry) { return segment_of(entry) < BLOCK.floor; }

/* Nor by anybody else, as far as the one who expands a line knows? */
HELPER bool is_forgotten(u64 entry) { return BLOCK.launch ? !segment_of(entry) : is_of_past(entry); }

/* A read that came to the line while its cells were filled; what they have may be summed up meanwhile. */
HELPER void enter_late(u64 cell, u64 filled, u64 r)
{
	u64 has = cas64(cell, filled, r);

	if (has != filled && is_summed(has) && !is_copy(has))
		cas64(cell, has, r);
}

/* By one lane. What the line has then: cells, unless there is no room. A read that enters the line while it is done looks at W again, and then
 * goes to the cells itself. A number is asked for while the entry is on its way. */
SLOW u64 __warpsafe_expand_line(u64 line, u32 warp)
{
	u64 w, r, was, filled, cells;
	u32 number;

	load_cell(line, &w, &r);
	number = take_cells(warp);
	cells = cells_at(number & ~(u32)USED);
	for (; number && !is_expanded(w); w = was, r = load64(line + 8)) {
		filled = is_forgotten(r) ? 0 : r;
		if (!is_forgotten(w) || filled || number & USED) {
			number |= USED;
			fill_cells(cells, is_forgotten(w) ? 0 : w, filled);
			fence_gpu();
		}
		was = cas64(line, w, EXPANDED | (number & ~(u32)USED));
		if (was != w)
			continue;
		was = exchange64(line + 8, EXPANDED | (number & ~(u32)USED));
		#pragma nounroll
		for (u32 k = 0; k < LINE_WORDS && was != r; k++)
			enter_late(cells + 16 * k + 8, entry_of_word(filled, k, R_BYTES_AT), entry_of_word(was, k, R_BYTES_AT));
		return EXPANDED | (number & ~(u32)USED);
	}
	if (is_expanded(w))
		cas64(line, w, w);       /* who came here had an older one in the first-level cache */
	if (number)
		shared_exchange32(IN_SHARED(__warpsafe_block.spare[warp]), number);
	return w;
}

/* Of lanes that come to one line together one makes cells of it, and the others do not wait for it in a loop: where their
 * ways meet again behind a condition, a GPU waits for all of them anyhow. For one of another warp they wait a little. Lines
 * that are neighbours have places of their own in `expanding`, so that lanes that come to several of them do not all try. */
SLOW u64 __warpsafe_expand(u64 line, u32 warp)
{
	enum { LOOKS = 16 };
	u32 nth = (u32)(line >> 4), mark = nth * 2 + 1;
	u64 entry = 0;

	if (shared_exchange32(IN_SHARED(__warpsafe_block.expanding[0]) + 4 * (nth % EXPANDING), mark) != mark)
		entry = __warpsafe_expand_line(line, warp);
	if (!is_expanded(entry))
		entry = load64(line);
	for (u32 n = 0; n < LOOKS && !is_expanded(entry) && load32(COUNTS(cells)) < RACE.ncells; n++)
		entry = load64(line);    /* a lane of another warp is at it: who tries as well takes cells in vain */
	if (is_expanded(entry))
		return entry;
	return __warpsafe_expand_line(line, warp);       /* the other one is on its way alone, or there is no room */
}

/* The cell of the word of an address, by its line's entry; 0 = there is no room, which is counted. */
HELPER u64 cell_in_line(u64 entry, u64 address)
{
	if (is_expanded(entry))
		return cell_by(entry, address);
	count_threads(COUNTS(not_checked[WS_RACE_NO_CELLS]));
	return 0;
}

/* The cells of a slot: number + 1 of it, or 0 for the block's own, if it has one. */
HELPER u64 cells_of_slot(u32 slot, u32 *bytes)
{
	u32 cls = (slot ? slot - 1 : BLOCK.slot_number) % WS_RACE_SLOT_CLASSES;

	*bytes = RACE.slots[cls].bytes;
	return slot ? RACE.slots[cls].cells + (slot - 1) / WS_RACE_SLOT_CLASSES * WS_RACE_SLOT_BYTES(*bytes) : BLOCK.slot;
}

/* Of an offset, or one in another block's shared memory (race_peer.cuh). */
HELPER u64 shared_cell(u64 address)
{
	u32 bytes, offset = (u32)address & SHARED_OFFSETS;
	u64 slot = cells_of_slot(SM90 ? (u32)(address >> 32) : 0, &bytes);

	if (!slot || offset >= bytes) {
		count_threads(COUNTS(not_checked[WS_RACE_NO_SLOT]));
		return 0;
	}
	return slot + (u64)(offset >> 2) * 16;
}

/* ---- slots ---- */
HELPER void have_slot(u32 cls, u32 n)
{
	u32 bytes = RACE.slots[cls].bytes;

	BLOCK.slot = RACE.slots[cls].cells + n * WS_RACE_SLOT_BYTES(bytes);
	BLOCK.threads = BLOCK.slot + 4ull * bytes;
	BLOCK.slot_number = n * WS_RACE_SLOT_CLASSES + cls;
}

/* Blocks that are on a multiprocessor at a time have warps of their own: they seldom begin to look at the same place. */
HELPER u32 first_slot(u32 count)
{
	enum { MOST_WARPS = 64 };

	return (u32)((u64)(multiprocessor() * MOST_WARPS + warp_slot() % MOST_WARPS) * count / (multiprocessors() * MOST_WARPS)) %
	       count;
}

HELPER bool take_slot_of(u32 cls)
{
	u32 count = RACE.slots[cls].count, n = count ? first_slot(count) : 0;

	for (u32 tries = 0; tries < count && tries < PROBES; tries++, n = n + 1 == count ? 0 : n + 1)
		if (!cas32(RACE.slots[cls].used + 4ull * n, 0, 1)) {
			have_slot(cls, n);
			return true;
		}
	return false;
}

/* Behind the program's dynamic shared memory, with what tells of it. */
HELPER u32 bytes_of_states(void)
{
	u32 threads = threads_of_block();

	return WS_RACE_IS_STATES_SIZE(dynamic_bytes(), threads) ? WS_RACE_STATES_BYTES(threads) + WS_RACE_STATES_TAG : 0;
}

/* One thread, when the block begins. */
HELPER void take_slot(void)
{
	u32 bytes = BLOCK.cells ? 0 : shared_bytes() + 1024 - bytes_of_states();

	for (u32 cls = 0; cls < WS_RACE_SLOT_CLASSES; cls++)
		if (RACE.slots[cls].bytes >= bytes && take_slot_of(cls))
			return;
	launch_is_incomplete(BLOCK.grid);
}

HELPER void free_slot_of(u32 slot)
{
	if (slot)
		store32(RACE.slots[(slot - 1) % WS_RACE_SLOT_CLASSES].used + 4ull * ((slot - 1) / WS_RACE_SLOT_CLASSES), 0);
}

/* The other blocks of a cluster may still come to the cells: the last one that ends gives back the slots of all. A block's
 * own row says from now on that it has ended the barriers that are to come with the last one that it has passed. */
SLOW void __warpsafe_leave_cluster(void)
{
	u32 block = BLOCK.block, base = BLOCK.cluster - 1, n = cluster_blocks();
	u32 last = BLOCK.arrived_epoch;

	store32(row_at(block) + 4 * (~BLOCK.arrived & 1), last);
	fence_gpu();
	if (fetch_add32(row_at(base) + ROW_BLOCKS_ENDED, 1) + 1 < n)
		return;
	fence_gpu();
	for (u32 rank = 0; rank < n; rank++)
		free_slot_of(row_of(block_of_rank(rank)).slot);
}

/* The last thread that leaves. Nobody reads the cells as being of the next block: their segments are others. */
HELPER void free_slot(void)
{
	if (IN_CLUSTER)
		__warpsafe_leave_cluster();
	else if (BLOCK.slot)
		free_slot_of(BLOCK.slot_number + 1);
}

#endif
