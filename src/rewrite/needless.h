/* needless.h - proofs that an access needs no check of its own (needless.c). */
#ifndef WS_REWRITE_NEEDLESS_H
#define WS_REWRITE_NEEDLESS_H

#include "rewrite/rewrite_priv.h"

/* Sets needless[k] for those of the n accesses of a function (ws_rw_accesses) of which every race is found by the check
 * of another. The array has n elements, all false before. */
void ws_needless_find(struct ws_ptx_func *f, struct ws_rw_access *list, uint32_t n, bool *needless);

#endif
