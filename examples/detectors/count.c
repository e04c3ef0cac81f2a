/* count.c - a detector of one's own, complete: how many bytes does each kernel read, write and update atomically, and how
 * many of its accesses were one run of memory? docs/DETECTORS.md explains it line by line. */
#include "detect/detect.h"

#include <inttypes.h>
#include <stdlib.h>

struct count {
	struct ws_report *report;
	uint64_t bytes[3], runs, accesses;   /* by enum ws_access_kind */
};

static void *create(const struct ws_detect_config *config, struct ws_report *report)
{
	struct count *c = ws_alloc(sizeof *c);

	c->report = report;
	return c;
}

static void destroy(void *self)
{
	free(self);
}

/* Blocks of several host threads call at the same time: the counters are atomic. */
static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct count *c = self;
	uint64_t bytes = (uint64_t)__builtin_popcount(a->mask) * a->bytes;

	__atomic_fetch_add(&c->bytes[a->kind], bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->accesses, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->runs, a->linear, __ATOMIC_RELAXED);
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	struct count *c = self;
	struct ws_kernel_row row = {.name = l->name, .launches = 1, .accesses = c->accesses, .checked = true};
	struct ws_buf text = {0};

	ws_report_kernel(c->report, &row);
	ws_buf_printf(&text, "%s: %" PRIu64 " bytes read, %" PRIu64 " written, %" PRIu64 " updated; %" PRIu64 " of %" PRIu64
	              " accesses were one run of memory", l->name, c->bytes[WS_READ], c->bytes[WS_WRITE], c->bytes[WS_ATOMIC],
	              c->runs, c->accesses);
	ws_report_limit(c->report, text.data);
	ws_buf_free(&text);
	*c = (struct count){.report = c->report};
}

static const struct ws_observer_ops count_ops = {
	.abi = WS_OBSERVER_ABI,
	.name = "count",
	.needs = WS_NEED_GLOBAL | WS_NEED_SHARED,
	.launch_end = on_launch_end,
	.access = on_access,
};

const struct ws_detector detector_count = {
	.name = "count",
	.help = "bytes read, written and updated by each kernel",
	.ops = &count_ops,
	.create = create,
	.destroy = destroy,
};
