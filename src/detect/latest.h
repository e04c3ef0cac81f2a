/* latest.h - what each host thread was about to write to global memory when it told of that last.
 *
 * A write is told before memory changes (observer.h). Whoever finds it, on another host thread, asks here what it writes; it is not here
 * any more when its host thread has told of another one: then memory has it. */
#ifndef WS_LATEST_H
#define WS_LATEST_H

#include "gpu/observer.h"

struct ws_latest;

/* Of so many host threads; owned by the caller. */
struct ws_latest *ws_latest_new(uint32_t host_threads);
void ws_latest_free(struct ws_latest *l);
/* Before the access is entered anywhere. What is no write to global memory with known values changes nothing. */
void ws_latest_note(struct ws_latest *l, const struct ws_obs_warp *w, const struct ws_access *a);
/* Of the n bytes from addr on (at most 32), those that `lane` of that warp, of the block with that number, is about to write by that
 * instruction: they are put into `bytes`, and are a bit each of what is returned. Memory has the others, if it is read from now on. */
uint32_t ws_latest_find(struct ws_latest *l, uint64_t block, uint32_t warp, const struct ws_site *site, uint32_t lane, uint64_t addr,
                        uint32_t n, uint8_t *bytes);

#endif
