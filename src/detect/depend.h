/* depend.h - does a value that a kernel publishes depend on what it has read? Found from its code.
 *
 * A write that comes after a flag which another thread set after its read is ordered after that read by nothing that
 * the memory model counts, if there is no fence. But when the flag's value is made from what was read, and the write
 * waits for that value, the read cannot see the write: a value would come out of thin air (PTX ISA 9.0, Memory
 * Consistency Model, No-Thin-Air). Compactions in place that look back at the sums of other blocks (decoupled
 * look-back) live on that. */
#ifndef WS_DEPEND_H
#define WS_DEPEND_H

#include "ptx/ptx.h"

/* May a strong store of f to global memory store a value that is made from what a weak load of global memory returned,
 * and does f have strong loads that may see it? */
bool ws_depend_used(const struct ws_ptx_func *f);

/* The same for one load: through registers, shared and local memory, shuffles and votes, in whatever order the
 * instructions are. Branches are not followed. An instruction other than a load: false. */
bool ws_depend_on(const struct ws_ptx_func *f, const struct ws_ptx_inst *load);

#endif
