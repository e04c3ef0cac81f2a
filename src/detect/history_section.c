/* history_section.c - a thread's sections and the engine's accesses as a history; see history_section.h. */
#include "detect/history_section.h"

#include <stdlib.h>

static void note_access(struct ws_history_lane *l, const struct ws_history_told *e)
{
	l->access = e->kind;
	l->at = e->at;
	l->bytes = e->bytes;
	l->site = e->site;
	l->nvalues = 0;
	if (e->kind == WS_TM_EVENT_WRITE)
		*WS_PUSH(l->intents, l->n, l->cap) = (struct ws_history_intent){ .at = e->at, .bytes = e->bytes, .site = e->site };
}

static void note_value(struct ws_history_lane *l, uint64_t value)
{
	struct ws_history_intent *i = l->n ? &l->intents[l->n - 1] : NULL;

	if (l->access == WS_TM_EVENT_READ && l->nvalues < WS_HISTORY_VALUES)
		l->value[l->nvalues++] = value;
	else if (l->access == WS_TM_EVENT_WRITE && i && i->nvalues < WS_HISTORY_VALUES)
		i->value[i->nvalues++] = value;
}

static uint8_t byte_of(const uint64_t *value, uint64_t k) { return (uint8_t)(value[k / 8] >> k % 8 * 8); }

/* The last write of the attempt to that byte, if its value was told; NULL: none. */
static const struct ws_history_intent *own_write(const struct ws_history_lane *l, uint64_t at)
{
	for (size_t k = l->n; k--;)
		if (at - l->intents[k].at < l->intents[k].bytes)
			return at - l->intents[k].at < 8 * l->intents[k].nvalues ? &l->intents[k] : NULL;
	return NULL;
}

/* What a section reads of what it has written itself is that. */
static void judge_own(struct ws_history *h, const struct ws_history_lane *l)
{
	for (uint32_t k = 0; k < l->bytes && k < 8 * l->nvalues; k++) {
		const struct ws_history_intent *i = own_write(l, l->at + k);

		if (i && byte_of(i->value, l->at + k - i->at) != byte_of(l->value, k)) {
			ws_history_not_own(h, l->attempt, l->at + k, i->site, l->site);
			return;
		}
	}
}

static void start(struct ws_history *h, struct ws_history_lane *l, struct ws_history_who who, const void *site)
{
	l->attempt = ws_history_start(h, who, site);
	l->inside = true;
	l->ending = false;
	l->n = 0;
}

void ws_history_tell(struct ws_history *h, struct ws_history_lane *l, struct ws_history_who who, const struct ws_history_told *e)
{
	switch (e->kind) {
	case WS_TM_EVENT_START:
		start(h, l, who, e->site);
		break;
	case WS_TM_EVENT_READ: case WS_TM_EVENT_WRITE:
		note_access(l, e);
		break;
	case WS_TM_EVENT_VALUE:
		note_value(l, e->value);
		break;
	case WS_TM_EVENT_DONE:
		if (l->access == WS_TM_EVENT_READ)
			judge_own(h, l);
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
