/* check_history.h - `warpsafe tm --check=history` on the simulated GPU: the observer that records what sections do, and puts what is
 * wrong into the session's report. */
#ifndef WS_CHECK_HISTORY_H
#define WS_CHECK_HISTORY_H

#include "cuda/session.h"

bool ws_check_history_wanted(const struct ws_options *o);
/* For a session that is being made: it is the observer, and there is one host thread. */
void ws_check_history_start(struct ws_session *s, struct ws_gpu_config *c);

#endif
