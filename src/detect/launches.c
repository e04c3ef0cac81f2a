/* launches.c - keeps the footprints of operations that may run side by side, and compares them; see launches.h. */
#include "detect/launches_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT (UINT64_C(2) << 30)        /* bytes of footprints, unless --shadow-limit says another number */
#define NOT_LIMITED   (UINT64_C(1) << 40)        /* its default, and more */

/* ---- operations, prints, segments ---- */
static struct ws_la_op *new_op(const struct ws_launch_op *d)
{
	struct ws_la_op *op = ws_alloc(sizeof *op);

	op->d = *d;
	op->d.name = ws_strdup(d->name);
	op->d.stream = ws_strdup(d->stream);
	op->d.order.before = (struct ws_clock){NULL, 0};
	return op;
}

static void free_op(struct ws_la_op *op)
{
	if (!op)
		return;
	free((char *)op->d.name);
	free((char *)op->d.stream);
	free(op);
}

static void free_prints(struct ws_la_prints *p)
{
	ws_footprint_free(p->device);
	ws_footprint_free(p->host);
	*p = (struct ws_la_prints){NULL, NULL};
}

static void merge(struct ws_footprint **to, struct ws_footprint *from)
{
	if (!*to)
		*to = from;
	else if (from)
		ws_footprint_merge(*to, from);
}

static void merge_prints(struct ws_la_prints *to, struct ws_la_prints *from)
{
	merge(&to->device, from->device);
	merge(&to->host, from->host);
	*from = (struct ws_la_prints){NULL, NULL};
}

static bool nothing(const struct ws_la_prints *p)
{
	return (!p->device || ws_footprint_empty(p->device)) && (!p->host || ws_footprint_empty(p->host));
}

static void free_segment(struct ws_la_segment *s)
{
	free_prints(&s->prints);
	for (size_t i = 0; i < s->nops; i++)
		free_op(s->ops[i]);
	free(s->ops);
	free(s);
}

static void remove_at(struct ws_launches *l, size_t i)
{
	free_segment(l->live[i]);
	memmove(&l->live[i], &l->live[i + 1], (--l->nlive - i) * sizeof *l->live);
}

/* ---- the pages that the host must not touch ---- */
struct pages { uint64_t *addr; bool *written; size_t n, cap, wcap; };

static void add_page(void *user, uint64_t addr, bool written)
{
	struct pages *p = user;
	size_t n = p->n;

	*WS_PUSH(p->addr, p->n, p->cap) = addr;
	*WS_PUSH(p->written, n, p->wcap) = written;
}

static void watch(struct ws_launches *l)
{
	struct pages p = {NULL, NULL, 0, 0, 0};

	if (!l->front.watch)
		return;
	for (size_t i = 0; i < l->nlive; i++)
		if (l->live[i]->prints.host && !l->live[i]->told_host)
			ws_footprint_pages(l->live[i]->prints.host, add_page, &p);
	if (p.n || l->watching)
		l->front.watch(p.addr, p.written, p.n);
	l->watching = p.n;
	free(p.addr);
	free(p.written);
}

/* ---- what is ordered ---- */
static bool is_before(const struct ws_la_segment *s, const struct ws_clock *c)
{
	return ws_clock_of(c, s->timeline) >= s->last;
}

void ws_launches_known(struct ws_launches *l, const struct ws_clock *host)
{
	size_t before = l->nlive, kept = 0;

	for (size_t i = 0; i < l->nlive; i++)
		if (is_before(l->live[i], host))
			free_segment(l->live[i]);
		else
			l->live[kept++] = l->live[i];
	l->nlive = kept;
	if (kept != before)
		watch(l);
}

size_t ws_launches_kept(const struct ws_launches *l)
{
	return l->nlive;
}

/* ---- one operation ---- */
void ws_launches_begin(struct ws_launches *l, const struct ws_launch_op *op, bool device)
{
	l->now = new_op(op);
	l->order = op->order;
	l->device = device;
	l->recording = l->config.global && !(op->kind == WS_OP_KERNEL && ws_detect_left_out(l->filter, op->name));
	if (!l->nshards) {
		l->nshards = 1;
		l->shards = ws_alloc(sizeof *l->shards);
	}
}

