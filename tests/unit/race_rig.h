/* race_rig.h - a kernel with the checks of the pass `race` on the simulated GPU, with small tables, and what they found. */
#ifndef RACE_RIG_H
#define RACE_RIG_H

#include "device/race.h"
#include "gpu_test.h"
#include "rewrite/rewrite.h"

struct race_rig {
	struct rig rig;
	struct ws_buf text;              /* of the rewritten module */
	struct ws_race_device device;
	struct ws_mem *found, *counts;
	uint32_t nfound;                 /* rows of the table */
};

static inline uint64_t race_memory(struct race_rig *r, size_t bytes)
{
	return rig_mem(&r->rig, bytes)->addr;
}

/* Small tables; a test of a limit makes one smaller and calls race_set. */
static inline void race_tables(struct race_rig *r)
{
	enum { SLOTS = 64, SEGMENTS = 1 << 14, RECORDS = 1 << 14, CELLS = 1 << 12, PAGES_LOG2 = 5, FOUND_LOG2 = 6, PLACES_LOG2 = 10 };
	struct ws_race_device *d = &r->device;

	*d = (struct ws_race_device){ .version = WS_RACE_VERSION, .bytes = sizeof *d, .pages_log2 = PAGES_LOG2, .ncells = CELLS,
	                              .nsegments = SEGMENTS, .nrecords = RECORDS, .locations_log2 = PLACES_LOG2,
	                              .found_log2 = FOUND_LOG2 };
	d->pages = race_memory(r, sizeof(uint64_t) << PAGES_LOG2);
	d->lines = race_memory(r, (size_t)WS_RACE_PAGE_BYTES << PAGES_LOG2);
	d->cells = race_memory(r, (size_t)CELLS * WS_RACE_CELLS_BYTES);
	d->segments = race_memory(r, (SEGMENTS + 1) * sizeof(struct ws_race_segment));
	d->records = race_memory(r, (RECORDS + 1) * sizeof(struct ws_race_record));
	d->locations = race_memory(r, sizeof(struct ws_race_location) << PLACES_LOG2);
	r->nfound = 1u << FOUND_LOG2;
	r->found = rig_mem(&r->rig, r->nfound * sizeof(struct ws_race_found));
	d->found = r->found->addr;
	r->counts = rig_mem(&r->rig, sizeof(struct ws_race_counts));
	d->counts = r->counts->addr;
	d->slots[0].bytes = 8 << 10;
	d->slots[0].count = SLOTS;
	d->slots[0].cells = race_memory(r, SLOTS * WS_RACE_SLOT_BYTES(d->slots[0].bytes));
	d->slots[0].used = race_memory(r, SLOTS * sizeof(uint32_t));
}

static inline void race_set(struct race_rig *r)
{
	struct ws_mem *m = ws_gpu_module_var(r->rig.mod, "__warpsafe_race");

	assert_non_null(m);
	memcpy(m->host, &r->device, sizeof r->device);
}

static inline struct race_rig race_new_by(const char *pass, struct ws_gpu_config c, const char *text)
{
	struct race_rig r = { 0 };
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", text, strlen(text), NULL, &sink);

	if (!m || !ws_rewrite(pass, m, &sink))
		fail_msg("%s", said.data);
	ws_ptx_print(m, &r.text);
	ws_ptx_free(m);
	r.rig = rig_new(c, r.text.data);
	race_tables(&r);
	race_set(&r);
	return r;
}

static inline struct race_rig race_new(struct ws_gpu_config c, const char *text)
{
	return race_new_by("race", c, text);
}

static inline void race_free(struct race_rig *r)
{
	rig_free(&r->rig);
	ws_buf_free(&r->text);
}

/* The k-th race that was found; NULL when there are fewer. */
static inline const struct ws_race_found *race_found(const struct race_rig *r, uint32_t k)
{
	const struct ws_race_found *f = (const struct ws_race_found *)r->found->host;

	for (uint32_t n = 0; n < r->nfound; n++)
		if (f[n].key && !k--)
			return &f[n];
	return NULL;
}

static inline const struct ws_race_counts *race_counts(const struct race_rig *r)
{
	return (const struct ws_race_counts *)r->counts->host;
}

#endif
