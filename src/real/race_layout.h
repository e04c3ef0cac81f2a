/* race_layout.h - how the memory for race checks is divided. */
#ifndef WS_REAL_RACE_LAYOUT_H
#define WS_REAL_RACE_LAYOUT_H

#include "base/base.h"
#include "device/race.h"

struct ws_race_gpu_size {
	uint32_t processors, blocks;         /* multiprocessors; blocks that one may run at a time */
	uint32_t shared, block_shared;       /* bytes of shared memory: of a multiprocessor, most of a block */
};
struct ws_race_layout {                  /* offsets of the tables in one allocation */
	uint64_t pages, lines, cells, segments, lanes, records, locations, counts, written;
	uint64_t slot_cells[WS_RACE_SLOT_CLASSES], slot_used[WS_RACE_SLOT_CLASSES];
	uint64_t bytes;
};
/* Bytes of segments for all warps of the largest launch that there is room for in what an entry can say, 2^31 threads, and those
 * that they take while they run. */
#define WS_RACE_WHOLE_GRID (9ull * sizeof(struct ws_race_segment) << 23)
/* Divides `budget` bytes: sizes in d, offsets in l. l->bytes is about as much, and never less than what a block with
 * much shared memory needs. least: bytes that segments have in any case, beyond the budget where that is not enough. */
void ws_race_lay_out(struct ws_race_layout *l, struct ws_race_device *d, uint64_t budget, uint64_t least, const struct ws_race_gpu_size *gpu);
/* The addresses, for tables that begin at base. */
void ws_race_place(const struct ws_race_layout *l, struct ws_race_device *d, uint64_t base);

#endif
