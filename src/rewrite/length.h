/* length.h - how much code checks come to (length.c). */
#ifndef WS_REWRITE_LENGTH_H
#define WS_REWRITE_LENGTH_H

#include "rewrite/needless.h"
#include "rewrite/ranges.h"
#include "rewrite/reach.h"

/* Which checks of a kernel are calls of functions that are there once, for at their places they would be too much code. Those that proofs may spare
 * are calls anyhow. */
enum ws_calls { WS_CALLS_NONE, WS_CALLS_GLOBAL, WS_CALLS_ALL };
/* ranges, shared: its proofs; NULL: there are none. */
enum ws_calls ws_length_calls(const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, const struct ws_needless *needless,
                              const struct ws_ranges *ranges, const struct ws_shared_ranges *shared);
/* Are there so many checks in a module that all are to be calls? *short_enough: there may be probes nevertheless. */
bool ws_length_many_checks(const struct ws_reach *r, bool *short_enough);

#endif
