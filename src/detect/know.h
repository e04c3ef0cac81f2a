/* know.h - what a thread knows to have happened before it, beyond its own block's barriers: an immutable map
 * block slot -> how far that block, and single threads of it, are known. Used by shadow_sync.c.
 *
 * Maps share structure (a 16-way trie with reference counts), so that taking a snapshot is one increment, and a counter
 * that 65,536 blocks increment costs each of them a path of the trie and not a vector of 65,536 clocks. Nodes never
 * change once made; counts are atomic where need be; so maps may be read and joined by several host threads. NULL is the
 * empty map. */
#ifndef WS_KNOW_H
#define WS_KNOW_H

#include "base/base.h"

struct ws_know;

/* Accesses of `thread` with a stamp below `time` are known. */
struct ws_know_entry {
	uint32_t thread, time;
};

/* From now on (until it ends) maps may be used by several host threads at a time; else each by one. */
void ws_know_parallel(bool begins);
struct ws_know *ws_know_ref(struct ws_know *k);
void ws_know_unref(struct ws_know *k);

/* A new map: k (which is consumed) joined with: all of block `slot` below `floor`, and n threads of it, sorted by
 * thread. */
struct ws_know *ws_know_add(struct ws_know *k, uint32_t slot, uint32_t floor, const struct ws_know_entry *e, uint32_t n);
/* The join of a (consumed) and b (not consumed). */
struct ws_know *ws_know_join(struct ws_know *a, struct ws_know *b);
/* Is an access of `thread` of block `slot` with stamp `time` known? */
bool ws_know_covers(const struct ws_know *k, uint32_t slot, uint32_t thread, uint32_t time);

/* Bytes of all maps of the process. */
uint64_t ws_know_bytes(void);

/* Is anything of block `slot` known? */
bool ws_know_has(const struct ws_know *k, uint32_t slot);

/* What goes from thread to thread along every edge of happens-before. */
struct ws_facts {
	struct ws_know *k;           /* accesses that happened before */
	struct ws_know *sc;          /* of those, what came before a fence.sc that happened before */
	struct ws_know *seen;        /* what came before a fence.sc that happened before a strong write that was read: the
	                              * next fence.sc is ordered after that one */
	struct ws_know *dep;         /* accesses before a strong store that was read, with or without a fence: see depend.h */
	struct ws_know *px;          /* of k, what came before a fence.proxy.async that happened before */
};
void ws_facts_join_some(struct ws_facts *a, const struct ws_facts *b);
void ws_facts_drop_some(struct ws_facts *f);
struct ws_facts ws_facts_ref(const struct ws_facts *f);
static inline bool ws_facts_none(const struct ws_facts *f)     /* most often: then there is nothing to do */
{
	return !f->k && !f->sc && !f->seen && !f->dep && !f->px;
}
static inline void ws_facts_join(struct ws_facts *a, const struct ws_facts *b)
{
	if (!ws_facts_none(b))
		ws_facts_join_some(a, b);
}
static inline void ws_facts_drop(struct ws_facts *f)           /* f is empty afterwards */
{
	if (!ws_facts_none(f))
		ws_facts_drop_some(f);
}

#endif
