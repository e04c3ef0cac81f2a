/* shadow_tags.c - who accesses which word of shared memory in a barrier interval (shadow_priv.h).
 *
 * In a program that is ordered by barriers alone, between two of them each word belongs to one thread, or is only read,
 * or only updated by atomics. A tag a word says which, and as long as all accesses agree with it there can be no race: the
 * accesses need only be noted (shadow_log.c). Tags of earlier intervals are empty: they have another number. */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

/* number of the interval | state | thread */
enum { T_THREAD = (1 << 10) - 1, T_WRITTEN = 1 << 10, T_READERS = 1 << 11, T_ATOMIC = 1 << 12, T_GEN = 13 };

bool ws_tags_start(struct ws_block_state *b)
{
	uint32_t n;

	b->tag_bytes = __atomic_load_n(&b->l->small, __ATOMIC_RELAXED);
	n = b->nlines * (b->tag_bytes ? LINE : LINE / 4);
	if (b->nwarps > WS_WARP || b->s->config.granularity > (b->tag_bytes ? 1 : 4))
		return false;
	if (n > b->cap_tags) {
		free(b->tags);
		b->tags = ws_alloc(n * sizeof *b->tags);
		b->cap_tags = n;
		b->tag_gen = 0;
	}
	b->ntags = n;
	if (++b->tag_gen >> (32 - T_GEN)) {
		memset(b->tags, 0, b->cap_tags * sizeof *b->tags);
		b->tag_gen = 1;
	}
	return true;
}

static inline bool mark_read(uint32_t *tag, uint32_t fresh)
{
	uint32_t old = *tag;

	if ((old ^ fresh) >> T_GEN)
		*tag = fresh;
	else if ((old & ~(uint32_t)T_WRITTEN) == fresh || old & T_READERS)
		return true;
	else if (old & (T_WRITTEN | T_ATOMIC))
		return false;
	else
		*tag = old | T_READERS;
	return true;
}

static inline bool mark_write(uint32_t *tag, uint32_t fresh)
{
	uint32_t old = *tag;

	*tag = fresh | T_WRITTEN;
	return (old ^ fresh) >> T_GEN || (old & ~(uint32_t)T_WRITTEN) == fresh;
}

static inline bool mark_atomic(uint32_t *tag, uint32_t fresh)
{
	uint32_t old = *tag;

	*tag = fresh | T_ATOMIC;
	return (old ^ fresh) >> T_GEN || old & T_ATOMIC;
}

/* 32 words one after the other, of 32 threads. false: not all of them are the threads' own; nothing has changed. */
static inline bool mark_row(uint32_t *tag, uint32_t first, uint32_t set)
{
	uint32_t bad = 0;

	for (uint32_t l = 0; l < WS_WARP; l++) {
		uint32_t fresh = first + l, old = tag[l];

		bad |= (uint32_t)((old ^ fresh) >> T_GEN == 0) & (uint32_t)((old & ~(uint32_t)T_WRITTEN) != fresh);
	}
	if (bad)
		return false;
	for (uint32_t l = 0; l < WS_WARP; l++) {
		uint32_t fresh = first + l, old = tag[l];

		tag[l] = ((old ^ fresh) >> T_GEN ? fresh : old) | set;
	}
	return true;
}

static inline bool mark(uint32_t *tag, uint32_t fresh, enum ws_access_kind kind)
{
	return kind == WS_READ ? mark_read(tag, fresh) : kind == WS_WRITE ? mark_write(tag, fresh) : mark_atomic(tag, fresh);
}

bool ws_tags_mark(struct ws_block_state *b, uint32_t warp, uint32_t mask, enum ws_access_kind kind, uint32_t bytes,
                  const uint64_t *addr, bool linear)
{
	uint32_t shift = b->tag_bytes ? 0 : 2, n = bytes >> shift, first = b->tag_gen << T_GEN | warp * WS_WARP;

	if (linear && n == 1 && kind != WS_ATOMIC && !(addr[0] & (bytes - 1)) && (addr[0] >> shift) + WS_WARP <= b->ntags &&
	    mark_row(&b->tags[addr[0] >> shift], first, kind == WS_WRITE ? T_WRITTEN : 0))
		return true;
	for (uint32_t m = mask; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m);
		uint64_t at = addr[l] >> shift;

		if (!b->tag_bytes && ((addr[l] | bytes) & 3)) {
			__atomic_store_n(&b->l->small, true, __ATOMIC_RELAXED);
			return false;
		}
		if (at + n > b->ntags)
			return false;
		for (uint32_t i = 0; i < n; i++)
			if (!mark(&b->tags[at + i], first + l, kind))
				return false;
	}
	return true;
}
