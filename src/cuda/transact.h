/* transact.h - `warpsafe tm` on the simulated GPU: the program's marked sections become transactions when it is loaded, and
 * what they did is told when it ends. */
#ifndef WS_TRANSACT_H
#define WS_TRANSACT_H

#include "device/tm.h"
#include "gpu/gpu.h"
#include "rewrite/rewrite.h"
#include "../include/warpsafe/tm/handle.h"

/* The pass `tm` with the session's options. */
bool ws_transact(struct ws_ptx_module *m, const struct ws_sink *sink);
/* It could not be done: tells why and ends the program with status 2. Sections that are not atomic would do harm. */
_Noreturn void ws_transact_refused(const char *why);
/* A module with sections: its memory is there, or (m NULL) gone. `key` is the module's. One call at a time of this one and the next
 * three. */
void ws_transact_loaded(const void *key, struct ws_gpu_module *m);
/* Before a launch: sets the engine that is tried, with --engine=auto. */
void ws_transact_begin(void);
/* The engine that the next launch, or this one, runs with. */
enum ws_tm_engine ws_transact_engine(void);
/* After ws_transact_take for all modules. */
void ws_transact_end(const char *kernel);
/* After a launch: takes the counters, memory of the variable WS_TM_COUNTERS, and sets them to zero. */
void ws_transact_take(void *counters);
/* On stderr: that there was no section at all, or one that was too large; with --stats the counts. */
void ws_transact_tell(void);

#endif
