/* check_history.c - histories of the marked sections of a program; see check_history.h and detect/history.h.
 *
 * Code that the pass tm has inserted tells of itself by stores to a variable (device/tm.h): the begin of an attempt, each access of
 * the section, and how the attempt has ended. What lies between is what the engine does, and of that the loads and stores of the
 * program's memory count. All other accesses of the program are outside of sections.
 *
 * With --check=log all that is in a log instead, which is read after the launch, as on a real GPU (detect/history_log.h).
 *
 * A launch is a history of its own: the one before it has ended, and left all in memory. */
#include "cuda/check_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/instrument.h"
#include "cuda/transact.h"
#include "detect/history_log.h"
#include "detect/history_section.h"
#include "detect/history_words.h"

struct checker {
	struct ws_session *session;
	struct ws_history *history;
	const struct ws_obs_launch *launch;    /* the one under way */
	bool deferred;                   /* its engine writes at the end */
	bool logged;                     /* what is told is read from logs, and there are no events */
	struct ws_history_total total;
};

static struct checker checker;

enum { GENERIC_SHARED_BIT = 48 };

/* ---- what the inserted code tells ---- */
static void tell_lane(const struct ws_obs_warp *w, unsigned lane, const struct ws_history_told *told)
{
	ws_history_tell(checker.history, (struct ws_history_lane *)w->state + lane,
	                (struct ws_history_who){ w->block->linear, w->index * WS_WARP + lane }, told);
}

static void take_event(const struct ws_obs_warp *w, unsigned lane, uint64_t event, const struct ws_site *site)
{
	uint64_t at = event & ((UINT64_C(1) << (GENERIC_SHARED_BIT + 1)) - 1);
	struct ws_history_told told = { .kind = (enum ws_tm_event)(event >> WS_TM_EVENT_KIND_AT), .site = site,
	                                .bytes = (uint32_t)(event >> WS_TM_EVENT_BYTES_AT & 0x3f),
	                                .committed = (uint32_t)event == WS_TM_STATE_COMMITTED, .value = (uint32_t)event };

	told.at = at >> GENERIC_SHARED_BIT ? ws_history_shared(w->block->linear, at & ((UINT64_C(1) << WS_HISTORY_BLOCK_SHIFT) - 1)) : at;
	tell_lane(w, lane, &told);
}

/* values: what was told are such. */
static void take_events(const struct ws_obs_warp *w, const struct ws_access *a, bool values)
{
	for (unsigned l = 0; l < WS_WARP; l++)
		if (a->mask >> l & 1) {
			uint64_t event;

			memcpy(&event, (const char *)a->value + l * sizeof event, sizeof event);
			if (values)
				tell_lane(w, l, &(struct ws_history_told){ .kind = WS_TM_EVENT_VALUE, .value = event });
			else
				take_event(w, l, event, a->site);
		}
}

/* ---- accesses ---- */
/* Whether the runtime's memory holds the program's data there: a block of the pool. */
static bool is_pool_data(const struct ws_mem *m, uint64_t addr)
{
	uint64_t units = m->size > sizeof(struct ws_tm_pool) ? (m->size - sizeof(struct ws_tm_pool)) / (WS_TM_UNIT + 4) : 0;

	if (!m->name || strcmp(m->name, WS_TM_POOL) != 0)
		return false;
	while (units && WS_TM_POOL_BYTES(units) > m->size)
		units--;
	return units && addr >= m->addr + m->size - WS_TM_UNIT * units;
}

static bool is_runtime(const struct ws_site *s)
{
	static const char ours[] = "__warpsafe_tm_", second_body[] = "__warpsafe_tm_of_";

	return strncmp(s->func->name, ours, sizeof ours - 1) == 0 && strncmp(s->func->name, second_body, sizeof second_body - 1) != 0;
}

/* What is in memory; an engine's word has at most 8 bytes. */
static uint64_t value_at(const uint8_t *bytes, uint32_t n)
{
	uint64_t value = 0;

	memcpy(&value, bytes, n <= sizeof value ? n : sizeof value);
	return value;
}

static void take_lane(struct ws_obs_warp *w, const struct ws_access *a, unsigned lane, bool engine)
{
	uint64_t addr = a->linear ? a->base + (uint64_t)lane * a->bytes : a->addr[lane];
	bool shared = a->space == WS_SPACE_SHARED;
	const struct ws_mem *m = shared ? NULL : a->mem ? a->mem : ws_gpu_mem_find(checker.session->gpu, addr);
	const struct ws_obs_block *block = a->peer ? a->peer : w->block;
	struct ws_history_word word = { .at = shared ? ws_history_shared(block->linear, addr) : addr, .bytes = a->bytes };

	if (!shared && (!m || (m->inserted && !is_pool_data(m, addr))))
		return;
	if (!engine) {
		ws_history_plain(checker.history, (struct ws_history_who){ w->block->linear, w->index * WS_WARP + lane }, word.at, a->bytes,
		                 a->kind != WS_WRITE, a->kind == WS_WRITE || (a->kind == WS_ATOMIC && a->wrote >> lane & 1), a->site);
		return;
	}
	if (a->kind == WS_ATOMIC || a->bytes > 8)
		return;
	word.value = value_at(shared ? block->shared + addr : m->host + (addr - m->addr), a->bytes);
	ws_history_data(checker.history, (struct ws_history_lane *)w->state + lane, checker.deferred, a->kind == WS_WRITE, &word);
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	bool engine = is_runtime(a->site);

	(void)self;
	if (a->space == WS_SPACE_GLOBAL && a->mem && a->mem->inserted && a->kind == WS_WRITE && !engine) {
		bool values = strcmp(a->mem->name, WS_TM_VALUE_WORD) == 0;

		if (values || strcmp(a->mem->name, WS_TM_EVENT_WORD) == 0) {
			take_events(w, a, values);
			return;
		}
	}
	for (unsigned l = 0; l < WS_WARP; l++)
		if (a->mask >> l & 1)
			take_lane(w, a, l, engine);
}

