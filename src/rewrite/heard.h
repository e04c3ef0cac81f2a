/* heard.h - proofs that a strong access need not be told as a release or an acquire (heard.c). */
#ifndef WS_REWRITE_HEARD_H
#define WS_REWRITE_HEARD_H

#include "rewrite/rewrite_priv.h"

/* For the n accesses of a kernel (ws_rw_accesses), which must live as long. NULL: nothing is known, so all are told. */
struct ws_heard;
struct ws_heard *ws_heard_find(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n);
void ws_heard_free(struct ws_heard *h);          /* NULL is fine */

/* May a thread acquire what this access releases? And this one what a thread has released? NULL: perhaps. */
bool ws_heard_release(const struct ws_heard *h, const struct ws_rw_access *a);
bool ws_heard_acquire(const struct ws_heard *h, const struct ws_rw_access *a);
/* None of them does. */
bool ws_heard_nothing(const struct ws_heard *h);

#endif
