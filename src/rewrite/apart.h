/* apart.h - stores and loads of one line of memory that have to be kept apart (apart.c). */
#ifndef WS_REWRITE_APART_H
#define WS_REWRITE_APART_H

#include "rewrite/rewrite_priv.h"

/* Would a compiler move a load to before this store of global memory, behind whose check it stands, so that both are of one line at one time? f has a
 * control-flow graph. */
bool ws_apart_needed(const struct ws_ptx_func *f, const struct ws_rw_access *store);

/* Keeps what is behind i behind it. thread: the register with the checks' own number of the thread, which is never -1. */
void ws_apart_keep(struct ws_pass *p, struct ws_ptx_func *f, struct ws_ptx_inst *i, const char *thread);

#endif
