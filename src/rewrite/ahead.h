/* ahead.h - reads of a loop that goes on word by word, checked before its rounds (ahead.c). */
#ifndef WS_REWRITE_AHEAD_H
#define WS_REWRITE_AHEAD_H

#include "rewrite/needless.h"

struct ws_ahead;

/* Finds such loops of which the reads have checks of four (needless), and inserts what begins anew where the thread may
 * synchronize. NULL: there are none. */
struct ws_ahead *ws_ahead_find(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n,
                               const struct ws_needless *needless);
void ws_ahead_free(struct ws_ahead *a);          /* NULL is fine */
/* In the code before the first of four reads: jumps over their check if it was made ahead. The label that is to stand behind the
 * check; NULL: the loop is none of these. */
const char *ws_ahead_skip(const struct ws_ahead *a, struct ws_code *c, const struct ws_rw_access *four, const char *address);
/* Behind that: a register with the number of rounds from here on, where the four are those that begin a round; else NULL.
 * fours: how many reads of four a round has. */
const char *ws_ahead_rounds(const struct ws_ahead *a, struct ws_code *c, const struct ws_rw_access *four, unsigned *fours);
/* Behind the check, which has found that so many bytes behind the first four words need none. */
void ws_ahead_note(const struct ws_ahead *a, struct ws_code *c, const struct ws_rw_access *four, const char *address, const char *more);

#endif
