/* history_log.c - a history from a log; see history_log.h. */
#include "detect/history_log.h"

#include <stdlib.h>
#include <string.h>

#include "detect/history_section.h"

enum { UNIT_SHIFT = 3 };

struct touch { uint64_t unit; uint32_t entry; };        /* a load or store: 8 bytes, and where its entry is */

struct replay {
	struct ws_history *h;
	const struct ws_history_log *log;
	bool *doubtful;                  /* by entry */
	struct ws_history_lane *lanes;   /* by thread of the launch */
	size_t nlanes, nlanes_cap, doubts;
};

static unsigned kind_of(const struct ws_tm_log_entry *e) { return (unsigned)(e->who >> WS_TM_LOG_KIND_AT); }
static uint32_t bytes_of(const struct ws_tm_log_entry *e) { return (uint32_t)(e->who >> WS_TM_LOG_BYTES_AT & 0x3f); }
static uint64_t thread_of(const struct ws_tm_log_entry *e) { return e->who & ((UINT64_C(1) << WS_TM_LOG_BYTES_AT) - 1); }
static bool is_data(const struct ws_tm_log_entry *e) { return kind_of(e) == WS_TM_LOG_LOAD || kind_of(e) == WS_TM_LOG_STORE; }

static uint64_t place_of(const struct replay *r, const struct ws_tm_log_entry *e)
{
	return e->who >> WS_TM_LOG_SHARED_AT & 1 ? ws_history_shared(thread_of(e) / r->log->threads, e->at) : e->at;
}

/* ---- which loads overlap a store ---- */
static int compare(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* The accesses of one word, in the order of their entries. */
static void doubt_unit(struct replay *r, const struct touch *t, size_t n)
{
	const struct ws_tm_log_entry *e = r->log->entries;
	uint32_t last = 0, first = UINT32_MAX;       /* last: 1 + the entry of the last store; first: when one behind this began */

	for (size_t k = 0; k < n; k++) {
		if (kind_of(&e[t[k].entry]) == WS_TM_LOG_STORE)
			last = t[k].entry + 1;
		else
			r->doubtful[t[k].entry] = last > e[t[k].entry].since;
	}
	for (size_t k = n; k--;) {
		if (kind_of(&e[t[k].entry]) == WS_TM_LOG_STORE)
			first = e[t[k].entry].since < first ? e[t[k].entry].since : first;
		else
			r->doubtful[t[k].entry] |= first <= t[k].entry;
	}
}

static void find_doubts(struct replay *r)
{
	struct touch *touches = ws_alloc((r->log->n + 1) * sizeof *touches);
	size_t n = 0;

	for (size_t k = 0; k < r->log->n; k++)
		if (is_data(&r->log->entries[k]))
			touches[n++] = (struct touch){ place_of(r, &r->log->entries[k]) >> UNIT_SHIFT, (uint32_t)k };
	qsort(touches, n, sizeof *touches, compare);
	for (size_t k = 0, end; k < n; k = end) {
		for (end = k; end < n && touches[end].unit == touches[k].unit; end++)
			;
		doubt_unit(r, touches + k, end - k);
	}
	free(touches);
}

/* ---- entries, one by one ---- */
static struct ws_history_lane *lane_of(struct replay *r, uint64_t thread)
{
	while (r->nlanes <= thread)
		*WS_PUSH(r->lanes, r->nlanes, r->nlanes_cap) = (struct ws_history_lane){ 0 };
	return &r->lanes[thread];
}

static void take_data(struct replay *r, struct ws_history_lane *l, const struct ws_tm_log_entry *e, bool doubtful)
{
	struct ws_history_word w = { .at = place_of(r, e), .value = e->value, .bytes = bytes_of(e) };

	if (doubtful) {
		if (l->inside && l->access != WS_TM_EVENT_WRITE)
			ws_history_doubt(r->h, l->attempt, &w);
		r->doubts += l->inside && l->access == WS_TM_EVENT_READ;
	} else {
		ws_history_data(r->h, l, r->log->deferred, kind_of(e) == WS_TM_LOG_STORE, &w);
	}
}

static void take(struct replay *r, size_t k)
{
	const struct ws_tm_log_entry *e = &r->log->entries[k];
	uint64_t thread = thread_of(e);
	struct ws_history_lane *l = lane_of(r, thread);
	struct ws_history_who who = { thread / r->log->threads, (uint32_t)(thread % r->log->threads) };
	struct ws_history_told told = { .kind = (enum ws_tm_event)kind_of(e), .at = place_of(r, e), .bytes = bytes_of(e),
	                                .committed = (uint32_t)e->value == WS_TM_STATE_COMMITTED, .value = e->value };

	if (is_data(e)) {
		take_data(r, l, e, r->doubtful[k]);
		return;
	}
	if (e->site && e->site <= r->log->nplaces)
		told.site = r->log->places[e->site - 1];
	ws_history_tell(r->h, l, who, &told);
}

size_t ws_history_replay(struct ws_history *h, const struct ws_history_log *log)
{
	struct replay r = { .h = h, .log = log, .doubtful = ws_alloc(log->n + 1) };

	find_doubts(&r);
	for (size_t k = 0; k < log->n && k < log->room; k++)
		take(&r, k);
	if (log->n >= log->room)
		ws_history_cut(h);
	for (size_t k = 0; k < r.nlanes; k++)
		ws_history_lane_free(&r.lanes[k]);
	free(r.lanes);
	free(r.doubtful);
	return r.doubts;
}
