/* host_decides.h - what the host decides of a launch before it (src/real/decide.h), in tests of what the kernel's entry does. */
#ifndef HOST_DECIDES_H
#define HOST_DECIDES_H

#include <string.h>

#include "device/race.h"
#include "gpu/gpu.h"
#include "real/decide.h"
#include "rewrite/rewrite.h"

struct host_decides { struct ws_arena *arena; struct ws_real_decision *decision, *telling, *extents, *parts; struct ws_rw_sure sure; uint32_t nparts; };

/* Of the module's first kernel. No probe has found anything. */
static inline struct host_decides host_decides(const struct ws_ptx_module *m)
{
	const struct ws_rw_result *r = ws_rewrite_result(m);
	struct host_decides h = { .arena = ws_arena_new(), .sure = r->nkernels ? r->kernels[0].sure : (struct ws_rw_sure){ 0 } };

	if (r->nkernels && r->kernels[0].decides)
		h.decision = ws_real_decision_new(h.arena, r->kernels[0].decides);
	if (r->nkernels && r->kernels[0].tells)
		h.telling = ws_real_decision_new(h.arena, r->kernels[0].tells);
	if (r->nkernels && r->kernels[0].extents)
		h.extents = ws_real_decision_new(h.arena, r->kernels[0].extents);
	if (r->nkernels && r->kernels[0].parts) {
		h.parts = ws_real_decision_new(h.arena, r->kernels[0].parts);
		h.nparts = r->kernels[0].nparts;
	}
	return h;
}

/* Allocations around addresses. */
static struct ws_race_area host_areas[2];
static unsigned host_nareas;

static inline bool host_area_of(uint64_t address, uint64_t *start, uint64_t *end)
{
	for (unsigned k = host_nareas; k--;)
		if (address >= host_areas[k].start && address < host_areas[k].end) {
			*start = host_areas[k].start;
			*end = host_areas[k].end;
			return true;
		}
	return false;
}

/* What proofs find in the launch; false: the host does not know that, and *out is as it was. */
static inline bool host_tells(const struct host_decides *h, const struct ws_gpu_launch *l, void *const *params, struct ws_race_told *out)
{
	return h->telling && ws_real_decide_all(h->telling, &(struct ws_real_deciding){ .grid = l->grid, .block = l->block, .params = params, .area_of = host_area_of }, out);
}

/* The memory that the launch may come to. */
static inline struct ws_real_touched host_touched(const struct host_decides *h, const struct ws_gpu_launch *l, void *const *params)
{
	struct ws_real_touched t = { .known = false };

	if (h->extents)
		ws_real_decide_extents(h->extents, &(struct ws_real_deciding){ .grid = l->grid, .block = l->block, .params = params, .area_of = host_area_of }, &t);
	return t;
}

/* Is it a launch of the kernel that looks whether accesses stay in parts? What that is told, but for what is not of the parts. */
static inline bool host_in_parts(const struct host_decides *h, const struct ws_gpu_launch *l, void *const *params, struct ws_race_parts *out)
{
	struct ws_real_deciding d = { .grid = l->grid, .block = l->block, .params = params, .area_of = host_area_of, .proved = true };
	struct ws_real_touched t = host_touched(h, l, params);
	struct ws_race_told told;

	if (!h->parts || !h->decision || !ws_real_decide(h->decision, &d) || !ws_real_decide_all(h->parts, &d, &told) || !(told.truths & 1) || !ws_real_touched_again(&t))
		return false;
	*out = (struct ws_race_parts){ .mark = 0 };
	for (uint32_t k = 0; k < h->nparts; k++)
		out->part[k] = (struct ws_race_part){ (uint32_t)told.values[2 * k], (uint32_t)told.values[2 * k + 1] };
	return true;
}

/* The kernel k for a launch that is told this: with those checks alone that no proof spares, if all is true that they ask. */
static inline const char *host_takes(const struct host_decides *h, const struct ws_race_told *told)
{
	const char *prefix = told->mark == WS_RACE_TOLD ? ws_rw_sure_for(&h->sure, told->truths, false) : NULL;

	return !prefix ? "k" : !strcmp(prefix, WS_RW_SURE) ? WS_RW_SURE "k" : WS_RW_TOLD "k";
}

static inline bool host_says_silent(const struct host_decides *h, const struct ws_gpu_launch *l, void *const *params)
{
	return h->decision && ws_real_decide(h->decision, &(struct ws_real_deciding){ .grid = l->grid, .block = l->block, .params = params, .area_of = host_area_of });
}

#endif
