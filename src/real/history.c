/* history.c - `warpsafe tm --check=history` on a real GPU: the log that a launch's sections have written is read and judged when it has
 * ended (detect/history_log.h). So launches run one at a time, and each is waited for. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "detect/history_log.h"
#include "detect/history_section.h"
#include "detect/history_words.h"
#include "real/real_priv.h"
#include "report/keep.h"
#include "../include/warpsafe/tm/handle.h"

/* The log of a module. */
struct logged { uint64_t head, entries; size_t head_bytes, entries_bytes; enum ws_tm_engine engine; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* held over a launch */
static struct logged current;                                 /* the launch's */
static struct ws_history *history;
static struct ws_history_total total;
static uint64_t launches;
static atomic_bool unseen;                   /* that a launch was not judged was told */

static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static const char **places;                  /* of all modules */
static size_t nplaces, places_cap;

bool ws_real_history_wanted(void)
{
	const struct ws_real_session *s = ws_real_session();

	return s && s->transactions && strcmp(s->options.tm_check, "none") != 0;
}

/* ---- places ---- */
uint32_t ws_real_history_rewrites(void)
{
	pthread_mutex_lock(&places_lock);
	return (uint32_t)nplaces;
}

void ws_real_history_rewrote(const char *const *list, size_t n)
{
	for (size_t k = 0; k < n; k++)
		*WS_PUSH(places, nplaces, places_cap) = ws_strdup(list[k]);
	pthread_mutex_unlock(&places_lock);
}

static void add_memory(void *user, uint64_t at, uint32_t bytes, struct ws_buf *b)
{
	unsigned long long offset = at & ((UINT64_C(1) << WS_HISTORY_BLOCK_SHIFT) - 1);

	(void)user;
	if (at & WS_HISTORY_SHARED)
		ws_buf_printf(b, "bytes %llu..%llu of shared memory", offset, offset + bytes - 1);
	else
		ws_buf_printf(b, "%u byte%s at 0x%llx", bytes, bytes == 1 ? "" : "s", (unsigned long long)at);
}

/* ---- logs ---- */
/* false: the module has no sections. */
static bool find_log(void *function, struct logged *l)
{
	struct ws_tm handle;
	void *module = NULL;
	bool library = false;
	uint64_t at;
	size_t bytes;

	if (!ws_real_code_of(function, &module, &library) || !ws_real.cuMemcpyDtoH_v2 || !ws_real.cuMemcpyHtoDAsync_v2)
		return false;
	l->head = ws_real_variable(module, library, WS_TM_LOG_HEAD, &l->head_bytes);
	l->entries = ws_real_variable(module, library, WS_TM_LOG_ENTRIES, &l->entries_bytes);
	at = ws_real_variable(module, library, WS_TM_HANDLE, &bytes);
	if (!l->head || !l->entries || !at || bytes != sizeof handle || ws_real.cuMemcpyDtoH_v2(&handle, at, sizeof handle))
		return false;
	l->engine = (enum ws_tm_engine)handle.engine;
	return true;
}

static bool read_head(const struct logged *l, struct ws_tm_log_head *head)
{
	return !ws_real.cuMemcpyDtoH_v2(head, l->head, sizeof *head);
}

static void empty(const struct logged *l)
{
	uint32_t none = 0;

	ws_real.cuMemcpyHtoDAsync_v2(l->head, &none, sizeof none, NULL);
	ws_real.cuCtxSynchronize();
}

static void tell_unseen(void)
{
	if (!atomic_exchange(&unseen, true))
		ws_real_tell("launches in graphs and captured streams are not checked: their histories were not looked at");
}

bool ws_real_history_begin(void *function)
{
	struct ws_tm_log_head head;

	if (!ws_real_history_wanted())
		return false;
	if (ws_real_capturing()) {
		tell_unseen();
		return false;
	}
	pthread_mutex_lock(&lock);
	if (ws_real.cuCtxSynchronize() || !find_log(function, &current) || !read_head(&current, &head)) {
		pthread_mutex_unlock(&lock);
		return false;
	}
	if (head.used) {
		tell_unseen();
		empty(&current);
	}
	return true;
}

static void judge(const char *kernel, const struct ws_tm_log_head *head, struct ws_history_log *in)
{
	struct ws_real_session *s = ws_real_session();
	struct ws_history_words words = { .report = s->report, .sum = &total, .kernel = kernel, .launch = launches,
	                                  .memory = add_memory };

	if (!history)
		history = ws_history_new(s->options.tm_opacity, SIZE_MAX);
	memcpy(words.grid, head->grid, sizeof words.grid);
	memcpy(words.block, head->block, sizeof words.block);
	in->threads = head->block[0] * head->block[1] * head->block[2];
	pthread_mutex_lock(&places_lock);
	in->places = places;
	in->nplaces = nplaces;
	total.doubts += ws_history_replay(history, in);
	ws_history_judge(history, true, &words);
	pthread_mutex_unlock(&places_lock);
	ws_keep_touch();
}

static void take(const struct logged *l, const char *kernel)
{
	struct ws_history_log in = { .deferred = ws_history_deferred(l->engine) };
	size_t most = l->entries_bytes / sizeof *in.entries;
	struct ws_tm_log_entry *entries;
	struct ws_tm_log_head head;

	if (!read_head(l, &head) || !head.used)
		return;
	in.n = head.used < most ? head.used : most;
	in.room = head.room;
	in.entries = entries = ws_alloc(in.n * sizeof *entries);
	if (!ws_real.cuMemcpyDtoH_v2(entries, l->entries, in.n * sizeof *entries))
		judge(kernel, &head, &in);
	free(entries);
	empty(l);
}

void ws_real_history_end(bool begun, const struct ws_real_kernel *kernel)
{
	const char *name = kernel ? ws_real_checked_name(kernel) : NULL;

	if (!begun)
		return;
	launches++;
	if (!ws_real.cuCtxSynchronize())
		take(&current, name ? name : "a kernel");
	pthread_mutex_unlock(&lock);
}

void ws_real_history_tell(struct ws_buf *b)
{
	if (ws_real_history_wanted())
		ws_history_total_add(&total, ws_real_session()->options.tm_opacity, b);
}
