/* shadow_tags.c - who accesses which word of shared memory in a barrier interval (shadow_priv.h).
 *
 * In a program that is ordered by barriers alone, between two of them each word belongs to one thread, or is only read,
 * or only updated by atomics. A tag a word says which (struct ws_note_log), and as long as all accesses agree with it there
 * can be no race: the accesses need only be noted (shadow_log.c). Tags of earlier intervals are empty: they have another
 * number. Most are marked by the simulator itself. */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

bool ws_tags_start(struct ws_block_state *b)
{
	struct ws_note_log *g = &b->log;
	bool bytes = __atomic_load_n(&b->l->small, __ATOMIC_RELAXED);

	g->ntags = b->nlines * (bytes ? LINE : LINE / 4);
	g->tag_shift = bytes ? 0 : 2;
	if (b->nwarps > WS_WARP || b->s->config.granularity > (bytes ? 1 : 4))
		return false;
	if (g->ntags > b->cap_tags) {
		free(g->tags);
		g->tags = ws_alloc(g->ntags * sizeof *g->tags);
		ws_memory_count(b->s, (g->ntags - b->cap_tags) * sizeof *g->tags);
		b->cap_tags = g->ntags;
		g->tag_number = 0;
	}
	g->clash = false;
	if (++g->tag_number >> (32 - WS_TAG_NUMBER)) {
		memset(g->tags, 0, b->cap_tags * sizeof *g->tags);
		g->tag_number = 1;
	}
	return true;
}

bool ws_tags_mark(struct ws_block_state *b, uint32_t warp, uint32_t mask, uint32_t kind, uint32_t bytes, const uint64_t *addr)
{
	struct ws_note_log *g = &b->log;
	uint64_t all = bytes, most = 0;

	if (g->clash)
		return false;

	for (uint32_t m = mask; m; m &= m - 1) {
		uint64_t a = addr[__builtin_ctz(m)];

		all |= a;
		most = a > most ? a : most;
	}
	if (g->tag_shift && all & 3) {
		__atomic_store_n(&b->l->small, true, __ATOMIC_RELAXED);
		return false;
	}
	return (most + bytes) >> g->tag_shift <= g->ntags && ws_gpu_note_mark(g, warp, mask, kind, bytes, addr);
}
