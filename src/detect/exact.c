/* exact.c - the detector "exact": its callbacks, launches, blocks and bytes (exact_priv.h). */
#include "detect/depend.h"
#include "detect/exact_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---- */
static uint64_t cluster_of(const struct ws_obs_launch *l, uint64_t block)
{
	uint64_t id = 0, scale = 1;

	for (int i = 0; i < 3; i++) {
		uint32_t size = l->cluster[i] ? l->cluster[i] : 1, grid = l->grid[i] ? l->grid[i] : 1;

		id += block % grid / size * scale;
		scale *= (grid + size - 1) / size;
		block /= grid;
	}
	return id;
}

bool ws_ex_reaches(const struct ws_exact *x, enum ws_ex_level level, uint64_t block1, uint64_t block2)
{
	if (level == EX_GPU || block1 == block2)
		return true;
	return level == EX_CLUSTER && cluster_of(x->launch, block1) == cluster_of(x->launch, block2);
}

struct ws_ex_block *ws_ex_block(struct ws_exact *x, const struct ws_obs_block *b)
{
	struct ws_ex_block *e = x->launch ? x->blocks[b->linear % EX_BUCKETS] : NULL;

	while (e && e->linear != b->linear)
		e = e->next;
	return e;
}

struct ws_ex_unit *ws_ex_unit(const struct ws_exact *x, struct ws_ex_block *b, const struct ws_obs_warp *w, uint32_t lane)
{
	return &b->units[x->launch->its ? w->index * WS_WARP + lane : w->index];
}

/* ---- bytes of global memory: a hash table of pages ---- */
static struct ws_ex_page **page_slot(struct ws_exact *x, uint64_t number)
{
	size_t i = (number * 0x9E3779B97F4A7C15u >> 20) & (x->page_slots - 1);

	while (x->pages[i] && x->pages[i]->number != number)
		i = (i + 1) & (x->page_slots - 1);
	return &x->pages[i];
}

static void more_slots(struct ws_exact *x)
{
	struct ws_ex_page **old = x->pages;
	size_t n = x->page_slots;

	x->page_slots = n ? 2 * n : 256;
	x->pages = ws_alloc(x->page_slots * sizeof *x->pages);
	for (size_t i = 0; i < n; i++)
		if (old[i])
			*page_slot(x, old[i]->number) = old[i];
	free(old);
}

struct ws_ex_byte *ws_ex_byte(struct ws_exact *x, struct ws_ex_block *owner, uint64_t addr)
{
	struct ws_ex_page **at;

	if (owner)
		return addr < owner->shared_bytes ? &owner->bytes[addr] : NULL;
	if (2 * (x->npages + 1) > x->page_slots)
		more_slots(x);
	at = page_slot(x, addr >> EX_PAGE_BITS);
	if (!*at) {
		*at = ws_alloc(sizeof **at);
		(*at)->number = addr >> EX_PAGE_BITS;
		x->npages++;
	}
	return &(*at)->byte[addr & (EX_PAGE - 1)];
}

/* ---- launches, blocks ---- */
static bool depends(const struct ws_obs_launch *l)
{
	const struct ws_ptx_func *f = l->kernel ? ws_gpu_kernel_function(l->kernel, 0) : NULL;
	bool any = false;

	for (size_t n = 0; f && !any; f = ws_gpu_kernel_function(l->kernel, ++n))
		any = ws_depend_used(f);
	return any;
}

static void launch_begin(struct ws_exact *x, const struct ws_obs_launch *l)
{
	const char *left_out = ws_detect_left_out(x->filter, l->name);

	x->launch = left_out ? NULL : l;
	x->depends = depends(l);
	x->next_unit = 1;
	x->inst = x->accesses = 0;
	x->words = false;
	x->latest = l->host_threads > 1 ? ws_latest_new(l->host_threads) : NULL;
	if (left_out)
		ws_report_unchecked(x->report, l->name ? l->name : "?", left_out);
}

static void on_launch_begin(void *self, struct ws_obs_launch *l)
{
	struct ws_exact *x = self;

	pthread_mutex_lock(&x->lock);
	launch_begin(x, l);
	pthread_mutex_unlock(&x->lock);
}

