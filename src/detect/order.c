/* order.c - vector clocks of streams, graphs and the host; see order.h. */
#include "detect/order.h"

#include <stdlib.h>
#include <string.h>

struct timeline {
	struct ws_clock known;       /* complete when its last operation is */
	uint64_t n, cuts;
	bool blocking, ended;
};

struct ws_order {
	struct timeline *timelines;
	size_t n, cap;
	struct ws_clock host;
};

void ws_clock_free(struct ws_clock *c)
{
	free(c->at);
	*c = (struct ws_clock){NULL, 0};
}

uint64_t ws_clock_of(const struct ws_clock *c, uint32_t timeline)
{
	return timeline < c->n ? c->at[timeline] : 0;
}

static void reach(struct ws_clock *c, size_t n)
{
	if (n <= c->n)
		return;
	c->at = ws_realloc(c->at, n * sizeof *c->at);
	memset(c->at + c->n, 0, (n - c->n) * sizeof *c->at);
	c->n = n;
}

void ws_clock_at_least(struct ws_clock *c, uint32_t timeline, uint64_t index)
{
	reach(c, (size_t)timeline + 1);
	if (index > c->at[timeline])
		c->at[timeline] = index;
}

void ws_clock_join(struct ws_clock *to, const struct ws_clock *from)
{
	reach(to, from->n);
	for (size_t i = 0; i < from->n; i++)
		if (from->at[i] > to->at[i])
			to->at[i] = from->at[i];
}

struct ws_order *ws_order_new(void)
{
	struct ws_order *o = ws_alloc(sizeof *o);

	ws_order_timeline(o, false);         /* WS_TIMELINE_LEGACY */
	return o;
}

void ws_order_free(struct ws_order *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		ws_clock_free(&o->timelines[i].known);
	free(o->timelines);
	ws_clock_free(&o->host);
	free(o);
}

/* A timeline that has ended, and that the host has seen end, is as good as new: its indices go on. */
uint32_t ws_order_timeline(struct ws_order *o, bool blocking)
{
	struct timeline *t;

	for (size_t i = 1; i < o->n; i++) {
		t = &o->timelines[i];
		if (t->ended && ws_clock_of(&o->host, (uint32_t)i) >= t->n) {
			t->ended = false;
			t->blocking = blocking;
			return (uint32_t)i;
		}
	}
	t = WS_PUSH(o->timelines, o->n, o->cap);
	*t = (struct timeline){.blocking = blocking};
	return (uint32_t)(o->n - 1);
}

void ws_order_end(struct ws_order *o, uint32_t timeline)
{
	o->timelines[timeline].ended = true;
}

/* Adds what is complete when the timeline so far is; a cut, for the reader can tell what came before from what follows. */
static void learn(struct ws_order *o, uint32_t timeline, struct ws_clock *c)
{
	ws_clock_join(c, &o->timelines[timeline].known);
	o->timelines[timeline].cuts++;
}

static void implicit(struct ws_order *o, uint32_t timeline, struct ws_clock *c)
{
	if (timeline != WS_TIMELINE_LEGACY && o->timelines[timeline].blocking)
		learn(o, WS_TIMELINE_LEGACY, c);
	for (uint32_t i = 1; timeline == WS_TIMELINE_LEGACY && i < o->n; i++)
		if (o->timelines[i].blocking)
			learn(o, i, c);
}

void ws_order_begin(struct ws_order *o, uint32_t timeline, bool early, struct ws_operation *op)
{
	struct timeline *t = &o->timelines[timeline];

	*op = (struct ws_operation){.timeline = timeline, .index = ++t->n};
	ws_clock_join(&op->before, &t->known);
	ws_clock_join(&op->before, &o->host);
	implicit(o, timeline, &op->before);
	if (early && op->index > 1 && ws_clock_of(&o->host, timeline) < op->index - 1) {
		op->overlaps = op->index - 1;
		t->cuts++;
	}
	ws_clock_join(&t->known, &op->before);
	ws_clock_at_least(&t->known, timeline, op->index);
	op->cut = t->cuts;
}

void ws_operation_free(struct ws_operation *op)
{
	ws_clock_free(&op->before);
}

void ws_order_record(struct ws_order *o, uint32_t timeline, struct ws_clock *c)
{
	learn(o, timeline, c);
	implicit(o, timeline, c);
}

void ws_order_wait(struct ws_order *o, uint32_t timeline, const struct ws_clock *c)
{
	ws_clock_join(&o->timelines[timeline].known, c);
}

void ws_order_host_waits(struct ws_order *o, const struct ws_clock *c)
{
	ws_clock_join(&o->host, c);
}

void ws_order_host_waits_all(struct ws_order *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		learn(o, i, &o->host);
}

/* What an operation begins after, without anybody learning anything. */
static void next_begins_after(const struct ws_order *o, uint32_t timeline, struct ws_clock *c)
{
	ws_clock_join(c, &o->timelines[timeline].known);
	ws_clock_join(c, &o->host);
	if (o->timelines[timeline].blocking)
		ws_clock_join(c, &o->timelines[WS_TIMELINE_LEGACY].known);
	for (uint32_t i = 1; timeline == WS_TIMELINE_LEGACY && i < o->n; i++)
		if (o->timelines[i].blocking)
			ws_clock_join(c, &o->timelines[i].known);
}

static void keep_common(struct ws_clock *all, const struct ws_clock *one)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (ws_clock_of(one, i) < all->at[i])
			all->at[i] = ws_clock_of(one, i);
}

void ws_order_common(const struct ws_order *o, struct ws_clock *c)
{
	struct ws_clock all = {NULL, 0};

	next_begins_after(o, WS_TIMELINE_LEGACY, &all);
	for (uint32_t i = 1; i < o->n; i++) {
		struct ws_clock one = {NULL, 0};

		if (o->timelines[i].ended)
			continue;
		next_begins_after(o, i, &one);
		keep_common(&all, &one);
		ws_clock_free(&one);
	}
	ws_clock_join(c, &all);
	ws_clock_free(&all);
}

const struct ws_clock *ws_order_host(const struct ws_order *o)
{
	return &o->host;
}
