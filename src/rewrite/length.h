/* length.h - how much code checks come to (length.c). */
#ifndef WS_REWRITE_LENGTH_H
#define WS_REWRITE_LENGTH_H

#include "rewrite/needless.h"
#include "rewrite/reach.h"

/* Are checks at their places too much code for the kernel? */
bool ws_length_is_long(const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, const struct ws_needless *needless);
/* Are there so many checks in a module that all are to be calls? *short_enough: there may be probes nevertheless. */
bool ws_length_many_checks(const struct ws_reach *r, bool *short_enough);

#endif
