/* compare.c - the detector "compare": "shadow" and "exact" watch one execution, and both must find the same bytes to
 * race, and the same cluster-lifetime errors. A difference makes the run fail. The reports are those of "shadow".
 *
 * Only "shadow" uses the state fields of the executor's structs. One lock makes both see the same order of events. */
#include "detect/detect.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern const struct ws_detector ws_detector_shadow, ws_detector_exact;

enum { SHADOW, EXACT, SIDES };
#define LIFETIME (1ull << 32)                       /* added to the address: not a byte but a visit, see ws_raced_bytes */
struct found { uint64_t key[2]; uint8_t sides; };    /* key: block + 1 (0: global), address */

struct compare {
	struct side { struct compare *c; int bit; const struct ws_observer_ops *ops; void *self; } side[SIDES];
	struct ws_report *report, *scratch;          /* scratch: what exact would report */
	pthread_mutex_t lock;
	struct ws_gpu *gpu;
	struct found *set;                           /* hash table; sides == 0: empty */
	size_t slots, n;
	void (*raced)(void *user, const struct ws_raced_bytes *r);   /* the caller's, told of shadow's bytes */
	void *raced_user;
};

/* ---- racing bytes ---- */
static struct found *slot(struct compare *c, uint64_t space, uint64_t addr)
{
	size_t i = (space * 0xD6E8FEB86659FD93u + addr) * 0x9E3779B97F4A7C15u >> 20 & (c->slots - 1);

	while (c->set[i].sides && (c->set[i].key[0] != space || c->set[i].key[1] != addr))
		i = (i + 1) & (c->slots - 1);
	return &c->set[i];
}

static void more_slots(struct compare *c)
{
	struct found *old = c->set;
	size_t n = c->slots;

	c->slots = n ? 2 * n : 1024;
	c->set = ws_alloc(c->slots * sizeof *c->set);
	for (size_t i = 0; i < n; i++)
		if (old[i].sides)
			*slot(c, old[i].key[0], old[i].key[1]) = old[i];
	free(old);
}

static void on_raced(void *user, const struct ws_raced_bytes *r)
{
	struct side *s = user;
	struct compare *c = s->c;

	for (uint32_t i = 0; i < r->bytes; i++) {
		uint64_t space = r->global ? 0 : r->block + 1, addr = r->addr + i + (r->lifetime ? LIFETIME : 0);
		struct found *f;

		if (2 * (c->n + 1) > c->slots)
			more_slots(c);
		f = slot(c, space, addr);
		c->n += !f->sides;
		f->key[0] = space;
		f->key[1] = addr;
		f->sides |= 1u << s->bit;
	}
	if (s->bit == SHADOW && c->raced)
		c->raced(c->raced_user, r);
}

static int by_place(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int i = x->key[0] == y->key[0];

	return x->key[i] < y->key[i] ? -1 : x->key[i] > y->key[i];
}

/* Told as a failure of the run, with a few examples. */
static void tell(struct compare *c, const struct ws_obs_launch *l)
{
	struct ws_buf text = {NULL, 0, 0};
	uint64_t n[SIDES] = {0, 0}, told = 0;
	struct found *f;

	for (size_t i = 0; i < c->slots; i++)
		for (int s = 0; s < SIDES; s++)
			n[s] += c->set[i].sides == 1u << s;
	if (!n[SHADOW] && !n[EXACT])
		return;
	qsort(c->set, c->slots, sizeof *c->set, by_place);
	ws_buf_printf(&text, "%s, launch %" PRIu64 ": the detectors differ: %" PRIu64 " bytes race for shadow only, %" PRIu64
	              " for exact only", l->name ? l->name : "?", l->serial, n[SHADOW], n[EXACT]);
	for (size_t i = 0; i < c->slots && told < 8; i++) {
		f = &c->set[i];
		if (!f->sides || f->sides == 3)
			continue;
		told++;
		if (f->key[0] && f->key[1] >= LIFETIME)
			ws_buf_printf(&text, "\n  visit of block %" PRIu64 " that %s: %s", f->key[0] - 1,
			              f->key[1] > LIFETIME ? "ended" : "had not begun", f->sides == 1 ? "shadow" : "exact");
		else if (f->key[0])
			ws_buf_printf(&text, "\n  shared memory of block %" PRIu64 ", byte %" PRIu64 ": %s", f->key[0] - 1, f->key[1],
			              f->sides == 1 ? "shadow" : "exact");
		else
			ws_buf_printf(&text, "\n  global memory %#" PRIx64 ": %s", f->key[1], f->sides == 1 ? "shadow" : "exact");
	}
	ws_report_error(c->report, text.data);
	ws_buf_free(&text);
}

/* ---- events: each goes to both ---- */
#define BOTH(callback, ...) \
	struct compare *c = self; \
	pthread_mutex_lock(&c->lock); \
	for (int i = 0; i < SIDES; i++) \
		if (c->side[i].ops->callback) \
			c->side[i].ops->callback(c->side[i].self, __VA_ARGS__); \
	pthread_mutex_unlock(&c->lock)

