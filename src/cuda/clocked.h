/* clocked.h - `warpsafe sim`: the session's GPU runs on a machine with a clock (src/timing). */
#ifndef WS_CLOCKED_H
#define WS_CLOCKED_H

#include "cuda/session.h"

/* Reads the machine that the options name, and sets what of the GPU's configuration is the machine's. */
void ws_clocked_start(struct ws_session *s, struct ws_gpu_config *c);
/* The time that events are stamped with: simulated where there is a clock. */
uint64_t ws_clocked_ns(void);
/* A launch has ended: the counters are saved soon, and when the program ends. */
void ws_clocked_touch(struct ws_session *s);

#endif
