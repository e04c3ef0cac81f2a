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
	uint64_t pages, lines, cells, segments, records, locations, counts, written;
	uint64_t slot_cells[WS_RACE_SLOT_CLASSES], slot_used[WS_RACE_SLOT_CLASSES];
	uint64_t bytes;
};
/* Divides `budget` bytes: sizes in d, offsets in l. l->bytes is about as much, and never less than what a block with
 * much shared memory needs. */
void ws_race_lay_out(struct ws_race_layout *l, struct ws_race_device *d, uint64_t budget, const struct ws_race_gpu_size *gpu);
/* The addresses, for tables that begin at base. */
void ws_race_place(const struct ws_race_layout *l, struct ws_race_device *d, uint64_t base);

#endif