/* Memory of the device alone is left out while no operation could run beside this one. */
struct ws_footprint *ws_la_print_for(struct ws_launches *l, struct ws_la_prints *p, const struct ws_mem *m)
{
	bool host = m && (m->kind == WS_MEM_MANAGED || m->kind == WS_MEM_HOST);
	struct ws_footprint **f = host ? &p->host : &p->device;

	if (!m || m->kind == WS_MEM_HEAP || !(host || l->device))
		return NULL;
	if (!*f)
		*f = ws_footprint_new();
	return *f;
}

void ws_launches_touch(struct ws_launches *l, uint64_t addr, uint64_t bytes, bool write, bool changes)
{
	struct ws_fp_who who = {.op = l->now};
	struct ws_footprint *f;

	if (!l->recording)
		return;
	f = ws_la_print_for(l, &l->shards[0].part[WS_LA_LATE], ws_gpu_mem_find(l->gpu, addr));
	if (f)
		ws_footprint_add(f, addr, bytes, write ? 1u << WS_FP_WRITE | (changes ? 1u << WS_FP_CHANGED : 0) : 1u << WS_FP_READ,
		                 &who);
}

static void gather(struct ws_launches *l, struct ws_la_prints part[WS_LA_PARTS])
{
	memset(part, 0, WS_LA_PARTS * sizeof *part);
	for (size_t i = 0; i < l->nshards; i++)
		for (int p = 0; p < WS_LA_PARTS; p++)
			merge_prints(&part[p], &l->shards[i].part[p]);
}

/* Kernels that hand on flags to each other by fences and atomics have an order of their own, which is not known here. */
static bool talk(struct ws_launches *l, const struct ws_la_segment *s, const struct ws_la_prints *p)
{
	bool yes = s->syncs && l->now->syncs &&
	           ((s->prints.device && p->device && ws_footprint_talk(s->prints.device, p->device)) ||
	            (s->prints.host && p->host && ws_footprint_talk(s->prints.host, p->host)));
	struct ws_buf b = {NULL, 0, 0};

	if (!yes)
		return false;
	ws_buf_printf(&b, "kernels '%s' and '%s' may run side by side and synchronize with each other by atomics and fences: "
	              "races between the two are not looked for", s->ops[s->nops - 1]->d.name, l->now->d.name);
	ws_report_limit(l->report, b.data);
	ws_buf_free(&b);
	return true;
}

static void check(struct ws_launches *l, const struct ws_la_prints part[WS_LA_PARTS])
{
	for (size_t i = 0; i < l->nlive; i++) {
		const struct ws_la_segment *s = l->live[i];
		bool ordered = is_before(s, &l->order.before);
		bool overlaps = ordered && l->order.overlaps && s->timeline == l->order.timeline && s->last == l->order.overlaps;

		if (ordered && !overlaps)
			continue;
		if (!talk(l, s, &part[WS_LA_EARLY]))
			ws_la_compare(l, &s->prints, &part[WS_LA_EARLY], overlaps);
		if (!ordered && !talk(l, s, &part[WS_LA_LATE]))
			ws_la_compare(l, &s->prints, &part[WS_LA_LATE], false);
	}
}

/* The newest operation of a timeline stays by itself, for its successor may overlap with it alone; the one before joins
 * its predecessors if nobody can tell them apart. */
static void join_older(struct ws_launches *l, uint32_t timeline)
{
	struct ws_la_segment *newest = NULL, *older = NULL;
	size_t at = 0;

	for (size_t i = l->nlive; i-- && !older;)
		if (l->live[i]->timeline == timeline) {
			if (newest)
				older = l->live[i];
			else
				newest = l->live[at = i];
		}
	if (!older || older->overlaps || newest->overlaps || older->told_host != newest->told_host || older->cut != newest->cut)
		return;
	merge_prints(&older->prints, &newest->prints);
	for (size_t i = 0; i < newest->nops; i++)
		*WS_PUSH(older->ops, older->nops, older->cap) = newest->ops[i];
	newest->nops = 0;
	older->last = newest->last;
	older->syncs = older->syncs || newest->syncs;
	remove_at(l, at);
}