static void pages_clear(struct ws_exact *x)
{
	for (size_t i = 0; i < x->page_slots; i++) {
		for (int j = 0; x->pages[i] && j < EX_PAGE; j++)
			ws_ex_byte_clear(&x->pages[i]->byte[j]);
		free(x->pages[i]);
	}
	free(x->pages);
	x->pages = NULL;
	x->npages = x->page_slots = 0;
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	struct ws_exact *x = self;
	struct ws_kernel_row row = {.name = l->name ? l->name : "?", .launches = 1, .accesses = x->accesses,
	                            .checked = x->launch != NULL};

	pthread_mutex_lock(&x->lock);
	ws_report_kernel(x->report, &row);
	pages_clear(x);
	ws_ex_clusters_clear(x);
	ws_latest_free(x->latest);
	x->latest = NULL;
	x->launch = NULL;
	pthread_mutex_unlock(&x->lock);
}

static struct ws_ex_block *new_block(struct ws_exact *x, struct ws_obs_block *ob)
{
	struct ws_ex_block *b = ws_alloc(sizeof *b);

	b->b = ob;
	b->linear = ob->linear;
	b->cluster = cluster_of(x->launch, ob->linear);
	b->nlanes = x->launch->warps * WS_WARP;
	b->nunits = x->launch->its ? b->nlanes : x->launch->warps;
	b->first_unit = x->next_unit;
	x->next_unit += b->nunits;
	b->units = ws_alloc(b->nunits * sizeof *b->units);
	for (uint32_t i = 0; i < b->nunits; i++)
		b->units[i] = (struct ws_ex_unit){.id = b->first_unit + i, .time = 1};       /* 1: it has begun */
	b->lanes = ws_alloc(b->nlanes * sizeof *b->lanes);
	b->shared_bytes = x->launch->shared_bytes;
	b->bytes = ws_alloc(((size_t)b->shared_bytes + 1) * sizeof *b->bytes);
	return b;
}

static void on_block_begin(void *self, struct ws_obs_block *ob)
{
	struct ws_exact *x = self;
	struct ws_ex_block *b;

	if (!x->launch)
		return;
	pthread_mutex_lock(&x->lock);
	b = new_block(x, ob);
	b->next = x->blocks[b->linear % EX_BUCKETS];
	x->blocks[b->linear % EX_BUCKETS] = b;
	pthread_mutex_unlock(&x->lock);
}

static void free_block(struct ws_ex_block *b)
{
	for (uint32_t i = 0; i < b->nunits; i++)
		ws_ex_unit_clear(&b->units[i]);
	ws_ex_async_clear(b);
	for (uint32_t i = 0; i < b->shared_bytes; i++)
		ws_ex_byte_clear(&b->bytes[i]);
	for (struct ws_ex_arrival *a = b->arrivals, *next; a; a = next) {
		next = a->next;
		ws_ex_drop(&a->f);
		free(a);
	}
	free(b->units);
	free(b->lanes);
	free(b->bytes);
	free(b);
}

static void on_block_end(void *self, struct ws_obs_block *ob)
{
	struct ws_exact *x = self;
	struct ws_ex_block **at, *b;

	pthread_mutex_lock(&x->lock);
	b = ws_ex_block(x, ob);
	if (b) {
		ws_ex_block_ends(x, b);
		for (at = &x->blocks[b->linear % EX_BUCKETS]; *at != b;)
			at = &(*at)->next;
		*at = b->next;
		free_block(b);
	}
	pthread_mutex_unlock(&x->lock);
}

/* ---- events ---- */
static struct ws_ex_block *enter(struct ws_exact *x, const struct ws_obs_block *ob)
{
	pthread_mutex_lock(&x->lock);
	return ob ? ws_ex_block(x, ob) : NULL;
}

static void leave(struct ws_exact *x)
{
	pthread_mutex_unlock(&x->lock);
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct ws_ex_block *b = enter(self, w->block);

	if (b && a->mask) {
		if (((struct ws_exact *)self)->latest)
			ws_latest_note(((struct ws_exact *)self)->latest, w, a);
		ws_ex_access(self, b, w, a);
	}
	leave(self);
}

static void on_barrier(void *self, struct ws_obs_block *ob, const struct ws_barrier *bar)
{
	struct ws_ex_block *b = enter(self, ob);

	if (b)
		ws_ex_barrier(self, b, bar);
	leave(self);
}

