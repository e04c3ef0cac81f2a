/* race_layout.c - how the memory for race checks is divided; see race_layout.h.
 *
 * A quarter goes to lines of global memory (an eighth of the memory that they stand for), at most a quarter to shared
 * memory (four times what it stands for, of all blocks that run at a time), an eighth each to segments and to records and
 * locations of releases; cells have the rest. */
#include "real/race_layout.h"

#include <string.h>

enum { ALIGN = 256, MOST_NUMBER = (1 << 27) - 2, REST_NS = 20 * 1000000, PATIENCE_NS = 100000 };

static uint64_t take(struct ws_race_layout *l, uint64_t bytes)
{
	uint64_t at = l->bytes;

	l->bytes += (bytes + ALIGN - 1) / ALIGN * ALIGN;
	return at;
}

/* The largest power of two that is not above n; n is not 0. */
static uint32_t log2_of(uint64_t n)
{
	return 63 - (uint32_t)__builtin_clzll(n);
}

static uint32_t number(uint64_t n)
{
	return n > MOST_NUMBER ? MOST_NUMBER : (uint32_t)n;
}

/* Blocks with more than `above` bytes of shared memory that run at a time. */
static uint64_t resident(const struct ws_race_gpu_size *gpu, uint32_t above)
{
	uint64_t fit = above ? gpu->shared / above : gpu->blocks;

	fit = fit < gpu->blocks ? fit : gpu->blocks;
	return gpu->processors * (fit ? fit : 1);
}

static void lay_out_slots(struct ws_race_layout *l, struct ws_race_device *d, uint64_t most,
                          const struct ws_race_gpu_size *gpu)
{
	static const uint32_t sizes[WS_RACE_SLOT_CLASSES] = { 4 << 10, 16 << 10, 64 << 10, 0 };
	uint32_t largest = (gpu->block_shared + 2048 + 127) / 128 * 128;     /* with what the system reserves */
	uint64_t all = 0, counts[WS_RACE_SLOT_CLASSES];

	for (size_t k = 0; k < WS_RACE_SLOT_CLASSES; k++) {
		d->slots[k].bytes = sizes[k] ? sizes[k] : largest;
		counts[k] = sizes[k] < largest ? resident(gpu, k ? sizes[k - 1] : 0) : 0;
		all += counts[k] * (WS_RACE_SLOT_BYTES(d->slots[k].bytes) + 4) + 2 * ALIGN;
	}
	for (size_t k = 0; k < WS_RACE_SLOT_CLASSES; k++) {
		uint64_t count = all > most ? (uint64_t)((double)counts[k] * ((double)most / (double)all)) : counts[k];

		d->slots[k].count = counts[k] && !count ? 1 : (uint32_t)count;
		l->slot_cells[k] = take(l, WS_RACE_SLOT_BYTES(d->slots[k].bytes) * d->slots[k].count);
		l->slot_used[k] = take(l, 4ull * d->slots[k].count);
	}
}

void ws_race_lay_out(struct ws_race_layout *l, struct ws_race_device *d, uint64_t budget, uint64_t least, const struct ws_race_gpu_size *gpu)
{
	uint64_t pages = budget / 4 / (WS_RACE_PAGE_BYTES + sizeof(ws_race_u64)), rest;
	uint64_t segments = budget / 8 > least ? budget / 8 : least, all = budget - budget / 8 + segments;

	memset(l, 0, sizeof *l);
	memset(d, 0, sizeof *d);
	d->version = WS_RACE_VERSION;
	d->bytes = sizeof *d;
	d->rest = REST_NS;
	d->patience = PATIENCE_NS;
	d->pages_log2 = log2_of(pages ? pages : 1);
	d->nsegments = number(segments / sizeof(struct ws_race_segment));
	d->nrecords = number(budget / 16 / WS_RACE_RECORD_BYTES);
	d->locations_log2 = log2_of(budget / 16 / sizeof(struct ws_race_location) + 1);
	l->counts = take(l, sizeof(struct ws_race_counts));
	l->written = take(l, WS_RACE_WRITTEN * sizeof(ws_race_u64));
	l->pages = take(l, sizeof(ws_race_u64) << d->pages_log2);
	l->lines = take(l, (uint64_t)WS_RACE_PAGE_BYTES << d->pages_log2);
	l->segments = take(l, (d->nsegments + 1ull) * sizeof(struct ws_race_segment));
	l->lanes = take(l, d->nsegments / WS_RACE_OF_LANE + 1);
	l->records = take(l, (d->nrecords + 1ull) * WS_RACE_RECORD_BYTES);
	l->locations = take(l, sizeof(struct ws_race_location) << d->locations_log2);
	lay_out_slots(l, d, budget / 4, gpu);
	rest = l->bytes < all ? all - l->bytes : 0;
	d->ncells = number(rest / WS_RACE_CELLS_BYTES);
	l->cells = take(l, (d->ncells + 1ull) * WS_RACE_CELLS_BYTES);
}

void ws_race_place(const struct ws_race_layout *l, struct ws_race_device *d, uint64_t base)
{
	d->counts = base + l->counts;
	d->written = base + l->written;
	d->pages = base + l->pages;
	d->lines = base + l->lines;
	d->cells = base + l->cells;
	d->segments = base + l->segments;
	d->lanes = base + l->lanes;
	d->records = base + l->records;
	d->locations = base + l->locations;
	for (size_t k = 0; k < WS_RACE_SLOT_CLASSES; k++) {
		d->slots[k].cells = base + l->slot_cells[k];
		d->slots[k].used = base + l->slot_used[k];
	}
}