static void on_warp_begin(void *self, struct ws_obs_warp *w)
{
	(void)self;
	w->state = ws_alloc(WS_WARP * sizeof(struct ws_history_lane));
}

static void on_warp_end(void *self, struct ws_obs_warp *w)
{
	struct ws_history_lane *lanes = w->state;

	(void)self;
	for (unsigned l = 0; lanes && l < WS_WARP; l++)
		ws_history_lane_free(&lanes[l]);
	free(lanes);
	w->state = NULL;
}

/* ---- words ---- */
static void add_line(void *user, const void *site, bool marker, struct ws_buf *b)
{
	const struct ws_site *s = site;

	(void)user;
	ws_tm_line(s->func, s->inst, marker, b);
}

static void add_memory(void *user, uint64_t at, uint32_t bytes, struct ws_buf *b)
{
	const struct ws_mem *m = NULL;
	uint64_t start = at;
	const char *name = NULL;
	uint32_t from;

	(void)user;
	if (at & WS_HISTORY_SHARED) {
		start = at &= (UINT64_C(1) << WS_HISTORY_BLOCK_SHIFT) - 1;
		name = ws_gpu_shared_var(checker.launch->kernel, (uint32_t)at, &from);
		at -= name ? from : 0;
	} else if ((m = ws_gpu_mem_find(checker.session->gpu, at))) {
		at -= m->addr;
	}
	ws_buf_printf(b, "bytes %llu..%llu of ", (unsigned long long)at, (unsigned long long)(at + bytes - 1));
	if (name)
		ws_buf_printf(b, "'%s' in shared memory", name);
	else if (m || start == at)
		m ? ws_detect_location(m, b) : ws_buf_puts(b, "memory");
}

static void judge(const struct ws_obs_launch *l, bool completed)
{
	struct ws_history_words words = { .report = checker.session->report, .sum = &checker.total, .kernel = l->name, .launch = l->serial,
	                                  .line = checker.logged ? NULL : add_line, .memory = add_memory };

	memcpy(words.grid, l->grid, sizeof words.grid);
	memcpy(words.block, l->block, sizeof words.block);
	ws_history_judge(checker.history, completed, &words);
}

/* ---- launches ---- */
static void on_launch_begin(void *self, struct ws_obs_launch *l)
{
	ws_instrument_observer.launch_begin(self, l);
	checker.launch = l;
	checker.deferred = ws_history_deferred(ws_transact_engine());
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	checker.launch = l;
	judge(l, completed);
	ws_instrument_observer.launch_end(self, l, completed);
}

static void tell(void)
{
	struct ws_buf b = { 0 };

	if (!ws_session_if_any())
		return;
	ws_history_total_add(&checker.total, checker.session->options.tm_opacity, &b);
	fflush(stdout);
	if (b.len)
		fprintf(stderr, "%s", b.data);
	ws_buf_free(&b);
}

static const struct ws_observer_ops ops = {
	.abi = WS_OBSERVER_ABI,
	.name = "history",
	.help = "what marked sections read and write",
	.needs = WS_NEED_GLOBAL | WS_NEED_SHARED | WS_NEED_VALUES,
	.launch_begin = on_launch_begin,
	.launch_end = on_launch_end,
	.warp_begin = on_warp_begin,
	.warp_end = on_warp_end,
	.access = on_access,
};

/* ---- logs ---- */
void ws_check_log_take(const struct ws_check_log *log, const struct ws_obs_launch *l, bool completed)
{
	struct ws_tm_log_head *head = (struct ws_tm_log_head *)(void *)log->head->host;
	struct ws_history_log in = { .threads = l->threads, .deferred = ws_history_deferred(ws_transact_engine()), .places = log->places,
	                             .nplaces = log->nplaces };

	in.entries = (const struct ws_tm_log_entry *)(const void *)log->entries->host;
	in.n = head->used;
	in.room = head->room;
	head->used = 0;
	checker.launch = l;
	checker.total.doubts += ws_history_replay(checker.history, &in);
	judge(l, completed);
}

bool ws_check_history_wanted(const struct ws_options *o) { return strcmp(o->tm_check, "none") != 0; }

void ws_check_history_start(struct ws_session *s, struct ws_gpu_config *c)
{
	enum { MOST = 1 << 24 };

	checker = (struct checker){ .session = s, .history = ws_history_new(s->options.tm_opacity, MOST) };
	checker.logged = strcmp(s->options.tm_check, "log") == 0;
	if (!checker.logged) {
		c->observer = &ops;
		c->host_threads = 1;
	}
	atexit(tell);
}
