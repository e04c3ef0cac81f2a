/* extent.h - which bytes of global memory a launch may come to, as the host can compute it beforehand: launches of several streams that come
 * to memory of their own need not be compared (src/real/streams.h). */
#ifndef WS_REWRITE_EXTENT_H
#define WS_REWRITE_EXTENT_H

#include "rewrite/reach.h"
#include "rewrite/rewrite_priv.h"

/* A text for the host (src/real/decide.h), in the module's arena: "reads", "writes" or "updates", "updates8" (by atomics, of 8 bytes or more: each kind does not race with itself) with
 * registers of where an extent begins and ends, and "known" with a predicate: all that the launch comes to lies in these. NULL: there
 * is no telling. list: the accesses of the kernel, with what its copies by threads read. */
const char *ws_extents_find(struct ws_pass *p, const struct ws_reach *reach, const struct ws_rw_kernel *k, const struct ws_rw_access *list, uint32_t n);

#endif
