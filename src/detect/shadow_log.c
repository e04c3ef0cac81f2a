/* shadow_log.c - reads of shared memory that wait (shadow_priv.h).
 *
 * Many kernels fill shared memory, meet at a barrier, and then only read until the next one. A read that is not a
 * plain run of memory costs most to check; as long as nothing was written in a barrier interval it is only noted. When
 * the first write comes, the notes become shadow state; at the next barrier they are dropped. */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 512 };

struct note {
	uint64_t me;
	const struct ws_site *site;
	struct ws_warp_state *w;
	uint32_t mask, wfloor;
	uint16_t bytes;
	uint32_t addr[WS_WARP];
};

struct ws_read_log {
	uint32_t n;
	struct note note[LOG_MAX];
};

bool ws_log_read(struct ws_ctx *c)
{
	struct ws_block_state *b = c->b;
	struct note *t;

	if (b->shared_written || b->has_own || c->owner != b || c->l->cluster || c->w->holding)
		return false;
	if (!b->log)
		b->log = ws_alloc(sizeof *b->log);
	if (b->log->n == LOG_MAX) {
		ws_log_flush(b);
		return false;
	}
	t = &b->log->note[b->log->n++];
	t->me = c->me;
	t->site = c->a->site;
	t->w = c->w;
	t->mask = c->a->mask;
	t->wfloor = c->wfloor;
	t->bytes = c->a->bytes;
	for (int i = 0; i < WS_WARP; i++)
		t->addr[i] = (uint32_t)c->a->addr[i];
	return true;
}

static void replay(struct ws_block_state *b, const struct note *t)
{
	uint64_t addr[WS_WARP];
	struct ws_access a = {.site = t->site, .mask = t->mask, .kind = WS_READ, .space = WS_SPACE_SHARED, .sem = WS_SEM_WEAK,
	                      .bytes = t->bytes, .addr = addr};
	struct ws_ctx c = {.s = b->s, .l = b->l, .b = b, .w = t->w, .a = &a, .owner = b, .me = t->me, .floor = b->floor,
	                   .wfloor = t->wfloor, .site = t->site->id, .slot = b->slot, .its = b->l->its};

	for (int i = 0; i < WS_WARP; i++)
		addr[i] = t->addr[i];
	ws_general_read(&c);
}

void ws_log_flush(struct ws_block_state *b)
{
	b->shared_written = true;            /* from now on reads are checked at once */
	for (uint32_t i = 0; b->log && i < b->log->n; i++)
		replay(b, &b->log->note[i]);
	ws_log_drop(b);
}

void ws_log_drop(struct ws_block_state *b)
{
	if (b->log)
		b->log->n = 0;
}

void ws_log_free(struct ws_block_state *b)
{
	free(b->log);
	b->log = NULL;
}
