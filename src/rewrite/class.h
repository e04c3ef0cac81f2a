/* class.h - accesses as the pass for races sees them: which are strong, release and acquire (PTX ISA 9.0, 8.4 and 8.8), and what a check
 * is told of one (device/race.h). */
#ifndef WS_REWRITE_CLASS_H
#define WS_REWRITE_CLASS_H

#include "rewrite/rewrite_priv.h"

enum { WS_RW_MOST_CHECKED = 16 };        /* bytes of one check */
bool ws_rw_strong(const struct ws_rw_access *a);
bool ws_rw_acquires(const struct ws_rw_access *a);
bool ws_rw_releases(const struct ws_rw_access *a);
bool ws_rw_may_lock(const struct ws_rw_access *a);       /* a compare-and-swap or an exchange, by which locks are taken and given back */
/* A class of accesses of that scope (device/race.h), of those from `narrowest` on. */
unsigned ws_rw_class_of(enum ws_scope scope, unsigned narrowest);
/* update: its check stands for a read, too; ordering: releases and acquires matter in its kernel, or fences alone. */
uint32_t ws_rw_what(const struct ws_rw_access *a, bool update, bool ordering);

#endif
