/* touched.c - the detector "touched": how many bytes a launch touches. It finds no races.
 *
 * All of them: also those which "shadow" is not told of, reads of memory that the kernel's code cannot write. It is what
 * shadow memory is measured by (docs/PERFORMANCE.md, "Shadow memory"). A bit a byte of each stretch of global memory, and of
 * each resident block's shared memory. */
#include "detect/detect.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct bytes {                       /* of memory; at ws_mem.obs or ws_obs_block.state */
	uint64_t first, n;           /* address */
	struct bytes *next;          /* of all of global memory */
	uint64_t bits[];
};

struct touched {
	struct ws_report *report;
	struct ws_detect_filter *filter;
	struct ws_gpu *gpu;
	pthread_mutex_t lock;        /* list, shared */
	struct bytes *all;
	uint64_t shared;             /* of the block of this launch that touched most */
	uint64_t most, most_shared;  /* of the launch that touched most */
};

static struct bytes *bytes_new(uint64_t first, uint64_t n)
{
	struct bytes *b = ws_alloc(sizeof *b + (n + 63) / 64 * sizeof b->bits[0]);

	b->first = first;
	b->n = n;
	return b;
}

static uint64_t count(const struct bytes *b)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < (b->n + 63) / 64; i++)
		n += (uint64_t)__builtin_popcountll(b->bits[i]);
	return n;
}

static struct bytes *of_memory(struct touched *t, struct ws_mem *mem)
{
	struct bytes *b;

	pthread_mutex_lock(&t->lock);
	b = mem->obs;
	if (!b) {
		b = mem->obs = bytes_new(mem->addr, mem->size);
		b->next = t->all;
		t->all = b;
	}
	pthread_mutex_unlock(&t->lock);
	return b;
}

static void touch(struct bytes *b, uint64_t addr, uint32_t bytes)
{
	for (uint64_t at = addr - b->first, end = at + bytes; at < end && at < b->n; at++)
		__atomic_fetch_or(&b->bits[at / 64], 1ull << at % 64, __ATOMIC_RELAXED);
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	const struct ws_obs_block *owner = a->peer ? a->peer : w->block;
	struct bytes *b = a->space == WS_SPACE_SHARED ? owner->state : NULL;
	struct touched *t = self;

	if (!w->block->state || (a->space == WS_SPACE_SHARED && !b))
		return;
	for (uint32_t m = a->mask; m; m &= m - 1) {
		uint64_t addr = a->addr[__builtin_ctz(m)];
		struct ws_mem *mem = a->mem || !t->gpu ? a->mem : ws_gpu_mem_find(t->gpu, addr);

		if (a->space == WS_SPACE_SHARED)
			touch(b, addr, a->bytes);
		else if (mem)
			touch(of_memory(t, mem), addr, a->bytes);
	}
}

static void on_block_begin(void *self, struct ws_obs_block *b)
{
	b->state = b->launch->state ? bytes_new(0, b->launch->shared_bytes) : NULL;
}

static void on_block_end(void *self, struct ws_obs_block *b)
{
	struct touched *t = self;
	uint64_t n = b->state ? count(b->state) : 0;

	pthread_mutex_lock(&t->lock);
	t->shared = n > t->shared ? n : t->shared;
	pthread_mutex_unlock(&t->lock);
	free(b->state);
	b->state = NULL;
}

static void on_launch_begin(void *self, struct ws_obs_launch *l)
{
	struct touched *t = self;

	for (struct bytes *b = t->all; b; b = b->next)
		memset(b->bits, 0, (b->n + 63) / 64 * sizeof b->bits[0]);
	t->shared = 0;
	l->state = ws_detect_left_out(t->filter, l->name) ? NULL : t;
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	struct ws_kernel_row row = {.name = l->name ? l->name : "?", .launches = 1};
	struct touched *t = self;
	uint64_t all = t->shared;

	for (const struct bytes *b = t->all; b; b = b->next)
		all += count(b);
	if (all > t->most) {
		t->most = all;
		t->most_shared = t->shared;
	}
	ws_report_kernel(t->report, &row);
	l->state = NULL;
}

static void on_mem_free(void *self, struct ws_mem *m)
{
	struct touched *t = self;
	struct bytes **at = &t->all;

	if (!m->obs)
		return;
	while (*at != m->obs)
		at = &(*at)->next;
	*at = (*at)->next;
	free(m->obs);
	m->obs = NULL;
}

static void *create(const struct ws_detect_config *config, struct ws_report *report)
{
	struct touched *t = ws_alloc(sizeof *t);

	t->report = report;
	t->filter = ws_detect_filter_new(config);
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

static void attach(void *self, struct ws_gpu *gpu)
{
	((struct touched *)self)->gpu = gpu;
}

static void destroy(void *self)
{
	struct touched *t = self;

	ws_detect_filter_free(t->filter);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static void stats(void *self, struct ws_buf *out)
{
	const struct touched *t = self;

	ws_buf_printf(out, "touched: %" PRIu64 " bytes of memory, of which %" PRIu64 " are one block's shared memory", t->most,
	              t->most_shared);
}

static const struct ws_observer_ops touched_ops = {
	.abi = WS_OBSERVER_ABI, .name = "touched", .needs = WS_NEED_GLOBAL | WS_NEED_SHARED,
	.launch_begin = on_launch_begin, .launch_end = on_launch_end, .block_begin = on_block_begin, .block_end = on_block_end,
	.access = on_access, .mem_free = on_mem_free,
};

extern const struct ws_detector ws_detector_touched;
const struct ws_detector ws_detector_touched = {
	.name = "touched", .help = "how many bytes a launch touches (--stats=yes tells it); finds no races",
	.ops = &touched_ops, .create = create, .attach = attach, .destroy = destroy, .stats = stats,
};
