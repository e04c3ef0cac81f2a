/* events.c - what happens at a later cycle: a wheel of slots, one for each of the next cycles. What is further away stays in
 * its slot for as many turns as it takes. */
#include "timing/timing_priv.h"

#include <string.h>

void ws_wheel_init(struct ws_wheel *w)
{
	memset(w, 0, sizeof *w);
	w->arena = ws_arena_new();
}

void ws_wheel_fini(struct ws_wheel *w)
{
	ws_arena_free(w->arena);
}

static void append(struct ws_wheel *w, struct ws_event *e)
{
	uint32_t i = e->at % WS_WHEEL;

	e->next = NULL;
	if (w->slot[i].last)
		w->slot[i].last->next = e;
	else
		w->slot[i].first = e;
	w->slot[i].last = e;
	w->used[i / 64] |= 1ull << i % 64;
}

void ws_wheel_add(struct ws_wheel *w, uint64_t at, ws_event_fn *fn, void *arg)
{
	struct ws_event *e = w->free;

	if (e)
		w->free = e->next;
	else
		e = ws_arena_alloc(w->arena, sizeof *e);
	*e = (struct ws_event){.at = at, .fn = fn, .arg = arg};
	append(w, e);
	w->count++;
}

/* The earliest event of a slot. */
static uint64_t earliest(const struct ws_wheel *w, uint32_t i)
{
	uint64_t at = WS_NEVER;

	for (const struct ws_event *e = w->slot[i].first; e; e = e->next)
		at = e->at < at ? e->at : at;
	return at;
}

uint64_t ws_wheel_next(const struct ws_wheel *w, uint64_t now)
{
	uint64_t best = WS_NEVER, bits;

	if (!w->count)
		return WS_NEVER;
	for (uint32_t k = 0; k <= WS_WHEEL / 64; k++) {
		uint32_t word = (now / 64 + k) % (WS_WHEEL / 64);

		bits = w->used[word];
		if (!k)
			bits &= ~0ull << now % 64;
		else if (k == WS_WHEEL / 64)
			bits &= ~(~0ull << now % 64);
		for (; bits; bits &= bits - 1) {
			uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(bits);
			uint64_t at = earliest(w, i);

			if (at - now < WS_WHEEL)
				return at;
			best = at < best ? at : best;
		}
	}
	return best;
}

void ws_wheel_run(struct ws_wheel *w, uint64_t now, struct ws_timing *t)
{
	uint32_t i = now % WS_WHEEL;
	struct ws_event *later = NULL, **end = &later, *e;

	while ((e = w->slot[i].first)) {
		w->slot[i].first = e->next;
		if (!e->next)
			w->slot[i].last = NULL;
		if (e->at != now) {
			e->next = NULL;
			*end = e;
			end = &e->next;
			continue;
		}
		e->fn(t, e->arg);
		e->next = w->free;
		w->free = e;
		w->count--;
	}
	w->used[i / 64] &= ~(1ull << i % 64);
	while ((e = later)) {
		later = e->next;
		append(w, e);
	}
}
