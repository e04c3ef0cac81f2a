/* meeting.h - arrivals at mbarrier objects by threads that wait for the same phase at once (meeting.c). */
#ifndef WS_REWRITE_MEETING_H
#define WS_REWRITE_MEETING_H

#include "rewrite/rewrite_priv.h"

/* Of a kernel with its accesses (ws_rw_accesses), NULL: not all of its arrivals are such, or it has none. To be given to
 * ws_meetings_free. Functions that it calls are not looked at. */
struct ws_meetings;
struct ws_meetings *ws_meetings_find(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n);
void ws_meetings_free(struct ws_meetings *m);    /* NULL is fine */

#endif
