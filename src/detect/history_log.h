/* history_log.h - a history from the log that sections and engines write themselves (src/device/tm_record.cuh), where nobody sees the
 * accesses in their order: on a real GPU.
 *
 * Of two accesses it is known which one was first if one had its entry before the other one began. A load that no store of its word
 * overlaps so has met the last one before it. Of others it is not known, and they are not judged: with an engine that works few are kept,
 * for who has a word keeps others away from it, and who looks without having it looks again. Stores of a word are in the order of their
 * entries; with an engine that works none overlap. */
#ifndef WS_HISTORY_LOG_H
#define WS_HISTORY_LOG_H

#include "detect/history.h"
#include "device/tm.h"

struct ws_history_log {
	const struct ws_tm_log_entry *entries;
	size_t n, room;                  /* room: what began behind so many entries has none */
	uint32_t threads;                /* of a block */
	bool deferred;                   /* the engine writes at the end */
	const char *const *places;       /* `site` 1 is the first one */
	size_t nplaces;
};

/* Fills the history, whose sites are places. Returns how many loads of sections are not judged. */
size_t ws_history_replay(struct ws_history *h, const struct ws_history_log *log);

#endif
