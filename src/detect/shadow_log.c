/* shadow_log.c - reads of shared memory that wait (shadow_priv.h).
 *
 * Many kernels fill shared memory, meet at a barrier, and then only read until the next one. A read that is not a
 * plain run of memory costs most to check; as long as nothing was written in a barrier interval it is only noted. When
 * the first write comes, the notes become shadow state; at the next barrier they are dropped. */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

bool ws_log_make(struct ws_block_state *b)
{
	if (!b->log)
		b->log = ws_alloc(sizeof *b->log);
	if (b->log->n < LOG_MAX)
		return true;
	ws_log_flush(b);
	return false;
}

static void replay(struct ws_block_state *b, const struct ws_note *t)
{
	uint64_t addr[WS_WARP];
	struct ws_access a = {.site = t->site, .mask = t->mask, .kind = WS_READ, .space = WS_SPACE_SHARED, .sem = WS_SEM_WEAK,
	                      .bytes = t->bytes, .addr = addr};
	struct ws_ctx c = {.s = b->s, .l = b->l, .b = b, .w = t->w, .a = &a, .owner = b, .me = t->me, .as = t->me, .floor = b->floor,
	                   .wfloor = t->wfloor, .site = t->site->id, .slot = b->slot, .its = b->l->its};

	for (int i = 0; i < WS_WARP; i++)
		addr[i] = t->addr[i];
	ws_general_read(&c);
}

void ws_log_flush(struct ws_block_state *b)
{
	b->shared_written = true;            /* from now on reads are checked at once */
	if (b->npending)
		ws_async_bring_back(b);
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
