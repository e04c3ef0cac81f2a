/* repeat.h - checks that a thread would make again and again of the same bytes (repeat.c). */
#ifndef WS_REWRITE_REPEAT_H
#define WS_REWRITE_REPEAT_H

#include "rewrite/needless.h"

struct ws_repeats;

/* Finds loops in which accesses of the list come to the same bytes each time, and inserts what begins anew to count them. Some of
 * them need no check of their own then. NULL: there are none. */
struct ws_repeats *ws_repeats_find(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n,
				   struct ws_needless *needless);
void ws_repeats_free(struct ws_repeats *r);              /* NULL is fine */
/* In the code before an access: jumps over its check if the thread has checked these bytes already. The label that is to
 * stand behind the check; NULL: it is no such access. */
const char *ws_repeats_skip(const struct ws_repeats *r, struct ws_code *c, const struct ws_rw_access *a);

#endif
