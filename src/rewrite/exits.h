/* exits.h - ways out of a loop that stand under a condition with checks go by where the condition's lanes meet (exits.c). */
#ifndef WS_REWRITE_EXITS_H
#define WS_REWRITE_EXITS_H

#include "rewrite/rewrite_priv.h"

/* To be called when all checks of f are in place. edits: those of the module before the first of them. What f computes stays the same. */
void ws_exits_join(struct ws_pass *p, struct ws_ptx_func *f, size_t edits);

#endif
