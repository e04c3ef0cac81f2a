/* tm_counts.h - what the transactions of a rewritten program counted, and how it is told. */
#ifndef WS_TM_COUNTS_H
#define WS_TM_COUNTS_H

#include "base/base.h"
#include "../include/warpsafe/tm/handle.h"

#define WS_TM_COUNTERS_BYTES (WS_TM_STRIPES * sizeof(struct ws_tm_stripe))

struct ws_tm_counts { struct ws_tm_stats sum; };

/* Adds the counters of a module, WS_TM_COUNTERS_BYTES of them. */
void ws_tm_counts_add(struct ws_tm_counts *c, const void *counters);
void ws_tm_counts_sum(struct ws_tm_counts *c, const struct ws_tm_counts *more);
/* Appends lines for people, each beginning with "warpsafe: ": always what is wrong, with `stats` the counts as well. */
void ws_tm_counts_tell(const struct ws_tm_counts *c, unsigned sections, bool stats, struct ws_buf *out);

#endif
