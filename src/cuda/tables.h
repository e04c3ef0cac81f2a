/* tables.h - the entry points of the runtime and the driver API by name. */
#ifndef WS_TABLES_H
#define WS_TABLES_H

#include "cuda/rt.h"

/* before13: the meaning the name had before CUDA 13, where it differs. NULL: no such entry point. */
WS_EXPORT void (*ws_rt_find(const char *name, bool before13))(void);
WS_EXPORT const char *ws_rt_name_at(size_t i); /* NULL at the end */
void (*ws_drv_find(const char *name))(void);
const char *ws_drv_name_at(size_t i);

#endif
