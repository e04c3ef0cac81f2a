/* parts.h - a further kernel beside a checked one, for launches of which no access to shared memory needs a check if some accesses stay in
 * parts of their variables (struct ws_shared_parts in ranges.h). It has no hooks, and looks before each of these whether that is so.
 *
 * Where one is not, it leaves a number in memory, and goes on. The checked kernel is launched behind it in any case, and ends at once unless
 * it finds that number (device/race.h, struct ws_race_parts): so the launch is made once more, with all checks. For that it must do the same
 * again: it reads nothing that it writes, which the host examines (src/real/parts.c). */
#ifndef WS_REWRITE_PARTS_H
#define WS_REWRITE_PARTS_H

#include "rewrite/ranges.h"

/* May a launch of the kernel be made twice, as far as its code says? If it reads nothing in global memory that it writes. */
bool ws_parts_may(const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n);
/* The kernel by the name WS_RW_PARTS and its own, with the checked one's parameters; and at that one's entry, where the mark of its parameter
 * says that it stands behind such a launch, whether it has anything to do. mark: a register with that. */
void ws_parts_write(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, const struct ws_shared_parts *parts);
void ws_parts_behind(struct ws_pass *p, struct ws_ptx_func *f, const char *mark);

#endif
