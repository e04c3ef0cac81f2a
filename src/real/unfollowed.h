/* unfollowed.h - functions of the driver that warpsafe does not know and the program calls: what they may order. */
#ifndef WS_REAL_UNFOLLOWED_H
#define WS_REAL_UNFOLLOWED_H

#include <stdbool.h>

/* What the program calls for a function of the driver that is none of ours: itself if it orders nothing, else code that leaves
 * a mark and goes on there. */
void *ws_real_marking(const char *name, void *real);
/* Was one called since the last time that this was asked? Whatever was launched before may be ordered with all that follows. */
bool ws_real_marked_call(void);
/* Has one ever been called behind which work may wait for what is launched later? */
bool ws_real_marked_call_later(void);

#endif
