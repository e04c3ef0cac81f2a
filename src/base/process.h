/* process.h - what there is once a process: its session, its clock, its messages on the error stream. */
#ifndef WS_PROCESS_H
#define WS_PROCESS_H

#include "base/base.h"

/* The one object of this library in the process; `create` makes it at the first call. NULL in a process forked from one
 * that has it: CUDA does not work there. */
void *ws_process_session(void *(*create)(void));
void *ws_process_session_if_any(void);       /* in a forked process that of its parent */
bool ws_process_forked(void);                /* from a process that had it */

/* Nanoseconds of a clock that only goes forward. */
uint64_t ws_monotonic_ns(void);

/* A line on the error stream: `before`, the text. Line ends at its end do not count; what the program said before on its
 * output comes first. */
void ws_tell_line(const char *before, const char *fmt, va_list ap);

#endif
