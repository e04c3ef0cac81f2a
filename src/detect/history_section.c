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
	l->n = l->nparts = 0;
}

/* No access any more, but the end of the attempt or of a part. */
static void begin_end(struct ws_history_lane *l)
{
	ws_history_drop(l->attempt);
	l->access = WS_TM_EVENT_NONE;
	l->ending = true;
}

static void begin_part(const struct ws_history *h, struct ws_history_lane *l, const void *site)
{
	*WS_PUSH(l->parts, l->nparts, l->parts_cap) = (struct ws_history_part){ ws_history_mark(h, l->attempt), l->n, site };
}

/* One that was undone begins anew. */
static void end_part(struct ws_history *h, struct ws_history_lane *l, enum ws_tm_next next)
{
	const struct ws_history_part *p = l->nparts ? &l->parts[l->nparts - 1] : NULL;

	l->ending = false;
	if (p && next == WS_TM_NEXT_LOST) {
		l->nparts--;
	} else if (p) {
		ws_history_part_undone(h, l->attempt, p->mark, next == WS_TM_NEXT_AGAIN, p->site);
		l->n = p->intents;
	}
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
	case WS_TM_EVENT_ENDING: case WS_TM_EVENT_PART_ENDING:
		begin_end(l);
		break;
	case WS_TM_EVENT_PART:
		begin_part(h, l, e->site);
		break;
	case WS_TM_EVENT_PART_DONE:
		l->nparts -= l->nparts > 0;
		break;
	case WS_TM_EVENT_PART_ENDED:
		end_part(h, l, (enum ws_tm_next)e->value);
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
		ws_history_undo(h, l->attempt, l->nparts ? l->parts[l->nparts - 1].mark : (struct ws_history_mark){ 0 }, w);
	else
		ws_history_store(h, l->attempt, w, l->ending ? site_of_write(l, w->at) : l->site);
}

void ws_history_lane_free(struct ws_history_lane *l)
{
	free(l->intents);
	free(l->parts);
}