static void on_launch_begin(void *self, struct ws_obs_launch *l)
{
	BOTH(launch_begin, l);
	l->unwritten_untold = false; /* both sides see everything */
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	BOTH(launch_end, l, completed);
	tell(c, l);
	free(c->set);
	c->set = NULL;
	c->slots = c->n = 0;
}

static void on_block_begin(void *self, struct ws_obs_block *b)
{
	BOTH(block_begin, b);
	b->notes = NULL;             /* shadow's; exact must see every access */
}

static void on_block_end(void *self, struct ws_obs_block *b)
{
	BOTH(block_end, b);
}

static void on_warp_begin(void *self, struct ws_obs_warp *w)
{
	BOTH(warp_begin, w);
}

static void on_warp_end(void *self, struct ws_obs_warp *w)
{
	BOTH(warp_end, w);
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	BOTH(access, w, a);
}

static void on_barrier(void *self, struct ws_obs_block *b, const struct ws_barrier *bar)
{
	BOTH(barrier, b, bar);
}

static void on_barrier_arrive(void *self, struct ws_obs_warp *w, uint32_t mask, uint32_t id)
{
	BOTH(barrier_arrive, w, mask, id);
}

static void on_warp_sync(void *self, struct ws_obs_warp *w, uint32_t mask)
{
	BOTH(warp_sync, w, mask);
}

static void on_fence(void *self, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f)
{
	BOTH(fence, w, mask, f);
}

static void on_thread_exit(void *self, struct ws_obs_warp *w, uint32_t mask)
{
	BOTH(thread_exit, w, mask);
}

static void on_mem_new(void *self, struct ws_mem *m)
{
	BOTH(mem_new, m);
}

static void on_mem_free(void *self, struct ws_mem *m)
{
	BOTH(mem_free, m);
}

static void on_async_wait(void *self, struct ws_obs_warp *w, uint32_t mask, enum ws_async kind, const uint64_t done[WS_WARP],
                          bool reads_only)
{
	BOTH(async_wait, w, mask, kind, done, reads_only);
}

static void on_mbarrier(void *self, struct ws_obs_warp *w, const struct ws_mbar *m)
{
	BOTH(mbarrier, w, m);
}

static void on_cluster_barrier(void *self, struct ws_obs_warp *w, const struct ws_cluster_barrier *b)
{
	BOTH(cluster_barrier, w, b);
}

/* ---- the detector ---- */
static void *create(const struct ws_detect_config *config, struct ws_report *report)
{
	static const struct ws_detector *const detectors[SIDES] = {&ws_detector_shadow, &ws_detector_exact};
	struct compare *c = ws_alloc(sizeof *c);

	c->report = report;
	c->scratch = ws_report_new();
	c->raced = config->raced;
	c->raced_user = config->raced_user;
	pthread_mutex_init(&c->lock, NULL);
	for (int i = 0; i < SIDES; i++) {
		struct ws_detect_config own = *config;

		own.raced = on_raced;
		own.raced_user = &c->side[i];
		c->side[i] = (struct side){.c = c, .bit = i, .ops = detectors[i]->ops};
		c->side[i].self = detectors[i]->create(&own, i == SHADOW ? report : c->scratch);
	}
	return c;
}

static void attach(void *self, struct ws_gpu *gpu)
{
	struct compare *c = self;

	ws_detector_shadow.attach(c->side[SHADOW].self, gpu);
	ws_detector_exact.attach(c->side[EXACT].self, gpu);
}

static void destroy(void *self)
{
	struct compare *c = self;

	ws_detector_shadow.destroy(c->side[SHADOW].self);
	ws_detector_exact.destroy(c->side[EXACT].self);
	ws_report_free(c->scratch);
	pthread_mutex_destroy(&c->lock);
	free(c->set);
	free(c);
}

static const struct ws_observer_ops compare_ops = {
	.abi = WS_OBSERVER_ABI,
	.name = "compare",
	.help = "shadow and exact on one execution",
	.needs = WS_NEED_GLOBAL | WS_NEED_SHARED | WS_NEED_SYNC | WS_NEED_VALUES,
	.launch_begin = on_launch_begin,
	.launch_end = on_launch_end,
	.block_begin = on_block_begin,
	.block_end = on_block_end,
	.warp_begin = on_warp_begin,
	.warp_end = on_warp_end,
	.access = on_access,
	.barrier = on_barrier,
	.warp_sync = on_warp_sync,
	.fence = on_fence,
	.thread_exit = on_thread_exit,
	.mem_new = on_mem_new,
	.mem_free = on_mem_free,
	.barrier_arrive = on_barrier_arrive,
	.async_wait = on_async_wait,
	.mbarrier = on_mbarrier,
	.cluster_barrier = on_cluster_barrier,
};

const struct ws_detector ws_detector_compare = {
	.name = "compare",
	.help = "shadow and exact on one execution: fails where they differ (for tests)",
	.ops = &compare_ops,
	.create = create,
	.attach = attach,
	.destroy = destroy,
};