static uint64_t memory(const struct ws_launches *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->nlive; i++) {
		n += l->live[i]->prints.device ? ws_footprint_memory(l->live[i]->prints.device) : 0;
		n += l->live[i]->prints.host ? ws_footprint_memory(l->live[i]->prints.host) : 0;
	}
	return n;
}

static void keep_limit(struct ws_launches *l)
{
	uint64_t limit = l->config.shadow_limit && l->config.shadow_limit < NOT_LIMITED ? l->config.shadow_limit : DEFAULT_LIMIT;
	bool over = false;

	while (l->nlive > 1 && memory(l) > limit) {
		remove_at(l, 0);
		over = true;
	}
	if (over)
		ws_report_limit(l->report, "so much work is in flight at once that the oldest is forgotten: races with it are not "
		                "looked for (--shadow-limit)");
}

static void store(struct ws_launches *l, struct ws_la_prints *p)
{
	struct ws_la_segment *s = ws_alloc(sizeof *s);

	s->timeline = l->order.timeline;
	s->first = s->last = l->order.index;
	s->overlaps = l->order.overlaps;
	s->cut = l->order.cut;
	s->prints = *p;
	s->syncs = l->now->syncs;
	*WS_PUSH(s->ops, s->nops, s->cap) = l->now;
	l->now = NULL;
	join_older(l, s->timeline);
	*WS_PUSH(l->live, l->nlive, l->cap) = s;
	keep_limit(l);
}

void ws_launches_end(struct ws_launches *l)
{
	struct ws_la_prints part[WS_LA_PARTS];

	if (!l->now)
		return;
	gather(l, part);
	check(l, part);
	merge_prints(&part[WS_LA_LATE], &part[WS_LA_EARLY]);
	if (!nothing(&part[WS_LA_LATE])) {
		store(l, &part[WS_LA_LATE]);
		watch(l);
	} else {
		free_prints(&part[WS_LA_LATE]);
	}
	free_op(l->now);
	l->now = NULL;
	ws_operation_free(&l->order);
}

/* ---- the host ---- */
struct host_access { struct ws_launches *l; void *const *frames; bool found; };

static void host_found(void *user, const struct ws_fp_conflict *c)
{
	struct host_access *h = user;

	h->found = true;
	ws_la_tell_host(h->l, c, h->frames);
}

bool ws_launches_host(struct ws_launches *l, uint64_t addr, uint64_t bytes, bool write, const struct ws_clock *host,
                      void *const *frames, struct ws_clock *learned)
{
	struct host_access h = {l, frames, false};

	for (size_t i = 0; i < l->nlive; i++) {
		struct ws_la_segment *s = l->live[i];
		struct ws_clock c = {NULL, 0};

		if (is_before(s, host) || is_before(s, learned) || !s->prints.host || s->told_host)
			continue;
		if (!write && s->syncs && ws_footprint_tells_host(s->prints.host, addr)) {
			ws_clock_at_least(&c, s->timeline, s->last);
			ws_clock_join(learned, &c);
			ws_clock_free(&c);
			continue;
		}
		ws_footprint_host(s->prints.host, addr, bytes, write, host_found, &h);
		s->told_host = h.found;
		if (h.found)
			return true;
	}
	return false;
}

/* ---- between the simulated GPU and the detector ---- */
#define FORWARD(callback, params, ...) \
	static void on_##callback params \
	{ \
		struct ws_launches *l = self; \
		l->inner->callback(l->inner_self, __VA_ARGS__); \
	}

