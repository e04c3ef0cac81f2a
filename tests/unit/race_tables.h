/* race_tables.h - small tables for the checks of the pass `race` on the simulated GPU. */
#ifndef RACE_TABLES_H
#define RACE_TABLES_H

#include <string.h>

#include "device/race.h"
#include "gpu/gpu.h"

struct race_tables {
	struct ws_race_device device;
	struct ws_race_found *found;
	struct ws_race_seen *seen;         /* their counts */
	const struct ws_race_counts *counts;
	uint32_t nfound;                 /* rows of the table */
};

/* New memory is zero (gpu/mem.h): megabytes that no check ever looks at are not touched here. */
static inline struct ws_mem *race_memory(struct ws_gpu *g, size_t bytes)
{
	return ws_gpu_mem_new(g, bytes, 0, WS_MEM_DEVICE, "tables");
}

static inline void race_slots(struct ws_gpu *g, struct ws_race_slots *s, uint32_t count, uint32_t bytes)
{
	*s = (struct ws_race_slots){ .count = count, .bytes = bytes };
	s->cells = race_memory(g, count * WS_RACE_SLOT_BYTES(bytes))->addr;
	s->used = race_memory(g, count * sizeof(uint32_t))->addr;
}

/* The tables live as long as the GPU. */
static inline void race_tables(struct ws_gpu *g, struct race_tables *t)
{
	enum { SLOTS = 16, SEGMENTS = 1 << 14, RECORDS = 1 << 14, CELLS = 1 << 12, PAGES_LOG2 = 4, FOUND_LOG2 = 6, PLACES_LOG2 = 10 };
	struct ws_race_device *d = &t->device;
	struct ws_mem *found = race_memory(g, sizeof(struct ws_race_found) << FOUND_LOG2);
	struct ws_mem *seen = race_memory(g, sizeof(struct ws_race_seen) << FOUND_LOG2);
	struct ws_mem *counts = race_memory(g, sizeof(struct ws_race_counts));

	*d = (struct ws_race_device){ .version = WS_RACE_VERSION, .bytes = sizeof *d, .pages_log2 = PAGES_LOG2, .ncells = CELLS,
	                              .nsegments = SEGMENTS, .nrecords = RECORDS, .locations_log2 = PLACES_LOG2,
	                              .found_log2 = FOUND_LOG2, .found = found->addr, .seen = seen->addr, .counts = counts->addr };
	d->launches = race_memory(g, sizeof(struct ws_race_launches))->addr;
	d->turns = race_memory(g, (1 + WS_RACE_TURNS) * sizeof(uint64_t))->addr;
	d->written = race_memory(g, WS_RACE_WRITTEN * sizeof(uint64_t))->addr;
	d->pages = race_memory(g, sizeof(uint64_t) << PAGES_LOG2)->addr;
	d->lines = race_memory(g, (size_t)WS_RACE_PAGE_BYTES << PAGES_LOG2)->addr;
	d->cells = race_memory(g, (size_t)CELLS * WS_RACE_CELLS_BYTES)->addr;
	d->segments = race_memory(g, (SEGMENTS + 1) * sizeof(struct ws_race_segment))->addr;
	d->lanes = race_memory(g, SEGMENTS / WS_RACE_OF_LANE + 1)->addr;
	d->records = race_memory(g, (RECORDS + 1) * WS_RACE_RECORD_BYTES)->addr;
	d->locations = race_memory(g, sizeof(struct ws_race_location) << PLACES_LOG2)->addr;
	race_slots(g, &d->slots[0], SLOTS, 8 << 10);
	t->found = (struct ws_race_found *)found->host;
	t->seen = (struct ws_race_seen *)seen->host;
	t->counts = (const struct ws_race_counts *)counts->host;
	t->nfound = 1u << FOUND_LOG2;
}

/* Tells the checks of up to two allocations, in order; before race_set. */
static inline void race_areas(struct ws_gpu *g, struct race_tables *t, const struct ws_race_area *areas, uint32_t n)
{
	struct { uint64_t table, reserved; struct ws_race_areas head; struct ws_race_area rows[2]; } *at;
	struct ws_mem *m = race_memory(g, sizeof *at);

	at = (void *)m->host;
	at->table = m->addr + 2 * sizeof at->table;
	at->head.count = n;
	memcpy(at->rows, areas, n * sizeof *areas);
	t->device.areas = m->addr;
}

/* false: the module has no checks. */
static inline bool race_set(struct ws_gpu_module *m, const struct race_tables *t)
{
	struct ws_mem *v = ws_gpu_module_var(m, "__warpsafe_race");

	if (v)
		memcpy(v->host, &t->device, sizeof t->device);
	return v;
}

/* Dynamic shared memory that lets a kernel without have its block's cells in shared memory. */
static inline uint32_t race_shared_size(struct ws_gpu_module *m, const char *kernel, uint32_t threads)
{
	struct ws_kernel_info info;

	ws_gpu_kernel_info(ws_gpu_module_kernel(m, kernel), &info);
	return WS_RACE_SHARED_SIZE(info.shared_static, 0u, threads);
}

/* With which it is a probe. unit: see src/rewrite/probe.h. */
static inline uint32_t race_probe_size(struct ws_gpu_module *m, const char *kernel, uint32_t threads, uint32_t unit)
{
	struct ws_kernel_info info;

	ws_gpu_kernel_info(ws_gpu_module_kernel(m, kernel), &info);
	return WS_RACE_PROBE_SIZE(info.shared_static, WS_RACE_PROBE_DYNAMIC(info.shared_static, 0u, unit), threads);
}

/* The k-th race that was found; NULL when there are fewer. */
static inline const struct ws_race_found *race_found(const struct race_tables *t, uint32_t k)
{
	for (uint32_t n = 0; n < t->nfound; n++)
		if (t->found[n].ready && !k--)
			return &t->found[n];
	return NULL;
}

#endif