static void on_barrier_arrive(void *self, struct ws_obs_warp *w, uint32_t mask, uint32_t id)
{
	struct ws_ex_block *b = enter(self, w->block);

	if (b)
		ws_ex_barrier_arrive(self, b, w, mask, id);
	leave(self);
}

static void on_warp_sync(void *self, struct ws_obs_warp *w, uint32_t mask)
{
	struct ws_ex_block *b = enter(self, w->block);

	if (b)
		ws_ex_warp_sync(self, b, w, mask);
	leave(self);
}

static void on_fence(void *self, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f)
{
	struct ws_ex_block *b = enter(self, w->block);

	if (b)
		ws_ex_fence(self, b, w, mask, f);
	leave(self);
}

static void on_async_wait(void *self, struct ws_obs_warp *w, uint32_t mask, enum ws_async kind, const uint64_t done[WS_WARP],
                          bool reads_only)
{
	struct ws_ex_block *b = enter(self, w->block);

	if (b)
		ws_ex_async_wait(self, b, w, mask, kind, done, reads_only);
	leave(self);
}

static void on_mbarrier(void *self, struct ws_obs_warp *w, const struct ws_mbar *m)
{
	struct ws_ex_block *b = enter(self, w ? w->block : NULL);

	ws_ex_mbarrier(self, b, w, m);
	leave(self);
}

static void on_cluster_barrier(void *self, struct ws_obs_warp *w, const struct ws_cluster_barrier *c)
{
	struct ws_ex_block *b = enter(self, w->block);

	if (b)
		ws_ex_cluster_barrier(self, b, w, c);
	leave(self);
}

/* Memory that a kernel frees may come again under the same address. */
static void on_mem_free(void *self, struct ws_mem *m)
{
	struct ws_exact *x = self;

	pthread_mutex_lock(&x->lock);
	for (size_t i = 0; i < x->page_slots; i++)
		for (uint64_t j = 0; x->pages[i] && j < EX_PAGE; j++)
			if ((x->pages[i]->number << EX_PAGE_BITS) + j - m->addr < m->size)
				ws_ex_byte_clear(&x->pages[i]->byte[j]);
	pthread_mutex_unlock(&x->lock);
}

/* ---- the detector ---- */
static void *create(const struct ws_detect_config *config, struct ws_report *report)
{
	struct ws_exact *x = ws_alloc(sizeof *x);

	x->config = *config;
	if (!x->config.granularity)
		x->config.granularity = 1;
	x->config.kernel_regex = NULL;
	x->filter = ws_detect_filter_new(config);
	x->report = report;
	pthread_mutex_init(&x->lock, NULL);
	return x;
}

static void attach(void *self, struct ws_gpu *gpu)
{
	((struct ws_exact *)self)->gpu = gpu;
}

static void destroy(void *self)
{
	struct ws_exact *x = self;

	for (int i = 0; i < EX_BUCKETS; i++)
		for (struct ws_ex_block *b = x->blocks[i], *next; b; b = next) {
			next = b->next;
			free_block(b);
		}
	pages_clear(x);
	ws_ex_clusters_clear(x);
	ws_detect_filter_free(x->filter);
	pthread_mutex_destroy(&x->lock);
	free(x);
}

static const struct ws_observer_ops exact_ops = {
	.abi = WS_OBSERVER_ABI,
	.name = "exact",
	.help = "happens-before with vector clocks and full histories",
	.needs = WS_NEED_GLOBAL | WS_NEED_SHARED | WS_NEED_SYNC | WS_NEED_VALUES,
	.launch_begin = on_launch_begin,
	.launch_end = on_launch_end,
	.block_begin = on_block_begin,
	.block_end = on_block_end,
	.access = on_access,
	.barrier = on_barrier,
	.warp_sync = on_warp_sync,
	.fence = on_fence,
	.mem_free = on_mem_free,
	.barrier_arrive = on_barrier_arrive,
	.async_wait = on_async_wait,
	.mbarrier = on_mbarrier,
	.cluster_barrier = on_cluster_barrier,
};

const struct ws_detector ws_detector_exact = {
	.name = "exact",
	.help = "the same with vector clocks and full histories: slow, to check the others",
	.ops = &exact_ops,
	.create = create,
	.attach = attach,
	.destroy = destroy,
};
