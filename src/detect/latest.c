/* latest.c - see latest.h. */
#include "detect/latest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 32 };            /* of a lane */

struct latest {
	pthread_mutex_t lock;
	const struct ws_site *site;          /* NULL = none so far */
	uint64_t block;
	uint32_t warp, mask, bytes;
	uint64_t addr[WS_WARP];
	uint8_t value[WS_WARP * MOST_BYTES];
	uint8_t apart[64];                   /* the next one is in another cache line */
};

struct ws_latest {
	uint32_t n;
	struct latest of[];
};

struct ws_latest *ws_latest_new(uint32_t host_threads)
{
	struct ws_latest *l = ws_alloc(sizeof *l + host_threads * sizeof *l->of);

	l->n = host_threads;
	for (uint32_t i = 0; i < l->n; i++)
		pthread_mutex_init(&l->of[i].lock, NULL);
	return l;
}

void ws_latest_free(struct ws_latest *l)
{
	for (uint32_t i = 0; l && i < l->n; i++)
		pthread_mutex_destroy(&l->of[i].lock);
	free(l);
}

void ws_latest_note(struct ws_latest *l, const struct ws_obs_warp *w, const struct ws_access *a)
{
	struct latest *mine;

	if (a->kind != WS_WRITE || a->space != WS_SPACE_GLOBAL || !a->value || a->bytes > MOST_BYTES || w->block->host_thread >= l->n)
		return;
	mine = &l->of[w->block->host_thread];
	pthread_mutex_lock(&mine->lock);
	mine->site = a->site;
	mine->block = w->block->linear;
	mine->warp = w->index;
	mine->mask = a->mask;
	mine->bytes = a->bytes;
	if (a->linear)
		for (uint32_t i = 0; i < WS_WARP; i++)
			mine->addr[i] = a->base + i * a->bytes;
	else
		memcpy(mine->addr, a->addr, sizeof mine->addr);
	memcpy(mine->value, a->value, (size_t)WS_WARP * a->bytes);
	pthread_mutex_unlock(&mine->lock);
}

static uint32_t find(const struct latest *w, uint32_t lane, uint64_t addr, uint32_t n, uint8_t *bytes)
{
	uint32_t found = 0;

	for (uint32_t i = 0; w->mask >> lane & 1 && i < n; i++) {
		uint64_t at = addr + i - w->addr[lane];

		if (at >= w->bytes)
			continue;
		bytes[i] = w->value[lane * w->bytes + at];
		found |= 1u << i;
	}
	return found;
}

uint32_t ws_latest_find(struct ws_latest *l, uint64_t block, uint32_t warp, const struct ws_site *site, uint32_t lane, uint64_t addr,
                        uint32_t n, uint8_t *bytes)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		struct latest *w = &l->of[i];

		pthread_mutex_lock(&w->lock);
		if (w->site == site && w->block == block && w->warp == warp)
			found = find(w, lane, addr, n, bytes);
		pthread_mutex_unlock(&w->lock);
	}
	return found;
}
