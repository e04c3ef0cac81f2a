/* shadow_private.h - what shadow_private.c (records of one thread) and shadow_team.c (of a warp) have in common.
 *
 * A line's place in its page, or the line itself, has the number of the newest node of a list; a node is a record, or one lane
 * of a team. */
#ifndef WS_SHADOW_PRIVATE_H
#define WS_SHADOW_PRIVATE_H

#include "detect/shadow_priv.h"

#define INLINE static inline __attribute__((always_inline))

enum { MOST_OF_A_LINE = 16 };        /* nodes */
/* A node's number: a record's; or TEAM_NODE | team << 5 | lane, with TEAM_SECOND where the lane's words go on in the next line. */
#define TEAM_NODE (1u << 30)
#define TEAM_SECOND (1u << 29)

/* Where a page that is there has what it knows of the line of addr. On one host thread. */
INLINE uint64_t *ws_private_place(struct ws_shadow_mem *sm, uint64_t addr, uint32_t gen)
{
	uint64_t i = (addr >> LINE_BITS) - sm->first;
	struct ws_page *page = i < sm->nlines ? sm->page[i >> PAGE_BITS] : NULL;

	if (__builtin_expect(!page, 0))
		return NULL;
	if (__builtin_expect(sm->gen[i >> PAGE_BITS] != gen, 0))
		ws_memory_begin_page(sm, i >> PAGE_BITS, gen);
	return &page->at[i % PAGE_LINES];
}

/* The line of addr as ws_shadow_line_closed has it; or none, and c->place, where nobody has needed it so far. sm: NULL when others
 * may use its lines, or not all of them are checked. */
INLINE bool ws_private_enter(struct ws_ctx *c, struct ws_shadow_mem *sm, uint64_t addr)
{
	uint64_t i = sm ? (addr >> LINE_BITS) - sm->first : 0;

	if (!sm || i >= sm->nlines)
		return ws_shadow_line_closed(c, addr, c->a->mem);
	if (__builtin_expect(!sm->page[i >> PAGE_BITS], 0) && !ws_memory_page(c, sm, i >> PAGE_BITS))
		return false;
	c->place = ws_private_place(sm, addr, c->l->gen);
	c->line = *c->place & 1 ? NULL : (struct ws_line *)(uintptr_t)*c->place;
	return !c->line || c->line->gen == c->l->gen || ws_shadow_line_closed(c, addr, c->a->mem);
}

/* The newest node of c->line, or of the line that would be at c->place; 0 = none. */
INLINE uint32_t ws_private_newest(const struct ws_ctx *c)
{
	return c->line ? c->line->mark >> 1 : PLACE_RECORD(*c->place);
}

/* A node there is about these words from now on. */
INLINE void ws_private_mark(struct ws_ctx *c, uint32_t words)
{
	if (!c->line)
		*c->place |= (uint64_t)words << 32;
}

INLINE void ws_private_set_newest(struct ws_ctx *c, uint32_t i)
{
	if (c->line)
		c->line->mark = i << 1 | (c->line->mark & 1);
	else
		*c->place = (*c->place >> 32 << 32) | i << 1 | 1;
}

/* Has the line (NULL: there is none) nothing but nodes about these bytes? */
bool ws_private_untouched(const struct ws_line *line, int lo, int hi);
/* Words of the line at that address that the node is about, a bit each. */
uint32_t ws_private_node(const struct ws_shadow *s, uint32_t node, uint64_t line_addr);
uint32_t *ws_private_next(const struct ws_shadow *s, uint32_t node);

/* An access becomes cells, as if it had always been there; site: with the locks held. */
struct ws_kept {
	uint32_t slot, thread, time, site, bytes;
	uint64_t addr;
	uint8_t cls;
};
void ws_private_become_cells(struct ws_ctx *c, const struct ws_kept *k, const struct ws_fenced *released);

/* ---- shadow_team.c ---- */
static inline struct ws_team *ws_team_of(const struct ws_shadow *s, uint32_t node)
{
	return s->teams[node >> 5 & 0xffffff];
}
/* Of these lanes, those whose bytes no lane of the access besides them has: which of them comes first matters to atomics. */
uint32_t ws_team_elsewhere(const struct ws_access *a, uint32_t mask);
uint32_t ws_team_keep(struct ws_ctx *c, uint32_t mask, uint32_t released);     /* the lanes whose access is kept now */
uint32_t ws_team_begin(struct ws_ctx *c, uint32_t mask, uint32_t released);    /* a new one, by an atomic; the same */
uint32_t ws_team_words(const struct ws_shadow *s, uint32_t node, uint64_t line_addr);
uint32_t ws_team_touched(const struct ws_shadow *s, uint32_t node, uint64_t line_addr);
uint32_t *ws_team_next(const struct ws_shadow *s, uint32_t node);
void ws_team_prefetch(const struct ws_shadow *s, uint32_t node);
void ws_team_eject(struct ws_ctx *c, uint32_t node);  /* what the lane did becomes cells */
bool ws_team_forget_weak(struct ws_shadow *s, uint32_t node, uint64_t line_addr);     /* false: something strong is left */
uint64_t ws_team_bytes(const struct ws_shadow *s);

#endif
