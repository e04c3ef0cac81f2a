/* instrument.h - `--instrument=PASS`: the program's PTX is rewritten before it is loaded (src/rewrite), and what the
 * inserted code counted is told when the program ends. */
#ifndef WS_INSTRUMENT_H
#define WS_INSTRUMENT_H

#include "cuda/session.h"
#include "rewrite/rewrite.h"

struct ws_instrumented;                  /* a module that was rewritten; lives until the end of the process */

/* Puts the rewritten module in the place of *m, which is freed. NULL: it cannot be, and was told; *m is freed then. */
struct ws_instrumented *ws_instrument(const char *pass, const char *label, struct ws_ptx_module **m);
/* It is part of a module of the GPU from now on; NULL: no longer. */
void ws_instrument_loaded(struct ws_instrumented *i, struct ws_gpu_module *loaded);
/* Takes the counters after each launch. Needs no events but that. */
extern const struct ws_observer_ops ws_instrument_observer;
/* On stderr: for each kernel what was counted, the busiest places, and what was not counted. */
void ws_instrument_tell(void);

#endif
