/* held.c - stores to global memory that are kept back (ws_step_hold): the warps of their core see them, others do not before
 * ws_step_show. A core has a log of its own, in which the stores lie one after the other. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

/* ---- the log ---- */
static size_t room_of(bool linear, uint32_t bytes)
{
	size_t n = sizeof(struct ws_held_store) + WS_WARP * (size_t)bytes + (linear ? 0 : WS_WARP * sizeof(uintptr_t));

	return (n + 7) / 8 * 8;
}

struct ws_held_store *ws_held_new(struct ws_held *h, bool linear, uint32_t bytes)
{
	size_t n = room_of(linear, bytes), cap = h->cap;
	struct ws_held_store *s;

	if (h->used + n > cap) {
		while (cap < h->used + n)
			cap = cap ? 2 * cap : 1 << 12;
		h->data = ws_realloc(h->data, cap);
		h->cap = cap;
	}
	s = (struct ws_held_store *)(void *)(h->data + h->used);
	s->linear = linear;
	s->bytes = (uint16_t)bytes;
	s->size = (uint32_t)n;
	h->used += n;
	return s;
}

void ws_held_mark(struct ws_held *h, uintptr_t low, uintptr_t high)
{
	h->low = !h->count || low < h->low ? low : h->low;
	h->high = !h->count || high > h->high ? high : h->high;
	h->count++;
}

void ws_held_keep(struct ws_exec *x, uint8_t *const host[WS_WARP], uint32_t mask, uint32_t bytes, const uint8_t *data)
{
	struct ws_held *h = x->held;
	struct ws_held_store *s = ws_held_new(h, false, bytes);
	uintptr_t *at = ws_held_places(s);

	s->cycle = x->cycle;
	s->mask = mask;
	s->low = UINTPTR_MAX;
	s->high = 0;
	EACH_LANE(l, mask) {
		at[l] = (uintptr_t)host[l];
		s->low = at[l] < s->low ? at[l] : s->low;
		s->high = at[l] + bytes > s->high ? at[l] + bytes : s->high;
		ws_held_line(h, at[l]);
		ws_held_line(h, at[l] + bytes - 1);
	}
	memcpy(ws_held_values(s), data, WS_WARP * (size_t)bytes);
	ws_held_mark(h, s->low, s->high);
}

/* ---- own loads ---- */
struct range { uintptr_t low, high; };

/* What lies at `from` and is `n` bytes long goes into the lanes of the load that read some of it. */
static void patch(uintptr_t from, uint32_t n, const uint8_t *value, const uintptr_t *at, uint32_t mask, uint32_t bytes,
                  uint8_t *data)
{
	EACH_LANE(l, mask) {
		uintptr_t low = at[l] > from ? at[l] : from, high = at[l] + bytes < from + n ? at[l] + bytes : from + n;

		if (low < high)
			memcpy(data + l * bytes + (low - at[l]), value + (low - from), high - low);
	}
}

static void patch_from(const struct ws_held_store *s, const struct range *r, const uintptr_t *at, uint32_t mask, uint32_t bytes,
                       uint8_t *data)
{
	const uint8_t *value = ws_held_values(s);

	if (s->linear && s->mask == UINT32_MAX) {
		patch(s->low, WS_WARP * (uint32_t)s->bytes, value, at, mask, bytes, data);
		return;
	}
	EACH_LANE(k, s->mask) {
		uintptr_t from = ws_held_place(s, k);

		if (from < r->high && from + s->bytes > r->low)
			patch(from, s->bytes, value + k * s->bytes, at, mask, bytes, data);
	}
}

void ws_held_patch(const struct ws_held *h, const uintptr_t at[WS_WARP], uint32_t mask, uint32_t bytes, uint8_t *data)
{
	struct range r = {UINTPTR_MAX, 0};
	const struct ws_held_store *s;

	EACH_LANE(l, mask) {
		r.low = at[l] < r.low ? at[l] : r.low;
		r.high = at[l] + bytes > r.high ? at[l] + bytes : r.high;
	}
	for (size_t i = 0; i < h->used; i += s->size) {
		s = (const struct ws_held_store *)(const void *)(h->data + i);
		if (s->low < r.high && s->high > r.low)
			patch_from(s, &r, at, mask, bytes, data);
	}
}

/* ---- stores become visible ---- */
static void show(const struct ws_held_store *s)
{
	const uint8_t *value = ws_held_values(s);

	if (s->linear && s->mask == UINT32_MAX) {
		memcpy((uint8_t *)s->low, value, WS_WARP * (size_t)s->bytes);
		return;
	}
	EACH_LANE(l, s->mask) {
		uint8_t *to = (uint8_t *)ws_held_place(s, l);

		if (s->bytes == 4)
			memcpy(to, value + l * 4, 4);
		else if (s->bytes == 8)
			memcpy(to, value + l * 8, 8);
		else
			memcpy(to, value + l * s->bytes, s->bytes);
	}
}

static const struct ws_held_store *at(const struct ws_held *h)
{
	return (const struct ws_held_store *)(const void *)(h->data + h->shown);
}

/* The first cycle in which one of them has a store that is not yet shown; those that have none are no longer looked at. */
static uint64_t first_cycle(struct ws_held **logs, uint32_t *n)
{
	uint64_t best = UINT64_MAX;
	uint32_t left = 0;

	for (uint32_t i = 0; i < *n; i++) {
		if (logs[i]->shown == logs[i]->used)
			continue;
		best = at(logs[i])->cycle < best ? at(logs[i])->cycle : best;
		logs[left++] = logs[i];
	}
	*n = left;
	return best;
}

static void empty(struct ws_held *h)
{
	h->used = h->shown = 0;
	h->count = 0;
	memset(h->line, 0, sizeof h->line);
}

void ws_step_show(struct ws_exec *x)
{
	struct ws_launch *la = x->launch;
	uint32_t n = 0, left;
	uint64_t cycle;

	for (uint32_t i = 0; i < la->nheld; i++)
		if (la->held[i].count)
			la->holding[n++] = &la->held[i];
	left = n;
	while ((cycle = first_cycle(la->holding, &left)) != UINT64_MAX)
		for (uint32_t i = 0; i < left; i++)
			for (struct ws_held *h = la->holding[i]; h->shown < h->used && at(h)->cycle == cycle;) {
				show(at(h));
				h->shown += at(h)->size;
			}
	for (uint32_t i = 0; i < la->nheld && n; i++)
		if (la->held[i].count)
			empty(&la->held[i]);
}

/* ---- a launch ---- */
void ws_step_hold(struct ws_exec *x, uint32_t cores)
{
	struct ws_launch *la = x->launch;

	la->nheld = cores;
	la->held = ws_alloc(cores * sizeof *la->held);
	la->holding = ws_alloc(cores * sizeof(struct ws_held *));
}

void ws_held_free(struct ws_launch *la)
{
	for (uint32_t i = 0; i < la->nheld; i++)
		free(la->held[i].data);
	free(la->held);
	free(la->holding);
	la->held = NULL;
	la->holding = NULL;
	la->nheld = 0;
}

bool ws_step_holds(const struct ws_exec *x, uint32_t core)
{
	return core < x->launch->nheld && x->launch->held[core].count;
}
