/* units.h - the proposed hardware units of `warpsafe sim --unit=NAME`. */
#ifndef WS_UNITS_H
#define WS_UNITS_H

#include "timing/unit.h"

extern const struct ws_unit_ops ws_unit_simt_lock, ws_unit_lock_queue;
/* The instructions of units that lock, and their numbers. */
enum { WS_LOCK, WS_UNLOCK };
extern const char *const ws_lock_instructions[];

const struct ws_unit_ops *ws_unit_find(const char *name, size_t len);    /* NULL: there is none */

enum { WS_UNIT_OPTIONS = 16 };
/* "NAME[,key=value...]": the unit, and in values what its options are. NULL: *why says what is wrong and what there is. */
const struct ws_unit_ops *ws_unit_parse(const char *text, uint32_t values[WS_UNIT_OPTIONS], struct ws_buf *why);

#endif
