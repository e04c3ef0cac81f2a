/* history_section.c - a thread's sections and the engine's accesses as a history; see history_section.h. */
#include "detect/history_section.h"

#include <stdlib.h>

static void note_access(struct ws_history_lane *l, bool deferred, const struct ws_history_told *e)
{
	l->access = e->kind;
	l->at = e->at;
	l->bytes = e->bytes;
	l->site = e->site;
	if (e->kind == WS_TM_EVENT_WRITE && deferred)
		*WS_PUSH(l->intents, l->n, l->cap) = (struct ws_history_intent){ e->at, e->bytes, e->site };
}

static void start(struct ws_history *h, struct ws_history_lane *l, struct ws_history_who who, const void *site)
{
	l->attempt = ws_history_start(h, who, site);
	l->inside = true;
	l->ending = false;
	l->n = 0;
}

void ws_history_tell(struct ws_history *h, struct ws_history_lane *l, bool deferred, struct ws_history_who who,
                     const struct ws_history_told *e)
{
	switch (e->kind) {
	case WS_TM_EVENT_START:
		start(h, l, who, e->site);
		break;
	case WS_TM_EVENT_READ: case WS_TM_EVENT_WRITE:
		note_access(l, deferred, e);
		break;
	case WS_TM_EVENT_DONE:
		ws_history_keep(l->attempt);
		l->access = WS_TM_EVENT_NONE;
		break;
	case WS_TM_EVENT_ENDING:
		ws_history_drop(l->attempt);
		l->access = WS_TM_EVENT_NONE;
		l->ending = true;
		break;
	case WS_TM_EVENT_ENDED:
		ws_history_end(h, l->attempt, e->committed);
		l->attempt = NULL;
		l->inside = false;
		break;
	default:
		break;
	}
}

static const void *site_of_write(const struct ws_history_lane *l, uint64_t at)
{
	for (size_t k = l->n; k--;)
		if (at - l->intents[k].at < l->intents[k].bytes)
			return l->intents[k].site;
	return NULL;
}

void ws_history_data(struct ws_history *h, struct ws_history_lane *l, bool deferred, bool store, const struct ws_history_word *w)
{
	if (!l->inside || (!store && l->access == WS_TM_EVENT_WRITE))        /* what an undo would put back */
		return;
	if (!store)
		ws_history_load(h, l->attempt, w, l->site, l->access == WS_TM_EVENT_READ && w->at - l->at < l->bytes);
	else if (l->ending && !deferred)
		ws_history_undo(h, l->attempt, w);
	else
		ws_history_store(h, l->attempt, w, l->ending ? site_of_write(l, w->at) : l->site);
}

void ws_history_lane_free(struct ws_history_lane *l)
{
	free(l->intents);
}
