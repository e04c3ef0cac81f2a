/* check_history.h - `warpsafe tm --check=history` on the simulated GPU: the observer that records what sections do, and puts what is
 * wrong into the session's report; or, with --check=log, what reads the log that they write. */
#ifndef WS_CHECK_HISTORY_H
#define WS_CHECK_HISTORY_H

#include "cuda/session.h"

bool ws_check_history_wanted(const struct ws_options *o);
/* For a session that is being made: it is the observer, and there is one host thread. */
void ws_check_history_start(struct ws_session *s, struct ws_gpu_config *c);

/* A module's log: its variables, and the places that entries have the numbers of. */
struct ws_check_log {
	struct ws_mem *head, *entries;
	const char **places;
	size_t nplaces;
};
/* After a launch: judges what is in the log, which is empty then. */
void ws_check_log_take(const struct ws_check_log *log, const struct ws_obs_launch *l, bool completed);

#endif