FORWARD(launch_end, (void *self, struct ws_obs_launch *o, bool completed), o, completed)
FORWARD(block_begin, (void *self, struct ws_obs_block *b), b)
FORWARD(block_end, (void *self, struct ws_obs_block *b), b)
FORWARD(warp_begin, (void *self, struct ws_obs_warp *w), w)
FORWARD(warp_end, (void *self, struct ws_obs_warp *w), w)
FORWARD(barrier, (void *self, struct ws_obs_block *b, const struct ws_barrier *bar), b, bar)
FORWARD(warp_sync, (void *self, struct ws_obs_warp *w, uint32_t mask), w, mask)
FORWARD(thread_exit, (void *self, struct ws_obs_warp *w, uint32_t mask), w, mask)
FORWARD(barrier_arrive, (void *self, struct ws_obs_warp *w, uint32_t mask, uint32_t id), w, mask, id)
FORWARD(async_wait, (void *self, struct ws_obs_warp *w, uint32_t mask, enum ws_async kind, const uint64_t done[WS_WARP],
                     bool reads_only), w, mask, kind, done, reads_only)
FORWARD(mbarrier, (void *self, struct ws_obs_warp *w, const struct ws_mbar *m), w, m)
FORWARD(cluster_barrier, (void *self, struct ws_obs_warp *w, const struct ws_cluster_barrier *c), w, c)

static void more_shards(struct ws_launches *l, uint32_t n)
{
	if (n <= l->nshards)
		return;
	l->shards = ws_realloc(l->shards, n * sizeof *l->shards);
	memset(l->shards + l->nshards, 0, (n - l->nshards) * sizeof *l->shards);
	l->nshards = n;
}

static void on_launch_begin(void *self, struct ws_obs_launch *o)
{
	struct ws_launches *l = self;

	l->now->d.launch = o->serial;
	memcpy(l->now->grid, o->grid, sizeof o->grid);
	memcpy(l->now->block, o->block, sizeof o->block);
	more_shards(l, o->host_threads);
	if (l->inner->launch_begin)
		l->inner->launch_begin(l->inner_self, o);
	o->unwritten_untold = false;         /* reads of what this kernel does not write are recorded, too */
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct ws_launches *l = self;

	if (l->inner->access)
		l->inner->access(l->inner_self, w, a);
	if (l->recording && a->space == WS_SPACE_GLOBAL)
		ws_la_record(l, w, a);
}

static void on_fence(void *self, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f)
{
	struct ws_launches *l = self;

	if (f->scope >= WS_SCOPE_GPU)
		__atomic_store_n(&l->now->syncs, true, __ATOMIC_RELAXED);
	if (l->inner->fence)
		l->inner->fence(l->inner_self, w, mask, f);
}

const struct ws_observer_ops *ws_launches_observer(struct ws_launches *l, const struct ws_observer_ops *inner, void *inner_self)
{
	l->inner = inner;
	l->inner_self = inner_self;
	l->ops = (struct ws_observer_ops){
		.abi = WS_OBSERVER_ABI, .name = inner->name, .help = inner->help,
		.needs = inner->needs | WS_NEED_GLOBAL | WS_NEED_SYNC | WS_NEED_VALUES,
		.launch_begin = on_launch_begin, .access = on_access, .fence = on_fence,
		.launch_end = inner->launch_end ? on_launch_end : NULL,
		.block_begin = inner->block_begin ? on_block_begin : NULL,
		.block_end = inner->block_end ? on_block_end : NULL,
		.warp_begin = inner->warp_begin ? on_warp_begin : NULL,
		.warp_end = inner->warp_end ? on_warp_end : NULL,
		.barrier = inner->barrier ? on_barrier : NULL,
		.warp_sync = inner->warp_sync ? on_warp_sync : NULL,
		.thread_exit = inner->thread_exit ? on_thread_exit : NULL,
		.barrier_arrive = inner->barrier_arrive ? on_barrier_arrive : NULL,
		.async_wait = inner->async_wait ? on_async_wait : NULL,
		.mbarrier = inner->mbarrier ? on_mbarrier : NULL,
		.cluster_barrier = inner->cluster_barrier ? on_cluster_barrier : NULL,
	};
	return &l->ops;
}

struct ws_launches *ws_launches_new(const struct ws_detect_config *config, struct ws_report *report, struct ws_gpu *gpu,
                                    const struct ws_launches_front *front)
{
	struct ws_launches *l = ws_alloc(sizeof *l);

	l->config = *config;
	l->report = report;
	l->gpu = gpu;
	l->front = *front;
	l->filter = ws_detect_filter_new(config);
	return l;
}
