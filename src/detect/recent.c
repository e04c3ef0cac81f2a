/* recent.c - the detector "recent": how many checks for races in global memory remain when there is shadow memory for the
 * most recently used pages only (Holey, Mekkat, Yew, Zhai, "Transactions and races", 2015, 6.5.1, figure 6.7).
 *
 * It finds no races. Shadow pages of 4 KiB, an entry a word of 4 bytes as in 6.3.2, are replaced least recently used
 * first. A page that is used again at LRU distance d is still there when more than d pages fit, so one pass answers for
 * every size at once; a page's first use has nothing to be checked against and counts as done. The answer is told as limits of
 * the report. */
#include "detect/detect.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 12 };                     /* an entry is as large as its word: a page of shadow covers 4 KiB, too */

struct recent {
	struct ws_report *report;
	struct ws_detect_filter *filter;
	bool checked;
	pthread_mutex_t lock;                /* blocks of several host threads */
	uint64_t *stack;                     /* pages, most recently used last */
	size_t n, cap;
	uint64_t *distance;                  /* checks by distance */
	size_t ndistance;
	uint64_t checks, first;              /* all; of pages used for the first time */
};

static void count(struct recent *r, size_t d, uint64_t checks)
{
	if (d >= r->ndistance) {
		size_t more = d * 2 + 64;

		r->distance = ws_realloc(r->distance, more * sizeof *r->distance);
		memset(r->distance + r->ndistance, 0, (more - r->ndistance) * sizeof *r->distance);
		r->ndistance = more;
	}
	r->distance[d] += checks;
}

static void use(struct recent *r, uint64_t page, uint64_t checks)
{
	size_t i = r->n;

	r->checks += checks;
	while (i > 0 && r->stack[i - 1] != page)
		i--;
	if (i == 0) {
		r->first += checks;
		*WS_PUSH(r->stack, r->n, r->cap) = page;
		return;
	}
	count(r, r->n - i, checks);
	memmove(&r->stack[i - 1], &r->stack[i], (r->n - i) * sizeof *r->stack);
	r->stack[r->n - 1] = page;
}

static void tell(struct recent *r, unsigned percent)
{
	uint64_t done = r->first, pages = (r->n * percent + 99) / 100;
	struct ws_buf key = {0}, text = {0};

	for (size_t d = 0; d < r->ndistance && d < pages; d++)
		done += r->distance[d];
	ws_buf_printf(&key, "shadow memory for the %u %% most recent of ", percent);
	ws_buf_printf(&text, "%s%zu pages: %.2f %% of %" PRIu64 " checks", key.data, r->n,
	              r->checks ? 100.0 * (double)done / (double)r->checks : 100.0, r->checks);
	ws_report_limit_now(r->report, key.data, text.data);
	ws_buf_free(&key);
	ws_buf_free(&text);
}

static void on_launch_begin(void *self, struct ws_obs_launch *l)
{
	struct recent *r = self;

	r->checked = !ws_detect_left_out(r->filter, l->name);
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct recent *r = self;
	uint32_t m = a->mask;

	if (a->space != WS_SPACE_GLOBAL || !r->checked)
		return;
	pthread_mutex_lock(&r->lock);
	while (m) {                          /* lanes of one page together */
		uint64_t page = a->addr[__builtin_ctz(m)] >> PAGE_BITS, n = 0;

		for (uint32_t k = m; k; k &= k - 1) {
			if (a->addr[__builtin_ctz(k)] >> PAGE_BITS != page)
				continue;
			m &= ~(k & -k);
			n++;
		}
		use(r, page, n);
	}
	pthread_mutex_unlock(&r->lock);
}

static void *create(const struct ws_detect_config *config, struct ws_report *report)
{
	struct recent *r = ws_alloc(sizeof *r);

	r->report = report;
	r->filter = ws_detect_filter_new(config);
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	static const unsigned percents[] = {10, 25, 50, 75, 100};
	struct ws_kernel_row row = {.name = l->name ? l->name : "?", .launches = 1};
	struct recent *r = self;

	ws_report_kernel(r->report, &row);
	for (size_t i = 0; i < WS_COUNT(percents); i++)
		tell(r, percents[i]);
}

static void destroy(void *self)
{
	struct recent *r = self;

	ws_detect_filter_free(r->filter);
	pthread_mutex_destroy(&r->lock);
	free(r->stack);
	free(r->distance);
	free(r);
}

static const struct ws_observer_ops recent_ops = {
	.abi = WS_OBSERVER_ABI, .name = "recent", .needs = WS_NEED_GLOBAL,
	.launch_begin = on_launch_begin, .launch_end = on_launch_end, .access = on_access,
};

extern const struct ws_detector ws_detector_recent;
const struct ws_detector ws_detector_recent = {
	.name = "recent", .help = "how many checks remain with shadow memory for recent pages only; finds no races",
	.ops = &recent_ops, .create = create, .destroy = destroy,
};
