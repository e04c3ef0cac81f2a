/* constants.h - copies of numbers (constants.c). */
#ifndef WS_REWRITE_CONSTANTS_H
#define WS_REWRITE_CONSTANTS_H

#include "rewrite/rewrite_priv.h"

/* Copies of registers that are numbers become copies of these. */
void ws_constants_copy(struct ws_ptx_func *f);
/* Such an instruction's text; false: it is none. */
bool ws_constants_text(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, struct ws_buf *out);

#endif
